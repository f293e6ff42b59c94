"""``tf.experimental.DynamicRaggedShape`` and ``RowPartition``: shapes of ragged tensors as values."""

import numpy as np

from leat import dtypes
from leat._core.specs import RaggedTensorSpec
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._structures import ragged_rows
from leat._structures.ragged_rows import is_ragged, splits_of_lengths

_ragged = RaggedTensorSpec.value_class


class RowPartition:
    """How values lie in rows (``tf.experimental.RowPartition``); made by its ``from_...`` methods."""

    def __init__(self, rows):
        self._rows = rows  # a ragged tensor of the numbers of the values

    @classmethod
    def _of(cls, splits, uniform=None):
        splits = convert_to_tensor(splits, dtype_hint=dtypes.int64)
        return cls(_ragged.value(F["range"](splits[-1]), splits, uniform))

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """Of where rows begin and end."""
        return cls._of(row_splits if dtype is None else F["cast"](row_splits, dtype))

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """Of the lengths of rows."""
        lengths = convert_to_tensor(row_lengths, dtype_hint=dtypes.int64)
        return cls._of(splits_of_lengths(lengths if dtype is None else F["cast"](lengths, dtype)))

    @classmethod
    def from_value_rowids(cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None):
        """Of the row of each value."""
        ids = convert_to_tensor(value_rowids, dtype_hint=dtypes.int64)
        nrows = F["add"](ids[-1], 1) if nrows is None else F["cast"](nrows, ids.dtype)
        return cls._of(ragged_rows.segment_ids_to_row_splits(ids, nrows, ids.dtype))

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """Of where rows begin."""
        starts = convert_to_tensor(row_starts, dtype_hint=dtypes.int64)
        return cls._of(F["concat"]([starts, F["expand_dims"](F["cast"](nvals, starts.dtype), 0)], 0))

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """Of where rows end."""
        limits = convert_to_tensor(row_limits, dtype_hint=dtypes.int64)
        return cls._of(F["concat"]([F["zeros_like"](limits[:1]), limits], 0))

    @classmethod
    def from_uniform_row_length(cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None,
                                dtype_hint=None):
        """Of rows of one length."""
        length = convert_to_tensor(uniform_row_length, dtype_hint=dtypes.int64)
        nrows = F["math.floordiv"](nvals, length) if nrows is None else nrows
        rows = F["range"](F["add"](F["cast"](nrows, length.dtype), 1))
        return cls._of(F["multiply"](rows, length), length)

    dtype = property(lambda self: self._rows.row_splits.dtype)

    def row_splits(self):
        """Where rows begin and end."""
        return self._rows.row_splits

    def row_lengths(self):
        """The lengths of the rows."""
        return self._rows.row_lengths()

    def row_starts(self):
        """Where rows begin."""
        return self._rows.row_starts()

    def row_limits(self):
        """Where rows end."""
        return self._rows.row_limits()

    def value_rowids(self):
        """The row of each value."""
        return self._rows.value_rowids()

    def nrows(self):
        """How many rows there are."""
        return self._rows.nrows()

    def nvals(self):
        """How many values there are."""
        return self.row_splits()[-1]

    def offsets_in_rows(self):
        """Each value's place in its row."""
        return F["subtract"](F["range"](self.nvals()), F["gather"](self.row_starts(), self.value_rowids()))

    def uniform_row_length(self):
        """The one length of all rows; None."""
        return self._rows.uniform_row_length

    def is_uniform(self):
        """Are all rows known to have one length?"""
        return self.uniform_row_length() is not None

    @property
    def static_nrows(self):
        """How many rows there are, if that is known while a function is traced."""
        count = self.row_splits().shape[0]
        return None if count is None else count - 1

    @property
    def static_uniform_row_length(self):
        """The one length as a number; None."""
        length = self.uniform_row_length()
        return None if length is None or not length._has_values else int(length)

    def with_dtype(self, dtype):
        """The same in int32 or int64."""
        length = self.uniform_row_length()
        return type(self)._of(F["cast"](self.row_splits(), dtype), None if length is None else F["cast"](length, dtype))

    def __repr__(self):
        if self.is_uniform():
            return f"tf.RowPartition(nrows={int(self.nrows())}, uniform_row_length={int(self.uniform_row_length())})"
        return f"tf.RowPartition(row_splits={self.row_splits().numpy()})"


class DynamicRaggedShape:
    """The shape of a tensor or ragged tensor (``tf.experimental.DynamicRaggedShape``): `row_partitions` of its outer
    dimensions and `inner_shape`, the flat values' shape."""

    def __init__(self, row_partitions, inner_shape, dtype=None):
        self._partitions = tuple(row_partitions)
        dtype = dtype or (self._partitions[0].dtype if self._partitions else dtypes.int64)
        self._partitions = tuple(one.with_dtype(dtype) for one in self._partitions)
        self._inner = F["cast"](convert_to_tensor(inner_shape, dtype_hint=dtypes.as_dtype(dtype)), dtype)

    @classmethod
    def from_tensor(cls, t, dtype=None):
        """The shape of a tensor or ragged tensor."""
        if not is_ragged(t):
            return cls((), F["shape"](t, dtype or dtypes.int64), dtype)
        parts, one = [], t
        while is_ragged(one):
            parts.append(RowPartition._of(one.row_splits, one.uniform_row_length))
            one = one.values
        return cls(parts, F["shape"](one, parts[0].dtype), dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype=None):
        """The shape of rows of scalars."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, F["expand_dims"](row_partitions[-1].nvals(), 0), dtype)

    @classmethod
    def from_lengths(cls, lengths, num_row_partitions=None, dtype=dtypes.int64):
        """The shape of dimensions that are numbers, or where they are ragged the lengths of all rows."""
        ragged = [axis for axis, one in enumerate(lengths) if not isinstance(one, int)]
        if ragged and ragged[0] == 0:
            raise ValueError("the first length is a number")
        count = max(ragged, default=0) if num_row_partitions is None else num_row_partitions
        parts, rows = [], lengths[0] if lengths else 1
        for one in lengths[1:count + 1]:
            if isinstance(one, int):
                parts.append(RowPartition.from_uniform_row_length(np.int64(one), nrows=rows))
                rows *= one
            else:
                if len(one) != rows:
                    raise ValueError(f"lengths {lengths}: {len(one)} rows, expected {rows}")
                parts.append(RowPartition.from_row_lengths(np.asarray(one, np.int64)))
                rows = sum(one)
        return cls(parts, [rows, *lengths[count + 1:]] if lengths else np.zeros([0], np.int64), dtype)

    row_partitions = property(lambda self: self._partitions)
    num_row_partitions = property(lambda self: len(self._partitions))
    inner_shape = property(lambda self: self._inner)
    inner_rank = property(lambda self: self._inner.shape[0])
    dtype = property(lambda self: self._inner.dtype)

    @property
    def rank(self):
        """How many dimensions there are."""
        return None if self.inner_rank is None else self.inner_rank + self.num_row_partitions

    def is_uniform(self, axis):
        """Is a dimension of one size?"""
        return not 0 < axis <= self.num_row_partitions or self._partitions[axis - 1].is_uniform()

    def static_lengths(self, ragged_lengths=True):
        """Numbers, and for ragged dimensions the lengths of all rows; None for what is not known."""
        inner = self._inner.numpy().tolist() if self._inner._has_values else [None] * (self.inner_rank or 0)
        if not self._partitions:
            return inner
        out = [self._partitions[0].static_nrows]
        for one in self._partitions:
            lengths = one.row_lengths()
            known = ragged_lengths and lengths._has_values
            out.append(one.static_uniform_row_length if one.is_uniform() else tuple(
                lengths.numpy().tolist()) if known else None)
        return out + inner[1:]

    def with_dtype(self, dtype):
        """The same in int32 or int64."""
        return type(self)(self._partitions, self._inner, dtypes.as_dtype(dtype))

    def __getitem__(self, key):
        if isinstance(key, slice):
            start, stop, step = key.indices(self.rank)
            if start or step != 1:
                raise ValueError("a DynamicRaggedShape is cut from its first dimension on, one by one")
            return type(self)._of_lengths(self, stop)
        axis = int(key) + (self.rank if int(key) < 0 else 0)
        if not self.is_uniform(axis):
            raise ValueError(f"Index {axis} is not uniform")
        if axis == 0:
            return self._partitions[0].nrows() if self._partitions else self._inner[0]
        count = self.num_row_partitions
        return self._partitions[axis - 1].uniform_row_length() if axis <= count else self._inner[axis - count]

    def _of_lengths(self, count):
        """The shape of the first dimensions."""
        if count > self.num_row_partitions:
            return DynamicRaggedShape(self._partitions, self._inner[:count - self.num_row_partitions])
        parts = self._partitions[:max(count - 1, 0)]
        last = parts[-1].nvals() if parts else self[0]
        return DynamicRaggedShape(parts, F["expand_dims"](last, 0) if count else self._inner[:0], self.dtype)

    def __eq__(self, other):
        if not isinstance(other, DynamicRaggedShape) or other.num_row_partitions != self.num_row_partitions or (
                other.inner_rank != self.inner_rank):
            return False
        mine, others = ([*(part.row_splits() for part in one._partitions), one._inner] for one in (self, other))
        if any(a.shape != b.shape for a, b in zip(mine, others)):
            return convert_to_tensor(False)
        return F["reduce_all"](F["stack"]([F["reduce_all"](F["equal"](a, F["cast"](b, a.dtype)))
                                           for a, b in zip(mine, others)]))

    __hash__ = None

    def __repr__(self):
        return (f"<DynamicRaggedShape lengths={self.static_lengths()} num_row_partitions="
                f"{self.num_row_partitions}>")

    # ---- tensors of this shape ----

    _is_leaf_value = True

    def _dispatch(self, entry, values, arguments):
        maker = _MAKERS.get(entry["name"])
        if maker is None:
            raise TypeError(f"{entry['name']} is not defined for a DynamicRaggedShape")
        return maker(self, values)

    def _wrapped(self, flat):
        """Flat values in these rows."""
        for part in reversed(self._partitions):
            flat = _ragged.value(flat, part.row_splits(), part.uniform_row_length())
        return flat

    def _filled(self, value):
        return self._wrapped(F["fill"](self._inner, value))

    def _reshaped(self, tensor):
        flat = tensor.flat_values if is_ragged(tensor) else tensor
        return self._wrapped(F["reshape"](flat, self._inner))

    def _broadcast(self, tensor):
        """A value repeated until it has this shape."""
        if not self._partitions:
            return F["broadcast_to"](tensor, self._inner)
        return F["where"](self._filled(False), tensor, tensor)


def _shape(values, arguments, name):
    """What tf.shape gives of a ragged tensor."""
    return DynamicRaggedShape.from_tensor(values[0], dtypes.as_dtype(arguments.get("out_type") or dtypes.int32))


_MAKERS = {"fill": lambda shape, values: shape._filled(next(one for one in values if one is not shape)),
           "reshape": lambda shape, values: shape._reshaped(values[0]),
           "broadcast_to": lambda shape, values: shape._broadcast(values[0])}


def _to_shape(values, arguments, name):
    """A ragged tensor brought to a DynamicRaggedShape; TypeError for other shapes."""
    shape = arguments["shape"]
    if not isinstance(shape, DynamicRaggedShape):
        raise TypeError(f"{name} of a ragged tensor needs a DynamicRaggedShape, found {shape!r}")
    return _MAKERS[name](shape, values)


ragged_rows.OPERATIONS.update(shape=_shape, reshape=_to_shape, broadcast_to=_to_shape)
