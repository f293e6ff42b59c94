"""The dtypes of ``tf.experimental.numpy``: numpy's, in which Python's numbers take the dtype of what they meet."""

import numpy as np

import leat as tf

_prefers_float32 = [False]
OF_FLOATS, OF_INTEGERS = tf.float64, tf.int64  # of Python's numbers


def prefer_float32(enabled):
    """Python's floats become float32 where they meet nothing else."""
    _prefers_float32[0] = bool(enabled)


def default_float():
    """The dtype of a Python float."""
    return tf.float32 if _prefers_float32[0] else OF_FLOATS


def asarray(a, dtype=None):
    """A tensor of what numpy makes an array of: floats are float64 and integers int64 unless they say otherwise."""
    dtype = None if dtype is None else tf.as_dtype(dtype)
    if hasattr(a, "_as_tensor"):
        a = a._as_tensor()
    if not isinstance(a, tf.Tensor):
        kept = dtype
        if isinstance(a, (list, tuple)) and any(
                isinstance(one, tf.Tensor) or hasattr(one, "_as_tensor") for one in tf.nest.flatten(a)):
            parts = [asarray(one) for one in a]
            a = tf.stack(cast_together(*parts)) if parts else tf.zeros([0], default_float())
        else:
            found = np.asarray(a)
            if kept is None and found.dtype == np.float64 and not _has_dtype(a):
                kept = default_float()
            a = tf.constant(found, None if kept is None or found.dtype.kind in "SU" else None)
            a = a if kept is None else tf.cast(a, kept)
    return a if dtype is None or a.dtype is dtype else tf.cast(a, dtype)


def _has_dtype(value):
    return isinstance(value, (np.ndarray, np.generic))


def _weak(value):
    """What counts for the dtype of a result: Python's own numbers are weak."""
    if isinstance(value, (list, tuple)) and not any(hasattr(one, "dtype") for one in tf.nest.flatten(value)):
        value = np.asarray(value).dtype.type(0).item() if len(value) else 0.
    if type(value) in (int, float, bool, complex):
        return type(value)(0)
    if isinstance(value, (list, tuple)):
        return np.result_type(*map(_weak, value))
    return _numpy_type(value.dtype) if hasattr(value, "dtype") else np.asarray(value).dtype


def _numpy_type(dtype):
    return np.dtype(tf.as_dtype(dtype).as_numpy_dtype)


def result_type(*arrays_and_dtypes):
    """The dtype that arrays and dtypes have together (``tf.experimental.numpy.result_type``)."""
    parts = [_numpy_type(one) if isinstance(one, (tf.DType, type, np.dtype, str)) else _weak(one)
             for one in arrays_and_dtypes]
    if not parts:
        return default_float()
    if all(type(part) in (int, float, bool) for part in parts):
        kinds = {type(part) for part in parts}
        return default_float() if float in kinds else OF_INTEGERS if int in kinds else tf.bool
    return tf.as_dtype(np.result_type(*parts))


def promote_types(type1, type2):
    """The dtype that two dtypes have together (``tf.experimental.numpy.promote_types``), numpy's."""
    return np.promote_types(_numpy_type(type1), _numpy_type(type2))


def cast_together(*values):
    """Tensors of one dtype."""
    dtype = result_type(*values)
    return [_cast(value, dtype) for value in values]


def _cast(value, dtype):
    return tf.cast(asarray(value), dtype)


def floating(*values):
    """Tensors of one floating dtype."""
    together = cast_together(*values)
    if together[0].dtype.is_floating or together[0].dtype.is_complex:
        return together
    return [tf.cast(value, OF_FLOATS) for value in together]
