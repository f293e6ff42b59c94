"""``tf.register_tensor_conversion_function``: how values of a program's own classes become tensors."""

import numpy as np

REGISTERED = []  # (priority, types, function), in the order in which they are asked
_PLAIN = (int, float, complex, np.generic, np.ndarray)


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """From now on values of `base_type`, a class or a tuple of them, become tensors by
    ``conversion_func(value, dtype, name, as_ref)``, which may give NotImplemented
    (``tf.register_tensor_conversion_function``). Of several the one of the lowest `priority` is asked first."""
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(one, type) for one in types):
        raise TypeError(f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}")
    if any(issubclass(one, _PLAIN) for one in types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    REGISTERED.append((priority, types, conversion_func))
    REGISTERED.sort(key=lambda one: one[0])


def converted(value, dtype, hint, tensor_class):
    """The tensor that a registered function makes of a value; None: there is none. RuntimeError where a function gives
    anything else, or another dtype."""
    for _, types, function in REGISTERED:
        if not isinstance(value, types):
            continue
        found = NotImplemented
        if dtype is None and hint is not None:
            try:
                found = function(value, dtype=hint, name=None, as_ref=False)
            except (TypeError, ValueError):
                pass
        if found is NotImplemented:
            found = function(value, dtype=dtype, name=None, as_ref=False)
        if found is NotImplemented:
            continue
        if not isinstance(found, tensor_class):
            raise RuntimeError(f"Conversion function {function!r} for type {types} returned non-Tensor: {found!r}")
        if dtype is not None and found.dtype is not dtype:
            raise RuntimeError(f"Conversion function {function!r} for type {types} returned incompatible dtype: "
                               f"requested = {dtype.name}, actual = {found.dtype.name}")
        return found
    return None
