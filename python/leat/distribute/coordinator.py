"""``tf.distribute.coordinator``: functions that workers run when they are free, one after the other.

    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    iterator = iter(coordinator.create_per_worker_dataset(dataset_fn))
    for _ in range(steps):
        coordinator.schedule(train_step, args=(iterator,))
    coordinator.join()
"""

import hashlib
import weakref

from leat import nest
from leat._graph import trace
from leat._graph.arguments import _leaf, _Static
from leat._graph.traced import ConcreteFunction, Function
from leat.distribute import stages
from leat.distribute.closures import Closure, Queue, Worker, check_any
from leat.distribute.coordinator_values import (PerWorkerDataset, PerWorkerIterator, PerWorkerValues, RemoteValue,
                                                ScheduledValue)
from leat.errors import UnimplementedError


class _Sent:
    """A traced function as workers get it."""

    def __init__(self, made, function):
        self._made = made
        try:
            self.text = stages.text_of(made.native)
        except UnimplementedError as error:
            name = getattr(function, "__name__", "the function")
            raise UnimplementedError(None, None, f"{name} cannot run on a worker: {error.message}; create variables "
                                     "under strategy.scope(), and do without tf.py_function and tf.numpy_function"
                                     ) from None
        self.key = hashlib.sha256(self.text.encode()).hexdigest()

    def put_together(self, tensors):
        """The function's result, of the tensors that a run gave."""
        return self._made.put_together(tensors)


def _stop(queue, workers):
    queue.stop()
    for worker in workers:
        worker.stop()


class ClusterCoordinator:
    """Runs functions on the workers of a ParameterServerStrategy (``tf.distribute.coordinator.ClusterCoordinator``).

    There is one for each strategy. A function whose worker is lost runs on another one, or on that one when it has been
    started again, with iterators that begin anew; what it had updated on parameter servers is not updated twice.
    Where a parameter server is lost, `schedule`, `join` and `done` raise UnavailableError, which names it: start it,
    and this program, again, and go on from a checkpoint.
    """

    def __new__(cls, strategy):
        if not hasattr(strategy, "_worker_peers"):
            raise ValueError("Only `tf.distribute.experimental.ParameterServerStrategy` is supported to work with "
                             "`tf.distribute.experimental.coordinator.ClusterCoordinator` currently.")
        if strategy._cluster_coordinator is None:
            strategy._cluster_coordinator = made = super().__new__(cls)
            made._start(strategy)
        return strategy._cluster_coordinator

    def __init__(self, strategy):
        """Once for a strategy, of which `__new__` gives what there is."""

    def _start(self, strategy):
        workers = []

        def check():
            check_any(workers)
        self._strategy, self._check = strategy, check
        self._queue = Queue(check)
        workers += [Worker(number, peer, self._queue) for number, peer in enumerate(strategy._worker_peers)]
        self._workers = workers
        self._sent = {}  # id of a trace -> (the trace, what workers get)
        weakref.finalize(self, _stop, self._queue, workers)

    @property
    def strategy(self):
        """The strategy."""
        return self._strategy

    def schedule(self, fn, args=None, kwargs=None):
        """Has a worker run ``fn(*args, **kwargs)``, a ``tf.function``; returns a RemoteValue at once.

        Raises the error of an earlier function, once nothing runs any more. Arguments that are PerWorkerValues are
        those of the worker that runs it.
        """
        if not isinstance(fn, (Function, ConcreteFunction)):
            raise TypeError("`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts a "
                            "`tf.function` or a concrete function.")
        for leaf in nest.flatten((tuple(args or ()), dict(kwargs or {}))):
            if isinstance(leaf, RemoteValue):
                raise ValueError("`tf.distribute.experimental.coordinator.RemoteValue` used as an input to scheduled "
                                 "function is not yet supported.")
            if isinstance(leaf, PerWorkerValues) and not isinstance(leaf, PerWorkerIterator):
                raise UnimplementedError(None, None, "PerWorkerValues as an argument are the iterators of "
                                         "create_per_worker_dataset")
        with self._strategy.scope():
            made, flat = _traced(fn, tuple(args or ()), dict(kwargs or {}))
        inputs = [tensor for leaf in flat if not isinstance(leaf, _Static)
                  for tensor in nest.spec_of_leaf(leaf)._take(leaf)]
        if id(made) not in self._sent:
            self._sent[id(made)] = made, _Sent(made, getattr(fn, "python_function", fn))
        value = ScheduledValue(self._check)
        iterators = [leaf for leaf in flat if isinstance(leaf, PerWorkerIterator)]
        self._queue.put(Closure(self._sent[id(made)][1], inputs, iterators, value))
        return value

    def join(self):
        """Waits until all functions have run; raises the error of one."""
        self._queue.wait()

    def done(self):
        """Have all functions run? Raises the error of one."""
        return self._queue.done()

    def create_per_worker_dataset(self, dataset_fn):
        """A dataset for each worker: `dataset_fn`, called once for each, or the same one. ``iter`` of it is to be given
        to `schedule`; its functions have to be such that can be sent."""
        return PerWorkerDataset(dataset_fn, self._workers)

    def fetch(self, val):
        """The structure with results, as numpy arrays, in the place of RemoteValues, which are waited for."""
        return nest.map_structure(lambda leaf: leaf.fetch() if isinstance(leaf, RemoteValue) else leaf, val)


def _traced(fn, args, kwargs):
    """(the trace for these arguments, their leaves)."""
    if isinstance(fn, ConcreteFunction):
        args, kwargs = fn._bound(args, kwargs)
        return fn._made, [_leaf(leaf) for leaf in nest.flatten((args, kwargs))]
    args, kwargs = fn._canonical(args, kwargs)
    flat = [_leaf(leaf) for leaf in nest.flatten((args, kwargs))]
    try:
        return fn._trace_for((args, kwargs), flat), flat
    except trace.NotTraceable as error:
        raise UnimplementedError(None, None, f"{fn.name} cannot run on a worker, since it cannot be traced: "
                                 f"{error}") from None


__all__ = ["ClusterCoordinator", "PerWorkerValues", "RemoteValue"]
