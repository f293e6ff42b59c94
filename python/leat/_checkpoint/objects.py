"""Which objects are in a checkpoint, and under which names.

From an object edges lead to others, named as TensorFlow names them: attributes of modules and layers, places in lists,
keys of dictionaries. What is reached on several ways is saved once, under the shortest of them.
"""

import numpy as np

from leat import dtypes
from leat._api.modules import Module
from leat._core.tensor import constant

VALUE, STATE = "VARIABLE_VALUE", "LEAT_STATE"  # the names of attributes; the second is leat's own
_MOST_DEPTH = 50


class Counter:
    """A whole number that is saved (``tf.train.Checkpoint.save_counter``)."""

    dtype, name = dtypes.int64, "save_counter:0"

    def __init__(self, value=0):
        self._count = int(value)

    def numpy(self):
        """The number as numpy's int64."""
        return np.int64(self._count)

    def _as_tensor(self):
        return constant(self._count, dtypes.int64)

    def assign(self, value):
        """Sets the number; returns itself."""
        self._count = int(value)
        return self

    def assign_add(self, delta):
        """Adds `delta`; returns itself."""
        self._count += int(delta)
        return self

    shape = ()

    def __int__(self):
        return self._count

    __index__ = __int__

    def __eq__(self, other):
        return self._count == other

    __hash__ = None

    def __repr__(self):
        return f"<save_counter {self._count}>"


def is_variable(value):
    """Has it a value that is saved and assigned?"""
    return not isinstance(value, type) and hasattr(value, "assign") and hasattr(value, "numpy")


def is_state(value):
    """Has it a state of leat's own, as iterators have?"""
    return not isinstance(value, type) and hasattr(value, "_checkpoint_save") and hasattr(value, "_checkpoint_restore")


def is_container(value):
    """Is it a list, tuple or dictionary?"""
    return isinstance(value, (list, tuple, dict))


def _variables_of(value):
    found = getattr(value, "variables", None) if not isinstance(value, type) else None
    return list(found) if isinstance(found, (list, tuple)) and all(map(is_variable, found)) else None


def is_trackable(value):
    """Can it be given to a checkpoint?"""
    return is_container(value) or _is_tracked(value)


def _is_tracked(value):
    return (is_variable(value) or is_state(value) or isinstance(value, Module) or
            hasattr(value, "_checkpoint_children") and not isinstance(value, type) or _variables_of(value) is not None)


def _holds_any(value, depth=0):
    """Is something within a container that can be saved?"""
    if not is_container(value):
        return _is_tracked(value)
    items = value.values() if isinstance(value, dict) else value
    return depth < _MOST_DEPTH and any(_holds_any(item, depth + 1) for item in items)


def _attributes(value):
    return [(name, one) for name, one in vars(value).items() if name != "_checkpoint_waiting"]


def children(value):
    """[(name, object)] of the objects right below one."""
    if is_variable(value) or is_state(value):
        return []
    if isinstance(value, dict):
        found = [(str(key), value[key]) for key in value]
    elif isinstance(value, (list, tuple)):
        found = [(str(place), one) for place, one in enumerate(value)]
    elif hasattr(value, "_checkpoint_children"):
        found = value._checkpoint_children()
    elif isinstance(value, Module):
        found = _attributes(value)
    else:
        found = [(str(place), one) for place, one in enumerate(_variables_of(value) or [])]
    # An empty container is of interest where it can tell that it grows.
    return [(name, one) for name, one in found if _holds_any(one) or is_container(one) and hasattr(one, "__dict__")]


class Node:
    """An object, what leads to it, and the edges to others: `children` is [(name, number)]."""

    def __init__(self, value, path):
        self.value, self.path, self.children = value, path, []

    @property
    def attribute(self):
        """The name of what is saved of the object itself; None: nothing."""
        return VALUE if is_variable(self.value) else STATE if is_state(self.value) else None

    @property
    def key(self):
        """The name of the tensor that is saved."""
        return "/".join([*map(_escaped, self.path), ".ATTRIBUTES", self.attribute])

    def tensor(self):
        """What is saved."""
        if self.attribute == STATE:
            return constant(np.array(bytes(self.value._checkpoint_save()), object), dtypes.string)
        native = getattr(self.value, "_checkpoint_tensor", None)
        return native() if native is not None else constant(self.value.numpy())


def _escaped(name):
    return name.replace(".", "..").replace("/", ".S")


def nodes_of(root, below=None, made_of=None):
    """The Nodes of a root and all that is reached from it, each before those below it. `below`: a function for
    `children`; `made_of`: a class for `Node`."""
    below, made_of = below or children, made_of or Node
    nodes, numbers = [made_of(root, ())], {id(root): 0}
    for node in nodes:
        for name, value in below(node.value):
            number = numbers.get(id(value))
            if number is None:
                number = numbers[id(value)] = len(nodes)
                nodes.append(made_of(value, (*node.path, name)))
            node.children.append((name, number))
    return nodes
