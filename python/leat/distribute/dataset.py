"""Distributed datasets: what each replica of a strategy receives, and how that is asked for."""

import collections
import enum

from leat import _native, nest
from leat._core import specs
from leat._graph import trace
from leat.data.dataset import Dataset
from leat.data.iterator import Iterator
from leat.data.optional import Optional
from leat.data.options import AutoShardPolicy
from leat.distribute.values import PerReplica, PerReplicaSpec

_POLICIES = {AutoShardPolicy.AUTO: 0, AutoShardPolicy.FILE: 1, AutoShardPolicy.DATA: 2, AutoShardPolicy.HINT: 3,
             AutoShardPolicy.OFF: 4}
_BY_FUNCTION, _BY_FUNCTION_EACH = -1, -2  # a dataset function's, called for the worker or for each replica


class InputReplicationMode(enum.Enum):
    """How often a dataset function is called (``tf.distribute.InputReplicationMode``)."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(collections.namedtuple("InputOptions", [
        "experimental_fetch_to_device", "experimental_replication_mode", "experimental_place_dataset_on_device",
        "experimental_per_replica_buffer_size"])):
    """How replicas get their input (``tf.distribute.InputOptions``).

    Host memory is where leat's devices compute, so `experimental_fetch_to_device` (None: True) and
    `experimental_place_dataset_on_device` change nothing but what TensorFlow refuses.
    `experimental_per_replica_buffer_size`: elements that are kept ready for each replica; 0: none.
    """

    __slots__ = ()

    def __new__(cls, experimental_fetch_to_device=None, experimental_replication_mode=InputReplicationMode.PER_WORKER,
                experimental_place_dataset_on_device=False, experimental_per_replica_buffer_size=1):
        fetches = True if experimental_fetch_to_device is None else experimental_fetch_to_device
        return super().__new__(cls, fetches, experimental_replication_mode, experimental_place_dataset_on_device,
                               experimental_per_replica_buffer_size)


class InputContext:
    """What a dataset function is told (``tf.distribute.InputContext``)."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    num_input_pipelines = property(lambda self: self._num_input_pipelines)
    input_pipeline_id = property(lambda self: self._input_pipeline_id)
    num_replicas_in_sync = property(lambda self: self._num_replicas_in_sync)

    def get_per_replica_batch_size(self, global_batch_size):
        """The global batch size divided by the number of replicas; ValueError where that leaves a rest."""
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                             f"{self._num_replicas_in_sync} ")
        return global_batch_size // self._num_replicas_in_sync

    def __str__(self):
        return (f"tf.distribute.InputContext(input pipeline id {self._input_pipeline_id}, "
                f"total: {self._num_input_pipelines})")


def _check(options):
    if options is not None and options.experimental_place_dataset_on_device and (
            options.experimental_fetch_to_device is not False
            or options.experimental_replication_mode is not InputReplicationMode.PER_REPLICA):
        raise ValueError("`experimental_place_dataset_on_device` can not be set to True when "
                         "experimental_fetch_to_device is True and replication mode is set to `PER_REPLICA`")


def _per_replica(options):
    return options is not None and options.experimental_replication_mode is InputReplicationMode.PER_REPLICA


def distribute(strategy, dataset, options):
    """`Strategy.experimental_distribute_dataset`."""
    if not isinstance(dataset, Dataset):
        raise AttributeError(f"'{type(dataset).__name__}' object has no attribute '_variant_tensor'")
    if _per_replica(options):
        raise NotImplementedError("InputReplicationMode.PER_REPLICA is only supported in "
                                  "`distribute_datasets_from_function`.")
    _check(options)
    policy = AutoShardPolicy(dataset.options().experimental_distribute.auto_shard_policy)
    return DistributedDataset(strategy, dataset._plan("experimental_distribute_dataset"), _POLICIES[policy],
                              _buffer_size(options))


def _buffer_size(options):
    """Elements of each replica that are kept ready."""
    size = 1 if options is None else options.experimental_per_replica_buffer_size
    if size is not None and size < 0:
        raise ValueError(f"experimental_per_replica_buffer_size is {size}; expected 0, for no buffer, or more")
    return 1 if size is None else size


def distribute_function(strategy, dataset_fn, options):
    """`Strategy.distribute_datasets_from_function`."""
    _check(options)
    if _per_replica(options) and not strategy._replicates_input:
        raise NotImplementedError("InputReplicationMode.PER_REPLICA is only supported in "
                                  "`distribute_datasets_from_function` of tf.distribute.MirroredStrategy")

    def make(pipelines, pipeline, replicas):
        made = dataset_fn(InputContext(pipelines, pipeline, replicas))
        if not isinstance(made, Dataset):
            raise AttributeError(f"'{type(made).__name__}' object has no attribute 'element_spec'")
        return made._plan("distribute_datasets_from_function")
    return DistributedDatasetsFromFunction(
        strategy, make, _BY_FUNCTION_EACH if _per_replica(options) else _BY_FUNCTION, _buffer_size(options))


class DistributedDataset:
    """What the replicas receive step by step (``tf.distribute.DistributedDataset``); iterate over it for that.

    An element is a structure of PerReplica values, or of plain ones where there is one replica. It has a length, which
    TensorFlow's lacks.
    """

    _needs_all = False  # does a step that not all replicas have rows for end the run?

    def __init__(self, strategy, source, policy, buffer_size=1):
        self._strategy = strategy
        from leat.data import iterator
        self._native = _native.DistributedDataset.open(
            strategy._native, source, policy, (iterator._num_threads, 0, 0, False, False), buffer_size)
        self._replica_spec = nest.from_text(self._native.spec())

    @property
    def element_spec(self):
        """The structure of PerReplicaSpecs of the elements, of plain TypeSpecs where there is one replica."""
        if not _is_per_replica(self._strategy):
            return self._replica_spec
        return nest._map(lambda leaf: PerReplicaSpec(*[leaf] * self._strategy._local), self._replica_spec)

    def _cardinality(self):
        return self._native.cardinality()

    def cardinality(self):
        """The number of steps as an int64 scalar; data.INFINITE_CARDINALITY or UNKNOWN_CARDINALITY otherwise."""
        from leat._core.tensor import constant
        return constant(self._cardinality(), "int64")

    def __len__(self):
        count = self._cardinality()
        if count < 0:
            raise TypeError("The dataset is infinite." if count == -1 else "The dataset length is unknown.")
        return count

    def reduce(self, initial_state, reduce_func):
        """``reduce_func(state, element)`` for one element after the other, from `initial_state` on; the last state."""
        state = initial_state
        for element in self:
            state = reduce_func(state, element)
        return state

    def explain(self):
        """How the batches are split among the replicas, and why; one line (leat's)."""
        return self._native.describe()

    def __iter__(self):
        if trace.is_tracing():
            raise trace.NeedsPython("a distributed dataset is iterated inside of a function that is traced")
        return DistributedIterator(self)


class DistributedDatasetsFromFunction(DistributedDataset):
    """The same of a function that makes the replicas' batches itself.

    An iterator's state that was saved by another number of workers is restored here: the function is called for their
    pipelines, too, to read what they left.
    """

    def __init__(self, strategy, source, policy, buffer_size=1):
        super().__init__(strategy, source, policy, buffer_size)
        self._needs_all = strategy._workers == 1 and not strategy.extended.experimental_enable_get_next_as_optional


class DistributedIterator(Iterator):
    """One run through a DistributedDataset (``tf.distribute.DistributedIterator``). One thread at a time may use it."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._strategy = dataset._strategy
        self._native = dataset._native.iterate()
        self._assemble = _assembler(dataset._replica_spec, _is_per_replica(dataset._strategy))

    @property
    def _type_spec(self):
        raise AttributeError("an iterator whose elements the replicas take")

    def _inside(self):
        raise trace.NeedsPython("the next element of a distributed iterator is not known while tracing")

    def _take(self, filled=False):
        if trace.is_tracing():
            self._inside()
        rows = self._native.step(filled)
        if rows is None or filled or not self._dataset._needs_all:
            return rows
        empty = [all(tensor.shape.rank and tensor.shape[0] == 0 for tensor in row) for row in rows]
        return None if any(empty) and not all(empty) else rows

    def get_next_as_optional(self):
        """The next element as an Optional, empty at the end; replicas without rows get empty batches in any case."""
        rows = self._take(True)
        if rows is None:
            return _optional(None, self.element_spec)
        value = self._assemble(rows)
        return _optional(value, nest.map_structure(nest.spec_of_leaf, value))

    def restore(self, state):
        """Continues where `save` was called: makes the run begin again, from that place."""
        fresh = self._dataset._native.iterate()
        fresh.restore(state)
        self._native.close()
        self._native = fresh


class InputFunctionIterator:
    """What `Strategy.make_input_fn_iterator` and `make_dataset_iterator` give: elements one after the other, and
    `initialize`, which begins again."""

    def __init__(self, dataset):
        self._dataset = dataset
        self.initialize()

    def initialize(self):
        """Begins again."""
        self._iterator = iter(self._dataset)

    @property
    def element_spec(self):
        """The structure of the elements' types."""
        return self._dataset.element_spec

    def get_next(self, name=None):
        """The next element; OutOfRangeError at the end."""
        return self._iterator.get_next()

    def get_next_as_optional(self):
        """The next element as an Optional, empty at the end."""
        return self._iterator.get_next_as_optional()

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator)

    next = __next__


class _Callables:
    """What `initialize` has where the input function gives a function, which each replica's part comes from."""

    element_spec = property(lambda self: None)

    def __init__(self, strategy, function):
        self._strategy, self._function = strategy, function

    def __iter__(self):
        return self

    def get_next(self):
        """One call for each replica of this process."""
        return self._strategy._wrap([self._function() for _ in range(self._strategy._local)])

    __next__ = get_next


def input_fn_iterator(strategy, input_fn, replication_mode):
    """`Strategy.make_input_fn_iterator`."""
    if replication_mode is not InputReplicationMode.PER_WORKER:
        raise ValueError("Input replication mode not supported in iterators of input functions: "
                         f"{replication_mode}")
    place = InputContext(strategy._workers, strategy._worker, strategy.num_replicas_in_sync)
    made = input_fn(place)
    if isinstance(made, Dataset):
        return InputFunctionIterator(distribute_function(strategy, lambda context: made, None))
    if not callable(made):
        raise ValueError("input_fn must return a tf.data.Dataset or a callable.")
    return InputFunctionIterator(_Callables(strategy, made))


def _optional(value, spec):
    return Optional(value, spec, value is not None)


def _is_per_replica(strategy):
    """Are elements PerReplica values? Under several workers also those of one replica."""
    return strategy._local > 1 or strategy._workers > 1


def _assembler(spec, is_per_replica):
    """A function from a list of tensors for each replica to an element."""
    one = nest.assembler(spec)
    if not is_per_replica:
        return lambda rows: one(rows[0])
    if type(spec) is specs.TensorSpec:
        return lambda rows: PerReplica([row[0] for row in rows])
    if type(spec) is tuple and all(type(leaf) is specs.TensorSpec for leaf in spec):
        return lambda rows: tuple(map(PerReplica, zip(*rows)))
    return lambda rows: nest._map(lambda *leaves: PerReplica(leaves), *[one(row) for row in rows])
