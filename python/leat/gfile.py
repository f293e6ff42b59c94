"""``tf.io.gfile``: files, local and remote (docs/REMOTE.md), with exceptions of ``leat.errors``."""

import contextlib
import errno
import glob as _glob
import os

from leat import _native, errors
from leat._core.later import public
from leat._core.paths import SCHEMES as _SCHEMES, local as _path, remote as _remote
from leat._files import remote as _files
from leat._files.filesystems import registered as _own

__dir__ = public(globals())


_REFUSED = (errno.EINVAL, errno.ENAMETOOLONG)


def _raise(error, path):
    kinds = {FileNotFoundError: errors.NotFoundError, NotADirectoryError: errors.FailedPreconditionError,
             FileExistsError: errors.AlreadyExistsError, PermissionError: errors.PermissionDeniedError,
             IsADirectoryError: errors.FailedPreconditionError}
    kind = errors.InvalidArgumentError if error.errno in _REFUSED else kinds.get(type(error), errors.UnknownError)
    raise kind(None, None, f"{_path(path)}; {error.strerror}") from error


def exists(path):
    """Is there a file or folder at `path`?"""
    far = _remote(path)
    return _files.exists(far) if far else os.path.exists(_path(path))


def isdir(path):
    """Is `path` a folder?"""
    far = _remote(path)
    return _files.is_folder(far) if far else os.path.isdir(_path(path))


def _matching(pattern):
    far = _remote(pattern)
    return _native.path_glob(far) if far else sorted(_glob.glob(_path(pattern)))


def glob(pattern):
    """The paths that match a pattern, or one of a list of patterns, sorted for each."""
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [found for one in patterns for found in _matching(one)]


def get_registered_schemes():
    """What paths may begin with (``tf.io.gfile.get_registered_schemes``); "" is a path of this machine."""
    return ["", "file", *_SCHEMES, *_own]


def listdir(path):
    """The names in a folder; NotFoundError where it is none."""
    far = _remote(path)
    if far:
        return _files.listed(far)
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {_path(path)}")
    return os.listdir(_path(path))


def mkdir(path):
    """Makes a folder in one that is there; nothing where it is there."""
    if _remote(path):
        _native.path_make_folders(path)
        return
    try:
        os.mkdir(_path(path))
    except OSError as error:
        if not isdir(path):
            _raise(error, path)


def makedirs(path):
    """Makes a folder and those above it; nothing where it is there."""
    if _remote(path):
        _native.path_make_folders(path)
        return
    try:
        os.makedirs(_path(path), exist_ok=True)
    except OSError as error:
        _raise(error, path)


def remove(path):
    """Removes a file."""
    if _remote(path):
        _native.path_remove(path)
        return
    try:
        os.remove(_path(path))
    except OSError as error:
        _raise(error, path)


def rmtree(path):
    """Removes a folder and all in it."""
    far = _remote(path)
    if far:
        _files.remove_all(far)
        return
    import shutil
    try:
        shutil.rmtree(_path(path))
    except OSError as error:
        _raise(error, path)


def rename(src, dst, overwrite=False):
    """Gives a file or folder another name; AlreadyExistsError where there is one and `overwrite` is False.

    An object of a store is copied and then removed: the new one appears whole, and for a moment both are there. Folders
    of such stores have no names that could be changed: UnimplementedError.
    """
    if not overwrite and exists(dst):
        raise errors.AlreadyExistsError(None, None, f"{dst} is there; pass overwrite=True to replace it")
    if _remote(src) or _remote(dst):
        _files.rename(_remote(src) or _path(src), _remote(dst) or _path(dst), copy)
        return
    try:
        os.replace(_path(src), _path(dst))
    except OSError as error:
        _raise(error, src)


def copy(src, dst, overwrite=False):
    """Copies a file; AlreadyExistsError where there is one and `overwrite` is False."""
    if not overwrite and exists(dst):
        raise errors.AlreadyExistsError(None, None, f"{dst} is there; pass overwrite=True to replace it")
    import shutil
    if _remote(src) or _remote(dst):
        with GFile(src, "rb") as from_file, GFile(dst, "wb") as to_file:
            shutil.copyfileobj(from_file, to_file, 1 << 22)
        return
    try:
        with contextlib.suppress(shutil.SameFileError):
            shutil.copyfile(_path(src), _path(dst))
    except OSError as error:
        _raise(error, src)


def walk(top, topdown=True, onerror=None):
    """(folder, names of folders in it, names of files in it) of a folder and all below it; before or after those below.

    A folder that cannot be read goes to ``onerror(error)``, or is passed over without one.
    """
    far = _remote(top)
    if far:
        yield from _files.walk(far, topdown, onerror)
        return
    def failed(error):
        if onerror:
            onerror(errors.NotFoundError(None, None, str(error)))
    yield from os.walk(_path(top), topdown, failed)


class FileStatistics:
    """A file's length in bytes, its time of change in nanoseconds, and whether it is a folder."""

    def __init__(self, length, mtime_nsec, is_directory):
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory


def stat(path):
    """The FileStatistics of a path; NotFoundError where there is none (``tf.io.gfile.stat``)."""
    far = _remote(path)
    if far:
        is_folder, size, changed = _native.path_stat(far)
        return FileStatistics(max(size, 0), max(changed, 0) * 10 ** 9, is_folder)
    import stat as modes
    try:
        found = os.stat(_path(path))
        return FileStatistics(found.st_size, found.st_mtime_ns, modes.S_ISDIR(found.st_mode))
    except OSError as error:
        _raise(error, path)


def join(path, *paths):
    """The path of names below a folder."""
    return os.path.join(path, *paths)


def GFile(name, mode="r"):
    """A file that is opened as Python's `open` does; errors are those of ``leat.errors``.

    A remote one is read by ranges, or written; then it is there, whole, once it is closed.
    """
    far = _remote(name)
    if far:
        return _files.open_file(far, mode)
    try:
        return open(_path(name), mode)
    except OSError as error:
        _raise(error, name)
