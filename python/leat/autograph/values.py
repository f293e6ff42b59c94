"""Values of variables that converted functions assign: unbound ones, and structures taken apart."""

from leat import nest
from leat._core.tensor import Tensor, convert_to_tensor


class _Unbound(UnboundLocalError):
    """Of a variable that converted code reads."""

    variable = None


class Undefined:
    """Stands for a variable that was not assigned; reading it fails as in Python."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def fail(self):
        """Raises what reading an unbound variable raises."""
        error = _Unbound(f"cannot access local variable '{self.name}' where it is not associated with a value")
        error.variable = self.name
        raise error


class _Kept:
    """A value that is no tensor: both branches, or all iterations, must leave it as it is."""

    def __init__(self, value):
        self.value = value


def _take_apart(value, leaves):
    """The shape of a structure; its leaves, as tensors or _Kept, go to a list."""
    if isinstance(value, list):
        return "list", None, [_take_apart(item, leaves) for item in value]
    kind = nest._kind_of(value)
    if kind is not None:
        return kind[0], kind[2], [_take_apart(child, leaves) for child in kind[1]]
    if value is None or type(value) is Undefined:
        leaves.append(_Kept(value))
        return None
    if not isinstance(value, Tensor) and not hasattr(value, "_is_leaf_value"):
        try:
            value = convert_to_tensor(value)
        except (TypeError, ValueError):
            value = _Kept(value)
    leaves.append(value)
    return None


def _put_together(shape, leaves):
    if shape is None:
        leaf = next(leaves)
        return leaf.value if isinstance(leaf, _Kept) else leaf
    tag, keys, children = shape
    parts = [_put_together(child, leaves) for child in children]
    return parts if tag == "list" else nest._build(tag, parts, keys)


class _Values:
    """Values of variables: their shapes, and the leaves of each."""

    def __init__(self, values):
        self.shapes, self.leaves = [], []
        for value in values:
            leaves = []
            self.shapes.append(_take_apart(value, leaves))
            self.leaves.append(leaves)

    def tensors(self):
        return tuple(leaf for leaves in self.leaves for leaf in leaves if not isinstance(leaf, _Kept))

    def with_tensors(self, tensors):
        """The variables' values with other tensors."""
        rest = iter(tensors)
        return tuple(_put_together(shape, iter([leaf if isinstance(leaf, _Kept) else next(rest) for leaf in leaves]))
                     for shape, leaves in zip(self.shapes, self.leaves))

    def names(self, names):
        return [name for name, leaves in zip(names, self.leaves) for leaf in leaves if not isinstance(leaf, _Kept)]


def _is_undefined(value):
    return type(value) is Undefined


def _same_kept(a, b):
    return a is b or (type(a) is type(b) and not _is_undefined(a) and bool(a == b)) or (
        _is_undefined(a) and _is_undefined(b))
