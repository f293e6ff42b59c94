"""Tensors as messages and back (``tf.make_tensor_proto``, ``tf.make_ndarray``)."""

import numpy as np

from leat import dtypes
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, constant
from leat._files.protos import Dim, TensorProto, TensorShapeProto

_FIELDS = {"float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val",
           "uint32": "uint32_val", "uint64": "uint64_val", "float16": "half_val", "bfloat16": "half_val",
           "complex64": "scomplex_val", "complex128": "dcomplex_val", "string": "string_val"}  # others: int_val


def _field(dtype):
    return _FIELDS.get(dtype.name, "int_val")


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto of values (``tf.make_tensor_proto``), of which one may stand for all of `shape`.

    ValueError for more values than the shape has, TypeError for values of another dtype, or with `verify_shape` of
    another shape.
    """
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(values, TensorProto):
        return values
    if isinstance(values, Tensor):  # of which numpy makes the dtype that is asked for
        values = values.numpy() if dtype is None else values.numpy().astype(dtype.as_numpy_dtype)
    tensor = constant(values, dtype)
    if dtype is not None and tensor.dtype is not dtype:
        raise TypeError(f"Expected {dtype.name}, but got {tensor.dtype.name} of {values!r}.")
    dims = tuple(tensor.shape) if shape is None else tuple(int(size) for size in TensorShape(shape))
    count, room = tensor.shape.num_elements(), int(np.prod(dims))
    if verify_shape and dims != tuple(tensor.shape):
        raise TypeError(f"Expected Tensor's shape: {dims}, but got {tuple(tensor.shape)}.")
    if count > room:
        raise ValueError(f"Too many elements provided. Takes at most {room}, but got {count}.")
    made = TensorProto(dtype=tensor.dtype.as_datatype_enum,
                       tensor_shape=TensorShapeProto(dim=[Dim(size=size) for size in dims]))
    made.tensor_shape.SetInParent()
    array = np.asarray(tensor.numpy(), object if tensor.dtype is dtypes.string else None)
    if tensor.dtype in (dtypes.string, dtypes.bool, dtypes.float16) or count <= 1:
        bits = array.view(np.uint16) if _field(tensor.dtype) == "half_val" else array
        getattr(made, _field(tensor.dtype)).extend(_parts(bits).tolist())
    elif count == room:
        made.tensor_content = array.tobytes()
    else:
        getattr(made, _field(tensor.dtype)).extend(_parts(array).tolist())
    return made


def _parts(array):
    """The values; of complex ones the real part of each and then its imaginary one."""
    flat = array.reshape(-1)
    return np.ascontiguousarray(flat).view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def make_ndarray(tensor):
    """The array of a TensorProto (``tf.make_ndarray``); its last value stands for those that are not there."""
    dtype, dims = dtypes.as_dtype(tensor.dtype), [dim.size for dim in tensor.tensor_shape.dim]
    count = int(np.prod(dims))
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype.as_numpy_dtype).copy().reshape(dims)
    values = list(getattr(tensor, _field(dtype)))
    if dtype.is_complex:
        values = [complex(*pair) for pair in zip(values[::2], values[1::2])]
    if len(values) < count:
        values += [values[-1] if values else b"" if dtype is dtypes.string else 0] * (count - len(values))
    if dtype is dtypes.string:
        made = np.empty(count, object)
        made[:] = values
        return made.reshape(dims)
    if _field(dtype) == "half_val":
        return np.array(values, np.uint16).view(dtype.as_numpy_dtype).reshape(dims)
    return np.array(values, dtype.as_numpy_dtype).reshape(dims)
