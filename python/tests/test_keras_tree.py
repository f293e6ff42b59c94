"""``keras.tree``: structures read and rebuilt as Keras does."""

import collections

import numpy as np
import pytest

from leat.keras import tree

Pair = collections.namedtuple("Pair", ["left", "right"])
Other = collections.namedtuple("Other", ["left", "right"])
MIXED = ({"k": [6, 7], "c": 5}, collections.OrderedDict([("z", 8), ("y", (9,))]), collections.deque([10, 11]),
         Pair(12, 13))


def test_what_is_nested():
    for nested in ([], (), {}, collections.deque(), Pair(1, 2), collections.defaultdict(list)):
        assert tree.is_nested(nested)
    for leaf in (None, 3, "text", b"bytes", {4, 5}, np.zeros(3)):
        assert not tree.is_nested(leaf)


def test_leaves_in_the_order_of_keys_but_those_of_an_ordered_dictionary_in_its_own():
    assert tree.flatten(MIXED) == [5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert tree.flatten(None) == [None]


def test_paths():
    assert tree.flatten_with_path(MIXED) == [
        ((0, "c"), 5), ((0, "k", 0), 6), ((0, "k", 1), 7), ((1, "z"), 8), ((1, "y", 0), 9), ((2, 0), 10), ((2, 1), 11),
        ((3, 0), 12), ((3, 1), 13)]
    assert tree.flatten_with_path(4) == [((), 4)]


def test_packing_keeps_kinds_and_the_order_of_keys():
    made = tree.pack_sequence_as(MIXED, range(50, 59))
    assert made == ({"k": [51, 52], "c": 50}, {"z": 53, "y": (54,)}, collections.deque([55, 56]), Pair(57, 58))
    assert list(made[0]) == ["k", "c"] and type(made[1]) is collections.OrderedDict and type(made[3]) is Pair
    lists = tree.pack_sequence_as(collections.defaultdict(list, {"b": 0, "a": 0}), [1, 2])
    assert lists == {"a": 1, "b": 2} and lists.default_factory is list


def test_packing_wants_as_many_leaves():
    with pytest.raises(ValueError, match="few"):
        tree.pack_sequence_as([1, [2, 3]], [4, 5])
    with pytest.raises(ValueError, match="many"):
        tree.pack_sequence_as(1, [4, 5])
    with pytest.raises(TypeError, match="iterable"):
        tree.pack_sequence_as([1], 4)


def test_mapping():
    assert tree.map_structure(lambda a, b: a - b, {"x": [9, 8]}, collections.OrderedDict(x=[1, 2])) == {"x": [8, 6]}
    assert tree.map_structure(lambda x: x is None, [None, 3]) == [True, False]
    assert tree.map_structure(lambda x: x + 1, [None, 3], none_is_leaf=False) == [None, 4]
    assert tree.map_structure_up_to([0, (0,)], len, [[1, 2, 3], ([4, 5],)]) == [3, (2,)]
    with pytest.raises(TypeError, match="callable"):
        tree.map_structure(3, [1])
    with pytest.raises(ValueError, match="one"):
        tree.map_structure(len)


@pytest.mark.parametrize("one, other, text", [
    ([1], 1, "list"), (1, [1], "nested"), ([1], (1,), "tuple"),
    ([1], collections.deque([1]), "list"), (Pair(1, 2), Other(1, 2), "Pair"),
    ([1, 2], [1], "arity"), ({"a": 1}, {"b": 1}, "key"), ([[1]], [2], "list")])
def test_structures_that_differ(one, other, text):
    with pytest.raises(ValueError, match=text):
        tree.assert_same_structure(one, other)
    with pytest.raises(ValueError, match=text):
        tree.map_structure(lambda a, b: a, one, other)


def test_structures_that_are_the_same():
    tree.assert_same_structure({"b": 1, "a": [2]}, collections.OrderedDict([("a", [5]), ("b", None)]))
    tree.assert_same_paths([1, Pair(2, 3)], (4, [5, 6]))
    with pytest.raises(ValueError, match="paths"):
        tree.assert_same_paths([1], [1, 2])
    with pytest.warns(DeprecationWarning, match="check_types"):
        tree.assert_same_structure([1], [2], check_types=False)


def test_traversing():
    seen = []

    def visit(part):
        seen.append(part)
        return tree.MAP_TO_NONE if part == 2 else "tuple" if isinstance(part, tuple) else None
    assert tree.traverse(visit, [1, (3, 4), {"a": 2}]) == [1, "tuple", {"a": None}]
    assert seen == [[1, (3, 4), {"a": 2}], 1, (3, 4), {"a": 2}, 2]
    seen.clear()
    assert tree.traverse(visit, [1, (3, 2)], top_down=False) == [1, "tuple"]
    assert seen == [1, 3, 2, (3, None), [1, "tuple"]]
    with pytest.raises(TypeError, match="callable"):
        tree.traverse("visit", [1])


def test_lists_and_shapes():
    assert tree.lists_to_tuples([[1], {"a": [2, (3, [4])]}]) == ((1,), {"a": (2, (3, (4,)))})
    assert tree.map_shape_structure(len, {"a": [None, 3], "b": [(1,), ()]}) == {"a": 2, "b": [1, 0]}
