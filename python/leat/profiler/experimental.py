"""``tf.profiler.experimental``: spans of what the library's threads do, and of a program's own steps, in a file for
Perfetto, chrome://tracing and TensorBoard's trace viewer.

    with tf.profiler.experimental.Profile("logs"):
        for step in range(100):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                train_step(next(iterator))

The file is ``logs/plugins/profile/DATE/HOST.trace.json.gz``. There is no server to be asked for a profile.
"""

import collections
import gzip
import json
import os
import socket
import tempfile
import threading
import time

from leat import _native
from leat._core.paths import anywhere
from leat._files import places
from leat._files.replacing import replace
from leat.errors import AlreadyExistsError, UnavailableError

__all__ = ["Profile", "ProfilerOptions", "Trace", "start", "stop"]

_MOST_SPANS = 1_000_000


class ProfilerOptions(collections.namedtuple("ProfilerOptions", ["host_tracer_level", "python_tracer_level",
                                                                 "device_tracer_level", "delay_ms"])):
    """What TensorFlow's profiler records (``tf.profiler.experimental.ProfilerOptions``); here all is recorded."""

    __slots__ = ()

    def __new__(cls, host_tracer_level=2, python_tracer_level=0, device_tracer_level=1, delay_ms=None):
        return super().__new__(cls, host_tracer_level, python_tracer_level, device_tracer_level, delay_ms)


class _Profile:
    """What is recorded since `start`: the folder, the moment, and the program's own spans."""

    def __init__(self, logdir):
        self.folder, self.begin, self.spans, self.lock = anywhere(logdir), time.monotonic_ns(), [], threading.Lock()

    def add(self, name, begin, end, details):
        """Notes a span of the calling thread."""
        span = {"ph": "X", "name": name, "cat": "program", "pid": os.getpid(), "tid": threading.get_native_id(),
                "ts": begin / 1000, "dur": (end - begin) / 1000}
        if details:
            span["args"] = {key: str(value) for key, value in details.items()}
        with self.lock:
            if len(self.spans) < _MOST_SPANS:
                self.spans.append(span)

    def write(self):
        """Writes the file; what was recorded before `start` is left out."""
        place = os.path.join(self.folder, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
        places.make_folders(place)
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "trace.json")
            _native.trace_write(path)
            with open(path) as file:
                content = json.load(file)
        content["traceEvents"] = [event for event in content["traceEvents"]
                                  if event.get("ts", self.begin) * (1000 if "ts" in event else 1) >= self.begin]
        content["traceEvents"] += self.spans
        packed = gzip.compress(json.dumps(content).encode())
        replace(os.path.join(place, f"{socket.gethostname()}.trace.json.gz"), packed)


_lock = threading.Lock()
_running = [None]


def start(logdir, options=None):
    """Begins to record (``tf.profiler.experimental.start``). AlreadyExistsError where that goes on already."""
    with _lock:
        if _running[0] is not None:
            raise AlreadyExistsError(None, None, "Another profiler is running.")
        _running[0] = _Profile(logdir)
        _native.trace(True)


def stop(save=True):
    """Records no more, and writes what was recorded (``tf.profiler.experimental.stop``). UnavailableError where
    nothing is recorded."""
    with _lock:
        profile, _running[0] = _running[0], None
        if profile is None:
            raise UnavailableError(None, None, "Cannot export profiling results. No profiler is running.")
        _native.trace(False)
    if save:
        profile.write()


class Profile:
    """A block that is recorded (``tf.profiler.experimental.Profile``)."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, kind, value, traceback):
        stop()


class Trace:
    """A block that is a span of its own where something is recorded (``tf.profiler.experimental.Trace``).
    `kwargs`: what is noted with it, such as `step_num`."""

    def __init__(self, name, **kwargs):
        self._name, self._details, self._begin = name, kwargs, None

    def __enter__(self):
        self._begin = time.monotonic_ns() if _running[0] is not None else None
        return self

    def set_metadata(self, **kwargs):
        """Notes more with it."""
        self._details = {**self._details, **kwargs}

    def __exit__(self, kind, value, traceback):
        profile = _running[0]
        if profile is not None and self._begin is not None:
            profile.add(self._name, self._begin, time.monotonic_ns(), self._details)
