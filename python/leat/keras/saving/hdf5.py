"""Reading HDF5 files of strangers: nothing but arrays of numbers that lie in the file, looked at before they are read.

A file of weights has groups and arrays of plain numbers. The format has more: links into other files, arrays whose
bytes are another file's, types of a file's own, filters, chunks that unfold to any size. All that is refused by name.
A place is walked one name at a time, because a library that is given a path follows every link in it. Packed chunks
are unpacked here, into as much memory as their array has; HDF5's own filter would take what the packed data ask for.

Happy path: `File` opens what can be read and seeked, `group` finds a place, `array` describes one, `read` gives it.
Failures: ValueError that names file and place. A file belongs to one thread.
"""

import contextlib
import io
import itertools
import math
import os
import signal
import struct
import threading
import zlib

import numpy as np

from leat._files import limits, places
from leat.keras.saving import hdf5_texts

_DEFLATE, _SHUFFLE = 1, 2
_FILTERS = {3: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset"}
_AT_ONCE = 16 << 20  # bytes
_SMALL_CHUNK = 4 << 20  # bytes of a chunk that may be larger than its array


_handlers = []  # that of Ctrl-C before, while `interruptible` is entered
_came = []  # the signals since
_outside = []  # not empty while `outside` is entered


def _keep(number, frame):
    if _outside:
        _handlers[-1](number, frame)
    else:
        _came.append((number, frame))


@contextlib.contextmanager
def outside():
    """Within `interruptible`: no call of h5py is under way in it, so Ctrl-C is heard at once."""
    _outside.append(True)
    try:
        yield
    finally:
        _outside.pop()


def look():
    """Runs the program's handler of Ctrl-C, if that has come."""
    if _came:
        kept = _came.pop()
        _came.clear()
        _handlers[-1](*kept)


@contextlib.contextmanager
def interruptible():
    """Within it Ctrl-C is heard by `look`, and at the end: h5py calls Python back from its calls and where it frees
    things, and an exception that is raised there is lost."""
    before = signal.getsignal(signal.SIGINT)
    if _handlers or threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    _handlers.append(before)
    signal.signal(signal.SIGINT, _keep)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        try:
            look()
        finally:
            _handlers.clear()


def put(group, name, values):
    """Writes an array as a dataset; a large one some rows at a time, because Ctrl-C is not heard within one write."""
    if values.nbytes <= _AT_ONCE:
        group.create_dataset(name, data=values)
        return
    dataset = group.create_dataset(name, values.shape, values.dtype)
    rows = max(1, _AT_ONCE * len(values) // values.nbytes)
    for first in range(0, len(values), rows):
        dataset[first:first + rows] = values[first:first + rows]
        look()


def content(items, notes=None):
    """The bytes of a file of [(path of an object, its name, {name: array})]: the arrays lie in "vars" below the path.

    `notes`: {name: number} of the file's own.
    """
    memory = io.BytesIO()
    with interruptible(), library().File(memory, "w") as file:
        for path, name, arrays in items:
            if path and not arrays:
                continue
            group = (file.require_group(path) if path else file).require_group("vars")
            if isinstance(name, str):
                group.attrs["name"] = name
            for key, value in arrays.items():
                put(group, key, value)
                look()
        file.attrs.update(notes or {})
    return memory.getvalue()


def library():
    """The package h5py. ImportError says what to do without it."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise ImportError("files of Keras need the package h5py; install it, or save with "
                          "leat.train.Checkpoint") from None
    return h5py


_plugins = threading.Lock()
_without = []  # the files that are open: while there is one, the folders of plug-ins are in `_folders` and not HDF5's
_folders = []


def _without_plugins(file):
    """Until `_with_plugins` HDF5 loads no library from a folder because a file asks for a filter that it does not have,
    or cannot be opened by its own reader."""
    h5pl = file._h5py.h5pl
    with _plugins:
        if not _without:
            _folders.extend(h5pl.get(number) for number in range(h5pl.size()))
            for _ in _folders:
                h5pl.remove(0)
        _without.append(file)


def _with_plugins(file):
    with _plugins:
        _without.remove(file)
        if not _without:
            for folder in _folders:
                file._h5py.h5pl.append(folder)
            _folders.clear()


class File:
    """An open file. `source`: a path, or what can be read and seeked; `where` names it in errors. `taken`: a list of
    the number of bytes that were read, of several files together."""

    def __init__(self, source, where, taken=None):
        self._h5py, self.where, self._taken = library(), where, [0] if taken is None else taken
        self._read, self.heaps = 0, {}
        self._bytes = places.opened(source) if isinstance(source, (str, os.PathLike)) else source
        self._owns = self._bytes is not source
        try:
            self.size = self._bytes.seek(0, os.SEEK_END)
            _without_plugins(self)
            try:
                self._file = self._h5py.File(self._bytes, "r")
            except BaseException:
                _with_plugins(self)
                raise
        except BaseException as error:
            self._close_bytes()
            if isinstance(error, Exception):
                raise self.unreadable(error) from None
            raise

    def _close_bytes(self):
        if self._owns:
            self._bytes.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        try:
            self._file.close()
        finally:
            _with_plugins(self)
            self._close_bytes()

    def unreadable(self, error):
        """The ValueError for what the library or the system says of the file."""
        return error if isinstance(error, (_Refused, limits.LimitError)) else _Refused(
            f"{self.where} is not a file of weights that can be read: {error}")

    def refused(self, place, what):
        """The ValueError for what stands at a place."""
        return _Refused(f"{self.where}: {place or '/'} in it {what}; files of weights have none of that, and nothing "
                        "was read from there")

    def take(self, place, size):
        """Counts the bytes of an array at a place against the limits."""
        limits.check("array_bytes", size, f"{self.where}: {place}", "bytes of an array")
        self._taken[0] += size
        limits.check("total_bytes", self._taken[0], self.where, "bytes of all arrays")

    def group(self, place):
        """The group at "a/b/c", or at "", the file; None where there is none."""
        try:
            found, path = self._file, ""
            for name in place.split("/") if place else ():
                path = f"{path}/{name}" if path else name
                found = self.child(found, name, path)
                if found is None:
                    return None
                if not isinstance(found, self._h5py.Group):
                    raise self.refused(path, "is no group")
            return Group(self, found, place)
        except (OSError, KeyError, RuntimeError, TypeError, ValueError, MemoryError) as error:
            raise self.unreadable(error) from None

    def notes(self, prefix):
        """{name without the prefix: whole number} of the file's own attributes that begin with a prefix."""
        try:
            attributes = self._file.attrs
            limits.check("members", len(attributes), self.where, "attributes")
            return {name.removeprefix(prefix): self._note(attributes, name) for name in attributes
                    if name.startswith(prefix)}
        except (OSError, KeyError, RuntimeError, TypeError, ValueError, MemoryError) as error:
            raise self.unreadable(error) from None

    def _note(self, attributes, name):
        # Looked at first: a type of another sort may be of any size, or refer to anything.
        found, h5t = attributes.get_id(name), self._h5py.h5t
        kind = found.get_type()
        if kind.committed() or kind.get_class() != h5t.INTEGER or kind.get_size() > 8 or (
                found.get_space().get_simple_extent_type() != self._h5py.h5s.SCALAR):
            raise self.refused(f"the attribute {name!r}", "is no whole number")
        return int(attributes[name])

    library = property(lambda self: self._h5py)
    root = property(lambda self: self._file)

    def bytes_at(self, address, size):
        """Bytes of the file itself. ValueError where they are not in it, or more is read so than twice the file has."""
        self._read += size
        if address + size > self.size or self._read > 2 * self.size + _AT_ONCE:
            raise _Refused(f"{self.where} is not a file of weights that can be read: {size} bytes at {address} of "
                           f"{self.size} are asked for")
        self._bytes.seek(address)
        return self._bytes.read(size)

    def texts(self, place, name):
        """The list of texts, or the text, of an attribute of the group at "a/b/c" or of "", the file; None where there
        is none."""
        group = self.group(place)
        if group is None:
            return None
        try:
            return hdf5_texts.texts(self, group.found, place, name)
        except (OSError, KeyError, RuntimeError, TypeError, ValueError, MemoryError, struct.error) as error:
            raise self.unreadable(error) from None

    def child(self, group, name, path):
        """What a group has under a name, if it lies in the group itself; None where it has none."""
        link = group.get(name, getlink=True)
        if link is None:
            return None
        if not isinstance(link, self._h5py.HardLink):
            to = "another file" if isinstance(link, self._h5py.ExternalLink) else "another place"
            raise self.refused(path, f"is a link to {to} ({type(link).__name__})")
        return group[name]


class _Refused(ValueError):
    """What was said already with file and place."""


class Group:
    """A group of a file, of which `count` things are members."""

    def __init__(self, file, found, place):
        self._file, self._found, self._place = file, found, place
        self.count, self.found = len(found), found
        limits.check("members", self.count, f"{file.where}: {place}", "members of a group")

    def names(self):
        """The names of its members."""
        try:
            return list(self._found.keys())
        except (OSError, KeyError, RuntimeError, ValueError) as error:
            raise self._file.unreadable(error) from None

    def members(self):
        """(name, group or array not yet read) of its members."""
        for name in self.names():
            place = self._below(name)
            try:
                found = self._file.child(self._found, name, place)
                is_group = isinstance(found, self._file.library.Group)
                yield name, Group(self._file, found, place) if is_group else self.array(name)
            except (OSError, KeyError, RuntimeError, TypeError, ValueError, MemoryError) as error:
                raise self._file.unreadable(error) from None

    def _below(self, name):
        return f"{self._place}/{name}" if self._place else name

    def array(self, name):
        """The array of a name, not yet read; None where there is none."""
        place = self._below(name)
        try:
            found = self._file.child(self._found, name, place)
            if found is None:
                return None
            if not hasattr(found, "dtype") or not hasattr(found, "shape"):
                raise self._file.refused(place, "is no array")
            return Array(self._file, found, place)
        except (OSError, KeyError, RuntimeError, TypeError, ValueError, MemoryError) as error:
            raise self._file.unreadable(error) from None


class Array:
    """An array of a file: its `dtype` and `shape` are known, and how it lies there was looked at; nothing is read."""

    def __init__(self, file, found, place):
        self._file, self._found, self.place = file, found, place
        h5py, properties = file._h5py, found.id.get_create_plist()
        self._layout = properties.get_layout()
        if properties.get_external_count() > 0 or found.external:
            raise file.refused(place, "has its values in other files (external storage)")
        if self._layout == h5py.h5d.VIRTUAL or found.is_virtual:
            raise file.refused(place, "is put together from other arrays (a virtual dataset)")
        self.dtype = self._plain_dtype(found.id.get_type(), h5py.h5t)
        if found.shape is None:
            raise file.refused(place, "has no shape")
        self.shape = tuple(found.shape)
        self._is_chunked = self._layout == h5py.h5d.CHUNKED
        self._is_contiguous = self._layout == h5py.h5d.CONTIGUOUS
        self._filters = [self._filter(properties.get_filter(number)) for number in range(properties.get_nfilters())]

    nbytes = property(lambda self: math.prod(self.shape) * self.dtype.itemsize)

    def _plain_dtype(self, kind, h5t):
        """numpy's dtype of a stored type, which is one of the standard ones: what is read needs no conversion."""
        if kind.committed():
            raise self._file.refused(self.place, "has a type that is defined in the file")
        sort, size = kind.get_class(), kind.get_size()
        if sort in (h5t.INTEGER, h5t.FLOAT, h5t.ENUM):
            dtype = kind.dtype
            if dtype.itemsize == size and (dtype.kind in "biuf" or dtype.name == "bfloat16") and (
                    kind.equal(h5t.py_create(dtype, logical=True))):
                return np.dtype(dtype.str) if dtype.kind in "biuf" else dtype
        if sort == h5t.OPAQUE and size == 2:  # bfloat16
            return np.dtype("V2")
        if sort == h5t.STRING and not kind.is_variable_str():
            return np.dtype(f"S{size}")
        names = {getattr(h5t, name): name.lower() for name in (
            "INTEGER", "FLOAT", "TIME", "STRING", "BITFIELD", "OPAQUE", "COMPOUND", "REFERENCE", "ENUM", "VLEN",
            "ARRAY") if hasattr(h5t, name)}
        raise self._file.refused(self.place, f"has values of the type {names.get(sort, sort)} of {size} bytes, which "
                                 "are no plain numbers")

    def _filter(self, described):
        """(number, what it was given) of a filter that weights may have."""
        number, _, values, name = described
        if number not in (_DEFLATE, _SHUFFLE) or not self._is_chunked:
            name = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
            raise self._file.refused(self.place, f"is packed by the filter {_FILTERS.get(number, name or number)!r} "
                                     "(gzip and shuffle are read)")
        return number, values

    def read(self, is_expected=True):
        """The values. `is_expected`: as many are asked for, so no limit on what they unpack to is needed."""
        file, size = self._file, self.nbytes
        try:
            stored = self._found.id.get_storage_size()
            if not is_expected:
                limits.check_unpacked(size, min(stored, file.size), f"{file.where}: {self.place}", "an array")
            file.take(self.place, size)
            if stored > file.size:
                raise file.refused(self.place, f"has {stored} bytes, more than the file")
            if self._is_chunked:
                return self._of_chunks()
            if self._is_contiguous and stored not in (0, size):
                raise file.refused(self.place, f"has {stored} bytes for {size}")
            if self._is_contiguous and stored and self._found.id.get_offset() + stored > file.size:
                raise file.refused(self.place, "lies beyond the end of the file")
            return self._in_parts() if size > _AT_ONCE and self.shape else np.asarray(self._found[()], self.dtype)
        except (OSError, KeyError, RuntimeError, TypeError, ValueError, MemoryError, zlib.error) as error:
            raise file.unreadable(error) from None

    def _in_parts(self):
        """The values of a large array, some rows at a time, because nobody who reads them all at once hears Ctrl-C."""
        whole = np.empty(self.shape, self.dtype)
        rows = max(1, _AT_ONCE * len(whole) // self.nbytes)
        for first in range(0, len(whole), rows):
            whole[first:first + rows] = self._found[first:first + rows]
            look()
        return whole

    def _of_chunks(self):
        chunk, place = self._found.chunks, self.place
        size = math.prod(chunk) * self.dtype.itemsize
        if size > max(self.nbytes, _SMALL_CHUNK) or min(chunk) < 1:
            raise self._file.refused(place, f"has chunks of shape {chunk}, larger than the array of shape {self.shape}")
        counts = [-(-dim // step) for dim, step in zip(self.shape, chunk)]
        limits.check("members", math.prod(counts), f"{self._file.where}: {place}", "chunks of an array")
        whole = np.full(self.shape, self._found.fillvalue, self.dtype) if self.dtype.kind != "V" else (
            np.zeros(self.shape, self.dtype))
        for at in itertools.product(*map(range, counts)):
            start = tuple(number * step for number, step in zip(at, chunk))
            values = self._chunk(start, chunk, size)
            if values is not None:
                target = whole[tuple(slice(one, one + step) for one, step in zip(start, chunk))]
                target[...] = values[tuple(slice(dim) for dim in target.shape)]
        return whole

    def _chunk(self, start, chunk, size):
        """The values of the chunk at a place; None where the file has none."""
        found = self._found.id.get_chunk_info_by_coord(start)
        if found.byte_offset is None:
            return None
        if found.byte_offset + found.size > self._file.size:
            raise self._file.refused(self.place, f"has a chunk of {found.size} bytes beyond the end of the file")
        mask, data = self._found.id.read_direct_chunk(start)
        for position, (number, values) in reversed(list(enumerate(self._filters))):
            if mask >> position & 1:
                continue
            data = self._inflated(data, size) if number == _DEFLATE else _in_order(data, values[0] if values else 1)
        if len(data) != size:
            raise self._file.refused(self.place, f"has a chunk of {len(data)} bytes; expected {size}")
        values = np.frombuffer(data, np.uint8 if self.dtype.kind == "b" else self.dtype)
        return (values != 0 if self.dtype.kind == "b" else values).reshape(chunk)

    def _inflated(self, data, size):
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(data, size + 1)
        if len(data) > size or not unpacker.eof:
            raise self._file.refused(self.place, f"has a chunk that unpacks to other than {size} bytes")
        return data


def _in_order(data, width):
    """Bytes that were put in order by their place in each value of `width` bytes, as they were before."""
    count = len(data) // max(width, 1)
    if width <= 1 or count <= 1:
        return data
    whole = np.frombuffer(data, np.uint8)
    return whole[:count * width].reshape(width, count).T.tobytes() + whole[count * width:].tobytes()
