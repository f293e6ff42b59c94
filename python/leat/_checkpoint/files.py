"""The files of checkpoints: PREFIX.index and PREFIX.data-SSSSS-of-NNNNN.

A checkpoint that is written over an older one of its name has a data file of another name, so the older one is whole
until the new index takes the place of the old: a process that is killed at any time leaves one or the other. What it
leaves beside is removed by the next save. In object stores it is the same without locks: the data go up first, the
index last, and a checkpoint has one writer at a time.
"""

import contextlib
import errno
import itertools
import os
import re
import time
import zlib

import numpy as np

from leat import _native, dtypes
from leat._checkpoint import old
from leat._core.paths import remote
from leat._core.tensor import constant
from leat._files import places
from leat._files.replacing import keep, replace_together, sweep
from leat.errors import DataLossError, NotFoundError

_UNDER_WAY = 600  # seconds that a data object may be there before its index is
_DATA = re.compile(r"\.data-(\d{5})-of-(\d{5})")


def data_file(prefix, shard, count):
    """The name of one of a checkpoint's data files."""
    return f"{prefix}.data-{shard:05d}-of-{count:05d}"


def _not_found(prefix):
    return NotFoundError(None, None, f"Error when restoring from checkpoint at {prefix}: Failed to find any matching "
                         f"files for {prefix}. Please double-check that the path is correct; you may be missing the "
                         "checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1').")


def _identity(prefix):
    """What tells an index from the one that takes its place; None: there is none."""
    try:
        if remote(prefix):
            return zlib.crc32(places.content(prefix + ".index"))  # it has the checksums of all values
        found = os.stat(prefix + ".index")
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class BundleFile:
    """A checkpoint in TensorFlow's format: `entries` is {key: (dtype's number, shape, lies in parts)}."""

    def __init__(self, prefix):
        self.prefix = prefix
        self._opened = _identity(prefix)
        self._reader = _native.BundleReader.open(prefix)
        listed = self._reader.entries()
        self._numbers = {entry[0]: number for number, entry in enumerate(listed)}
        self.entries = {name: (number, shape, is_sliced) for name, number, shape, is_sliced, *_ in listed}
        count = self._reader.num_shards()
        self.data = {}  # the data files that hold something: their names and the least size
        for _, _, _, is_sliced, shard, end in listed:
            name = data_file(prefix, shard, count)
            self.data[name] = max(self.data.get(name, 0), 0 if is_sliced else end)

    def tensor(self, key):
        """The tensor of a key."""
        try:
            return self._reader.read(self._numbers[key])
        except NotFoundError as error:
            raise DataLossError(None, None, f"{self.prefix}.index has {key}, but its file is gone: {error}") from None

    def dtype(self, key):
        """The DType of a key; None: leat has none."""
        return DTYPES.get(self.entries[key][0])

    def is_replaced(self):
        """Has another checkpoint of its name taken its place since it was opened, or is it gone?"""
        return _identity(self.prefix) != self._opened

    def is_whole(self):
        """Are its data files there, as long as they have to be?"""
        return all(places.is_file(name) and places.size(name) >= size for name, size in self.data.items())


DTYPES = {dtypes.as_dtype(name).as_datatype_enum: dtypes.as_dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "string")}


def open_checkpoint(prefix):
    """A BundleFile, or an OldFile. NotFoundError where there is none; DataLossError for damage."""
    try:
        with places.opened(prefix + ".index") as file:
            first = file.read(1)
    except (FileNotFoundError, NotADirectoryError):
        raise _not_found(prefix) from None
    return old.OldFile(prefix) if first == b"{" else BundleFile(prefix)


# ---- writing ----

def _used_data(prefix):
    """The data files that the index of a checkpoint speaks of; None: it has no index that can be read."""
    try:
        with places.opened(prefix + ".index") as file:
            if file.read(1) == b"{":
                return {data_file(prefix, 0, 1)}
        return set(BundleFile(prefix).data)
    except FileNotFoundError:
        return set()
    except (OSError, DataLossError):
        return None


def _own_files(prefix, endings=()):
    """The data files of a checkpoint that are there, used or not; and those with other `endings`."""
    folder, name = os.path.split(prefix)
    with contextlib.suppress(FileNotFoundError):
        return [os.path.join(folder, found) for found in places.names(folder)
                if found.startswith(name) and (_DATA.fullmatch(found[len(name):]) or
                                               found[len(name) + 1:] in endings)]
    return []


def _remove(path):
    with contextlib.suppress(FileNotFoundError):
        places.remove(path)


def _content(index, key, tensor):
    """What the data file holds of a tensor, which is told to the index; borrowed where it lies as it is."""
    encoded = index.add(key, tensor)
    if encoded is not None:
        return encoded
    return np.ascontiguousarray(tensor.numpy()).reshape(-1).view(np.uint8)


def _reserve(prefix):
    """The first name for a data file that is free, as its number, and the descriptor that keeps other writers, and
    those who remove leftovers, from it."""
    for count in range(1, 100000):
        name = data_file(prefix, count - 1, count)
        while True:
            try:
                place = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
            except FileExistsError:
                break
            if keep(place, name):
                return count, place
            os.close(place)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), prefix)


def write(prefix, tensors, before=(), behind=(), outdated=()):
    """Writes a checkpoint of pairs (key, tensor), over one of its name. Of several writers at a time one wins.

    `before`, `behind`: [(path, content)] of files that belong to it and get their places before and behind its own,
    once all are written; the last of `behind` decides. `outdated`: files that are removed then.
    """
    places.make_folders(os.path.dirname(prefix))
    if remote(prefix):
        _write_far(prefix, tensors, before, behind, outdated)
        return
    _sweep_unused(prefix)
    count, place = _reserve(prefix)
    try:
        _replace(prefix, count, tensors, before, behind, outdated)
    except BaseException:
        _remove(data_file(prefix, count - 1, count))
        raise
    finally:
        os.close(place)
    _sweep_unused(prefix)


def _replace(prefix, count, tensors, before, behind, outdated):
    index = _native.BundleWriter.open(count - 1, count)
    pieces = [_content(index, key, tensor) for key, tensor in tensors]
    replace_together([*before, (data_file(prefix, count - 1, count), pieces), (prefix + ".index", index.index()),
                      *behind], outdated)


def _write_far(prefix, tensors, before, behind, outdated):
    """The same in an object store, where each look is a request, and what no index speaks of may be another writer's
    for a while."""
    there = _own_files(prefix, ("index",))
    used = _used_data(prefix) if prefix + ".index" in there else set()
    for path in there if used is not None else []:
        if path not in used and path != prefix + ".index":
            _sweep_data(prefix, path)
    count = next(count for count in itertools.count(1) if data_file(prefix, count - 1, count) not in there)
    _replace(prefix, count, tensors, before, behind, [*outdated, *(used or ())])


def remove(prefix):
    """Removes a checkpoint: its index first, so that what is left of it by a kill is no checkpoint."""
    _remove(prefix + ".index")
    for name in _own_files(prefix):
        _remove(name)


def _is_needed(prefix, path):
    """Does a checkpoint's index speak of a data file? One that cannot be read may need any."""
    used = _used_data(prefix)
    return used is None or path in used


def _sweep_data(prefix, path):
    """Removes a data file of a checkpoint that its index does not speak of. One that is a link has no writer, and what
    it leads to stays; so does what a writer of an object store may have under way, which no lock tells."""
    if remote(path):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - places.changed(path) / 1e9 >= _UNDER_WAY and not _is_needed(prefix, path):
                _remove(path)
    elif not os.path.islink(path):
        sweep(path, lambda: _is_needed(prefix, path))
    elif not _is_needed(prefix, path):
        _remove(path)


def _sweep_unused(prefix):
    """The same of all of its data files."""
    used, there = _used_data(prefix), _own_files(prefix)
    for path in there if used is not None else []:
        if path not in used:
            _sweep_data(prefix, path)


def remove_leftovers(prefix, least_age=0):
    """Removes what killed saves left of checkpoints "PREFIX-number": data files that no index speaks of, and temporary
    files. Of data files those of `least_age` seconds: TensorFlow locks none before it writes the index."""
    folder, name = os.path.split(prefix)
    numbered = re.compile(re.escape(name) + r"-\d+")
    temporary = re.compile(rf"\.{numbered.pattern}({_DATA.pattern}|\.index)\.leat-.*\.tmp")
    by_checkpoint = {}
    listed = places.names(folder)
    for found in listed:
        path, cut = os.path.join(folder, found), _DATA.search(found)
        if temporary.fullmatch(found):
            sweep(path)
        elif cut is not None and cut.end() == len(found) and numbered.fullmatch(found[:cut.start()]):
            by_checkpoint.setdefault(os.path.join(folder, found[:cut.start()]), []).append(path)
    for checkpoint, names in by_checkpoint.items():
        if len(names) == 1 and (os.path.basename(checkpoint) + ".index" in listed if remote(folder) else
                                os.path.exists(checkpoint + ".index")):
            continue
        for path in names:
            if not least_age or time.time() - places.changed(path) / 1e9 >= least_age:
                _sweep_data(checkpoint, path)


def text_tensor(data):
    """Bytes as a scalar tensor."""
    return constant(np.array(data, object), dtypes.string)
