"""MosaicML's shards (MDS) as datasets and back: ``leat.data.from_mds`` and ``to_mds``.

A folder has index.json, which lists shards. A shard is a count of samples, where each begins and the last ends, a
description, and the samples: sizes of the columns that have none of their own, then the columns' bytes in the order of
their names. Shards of this machine are mapped into memory, so texts are views of the file; others are read as a whole.
"""

import contextlib
import json
import mmap
import os

import numpy as np

from leat import dtypes, errors, gfile, nest
from leat._core import specs
from leat._core.paths import remote
from leat._core.tensor import _of_array
from leat._files import places
from leat._structures.ragged import RaggedTensor
from leat.data.dataset import AUTOTUNE
from leat.data.experimental import assert_cardinality
from leat.data.formats import parts
from leat.data.formats.columns import Texts

_SCALARS = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
_TEXTS = ("bytes", "str", "json", "jpeg", "png", "str_decimal")
_ARRAY_DTYPES = {8: "uint8", 9: "int8", 16: "uint16", 17: "int16", 18: "float16", 32: "uint32", 33: "int32",
                 34: "float32", 64: "uint64", 65: "int64", 66: "float64"}
_ROWS_AT_A_TIME = 4096  # of a shard that is mapped; others are read as a whole
_MOST_GATHERED = 64  # bytes; larger values are copied one by one


# ---- the index ----

class _Shard:
    """A shard as index.json has it, and the file of it that is there."""

    def __init__(self, folder, entry):
        if entry.get("format") != "mds" or entry.get("version") != 2:
            raise NotImplementedError(f"shards of format {entry.get('format')!r}, version {entry.get('version')!r}; "
                                      "expected 'mds', 2")
        self.samples = int(entry["samples"])
        self.names, self.encodings = list(entry["column_names"]), list(entry["column_encodings"])
        self.sizes = list(entry["column_sizes"])
        self.raw_bytes = int(entry["raw_data"]["bytes"])
        self.path, self.compression = os.path.join(folder, _plain_name(entry["raw_data"]["basename"])), None
        if entry.get("zip_data") and not places.exists(self.path):
            self.path = os.path.join(folder, _plain_name(entry["zip_data"]["basename"]))
            self.compression = str(entry["compression"]).partition(":")[0]
        is_whole = self.compression is not None or remote(self.path)
        self.rows_at_a_time = self.samples if is_whole else _ROWS_AT_A_TIME


def _plain_name(name):
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"a shard with the name {name!r}; expected one of a file in the folder")
    return name


def _shards_of(folder):
    path = os.path.join(folder, "index.json")
    with parts.Failure("from_mds", path):
        content = places.content(path)
        try:
            return [_Shard(folder, entry) for entry in json.loads(content)["shards"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise errors.DataLossError(None, None, f"from_mds: {path} is no index of MDS shards "
                                       f"({type(error).__name__}: {error})") from None


# ---- a shard ----

def _bytes_of(shard):
    """The bytes of a shard as they are without compression: an array, and what keeps its memory."""
    if shard.compression is None and not remote(shard.path):
        with open(shard.path, "rb") as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    packed = places.content(shard.path)
    return np.frombuffer(packed if shard.compression is None else _unpacked(packed, shard.compression), np.uint8)


def _unpacked(packed, compression):
    if compression == "zstd":
        from leat import io
        return io.decode_compressed(packed, "ZSTD").numpy()
    if compression in ("gz", "bz2"):
        import bz2
        import gzip
        return (gzip if compression == "gz" else bz2).decompress(packed)
    raise NotImplementedError(f"shards compressed by {compression!r}; expected zstd, gz or bz2: decompress them first")


def _gathered(data, begins, size):
    """`size` bytes from each of these places on, as rows."""
    if size == 0 or len(begins) == 0:
        return np.zeros([len(begins), size], np.uint8)
    steps = np.diff(begins)
    if len(begins) > 1 and (steps == steps[0]).all():
        return np.ascontiguousarray(np.lib.stride_tricks.as_strided(
            data[begins[0]:], (len(begins), size), (int(steps[0]), 1)))
    if size <= _MOST_GATHERED:
        return data[begins[:, None] + np.arange(size)]
    out = np.empty([len(begins), size], np.uint8)
    for row, begin in zip(out, begins.tolist()):
        row[:] = data[begin:begin + size]
    return out


def _places(data, shard, first, count):
    """Where each column of samples first ... begins, and its sizes: two lists of arrays."""
    samples = int(data[:4].view(np.uint32)[0]) if len(data) >= 4 else -1
    if samples != shard.samples or len(data) != shard.raw_bytes:
        raise errors.DataLossError(None, None, f"{samples} samples in {len(data)} bytes; index.json says "
                                   f"{shard.samples} in {shard.raw_bytes}")
    ends = data[4:8 + 4 * samples].view(np.uint32).astype(np.int64)
    at, ends = ends[first:first + count], ends[first + 1:first + count + 1]
    num_sized = sum(not size for size in shard.sizes)
    if count and (int(at.min()) < 8 + 4 * samples or int(ends.max()) > len(data) or (at + 4 * num_sized > ends).any()):
        raise errors.DataLossError(None, None, "samples begin and end where there are none")
    heads = _gathered(data, at, 4 * num_sized).view(np.uint32).reshape(count, num_sized).astype(np.int64)
    begins, sizes, at = [], [], at + 4 * num_sized
    told = iter(heads.T)
    for fixed in shard.sizes:
        sizes.append(np.full(count, fixed, np.int64) if fixed else next(told))
        begins.append(at)
        at = at + sizes[-1]
    if (at != ends).any():
        raise errors.DataLossError(None, None, f"the columns of sample {first + int(np.argmax(at != ends))} have "
                                   "other sizes than the sample")
    return begins, sizes


# ---- encodings ----

class _Scalar:
    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.size = self.dtype.itemsize

    def spec(self):
        return specs.TensorSpec([None], dtypes.as_dtype(self.dtype))

    def read(self, data, begins, sizes):
        return _of_array(_gathered(data, begins, self.dtype.itemsize).view(self.dtype).reshape(-1),
                         dtypes.as_dtype(self.dtype))


class _Text:
    size = None  # each tells its own

    def spec(self):
        return specs.TensorSpec([None], dtypes.string)

    def read(self, data, begins, sizes):
        return Texts(data.ctypes.data + begins, sizes, data).tensor()


class _Digits:
    """Numbers that are written as texts."""

    size = None

    def __init__(self, kind, dtype):
        self.kind, self.dtype = kind, np.dtype(dtype)

    def spec(self):
        return specs.TensorSpec([None], dtypes.as_dtype(self.dtype))

    def read(self, data, begins, sizes):
        found = [self.kind(bytes(data[begin:begin + size]).decode()) for begin, size in zip(begins, sizes)]
        return _of_array(np.array(found, self.dtype), dtypes.as_dtype(self.dtype))


class _Array:
    """Arrays of one dtype and shape."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = np.dtype(dtype), shape
        self.size = int(np.prod(shape)) * self.dtype.itemsize

    def spec(self):
        return specs.TensorSpec([None, *self.shape], dtypes.as_dtype(self.dtype))

    def read(self, data, begins, sizes):
        found = _gathered(data, begins, self.size).reshape(-1).view(self.dtype)
        return _of_array(found.reshape(len(begins), *self.shape), dtypes.as_dtype(self.dtype))


class _Arrays:
    """Arrays that tell their shape, and their dtype where that is not known: vectors, which become ragged."""

    size = None

    def __init__(self, dtype):
        self.dtype, self.tells_dtype = dtype, dtype is None

    def learn(self, data, begin):
        """The dtype, of the first array."""
        if self.dtype is None:
            self.dtype = _ARRAY_DTYPES.get(int(data[begin]), "uint8")

    def spec(self):
        return specs.RaggedTensorSpec([None, None], dtypes.as_dtype(self.dtype), 1)

    def read(self, data, begins, sizes):
        if self.tells_dtype:
            self._check(data[begins] == {name: number for number, name in _ARRAY_DTYPES.items()}[self.dtype],
                        f"of other dtypes than {self.dtype}, which the first is of")
            begins, sizes = begins + 1, sizes - 1
        kinds = data[begins]
        self._check(kinds >> 2 == 1, "of other ranks than 1; write them with their shape, as ndarray:dtype:shape")
        begins, sizes = begins + 1 + (1 << (kinds & 3)), sizes - 1 - (1 << (kinds & 3))
        size = np.dtype(self.dtype).itemsize
        self._check((sizes >= 0) & (sizes % size == 0), f"whose bytes are no multiple of {size}")
        splits = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        joined = np.concatenate([np.zeros(0, np.uint8), *(
            data[begin:begin + n] for begin, n in zip(begins.tolist(), sizes.tolist()))])
        dtype = dtypes.as_dtype(self.dtype)
        return RaggedTensor.from_row_splits(_of_array(joined.view(self.dtype), dtype),
                                            _of_array(splits // size, dtypes.int64))

    @staticmethod
    def _check(good, what):
        if not np.all(good):
            raise errors.UnimplementedError(None, None, f"arrays {what}")


class _Pictures:
    """Lists of the bytes of pictures; `skipped` bytes come before their number."""

    size = None

    def __init__(self, skipped):
        self.skipped = skipped

    def spec(self):
        return specs.RaggedTensorSpec([None, None], dtypes.string, 1)

    def read(self, data, begins, sizes):
        places, lengths, counts = [], [], []
        for begin, size in zip(begins.tolist(), sizes.tolist()):
            at = begin + self.skipped
            count = int(data[at:at + 4].copy().view(np.uint32)[0])
            told = data[at + 4:at + 4 + 4 * count].copy().view(np.uint32).astype(np.int64)
            places.append(at + 4 + 4 * count + np.concatenate([[0], np.cumsum(told)])[:-1])
            lengths.append(told)
            counts.append(count)
            if self.skipped + 4 + 4 * count + int(told.sum()) != size:
                raise errors.DataLossError(None, None, "a list of pictures of another size than its bytes")
        none = [np.zeros(0, np.int64)]
        values = Texts(data.ctypes.data + np.concatenate(none + places).astype(np.int64),
                       np.concatenate(none + lengths), data).tensor()
        return RaggedTensor.from_row_splits(values, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))


def _coder(name, encoding):
    kind, _, details = encoding.partition(":")
    if kind == "int":
        return _Scalar(np.int64)
    if kind in _SCALARS:
        return _Scalar(kind)
    if kind in _TEXTS:
        return _Text()
    if kind in ("str_int", "str_float"):
        return _Digits(int, np.int64) if kind == "str_int" else _Digits(float, np.float64)
    if kind == "ndarray":
        dtype, _, shape = details.partition(":")
        return _Array(dtype, tuple(map(int, shape.split(",")))) if shape else _Arrays(dtype or None)
    if kind in ("jpeg_array", "jpegarray", "list[jpeg]", "list[png]"):
        return _Pictures(4 if kind.startswith("list") else 0)
    reason = "which runs code of the file when it is read" if kind == "pkl" else "which has no tensor"
    raise NotImplementedError(f"column {name!r} is of the encoding {encoding!r}, {reason}; leave it out by `columns`")


def _coders(shard, wanted):
    out = {}
    for name, encoding, size in zip(shard.names, shard.encodings, shard.sizes):
        if name in wanted:
            out[name] = _coder(name, encoding)
            if out[name].size != size:
                raise errors.DataLossError(None, None, f"column {name!r} is of {encoding!r} and of {size} bytes")
    return out


# ---- reading ----

def from_mds(folders, columns=None, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None, shuffle=False,
             seed=None, name=None):
    """The samples of folders of MDS shards as dictionaries by column; ``batch_size`` of them at a time where that is
    given.

    folders: one that has an index.json, or a list of them, whose samples follow each other; of other machines too.
    columns: names of those that are wanted. Numbers are of their dtypes ("int" is int64), texts and the bytes of
    pictures strings (tf.io.decode_jpeg, in a map), arrays of one shape dense, other vectors ragged, lists of pictures
    ragged strings; "pil" and "pkl" are UnimplementedError. shuffle, seed: pieces of shards, of at most 4,096 samples,
    in an order of their own in each epoch; add `shuffle` to mix within them. num_parallel_calls: pieces that are read
    at a time. Shards may be compressed by zstd, gz and bz2. Strategies deal out shards; a saved iterator is a position.
    A shard that is not what index.json says is DataLossError with its path, and the next one follows.
    """
    folders = [folders] if isinstance(folders, (str, bytes, os.PathLike)) else list(folders)
    shards = [shard for folder in map(os.fsdecode, folders) for shard in _shards_of(folder.removeprefix("file://"))]
    if not shards:
        raise ValueError("from_mds: there is no shard; expected one at least")
    known = shards[0].names
    wanted = known if columns is None else list(columns)
    for column in wanted:
        if column not in known:
            raise ValueError(f"from_mds: there is no column {column!r}; found {', '.join(known)}")
    with parts.Failure("from_mds", shards[0].path):
        coders = _coders(shards[0], wanted)
        _learn(coders, shards)
    signature = {column: coders[column].spec() for column in wanted}
    by_path = {shard.path: shard for shard in shards}

    def pieces(path):
        shard = by_path[path]
        return range(-(-shard.samples // shard.rows_at_a_time)) if shard.samples else ()

    def piece(path, number):
        shard = by_path[path]
        first = number * shard.rows_at_a_time
        count = min(shard.rows_at_a_time, shard.samples - first)
        with parts.Failure("from_mds", path):
            try:
                return _piece(shard, first, count, wanted, signature, coders)
            except errors.OpError as error:
                raise type(error)(None, None, f"from_mds: {path}: {error}") from None
    dataset = parts.of_files([shard.path for shard in shards], pieces, piece, signature,
                             num_parallel_calls=num_parallel_calls, deterministic=deterministic, shuffle=shuffle,
                             seed=seed, batch_size=batch_size, name=name)
    total = sum(shard.samples for shard in shards)
    return dataset.apply(assert_cardinality(total if batch_size is None else -(-total // batch_size)))


def _learn(coders, shards):
    """What the first sample alone tells."""
    first = next((shard for shard in shards if shard.samples), None)
    asking = [name for name, coder in coders.items() if isinstance(coder, _Arrays)]
    if first is None or not asking:
        return
    data = _bytes_of(first)
    begins, _ = _places(data, first, 0, 1)
    for name in asking:
        coders[name].learn(data, int(begins[first.names.index(name)][0]))


def _piece(shard, first, count, wanted, signature, coders):
    own = _coders(shard, wanted)
    for name, coder in own.items():
        if isinstance(coder, _Arrays) and coder.dtype is None:
            coder.dtype = coders[name].dtype
    for name in wanted:
        if name not in own or own[name].spec() != signature[name]:
            raise errors.InvalidArgumentError(None, None, f"column {name!r} is not of the first shard's kind")
    data = _bytes_of(shard)
    begins, sizes = _places(data, shard, first, count)
    return {name: own[name].read(data, begins[shard.names.index(name)], sizes[shard.names.index(name)])
            for name in wanted}


# ---- writing ----

def to_mds(dataset, folder, columns=None, compression=None, hashes=(), size_limit=1 << 26):
    """Writes the elements, dictionaries of tensors, as MDS shards, as MosaicML's MDSWriter does; returns their number.

    columns: encodings by name where they are not what the specs say: strings are "bytes" ("str", "jpeg", ... say what
    they are), whole numbers and floats their dtypes, truth values "uint8", arrays "ndarray:dtype:shape", or
    "ndarray:dtype" where dimensions differ. compression: None, "zstd" or "zstd:7" (needs the package zstandard), "gz",
    "bz2". hashes: names of hashlib's, in order. size_limit: bytes of a shard. The folder must not be there, or empty;
    index.json is written last, and after a failure nothing stays.
    """
    spec = dataset.element_spec
    if not isinstance(spec, dict) or not spec or any(nest._kind_of(one) is not None for one in spec.values()):
        raise TypeError(f"to_mds: elements are {spec}; expected dictionaries of tensors")
    encodings = {name: _encoding(name, one) for name, one in spec.items()}
    for name, encoding in (columns or {}).items():
        if name not in encodings:
            raise ValueError(f"to_mds: there is no component {name!r}; found {', '.join(encodings)}")
        encodings[name] = encoding
    writer = _Writer(os.fsdecode(folder), encodings, compression, list(hashes), size_limit)
    try:
        for element in dataset.as_numpy_iterator():
            writer.write(element)
        return writer.finish()
    except BaseException:
        writer.discard()
        raise


def _encoding(name, spec):
    if spec.dtype is dtypes.string and spec.shape.rank == 0:
        return "bytes"
    kind = "uint8" if spec.dtype is dtypes.bool else spec.dtype.name
    if kind not in _SCALARS or spec.shape.rank is None:
        raise TypeError(f"to_mds: component {name!r} is {spec}; expected strings, or whole numbers and floats of at "
                        "most 64 bits")
    if spec.shape.rank == 0:
        return kind
    return f"ndarray:{kind}" if None in list(spec.shape) else f"ndarray:{kind}:{','.join(map(str, spec.shape))}"


def _array_head(value):
    """The shape of an array, as it stands before its values."""
    if value.size == 0:
        raise ValueError("an array without values, which MDS has not")
    largest = max(value.shape)
    kind = next(i for i in range(4) if largest < 1 << (8 << i))
    return bytes([value.ndim << 2 | kind]) + np.array(value.shape, f"uint{8 << kind}").tobytes()


def _encoder(name, encoding):
    """(size of all values or None, a function that makes bytes of one)."""
    kind, _, details = encoding.partition(":")
    if kind in _TEXTS:
        return None, lambda value: value if isinstance(value, bytes) else str(value).encode()
    if kind == "int" or kind in _SCALARS:
        dtype = np.dtype(np.int64 if kind == "int" else kind)
        return dtype.itemsize, lambda value: dtype.type(value).tobytes()
    if kind in ("str_int", "str_float"):
        return None, lambda value: str((int if kind == "str_int" else float)(value)).encode()
    if kind == "ndarray":
        dtype, _, shape = details.partition(":")
        if shape:
            dims = tuple(map(int, shape.split(",")))
            size = int(np.prod(dims)) * np.dtype(dtype).itemsize
            return size, lambda value: np.ascontiguousarray(value, dtype).reshape(dims).tobytes()
        numbers = {one: number for number, one in _ARRAY_DTYPES.items()}

        def encode(value):
            value = np.asarray(value, dtype or None)
            return (b"" if dtype else bytes([numbers[value.dtype.name]])) + _array_head(value) + value.tobytes()
        return None, encode
    raise ValueError(f"to_mds: component {name!r} has the encoding {encoding!r}; expected one of "
                     f"{', '.join([*_TEXTS, 'int', *_SCALARS, 'str_int', 'str_float', 'ndarray:dtype:shape'])}")


class _Writer:
    """Puts samples together in shards, and lists these."""

    def __init__(self, folder, encodings, compression, hashes, size_limit):
        if places.is_folder(folder) and places.names(folder):
            raise errors.AlreadyExistsError(None, None, f"to_mds: {folder} is not empty; choose another folder")
        places.make_folders(folder)
        self._pack, self._ending = _packer(compression)
        self._folder, self._hashes, self._limit = folder, hashes, size_limit
        self._names = sorted(encodings)
        made = [_encoder(name, encodings[name]) for name in self._names]
        self._sizes, self._encoders = [size for size, _ in made], [encode for _, encode in made]
        self._config = {
            "version": 2, "format": "mds", "compression": compression, "hashes": hashes, "size_limit": size_limit,
            "column_names": self._names, "column_encodings": [encodings[name] for name in self._names],
            "column_sizes": self._sizes}
        self._text = json.dumps(self._config, sort_keys=True).encode()
        self._shards, self._stored, self._samples, self._total = [], [], [], 0
        self._size = 8 + len(self._text)

    def write(self, element):
        values = []
        for name, size, encode in zip(self._names, self._sizes, self._encoders):
            try:
                values.append(encode(element[name]))
            except (TypeError, ValueError, OverflowError) as error:
                raise errors.InvalidArgumentError(None, None, f"to_mds: component {name!r} of element {self._total}: "
                                                  f"{error}") from None
        head = np.array([len(value) for value, size in zip(values, self._sizes) if size is None], np.uint32)
        sample = head.tobytes() + b"".join(values)
        if self._limit and self._limit < self._size + len(sample) + 4:
            self._flush()
        self._samples.append(sample)
        self._size += len(sample) + 4
        self._total += 1

    def _flush(self):
        """One shard more of the samples that wait; none too, where the first is larger than a shard."""
        offsets = np.cumsum([0, *map(len, self._samples)]).astype(np.uint32)
        offsets += np.uint32(4 + offsets.nbytes + len(self._text))
        raw = b"".join([np.uint32(len(self._samples)).tobytes(), offsets.tobytes(), self._text, *self._samples])
        name = f"shard.{len(self._shards):05}.mds"
        packed = None if self._pack is None else self._pack(raw)
        stored = name if packed is None else f"{name}.{self._ending}"
        self._stored.append(os.path.join(self._folder, stored))
        with gfile.GFile(self._stored[-1], "wb") as file:
            file.write(raw if packed is None else packed)
        self._shards.append({
            "samples": len(self._samples), "raw_data": self._info(raw, name),
            "zip_data": None if packed is None else self._info(packed, stored), **self._config})
        self._samples, self._size = [], 8 + len(self._text)

    def _info(self, data, name):
        import hashlib
        return {"basename": name, "bytes": len(data),
                "hashes": {kind: hashlib.new(kind, data).hexdigest() for kind in self._hashes}}

    def discard(self):
        """Removes the shards, which nothing lists."""
        for path in self._stored:
            with contextlib.suppress(FileNotFoundError):
                places.remove(path)

    def finish(self):
        if self._samples:
            self._flush()

        def write(place):
            with open(place, "w", encoding="utf-8") as file:
                json.dump({"version": 2, "shards": self._shards}, file, sort_keys=True)
        parts.written(os.path.join(self._folder, "index.json"), "to_mds", write)
        return self._total


def _packer(compression):
    """(a function that compresses, the ending of files)."""
    if compression is None:
        return None, None
    kind, _, level = compression.partition(":")
    if kind == "zstd":
        from leat.data.formats.packages import need
        return need("zstandard", "to_mds").ZstdCompressor(level=int(level or 3)).compress, kind
    if kind in ("gz", "bz2"):
        import bz2
        import gzip
        compress = (gzip if kind == "gz" else bz2).compress
        return (lambda data: compress(data, int(level or 9))), kind
    raise ValueError(f"to_mds: compression is {compression!r}; expected zstd, gz or bz2, or one with a level: 'zstd:7'")
