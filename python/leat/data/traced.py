"""Iterators and optionals in functions that are traced: their values come when the function runs.

An iterator is a number there, under which the run finds it. Taking an element is a call of the library's that has
effects, so elements come in the order of the program; no thread holds the GIL while it waits for one.
"""

import itertools
import threading
import weakref

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._core.element_specs import DatasetSpec, IteratorSpec
from leat._core.tensor import constant, convert_to_tensor
from leat._graph import trace
from leat.data.optional import Optional
from leat.errors import OutOfRangeError

_numbers = itertools.count(1)
_live = weakref.WeakValueDictionary()  # number -> Iterator
_HANDLE = specs.TensorSpec([], dtypes.int64)


def handle_of(iterator):
    """The number of an iterator, as a tensor."""
    if iterator._number is None:
        iterator._number = constant(next(_numbers), dtypes.int64)
        _live[int(iterator._number)] = iterator
    return iterator._number


class TracedIterator:
    """An iterator (``tf.data.Iterator``) in a function that is traced."""

    _is_leaf_value = True

    def __init__(self, handle, element_spec, keep=None):
        self._value = handle
        self._element_spec = element_spec
        self._keep = keep  # the iterator itself, where it is known: what is traced holds it

    element_spec = property(lambda self: self._element_spec)
    _type_spec = property(lambda self: IteratorSpec(self._element_spec))

    def __iter__(self):
        return self

    def _inside(self):
        return self

    def __next__(self):
        raise trace.NotTraceable("Python's own loop over the elements of an iterator; their number is not known yet")

    def get_next(self):
        """The next element; the function fails with OutOfRangeError at the end."""
        keep = self._keep

        def run(tensors):
            found = (keep or _live[int(tensors[0])])._native.next()
            if found is None:
                raise OutOfRangeError(None, None, "End of sequence")
            return found
        return nest.assemble(self._element_spec,
                             iter(trace.called(run, [self._value], (_HANDLE,), self._element_spec)))

    def get_next_as_optional(self):
        """The next element as an Optional, empty at the end."""
        has_value, *tensors = self._next_or_nothing()
        return Optional(nest.assemble(self._element_spec, iter(tensors)), self._element_spec, has_value)

    def _next_or_nothing(self):
        """Whether there is a next element, and its tensors or others of their types."""
        keep, spec = self._keep, (specs.TensorSpec([], dtypes.bool), self._element_spec)
        nothing = [constant(False), *_nothing(self._element_spec)]

        def run(tensors):
            found = (keep or _live[int(tensors[0])])._native.next()
            return nothing if found is None else [constant(True), *found]
        return trace.called(run, [self._value], (_HANDLE,), spec)

    def _rest(self):
        """The elements that are left, as a dataset of the function."""
        def take(handle):
            has_value, *tensors = TracedIterator(handle, self._element_spec, self._keep)._next_or_nothing()
            return has_value, nest.assemble(self._element_spec, iter(tensors))
        handles = DatasetSpec.value_class.value.from_tensors(self._value).repeat()
        return handles.map(take).take_while(lambda has_value, _: has_value).map(lambda _, element: element)


def _nothing(spec):
    """Tensors in the place of an element that there is not: empty where the shape allows that."""
    leaves = nest.leaves(spec)
    if any(type(leaf) is not specs.TensorSpec for leaf in leaves):
        raise trace.NotTraceable("an optional element that is not made of plain tensors")
    return [convert_to_tensor(np.full([d or 0 for d in leaf.shape] if leaf.shape.rank is not None else [],
                                      b"" if leaf.dtype is dtypes.string else 0, leaf.dtype.as_numpy_dtype))
            for leaf in leaves]


class _Started(threading.local):
    """The iterator that a function has started last on a thread: it lives until the next one is."""

    iterator = None


def start(dataset):
    """An iterator that each run of the function makes anew (``iter(dataset)`` in a function)."""
    started = _Started()
    spec = dataset.element_spec

    def run(tensors):
        started.iterator = iter(nest.assemble(DatasetSpec(spec), iter(tensors)))
        return [handle_of(started.iterator)]
    handle, = trace.called(run, [dataset._as_value()], (DatasetSpec(spec),), _HANDLE)
    return TracedIterator(handle, spec)


def inside(iterator):
    """What stands for an iterator from outside in a function that is traced."""
    return TracedIterator(handle_of(iterator), iterator.element_spec, iterator)
