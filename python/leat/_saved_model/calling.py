"""leat's operations by their names, for what TensorFlow's nodes become."""

import numpy as np

from leat._core.table import TABLE
from leat._graph.ops import dispatch
from leat._saved_model import values
from leat.errors import UnimplementedError


def op(name, *inputs, **arguments):
    """leat's operation of that name, of its inputs and its arguments by name."""
    return dispatch(name, inputs, tuple(arguments.get(one["name"]) for one in TABLE[name]["arguments"]))


def as_list(tensor):
    """The numbers of a tensor that is known, a scalar's too, as a list; otherwise the tensor."""
    return np.reshape(tensor.numpy(), [-1]).tolist() if tensor._has_values else tensor


def number(node, tensor):
    """The number that a tensor has, which has to be known."""
    if not tensor._has_values:
        raise UnimplementedError(None, None, f"node {node.name}, a {node.op} of a SavedModel, takes a number that the "
                                 "function computes; leat's takes one that is known when the function is traced")
    found = values.plain_values(tensor).reshape(-1)[0]
    return found.item() if hasattr(found, "item") else found
