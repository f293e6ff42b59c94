"""WebDataset's tar shards as datasets and back: ``leat.data.from_webdataset`` and ``to_webdataset``.

The library's tar_dataset reads the samples; decoders by extension are WebDataset's own, as far as tensors go.
"""

import io
import json
import os
import re

import numpy as np

from leat import dtypes, errors, nest
from leat._core import specs
from leat._core.tensor import convert_to_tensor
from leat._files import places
from leat._files.npy import read_array
from leat.data import experimental
from leat.data.dataset import AUTOTUNE
from leat.data.formats import parts
from leat.data.formats.json_lines import json_value
from leat.data.interchange import Fetch, signature_of

_TEXTS = ("txt", "text", "transcript")
_NUMBERS = ("cls", "cls2", "class", "count", "index", "inx", "id")
_PICTURES = ("jpg", "jpeg", "png", "bmp", "gif", "webp")
_CHANNELS = {"l8": 1, "rgb8": 3, "rgba8": 4, "l": 1, "rgb": 3, "rgba": 4}
_GZIP_ENDINGS = (".tar.gz", ".tgz")


# ---- reading ----

def from_webdataset(paths, fields=None, decode=None, num_parallel_reads=None, num_parallel_calls=AUTOTUNE,
                    deterministic=None, shuffle_shards=False, seed=None, name=None):
    """The samples of WebDataset's tar shards as dictionaries: "__key__" and the members by their extensions.

    paths: a shard, a folder, a pattern, or a list of these; ".tar", or ".tar.gz" for all. fields: the extensions that
    are wanted, "jpg;png" where a sample has one of them; None: those of the first sample. decode: None leaves bytes.
    Otherwise members are decoded by their extensions as WebDataset does: txt is text, cls, index and id are whole
    numbers, npy arrays, and pictures what `decode` says: "rgb8", "rgba8", "l8" (uint8) or "rgb", "rgba", "l" (float32
    from 0 to 1). A dictionary says it for some fields: one of these words, "bytes", a structure of TypeSpecs for a
    member that is JSON, or a function of the bytes; other fields stay bytes. num_parallel_reads: shards that are read
    in turns. shuffle_shards, seed: shards in another order in each epoch. A sample that lacks a field is
    InvalidArgumentError, a damaged shard DataLossError with its path; what follows goes on. Strategies deal out shards;
    a saved iterator is a position.
    """
    paths = parts.paths_of(paths, "from_webdataset", (".tar", *_GZIP_ENDINGS), everywhere=True)
    kinds = {"GZIP" if path.endswith(_GZIP_ENDINGS) else "" for path in paths}
    if len(kinds) > 1:
        raise ValueError("from_webdataset: some shards are compressed and others are not; give one kind at a time")
    compression = kinds.pop()
    first = None
    if fields is None or decode is not None:
        first = _first_sample(paths[0])
    fields = [key for key in first if key != "__key__"] if fields is None else list(fields)
    decoders = _decoders(fields, decode, first)
    dataset = _samples(paths, fields, compression, num_parallel_reads, deterministic, shuffle_shards, seed)
    plain = {key: decoder for key, decoder in decoders.items() if not isinstance(decoder, Fetch)}
    if plain:
        dataset = dataset.map(lambda sample: {**sample, **{key: make(sample[key]) for key, make in plain.items()}},
                              num_parallel_calls=num_parallel_calls, deterministic=deterministic)
    for key in decoders.keys() - plain.keys():
        dataset = dataset.map(_member(dataset.element_spec, key, decoders[key]), num_parallel_calls=num_parallel_calls,
                              deterministic=deterministic)
    if name is not None:
        dataset._native = dataset._native.label(name)
    return dataset


def _samples(paths, fields, compression, num_parallel_reads, deterministic, shuffle, seed):
    names = paths
    if shuffle or num_parallel_reads is not None:
        names = experimental.files_dataset(paths)
        names = names.shuffle(len(paths), seed) if shuffle else names
    if num_parallel_reads is None:
        return _tar(names, fields, compression)
    return names.interleave(lambda path: _tar(path, fields, compression),
                            cycle_length=num_parallel_reads, num_parallel_calls=num_parallel_reads,
                            deterministic=deterministic)


def _tar(names, fields, compression):
    return experimental.tar_dataset(filenames=names, fields=fields, compression_type=compression)


def _split(path):
    """(key, extension) of a member as WebDataset has it; None of one that belongs to no sample."""
    folder, slash, base = path.rpartition("/")
    stem, dot, extension = base.partition(".")
    return (folder + slash + stem, extension.lower()) if dot and stem and not base.startswith("__") else None


def _first_sample(path):
    """The members of the first sample of a shard by extension."""
    import tarfile
    found, first = {}, None
    with (parts.Failure("from_webdataset", path), places.opened(path) as file,
          tarfile.open(fileobj=file, mode="r|*") as archive):
        for member in archive:
            split = _split(member.name) if member.isfile() else None
            if split is None:
                continue
            if first is not None and split[0] != first:
                break
            first = split[0]
            found[split[1]] = archive.extractfile(member).read()
    if not found:
        raise errors.InvalidArgumentError(None, None, f"from_webdataset: {path} has no sample; say `fields`, and "
                                          "decode by a map")
    return found


def _decoders(fields, decode, first):
    """By element's key: a function of the bytes for a map, or a Fetch."""
    if decode is None:
        return {}
    known = [field.partition(";")[0] for field in fields]
    chosen = decode if isinstance(decode, dict) else dict.fromkeys(known, decode)
    out = {}
    for key, how in chosen.items():
        if key not in known:
            raise ValueError(f"from_webdataset: decode names {key!r}; the fields are {', '.join(known)}")
        field = fields[known.index(key)].split(";")
        data = next((first[one] for one in field if one in first), None)
        made = _decoder(key, field, how, data, isinstance(decode, dict))
        if made is not None:
            out[key] = made
    return out


def _decoder(key, extensions, how, data, is_own):
    if not isinstance(how, str):
        return how if callable(how) else Fetch(lambda text: json_value(text.numpy(), how, key), how)
    if how not in _CHANNELS and how != "bytes":
        raise ValueError(f"from_webdataset: decode is {how!r}; expected {', '.join(_CHANNELS)} or 'bytes'")
    last = extensions[0].rpartition(".")[2]
    if how == "bytes" or last in _TEXTS:
        return None
    if last in _NUMBERS:
        return _number
    if last == "npy":
        return _arrays(key, data)
    if last in _PICTURES:
        return _picture(how)
    if is_own:
        raise ValueError(f"from_webdataset: {key!r} is no picture; give a function, or a structure of TypeSpecs for "
                         "JSON")
    return None


def _number(text):
    from leat import strings
    return strings.to_number(strings.strip(text), dtypes.int64)


def _picture(how):
    def decode(data):
        from leat import image, io
        picture = io.decode_image(data, channels=_CHANNELS[how], expand_animations=False)
        return picture if how.endswith("8") else image.convert_image_dtype(picture, dtypes.float32)
    return decode


def _arrays(key, data):
    def load(text):
        try:
            return convert_to_tensor(read_array(io.BytesIO(text.numpy())))
        except ValueError as error:
            raise errors.DataLossError(None, None, f"from_webdataset: member {key!r} is no array of numpy's: {error}"
                                       ) from None
    load.__name__ = "npy"
    if data is None:
        raise ValueError(f"from_webdataset: the first sample has no {key!r} to tell its dtype; decode it by a map")
    return Fetch(load, signature_of(load(convert_to_tensor(data))))


def _member(spec, key, fetch):
    """A Fetch of one member as a Fetch of samples."""
    def decode(sample):
        return {**sample, key: fetch(sample[key])}
    decode.__name__ = getattr(fetch, "__name__", key)
    return Fetch(decode, {**spec, key: fetch._signature})


# ---- writing ----

def to_webdataset(dataset, pattern, maxcount=100000, maxsize=3e9, mtime=None):
    """Writes the elements, dictionaries, as tar shards as WebDataset's ShardWriter does; returns how many there were.

    pattern: names of shards, "train-%06d.tar"; those that end in "gz" are compressed. "__key__" names a sample, else
    its number does. Strings are members' bytes; other components are encoded by their extension: whole numbers for
    cls, index and id, any array for npy, pictures (uint8) for png, jpg and jpeg. maxcount, maxsize: of samples and
    bytes in a shard. mtime: the time of the members, now if None; give one for the same bytes each time. Shards have
    their names when all of them are whole.
    """
    spec = dataset.element_spec
    if not isinstance(spec, dict) or any(nest._kind_of(one) is not None for one in spec.values()):
        raise TypeError(f"to_webdataset: elements are {spec}; expected dictionaries of tensors")
    encoders = {key: _encoder(key, one) for key, one in sorted(spec.items()) if not key.startswith("_")}
    pattern = os.fsdecode(pattern)
    if not re.search(r"%0?\d*d", pattern):
        raise ValueError(f"to_webdataset: the pattern {pattern!r} has no place for a number; expected 'name-%06d.tar'")
    with parts.Together() as files:
        shards = _Shards(pattern, maxcount, maxsize, mtime, files)
        try:
            for number, element in enumerate(dataset.as_numpy_iterator()):
                key = element["__key__"].decode() if "__key__" in element else f"{number:09d}"
                shards.write(key, [(name, encode(element[name])) for name, encode in encoders.items()])
        finally:
            shards.close()
    return shards.total


def _encoder(key, spec):
    last = key.lower().rpartition(".")[2]
    if not isinstance(spec, specs.TensorSpec):
        raise TypeError(f"to_webdataset: component {key!r} is {spec}; expected a tensor")
    if spec.dtype is dtypes.string and spec.shape.rank == 0:
        return bytes
    if last in _NUMBERS and spec.shape.rank == 0 and spec.dtype.is_integer:
        return lambda value: b"%d" % value
    if last == "npy" and spec.dtype is not dtypes.string and spec.dtype is not dtypes.variant:
        return _npy
    if last in ("json", "jsn") and spec.shape.rank == 0 and spec.dtype.as_numpy_dtype is not object:
        return lambda value: json.dumps(value.item()).encode()
    if last in ("png", "jpg", "jpeg") and spec.dtype is dtypes.uint8 and spec.shape.rank in (None, 3):
        return _png if last == "png" else _jpeg
    raise TypeError(f"to_webdataset: component {key!r} is {spec}; expected strings, whole numbers for "
                    f"{', '.join(_NUMBERS)}, arrays for npy, pictures (uint8) for png and jpg")


def _npy(value):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(value), allow_pickle=False)
    return out.getvalue()


def _png(value):
    from leat import io as functions
    return functions.encode_png(value).numpy()


def _jpeg(value):
    from leat import io as functions
    return functions.encode_jpeg(value, quality=100).numpy()


class _Shards:
    """The shard that is open; `files` gives the names that shards have until all are whole."""

    def __init__(self, pattern, maxcount, maxsize, mtime, files):
        self._pattern, self._maxcount, self._maxsize, self._mtime = pattern, maxcount, maxsize, mtime
        self._files = files
        self._archive, self._shard, self.total = None, 0, 0
        self._open()

    def _open(self):
        import tarfile
        path = self._pattern % self._shard
        self._file = open(self._files.begin(path), "wb")
        self._archive = tarfile.open(fileobj=self._file, mode="w|gz" if path.endswith("gz") else "w|",
                                     format=tarfile.USTAR_FORMAT)
        self._shard += 1
        self._count = self._size = 0

    def write(self, key, members):
        import tarfile
        import time
        if self._count >= self._maxcount or self._size >= self._maxsize:
            self.close()
            self._open()
        for name, data in members:
            info = tarfile.TarInfo(f"{key}.{name}")
            info.size, info.mode, info.uname, info.gname = len(data), 0o444, "bigdata", "bigdata"
            info.mtime = time.time() if self._mtime is None else self._mtime
            self._archive.addfile(info, io.BytesIO(data))
            self._size += len(data)
        self._count += 1
        self.total += 1

    def close(self):
        """Ends the shard."""
        self._archive.close()
        self._file.close()
