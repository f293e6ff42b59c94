"""What convolutions and pools have in common: the arguments of windows, and dimensions in another order."""

from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat.errors import InvalidArgumentError, UnimplementedError

__all__ = []


def numbers(value, count, name, channels_first=False):
    """A number for each of `count` directions, of one for all, of those, or of all dimensions."""
    if value is None:
        return [1] * count
    given = [int(one) for one in (value if isinstance(value, (list, tuple)) or hasattr(value, "shape") else [value])]
    if len(given) == 1:
        return given * count
    if len(given) == count:
        return given
    if len(given) != count + 2:
        raise ValueError(f"{name} should be of length 1, {count} or {count + 2}. Received: {name}={value} of length "
                         f"{len(given)}")
    channels = given[1] if channels_first else given[-1]
    if given[0] != 1 or channels != 1:
        raise UnimplementedError(None, None, f"Current implementation does not yet support {name} in the batch and "
                                 f"depth dimensions. Received: {name}={value}")
    return given[2:] if channels_first else given[1:-1]


def is_first(data_format, count):
    """Do channels stand before the `count` directions? ValueError for a format of others."""
    last = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[count]
    first = "NC" + last[1:-1]
    if data_format in (None, last, "NWC" if count == 1 else last):
        return False
    if data_format == first:
        return True
    raise ValueError(f"`data_format` must be '{last}' or '{first}'. Received: data_format={data_format}")


def pads(padding, count, channels_first=False):
    """"SAME", "VALID", or [before, after] for each direction of a list for all dimensions."""
    if isinstance(padding, (list, tuple)):
        given = [[int(one) for one in pair] for pair in padding]
        if len(given) != count + 2 or any(len(pair) != 2 for pair in given):
            raise ValueError(f"`padding` must have a pair for each of {count + 2} dimensions. Received: {padding}")
        channels = given[1] if channels_first else given[-1]
        if given[0] != [0, 0] or channels != [0, 0]:
            raise ValueError("explicit padding of batch and channels must be 0. Received: "
                             f"padding={padding}")
        if any(one < 0 for pair in given for one in pair):
            raise InvalidArgumentError(None, None, f"All elements of explicit_paddings must be nonnegative: {padding}")
        return given[2:] if channels_first else given[1:-1]
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(None, None, f"Value for attr 'padding' of \"{padding}\" is not in the list of "
                                   'allowed values: "SAME", "VALID", "EXPLICIT"')
    return padding


def to_last(x, channels_first):
    """With channels as the last dimension."""
    if not channels_first:
        return x
    rank = x.shape.rank
    return F["transpose"](x, [0, *range(2, rank), 1])


def from_last(x, channels_first):
    """Back, with channels behind the batch."""
    if not channels_first:
        return x
    rank = x.shape.rank
    return F["transpose"](x, [0, rank - 1, *range(1, rank - 1)])


def dims(x):
    """The dimensions of a tensor of known rank, numbers where they are known."""
    known = x.shape.as_list()
    if None not in known:
        return known
    shape = F["shape"](x)
    return [shape[i] if one is None else one for i, one in enumerate(known)]


def shape_of(*sizes):
    """A shape of numbers and tensors."""
    return list(sizes) if all(isinstance(one, int) for one in sizes) else F["stack"](
        [F["cast"](one, "int32") if hasattr(one, "dtype") else one for one in sizes])


def reshape(x, *sizes):
    """Reshaped to dimensions that may be tensors."""
    if {*map(type, sizes)} == {int}:
        return ops.call("reshape", {"shape": sizes}, [x])[0]
    return F["reshape"](x, shape_of(*sizes))


def most(first, second):
    """The larger of two sizes."""
    if isinstance(first, int) and isinstance(second, int):
        return max(first, second)
    return F["maximum"](first, second)


def along(size, kernel, stride, dilation, padding):
    """(windows, padding before, padding after) along one direction; `size` is a number or a tensor."""
    reach = (kernel - 1) * dilation + 1
    if padding == "SAME":
        out = (size + stride - 1) // stride
        total = most((out - 1) * stride + reach - size, 0)
        return out, total // 2, total - total // 2
    before, after = (0, 0) if padding == "VALID" else padding
    if isinstance(size, int) and size + before + after < reach:
        raise InvalidArgumentError(None, None, f"Computed output size would be negative: a window that reaches over "
                                   f"{reach} does not fit into {size + before + after}")
    return (size + before + after - reach) // stride + 1, before, after


def is_zero(*sizes):
    """Are all of them the number 0?"""
    return all(isinstance(one, int) and one == 0 for one in sizes)


def pad(x, axis, before, after, value=0):
    """Padded along one dimension."""
    if is_zero(before, after):
        return x
    rank = x.shape.rank
    pairs = [[before, after] if place == axis else [0, 0] for place in range(rank)]
    if any(hasattr(one, "dtype") for one in (before, after)):
        pairs = F["stack"]([F["stack"](pair) for pair in pairs])
    return F["pad"](x, pairs, "CONSTANT", value)


def pad_all(x, pairs, value=0):
    """Padded along the dimensions between batch and channels."""
    return x if is_zero(*[one for pair in pairs for one in pair]) else F["pad"](
        x, [[0, 0], *pairs, [0, 0]], "CONSTANT", value)


def tensors(*values):
    """Tensors of one dtype, which the first that has one decides."""
    first = convert_to_tensor(values[0])
    return [first, *[convert_to_tensor(value, dtype_hint=first.dtype) for value in values[1:]]]
