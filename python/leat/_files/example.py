"""``tf.train.Example`` and what it is made of: a record of named features."""

from leat._files.messages import DecodeError, Field, Message

__all__ = ["BytesList", "DecodeError", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
           "Int64List", "SequenceExample"]


class BytesList(Message):
    """A list of bytes: `value` (``tf.train.BytesList``)."""

    __slots__ = ()
    _full_name = "tensorflow.BytesList"
    _fields = {"value": Field(1, "strings")}


class FloatList(Message):
    """A list of float32 numbers: `value` (``tf.train.FloatList``)."""

    __slots__ = ()
    _full_name = "tensorflow.FloatList"
    _fields = {"value": Field(1, "floats")}


class Int64List(Message):
    """A list of int64 numbers: `value` (``tf.train.Int64List``)."""

    __slots__ = ()
    _full_name = "tensorflow.Int64List"
    _fields = {"value": Field(1, "ints")}


class Feature(Message):
    """One of `bytes_list`, `float_list`, `int64_list`, or none (``tf.train.Feature``)."""

    __slots__ = ()
    _full_name = "tensorflow.Feature"
    _fields = {"bytes_list": Field(1, BytesList, oneof="kind"), "float_list": Field(2, FloatList, oneof="kind"),
               "int64_list": Field(3, Int64List, oneof="kind")}


class Features(Message):
    """Features by name: the map `feature` (``tf.train.Features``)."""

    __slots__ = ()
    _full_name = "tensorflow.Features"
    _fields = {"feature": Field(1, Feature, "map")}


class FeatureList(Message):
    """Features in a row: the list `feature` (``tf.train.FeatureList``)."""

    __slots__ = ()
    _full_name = "tensorflow.FeatureList"
    _fields = {"feature": Field(1, Feature, "list")}


class FeatureLists(Message):
    """Lists of features by name: the map `feature_list` (``tf.train.FeatureLists``)."""

    __slots__ = ()
    _full_name = "tensorflow.FeatureLists"
    _fields = {"feature_list": Field(1, FeatureList, "map")}


class Example(Message):
    """A record of `features` (``tf.train.Example``)."""

    __slots__ = ()
    _full_name = "tensorflow.Example"
    _fields = {"features": Field(1, Features)}


class SequenceExample(Message):
    """A record of `context` features and sequences of them, `feature_lists` (``tf.train.SequenceExample``)."""

    __slots__ = ()
    _full_name = "tensorflow.SequenceExample"
    _fields = {"context": Field(1, Features), "feature_lists": Field(2, FeatureLists)}
