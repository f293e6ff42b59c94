"""Datasets of what other packages hold: sequences, iterables and pandas tables (leat's own); formats/ has the rest.

The packages themselves are not imported: their objects are recognised by what they can do.
"""

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import trace
from leat.data.dataset import Dataset


class Fetch:
    """A function that is always called in Python: `get` of an element gives values of `signature`.

    Operators make no attempt to trace it, and call it from several threads where they are told to run in parallel.
    """

    def __init__(self, get, signature):
        self._get, self._signature = get, signature
        self.__name__ = getattr(get, "__name__", type(get).__name__)

    def __call__(self, *args):
        return self._get(*args)

    def _library_function(self, spec):
        return trace.callback(self._get, spec, self._signature, pure=True)


def as_value(value):
    """Structures of arrays of whichever package, as structures of tensors; a list is one tensor."""
    return nest._map(_leaf, value)


def _leaf(value):
    if value is None or isinstance(value, Tensor) or hasattr(value, "_is_leaf_value"):
        return value
    if hasattr(value, "detach") and hasattr(value, "cpu"):  # a torch tensor
        value = value.detach().cpu()
    return convert_to_tensor(value if isinstance(value, (bool, int, float, str, bytes, list, np.ndarray, np.generic))
                             or hasattr(value, "__dlpack__") else np.asarray(value))


def _fit(leaf, spec):
    """The leaf with the dtype of its spec, where its values have a place in that; else ValueError."""
    if not isinstance(leaf, Tensor) or not isinstance(spec, specs.TensorSpec) or leaf.dtype is spec.dtype:
        return leaf
    fits = leaf.dtype.is_integer and spec.dtype.is_numeric or leaf.dtype.is_floating and spec.dtype.is_floating
    if not fits:
        raise ValueError(f"an item has values of {leaf.dtype.name} where the signature says {spec.dtype.name}")
    found = np.asarray(leaf.numpy())
    made = found.astype(spec.dtype.as_numpy_dtype)
    if spec.dtype.is_integer and not np.array_equal(made, found):
        raise ValueError(f"an item has values that are too large for the signature's {spec.dtype.name}: {found}")
    return convert_to_tensor(made)


def _converter(convert, signature):
    """`convert`, and then the dtypes of the signature."""
    return lambda value: nest._map(_fit, convert(value), signature)


def signature_of(value):
    """The specs for values such as this one: ranks and dtypes are its own, dimensions may differ."""
    return nest._map(trace._relaxed, nest.spec_of(value))


def from_sequence(sequence, output_signature=None, num_parallel_calls=None, convert=as_value, name=None):
    """A dataset of ``sequence[0]``, ``sequence[1]``, ...: any object with ``len`` and ``[]``, asked as it runs.

    output_signature: the structure of TypeSpecs of an item; where it is None item 0 shows it, or for arrays and their
    like `shape` and `dtype`. num_parallel_calls: items that are asked for at a time, from threads of the pool.
    convert: what makes an item a structure of tensors. Exceptions of the sequence arrive unchanged.
    Elements have numbers: `shuffle` may be `global_shuffle`, which holds no buffer.
    """
    if not hasattr(sequence, "__len__") or not hasattr(sequence, "__getitem__"):
        raise TypeError(f"from_sequence: {type(sequence).__name__} has no len() and []; use from_iterable")
    if output_signature is None:
        if len(sequence) == 0:
            raise ValueError("from_sequence: the sequence is empty; say what its items are with output_signature")
        shape, dtype = getattr(sequence, "shape", None), getattr(sequence, "dtype", None)
        if isinstance(shape, tuple) and isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            output_signature = specs.TensorSpec(shape[1:], dtypes.as_dtype(dtype))
        else:
            output_signature = signature_of(convert(sequence[0]))

    fitted = _converter(convert, output_signature)

    def item(index):
        return fitted(sequence[int(index)])
    item.__name__ = type(sequence).__name__
    return Dataset.range(len(sequence)).map(Fetch(item, output_signature), num_parallel_calls=num_parallel_calls,
                                            name=name)


def from_iterable(iterable, output_signature=None, convert=as_value, name=None):
    """A dataset of what ``iter(iterable)`` gives, begun anew for each iterator over it.

    iterable: an object that can be iterated over again and again, or a function without parameters that makes one.
    output_signature, convert: as from_sequence; without a signature the first item is made once more.
    """
    makes = isinstance(iterable, type) or callable(iterable) and not hasattr(iterable, "__iter__")
    function = iterable if makes else None
    if function is None and iter(iterable) is iterable:
        raise ValueError("from_iterable: an iterator can be used up once only; give a function that makes one")

    if output_signature is None:
        for value in iterable if function is None else function():
            output_signature = signature_of(convert(value))
            break
        else:
            raise ValueError("from_iterable: there is no item; say what they are with output_signature")
    fitted = _converter(convert, output_signature)

    def items():
        for value in iterable if function is None else function():
            yield fitted(value)
    return Dataset.from_generator(items, output_signature=output_signature, name=name)


# ---- tables ----

def from_pandas(data, columns=None, name=None):
    """The rows of a pandas DataFrame as dictionaries by column, or the values of a Series.

    columns: the names of those that are wanted. Texts and categories become string tensors, times int64 nanoseconds.
    ValueError, naming the column, where values are missing in one that has no NaN.
    """
    if not hasattr(data, "to_numpy") or not hasattr(data, "isna"):
        raise TypeError(f"from_pandas: expected a pandas DataFrame or Series, found {type(data).__name__}")
    if not hasattr(data, "columns"):
        return Dataset.from_tensor_slices(_pandas_column(data, data.name), name=name)
    wanted = list(data.columns) if columns is None else list(columns)
    return Dataset.from_tensor_slices({str(key): _pandas_column(data[key], key) for key in wanted}, name=name)


def _pandas_column(series, key):
    kind = getattr(series.dtype, "kind", "O")
    if series.isna().any() and not (kind == "f" and isinstance(series.dtype, np.dtype)):
        raise ValueError(f"from_pandas: column {key!r} ({series.dtype}) lacks values in "
                         f"{int(series.isna().sum())} rows; fill them (fillna) or drop the rows (dropna)")
    if kind == "M" or kind == "m":
        return convert_to_tensor(series.to_numpy().astype(f"{kind}8[ns]").astype(np.int64))
    if isinstance(series.dtype, np.dtype) and kind in "biuf":
        return convert_to_tensor(np.ascontiguousarray(series.to_numpy()))
    if kind in "biuf" and not hasattr(series, "cat"):  # pandas' own kinds, without missing values here
        return convert_to_tensor(series.to_numpy(dtype=getattr(series.dtype, "numpy_dtype", kind + "8")))
    return _texts([value if isinstance(value, (str, bytes)) else _not_text("from_pandas", key, value)
                   for value in series.to_numpy(dtype=object)])


def _not_text(function, key, value):
    raise TypeError(f"{function}: column {key!r} holds {type(value).__name__}; expected numbers, texts, categories or "
                    "times")


def _texts(values):
    out = np.empty(len(values), object)
    out[:] = values
    return convert_to_tensor(out)
