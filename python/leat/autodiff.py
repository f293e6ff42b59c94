"""``tf.autodiff``: gradients, and changes along a direction."""

from leat._graph.forward import ForwardAccumulator
from leat._graph.tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
