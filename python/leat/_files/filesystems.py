"""Files of fsspec's file systems, and of those that a program registers (``leat.io.register_filesystem``).

The library calls an object of this module for each scheme (python/native/filesystem.c), under the GIL and from any
thread. Who reads a file from start to end has pieces fetched ahead by threads; who reads here and there gets what is
asked for. What is written is kept until it is put, and then written as a whole. Errors are those of ``leat.errors``,
as TensorFlow's file systems have them for the same failure.
"""

import contextlib
import os
import threading

from leat import _native, errors

_PIECE, _LEAST, _AHEAD, _THREADS = 4 << 20, 256 << 10, 4, 16
_IN_MEMORY = 64 << 20  # bytes of a file that is written; of more a temporary file is made
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
_KINDS = ((FileNotFoundError, errors.NotFoundError), (NotADirectoryError, errors.FailedPreconditionError),
          (IsADirectoryError, errors.FailedPreconditionError), (FileExistsError, errors.AlreadyExistsError),
          (PermissionError, errors.PermissionDeniedError), (NotImplementedError, errors.UnimplementedError),
          (TimeoutError, errors.UnavailableError), (ConnectionError, errors.UnavailableError),
          (ValueError, errors.InvalidArgumentError), (MemoryError, errors.ResourceExhaustedError))

registered = {}  # {scheme: what the library calls}


@contextlib.contextmanager
def _at(path):
    """Has what a file system raises be an error of ``leat.errors`` that names the path."""
    try:
        yield
    except errors.OpError:
        raise
    except Exception as error:
        kind = next((kind for cause, kind in _KINDS if isinstance(error, cause)), errors.UnknownError)
        raise kind(None, None, f"{path}: {type(error).__name__}: {error}") from error


# ---- reading ----

class _Done:
    """What was fetched by who wanted it, as a future has it."""

    def __init__(self, data):
        self._data = data

    def result(self):
        """The bytes."""
        return self._data

    def cancel(self):
        """Nothing is left to be cancelled."""


class _Fetchers:
    """The threads that fetch ahead; a forked process makes its own."""

    def __init__(self):
        self._pool, self._lock = None, threading.Lock()
        os.register_at_fork(after_in_child=self.__init_child)

    def __init_child(self):
        self._pool, self._lock = None, threading.Lock()

    def start(self, function, *args):
        """A future of what a call gives."""
        import concurrent.futures
        with self._lock:
            if self._pool is None:
                self._pool = concurrent.futures.ThreadPoolExecutor(_THREADS, "leat-fsspec")
            return self._pool.submit(function, *args)


_fetchers = _Fetchers()


class _File:
    """A file that is read by ranges, from several threads."""

    def __init__(self, system, inner, size, path):
        self._system, self._inner, self._size, self._path = system, inner, size, path
        self._lock, self._pieces, self._next, self._depth = threading.Lock(), {}, 0, 0

    def _fetch(self, start, size):
        with _at(self._path):
            data = self._system.cat_file(self._inner, start=start, end=start + size)
        if len(data) != size:
            raise errors.DataLossError(None, None, f"{self._path}: {len(data)} bytes at byte {start}, expected {size}; "
                                       "it was changed while it was read: read it again")
        return data

    def _piece(self, offset, want):
        """(first byte, size, future or None) of the piece with a byte; None: the caller fetches it. Who goes on where
        they stopped has what follows fetched."""
        with self._lock:
            goes_on = offset == self._next
            found = next(((start, *piece) for start, piece in self._pieces.items()
                          if start <= offset < start + piece[0]), None)
            if goes_on:
                for start in [start for start, (size, _) in self._pieces.items() if start + size <= offset]:
                    del self._pieces[start]
            if found is None:
                size = min(_PIECE if goes_on else max(want, _LEAST), self._size - offset)
                found = offset, size, None
            if goes_on and offset:
                self._depth = min(self._depth + 1, _AHEAD)
                at = found[0] + found[1]
                for _ in range(self._depth):
                    if at < self._size and at not in self._pieces:
                        size = min(_PIECE, self._size - at)
                        self._pieces[at] = size, _fetchers.start(self._fetch, at, size)
                    at += _PIECE
            return found

    def read(self, offset, view):
        """Fills the view from byte `offset` on; how many bytes there were."""
        done, want = 0, max(0, min(len(view), self._size - offset))
        while done < want:
            start, size, future = self._piece(offset + done, want - done)
            try:
                if future is None:
                    data = self._fetch(start, size)
                    with self._lock:
                        if len(self._pieces) < 2 * _AHEAD:
                            self._pieces[start] = size, _Done(data)
                else:
                    data = future.result()
            except BaseException:
                with self._lock:
                    self._pieces.pop(start, None)  # another read asks anew
                raise
            part = memoryview(data)[offset + done - start:][:want - done]
            view[done:done + len(part)] = part
            done += len(part)
            with self._lock:
                self._next = offset + done
        return done

    def close(self):
        """Lets go what was fetched."""
        with self._lock:
            for _, future in self._pieces.values():
                future.cancel()
            self._pieces.clear()


class _Whole:
    """A file whose size is not known before it is read."""

    def __init__(self, data):
        self._data = memoryview(data)

    def read(self, offset, view):
        """Fills the view from byte `offset` on; how many bytes there were."""
        part = self._data[offset:offset + len(view)]
        view[:len(part)] = part
        return len(part)

    def close(self):
        """Lets it go."""
        self._data = None


# ---- writing ----

class _Sink:
    """A file that is there, whole, once it is put."""

    def __init__(self, system, inner, path):
        self._system, self._inner, self._path = system, inner, path
        import tempfile
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)

    def write(self, view):
        """Appends bytes."""
        self._file.write(view)

    def put(self):
        """Gives it its name. Systems that upload do it at once; others write beside it and move it, where they can."""
        import shutil
        size = self._file.tell()
        self._file.seek(0)
        with _at(self._path):
            if size <= _IN_MEMORY and _puts_at_once(self._system):
                self._system.pipe_file(self._inner, self._file.read())
                return
            target = self._opened()
            try:
                shutil.copyfileobj(self._file, target, _PIECE)
                target.close()
            except BaseException:
                if hasattr(target, "discard"):
                    target.discard()
                raise
            if getattr(target, "autocommit", True) is False:
                if _is_hdfs(self._system):
                    self._make_place()
                target.commit()
                found = self._system.info(self._inner).get("size", size)
                if found != size:
                    raise errors.DataLossError(None, None, f"{self._path}: of {size} bytes that were written {found} "
                                               "are there")

    def _make_place(self):
        """HDFS gives a file no name that is taken or whose folder is not there, and fsspec does not say so."""
        if self._system.exists(self._inner):
            self._system.rm_file(self._inner)
        self._system.makedirs(self._inner.rpartition("/")[0] or "/", exist_ok=True)

    def _opened(self):
        try:
            return self._system.open(self._inner, "wb", autocommit=False)
        except TypeError:
            return self._system.open(self._inner, "wb")

    def discard(self):
        """Gives up what was not put."""
        self._file.close()


# ---- file systems ----

def _protocols(system):
    return (system.protocol,) if isinstance(system.protocol, str) else system.protocol


def _puts_at_once(system):
    """Do files of bytes in memory appear as a whole?"""
    return getattr(system, "async_impl", False) or "memory" in _protocols(system)


def _is_hdfs(system):
    """Is it Hadoop's, by WebHDFS?"""
    return "webhdfs" in _protocols(system)


def _seconds(info):
    """When a file was changed, in seconds since 1970; -1: not known."""
    import datetime
    if "modificationTime" in info:  # WebHDFS, in milliseconds
        return info["modificationTime"] // 1000
    found = next((info[name] for name in _TIMES if info.get(name) is not None), None)
    if isinstance(found, str):
        with contextlib.suppress(ValueError):
            found = datetime.datetime.fromisoformat(found)
    if isinstance(found, datetime.datetime):
        found = (found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)).timestamp()
    return int(found) if isinstance(found, (int, float)) else -1


class _FileSystem:
    """What the library calls for the paths of a scheme; `own`: fsspec's object, or None: that of the path."""

    def __init__(self, own=None):
        self._own = own

    def _find(self, path):
        """(fsspec's object, the path in it)."""
        if self._own is not None:
            is_hdfs = _is_hdfs(self._own)  # hdfs://name-node:8020/path
            return self._own, self._own._strip_protocol(path) if is_hdfs else path.partition("://")[2]
        import fsspec.core
        return fsspec.core.url_to_fs(path)

    def _info(self, path):
        system, inner = self._find(path)
        system.invalidate_cache()
        return system, inner, system.info(inner)

    def open(self, path):
        """(file, bytes)"""
        with _at(path):
            system, inner, info = self._info(path)
            if info["type"] == "directory":
                raise errors.FailedPreconditionError(None, None, f"{path}: it is a folder and cannot be read; name a "
                                                     "file in it")
            size = info.get("size")
            if size is None:
                data = system.cat_file(inner)
                return _Whole(data), len(data)
            return _File(system, inner, size, path), size

    def stat(self, path):
        """(is it a folder, bytes, seconds since 1970)"""
        with _at(path):
            _, _, info = self._info(path)
            is_folder, size = info["type"] == "directory", info.get("size")
            return is_folder, -1 if is_folder or size is None else size, _seconds(info)

    def list(self, path):
        """[(name, is it a folder)]"""
        with _at(path):
            system, inner, info = self._info(path)
            if info["type"] != "directory":
                raise errors.NotFoundError(None, None, f"{path}: it is no folder")
            return [(one["name"].rstrip("/").rpartition("/")[2], one["type"] == "directory")
                    for one in system.ls(inner, detail=True)]

    def create(self, path):
        """A sink for a file."""
        with _at(path):
            system, inner = self._find(path)
            if path.endswith("/") or system.isdir(inner):
                raise errors.FailedPreconditionError(None, None, f"{path}: cannot write it: it is a folder; name a "
                                                     "file in it")
            return _Sink(system, inner, path)

    def remove(self, path):
        """Removes a file or an empty folder."""
        with _at(path):
            system, inner, info = self._info(path)
            if info["type"] == "directory" and not _is_hdfs(system):
                system.rmdir(inner)
            else:
                system.rm_file(inner)

    def make_folders(self, path):
        """Makes a folder and those above it."""
        with _at(path):
            system, inner = self._find(path)
            system.makedirs(inner, exist_ok=True)


def register_filesystem(scheme, filesystem):
    """Has paths "scheme://..." be files of a file system of fsspec's: an object, or a class of such objects.

    leat.io.register_filesystem("data", fsspec.filesystem("dir", path="/mnt/data", target_protocol="file")) makes
    "data://train/*.tfrecord" the files in that folder, wherever files are read, listed or written. It takes the place
    of what the scheme was before. InvalidArgumentError for what is no scheme.
    """
    filesystem = filesystem() if isinstance(filesystem, type) else filesystem
    missing = [name for name in ("cat_file", "info", "ls", "open") if not hasattr(filesystem, name)]
    if missing:
        raise TypeError("`filesystem` must be one of fsspec's (fsspec.spec.AbstractFileSystem). Received: "
                        f"{filesystem!r}, which has no {missing[0]}")
    _register(scheme, _FileSystem(filesystem))


def _register(scheme, calls):
    _native.register_filesystem(scheme, calls)
    registered[scheme] = calls


def find(path):
    """Registers the scheme of a path where fsspec has it; was it so? UnimplementedError says how to get fsspec, or what
    else its file system takes."""
    scheme = path[:path.find(":")]
    is_chain = path.startswith(scheme + "::")
    try:
        import fsspec
    except ImportError as error:
        if is_chain and "://" not in path:
            return False
        raise errors.UnimplementedError(None, None, f"{path}: no file system for {scheme}; fsspec has many others: "
                                        "pip install fsspec, or register one by leat.io.register_filesystem") from error
    if scheme not in fsspec.available_protocols():
        return False
    try:
        fsspec.get_filesystem_class(scheme)
    except ImportError as error:
        raise errors.UnimplementedError(None, None, f"{path}: fsspec's file system for {scheme} takes a package that "
                                        f"is not installed: {error}") from error
    _register(scheme, _FileSystem())
    return True
