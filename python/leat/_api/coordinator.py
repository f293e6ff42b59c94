"""``tf.train.Coordinator``: threads that end together."""

import contextlib
import sys
import threading
import time

__all__ = ["Coordinator"]


class Coordinator:
    """Lets several threads end when one of them asks for it or fails (``tf.train.Coordinator``).

    `clean_stop_exception_types`: exceptions that ask for the end and are not raised again; OutOfRangeError without it.
    """

    def __init__(self, clean_stop_exception_types=None):
        from leat.errors import OutOfRangeError
        self._clean = tuple(clean_stop_exception_types or (OutOfRangeError,))
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads, self._failure, self._joined = [], None, False

    joined = property(lambda self: self._joined)

    def request_stop(self, ex=None):
        """Asks all threads to end; `ex`, an exception or sys.exc_info(), is raised by `join` if it is the first one."""
        error = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            if self._joined:
                if error is not None:
                    raise error
                return
            if not self._stop.is_set() and error is not None and not isinstance(error, self._clean):
                self._failure = error
            self._stop.set()

    def clear_stop(self):
        """Forgets that it was asked for."""
        with self._lock:
            self._joined, self._failure = False, None
            self._stop.clear()

    def should_stop(self):
        """Was it asked for?"""
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        """Waits until it is asked for; whether it was."""
        return self._stop.wait(timeout)

    @contextlib.contextmanager
    def stop_on_exception(self):
        """A block whose exception asks for the end."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def register_thread(self, thread):
        """A thread that `join` waits for."""
        with self._lock:
            self._threads.append(thread)

    def raise_requested_exception(self):
        """Raises the exception that the end was asked for with."""
        if self._failure is not None:
            raise self._failure

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits for the threads; once the end is asked for, for `stop_grace_period_secs` more: RuntimeError where some
        still run. Raises the exception that the end was asked for with."""
        threads = list(threads or ()) + self._threads
        while any(thread.is_alive() for thread in threads) and not self._stop.wait(0.05):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in threads:
            thread.join(max(0., deadline - time.monotonic()))
        alive = [thread.name for thread in threads if thread.is_alive()]
        with self._lock:
            self._joined, self._threads = True, []
        self.raise_requested_exception()
        if alive and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(alive)}")
