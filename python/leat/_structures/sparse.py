"""``tf.SparseTensor``: the places and values of what is not zero; what it can do is in sparse_rows.py."""

import collections

import numpy as np

from leat import dtypes
from leat._core import specs
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor


class SparseTensorValue(collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])):
    """A sparse tensor of numpy arrays (``tf.compat.v1.SparseTensorValue``): a leaf, no tuple of three."""

    __slots__ = ()
    _is_composite_value = True


class SparseTensor:
    """A sparse tensor: int64 `indices` [n, rank], `values` [n], int64 `dense_shape` [rank]."""

    _is_leaf_value = True

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
        rank = self._dense_shape.shape
        return TensorShape(None if rank.rank is None or rank[0] is None else [None] * rank[0])

    get_shape = lambda self: self.shape  # noqa: E731

    def with_values(self, new_values):
        """Other values at the same places."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def consumers(self):
        """Nothing: operations are not remembered."""
        return []

    @property
    def _type_spec(self):
        return specs.SparseTensorSpec(self.shape, self.dtype)

    def _numpy_value(self):
        return SparseTensorValue(self._indices.numpy(), self._values.numpy(), self._dense_shape.numpy())

    def __repr__(self):
        return (f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
                f"dense_shape={self._dense_shape!s})")
