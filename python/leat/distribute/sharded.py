"""Variables that are cut into shards along their first dimension, which parameter servers hold in turn."""

import itertools

from leat import dtypes
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import trace
from leat._graph.ops import FUNCTIONS as F
from leat._nn.embeddings import rows_of_parts
from leat._structures.indexed_slices import IndexedSlices
from leat._structures.variables import Variable, _delegate


class ShardedVariable:
    """Variables, `variables`, that are read, assigned and saved as one, the first rows first
    (``tf.__internal__.distribute.ShardedVariable``).

    A checkpoint has it as one variable, which is restored to any number of shards.
    """

    __array_priority__ = 100
    _is_tensor = True
    is_sharded_variable = True
    __hash__ = object.__hash__

    def __init__(self, variables, name="ShardedVariable"):
        if not isinstance(variables, (list, tuple)) or not variables or any(
                not isinstance(one, Variable) for one in variables):
            raise TypeError("Argument `variables` should be a non-empty list of `variables.Variable`s. Received "
                            f"{variables}")
        if len({one.dtype for one in variables}) > 1:
            raise ValueError("All elements in argument `variables` must have the same dtype. Received dtypes: "
                             f"{[one.dtype for one in variables]}")
        if len({tuple(one.shape[1:]) for one in variables}) > 1:
            raise ValueError("All elements in argument `variables` must have the same shapes except for the first "
                             f"axis. Received shapes: {[one.shape for one in variables]}")
        self.variables, self.name = list(variables), name
        self._starts = [0, *itertools.accumulate(one.shape[0] for one in variables)]
        self._shape = TensorShape([self._starts[-1], *variables[0].shape[1:]])

    dtype = property(lambda self: self.variables[0].dtype)
    shape = property(lambda self: self._shape)
    trainable = property(lambda self: self.variables[0].trainable)

    def __iter__(self):
        return iter(self.variables)

    # ---- as one tensor ----

    def _as_tensor(self):
        return F["concat"]([one._as_tensor() for one in self.variables], 0)

    def read_value(self):
        """The whole value as a tensor."""
        return self._as_tensor()

    value = read_value

    def numpy(self):
        """The whole value as a numpy array."""
        return self._as_tensor().numpy()

    def _checkpoint_tensor(self):
        with trace.eagerly():
            return self._as_tensor()

    def __array__(self, dtype=None, copy=None):
        return self._as_tensor().__array__(dtype, copy)

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        first = parts[0] if parts else None
        if isinstance(first, Tensor) and first.dtype is not dtypes.bool or isinstance(first, slice) and any(
                isinstance(one, Tensor) for one in (first.start, first.stop, first.step)):
            raise TypeError("ShardedVariable: using Tensor for indexing is not allowed.")
        if type(first) is int and not -self.shape[0] <= first < self.shape[0]:
            raise IndexError(f"ShardedVariable: slice index {first} of dimension 0 out of bounds.")
        return self._as_tensor()[key]

    def sparse_read(self, indices, name=None):
        """The rows that `indices` number."""
        return rows_of_parts(self.variables, indices)

    # ---- assigning ----

    def _parts(self, value):
        """The shards' parts of a value of the whole shape."""
        value = convert_to_tensor(value._as_tensor() if hasattr(value, "_as_tensor") else value, self.dtype)
        if not self._shape.is_compatible_with(value.shape):
            raise ValueError(f"Shapes {self._shape} and {value.shape} are incompatible")
        return zip(self.variables, (value[start:end] for start, end in itertools.pairwise(self._starts)))

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Sets the values; the variable itself."""
        for shard, part in self._parts(value):
            shard.assign(part)
        return self

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to the values; the variable itself."""
        for shard, part in self._parts(delta):
            shard.assign_add(part)
        return self

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from the values; the variable itself."""
        for shard, part in self._parts(delta):
            shard.assign_sub(part)
        return self

    def _scattered(self, kind, slices):
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {slices}")
        indices = convert_to_tensor(slices.indices)
        if indices.shape.rank != 1:
            raise ValueError("ShardedVariable: indices must be 1D Tensor for sparse operations. Received shape: "
                             f"{indices.shape}")
        values = convert_to_tensor(slices.values)
        for shard, (start, end) in zip(self.variables, itertools.pairwise(self._starts)):
            is_here = F["logical_and"](indices >= start, indices < end)
            own = IndexedSlices(F["boolean_mask"](values, is_here), F["boolean_mask"](indices, is_here) - start)
            shard._scattered_slices(kind, own)
        return self

    def __repr__(self):
        return f"ShardedVariable(name={self.name}, shape={self._shape}, dtype={self.dtype!r}, {self.variables!r})"


def _scatter(kind):
    def method(self, sparse_delta, use_locking=False, name=None):
        return self._scattered(kind, sparse_delta)
    method.__name__ = f"scatter_{kind}"
    method.__doc__ = f"``tf.Variable.scatter_{kind}`` of each shard's rows."
    return method


for _kind in ("add", "sub", "update", "max", "min", "mul", "div"):
    setattr(ShardedVariable, f"scatter_{_kind}", _scatter(_kind))
for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod",
              "rmod", "pow", "rpow", "matmul", "rmatmul", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"):
    setattr(ShardedVariable, f"__{_name}__", _delegate(f"__{_name}__"))


def starts_of(rows, count):
    """Where the shards of so many rows begin, and the end: the first ones have one more where that does not divide."""
    size, more = divmod(rows, count)
    return list(itertools.accumulate([size + (place < more) for place in range(count)], initial=0))
