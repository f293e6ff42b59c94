"""``tf.Tensor``: immutable values, or what stands for them while a function is traced."""

import weakref

import numpy as np

from leat import _native, dtypes, nest
from leat._core import conversions, plain
from leat._core.element_specs import DatasetSpec
from leat._core.later import Hook
from leat._core.shapes import TensorShape, shape_of
from leat._core.specs import TensorSpec
from leat.errors import OperatorNotAllowedInGraphError

operation = Hook()  # (name, attributes, tensors): the outputs of an operation; leat._graph.ops
parts_of = Hook()  # (tensor, key): what `tensor[key]` is; leat._graph.indexing
composite_of_value = Hook()  # (value): a ragged or sparse tensor of numpy's form of one; leat._structures.ragged


class NotTraceable(OperatorNotAllowedInGraphError):
    """Raised where tracing needs a value that is not there yet; the function becomes a callback."""


class NoValue(NotTraceable, AttributeError):
    """The same where TensorFlow's tensors of a graph lack the attribute."""


_masks = {}  # id of a tensor -> (a weak reference to it, its mask)


matrix_product = Hook()  # (first, second): what `first @ second` is; leat.linalg
is_aliased = Hook()  # (tensor): is it one with values that something records operations of; leat._graph.state
tracing_now = Hook()  # is a function being traced; leat._graph.state
device_now = Hook()  # the name of the device of what is computed now; leat._graph.state


class Tensor(_native.TensorBase):
    """A dense array of one dtype. Immutable; any number of threads may read it.

    While a function is traced a tensor has no values: operations on it become nodes of the function.
    """

    __slots__ = ()
    __array_priority__ = 100

    @property
    def dtype(self):
        """The DType of the elements."""
        return dtypes.by_number[self._dtype]

    @property
    def shape(self):
        """The static shape, a TensorShape."""
        return shape_of(self._shape)

    @property
    def ndim(self):
        """The number of dimensions; None where it is unknown."""
        return self.shape.rank

    @property
    def name(self):
        """A name that no other living tensor has."""
        if self._has_values:
            raise AttributeError("Tensor.name is undefined when eager execution is enabled.")
        return f"{getattr(self._graph, 'names', {}).get(self._id) or f'tensor_{self._id}'}:0"

    @property
    def graph(self):
        """The graph whose value it is, while a function is traced."""
        if self._has_values:
            raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
        return self._graph

    @property
    def op(self):
        """Stands for the operation that gave it, while a function is traced."""
        if self._has_values:
            raise AttributeError("Tensor.op is undefined when eager execution is enabled.")
        return self

    @property
    def device(self):
        """The device of what is computed where this is asked, in TensorFlow's spelling: the replica's or
        ``tf.device``'s, else the first; "" where a function is traced for none. Values lie in the
        memory that all devices share."""
        return device_now()

    @property
    def backing_device(self):
        """Where the memory lies, as `device`; a value of a function that is traced has none."""
        if not self._has_values:
            raise AttributeError("'SymbolicTensor' object has no attribute 'backing_device'")
        return self.device

    def get_shape(self):
        """The static shape, as ``shape``."""
        return self.shape

    def numpy(self):
        """A copy of the values as a numpy array; a scalar as a numpy scalar.

        ``np.asarray(tensor)`` makes no copy, and is read only.
        """
        if not self._has_values:
            raise NoValue("'SymbolicTensor' object has no attribute 'numpy': numpy() needs the values of a tensor, "
                          "which a function that is traced does not have yet; use tensor operations, or "
                          "leat.numpy_function")
        return writable(_to_numpy(self))

    def set_shape(self, shape):
        """Says that the tensor has this shape (``tf.Tensor.set_shape``); ValueError where it cannot."""
        merged = self.shape.merge_with(shape)
        if merged != self.shape and not self._has_values:
            self._become(operation("ensure_shape", {"shape": [-1 if d is None else d for d in merged]}, [self])[0])

    @property
    def assign(self):
        """Sets the part of a variable that this is: ``v[0].assign(value)``. Other tensors have no such method."""
        if self._origin is None:
            raise AttributeError("a tensor is not changed: only parts of a variable, as v[0], have 'assign'")
        return self._origin

    @property
    def _keras_mask(self):
        """Which rows or steps count for losses and metrics, a bool tensor; None: all of them (Keras' attribute)."""
        found = _masks.get(id(self))
        return found[1] if found is not None and found[0]() is self else None

    @_keras_mask.setter
    def _keras_mask(self, mask):
        number = id(self)
        _masks[number] = (weakref.ref(self, lambda _: _masks.pop(number, None)), mask)

    def ref(self):
        """A hashable reference, for sets and keys of dicts (``tf.Tensor.ref``)."""
        return Reference(self)

    experimental_ref = ref

    def _element_spec(self):
        """The spec of the elements where this is a dataset; None for others."""
        if self._dtype != dtypes.variant.number:
            return None
        if self._has_values:
            return nest.from_text(self._dataset().spec())
        text = self._graph.element_spec(self)
        return None if text is None else nest.from_text(text)

    @property
    def _type_spec(self):
        element = self._element_spec()
        return TensorSpec(self.shape, self.dtype) if element is None else DatasetSpec(element)

    # ---- Python's protocols ----

    def __array__(self, dtype=None, copy=None):
        if not self._has_values:
            raise NotTraceable("a numpy function needs the values of a tensor, which a function that is traced does "
                               "not have yet; use tensor operations, or leat.numpy_function")
        values = np.asarray(_to_numpy(self))
        return values.copy() if copy else values if dtype is None else values.astype(dtype)

    def _scalar(self, what):
        if not self._has_values:
            raise NotTraceable(f"{what} of a tensor needs its value, which a function that is traced does not have "
                               "yet; use leat.cond or leat.while_loop")
        if self.dtype in (dtypes.float16, dtypes.bfloat16):
            return _to_numpy(self).item()
        if self.shape.num_elements() != 1 and what != "the truth":
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self._item() if self.shape.num_elements() == 1 else bool(np.asarray(_to_numpy(self)))

    def __bool__(self):
        return bool(self._scalar("the truth"))

    def __int__(self):
        return int(self._scalar("int()"))

    def __float__(self):
        return float(self._scalar("float()"))

    def __complex__(self):
        return complex(self._scalar("complex()"))

    def __index__(self):
        if not self._has_values:
            raise NotTraceable("a tensor without a value is no index of Python's; use leat.gather or leat.range")
        if not self.dtype.is_integer:
            raise TypeError(f"only integer tensors can be an index; this one is {self.dtype.name}")
        if self._shape:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._item()

    def __len__(self):
        if self.shape.rank == 0:
            raise TypeError("Scalar tensor has no `len()`")
        if not self._has_values:
            length = None if self.shape.rank is None else self.shape[0]
            if length is None:
                raise NotTraceable("len() of a tensor whose first dimension is not known yet; use leat.shape(x)[0]")
            return length
        return self._shape[0]

    def __iter__(self):
        if self.shape.rank == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        if self._has_values:
            is_recorded = self._graph is not None or is_aliased(self)
            return (parts_of(self, i) if is_recorded else self._row(i) for i in range(self._shape[0]))
        length = None if self.shape.rank is None else self.shape[0]
        if length is None:
            raise NotTraceable("iterating over a tensor whose first dimension is not known yet; use leat.map_fn or "
                               "a `for` statement in a function that leat converts")
        return (self[i] for i in range(length))

    def __matmul__(self, other):
        return NotImplemented if hasattr(other, "_is_leaf_value") else matrix_product(self, other)

    def __rmatmul__(self, other):
        return matrix_product(other, self)

    def __hash__(self):
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return constant, (self.numpy(), self.dtype.name)

    def __repr__(self):
        if not self._has_values:
            return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
        if self._dtype == dtypes.variant.number:
            return f"<tf.Tensor: shape={self.shape}, dtype=variant, value=<Dataset>>"
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={text_of(self, True)}>"

    def __str__(self):
        if not self._has_values:
            shape = "" if self.shape.rank is None else f", shape={self.shape}"
            return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'
        return f"tf.Tensor({text_of(self, False)}, shape={self.shape}, dtype={self.dtype.name})"

    def __format__(self, spec):
        return format(self.numpy() if self._has_values else self, spec) if spec or self._has_values else str(self)

    def __getitem__(self, key):
        """Parts as numpy's: integers, slices, ``...``, None, scalar tensors, or one mask of bool."""
        return parts_of(self, key)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A DLPack capsule over the values, without a copy (read only)."""
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"the tensor lies in the host's memory; found a request for device {dl_device}")
        source = constant(np.array(self.numpy())) if copy else self
        return _native.to_dlpack(source, max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self):
        return 1, 0  # the host


_native.TensorBase.set_class(Tensor)
TensorSpec.value_class.provide(Tensor)


class Reference:
    """A hashable stand-in for a tensor (``tf.Tensor.ref``)."""

    def __init__(self, tensor):
        self._tensor = tensor

    def deref(self):
        """The tensor."""
        return self._tensor

    def __eq__(self, other):
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __hash__(self):
        return id(self._tensor)

    def __repr__(self):
        return f"<Reference wrapping {self._tensor!r}>"


# numpy's scalar types by dtype and back, for those whose scalars are quick to make; the latter need not be exact.
_NUMPY_SCALARS = {dtype.number: dtype.as_numpy_dtype for dtype in (
    dtypes.bool, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32,
    dtypes.uint64, dtypes.float32, dtypes.float64)}
_OF_NUMPY_SCALARS = {dtype.as_numpy_dtype: dtype for dtype in (
    dtypes.bool, dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)}


def _to_numpy(tensor):
    number = tensor._dtype
    if tensor._shape == () and number in _NUMPY_SCALARS:
        return _NUMPY_SCALARS[number](tensor._item())
    if number == dtypes.string.number:
        values = tensor._values()
        if tensor._shape == ():
            return values[0]
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out.reshape(tensor._shape)
    if number == dtypes.bfloat16.number:
        values = np.asarray(tensor._bits()).view(dtypes.bfloat16.as_numpy_dtype)
    else:
        values = np.asarray(memoryview(tensor))
    return values if values.ndim else values[()]


def writable(values):
    """What `_to_numpy` gave, and a copy where it is a view of a tensor's memory."""
    return values.copy() if isinstance(values, np.ndarray) and not values.flags.writeable else values


def text_of(tensor, is_repr):
    """The values as TensorFlow prints them: a line of their own where they need several."""
    values = _to_numpy(tensor)
    if isinstance(values, bytes):
        return repr(values)
    if isinstance(values, np.generic):
        return repr(values.item()) if is_repr and tensor._dtype != dtypes.bfloat16.number else str(values)
    text = repr(values) if is_repr else str(values)
    return "\n" + text if "\n" in text else text


# ---- making tensors ----

_PLAIN = frozenset([bool, int, float, complex, str, bytes, np.ndarray])


def _has_tensor(value):
    if isinstance(value, (list, tuple)):
        return any(_has_tensor(item) for item in value)
    return isinstance(value, Tensor) or type(value) not in _PLAIN and hasattr(value, "_as_tensor")


_SMALL = 4096  # bytes that are copied sooner than shared


def _of_array(array, dtype, is_owned=True):
    """A tensor of a numpy array; shares its memory where it lies row by row and `is_owned`: nobody will write it."""
    if array.dtype.kind in "SUO":
        flat = array.reshape(-1).tolist()
        return _native.TensorBase.from_strings([_to_bytes(item) for item in flat], array.shape)
    array = np.asarray(array, order="C")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if dtype is dtypes.bfloat16:
        array = array.view(np.uint16)
    if not is_owned or array.nbytes <= _SMALL:
        return _native.TensorBase.copied(array, dtype.number)
    return _native.TensorBase.from_buffer(array, dtype.number, array.shape)


def _to_bytes(value):
    if isinstance(value, str):
        return _native.text_bytes(value)
    if isinstance(value, bytes):
        return value
    if isinstance(value, Tensor) and value.dtype is dtypes.string:
        return value._item()
    raise TypeError(f"Cannot convert {value!r} to a string tensor")


def _array_of(value, dtype, traced):
    try:
        return plain.array_of(value, dtype, traced)
    except TypeError:  # a torch tensor of bfloat16, which numpy has no dtype for
        if not hasattr(value, "__dlpack__"):
            raise
        return _to_numpy(_native.from_dlpack(value.__dlpack__())).copy()


_OF_FLOATS = frozenset([dtypes.float32.number, dtypes.float64.number])
_OF_INTEGERS = _OF_FLOATS | {dtypes.int32.number, dtypes.int64.number}


def _quick_scalar(value, dtype):
    """A scalar tensor of a number that surely fits the dtype; None of others."""
    kind = type(value)
    if kind is float:
        number = dtypes.float32.number if dtype is None else dtype.number
        return _native.TensorBase.scalar(value, number) if number in _OF_FLOATS else None
    if kind is int:
        number = dtypes.int32.number if dtype is None else dtype.number
        fits = number in _OF_INTEGERS and -2**31 <= value < 2**31
        return _native.TensorBase.scalar(value, number) if fits else None
    own = dtypes.bool if kind is bool else _OF_NUMPY_SCALARS.get(kind)
    return _native.TensorBase.scalar(value, own.number) if own is not None and dtype in (None, own) else None


_OWN = (list, tuple, bool, int, float, str, bytes)  # numpy makes an array of its own of these


def constant(value, dtype=None, shape=None, name="Const"):
    """A tensor of Python numbers, lists, numpy arrays or anything with a buffer (``tf.constant``).

    Python floats become float32, integers int32 (int64 where one does not fit) unless `dtype` says otherwise;
    `shape` reshapes, or repeats a single value. Memory that is not read only is copied.
    """
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    quick = None if shape is not None else _quick_scalar(value, dtype)
    if quick is not None:
        return quick
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise TypeError(f"Expected tensor {value} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
        out = value
    elif hasattr(value, "with_flat_values"):
        raise ValueError(f"expected a tensor, found a RaggedTensor of shape {value.shape}; give `to_tensor()` of it")
    else:
        value = value.as_list() if isinstance(value, TensorShape) else value
        traced = tracing_now()
        array = _array_of(value, dtype, traced)
        own = plain.default_dtype(value, array, dtype, traced)
        is_owned = isinstance(value, _OWN) or not array.flags.writeable
        out = _convert_checked(value, array, own, own if dtype is None else dtype, is_owned)
    if shape is not None:
        dims = tuple(TensorShape(shape))
        if out.shape.num_elements() == 1 and TensorShape(shape).num_elements() != 1:
            out = _of_array(np.full(dims, _items(out).reshape(())), out.dtype)
        elif out.shape.num_elements() != TensorShape(shape).num_elements():
            raise TypeError(f"Eager execution of tf.constant with unsupported shape. Tensor {text_of(out, False)} "
                            f"(converted from {value}) has {out.shape.num_elements()} elements, but got `shape` "
                            f"{TensorShape(shape)} with {TensorShape(shape).num_elements()} elements).")
        else:
            out = _of_array(_items(out).reshape(dims), out.dtype)
    return out


def _items(tensor):
    """The values as an array; texts as objects, since numpy's own strings lose zero bytes at their ends."""
    return np.asarray(_to_numpy(tensor), object if tensor.dtype is dtypes.string else None)


def _convert(array, dtype, is_owned):
    made = np.asarray(array, dtype=object if dtype is dtypes.string else dtype.as_numpy_dtype)
    return _of_array(made, dtype, is_owned or made is not array)


def _convert_checked(value, array, own, dtype, is_owned):
    """A tensor of `dtype` of an array that was made of `value` and has dtype `own` by itself."""
    given = plain.is_array(value)
    if given and array.dtype.kind == "O" and dtype is not dtypes.string:
        array, own = _of_objects(value, array, dtype), dtype
    strings = (dtype is dtypes.string) != (own is dtypes.string) and array.size > 0
    if strings or not given and own is not dtypes.bool and dtype is dtypes.bool and array.size:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    if given or not array.size or dtype is own:
        return _convert(array, dtype, is_owned)
    if (own.is_floating or own.is_complex) and not (dtype.is_complex or own.is_floating and dtype.is_floating):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    if dtype.is_integer and own.is_integer:  # beyond its range an integer wraps around, as in TensorFlow
        return _of_array(array.astype(dtype.as_numpy_dtype), dtype)
    return _convert(array, dtype, is_owned)


def _of_objects(value, array, dtype):
    """Python's numbers in an array of objects, as the dtype that was asked for."""
    try:
        return array.astype(dtype.as_numpy_dtype)
    except (TypeError, ValueError):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}") from None


def _cast_to(tensor, dtype):
    """A tensor of a list, which takes the dtype that was asked for."""
    return tensor if dtype in (None, tensor.dtype) else operation("cast", {"dtype": dtype.name}, [tensor])[0]


@nest._convert_to_tensor.provide
def convert_to_tensor(value, dtype=None, name=None, dtype_hint=None, as_ref=False, preferred_dtype=None):
    """A tensor of anything that can be one (``tf.convert_to_tensor``); ValueError on other dtypes."""
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                             f"{value.dtype.name}: {value!r}")
        return value
    if hasattr(value, "_as_tensor"):  # variables
        return convert_to_tensor(value._as_tensor(), dtype)
    if dtype is None and isinstance(value, TensorShape):  # that of a scalar has no numbers, which else are floats
        dtype = dtypes.int32
    if isinstance(value, (list, tuple)) and _has_tensor(value):
        parts = [_cast_to(convert_to_tensor(item, None if _has_tensor(item) else dtype), dtype) for item in value]
        kinds = {part.dtype for item, part in zip(value, parts) if _has_tensor(item)}
        if len(kinds) == 1:
            (kind,) = kinds
            parts = [part if part.dtype is kind else convert_to_tensor(item, kind) for item, part in zip(value, parts)]
        return operation("stack", {}, parts)[0]
    if conversions.REGISTERED:
        found = conversions.converted(value, dtype, None if dtype_hint is None else dtypes.as_dtype(dtype_hint), Tensor)
        if found is not None:
            return found
    if dtype is None and dtype_hint is not None:
        try:
            return constant(value, dtype_hint)
        except (TypeError, ValueError):
            pass
    return constant(value, dtype)


@nest._convert_leaf.provide
def convert_leaf(value):
    """A leaf of an element: composite values as they are, everything else a tensor."""
    if value is None or isinstance(value, Tensor) or hasattr(value, "_is_leaf_value"):
        return value
    if type(value).__name__ in ("RaggedTensorValue", "SparseTensorValue"):
        return composite_of_value(value)
    return convert_to_tensor(value)


def is_tensor(value):
    """Is it a tensor, or made of them (``tf.is_tensor``)?"""
    return isinstance(value, Tensor) or getattr(value, "_is_tensor", hasattr(value, "_is_leaf_value"))


# ---- composite tensors: what operations on their values make ----

def of_composites(entry, values, arguments):
    """The result of an operation over ragged and sparse inputs; NotImplemented where all inputs are dense."""
    for value in values:
        if hasattr(value, "_is_leaf_value"):
            return value._dispatch(entry, values, arguments)
        if type(value) in (list, tuple):
            for part in value:
                if hasattr(part, "_is_leaf_value"):
                    return part._dispatch(entry, values, arguments)
    return NotImplemented
