"""``tf.io.gfile``: files of the local file system, with exceptions of ``leat.errors``."""

import errno
import glob as _glob
import os

from leat import errors
from leat._core.later import public
from leat._core.paths import local as _path

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
    return os.path.exists(_path(path))


def isdir(path):
    """Is `path` a folder?"""
    return os.path.isdir(_path(path))


def glob(pattern):
    """The paths that match a pattern, or one of a list of patterns, sorted for each."""
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [found for one in patterns for found in sorted(_glob.glob(_path(one)))]


def listdir(path):
    """The names in a folder; NotFoundError where it is none."""
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {_path(path)}")
    return os.listdir(_path(path))


def mkdir(path):
    """Makes a folder in one that is there; nothing where it is there."""
    try:
        os.mkdir(_path(path))
    except OSError as error:
        if not isdir(path):
            _raise(error, path)


def makedirs(path):
    """Makes a folder and those above it; nothing where it is there."""
    try:
        os.makedirs(_path(path), exist_ok=True)
    except OSError as error:
        _raise(error, path)


def remove(path):
    """Removes a file."""
    try:
        os.remove(_path(path))
    except OSError as error:
        _raise(error, path)


def rmtree(path):
    """Removes a folder and all in it."""
    import shutil
    try:
        shutil.rmtree(_path(path))
    except OSError as error:
        _raise(error, path)


def rename(src, dst, overwrite=False):
    """Gives a file or folder another name; AlreadyExistsError where there is one and `overwrite` is False."""
    if not overwrite and exists(dst):
        raise errors.AlreadyExistsError(None, None, f"{_path(dst)} is there; pass overwrite=True to replace it")
    try:
        os.replace(_path(src), _path(dst))
    except OSError as error:
        _raise(error, src)


def copy(src, dst, overwrite=False):
    """Copies a file; AlreadyExistsError where there is one and `overwrite` is False."""
    if not overwrite and exists(dst):
        raise errors.AlreadyExistsError(None, None, f"{_path(dst)} is there; pass overwrite=True to replace it")
    import shutil
    try:
        shutil.copyfile(_path(src), _path(dst))
    except OSError as error:
        _raise(error, src)


def walk(top, topdown=True, onerror=None):
    """(folder, names of folders in it, names of files in it) of a folder and all below it; before or after those below.

    A folder that cannot be read goes to ``onerror(error)``, or is passed over without one.
    """
    def failed(error):
        if onerror:
            onerror(errors.NotFoundError(None, None, str(error)))
    yield from os.walk(_path(top), topdown, failed)


class FileStatistics:
    """A file's length in bytes, its time of change in nanoseconds, and whether it is a folder."""

    def __init__(self, found):
        import stat as modes
        self.length = found.st_size
        self.mtime_nsec = found.st_mtime_ns
        self.is_directory = modes.S_ISDIR(found.st_mode)


def stat(path):
    """The FileStatistics of a path; NotFoundError where there is none (``tf.io.gfile.stat``)."""
    try:
        return FileStatistics(os.stat(_path(path)))
    except OSError as error:
        _raise(error, path)


def join(path, *paths):
    """The path of names below a folder."""
    return os.path.join(path, *paths)


def GFile(name, mode="r"):
    """A file that is opened as Python's `open` does; errors are those of ``leat.errors``."""
    try:
        return open(_path(name), mode)
    except OSError as error:
        _raise(error, name)
