"""``tf.lookup.experimental``: tables that change.

They live in Python: a function that looks something up in one is called in Python, not traced, which is announced once.
"""

import threading

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat.errors import InvalidArgumentError

__all__ = ["DenseHashTable", "MutableHashTable"]

_KEYS = (dtypes.string, dtypes.int32, dtypes.int64)


class MutableHashTable:
    """A table that grows and shrinks (``tf.lookup.experimental.MutableHashTable``). Thread-safe.

    `default_value`: what keys have that are not there, a scalar or a vector; all values have its shape.
    """

    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable", checkpoint=True,
                 experimental_is_anonymous=False):
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        if self._key_dtype not in _KEYS:
            raise TypeError(f"keys are {self._key_dtype.name}; a table takes string, int64 or int32")
        self._default = convert_to_tensor(default_value, self._value_dtype)
        if self._default.shape.rank > 1:
            raise ValueError(f"default_value must be a scalar or a vector; found shape {self._default.shape}")
        self._name, self._lock, self._rows = name, threading.Lock(), {}

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)
    name = property(lambda self: self._name)

    @staticmethod
    def _in_python():
        if trace.is_tracing():
            raise trace.NotTraceable("a table that changes is looked into by Python; a StaticHashTable can be traced")

    def _keys_of(self, keys):
        """(tensor of keys, its values as a list)."""
        self._in_python()
        keys = convert_to_tensor(keys, self._key_dtype)
        return keys, keys._values()

    def _array(self, rows, shape):
        """Values of keys as a tensor; `shape` is the keys'."""
        kind = object if self._value_dtype is dtypes.string else self._value_dtype.as_numpy_dtype
        out = np.empty([len(rows), *self._default.shape], kind)
        for i, row in enumerate(rows):
            out[i] = row
        return convert_to_tensor(out.reshape([*shape, *self._default.shape]), self._value_dtype)

    def size(self, name=None):
        """The number of keys, an int64 scalar."""
        self._in_python()
        return convert_to_tensor(np.int64(len(self._rows)))

    def insert(self, keys, values, name=None):
        """Gives each key its value, whether it was there or not."""
        keys, flat = self._keys_of(keys)
        values = convert_to_tensor(values, self._value_dtype)
        expected = keys.shape.concatenate(self._default.shape)
        if values.shape != expected:
            raise InvalidArgumentError(None, None, f"Expected shape {expected} for value, got {values.shape}")
        rows = np.asarray(values.numpy()).reshape([len(flat), *self._default.shape])
        with self._lock:
            self._rows.update(zip(flat, rows.copy()))

    def remove(self, keys, name=None):
        """Takes keys out; those that are not there do not matter."""
        _, flat = self._keys_of(keys)
        with self._lock:
            for key in flat:
                self._rows.pop(key, None)

    erase = remove

    def lookup(self, keys, dynamic_default_values=None, name=None):
        """The value of each key; `keys` is a tensor, or a sparse or ragged one, of key_dtype."""
        if hasattr(keys, "with_flat_values"):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if hasattr(keys, "dense_shape"):
            return type(keys)(keys.indices, self.lookup(keys.values), keys.dense_shape)
        keys, flat = self._keys_of(keys)
        default = self._default.numpy()
        missing = [default] * len(flat)
        if dynamic_default_values is not None:
            given = np.asarray(convert_to_tensor(dynamic_default_values, self._value_dtype).numpy())
            if given.shape != np.shape(default):
                missing = given.reshape([len(flat), *self._default.shape])
        with self._lock:
            found = [self._rows.get(key, other) for key, other in zip(flat, missing)]
        return self._array(found, keys.shape)

    __getitem__ = lookup

    def export(self, name=None):
        """(keys, values), in no order that means anything."""
        self._in_python()
        with self._lock:
            keys, rows = list(self._rows), list(self._rows.values())
        kind = object if self._key_dtype is dtypes.string else self._key_dtype.as_numpy_dtype
        array = np.empty(len(keys), kind)
        array[:] = keys
        return convert_to_tensor(array, self._key_dtype), self._array(rows, [len(keys)])

    def __repr__(self):
        return f"<leat.lookup.experimental.{type(self).__name__} '{self._name}' of {len(self._rows)} keys>"


class DenseHashTable(MutableHashTable):
    """The same under the name and the arguments of TensorFlow's faster table
    (``tf.lookup.experimental.DenseHashTable``).

    `empty_key` and `deleted_key` must differ, and are no keys: InvalidArgumentError.
    """

    def __init__(self, key_dtype, value_dtype, default_value, empty_key, deleted_key, initial_num_buckets=None,
                 name="MutableDenseHashTable", checkpoint=True, experimental_is_anonymous=False):
        super().__init__(key_dtype, value_dtype, default_value, name)
        (empty,), (deleted,) = (convert_to_tensor(key, self._key_dtype)._values() for key in (empty_key, deleted_key))
        if empty == deleted:
            raise InvalidArgumentError(None, None, "Empty and deleted keys cannot be equal")
        self._reserved = {empty: "empty", deleted: "deleted"}

    def _keys_of(self, keys):
        keys, flat = super()._keys_of(keys)
        for key in flat:
            if key in self._reserved:
                raise InvalidArgumentError(None, None, f"Using the {self._reserved[key]}_key as a table key is not "
                                           "allowed")
        return keys, flat
