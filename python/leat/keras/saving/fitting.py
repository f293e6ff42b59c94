"""Does an array of a file fit a variable?"""

import numpy as np


def fits(array, variable):
    """Is an array of a file one of numbers in the variable's shape?"""
    return array is not None and array.shape == tuple(variable.shape) and (
        array.dtype.kind not in "OSUV" or variable.dtype.name == "bfloat16")


def fitted(value, variable):
    """A value in the variable's dtype."""
    wanted = np.dtype(variable.dtype.as_numpy_dtype)
    return value.view(wanted) if value.dtype.kind == "V" and value.dtype.itemsize == 2 else value.astype(wanted)


def assign(pairs):
    """Sets variables to the values that go with them."""
    for variable, value in pairs:
        variable.assign(value)
