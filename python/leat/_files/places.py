"""Files and folders by path, of this machine or another one (docs/REMOTE.md): for saves, which are the same on both.

A path is what `leat._core.paths.anywhere` makes of the user's. Errors of what is not there, and of rights, are
OSError's classes in both cases; others of other machines are those of ``leat.errors``.
"""

import contextlib
import errno
import io
import os
import posixpath

from leat import _native, errors
from leat._core.paths import remote
from leat._files import remote as far
from leat._files.replacing import replace

_CLASSES = {errors.NotFoundError: errno.ENOENT, errors.PermissionDeniedError: errno.EACCES}


@contextlib.contextmanager
def _as_system():
    """Has errors of other machines be the system's."""
    try:
        yield
    except tuple(_CLASSES) as error:
        raise OSError(_CLASSES[type(error)], str(error)) from error


def exists(path):
    """Is there a file or folder?"""
    return far.exists(path) if remote(path) else os.path.exists(path)


def is_folder(path):
    """Is there a folder?"""
    return far.is_folder(path) if remote(path) else os.path.isdir(path)


def is_file(path):
    """Is there a file?"""
    if not remote(path):
        return os.path.isfile(path)
    with contextlib.suppress(errors.NotFoundError):
        return not _native.path_stat(path)[0]
    return False


def size(path):
    """A file's bytes."""
    if not remote(path):
        return os.path.getsize(path)
    with _as_system():
        return _native.path_stat(path)[1]


def changed(path):
    """When a file was changed last, in nanoseconds since 1970; of another machine in whole seconds."""
    if not remote(path):
        return os.stat(path).st_mtime_ns
    with _as_system():
        return _native.path_stat(path)[2] * 10 ** 9


def names(folder):
    """The names in a folder; "" is the working folder."""
    if not remote(folder):
        return os.listdir(folder or ".")
    with _as_system():
        return far.listed(folder)


def walk(folder, follow_links=False):
    """(folder, names of folders, names of files) of a folder and all below it."""
    return far.walk(folder, True) if remote(folder) else os.walk(folder, followlinks=follow_links)


def below(folder):
    """The paths of all files below a folder, from it."""
    return [relative(os.path.join(around, name), folder) for around, _, found in walk(folder) for name in found]


def opened(path):
    """A file open for reading bytes."""
    if not remote(path):
        return open(path, "rb")
    with _as_system():
        return far.open_file(path, "rb")


def content(path):
    """A file's bytes."""
    with opened(path) as file, _as_system():
        return file.read()


def remove(path):
    """Removes a file."""
    if not remote(path):
        os.remove(path)
        return
    with _as_system():
        _native.path_remove(path)


def make_folders(path):
    """Makes a folder and those above it; object stores have none."""
    if not remote(path):
        os.makedirs(path or ".", exist_ok=True)
    elif "://" in path:  # "s3:" is above "s3://bucket"
        _native.path_make_folders(path)


def joined(folder, path):
    """The path of `path`, which a file of the folder names, as seen from there; it leads to no other machine."""
    start = "/".join(folder.split("/")[:3]) + "/"  # a scheme and a bucket
    return path if "://" in start and path.startswith(start) else os.path.join(folder, path)


def relative(path, folder):
    """A path as seen from a folder; whole where it is of another machine and not below it."""
    if not remote(path) and not remote(folder):
        return os.path.relpath(path, folder)
    start = folder.rstrip("/") + "/"
    return path.removeprefix(start)


def is_within(path, folder):
    """Does a path lead to what is below a folder, or to it?"""
    if not remote(folder):
        folder, path = os.path.realpath(folder), os.path.realpath(path)
        return os.path.commonpath([path, folder]) == folder
    scheme, _, rest = folder.partition("://")
    found, _, other = path.partition("://")
    if found != scheme or ".." in other.split("/"):
        return False
    return posixpath.commonpath([posixpath.normpath(other), posixpath.normpath(rest)]) == posixpath.normpath(rest)


def is_same(one, other):
    """Do two paths lead to the same folder?"""
    return is_within(one, other) and is_within(other, one)


class _Rewritten(io.StringIO):
    """A text that is written to a path as a whole whenever it is flushed."""

    def __init__(self, path, text=""):
        super().__init__(text, newline="")
        self._path = path
        self.seek(0, io.SEEK_END)

    def flush(self):
        """Writes all there is so far."""
        super().flush()
        if not self.closed:
            replace(self._path, self.getvalue().encode())

    def close(self):
        """Writes it a last time."""
        if not self.closed:
            self.flush()
        super().close()


def rewritten(path, text=""):
    """A text file that begins with `text` and is written as a whole whenever it is flushed: where nothing can be
    appended."""
    return _Rewritten(path, text)
