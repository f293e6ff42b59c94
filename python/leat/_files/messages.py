"""Protocol buffer messages of a few kinds of fields, without the package protobuf: what ``example`` is made of.

A message class lists its fields; encoding, decoding, printing, presence and one-of groups come from that list and
behave as those of protobuf's Python package: unknown fields are kept and written again, packed and unpacked numbers
are both read (packed is written), the last of several values of a field counts, submessages merge.
"""

import collections.abc

from leat._files.repeated import (MessageMap, _Flags, _Floats, _Ints, _Messages, _Numbers, _Repeated, _RepeatedMessages,
                                  _Scalar, _SCALARS, _Strings, _Texts)
from leat._files.wire import DecodeError, _BYTES, _MOST_DEPTH, _fields, _put_bytes

class Field:
    """One field of a message class: `kind` is "ints", "floats", "strings" and so on, which are repeated, one of
    _SCALARS, or a message class with a `label`. `shown`: of an enumeration, names of its numbers."""

    def __init__(self, number, kind, label="one", oneof=None, shown=None):
        self.number, self.kind, self.label, self.oneof, self.shown = number, kind, label, oneof, shown


class Message:
    """The base of the messages. Not hashable; one thread at a time may change one."""

    __slots__ = ("_values", "_owner", "_unknown")
    _fields = {}
    _full_name = "Message"

    def __init_subclass__(cls):
        kinds = {"ints": lambda name: _Ints(f"{cls._full_name}.{name}"), "floats": lambda name: _Floats(),
                 "strings": lambda name: _Strings(), "texts": lambda name: _Texts(),
                 "flags": lambda name: _Flags(f"{cls._full_name}.{name}"), "doubles": lambda name: _Numbers("d")}
        for kind, (repeated, default) in _SCALARS.items():
            kinds[kind] = lambda name, repeated=repeated, default=default: _Scalar(
                repeated(f"{cls._full_name}.{name}") if issubclass(repeated, _Ints) else repeated(), default)
        cls._codecs = {name: kinds[field.kind](name) for name, field in cls._fields.items()
                       if isinstance(field.kind, str)}
        for name in cls._fields:
            setattr(cls, name, property(lambda self, name=name: self._get(name)))

    @classmethod
    def _scalar(cls, name):
        """How one value of a field is kept; None of other fields."""
        codec = cls._codecs.get(name)
        return codec if isinstance(codec, _Scalar) else None

    def __init__(self, **fields):
        self._values, self._owner, self._unknown = {}, None, b""
        for name, value in fields.items():
            if name not in self._fields:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if value is not None:
                self._set(name, value)

    def _set(self, name, value):
        field = self._fields[name]
        if self._scalar(name) is not None:
            self._put_scalar(name, value)
        elif field.label == "map":
            for key, message in value.items():
                if not isinstance(message, (field.kind, dict)):
                    raise TypeError(f"{name}[{key!r}]: expected {field.kind.__name__}, found {type(message).__name__}")
                self._get(name)[key].MergeFrom(message if isinstance(message, field.kind) else field.kind(**message))
        elif field.label == "list" or isinstance(field.kind, str):
            if not isinstance(value, collections.abc.Iterable):
                raise TypeError("must assign iterable")
            self._get(name).extend(value)
        else:
            if not isinstance(value, (field.kind, dict)):
                raise TypeError("Parameter to initialize message field must be dict or instance of same class: "
                                f"expected {field.kind} got {type(value)}.")
            self._get(name).MergeFrom(value if isinstance(value, field.kind) else field.kind(**value))
            self._get(name)._touch()

    def __setattr__(self, name, value):
        if name in Message.__slots__:
            object.__setattr__(self, name, value)
        elif name not in self._fields:
            raise AttributeError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        elif self._scalar(name) is not None:
            self._put_scalar(name, value)
        elif isinstance(self._fields[name].kind, str) or self._fields[name].label != "one":
            raise AttributeError(
                f'Assignment not allowed to map, or repeated field "{name}" in protocol message object.')
        else:
            raise AttributeError(f'Assignment not allowed to message field "{name}" in protocol message object.')

    def _put_scalar(self, name, value):
        value, oneof = self._scalar(name).check(value), self._fields[name].oneof
        for other, field in self._fields.items() if oneof is not None else ():
            if field.oneof == oneof:
                self._values.pop(other, None)
        self._values[name] = value
        self._touch()

    def _get(self, name):
        found = self._values.get(name)
        if found is not None:
            return found
        field = self._fields[name]
        if self._scalar(name) is not None:
            return self._scalar(name).default
        if field.label == "map":
            made = MessageMap(self, field.kind)
        elif field.label == "list":
            made = _RepeatedMessages(self, _Messages(field.kind))
        elif isinstance(field.kind, str):
            made = _Repeated(self, self._codecs[name])
        else:  # not there until it is changed
            made = field.kind()
            made._owner = (self, name)
            return made
        self._values[name] = made
        return made

    def _touch(self):
        """It was changed: it is there in the message around it now, and the others of its one-of are not."""
        if self._owner is None:
            return
        owner, name = self._owner
        if owner._values.get(name) is not self:
            if name in owner._values:  # another one came in between: this one is on its own
                self._owner = None
                return
            oneof = owner._fields[name].oneof
            for other, field in owner._fields.items():
                if oneof is not None and field.oneof == oneof:
                    owner._values.pop(other, None)
            owner._values[name] = self
        owner._touch()

    def SetInParent(self):
        """Makes this message present in the one it was read from."""
        self._touch()

    def _has(self, name):
        found, scalar = self._values.get(name), self._scalar(name)
        if scalar is not None:  # a default counts in a one-of group alone
            return found is not None and (found != scalar.default or self._fields[name].oneof is not None)
        return found is not None and (isinstance(found, Message) or len(found) > 0)

    def HasField(self, name):
        """Is the submessage there?"""
        field = self._fields.get(name)
        if field is None or field.label != "one" or isinstance(field.kind, str) and (
                field.oneof is None or self._scalar(name) is None):
            raise ValueError(f'Protocol message {type(self).__name__} has no singular "{name}" field.')
        return name in self._values

    def WhichOneof(self, group):
        """The name of the member of a one-of group that is set, or None."""
        members = [name for name, field in self._fields.items() if field.oneof == group]
        if not members:
            raise ValueError(f"Protocol message {type(self).__name__} has no oneof {group!r}")
        return next((name for name in members if name in self._values), None)

    def ClearField(self, name):
        """Removes a field's value."""
        if name not in self._fields:
            raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        self._values.pop(name, None)

    def Clear(self):
        """Removes all values."""
        self._values, self._unknown = {}, b""

    def CopyFrom(self, other):
        """Becomes equal to `other`, a message of the same class."""
        if other is not self:
            self.Clear()
            self.MergeFrom(other)
            self._touch()

    def MergeFrom(self, other):
        """Adds the values of `other`: lists grow, keys of maps are replaced, submessages merge."""
        if type(other) is not type(self):
            raise TypeError(f"Parameter to MergeFrom() must be instance of same class: expected {type(self).__name__} "
                            f"got {type(other).__name__}.")
        for name, value in other._values.items():
            if self._scalar(name) is not None:
                if other._has(name):
                    self._put_scalar(name, value)
                continue
            mine = self._get(name)
            mine.MergeFrom(list(value) if value is mine else value)
            if isinstance(mine, Message):
                mine._touch()
        self._unknown += other._unknown

    def _copy(self):
        made = type(self)()
        made.MergeFrom(self)
        return made

    def IsInitialized(self):
        """True: no field is required."""
        return True

    # ---- bytes ----

    def SerializeToString(self, deterministic=None):
        """The message as bytes; `deterministic` sorts the keys of maps."""
        out = bytearray()
        for name, field in self._fields.items():
            if not self._has(name):
                continue
            value = self._values[name]
            if field.label == "map":
                for key in sorted(value) if deterministic else value:
                    entry = bytearray()
                    _put_bytes(entry, 1, key.encode())
                    _put_bytes(entry, 2, value[key].SerializeToString(deterministic))
                    _put_bytes(out, field.number, entry)
            elif isinstance(field.kind, str):
                self._codecs[name].encode(out, field.number, value)
            else:
                for message in value if field.label == "list" else [value]:
                    _put_bytes(out, field.number, message.SerializeToString(deterministic))
        return bytes(out + self._unknown)

    SerializePartialToString = SerializeToString

    def ByteSize(self):
        """How many bytes SerializeToString gives."""
        return len(self.SerializeToString())

    @classmethod
    def FromString(cls, serialized):
        """The message of bytes; DecodeError where they are none."""
        made = cls()
        made.MergeFromString(serialized)
        return made

    def ParseFromString(self, serialized):
        """Becomes the message of `serialized`; returns how many bytes that has."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized):
        """Adds the message of `serialized`; returns how many bytes that has."""
        data = bytes(memoryview(serialized))
        try:
            self._merge(data, 0, len(data), 0)
        except (DecodeError, UnicodeDecodeError) as error:
            raise DecodeError(f"Error parsing message with type '{self._full_name}': {error}") from None
        self._touch()
        return len(data)

    def _merge(self, data, at, end, depth):
        by_number = {field.number: (name, field) for name, field in self._fields.items()}
        for number, wire, value, start, stop in _fields(data, at, end, depth):
            name, field = by_number.get(number, (None, None))
            scalar = self._scalar(name)
            found = None if scalar is None else scalar.read(data, wire, value)
            if found is not None:
                self._put_scalar(name, found)
                continue
            if field is not None and scalar is None and isinstance(field.kind, str):
                if self._codecs[name].decode(data, wire, value, self._get(name)._list):
                    continue
            elif field is not None and wire == _BYTES:
                self._merge_message(name, field, data, value, depth)
                continue
            self._unknown += data[start:stop]

    def _merge_message(self, name, field, data, place, depth):
        if depth >= _MOST_DEPTH:
            raise DecodeError("Maximum recursion depth exceeded")
        if field.label == "map":
            key, message = "", field.kind()
            for number, wire, value, _, _ in _fields(data, *place):
                if number == 1 and wire == _BYTES:
                    key = data[value[0]:value[1]].decode()
                elif number == 2 and wire == _BYTES:
                    message._merge(data, *value, depth + 1)
            self._get(name)._dict[key] = message
        elif field.label == "list":
            message = field.kind()
            message._merge(data, *place, depth + 1)
            self._get(name)._list.append(message)
        else:
            message = self._get(name)
            message._merge(data, *place, depth + 1)
            message._touch()

    # ---- Python's protocols ----

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        names = [name for name in self._fields if self._has(name) or other._has(name)]
        return self._unknown == other._unknown and all(
            self._has(name) and other._has(name) and self._values[name] == other._values[name] for name in names)

    __hash__ = None

    def __reduce__(self):
        return type(self).FromString, (self.SerializeToString(),)

    def __deepcopy__(self, memo):
        return self._copy()

    def __str__(self):
        return "".join(line + "\n" for line in self._lines(""))

    __repr__ = __str__

    def _lines(self, indent):
        for name, field in self._fields.items():
            if not self._has(name):
                continue
            value = self._values[name]
            if field.label == "map":
                for key in sorted(value):
                    yield f"{indent}{name} {{"
                    yield f"{indent}  key: {_Strings.text(key.encode())}"
                    yield f"{indent}  value {{"
                    yield from value[key]._lines(indent + "    ")
                    yield f"{indent}  }}"
                    yield f"{indent}}}"
            elif isinstance(field.kind, str):
                for item in value if self._scalar(name) is None else [value]:
                    yield f"{indent}{name}: {(field.shown or {}).get(item) or self._codecs[name].text(item)}"
            else:
                for message in value if field.label == "list" else [value]:
                    yield f"{indent}{name} {{"
                    yield from message._lines(indent + "  ")
                    yield f"{indent}}}"
