"""Does an array of a file fit a variable?"""

import numpy as np

from leat.dtypes import bfloat16


def fits(array, variable):
    """Is an array of a file one of numbers in the variable's shape?"""
    return array is not None and array.shape == tuple(variable.shape) and (
        array.dtype.kind not in "OSUV" or _is_bfloat16(array.dtype) and variable.dtype.is_floating)


def _is_bfloat16(dtype):
    """Are these the two bytes as which files have bfloat16?"""
    return dtype.kind == "V" and dtype.itemsize == 2


def fitted(value, variable):
    """A value in the variable's dtype."""
    wanted = np.dtype(variable.dtype.as_numpy_dtype)
    return (value.view(bfloat16.as_numpy_dtype) if _is_bfloat16(value.dtype) else value).astype(wanted)


def assign(pairs):
    """Sets variables to the values that go with them."""
    for variable, value in pairs:
        variable.assign(value)
