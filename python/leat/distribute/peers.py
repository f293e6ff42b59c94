"""The way to other processes of a cluster: one channel for each, and how their failures come back."""

import os
import threading
import time

from leat import _native, errors
from leat.distribute.messages import packed, unpacked

_CALL_MS = 60_000
_CLASSES = {kind.error_code: kind for kind in vars(errors).values()
            if isinstance(kind, type) and issubclass(kind, errors.OpError) and kind is not errors.OpError}


class LostError(errors.UnavailableError):
    """A task of the cluster is gone, or it has been started again: `task` is its name."""

    def __init__(self, task, text):
        super().__init__(None, None, text)
        self.task = task


def task_name(job, index):
    """ "/job:ps/replica:0/task:1"."""
    return f"/job:{job}/replica:0/task:{index}"


def what_it_is(task):
    """The task in words."""
    kind = {"ps": "parameter server", "worker": "worker"}.get(task.partition("/job:")[2].partition("/")[0], "task")
    return f"{kind} {task}"


def failure(error):
    """What a message says of a failure."""
    code = getattr(error, "error_code", errors.UNKNOWN)
    text = str(error) if isinstance(error, errors.OpError) else f"{type(error).__name__}: {error}"
    return {"code": code, "message": text, "task": getattr(error, "task", None)}


def raised(said):
    """The exception of what a message says of a failure."""
    if not isinstance(said, dict):
        return errors.InternalError(None, None, "a failure that is none")
    text = str(said.get("message"))
    if said.get("task") is not None:
        return LostError(str(said["task"]), text)
    return _CLASSES.get(said.get("code"), errors.UnknownError)(None, None, text)


class Peer:
    """A task of the cluster, as others see it."""

    def __init__(self, name, address):
        self.name, self.address = name, address
        self._channel = None
        self._lock = threading.Lock()

    def _way(self):
        with self._lock:
            if self._channel is None:
                self._channel = _native.CallChannel(self.address)
            return self._channel

    def call(self, method, head, tensors=(), timeout_ms=_CALL_MS):
        """(head, tensors) of the answer. LostError where nobody answers; else what the task failed with."""
        request, way = packed(head, tensors), self._way()
        try:
            answer = way.call(method, request, timeout_ms)
        except (errors.UnavailableError, errors.DeadlineExceededError) as error:
            with self._lock:  # the next call connects anew, at once
                self._channel = None if self._channel is way else self._channel
            raise LostError(self.name, f"{what_it_is(self.name)} at {self.address} does not answer: "
                            f"{error.message}") from None
        head, tensors = unpacked(answer)
        if "failure" in head:
            raise raised(head["failure"])
        return head, tensors


_peers = {}  # (name, address) -> Peer
_lock = threading.Lock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release,
                    after_in_child=lambda: (_peers.clear(), _lock.release()))  # whose threads a child has not


def peer(name, address):
    """The way to a task, which all of the process share."""
    with _lock:
        if (name, address) not in _peers:
            _peers[name, address] = Peer(name, address)
        return _peers[name, address]


def wait_for(peers, head, timeout):
    """What each of the tasks answers when it is greeted. DeadlineExceededError names those who have not in `timeout`
    seconds, FailedPreconditionError one that is another task or of another version."""
    end, answers = time.monotonic() + timeout, {}
    while True:
        for one in peers:
            if one.name not in answers:
                try:
                    answers[one.name] = greet(one, head, 2000)
                except LostError:
                    pass
        missing = [one for one in peers if one.name not in answers]
        if not missing:
            return answers
        if time.monotonic() >= end:
            names = ", ".join(f"{one.name} at {one.address}" for one in missing)
            raise errors.DeadlineExceededError(
                None, None, f"{len(missing)} of {len(peers)} tasks of the cluster did not answer in {timeout:g} "
                f"seconds: {names}; start a tf.distribute.Server for each")
        time.sleep(0.05)


def greet(one, head, timeout_ms):
    """What a task answers when it is greeted: its incarnation."""
    answer, _ = one.call("hello", head, timeout_ms=timeout_ms)
    if answer.get("task") != one.name or answer.get("version") != head["version"]:
        raise errors.FailedPreconditionError(
            None, None, f"at {one.address} is {answer.get('task')} of leat {answer.get('version')}; expected "
            f"{one.name} of leat {head['version']}")
    return str(answer.get("incarnation"))


def begin(one, incarnation, owner):
    """Has a task serve a coordinator alone from now on; what its calls name as the task's incarnation."""
    answer, _ = one.call("begin", {"incarnation": incarnation, "owner": owner})
    return str(answer.get("lease"))
