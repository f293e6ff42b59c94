"""Dtypes, shapes, tensors, attributes and structures of arguments as TensorFlow's messages have them, and back."""

import math

import numpy as np

from leat import dtypes
from leat._core import specs
from leat._core.shapes import TensorShape
from leat._core.tensor import constant
from leat._files.wire import DecodeError
from leat._saved_model.messages import Message
from leat.errors import UnimplementedError

RESOURCE, VARIANT = 20, 21  # dtypes' numbers of variables and tables, and of lists of tensors
_MOST_DIMENSIONS = 254

_DTYPES = {dtypes.as_dtype(name).as_datatype_enum: dtypes.as_dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "string")}


def dtype_of(number):
    """The DType of TensorFlow's number. UnimplementedError for one that leat lacks."""
    if number not in _DTYPES:
        raise UnimplementedError(None, None, f"a SavedModel has tensors of the dtype number {number} of TensorFlow, "
                                 "which leat has not; save it there with other dtypes")
    return _DTYPES[number]


def number_of(dtype):
    """TensorFlow's number of a DType."""
    return dtypes.as_dtype(dtype).as_datatype_enum


# ---- shapes ----

def shape_message(dims):
    """The message of dimensions: None for an unknown rank, -1 or None for an unknown dimension."""
    if isinstance(dims, TensorShape):
        dims = None if dims.rank is None else dims.as_list()
    if dims is None:
        return Message("TensorShapeProto", unknown_rank=True)
    return Message("TensorShapeProto", dim=[Message("Dim", size=-1 if size is None else int(size)) for size in dims])


def dims_of(message):
    """The dimensions of a message: None for an unknown rank, -1 for an unknown dimension."""
    if message.unknown_rank:
        return None
    sizes = [one.size for one in message.dim]
    if len(sizes) > _MOST_DIMENSIONS or any(size < -1 for size in sizes):
        raise DecodeError(f"a shape has {len(sizes)} dimensions, or a negative one")
    return sizes


def shape_of(message):
    """The TensorShape of a message."""
    dims = dims_of(message)
    return TensorShape(None if dims is None else [None if size < 0 else size for size in dims])


# ---- tensors ----

def tensor_message(values, dtype):
    """The message of a numpy array."""
    dtype = dtypes.as_dtype(dtype)
    message = Message("TensorProto", dtype=number_of(dtype), tensor_shape=shape_message(values.shape))
    if dtype is dtypes.string:
        message["string_val"] = [value if isinstance(value, bytes) else str(value).encode()
                                 for value in values.reshape(-1)]
    else:
        message["tensor_content"] = np.ascontiguousarray(values).tobytes()
    return message


_FIELDS = {"float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val",
           "uint32": "uint32_val", "uint64": "uint64_val", "float16": "half_val", "bfloat16": "half_val"}


def tensor_of(message):
    """The Tensor of a message. Its size is checked against the bytes that are there before memory is taken."""
    dtype, dims = dtype_of(message.dtype), dims_of(message.tensor_shape)
    if dims is None or -1 in dims:
        raise DecodeError("a constant has no whole shape")
    count = math.prod(dims)
    if dtype is dtypes.string:
        values = _filled(message.string_val, count, b"", object)
        return constant(values.reshape(dims), dtype)
    kind = np.dtype(dtype.as_numpy_dtype)
    if message.tensor_content:
        if len(message.tensor_content) != count * kind.itemsize:
            raise DecodeError(f"a constant of {count} values of {dtype.name} has {len(message.tensor_content)} bytes")
        return constant(np.frombuffer(message.tensor_content, kind).reshape(dims), dtype)
    given = message[_FIELDS.get(dtype.name, "int_val")] if _FIELDS.get(dtype.name, "int_val") in message else []
    if dtype.name in ("float16", "bfloat16"):
        values = _filled(np.array(given, np.int64).astype(np.uint16), count, 0, np.uint16).view(kind)
    elif dtype.name in ("complex64", "complex128"):
        pairs = message.scomplex_val if dtype.name == "complex64" else message.dcomplex_val
        values = _filled(np.array([complex(*pair) for pair in zip(pairs[::2], pairs[1::2])], kind), count, 0, kind)
    elif dtype.name == "uint64":
        values = _filled([value & (1 << 64) - 1 for value in given], count, 0, kind)
    else:
        values = _filled(np.array(given).astype(kind), count, 0, kind)
    return constant(values.reshape(dims), dtype)


_MOST_FILLED = 1 << 28  # values of a constant that is given by one of them


def _filled(given, count, default, kind):
    """`count` values of which the first ones are given; the last of them, or `default`, is that of all others."""
    if len(given) > count:
        raise DecodeError(f"a constant of {count} values has {len(given)}")
    if count > _MOST_FILLED:
        raise DecodeError(f"a constant of {count} values, of which {len(given)} are given, is too large")
    out = np.full(count, given[-1] if len(given) else default, kind)
    out[:len(given)] = given
    return out


# ---- attributes of nodes ----

class Type(int):
    """A dtype's number as an attribute."""


class Shape(tuple):
    """A shape as an attribute; None for an unknown rank is Shape.UNKNOWN."""


class Name(str):
    """A function's name as an attribute."""


def attribute(value):
    """The AttrValue of a Python value: a number, text, DType, Type, Shape, function's Name, or a list of these."""
    if isinstance(value, Message):
        return value if value.kind == "AttrValue" else Message("AttrValue", **{
            "TensorProto": {"tensor": value}, "TensorShapeProto": {"shape": value}}[value.kind])
    if isinstance(value, list):
        found = Message("AttrList")
        for one in value:
            for name, inner in attribute(one).items():
                found.setdefault(name, []).append(inner)
        return Message("AttrValue", list=found)
    if isinstance(value, bool):
        return Message("AttrValue", b=value)
    if isinstance(value, (Type, dtypes.DType)):
        return Message("AttrValue", type=int(value) if isinstance(value, int) else number_of(value))
    if isinstance(value, Name):
        return Message("AttrValue", func=Message("NameAttrList", name=str(value)))
    if isinstance(value, int):
        return Message("AttrValue", i=value)
    if isinstance(value, float):
        return Message("AttrValue", f=value)
    if isinstance(value, Shape):
        return Message("AttrValue", shape=shape_message(value))
    return Message("AttrValue", s=value if isinstance(value, bytes) else value.encode())


# ---- structures of arguments ----

def _values(parts):
    return Message("Values", values=[structure_message(part) for part in parts])


_PLAIN = [(bool, "bool_value"), (int, "int64_value"), (float, "float64_value"), (str, "string_value")]


def structure_message(value):
    """The StructuredValue of a structure of TypeSpecs and plain values. UnimplementedError for others."""
    if value is None or isinstance(value, specs.NoneTensorSpec):
        return Message("StructuredValue", none_value=Message("NoneValue"))
    for kind, field in _PLAIN:
        if isinstance(value, kind):
            return Message("StructuredValue", **{field: value})
    if isinstance(value, dict):
        fields = {str(key): structure_message(value[key]) for key in value}
        return Message("StructuredValue", dict_value=Message("DictValue", fields=fields))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        pairs = [Message("PairValue", key=key, value=structure_message(one)) for key, one in zip(value._fields, value)]
        return Message("StructuredValue", named_tuple_value=Message("NamedTupleValue", name=type(value).__name__,
                                                                    values=pairs))
    if isinstance(value, tuple):
        return Message("StructuredValue", tuple_value=_values(value))
    if isinstance(value, list):
        return Message("StructuredValue", list_value=_values(value))
    if isinstance(value, TensorShape):
        return Message("StructuredValue", tensor_shape_value=shape_message(value))
    if isinstance(value, dtypes.DType):
        return Message("StructuredValue", tensor_dtype_value=number_of(value))
    if type(value) is specs.TensorSpec:
        found = Message("TensorSpecProto", shape=shape_message(value.shape), dtype=number_of(value.dtype))
        if value.name:
            found["name"] = value.name
        return Message("StructuredValue", tensor_spec_value=found)
    return _composite_message(value)


_SPARSE, _RAGGED = 1, 3  # numbers of classes of TypeSpecs: SPARSE_TENSOR_SPEC, RAGGED_TENSOR_SPEC


def _composite_message(value):
    if isinstance(value, specs.SparseTensorSpec):
        number, name, state, flat = _SPARSE, "SparseTensorSpec", (value.shape, value.dtype), 3
    elif isinstance(value, specs.RaggedTensorSpec):
        number, name, flat = _RAGGED, "RaggedTensorSpec", value._ragged_rank + 1
        state = (value._shape, value._dtype, value._ragged_rank, value._row_splits_dtype)
    else:
        raise UnimplementedError(None, None, f"{value!r} as an argument of a function cannot be written into a "
                                 "SavedModel; arguments are tensors, ragged and sparse ones, numbers, text and "
                                 "structures of these")
    return Message("StructuredValue", type_spec_value=Message(
        "TypeSpecProto", type_spec_class=number, type_spec_class_name=name, num_flat_components=flat,
        type_state=structure_message(state)))


def structure_of(message):
    """The structure of a StructuredValue."""
    for _, field in _PLAIN:
        if field in message:
            return message[field]
    if "tuple_value" in message:
        return tuple(structure_of(one) for one in message.tuple_value.values_)
    if "list_value" in message:
        return [structure_of(one) for one in message.list_value.values_]
    if "dict_value" in message:
        return {key: structure_of(one) for key, one in message.dict_value.fields.items()}
    if "named_tuple_value" in message:
        import collections
        pairs = message.named_tuple_value.values_
        names = [pair.key for pair in pairs]
        if not all(name.isidentifier() for name in names):
            raise DecodeError("a named tuple has fields that are no identifiers")
        kind = collections.namedtuple(message.named_tuple_value.name or "Tuple", names, rename=True)
        return kind(*(structure_of(pair.value) for pair in pairs))
    if "tensor_shape_value" in message:
        return shape_of(message.tensor_shape_value)
    if "tensor_dtype_value" in message:
        return dtype_of(message.tensor_dtype_value)
    if "tensor_spec_value" in message:
        found = message.tensor_spec_value
        dtype = dtypes.variant if found.dtype in (RESOURCE, VARIANT) else dtype_of(found.dtype)
        return specs.TensorSpec(shape_of(found.shape), dtype, found.name or None)
    if "tensor_value" in message or "numpy_value" in message:
        found = tensor_of(message["tensor_value"] if "tensor_value" in message else message["numpy_value"])
        return found if "tensor_value" in message else found.numpy()
    if "type_spec_value" in message:
        return _composite_of(message.type_spec_value)
    return None


def _composite_of(message):
    state = structure_of(message.type_state)
    name = message.type_spec_class_name.rsplit(".", 1)[-1]
    try:
        if name == "RaggedTensorSpec" and len(state) == 4:
            return specs.RaggedTensorSpec(*state)
        if name == "SparseTensorSpec" and len(state) == 2:
            return specs.SparseTensorSpec(*state)
    except TypeError:
        pass
    raise UnimplementedError(None, None, f"a function of a SavedModel has an argument or result of "
                             f"{message.type_spec_class_name or 'a kind without a name'}, which leat has not; export "
                             "a function of tensors")


def is_spec(leaf):
    """Is a leaf of a structure of arguments a tensor's place?"""
    return isinstance(leaf, specs.TypeSpec)


def plain_values(tensor):
    """A Tensor's values as numpy has them."""
    return np.asarray(tensor.numpy(), object if tensor.dtype is dtypes.string else None)
