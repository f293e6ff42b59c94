"""``tf.io``: record files, examples, and files by name. Operations of the library's table join these functions."""

import numpy as np

from leat import gfile
from leat.parsing import (FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature,
                          parse_example, parse_sequence_example, parse_single_example,
                          parse_single_sequence_example)
from leat.records import TFRecordOptions, TFRecordWriter
from leat.tensor import Tensor, convert_to_tensor

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "TFRecordOptions",
           "TFRecordWriter", "VarLenFeature", "gfile", "matching_files", "parse_example", "parse_sequence_example",
           "parse_single_example", "parse_single_sequence_example"]


def matching_files(pattern, name=None):
    """The names of the files that match a pattern or one of several, sorted (``tf.io.matching_files``)."""
    if isinstance(pattern, Tensor):
        pattern = pattern.numpy()
    patterns = np.asarray(pattern, dtype=object).reshape(-1).tolist()
    found = sorted({path.encode() for path in gfile.glob(patterns)})
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return convert_to_tensor(out)
