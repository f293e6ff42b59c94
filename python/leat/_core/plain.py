"""Numbers, texts and sequences of Python as numpy arrays, and the dtypes that TensorFlow chooses for them.

Outside of functions the first number of a sequence decides: whole numbers are int32, or int64 where one does not fit,
fractions float32, numpy's float16 and float64 themselves. In functions that are traced numpy's common dtype decides,
float32 and int32 in the place of what it makes of Python's numbers. Arrays and numpy's scalars keep their dtypes.
"""

import collections

import numpy as np

from leat import dtypes

_SEQUENCES = (list, tuple, range, collections.deque)
_OF_PYTHON = (bool, int, float, complex, str, bytes, *_SEQUENCES)
_TAKES_TRUTH = frozenset([dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64])


def is_array(value):
    """Does this value say its own dtype: an array, a scalar of numpy's, what can become one?"""
    return isinstance(value, np.generic) or not isinstance(value, _OF_PYTHON)


def first_leaf(value):
    """The first of a sequence of sequences that is none."""
    while isinstance(value, _SEQUENCES) and value:
        value = value[0]
    return value


def _first_type(value):
    first = first_leaf(value)
    return first.dtype.type if isinstance(first, np.ndarray) else type(first)


def array_of(value, dtype, traced):
    """`value` as an array; ValueError for what TensorFlow makes no tensor of."""
    try:
        try:
            array = np.asarray(value)
        except UnicodeDecodeError:  # bytes that are no text beside texts
            array = np.array(value, dtype=object)
    except ValueError:
        if not isinstance(value, _SEQUENCES):  # it says itself why it has no values
            raise
        raise ValueError(_uneven(value)) from None
    if array.dtype.kind == "O" and not isinstance(value, np.ndarray):
        _refuse_objects(value, array)
    if isinstance(value, _SEQUENCES):
        if _is_mixed(value, array, dtype, traced):
            raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
        if array.dtype.kind == "f" and not traced and issubclass(_first_type(value), (int, np.integer)):
            array = _whole(value, array, dtype)
    if array.dtype.kind in "SU" and not isinstance(value, np.ndarray):
        array = np.array(value, dtype=object)  # numpy's own strings lose trailing zero bytes
    return array


def _refuse_objects(value, array):
    first = first_leaf(array.reshape(-1).tolist())
    if isinstance(first, (str, bytes)):
        return
    kind = type(value).__name__ if not isinstance(value, (list, tuple)) else type(first).__name__
    if isinstance(first, (list, tuple)):
        raise ValueError(_uneven(value))
    raise ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type "
                     f"(<class '{kind}'>) to a Tensor.")


def _uneven(value):
    lists = [isinstance(item, (list, tuple)) for item in value]
    if any(lists) and not all(lists):
        return "Can't convert Python sequence with mixed types to Tensor."
    return f"Can't convert non-rectangular Python sequence to Tensor: {value!r}"


def _is_mixed(value, array, dtype, traced):
    """Texts beside numbers; outside of functions numbers behind truth values, and complex ones behind others."""
    kind, first = array.dtype.kind, _first_type(value)
    if kind in "SU" or kind == "O" and issubclass(first, (str, bytes)):
        return not issubclass(first, (str, bytes)) or any(isinstance(item, (int, float)) for item in value)
    if traced or array.size == 0:
        return False
    if kind == "c":
        return not issubclass(first, (complex, np.complexfloating)) and dtype is not dtypes.complex128
    return kind in "iuf" and issubclass(first, (bool, np.bool_)) and dtype not in _TAKES_TRUTH


def _whole(value, array, dtype):
    """Integers of which numpy makes floats, as they lie on both sides of 2**63 or are numpy's, as what they are."""
    exact = np.array(value, dtype=object)
    items = exact.reshape(-1)
    if not all(isinstance(item, (int, np.integer)) for item in items):
        return array
    if all(0 <= item < 2**64 for item in items) and (dtype is dtypes.uint64 or max(items) >= 2**63):
        return exact.astype(np.uint64)
    return exact.astype(np.int64) if all(-2**63 <= item < 2**63 for item in items) else array


def default_dtype(value, array, dtype, traced):
    """TensorFlow's choice for a value of which `array` was made; `dtype` is the one that was asked for, or None."""
    if is_array(value):
        return dtypes.as_dtype(array.dtype)
    if array.size == 0 and not traced:
        return dtypes.int32 if isinstance(value, range) else dtypes.float32
    kind = array.dtype.kind
    if kind == "f":
        first = None if traced else _first_type(value)
        if first is not None and issubclass(first, (np.float16, np.float64)):
            return dtypes.as_dtype(first)
        keeps = traced and array.dtype != np.float64
        return dtypes.as_dtype(array.dtype) if keeps else dtypes.float32
    if kind in "iu" and not (traced and array.dtype not in (np.int64, np.uint64)):
        return _of_integers(array, dtype, traced)
    if kind == "c" and not traced:
        return dtypes.complex128
    return dtypes.as_dtype(array.dtype)


def _of_integers(array, dtype, traced):
    if array.size and array.max() >= 2**63:
        if not traced and dtype is not dtypes.uint64 and (dtype is None or dtype.is_integer):
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
        return dtypes.uint64
    if traced and array.dtype == np.uint64:
        return dtypes.uint64
    small = array.size == 0 or (array.min() >= -2**31 and array.max() < 2**31)
    return dtypes.int32 if small else dtypes.int64
