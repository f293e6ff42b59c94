"""Avro files as datasets and back: ``leat.data.from_avro`` and ``to_avro``; the package fastavro reads and writes them.

A field is a leaf or a structure of leaves: lists and maps become ragged, records dictionaries.
"""

import datetime
import os

import numpy as np

from leat import dtypes, errors, nest
from leat._core import specs
from leat._core.tensor import convert_to_tensor
from leat._files import places
from leat._structures.ragged import RaggedTensor
from leat.data.dataset import AUTOTUNE
from leat.data.formats import parts
from leat.data.formats.packages import need

_LEAVES = {"int": dtypes.int32, "long": dtypes.int64, "float": dtypes.float32, "double": dtypes.float64,
           "boolean": dtypes.bool, "string": dtypes.string, "bytes": dtypes.string, "fixed": dtypes.string,
           "enum": dtypes.string}
_TO_AVRO = {dtypes.int32: "int", dtypes.int64: "long", dtypes.float32: "float", dtypes.float64: "double",
            dtypes.bool: "boolean", dtypes.string: "bytes", dtypes.int8: "int", dtypes.int16: "int",
            dtypes.uint8: "int", dtypes.uint16: "int", dtypes.uint32: "long"}


# ---- fields ----

def _microseconds(value):
    """Of a day's time."""
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 10 ** 6 + value.microsecond


def _since_1970(value):
    """Microseconds of a date and time; one without a zone is taken as it is."""
    start = datetime.datetime(1970, 1, 1, tzinfo=value.tzinfo and datetime.timezone.utc)
    return (value - start) // datetime.timedelta(microseconds=1)


# What fastavro makes of numbers that stand for something, as the numbers that they were.
_NUMBERS = {"date": lambda value: value.toordinal() - datetime.date(1970, 1, 1).toordinal(),
            "time-millis": lambda value: _microseconds(value) // 1000, "time-micros": _microseconds,
            "timestamp-millis": lambda value: _since_1970(value) // 1000, "timestamp-micros": _since_1970,
            "local-timestamp-millis": lambda value: _since_1970(value) // 1000,
            "local-timestamp-micros": _since_1970, "uuid": str}


class _Nulls:
    """What becomes of values that are missing."""

    def __init__(self, given, inner=None):
        if given not in ("refuse", "zero"):
            raise ValueError(f"from_avro: nulls is {given!r}; expected 'refuse' or 'zero'")
        self._refuses = given == "refuse"
        self.inner = inner or _Nulls(given, self)  # of what lies in lists, whose places are no records
        self._is_inner = inner is not None

    def filled(self, values, where, zero):
        """The values with `zero` where there are none."""
        if self._refuses and None in values:
            place = "a list" if self._is_inner else f"record {values.index(None)}"
            raise ValueError(f"field {where!r} has no value in {place}; nulls='zero' has {zero!r} there")
        return [zero if value is None else value for value in values]


class _Leaf:
    """Numbers, truth values, or texts and bytes."""

    def __init__(self, where, dtype, number):
        self._where, self._dtype, self._number = where, dtype, number

    def spec(self):
        """Of many rows."""
        return specs.TensorSpec([None], self._dtype)

    def read(self, values, nulls):
        """Many rows of Python's values."""
        if None in values:
            values = nulls.filled([value if value is None else self._plain(value) for value in values], self._where,
                                  b"" if self._dtype is dtypes.string else 0)
        elif self._number or self._dtype is dtypes.string:
            values = list(map(self._plain, values))
        if self._dtype is not dtypes.string:
            return convert_to_tensor(np.array(values, self._dtype.as_numpy_dtype))
        out = np.empty(len(values), object)
        out[:] = values
        return convert_to_tensor(out, dtypes.string)

    def _plain(self, value):
        value = self._number(value) if self._number else value
        return value.encode() if isinstance(value, str) else value


def _ragged(spec):
    rank = spec.ragged_rank if isinstance(spec, specs.RaggedTensorSpec) else 0
    return specs.RaggedTensorSpec([None, *spec.shape], spec.dtype, rank + 1)


class _Array:
    """Lists: ragged."""

    def __init__(self, where, items):
        self._where, self._items = where, items

    def spec(self):
        """Of many rows."""
        return nest.map_structure(_ragged, self._items.spec())

    def read(self, values, nulls):
        """Many rows of Python's lists."""
        values = nulls.filled(values, self._where, [])
        splits = np.concatenate([[0], np.cumsum([len(value) for value in values])]).astype(np.int64)
        return nest.map_structure(lambda one: RaggedTensor.from_row_splits(one, splits),
                                  self._items.read([item for value in values for item in value], nulls.inner))


class _Record:
    """Fields by name: a dictionary."""

    def __init__(self, where, fields):
        self._where, self._fields = where, fields

    def spec(self):
        """Of many rows."""
        return {name: field.spec() for name, field in self._fields.items()}

    def read(self, values, nulls):
        """Many rows of Python's dictionaries."""
        values = nulls.filled(values, self._where, {})
        return {name: field.read([value.get(name) for value in values], nulls) for name, field in self._fields.items()}


class _Map:
    """Maps: lists of their keys and of their values, in the file's order."""

    def __init__(self, where, values):
        self._where = where
        self._pairs = _Array(where, _Record(where, {"key": _Leaf(where, dtypes.string, None), "value": values}))

    def spec(self):
        """Of many rows."""
        return self._pairs.spec()

    def read(self, values, nulls):
        """Many rows of Python's dictionaries."""
        values = nulls.filled(values, self._where, {})
        return self._pairs.read([[{"key": key, "value": one} for key, one in value.items()] for value in values], nulls)


class _Schema:
    """The fields of a file's records."""

    def __init__(self, schema, path):
        self._path, self._named = path, {}
        if not isinstance(schema, dict) or schema.get("type") != "record":
            raise errors.UnimplementedError(None, None, f"from_avro: {path} has no records but {schema}")
        self._named[self._name(schema)] = None
        self.fields = {field["name"]: field["type"] for field in schema["fields"]}

    def column(self, name):
        """What reads a field."""
        return self._kind(self.fields[name], name)

    @staticmethod
    def _name(schema):
        name, space = schema.get("name", ""), schema.get("namespace", "")
        return f"{space}.{name}" if space and "." not in name else name

    def _refuse(self, where, what):
        raise errors.UnimplementedError(None, None, f"from_avro: field {where!r} of {self._path} is {what}, which has "
                                        "no tensor; leave it out (columns=...)")

    def _kind(self, kind, where):
        if isinstance(kind, list):
            others = [one for one in kind if one != "null"]
            if len(others) != 1:
                self._refuse(where, f"one of {kind}")
            return self._kind(others[0], where)
        if isinstance(kind, str) and kind in self._named:
            if self._named[kind] is None:
                self._refuse(where, f"a {kind} within a {kind}")
            return self._kind(self._named[kind], where)
        whole = kind if isinstance(kind, dict) else {}
        kind, logical = whole.get("type", kind), whole.get("logicalType")
        if isinstance(kind, (dict, list)):
            return self._kind(kind, where)
        if kind == "array":
            return _Array(where, self._kind(whole["items"], where))
        if kind == "map":
            return _Map(where, self._kind(whole["values"], where))
        if kind in ("record", "enum", "fixed"):
            self._named[self._name(whole)] = None
        if kind == "record":
            made = _Record(where, {one["name"]: self._kind(one["type"], f"{where}.{one['name']}")
                                   for one in whole["fields"]})
            self._named[self._name(whole)] = whole
            return made
        if kind not in _LEAVES or logical in ("decimal", "duration"):
            self._refuse(where, logical or kind)
        if "name" in whole:
            self._named[self._name(whole)] = whole
        return _Leaf(where, _LEAVES[kind], _NUMBERS.get(logical))


def from_avro(paths, columns=None, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None, shuffle=False,
              seed=None, nulls="refuse", name=None):
    """The records of Avro files as dictionaries by field; ``batch_size`` of them at a time where that is given. Takes
    the package fastavro.

    Fields are numbers, truth values, texts, bytes and enumerations; arrays become ragged, records dictionaries, maps
    dictionaries of ragged "key" and "value", dates and times the whole numbers that they are stored as. columns: those
    that are wanted. nulls: "refuse" them (InvalidArgumentError), or "zero" has 0, False, "" and empty lists in their
    place. A file is read as a whole, `num_parallel_calls` at a time.
    """
    fastavro = need("fastavro", "from_avro")
    paths = parts.paths_of(paths, "from_avro", (".avro",), everywhere=True)
    filling = _Nulls(nulls)
    with parts.Failure("from_avro", paths[0]), places.opened(paths[0]) as file:
        schema = _Schema(fastavro.reader(file).writer_schema, paths[0])
    names = list(schema.fields) if columns is None else list(columns)
    missing = [one for one in names if one not in schema.fields]
    if missing or not names:
        raise ValueError(f"from_avro: {paths[0]} has no field {missing[0] if missing else 'at all'}; there are "
                         f"{', '.join(schema.fields)}")
    readers = {one: schema.column(one) for one in names}

    def avro_file(path):
        return [0]

    def avro_records(path, number):
        with parts.Failure("from_avro", path), places.opened(path) as file:
            found = list(fastavro.reader(file))
            try:
                return {one: reader.read([record[one] for record in found], filling) for one, reader in readers.items()}
            except KeyError as error:
                raise ValueError(f"it has no field {error}; the first file has") from None
    signature = {one: reader.spec() for one, reader in readers.items()}
    return parts.of_files(paths, avro_file, avro_records, signature, num_parallel_calls=num_parallel_calls,
                          deterministic=deterministic, shuffle=shuffle, seed=seed, batch_size=batch_size, name=name)


# ---- writing ----

def _type_of(name, spec):
    """The schema of a component; `name` are the keys that lead to it."""
    if isinstance(spec, dict):
        return {"type": "record", "name": "_".join(["element", *name]), "fields": [
            {"name": inner, "type": _type_of([*name, inner], one)} for inner, one in spec.items()]}
    if not isinstance(spec, (specs.TensorSpec, specs.RaggedTensorSpec)) or spec.dtype not in _TO_AVRO or (
            spec.shape.rank is None):
        raise TypeError(f"to_avro: component {'.'.join(name)!r} is {spec}; expected tensors, dense or ragged, "
                        "or dictionaries of "
                        f"{', '.join(kind.name for kind in _TO_AVRO)}")
    kind = _TO_AVRO[spec.dtype]
    for _ in range(spec.shape.rank):
        kind = {"type": "array", "items": kind}
    return kind


def _plain(value):
    """A component as fastavro takes it."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if hasattr(value, "to_list"):
        return value.to_list()
    return value if isinstance(value, bytes) else value.tolist()


def to_avro(dataset, path, codec="deflate"):
    """Writes the elements, dictionaries, as an Avro file; returns how many there were. Takes the package fastavro.

    Dimensions become arrays, dictionaries records. codec: "deflate", "null" or another of fastavro's. The file appears
    whole or not at all."""
    fastavro = need("fastavro", "to_avro")
    if not isinstance(dataset.element_spec, dict):
        raise TypeError(f"to_avro: elements are {dataset.element_spec}; expected dictionaries of tensors")
    schema = _type_of([], dataset.element_spec)
    total = 0

    def records():
        nonlocal total
        for element in dataset.as_numpy_iterator():
            total += 1
            yield _plain(element)

    def write(place):
        with open(place, "wb") as file:
            fastavro.writer(file, schema, records(), codec)
    with parts.Failure("to_avro", os.fsdecode(path)):
        parts.written(path, "to_avro", write)
    return total
