"""What a task of a cluster keeps and does for a coordinator: variables, functions, iterators.

A parameter server holds values. An update is a function of values and of what the worker has computed; it runs here
under the locks of the variables that it changes, so that none is lost. Each update of a scheduled function has a mark:
where the function runs once more, since its worker was lost, the updates that came through are not made again.

A worker runs functions whose reads and updates are calls of the operation `remote` (remote.py).
"""

import secrets
import threading

from leat import _native, errors
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._graph.ops import FUNCTIONS as F
from leat.data.dataset import Dataset
from leat.distribute import remote
from leat.distribute.messages import field
from leat.distribute.peers import LostError, what_it_is
from leat.distribute.stages import Program


class _Stored:
    """A variable: its value, which is replaced and never written, and the lock of those who replace it."""

    __slots__ = ("value", "lock")

    def __init__(self, value):
        self.value, self.lock = value, threading.Lock()


class Task:
    """The state of one task; its methods are called by the threads of its server, any number at a time."""

    def __init__(self, name):
        self.name = name
        self.incarnation = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._variables = {}  # number -> _Stored, as all below under the lock
        self._functions = {}  # key -> the library's function
        self._iterators = {}
        self._marks = {}  # (coordinator, closure) -> the marks of its updates that were made
        self._floors = {}  # coordinator -> the number below which its closures are over
        self._lease = None  # how calls of the coordinator whose all of this is name the incarnation

    def answer(self, method, head, tensors):
        """(head, tensors) of the answer to a call."""
        if method == "hello":
            return {"task": self.name, "incarnation": self.incarnation, "version": _native.version()}, ()
        handler = _METHODS.get(method)
        if handler is None:
            raise errors.UnimplementedError(None, None, f"no call is called {method!r}")
        with self._lock:
            known = self.incarnation if method == "begin" else self._lease
        if known is None or head.get("incarnation") != known:
            raise LostError(self.name, f"{what_it_is(self.name)} has been started again, or another coordinator has "
                            "taken it, and what it held is gone")
        return handler(self, head, tensors)

    # ---- of a coordinator ----

    def begin(self, head, tensors):
        """A coordinator takes over: what an earlier one left is dropped. Its calls name what this answers."""
        lease = f"{self.incarnation} {field(head, 'owner', str)}"
        with self._lock:
            if self._lease != lease:
                self._lease = lease
                for kept in (self._variables, self._functions, self._iterators, self._marks, self._floors):
                    kept.clear()
        return {"lease": lease}, ()

    def put_function(self, head, tensors):
        """Keeps a function under its key."""
        text = field(head, "text", str)
        made = Program(text) if head.get("stages") else _native.Function.from_json(text)
        with self._lock:
            self._functions[field(head, "key", str)] = made
        return {}, ()

    def _function(self, key):
        with self._lock:
            made = self._functions.get(key)
        if made is None:
            raise errors.NotFoundError(None, None, f"{self.name} has no function {key!r}")
        return made

    # ---- variables ----

    def make(self, head, tensors):
        """A new variable."""
        number, (value,) = field(head, "number", int), tensors
        with self._lock:
            for dropped in head.get("dropped", ()):
                self._variables.pop(dropped, None)
            self._variables[number] = _Stored(value)
        return {}, ()

    def _stored(self, numbers):
        with self._lock:
            found = [self._variables.get(number) for number in numbers]
        if None in found:
            raise errors.NotFoundError(None, None, f"{self.name} has no variable {numbers[found.index(None)]}")
        return found

    def read(self, head, tensors):
        """The values of variables."""
        return {}, [stored.value for stored in self._stored(field(head, "variables", list))]

    def rows(self, head, tensors):
        """Rows of variables, which a tensor for each of them numbers."""
        stored = self._stored(field(head, "variables", list))
        with trace.eagerly():
            return {}, [F["gather"](one.value, indices) for one, indices in zip(stored, tensors, strict=True)]

    def update(self, head, tensors):
        """Makes updates, one after the other: each as a whole, and once for its mark."""
        rest, closure = iter(tensors), None
        if "closure" in head:
            closure = field(head, "session", int), field(head, "closure", int)
            self._raise_floor(closure[0], field(head, "floor", int))
        for change in field(head, "updates", list):
            numbers = field(change, "variables", list)
            inputs = [next(rest) for _ in range(field(change, "inputs", int))]
            mark = None if closure is None else (closure, tuple(field(change, "mark", list)))
            self._update(numbers, field(change, "function", str), inputs, mark)
        return {}, ()

    def _raise_floor(self, session, floor):
        """Closures below a number are over: their marks are dropped."""
        with self._lock:
            if floor > self._floors.get(session, 0):
                self._floors[session] = floor
                self._marks = {closure: marks for closure, marks in self._marks.items()
                               if closure[0] != session or closure[1] >= floor}

    def _update(self, numbers, function, inputs, mark):
        stored = dict(zip(numbers, self._stored(numbers)))
        taken = [stored[number] for number in sorted(stored)]  # in one order, so that no two wait for each other
        for one in taken:
            one.lock.acquire()
        try:
            if mark is None or self._is_new(*mark):
                with trace.eagerly():
                    values = self._computed(function, [stored[number].value for number in numbers], inputs)
                for number, value in zip(numbers, values):
                    if value.dtype is not stored[number].value.dtype:
                        raise errors.InvalidArgumentError(None, None, f"variable {number} cannot be {value.dtype}")
                    stored[number].value = value
                if mark is not None:
                    with self._lock:
                        self._marks.setdefault(mark[0], set()).add(mark[1])
        finally:
            for one in taken:
                one.lock.release()

    def _is_new(self, closure, mark):
        with self._lock:
            if closure[1] < self._floors.get(closure[0], 0):
                raise errors.CancelledError(None, None, "an update of a function that another worker has run")
            return mark not in self._marks.get(closure, ())

    def _computed(self, function, values, inputs):
        if function == "assign":
            return inputs
        if function == "assign_add":
            return [F["add"](value, delta) for value, delta in zip(values, inputs)]
        return self._function(function).call([*values, *inputs])

    # ---- what runs ----

    def make_iterator(self, head, tensors):
        """Begins a run through a dataset, which comes as a plan."""
        made = iter(Dataset.from_json(field(head, "plan", str), remote=True))
        with self._lock:
            self._iterators[field(head, "number", int)] = made
        return {}, ()

    def drop(self, head, tensors):
        """Drops an iterator."""
        with self._lock:
            self._iterators.pop(field(head, "number", int), None)
        return {}, ()

    def next_of(self, number):
        """The tensors of an iterator's next element, None at the end."""
        with self._lock:
            found = self._iterators.get(number)
        if found is None:
            raise errors.NotFoundError(None, None, f"{self.name} has no iterator {number}; iterators of "
                                       "create_per_worker_dataset are given to ClusterCoordinator.schedule")
        return found._native.next()

    def run(self, head, tensors):
        """Runs a function."""
        function = self._function(field(head, "key", str))
        said = {name: field(head, name, int) for name in ("session", "closure", "floor")}
        with remote.running(self, said):
            return {}, function.call(list(map(convert_to_tensor, tensors)))


_METHODS = {"begin": Task.begin, "function": Task.put_function, "make": Task.make, "read": Task.read, "rows": Task.rows,
            "update": Task.update,
            "iterator": Task.make_iterator, "drop": Task.drop, "run": Task.run}
