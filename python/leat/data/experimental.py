"""``tf.data.experimental``: functions for ``Dataset.apply``, readers and what else is not settled."""

from leat import dtypes, nest
from leat._core import later as _later, signatures as _signatures
from leat.data import dataset as _dataset
from leat._graph import trace as _trace
from leat.data.dataset import AUTOTUNE, Dataset, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, _reader, make
from leat.data.optional import Optional
from leat.data.options import (AutoShardPolicy, AutotuneAlgorithm, AutotuneOptions, DistributeOptions,
                               ExternalStatePolicy, OptimizationOptions, ServiceOptions, ThreadingOptions)
from leat.errors import UnimplementedError as _UnimplementedError

SHARD_HINT = -1

CsvDataset = _reader("CsvDataset")
SqlDataset = _reader("SqlDataset")


class RandomDataset(Dataset):
    """Random int64 numbers (``tf.data.experimental.RandomDataset``)."""

    __slots__ = ()
    _shown = "RandomDatasetV2"

    def __init__(self, seed=None, name=None):
        made = Dataset.random(seed, name=name)
        self._fill(made._native, made._value, name="Random")


def Counter(start=0, step=1, dtype=dtypes.int64):
    """start, start + step, ... without an end."""
    return Dataset.counter(start, step, dtype)


def enable_debug_mode():
    """From now on Python calls the functions of datasets for each element, so that a debugger and ``print`` see values
    (``tf.data.experimental.enable_debug_mode``)."""
    _trace.debugging[0] = True


def _transformation(name):
    """``dataset.apply(name(...))`` for the method of that name."""
    entry, method = _dataset.OPERATORS[name], getattr(Dataset, name)

    def call(given):
        return lambda dataset: method(dataset, **given)
    return _signatures.function(name, _dataset.parameters_of(entry), call, _dataset.doc_of(entry), __name__)


class Reducer:
    """Three functions: the first state, the next one, and the result (``tf.data.experimental.Reducer``)."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func


def group_by_reducer(key_func, reducer):
    """For each key the result of a Reducer over its elements."""
    return lambda dataset: dataset.group_by_reducer(key_func, reducer.init_func, reducer.reduce_func,
                                                    reducer.finalize_func)


def to_variant(dataset):
    """The dataset as a scalar tensor of dtype variant."""
    return dataset._as_value()


def from_variant(variant, structure):
    """The dataset that a scalar tensor of dtype variant is; `structure` describes its elements."""
    return Dataset._of_value(variant, structure)


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """Batches of serialized Examples as dictionaries of `features` (``tf.io.FixedLenFeature`` and its like)."""
    from leat._files import parsing
    wanted, defaults, is_plain = parsing.operator_arguments(features)
    if not is_plain:
        return lambda dataset: dataset.map(lambda batch: parsing.parse_example(batch, features), num_parallel_calls,
                                           deterministic)
    return lambda dataset: make("parse_example_dataset", (dataset,), {
        "features": wanted, "defaults": defaults, "num_parallel_calls": num_parallel_calls,
        "deterministic": deterministic})


def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64):
    """``Dataset.ragged_batch`` for ``Dataset.apply``."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size, row_shape):
    """``Dataset.sparse_batch`` for ``Dataset.apply``."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def enumerate_dataset(start=0):
    """``Dataset.enumerate`` for ``Dataset.apply``."""
    return lambda dataset: dataset.enumerate(start)


def prefetch_to_device(device, buffer_size=None):
    """Prefetches; elements are on the host here."""
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    """Leaves the dataset as it is; elements are on the host here."""
    return lambda dataset: dataset


def cardinality(dataset):
    """The number of elements as an int64 scalar; -1 infinite, -2 unknown."""
    return dataset.cardinality()


def at(dataset, index):
    """Element number `index`, without the ones before it where the operators allow that."""
    return nest.assemble(dataset.element_spec, iter(dataset._plan("at").at(int(index))))


def get_structure(dataset_or_iterator):
    """The ``element_spec`` of a dataset or an iterator."""
    return dataset_or_iterator.element_spec


def get_single_element(dataset):
    """The only element; InvalidArgumentError where there is none or more."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}.")
    return dataset.get_single_element()


def get_next_as_optional(iterator):
    """The iterator's next element as an ``Optional``, empty at the end."""
    return iterator.get_next_as_optional()


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """``Dataset.save`` as a function."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(path, element_spec=None, compression=None, reader_func=None):
    """``Dataset.load`` as a function."""
    return Dataset.load(path, element_spec, compression, reader_func)


def from_list(elements, name=None):
    """The elements of a list of structures."""
    return Dataset.from_list(elements, name=name)


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """``Dataset.choose_from_datasets`` as a function."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """``Dataset.sample_from_datasets`` as a function."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def make_batched_features_dataset(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None,
                                  num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                                  prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
                                  sloppy_ordering=False, drop_final_batch=False):
    """Batches of the Examples in files of records, parsed into `features`."""
    if reader is not None and reader is not _dataset.TFRecordDataset:
        raise NotImplementedError("make_batched_features_dataset: reader is not supported; it is TFRecordDataset")
    from leat._files import parsing
    wanted, defaults, is_plain = parsing.operator_arguments(features)
    if not is_plain:
        raise NotImplementedError("make_batched_features_dataset: features of several keys are not supported; use "
                                  "TFRecordDataset, batch and parse_example_dataset")
    given = {"prefetch_buffer_size": prefetch_buffer_size, "reader_num_threads": reader_num_threads,
             "parser_num_threads": parser_num_threads, "label_key": label_key, "reader_args": reader_args,
             "num_epochs": num_epochs, "shuffle_seed": shuffle_seed}
    return make("make_batched_features_dataset", (), dict(
        {name: value for name, value in given.items() if value is not None}, file_pattern=file_pattern,
        batch_size=batch_size, features=wanted, defaults=defaults, shuffle=shuffle,
        shuffle_buffer_size=shuffle_buffer_size, sloppy_ordering=sloppy_ordering, drop_final_batch=drop_final_batch))


def _columns_of(given):
    """The columns of CSV files in their order: those given, or what the first row of the first file says."""
    if given["column_names"] is not None:
        return list(given["column_names"])
    files = Dataset.list_files(given["file_pattern"], shuffle=False).take(1).as_numpy_iterator()
    return _header_of(given, next(files))


def _header_of(given, file):
    import csv
    lines = _dataset.TextLineDataset(file, given["compression_type"]).as_numpy_iterator()
    return next(csv.reader((f"{line.decode(given['encoding'] or 'utf-8')}\n" for line in lines),
                           delimiter=given["field_delim"] or ",",
                           quoting=csv.QUOTE_MINIMAL if given["use_quote_delim"] else csv.QUOTE_NONE))


def _decoded(given):
    """The same, where the header is in another encoding with the names that it says; values stay bytes."""
    encoding = given["encoding"]
    if encoding in (None, "utf-8"):
        return given
    if "\n,".encode(encoding) != b"\n,":
        raise _UnimplementedError(None, None, f"make_csv_dataset: encoding is {encoding!r}, in which a comma is not "
                                  "one byte; convert the files to UTF-8")
    if given["column_names"] is None and given["header"] is not False:
        files = Dataset.list_files(given["file_pattern"], shuffle=False).as_numpy_iterator()
        headers = [_header_of(given, file) for file in files]
        if any(header != headers[0] for header in headers):
            raise ValueError("Files have different column names in the header row: make_csv_dataset wants the same")
        given = {**given, "column_names": headers[0]}
    return {**given, "encoding": "utf-8"}


def _make_csv_dataset(given):
    """What the operator makes, whose columns are in the order of their names, with them in the files' order."""
    given = _decoded(given)
    made = _dataset.function_of("make_csv_dataset")(**given)
    spec = made.element_spec
    has_label = isinstance(spec, tuple)
    found = spec[0] if has_label else spec
    keys = [name for name in _columns_of(given) if name in found]
    if keys == list(found):
        return made
    if has_label:
        return made.map(lambda columns, label: ({key: columns[key] for key in keys}, label))
    return made.map(lambda columns: {key: columns[key] for key in keys})


_csv = _dataset.OPERATORS["make_csv_dataset"]
make_csv_dataset = _signatures.function("make_csv_dataset", [*_dataset.parameters_of(_csv), ("name", None)],
                                        _make_csv_dataset, _dataset.doc_of(_csv), __name__)

for _op, _home, _name in _dataset.paths():
    if _home == "experimental" and _name not in globals():
        _make = _transformation if _dataset.OPERATORS[_op]["num_inputs"] == 1 else _dataset.function_of
        globals()[_name] = _make(_op)

_later.module(__name__, {}, homes={
    "leat.data.tables": "DatasetInitializer TFRecordWriter index_table_from_dataset table_from_dataset",
    "leat.data.service": "distributed_save"}, modules=("leat.data.service",))
