"""``keras.tree``: nested structures of lists, tuples and dictionaries."""

from leat import nest


def is_nested(structure):
    """Is it a list, tuple or dictionary (``keras.tree.is_nested``)?"""
    return nest.is_nested(structure)


def flatten(structure):
    """The leaves as a list, those of dictionaries in the order of their keys (``keras.tree.flatten``)."""
    return nest.flatten(structure)


def map_structure(func, *structures, none_is_leaf=True):
    """``func`` of each leaf, or of the leaves at the same places (``keras.tree.map_structure``)."""
    if not structures:
        raise ValueError("Must provide at least one structure")
    if not none_is_leaf:
        return nest.map_structure(lambda *leaves: None if leaves[0] is None else func(*leaves), *structures)
    return nest.map_structure(func, *structures)


def pack_sequence_as(structure, flat_sequence):
    """A flat list in a structure (``keras.tree.pack_sequence_as``). ValueError on another number of leaves."""
    return nest.pack_sequence_as(structure, flat_sequence)


def assert_same_structure(a, b):
    """ValueError where two structures differ (``keras.tree.assert_same_structure``)."""
    try:
        nest.assert_same_structure(a, b)
    except TypeError as error:
        raise ValueError(str(error)) from None


def lists_to_tuples(structure):
    """Lists become tuples (``keras.tree.lists_to_tuples``)."""
    if isinstance(structure, (list, tuple)):
        made = [lists_to_tuples(item) for item in structure]
        return type(structure)(*made) if hasattr(structure, "_fields") else tuple(made)
    if isinstance(structure, dict):
        return {key: lists_to_tuples(item) for key, item in structure.items()}
    return structure
