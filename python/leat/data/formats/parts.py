"""Files made of parts that can be read one by one (row groups, record batches, shards), as datasets of their rows.

The plan begins with files_dataset, so that strategies and the data service deal out files. Functions over it list the
parts of a file and read one, in parallel where that is asked for; both give the same for the same file, so that a
saved iterator is a position.
"""

import contextlib
import glob
import os
import shutil
import time

from leat import _native, dtypes, errors, gfile
from leat._core import specs
from leat._core.paths import remote
from leat._files import places
from leat.data import experimental
from leat.data.dataset import AUTOTUNE
from leat.data.interchange import Fetch

_KILLED = 3600  # seconds behind which a temporary file of no process is nobody's
_MOST_SHUFFLED = 1 << 16  # parts that one buffer holds


def _far_paths(path, endings):
    """The same of one path of another machine or file system."""
    if places.is_folder(path):
        return sorted(f"{path.rstrip('/')}/{name}" for name in places.below(path) if name.endswith(tuple(endings)))
    return _native.path_glob(path) if any(letter in path for letter in "*?[") else [path]


def paths_of(paths, function, endings=(), everywhere=False):
    """The files of one path, folder or pattern, or of a list of them, as texts; a pattern's and folder's are sorted.
    `everywhere`: they may be of other machines too (`places`)."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    out = []
    for path in map(os.fsdecode, paths):
        path = path.removeprefix("file://")
        is_far = "://" in path
        if is_far and not everywhere:
            raise errors.UnimplementedError(None, None, f"{function}: {path} is no file of this machine; copy or mount "
                                            "it first")
        if is_far:
            found = _far_paths(path, endings) if remote(path) else []
        elif os.path.isdir(path):
            found = sorted(name for ending in endings for name in glob.glob(
                os.path.join(glob.escape(path), "**", "*" + ending), recursive=True))
        elif any(letter in path for letter in "*?[") and not os.path.exists(path):
            found = sorted(glob.glob(path, recursive=True))
        else:
            found = [path]
        if not found:
            raise errors.NotFoundError(None, None, f"{function}: there is no file for {path}" + (
                f"; in folders files end in {' or '.join(endings)}" if places.is_folder(path) else ""))
        out.extend(found)
    if not out:
        raise ValueError(f"{function}: no paths were given")
    return out


class Failure:
    """A context in which what goes wrong with a file is an exception of leat.errors that names it."""

    def __init__(self, function, path, part=""):
        self.where = f"{function}: {path}{part}"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is None or isinstance(error, errors.OpError) or not isinstance(error, Exception) or isinstance(
                error, (ImportError, MemoryError)):
            return
        text = f"{self.where}: {error}"
        if isinstance(error, FileNotFoundError):
            raise errors.NotFoundError(None, None, text) from error
        if isinstance(error, PermissionError):
            raise errors.PermissionDeniedError(None, None, text) from error
        if isinstance(error, NotImplementedError):
            raise errors.UnimplementedError(None, None, text) from error
        is_ours = type(error) in (ValueError, TypeError)  # those of packages have classes of their own
        raise (errors.InvalidArgumentError if is_ours else errors.DataLossError)(None, None, text) from error


def of_files(paths, count_parts, read, signature, *, num_parallel_calls=AUTOTUNE, deterministic=None, shuffle=False,
             seed=None, batch_size=None, name=None):
    """Rows, or batches of `batch_size` rows, of the parts of files.

    count_parts: (path) -> the numbers of its parts. read: (path, number) -> a batch of `signature`. shuffle: parts are
    in an order of their own in each epoch.
    """
    def list_parts(path):
        path = os.fsdecode(path.numpy())
        numbers = list(count_parts(path))
        return [path] * len(numbers), numbers

    def read_part(path, number):
        return read(os.fsdecode(path.numpy()), int(number))
    list_parts.__name__, read_part.__name__ = count_parts.__name__, read.__name__
    parts = experimental.files_dataset(paths).map(
        Fetch(_columns(list_parts), (specs.TensorSpec([None], dtypes.string), specs.TensorSpec([None], dtypes.int64)))
    ).unbatch()
    if shuffle:
        parts = parts.shuffle(_MOST_SHUFFLED, seed)
    batches = parts.map(Fetch(read_part, signature), num_parallel_calls=num_parallel_calls,
                        deterministic=deterministic)
    return batches.unbatch(name=name) if batch_size is None else batches.rebatch(batch_size, name=name)


def _columns(list_parts):
    """`list_parts` with its lists as tensors, also where these are empty."""
    import numpy as np

    from leat._core.tensor import convert_to_tensor

    def listed(path):
        names, numbers = list_parts(path)
        return convert_to_tensor(np.array(names, object)), convert_to_tensor(np.array(numbers, np.int64))
    listed.__name__ = list_parts.__name__
    return listed


def written(path, function, write):
    """``write(temporary path)``, and then the file or folder under its name; nothing is left where that fails."""
    with Together() as files:
        return write(files.begin(os.fsdecode(path)))


class Together:
    """Files, or folders, that get their names together when the block ends without a failure, and else are removed.

    What a killed process left of one of these names, NAME.PROCESS.partial, goes when the name is written again, an hour
    later: another machine that shares the disk may have a process of that number. Files of other machines are written
    into a temporary folder of this one, and sent when they are whole.
    """

    def __init__(self):
        self._names = {}  # {temporary: final}, in the order in which they were begun
        self._folder = None  # of files of other machines

    def begin(self, path):
        """The name that a file has until it is whole."""
        if remote(path):
            return self._begin_far(path)
        for left in glob.glob(glob.escape(path) + ".*.partial"):
            with contextlib.suppress(OSError):
                if time.time() - os.stat(left).st_mtime > _KILLED and not _lives(left.split(".")[-2]):
                    _remove(left)
        temporary = f"{path}.{os.getpid()}.partial"
        self._names[temporary] = path
        return temporary

    def _begin_far(self, path):
        import tempfile
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="leat-")
        temporary = os.path.join(self._folder.name, f"{len(self._names)}-{os.path.basename(path)}")
        self._names[temporary] = path
        return temporary

    def drop(self, path):
        """Gives up one of them."""
        temporary = next(one for one, final in self._names.items() if final == path)
        del self._names[temporary]
        _remove(temporary)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        try:
            if kind is None:
                for temporary in list(self._names):
                    _put(temporary, self._names[temporary])
                    del self._names[temporary]
        finally:
            for temporary in self._names:
                _remove(temporary)
            if self._folder is not None:
                self._folder.cleanup()


def _put(temporary, path):
    """Gives a file its name."""
    if not remote(path):
        os.replace(temporary, path)
    elif os.path.isdir(temporary):
        for name in places.below(temporary):
            gfile.copy(os.path.join(temporary, name), f"{path.rstrip('/')}/{name}", overwrite=True)
    else:
        gfile.copy(temporary, path, overwrite=True)


def _remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.exists(path):
        os.unlink(path)


def _lives(number):
    try:
        os.kill(int(number), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:
        pass
    return True
