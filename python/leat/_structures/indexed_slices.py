"""``tf.IndexedSlices``: some slices of a larger tensor, by their numbers along its first dimension."""

from leat import dtypes, nest
from leat._core import specs
from leat._core.shapes import TensorShape
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F


class IndexedSlices:
    """Slices `values` [n, ...] at places `indices` [n] of a tensor of `dense_shape` (``tf.IndexedSlices``).

    Gradients are ordinary tensors here; this is what the scatter methods of Variable take. As a tensor it has the sum
    of the slices at each place, and zeros elsewhere.
    """

    def __init__(self, values, indices, dense_shape=None):
        self._values, self._indices = convert_to_tensor(values), convert_to_tensor(indices)
        self._dense_shape = None if dense_shape is None else convert_to_tensor(dense_shape)

    _is_leaf_value = True
    device = property(lambda self: self._values.device)

    values = property(lambda self: self._values)
    indices = property(lambda self: self._indices)
    dense_shape = property(lambda self: self._dense_shape)
    dtype = property(lambda self: self._values.dtype)

    @property
    def _type_spec(self):
        rest = self._values.shape
        shape = TensorShape([None]).concatenate(rest[1:]) if self.shape.rank is None else self.shape
        return IndexedSlicesSpec(shape, self.dtype, self._indices.dtype,
                                 None if self._dense_shape is None else self._dense_shape.dtype, rest[:1])

    @property
    def shape(self):
        """The static shape of the whole tensor."""
        known = self._dense_shape is not None and self._dense_shape._has_values
        return TensorShape(self._dense_shape._values() if known else None)

    def _as_tensor(self):
        if self._dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: give one")
        count = F["cast"](self._dense_shape[0], dtypes.int64)
        return F["math.unsorted_segment_sum"](self._values, self._indices, count)

    def _dispatch(self, entry, values, arguments):
        """An operation works on the whole tensor, but for some that work on the slices alone."""
        if values[0] is self and len(values) == 1 and entry["name"] in ("identity", "cast", "stop_gradient"):
            return IndexedSlices(ops.dispatch(entry["name"], [self._values], arguments), self._indices,
                                 self._dense_shape)
        whole = nest.map_structure(lambda one: one._as_tensor() if isinstance(one, IndexedSlices) else one, values)
        return ops.dispatch(entry["name"], whole, arguments)

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __repr__(self):
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"


class IndexedSlicesSpec(specs.TypeSpec):
    """The type of an IndexedSlices (``tf.IndexedSlicesSpec``): `shape` and `dtype` are those of the whole tensor,
    `indices_shape` says how many slices there are."""

    __slots__ = ("_shape", "_values_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")

    def __init__(self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None,
                 indices_shape=None):
        self._shape = TensorShape(shape)
        self._values_dtype, self._indices_dtype = dtypes.as_dtype(dtype), dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape([None] if indices_shape is None else indices_shape)

    dtype = property(lambda self: self._values_dtype)
    value_type = property(lambda self: IndexedSlices)

    def _key(self):
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and `others`; None where there is none."""
        shape, indices_shape = self._shape, self._indices_shape
        for other in others:
            if type(other) is not type(self) or self._key()[1:4] != other._key()[1:4]:
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
            indices_shape = indices_shape.most_specific_compatible_shape(other._indices_shape)
        return IndexedSlicesSpec(shape, *self._key()[1:4], indices_shape)

    def _covers(self, other):
        return self._key()[1:4] == other._key()[1:4] and self._shape.is_compatible_with(
            other._shape) and self._indices_shape.is_compatible_with(other._indices_shape)

    def _json(self):
        count = self._indices_shape.as_list() if self._indices_shape.rank is not None else [None]
        rest = None if self._shape.rank is None else self._shape.as_list()[1:]
        parts = [specs.TensorSpec(None if rest is None else count + rest, self._values_dtype),
                 specs.TensorSpec(count, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            parts.append(specs.TensorSpec([None if rest is None else len(rest) + 1], self._dense_shape_dtype))
        return {**nest.to_json(tuple(parts)), "tag": nest.leaf_tag(repr(self), lambda _: self)}

    def _take(self, value):
        return [value.values, value.indices] + ([] if value.dense_shape is None else [value.dense_shape])

    def _put(self, components):
        values, indices = next(components), next(components)
        return IndexedSlices(values, indices, None if self._dense_shape_dtype is None else next(components))

    def __repr__(self):
        return f"IndexedSlicesSpec{self._key()!r}"
