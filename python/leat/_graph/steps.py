"""Functions over layers run as steps of the processor: planned memory, its fast kernels, all of its cores.

What draws random numbers, branches or calls Python is left to the interpreter, and so is what a step refuses: shapes
that are not known, strings, datasets.
"""

import threading

from leat import _native
from leat.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError

_lock = threading.RLock()  # one step at a time: they share the cores
_shared = []  # the device that they run on, once it is needed
_running = [False]


class Step:
    """What runs of one traced function remember."""

    def __init__(self, native):
        self._function = native
        self._step = _native.Step()
        self._refused = False

    def run(self, tensors):
        """The results, or None where the interpreter has to compute them."""
        if self._refused:
            return None
        with _lock:
            if _running[0]:
                return None
            _running[0] = True
            try:
                if not _shared:
                    _shared.append(_native.Strategy.mirrored(["CPU:0"]))
                return _shared[0].run(self._step, [self._function], [tensors])[0]
            except (UnimplementedError, FailedPreconditionError, InvalidArgumentError):
                if len(self.explain().splitlines()) > 1:  # it was compiled: the failure is the function's own
                    raise
                self._refused = True
                return None
            finally:
                _running[0] = False

    def explain(self):
        """Where the time of the runs went, as a table."""
        return self._step.explain()
