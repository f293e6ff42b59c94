"""Nested structures: tuples, named tuples, attrs classes, dictionaries and data classes over leaves.

The C library knows tuples and dictionaries. What else a user's container was (a named tuple, a dictionary's own
order) is a number, the tag, which the library carries along with the structure; this module knows what each number
stands for. Flat order is the library's: depth first, dictionaries by sorted key.
"""

import collections.abc
import dataclasses
import json
import threading

import numpy as np

from leat import _native
from leat._core import specs
from leat._core.later import Hook, public
from leat._core.specs import TypeSpec
from leat.dtypes import variant

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
__dir__ = public(globals())

_kinds = [None]  # tag -> Kind; 0 is a plain tuple, or a plain dict in sorted order
_tags = {}
_lock = threading.Lock()
_convert_leaf, _convert_to_tensor = Hook(), Hook()  # of a value, a leaf of an element or a tensor: leat._core.tensor


class _Metadata:
    """What a data class says of itself beside its components (``__tf_flatten__``)."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is _Metadata and self.value == other.value

    def __hash__(self):
        return hash(repr(self.value))


class _Kind:
    """How one sort of container is taken apart and made."""

    __slots__ = ("type", "keys", "tag")

    def __init__(self, type_, keys):
        self.type = type_
        self.keys = keys  # of a dictionary or data class, in the user's order; None: a tuple, also one with names

    def build(self, children):
        """`children`: in C's order, that of sorted keys."""
        if type(self.keys) is _Metadata:
            return self.type.__tf_unflatten__(self.keys.value, tuple(children))
        if self.keys is None:
            by_place = hasattr(self.type, "_fields") or hasattr(self.type, "__attrs_attrs__")
            return self.type(*children) if by_place else self.type(children)
        by_key = dict(zip(sorted(self.keys, key=str), children))
        if dataclasses.is_dataclass(self.type):
            return self.type(**{key: by_key[key] for key in self.keys})
        items = [(key, by_key[key]) for key in self.keys]
        if self.type is dict:
            return dict(items)
        if issubclass(self.type, collections.defaultdict):
            return collections.defaultdict(None, items)
        return self.type(items)


_leaf_types = set()  # those seen that are no containers, so that most values are known at once


def _kind_of(value):
    """(kind, children in C's order, keys or None) of a container; None for a leaf."""
    if type(value) in _leaf_types:
        return None
    found = _container_of(value)
    if found is None:
        _leaf_types.add(type(value))
    return found


def _container_of(value):
    if type(value) is tuple:
        return 0, value, None
    if hasattr(type(value), "__tf_flatten__"):  # what the metadata are belongs to the kind
        metadata, children = value.__tf_flatten__()
        return _tag_of(type(value), _Metadata(metadata)), tuple(children), None
    if isinstance(value, tuple):
        if hasattr(value, "_is_composite_value"):
            return None
        return _tag_of(type(value), None), tuple(value), None
    if isinstance(value, collections.abc.Mapping):
        keys = tuple(value)
        in_order = tuple(sorted(keys, key=str))
        plain = type(value) is dict and keys == in_order and all(isinstance(key, str) for key in keys)
        tag = 0 if plain else _tag_of(type(value), keys)
        return tag, tuple(value[key] for key in in_order), in_order
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not isinstance(value, TypeSpec):
        keys = tuple(field.name for field in dataclasses.fields(value))
        in_order = tuple(sorted(keys, key=str))
        return _tag_of(type(value), keys), tuple(getattr(value, key) for key in in_order), in_order
    if hasattr(type(value), "__attrs_attrs__"):
        fields = type(value).__attrs_attrs__
        return _tag_of(type(value), None), tuple(getattr(value, field.name) for field in fields), None
    return None


class _Maker:
    """A structure that a leaf's spec stands for: how the spec is made of those of its parts."""

    def __init__(self, build):
        self.build = build


def tag_of(key, build):
    """The tag under which the library keeps a leaf of several parts, whose spec is ``build(specs of the parts)``."""
    with _lock:
        if key not in _tags:
            _tags[key] = len(_kinds)
            _kinds.append(_Maker(build))
        return _tags[key]


def _tag_of(type_, keys):
    found = _tags.get((type_, keys))
    if found is None:
        with _lock:
            found = _tags.setdefault((type_, keys), len(_kinds))
            if found == len(_kinds):
                _kinds.append(_Kind(type_, keys))
    return found


class _Leaf:
    """What is one leaf in Python and a tuple in the library: how its spec is made of those of the parts."""

    __slots__ = ("build",)

    def __init__(self, build):
        self.build = build


def leaf_tag(name, build):
    """The tag of a leaf that the library knows as a tuple: `build` makes its spec of the list of the parts' specs."""
    with _lock:
        found = _tags.setdefault(("leaf", name), len(_kinds))
        if found == len(_kinds):
            _kinds.append(_Leaf(build))
    return found


def _build(tag, children, keys):
    if tag:
        return _kinds[tag].build(children)
    return tuple(children) if keys is None else dict(zip(keys, children))


def _map(function, structure, *others):
    """function(leaf, ...) for each leaf of structures that are alike; lists are leaves."""
    kind = _kind_of(structure)
    if kind is None:
        return function(structure, *others)
    tag, children, keys = kind
    rows = [children]
    for other in others:
        found = _kind_of(other)
        if found is None or found[2] != keys or len(found[1]) != len(children):
            raise ValueError(f"The two structures don't have the same nested structure: {structure!r} and {other!r}")
        rows.append(found[1])
    return _build(tag, [_map(function, *row) for row in zip(*rows)], keys)


def leaves(structure):
    """The leaves in flat order."""
    kind = _kind_of(structure)
    if kind is None:
        return [structure]
    out = []
    for child in kind[1]:
        out.extend(leaves(child))
    return out


def pack_as(structure, flat):
    """The structure with its leaves replaced by those of a list in flat order."""
    rest = iter(flat)
    return _map(lambda _: next(rest), structure)


# ---- tf.nest, to which a list is a structure too ----

def _children(value):
    """(children, function that builds such a container of others) or None for a leaf."""
    if isinstance(value, list):
        return value, list
    kind = _kind_of(value)
    if kind is None:
        return None
    tag, children, keys = kind
    return children, lambda made: _build(tag, made, keys)


def is_nested(structure):
    """Is it a list, tuple, dictionary or data class (``tf.nest.is_nested``)?"""
    return _children(structure) is not None


def flatten(structure, expand_composites=False):
    """The leaves as a list; dictionaries by sorted key (``tf.nest.flatten``)."""
    found = _children(structure)
    if found is None:
        is_made = expand_composites and hasattr(structure, "_is_leaf_value")
        return spec_of_leaf(structure)._take(structure) if is_made else [structure]
    return [leaf for child in found[0] for leaf in flatten(child, expand_composites)]


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """The structure with its leaves replaced by those of a list (``tf.nest.pack_sequence_as``)."""
    flat = list(flat_sequence)
    count = len(flatten(structure, expand_composites))
    if count != len(flat):
        raise ValueError(f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(flat)} "
                         f"items.  Structure: {structure}, flat_sequence: {flat}.")
    rest = iter(flat)
    return _map_all(lambda leaf: spec_of_leaf(leaf)._put(rest) if expand_composites and hasattr(
        leaf, "_is_leaf_value") else next(rest), (structure,), True)


def _different(first, second, more):
    return (f"The two structures don't have the same nested structure.\n\nFirst structure: "
            f"type={type(first).__name__} str={first}\n\nSecond structure: type={type(second).__name__} str={second}"
            f"\n\nMore specifically: {more}")


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """ValueError or TypeError where two structures differ (``tf.nest.assert_same_structure``)."""
    a, b = _children(nest1), _children(nest2)
    if a is None and b is None:
        return
    if a is None or b is None:
        one, other = (nest1, nest2) if b is None else (nest2, nest1)
        raise ValueError(_different(
            nest1, nest2, f'Substructure "type={type(one).__name__} str={one}" is a sequence, while substructure '
                          f'"type={type(other).__name__} str={other}" is not'))
    if check_types and type(nest1) is not type(nest2) and not (
            isinstance(nest1, collections.abc.Mapping) and isinstance(nest2, collections.abc.Mapping)):
        first, second = type(nest1).__name__, type(nest2).__name__
        raise TypeError(_different(
            nest1, nest2, f"The two namedtuples don't have the same sequence type. First structure type={first} "
                          f"str={nest1} has type {first}, while second structure type={second} str={nest2} has type "
                          f"{second}"))
    if isinstance(nest1, collections.abc.Mapping) and set(nest1) != set(nest2):
        raise ValueError(_different(nest1, nest2, "The two dictionaries don't have the same set of keys. First "
                                    f"structure has keys {list(nest1)}, while second structure has keys {list(nest2)}"))
    if len(a[0]) != len(b[0]):
        raise ValueError(_different(nest1, nest2, "The two structures don't have the same number of elements. First "
                                    f"structure: type={type(nest1).__name__} str={nest1}. Second structure: "
                                    f"type={type(nest2).__name__} str={nest2}"))
    for one, other in zip(a[0], b[0]):
        assert_same_structure(one, other, check_types)


def map_structure(func, *structure, expand_composites=False, check_types=True):
    """The same structure with func(leaf, ...) for each leaf (``tf.nest.map_structure``)."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    return _map_all(func, structure, check_types)


def _map_all(func, structures, check_types):
    found = [_children(structure) for structure in structures]
    if found[0] is None:
        return func(*structures)
    return found[0][1]([_map_all(func, row, check_types) for row in zip(*(f[0] for f in found))])


# ---- specs ----

def to_json(spec):
    """A structure of TypeSpecs as JSON."""
    kind = _kind_of(spec)
    if kind is None:
        if not isinstance(spec, TypeSpec):
            raise TypeError(f"expected a tf.TypeSpec, found {spec!r}")
        return spec._json()
    tag, children, keys = kind
    inner = [to_json(child) for child in children]
    out = {"tuple": inner} if keys is None else {"dict": dict(zip(map(str, keys), inner))}
    if tag:
        out["tag"] = tag
    return out


def to_text(spec):
    """The JSON text of a structure of specs (docs/PLANS.md)."""
    return json.dumps(to_json(spec))


def from_json(found):
    """The structure of TypeSpecs of JSON."""
    if found is not None and "tuple" in found:
        return _build(found.get("tag", 0), [from_json(child) for child in found["tuple"]], None)
    if found is not None and "dict" in found:
        keys = sorted(found["dict"])
        children = [from_json(found["dict"][key]) for key in keys]
        tag = found.get("tag", 0)
        return _build(tag, children, keys)
    return specs.of_json(found)


def from_text(text):
    """The structure of specs that JSON text describes."""
    return from_json(json.loads(text))


def compatible(spec, other):
    """Could a structure of `other` be one of `spec`?"""
    a, b = _kind_of(spec), _kind_of(other)
    if a is None or b is None:
        return a is None and b is None and spec.is_compatible_with(other)
    return a[2] == b[2] and len(a[1]) == len(b[1]) and all(compatible(x, y) for x, y in zip(a[1], b[1]))


def key(spec):
    """Something hashable that is equal for equal structures of specs."""
    kind = _kind_of(spec)
    return spec if kind is None else (kind[2], tuple(key(child) for child in kind[1]))


# ---- values ----

def normalize(value):
    """A structure whose leaves are leat's own: numbers, lists and arrays become tensors."""
    return _map(_convert_leaf.value, value)


@specs.spec_of_value.provide
def spec_of_leaf(value):
    """The TypeSpec of a leaf of a normalized structure."""
    if value is None:
        return specs.NoneTensorSpec()
    if hasattr(value, "_type_spec"):
        return value._type_spec
    if hasattr(value, "__array__") or isinstance(value, (int, float, bool, str, bytes, list)):
        return spec_of_leaf(_convert_to_tensor(value))
    raise TypeError(f"Could not build a `TypeSpec` for {value!r} with type {type(value).__name__}")


def spec_of(value):
    """The structure of TypeSpecs of a normalized structure."""
    return _map(spec_of_leaf, value)


def components(value, spec):
    """The tensors of a normalized structure, in flat order."""
    out = []
    for leaf, leaf_spec in zip(leaves(value), leaves(spec)):
        out.extend(leaf_spec._take(leaf))
    return out


def assemble(spec, tensors):
    """A value of the structure over an iterator of tensors."""
    return _map(lambda leaf: leaf._put(tensors), spec)


def taker(spec):
    """A function from what a user's function returned to its tensors, quick for plain structures.

    It raises TypeError where the result is not of this spec.
    """
    if type(spec) is specs.TensorSpec and spec.dtype is not variant:
        return _leaf_taker(spec)
    if type(spec) is tuple and spec and all(type(leaf) is specs.TensorSpec and leaf.dtype is not variant
                                            for leaf in spec):
        takers = [_leaf_taker(leaf) for leaf in spec]

        def take_tuple(value):
            if type(value) is not tuple or len(value) != len(takers):
                raise TypeError(f"the function returned {value!r}; expected {spec}")
            return [take(part)[0] for take, part in zip(takers, value)]
        return take_tuple

    def take(value):
        value = normalize(value)
        found = spec_of(value)
        if not compatible(spec, found):
            raise TypeError(f"the function returned {found}; expected {spec}")
        return components(value, spec)
    return take


def _leaf_taker(spec):
    Tensor, convert_to_tensor = specs.TensorSpec.value_class.value, _convert_to_tensor.value
    number, shape = spec.dtype.number, spec.shape
    dims = None if shape.rank is None else tuple(shape)
    is_fixed = dims is not None and None not in dims
    scalar = _native.TensorBase.scalar
    quick = set()  # types of numbers that become a scalar of this dtype

    def take(value):
        if type(value) in quick:
            return (scalar(value, number),)
        tensor = value if type(value) is Tensor else convert_to_tensor(value)
        fits = tensor._shape == dims if is_fixed else shape.is_compatible_with(tensor.shape)
        if tensor._dtype != number or not fits:
            raise TypeError(f"the function returned {spec_of_leaf(tensor)}; expected {spec}")
        if dims == () and spec.dtype.name in _QUICK and isinstance(value, (bool, float, np.generic)):
            quick.add(type(value))
        return (tensor,)
    return take


_QUICK = {"bool", "int32", "int64", "float32", "float64"}


def assembler(spec):
    """A function from a list of tensors to a value, quick for plain structures."""
    if type(spec) is specs.TensorSpec:
        return lambda tensors: tensors[0]
    if type(spec) is tuple and all(type(leaf) is specs.TensorSpec for leaf in spec):
        return tuple
    put = putter(spec)
    return lambda tensors: put(iter(tensors))


def putter(spec):
    """A function from an iterator over tensors to a value of that structure of TypeSpecs, made once for many values."""
    found = _children(spec)
    if found is None:
        return spec._put
    children, build = found
    parts = [putter(child) for child in children]
    return lambda tensors: build([part(tensors) for part in parts])
