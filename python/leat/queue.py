"""``tf.queue``: queues of elements between threads, which may be used in functions that are traced, too.

An element is a list of tensors. Who takes waits until there are enough, who gives until there is room, or until the
queue is closed.
"""

import collections
import random
import threading

import numpy as np

from leat import dtypes
from leat._core.later import public
from leat._core.shapes import TensorShape
from leat._core.tensor import constant, convert_to_tensor
from leat._graph import trace
from leat._graph.creation import py_function
from leat._graph.ops import FUNCTIONS as F
from leat.errors import CancelledError, InvalidArgumentError, OutOfRangeError

__dir__ = public(globals())

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


class QueueBase:
    """What all queues can do (``tf.queue.QueueBase``). Any number of threads may use one."""

    _least_left = 0  # what dequeue leaves while the queue is open

    def __init__(self, dtypes, shapes, names, capacity, name):
        self._dtypes = [_dtype(one) for one in _listed(dtypes)]
        self._shapes = None if shapes is None else [TensorShape(one) for one in _shape_list(shapes)]
        if self._shapes is not None and len(self._shapes) != len(self._dtypes):
            raise InvalidArgumentError(None, None, "Different number of component types.  Types: "
                                       f"{', '.join(one.name for one in self._dtypes)}, Shapes: {self._shapes}")
        self._names = None if names is None else _listed(names)
        if self._names is not None and len(self._names) != len(self._dtypes):
            raise ValueError("List of names must have the same length as the list of dtypes, received "
                             f"len(names)={len(self._names)},len(dtypes)={len(self._dtypes)}")
        self._capacity, self._name = capacity, name
        self._items = collections.deque()  # of lists of tensors; _changed guards it and _closed
        self._changed = threading.Condition()
        self._is_closed = self._cancels = False

    dtypes = property(lambda self: self._dtypes)
    names = property(lambda self: self._names)
    name = property(lambda self: self._name)

    @property
    def shapes(self):
        """The shapes of an element's components; of unknown ones where none were given."""
        return [TensorShape(None)] * len(self._dtypes) if self._shapes is None else self._shapes

    @staticmethod
    def from_list(index, queues):
        """The queue of number `index` among some of the same dtypes."""
        if not queues or not isinstance(queues, list) or not all(isinstance(one, QueueBase) for one in queues):
            raise TypeError("A list of queues expected")
        if any(one.dtypes != queues[0].dtypes for one in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        return queues[int(index)]

    # ---- giving ----

    def enqueue(self, vals, name=None):
        """Adds one element; waits while there is no room. CancelledError where the queue is closed."""
        tensors = self._tensors(vals)
        for tensor, shape in zip(tensors, self.shapes):
            shape.assert_is_compatible_with(tensor.shape)
        self._check_count(tensors, vals)
        self._run(self._put, tensors)

    def enqueue_many(self, vals, name=None):
        """Adds an element for each row of the components."""
        tensors = self._tensors(vals)
        rows = TensorShape(None)
        for tensor, shape in zip(tensors, self.shapes):
            rows = tensor.shape[:1].merge_with(rows) if rows.rank is None else rows.merge_with(tensor.shape[:1])
            shape.assert_is_compatible_with(tensor.shape[1:])
        self._check_count(tensors, vals)

        def put(*parts):
            for row in zip(*map(list, parts)):
                self._put(*row)
        self._run(put, tensors)

    def _tensors(self, vals):
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(vals):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                                 f"{sorted(vals)},Queue: {sorted(self._names)}")
            vals = [vals[key] for key in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        return [convert_to_tensor(one, dtype) for one, dtype in zip(_listed(vals), self._dtypes, strict=False)]

    def _check_count(self, tensors, vals):
        count = len(_listed(list(vals) if isinstance(vals, dict) else vals))
        if len(tensors) != len(self._dtypes) or count != len(tensors):
            raise InvalidArgumentError(None, None, f"Signature mismatch, have {count} components, expected "
                                       f"{len(self._dtypes)}")

    def _put(self, *tensors):
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._has_room())
            if self._is_closed:
                raise CancelledError(None, None, f"{type(self).__name__} '{self._name}' is closed.")
            self._items.append(list(tensors))
            self._changed.notify_all()

    def _has_room(self):
        return self._capacity < 0 or len(self._items) < self._capacity

    # ---- taking ----

    def dequeue(self, name=None):
        """Takes one element; waits until there is one. OutOfRangeError once the queue is closed and has none."""
        found = self._run(lambda: self._take(1)[0], [], self._dtypes)
        return self._element([_shaped(one, shape) for one, shape in zip(found, self.shapes)])

    def dequeue_many(self, n, name=None):
        """Takes `n` elements, whose components are stacked. OutOfRangeError where the closed queue has fewer."""
        return self._many(n, False)

    def dequeue_up_to(self, n, name=None):
        """Takes `n` elements, or as many as a queue that is closed has left."""
        return self._many(n, True)

    def _many(self, n, fewer):
        if self._shapes is None:
            raise InvalidArgumentError(None, None, f"{type(self).__name__}'s DequeueMany and DequeueUpTo require the "
                                       "components to have specified shapes.")

        def take(count):
            rows = self._take(int(count), fewer)
            return [self._stacked(column, i, int(count)) for i, column in enumerate(zip(*rows) if rows else
                                                                                    [()] * len(self._dtypes))]
        found = self._run(take, [convert_to_tensor(n, dtypes.int32)], self._dtypes)
        return self._element([_shaped(one, [None, *shape]) for one, shape in zip(found, self._shapes)])

    def _stacked(self, column, number, count):
        if column:
            return F["stack"](list(column))
        return constant(np.zeros([0, *self._shapes[number]], self._dtypes[number].as_numpy_dtype))

    def _take(self, count, fewer=False):
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or len(self._items) - self._least_left >= count)
            available = len(self._items)
            if self._cancels:
                raise CancelledError(None, None, f"{type(self).__name__} '{self._name}' is closed.")
            if available < count and not (fewer and available):
                raise OutOfRangeError(None, None, f"{type(self).__name__} '{self._name}' is closed and has "
                                      f"insufficient elements (requested {count}, current size {available})")
            out = [self._pop() for _ in range(min(count, available))]
            self._changed.notify_all()
            return out

    def _pop(self):
        return self._items.popleft()

    def _element(self, tensors):
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else tensors

    # ---- the queue itself ----

    def size(self, name=None):
        """How many elements it has, an int32 scalar."""
        return self._run(lambda: [constant(len(self._items))], [], [dtypes.int32])[0]

    def is_closed(self, name=None):
        """Was it closed? A bool scalar."""
        return self._run(lambda: [constant(self._is_closed)], [], [dtypes.bool])[0]

    def close(self, cancel_pending_enqueues=False, name=None):
        """Nothing can be added any more; who waits for room or elements that will not come is told so."""
        def end():
            with self._changed:
                self._is_closed = True
                self._changed.notify_all()
        self._run(end, [])

    @staticmethod
    def _run(function, tensors, wanted=()):
        """Calls it now, or whenever the function that is traced comes here."""
        if trace.is_tracing():
            return py_function(function, tensors, list(wanted))
        return function(*tensors)


def _dtype(one):
    return dtypes.as_dtype(one)


def _shape_list(shapes):
    """One shape stands for itself: that of the only component."""
    if isinstance(shapes, TensorShape) or isinstance(shapes, (list, tuple)) and all(
            one is None or isinstance(one, int) for one in shapes):
        return [shapes]
    return shapes


def _shaped(tensor, shape):
    if not tensor._has_values:
        tensor.set_shape(shape)
    return tensor


class FIFOQueue(QueueBase):
    """The first that came is taken first (``tf.queue.FIFOQueue``)."""

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        super().__init__(dtypes, shapes, names, capacity, name)


class RandomShuffleQueue(QueueBase):
    """Any element is taken, of `min_after_dequeue` more than that at least while it is open
    (``tf.queue.RandomShuffleQueue``). Which one follows from `seed`, but is not TensorFlow's."""

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
                 name="random_shuffle_queue"):
        super().__init__(dtypes, shapes, names, capacity, name)
        self._least_left, self._random = min_after_dequeue, random.Random(seed)

    def _pop(self):
        place = self._random.randrange(len(self._items))
        self._items.rotate(-place)
        found = self._items.popleft()
        self._items.rotate(place)
        return found


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose components may differ in dimensions that are None in `shapes`: `dequeue_many` fills up with
    zeros (``tf.queue.PaddingFIFOQueue``)."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        if len(_listed(dtypes)) != len(_shape_list(shapes)):
            raise ValueError("Shapes must be provided for all components, but received "
                             f"{len(_listed(dtypes))} dtypes and {len(_shape_list(shapes))} shapes.")
        super().__init__(dtypes, shapes, names, capacity, name)

    def _stacked(self, column, number, count):
        if not column:
            return super()._stacked(column, number, count)
        arrays = [one.numpy() for one in column]
        wanted = np.max([array.shape for array in arrays], axis=0) if arrays[0].ndim else ()
        empty = b"" if self._dtypes[number] is dtypes.string else 0
        out = np.full([len(arrays), *wanted], empty, arrays[0].dtype)
        for row, array in zip(out, arrays):
            row[tuple(map(slice, array.shape))] = array
        return constant(out, self._dtypes[number])


class PriorityQueue(QueueBase):
    """The element of the lowest priority is taken first, an int64 that is its first component
    (``tf.queue.PriorityQueue``); among equals the one that came first."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        kinds = [dtypes.int64, *_listed(types)]
        given = None if shapes is None else [[], *_shape_list(shapes)]
        super().__init__(kinds, given, names, capacity, name)

    def _pop(self):
        place = min(range(len(self._items)), key=lambda i: int(self._items[i][0]))
        found = self._items[place]
        del self._items[place]
        return found
