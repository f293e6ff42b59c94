"""``keras.tree``: nested structures of lists, tuples, deques and dictionaries.

Dictionaries are read in the order of their keys, an OrderedDict in its own; everything else is a leaf.
"""

import collections
import warnings

_SEQUENCES = (list, tuple, collections.deque)
_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict)  # they count as one kind


class MAP_TO_NONE:
    """What a function gives ``traverse`` to put None in the place of a part (``keras.tree.MAP_TO_NONE``)."""


def is_nested(structure):
    """Is it a list, tuple, deque or dictionary (``keras.tree.is_nested``)?"""
    return isinstance(structure, (*_SEQUENCES, dict))


def _keys(structure):
    if isinstance(structure, dict):
        return list(structure) if isinstance(structure, collections.OrderedDict) else sorted(structure)
    return range(len(structure))


def _items(structure):
    """[(key, part)] in the order of the leaves."""
    if isinstance(structure, dict):
        return [(key, structure[key]) for key in _keys(structure)]
    return list(enumerate(structure))


def _rebuilt(structure, parts):
    """A structure of the same kind with other parts, in the order of ``_items``."""
    kind = type(structure)
    if isinstance(structure, dict):
        made = dict(zip(_keys(structure), parts))
        made = {key: made[key] for key in structure}
        if isinstance(structure, collections.defaultdict):
            return kind(structure.default_factory, made)
        return kind(made)
    if hasattr(structure, "_fields"):
        return kind(*parts)
    return kind(parts, structure.maxlen) if isinstance(structure, collections.deque) else kind(parts)


def _check_callable(func):
    if not callable(func):
        raise TypeError(f"`func` must be callable. Received: func={func!r} (of type {type(func)})")


def flatten(structure):
    """The leaves as a list (``keras.tree.flatten``)."""
    if not is_nested(structure):
        return [structure]
    return [leaf for _, part in _items(structure) for leaf in flatten(part)]


def flatten_with_path(structure):
    """[(path, leaf)]; a path is a tuple of places and keys (``keras.tree.flatten_with_path``)."""
    if not is_nested(structure):
        return [((), structure)]
    return [((key, *path), leaf) for key, part in _items(structure) for path, leaf in flatten_with_path(part)]


def traverse(func, structure, top_down=True):
    """Each part replaced by what ``func`` gives for it, None: it stays (``keras.tree.traverse``).

    `top_down`: a structure is asked for before its parts, which are not asked for if it is replaced; else after them.
    """
    _check_callable(func)

    def replaced(part, otherwise):
        found = func(part)
        return otherwise() if found is None else None if found is MAP_TO_NONE else found

    def walk(part):
        def inside():
            return _rebuilt(part, [walk(child) for _, child in _items(part)]) if is_nested(part) else part
        if top_down:
            return replaced(part, inside)
        made = inside()
        return replaced(made, lambda: made)
    return walk(structure)


def _name(structure):
    return f"namedtuple {type(structure).__name__}" if hasattr(structure, "_fields") else type(structure).__name__


def _check_alike(first, other):
    """ValueError unless two parts are of one kind and have the same keys."""
    text = f"The two structures don't have the same nested structure. Expected {_name(first)}, found "
    if not is_nested(other):
        raise ValueError(f"{text}the leaf {other!r}")
    kinds = [dict if type(one) in _MAPPINGS else type(one) for one in (first, other)]
    if kinds[0] is not kinds[1]:
        raise ValueError(f"{text}{_name(other)}: {other!r}")
    if len(first) != len(other):
        raise ValueError(f"Node arity mismatch: expected the same number of parts in both structures, found "
                         f"{len(first)} in {first!r} and {len(other)} in {other!r}")
    if isinstance(first, dict) and set(first) != set(other):
        raise ValueError(f"Dictionary key mismatch: expected keys {list(first)}, found {list(other)}")


def _map(func, structures, none_is_leaf=True):
    """``func`` of the leaves at the same places; the first structure says where leaves are."""
    first = structures[0]
    if not is_nested(first):
        return None if first is None and not none_is_leaf else func(*structures)
    for other in structures[1:]:
        _check_alike(first, other)
    return _rebuilt(first, [_map(func, [part, *(other[key] for other in structures[1:])], none_is_leaf)
                            for key, part in _items(first)])


def map_structure(func, *structures, none_is_leaf=True):
    """``func`` of each leaf, or of the leaves at the same places (``keras.tree.map_structure``).

    `none_is_leaf=False`: None stays None. TypeError for what cannot be called, ValueError where structures differ.
    """
    _check_callable(func)
    if not structures:
        raise ValueError("Must provide at least one structure")
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    return _map(func, structures, none_is_leaf)


def map_structure_up_to(shallow_structure, func, *structures):
    """``func`` of what stands where a shallow structure has its leaves (``keras.tree.map_structure_up_to``)."""
    _check_callable(func)
    if not structures:
        raise ValueError("Must provide at least one structure")

    def walk(shallow, parts):
        if not is_nested(shallow):
            return func(*parts)
        for part in parts:
            _check_alike(shallow, part)
        return _rebuilt(shallow, [walk(inner, [part[key] for part in parts]) for key, inner in _items(shallow)])
    return walk(shallow_structure, structures)


def assert_same_structure(a, b, check_types=None):
    """ValueError where two structures differ (``keras.tree.assert_same_structure``); `check_types` changes nothing."""
    if check_types is not None:
        warnings.warn("The `check_types` argument is deprecated and no longer has any effect; `assert_same_paths` "
                      "compares structures without their kinds.", DeprecationWarning, stacklevel=2)
    if is_nested(a):
        _check_alike(a, b)
        for key, part in _items(a):
            assert_same_structure(part, b[key])
    elif is_nested(b):
        raise ValueError(f"The two structures don't have the same nested structure. Expected a leaf, found {_name(b)}: "
                         f"{b!r}")


def assert_same_paths(a, b):
    """ValueError where the paths of two structures differ (``keras.tree.assert_same_paths``)."""
    paths, others = ({path for path, _ in flatten_with_path(one)} for one in (a, b))
    if paths != others:
        raise ValueError("The two structures don't have the same paths. Only in the first: "
                         f"{sorted(paths - others, key=str)}, only in the second: {sorted(others - paths, key=str)}")


def pack_sequence_as(structure, flat_sequence):
    """A flat list in a structure (``keras.tree.pack_sequence_as``). ValueError on another number of leaves."""
    try:
        given = list(flat_sequence)
    except TypeError:
        raise TypeError(f"`flat_sequence` must be iterable. Received: {flat_sequence!r}") from None
    count = len(flatten(structure))
    if count != len(given):
        raise ValueError(f"Too {'few' if len(given) < count else 'many'} leaves: the structure holds {count}, "
                         f"expected: {count}, found {len(given)}")
    leaves = iter(given)
    return _map(lambda _: next(leaves), [structure])


def lists_to_tuples(structure):
    """Lists become tuples (``keras.tree.lists_to_tuples``)."""
    return traverse(lambda part: tuple(part) if isinstance(part, list) else None, structure, top_down=False)


def map_shape_structure(func, structure):
    """``func`` of each shape, a list or tuple of numbers and None (``keras.tree.map_shape_structure``)."""
    _check_callable(func)

    def walk(part):
        is_shape = isinstance(part, (list, tuple)) and all(size is None or isinstance(size, int) for size in part)
        if is_shape or not is_nested(part):
            return func(part)
        return _rebuilt(part, [walk(child) for _, child in _items(part)])
    return walk(structure)
