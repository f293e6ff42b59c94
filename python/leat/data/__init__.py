"""Input pipelines: ``tf.data``."""

from leat._core.element_specs import DatasetSpec, IteratorSpec
from leat.data import experimental
from leat.data.dataset import (AUTOTUNE, Dataset, FixedLengthRecordDataset, INFINITE_CARDINALITY, TFRecordDataset,
                               TextLineDataset, UNKNOWN_CARDINALITY)
from leat.data.interchange import from_arrow, from_iterable, from_pandas, from_sequence
from leat.data.iterator import Iterator, NumpyIterator
from leat.data.options import Options, ThreadingOptions

__all__ = ["AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator",
           "IteratorSpec", "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions",
           "UNKNOWN_CARDINALITY", "experimental", "from_arrow", "from_iterable", "from_pandas", "from_sequence"]
