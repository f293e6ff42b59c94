"""Scheduled calls on their way to workers: the queue of closures, and the thread of the coordinator for each worker.

A closure whose worker is lost goes back into the queue; its updates that came through are known to the parameter
servers by its number (task.py). Closures below the lowest number that is under way are over. An error is raised by the
next call of `put`, `wait` or `done`, once nothing runs any more; what waits is cancelled then.
"""

import collections
import itertools
import threading
import time

from leat import _native
from leat.distribute import peers
from leat.distribute.keeper import OWNER, connect_seconds
from leat.errors import CancelledError, OpError, UnavailableError

_MOST_WAITING = 256 * 1024
_LONGEST_PAUSE = 1.0  # seconds between two tries to reach a worker
_numbers, _sessions = itertools.count(1), itertools.count(1)


class Closure:
    """One call: the function as text under its key, its inputs (a list of tensors for each worker, or one for all), the
    iterators that it uses, and what its result is set on."""

    def __init__(self, function, inputs, iterators, value):
        self.number = None  # the queue's
        self.function, self.inputs, self.iterators = function, inputs, iterators
        self._value = value

    def finish(self, tensors):
        """It has run."""
        self._value._set(self.function.put_together(tensors))

    def fail(self, error):
        """It has failed, or is not run."""
        self._value._set(None, error)


class Queue:
    """The closures that wait and those under way. Any thread."""

    def __init__(self, check):
        self.session = next(_sessions)
        self._check = check  # raises where no worker is there for long
        self._changed = threading.Condition()
        self._putting = threading.Lock()  # nothing is put while somebody waits for the end
        self._waiting = collections.deque()
        self._under_way = set()  # numbers of those that wait or run
        self._order = collections.deque()  # their numbers as they came, and some that are over
        self._running = 0
        self._error = None
        self._stopped = False

    # ---- the coordinator's side ----

    def put(self, closure):
        """Adds a closure; raises the error of an earlier one."""
        with self._putting, self._changed:
            self._until(lambda: len(self._waiting) < _MOST_WAITING)
            closure.number = next(_numbers)  # in the order of the queue, whoever schedules
            self._waiting.append(closure)
            self._under_way.add(closure.number)
            self._order.append(closure.number)
            self._raise_error()
            self._changed.notify_all()

    def wait(self):
        """Returns when nothing waits or runs; raises the error of a closure."""
        with self._putting, self._changed:
            self._until(lambda: self._error is not None or not self._waiting and not self._running)
            self._raise_error()

    def done(self):
        """Does nothing wait or run? Raises the error of a closure."""
        with self._changed:
            self._raise_error()
            return not self._waiting and not self._running

    def stop(self):
        """Workers get no more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _until(self, holds):
        while not holds():
            if not self._changed.wait(1):
                self._check()

    def _raise_error(self):
        if self._error is None:
            return
        self._until(lambda: not self._running)
        while self._waiting:
            self._cancel(self._waiting.popleft())
        error, self._error = self._error, None
        try:
            raise error
        finally:
            del error  # a circle with the traceback

    def _cancel(self, closure):
        self._under_way.discard(closure.number)
        closure.fail(CancelledError(None, None, "The corresponding function is cancelled. Please reschedule the "
                                    "function."))

    # ---- the workers' side ----

    def take(self):
        """The next closure; None once it is stopped."""
        with self._changed:
            while not self._stopped and not self._waiting:
                self._changed.wait()
            if self._stopped:
                return None
            self._running += 1
            return self._waiting.popleft()

    def floor(self):
        """The lowest number under way."""
        with self._changed:
            while self._order and self._order[0] not in self._under_way:
                self._order.popleft()
            return self._order[0] if self._order else 0

    def finished(self, closure):
        """It has run."""
        with self._changed:
            self._under_way.discard(closure.number)
            self._running -= 1
            self._changed.notify_all()

    def failed(self, closure, error):
        """It has failed."""
        with self._changed:
            self._under_way.discard(closure.number)
            self._running -= 1
            self._error = self._error or error
            self._changed.notify_all()

    def back(self, closure):
        """It has not run: another worker is to."""
        with self._changed:
            if self._error is not None:
                self._cancel(closure)
            else:
                self._waiting.appendleft(closure)
            self._running -= 1
            self._changed.notify_all()


class Worker:
    """A worker as the coordinator has it: what it was given in its present life, and whether it answers."""

    def __init__(self, number, peer, queue):
        self.number, self.peer = number, peer
        self.dropped = collections.deque()  # numbers of iterators that nobody has any more
        self.lost_since = None
        self._queue, self._incarnation = queue, None
        self._functions, self._iterators = set(), set()
        self._stopped = threading.Event()
        threading.Thread(target=self._serve, name=f"leat-worker-{number}", daemon=True).start()

    def stop(self):
        """Ends its thread."""
        self._stopped.set()

    def _serve(self):
        tries = itertools.count()
        while not self._stopped.is_set():
            if self._incarnation is None and not self._begin():
                self._stopped.wait(min(0.02 * 2 ** min(next(tries), 10), _LONGEST_PAUSE))
                continue
            tries = itertools.count()
            closure = self._queue.take()
            if closure is None:
                return
            self._run(closure)
            del closure

    def _begin(self):
        """Meets the worker, which may have been started again; does it answer?"""
        try:
            incarnation = peers.greet(self.peer, {"version": _native.version()}, 2000)
            incarnation = peers.begin(self.peer, incarnation, OWNER)
        except OpError:
            self.lost_since = self.lost_since or time.monotonic()
            return False
        self._functions, self._iterators = set(), set()
        self._incarnation, self.lost_since = incarnation, None
        return True

    def _call(self, method, head, tensors=(), timeout_ms=60_000):
        return self.peer.call(method, {"incarnation": self._incarnation, **head}, tensors, timeout_ms)[1]

    def _run(self, closure):
        try:
            tensors = self._answer(closure)
            closure.finish(tensors)
        except peers.LostError as error:
            if error.task == self.peer.name:
                self._incarnation, self.lost_since = None, self.lost_since or time.monotonic()
                self._queue.back(closure)
            else:
                self._fail(closure, UnavailableError(None, None, error.message))
        except BaseException as error:  # the coordinator's thread raises it
            self._fail(closure, error)
        else:
            self._queue.finished(closure)

    def _fail(self, closure, error):
        closure.fail(error)
        self._queue.failed(closure, error)

    def _answer(self, closure):
        function = closure.function
        while self.dropped:
            number = self.dropped.popleft()
            if number in self._iterators:
                self._call("drop", {"number": number})
        if function.key not in self._functions:
            self._call("function", {"key": function.key, "text": function.text, "stages": True})
            self._functions.add(function.key)
        for iterator in closure.iterators:
            if iterator.number not in self._iterators:
                self._call("iterator", {"number": iterator.number, "plan": iterator.plans[self.number]})
                self._iterators.add(iterator.number)
        head = {"key": function.key, "session": self._queue.session, "closure": closure.number,
                "floor": self._queue.floor()}
        return self._call("run", head, closure.inputs, -1)


def check_any(workers):
    """UnavailableError where no worker has answered for as long as a cluster is waited for."""
    since = [worker.lost_since for worker in workers]
    if None not in since and time.monotonic() - max(since) > connect_seconds():
        names = ", ".join(f"{worker.peer.name} at {worker.peer.address}" for worker in workers)
        raise UnavailableError(None, None, f"none of the workers answers: {names}")
