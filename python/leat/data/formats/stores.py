"""Files of records with a package of their own: LMDB, Avro and ArrayRecord. ``leat.data.from_lmdb`` and so on."""

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
    write them meanwhile. shuffle: parts of 1024 pairs in another order each epoch.
    """
    need("lmdb", "from_lmdb")
    paths = [os.fsdecode(path) for path in ([paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths)]
    if not paths:
        raise ValueError("from_lmdb: no paths were given")
    files = [os.path.join(path, "data.mdb") if os.path.isdir(path) else path for path in paths]

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
            return range(len(known(path)))

    def lmdb_pairs(path, number):
        with parts.Failure("from_lmdb", path, f", pairs from {number * _RECORDS} on"), reading(path) as cursor:
            found = []
            if cursor.set_range(known(path)[number]):
                for pair in cursor.iternext():
                    found.append(pair)
                    if len(found) == _RECORDS:
                        break
            return {"key": _strings([key for key, _ in found]), "value": _strings([value for _, value in found])}
    with parts.Failure("from_lmdb", paths[0]), reading(files[0]):
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
    if os.path.exists(path):
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


# ---- Avro ----

_AVRO = {"int": dtypes.int32, "long": dtypes.int64, "float": dtypes.float32, "double": dtypes.float64,
         "boolean": dtypes.bool, "string": dtypes.string, "bytes": dtypes.string, "fixed": dtypes.string,
         "enum": dtypes.string}
_TO_AVRO = {dtypes.int32: "int", dtypes.int64: "long", dtypes.float32: "float", dtypes.float64: "double",
            dtypes.bool: "boolean", dtypes.string: "bytes", dtypes.int8: "int", dtypes.int16: "int",
            dtypes.uint8: "int", dtypes.uint16: "int", dtypes.uint32: "long"}


def _avro_kind(field, path):
    """(DType, may it be null) of a field."""
    kind, is_nullable = field["type"], False
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        is_nullable, kind = len(others) < len(kind), others[0] if len(others) == 1 else kind
    kind = kind.get("type") if isinstance(kind, dict) else kind
    if not isinstance(kind, str) or kind not in _AVRO:
        raise errors.UnimplementedError(None, None, f"from_avro: field {field['name']!r} of {path} is {field['type']}; "
                                        "numbers, truth values, texts and bytes are read: leave it out (columns=...)")
    return _AVRO[kind], is_nullable


def from_avro(paths, columns=None, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None, shuffle=False,
              seed=None, nulls="refuse", name=None):
    """The records of Avro files as dictionaries by field; ``batch_size`` of them at a time where that is given. Takes
    the package fastavro.

    Fields are numbers, truth values, texts, bytes and enumerations; columns: those that are wanted. nulls: "refuse"
    them (InvalidArgumentError), or "zero" has 0, False and "" in their place. A file is read as a whole,
    `num_parallel_calls` at a time.
    """
    fastavro = need("fastavro", "from_avro")
    paths = parts.paths_of(paths, "from_avro", (".avro",), everywhere=True)
    if nulls not in ("refuse", "zero"):
        raise ValueError(f"from_avro: nulls is {nulls!r}; expected 'refuse' or 'zero'")
    with parts.Failure("from_avro", paths[0]), places.opened(paths[0]) as file:
        fields = {field["name"]: field for field in fastavro.reader(file).writer_schema.get("fields", ())}
    names = list(fields) if columns is None else list(columns)
    missing = [one for one in names if one not in fields]
    if missing or not names:
        raise ValueError(f"from_avro: {paths[0]} has no field {missing[0] if missing else 'at all'}; there are "
                         f"{', '.join(fields)}")
    kinds = {one: _avro_kind(fields[one], paths[0])[0] for one in names}

    def avro_file(path):
        return [0]

    def column(path, one, values):
        if None in values:
            if nulls == "refuse":
                raise ValueError(f"field {one!r} has no value in record {values.index(None)}; nulls='zero' has 0 there")
            values = [(b"" if kinds[one] is dtypes.string else 0) if value is None else value for value in values]
        if kinds[one] is dtypes.string:
            return _strings([value.encode() if isinstance(value, str) else value for value in values])
        return convert_to_tensor(np.array(values, kinds[one].as_numpy_dtype))

    def avro_records(path, number):
        with parts.Failure("from_avro", path), places.opened(path) as file:
            found = list(fastavro.reader(file))
            try:
                return {one: column(path, one, [record[one] for record in found]) for one in names}
            except KeyError as error:
                raise ValueError(f"it has no field {error}; the first file has") from None
    signature = {one: specs.TensorSpec([None], kind) for one, kind in kinds.items()}
    return parts.of_files(paths, avro_file, avro_records, signature, num_parallel_calls=num_parallel_calls,
                          deterministic=deterministic, shuffle=shuffle, seed=seed, batch_size=batch_size, name=name)


def to_avro(dataset, path, codec="deflate"):
    """Writes the elements, dictionaries of scalars, as an Avro file; returns how many there were. Takes the package
    fastavro. codec: "deflate", "null" or another of fastavro's. The file appears whole or not at all."""
    fastavro = need("fastavro", "to_avro")
    spec = components(dataset, "to_avro")
    for name, one in spec.items():
        if one.shape.rank != 0 or one.dtype not in _TO_AVRO:
            raise TypeError(f"to_avro: component {name!r} is {one}; expected scalars of "
                            f"{', '.join(kind.name for kind in _TO_AVRO)}")
    schema = {"type": "record", "name": "element", "fields": [
        {"name": name, "type": _TO_AVRO[one.dtype]} for name, one in spec.items()]}
    total = 0

    def records():
        nonlocal total
        for element in dataset.as_numpy_iterator():
            total += 1
            yield {name: value if isinstance(value, bytes) else value.item() for name, value in element.items()}

    def write(place):
        with open(place, "wb") as file:
            fastavro.writer(file, schema, records(), codec)
    with parts.Failure("to_avro", os.fsdecode(path)):
        parts.written(path, "to_avro", write)
    return total


# ---- ArrayRecord ----

def from_array_record(paths, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None, shuffle=False, seed=None,
                      name=None):
    """The records of ArrayRecord files, as Grain writes and reads them: bytes; ``batch_size`` of them at a time where
    that is given. Takes the package array_record.

    paths: a file, a folder (of ".array_record" and ".arrayrecord"), a pattern, or a list of these. shuffle: parts of
    1024 records in another order each epoch.
    """
    module = need("array_record.python.array_record_module", "from_array_record")
    paths = parts.paths_of(paths, "from_array_record", (".array_record", ".arrayrecord"))

    @contextlib.contextmanager
    def reading(path):
        with open(path, "rb"):  # its own message says neither what is missing nor where
            pass
        reader = module.ArrayRecordReader(path)
        try:
            yield reader
        finally:
            reader.close()

    def array_record_parts(path):
        with parts.Failure("from_array_record", path), reading(path) as reader:
            return range(-(-reader.num_records() // _RECORDS))

    def array_records(path, number):
        with parts.Failure("from_array_record", path, f", records from {number * _RECORDS} on"), reading(path) as one:
            first = number * _RECORDS
            return _strings(one.read(first, min(first + _RECORDS, one.num_records())))
    with parts.Failure("from_array_record", paths[0]), reading(paths[0]):
        pass
    return parts.of_files(paths, array_record_parts, array_records, _STRINGS, num_parallel_calls=num_parallel_calls,
                          deterministic=deterministic, shuffle=shuffle, seed=seed, batch_size=batch_size, name=name)
