# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
AUTOTUNE: builtins.int
class Dataset:
    def __init__(self, native: Any = None, value: Any = None, element_spec: Any = None, name: builtins.str | None = 'Dataset', inputs: Any = ..., options: Any = None) -> None: ...
    @property
    def element_spec(self) -> Any: ...
    def cardinality(self) -> Tensor: ...
    def __len__(self) -> builtins.int: ...
    def __bool__(self) -> builtins.bool: ...
    def __nonzero__(self) -> builtins.bool: ...
    def __repr__(self) -> builtins.str: ...
    def options(self) -> Any: ...
    def fingerprint(self) -> Tensor: ...
    def to_json(self) -> builtins.str: ...
    @staticmethod
    def from_json(text: Any) -> Dataset: ...
    def __iter__(self) -> typing.Iterator[Any]: ...
    def as_numpy_iterator(self) -> Any: ...
    def get_single_element(self, name: builtins.str | None = None) -> Any: ...
    def reduce(self, initial_state: Any, reduce_func: Any, name: builtins.str | None = None) -> Any: ...
    def save(self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None: ...
    def explain(self, elements: Any = 1000) -> Any: ...
    def plan(self) -> Any: ...
    def apply(self, transformation_func: Any) -> Dataset: ...
    @staticmethod
    def range(*args: Any, output_type: Any = ..., name: builtins.str | None = None) -> Dataset: ...
    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: builtins.str | None = None) -> Dataset: ...
    def concatenate(self, dataset: Any, name: builtins.str | None = None) -> Dataset: ...
    @staticmethod
    def from_tensors(tensors: Any, name: builtins.str | None = None) -> Dataset: ...
    @staticmethod
    def from_tensor_slices(tensors: Any, name: builtins.str | None = None) -> Dataset: ...
    @staticmethod
    def from_generator(generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None, output_signature: Any = None, name: builtins.str | None = None) -> Dataset: ...
    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: Any = None, name: builtins.str | None = None) -> Dataset: ...
    @staticmethod
    def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None, wait: Any = False) -> Dataset: ...
    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: Any = True) -> Any: ...
    def with_options(self, options: Any, name: builtins.str | None = None) -> Dataset: ...
    def assert_cardinality(self, expected_cardinality: IntLike, name: builtins.str | None = None) -> Dataset:
        """The input, whose number of elements is claimed and checked.

        expected_cardinality: How many elements the input has; -1: infinitely many.

        Saved as a count and the input's position; restoring costs the input's.
        """
        ...
    def batch(self, batch_size: IntLike, drop_remainder: builtins.bool = False, num_parallel_calls: IntLike | None = None, deterministic: builtins.bool | None = None, name: builtins.str | None = None) -> Dataset:
        """Stacks `batch_size` consecutive elements along a new first axis.

        batch_size: Elements of a batch.
        drop_remainder: Leave out a last batch that is smaller.
        num_parallel_calls: Accepted; batches are gathered where their rows are made, in order.
        deterministic: Accepted; the order is always that of the input.

        Saved as the input's position (never inside a batch); restoring costs the input's.
        """
        ...
    def bucket_by_sequence_length(self, element_length_func: Callable[..., Any], bucket_boundaries: IntsLike, bucket_batch_sizes: IntsLike, padded_shapes: Any = None, padding_values: Any = None, pad_to_bucket_boundary: builtins.bool = False, no_padding: builtins.bool = False, drop_remainder: builtins.bool = False, name: builtins.str | None = None) -> Dataset:
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
    def cache(self, filename: StringLike = '', name: builtins.str | None = None) -> Dataset:
        """The first complete iteration keeps the elements, later ones read them.

        filename: Prefix of the files of the cache; none or empty: in memory.

        Saved as a position where the input can be replayed (restoring in another process computes the elements again), else with the elements.
        """
        ...
    @staticmethod
    def counter(start: FloatLike = 0, step: FloatLike = 1, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Dataset:
        """The numbers start, start + step, ... without end.

        start: The first number; for integers at most 2^53 in magnitude.
        step: The difference of two numbers.
        dtype: The dtype of the elements.

        Saved as one position; restoring costs nothing.
        """
        ...
    def dense_to_ragged(self, row_splits_dtype: DTypeLike = ..., name: builtins.str | None = None) -> Dataset:
        """Tensors whose shapes are not known as ragged values, for ragged_batch.

        row_splits_dtype: The dtype of new row splits: int32 or int64.

        Saved as the input's position; restoring costs the input's.
        """
        ...
    def enumerate(self, start: IntLike = 0, name: builtins.str | None = None) -> Dataset:
        """Pairs of a number, counted from `start`, and an element.

        start: The first number.

        Saved as the number and the input's position; restoring costs the input's.
        """
        ...
    def filter(self, predicate: Callable[..., Any], name: builtins.str | None = None) -> Dataset:
        """The elements for which `predicate` is true.

        predicate: A function of an element's components to a bool scalar.

        Saved as the number of calls and the input's position; restoring costs the input's.
        """
        ...
    def flat_map(self, map_func: Callable[..., Any], name: builtins.str | None = None) -> Dataset:
        """The elements of the datasets that `map_func` returns, one dataset after the other.

        map_func: From an element to a dataset.

        Saved as the input's and the inner position; restoring calls the function once.
        """
        ...
    @staticmethod
    def from_list(elements: Any, name: builtins.str | None = None) -> Dataset:
        """The elements of a list.

        elements: The elements, as one tuple.

        Saved as the position; restoring costs nothing.
        """
        ...
    def global_shuffle(self, seed: IntLike | None = None, reshuffle_each_iteration: builtins.bool = True, name: builtins.str | None = None) -> Dataset:
        """All elements in a random order, asked from the input by number; nothing is buffered.

        seed: Seed of the order.
        reshuffle_each_iteration: Another order in every epoch and iterator.

        Saved as a position and the order's key; restoring costs nothing.
        """
        ...
    def group_by_reducer(self, key_func: Callable[..., Any], init_func: Callable[..., Any], reduce_func: Callable[..., Any], finalize_func: Callable[..., Any], name: builtins.str | None = None) -> Dataset:
        """For each key, in the order of keys, what `finalize_func` makes of a state that `init_func` began and `reduce_func` took through the key's elements.

        key_func: From an element to its key, an int64 scalar.
        init_func: From a key to the state before its first element.
        reduce_func: From (state, element) to the next state.
        finalize_func: From a key's last state to its result.

        Saved as keys and states; restoring costs the input's.
        """
        ...
    def group_by_window(self, key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: IntLike | None = None, window_size_func: Callable[..., Any] | None = None, name: builtins.str | None = None) -> Dataset:
        """The elements of the datasets that `reduce_func` makes of groups of elements with one key.

        key_func: From an element to its key, an int64 scalar.
        reduce_func: From (key, dataset of the group's elements) to a dataset.
        window_size: Elements of a full group; either this or window_size_func.
        window_size_func: From a key to the elements of its full group, an int64 scalar.

        Saved as the elements of all groups and the positions of the input and of the dataset being read; restoring calls the function once.
        """
        ...
    def ignore_errors(self, log_warning: builtins.bool = False, name: builtins.str | None = None) -> Dataset:
        """The input's elements without its errors.

        log_warning: Write each error that is left out to the log.

        Saved as the input's position; restoring costs the input's.
        """
        ...
    def interleave(self, map_func: Callable[..., Any], cycle_length: IntLike | None = None, block_length: IntLike | None = None, num_parallel_calls: IntLike | None = None, deterministic: builtins.bool | None = None, name: builtins.str | None = None) -> Dataset:
        """The elements of cycle_length datasets that `map_func` returns, block_length of each in turn.

        map_func: From an element to a dataset.
        cycle_length: How many datasets are read in turns; AUTOTUNE or none: by the number of cores.
        block_length: How many elements one gives before the next one's turn.
        num_parallel_calls: The parallel form: so many datasets, at most cycle_length, are read ahead at a time; none: the sequential one.
        deterministic: False: in the parallel form the dataset that is ready goes first.

        Saved as the input's position and, for each open dataset, the element it was made from and its position; restoring calls the function once for each and reads again what was read ahead.
        """
        ...
    def legacy_rebatch(self, num_replicas: IntLike, name: builtins.str | None = None) -> Dataset:
        """Every batch in `num_replicas` pieces.

        num_replicas: Pieces of each element.

        Saved as positions; restoring costs one input element.
        """
        ...
    def map(self, map_func: Callable[..., Any], num_parallel_calls: IntLike | None = None, deterministic: builtins.bool | None = None, synchronous: builtins.bool | None = None, use_unbounded_threadpool: builtins.bool = False, name: builtins.str | None = None) -> Dataset:
        """`map_func` of every element.

        map_func: The function of an element's components.
        num_parallel_calls: How many calls run at a time on the pool; none: one, on the consumer's thread.
        deterministic: False: parallel calls are delivered as they finish.
        synchronous: Never run in parallel; not together with num_parallel_calls.
        use_unbounded_threadpool: Accepted; calls run on the process's pool.

        Saved as the input's position; results in flight are computed again, and outcomes passed while restoring are not computed. Without order the state lists what was delivered early.
        """
        ...
    def map_and_batch(self, map_func: Callable[..., Any], batch_size: IntLike, num_parallel_batches: IntLike | None = None, drop_remainder: builtins.bool = False, num_parallel_calls: IntLike | None = None, name: builtins.str | None = None) -> Dataset:
        """`map_func` of every element, in batches. Runs, is saved and restored as map and batch.

        map_func: Applied to each element.
        batch_size: Elements of a batch.
        num_parallel_batches: As many calls at a time as so many batches have elements; none: by num_parallel_calls.
        drop_remainder: Leave out a last batch that is smaller.
        num_parallel_calls: Calls at a time; none: batch_size.
        """
        ...
    def pack(self, length: IntLike, split: builtins.bool = True, truncate: builtins.bool = False, pad_value: Any = None, drop_remainder: builtins.bool = False, name: builtins.str | None = None) -> Dataset:
        """Sequences of any length one after the other in windows of `length` tokens, with segment_ids and positions.

        length: Tokens of a window.
        split: A sequence that does not fit goes on in the next window; else it begins there.
        truncate: Without split: cut a sequence longer than a window; else it is an error.
        pad_value: A scalar, or a structure of them; none: 0, false or "".
        drop_remainder: Leave out a last window that is not full.

        Saved as the input's position and a place in its sequence; after an error as the place where the window began, or its tokens where the input cannot be read again. Restoring costs the sequences of a window.
        """
        ...
    def pad_to_cardinality(self, cardinality: IntLike, mask_key: StringLike = 'valid', name: builtins.str | None = None) -> Dataset:
        """The input's dictionaries with a mask, then elements of zeros up to `cardinality`.

        cardinality: How many elements there are with those of zeros; at least the input's.
        mask_key: Key of the mask: false for elements of zeros.

        Saved as counts and the input's position; restoring costs the input's.
        """
        ...
    def padded_batch(self, batch_size: IntLike, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: builtins.bool = False, name: builtins.str | None = None) -> Dataset:
        """Stacks `batch_size` consecutive elements, each padded to the shape of `padded_shapes`.

        batch_size: Elements of a batch.
        padded_shapes: A vector of dimensions, or a structure of them; -1: the longest of the batch; none: the elements' shapes.
        padding_values: A scalar, or a structure of them; none: 0, false or "".
        drop_remainder: Leave out a last batch that is smaller.

        Saved as the input's position (never inside a batch); restoring costs the input's.
        """
        ...
    def parallel_interleave(self, map_func: Callable[..., Any], cycle_length: IntLike, block_length: IntLike | None = None, sloppy: builtins.bool = False, buffer_output_elements: IntLike | None = None, prefetch_input_elements: IntLike | None = None, num_parallel_calls: IntLike | None = None, name: builtins.str | None = None) -> Dataset:
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
    def prefetch(self, buffer_size: IntLike, name: builtins.str | None = None) -> Dataset:
        """A thread keeps up to `buffer_size` elements ready.

        buffer_size: How many elements are kept ready; AUTOTUNE or none: as many as help; 0: none.

        Saved as a snapshot of the input and the number of outcomes since; restoring passes these, a block at most, without computing pure maps. Over inputs with effects the buffered elements themselves are saved, and restoring costs nothing.
        """
        ...
    def quarantine(self, path: StringLike | None = None, max_errors: IntLike | None = None, max_fraction: FloatLike = 1.0, name: builtins.str | None = None) -> Dataset:
        """The input's elements without the bad ones, which are listed in a file; more of them than the limit are DATA_LOSS.

        path: The file to which a line of JSON is appended for each bad element; none: no list.
        max_errors: How many bad elements an epoch may have; none: any number.
        max_fraction: How large a part of an epoch's elements may be bad, 0 to 1; looked at from 100 elements on, and at the end.

        Saved as two counts and the input's position; restoring costs the input's.
        """
        ...
    def ragged_batch(self, batch_size: IntLike, drop_remainder: builtins.bool = False, row_splits_dtype: DTypeLike = ..., name: builtins.str | None = None) -> Dataset:
        """Stacks `batch_size` consecutive elements along a new first axis; tensors whose spec has unknown dimensions become ragged. Runs, is saved and restored as batch.

        batch_size: Elements of a batch.
        drop_remainder: Leave out a last batch that is smaller.
        row_splits_dtype: The dtype of new row splits: int32 or int64.
        """
        ...
    @staticmethod
    def random(seed: IntLike | None = None, rerandomize_each_iteration: builtins.bool | None = None, name: builtins.str | None = None) -> Dataset:
        """Random numbers from 0 to 2^32 - 1, without end.

        seed: Seed of the numbers.
        rerandomize_each_iteration: True: other numbers in every epoch and iterator.

        Saved as seeds and one position; restoring costs nothing.
        """
        ...
    def rebatch(self, batch_size: IntsLike, drop_remainder: builtins.bool = False, name: builtins.str | None = None) -> Dataset:
        """Batches of other sizes from the rows of the input's batches.

        batch_size: Rows of a batch, or a list of sizes taken in turn.
        drop_remainder: Leave out a last batch that is smaller.

        Saved as positions; restoring costs one input element.
        """
        ...
    def rejection_resample(self, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: IntLike | None = None, name: builtins.str | None = None) -> Dataset:
        """Tuples of class and element, of which so many are rejected and repeated that classes come by `target_dist`. Runs, is saved and restored as map, filter and sample_from_datasets.

        class_func: From an element to its class, an integer scalar from 0 on.
        target_dist: A vector: the share that each class is to have.
        initial_dist: A vector: the share that each class has; none: it is estimated.
        seed: Seed.
        """
        ...
    def repeat(self, count: IntLike | None = None, name: builtins.str | None = None) -> Dataset:
        """The input `count` times.

        count: How many epochs; a negative number or none repeats forever.

        Saved as the epoch and the input's position; restoring costs the input's.
        """
        ...
    @staticmethod
    def sample_from_datasets(datasets: Any, weights: Any = None, seed: IntLike | None = None, stop_on_empty_dataset: builtins.bool = False, rerandomize_each_iteration: builtins.bool | None = None, name: builtins.str | None = None) -> Dataset:
        """Elements of the inputs in a random order, by weights.

        weights: A vector of one weight for each dataset, or a dataset of them; none: equal weights.
        seed: Seed of the draws.
        stop_on_empty_dataset: End with the first dataset that ends; else draws of it are passed over.
        rerandomize_each_iteration: Other draws in every epoch and iterator.

        Saved as seeds, the number of draws and all inputs' positions; restoring costs the inputs'.
        """
        ...
    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: builtins.str | None = None) -> Dataset:
        """The outputs of `scan_func`, called along the input with a state that it hands on.

        initial_state: The state before the first element: a structure of tensors.
        scan_func: From (state, element) to (state, output).

        Saved as the state's values and the input's position; restoring costs the input's.
        """
        ...
    def shard(self, num_shards: IntLike, index: IntLike, name: builtins.str | None = None) -> Dataset:
        """Every `num_shards`-th element, from number `index` on.

        num_shards: How many shards; -1 (SHARD_HINT) is for distribution to fill in.
        index: Which shard, from 0 to num_shards - 1.

        Saved as a phase and the input's position; restoring costs the input's.
        """
        ...
    def shuffle(self, buffer_size: IntLike, seed: IntLike | None = None, reshuffle_each_iteration: builtins.bool = True, name: builtins.str | None = None) -> Dataset:
        """The elements in a random order drawn from a buffer.

        buffer_size: How many elements the buffer holds, at least 1; -2 (UNKNOWN_CARDINALITY) holds the whole input.
        seed: Seed of the order.
        reshuffle_each_iteration: Another order in every epoch and iterator.

        Saved as positions (restoring computes at most buffer_size elements again) where the input can be replayed, else as the buffer's data.
        """
        ...
    def shuffle_and_repeat(self, buffer_size: IntLike, count: IntLike | None = None, seed: IntLike | None = None, name: builtins.str | None = None) -> Dataset:
        """The input's epochs, each in a random order. Runs, is saved and restored as shuffle.

        buffer_size: How many elements the buffer holds, at least 1; -2 (UNKNOWN_CARDINALITY) holds the whole input.
        count: How many epochs, at least 1; -1 or none repeats forever.
        seed: Seed of the order.
        """
        ...
    def skip(self, count: IntLike, name: builtins.str | None = None) -> Dataset:
        """All but the first `count` elements.

        count: How many elements; a negative number skips everything.

        Saved as the number still to skip and the input's position; restoring costs the input's.
        """
        ...
    def snapshot(self, path: StringLike, compression: StringLike = 'AUTO', reader_func: Callable[..., Any] | None = None, shard_func: Callable[..., Any] | None = None, name: builtins.str | None = None) -> Dataset:
        """The first complete iteration writes the elements to files, later ones read them.

        path: The folder of this snapshot and of others.
        compression: "AUTO" (SNAPPY), or a compression_type; empty: none.
        reader_func: From a dataset of the shards' datasets to the dataset to read; none: they are read in turns.
        shard_func: From an element to the number of its shard, an int64 scalar; none: in turns.

        Saved as positions, while writing with the names of the files so far; restoring costs what the input's does, or reading compressed files up to the place.
        """
        ...
    def sparse_batch(self, batch_size: IntLike, row_shape: ShapeLike, name: builtins.str | None = None) -> Dataset:
        """Stacks `batch_size` consecutive tensors of unequal shapes as one sparse value.

        batch_size: Elements of a batch.
        row_shape: The dense shape of a row; -1 is the largest of the batch.

        Saved as the input's position (never inside a batch); restoring costs the input's.
        """
        ...
    def take(self, count: IntLike, name: builtins.str | None = None) -> Dataset:
        """The first `count` elements.

        count: How many elements; a negative number takes everything.

        Saved as the number left and the input's position; restoring costs the input's.
        """
        ...
    def take_while(self, predicate: Callable[..., Any], name: builtins.str | None = None) -> Dataset:
        """The elements before the first one for which `predicate` is false.

        predicate: A function of an element's components to a bool scalar.

        Saved as the number of calls and the input's position; restoring costs the input's.
        """
        ...
    def unbatch(self, name: builtins.str | None = None) -> Dataset:
        """The rows of each element, one by one.


        Saved as positions; restoring costs one input element.
        """
        ...
    def unique(self, name: builtins.str | None = None) -> Dataset:
        """The first occurrence of each element.


        Saved as the values that came so far and the input's position; restoring costs the input's.
        """
        ...
    def window(self, size: IntLike, shift: IntLike | None = None, stride: IntLike = 1, drop_remainder: builtins.bool = False, name: builtins.str | None = None) -> Dataset:
        """Consecutive elements as datasets, one per component.

        size: Elements in a window.
        shift: Elements from the beginning of a window to that of the next; without it, `size`.
        stride: Elements from one of a window to its next.
        drop_remainder: Leave out windows that the end cuts short.

        Saved as the elements of the present window and the input's position; restoring costs the input's.
        """
        ...
INFINITE_CARDINALITY: builtins.int
OPERATORS: Any
UNKNOWN_CARDINALITY: builtins.int
def doc_of(entry: Any) -> Any: ...
def function_of(op: Any) -> Any: ...
def make(op: Any, inputs: Any, arguments: Any, name: builtins.str | None = None) -> Any: ...
def parameters_of(entry: Any) -> Any: ...
