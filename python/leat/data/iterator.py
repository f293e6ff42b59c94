"""Iterators: ``iter(dataset)`` and ``dataset.as_numpy_iterator()``."""

import operator

from leat import _native, dtypes, nest
from leat._core import specs
from leat._core.element_specs import IteratorSpec
from leat._core.tensor import Tensor, _to_numpy, convert_to_tensor
from leat._graph import trace
from leat._graph.ops import FUNCTIONS
from leat.errors import OutOfRangeError

_MOST_ROWS = 1024
_num_threads = 0  # of each iterator's pool; 0: one for each core (leat.config.threading)


def _open(dataset):
    return _native.Iterator.open(dataset._plan("iterating"), (_num_threads, 0, 0, False, False))


class Iterator:
    """One run through a dataset (``tf.data.Iterator``). One thread at a time may use it."""

    _is_leaf_value = True
    _closed = False
    _number = None  # under which functions that are traced know it

    def __init__(self, dataset):
        self._dataset = dataset
        self._native = _open(dataset)
        self._assemble = nest.assembler(dataset.element_spec)

    @property
    def element_spec(self):
        """The structure of TypeSpecs of the elements."""
        return self._dataset.element_spec

    @property
    def _type_spec(self):
        return IteratorSpec(self.element_spec)

    def __iter__(self):
        return self

    def __next__(self):
        if trace.is_tracing():
            return next(self._inside())
        tensors = self._take()
        if tensors is None:
            raise StopIteration
        return self._assemble(tensors)

    def _inside(self):
        """What stands for it in the function that is traced."""
        from leat.data.traced import inside
        return inside(self)

    def _take(self):
        """The tensors of the next element, None at the end."""
        return self._native.next()

    next = __next__

    def get_next(self):
        """The next element; OutOfRangeError at the end."""
        if trace.is_tracing():
            return self._inside().get_next()
        tensors = self._take()
        if tensors is None:
            raise OutOfRangeError(None, None, "End of sequence")
        return self._assemble(tensors)

    def get_next_as_optional(self):
        """The next element as an Optional, empty at the end."""
        from leat.data.optional import Optional
        if trace.is_tracing():
            return self._inside().get_next_as_optional()
        tensors = self._take()
        if tensors is None:
            return Optional.empty(self.element_spec)
        return Optional.from_value(self._assemble(tensors))

    def save(self, mode="auto", replay_limit=0):
        """The state as bytes, from which `restore` continues (leat's; TensorFlow has Checkpoint)."""
        return self._native.save(("auto", "positions", "data").index(mode), replay_limit)[0]

    def restore(self, state):
        """Continues where `save` was called, whatever this or other iterators of the dataset gave since.

        A state that is refused leaves the iterator where it was.
        """
        if not self._closed:
            self._native.restore(state)
            return
        fresh = _open(self._dataset)
        fresh.restore(state)
        self._native, self._closed = fresh, False

    def _checkpoint_save(self):
        return self.save()

    def _checkpoint_restore(self, state):
        self.restore(state)

    def explain(self):
        """What each operator did so far: an Explanation, which is text and in notebooks a drawing."""
        from leat.data.views import Explanation
        return Explanation(self._native.explain(), self._native.metrics())

    def metrics(self):
        """The same in Prometheus' text format."""
        return self._native.metrics()

    def cancel(self):
        """Ends a call that waits, from another thread."""
        self._native.cancel()

    def close(self):
        """Ends the run and its threads; the end of its life does so too."""
        self._native.close()
        self._closed = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class NumpyIterator:
    """Elements as numpy values (``tf.data.NumpyIterator``)."""

    def __init__(self, dataset):
        if trace.is_tracing():
            raise trace.NotTraceable("as_numpy_iterator() inside of a function that is traced")
        for leaf in nest.leaves(dataset.element_spec):
            if not isinstance(leaf, (specs.TensorSpec, specs.RaggedTensorSpec, specs.SparseTensorSpec,
                                     specs.NoneTensorSpec)):
                raise TypeError("`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce "
                                f"values of type {leaf.value_type}")
        self._dataset, self._native = dataset, _open(dataset)
        self._start(())

    def _start(self, left):
        """Values that were taken from the library already, then what it gives."""
        self._taken = iter(left)
        self._values = self._rows() if _is_plain(self._dataset.element_spec) else _elements(
            self._native, self._dataset.element_spec)

    def _rows(self):
        """Scalars: many at a time out of the library, one at a time to the user."""
        yield from self._taken
        while (found := self._native.rows(_MOST_ROWS)) is not None:
            self._block = _to_numpy(found[1][0])
            self._taken = iter(self._block)
            yield from self._taken

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._values)

    next = __next__

    @property
    def element_spec(self):
        """The structure of TypeSpecs of the elements."""
        return self._dataset.element_spec

    def save(self):
        """The state as bytes, from which `restore` continues."""
        count = operator.length_hint(self._taken)
        left = b"" if not count else FUNCTIONS["io.serialize_tensor"](convert_to_tensor(self._block[-count:])).numpy()
        return len(left).to_bytes(8, "little") + left + self._native.save(0, 0)[0]

    def restore(self, state):
        """Continues where `save` was called."""
        size = 8 + int.from_bytes(state[:8], "little")
        left = ()
        if size > 8:
            left = self._block = FUNCTIONS["io.parse_tensor"](state[8:size], self.element_spec.dtype).numpy()
        self._native.restore(state[size:])
        self._start(left)

    def _checkpoint_save(self):
        return self.save()

    def _checkpoint_restore(self, state):
        self.restore(state)


def _is_plain(spec):
    return type(spec) is specs.TensorSpec and spec.shape.rank == 0 and spec.dtype not in (
        dtypes.variant, dtypes.bfloat16)


def _elements(native, spec):
    assemble = nest.assembler(spec)
    plain = type(spec) is specs.TensorSpec and spec.dtype is not dtypes.variant
    flat = type(spec) is tuple and all(type(leaf) is specs.TensorSpec and leaf.dtype is not dtypes.variant
                                       for leaf in spec)
    while (tensors := native.next()) is not None:
        if plain:
            yield _to_numpy(tensors[0])
        elif flat:
            yield tuple(map(_to_numpy, tensors))
        else:
            yield nest.map_structure(_numpy_leaf, assemble(tensors))


def _numpy_leaf(value):
    if isinstance(value, Tensor):
        return _to_numpy(value)
    if value is None:
        return None
    if hasattr(value, "to_list"):
        return value.numpy()
    from leat.sparse import to_dense
    return _to_numpy(to_dense(value))
