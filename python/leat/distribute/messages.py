"""What processes of a cluster send each other: a head of JSON, and tensors behind it.

    four bytes: the size of the head | the head | the tensors

Of each tensor the head says dtype, size and, where it lies there as in memory, its shape; others are TensorProtos.
Nothing in it is code: functions and datasets travel as plans (leat's JSON), which the library checks as it reads them.
"""

import json
import math
import struct

import numpy as np

from leat import dtypes, errors
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._graph.ops import FUNCTIONS as F

_SIZE = struct.Struct("<I")
_MOST_HEAD = 1 << 28
_MOST = (1 << 31) - 1  # bytes of a message
_PLAIN = frozenset([dtypes.float32, dtypes.float64, dtypes.float16, dtypes.int8, dtypes.int16, dtypes.int32,
                    dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.complex64,
                    dtypes.complex128])


def packed(head, tensors=()):
    """The bytes of a head, a dictionary for JSON, and of tensors with values."""
    kinds, parts = [], []
    with trace.eagerly():
        for tensor in tensors:
            if tensor.dtype in _PLAIN:
                array = np.ascontiguousarray(np.asarray(tensor))
                kinds.append([tensor.dtype.name, array.nbytes, list(tensor.shape)])
                parts.append(array.data)
            else:
                parts.append(_bytes_of(tensor))
                kinds.append([tensor.dtype.name, len(parts[-1]), None])
    text = json.dumps({**head, "tensors": kinds}).encode()
    if _SIZE.size + len(text) + sum(length for _, length, _ in kinds) > _MOST:
        raise errors.ResourceExhaustedError(None, None, "tensors of 2 GiB do not travel in one message; cut large "
                                            "variables into shards by a variable_partitioner")
    return b"".join([_SIZE.pack(len(text)), text, *parts])


def _bytes_of(tensor):
    if tensor.dtype is dtypes.variant:
        raise errors.UnimplementedError(None, None, f"a tensor of dtype {tensor.dtype.name} stays in its process; give "
                                        "workers datasets by ClusterCoordinator.create_per_worker_dataset")
    return F["io.serialize_tensor"](tensor).numpy()


def unpacked(data):
    """(the head, the tensors) of such bytes. InvalidArgumentError for all others."""
    try:
        return _unpacked(data)
    except (ValueError, TypeError, KeyError, RecursionError, struct.error) as error:
        raise errors.InvalidArgumentError(None, None, f"no message of a cluster: {error}") from None


def _unpacked(data):
    size, = _SIZE.unpack_from(data)
    at = _SIZE.size + size
    if size > _MOST_HEAD or at > len(data):
        raise ValueError("its head is cut off")
    head = json.loads(data[_SIZE.size:at])
    if not isinstance(head, dict) or not isinstance(head.get("tensors"), list):
        raise ValueError("its head is no dictionary with the sizes of tensors")
    tensors = []
    with trace.eagerly():
        for name, length, shape in head.pop("tensors"):
            if type(length) is not int or not 0 <= length <= len(data) - at:
                raise ValueError("a tensor is cut off")
            dtype = dtypes.as_dtype(name)
            if shape is None:
                tensors.append(F["io.parse_tensor"](convert_to_tensor(data[at:at + length]), dtype))
            else:
                tensors.append(_plain(data, at, length, dtype, shape))
            at += length
    if at != len(data):
        raise ValueError("there are bytes behind its tensors")
    return head, tensors


def _plain(data, at, length, dtype, shape):
    """A tensor that lies in the data as in memory."""
    if dtype not in _PLAIN or any(type(size) is not int or size < 0 for size in shape):
        raise ValueError(f"a tensor of {dtype.name} and shape {shape}")
    if math.prod(shape) * dtype.size != length:
        raise ValueError("a tensor has not the size of its shape")
    array = np.frombuffer(data, dtype.as_numpy_dtype, math.prod(shape), at)
    return convert_to_tensor(array.reshape(shape), dtype)


def field(head, name, kind):
    """The field of a head, which has to be of a type. InvalidArgumentError where it is not."""
    value = head.get(name)
    if type(value) is not kind:
        raise errors.InvalidArgumentError(None, None, f"a message without {name!r} of type {kind.__name__}")
    return value
