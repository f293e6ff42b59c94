"""The table of tensor operations, as the library describes it: what the package knows of an operation stands there."""

import collections
import json

from leat import _native
from leat._core.later import Lazy

NAMES = dict(line.partition(" ")[::2] for line in _native.operation_names().split("\n"))  # name -> its paths


def _entry(name):
    entry = json.loads(_native.operation(name))
    rows = [argument["name"] for argument in entry["arguments"]]
    kinds = [declared.get("type") for declared in entry["inputs"]]
    entry["flags"] = frozenset(entry["flags"])
    entry["dtype_row"] = next((rows.index(kind) for kind in kinds if kind in rows), None)  # which says what inputs are
    entry["adapts"] = entry["dtype_row"] is not None or "counts from zero" in entry["flags"] or any(
        declared.get("rows") for declared in entry["inputs"])
    return entry


TABLE = Lazy(NAMES, _entry)


def _tuple(name):
    entry = TABLE[name]
    return collections.namedtuple(entry["result"], entry["outputs"])


_TUPLES = Lazy(NAMES, _tuple)  # of operations whose outputs TensorFlow names


def named(operation, *outputs):
    """The outputs of an operation of the table under TensorFlow's names."""
    return _TUPLES[operation](*outputs)


def result_of(entry, outputs):
    """What an operation's function returns: a tensor, or what TensorFlow makes of several."""
    result = entry["result"]
    if result == "tensor" or result != "list" and len(outputs) == 1:
        return outputs[0]
    if result == "list":
        return outputs
    return tuple(outputs) if result == "tuple" else _TUPLES[entry["name"]](*outputs)
