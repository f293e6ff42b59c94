"""Columns of Arrow as tensors: what each of Arrow's types becomes, over the memory of a batch that `_native` reads.

Numbers, fixed-size lists of them and the bytes of texts stay where they are; truth values, which are bits in Arrow,
times of 32 bits and rows of dictionaries are copied. A column says its specs (`spec`), with the rows as first
dimension, and reads n rows from row `first` on (`read`).
"""

import json

import numpy as np

from leat import _native, dtypes, nest
from leat._core import specs
from leat._core.tensor import _of_array
from leat._structures.ragged import RaggedTensor

_NUMBERS = {"c": "int8", "C": "uint8", "s": "int16", "S": "uint16", "i": "int32", "I": "uint32", "l": "int64",
            "L": "uint64", "e": "float16", "f": "float32", "g": "float64"}
_TIMES_OF_32 = ("tdD", "tts", "ttm")
_WAYS_OUT = {"d": "cast them to float64 or to whole numbers first", "n": "leave the column out",
             "+u": "take the unions apart first", "+r": "decode the runs first", "ti": "cast them to whole numbers",
             "+v": "cast the list views to lists first"}

_NAMES = _NUMBERS | {
    "b": "bool", "u": "string", "U": "large_string", "vu": "string_view", "z": "binary", "Z": "large_binary",
    "vz": "binary_view", "w:": "fixed_size_binary", "td": "date", "tt": "time", "ts": "timestamp", "tD": "duration",
    "ti": "interval", "d:": "decimal", "n": "null", "+l": "list", "+L": "large_list", "+w:": "fixed_size_list",
    "+s": "struct", "+m": "map", "+vl": "list_view", "+vL": "large_list_view", "+ud": "dense_union",
    "+us": "sparse_union", "+r": "run_end_encoded"}


def _shown(kind):
    """The name of a type that its format stands for."""
    return next((_NAMES[kind[:size]] for size in range(len(kind), 0, -1) if kind[:size] in _NAMES), kind)


class Nulls:
    """What becomes of values that are missing: refused, told by a mask beside the column, or filled."""

    def __init__(self, given, function):
        self.function = function
        self.fills = dict(given) if isinstance(given, dict) else {}
        self.masks = given == "mask"
        if not isinstance(given, dict) and given not in ("refuse", "mask"):
            raise ValueError(f"{function}: nulls is {given!r}; expected 'refuse', 'mask', or a dictionary of columns "
                             "and the values that stand for missing ones")


class Texts:
    """Strings that lie in memory of `owner`: arrays of addresses and sizes, of any shape."""

    def __init__(self, addresses, sizes, owner):
        self.addresses, self.sizes, self.owner = addresses, sizes, owner

    def reshape(self, shape):
        """The same strings in another shape."""
        return Texts(self.addresses.reshape(shape), self.sizes.reshape(shape), self.owner)

    def take(self, rows):
        """The strings of these rows."""
        return Texts(self.addresses[rows], self.sizes[rows], self.owner)

    def tensor(self):
        """The tensor of them, which keeps the owner."""
        return _native.strings_at(np.ascontiguousarray(self.addresses, np.int64),
                                  np.ascontiguousarray(self.sizes, np.int64), self.owner, self.addresses.shape)


def texts_between(base, offsets, owner):
    """Texts whose bytes lie between neighbours of `offsets` from the address `base` on."""
    offsets = offsets.astype(np.int64, copy=False)
    return Texts(base + offsets[:-1], np.diff(offsets), owner)


class _Batch:
    """The memory of a batch, and what is asked of it."""

    def __init__(self, native):
        self.native = native

    def array(self, address, dtype, start, count):
        """Numbers from number `start` on, read only; a copy where they do not lie on their boundary."""
        dtype = np.dtype(dtype)
        if count == 0 or address == 0:
            return np.zeros(count, dtype)
        found = np.frombuffer(self.native.memory(address + start * dtype.itemsize, count * dtype.itemsize), dtype)
        return found if address % dtype.itemsize == 0 else found.copy()

    def bits(self, address, start, count):
        """Bits as an array of bool."""
        if count == 0 or address == 0:
            return np.zeros(count, bool)
        skipped = start % 8
        found = np.frombuffer(self.native.memory(address + start // 8, (skipped + count + 7) // 8), np.uint8)
        return np.unpackbits(found, count=skipped + count, bitorder="little")[skipped:].view(bool)


class _Column:
    """The frame of all columns. A subclass gives `dense`: an array or Texts of n rows; or `spec` and `read`."""

    has_validity = True
    dtype, shape = None, ()

    def __init__(self, path, kind, nulls, nullable):
        self.path, self.kind, self.nulls, self.nullable = path, kind, nulls, nullable

    @property
    def masked(self):
        """Has it a mask beside it?"""
        return self.nulls.masks and self.nullable

    def spec(self):
        """The specs of a batch of rows."""
        return specs.TensorSpec([None, *self.shape], self.dtype)

    def valid(self, batch, node, first, n):
        """Which rows have a value, as an array of bool; None: all."""
        _, nulls, offset, buffers, *_ = node
        if not self.has_validity or nulls == 0 or not buffers or buffers[0] == 0:
            return None
        found = batch.bits(buffers[0], offset + first, n)
        return None if found.all() else found

    def refuse_nulls(self, valid):
        """ValueError where rows lack values and nothing was said of it."""
        if valid is None or self.masked or self.path in self.nulls.fills:
            return
        raise ValueError(f"{self.nulls.function}: column {self.path or 'value'!r} ({_shown(self.kind)}) lacks "
                         f"values in {int((~valid).sum())} rows; fill them or drop the rows, or say nulls='mask' or "
                         f"nulls={{{self.path!r}: value}}")

    def filled(self, values, valid):
        """Dense values with zeros, or the value that was given, in the place of those that are missing."""
        fill = self.nulls.fills.get(self.path)
        if isinstance(values, Texts):
            return _filled_texts(values, valid, b"" if fill is None else fill)
        values = values.copy()
        values[~valid] = 0 if fill is None else fill
        return values

    def dense_filled(self, batch, node, first, n):
        """`dense`, where no value is missing or one stands for it."""
        valid = self.valid(batch, node, first, n)
        self.refuse_nulls(valid)
        values = self.dense(batch, node, first, n)
        return values if valid is None else self.filled(values, valid)

    def dense(self, batch, node, first, n):
        """n rows from row `first` on."""
        raise TypeError(f"{self.nulls.function}: column {self.path!r} has lists of fixed size of {_shown(self.kind)}; "
                        "expected numbers, texts or times in them")

    def read(self, batch, node, first, n):
        """n rows from row `first` on, as tensors in the structure of `spec`."""
        return _tensor(self.dense_filled(batch, node, first, n), self.dtype)


def _tensor(values, dtype):
    return values.tensor() if isinstance(values, Texts) else _of_array(values, dtype)


def _filled_texts(texts, valid, fill):
    held = np.frombuffer(fill.encode() if isinstance(fill, str) else bytes(fill), np.uint8)
    addresses = np.where(valid, texts.addresses, held.ctypes.data if len(held) else 0)
    return Texts(addresses, np.where(valid, texts.sizes, len(held)), (texts.owner, held))


class _Numbers(_Column):
    def __init__(self, *common, stored):
        super().__init__(*common)
        self.stored = np.dtype(stored)
        self.dtype = dtypes.int64 if self.kind in _TIMES_OF_32 else dtypes.as_dtype(self.stored)

    def dense(self, batch, node, first, n):
        _, _, offset, buffers, *_ = node
        found = batch.array(buffers[1], self.stored, offset + first, n)
        return found.astype(np.int64) if self.kind in _TIMES_OF_32 else found


class _Bools(_Column):
    dtype = dtypes.bool

    def dense(self, batch, node, first, n):
        _, _, offset, buffers, *_ = node
        return batch.bits(buffers[1], offset + first, n)


class _Bytes8(_Column):
    """Truth values in a byte each (arrow.bool8)."""

    dtype = dtypes.bool

    def dense(self, batch, node, first, n):
        _, _, offset, buffers, *_ = node
        return batch.array(buffers[1], np.int8, offset + first, n) != 0


class _Strings(_Column):
    dtype = dtypes.string

    def dense(self, batch, node, first, n):
        _, _, offset, buffers, *_ = node
        if self.kind[0] == "w":
            size = int(self.kind[2:])
            addresses = buffers[1] + size * np.arange(offset + first, offset + first + n, dtype=np.int64)
            return Texts(addresses, np.full(n, size), batch.native)
        if self.kind[0] == "v":
            return self._views(batch, buffers, offset + first, n)
        stored = np.int32 if self.kind in "uz" else np.int64
        return texts_between(buffers[2], batch.array(buffers[1], stored, offset + first, n + 1), batch.native)

    def _views(self, batch, buffers, start, n):
        """Sixteen bytes each: a size, and the bytes themselves or the place of the bytes in one of the buffers."""
        words = batch.array(buffers[1], np.int32, 4 * start, 4 * n).reshape(n, 4)
        sizes = words[:, 0].astype(np.int64)
        own = buffers[1] + 16 * np.arange(start, start + n, dtype=np.int64) + 4
        bases = np.array(buffers[2:-1] or [0], np.int64)  # the last buffer has their sizes
        far = sizes > 12
        number, place = np.where(far, words[:, 2], 0), words[:, 3].astype(np.int64)
        return Texts(np.where(far, bases[number] + place, own), sizes, batch.native)


class _Dictionary(_Column):
    """Numbers of rows of another column."""

    def __init__(self, *common, stored, values):
        super().__init__(*common)
        self.stored, self.values = stored, values
        self.dtype, self.shape = values.dtype, values.shape
        if self.dtype is None:
            raise TypeError(f"{self.nulls.function}: column {self.path!r} is a dictionary of {_shown(values.kind)}; "
                            "expected one of numbers, texts or times")

    def dense(self, batch, node, first, n):
        _, _, offset, buffers, _, dictionary = node
        rows = batch.array(buffers[1], self.stored, offset + first, n)
        valid = self.valid(batch, node, first, n)
        if valid is not None:
            rows = np.where(valid, rows, 0)
        count = dictionary[0]
        if n and (count == 0 and (valid is None or valid.any()) or count and not (
                0 <= int(rows.min()) and int(rows.max()) < count)):
            raise ValueError(f"{self.nulls.function}: column {self.path!r} has rows of a dictionary of {count} that "
                             "are not there")
        values = self.values.dense_filled(batch, dictionary, 0, count)
        if count == 0:
            return np.zeros(n, self.dtype.as_numpy_dtype) if isinstance(values, np.ndarray) else Texts(
                np.zeros(n, np.int64), np.zeros(n, np.int64), batch.native)
        return values.take(rows) if isinstance(values, Texts) else values[rows]


class _FixedLists(_Column):
    """Lists of one size: a dimension."""

    def __init__(self, *common, size, child, shape=None):
        super().__init__(*common)
        self.size, self.child = size, child
        self.dtype = child.dtype
        self.shape = (size, *child.shape) if shape is None else tuple(shape)
        if self.dtype is None:
            child.dense(None, None, 0, 0)  # says why not

    def dense(self, batch, node, first, n):
        _, _, offset, _, children, _ = node
        begin = (offset + first) * self.size
        return self.child.dense_filled(batch, children[0], begin, n * self.size).reshape((n, *self.shape))

    def filled(self, values, valid):
        if isinstance(values, Texts):
            raise TypeError(f"{self.nulls.function}: column {self.path!r} lacks lists of texts; drop the rows")
        return super().filled(values, valid)


class _Lists(_Column):
    """Lists of different sizes: ragged."""

    def __init__(self, *common, stored, child):
        super().__init__(*common)
        self.stored, self.child = stored, child

    def spec(self):
        def of(leaf):
            if isinstance(leaf, specs.RaggedTensorSpec):
                return specs.RaggedTensorSpec([None, *leaf.shape], leaf.dtype, leaf.ragged_rank + 1)
            return specs.RaggedTensorSpec([None, *leaf.shape], leaf.dtype, 1)
        return nest.map_structure(of, self.child.spec())

    def read(self, batch, node, first, n):
        _, _, offset, buffers, children, _ = node
        valid = self.valid(batch, node, first, n)
        self.refuse_nulls(valid)
        offsets = batch.array(buffers[1], self.stored, offset + first, n + 1).astype(np.int64)
        if valid is not None and np.diff(offsets)[~valid].any():
            raise ValueError(f"{self.nulls.function}: column {self.path!r} has values below lists that are missing; "
                             "drop the rows")
        if valid is not None and self.nulls.fills.get(self.path, []) not in ([], ()):
            raise ValueError(f"{self.nulls.function}: a missing list of column {self.path!r} can be filled with [] "
                             "alone")
        begin, end = int(offsets[0]), int(offsets[-1])
        inner = self.child.read(batch, children[0], begin, end - begin)
        splits = _of_array(offsets - begin, dtypes.int64)
        return nest.map_structure(lambda values: RaggedTensor.from_row_splits(values, splits), inner)


class _Structs(_Column):
    """Fields by name: a dictionary. Masks stand beside their fields, under ``<name>_mask``."""

    def __init__(self, *common, fields):
        super().__init__(*common)
        self.fields = fields
        for name in [name for name, field in fields.items() if field.masked and name + "_mask" in fields]:
            raise ValueError(f"{self.nulls.function}: the mask of column {name!r} has the name of a column, "
                             f"{name + '_mask'!r}; rename that")

    def spec(self):
        out = {}
        for name, field in self.fields.items():
            out[name] = field.spec()
            if field.masked:
                out[name + "_mask"] = specs.TensorSpec([None], dtypes.bool)
        return out

    def read(self, batch, node, first, n):
        _, _, offset, _, children, _ = node
        self.refuse_nulls(self.valid(batch, node, first, n))
        out, begin = {}, offset + first
        for number, (name, field) in zip(self.numbers, self.fields.items()):
            out[name] = field.read(batch, children[number], begin, n)
            if field.masked:
                found = field.valid(batch, children[number], begin, n)
                out[name + "_mask"] = _of_array(np.ones(n, bool) if found is None else found, dtypes.bool)
        return out

    numbers = ()  # of the fields among the children


# ---- out of a schema ----

def _metadata(packed):
    """A schema's metadata as a dictionary of bytes."""
    found, at = {}, 4
    for _ in range(int.from_bytes(packed[:4], "little") if packed else 0):
        pair = []
        for _ in range(2):
            size = int.from_bytes(packed[at:at + 4], "little")
            pair.append(packed[at + 4:at + 4 + size])
            at += 4 + size
        found[pair[0]] = pair[1]
    return found


def _below(path, name):
    return f"{path}.{name}" if path else name


def column_of(schema, nulls, path="", names=None):
    """The column of a schema that `_native` describes; of a struct at the top only the fields `names`."""
    kind, _, flags, children, dictionary, packed = schema
    kind = kind.decode()
    common = (path, kind, nulls, bool(flags & 2))
    if dictionary is not None:
        return _Dictionary(*common, stored=_NUMBERS[kind], values=column_of(dictionary, nulls, path))
    extension = _metadata(packed).get(b"ARROW:extension:name")
    if extension == b"arrow.bool8":
        return _Bytes8(*common)
    if kind in _NUMBERS:
        return _Numbers(*common, stored=_NUMBERS[kind])
    if kind == "b":
        return _Bools(*common)
    if kind in ("u", "z", "U", "Z", "vu", "vz") or kind.startswith("w:"):
        return _Strings(*common)
    if kind[:2] in ("td", "ts", "tt", "tD"):
        return _Numbers(*common, stored=np.int32 if kind in _TIMES_OF_32 else np.int64)
    if kind.startswith("+w:"):
        child = column_of(children[0], nulls, path)
        shape = json.loads(_metadata(packed)[b"ARROW:extension:metadata"])["shape"] if (
            extension == b"arrow.fixed_shape_tensor") else None
        return _FixedLists(*common, size=int(kind[3:]), child=child, shape=shape)
    if kind in ("+l", "+L", "+m"):
        return _Lists(*common, stored=np.int64 if kind == "+L" else np.int32, child=column_of(children[0], nulls, path))
    if kind == "+s":
        return _struct(common, children, names)
    advice = next((text for start, text in _WAYS_OUT.items() if kind.startswith(start)), "cast the column first")
    raise TypeError(f"{nulls.function}: column {path!r} is of Arrow's type {_shown(kind)}, which has no tensor; "
                    f"{advice}")


def _struct(common, children, names):
    path, _, nulls, _ = common
    found = {child[1].decode(): number for number, child in enumerate(children)}
    if len(found) < len(children):
        raise ValueError(f"{nulls.function}: two columns have one name, among {', '.join(found)}; rename them")
    for name in names or ():
        if name not in found:
            raise ValueError(f"{nulls.function}: there is no column {name!r}; found {', '.join(found)}")
    wanted = list(found) if names is None else list(names)
    if not wanted:
        raise ValueError(f"{nulls.function}: no columns; expected one at least" + (
            f" of {', '.join(found)}" if found else ""))
    made = _Structs(*common, fields={name: column_of(children[found[name]], nulls, _below(path, name))
                                     for name in wanted})
    made.numbers = [found[name] for name in wanted]
    return made


class Reader:
    """The batches of an Arrow stream as tensors: `spec` of a batch, and an iterator over batches."""

    def __init__(self, native, nulls, names=None):
        self._native = native
        schema = native.schema()
        if names is not None and schema[0] != b"+s":
            raise ValueError(f"{nulls.function}: values without columns; leave `columns` out")
        self.column = column_of(schema, nulls, "" if schema[0] == b"+s" else "value", names)

    def spec(self):
        """The structure of specs of a batch."""
        return self.column.spec()

    def __iter__(self):
        return self

    def __next__(self):
        """(rows, structure of tensors)."""
        found = self._native.next()
        if found is None:
            raise StopIteration
        batch, node = found
        return node[0], self.column.read(_Batch(batch), node, 0, node[0])


def reader_of(data, nulls, names=None):
    """The Reader of an object with ``__arrow_c_stream__`` or ``__arrow_c_array__``."""
    if hasattr(data, "__arrow_c_stream__"):
        return Reader(_native.ArrowReader.open(data.__arrow_c_stream__()), nulls, names)
    return Reader(_native.ArrowReader.of_array(*data.__arrow_c_array__()), nulls, names)
