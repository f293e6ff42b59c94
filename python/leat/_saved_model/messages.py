"""TensorFlow's messages that a SavedModel is made of, and those of an ONNX model, as dictionaries, and their bytes.

A message is a `Message`: a dictionary of the fields that are there, whose attributes are those, or what stands for a
field that is not. A line of the table below is a message; a field is its number, its name and its kind: a scalar, the
name of a message, with * a list, with {} a map. What is read may be anything: its depth is bounded, fields that nobody
knows are passed over, and DecodeError says that bytes are no such message.
"""

import functools
import struct

from leat._files.wire import (DecodeError, _BYTES, _FIXED32, _FIXED64, _MOST_DEPTH, _VARINT, _fields, _put_bytes,
                              _put_varint, _signed, _varint)

_TABLE = """
SavedModel | 1 saved_model_schema_version int, 2 meta_graphs MetaGraphDef*
MetaGraphDef | 1 meta_info_def MetaInfoDef, 2 graph_def GraphDef, 3 saver_def SaverDef,
    5 signature_def SignatureDef{}, 6 asset_file_def AssetFileDef*, 7 object_graph_def SavedObjectGraph
MetaInfoDef | 4 tags text*, 5 tensorflow_version text, 7 stripped_default_attrs bool, 8 function_aliases text{}
GraphDef | 1 node NodeDef*, 4 versions VersionDef, 2 library FunctionDefLibrary
VersionDef | 1 producer int, 2 min_consumer int
NodeDef | 1 name text, 2 op text, 3 input text*, 4 device text, 5 attr AttrValue{}
AttrValue | 2 s bytes, 3 i int, 4 f float, 5 b bool, 6 type int, 7 shape TensorShapeProto, 8 tensor TensorProto,
    1 list AttrList, 10 func NameAttrList, 9 placeholder text
AttrList | 2 s bytes*, 3 i int*, 4 f float*, 5 b bool*, 6 type int*, 7 shape TensorShapeProto*,
    8 tensor TensorProto*, 9 func NameAttrList*
NameAttrList | 1 name text, 2 attr AttrValue{}
TensorShapeProto | 2 dim Dim*, 3 unknown_rank bool
Dim | 1 size int, 2 name text
TensorProto | 1 dtype int, 2 tensor_shape TensorShapeProto, 4 tensor_content bytes, 13 half_val int*,
    5 float_val float*, 6 double_val double*, 7 int_val int*, 8 string_val bytes*, 9 scomplex_val float*,
    10 int64_val int*, 11 bool_val bool*, 12 dcomplex_val double*, 16 uint32_val int*, 17 uint64_val int*
FunctionDefLibrary | 1 function FunctionDef*, 3 registered_gradients RegisteredGradient*
RegisteredGradient | 1 gradient_func text, 2 registered_op_type text
FunctionDef | 1 signature OpDef, 5 attr AttrValue{}, 3 node_def NodeDef*, 4 ret text{}, 6 control_ret text{}
OpDef | 1 name text, 2 input_arg ArgDef*, 3 output_arg ArgDef*, 20 control_output text*, 17 is_stateful bool
ArgDef | 1 name text, 3 type int, 4 type_attr text, 5 number_attr text, 6 type_list_attr text
SaverDef | 1 filename_tensor_name text, 2 save_tensor_name text, 3 restore_op_name text, 4 max_to_keep int,
    7 version int
SignatureDef | 1 inputs TensorInfo{}, 2 outputs TensorInfo{}, 3 method_name text
TensorInfo | 1 name text, 2 dtype int, 3 tensor_shape TensorShapeProto
TypeSpecProto | 1 type_spec_class int, 2 type_state StructuredValue, 3 type_spec_class_name text,
    4 num_flat_components int
StructuredValue | 1 none_value NoneValue, 11 float64_value double, 12 int64_value sint, 13 string_value text,
    14 bool_value bool, 31 tensor_shape_value TensorShapeProto, 32 tensor_dtype_value int,
    33 tensor_spec_value TensorSpecProto, 34 type_spec_value TypeSpecProto, 51 list_value Values,
    52 tuple_value Values, 53 dict_value DictValue, 54 named_tuple_value NamedTupleValue,
    55 tensor_value TensorProto, 56 numpy_value TensorProto
NoneValue |
TensorSpecProto | 1 name text, 2 shape TensorShapeProto, 3 dtype int
Values | 1 values StructuredValue*
DictValue | 1 fields StructuredValue{}
NamedTupleValue | 1 name text, 2 values PairValue*
PairValue | 1 key text, 2 value StructuredValue
AssetFileDef | 1 tensor_info TensorInfo, 2 filename text
SavedObjectGraph | 1 nodes SavedObject*, 2 concrete_functions SavedConcreteFunction{}
SavedObject | 1 children ObjectReference*, 15 dependencies ObjectReference*, 4 user_object SavedUserObject,
    5 asset SavedAsset, 6 function SavedFunction, 7 variable SavedVariable,
    8 bare_concrete_function SavedBareConcreteFunction, 9 constant SavedConstant, 10 resource SavedResource,
    12 captured_tensor CapturedTensor
ObjectReference | 1 node_id int, 2 local_name text
SavedUserObject | 1 identifier text, 2 version VersionDef, 3 metadata text
SavedAsset | 1 asset_file_def_index int
SavedFunction | 1 concrete_functions text*, 2 function_spec FunctionSpec
FunctionSpec | 1 fullargspec StructuredValue, 2 is_method bool, 5 input_signature StructuredValue, 6 jit_compile int
SavedVariable | 1 dtype int, 2 shape TensorShapeProto, 3 trainable bool, 4 synchronization int, 5 aggregation int,
    6 name text
SavedBareConcreteFunction | 1 concrete_function_name text, 2 argument_keywords text*,
    3 allowed_positional_arguments int, 4 function_spec FunctionSpec
SavedConstant | 1 operation text
SavedResource | 1 device text
CapturedTensor | 1 name text, 2 concrete_function text
SavedConcreteFunction | 2 bound_inputs int*, 3 canonicalized_input_signature StructuredValue,
    4 output_signature StructuredValue
OnnxModel | 1 ir_version int, 8 opset_import OnnxOperators*, 2 producer_name text, 3 producer_version text,
    7 graph OnnxGraph
OnnxOperators | 1 domain text, 2 version int
OnnxGraph | 1 node OnnxNode*, 2 name text, 5 initializer OnnxTensor*, 11 input OnnxValue*, 12 output OnnxValue*
OnnxNode | 1 input text*, 2 output text*, 3 name text, 4 op_type text, 7 domain text, 5 attribute OnnxAttribute*
OnnxAttribute | 1 name text, 2 f float, 3 i int, 4 s bytes, 5 t OnnxTensor, 6 g OnnxGraph, 7 floats float*,
    8 ints int*, 9 strings bytes*, 20 type int
OnnxTensor | 1 dims int*, 2 data_type int, 6 string_data bytes*, 8 name text, 9 raw_data bytes
OnnxValue | 1 name text, 2 type OnnxType
OnnxType | 1 tensor_type OnnxTensorType
OnnxTensorType | 1 elem_type int, 2 shape OnnxShape
OnnxShape | 1 dim OnnxDim*
OnnxDim | 1 dim_value int, 2 dim_param text
"""

_SCALARS = {"int": _VARINT, "sint": _VARINT, "bool": _VARINT, "text": _BYTES, "bytes": _BYTES, "float": _FIXED32,
            "double": _FIXED64}
_FORMATS = {"float": "f", "double": "d"}
_DEFAULTS = {"int": 0, "sint": 0, "bool": False, "text": "", "bytes": b"", "float": 0.0, "double": 0.0}


@functools.cache
def _kinds():
    """{message: {field's name: (number, kind, "" or "*" or "{}")}}"""
    table = {}
    for line in _TABLE.strip().replace("\n    ", " ").splitlines():
        name, _, fields = line.partition("|")
        table[name.strip()] = found = {}
        for field in filter(None, map(str.strip, fields.split(","))):
            number, own, kind = field.split()
            label = "{}" if kind.endswith("{}") else "*" if kind.endswith("*") else ""
            found[own] = (int(number), kind.removesuffix(label) if label else kind, label)
    return table


@functools.cache
def _by_number(kind):
    return {number: (name, inner, label) for name, (number, inner, label) in _kinds()[kind].items()}


class Message(dict):
    """A message of the kind `kind`: its fields as items, and as attributes, which have a default."""

    def __init__(self, kind, **fields):
        super().__init__(fields)
        self.__dict__["kind"] = kind

    def __getattr__(self, name):
        name = name.removesuffix("_")  # values_, since dictionaries have a method of that name
        if name in self:
            return self[name]
        try:
            _, kind, label = _kinds()[self.kind][name]
        except KeyError:
            raise AttributeError(f"{self.kind} has no field {name!r}") from None
        return [] if label == "*" else {} if label else _DEFAULTS[kind] if kind in _SCALARS else Message(kind)


# ---- bytes of messages ----

def encode(message):
    """The bytes of a message; maps in the order of their keys, so that the same message has the same bytes."""
    out, kinds = bytearray(), _kinds()[message.kind]
    for name, value in message.items():
        number, kind, label = kinds[name]
        if label == "{}":
            for key in sorted(value):
                entry = bytearray()
                _put_bytes(entry, 1, key.encode())
                _put_one(entry, 2, kind, value[key])
                _put_bytes(out, number, entry)
        elif label and kind not in ("text", "bytes") and kind in _SCALARS:
            packed = bytearray()
            for one in value:
                _put_scalar(packed, kind, one)
            if packed:
                _put_bytes(out, number, packed)
        else:
            for one in value if label else [value]:
                _put_one(out, number, kind, one)
    return bytes(out)


def _put_one(out, number, kind, value):
    if kind not in _SCALARS:
        _put_bytes(out, number, encode(value))
    elif _SCALARS[kind] == _BYTES:
        _put_bytes(out, number, value.encode() if kind == "text" else value)
    else:
        _put_varint(out, number << 3 | _SCALARS[kind])
        _put_scalar(out, kind, value)


def _put_scalar(out, kind, value):
    if kind in _FORMATS:
        out += struct.pack("<" + _FORMATS[kind], value)
    else:
        _put_varint(out, (value << 1) ^ (value >> 63) if kind == "sint" else int(value))


# ---- and back ----

def decode(kind, data):
    """The message of that kind in `data`. DecodeError where it is none."""
    try:
        return _decode(kind, data, 0, len(data), 0)
    except (UnicodeDecodeError, struct.error):
        raise DecodeError(f"no {kind}: a text is no UTF-8, or a number is cut off") from None


def _decode(kind, data, at, end, depth):
    if depth > _MOST_DEPTH:
        raise DecodeError(f"{kind} nests deeper than {_MOST_DEPTH}")
    found, by_number = Message(kind), _by_number(kind)
    for number, wire, value, *_ in _fields(data, at, end, depth):
        if number not in by_number:
            continue
        name, inner, label = by_number[number]
        if label == "{}":
            if wire == _BYTES:
                key, one = _entry(inner, data, value, depth)
                found.setdefault(name, {})[key] = one
        elif label == "*" and wire == _BYTES and _SCALARS.get(inner, _BYTES) != _BYTES:
            found.setdefault(name, []).extend(_packed(inner, data, value))
        elif wire == _SCALARS.get(inner, _BYTES):
            one = _value(inner, data, value, depth)
            if label:
                found.setdefault(name, []).append(one)
            else:
                found[name] = one
    return found


def _entry(kind, data, place, depth):
    key, value = "", _DEFAULTS[kind] if kind in _SCALARS else Message(kind)
    for number, wire, inner, *_ in _fields(data, *place):
        if (number, wire) == (1, _BYTES):
            key = str(data[inner[0]:inner[1]], "utf-8")
        elif number == 2 and wire == _SCALARS.get(kind, _BYTES):
            value = _value(kind, data, inner, depth)
    return key, value


def _value(kind, data, value, depth):
    if kind not in _SCALARS:
        return _decode(kind, data, *value, depth + 1)
    if _SCALARS[kind] == _BYTES:
        part = bytes(data[value[0]:value[1]])
        return part.decode() if kind == "text" else part
    if kind in _FORMATS:
        return struct.unpack("<" + _FORMATS[kind], data[value[0]:value[1]])[0]
    return _number(kind, value)


def _number(kind, value):
    if kind == "sint":
        return (value >> 1) ^ -(value & 1)
    return bool(value) if kind == "bool" else _signed(value)


def _packed(kind, data, place):
    at, end = place
    if kind in _FORMATS:
        size = 4 if kind == "float" else 8
        if (end - at) % size:
            raise DecodeError("a list of numbers is cut off")
        return struct.unpack(f"<{(end - at) // size}{_FORMATS[kind]}", data[at:end])
    values = []
    while at < end:
        value, at = _varint(data, at, end)
        values.append(_number(kind, value))
    return values
