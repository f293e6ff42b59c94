"""``keras.backend``: the constants and the state that layers share, how dtypes are named, and functions of Keras 2."""

import builtins  # functions that the package adds are called as some of these are
import functools

from leat import dtypes
from leat.keras._base import policies, tables
from leat.keras._base.policies import floatx, set_floatx  # noqa: F401
from leat.keras._base.symbolic import KerasTensor

_NAMES = {float: "float32", "float": "float32", int: "int64", "int": "int64", bool: "bool",
          str: "string"}
_KNOWN = frozenset("""bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64
complex64 complex128 string""".split())
_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_FLOATS = ("bfloat16", "float16", "float32", "float64")
_settings = {"image_data_format": "channels_last"}
FORGOTTEN = [tables.forget_names, policies.forget_policy]  # what starts anew in `clear_session`; others add theirs


def epsilon():
    """The small number that probabilities are kept away from 0 and 1 by: 1e-7."""
    return 1e-7


def image_data_format():
    """Where pictures have their channels: "channels_last", or what `set_image_data_format` said."""
    return _settings["image_data_format"]


def _only(name, value, wanted):
    """NotImplementedError for a setting that leat does not have."""
    if value != wanted:
        raise NotImplementedError(f"keras.config.{name}: {value!r} is not supported; leave it at {wanted!r}")


def set_epsilon(value):
    """Refuses everything but 1e-7."""
    _only("set_epsilon", value, 1e-7)


def set_image_data_format(data_format):
    """Where layers and operations that are told no `data_format` find the channels."""
    if str(data_format).lower() not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. Received: "
                         f"data_format={data_format}")
    _settings["image_data_format"] = str(data_format).lower()


def clear_session(free_memory=True):
    """Numbers in names of layers start anew (``keras.backend.clear_session``)."""
    for forget in FORGOTTEN:
        forget()


def backend():
    """"tensorflow": what programs written for that backend find."""
    return "tensorflow"


def standardize_dtype(dtype):
    """The name of a dtype: floatx for None, "float32" for float, "int64" for int. ValueError for others."""
    if dtype is None:
        return floatx()
    if isinstance(dtype, str) and dtype in _KNOWN:
        return dtype
    try:
        found = _NAMES.get(dtype)
    except TypeError:  # what has no hash
        found = None
    if found is None:
        found = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype).rsplit(".", 1)[-1]
    if found not in _KNOWN:
        raise ValueError(f"Invalid dtype: {dtype}")
    return found


def is_float_dtype(dtype):
    """Is it a dtype of floats (``keras.backend.is_float_dtype``)?"""
    return dtypes.as_dtype(standardize_dtype(dtype)).is_floating


def is_int_dtype(dtype):
    """Is it a dtype of integers (``keras.backend.is_int_dtype``)?"""
    return dtypes.as_dtype(standardize_dtype(dtype)).is_integer


def _meet(a, b):
    if a == b:
        return a
    if a == "bool" or b == "bool":
        return b if a == "bool" else a
    a_float, b_float = a in _FLOATS, b in _FLOATS
    if a_float and b_float:
        return "float32" if {a, b} == {"bfloat16", "float16"} else builtins.max(a, b, key=_FLOATS.index)
    if a_float or b_float:
        return a if a_float else b
    for kind in (_SIGNED, _UNSIGNED):
        if a in kind and b in kind:
            return builtins.max(a, b, key=kind.index)
    signed, unsigned = (a, b) if a in _SIGNED else (b, a)
    wider = _UNSIGNED.index(unsigned) + 1
    return floatx() if wider == len(_SIGNED) else builtins.max(signed, _SIGNED[wider], key=_SIGNED.index)


def dtype_of(dtype):
    """The dtype in which a loss or metric computes: a dtype, its name, a policy's; None: floatx."""
    dtype = getattr(dtype, "compute_dtype", dtype) or floatx()
    return dtypes.as_dtype(dtype.removeprefix("mixed_") if isinstance(dtype, str) else dtype)


def result_type(*dtypes):
    """The dtype at which dtypes and types of Python (int, float, weak) meet (``keras.backend.result_type``)."""
    weak = [kind for kind in dtypes if kind is int or kind is float]
    strong = [standardize_dtype(kind) for kind in dtypes if kind is not int and kind is not float]
    is_float = builtins.any(kind is float for kind in weak)
    if not strong:
        return floatx() if is_float or not weak else "int32"
    if builtins.any(kind.startswith("complex") for kind in strong):
        return "complex128" if {"complex128", "float64"} & {*strong} else "complex64"
    met = functools.reduce(_meet, strong)
    if met == "uint64":
        met = "uint32"
    if is_float and met not in _FLOATS:
        return floatx()
    return "int32" if weak and met == "bool" else met


def is_keras_tensor(x):
    """Does it stand for a tensor of a model that is put together (``keras.utils.is_keras_tensor``)?"""
    return isinstance(x, KerasTensor)


def get_uid(prefix=""):
    """The next number of names that begin like this, from 1 on (``keras.backend.get_uid``)."""
    return tables.next_number(prefix) + 1
