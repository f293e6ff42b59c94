"""Files of other machines for packages that want a file of this one, or an object that reads like one."""

import hashlib
import os
import threading

from leat import errors
from leat._core.paths import remote
from leat._files import places
from leat._files.remote import Reader, open_file

_PIECE = 1 << 22


class Files:
    """What pyarrow's FSSpecHandler asks of a file system: one remote file, which is open once for all who read it."""

    protocol = "leat"

    def __init__(self, path):
        self._path, self._first = path, Reader(path)

    def isfile(self, path):
        """Is the path the file's?"""
        return path == self._path

    def info(self, path):
        """What a listing says of it."""
        return {"name": path, "type": "file", "size": self._first.size}

    def open(self, path=None, mode="rb"):
        """The file, with a position of its own."""
        return Reader(self._path, self._first)


class Copies:
    """The files by which remote ones are read where a package takes files of this machine alone.

    A copy is a file in LEAT_CACHE_DIR, which the library's own cache counts and removes as it does its blocks
    (src/file/remote_cache.c). Its name follows from the path, the size and the time of the last change, so that another
    version is another file. From any thread; several processes may copy the same file at a time.
    """

    def __init__(self, function):
        self._function, self._known = function, {}

    def __call__(self, path, anew=False):
        """The path on this machine. anew: asks the other one whether there is another version."""
        if not remote(path):
            return path
        found = None if anew else self._known.get(path)
        if found is None or not os.path.exists(found):
            found = self._known[path] = self._copied(path)
        return found

    def _copied(self, path):
        folder, size, changed = os.environ.get("LEAT_CACHE_DIR"), places.size(path), places.changed(path)
        if not folder:
            raise errors.FailedPreconditionError(None, None, f"{self._function}: {path} is read by a package that wants"
                                                 " files of this machine; name a folder for copies in LEAT_CACHE_DIR")
        if changed < 0 or size < 0:
            raise errors.UnimplementedError(None, None, f"{self._function}: the server does not say when {path} was "
                                            "changed, so a copy could be of another version; copy it yourself "
                                            "(tf.io.gfile.copy)")
        text = os.environ.get("LEAT_CACHE_BYTES") or "10737418240"
        most = int(text) if text.isdecimal() else 0
        if most < 1:
            raise errors.InvalidArgumentError(None, None, f"{self._function}: LEAT_CACHE_BYTES is {text!r}; expected "
                                              "how many bytes LEAT_CACHE_DIR may hold, such as 10000000000")
        if size > most:
            raise errors.ResourceExhaustedError(None, None, f"{self._function}: {path} has {size} bytes, and "
                                                f"LEAT_CACHE_BYTES lets LEAT_CACHE_DIR hold {most}; raise it")
        key = hashlib.sha256(f"{path}\0{size}\0{changed}".encode("utf-8", "surrogateescape")).hexdigest()[:40]
        copy = os.path.join(folder, f"{key}.file")
        if os.path.exists(copy):
            os.utime(copy)  # it was used now
            return copy
        temporary = os.path.join(folder, f"{os.getpid()}-{threading.get_ident()}-{key}.tmp")
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
            place = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise errors.FailedPreconditionError(None, None, f"{self._function}: LEAT_CACHE_DIR cannot be written: "
                                                 f"{error}") from error
        try:
            with open(place, "wb") as target, open_file(path, "rb") as source:
                while data := source.read(_PIECE):
                    target.write(data)
            if os.path.getsize(temporary) != size:
                raise errors.DataLossError(None, None, f"{self._function}: {path} changed while it was copied; read it "
                                           "again")
            os.replace(temporary, copy)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
        return copy
