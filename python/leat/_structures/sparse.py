"""``tf.SparseTensor``: the places and values of what is not zero; what it can do is in sparse_rows.py."""

import collections

import numpy as np

from leat import dtypes
from leat._core import specs
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat._graph.indices import gather_nd

# Operations that work on a sparse tensor's values, as TensorFlow has them; others refuse it.
_OF_VALUES = frozenset("abs asin asinh atan atanh cast erf identity negative sign sin sqrt square stop_gradient tan "
                       "tanh".split())


class SparseTensorValue(collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])):
    """A sparse tensor of numpy arrays (``tf.compat.v1.SparseTensorValue``): a leaf, no tuple of three."""

    __slots__ = ()
    _is_composite_value = True


class SparseTensor:
    """A sparse tensor: int64 `indices` [n, rank], `values` [n], int64 `dense_shape` [rank]."""

    _is_leaf_value = True
    _static = TensorShape(None)  # what is known of the shape where the run computes it

    def __init__(self, indices, values, dense_shape):
        self._indices = convert_to_tensor(indices, dtype=dtypes.int64)
        self._values = convert_to_tensor(values)
        self._dense_shape = convert_to_tensor(dense_shape, dtype=dtypes.int64)

    indices = property(lambda self: self._indices)
    values = property(lambda self: self._values)
    dense_shape = property(lambda self: self._dense_shape)
    dtype = property(lambda self: self._values.dtype)

    @classmethod
    def from_value(cls, value):
        """Of a numpy value with `indices`, `values` and `dense_shape`."""
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def shape(self):
        """The static dense shape."""
        if self._dense_shape._has_values:
            return TensorShape(self._dense_shape._values())
        if self._static.rank is not None:
            return self._static
        rank = self._dense_shape.shape
        return TensorShape(None if rank.rank is None or rank[0] is None else [None] * rank[0])

    get_shape = lambda self: self.shape  # noqa: E731

    def with_values(self, new_values):
        """Other values at the same places."""
        return SparseTensor(self._indices, new_values, self._dense_shape)._known(self._static)

    def _known(self, shape):
        self._static = shape
        return self

    def consumers(self):
        """Nothing: operations are not remembered."""
        return []

    @property
    def _type_spec(self):
        return specs.SparseTensorSpec(self.shape, self.dtype)

    def _dispatch(self, entry, values, arguments):
        """An operation that keeps zeros works on the values; the shape is the dense one."""
        name = entry["name"]
        if name == "shape":
            out_type = arguments[0] if arguments else None
            return ops.FUNCTIONS["cast"](self._dense_shape, dtypes.int32 if out_type is None else out_type)
        if name == "size":
            return ops.FUNCTIONS["cast"](ops.FUNCTIONS["reduce_prod"](self._dense_shape), dtypes.int32)
        if name not in _OF_VALUES:
            return convert_to_tensor(self)  # ValueError
        return self.with_values(ops.dispatch(name, [self._values], arguments))

    def _combined(self, name, other):
        """Its values and those of a dense tensor at their places, which is broadcast to it."""
        other = convert_to_tensor(other, self.dtype)
        dense = ops.FUNCTIONS["broadcast_to"](other, self._dense_shape)
        return self.with_values(ops.FUNCTIONS[name](self._values, gather_nd(dense, self._indices)))

    def __mul__(self, other):
        return self._combined("multiply", other)

    def __truediv__(self, other):
        return self._combined("math.truediv", other)

    def __repr__(self):
        return (f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
                f"dense_shape={self._dense_shape!s})")
