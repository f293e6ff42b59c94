"""``tf.lookup``: tables from lists or from the lines of a file; those that change are in `experimental`.

`lookup` is an operation of the library with the table in it: it can be traced, saved with a plan, and runs without a
call into Python.
"""

import json

import numpy as np

from leat import dtypes
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops, trace
from leat._graph.ops import FUNCTIONS as F
from leat.errors import InvalidArgumentError
from leat.lookup import experimental

__all__ = ["KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex",
           "TextFileInitializer", "experimental"]


class TextFileIndex:
    """What of a line is a key or a value: all of it, its number, or one of its columns by number from 0."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """Keys and values of two vectors (``tf.lookup.KeyValueTensorInitializer``)."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self._keys = convert_to_tensor(keys, key_dtype)
        self._values = convert_to_tensor(values, value_dtype)
        if self._keys.shape.rank != 1 or self._keys._shape != self._values._shape:
            raise ValueError(f"keys and values must be two vectors of the same size; found {self._keys.shape} and "
                             f"{self._values.shape}")

    key_dtype = property(lambda self: self._keys.dtype)
    value_dtype = property(lambda self: self._values.dtype)

    def _pairs(self):
        return self._keys, self._values


class TextFileInitializer:
    """Keys and values out of the lines of a text file (``tf.lookup.TextFileInitializer``).

    `key_index` and `value_index` are those of TextFileIndex, or columns between `delimiter`; `vocab_size` bounds the
    lines.
    """

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t",
                 name=None, value_index_offset=0):
        self._filename = filename
        self.key_dtype, self.value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        self._indices, self._delimiter, self._size = (key_index, value_index), delimiter, vocab_size
        self._offset = value_index_offset
        for index, dtype, what in ((key_index, self.key_dtype, "key"), (value_index, self.value_dtype, "value")):
            if index < -2:
                raise ValueError(f"Invalid {what} index {index}. Must be >= -2.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not dtypes.int64:
                raise ValueError(f"Signature mismatch. {what.capitalize()} dtype for line_number must be int64; got "
                                 f"{dtype.name}")
            if index == TextFileIndex.WHOLE_LINE and not (dtype is dtypes.string or dtype.is_integer):
                raise ValueError(f"Signature mismatch. {what.capitalize()} dtype for whole_line must be string; got "
                                 f"{dtype.name}")

    def _pairs(self):
        name = self._filename.numpy() if isinstance(self._filename, Tensor) else self._filename
        content = F["io.read_file"](convert_to_tensor(name)).numpy()
        lines = content.split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        lines = [line.removesuffix(b"\r") for line in lines]
        if self._size is not None:
            if len(lines) < int(self._size):
                raise InvalidArgumentError(None, None, f"Invalid vocab_size in {name}: expected {self._size} but got "
                                           f"{len(lines)}")
            lines = lines[:int(self._size)]
        keys, values = (self._column(lines, index, dtype, name) for index, dtype in zip(
            self._indices, (self.key_dtype, self.value_dtype)))
        if self._indices[1] == TextFileIndex.LINE_NUMBER and self._offset:
            values = F["add"](values, self._offset)
        return keys, values

    def _column(self, lines, index, dtype, name):
        if index == TextFileIndex.LINE_NUMBER:
            return convert_to_tensor(np.arange(len(lines), dtype=np.int64))
        texts = lines
        if index >= 0:
            parts = [line.split(self._delimiter.encode()) for line in lines]
            short = next((i for i, part in enumerate(parts) if len(part) <= index), None)
            if short is not None:
                raise InvalidArgumentError(None, None, f"Invalid number of columns in {name} line {short} "
                                           f"({lines[short].decode(errors='replace')}) : expected at least {index + 1} "
                                           f"got {len(parts[short])}")
            texts = [part[index] for part in parts]
        column = convert_to_tensor(np.array(texts, object), dtypes.string)
        return column if dtype is dtypes.string else F["strings.to_number"](column, dtype)


class StaticHashTable:
    """A table of an initializer's keys and values, with a default for other keys (``tf.lookup.StaticHashTable``)."""

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        self._initializer, self._name = initializer, name or "hash_table"
        self._keys, self._values = (tensor._as_tensor() if hasattr(tensor, "_as_tensor") else tensor
                                    for tensor in initializer._pairs())
        self._default = convert_to_tensor(default_value, self._values.dtype)
        if self._default.shape.rank != 0:
            raise ValueError(f"default_value must be a scalar; found shape {self._default.shape}")
        keys = self._keys._values()
        if self._keys.dtype not in (dtypes.string, dtypes.int64, dtypes.int32):
            raise TypeError(f"keys are {self._keys.dtype.name}; a table takes string, int64 or int32")
        self._count = len(set(keys))
        self._attributes = {"keys": ops.literal(self._keys), "values": ops.literal(self._values)}
        self._text, self._function = json.dumps(self._attributes), None
        self._find(convert_to_tensor(np.zeros([0], self._keys.dtype.as_numpy_dtype), self._keys.dtype))

    key_dtype = property(lambda self: self._keys.dtype)
    value_dtype = property(lambda self: self._values.dtype)
    default_value = property(lambda self: self._default)
    name = property(lambda self: self._name)

    def size(self, name=None):
        """The number of keys, an int64 scalar."""
        return convert_to_tensor(np.int64(self._count))

    def export(self, name=None):
        """(keys, values)."""
        return self._keys, self._values

    def lookup(self, keys, name=None):
        """The value of each key; `keys` is a tensor, or a sparse or ragged one, of key_dtype."""
        if hasattr(keys, "with_flat_values"):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if hasattr(keys, "dense_shape"):
            return type(keys)(keys.indices, self.lookup(keys.values), keys.dense_shape)
        query = convert_to_tensor(keys, None if hasattr(keys, "dtype") else self.key_dtype)
        if query.dtype is not self.key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype}, received: {query.dtype}")
        return self._find(query)

    __getitem__ = lookup

    def _find(self, query):
        graph = trace.graph_for([query, self._default], frozenset())
        if graph is not None:
            inputs = [trace.reach(graph, tensor) for tensor in (query, self._default)]
            return graph.call("table_find", self._text, inputs)[0]
        if self._function is None:  # the table is read once, whatever the number of calls
            from leat._core import specs
            shapes = (specs.TensorSpec(None, self.key_dtype), specs.TensorSpec([], self.value_dtype))
            with trace.unrecorded():
                self._function = trace.trace(lambda q, d: self._traced(q, d), shapes)[0]
        return self._function.call([query, self._default])[0]

    def _traced(self, query, default):
        return trace.current_graph().call("table_find", self._text, [query, default])[0]

    def __repr__(self):
        return f"<leat.lookup.StaticHashTable '{self._name}' of {self._count} keys>"


class StaticVocabularyTable:
    """Numbers of words: an initializer's, and buckets behind them for others (``tf.lookup.StaticVocabularyTable``).

    A word that is not in the table has number size + fingerprint64(word) % num_oov_buckets.
    """

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None,
                 experimental_is_anonymous=False):
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        self._buckets, self._table = num_oov_buckets, None
        if initializer is not None:
            if initializer.value_dtype is not dtypes.int64:
                raise ValueError("Invalid `value_dtype`, expected int64 but got %s." % initializer.value_dtype.name)
            self._table = StaticHashTable(initializer, -1, name)
        self._key_dtype = dtypes.as_dtype(lookup_key_dtype) if lookup_key_dtype is not None else (
            self._table.key_dtype if self._table is not None else dtypes.string)
        if not (self._key_dtype.is_integer or self._key_dtype is dtypes.string):
            raise TypeError("Invalid `key_dtype`, expected integer or string but got %s." % self._key_dtype.name)

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: dtypes.int64)

    def size(self, name=None):
        """The number of words and buckets, an int64 scalar."""
        return convert_to_tensor(np.int64((self._table._count if self._table is not None else 0) + self._buckets))

    def lookup(self, keys, name=None):
        """The int64 number of each word; `keys` is a tensor, or a sparse or ragged one."""
        if hasattr(keys, "with_flat_values"):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if hasattr(keys, "dense_shape"):
            return type(keys)(keys.indices, self.lookup(keys.values), keys.dense_shape)
        words = convert_to_tensor(keys, None if hasattr(keys, "dtype") else self._key_dtype)
        if words.dtype is not self._key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self._key_dtype}, received: {words.dtype}")
        texts = words if words.dtype is dtypes.string else F["strings.as_string"](words)
        buckets = F["strings.to_hash_bucket_fast"](texts, self._buckets)
        if self._table is None:
            return buckets
        numbers = self._table.lookup(words if words.dtype is self._table.key_dtype else F["cast"](
            words, self._table.key_dtype))
        buckets = F["add"](buckets, self._table.size())
        return F["where"](F["equal"](numbers, convert_to_tensor(-1, dtypes.int64)), buckets, numbers)

    __getitem__ = lookup
