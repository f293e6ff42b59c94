"""``tf.io``: record files, examples, and files by name. Operations of the library's table join these functions."""

from leat import dtypes, gfile
from leat._core.tensor import convert_to_tensor
from leat._files.filesystems import register_filesystem
from leat._files.parsing import (FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature,
                                 parse_example, parse_sequence_example, parse_single_example,
                                 parse_single_sequence_example)
from leat._files.records import TFRecordOptions, TFRecordWriter
from leat._graph import ops

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "TFRecordOptions",
           "TFRecordWriter", "VarLenFeature", "decode_csv", "gfile", "match_filenames_once", "parse_example",
           "parse_sequence_example", "parse_single_example", "parse_single_sequence_example", "register_filesystem",
           "write_file"]


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None,
               name=None):
    """The fields of records of comma-separated text (``tf.io.decode_csv``): a list of tensors of the records' shape.

    record_defaults: for each column a value of its dtype (float32, float64, int32, int64, string), which stands for an
    empty field or one that is `na_value`, or an empty tensor where the field must be there. select_cols: the columns
    that are read, rising. InvalidArgumentError for a record with other fields, with its number.
    """
    if select_cols is not None:
        if any(column < 0 for column in select_cols):
            raise ValueError("select_cols contains negative values.")
        if any(a >= b for a, b in zip(select_cols, select_cols[1:])):
            raise ValueError("select_cols is not strictly increasing.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    attributes = {"field_delim": field_delim, "use_quote_delim": bool(use_quote_delim), "na_value": na_value}
    if select_cols:
        attributes["select_cols"] = [int(column) for column in select_cols]
    defaults = [convert_to_tensor(value) for value in record_defaults]
    return list(ops.call("decode_csv", attributes, [convert_to_tensor(records, dtypes.string), *defaults]))


def write_file(filename, contents, name=None):
    """Writes a string into a file, whole or not at all, and makes its folders (``tf.io.write_file``).

    filename, contents: scalar strings. NotFoundError, FailedPreconditionError and others where that fails.
    """
    ops.call("write_file", None, [convert_to_tensor(value, dtypes.string) for value in (filename, contents)])


def match_filenames_once(pattern, name=None):
    """A variable with the paths that match a pattern, which is looked up once (``tf.io.match_filenames_once``)."""
    from leat._structures.variables import Variable
    return Variable(ops.FUNCTIONS["io.matching_files"](pattern), trainable=False, name=name)


ops.join(__name__, homes={
    "leat._api.sparse_texts": "deserialize_many_sparse serialize_many_sparse serialize_sparse"})
