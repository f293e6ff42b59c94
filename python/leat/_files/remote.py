"""Files of other machines for ``leat.gfile`` (docs/REMOTE.md): what Python's own functions do for those of this one."""

import io

from leat import _native, errors


class Reader(io.RawIOBase):
    """The bytes of a file, read by ranges; those of `shared`, a Reader of the same file, where that is given."""

    def __init__(self, path, shared=None):
        self._reader = _native.FileReader.open(path) if shared is None else shared._reader
        self.size = self._reader.size()
        self._at = 0
        self.name = path
        self.mode = "rb"

    def readable(self):
        """It is."""
        return True

    def seekable(self):
        """It is."""
        return True

    def tell(self):
        """The byte that is read next."""
        return self._at

    def seek(self, offset, whence=io.SEEK_SET):
        """Goes to a byte, which may lie behind the end."""
        at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        if at < 0:
            raise ValueError(f"negative seek position {at}")
        self._at = at
        return at

    def readinto(self, buffer):
        """Fills a buffer; how many bytes there were."""
        if self.closed:
            raise ValueError("I/O operation on closed file")
        got = self._reader.read_into(self._at, buffer)
        self._at += got
        return got

    def close(self):
        """Lets the file go."""
        self._reader = None
        super().close()


class _Writer(io.RawIOBase):
    """A file that is there, whole, once it is closed."""

    def __init__(self, path):
        self._writer = _native.FileWriter.open(path)
        self.name = path
        self.mode = "wb"

    def writable(self):
        return True

    def write(self, data):
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if self._writer is not None:
            self._writer.write(data)
        return memoryview(data).nbytes

    def discard(self):
        """Gives the file up; what is written then goes nowhere."""
        self._writer.discard()
        self._writer = None

    def close(self):
        if not self.closed:
            writer, self._writer = self._writer, None
            super().close()
            if writer is not None:
                writer.close()


class _Bytes(io.BufferedWriter):
    """Bytes to a writer; what ends in an exception is given up."""

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            self.raw.discard()
        return super().__exit__(kind, error, traceback)


class _Text(io.TextIOWrapper):
    """Text to a writer; likewise."""

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            self.buffer.raw.discard()
        return super().__exit__(kind, error, traceback)


def open_file(path, mode):
    """The file, as `open` gives it, for reading ("r") or writing ("w") of text or bytes ("b")."""
    kind = mode.replace("b", "").replace("t", "")
    if kind not in ("r", "w", "a", "r+", "w+", "a+"):
        raise errors.InvalidArgumentError(None, None, f"{path}: mode {mode!r}; expected r, rb, w or wb")
    if kind not in ("r", "w"):
        raise errors.UnimplementedError(None, None, f"{path}: mode {mode!r} changes what is there, and remote files "
                                        "are written whole; read it, and write it anew (expected r, rb, w or wb)")
    if kind == "r":
        read = io.BufferedReader(Reader(path), 1 << 18)
        return read if "b" in mode else io.TextIOWrapper(read)
    written = _Bytes(_Writer(path), 1 << 18)
    return written if "b" in mode else _Text(written)


def exists(path):
    """Is there a file or folder?"""
    try:
        _native.path_stat(path)
    except errors.NotFoundError:
        return False
    return True


def is_folder(path):
    """Is there a folder?"""
    try:
        return _native.path_stat(path)[0]
    except errors.NotFoundError:
        return False


def listed(path):
    """The names in a folder."""
    return _native.path_list(path)


def rename(src, dst, copy):
    """Gives an object of a store another name, by `copy` and removal."""
    if src == dst:
        return
    if src.partition("://")[0] != dst.partition("://")[0]:
        raise errors.UnimplementedError(None, None, f"{src} cannot be renamed to {dst}, which lies in another file "
                                        "system; copy it (tf.io.gfile.copy), then remove it")
    if is_folder(src):
        raise errors.UnimplementedError(None, None, f"{src}: a folder of an object store has no name of its own that "
                                        "could be changed at once; copy what is in it (tf.io.gfile.walk and copy), "
                                        "then remove it (tf.io.gfile.rmtree)")
    copy(src, dst, overwrite=True)
    _native.path_remove(src)


def remove_all(path):
    """Removes all files below a folder, or one file."""
    path = path.rstrip("/")
    if not is_folder(path):
        _native.path_remove(path)
        return
    for name in listed(path):
        inner = f"{path}/{name}"
        if is_folder(inner):
            remove_all(inner)
        else:
            _native.path_remove(inner)
    if is_folder(path):  # in object stores it went with what was in it
        _native.path_remove(path)


def walk(top, topdown, onerror=None):
    """(folder, names of folders, names of files) of a folder and all below it. What cannot be listed goes to
    ``onerror(error)``, or is passed over."""
    top = top.rstrip("/")
    folders, files = [], []
    try:
        found = sorted(listed(top)) if is_folder(top) else []
    except errors.OpError as error:
        if onerror:
            onerror(error)
        return
    if not found:
        return
    for name in found:
        (folders if is_folder(f"{top}/{name}") else files).append(name)
    if topdown:
        yield top, folders, files
    for name in folders:
        yield from walk(f"{top}/{name}", topdown, onerror)
    if not topdown:
        yield top, folders, files
