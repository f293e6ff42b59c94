"""Files that appear whole or not at all, alone or together. The library writes them (``leat_files_replace``)."""

import contextlib
import errno
import fcntl
import os
import re

from leat import _native


def _pieces(content):
    return list(content) if isinstance(content, (list, tuple)) else [content]


def replace(path, content):
    """Writes a file beside its place and moves it there: a failure leaves what was there. OSError names the path. A
    link is followed.

    `content`: bytes or what else is a buffer, or a list of them, which follow one another in the file.
    """
    path = os.path.realpath(path) if os.path.islink(path) else path
    if os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    replace_together([(path, content)])


def replace_together(files, outdated=()):
    """Writes [(path, content)] as `replace` does, all of them or none; the last one decides.

    The others get their names before the last and are to have names that the last file of before does not speak of.
    Then the files `outdated` are removed. Whoever reads the last file first finds all that is new or all that was
    there, wherever the process is killed. What is a link is replaced itself; what it led to belongs to other files.
    """
    _native.replace_files([(_native.path_bytes(path), _pieces(content)) for path, content in files],
                          [_native.path_bytes(path) for path in outdated])


def hold(place):
    """Locks an open file for as long as it is open; OSError where somebody has it."""
    fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)


def keep(place, path):
    """Locks a file that was just made and that sweep may have found before its lock: waits for that one. Is it still
    there under its path?"""
    with contextlib.suppress(OSError):  # file systems without locks have one writer
        fcntl.flock(place, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(place), os.lstat(path))
    except FileNotFoundError:
        return False


def sweep(path, is_needed=lambda: False):
    """Removes a file of a save, unless its writer lives: that one has its lock (src/file/fs_local). `is_needed` is
    asked behind that."""
    with contextlib.suppress(OSError):
        place = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            hold(place)
            if os.path.samestat(os.fstat(place), os.lstat(path)) and not is_needed():
                os.remove(path)
        finally:
            os.close(place)


def sweep_temporaries(folder, names):
    """Removes what killed writers left of files in a folder whose names match the regular expression."""
    temporary = re.compile(rf"\.(?:{names})\.leat-[-0-9]+\.tmp", re.DOTALL)
    with contextlib.suppress(OSError):
        for found in os.listdir(folder or "."):
            if temporary.fullmatch(found):
                sweep(os.path.join(folder, found))
