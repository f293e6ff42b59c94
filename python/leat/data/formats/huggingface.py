"""Hugging Face's ``datasets`` as datasets: ``leat.data.from_huggingface``. Their tables are Arrow's."""

import numpy as np

from leat.data.dataset import AUTOTUNE, Dataset
from leat.data.experimental import assert_cardinality
from leat.data.formats import columns as layouts
from leat.data.formats.packages import need
from leat.data.formats.parquet import _rows
from leat.data.interchange import Fetch

_FILES = ("Image", "Audio", "Video", "Pdf", "Nifti", "Mesh")  # structs of bytes and a path


def from_huggingface(dataset, columns=None, batch_size=None, read_size=1000, num_parallel_calls=AUTOTUNE,
                     shuffle=False, seed=None, nulls="refuse", name=None):
    """The rows of a ``datasets.Dataset`` or IterableDataset as dictionaries by column; ``batch_size`` of them at a time
    where that is given.

    columns: names of those that are wanted. A ClassLabel is its number, an Image or Audio the bytes of its file
    (tf.io.decode_image, in a map), an Array2D and its kin a tensor of its shape, a List of one length a dimension,
    other Lists ragged, nested features nested dictionaries. Formats and transforms that were set are passed over.
    read_size: rows that are read at a time, num_parallel_calls of such reads at once. shuffle, seed: rows of a Dataset
    in an order of their own in each epoch, without a buffer. nulls: as from_arrow. A Dataset has a length, and a saved
    iterator over it is a position; one over a stream (IterableDataset) cannot be saved.
    """
    need("datasets", "from_huggingface")
    masks = layouts.Nulls(nulls, "from_huggingface")
    if isinstance(dataset, dict):
        raise TypeError("from_huggingface: a DatasetDict has splits; give one of them: "
                        f"{', '.join(map(repr, dataset))}")
    if not hasattr(dataset, "features") or not hasattr(dataset, "with_format"):
        raise TypeError(f"from_huggingface: expected a datasets.Dataset or IterableDataset, found "
                        f"{type(dataset).__name__}")
    if columns is not None:
        known = dataset.column_names
        for key in columns:
            if known is not None and key not in known:
                raise ValueError(f"from_huggingface: there is no column {key!r}; found {', '.join(known)}")
        dataset = dataset.select_columns(list(columns))
    if not hasattr(dataset, "__len__"):
        if shuffle:
            raise ValueError("from_huggingface: a stream is shuffled by its own shuffle(seed, buffer_size), or the "
                             "dataset's here by shuffle")
        return _stream(dataset, masks, batch_size, read_size, name)
    return _map_style(dataset, masks, batch_size, read_size, num_parallel_calls, shuffle, seed, name)


def _map_style(dataset, masks, batch_size, read_size, num_parallel_calls, shuffle, seed, name):
    source, features, count = dataset.with_format("arrow"), dataset.features, len(dataset)
    signature = _signature(features, masks)

    def rows(numbers):
        numbers = np.asarray(numbers)
        first = int(numbers[0])
        in_a_row = numbers[-1] - first == len(numbers) - 1 and (np.diff(numbers) == 1).all()
        found = source[first:first + len(numbers)] if in_a_row else source[numbers.tolist()]
        return _rows(_plain_table(found, features), masks, signature)
    numbers = Dataset.range(count)
    if shuffle and count > 0:
        numbers = numbers.global_shuffle(seed=seed)
    batches = numbers.batch(read_size).map(Fetch(rows, signature), num_parallel_calls=num_parallel_calls)
    if batch_size is None:
        return batches.unbatch(name=name).apply(assert_cardinality(count))
    return batches.rebatch(batch_size, name=name).apply(assert_cardinality(-(-count // batch_size)))


def _stream(dataset, masks, batch_size, read_size, name):
    if dataset.features is None:  # the first rows tell
        dataset = dataset._resolve_features()
    features = dataset.features
    signature = _signature(features, masks)
    source = dataset.with_format("arrow")

    def batches():
        for table in source.iter(batch_size=read_size):
            yield _rows(_plain_table(table, features), masks, signature)
    made = Dataset.from_generator(batches, output_signature=signature)
    return made.unbatch(name=name) if batch_size is None else made.rebatch(batch_size, name=name)


def _signature(features, masks):
    return layouts.reader_of(_plain_table(features.arrow_schema.empty_table(), features), masks).spec()


# ---- features as plain Arrow ----

def _plain_table(table, features):
    """The table with the storage of features of their own kinds."""
    import pyarrow
    out = {}
    for key, feature in features.items():
        column = table.column(key)
        chunks = [_plain(chunk, feature) for chunk in column.chunks]
        out[key] = pyarrow.chunked_array(chunks) if chunks else pyarrow.chunked_array(
            [_plain(pyarrow.array([], type=column.type), feature)])
    fields = [pyarrow.field(key, column.type, table.schema.field(key).nullable) for key, column in out.items()]
    return pyarrow.Table.from_arrays(list(out.values()), schema=pyarrow.schema(fields))


def _plain(array, feature):
    """An array of a feature as one of Arrow's own types."""
    import pyarrow
    if hasattr(array, "storage"):
        array = array.storage
    kind = type(feature).__name__
    if kind.startswith("Array") and hasattr(feature, "shape"):
        return _tensors(array, feature.shape)
    if kind in _FILES and pyarrow.types.is_struct(array.type):
        return _files(array)
    if isinstance(feature, dict) and pyarrow.types.is_struct(array.type):
        return _struct(array, feature)
    if isinstance(feature, list):
        feature, length = feature[0], -1
    elif hasattr(feature, "feature") and hasattr(array, "flatten"):
        feature, length = feature.feature, getattr(feature, "length", -1)
    else:
        return array
    if isinstance(feature, dict) and pyarrow.types.is_struct(array.type):  # a Sequence of dictionaries
        return _struct(array, {key: [one] for key, one in feature.items()})
    return _list(array, feature, length)


def _struct(array, features):
    import pyarrow
    parts = [_plain(array.field(key), one) for key, one in features.items()]
    return pyarrow.StructArray.from_arrays(parts, list(features), mask=_missing(array))


def _missing(array):
    return array.is_null() if array.null_count else None


def _list(array, feature, length):
    import pyarrow
    if length > 0:
        values = _plain(array.flatten(), feature) if array.null_count == 0 else None
        if values is None:
            raise ValueError(f"lists of {length} values are missing in {array.null_count} rows; drop these")
        return pyarrow.FixedSizeListArray.from_arrays(values, length)
    if pyarrow.types.is_fixed_size_list(array.type) or array.null_count:
        return array
    is_large = pyarrow.types.is_large_list(array.type)
    offsets = array.offsets
    base = offsets[0].as_py()
    inner = _plain(array.values.slice(base, offsets[-1].as_py() - base), feature)
    kind = pyarrow.LargeListArray if is_large else pyarrow.ListArray
    moved = pyarrow.array(np.asarray(offsets) - base, type=offsets.type)
    return kind.from_arrays(moved, inner)


def _tensors(array, shape):
    """Nested lists of one shape as dimensions; where the first is unknown, lists of the others."""
    import pyarrow
    if array.null_count:
        raise ValueError(f"arrays of the shape {tuple(shape)} are missing in {array.null_count} rows; drop these")
    outer = array.offsets if shape[0] is None else None
    values = array
    for _ in shape:
        values = values.flatten()
    for size in reversed(shape[1:]):
        values = pyarrow.FixedSizeListArray.from_arrays(values, size)
    if outer is None:
        return pyarrow.FixedSizeListArray.from_arrays(values, shape[0])
    moved = np.asarray(outer)
    return pyarrow.ListArray.from_arrays(pyarrow.array(moved - moved[0], type=pyarrow.int32()), values)


def _files(array):
    """The bytes of pictures and their like, read where only a path is known."""
    import pyarrow
    found, paths = array.field("bytes"), array.field("path")
    if array.null_count == 0 and found.null_count == 0:
        return found
    out = []
    for there, data, path in zip(array.is_valid(), found, paths):
        if there.as_py() and not data.is_valid and path.is_valid:
            with open(path.as_py(), "rb") as file:
                out.append(file.read())
        else:
            out.append(data.as_py() if there.as_py() else None)
    return pyarrow.array(out, type=found.type)
