"""``tf.RaggedTensor``: rows of different lengths. What has its own file is in ragged_rows.py."""

import builtins

import numpy as np

from leat import dtypes
from leat._core import specs
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat._structures import ragged_broadcast, ragged_ops, ragged_rows, ragged_shapes  # noqa: F401
from leat._structures.ragged_rows import operator_of as _operator
from leat._structures.sparse import SparseTensor


class RaggedTensor:
    """A tensor whose rows differ in length: `values` and int64 or int32 `row_splits` (``tf.RaggedTensor``)."""

    _is_leaf_value = True

    def __init__(self, values, row_splits, uniform_row_length=None):
        self._values = values
        self._row_splits = row_splits
        self._uniform = uniform_row_length  # a scalar tensor where all rows are known to have one length

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Row i is values[row_splits[i] : row_splits[i + 1]]."""
        values = values if isinstance(values, RaggedTensor) else convert_to_tensor(values)
        splits = row_splits if isinstance(row_splits, Tensor) else _splits(row_splits)
        if splits.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"row_splits must be int32 or int64; found {splits.dtype.name}")
        return cls(values, splits)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Row i is the next row_lengths[i] of `values`."""
        return cls.from_row_splits(values, ragged_rows.splits_of_lengths(row_lengths))

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Row i begins at row_starts[i] and ends where the next one begins."""
        return ragged_rows.from_starts(cls, values, row_starts)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Row i ends before row_limits[i]."""
        return ragged_rows.from_limits(cls, values, row_limits)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """Value i belongs to row value_rowids[i]; these do not fall."""
        return ragged_rows.from_rowids(cls, values, value_rowids, nrows)

    @classmethod
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, validate=True, name=None):
        """All rows have one length; `nrows` says how many there are where that is 0."""
        return ragged_rows.from_uniform(cls, values, uniform_row_length, nrows)

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """Ragged in several dimensions; the outermost lengths come first."""
        out = flat_values
        for lengths in reversed(list(nested_row_lengths)):
            out = cls.from_row_lengths(out, lengths)
        return out

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
        """Ragged in several dimensions; the outermost numbers of rows come first."""
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        out = flat_values
        for rowids, nrows in zip(reversed(list(nested_value_rowids)), reversed(counts)):
            out = cls.from_value_rowids(out, rowids, nrows)
        return out

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64):
        """Rows of a dense tensor, cut to `lengths`, or without the `padding` at their ends."""
        return ragged_rows.from_tensor(cls, tensor, lengths, padding, ragged_rank, dtypes.as_dtype(row_splits_dtype))

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        """The values of the rows of a sparse matrix, whose values stand at the rows' beginnings."""
        return ragged_rows.from_sparse(cls, st_input, dtypes.as_dtype(row_splits_dtype))

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """Ragged in several dimensions; the outermost splits come first."""
        out = flat_values
        for splits in reversed(list(nested_row_splits)):
            out = cls.from_row_splits(out, splits, validate=validate)
        return out

    @classmethod
    def from_value(cls, value):
        """Of a numpy value with `values` and `row_splits`."""
        values = value.values
        return cls.from_row_splits(from_inner(values), value.row_splits)

    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._row_splits)
    dtype = property(lambda self: self._values.dtype)

    @property
    def flat_values(self):
        """The dense values below all ragged dimensions."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self):
        """The row splits of every ragged dimension, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self):
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self):
        """The static shape; ragged dimensions are None."""
        rows = self._row_splits.shape
        count = None if rows.rank is None or rows[0] is None else rows[0] - 1
        inner = self._values.shape
        length = int(self._uniform) if self._uniform is not None and self._uniform._has_values else None
        return TensorShape(None) if inner.rank is None else TensorShape([count, length, *inner[1:]])

    get_shape = lambda self: self.shape  # noqa: E731

    def _note_uniform(self, shape):
        """Notes which row lengths a static shape knows."""
        length = None if shape.rank is None else shape[1]
        if length is not None:
            self._uniform = convert_to_tensor(length, self._row_splits.dtype)
        if shape.rank is not None and isinstance(self._values, RaggedTensor):
            self._values._note_uniform(shape[1:])

    @property
    def _type_spec(self):
        return specs.RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    @property
    def uniform_row_length(self):
        """The length that all rows have, where they were made of one; else None."""
        return self._uniform

    def consumers(self):
        """Nothing: operations are not remembered."""
        return []

    def nrows(self, out_type=None, name=None):
        """The number of rows, a scalar of the row splits' dtype or `out_type`."""
        return ragged_rows.count(self, out_type)

    def row_lengths(self, axis=1, name=None):
        """The length of each row; of inner rows with an `axis` from 2 on."""
        return ragged_rows.lengths(self, axis)

    def row_starts(self, name=None):
        """Where each row begins in `values`."""
        return self._row_splits[:-1]

    def row_limits(self, name=None):
        """Where each row ends in `values`."""
        return self._row_splits[1:]

    def value_rowids(self, name=None):
        """The row of each value."""
        return ragged_rows.rowids(self)

    def nested_row_lengths(self, name=None):
        """The row lengths of every ragged dimension, the outermost first."""
        return tuple(splits[1:] - splits[:-1] for splits in self.nested_row_splits)

    def nested_value_rowids(self, name=None):
        """The rows of the values of every ragged dimension, the outermost first."""
        inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (self.value_rowids(), *inner)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The shape of the smallest dense tensor that holds all rows; `axis` picks dimensions."""
        return ragged_rows.bounds(self, axis, out_type)

    def with_values(self, new_values):
        """Rows of the same lengths of other values."""
        values = new_values if isinstance(new_values, RaggedTensor) else convert_to_tensor(new_values)
        return RaggedTensor(values, self._row_splits, self._uniform)

    def with_flat_values(self, new_values):
        """The same with other dense values below all ragged dimensions."""
        inner = self._values
        return self.with_values(inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values)

    def with_row_splits_dtype(self, dtype):
        """The same with row splits of another dtype."""
        return ragged_rows.with_splits_dtype(self, dtypes.as_dtype(dtype))

    def merge_dims(self, outer_axis, inner_axis):
        """The dimensions from outer_axis to inner_axis as one."""
        return ragged_rows.merge(self, outer_axis, inner_axis)

    def to_list(self):
        """Nested Python lists."""
        splits = self._row_splits._values()
        inner = self._values.to_list() if isinstance(self._values, RaggedTensor) else np.asarray(
            self._values.numpy()).tolist()
        return [inner[a:b] for a, b in zip(splits, splits[1:])]

    def numpy(self):
        """A numpy array of rows; of dtype object where their lengths differ."""
        values, splits = self._values.numpy(), self._row_splits.numpy()
        rows = [values[begin:end] for begin, end in zip(splits, splits[1:])]
        if not rows:
            return np.zeros(0, values.dtype)
        if all(len(row) == len(rows[0]) for row in rows):
            return np.stack(rows)
        out = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            out[i] = row
        return out

    def to_tensor(self, default_value=None, name=None, shape=None):
        """The dense tensor, padded with `default_value`, and cut or padded to `shape` where that is given."""
        return ragged_rows.to_tensor(self, default_value, shape)

    def to_sparse(self, name=None):
        """The sparse tensor of the values."""
        return ragged_rows.to_sparse(self)

    def __len__(self):
        return self._row_splits._shape[0] - 1

    def __iter__(self):
        return (self[i] for i in builtins.range(len(self)))

    def __getitem__(self, key):
        return ragged_rows.item(self, key)

    def _dispatch(self, entry, values, arguments):
        """An elementwise operation works on the flat values."""
        special = ragged_rows.OPERATIONS.get(entry["name"])
        if special is not None:
            return special(values, dict(zip((row["name"] for row in entry["arguments"]), arguments)), entry["name"])
        if entry["flags"].isdisjoint(("elementwise", "by value")):
            raise TypeError(f"{entry['name']} is not defined for ragged tensors")
        flat, rows = ragged_broadcast.aligned(values)
        return rows.with_flat_values(ops.dispatch(entry["name"], flat, arguments))

    # ---- operators ----

    __add__, __radd__ = _operator("math.add"), _operator("math.add", True)
    __sub__, __rsub__ = _operator("math.subtract"), _operator("math.subtract", True)
    __mul__, __rmul__ = _operator("math.multiply"), _operator("math.multiply", True)
    __truediv__, __rtruediv__ = _operator("math.truediv"), _operator("math.truediv", True)
    __floordiv__, __rfloordiv__ = _operator("math.floordiv"), _operator("math.floordiv", True)
    __mod__, __rmod__ = _operator("math.floormod"), _operator("math.floormod", True)
    __pow__, __rpow__ = _operator("math.pow"), _operator("math.pow", True)
    __and__, __rand__ = _operator("math.logical_and"), _operator("math.logical_and", True)
    __or__, __ror__ = _operator("math.logical_or"), _operator("math.logical_or", True)
    __xor__, __rxor__ = _operator("math.logical_xor"), _operator("math.logical_xor", True)
    __lt__ = _operator("math.less")
    __le__ = _operator("math.less_equal")
    __gt__ = _operator("math.greater")
    __ge__ = _operator("math.greater_equal")

    def __eq__(self, other):
        return False if other is None else ops.FUNCTIONS["equal"](self, other)

    def __ne__(self, other):
        return True if other is None else ops.FUNCTIONS["not_equal"](self, other)

    def __hash__(self):
        raise TypeError("RaggedTensor is unhashable.")

    def __neg__(self):
        return ops.FUNCTIONS["math.negative"](self)

    def __abs__(self):
        return ops.FUNCTIONS["math.abs"](self)

    def __invert__(self):
        return ops.FUNCTIONS["math.logical_not"](self)

    def __repr__(self):
        if not self.flat_values._has_values:
            return f"tf.RaggedTensor(values={self._values!s}, row_splits={self._row_splits!s})"
        with np.printoptions(formatter={"all": _shown}):  # rows of rows are printed by the same function
            return f"<tf.RaggedTensor {_shown(self.numpy())}>"

    __str__ = __repr__


def _shown(value):
    """Numbers, and arrays with commas between them."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=", ") if value.size else repr(value.tolist())


def _splits(values):
    array = np.asarray(values)
    return convert_to_tensor(array if array.dtype == np.int32 and isinstance(values, np.ndarray)
                             else array.astype(np.int64))


def from_inner(values):
    """A ragged tensor of a numpy value of one; anything else as it is."""
    return RaggedTensor.from_value(values) if hasattr(values, "row_splits") else values


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64):
    """A ragged tensor of nested lists (``tf.ragged.constant``); ValueError where values lie at different depths."""
    depth = _ragged_rank(pylist, ragged_rank, inner_shape)
    if depth == 0:
        return convert_to_tensor(pylist, dtype)
    nested, level, splits_type = [], pylist, dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    for _ in builtins.range(depth):
        lengths = [len(row) for row in level]
        nested.append(np.concatenate([[0], np.cumsum(lengths)]).astype(splits_type))
        level = [item for row in level for item in row]
    if dtype is None and not level:
        dtype = dtypes.float32
    flat = convert_to_tensor(np.zeros([0, *(inner_shape or ())], dtypes.as_dtype(dtype).as_numpy_dtype)
                             if not level else level, dtype)
    return RaggedTensor.from_nested_row_splits(flat, [convert_to_tensor(splits) for splits in nested], validate=False)


def _ragged_rank(pylist, ragged_rank, inner_shape):
    """How many of a list's dimensions are ragged; 0: it is dense. ValueError where list and arguments disagree."""
    values, lists = _depths(pylist)
    inner = len(inner_shape or ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    if lists == 0 and (ragged_rank or inner):
        raise ValueError(f"Invalid pylist={pylist!r}: incompatible with " + (
            f"ragged_rank={ragged_rank}" if ragged_rank else f"dim(inner_shape)={inner}"))
    if values is not None and lists > values:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting depth")
    if values is not None and ragged_rank is not None and lists < ragged_rank:
        raise ValueError(f"Invalid pylist={pylist!r}, max depth smaller than ragged_rank={ragged_rank}")
    if ragged_rank is not None and inner_shape is not None:
        expected = ragged_rank + inner + 1
        if values is not None and expected != values or values is None and expected < lists:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                             f"dim(inner_shape)={inner}")
    if ragged_rank is not None:
        if values is not None and values <= ragged_rank:
            raise ValueError(f"pylist has scalar values depth {values}, but ragged_rank={ragged_rank} requires scalar "
                             f"value depth greater than {ragged_rank}")
        return ragged_rank
    if lists < 2 or lists - inner < 2:
        return 0
    return max(1, lists - 1 if values is None else values - 1 - inner)


def _depths(value):
    """(the depth of the values in nested lists, None without any; the depth of the lists)."""
    if not isinstance(value, (list, tuple)) and np.ndim(value) == 0:
        return 0, 0
    values, lists = None, 1
    for item in value:
        inner_values, inner_lists = _depths(item)
        if inner_values is not None:
            if values not in (None, inner_values + 1):
                raise ValueError("all scalar values must have the same nesting depth")
            values = inner_values + 1
        lists = max(lists, inner_lists + 1)
    return values, lists


def composite_of_value(value):
    """A ragged or sparse tensor of numpy's form of one."""
    return (SparseTensor if hasattr(value, "dense_shape") else RaggedTensor).from_value(value)
