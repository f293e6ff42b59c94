"""What a field of a message holds: repeated values of each kind, one value, and maps of messages."""

import array
import collections.abc
import operator
import struct

from leat._files.wire import (DecodeError, _BYTES, _FIXED32, _FIXED64, _VARINT, _put_bytes, _put_varint, _signed,
                              _varint)

# ---- repeated values ----

class _Repeated(collections.abc.MutableSequence):
    """The values of a repeated field: a list that takes values of its kind alone."""

    def __init__(self, owner, kind):
        self._owner, self._kind, self._list = owner, kind, []

    def __len__(self):
        return len(self._list)

    def __getitem__(self, index):
        return self._list[index]

    def __setitem__(self, index, value):
        self._list[index] = self._kind.check(value if isinstance(index, slice) else [value])[
            slice(None) if isinstance(index, slice) else 0]
        self._owner._touch()

    def __delitem__(self, index):
        del self._list[index]
        self._owner._touch()

    def insert(self, index, value):
        self._list.insert(index, self._kind.check([value])[0])
        self._owner._touch()

    def append(self, value):
        self.insert(len(self._list), value)

    def extend(self, values):
        """Appends each of `values`; nothing where one of them is refused."""
        self._list += self._kind.check(values)
        self._owner._touch()

    def sort(self, *, key=None, reverse=False):
        self._list.sort(key=key, reverse=reverse)

    def MergeFrom(self, other):
        self.extend(other)

    def __array__(self, dtype=None, copy=None):
        import numpy as np
        return np.array(self._list, dtype=self._kind.of_arrays if dtype is None else dtype)

    def __eq__(self, other):
        return self._list == (other._list if isinstance(other, _Repeated) else other)

    __hash__ = None

    def __repr__(self):
        return repr(self._list)


class _Ints:
    """Repeated int64: lists of Python's integers, packed varints."""

    of_arrays = "int64"

    def __init__(self, where):
        self._where = where

    def check(self, values):
        out = []
        for value in values:
            if isinstance(value, bool):
                raise TypeError(f"Field {self._where}: Expected an int, got a boolean.")
            value = operator.index(value)
            if not -1 << 63 <= value < 1 << 63:
                raise ValueError(f"Value out of range: {value}")
            out.append(value)
        return out

    def encode(self, out, number, values):
        packed = bytearray()
        for value in values:
            _put_varint(packed, value)
        _put_bytes(out, number, packed)

    def decode(self, data, wire, value, into):
        if wire == _VARINT:
            into.append(_signed(value))
        elif wire == _BYTES:
            at, end = value
            while at < end:
                found, at = _varint(data, at, end)
                into.append(_signed(found))
        else:
            return False
        return True

    @staticmethod
    def text(value):
        return str(value)


class _Floats:
    """Repeated float32: rounded as they are set; packed little endian."""

    of_arrays = "float32"

    def check(self, values):
        try:
            return array.array("f", values).tolist()
        except TypeError:
            return array.array("f", [value if isinstance(value, float) else _real(value) for value in values]).tolist()

    def encode(self, out, number, values):
        _put_bytes(out, number, struct.pack(f"<{len(values)}f", *values))

    def decode(self, data, wire, value, into):
        if wire not in (_FIXED32, _BYTES):
            return False
        at, end = value
        if (end - at) % 4:
            raise DecodeError("Wire format was corrupt")
        into += struct.unpack(f"<{(end - at) // 4}f", data[at:end])
        return True

    @staticmethod
    def text(value):
        if value != value:
            return "nan"
        short = f"{value:.6g}"
        return short if array.array("f", [float(short)])[0] == value else f"{value:.9g}"


def _real(value):
    """A number as a float; TypeError for what is none, text included."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return float(value)


class _Strings:
    """Repeated bytes."""

    of_arrays = None

    def check(self, values):
        out = []
        for value in values:
            if not isinstance(value, bytes):
                raise TypeError(f"expected bytes, {type(value).__name__} found")
            out.append(bytes(value))
        return out

    def encode(self, out, number, values):
        for value in values:
            _put_bytes(out, number, value)

    def decode(self, data, wire, value, into):
        if wire != _BYTES:
            return False
        into.append(bytes(data[value[0]:value[1]]))
        return True

    @staticmethod
    def text(value):
        plain = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
        inner = "".join(plain.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in value)
        return f'"{inner}"'


class _Numbers(_Floats):
    """Repeated numbers of a fixed size, packed little endian, by their letter for struct."""

    of_arrays = None

    def __init__(self, letter):
        self._letter, self._size = letter, struct.calcsize(letter)

    def check(self, values):
        return array.array(self._letter, values).tolist()

    def encode(self, out, number, values):
        _put_bytes(out, number, struct.pack(f"<{len(values)}{self._letter}", *values))

    def decode(self, data, wire, value, into):
        if wire not in (_FIXED64, _BYTES):
            return False
        into += [found for found, in struct.iter_unpack("<" + self._letter, data[value[0]:value[1]])]
        return True

    @staticmethod
    def text(value):
        return repr(value).removesuffix(".0")


class _Flags(_Ints):
    """Repeated truth values."""

    of_arrays = "bool"

    def check(self, values):
        return [bool(value) for value in values]

    def decode(self, data, wire, value, into):
        found = []
        is_read = super().decode(data, wire, value, found)
        into += map(bool, found)
        return is_read

    text = staticmethod(lambda value: str(value).lower())


class _Scalar:
    """One value of a field: how it is checked, written and read, as the values of a repeated one are."""

    def __init__(self, repeated, default):
        self._repeated, self.default = repeated, default
        self.text = repeated.text

    def check(self, value):
        return self._repeated.check([value])[0]

    def encode(self, out, number, value):
        if isinstance(value, (bytes, str)):
            _put_bytes(out, number, value if isinstance(value, bytes) else value.encode())
        elif isinstance(value, int):
            _put_varint(out, number << 3 | _VARINT)
            _put_varint(out, value)
        else:
            _put_varint(out, number << 3 | _FIXED32)
            out += struct.pack("<f", value)

    def read(self, data, wire, value):
        """The value of a range of bytes; None: it is of another kind."""
        found = []
        return found[-1] if self._repeated.decode(data, wire, value, found) and found else None


class _Texts(_Strings):
    """Repeated text."""

    def check(self, values):
        for value in values:
            if not isinstance(value, (str, bytes)):
                raise TypeError(f"bad argument type for built-in operation: expected text, found {value!r}")
        return [value if isinstance(value, str) else value.decode() for value in values]

    def encode(self, out, number, values):
        super().encode(out, number, [value.encode() for value in values])

    def decode(self, data, wire, value, into):
        found = []
        is_read = super().decode(data, wire, value, found)
        into += [text.decode() for text in found]
        return is_read

    @staticmethod
    def text(value):
        return _Strings.text(value.encode())


_SCALARS = {"int": (_Ints, 0), "flag": (_Flags, False), "bytes": (_Strings, b""), "text": (_Texts, ""),
            "float": (_Floats, 0.0), "enum": (_Ints, 0)}


class _Messages:
    """Repeated messages of one class."""

    of_arrays = None

    def __init__(self, message):
        self.message = message

    def check(self, values):
        out = []
        for value in values:
            if not isinstance(value, self.message):
                raise TypeError(f"expected {self.message.__name__}, {type(value).__name__} found")
            out.append(value._copy())
        return out


class _RepeatedMessages(_Repeated):
    def add(self, **fields):
        """A new message at the end, which is returned."""
        self.append(self._kind.message(**fields))
        return self._list[-1]


class MessageMap(collections.abc.MutableMapping):
    """A map from text to messages: reading a key that is not there makes an empty message for it."""

    def __init__(self, owner, message):
        self._owner, self._message, self._dict = owner, message, {}

    def __getitem__(self, key):
        if not isinstance(key, str):
            raise TypeError(f"bad argument type for built-in operation: a key is text, found {type(key).__name__}")
        found = self._dict.get(key)
        if found is None:
            found = self._dict[key] = self._message()
            self._owner._touch()
        return found

    get_or_create = __getitem__

    def get(self, key, default=None):
        """The message of `key`, or `default`; makes none."""
        return self._dict.get(key, default)

    def __setitem__(self, key, value):
        raise ValueError("Message objects may not be assigned")

    def __delitem__(self, key):
        del self._dict[key]

    def __contains__(self, key):
        return key in self._dict

    def __iter__(self):
        return iter(self._dict)

    def __len__(self):
        return len(self._dict)

    def clear(self):
        """Removes all keys."""
        self._dict.clear()

    def MergeFrom(self, other):
        """Copies the messages of another map, in the place of those that are there."""
        for key, message in other.items():
            self._put(key, message)

    def _put(self, key, message):
        self._dict[key] = message._copy()
        self._owner._touch()

    def __eq__(self, other):
        return self._dict == (other._dict if isinstance(other, MessageMap) else other)

    __hash__ = None

    def __repr__(self):
        return repr(self._dict)
