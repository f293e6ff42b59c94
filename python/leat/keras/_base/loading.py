"""What configurations may do while they become objects: Keras' safe mode, and how much memory their variables may take.

The state is each thread's own; `enable_unsafe_deserialization` is for the process.
"""

import contextlib
import threading

from leat._files import limits

_settings = {"unsafe": False}


class UnsafeError(ValueError):
    """A configuration asks for what safe mode forbids."""


REFUSALS = (UnsafeError, limits.LimitError)  # what goes through unchanged where others become a TypeError


class _State(threading.local):
    def __init__(self):
        self.safe = None
        self.depth = 0
        self.where = "the configuration"
        self.left = None


_state = _State()


def in_safe_mode():
    """True while a configuration is read that nobody vouched for, False where somebody did, None where none is read."""
    return False if _settings["unsafe"] else _state.safe


def is_idle():
    """Is no configuration being read?"""
    return _state.depth == 0


def enable_unsafe_deserialization():
    """Configurations may name files from now on, in the whole process, as with ``safe_mode=False``
    (``keras.config.enable_unsafe_deserialization``). Code of a configuration never runs."""
    _settings["unsafe"] = True


@contextlib.contextmanager
def configuration(safe_mode):
    """Around the reading of a configuration; the outermost says whether it is in safe mode. LimitError where too many
    stand in each other."""
    before = _state.safe, _state.depth
    if before[0] is None:
        _state.safe = bool(safe_mode)
    _state.depth += 1
    try:
        limits.check("depth", _state.depth, _state.where, "configurations in each other")
        yield
    finally:
        _state.safe, _state.depth = before


@contextlib.contextmanager
def allowance(where, size):
    """Around the making of a file's model: its variables take `size` bytes at most; `where` names the file."""
    before = _state.where, _state.left
    _state.where, _state.left = where, size
    try:
        yield
    finally:
        _state.where, _state.left = before


def take(size):
    """Counts the bytes of a variable that a configuration asks for, before there is one. LimitError."""
    if _state.depth == 0 or in_safe_mode() is False:
        return
    limits.check("array_bytes", size, _state.where, "bytes of a variable")
    if _state.left is None:
        return
    _state.left -= size
    if _state.left < 0:
        raise limits.LimitError(
            f"{_state.where}: its configuration asks for variables of {-_state.left} bytes more than weights in it "
            f"could fill; the limit is unpacked_bytes={limits.get_load_limits().unpacked_bytes} beyond four times the "
            "file; if you trust the file, raise the limit: leat.config.set_load_limits(unpacked_bytes=...)")


def refuse_path(what, path):
    """UnsafeError where a configuration that nobody vouched for names a file."""
    if in_safe_mode():
        raise UnsafeError(f"{what}: the configuration names the file {path!r}, and a model is read without opening "
                          "other files; if you trust where it comes from, load it with safe_mode=False, or call "
                          "keras.config.enable_unsafe_deserialization()")
