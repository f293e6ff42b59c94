"""The wire format of protocol buffers: tags, varints and ranges of bytes."""

_VARINT, _FIXED64, _BYTES, _GROUP, _END_GROUP, _FIXED32 = range(6)
_MOST_DEPTH = 100


class DecodeError(ValueError):
    """Bytes that are no message of the kind that was asked for."""


def _put_varint(out, value):
    """Appends an int as a varint; negative ones as their 64 bits."""
    if value < 0:
        value += 1 << 64
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _put_bytes(out, number, data):
    _put_varint(out, number << 3 | _BYTES)
    _put_varint(out, len(data))
    out += data


def _varint(data, at, end):
    """(value, place behind it)"""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (1 << 64) - 1, at
        shift += 7
    raise DecodeError("Wire format was corrupt")


def _signed(value):
    return value - (1 << 64) if value >> 63 else value


def _fields(data, at, end, depth=0, group=None):
    """(number, wire type, value, start, end) of each field; a varint's value is unsigned, others are ranges."""
    while at < end:
        start = at
        tag, at = _varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag >> 32:
            raise DecodeError("Wire format was corrupt")
        if wire == _VARINT:
            value, at = _varint(data, at, end)
        elif wire in (_FIXED64, _FIXED32):
            value, at = (at, at + (8 if wire == _FIXED64 else 4)), at + (8 if wire == _FIXED64 else 4)
        elif wire == _BYTES:
            size, at = _varint(data, at, end)
            value, at = (at, at + size), at + size
        elif wire == _GROUP and depth < _MOST_DEPTH:
            value, at = None, _end_of_group(data, at, end, depth + 1, number)
        elif wire == _END_GROUP and number == group:
            yield None, wire, None, start, at
            return
        else:
            raise DecodeError("Wire format was corrupt")
        if at > end:
            raise DecodeError("Wire format was corrupt")
        yield number, wire, value, start, at
    if group is not None:
        raise DecodeError("Wire format was corrupt")


def _end_of_group(data, at, end, depth, group):
    for *_, at in _fields(data, at, end, depth, group):
        pass
    return at
