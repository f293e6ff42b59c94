"""Parquet files and files of Arrow's own, read in parallel by their row groups and record batches; pyarrow does it."""

import collections
import os
import threading

from leat import nest
from leat._core.paths import remote
from leat._files import places
from leat.data.dataset import AUTOTUNE
from leat.data.formats import columns as layouts
from leat.data.formats import far, parts
from leat.data.formats.arrow import to_arrow
from leat.data.formats.packages import need


class _Recent:
    """What ``make(path)`` gave for the paths that were asked for last; from any thread. Another version of a remote
    file is seen where it is asked for `anew`."""

    def __init__(self, make, size=16):
        self._make, self._size = make, size
        self._found, self._lock = collections.OrderedDict(), threading.Lock()

    def __call__(self, path, anew=False):
        is_far = remote(path)
        key = path if is_far else (path, places.changed(path), places.size(path))
        with self._lock:
            if key in self._found and not (is_far and anew):
                self._found.move_to_end(key)
                return self._found[key]
        made = self._make(path)
        with self._lock:
            self._found[key] = made
            while len(self._found) > self._size:
                self._found.popitem(last=False)
        return made


def _expression(filters):
    """A pyarrow expression of one, or of tuples (column, operator, value) in lists as pyarrow.parquet takes them."""
    if filters is None or hasattr(filters, "to_substrait"):
        return filters
    return need("pyarrow.parquet", "from_parquet").filters_to_expression(filters)


def from_parquet(paths, columns=None, filters=None, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None,
                 shuffle_row_groups=False, seed=None, nulls="refuse", name=None):
    """The rows of Parquet files as dictionaries by column; ``batch_size`` of them at a time where that is given.

    paths: a file, a folder, a pattern ("data/*.parquet"), or a list of these, of other machines too. columns: names of
    those that are wanted; no others are read. filters: a pyarrow expression, or [(column, operator, value), ...]; row
    groups whose statistics rule them out are not read. num_parallel_calls: row groups that are read at a time.
    deterministic: False gives them as they come. shuffle_row_groups, seed: row groups in another order in each epoch.
    nulls: as from_arrow. Columns are those of the first file, to whose types others are cast. Strategies deal out
    files; a saved iterator is a position. A file that cannot be read is DataLossError with its path and row group, and
    the next part follows.
    """
    dataset = need("pyarrow.dataset", "from_parquet")
    paths = parts.paths_of(paths, "from_parquet", (".parquet", ".pq"), everywhere=True)
    masks = layouts.Nulls(nulls, "from_parquet")
    expression = _expression(filters)
    form, systems = dataset.ParquetFileFormat(), need("pyarrow.fs", "from_parquet")
    local = systems.LocalFileSystem()
    fragments = _Recent(lambda path: form.make_fragment(
        path, systems.PyFileSystem(systems.FSSpecHandler(far.Files(path))) if remote(path) else local))
    with parts.Failure("from_parquet", paths[0]):
        schema = fragments(paths[0]).physical_schema
    signature = _signature(schema, masks, columns)
    wanted = schema.names if columns is None else list(columns)

    def row_groups(path):
        with parts.Failure("from_parquet", path):
            fragment = fragments(path, anew=True)
            kept = fragment.split_by_row_group(expression, schema=schema)
            return [group.id for one in kept for group in one.row_groups]

    def row_group(path, number):
        with parts.Failure("from_parquet", path, f", row group {number}"):
            table = fragments(path).subset(row_group_ids=[number]).to_table(
                schema=schema, columns=wanted, filter=expression, use_threads=False)
            return _rows(table, masks, signature)
    return parts.of_files(paths, row_groups, row_group, signature, num_parallel_calls=num_parallel_calls,
                          deterministic=deterministic, shuffle=shuffle_row_groups, seed=seed, batch_size=batch_size,
                          name=name)


def _signature(schema, nulls, columns):
    return layouts.reader_of(schema.empty_table(), nulls, columns).spec()


def _rows(table, nulls, signature):
    """A table as one batch of tensors."""
    batches = table.combine_chunks().to_batches()
    if len(batches) > 1:  # texts of more than 2 GiB
        raise NotImplementedError("more than 2 GiB of texts in one part; write the file with smaller ones")
    from leat.data.formats.arrow import _empty
    found = [tensors for _, tensors in layouts.reader_of(batches[0], nulls)] if batches else [_empty(signature)]
    if nest.compatible(signature, nest.spec_of(found[0])):
        return found[0]
    raise ValueError(f"columns of {nest.spec_of(found[0])}; the first file has {signature}")


def _failing(stream, write):
    """`write`, whose failures that are the dataset's are the dataset's own exceptions."""
    try:
        return write()
    except OSError:
        if stream.failed is not None:
            raise stream.failed from None
        raise


def to_parquet(dataset, path, row_group_size=65536, rows_per_file=None, compression="zstd", binary=()):
    """Writes the elements as a Parquet file; returns how many there were.

    Columns are those of to_arrow, where `binary` is told. row_group_size: rows of a row group. rows_per_file: `path` is
    a folder then, of files part-00000.parquet and so on with so many rows, in whole row groups. compression: "zstd",
    "snappy", "gzip", "lz4", "brotli" or "none". Files appear whole or not at all, and together.
    """
    parquet = need("pyarrow.parquet", "to_parquet")
    pyarrow = need("pyarrow", "to_parquet")
    if rows_per_file is not None and (rows_per_file < 1 or rows_per_file % row_group_size):
        raise ValueError(f"to_parquet: rows_per_file is {rows_per_file}; expected a multiple of row_group_size, "
                         f"{row_group_size}")
    stream = to_arrow(dataset, row_group_size, binary)
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    batches = iter(reader)

    def write(place, most):
        rows = 0
        with parquet.ParquetWriter(place, reader.schema, compression=compression) as writer:
            while most is None or rows < most:
                batch = next(batches, None)
                if batch is None:
                    break
                writer.write_batch(batch, row_group_size=max(batch.num_rows, 1))
                rows += batch.num_rows
        return rows
    if rows_per_file is None:
        return _failing(stream, lambda: parts.written(path, "to_parquet", lambda place: write(place, None)))
    places.make_folders(path)
    total, number = 0, 0
    with parts.Together() as files:
        while True:
            place = os.path.join(path, f"part-{number:05d}.parquet")
            temporary = files.begin(place)
            rows = _failing(stream, lambda: write(temporary, rows_per_file))
            total, number = total + rows, number + 1
            if rows < rows_per_file:
                break
        if rows == 0 and number > 1:
            files.drop(place)
    return total


# ---- Arrow's own files ----

def from_arrow_files(paths, columns=None, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None,
                     shuffle_batches=False, seed=None, nulls="refuse", name=None):
    """The rows of Arrow IPC files or streams (".arrow", Feather 2) as dictionaries by column.

    Files of this machine are mapped into memory, so numbers and texts that are not compressed are not copied. Arguments
    are those of from_parquet, with record batches in the place of row groups.
    """
    pyarrow = need("pyarrow", "from_arrow_files")
    ipc = need("pyarrow.ipc", "from_arrow_files")
    paths = parts.paths_of(paths, "from_arrow_files", (".arrow", ".feather"), everywhere=True)
    masks = layouts.Nulls(nulls, "from_arrow_files")
    files = _Recent(far.Files)

    def opened(path, anew=False):
        source = pyarrow.PythonFile(files(path, anew).open(), "r") if remote(path) else pyarrow.memory_map(path)
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        return ipc.open_file(source) if is_file else ipc.open_stream(source)
    streams = _Recent(lambda path: list(opened(path)))  # views of what is mapped
    with parts.Failure("from_arrow_files", paths[0]):
        signature = _signature(opened(paths[0]).schema, masks, columns)
    wanted = None if columns is None else list(columns)

    def record_batches(path):
        with parts.Failure("from_arrow_files", path):
            reader = opened(path, anew=True)
            if hasattr(reader, "num_record_batches"):
                return range(reader.num_record_batches)
            return range(len(streams(path, anew=True)))

    def record_batch(path, number):
        with parts.Failure("from_arrow_files", path, f", record batch {number}"):
            reader = opened(path)
            batch = reader.get_batch(number) if hasattr(reader, "get_batch") else streams(path)[number]
            batch.validate(full=True)  # offsets of a damaged file lead anywhere
            return _rows(pyarrow.Table.from_batches([batch if wanted is None else batch.select(wanted)]), masks,
                         signature)
    return parts.of_files(paths, record_batches, record_batch, signature, num_parallel_calls=num_parallel_calls,
                          deterministic=deterministic, shuffle=shuffle_batches, seed=seed, batch_size=batch_size,
                          name=name)


def to_arrow_file(dataset, path, batch_size=65536, binary=(), compression=None):
    """Writes the elements as an Arrow IPC file with record batches of `batch_size` rows; returns how many there were.

    compression: None, "zstd" or "lz4". `binary`: as to_arrow. The file appears whole or not at all.
    """
    pyarrow = need("pyarrow", "to_arrow_file")
    ipc = need("pyarrow.ipc", "to_arrow_file")
    stream = to_arrow(dataset, batch_size, binary)
    reader = pyarrow.RecordBatchReader.from_stream(stream)

    def write(place):
        rows = 0
        with ipc.new_file(place, reader.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
            for batch in reader:
                writer.write_batch(batch)
                rows += batch.num_rows
        return rows
    return _failing(stream, lambda: parts.written(path, "to_arrow_file", write))
