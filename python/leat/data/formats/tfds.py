"""Folders that TensorFlow Datasets prepared, read without it: ``leat.data.tfds``.

dataset_info.json lists the splits and their shards of tf.train.Examples, features.json says what is in them: values as
lists of int64, float32 or bytes under names that are joined by "/".
"""

import json
import os
import re

import numpy as np

from leat import dtypes, errors
from leat._core.specs import TensorSpec
from leat.data.dataset import AUTOTUNE, TFRecordDataset
from leat.data.experimental import assert_cardinality
from leat.data.formats import parts

_SLICE = re.compile(r"([\w-]+)(?:\[(?:(-?\d+)(%?))?:(?:(-?\d+)(%?))?\])?")
_NUMPY = {"object": "string", "str": "string", "bytes": "string"}


# ---- features ----

class _Leaf:
    """A tensor in an Example: dtype and shape there, how many of its dimensions are sequences, and what it becomes."""

    def __init__(self, dtype, shape, decode=None, result=None):
        self.dtype, self.shape, self.sequences = dtype, list(shape), 0
        self.decode, self.result = decode, result  # of bytes, and the spec of what they become

    def in_sequence(self, length):
        """The same in a sequence, of which the length may be None."""
        made = _Leaf(self.dtype, [length, *self.shape], self.decode, self.result)
        made.sequences = self.sequences + 1
        return made


def _dims(message):
    dims = (message.get("shape") or {}).get("dimensions", [])
    return [None if int(dim) < 0 else int(dim) for dim in dims]


def _dtype(name):
    return dtypes.as_dtype(_NUMPY.get(name, name))


def _feature(message, path):
    """The leaf of a feature, or a dictionary of them."""
    kinds = [key for key in message if key not in ("pythonClassName", "description")]
    if len(kinds) != 1:
        raise NotImplementedError(f"feature {path!r} has no kind of its own ({', '.join(message)})")
    kind, content = kinds[0], message[kinds[0]]
    if kind not in _KINDS:
        raise NotImplementedError(f"feature {path!r} is of the kind {kind}; expected one of {', '.join(_KINDS)}")
    return _KINDS[kind](content, path)


def _features_dict(content, path):
    return {key: _feature(one, f"{path}/{key}" if path else key) for key, one in content["features"].items()}


def _sequence(content, path):
    length = int(content.get("length", -1))

    def wrapped(inner):
        if isinstance(inner, dict):
            return {key: wrapped(one) for key, one in inner.items()}
        return inner.in_sequence(None if length < 0 else length)
    return wrapped(_feature(content["feature"], path))


def _tensor(content, path):
    dtype, shape = _dtype(content["dtype"]), _dims(content)
    encoding = content.get("encoding", "none").lower()
    if encoding in ("", "none"):
        return _Leaf(dtype, shape)
    if encoding not in ("bytes", "zlib") or dtype is dtypes.string or shape.count(None) > 1:
        raise NotImplementedError(f"feature {path!r} is a tensor of {dtype.name} and shape {shape}, encoded as "
                                  f"{encoding}")

    def decode(data):
        from leat import io
        raw = io.decode_compressed(data, "ZLIB") if encoding == "zlib" else data
        stored = dtypes.uint8 if dtype is dtypes.bool else dtype
        values = _reshaped(io.decode_raw(raw, stored), shape)
        return _cast(values, dtype)
    return _Leaf(dtypes.string, [], decode, TensorSpec(shape, dtype))


def _image(content, path):
    dtype, shape = _dtype(content.get("dtype") or "uint8"), _dims(content)
    if dtype not in (dtypes.uint8, dtypes.uint16):
        raise NotImplementedError(f"feature {path!r} is a picture of {dtype.name}; expected uint8 or uint16")

    def decode(data):
        from leat import io
        picture = io.decode_image(data, channels=shape[-1] or 0 if shape else 0, dtype=dtype, expand_animations=False)
        picture.set_shape(shape or [None, None, None])
        return picture
    return _Leaf(dtypes.string, [], decode, TensorSpec(shape or [None, None, None], dtype))


def _video(content, path):
    shape = _dims(content) or [None]
    return _image(dict(content, shape={"dimensions": [-1 if dim is None else dim for dim in shape[1:]]}),
                  path).in_sequence(shape[0])


def _audio(content, path):
    encoding = content.get("encoding", "none").lower()
    if content.get("lazyDecode"):
        return _Leaf(dtypes.string, [])
    return _tensor({"dtype": content.get("dtype") or "int64", "shape": content.get("shape") or {"dimensions": [-1]},
                    "encoding": encoding}, path)


def _translation(content, path):
    if content.get("variableLanguagesPerExample"):
        return {key: _Leaf(dtypes.string, []).in_sequence(None) for key in ("language", "translation")}
    return {key: _Leaf(dtypes.string, []) for key in content["languages"]}


_KINDS = {
    "featuresDict": _features_dict, "sequence": _sequence, "tensor": _tensor, "image": _image, "labeledImage": _image,
    "video": _video, "audio": _audio, "translation": _translation,
    "classLabel": lambda content, path: _Leaf(dtypes.int64, []), "text": lambda content, path: _Leaf(dtypes.string, []),
    "boundingBox": lambda content, path: _Leaf(dtypes.float32, _dims(content) or [4]),
}


def _cast(values, dtype):
    from leat._graph.ops import FUNCTIONS
    return values if values.dtype is dtype else FUNCTIONS["cast"](values, dtype)


def _reshaped(values, shape):
    from leat._graph.ops import FUNCTIONS
    return FUNCTIONS["reshape"](values, [-1 if dim is None else dim for dim in shape])


# ---- Examples ----

def _stored(leaf):
    if leaf.dtype is dtypes.string:
        return dtypes.string
    if leaf.dtype.is_floating:
        return dtypes.float32
    return dtypes.int64


def _specs(features, path=""):
    """What parse_example is to look for: {name in the Example: feature}."""
    from leat import io
    out = {}
    for key, leaf in features.items():
        name = f"{path}/{key}" if path else key
        if isinstance(leaf, dict):
            out.update(_specs(leaf, name))
        elif leaf.sequences > 1:
            if None not in leaf.shape[:leaf.sequences]:
                raise NotImplementedError(f"feature {name!r} is of sequences of known lengths in each other")
            out.update({f"{name}/ragged_row_lengths_{i}": io.FixedLenSequenceFeature([], dtypes.int64, True)
                        for i in range(leaf.sequences - 1)})
            out[f"{name}/ragged_flat_values"] = io.FixedLenSequenceFeature(
                leaf.shape[leaf.sequences:], _stored(leaf), True)
        elif None not in leaf.shape:
            out[name] = io.FixedLenFeature(leaf.shape, _stored(leaf))
        elif leaf.shape.count(None) == 1 and leaf.shape[0] is None:
            out[name] = io.FixedLenSequenceFeature(leaf.shape[1:], _stored(leaf), True)
        else:
            raise NotImplementedError(f"feature {name!r} has the shape {leaf.shape}; only the first dimension may be "
                                      "unknown")
    return out


def _built(features, parsed, decode, path=""):
    """The element that parsed values make."""
    out = {}
    for key, leaf in features.items():
        name = f"{path}/{key}" if path else key
        out[key] = _built(leaf, parsed, decode, name) if isinstance(leaf, dict) else _value(leaf, parsed, name, decode)
    return out


def _value(leaf, parsed, name, decode):
    if leaf.sequences > 1:
        from leat._structures.ragged import RaggedTensor
        lengths = [parsed[f"{name}/ragged_row_lengths_{i}"] for i in range(leaf.sequences - 1)]
        flat = parsed[f"{name}/ragged_flat_values"]
        flat = _mapped(leaf, flat) if decode and leaf.decode is not None else flat
        return RaggedTensor.from_nested_row_lengths(_cast(flat, leaf.dtype) if leaf.decode is None else flat, lengths)
    value = parsed[name]
    if leaf.decode is None or not decode:
        return _cast(value, leaf.dtype)
    return _mapped(leaf, value) if leaf.sequences else leaf.decode(value)


def _mapped(leaf, values):
    """Each of the values decoded."""
    from leat._api.folds import map_fn
    return map_fn(leaf.decode, values, fn_output_signature=leaf.result)


# ---- splits ----

class _Split:
    def __init__(self, message, info):
        self.name = message["name"]
        self.lengths = [int(count) for count in message.get("shardLengths", [])]
        kind = info.get("fileFormat") or "tfrecord"
        if kind.lower() not in ("tfrecord", "file_format.tfrecord"):
            raise NotImplementedError(f"shards of the format {kind}; expected tfrecord")
        template = message.get("filepathTemplate") or "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
        self._template, self._dataset = template, info["name"]

    def path(self, number):
        """The name of a shard."""
        count = len(self.lengths)
        place = {"DATASET": self._dataset, "SPLIT": self.name, "FILEFORMAT": "tfrecord",
                 "SHARD_X_OF_Y": f"{number:05d}-of-{count:05d}", "SHARD_INDEX": f"{number:05d}",
                 "NUM_SHARDS": f"{count:05d}"}
        name = re.sub(r"\{(\w+)\}", lambda found: place[found.group(1)], self._template)
        if os.path.basename(name) != name:
            raise ValueError(f"a shard with the name {name!r}; expected one of a file in the folder")
        return name


def _bounds(text, split):
    """Which elements of a split "train[10:20%]" names."""
    found = _SLICE.fullmatch(text)
    total = sum(split.lengths)
    places = []
    for number, percent, default in ((found[2], found[3], 0), (found[4], found[5], total)):
        place = default if number is None else int(number)
        if percent:
            if abs(place) > 100:
                raise ValueError(f"tfds: {text!r} asks for more than 100 %")
            place = round(place * total / 100)
        places.append(min(max(place + total if place < 0 else place, 0), total))
    return places[0], max(places)


def _records(folder, text, splits, shuffle, seed):
    """Records of a split or a part of it, and how many there are."""
    found = _SLICE.fullmatch(text)
    if found is None or found[1] not in splits:
        raise ValueError(f"tfds: there is no split {text!r}; found {', '.join(splits)}, of which parts are told as "
                         "'train[:80%]' or 'train[100:200]'")
    split = splits[found[1]]
    first, last = _bounds(text, split)
    starts = np.concatenate([[0], np.cumsum(split.lengths)]).tolist()
    numbers = [i for i in range(len(split.lengths)) if starts[i] < last and starts[i + 1] > first]
    paths = [os.path.join(folder, split.path(i)) for i in numbers]
    for path in paths:
        if not os.path.exists(path):
            raise errors.NotFoundError(None, None, f"tfds: there is no {path}")
    if not paths:
        return TFRecordDataset([]), 0
    names = paths
    whole = first <= starts[numbers[0]] and last >= starts[numbers[-1] + 1]
    if shuffle:
        if not whole:
            raise ValueError("tfds: shuffle_files shuffles whole shards; leave it out for a part of a split")
        from leat.data.experimental import files_dataset
        names = files_dataset(paths).shuffle(len(paths), seed)
    records = TFRecordDataset(names)
    if first > starts[numbers[0]]:
        records = records.skip(first - starts[numbers[0]])
    if last < starts[numbers[-1] + 1]:
        records = records.take(last - first)
    return records, last - first


def _read_json(folder, name):
    path = os.path.join(folder, name)
    with parts.Failure("tfds", path), open(path, encoding="utf-8") as file:
        try:
            found = json.load(file)
        except ValueError as error:
            raise errors.DataLossError(None, None, f"tfds: {path} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise errors.DataLossError(None, None, f"tfds: {path} is no JSON object")
    return found


def _version_of(folder):
    """The folder itself, or the only one of a version in it."""
    if os.path.exists(os.path.join(folder, "dataset_info.json")) or not os.path.isdir(folder):
        return folder
    found = sorted(name for name in os.listdir(folder)
                   if os.path.exists(os.path.join(folder, name, "dataset_info.json")))
    if len(found) > 1:
        raise ValueError(f"tfds: {folder} has several versions or configurations, {', '.join(found)}; give the folder "
                         "of one")
    return os.path.join(folder, found[0]) if found else folder


def tfds(folder, split="train", as_supervised=False, decode=True, shuffle_files=False, seed=None,
         num_parallel_calls=AUTOTUNE, deterministic=None, name=None):
    """The examples of a folder that TensorFlow Datasets prepared ("mnist/3.0.1"), which it is not needed for.

    split: "train", a part of it ("train[:80%]", "train[100:200]"), or several ("train+test"). Features are what TFDS
    gives: dictionaries of tensors, sequences of sequences ragged, pictures decoded. as_supervised: (input, label) as
    the dataset says. decode: False leaves pictures the bytes of their files. shuffle_files, seed: shards in another
    order in each epoch. The length is known, strategies deal out shards, and a saved iterator is a position. Kinds of
    features that are not known, and shards other than tfrecord, are UnimplementedError.
    """
    folder = _version_of(os.fsdecode(folder).removeprefix("file://"))
    info, message = _read_json(folder, "dataset_info.json"), _read_json(folder, "features.json")
    with parts.Failure("tfds", folder):
        try:
            features = _feature({key: one for key, one in message.items() if key != "proto_cls"}, "")
            splits = {one["name"]: _Split(one, info) for one in info.get("splits", [])}
        except (KeyError, AttributeError) as error:
            raise errors.DataLossError(None, None, f"tfds: {folder} has descriptions without {error}") from None
        if not isinstance(features, dict):
            raise NotImplementedError("features that are no dictionary")
        parsed_specs = _specs(features)
    total, records = 0, None
    for text in split.split("+"):
        more, count = _records(folder, text.strip(), splits, shuffle_files, seed)
        records, total = more if records is None else records.concatenate(more), total + count
    keys = _supervised(info) if as_supervised else None

    def parse(record):
        from leat import io
        element = _built(features, io.parse_single_example(record, parsed_specs), decode)
        return element if keys is None else tuple(element[key] for key in keys)
    return records.map(parse, num_parallel_calls=num_parallel_calls, deterministic=deterministic, name=name).apply(
        assert_cardinality(total))


def _supervised(info):
    keys = info.get("supervisedKeys") or {}
    items = [item.get("featureKey") for item in (keys.get("tuple") or {}).get("items", [])]
    if not items:
        items = [key for key in (keys.get("input"), keys.get("output")) if key]
    if not items or None in items:
        raise ValueError("tfds: the dataset does not say which features are input and label; leave as_supervised out")
    return items
