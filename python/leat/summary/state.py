"""Which writer summaries go to, at which step, and whether they are recorded: of each thread its own."""

import atexit
import contextlib
import os
import threading
import weakref

from leat import _native, dtypes
from leat._core import specs, threads
from leat._core.tensor import Tensor, constant, convert_to_tensor
from leat._graph import trace
from leat.errors import FailedPreconditionError


class _State(threading.local):
    def __init__(self):
        self.recording = None  # None: yes; a bool, a tensor, or a callable that gives one
        self.writer = None
        self.step = None


_state = threads.inherit(_State())
_open_writers = weakref.WeakSet()


def _close_all():
    for writer in list(_open_writers):
        writer.close()


# ---- writers ----

class _AsDefault:
    """A block in which a writer is the default one; entered without a block it stays so."""

    def __init__(self, writer, step):
        self._writer, self._step, self._around = writer, step, None

    def __enter__(self):
        self._around = _state.writer, _state.step
        _state.writer = self._writer
        if self._step is not None:
            _state.step = self._step
        return self._writer

    def __exit__(self, *error):
        if _state.writer is not None:
            _state.writer.flush()
        _state.writer = self._around[0]
        if self._step is not None:
            _state.step = self._around[1]
        return False


class SummaryWriter:
    """Where summaries go (``tf.summary.SummaryWriter``); several threads may write at once."""

    def set_as_default(self, step=None):
        """Makes it the thread's default writer, and `step`, unless it is None, the default step."""
        self.as_default(step).__enter__()

    def as_default(self, step=None):
        """A block in which it is the default writer; `step`, unless it is None, is the default step there.

        At the block's end it is flushed.
        """
        return _AsDefault(self, step)

    def init(self):
        """Does nothing: a writer is ready when it is made."""

    def flush(self):
        """Hands what was written to the file system, where TensorBoard sees it."""

    def close(self):
        """Writes what waits and ends the file; later summaries go nowhere."""


class _NoopWriter(SummaryWriter):
    """A writer that writes nothing."""

    @contextlib.contextmanager
    def as_default(self, step=None):
        """A block that changes nothing."""
        yield


class FileWriter(SummaryWriter):
    """A writer of one event file."""

    def __init__(self, logdir, max_queue, flush_millis, filename_suffix):
        self._lock = threading.Lock()
        self._native = _native.EventWriter.open(logdir, filename_suffix, _or_none(max_queue), _or_none(flush_millis))
        self.path = self._native.path
        self.is_traced = False  # has a function that was traced it for its own?
        if not _open_writers:
            atexit.unregister(_close_all)
            atexit.register(_close_all)
        _open_writers.add(self)

    def _usable(self):
        if self._native is None:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")
        return self._native

    def as_default(self, step=None):
        """A block in which it is the default writer. RuntimeError where it is closed."""
        self._usable()
        return super().as_default(step)

    init = _usable

    def flush(self):
        """Hands what was written to the file system; nothing where it is closed."""
        with self._lock:
            if self._native is not None:
                self._native.flush()

    def close(self):
        """Ends the file; once more is harmless."""
        with self._lock:
            writer, self._native = self._native, None
        _open_writers.discard(self)
        if writer is not None:
            writer.close()

    def write(self, tag, step, metadata, tensor, buckets=-1):
        """One value, or with `buckets` >= 0 its histogram."""
        with self._lock:
            self._still_open().write(tag, step, metadata, tensor, buckets)

    def message(self, step, serialized, is_graph):
        """A serialised Summary or GraphDef."""
        with self._lock:
            self._still_open().message(step, serialized, is_graph)

    def _still_open(self):
        if self._native is None:
            raise FailedPreconditionError(None, None, "a summary was written to a writer that is closed; make a new "
                                          "one, and trace the function anew that uses the old one")
        return self._native


def _or_none(value):
    """A number that may be left out, as the extension takes it: -1 where it is."""
    return -1 if value is None else max(0, int(value))


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None,
                       experimental_trackable=False, experimental_mesh=None):
    """A writer of a new event file in the folder `logdir`, which is made (``tf.summary.create_file_writer``).

    `max_queue`: summaries that wait before they are flushed, 10 by default; `flush_millis`: how long they may,
    120,000 ms; `filename_suffix`: ".v2". The last three arguments are accepted for TensorFlow's programs.
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    with trace.eagerly():
        if isinstance(logdir, Tensor):
            logdir = logdir.numpy()
        return FileWriter(os.fsdecode(logdir), max_queue, flush_millis,
                          None if filename_suffix is None else str(filename_suffix))


def create_noop_writer():
    """A writer that writes nothing (``tf.summary.create_noop_writer``)."""
    return _NoopWriter()


def flush(writer=None, name=None):
    """Flushes a writer, by default the thread's (``tf.summary.flush``)."""
    writer = _state.writer if writer is None else writer
    if writer is not None:
        writer.flush()


# ---- steps and conditions ----

def get_step():
    """The thread's default step; None where there is none (``tf.summary.experimental.get_step``)."""
    return _state.step


def set_step(step):
    """Sets the thread's default step: a number, a variable, or None (``tf.summary.experimental.set_step``)."""
    _state.step = step


@contextlib.contextmanager
def record_if(condition):
    """A block in which summaries are recorded only if `condition` is true (``tf.summary.record_if``).

    It is a bool, a tensor, or a callable that gives one and is asked for each summary. In a function that is traced
    a callable is asked once; what it computes of variables is computed in each run.
    """
    before, _state.recording = _state.recording, condition
    try:
        yield
    finally:
        _state.recording = before


def condition():
    """Are summaries recorded? A bool, or a tensor whose value the run of a traced function knows."""
    if _state.writer is None:
        return False
    found = _state.recording() if callable(_state.recording) else _state.recording
    if found is None:
        return True
    if hasattr(found, "_as_tensor"):
        found = found._as_tensor()
    if isinstance(found, Tensor):
        return bool(found.numpy()) if found._has_values else found
    return bool(found)


def should_record_summaries():
    """A bool tensor: are summaries recorded (``tf.summary.should_record_summaries``)?"""
    return convert_to_tensor(condition())


# ---- recording ----

def _step_of(step):
    step = _state.step if step is None else step
    if step is None:
        raise ValueError("No step set. Please specify one either through the `step` argument or through "
                         "tf.summary.experimental.set_step()")
    if hasattr(step, "_as_tensor"):
        step = step._as_tensor()
    return step if isinstance(step, Tensor) else constant(int(step), dtypes.int64)


def _in_first_replica():
    """The replica's number in replicas, else None."""
    replica = trace.replica_context()
    return None if replica is None else replica.replica_id_in_sync_group


def record(inputs, step, put):
    """Calls ``put(writer, step, values)`` where summaries are recorded; True as a tensor if it did.

    In a function that is traced each run of it does that, of several replicas the first.
    """
    found = condition()
    if found is False:
        return constant(False)
    writer, step = _state.writer, _step_of(step)
    if not trace.is_tracing():
        if (_in_first_replica() or 0) != 0:
            return constant(False)
        put(writer, int(step.numpy()), inputs)
        return constant(True)
    if isinstance(writer, FileWriter):
        writer.is_traced = True
    replica = _in_first_replica()
    known = [found if isinstance(found, Tensor) else constant(True), step,
             constant(0, dtypes.int32) if replica is None else convert_to_tensor(replica)]

    def run(tensors):
        wanted, at, number, *values = tensors
        if not bool(wanted.numpy()) or int(number.numpy()) != 0:
            return [constant(False)]
        put(writer, int(at.numpy()), values)
        return [constant(True)]
    tensors = [*known, *inputs]
    return trace.called(run, tensors, tuple(specs.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors),
                        specs.TensorSpec([], dtypes.bool))[0]
