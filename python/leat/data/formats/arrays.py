"""Arrays by name, whose first dimension counts rows: ``leat.data.from_npz``, ``from_hdf5`` and their counterparts.

numpy reads and writes `.npz`, h5py HDF5. Names of HDF5's datasets are their paths ("train/x"). Texts of HDF5 are of
variable length, in UTF-8.
"""

import contextlib
import os
import zipfile

import numpy as np

from leat import dtypes, errors, nest
from leat._core import specs
from leat._core.paths import remote
from leat._core.tensor import convert_to_tensor
from leat._files import places
from leat._files.npy import read_array
from leat.data.dataset import AUTOTUNE
from leat.data.formats import parts
from leat.data.formats.packages import need

_ROWS = 1024  # of a part of an HDF5 file


def components(dataset, function):
    """{name: TensorSpec} of elements that are dictionaries of tensors. TypeError for others."""
    spec = dataset.element_spec
    if not isinstance(spec, dict) or not all(isinstance(one, specs.TensorSpec) for one in spec.values()):
        raise TypeError(f"{function}: elements are {spec}; expected dictionaries of tensors")
    return spec


def _wanted(found, columns, function, path):
    names = list(found) if columns is None else list(columns)
    missing = [name for name in names if name not in found]
    if missing or not names:
        raise ValueError(f"{function}: {path} has no array {missing[0] if missing else 'at all'}; there are "
                         f"{', '.join(map(str, found))}")
    return names


def _spec_of(dtype, shape, where):
    """The TensorSpec of one row of an array of numpy's."""
    if dtype.kind in "OSU":
        return specs.TensorSpec(shape, dtypes.string)
    try:
        return specs.TensorSpec(shape, dtypes.as_dtype(dtype.name))
    except (TypeError, ValueError):
        raise errors.UnimplementedError(None, None, f"{where} has the dtype {dtype}, which leat has not; leave it out "
                                        "(columns=...)") from None


def _tensor(array, spec):
    if spec.dtype is dtypes.string:
        flat = [one if isinstance(one, bytes) else str(one).encode() for one in array.ravel().tolist()]
        texts = np.empty(len(flat), object)
        texts[:] = flat
        return convert_to_tensor(texts.reshape(array.shape), dtypes.string)
    return convert_to_tensor(np.ascontiguousarray(array), spec.dtype)


def _rows(shapes, function, path):
    """How many rows arrays of {name: shape} have."""
    counts = {name: shape[0] if shape else None for name, shape in shapes.items()}
    if None in counts.values() or len(set(counts.values())) != 1:
        raise ValueError(f"{function}: arrays of {path} have {counts} rows; expected as many of each (say which by "
                         "columns)")
    return next(iter(counts.values()))


def _batch(signature, arrays):
    return {name: _tensor(array, signature[name]) for name, array in arrays.items()}


def _check(signature, arrays, function, path):
    for name, array in arrays.items():
        found = _spec_of(array.dtype, array.shape[1:], f"{function}: {name} of {path}")
        if not signature[name].is_compatible_with(found):
            raise ValueError(f"{name} is {found.dtype.name} {found.shape}; the first file has "
                             f"{signature[name].dtype.name} {signature[name].shape}")


def from_npz(paths, columns=None, batch_size=None, num_parallel_calls=AUTOTUNE, deterministic=None, shuffle=False,
             seed=None, name=None):
    """The rows of `.npz` files as dictionaries by the arrays' names; ``batch_size`` of them at a time where that is
    given.

    paths: a file, a folder, a pattern, or a list of these. columns: names of the arrays that are wanted; they have as
    many rows each. A file is read as a whole, `num_parallel_calls` at a time; shuffle: in another order each epoch.
    Nothing is unpickled. A file that cannot be read is DataLossError with its path, and the next file follows.
    """
    paths = parts.paths_of(paths, "from_npz", (".npz",), everywhere=True)

    def read(path, wanted):
        with places.opened(path) as file:
            if not zipfile.is_zipfile(file):
                raise errors.DataLossError(None, None, f"from_npz: {path} is no file of numpy.savez")
            file.seek(0)
            with zipfile.ZipFile(file) as archive:
                names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
                found = {}
                for name in _wanted(names, wanted, "from_npz", path):
                    with archive.open(name + ".npy") as member:
                        found[name] = read_array(member)
                return found
    with parts.Failure("from_npz", paths[0]):
        first = read(paths[0], columns)
        _rows({one: array.shape for one, array in first.items()}, "from_npz", paths[0])
        signature = {one: _spec_of(array.dtype, array.shape[1:], f"from_npz: {one} of {paths[0]}")
                     for one, array in first.items()}

    def npz_file(path):
        return [0]

    def npz_arrays(path, number):
        with parts.Failure("from_npz", path):
            arrays = read(path, list(signature))
            _rows({one: array.shape for one, array in arrays.items()}, "from_npz", path)
            _check(signature, arrays, "from_npz", path)
            return _batch(signature, arrays)
    return parts.of_files(paths, npz_file, npz_arrays, _batched(signature), num_parallel_calls=num_parallel_calls,
                          deterministic=deterministic, shuffle=shuffle, seed=seed, batch_size=batch_size, name=name)


def _batched(signature):
    return nest.map_structure(lambda one: specs.TensorSpec([None, *one.shape], one.dtype), signature)


def to_npz(dataset, path, compressed=False):
    """Writes the elements, dictionaries of tensors of one shape, as the arrays of an `.npz` file; returns how many
    there were. They are in memory until then. The file appears whole or not at all."""
    rows = {name: [] for name in components(dataset, "to_npz")}
    for element in dataset.as_numpy_iterator():
        for name, value in element.items():
            rows[name].append(value)
    arrays = {}
    for name, values in rows.items():
        kind = components(dataset, "to_npz")[name].dtype
        if len({np.shape(value) for value in values}) > 1:
            raise errors.InvalidArgumentError(None, None, f"to_npz: component {name!r} has rows of several shapes; pad "
                                              "them, or use a format that has such rows (to_parquet, to_mds)")
        arrays[name] = np.array(values, np.bytes_ if kind is dtypes.string else kind.as_numpy_dtype)
        if kind is dtypes.string and any(value.endswith(b"\0") for value in np.ravel(values)):
            raise errors.InvalidArgumentError(None, None, f"to_npz: component {name!r} has a text that ends in a zero "
                                              "byte, which numpy's arrays of bytes drop; use to_parquet or to_mds")

    def write(place):
        with open(place, "wb") as file:
            (np.savez_compressed if compressed else np.savez)(file, **arrays)
    parts.written(path, "to_npz", write)
    return len(next(iter(rows.values()), ()))


# ---- HDF5 ----

def _datasets(file):
    """{path: dataset} of an open file."""
    import h5py
    found = {}
    file.visititems(lambda name, one: found.update({name: one}) if isinstance(one, h5py.Dataset) and one.ndim else None)
    return found


def from_hdf5(paths, columns=None, batch_size=None, rows=_ROWS, num_parallel_calls=AUTOTUNE, deterministic=None,
              shuffle=False, seed=None, name=None):
    """The rows of the datasets of HDF5 files as dictionaries by their paths ("x", "group/y"); ``batch_size`` of them at
    a time where that is given. Takes h5py.

    columns: the datasets that are wanted; they have as many rows each. rows: how many are read at once, as a part;
    shuffle: parts in another order each epoch. A file that cannot be read is DataLossError with its path and part.
    """
    h5py = need("h5py", "from_hdf5")
    paths = parts.paths_of(paths, "from_hdf5", (".h5", ".hdf5"), everywhere=True)

    @contextlib.contextmanager
    def opened(path):
        with places.opened(path) as file, h5py.File(file if remote(path) else path, "r") as found:
            yield found
    with parts.Failure("from_hdf5", paths[0]), opened(paths[0]) as file:
        found = _datasets(file)
        names = _wanted(found, columns, "from_hdf5", paths[0])
        signature = {one: _spec_of(found[one].dtype, found[one].shape[1:], f"from_hdf5: {one} of {paths[0]}")
                     for one in names}
        _rows({one: found[one].shape for one in names}, "from_hdf5", paths[0])

    def hdf5_parts(path):
        with parts.Failure("from_hdf5", path), opened(path) as file:
            shapes = {one: file[one].shape for one in names}
            return range(-(-_rows(shapes, "from_hdf5", path) // rows))

    def hdf5_part(path, number):
        with parts.Failure("from_hdf5", path, f", rows from {number * rows} on"), opened(path) as file:
            arrays = {one: file[one][number * rows:(number + 1) * rows] for one in names}
            _check(signature, arrays, "from_hdf5", path)
            return _batch(signature, arrays)
    return parts.of_files(paths, hdf5_parts, hdf5_part, _batched(signature), num_parallel_calls=num_parallel_calls,
                          deterministic=deterministic, shuffle=shuffle, seed=seed, batch_size=batch_size, name=name)


def to_hdf5(dataset, path, rows=_ROWS, compression=None):
    """Writes the elements, dictionaries of tensors of known shapes, as datasets of an HDF5 file, in chunks of `rows`;
    returns how many there were. Takes h5py. compression: "gzip", "lzf" or None. The file appears whole or not at
    all."""
    h5py = need("h5py", "to_hdf5")
    spec = components(dataset, "to_hdf5")
    for name, one in spec.items():
        if not one.shape.is_fully_defined():
            raise TypeError(f"to_hdf5: component {name!r} is {one}; expected a shape that is known, as HDF5 has one "
                            "for all rows (pad it)")
    text = h5py.string_dtype("utf-8")

    def write(place):
        total = 0
        with h5py.File(place, "w") as file:
            made = {name: file.create_dataset(
                name, (0, *one.shape), text if one.dtype is dtypes.string else one.dtype.as_numpy_dtype,
                maxshape=(None, *one.shape), chunks=(rows, *(size or 1 for size in one.shape)), compression=compression)
                for name, one in spec.items()}
            for batch in dataset.batch(rows).as_numpy_iterator():
                count = len(next(iter(batch.values())))
                for name, values in batch.items():
                    _check_texts(name, values)
                    made[name].resize(total + count, 0)
                    made[name][total:] = values
                total += count
        return total
    return parts.written(os.fsdecode(path), "to_hdf5", write)


def _check_texts(name, values):
    if values.dtype == object and any(b"\0" in value for value in values.ravel()):
        raise errors.InvalidArgumentError(None, None, f"to_hdf5: component {name!r} has a text with a zero byte, where "
                                          "HDF5's texts end; write bytes as arrays of uint8 (tf.io.decode_raw)")
