"""``tf.types``: classes that say what a value is."""

import typing

import numpy as np

from leat._core import later
from leat._core.tensor import Tensor
from leat._graph.introspection import FunctionType
from leat._graph.traced import ConcreteFunction, Function
from leat._structures.variables import Variable

experimental = later.new_module(f"{__name__}.experimental", "Of tensors and functions (``tf.types.experimental``).")
experimental.TensorLike = typing.Union[Tensor, Variable, np.ndarray, np.generic, float, int, bool, str, bytes, list]
experimental.Callable = typing.Union[ConcreteFunction, Function]
experimental.ConcreteFunction = experimental.AtomicFunction = ConcreteFunction
experimental.GenericFunction = experimental.PolymorphicFunction = Function
experimental.FunctionType = FunctionType

__all__ = ["experimental"]
