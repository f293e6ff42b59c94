"""Lines of JSON as elements: ``leat.data.json_lines``."""

import json
import os

import numpy as np

from leat import dtypes, errors, nest
from leat._core import specs
from leat._core.tensor import convert_to_tensor
from leat._structures import ragged
from leat.data.dataset import TextLineDataset
from leat.data.formats import parts
from leat.data.interchange import Fetch

_ENDINGS = {".gz": "GZIP", ".zst": "ZSTD", ".zstd": "ZSTD", ".lz4": "LZ4", ".zlib": "ZLIB"}
_KINDS = {"b": "true or false", "i": "a whole number", "u": "a whole number", "f": "a number"}


def json_lines(paths, signature, compression=None, num_parallel_calls=None, num_parallel_reads=None,
               deterministic=None, name=None):
    """The objects of files with one JSON value a line, as elements of `signature`.

    paths: a file, a folder (of ".jsonl", ".ndjson" and their compressed forms), a pattern, or a list of these.
    signature: the structure of TypeSpecs of an element: dictionaries are objects, whose other keys are passed over;
    tuples, tensors with dimensions and ragged tensors are arrays. compression: "GZIP", "ZSTD", "LZ4", "ZLIB" or "";
    None: by the files' endings. num_parallel_reads: files that are read in turns. num_parallel_calls: lines that are
    parsed at a time. Empty lines are passed over. A line that is no JSON is DataLossError, one whose values do not fit
    the signature InvalidArgumentError; the next line follows. Strategies deal out files, and a saved iterator is a
    position.
    """
    endings = [start + end for start in (".jsonl", ".ndjson") for end in ("", *_ENDINGS)]
    paths = parts.paths_of(paths, "json_lines", endings)
    if compression is None:
        found = {_ENDINGS.get(os.path.splitext(path)[1], "") for path in paths}
        if len(found) > 1:
            raise ValueError(f"json_lines: files with endings of {sorted(found)}; give one kind at a time, or say "
                             "`compression`")
        compression = found.pop()
    read = _reader(signature, "")

    def parse(line):
        return _parsed(line.numpy(), read, "json_lines", "a line")
    parse.__name__ = "json_lines"
    lines = TextLineDataset(paths, compression or None, num_parallel_reads=num_parallel_reads)
    return lines.filter(lambda line: _length(line) > 0).map(
        Fetch(parse, signature), num_parallel_calls=num_parallel_calls, deterministic=deterministic, name=name)


def json_value(text, signature, what):
    """The value of a JSON text, as a value of the signature; errors name `what`."""
    return _parsed(text, _reader(signature, ""), "JSON", what)


def _parsed(text, read, function, what):
    try:
        value = json.loads(text)
    except ValueError as error:
        text = f"{function}: {what} that is no JSON ({error}): {_shown(text)}"
        raise errors.DataLossError(None, None, text) from None
    try:
        return read(value)
    except _Misfit as error:
        raise errors.InvalidArgumentError(None, None, f"{function}: {error}, in {what}: {_shown(text)}") from None


def _length(line):
    from leat import strings
    return strings.length(strings.strip(line))


def _shown(text):
    text = text.decode(errors="replace")
    return text if len(text) <= 200 else text[:200] + "..."


class _Misfit(Exception):
    """A value that is none of the signature's."""


def _fail(path, expected, found):
    kind = {dict: "an object", list: "an array", str: "a text", bool: "a truth value", type(None): "null"}.get(
        type(found), "the number")
    shown = f" {found}" if kind == "the number" else ""
    raise _Misfit(f"{path or 'the value'} is {kind}{shown}; expected {expected}")


def _reader(spec, path):
    """A function that makes a component of JSON's value."""
    kind = nest._kind_of(spec)
    if kind is not None and kind[2] is not None:
        keys = list(kind[2])
        readers = [_reader(one, f"{path}.{key}" if path else str(key)) for key, one in zip(keys, kind[1])]
        return lambda value: nest._build(kind[0], _members(value, keys, readers, path), kind[2])
    if kind is not None:
        readers = [_reader(one, f"{path}[{i}]") for i, one in enumerate(kind[1])]
        return lambda value: nest._build(kind[0], _items(value, readers, path), kind[2])
    if isinstance(spec, specs.RaggedTensorSpec):
        return lambda value: _ragged(value, spec, path)
    if not isinstance(spec, specs.TensorSpec) or not (
            spec.dtype is dtypes.string or spec.dtype.as_numpy_dtype in (np.bool_, np.float16, np.float32, np.float64)
            or spec.dtype.is_integer):
        raise TypeError(f"json_lines: component {path!r} is {spec!r}; expected numbers, truth values or texts, dense "
                        "or ragged")
    return lambda value: _dense(value, spec, path)


def _members(value, keys, readers, path):
    if type(value) is not dict:
        _fail(path, f"an object with {', '.join(map(str, keys))}", value)
    out = []
    for key, read in zip(keys, readers):
        if key not in value:
            raise _Misfit(f"there is no key {key!r}" + (f" in {path}" if path else ""))
        out.append(read(value[key]))
    return out


def _items(value, readers, path):
    if type(value) is not list or len(value) != len(readers):
        _fail(path, f"an array of {len(readers)}", value)
    return [read(one) for read, one in zip(readers, value)]


def _checked(value, dtype, path):
    """A scalar of JSON as what numpy takes for the dtype."""
    if dtype is dtypes.string:
        if type(value) is not str:
            _fail(path, "a text", value)
        return value.encode(errors="surrogatepass")
    kind = np.dtype(dtype.as_numpy_dtype).kind
    fits = {"b": (bool,), "f": (int, float)}.get(kind, (int,))
    if type(value) not in fits:
        _fail(path, _KINDS[kind], value)
    if kind in "iu" and not dtype.min <= value <= dtype.max:
        raise _Misfit(f"{path or 'the value'} is {value}, which {dtype.name} does not hold")
    return value


def _leaves(value, dtype, path, rank):
    """Nested lists of `rank` levels, checked."""
    if rank == 0:
        return _checked(value, dtype, path)
    if type(value) is not list:
        _fail(path, "an array", value)
    return [_leaves(one, dtype, path, rank - 1) for one in value]


def _rank(value):
    return 1 + _rank(value[0] if value else None) if type(value) is list else 0


def _dense(value, spec, path):
    rank = spec.shape.rank if spec.shape.rank is not None else _rank(value)
    found = _leaves(value, spec.dtype, path, rank)
    if rank == 0:
        return convert_to_tensor(found, spec.dtype)
    shape = []
    level = found
    for _ in range(rank):
        shape.append(len(level))
        level = level[0] if level else []
    flat = [found]
    for size in shape:
        if any(len(one) != size for one in flat):
            raise _Misfit(f"{path or 'the value'} has rows of different lengths; expected one shape")
        flat = [item for one in flat for item in one]
    # An array without values has a shape that its lists do not tell.
    if 0 in shape:
        known = list(spec.shape) if spec.shape.rank is not None else shape
        first = shape.index(0)
        shape = shape[:first + 1] + [dim or 0 for dim in known[first + 1:]]
    if not spec.shape.is_compatible_with(shape):
        raise _Misfit(f"{path or 'the value'} has the shape {shape}; expected {spec.shape}")
    kind = object if spec.dtype is dtypes.string else spec.dtype.as_numpy_dtype
    out = np.empty(len(flat), kind)
    out[:] = flat
    return convert_to_tensor(out.reshape(shape))


def _ragged(value, spec, path):
    rank = spec.shape.rank
    found = _leaves(value, spec.dtype, path, rank)
    if spec.ragged_rank == 0:
        return _dense(value, specs.TensorSpec(spec.shape, spec.dtype), path)
    try:
        return ragged.constant(found, spec.dtype, ragged_rank=spec.ragged_rank, row_splits_dtype=spec.row_splits_dtype)
    except (TypeError, ValueError) as error:
        raise _Misfit(f"{path or 'the value'} is no ragged array of {spec.shape} ({error})") from None
