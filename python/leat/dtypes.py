"""Element types: ``tf.DType`` and its instances."""

import numpy as np

from leat import _native

_NUMPY = {
    "bool": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "float16": np.float16, "float32": np.float32, "float64": np.float64, "string": np.object_,
    "complex64": np.complex64, "complex128": np.complex128,
    "qint8": np.int8, "qint16": np.int16, "qint32": np.int32, "quint8": np.uint8, "quint16": np.uint16,
}


def _bfloat16():
    """numpy has no bfloat16 of its own; the package ml_dtypes gives it one."""
    try:
        import ml_dtypes
    except ModuleNotFoundError:
        raise TypeError("numpy has no bfloat16: install ml_dtypes, or leat.cast to float32") from None
    return ml_dtypes.bfloat16


class DType:
    """An element type, as ``tf.DType``. Instances are shared: compare them with ``==``."""

    __slots__ = ("name", "number")

    def __init__(self, name, number):
        self.name = name
        if number is not None:  # the library has it
            self.number = number

    def __getattr__(self, name):
        if name != "number":
            raise AttributeError(f"'DType' object has no attribute {name!r}")
        raise TypeError(f"no tensor has the dtype {self.name} here: its values are a tensor of "
                        f"{self.name.removeprefix('q')}, as quantization.quantize makes it")

    @property
    def as_numpy_dtype(self):
        """The numpy type of the values (object for strings)."""
        return _bfloat16() if self.name == "bfloat16" else _NUMPY.get(self.name, np.object_)

    @property
    def is_floating(self):
        """Whether it is a floating-point type, bfloat16 too."""
        return "float" in self.name

    @property
    def is_integer(self):
        """Whether it is an integer type, signed or not."""
        return "int" in self.name and not self.is_quantized

    @property
    def is_unsigned(self):
        """Whether it is an unsigned integer type."""
        return self.name.startswith("uint")

    @property
    def is_bool(self):
        """Whether it is bool."""
        return self.name == "bool"

    @property
    def is_complex(self):
        """Whether it is a complex type."""
        return self.name.startswith("complex")

    @property
    def is_numeric(self):
        """Whether it is an integer, a floating-point or a complex type."""
        return self.is_integer or self.is_floating or self.is_complex

    @property
    def _is_trainable(self):
        """Do gradients flow through values of it?"""
        return self.is_floating or self.is_complex

    @property
    def is_quantized(self):
        """Whether it is one of integers that stand for floats (``tf.quantization``)."""
        return self.name.startswith("q")

    @property
    def is_numpy_compatible(self):
        """Has it a numpy dtype?"""
        return self.name not in ("variant", "resource")

    @property
    def real_dtype(self):
        """The dtype of the parts of a complex one; any other itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def base_dtype(self):
        """The type itself; there are no reference types."""
        return self

    @property
    def as_datatype_enum(self):
        """The number of the type in TensorFlow's messages."""
        return _DATATYPE_ENUM[self.name]

    @property
    def size(self):
        """Bytes of one value; a string has 1, as in TensorFlow."""
        if self.name in ("string", "variant"):
            return 1
        return 2 if self.name == "bfloat16" else np.dtype(self.as_numpy_dtype).itemsize

    @property
    def min(self):
        """The lowest finite value."""
        if self.is_bool:
            return False
        self._want_order()
        return np.iinfo(self.as_numpy_dtype).min if "int" in self.name else np.finfo(self.as_numpy_dtype).min

    @property
    def max(self):
        """The highest finite value."""
        if self.is_bool:
            return True
        self._want_order()
        return np.iinfo(self.as_numpy_dtype).max if "int" in self.name else np.finfo(self.as_numpy_dtype).max

    def _want_order(self):
        if self.is_complex:
            raise TypeError(f"Cannot find minimum or maximum value of {self!r}: complex numbers have no order")

    @property
    def limits(self):
        """The lowest and the highest finite value; (0, 1) for bool."""
        return (0, 1) if self.is_bool else (self.min, self.max)

    def is_compatible_with(self, other):
        """Whether `other` is the same type."""
        return self == other

    def __eq__(self, other):
        if isinstance(other, DType):
            return self is other
        if other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"tf.{self.name}"

    def __str__(self):
        return f"<dtype: {self.name!r}>"

    def __reduce__(self):
        return as_dtype, (self.name,)


_DATATYPE_ENUM = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
                  "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "float16": 19, "variant": 21,
                  "uint32": 22, "uint64": 23, "complex64": 8, "complex128": 18, "qint8": 11, "quint8": 12, "qint32": 13,
                  "qint16": 15, "quint16": 16}

by_number = [DType("variant" if name == "object" else name, number)
             for number, name in enumerate(_native.dtype_names())]
_BY_NAME = {dtype.name: dtype for dtype in by_number[1:]}
_BY_NAME.update(half=_BY_NAME["float16"], float=_BY_NAME["float32"], double=_BY_NAME["float64"])
_BY_TYPE = {float: _BY_NAME["float32"], int: _BY_NAME["int32"], bool: _BY_NAME["bool"],
            str: _BY_NAME["string"], bytes: _BY_NAME["string"], object: _BY_NAME["string"],
            complex: _BY_NAME["complex128"]}

(bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64,
 string, variant, complex64, complex128) = by_number[1:]
half, double = float16, float64
# Names of what integers stand for (tf.quantization): no tensor has one of these, its values are of the integers' dtype.
qint8, qint16, qint32, quint8, quint16 = (DType(name, None) for name in "qint8 qint16 qint32 quint8 quint16".split())
QUANTIZED_DTYPES = frozenset([qint8, qint16, qint32, quint8, quint16])
_BY_NAME.update({dtype.name: dtype for dtype in QUANTIZED_DTYPES})


def as_dtype(value):
    """The DType of a DType, a name, a numpy type or a Python type (``tf.as_dtype``)."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    if isinstance(value, (type, np.dtype)) and value in _BY_TYPE:
        return _BY_TYPE[value]
    if type(value) is int:  # TensorFlow's number of it
        value = next((name for name, number in _DATATYPE_ENUM.items() if number == value), value)
        if value in _BY_NAME:
            return _BY_NAME[value]
    try:
        numpy_type = np.dtype(value)
    except TypeError:
        raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a DType.") from None
    if numpy_type.kind in "SUO":
        return string
    found = _BY_NAME.get(numpy_type.name)
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a DType.")
    if isinstance(value, np.dtype):
        _BY_TYPE[value] = found
    return found
