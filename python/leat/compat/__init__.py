"""``tf.compat``: texts and bytes, and dimensions that may be objects."""

import os

import numpy as np

from leat._core import later

bytes_or_text_types = (bytes, str)
integral_types = (int, np.integer)
real_types = (int, float, np.integer, np.floating)
complex_types = (int, float, complex, np.number)


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Bytes of bytes or text; TypeError for others (``tf.compat.as_bytes``)."""
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text, encoding="utf-8"):
    """Text of bytes or text; TypeError for others (``tf.compat.as_text``)."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value, encoding="utf-8"):
    """Text of bytes, text or anything else (``tf.compat.as_str_any``)."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """A path object as text; anything else as it is (``tf.compat.path_to_str``)."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def dimension_value(dimension):
    """A dimension as a number or None (``tf.compat.dimension_value``)."""
    return getattr(dimension, "value", dimension)


def dimension_at_index(shape, index):
    """Dimension `index` of a TensorShape; None where the rank is not known (``tf.compat.dimension_at_index``)."""
    return None if shape.rank is None else shape[index]


def forward_compatible(year, month, day):
    """True: there are no older readers (``tf.compat.forward_compatible``)."""
    return True


later.module(__name__, {}, modules=["leat.compat.v1"])
