"""``leat.data.convert`` and ``leat convert --to``: files of one format written as those of another.

A source becomes a dataset of dictionaries of tensors, by its own function where it says what it holds (Parquet, MDS
and others) and else by its first records (TFRecord, lines of JSON); a target is written by its own function. Targets
appear whole or not at all.
"""

import argparse
import csv
import itertools
import json
import os
import re
import sys
from io import StringIO

import numpy as np

from leat import dtypes, errors, io, strings
from leat._core import specs
from leat._files import places
from leat._files.example import BytesList, Example, Feature, Features, FloatList, Int64List
from leat._files.parsing import FixedLenFeature, RaggedFeature
from leat._files.records import TFRecordOptions, TFRecordWriter
from leat._files.wire import DecodeError
from leat.data import experimental
from leat.data.dataset import AUTOTUNE, Dataset, TFRecordDataset, TextLineDataset
from leat.data.formats import arrays, avro, json_lines, mds, parquet, parts, stores, webdataset
from leat.data.interchange import Fetch
from leat.utils import Progbar

_LOOKED_AT = 64  # records that tell what the others hold
_AT_ONCE = 256  # elements between two looks of the progress bar
_COMPRESSIONS = {".gz": "GZIP", ".zlib": "ZLIB", ".zst": "ZSTD", ".lz4": "LZ4"}


def _compression(path):
    return _COMPRESSIONS.get(os.path.splitext(path)[1], "")


# ---- sources ----

def _features(records, where):
    """{name: what parse_single_example takes} of serialized examples; None: they are none."""
    found = {}
    for count, record in enumerate(records):
        try:
            example = Example.FromString(record)
        except DecodeError:
            return None
        for name, feature in example.features.feature.items():
            kind = feature.WhichOneof("kind")
            if kind is not None:
                kinds, sizes = found.setdefault(name, (set(), [0] * count))
                kinds.add(kind)
                sizes.append(len(getattr(feature, kind).value))
        for _, sizes in found.values():
            sizes.extend([0] * (count + 1 - len(sizes)))
    out = {}
    for name, (kinds, sizes) in found.items():
        if len(kinds) > 1:
            raise errors.InvalidArgumentError(None, None, f"convert: feature {name!r} of {where} is of "
                                              f"{sorted(kinds)}; expected one kind")
        dtype = {"bytes_list": dtypes.string, "float_list": dtypes.float32, "int64_list": dtypes.int64}[kinds.pop()]
        if len(set(sizes)) == 1 and sizes[0]:
            out[name] = FixedLenFeature([] if sizes[0] == 1 else [sizes[0]], dtype)
        else:
            out[name] = RaggedFeature(dtype, row_splits_dtype=dtypes.int64)
    return out or None


def _of_records(dataset, where, features=None):
    """Records of bytes as what their examples hold; as {"value"} where they are none."""
    if features is None:
        features = _features(itertools.islice(dataset.as_numpy_iterator(), _LOOKED_AT), where)
    if features is None:
        return dataset.map(lambda record: {"value": record})
    return dataset.map(lambda record: io.parse_single_example(record, features), num_parallel_calls=AUTOTUNE)


def _read_tfrecord(paths, features=None):
    paths = parts.paths_of(paths, "convert", [".tfrecord", ".tfrecords", *(f".tfrecord{end}" for end in _COMPRESSIONS)],
                           everywhere=True)
    return _of_records(TFRecordDataset(paths, _compression(paths[0]) or None), paths[0], features)


def _read_array_record(paths, features=None):
    return _of_records(stores.from_array_record(paths), paths, features)


def _read_lmdb(paths, features=None):
    pairs = stores.from_lmdb(paths)
    if features is None:
        features = _features((one["value"] for one in itertools.islice(pairs.as_numpy_iterator(), _LOOKED_AT)), paths)
    return pairs if features is None else _of_records(pairs.map(lambda pair: pair["value"]), paths, features)


def _read_csv(paths):
    paths = parts.paths_of(paths, "convert", (".csv",), everywhere=True)
    return experimental.make_csv_dataset(paths, 1024, num_epochs=1, shuffle=False).unbatch()


def _spec_of_json(values, name, where):
    """The TensorSpec of a member of objects of JSON."""
    kinds = {type(value[0] if isinstance(value, list) and value else value) for value in values if value != []}
    sizes = {len(value) if isinstance(value, list) else None for value in values}
    if kinds <= {int, float} and float in kinds:
        dtype = dtypes.float64
    elif len(kinds) == 1 and next(iter(kinds)) in (int, bool, str):
        dtype = {int: dtypes.int64, bool: dtypes.bool, str: dtypes.string}[kinds.pop()]
    else:
        raise errors.UnimplementedError(None, None, f"convert: {name!r} of {where} is of "
                                        f"{sorted(kind.__name__ for kind in kinds)}; expected numbers, truth values or "
                                        "texts of one kind, or lists of them; read it by leat.data.json_lines")
    if None in sizes and len(sizes) > 1:
        raise errors.InvalidArgumentError(None, None, f"convert: {name!r} of {where} is a list in some lines only")
    return specs.TensorSpec([] if None in sizes else [sizes.pop() if len(sizes) == 1 else None], dtype)


def _read_json_lines(paths, signature=None):
    endings = [start + end for start in (".jsonl", ".ndjson") for end in ("", *_COMPRESSIONS)]
    paths = parts.paths_of(paths, "convert", endings, everywhere=True)
    if signature is None:
        first = TextLineDataset(paths, _compression(paths[0]) or None).as_numpy_iterator()
        with parts.Failure("convert", paths[0]):
            values = [json.loads(line) for line in itertools.islice(first, _LOOKED_AT) if line.strip()]
        if not values or not all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values):
            raise errors.InvalidArgumentError(None, None, f"convert: lines of {paths[0]} are no objects with one set "
                                              "of names; read them by leat.data.json_lines")
        signature = {name: _spec_of_json([value[name] for value in values], name, paths[0]) for name in values[0]}
    return json_lines.json_lines(paths, signature)


def _read_webdataset(paths, decode=None, **more):
    """Numbers and arrays are decoded where `decode` does not say it; pictures stay the bytes that they are."""
    if decode is None:
        fields = webdataset.from_webdataset(paths, **more).element_spec
        decode = {key: "rgb8" for key in fields if key.rpartition(".")[2] in ("npy", *webdataset._NUMBERS)}
    return webdataset.from_webdataset(paths, decode=decode or None, **more)


# ---- targets ----

def _feature(value):
    """The tf.train.Feature, as keyword arguments, of a value of numpy's: what has two dimensions or more is serialized.
    """
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return {"bytes_list": {"value": [io.serialize_tensor(value).numpy()]}}
    flat = value.ravel().tolist() if isinstance(value, (np.ndarray, np.generic)) else [value]
    kind = getattr(value, "dtype", np.dtype(object)).kind
    if kind in "iub":
        return {"int64_list": {"value": [int(one) for one in flat]}}
    return {"float_list": {"value": flat}} if kind == "f" else {"bytes_list": {"value": flat}}


def _example(element):
    lists = {"bytes_list": BytesList, "float_list": FloatList, "int64_list": Int64List}
    return Example(features=Features(feature={
        name: Feature(**{kind: lists[kind](**given) for kind, given in _feature(_dense(value)).items()})
        for name, value in element.items()})).SerializeToString()


def _dense(value):
    return value.numpy() if hasattr(value, "numpy") else value


def _records(dataset, function):
    """Serialized examples of dictionaries, or the records themselves where they are {"value"} of bytes."""
    spec = dataset.element_spec
    if not isinstance(spec, dict):
        raise TypeError(f"{function}: elements are {spec}; expected dictionaries of tensors")
    is_plain = list(spec) == ["value"] and spec["value"].dtype is dtypes.string and spec["value"].shape.rank == 0
    for element in dataset.as_numpy_iterator():
        yield element["value"] if is_plain else _example(element)


def _write_tfrecord(dataset, path, compression=None):
    options = TFRecordOptions(compression_type=_compression(path) if compression is None else compression)
    total = 0
    with TFRecordWriter(path, options) as writer:
        for record in _records(dataset, "convert"):
            writer.write(record)
            total += 1
    return total


def _write_lmdb(dataset, path):
    if set(dataset.element_spec) == {"key", "value"}:
        return stores.to_lmdb(dataset, path)
    return stores.to_lmdb(_serialized(dataset).enumerate().map(lambda number, record: {
        "key": strings.as_string(number, width=10, fill="0"), "value": record}), path)


def _write_array_record(dataset, path, **options):
    return stores.to_array_record(_serialized(dataset), path, **options)


def _serialized(dataset):
    return Dataset.from_generator(lambda: _records(dataset, "convert"), output_signature=specs.TensorSpec(
        [], dtypes.string))


def _text(value, name):
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        raise errors.InvalidArgumentError(None, None, f"convert: component {name!r} has bytes that are no text "
                                          "(UTF-8); choose a format that has bytes (tfrecord, parquet, mds)") from None


def _plain(value, name):
    """A value as JSON has it."""
    value = _dense(value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [_plain(one, name) for one in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else _text(value, name)


def _write_text(dataset, path, lines):
    def write(place):
        total = 0
        with open(place, "w", encoding="utf-8", newline="") as file:
            for line, is_element in lines(dataset):
                file.write(line)
                total += is_element
        return total
    return parts.written(path, "convert", write)


def _write_json_lines(dataset, path):
    return _write_text(dataset, path, lambda dataset: (
        (json.dumps({name: _plain(value, name) for name, value in element.items()}, ensure_ascii=False) + "\n", 1)
        for element in dataset.as_numpy_iterator()))


def _write_csv(dataset, path):
    for name, one in arrays.components(dataset, "convert").items():
        if one.shape.rank != 0:
            raise TypeError(f"convert: component {name!r} is {one}; CSV has scalars alone")

    def line(values):
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerow(values)
        return text.getvalue()

    def lines(dataset):
        yield line(dataset.element_spec), 0
        for element in dataset.as_numpy_iterator():
            yield line([_plain(value, name) for name, value in element.items()]), 1
    return _write_text(dataset, path, lines)


def _write_webdataset(dataset, path, **options):
    spec = arrays.components(dataset, "convert")
    names = {}
    for name, one in spec.items():
        is_text, is_number = one.dtype is dtypes.string, one.dtype.is_integer and one.shape.rank == 0
        ends = webdataset._NUMBERS if is_number else ("npy", "png", "jpg", "jpeg")
        known = is_text or name.startswith("__") or name.rpartition(".")[2] in ends
        names[name] = name if known else f"{name}.{'cls' if is_number else 'npy'}"
    renamed = dataset.map(lambda element: {names[name]: value for name, value in element.items()})
    return webdataset.to_webdataset(renamed, path, **options)


class _Format:
    """A format: how files are recognised, read and written."""

    def __init__(self, endings, read, write):
        self.endings, self.read, self.write = endings, read, write


FORMATS = {
    "tfrecord": _Format((".tfrecord", ".tfrecords"), _read_tfrecord, _write_tfrecord),
    "parquet": _Format((".parquet", ".pq"), parquet.from_parquet, parquet.to_parquet),
    "arrow": _Format((".arrow", ".feather"), parquet.from_arrow_files, parquet.to_arrow_file),
    "mds": _Format((".mds",), mds.from_mds, mds.to_mds),
    "webdataset": _Format((".tar", ".tgz"), _read_webdataset, _write_webdataset),
    "csv": _Format((".csv",), _read_csv, _write_csv),
    "jsonl": _Format((".jsonl", ".ndjson"), _read_json_lines, _write_json_lines),
    "npz": _Format((".npz",), arrays.from_npz, arrays.to_npz),
    "hdf5": _Format((".h5", ".hdf5"), arrays.from_hdf5, arrays.to_hdf5),
    "lmdb": _Format((".lmdb", ".mdb"), _read_lmdb, _write_lmdb),
    "avro": _Format((".avro",), avro.from_avro, avro.to_avro),
    "array_record": _Format((".array_record", ".arrayrecord"), _read_array_record, _write_array_record),
}


def _format_of(path, given, is_target):
    """The name of a path's format."""
    if given is not None:
        if given not in FORMATS:
            raise ValueError(f"convert: there is no format {given!r}; there are {', '.join(FORMATS)}")
        return given
    inside = [os.path.join(path, name) for name in sorted(places.names(path))] if places.is_folder(path) else []
    if any(name.endswith("/data.mdb") for name in inside):
        return "lmdb"
    found = {name for one in [path, *inside] for name, kind in FORMATS.items()
             if _bare(one).endswith(kind.endings)}
    if len(found) == 1:
        return found.pop()
    option = "target_format (--to)" if is_target else "source_format (--from)"
    raise ValueError(f"convert: the format of {path} cannot be told by its name ({', '.join(sorted(found)) or 'none'} "
                     f"of {', '.join(FORMATS)}); say {option}")


def _bare(path):
    """A path without the ending of a compression."""
    start, end = os.path.splitext(path)
    return start if end in _COMPRESSIONS else path


def _counted(dataset, bar):
    """The dataset, which moves a progress bar on."""
    def count(*values):
        bar.add(int(np.shape(next(iter(values[0].values())))[0]))
        return values[0]
    batched = dataset.batch(_AT_ONCE)
    return batched.map(Fetch(count, batched.element_spec)).unbatch()


def convert(source, target, source_format=None, target_format=None, source_options=None, target_options=None,
            progress=True):
    """Writes the elements of files of one format as those of another; returns how many there were.

    source: a file, a folder, a pattern, or a list of these; target: a file, of "mds" and "lmdb" a folder, of
    "webdataset" a pattern ("train-%06d.tar"). Formats are told by the names' endings, else by `source_format` and
    `target_format`: tfrecord, parquet, arrow, mds, webdataset, csv, jsonl, npz, hdf5, lmdb, avro, array_record.
    source_options, target_options: further arguments of the format's own function, such as
    {"columns": ["x"]} of from_parquet and {"row_group_size": 1000} of to_parquet; of tfrecord, lmdb and array_record
    {"features": ...} as parse_single_example takes them, of jsonl {"signature": ...}. What records of tf.train.Example
    and lines of JSON hold is told by the first 64; another one behind them is an error that names it. In records of
    tf.train.Example values of two dimensions and more are serialized tensors (tf.io.parse_tensor), and floats have 32
    bits. progress: shows a bar.
    """
    is_one = isinstance(source, (str, bytes, os.PathLike))
    first = os.fsdecode(source if is_one else next(iter(source)))
    target = os.fsdecode(target)
    read = FORMATS[_format_of(first, source_format, False)].read
    name = _format_of(target, target_format, True)
    dataset = read(source, **(source_options or {}))
    if progress:
        bar = Progbar(_cardinality(dataset), unit_name="element")
        if all(isinstance(one, specs.TensorSpec) and one.shape.is_fully_defined()
               for one in dataset.element_spec.values()):
            dataset = _counted(dataset, bar)
    total = FORMATS[name].write(dataset, target, **(target_options or {}))
    if progress:
        bar.update(total, finalize=True)
    return total


def _cardinality(dataset):
    found = int(dataset.cardinality())
    return found if found >= 0 else None


def _option(text):
    """NAME=VALUE as (name, value), a value of JSON or a text."""
    name, mark, value = text.partition("=")
    if not mark or not re.fullmatch(r"\w+", name):
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main(arguments):
    """``leat convert SOURCE... TARGET --to FORMAT``; its exit status."""
    parser = argparse.ArgumentParser("leat convert", description="Writes files of one format as those of another.")
    parser.add_argument("source", nargs="+", help="a file, a folder or a pattern")
    parser.add_argument("target", help="a file; of mds and lmdb a folder, of webdataset a pattern (train-%%06d.tar)")
    parser.add_argument("--to", choices=FORMATS, dest="target_format", help="the target's format")
    parser.add_argument("--from", choices=FORMATS, dest="source_format", help="the source's, where no name says it")
    parser.add_argument("--source-option", action="append", type=_option, default=[], metavar="NAME=VALUE",
                        help="an argument of the source's function, as JSON")
    parser.add_argument("--target-option", action="append", type=_option, default=[], metavar="NAME=VALUE",
                        help="an argument of the target's function, as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    given = parser.parse_args(arguments)
    try:
        total = convert(given.source, given.target, given.source_format, given.target_format,
                        dict(given.source_option), dict(given.target_option), not given.quiet)
    except (errors.OpError, ValueError, TypeError, ImportError, OSError) as error:
        print(f"leat convert: {error}", file=sys.stderr)
        return 1
    print(f"{given.target}: {total} elements")
    return 0
