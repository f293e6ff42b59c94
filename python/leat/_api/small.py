"""Small names of TensorFlow's top level."""

import threading

from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._graph.ops import FUNCTIONS as F

__all__ = ["AggregationMethod", "CriticalSection", "guarantee_const", "no_gradient", "realdiv",
           "required_space_to_batch_paddings", "tuple"]


class AggregationMethod:
    """Ways of TensorFlow 1 to add gradients (``tf.AggregationMethod``), which change nothing here."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE, EXPERIMENTAL_ACCUMULATE_N = 1, 2


class CriticalSection:
    """Lets one thread at a time execute a function (``tf.CriticalSection``)."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        self.name = name or "critical_section"
        self._lock = threading.RLock()

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What ``fn()`` gives; nobody else executes meanwhile. Inside of functions order is that of the program."""
        with self._lock:
            return fn()


def guarantee_const(input, name=None):  # noqa: A002
    """The tensor (``tf.guarantee_const``)."""
    return convert_to_tensor(input)


def no_gradient(op_type):
    """Does nothing: gradients of the library's operations are what they are (``tf.no_gradient``)."""


def realdiv(x, y, name=None):
    """x / y of floats (``tf.realdiv``)."""
    return F["divide"](x, y)


def tuple(tensors, control_inputs=None, name=None):  # noqa: A001
    """The tensors as a list (``tf.tuple``), as they are outside of functions; all are computed in any case."""
    if not trace._state.graphs:
        return tensors
    if not tensors:
        raise ValueError(f"{tensors!r} must have at least one Tensor")
    return list(tensors)


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """(paddings, crops) with which blocks fit (``tf.required_space_to_batch_paddings``)."""
    input_shape, block_shape = (convert_to_tensor(one, "int32") for one in (input_shape, block_shape))
    base = F["zeros_like"](F["stack"]([block_shape, block_shape], 1)) if base_paddings is None else convert_to_tensor(
        base_paddings, "int32")
    start, end = base[:, 0], base[:, 1]
    more = F["math.floormod"](block_shape - F["math.floormod"](input_shape + start + end, block_shape), block_shape)
    return (F["stack"]([start, end + more], 1), F["stack"]([F["zeros_like"](more), more], 1))
