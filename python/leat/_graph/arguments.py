"""Arguments of traced functions: their leaves, and how what is given fits what was traced."""

import abc

import numpy as np

from leat import _native, nest
from leat._core import specs
from leat._core.tensor import Tensor, convert_to_tensor


def _named(leaf, name):
    """The TypeSpec of an argument, under its own name or the parameter's."""
    spec = leaf if isinstance(leaf, specs.TypeSpec) else nest.spec_of_leaf(leaf)
    return specs.TensorSpec(spec.shape, spec.dtype, spec.name or name) if type(spec) is specs.TensorSpec else spec


class _Static:
    """An argument that is no tensor: each value is traced on its own."""

    __slots__ = ("value", "key")

    def __init__(self, value):
        self.value = value
        try:
            hash(value)
            self.key = (type(value), value)
        except TypeError:
            self.key = (type(value), id(value))

    def __eq__(self, other):
        return isinstance(other, _Static) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


class TraceType(abc.ABC):
    """What a traced function sees of an argument in place of its value: traces are found by it
    (``tf.types.experimental.TraceType``). A class of arguments has a method ``__tf_tracing_type__(context)``."""

    @abc.abstractmethod
    def is_subtype_of(self, other):
        """May an argument of this type be given to a trace for `other`?"""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others):
        """The narrowest type of which this one and all `others` are subtypes; None."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context):
        """What the function is traced with."""

    @abc.abstractmethod
    def __hash__(self):
        pass

    @abc.abstractmethod
    def __eq__(self, other):
        pass


class TracingContext:
    """What ``__tf_tracing_type__`` is given."""


class _Typed(_Static):
    """An argument whose class says what it is to traced functions."""

    __slots__ = ()

    def __init__(self, leaf):
        self.key = leaf.__tf_tracing_type__(TracingContext())
        self.value = self.key.placeholder_value(None)

    def goes_as(self, other):
        """May the argument be given to what was traced for `other`?"""
        return isinstance(other, _Typed) and self.key.is_subtype_of(other.key)


def _as_tensor(leaf):
    return convert_to_tensor(leaf) if isinstance(leaf, (bool, int, float, str, bytes, np.ndarray, np.generic)) else leaf


def _read(leaf):
    return leaf._as_tensor() if hasattr(leaf, "_as_tensor") and not hasattr(type(leaf), "_type_spec") else leaf


def _leaf(leaf):
    """An argument's leaf: a tensor or composite value, a dataset or iterator, or a static one."""
    if isinstance(leaf, Tensor) or isinstance(leaf, (np.ndarray, np.generic)):
        return convert_to_tensor(leaf)
    if hasattr(leaf, "_as_tensor"):
        return leaf if hasattr(type(leaf), "_type_spec") else _Static(leaf)
    if hasattr(leaf, "_type_spec") and hasattr(leaf, "_is_leaf_value"):
        return leaf
    return _Typed(leaf) if hasattr(type(leaf), "__tf_tracing_type__") else _Static(leaf)


def _given(rest, name):
    """The keyword argument of that name, taken out of `rest`."""
    if name not in rest:
        raise TypeError(f"missing a required argument: {name!r}")
    return rest.pop(name)


def distinct(names):
    """The names, with a number behind those that came before."""
    seen, counts = {}, {}
    for name in names:
        proposal = name
        while proposal in seen:
            counts[name] = counts.get(name, 0) + 1
            proposal = f"{name}_{counts[name]}"
        seen[proposal] = None
    return list(seen)


def fitted(spec, value, is_exact=False):
    """The argument as tensors of the signature's types; TypeError where it is none, or another value that is no
    tensor. `is_exact`: lists are no tuples."""
    found = nest._children(spec)
    if found is not None:
        parts = nest._children(value)
        keys = set(spec) == set(value) if isinstance(spec, dict) and isinstance(value, dict) else True
        kinds = not is_exact or isinstance(spec, list) == isinstance(value, list)
        if parts is None or len(parts[0]) != len(found[0]) or not keys or not kinds:
            raise TypeError(f"expected {spec}, found {value!r}")
        return found[1]([fitted(one, part, is_exact) for one, part in zip(found[0], parts[0])])
    if not isinstance(spec, specs.TypeSpec):
        if value is not spec and not bool(np.all(value == spec)):
            raise TypeError(f"Can not cast {value!r} to {spec!r}, the value that was traced")
        return spec
    tensor = value if hasattr(value, "_is_leaf_value") else convert_to_tensor(value, dtype_hint=spec.dtype)
    if not spec.is_compatible_with(tensor):
        raise TypeError(f"Can not cast {nest.spec_of_leaf(tensor)} to {spec}")
    return tensor


def _shape_of(structure):
    """Something hashable that tells structures apart."""
    found = nest._children(structure)
    if found is None:
        return 0
    keys = tuple(sorted(structure)) if isinstance(structure, dict) else ()
    return (type(structure), keys, tuple(_shape_of(child) for child in found[0]))


def _covers(known, leaf):
    if isinstance(known, _Static) or isinstance(leaf, _Static):
        return known == leaf
    return type(known) is type(leaf) and known.is_compatible_with(leaf) and known == _join(known, leaf)


def _join(a, b):
    if isinstance(a, _Static) or isinstance(b, _Static):
        return a if a == b else None
    return a.most_specific_common_supertype([b])


def _spread(value, tensors):
    """What tells structures of tensors apart, whose leaves `tensors` takes in flat order; TypeError for others."""
    kind = type(value)
    if kind is Tensor:
        tensors.append(value)
        return 0
    if kind is tuple or kind is list:
        return (kind, *[_spread(part, tensors) for part in value])
    if kind is dict:
        names = sorted(value)
        return (kind, tuple(names), *[_spread(value[name], tensors) for name in names])
    if kind is bool or value is None:
        return (kind, value)
    raise TypeError


def _known_by(args):
    """(key, tensors) of a call whose arguments are structures of plain tensors; (None, ()) for others."""
    key = _native.Operation.key(args)
    if key is not None:
        return key, args
    tensors = []
    try:
        structure = _spread(args, tensors)
    except TypeError:
        return None, ()
    key = _native.Operation.key(tuple(tensors))
    return (None, ()) if key is None else ((key, structure), tensors)


def of_wider_types(traces, key):
    """A trace for types of the user's own that those of this call are subtypes of; None."""
    if not any(isinstance(leaf, _Typed) for leaf in key[0]):
        return None
    alike = ((other[0], made) for other, made in traces.items() if other[1:] == key[1:])
    return next((made for known, made in alike if len(known) == len(key[0]) and all(
        one == other or isinstance(one, _Typed) and one.goes_as(other) for one, other in zip(key[0], known))), None)
