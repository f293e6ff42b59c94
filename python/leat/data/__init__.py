"""Input pipelines: ``tf.data``."""

from leat._core import later as _later
from leat._core.element_specs import DatasetSpec, IteratorSpec
from leat.data import dataset as _dataset, experimental, real_keras as _real_keras
from leat.data.dataset import (AUTOTUNE, Dataset, FixedLengthRecordDataset, INFINITE_CARDINALITY, TFRecordDataset,
                               TextLineDataset, UNKNOWN_CARDINALITY)
from leat.data.interchange import from_iterable, from_pandas, from_sequence
from leat.data.iterator import Iterator, NumpyIterator
from leat.data.options import Options, ThreadingOptions

__all__ = ["AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator",
           "IteratorSpec", "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions",
           "UNKNOWN_CARDINALITY", "experimental", "from_iterable", "from_pandas", "from_sequence"]

_dataset.arrow_stream.at("leat.data.formats.arrow", "stream_of")
_later.module(__name__, {}, {
    "leat.data.browsing": "browse",
    "leat.data.formats.arrays": "from_hdf5 from_npz to_hdf5 to_npz",
    "leat.data.formats.arrow": "from_arrow to_arrow",
    "leat.data.formats.avro": "from_avro to_avro",
    "leat.data.formats.convert": "convert",
    "leat.data.formats.huggingface": "from_huggingface",
    "leat.data.formats.json_lines": "json_lines",
    "leat.data.formats.mds": "from_mds to_mds",
    "leat.data.formats.parquet": "from_arrow_files from_parquet to_arrow_file to_parquet",
    "leat.data.formats.stores": "from_array_record from_lmdb to_array_record to_lmdb",
    "leat.data.formats.tfds": "tfds",
    "leat.data.formats.webdataset": "from_webdataset to_webdataset",
})
_real_keras.watch()
