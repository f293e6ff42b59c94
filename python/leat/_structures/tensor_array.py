"""``tf.TensorArray``: tensors by number, written one at a time, also in loops of functions that are traced.

Where numbers are known the tensors are a Python list. As a variable of a loop, or with a number that the run computes,
they are the rows of one tensor, which the operation tensor_array_write changes.
"""

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops, trace
from leat._graph.creation import zeros
from leat._graph.ops import FUNCTIONS as F
from leat.errors import InvalidArgumentError, OutOfRangeError


class TensorArraySpec(specs.TypeSpec):
    """The type of a TensorArray (``tf.TensorArraySpec``)."""

    __slots__ = ("_element_shape", "_dtype", "_dynamic_size", "_infer_shape")
    num_components = 1

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True):
        self._element_shape = specs.as_shape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: TensorShape(None))
    value_type = property(lambda self: TensorArray)

    def _covers(self, other):
        return self._dtype == other._dtype and self._element_shape.is_compatible_with(other._element_shape)

    def most_specific_common_supertype(self, others):
        """The spec of both branches' arrays; None where dtypes differ."""
        for other in others:
            if type(other) is not TensorArraySpec or other._dtype is not self._dtype:
                return None
            self = self._with_element_shape(self._element_shape.most_specific_compatible_shape(other._element_shape))
        return self

    @property
    def _changes(self):
        """May the shape of all elements together change in a loop?"""
        return bool(self._dynamic_size) or not self._element_shape.is_fully_defined()

    def _with_element_shape(self, shape):
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, self._infer_shape)

    def _with_shape(self, shape):
        return self

    def _key(self):
        return self._dtype, self._dynamic_size

    def _json(self):
        shape = self._element_shape
        # Until something is written to it an array of elements of a shape that is not known has no rows: [n, 0].
        rows = [None, *shape.as_list()] if shape.is_fully_defined() else None
        return {"tuple": [{"dtype": self._dtype.name, "shape": rows}],
                "tag": nest.leaf_tag(repr(self), self._of_rows)}

    def _of_rows(self, parts):
        shape = self._element_shape
        if None not in (shape.rank, parts[0].shape.rank) and parts[0].shape.rank != shape.rank + 1:
            raise TypeError("TensorArrays cannot be batched; stack them first")
        return self

    def _take(self, value):
        return [value._as_rows()]

    def _put(self, components):
        out = TensorArray(self._dtype, 0, self._dynamic_size, infer_shape=self._infer_shape,
                          element_shape=self._element_shape)
        out._list, out._rows = None, next(components)
        return out

    def __repr__(self):
        return (f"TensorArraySpec({self._element_shape!r}, {self._dtype!r}, {self._dynamic_size!r}, "
                f"{self._infer_shape!r})")


class TensorArray:
    """`size` tensors of one dtype, by number (``tf.TensorArray``); `dynamic_size` lets writes make it longer.

    While a function is traced `write` returns another array; outside it changes this one and returns it.
    """

    _is_leaf_value = True

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        self._dtype, self._dynamic, self._said_dynamic = dtypes.as_dtype(dtype), bool(dynamic_size), dynamic_size
        self._element_shape, self._infer = specs.as_shape(element_shape), infer_shape
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._read, self._list, self._rows = set(), None, None
        size = 0 if size is None else size
        if isinstance(size, Tensor) and not size._has_values:
            self._rows = self._zeros(size)
        else:
            self._list = [None] * int(size)

    dtype = property(lambda self: self._dtype)
    element_shape = property(lambda self: self._element_shape)
    dynamic_size = property(lambda self: self._dynamic)
    handle = property(lambda self: None)
    flow = property(lambda self: convert_to_tensor(0, dtypes.int32))

    @property
    def _type_spec(self):
        return TensorArraySpec(self._element_shape, self._dtype, self._said_dynamic, self._infer)

    # ---- the two forms ----

    def _begun(self, spec):
        """This array at the beginning of a loop in which elements of the spec's shape are written."""
        shape = spec._element_shape
        if not self._infer or not shape.is_fully_defined() or self._element_shape.is_fully_defined() or (
                self._list is None and self._rows.shape[1:] != [0]):
            return self
        out = self._other(self._rows, self._list, shape)
        if out._list is None:
            out._rows = out._zeros(F["shape"](self._rows)[0])
        return out

    def _zeros(self, count):
        """Rows that nothing was written to: of the elements' shape, or of none yet."""
        known = self._element_shape.is_fully_defined()
        dims = self._element_shape.as_list() if known else [0]
        shape = F["stack"]([F["cast"](count, dtypes.int32), *dims]) if isinstance(count, Tensor) else [count, *dims]
        return zeros(shape, self._dtype)

    def _as_rows(self):
        """The array as one tensor."""
        if self._list is None:
            return self._rows
        if all(tensor is None for tensor in self._list):
            return self._zeros(len(self._list))
        return F["stack"]([self._or_zeros(i) for i in range(len(self._list))])

    def _or_zeros(self, index):
        if self._list[index] is not None:
            return self._list[index]
        if not self._element_shape.is_fully_defined():
            raise InvalidArgumentError(None, None, f"Could not read index {index} of a TensorArray: nothing was "
                                       "written there, and its shape is not known")
        return zeros(self._element_shape, self._dtype)

    def _other(self, rows=None, entries=None, shape=None):
        """This array with other contents: itself outside of functions."""
        out = self if not trace.is_tracing() else TensorArray(
            self._dtype, 0, self._said_dynamic, self._clears, None, None, None, self._infer, self._element_shape)
        out._rows, out._list = rows, entries
        if shape is not None and self._infer:
            out._element_shape = self._element_shape.merge_with(shape)
        return out

    def _value(self, value):
        tensor = convert_to_tensor(value, None if isinstance(value, Tensor) or hasattr(value, "dtype") else self._dtype)
        if tensor.dtype is not self._dtype:
            raise InvalidArgumentError(None, None, f"TensorArray dtype is {self._dtype.name} but Op is trying to write "
                                       f"dtype {tensor.dtype.name} ")
        return tensor

    def _check_shape(self, shape):
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(f"Incompatible shape for value ({shape}), expected ({self._element_shape})")

    def _static(self, tensor, lines):
        """The tensor with what is known of its shape; `lines`: dimensions before the elements'."""
        shape = self._element_shape
        if shape.rank is None:
            return tensor
        wanted = [*lines, *shape]
        if tensor._has_values and tensor.shape.rank == len(wanted) or tensor.shape == wanted:
            return tensor
        if lines and shape.is_fully_defined() and 0 not in shape.as_list():
            return F["reshape"](tensor, [-1, *shape])  # rows that no iteration has written have no such shape yet
        return F["ensure_shape"](tensor, wanted)

    # ---- reading and writing ----

    def write(self, index, value, name=None):
        """The array with `value` at `index`."""
        tensor = self._value(value)
        self._check_shape(tensor.shape)
        index = convert_to_tensor(index)
        if self._list is None or not index._has_values:
            rows = ops.call("tensor_array_write", {"grows": self._dynamic}, [self._as_rows(), index, tensor])[0]
            return self._other(rows=rows, shape=tensor.shape)
        index, entries = int(index), list(self._list) if trace.is_tracing() else self._list
        if index < 0:
            raise OutOfRangeError(None, None, f"Writing to negative indices (index {index}) is not allowed.")
        if index >= len(entries):
            if not self._dynamic:
                raise OutOfRangeError(None, None, f"Tried to write to index {index} but array is not resizeable and "
                                      f"size is: {len(entries)} ")
            entries.extend([None] * (index + 1 - len(entries)))
        entries[index] = tensor
        return self._other(entries=entries, shape=tensor.shape)

    def read(self, index, name=None):
        """The tensor at `index`; outside of functions an array forgets it, unless `clear_after_read` is False."""
        index = convert_to_tensor(index)
        if self._list is None or not index._has_values:
            return self._static(F["gather"](self._as_rows(), index), [])
        index = int(index)
        if index < 0:
            raise OutOfRangeError(None, None, f"Reading from negative indices (index {index}) is not allowed.")
        if index >= len(self._list):
            raise OutOfRangeError(None, None, f"Tried to read from index {index} but array size is: {len(self._list)} ")
        if self._list[index] is None and index in self._read:
            raise InvalidArgumentError(None, None, f"Could not read index {index} twice because it was cleared after a "
                                       "previous read (perhaps try setting clear_after_read = false?)")
        tensor = self._or_zeros(index)
        if self._clears and not trace.is_tracing():
            self._list[index] = None
            self._read.add(index)
        return tensor

    def stack(self, name=None):
        """All tensors along a new first dimension."""
        if self._list is not None and any(tensor is not None for tensor in self._list):
            return F["stack"]([self._or_zeros(i) for i in range(len(self._list))])
        return self._static(self._as_rows(), [None])

    def gather(self, indices, name=None):
        """The tensors at `indices`, along a new first dimension."""
        return F["gather"](self.stack(), indices)

    def concat(self, name=None):
        """All tensors, one behind the other along their first dimension."""
        if self._list is not None and self._list:
            return F["concat"]([self._or_zeros(i) for i in range(len(self._list))], 0)
        rows = self.stack()
        return F["reshape"](rows, F["concat"]([[-1], F["shape"](rows)[2:]], 0))

    def unstack(self, value, name=None):
        """The array of the slices of a tensor."""
        tensor = self._value(value)
        self._check_shape(tensor.shape[1:])
        count = tensor.shape[0] if tensor.shape.rank is not None else None
        if count is None or self._list is None:
            return self._other(rows=tensor, shape=tensor.shape[1:] if tensor.shape.rank is not None else None)
        if count > len(self._list) and not self._dynamic:
            raise ValueError(f"Cannot unstack {count} tensors into a TensorArray of static size {len(self._list)} ")
        return self._other(entries=[tensor[i] for i in range(count)], shape=tensor.shape[1:])

    def scatter(self, indices, value, name=None):
        """The array with the slices of a tensor at `indices`."""
        tensor, out = self._value(value), self
        for i, index in enumerate(convert_to_tensor(indices).numpy().tolist()):
            out = out.write(index, tensor[i])
        return out

    def split(self, value, lengths, name=None):
        """The array of pieces of a tensor, as long as `lengths` says."""
        tensor, out, begin = self._value(value), self, 0
        lengths = np.asarray(convert_to_tensor(lengths).numpy())
        if lengths.ndim != 1:
            raise ValueError("Expected lengths to be a vector")
        if tensor.shape[0] != lengths.sum():
            raise InvalidArgumentError(None, None, "Expected sum of lengths to be equal to values.shape[0], but sum of "
                                       f"lengths is {lengths.sum()} and value's shape is: {tensor.shape} ")
        entries = []
        for length in lengths.tolist():
            entries.append(tensor[begin:begin + length])
            begin += length
        return out._other(entries=entries)

    def size(self, name=None):
        """The number of tensors, an int32 scalar."""
        if self._list is not None:
            return convert_to_tensor(len(self._list), dtypes.int32)
        return F["shape"](self._rows)[0]

    def identity(self):
        """The array itself."""
        return self

    def grad(self, source, flow=None, name=None):
        """Of no use here: gradients flow through the tensors."""
        raise NotImplementedError("TensorArray.grad: take gradients of the tensors with a tape")

    def mark_used(self):
        """Does nothing."""

    def close(self, name=None):
        """Forgets all tensors."""
        self._list, self._rows = [], None

    def __repr__(self):
        return f"<leat.TensorArray of {self._dtype.name}>"
