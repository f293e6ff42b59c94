"""Lines of JSON as elements: ``leat.data.json_lines``."""

import json
import os

import numpy as np

from leat import _native, dtypes, errors, nest
from leat._core import specs
from leat._core.tensor import _of_array, convert_to_tensor
from leat._graph import trace
from leat._structures import ragged
from leat.data.dataset import TextLineDataset
from leat.data.formats import parts

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
    paths = parts.paths_of(paths, "json_lines", endings, everywhere=True)
    if compression is None:
        found = {_ENDINGS.get(os.path.splitext(path)[1], "") for path in paths}
        if len(found) > 1:
            raise ValueError(f"json_lines: files with endings of {sorted(found)}; give one kind at a time, or say "
                             "`compression`")
        compression = found.pop()
    lines = TextLineDataset(paths, compression or None, num_parallel_reads=num_parallel_reads)
    return lines.filter(lambda line: _length(line) > 0).map(
        _Parse(signature), num_parallel_calls=num_parallel_calls, deterministic=deterministic, name=name)


class _Parse:
    """The function of a map that makes elements of lines, tensor by tensor."""

    __name__ = "json_lines"

    def __init__(self, signature):
        self._signature, self._read = signature, _reader(signature, "")

    def __call__(self, line):
        return nest.assemble(self._signature, iter(_parsed(line.numpy(), self._read, "json_lines", "a line")))

    def _library_function(self, spec):
        return trace.tensor_callback(lambda tensors: _parsed(tensors[0]._item(), self._read, "json_lines", "a line"),
                                     spec, self._signature)


def json_value(text, signature, what):
    """The value of a JSON text, as a value of the signature; errors name `what`."""
    return nest.assemble(signature, iter(_parsed(text, _reader(signature, ""), "JSON", what)))


def _parsed(text, read, function, what):
    """The tensors of the value of a JSON text."""
    try:
        value = json.loads(text)
    except ValueError as error:
        text = f"{function}: {what} that is no JSON ({error}): {_shown(text)}"
        raise errors.DataLossError(None, None, text) from None
    out = []
    try:
        read(value, out)
        return out
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
    """A function (value of JSON, list) that appends the tensors of a component to the list."""
    kind = nest._kind_of(spec)
    if kind is not None and kind[2] is not None:
        return _members(list(kind[2]), [_reader(one, f"{path}.{key}" if path else str(key))
                                        for key, one in zip(kind[2], kind[1])], path)
    if kind is not None:
        return _items([_reader(one, f"{path}[{i}]") for i, one in enumerate(kind[1])], path)
    if isinstance(spec, specs.RaggedTensorSpec):
        return lambda value, out: out.extend(nest.components(_ragged(value, spec, path), spec))
    if not isinstance(spec, specs.TensorSpec) or not (
            spec.dtype is dtypes.string or spec.dtype.as_numpy_dtype in (np.bool_, np.float16, np.float32, np.float64)
            or spec.dtype.is_integer):
        raise TypeError(f"json_lines: component {path!r} is {spec!r}; expected numbers, truth values or texts, dense "
                        "or ragged")
    if spec.shape.rank == 0:
        return _scalar(spec.dtype, path)
    return lambda value, out: out.append(_dense(value, spec, path))


def _members(keys, readers, path):
    pairs = list(zip(keys, readers))

    def read(value, out):
        if type(value) is not dict:
            _fail(path, f"an object with {', '.join(map(str, keys))}", value)
        for key, reader in pairs:
            if key not in value:
                raise _Misfit(f"there is no key {key!r}" + (f" in {path}" if path else ""))
            reader(value[key], out)
    return read


def _items(readers, path):
    def read(value, out):
        if type(value) is not list or len(value) != len(readers):
            _fail(path, f"an array of {len(readers)}", value)
        for one, reader in zip(value, readers):
            reader(one, out)
    return read


_QUICK = frozenset([dtypes.bool, dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64])


def _scalar(dtype, path):
    base, check = _native.TensorBase, _checker(dtype, path)
    if dtype is dtypes.string:
        return lambda value, out: out.append(base.from_strings([check(value)], ()))
    number, kind = dtype.number, dtype.as_numpy_dtype
    if dtype in _QUICK:
        return lambda value, out: out.append(base.scalar(check(value), number))
    return lambda value, out: out.append(base.copied(np.asarray(check(value), kind), number))


def _checker(dtype, path):
    """A function that makes of a scalar of JSON what numpy takes for the dtype."""
    if dtype is dtypes.string:
        def text(value):
            if type(value) is not str:
                _fail(path, "a text", value)
            return value.encode(errors="surrogatepass")
        return text
    kind = np.dtype(dtype.as_numpy_dtype).kind
    fits = {"b": (bool,), "f": (int, float)}.get(kind, (int,))
    least, most = (dtype.min, dtype.max) if kind in "iu" else (0, 0)

    def number(value):
        if type(value) not in fits:
            _fail(path, _KINDS[kind], value)
        if most and not least <= value <= most:
            raise _Misfit(f"{path or 'the value'} is {value}, which {dtype.name} does not hold")
        return value
    return number


def _leaves(value, check, path, rank):
    """Nested lists of `rank` levels, checked."""
    if rank == 0:
        return check(value)
    if type(value) is not list:
        _fail(path, "an array", value)
    if rank == 1:
        return list(map(check, value))
    return [_leaves(one, check, path, rank - 1) for one in value]


def _rank(value):
    return 1 + _rank(value[0] if value else None) if type(value) is list else 0


def _dense(value, spec, path):
    rank = spec.shape.rank if spec.shape.rank is not None else _rank(value)
    found = _leaves(value, _checker(spec.dtype, path), path, rank)
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
    return _of_array(out.reshape(shape), spec.dtype)


def _ragged(value, spec, path):
    rank = spec.shape.rank
    if spec.ragged_rank == 0:
        return _dense(value, specs.TensorSpec(spec.shape, spec.dtype), path)
    found = _leaves(value, _checker(spec.dtype, path), path, rank)
    try:
        return ragged.constant(found, spec.dtype, ragged_rank=spec.ragged_rank, row_splits_dtype=spec.row_splits_dtype)
    except (TypeError, ValueError) as error:
        raise _Misfit(f"{path or 'the value'} is no ragged array of {spec.shape} ({error})") from None
