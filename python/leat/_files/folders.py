"""Folders that appear whole or not at all, beside their old form until they are whole (``leat_folder_replace``)."""

import contextlib
import hashlib
import itertools
import os
import re
import shutil
import stat

from leat import _native
from leat._files.replacing import hold, keep

_MOST_READS = 20
_LONGEST = 200  # bytes of a name that a temporary one can hold
_TEMPORARY = re.compile(r"\..*\.leat-[-0-9]+\.tmp", re.DOTALL)


def _temporary(folder):
    """(the folder above, how the names of a folder's temporary ones begin)."""
    above, name = os.path.split(os.path.abspath(folder))
    if len(os.fsencode(name)) > _LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return above, f".{name}.leat-"


def _claim(folder):
    """A new folder beside another one, and the descriptor by which it is seen to have a writer."""
    above, start = _temporary(folder)
    for number in itertools.count():
        path = os.path.join(above, f"{start}{os.getpid()}-{number}.tmp")
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)
            place = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            if keep(place, path):
                return path, place
            os.close(place)


def _drop(path, folder, own):
    """Removes what a folder was before, or what a killed writer left of one; what is not the writer's goes back."""
    with contextlib.suppress(OSError):
        for name in os.listdir(path):
            if (name not in own and not _TEMPORARY.fullmatch(name) and
                    not os.path.lexists(os.path.join(folder, name))):
                os.rename(os.path.join(path, name), os.path.join(folder, name))
    shutil.rmtree(path, ignore_errors=True)


def _sweep(folder, own):
    """Drops what killed writers left beside a folder."""
    above, start = _temporary(folder)
    left = re.compile(re.escape(start) + r"[-0-9]+\.tmp")
    for name in os.listdir(above):
        if left.fullmatch(name):
            with contextlib.suppress(OSError):
                path = os.path.join(above, name)
                place = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    hold(place)
                    _drop(path, folder, own)
                finally:
                    os.close(place)


def _identity(folder):
    with contextlib.suppress(OSError):
        found = os.stat(folder)
        return found.st_dev, found.st_ino
    return None


def read_one(folder, read):
    """What `read()` makes of a folder's files: again, where another folder has taken its place meanwhile (`replaced`),
    so that not one file is of the old one and the next of the new."""
    for left in range(_MOST_READS, -1, -1):
        before = _identity(folder)
        try:
            result = read()
        except Exception:
            if left == 0 or _identity(folder) == before:
                raise
        else:
            if left == 0 or _identity(folder) == before:
                return result


def can_be_replaced(folder):
    """Can another folder take a folder's name? Not where it is mounted or somebody's working folder, as far as can be
    seen, or where nothing may be made beside it."""
    above = os.path.dirname(os.path.abspath(folder))
    return (not os.path.islink(folder) and not os.path.ismount(folder) and not os.path.samefile(folder, ".") and
            os.access(above, os.W_OK | os.X_OK))


@contextlib.contextmanager
def replaced(folder, own):
    """A new folder to write into, which takes a folder's place at once when the block ends without a failure.

    What is written is to be on the disk, as `replace` leaves it. `own`: the names in the folder that belong to what is
    written; others stay in it. A process that is killed leaves the old one or the new one, and what it leaves beside is
    removed by the next; of several writers at a time the last stays.
    """
    _sweep(folder, own)
    path, place = _claim(folder)
    try:
        yield path
        with contextlib.suppress(FileNotFoundError):
            os.chmod(path, stat.S_IMODE(os.stat(folder).st_mode))
        _native.replace_folder(os.fsencode(path), os.fsencode(folder))
    finally:
        os.close(place)
        _drop(path, folder, own)
