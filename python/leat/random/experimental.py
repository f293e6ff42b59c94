"""``tf.random.experimental``: generators under their earlier place; the library's operations join them."""

from leat._graph import ops as _ops
from leat.random.generator import Algorithm, Generator, create_rng_state, get_global_generator, set_global_generator

__all__ = ["Algorithm", "Generator", "create_rng_state", "get_global_generator", "set_global_generator"]

_ops.join(__name__)
