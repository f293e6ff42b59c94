"""TensorFlow's messages of tensors and graphs, as far as programs look at them."""

from leat._files.messages import Field, Message

DTYPE_NAMES = {number: "DT_" + name for number, name in enumerate(
    "INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 QINT16 "
    "QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64".split())}


class Dim(Message):
    """A dimension: `size`, -1 where it is unknown, and `name`."""

    __slots__ = ()
    _full_name = "tensorflow.TensorShapeProto.Dim"
    _fields = {"size": Field(1, "int"), "name": Field(2, "text")}


class TensorShapeProto(Message):
    """A shape: the list `dim`, or `unknown_rank`."""

    __slots__ = ()
    _full_name = "tensorflow.TensorShapeProto"
    _fields = {"dim": Field(2, Dim, "list"), "unknown_rank": Field(3, "flag")}
    Dim = Dim


class TensorProto(Message):
    """A tensor as a message (``tf.make_tensor_proto``)."""

    __slots__ = ()
    _full_name = "tensorflow.TensorProto"
    _fields = {"dtype": Field(1, "enum", shown=DTYPE_NAMES), "tensor_shape": Field(2, TensorShapeProto),
               "version_number": Field(3, "int"), "tensor_content": Field(4, "bytes"), "float_val": Field(5, "floats"),
               "double_val": Field(6, "doubles"), "int_val": Field(7, "ints"), "string_val": Field(8, "strings"),
               "scomplex_val": Field(9, "floats"), "int64_val": Field(10, "ints"), "bool_val": Field(11, "flags"),
               "dcomplex_val": Field(12, "doubles"), "half_val": Field(13, "ints"), "uint32_val": Field(16, "ints"),
               "uint64_val": Field(17, "ints")}


class ListValue(Message):
    """Several values of an attribute."""

    __slots__ = ()
    _full_name = "tensorflow.AttrValue.ListValue"
    _fields = {"s": Field(2, "strings"), "i": Field(3, "ints"), "f": Field(4, "floats"), "b": Field(5, "flags"),
               "type": Field(6, "ints", shown=DTYPE_NAMES), "shape": Field(7, TensorShapeProto, "list"),
               "tensor": Field(8, TensorProto, "list")}


class AttrValue(Message):
    """A value of an attribute of a node."""

    __slots__ = ()
    _full_name = "tensorflow.AttrValue"
    _fields = {"list": Field(1, ListValue, oneof="value"), "s": Field(2, "bytes", oneof="value"),
               "i": Field(3, "int", oneof="value"), "f": Field(4, "float", oneof="value"),
               "b": Field(5, "flag", oneof="value"), "type": Field(6, "enum", oneof="value", shown=DTYPE_NAMES),
               "shape": Field(7, TensorShapeProto, oneof="value"), "tensor": Field(8, TensorProto, oneof="value")}
    ListValue = ListValue


class NodeDef(Message):
    """An operation of a graph."""

    __slots__ = ()
    _full_name = "tensorflow.NodeDef"
    _fields = {"name": Field(1, "text"), "op": Field(2, "text"), "input": Field(3, "texts"), "device": Field(4, "text"),
               "attr": Field(5, AttrValue, "map")}


class VersionDef(Message):
    """Versions of those who write and read a graph."""

    __slots__ = ()
    _full_name = "tensorflow.VersionDef"
    _fields = {"producer": Field(1, "int"), "min_consumer": Field(2, "int")}


class GraphDef(Message):
    """A graph: the list `node` (``tf.compat.v1.GraphDef``)."""

    __slots__ = ()
    _full_name = "tensorflow.GraphDef"
    _fields = {"node": Field(1, NodeDef, "list"), "versions": Field(4, VersionDef)}


def graph_def(serialized):
    """The GraphDef of its bytes."""
    return GraphDef.FromString(serialized)
