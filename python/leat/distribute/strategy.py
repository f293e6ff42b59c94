"""Strategies: how many replicas there are, and on which devices (``tf.distribute.Strategy`` and its classes)."""

import threading
import weakref

from leat import _native, dtypes, nest
from leat._core import cluster, devices as kinds
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import trace
from leat._graph.traced import Function, functions_run_eagerly
from leat._structures.indexed_slices import IndexedSlices
from leat._structures.variables import Variable
from leat.distribute import agreement, cluster_resolver, context, dataset as datasets, jobs, replicas, scope as scopes
from leat.distribute.communication import CommunicationImplementation, CommunicationOptions
from leat.distribute.context import ReplicaContext
from leat.distribute.cross_device_ops import for_strategy, reduced_slices, spread
from leat.distribute.scope import ReduceOp, entered, require_cross_replica
from leat.distribute.step import Steps
from leat.distribute.values import (DistributedValues, DistributedVariable, Mirrored, PerReplica, central_class,
                                    check_variable, grouped, regroup, select, variable_class)
from leat.errors import InvalidArgumentError, OpError, UnimplementedError

_PREFIX = "/job:localhost/replica:0/task:0/device:"


def _device(name):
    """The device's name as the library has it, "CPU:0"; ValueError where it is of another kind."""
    parts = str(getattr(name, "name", name)).upper().replace("DEVICE:", "").rsplit("/", 1)[-1].split(":")
    if len(parts) == 1:
        parts.append("0")
    if len(parts) != 2 or parts[0] not in kinds.KINDS or not parts[1].isdigit():
        raise ValueError(f"device {name!r}: leat has the devices {', '.join(kinds.by_default())}")
    if parts[0] != "CPU":
        try:
            kinds.find(parts[0])
        except OpError as error:
            raise ValueError(f"device {name!r}: {error}") from None
    return ":".join(parts)


def _check_call(function, args):
    if not callable(function):
        raise TypeError(f"'{type(function).__name__}' object is not callable")
    if not isinstance(args, (list, tuple)):
        raise ValueError(f"positional args must be a list or tuple, got {type(args)}")


class _Scope:
    """What `scope` returns: a block in which the strategy is in force. It may be entered again and again."""

    def __init__(self, strategy):
        self._strategy = strategy
        self._open = []

    def __enter__(self):
        require_cross_replica()
        scopes.check_mixing(self._strategy)
        self._open.append(entered(self._strategy))
        return self._open[-1].__enter__()

    def __exit__(self, *error):
        self._open.pop().__exit__(*error)


class StrategyExtended:
    """Further methods of a strategy, for libraries (``tf.distribute.StrategyExtended``)."""

    experimental_require_static_shapes = False
    should_checkpoint = True
    should_save_summary = True
    experimental_between_graph = False
    experimental_should_init = True
    experimental_enable_get_next_as_optional = True  # False: the iterators end where not all replicas have rows

    def __init__(self, strategy, devices):
        self._strategy = strategy
        self._devices = self.parameter_devices = tuple(devices)

    worker_devices = property(lambda self: self._devices)

    def reduce_to(self, reduce_op, value, destinations=None, options=None):
        """The sum or mean over replicas of a value (``StrategyExtended.reduce_to``)."""
        return spread(self._strategy.reduce(reduce_op, value, axis=None), destinations)

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """`reduce_to` of a list of (value, destination)."""
        return [self.reduce_to(reduce_op, value, place) for value, place in value_destination_pairs]

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Runs ``fn(var, *args, **kwargs)`` where each copy of the variable is; values per replica go along."""
        kwargs = kwargs or {}
        if self._strategy._native is None:
            result = fn(var, *args, **kwargs)
            return result if group else (result,)
        if context.is_merging():
            args, kwargs = nest.map_structure(context.unwrapped, (tuple(args), kwargs))
            with entered(self._strategy, trace._state.contexts[-2][1].updating()):
                return fn(var, *args, **kwargs)

        results = []
        for local in range(min(self._strategy._local, var._native.num_copies())):
            own_args, own_kwargs = select(local, (tuple(args), kwargs))
            with entered(self._strategy, replicas.RunningContext(self._strategy, local).updating()):
                results.append(fn(var, *own_args, **own_kwargs))
        result = grouped(results, Mirrored)
        return result if group else self._strategy.experimental_local_results(result)

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """`Strategy.run`."""
        return self._strategy.run(fn, args, kwargs)

    def variable_created_in_scope(self, v):
        """Was the variable created in the strategy's scope?"""
        return isinstance(v, Variable) and v._strategy is (None if self._strategy is DEFAULT else self._strategy)

    def value_container(self, value):
        """The variable that a copy belongs to; other values as they are."""
        return getattr(value, "_container", value) if isinstance(value, Variable) else value

    def read_var(self, v):
        """The value of a variable, outside of replicas that of all of them."""
        return v.read_value()

    def non_slot_devices(self, var_list):
        """The devices of what an optimizer keeps beside its slots."""
        return self._devices

    def broadcast_to(self, tensor, destinations):
        """The tensor: every replica reads it."""
        return tensor

    def colocate_vars_with(self, colocate_with_variable):
        """A block that changes nothing: a variable's copies are where the replicas are. RuntimeError outside of the
        strategy's scope, ValueError for what is no variable that was made in it."""
        if trace.strategy() is not self._strategy and self._strategy is not DEFAULT:
            raise RuntimeError(f'Need to be inside "with strategy.scope()" for {self._strategy}')
        if not self.variable_created_in_scope(colocate_with_variable):
            raise ValueError("`colocate_vars_with` must only be passed a variable created in this tf.distribute."
                             f"Strategy.scope(), not: {colocate_with_variable!r}")
        return trace.recorded()


class Strategy:
    """How a computation is spread over devices; the base of all strategies (``tf.distribute.Strategy``)."""

    _native = None
    _runs_python = True  # does `run` do that outside of functions?
    _cross_device_ops = None  # how all_reduce combines values, where it is not the library's sum or mean

    def __init__(self, extended=None):
        raise TypeError("tf.distribute.Strategy is made by its subclasses, such as MirroredStrategy")

    _local = _workers = 1  # replicas of this process, and how many processes there are
    _first = _worker = 0  # the number of its first replica among all, and its own
    _described = ""

    def _start(self, native, devices, prefix=_PREFIX):
        self._native = native
        (self._count, self._local, self._first, self._workers, self._worker, self._described) = native.place()
        self._steps = Steps(self)
        self._assigned = {}  # where each step is compared: id -> variable that replicas assigned as Python ran
        self._lock = threading.RLock()
        self._extended = StrategyExtended(self, [prefix + device for device in devices])

    num_replicas_in_sync = property(lambda self: self._count)
    extended = property(lambda self: self._extended)
    cluster_resolver = property(lambda self: None)

    def scope(self):
        """A block in which variables get a copy on each replica and `get_strategy` gives this strategy."""
        return _Scope(self)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Runs ``fn(*args, **kwargs)`` on all replicas; per-replica arguments give each its own value.

        Where `fn` is a ``tf.function``, or in one, it is traced once for the types and shapes of its arguments, and
        runs on all replicas at once. Elsewhere Python runs it for each replica and each time. Results that differ from
        replica to replica are PerReplica values; with one replica they are what `fn` returns. RuntimeError inside of a
        replica; an error of a replica names it.
        """
        if context.is_merging():
            return trace._state.contexts[-2][1].run_merged(fn, args, kwargs or {})
        require_cross_replica()
        scopes.check_mixing(self)
        _check_call(fn, args)
        if trace.is_tracing():
            raise trace.NeedsPython("Strategy.run inside of a function that is traced")
        if functions_run_eagerly() and isinstance(fn, Function):
            fn = fn.python_function
        if self._runs_python and not isinstance(fn, Function) and not trace.in_function():
            return replicas.run(self, fn, args, kwargs or {})
        return self._run_traced(fn, args, kwargs or {})

    def _run_traced(self, fn, args, kwargs):
        with self._lock:
            return self._steps.run(fn, args, kwargs)

    experimental_run_v2 = run

    def group(self, value, name=None):
        """The value, when all that it is made of has been done (``Strategy.group``): here that is so already."""
        values = self.experimental_local_results(value)
        return values[0] if len(values) == 1 else None

    def unwrap(self, value):
        """`experimental_local_results` under its older name."""
        return self.experimental_local_results(value)

    def reduce(self, reduce_op, value, axis):
        """The sum or mean over replicas of values, as a tensor (``Strategy.reduce``).

        With an axis also along it: the mean is then that of all rows, however many each replica has.
        """
        if not context.is_merging():
            require_cross_replica()
        operation = scopes.reduce_op(reduce_op)
        return nest.map_structure(lambda leaf: self._reduce(operation, leaf, axis), value)

    def _reduce(self, operation, value, axis):
        if context.is_merging():
            return context.reduce_merged(self, operation, value, axis)
        if trace.is_tracing():
            raise trace.NeedsPython("Strategy.reduce inside of a function that is traced")
        if isinstance(value, DistributedVariable):
            value = PerReplica(value.values)
        if isinstance(axis, (list, tuple)):
            parts = value.values if isinstance(value, DistributedValues) else (value,)
            parts = tuple(context.rows_of(convert_to_tensor(part), axis) for part in parts)
            value, axis = PerReplica(parts) if isinstance(value, DistributedValues) else parts[0], 0
        if not isinstance(value, DistributedValues):
            return self._reduce_plain(operation, value, axis)
        if axis is None and self._workers == 1 and all(isinstance(one, IndexedSlices) for one in value.values):
            return reduced_slices(operation, value.values)
        rows = [[convert_to_tensor(one)] for one in value.values]
        context.check_axis(rows[0][0], axis)
        if self._count == 1 and axis is None:
            return rows[0][0]
        return self._native.reduce(operation is ReduceOp.MEAN, rows, axis)[0]

    def _reduce_plain(self, operation, value, axis):
        """A value that is no PerReplica: that of this process's only replica, else the same for each."""
        if self._wraps and type(value) in (int, float) and value == 0:
            raise AttributeError(f"'{type(value).__name__}' object has no attribute 'shape'")
        if axis is None and not (self._workers > 1 and self._local == 1):
            if operation is ReduceOp.SUM and self._count > 1:
                raise scopes.no_sum(value, operation)
            return convert_to_tensor(value) if operation is ReduceOp.SUM and self._wraps else value
        tensor = convert_to_tensor(value)
        context.check_axis(tensor, axis)
        return self._native.reduce(operation is ReduceOp.MEAN, [[tensor]] * self._local, axis)[0]

    def gather(self, value, axis):
        """The replicas' values one after the other along `axis`, where alone they may differ (``Strategy.gather``)."""
        if trace.replica_context() is not None:
            raise RuntimeError("tf.distribute.Strategy.gather method requires cross-replica context, use "
                               "get_replica_context().all_gather() instead")
        if trace.is_tracing():
            raise trace.NeedsPython("Strategy.gather inside of a function that is traced")
        context.no_slices(value, "gather")
        return nest.map_structure(lambda leaf: self._gather(leaf, axis), value)

    def _gather(self, value, axis):
        from leat._graph import ops
        differs = isinstance(value, (DistributedValues, DistributedVariable))
        if not differs and self._workers == 1:
            return value if hasattr(value, "_type_spec") else convert_to_tensor(value)
        parts = [convert_to_tensor(part) for part in self.experimental_local_results(value)]
        if self._count == 1:
            return parts[0]
        if parts[0].dtype is dtypes.string:
            raise TypeError(context._NO_STRINGS)
        if not parts[0].shape.rank:
            raise InvalidArgumentError(None, None, "ConcatOp : Can't concatenate scalars (use tf.stack instead)")
        context.check_axis(parts[0], axis)
        context.check_joined([part.shape for part in parts], axis % parts[0].shape.rank)
        if self._workers > 1:
            return self._native.gather([[part] for part in parts], axis)[0]
        if self._cross_device_ops is not None:
            return self._cross_device_ops._gather(parts, axis)
        return ops.FUNCTIONS["concat"](parts, axis)

    def experimental_local_results(self, value):
        """The values on the replicas, as a tuple in their order; of any other value a tuple of that alone."""
        if isinstance(value, (DistributedValues, DistributedVariable)):
            return value.values
        if nest.is_nested(value):
            return tuple(select(replica, value) for replica in range(self._local))
        return (value,)

    def experimental_distribute_dataset(self, dataset, options=None):
        """The dataset's batches split among the replicas, a DistributedDataset (TensorFlow's rebatch rules)."""
        require_cross_replica()
        return datasets.distribute(self, dataset, options)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """A DistributedDataset of what ``dataset_fn(InputContext)`` yields: replica k mod replicas gets element k."""
        require_cross_replica()
        return datasets.distribute_function(self, dataset_fn, options)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def make_input_fn_iterator(self, input_fn, replication_mode=datasets.InputReplicationMode.PER_WORKER):
        """An iterator with `initialize` over what ``input_fn(InputContext)`` gives: a dataset of the replicas' batches,
        or a function that is called for each (older programs' way; `distribute_datasets_from_function`)."""
        require_cross_replica()
        return datasets.input_fn_iterator(self, input_fn, replication_mode)

    def make_dataset_iterator(self, dataset):
        """An iterator with `initialize` over the dataset's batches, split among the replicas."""
        require_cross_replica()
        return datasets.InputFunctionIterator(self.experimental_distribute_dataset(dataset))

    def experimental_run(self, fn, input_iterator=None):
        """`run` of the function with the iterator's next element, or without arguments."""
        return self.run(fn, () if input_iterator is None else (input_iterator.get_next(),))

    def experimental_distribute_values_from_function(self, value_fn):
        """A PerReplica of what ``value_fn(ValueContext)`` gives for each replica; AssertionError where structures
        differ."""
        require_cross_replica()
        if trace.is_tracing():
            raise trace.NeedsPython("Strategy.experimental_distribute_values_from_function inside of a function that "
                                    "is traced")
        replicas = range(self._first, self._first + self._local)
        return self._wrap([value_fn(ValueContext(replica, self._count)) for replica in replicas])

    def _wrap(self, values):
        if len(values) > 1 or not self._wraps:
            return regroup(values)
        return nest._map_all(lambda *leaves: PerReplica(leaves), values, True)

    _wraps = True  # a value per replica is a PerReplica even where there is one replica
    _replicates_input = False  # is InputReplicationMode.PER_REPLICA there?

    def explain(self):
        """Who takes part, and where the time of the runs so far went, operation by operation (leat's)."""
        return "\n".join(filter(None, [self._described, self._steps.explain()]))


class ValueContext:
    """What `value_fn` is told (``tf.distribute.experimental.ValueContext``)."""

    def __init__(self, replica_id_in_sync_group=0, num_replicas_in_sync=1):
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync

    def __str__(self):
        return (f"tf.distribute.ValueContext(replica id {self.replica_id_in_sync_group},  total replicas in sync: "
                f"{self.num_replicas_in_sync})")

    __repr__ = __str__


class MirroredStrategy(Strategy):
    """One replica on each device of this process, all with the same variables (``tf.distribute.MirroredStrategy``).

    `devices`: names such as "CPU:0", "/cpu:1" or "GPU:0"; None or empty: those that LEAT_DEVICES names
    ("xla_cpu:2"), else all GPUs, else all logical CPUs. `cross_device_ops`: how
    `all_reduce` combines the values of the replicas, where that is no sum or mean (leat.distribute.CrossDeviceOps);
    optimizers and assignments combine them by the library's own collectives in any case.
    """

    def __init__(self, devices=None, cross_device_ops=None):
        names = [_device(name) for name in devices or ()] or kinds.by_default()
        if len(set(names)) != len(names):
            raise AssertionError("No duplicates allowed in `devices` argument: "
                                 f"{tuple(_PREFIX + name for name in names)}")
        self._start(_native.Strategy.mirrored(names), names)
        if cross_device_ops is not None:
            self._cross_device_ops = for_strategy(cross_device_ops)

    _distributed = staticmethod(variable_class)
    _check_variable = staticmethod(check_variable)
    _replicates_input = True


class OneDeviceStrategy(Strategy):
    """Everything on one device (``tf.distribute.OneDeviceStrategy``)."""

    _wraps = False

    def __init__(self, device):
        names = [_device(device)]
        self._start(_native.Strategy.mirrored(names), names)


# ---- several processes ----

class MultiWorkerMirroredStrategy(Strategy):
    """Replicas in several processes, all with the same variables (``tf.distribute.MultiWorkerMirroredStrategy``).

    `cluster_resolver` says where the processes are: TF_CONFIG without one, or the variables of torchrun, mpirun or
    srun. Without a cluster this is one worker. Each worker has the devices that LEAT_DEVICES names, else all its GPUs,
    else its first CPU device, as in TensorFlow.

    Strategies that are made again for the same workers and options share the job. Making it waits for all workers, for
    five minutes at most: DeadlineExceededError names those who are missing,
    FailedPreconditionError one whose program, version of leat or options differ. All workers make the same calls in
    the same order. One that is killed, stops answering or fails ends the job: AbortedError on all others, which says
    who it was and why; an exception that nothing catches is such a reason. `communication_options`: `timeout_seconds`
    of an exchange (five minutes without one), and `bytes_per_pack`; what joins processes is chosen by where they are,
    shared memory on one host.
    """

    def __init__(self, cluster_resolver=None, communication_options=None):
        options = communication_options or CommunicationOptions()
        if not isinstance(options, CommunicationOptions):
            raise ValueError("communication_options must be an instance of "
                             "tf.distribute.experimental.CommunicationOptions")
        resolver = cluster_resolver or jobs.found_resolver()
        self._cluster_resolver, devices = resolver, kinds.by_default(one_cpu=True)
        spec, task_type, task_id = resolver.cluster_spec(), resolver.task_type, resolver.task_id
        if not spec.as_dict():
            self._start(_native.Strategy.mirrored(devices), devices)
            return
        if not task_type or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
        cluster.is_chief(spec, task_type, task_id)
        cluster.worker_count(spec, task_type)
        ring = options.implementation is CommunicationImplementation.RING
        timeout = round(1000 * (options.timeout_seconds or 0))
        native = jobs.met((cluster.text_of(spec, task_type, task_id), devices, int(ring), timeout, 0,
                       options.bytes_per_pack, jobs.program()))
        self._start(native, devices, f"/job:{task_type}/replica:0/task:{task_id}/device:")
        resolver._leat_strategy = weakref.ref(self)
        is_chief = not task_type or cluster.is_chief(spec, task_type, task_id)
        self._extended.should_checkpoint = self._extended.should_save_summary = is_chief
        jobs.tell_what_ends(self)

    _distributed = staticmethod(variable_class)
    _check_variable = staticmethod(check_variable)
    cluster_resolver = property(lambda self: self._cluster_resolver)

    def _compare_initial(self, name, given, value):
        if self._workers > 1:
            agreement.compare_initial(self, name, given, value)


# ---- the others ----

class CentralStorageStrategy(Strategy):
    """A replica on each of some devices, and one value of each variable for all of them
    (``tf.distribute.experimental.CentralStorageStrategy``).

    `compute_devices`: names such as "CPU:1"; the first CPU without. Assignments inside of replicas combine what these
    give by the variable's aggregation; ValueError where it has none. Values lie in the memory of the host, which all
    devices of leat share, whatever `parameter_device` is.
    """

    def __init__(self, compute_devices=None, parameter_device=None):
        names = ["CPU:0"] if compute_devices is None else [_device(name) for name in compute_devices]
        self._start(_native.Strategy.mirrored(names), names)
        place = _PREFIX + _device(parameter_device or (names[0] if len(names) == 1 else "CPU:0"))
        self._extended.parameter_devices = (place,)

    _shares_variables = True

    def _distributed(self, kind, synchronization):
        return central_class(kind) if self._count > 1 else kind


class TPUStrategy(Strategy):
    """One replica on each TPU of this machine, for which CPUs stand in where the environment's LEAT_TPU_PLATFORM is cpu
    or xla_cpu (``tf.distribute.TPUStrategy``). UnimplementedError where there is neither."""

    def __init__(self, tpu_cluster_resolver=None, experimental_device_assignment=None,
                 experimental_spmd_xla_partitioning=False):
        names = cluster_resolver.tpu_devices("TPUStrategy")
        if experimental_device_assignment is not None or experimental_spmd_xla_partitioning:
            raise UnimplementedError(None, None, "TPUStrategy: devices take no assignment and no partitioning; each "
                                     "has one replica")
        self._resolver = tpu_cluster_resolver or cluster_resolver.TPUClusterResolver()
        self._start(_native.Strategy.mirrored(names), names)

    cluster_resolver = property(lambda self: self._resolver, doc="The resolver that it was given.")
    _runs_python = False
    _distributed = staticmethod(variable_class)
    _check_variable = staticmethod(check_variable)
    _replicates_input = True


class DefaultStrategy(Strategy):
    """What is in force where a program names no strategy: one replica, everything as it is."""

    _wraps = False
    _count = 1

    def __init__(self):
        self._extended = StrategyExtended(self, [_PREFIX + "CPU:0"])

    def scope(self):
        """A block that changes nothing."""
        if trace.strategy() is not None:
            return _Scope(self)
        return _Nothing(self)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls the function."""
        _check_call(fn, args)
        trace._state.default_runs += 1
        try:
            return fn(*args, **(kwargs or {}))
        finally:
            trace._state.default_runs -= 1

    def _reduce(self, operation, value, axis):
        if axis is None:
            return value
        from leat._graph import ops
        value = convert_to_tensor(value)
        if operation is ReduceOp.MEAN and not value.dtype.is_floating:
            value = ops.FUNCTIONS["cast"](value, "float64")
        return ops.FUNCTIONS["reduce_sum" if operation is ReduceOp.SUM else "reduce_mean"](value, axis)

    def experimental_distribute_dataset(self, dataset, options=None):
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """What the function gives."""
        return dataset_fn(datasets.InputContext())

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def explain(self):
        """Nothing: the functions run as they are."""
        return ""


class _Nothing:
    def __init__(self, strategy):
        self._strategy = strategy

    def __enter__(self):
        return self._strategy

    def __exit__(self, *error):
        pass


DEFAULT = DefaultStrategy()
DEFAULT_CONTEXT = ReplicaContext(DEFAULT)
scopes._default.provide(DEFAULT)
scopes._default_context.provide(DEFAULT_CONTEXT)


class _Lasting(tuple):
    """A context without a block that ends it."""


def experimental_set_strategy(strategy):
    """Puts a strategy in force on this thread from now on; None: none (``tf.distribute.experimental_set_strategy``)."""
    contexts = trace._state.contexts
    if any(type(one) is not _Lasting for one in contexts):
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    while contexts:
        entered(contexts[-1][0]).__exit__()
    if strategy is not None and strategy is not DEFAULT:
        entered(strategy).__enter__()
        contexts[-1] = _Lasting(contexts[-1])
