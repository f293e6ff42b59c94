"""Files of records with a package of their own: LMDB and ArrayRecord. ``leat.data.from_lmdb`` and so on."""

import contextlib
import os
import threading

import numpy as np

from leat import dtypes, errors
from leat._core import specs
from leat._core.tensor import convert_to_tensor
from leat._files import places
from leat.data.dataset import AUTOTUNE
from leat.data.formats import parts
from leat.data.formats.arrays import components
from leat.data.formats.far import Copies
from leat.data.formats.packages import need
from leat.data.formats.parquet import _Recent

_RECORDS = 1024  # of a part
_STRINGS = specs.TensorSpec([None], dtypes.string)


def _strings(values):
    out = np.empty(len(values), object)
    out[:] = values
    return convert_to_tensor(out, dtypes.string)


# ---- LMDB ----

class _Databases:
    """Databases that are open; a process opens each once, and its threads share it."""

    def __init__(self):
        self._open, self._lock = {}, threading.Lock()

    @contextlib.contextmanager
    def reading(self, path):
        """The database, while the block runs."""
        lmdb, path = need("lmdb", "from_lmdb"), os.path.realpath(path)
        with self._lock:
            if path not in self._open:
                self._open[path] = [lmdb.open(path, subdir=False, readonly=True, lock=False, create=False,
                                              readahead=False, max_spare_txns=16), 0]
            entry = self._open[path]
            entry[1] += 1
        try:
            yield entry[0]
        finally:
            with self._lock:
                entry[1] -= 1
                if not entry[1]:
                    del self._open[path]
                    entry[0].close()


_databases = _Databases()


def from_lmdb(paths, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None, shuffle=False, seed=None,
              name=None):
    """The pairs of LMDB databases, {"key", "value"} of bytes, in the order of keys; ``batch_size`` of them at a time
    where that is given. Takes the package lmdb.

    paths: a database (a folder with data.mdb, or a file), or a list of these. Databases are not locked: nobody may
    write them meanwhile. One of another machine is copied to LEAT_CACHE_DIR, where its iterator comes to it. shuffle:
    parts of 1024 pairs in another order each epoch.
    """
    need("lmdb", "from_lmdb")
    paths = [os.fsdecode(path) for path in ([paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths)]
    if not paths:
        raise ValueError("from_lmdb: no paths were given")
    files = [os.path.join(path, "data.mdb") if places.is_folder(path) else path for path in paths]
    copies = Copies("from_lmdb")

    @contextlib.contextmanager
    def reading(path):
        if not os.path.exists(path):
            raise FileNotFoundError("there is no such database")
        with _databases.reading(path) as database, database.begin() as transaction, transaction.cursor() as cursor:
            yield cursor

    def starts(path):
        with reading(path) as cursor:
            return [key for number, key in enumerate(cursor.iternext(values=False)) if number % _RECORDS == 0]
    known = _Recent(starts)

    def lmdb_parts(path):
        with parts.Failure("from_lmdb", path):
            return range(len(known(copies(path, anew=True))))

    def lmdb_pairs(path, number):
        with parts.Failure("from_lmdb", path, f", pairs from {number * _RECORDS} on"), reading(copies(path)) as cursor:
            found = []
            if cursor.set_range(known(copies(path))[number]):
                for pair in cursor.iternext():
                    found.append(pair)
                    if len(found) == _RECORDS:
                        break
            return {"key": _strings([key for key, _ in found]), "value": _strings([value for _, value in found])}
    with parts.Failure("from_lmdb", paths[0]), reading(copies(files[0])):
        pass
    return parts.of_files(files, lmdb_parts, lmdb_pairs, {"key": _STRINGS, "value": _STRINGS},
                          num_parallel_calls=num_parallel_calls, deterministic=deterministic, shuffle=shuffle,
                          seed=seed, batch_size=batch_size, name=name)


def to_lmdb(dataset, path, map_size=1 << 40):
    """Writes elements {"key", "value"} of bytes as an LMDB database, a folder that is not there yet; returns how many
    there were. Takes the package lmdb. map_size: more than the file will have. A key that comes again replaces its
    value. The folder appears whole or not at all."""
    lmdb = need("lmdb", "to_lmdb")
    spec = components(dataset, "to_lmdb")
    if set(spec) != {"key", "value"} or any(one.dtype is not dtypes.string or one.shape.rank for one in spec.values()):
        raise TypeError(f"to_lmdb: elements are {spec}; expected {{'key', 'value'}} of strings")
    path = os.fsdecode(path)
    if places.exists(path):
        raise errors.AlreadyExistsError(None, None, f"to_lmdb: {path} is there; choose another folder")

    def write(place):
        total = 0
        with lmdb.open(place, map_size=map_size) as database:
            for batch in dataset.batch(_RECORDS).as_numpy_iterator():
                with database.begin(write=True) as transaction:
                    for key, value in zip(batch["key"], batch["value"]):
                        transaction.put(key, value)
                total += len(batch["key"])
        os.remove(os.path.join(place, "lock.mdb"))
        return total
    with parts.Failure("to_lmdb", path):
        return parts.written(path, "to_lmdb", write)


# ---- ArrayRecord ----

def from_array_record(paths, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None, shuffle=False, seed=None,
                      name=None):
    """The records of ArrayRecord files, as Grain writes and reads them: bytes; ``batch_size`` of them at a time where
    that is given. Takes the package array_record.

    paths: a file, a folder (of ".array_record" and ".arrayrecord"), a pattern, or a list of these. Files of other
    machines are copied to LEAT_CACHE_DIR, where an iterator comes to them. shuffle: parts of 1024 records in another
    order each epoch.
    """
    module = need("array_record.python.array_record_module", "from_array_record")
    paths = parts.paths_of(paths, "from_array_record", (".array_record", ".arrayrecord"), everywhere=True)
    copies = Copies("from_array_record")

    @contextlib.contextmanager
    def reading(path, anew=False):
        path = copies(path, anew)
        with open(path, "rb"):  # its own message says neither what is missing nor where
            pass
        reader = module.ArrayRecordReader(path)
        try:
            yield reader
        finally:
            reader.close()

    def array_record_parts(path):
        with parts.Failure("from_array_record", path), reading(path, anew=True) as reader:
            return range(-(-reader.num_records() // _RECORDS))

    def array_records(path, number):
        with parts.Failure("from_array_record", path, f", records from {number * _RECORDS} on"), reading(path) as one:
            first = number * _RECORDS
            return _strings(one.read(first, min(first + _RECORDS, one.num_records())))
    with parts.Failure("from_array_record", paths[0]), reading(paths[0]):
        pass
    return parts.of_files(paths, array_record_parts, array_records, _STRINGS, num_parallel_calls=num_parallel_calls,
                          deterministic=deterministic, shuffle=shuffle, seed=seed, batch_size=batch_size, name=name)


def to_array_record(dataset, path, group_size=1, options=""):
    """Writes the elements, scalars of bytes, as an ArrayRecord file; returns how many there were. Takes the package
    array_record. group_size: records that are compressed together and read together; 1, as Grain has it, is for
    reading by number. options: more of the writer's own, as a text ("zstd:5"). The file appears whole or not at all."""
    module = need("array_record.python.array_record_module", "to_array_record")
    spec = dataset.element_spec
    if not isinstance(spec, specs.TensorSpec) or spec.dtype is not dtypes.string or spec.shape.rank != 0:
        raise TypeError(f"to_array_record: elements are {spec}; expected scalars of strings, such as what "
                        "tf.train.Example(...).SerializeToString() gives")

    def write(place):
        total = 0
        writer = module.ArrayRecordWriter(place, ",".join(filter(None, [f"group_size:{group_size}", options])))
        try:
            for record in dataset.as_numpy_iterator():
                writer.write(record)
                total += 1
        finally:
            writer.close()
        return total
    with parts.Failure("to_array_record", os.fsdecode(path)):
        return parts.written(path, "to_array_record", write)
