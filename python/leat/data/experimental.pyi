# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

AUTOTUNE: builtins.int
from leat.data.options import AutoShardPolicy as AutoShardPolicy
from leat.data.options import AutotuneAlgorithm as AutotuneAlgorithm
from leat.data.options import AutotuneOptions as AutotuneOptions
def Counter(start: Any = 0, step: Any = 1, dtype: DTypeLike | None = ...) -> Any: ...
class CsvDataset(Dataset):
    def __init__(self, filenames: Any, record_defaults: Any, compression_type: Any = None, buffer_size: Any = None, header: Any = False, field_delim: Any = ',', use_quote_delim: Any = True, na_value: Any = '', select_cols: Any = None, exclude_cols: Any = None, name: builtins.str | None = None) -> None: ...
from leat.data.dataset import Dataset as Dataset
from leat.data.tables import DatasetInitializer as DatasetInitializer
from leat.data.options import DistributeOptions as DistributeOptions
from leat.data.options import ExternalStatePolicy as ExternalStatePolicy
INFINITE_CARDINALITY: builtins.int
from leat.data.options import OptimizationOptions as OptimizationOptions
from leat.data.optional import Optional as Optional
class RandomDataset(Dataset):
    def __init__(self, seed: Any = None, name: builtins.str | None = None) -> None: ...
class Reducer:
    def __init__(self, init_func: Any, reduce_func: Any, finalize_func: Any) -> None: ...
SHARD_HINT: builtins.int
from leat.data.options import ServiceOptions as ServiceOptions
class SqlDataset(Dataset):
    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any, name: builtins.str | None = None) -> None: ...
from leat.data.tables import TFRecordWriter as TFRecordWriter
from leat.data.options import ThreadingOptions as ThreadingOptions
UNKNOWN_CARDINALITY: builtins.int
def assert_cardinality(expected_cardinality: IntLike) -> Callable[[Dataset], Dataset]:
    """The input, whose number of elements is claimed and checked.

    expected_cardinality: How many elements the input has; -1: infinitely many.

    Saved as a count and the input's position; restoring costs the input's.
    """
    ...
def at(dataset: Any, index: Any) -> Any: ...
def bucket_by_sequence_length(element_length_func: Callable[..., Any], bucket_boundaries: IntsLike, bucket_batch_sizes: IntsLike, padded_shapes: Any = None, padding_values: Any = None, pad_to_bucket_boundary: builtins.bool = False, no_padding: builtins.bool = False, drop_remainder: builtins.bool = False) -> Callable[[Dataset], Dataset]:
    """Batches of elements whose lengths lie between the same `bucket_boundaries`. Runs, is saved and restored as group_by_window.

    element_length_func: From an element to its length, a scalar of int32, int64, float32 or float64.
    bucket_boundaries: Lengths at which a new bucket begins.
    bucket_batch_sizes: Elements of a batch for each bucket; one more than boundaries.
    pad_to_bucket_boundary: Pad unknown dimensions to the bucket's boundary less 1, not to the longest of the batch.
    no_padding: Batch without padding: the elements of a bucket have equal shapes.
    padded_shapes: As padded_batch takes it.
    padding_values: As padded_batch takes it.
    drop_remainder: Leave out the last batch of a bucket if it is smaller.
    """
    ...
def cardinality(dataset: Any) -> Any: ...
def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: Any = False) -> Any: ...
def copy_to_device(target_device: Any, source_device: Any = '/cpu:0') -> Any: ...
def dense_to_ragged_batch(batch_size: Any, drop_remainder: Any = False, row_splits_dtype: Any = ...) -> Any: ...
def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Any: ...
def enumerate_dataset(start: Any = 0) -> Any: ...
def from_list(elements: Any, name: builtins.str | None = None) -> Any: ...
def from_variant(variant: Any, structure: Any) -> Any: ...
def get_next_as_optional(iterator: Any) -> Any: ...
def get_single_element(dataset: Any) -> Any: ...
def get_structure(dataset_or_iterator: Any) -> Any: ...
def global_shuffle(seed: IntLike | None = None, reshuffle_each_iteration: builtins.bool = True) -> Callable[[Dataset], Dataset]:
    """All elements in a random order, asked from the input by number; nothing is buffered.

    seed: Seed of the order.
    reshuffle_each_iteration: Another order in every epoch and iterator.

    Saved as a position and the order's key; restoring costs nothing.
    """
    ...
def group_by_reducer(key_func: Any, reducer: Any) -> Any: ...
def group_by_window(key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: IntLike | None = None, window_size_func: Callable[..., Any] | None = None) -> Callable[[Dataset], Dataset]:
    """The elements of the datasets that `reduce_func` makes of groups of elements with one key.

    key_func: From an element to its key, an int64 scalar.
    reduce_func: From (key, dataset of the group's elements) to a dataset.
    window_size: Elements of a full group; either this or window_size_func.
    window_size_func: From a key to the elements of its full group, an int64 scalar.

    Saved as the elements of all groups and the positions of the input and of the dataset being read; restoring calls the function once.
    """
    ...
def ignore_errors(log_warning: builtins.bool = False) -> Callable[[Dataset], Dataset]:
    """The input's elements without its errors.

    log_warning: Write each error that is left out to the log.

    Saved as the input's position; restoring costs the input's.
    """
    ...
from leat.data.tables import index_table_from_dataset as index_table_from_dataset
def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Any: ...
from leat.data.dataset import make as make
def make_batched_features_dataset(file_pattern: Any, batch_size: Any, features: Any, reader: Any = None, label_key: Any = None, reader_args: Any = None, num_epochs: Any = None, shuffle: Any = True, shuffle_buffer_size: Any = 10000, shuffle_seed: Any = None, prefetch_buffer_size: Any = None, reader_num_threads: Any = None, parser_num_threads: Any = None, sloppy_ordering: Any = False, drop_final_batch: Any = False) -> Any: ...
def make_csv_dataset(file_pattern: StringsLike, batch_size: IntLike, column_names: StringsLike | None = None, column_defaults: Any = None, label_name: StringLike | None = None, select_columns: Any = None, field_delim: StringLike = ',', use_quote_delim: builtins.bool = True, na_value: StringLike = '', header: builtins.bool = True, num_epochs: IntLike | None = None, shuffle: builtins.bool = True, shuffle_buffer_size: IntLike = 10000, shuffle_seed: IntLike | None = None, prefetch_buffer_size: IntLike | None = None, num_parallel_reads: IntLike | None = None, sloppy: builtins.bool = False, num_rows_for_inference: IntLike | None = None, compression_type: StringLike | None = None, ignore_errors: builtins.bool = False, encoding: StringLike = 'utf-8', name: builtins.str | None = None) -> Dataset:
    """Batches of named columns from CSV files. Runs, is saved and restored as the pipeline that it stands for.

    file_pattern: One glob pattern or a list of them.
    batch_size: Records of a batch.
    column_names: The columns of the files; none: what their first rows say.
    column_defaults: A default for each selected column, as csv_dataset's; none: inferred, 0 or "".
    label_name: A column that comes apart: elements are pairs of the others and it.
    select_columns: Numbers or names of the columns that are taken; none: all.
    field_delim: The one byte between fields.
    use_quote_delim: Fields may be quoted; else a quote is a byte like any other.
    na_value: A field of this text is missing, as an empty one is.
    header: The first record of each file is no data.
    num_epochs: How often the records come; none: forever, in full batches.
    shuffle: Files and records come in a random order.
    shuffle_buffer_size: How many records the buffer holds.
    shuffle_seed: Seed of both orders.
    prefetch_buffer_size: How many batches are kept ready; 0: none.
    num_parallel_reads: Files read in turns.
    sloppy: Accepted; the order is the same.
    num_rows_for_inference: Rows from which dtypes are inferred; a negative number: all.
    compression_type: Of the files: "", "GZIP" or "ZLIB".
    ignore_errors: Leave out records that fail.
    encoding: The encoding of the files: utf-8.
    """
    ...
def map_and_batch(map_func: Callable[..., Any], batch_size: IntLike, num_parallel_batches: IntLike | None = None, drop_remainder: builtins.bool = False, num_parallel_calls: IntLike | None = None) -> Callable[[Dataset], Dataset]:
    """`map_func` of every element, in batches. Runs, is saved and restored as map and batch.

    map_func: Applied to each element.
    batch_size: Elements of a batch.
    num_parallel_batches: As many calls at a time as so many batches have elements; none: by num_parallel_calls.
    drop_remainder: Leave out a last batch that is smaller.
    num_parallel_calls: Calls at a time; none: batch_size.
    """
    ...
def numpy_dataset(filenames: StringsLike | None = None, output_signature: Any = None, compression_type: StringLike | None = None, buffer_size: IntLike | None = None, name: builtins.str | None = None) -> Dataset:
    """The rows of .npy files, along the arrays' first dimension.

    filenames: One path, a list of them, or a dataset of string scalars.
    output_signature: Dtype and shape of a row; none: those of the first file, which is read for it.
    compression_type: "" (none), "ZLIB", "GZIP", "ZSTD", "LZ4" or "SNAPPY".
    buffer_size: Bytes read at once, up to 64 MiB; none or 0: 256 KiB.

    Saved as the place in the list of files and a row; restoring costs a seek (of a compressed file: reading up to there).
    """
    ...
def pack(length: IntLike, split: builtins.bool = True, truncate: builtins.bool = False, pad_value: Any = None, drop_remainder: builtins.bool = False) -> Callable[[Dataset], Dataset]:
    """Sequences of any length one after the other in windows of `length` tokens, with segment_ids and positions.

    length: Tokens of a window.
    split: A sequence that does not fit goes on in the next window; else it begins there.
    truncate: Without split: cut a sequence longer than a window; else it is an error.
    pad_value: A scalar, or a structure of them; none: 0, false or "".
    drop_remainder: Leave out a last window that is not full.

    Saved as the input's position and a place in its sequence; after an error as the place where the window began, or its tokens where the input cannot be read again. Restoring costs the sequences of a window.
    """
    ...
def pad_to_cardinality(cardinality: IntLike, mask_key: StringLike = 'valid') -> Callable[[Dataset], Dataset]:
    """The input's dictionaries with a mask, then elements of zeros up to `cardinality`.

    cardinality: How many elements there are with those of zeros; at least the input's.
    mask_key: Key of the mask: false for elements of zeros.

    Saved as counts and the input's position; restoring costs the input's.
    """
    ...
def parallel_interleave(map_func: Callable[..., Any], cycle_length: IntLike, block_length: IntLike = 1, sloppy: builtins.bool = False, buffer_output_elements: IntLike | None = None, prefetch_input_elements: IntLike | None = None, num_parallel_calls: IntLike | None = None) -> Callable[[Dataset], Dataset]:
    """The elements of cycle_length datasets that `map_func` returns, block_length of each in turn.

    map_func: From an element to a dataset.
    cycle_length: How many datasets are read in turns.
    block_length: How many elements one gives before the next one's turn.
    sloppy: True: the dataset that is ready goes first.
    buffer_output_elements: How many elements of each dataset may be ready; none: 2 * block_length.
    prefetch_input_elements: How many datasets may be opened ahead; none: 2 * cycle_length.
    num_parallel_calls: How many datasets are read ahead at a time; none: as many as help.

    Saved as the input's position and, for each open dataset, the element it was made from and its position; restoring calls the function once for each and reads again what was read ahead.
    """
    ...
def parse_example_dataset(features: Any, num_parallel_calls: Any = 1, deterministic: Any = None) -> Any: ...
def prefetch_to_device(device: Any, buffer_size: Any = None) -> Any: ...
def quarantine(path: StringLike | None = None, max_errors: IntLike | None = None, max_fraction: FloatLike = 1.0) -> Callable[[Dataset], Dataset]:
    """The input's elements without the bad ones, which are listed in a file; more of them than the limit are DATA_LOSS.

    path: The file to which a line of JSON is appended for each bad element; none: no list.
    max_errors: How many bad elements an epoch may have; none: any number.
    max_fraction: How large a part of an epoch's elements may be bad, 0 to 1; looked at from 100 elements on, and at the end.

    Saved as two counts and the input's position; restoring costs the input's.
    """
    ...
def rejection_resample(class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: IntLike | None = None) -> Callable[[Dataset], Dataset]:
    """Tuples of class and element, of which so many are rejected and repeated that classes come by `target_dist`. Runs, is saved and restored as map, filter and sample_from_datasets.

    class_func: From an element to its class, an integer scalar from 0 on.
    target_dist: A vector: the share that each class is to have.
    initial_dist: A vector: the share that each class has; none: it is estimated.
    seed: Seed.
    """
    ...
def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: Any = False) -> Any: ...
def save(dataset: Any, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> Any: ...
def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """The outputs of `scan_func`, called along the input with a state that it hands on.

    initial_state: The state before the first element: a structure of tensors.
    scan_func: From (state, element) to (state, output).

    Saved as the state's values and the input's position; restoring costs the input's.
    """
    ...
def shuffle_and_repeat(buffer_size: IntLike, count: IntLike | None = None, seed: IntLike | None = None) -> Callable[[Dataset], Dataset]:
    """The input's epochs, each in a random order. Runs, is saved and restored as shuffle.

    buffer_size: How many elements the buffer holds, at least 1; -2 (UNKNOWN_CARDINALITY) holds the whole input.
    count: How many epochs, at least 1; -1 or none repeats forever.
    seed: Seed of the order.
    """
    ...
def snapshot(path: StringLike, compression: StringLike = 'AUTO', reader_func: Callable[..., Any] | None = None, shard_func: Callable[..., Any] | None = None) -> Callable[[Dataset], Dataset]:
    """The first complete iteration writes the elements to files, later ones read them.

    path: The folder of this snapshot and of others.
    compression: "AUTO" (SNAPPY), or a compression_type; empty: none.
    reader_func: From a dataset of the shards' datasets to the dataset to read; none: they are read in turns.
    shard_func: From an element to the number of its shard, an int64 scalar; none: in turns.

    Saved as positions, while writing with the names of the files so far; restoring costs what the input's does, or reading compressed files up to the place.
    """
    ...
from leat.data.tables import table_from_dataset as table_from_dataset
def take_while(predicate: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """The elements before the first one for which `predicate` is false.

    predicate: A function of an element's components to a bool scalar.

    Saved as the number of calls and the input's position; restoring costs the input's.
    """
    ...
def tar_dataset(fields: StringsLike, filenames: StringsLike | None = None, compression_type: StringLike | None = None, buffer_size: IntLike | None = None, index: StringLike = 'none', name: builtins.str | None = None) -> Dataset:
    """Samples of tar shards in WebDataset's layout: a dict of the members' bytes and "__key__".

    filenames: One path, a list of them, or a dataset of string scalars.
    fields: The extensions that make an element; "jpg;png": either, under the first's name.
    compression_type: "" (none), "ZLIB", "GZIP", "ZSTD", "LZ4" or "SNAPPY".
    buffer_size: Bytes read at once, up to 64 MiB; none or 0: 256 KiB.
    index: Are FILE.leat-index used: "none", "auto" (where all files have one), "required".

    Saved as the place in the list of files and a byte offset for each open one; restoring costs a seek (of a compressed file: reading up to there).
    """
    ...
def to_variant(dataset: Any) -> Any: ...
def unbatch() -> Callable[[Dataset], Dataset]:
    """The rows of each element, one by one.


    Saved as positions; restoring costs one input element.
    """
    ...
def unique() -> Callable[[Dataset], Dataset]:
    """The first occurrence of each element.


    Saved as the values that came so far and the input's position; restoring costs the input's.
    """
    ...
