"""What a coordinator gives: values that are to come, and what is another one on each worker."""

import itertools
import threading
import weakref

from leat import _native, dtypes, nest
from leat._core.element_specs import IteratorSpec
from leat._core.tensor import constant
from leat._graph import trace
from leat._structures.variables import variable_creator_scope
from leat.data.dataset import Dataset
from leat.data.traced import TracedIterator, _nothing
from leat.distribute import remote
from leat.distribute.stages import with_own_seeds

_numbers = itertools.count(1)  # of datasets and iterators on workers


class RemoteValue:
    """The result of a scheduled function, when there is one (``tf.distribute.coordinator.RemoteValue``)."""

    def fetch(self):
        """Waits for it; as numpy arrays. CancelledError where the function was cancelled, or what it failed with."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get(self):
        """The same as tensors."""
        raise NotImplementedError("Must be implemented in subclasses.")


class ScheduledValue(RemoteValue):
    """The result of one call of `schedule`."""

    def __init__(self, check):
        self._check = check  # raises where no worker is there for long
        self._ready = threading.Event()
        self._value = self._error = None

    def _set(self, value, error=None):
        if not self._ready.is_set():
            self._value, self._error = value, error
            self._ready.set()

    def get(self):
        """Waits for it; as tensors."""
        while not self._ready.wait(1):
            self._check()
        if self._error is not None:
            raise self._error
        return self._value

    def fetch(self):
        """Waits for it; as numpy arrays."""
        return nest.map_structure(lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, self.get())


class PerWorkerValues:
    """A value for each worker, which a scheduled function is given its worker's of
    (``tf.distribute.coordinator.PerWorkerValues``). Iterators of `create_per_worker_dataset` are such values."""

    def __init__(self, values):
        for value in values:
            if not isinstance(value, RemoteValue):
                raise AssertionError("`PerWorkerValues` should only take `RemoteValue`s.")
        self._values = tuple(values)


class _WorkerIteratorSpec(IteratorSpec):
    """The type of an iterator that each worker has its own of."""

    __slots__ = ()

    def _take(self, value):
        return [constant(value.number, dtypes.int64)]

    def _put(self, components):
        return _TracedWorkerIterator(next(components), self._element_spec)


class PerWorkerIterator(PerWorkerValues):
    """An iterator on each worker, to be given to `schedule`."""

    _is_leaf_value = True

    def __init__(self, dataset, workers):
        super().__init__(())
        self.number, self.plans, self._dataset = next(_numbers), dataset.plans, dataset
        for worker in workers:
            weakref.finalize(self, worker.dropped.append, self.number).atexit = False

    element_spec = property(lambda self: self._dataset.element_spec)
    _type_spec = property(lambda self: _WorkerIteratorSpec(self.element_spec))

    def __iter__(self):
        return self

    def __next__(self):
        return self.get_next()

    def get_next(self, name=None):
        """NotImplementedError: only a scheduled function takes elements."""
        raise NotImplementedError("Iterating over an `AsyncDistributedIterator` is not supported right now.")


class _TracedWorkerIterator(TracedIterator):
    """Such an iterator in a function that is traced."""

    @property
    def _type_spec(self):
        return _WorkerIteratorSpec(self._element_spec)

    def _ask(self, inputs, spec):
        graph = trace.current_graph()
        graph.has_effects = True
        return remote.add(graph, {"do": "next", "optional": bool(inputs)}, [self._value, *inputs], spec)

    def get_next(self):
        """The next element; the function fails with OutOfRangeError at the end."""
        return nest.assemble(self._element_spec, iter(self._ask([], self._element_spec)))

    def _next_or_nothing(self):
        flag = nest.spec_of_leaf(constant(True))
        return self._ask(_nothing(self._element_spec), (flag, self._element_spec))


class PerWorkerDataset:
    """What `create_per_worker_dataset` gives: `iter` of it is an iterator on each worker."""

    def __init__(self, source, workers):
        self._workers = workers
        made = [_made(source) for _ in workers]
        self.element_spec = made[0].element_spec
        self.plans = [one.to_json() for one in made]
        if not _native.has_seed():
            self.plans = list(map(with_own_seeds, self.plans))

    def __iter__(self):
        if trace.is_tracing():
            raise RuntimeError("__iter__() is not supported inside of tf.function or in graph mode.")
        return PerWorkerIterator(self, self._workers)


def _refuse_variable(next_creator, **kwargs):
    raise ValueError("Creating variables in `dataset_fn` is not allowed.")


def _made(source):
    if callable(source):
        source = getattr(source, "python_function", source)
        with variable_creator_scope(_refuse_variable):
            source = source()
    if not isinstance(source, Dataset):
        raise ValueError("Unexpected dataset type!")
    return source
