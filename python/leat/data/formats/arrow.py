"""Arrow both ways: ``leat.data.from_arrow``, ``to_arrow``, ``from_arrow_files`` and ``to_arrow_file``.

Objects are recognised by the methods of Arrow's C data interface, so pyarrow is not needed but for files.
"""

import numpy as np

from leat import _native, dtypes, nest
from leat._core import specs
from leat._core.tensor import Tensor
from leat.data.dataset import Dataset
from leat.data.formats import columns as layouts

_MOST_CHUNKS = 1000  # of a table that is taken as it is; a plan of more is slow
_IN_MEMORY = ("num_rows", "null_count", "iloc")  # what tables and arrays have, and queries and streams have not


def from_arrow(data, columns=None, batch_size=65536, name=None, nulls="refuse"):
    """The rows of what speaks Arrow: a table, batch, array or series of pyarrow, polars or pandas, a query of DuckDB,
    a stream; or of what pyarrow reads batch by batch: a pyarrow.dataset.Dataset, a ParquetFile.

    Rows are dictionaries by column, those of arrays values; structs are dictionaries in them. Tables and arrays are
    taken as they are, and numbers and texts of theirs without a copy (but where they lie in more than 1,000 pieces):
    elements have numbers then. Queries are run anew
    by each iterator, and a stream that can be read once only is refused the second time.

    columns: names of those that are wanted. batch_size: rows that a dataset or file is read by. Lists become ragged,
    lists of fixed size dense, dictionaries their values, times int64 in their own unit.
    nulls: "refuse": ValueError, naming the column, where one lacks values. "mask": a column x that may lack values has
    the truth values x_mask beside it, and zeros or empty texts and lists where there is none. A dictionary of columns
    (of fields "x.y") and values: what stands for missing ones.
    """
    nulls = layouts.Nulls(nulls, "from_arrow")
    speaks = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    if speaks and any(hasattr(data, what) for what in _IN_MEMORY):
        batches = list(layouts.reader_of(data, nulls, columns))
        joined = getattr(data, "combine_chunks", None) or getattr(data, "rechunk", None)
        if len(batches) > _MOST_CHUNKS and joined is not None:
            batches = list(layouts.reader_of(joined(), nulls, columns))
        return _in_memory(batches, data, nulls, columns, name)
    if not speaks and not any(hasattr(data, method) for method in ("to_batches", "iter_batches", "read_next_batch")):
        raise TypeError("from_arrow: expected a table, batch, array, query, stream, dataset or file that speaks Arrow "
                        f"(__arrow_c_stream__), found {type(data).__name__}")
    return _streamed(data, nulls, columns, batch_size, name)


def _in_memory(batches, data, nulls, columns, name):
    """The rows of batches: slices of each, one after the other by a tree that is not deep."""
    parts = [Dataset.from_tensor_slices(tensors) for rows, tensors in batches if rows]
    if not parts:
        spec = batches[0][1] if batches else _empty(layouts.reader_of(data, nulls, columns).spec())
        parts = [Dataset.from_tensor_slices(spec)]
    while len(parts) > 1:
        parts = [parts[i].concatenate(parts[i + 1]) if i + 1 < len(parts) else parts[i]
                 for i in range(0, len(parts), 2)]
    if name is not None:
        parts[0]._native = parts[0]._native.label(name)
    return parts[0]


def _empty(spec):
    """Tensors without rows of a spec of batches."""
    from leat._structures.ragged import RaggedTensor

    def leaf(one):
        if isinstance(one, specs.RaggedTensorSpec):
            inner = specs.RaggedTensorSpec(one.shape[1:], one.dtype, one.ragged_rank - 1) if one.ragged_rank > 1 else (
                specs.TensorSpec(one.shape[1:], one.dtype))
            return RaggedTensor.from_row_splits(leaf(inner), np.zeros(1, np.int64))
        return layouts._of_array(np.zeros([0, *one.shape[1:]], one.dtype.as_numpy_dtype), one.dtype)
    return nest.map_structure(leaf, spec)


def _is_used_up(data):
    """Can it be read once only?"""
    return hasattr(data, "read_next_batch")


def _streamed(data, nulls, columns, batch_size, name):
    """Rows of what gives batches anew for each iterator, or once."""
    started = []
    speaks = hasattr(data, "__arrow_c_stream__") and not _is_used_up(data)
    # A query that waited for its first iterator would keep its connection from others.
    signature = (layouts.reader_of if speaks else _schema_reader)(data, nulls, columns).spec()

    def batches():
        if _is_used_up(data) and started:
            raise ValueError("from_arrow: a stream can be read once only; give a table, a dataset or a query")
        started.append(True)
        if hasattr(data, "__arrow_c_stream__"):
            yield from (tensors for rows, tensors in layouts.reader_of(data, nulls, columns) if rows)
        else:
            for batch in data.iter_batches(batch_size=batch_size, columns=columns) if hasattr(
                    data, "iter_batches") else data.to_batches(batch_size=batch_size, columns=columns):
                yield from (tensors for rows, tensors in layouts.reader_of(batch, nulls, columns) if rows)
    return Dataset.from_generator(batches, output_signature=signature).unbatch(name=name)


def _schema_reader(data, nulls, columns):
    """A Reader of no rows, for the specs."""
    schema = data.schema_arrow if hasattr(data, "schema_arrow") else data.schema
    if not hasattr(schema, "empty_table"):
        raise TypeError(f"from_arrow: the schema of {type(data).__name__} is no pyarrow.Schema")
    return layouts.reader_of(schema.empty_table(), nulls, columns)


# ---- out ----

_FORMATS = {name: kind for kind, name in layouts._NUMBERS.items()} | {"bool": "b"}


class _Out:
    """A leaf of a dataset as a column of Arrow."""

    def __init__(self, spec, path, binary):
        self.spec, self.path = spec, path
        has_values = isinstance(spec, (specs.TensorSpec, specs.RaggedTensorSpec))
        self.is_text = has_values and spec.dtype is dtypes.string and path not in binary
        self.leaf = None if not has_values else "U" if self.is_text else "Z" if spec.dtype is dtypes.string else (
            _FORMATS.get(spec.dtype.name))
        if self.leaf is None:
            raise TypeError(f"to_arrow: component {path!r} is {spec}; Arrow has numbers, truth values, texts and lists "
                            "of them: cast it, or take it apart with map")
        if spec.shape.rank is None:
            raise TypeError(f"to_arrow: the rank of component {path!r} is unknown; say it with tf.ensure_shape in a "
                            "map")
        # Lists where dimensions differ, fixed sizes behind the last of these.
        dims = list(spec.shape)
        ragged = isinstance(spec, specs.RaggedTensorSpec)
        self.num_lists = max((i + 1 for i, dim in enumerate(dims) if dim is None), default=0)
        self.num_lists = max(self.num_lists, spec.ragged_rank + 1 if ragged else 0)
        self.sizes = dims[self.num_lists:]

    def schema(self, name):
        """The tree that `_native.arrow_stream` takes."""
        tree = (self.leaf.encode(), name if not (self.sizes or self.num_lists) else b"item", 0, [], None, None)
        for number, size in enumerate(reversed(self.sizes)):
            last = number == len(self.sizes) - 1 and not self.num_lists
            tree = (b"+w:%d" % size, name if last else b"item", 0, [tree], None, None)
        for number in range(self.num_lists):
            tree = (b"+L", name if number == self.num_lists - 1 else b"item", 0, [tree], None, None)
        return tree

    def array(self, value):
        """The tree of a batch: (length, nulls, buffers, children, dictionary)."""
        splits = []
        while not isinstance(value, Tensor):
            splits.append(value._row_splits.numpy().astype(np.int64, copy=False))
            value = value._values
        values = self._flat(value, splits)
        count = int(np.prod(value.shape.as_list()))
        tree = (count, 0, self._buffers(values, count), [], None)
        for size in reversed(self.sizes):
            count = count // size if size else value.shape[0] if len(self.sizes) == 1 else 0
            tree = (count, 0, [None], [tree], None)
        for one in reversed(splits):
            tree = (len(one) - 1, 0, [None, one], [tree], None)
        return tree

    def _flat(self, value, splits):
        """Dimensions of a dense value that are lists in the schema are given splits."""
        for axis in range(self.num_lists - len(splits)):
            rows = int(np.prod(value.shape.as_list()[:axis + 1], dtype=np.int64))
            splits.append(np.arange(rows + 1, dtype=np.int64) * value.shape[axis + 1])
        return value

    def _buffers(self, value, count):
        if self.leaf in "UZ":
            offsets, joined = _native.strings_joined(value)
            if self.is_text:
                self._check_text(np.frombuffer(offsets, np.int64), joined)
            return [None, offsets, joined]
        if self.leaf == "b":
            return [None, np.packbits(np.asarray(value).reshape(-1), bitorder="little")]
        return [None, value]

    def _check_text(self, offsets, joined):
        """Each of the texts is UTF-8: all are together, and none begins within a character."""
        try:
            joined.decode()
            firsts = np.frombuffer(joined, np.uint8)[offsets[:-1][np.diff(offsets) > 0]]
            is_text = not ((firsts & 0xC0) == 0x80).any()
        except UnicodeDecodeError:
            is_text = False
        if not is_text:
            raise ValueError(f"to_arrow: component {self.path!r} holds bytes that are no text in UTF-8; name it in "
                             "`binary`")


def _named(structure, path=""):
    """The parts of an element that is a dictionary or a tuple, by name; None of a leaf."""
    kind = nest._kind_of(structure)
    if kind is None:
        return None
    children = kind[1]
    names = [str(i) for i in range(len(children))] if kind[2] is None else [str(key) for key in kind[2]]
    return dict(zip(names, children))


class _OutStruct:
    def __init__(self, spec, path, binary):
        self.parts = {key: _out(part, f"{path}.{key}" if path else key, binary)
                      for key, part in _named(spec).items()}

    def schema(self, name):
        return (b"+s", name, 0, [part.schema(key.encode()) for key, part in self.parts.items()], None, None)

    def array(self, value):
        children = [part.array(one) for part, one in zip(self.parts.values(), _named(value).values())]
        return (children[0][0] if children else 0, 0, [None], children, None)


def _out(spec, path, binary):
    return _Out(spec, path, binary) if nest._kind_of(spec) is None else _OutStruct(spec, path, binary)


class ArrowStream:
    """Elements of a dataset as a table that whoever reads ``__arrow_c_stream__`` takes; each reading is a new run."""

    def __init__(self, dataset, batch_size, binary):
        spec = dataset.element_spec
        is_single = nest._kind_of(spec) is None
        self._out = _out({"value": spec} if is_single else spec, "", frozenset(binary))
        named = dataset.map(lambda value: {"value": value}) if is_single else dataset
        self._batches = _batched(named, batch_size)
        self.failed = None  # what the last run failed with

    def __arrow_c_stream__(self, requested_schema=None):
        from leat.data.iterator import Iterator
        iterator = Iterator(self._batches)

        def following():
            try:
                for value in iterator:
                    return self._out.array(value)
            except BaseException as error:
                self.failed = error
                raise
            return None
        return _native.arrow_stream(self._out.schema(b""), following)


def _batched(dataset, batch_size):
    """Batches; where dimensions of elements differ these are ragged."""
    if batch_size < 1:
        raise ValueError(f"to_arrow: batch_size is {batch_size}; expected at least 1")
    differ = any(isinstance(leaf, specs.TensorSpec) and any(dim is None for dim in leaf.shape)
                 for leaf in nest.leaves(dataset.element_spec))
    return dataset.ragged_batch(batch_size) if differ else dataset.batch(batch_size)


def to_arrow(dataset, batch_size=65536, binary=()):
    """The elements as an object with ``__arrow_c_stream__``: ``pyarrow.table(x)``, ``polars.DataFrame(x)``, DuckDB.

    Components of dictionaries and tuples are columns, others one column "value"; nested ones are structs. Dimensions
    whose sizes are known become lists of fixed size, others lists. Numbers lie where they are, without a copy.
    batch_size: elements of a batch. binary: names of string components that hold bytes; others are texts, and
    ValueError says where one is not. Each reading is a new run through the dataset.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"to_arrow: expected a leat.data.Dataset, found {type(dataset).__name__}")
    return ArrowStream(dataset, batch_size, [binary] if isinstance(binary, str) else binary)


def stream_of(dataset):
    """What ``Dataset.__arrow_c_stream__`` gives: all string components are texts."""
    return to_arrow(dataset).__arrow_c_stream__()
