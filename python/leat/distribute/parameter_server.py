"""``tf.distribute.ParameterServerStrategy``: variables on parameter servers, functions on workers, one coordinator.

Workers and servers are processes that run `tf.distribute.Server(...).join()`. The coordinator, which makes the
strategy, traces functions and has workers run them (coordinator.py); what they do to variables is in keeper.py.
"""

from leat._core.shapes import TensorShape
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._graph.traced import Function
from leat._structures import variables as _variables
from leat.distribute import context, dataset as datasets, keeper, peers, remote, scope as scopes, sharded
from leat.distribute.coordinator import ClusterCoordinator
from leat.distribute.scope import entered, require_cross_replica
from leat.distribute.strategy import DefaultStrategy, Strategy, StrategyExtended, _check_call

_JOBS = ("chief", "worker", "evaluator", "ps")


def _check_cluster(resolver):
    spec = resolver.cluster_spec()
    if not spec:
        raise ValueError("Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`.")
    job, index, jobs = resolver.task_type, resolver.task_id, spec.as_dict()
    if job and job not in _JOBS:
        raise ValueError(f"Unrecognized task_type: {job!r}, valid task types are: " + ", ".join(map(repr, _JOBS)))
    if job and job not in jobs and job != "evaluator":
        raise ValueError(f"`task_type` {job!r} not found in cluster_spec.")
    for one in ("chief", "evaluator"):
        if len(jobs.get(one, ())) > 1:
            raise ValueError(f"There must be at most one {one!r} job.")
    if job in jobs and index is not None and index >= len(jobs[job]):
        raise ValueError(f"The `task_id` {index} exceeds the maximum id of {job}.")
    if not jobs.get("ps"):
        raise ValueError("There must be at least one ps.")
    if not jobs.get("worker"):
        raise ValueError("There must be at least one worker.")


class _Extended(StrategyExtended):
    """Variables lie where the servers are, and go beside others where that is asked for."""

    def colocate_vars_with(self, colocate_with_variable):
        """A block in which variables are made on the server of another one."""
        super().colocate_vars_with(colocate_with_variable)
        return _variables.beside(colocate_with_variable)


class ParameterServerStrategy(Strategy):
    """Variables on parameter servers, which workers read and update as they go (``ParameterServerStrategy``).

    This process is the coordinator of the cluster that `cluster_resolver` says: jobs "worker" and "ps", whose processes
    run ``tf.distribute.Server(...).join()``. Making the strategy waits for all of them, LEAT_CONNECT_TIMEOUT_S seconds
    at most (five minutes): DeadlineExceededError names those who are missing. Variables that are made under its scope
    lie on the servers in turn; with a `variable_partitioner` (``tf.distribute.experimental.partitioners``) large ones
    are cut into shards. Functions run on workers by ``tf.distribute.coordinator.ClusterCoordinator``.
    """

    _wraps = False
    _count = 1
    _cluster_coordinator = None

    def __init__(self, cluster_resolver, variable_partitioner=None):
        _check_cluster(cluster_resolver)
        self._cluster_resolver, self._partitioner = cluster_resolver, variable_partitioner
        self._keeper, self._worker_peers = keeper.connect(cluster_resolver.cluster_spec())
        self._extended = _Extended(self, ["/device:CPU:0"])
        self._extended.parameter_devices = tuple(_device_of(one) for one in self._keeper.peers)

    cluster_resolver = property(lambda self: self._cluster_resolver)
    _distributed = staticmethod(keeper.ServerVariable._distributed)

    # ---- variables ----

    def _make_native(self, variable, value):
        task = self._keeper.next_task()
        variable._device = _device_of(self._keeper.peers[task])
        return self._keeper.make(task, value)

    def _make_variable(self, make, arguments):
        """A variable, or where the partitioner says so its shards."""
        initial, dtype = arguments["initial_value"], arguments["dtype"]
        if self._partitioner is None or _variables.is_beside() or initial is None:
            return make(**arguments)
        with trace.eagerly():
            initial = convert_to_tensor(initial() if callable(initial) else initial, dtype)
        arguments["initial_value"] = initial
        shape = TensorShape(initial.shape)
        if not shape.rank:
            return make(**arguments)
        parts = self._partitioner(shape=shape, dtype=initial.dtype)
        if not parts or not parts[0] or any(part != 1 for part in parts[1:]):
            raise ValueError("variable_partitioner must return a list/tuple whose elements are 1 besides the first "
                             f"element (non-zero), got: {parts!r}")
        count = min(parts[0], shape[0])
        if count <= 1:
            return make(**arguments)
        starts, name = sharded.starts_of(shape[0], count), arguments["name"]
        shards = []
        for place, (start, end) in enumerate(zip(starts, starts[1:])):
            own = {"initial_value": initial[start:end], "shape": None, "name": name and f"{name}/part_{place}"}
            shards.append(make(**{**arguments, **own}))
        return sharded.ShardedVariable(shards)

    # ---- what functions call ----

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls ``fn(*args, **kwargs)`` as the only replica, on the worker whose function calls it."""
        require_cross_replica()
        scopes.check_mixing(self)
        _check_call(fn, args)
        if trace.is_tracing() and not hasattr(fn, "python_function"):
            fn = trace.converted(fn)
        with entered(self, context.ReplicaContext(self)):
            return fn(*args, **(kwargs or {}))

    def _show(self, text, stream):
        """What tf.print does in a function that is traced."""
        remote.add_print(trace.current_graph(), text, stream)

    _reduce = DefaultStrategy._reduce

    def _gather(self, value, axis):
        return value if hasattr(value, "_type_spec") else convert_to_tensor(value)

    def experimental_distribute_dataset(self, dataset, options=None):
        """The dataset itself: a worker has one replica, and reads all of it."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """What ``dataset_fn(InputContext)`` gives, for a worker."""
        return dataset_fn(datasets.InputContext())

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    # ---- what Keras' fit calls ----

    def _coordinator(self):
        return ClusterCoordinator(self)

    def _scheduled(self, step, waits):
        """A function of one batch that has a worker run a step, and gives its RemoteValue, or `waits` for its value."""
        function = Function(lambda data: self.run(step, (data,)), autograph=False)

        def run(data):
            found = self._coordinator().schedule(function, (data,))
            return found.get() if waits else found
        return run

    def _joined(self, value):
        """The value of the last step that was scheduled, when all have run."""
        self._coordinator().join()
        return value.get()

    def explain(self):
        """Which tasks there are."""
        tasks = [f"{peers.what_it_is(one.name)} at {one.address}" for one in (*self._keeper.peers, *self._worker_peers)]
        return "\n".join(tasks)


def _device_of(one):
    return f"{one.name}/device:CPU:0"
