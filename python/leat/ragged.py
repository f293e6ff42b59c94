"""``tf.RaggedTensor``: rows of different lengths."""

import numpy as np

from leat import dtypes, specs
from leat.shapes import TensorShape
from leat.tensor import Tensor, convert_to_tensor


class RaggedTensor:
    """A tensor whose rows differ in length: `values` and int64 or int32 `row_splits` (``tf.RaggedTensor``)."""

    _is_leaf_value = True

    def __init__(self, values, row_splits):
        self._values = values
        self._row_splits = row_splits

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
        lengths = np.asarray(row_lengths)
        return cls.from_row_splits(values, np.concatenate([[0], np.cumsum(lengths)]).astype(
            lengths.dtype if lengths.dtype == np.int32 and isinstance(row_lengths, (np.ndarray, Tensor)) else np.int64))

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
        return TensorShape(None) if inner.rank is None else TensorShape([count, None, *inner[1:]])

    get_shape = lambda self: self.shape  # noqa: E731

    @property
    def _type_spec(self):
        return specs.RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def nrows(self, out_type=None, name=None):
        """The number of rows, an int64 scalar."""
        return convert_to_tensor(np.asarray(self._row_splits._shape[0] - 1, np.int64))

    def row_lengths(self, axis=1, name=None):
        """The length of each row."""
        return convert_to_tensor(np.diff(self._row_splits.numpy()))

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The shape of the smallest dense tensor that holds all rows."""
        def measure(value):
            if not isinstance(value, RaggedTensor):
                return list(value._shape)
            splits = value.row_splits.numpy()
            return [len(splits) - 1, int(np.diff(splits).max(initial=0)), *measure(value.values)[1:]]
        return convert_to_tensor(np.array(measure(self), np.int64))

    def to_list(self):
        """Nested Python lists."""
        splits = self._row_splits._values()
        inner = self._values.to_list() if isinstance(self._values, RaggedTensor) else np.asarray(
            self._values.numpy()).tolist()
        return [inner[a:b] for a, b in zip(splits, splits[1:])]

    def numpy(self):
        """A numpy array of rows; of dtype object where their lengths differ."""
        rows = [row.numpy() for row in self]
        if rows and all(getattr(row, "shape", None) == rows[0].shape for row in rows) and rows[0].dtype != object:
            return np.stack(rows)
        out = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            out[i] = row
        return out

    def to_tensor(self, default_value=None, name=None, shape=None):
        """The dense tensor, padded with `default_value`."""
        dims = self.bounding_shape().numpy().tolist()
        if shape is not None:
            dims = [d if s is None or s < 0 else s for d, s in zip(dims, TensorShape(shape))]
        default = default_value if default_value is not None else b"" if self.dtype is dtypes.string else 0
        out = np.full(dims, default, dtype=self.dtype.as_numpy_dtype)
        _fill(out, self.to_list())
        return convert_to_tensor(out)

    def __len__(self):
        return self._row_splits._shape[0] - 1

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key):
        if isinstance(key, int):
            splits = self._row_splits._values()
            begin, end = splits[:-1][key], splits[1:][key]
            return self._values[begin:end]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            rows = range(start, stop, step)
            splits = self._row_splits.numpy()
            if step == 1:
                cut = splits[start:max(stop, start) + 1]
                values = self._values[int(cut[0]):int(cut[-1])]
                return RaggedTensor.from_row_splits(values, cut - cut[0])
            return constant([self.to_list()[i] for i in rows], dtype=self.dtype, ragged_rank=self.ragged_rank)
        raise TypeError(f"a ragged tensor is indexed by an integer or a slice, not {key!r}")

    def _dispatch(self, entry, values, arguments):
        """An elementwise operation works on the flat values."""
        from leat import ops
        if "elementwise" not in entry["flags"]:
            raise TypeError(f"{entry['name']} is not defined for ragged tensors")
        flat = [v.flat_values if isinstance(v, RaggedTensor) else v for v in values]
        out = ops.dispatch(entry["name"], flat, arguments)
        return RaggedTensor.from_nested_row_splits(out, self.nested_row_splits, validate=False)

    def __repr__(self):
        return f"<tf.RaggedTensor {self.to_list()}>" if self.flat_values._has_values else (
            f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})")

    __str__ = __repr__


def _splits(values):
    array = np.asarray(values)
    return convert_to_tensor(array if array.dtype == np.int32 and isinstance(values, np.ndarray)
                             else array.astype(np.int64))


def from_inner(values):
    """A ragged tensor of a numpy value of one; anything else as it is."""
    return RaggedTensor.from_value(values) if hasattr(values, "row_splits") else values


def _fill(out, rows):
    for i, row in enumerate(rows[:len(out)]):
        if out.ndim == 1:
            out[i] = row
        elif isinstance(row, list):
            _fill(out[i], row)


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64):
    """A ragged tensor of nested lists (``tf.ragged.constant``)."""
    depth = ragged_rank if ragged_rank is not None else max(_depth(pylist) - 1 - len(inner_shape or ()), 0)
    if depth == 0:
        return convert_to_tensor(pylist, dtype)
    nested, level, splits_type = [], pylist, dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    for _ in range(depth):
        lengths = [len(row) for row in level]
        nested.append(np.concatenate([[0], np.cumsum(lengths)]).astype(splits_type))
        level = [item for row in level for item in row]
    if dtype is None and not level:
        dtype = dtypes.float32
    flat = convert_to_tensor(np.zeros([0, *(inner_shape or ())], dtypes.as_dtype(dtype).as_numpy_dtype)
                             if not level else level, dtype)
    return RaggedTensor.from_nested_row_splits(flat, [convert_to_tensor(splits) for splits in nested], validate=False)


def _depth(value):
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)
