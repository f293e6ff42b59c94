"""``tf.experimental.ExtensionType``: classes of users whose fields are tensors, as arguments and results of functions.

The fields are what a class annotates. A value is one leaf of a structure; the library sees its tensors, in the order of
the fields, and its spec keeps what is no tensor.
"""

import collections.abc
import types as _types
import typing

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import dispatching, trace
from leat._graph.ops import FUNCTIONS as F

_TENSOR_CLASSES = (Tensor,)
_PLAIN = (int, float, str, bytes, bool, type(None), TensorShape, dtypes.DType)
_RESERVED = frozenset(["self"])


# ---- fields ----

class Field:
    """A field of an extension type: its name, what its values are, its default."""

    REQUIRED = object()

    def __init__(self, name, value_type, default=REQUIRED):
        self.name, self.value_type, self.default = name, value_type, default


def _fields_of(cls):
    """The annotated fields of a class and of those that it is made of; ValueError for names and types that none has."""
    found = {field.name: field for base in reversed(cls.__mro__[1:]) for field in getattr(base, "_fields", ())}
    own = cls.__dict__.get("__annotations__", {})
    hints = typing.get_type_hints(cls, localns={cls.__name__: cls}) if own else {}
    for name in own:
        if name in _RESERVED or name.startswith("_tf_extension_type") or hasattr(ExtensionType, name):
            raise ValueError(f"The field annotations for {cls.__name__} are invalid. Field {name!r} is reserved.")
        value = cls.__dict__.get(name, Field.REQUIRED)
        kind = _checked_type(hints[name], name)
        found[name] = Field(name, kind, value if value is Field.REQUIRED else _converted(
            value, kind, f"default value for {cls.__name__}.{name}"))
    return list(found.values())


def _checked_type(kind, where):
    """The type of a field; TypeError for what no field can be."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, _types.UnionType):
        return typing.Union[tuple(_checked_type(one, where) for one in inner)]
    if origin is tuple:
        for one in inner:
            if one is not Ellipsis:
                _checked_type(one, where)
        return kind
    if origin is collections.abc.Mapping:
        if inner[0] not in (str, int, bytes, bool):
            raise TypeError(f"In field {where!r}: Mapping had a key {inner[0]!r} with type {type(inner[0])}")
        _checked_type(inner[1], where)
        return kind
    if isinstance(kind, specs.TypeSpec) or isinstance(kind, type) and (
            kind in _PLAIN or issubclass(kind, (ExtensionType, *_TENSOR_CLASSES)) or hasattr(kind, "_is_leaf_value")):
        return kind
    if kind in (list, dict, tuple) or origin in (list, dict):
        raise TypeError(f"In field {where!r}: Unsupported type annotation {_name_of(kind)!r}; use Tuple[X, ...] or "
                        "Mapping[K, V]")
    raise TypeError(f"In field {where!r}: Unsupported type annotation {_name_of(kind)!r}")


class ImmutableDict(collections.abc.Mapping):
    """A mapping of a field, which does not change."""

    def __init__(self, items):
        self._items = dict(items)

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __hash__(self):
        return hash(tuple(self._items.items()))

    def __repr__(self):
        return f"ImmutableDict({self._items!r})"


def _is_tensor_class(kind):
    return isinstance(kind, type) and issubclass(kind, _TENSOR_CLASSES)


def _converted(value, kind, where, spec=False):
    """The value of a field of that type; with `spec` its TypeSpec is one, too. TypeError for others."""
    if kind is typing.Any:
        return value
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        for one in inner:
            try:
                return _converted(value, one, where, spec)
            except TypeError:
                pass
    elif origin is tuple and isinstance(value, (list, tuple)):
        kinds = [inner[0]] * len(value) if len(inner) == 2 and inner[1] is Ellipsis else inner
        if len(kinds) == len(value):
            return tuple(_converted(one, of, f"{where}[{i}]", spec) for i, (one, of) in enumerate(zip(value, kinds)))
    elif origin is collections.abc.Mapping and isinstance(value, collections.abc.Mapping):
        return ImmutableDict({_converted(key, inner[0], where): _converted(one, inner[1], f"{where}[{key!r}]", spec)
                              for key, one in value.items()})
    elif isinstance(value, specs.TypeSpec) and spec:
        if isinstance(kind, type) and issubclass(value.value_type, kind) or isinstance(kind, specs.TypeSpec):
            return value
    elif _is_tensor_class(kind) or isinstance(kind, specs.TypeSpec):
        return _tensor(value, kind, where)
    elif kind in _PLAIN:
        if type(value) is kind or isinstance(value, kind) and not isinstance(value, bool):
            return value
        if kind is TensorShape and isinstance(value, (list, tuple)):
            return TensorShape(value)
        if kind is dtypes.DType and not isinstance(value, (int, float)):
            return dtypes.as_dtype(value)
        if kind is float and type(value) is int:
            return float(value)
    elif isinstance(kind, type) and isinstance(value, kind):
        return value
    raise TypeError(f"{where}: expected {_name_of(kind)!r}, got {type(value).__name__!r}")


def _name_of(kind):
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _tensor(value, kind, where):
    if isinstance(value, specs.TypeSpec):
        raise TypeError(f"{where}: expected a Tensor, got {value!r}")
    try:
        tensor = convert_to_tensor(value, getattr(kind, "dtype", None) if isinstance(kind, specs.TypeSpec) else None)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where}: expected a Tensor, got {type(value).__name__!r}") from error
    if isinstance(kind, specs.TypeSpec) and not kind.is_compatible_with(tensor):
        raise TypeError(f"{where}: expected a {kind}, got {tensor!r}")
    return tensor


def _is_part(value):
    """Does a field's value consist of tensors?"""
    return isinstance(value, Tensor) or hasattr(value, "_is_leaf_value") or hasattr(value, "_as_tensor")


def _spec_of(value):
    """What a spec keeps of a field's value: TypeSpecs of what is made of tensors, and else the value."""
    if isinstance(value, tuple):
        return tuple(map(_spec_of, value))
    if isinstance(value, ImmutableDict):
        return ImmutableDict({key: _spec_of(one) for key, one in value.items()})
    return nest.spec_of_leaf(value) if _is_part(value) else value


def _map_specs(function, spec, *values):
    """The structure of a field with function(TypeSpec, ...) for each of its specs."""
    if isinstance(spec, tuple):
        return tuple(_map_specs(function, *row) for row in zip(spec, *values))
    if isinstance(spec, ImmutableDict):
        return ImmutableDict({key: _map_specs(function, spec[key], *(one[key] for one in values)) for key in spec})
    return function(spec, *values) if isinstance(spec, specs.TypeSpec) else spec


# ---- values ----

class _Meta(type):
    """Makes of the annotations of a class its fields, its constructor and its spec."""

    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        if "ExtensionType" not in globals() or namespace.get("_is_abstract_base"):
            return
        cls._fields = _fields_of(cls)
        for field in cls._fields:
            if field.name in cls.__dict__:
                delattr(cls, field.name)
        given = cls.__dict__.get("Spec")
        base = next((one.Spec for one in cls.__mro__[1:] if hasattr(one, "Spec")), ExtensionTypeSpec)
        made = type("Spec", (base,) if given is None or issubclass(given, ExtensionTypeSpec) is False else (given,),
                    {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.Spec",
                     **({} if given is None or issubclass(given, ExtensionTypeSpec) else {
                         key: value for key, value in vars(given).items() if key not in ("__dict__", "__weakref__")})})
        made._class = cls
        cls.Spec = made

    def __call__(cls, *args, **kwargs):
        made = cls.__new__(cls)
        object.__setattr__(made, "_is_open", True)
        made.__init__(*args, **kwargs)
        for field in cls._fields:
            if field.name not in made.__dict__:
                raise TypeError(f"{cls.__name__}.__init__ did not set {field.name!r}")
            object.__setattr__(made, field.name, _converted(made.__dict__[field.name], field.value_type,
                                                            field.name))
        for name in made.__dict__:
            if name != "_is_open" and all(field.name != name for field in cls._fields):
                raise AttributeError(f"{cls.__name__}.__init__ set {name!r}, which is no field")
        object.__delattr__(made, "_is_open")
        made.__validate__()
        return made


def _bound(cls, args, kwargs, defaults=True):
    """{field: value} of the arguments of a constructor; TypeError as Python's."""
    if len(args) > len(cls._fields):
        raise TypeError(f"too many positional arguments: {cls.__name__} takes {len(cls._fields)}")
    found = {field.name: value for field, value in zip(cls._fields, args)}
    for name, value in kwargs.items():
        if name in found:
            raise TypeError(f"multiple values for argument {name!r}")
        if all(field.name != name for field in cls._fields):
            raise TypeError(f"got an unexpected keyword argument {name!r}")
        found[name] = value
    for field in cls._fields:
        if field.name not in found:
            if field.default is Field.REQUIRED or not defaults:
                raise TypeError(f"missing a required argument: {field.name!r}")
            found[field.name] = field.default
    return found


class ExtensionType(metaclass=_Meta):
    """The base of classes whose annotated fields are tensors, plain values and structures of them
    (``tf.experimental.ExtensionType``). Values do not change."""

    _is_leaf_value = True
    _is_tensor = False
    _fields = []

    def __init__(self, *args, **kwargs):
        if type(self) in (ExtensionType, BatchableExtensionType):
            raise AssertionError(f"Cannot create an instance of {type(self).__name__} itself; derive from it")
        for name, value in _bound(type(self), args, kwargs).items():
            self.__setattr__(name, value)

    def __validate__(self):
        """A subclass raises an exception here for values that it does not take."""

    def __setattr__(self, name, value):
        if "_is_open" not in self.__dict__:
            raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        if "_is_open" not in self.__dict__:
            raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")
        object.__delattr__(self, name)

    @property
    def _type_spec(self):
        return self.Spec._of({field.name: _spec_of(getattr(self, field.name)) for field in self._fields})

    def __eq__(self, other):
        if type(self) is not type(other):
            return False
        mine, others = self._type_spec, other._type_spec
        if not mine.is_compatible_with(others) and not others.is_compatible_with(mine):
            return False
        checks = []
        for one, another in zip(mine._take(self), others._take(other)):
            if one.shape.is_fully_defined() and another.shape.is_fully_defined() and one.shape != another.shape:
                return False
            checks.append(F["reduce_all"](F["equal"](one, another)))
        return F["reduce_all"](F["stack"](checks)) if checks else True

    def __ne__(self, other):
        found = self.__eq__(other)
        return F["logical_not"](found) if isinstance(found, Tensor) else not found

    __hash__ = None

    def __repr__(self):
        shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in self._fields)
        return f"{type(self).__name__}({shown})"

    def _dispatch(self, entry, values, arguments):
        """An operation of the table, which someone may have said what it does with such values."""
        return dispatching.of_operation(entry, values, arguments)


class ExtensionTypeSpec(specs.TypeSpec):
    """The type of values of an extension type: the specs of its fields (``tf.experimental.ExtensionTypeSpec``)."""

    __slots__ = ("__dict__",)
    _class = ExtensionType

    def __init__(self, *args, **kwargs):
        self._set(_bound(self._class, args, kwargs, False))

    @classmethod
    def _of(cls, parts):
        made = cls.__new__(cls)
        made._set(parts)
        return made

    def _set(self, parts):
        for field in self._class._fields:
            object.__setattr__(self, field.name, _converted(parts[field.name], field.value_type, field.name, True))

    @classmethod
    def from_value(cls, value):
        """The spec of a value."""
        return value._type_spec

    value_type = property(lambda self: self._class)

    def _parts(self):
        return [(field.name, getattr(self, field.name)) for field in self._class._fields]

    def _leaves(self):
        found = []
        _map_specs(found.append, tuple(part for _, part in self._parts()))
        return found

    def _key(self):
        return tuple(part for _, part in self._parts())

    def _covers(self, other):
        mine, others = self._leaves(), other._leaves()
        static = [_map_specs(lambda spec: None, tuple(part for _, part in one._parts())) for one in (self, other)]
        return static[0] == static[1] and len(mine) == len(others) and all(
            type(one) is type(another) and one.is_compatible_with(another) for one, another in zip(mine, others))

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and `others`; None where there is none."""
        for other in others:
            if type(other) is not type(self) or len(other._leaves()) != len(self._leaves()):
                return None
            joined = [one.most_specific_common_supertype([another])
                      for one, another in zip(self._leaves(), other._leaves())]
            if None in joined:
                return None
            self = self._with(iter(joined))
        return self

    def _with(self, leaves):
        """The same with other specs of its tensors."""
        return self._of({name: _map_specs(lambda spec: next(leaves), part) for name, part in self._parts()})

    def _rows(self, leaves):
        """The same for other specs of its tensors in which dimensions of rows came or went: shapes follow."""
        if not issubclass(self._class, BatchableExtensionType) or not leaves:
            return self._with(iter(leaves))
        old, new = self._leaves()[0].shape, leaves[0].shape
        more = 0 if old.rank is None or new.rank is None else new.rank - old.rank

        def follow(part):
            if isinstance(part, tuple):
                return tuple(map(follow, part))
            if not isinstance(part, TensorShape) or part.rank is None:
                return part
            return new[:more].concatenate(part) if more > 0 else part[-more:]
        made = self._with(iter(leaves))
        return self._of({name: follow(part) for name, part in made._parts()})

    def _json(self):
        leaves = self._leaves()
        statics = tuple(_map_specs(lambda spec: None, part) for _, part in self._parts())
        tag = nest.tag_of((type(self), repr(statics)), self._rows)
        return {**nest.to_json(tuple(leaves)), "tag": tag}

    def _take(self, value):
        out = []
        for name, part in self._parts():
            _map_specs(lambda spec, one: out.extend(spec._take(one)), part, getattr(value, name))
        return out

    def _put(self, components):
        made = self._class.__new__(self._class)
        for name, part in self._parts():
            object.__setattr__(made, name, _map_specs(lambda spec: spec._put(components), part))
        return made

    def __repr__(self):
        shown = ", ".join(f"{name}={part!r}" for name, part in self._parts())
        return f"{self._class.__name__}.Spec({shown})"


class BatchableExtensionType(ExtensionType):
    """An extension type whose values datasets can batch and cut (``tf.experimental.BatchableExtensionType``): each of
    its tensors has the rows in its first dimension."""

    _is_abstract_base = True

    def _parts_of_rows(self):
        """Its tensors, each with the rows in its first dimension."""
        return self._type_spec._take(self)

    def _of_parts(self, parts):
        """A value of other tensors, which have more dimensions of rows or fewer."""
        return self._type_spec._rows([nest.spec_of_leaf(one) for one in parts])._put(iter(parts))


def as_dict(value):
    """{field: value} of an extension type's value (``tf.experimental.extension_type.as_dict``)."""
    return {field.name: getattr(value, field.name) for field in value._fields}
