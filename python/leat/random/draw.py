"""Calls of the table's random operations whose bounds may be tensors; for the functions and the generators."""

import numpy as np

from leat import dtypes, errors
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops

__all__ = []


def call(operation, inputs, **arguments):
    """An operation of the table by the names of its arguments."""
    given = tuple(arguments.get(argument["name"]) for argument in ops.TABLE[operation]["arguments"])
    return ops.dispatch(operation, tuple(inputs), given)


def _checked_shape(shape):
    """The shape, which must be a vector."""
    if isinstance(shape, (int, np.integer)):
        raise errors.InvalidArgumentError(None, None, "shape must be a vector of {int32,int64}, got shape []")
    return shape


def _is_plain(value):
    return isinstance(value, (int, float, np.integer, np.floating))


def floats(operation, inputs, shape, low, high, dtype, **arguments):
    """Floats; `low` and `high` are the ends of the range, or mean and deviation, numbers or tensors."""
    dtype = dtypes.as_dtype(dtype)
    if dtype.is_integer:
        raise TypeError(f"{operation} gives floats; found dtype {dtype.name}")
    shape = _checked_shape(shape)
    names = [argument["name"] for argument in ops.TABLE[operation]["arguments"]][1:3]
    if _is_plain(low) and _is_plain(high):
        return call(operation, inputs, shape=shape, dtype=dtype, **dict(zip(names, (low, high))), **arguments)
    drawn = call(operation, inputs, shape=shape, dtype=dtype, **arguments)
    low, high = convert_to_tensor(low, dtype), convert_to_tensor(high, dtype)
    return drawn * (high - low if names[0] == "minval" else high) + low


def integers(operation, inputs, shape, low, high, dtype, **arguments):
    """Integers from `low` to before `high`; both None: of all bits."""
    shape = _checked_shape(shape)
    if low is None:
        arguments = {name: value for name, value in arguments.items() if name == "alg"}
        return call("stateless_integers", inputs, shape=shape, dtype=dtype, **arguments)
    return call(operation, inputs, shape=shape, dtype=dtype, minval=_bound(low, dtype), maxval=_bound(high, dtype),
                **arguments)


def _bound(value, dtype):
    """A bound as what the table takes: a number that a double holds, or a tensor whose value the run knows."""
    if isinstance(value, Tensor) and not value._has_values:
        return value
    number = int(convert_to_tensor(value, dtype).numpy())
    if int(float(number)) != number and number != dtype.max:
        raise NotImplementedError(f"a bound of {number}, which is no float64; expected one that is, or the dtype's "
                                  "largest")
    return number


def seed_of(seed):
    """A seed as a tensor of two integers."""
    tensor = seed if isinstance(seed, Tensor) else convert_to_tensor(seed)
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise errors.InvalidArgumentError(None, None, f"Value for attr 'Tseed' of {tensor.dtype.name} is not in the "
                                          "list of allowed values: int32, int64")
    if tensor.shape.rank is not None and not tensor.shape.is_compatible_with([2]):
        found = ",".join("?" if d is None else str(d) for d in tensor.shape)
        raise errors.InvalidArgumentError(None, None, f"seed must have shape [2], not [{found}]")
    if not tensor.shape.is_fully_defined():     # three numbers would be the state of a generator
        return call("ensure_shape", (tensor,), shape=[2])
    return tensor
