"""Lookup tables and record files out of datasets, for ``tf.data.experimental``."""

from leat import dtypes, lookup, nest
from leat._core.shapes import TensorShape
from leat._files import records
from leat.data.dataset import Dataset


class DatasetInitializer:
    """Keys and values of a dataset of pairs of scalars (``tf.data.experimental.DatasetInitializer``).

    The dataset is read when a table is made of it.
    """

    def __init__(self, dataset):
        specs = nest.leaves(dataset.element_spec)
        if not isinstance(dataset.element_spec, tuple) or len(specs) != 2 or any(
                getattr(spec, "shape", None) != TensorShape([]) for spec in specs):
            raise ValueError("a lookup table is made of a dataset of pairs (key, value) of scalars; found elements of "
                             f"{dataset.element_spec}")
        self.dataset = dataset
        self.key_dtype, self.value_dtype = (spec.dtype for spec in specs)

    def _pairs(self):
        pairs = list(self.dataset)
        return tuple(_stacked(column, dtype) for column, dtype in zip(
            zip(*pairs) if pairs else ((), ()), (self.key_dtype, self.value_dtype)))


def _stacked(column, dtype):
    from leat._graph.creation import zeros
    from leat._graph.ops import FUNCTIONS
    return FUNCTIONS["stack"](list(column)) if column else zeros([0], dtype)


def _checked(num_oov_buckets, vocab_size, key_dtype):
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    key_dtype = dtypes.as_dtype(key_dtype)
    if not (key_dtype.is_integer or key_dtype is dtypes.string):
        raise TypeError(f"`key_dtype` must be either an integer or string type, but got {key_dtype!r}")
    return key_dtype


def table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=None, hasher_spec=None,
                       key_dtype=dtypes.string, name=None):
    """A lookup table of a dataset's pairs (key, value) (``tf.data.experimental.table_from_dataset``).

    Other keys have `default_value` (None: -1), or one of `num_oov_buckets` numbers behind the table's.
    `vocab_size`: how many pairs are read; None: all.
    """
    key_dtype = _checked(num_oov_buckets, vocab_size, key_dtype)
    if vocab_size is not None:
        dataset = dataset.take(vocab_size)
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return lookup.StaticVocabularyTable(initializer, num_oov_buckets, key_dtype, name)
    return lookup.StaticHashTable(initializer, -1 if default_value is None else default_value, name)


def index_table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=None,
                             key_dtype=dtypes.string, name=None):
    """A lookup table from a dataset's elements to their numbers (``tf.data.experimental.index_table_from_dataset``)."""
    _checked(num_oov_buckets, vocab_size, key_dtype)
    pairs = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file (``tf.data.experimental.TFRecordWriter``)."""

    def __init__(self, filename, compression_type=None):
        self._filename, self._compression = filename, compression_type

    def write(self, dataset):
        """Writes all elements; TypeError where they are no scalar strings."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        spec = dataset.element_spec
        if getattr(spec, "dtype", None) is not dtypes.string or spec.shape != TensorShape([]):
            raise TypeError(f"Invalid `dataset`. Expected scalar `tf.string` elements, but its elements are {spec}.")
        with records.TFRecordWriter(self._filename, self._compression) as writer:
            for record in dataset.as_numpy_iterator():
                writer.write(record)
