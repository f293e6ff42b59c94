"""What processes of a cluster send each other: a head of JSON, and tensors behind it.

    four bytes: the size of the head | the head | TensorProtos, whose sizes the head says

Nothing in it is code: functions and datasets travel as plans (leat's JSON), which the library checks as it reads them.
"""

import json
import struct

from leat import dtypes, errors
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._graph.ops import FUNCTIONS as F

_SIZE = struct.Struct("<I")
_MOST_HEAD = 1 << 28


def packed(head, tensors=()):
    """The bytes of a head, a dictionary for JSON, and of tensors with values."""
    with trace.eagerly():
        parts = [_bytes_of(tensor) for tensor in tensors]
    kinds = [[tensor.dtype.name, len(part)] for tensor, part in zip(tensors, parts)]
    text = json.dumps({**head, "tensors": kinds}).encode()
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
        for name, length in head.pop("tensors"):
            if not isinstance(length, int) or not 0 <= length <= len(data) - at:
                raise ValueError("a tensor is cut off")
            tensors.append(F["io.parse_tensor"](convert_to_tensor(data[at:at + length]), dtypes.as_dtype(name)))
            at += length
    if at != len(data):
        raise ValueError("there are bytes behind its tensors")
    return head, tensors


def field(head, name, kind):
    """The field of a head, which has to be of a type. InvalidArgumentError where it is not."""
    value = head.get(name)
    if type(value) is not kind:
        raise errors.InvalidArgumentError(None, None, f"a message without {name!r} of type {kind.__name__}")
    return value
