"""The same as ``writers`` of variables, conditions and loops: lines of WRITERS there."""

from leat._onnx.graph import BOOL, I64
from leat.errors import UnimplementedError


def _read_variable(b, node, x, kinds):
    return b.model.variable(node.variables[0])


def _assign(b, node, x, kinds):
    raise UnimplementedError(None, None, "a variable that is assigned cannot be written into an ONNX model, which has "
                             "none: export a function that computes alone (call the model with training=False)")


def _call(b, node, x, kinds):
    raise UnimplementedError(None, None, "a function that is called in Python (numpy_function, py_function) cannot be "
                             "written into an ONNX model; export a function without it")


def _cond(b, node, x, kinds):
    branches = [b.subgraph(side, [], lambda inner, _, branch=node.attrs[side]: inner.write(branch, x[1:]))
                for side in ("then_branch", "else_branch")]
    predicate = b.cast(x[0], BOOL)
    return b.op("If", [predicate], outputs=kinds, then_branch=branches[0], else_branch=branches[1])


def _while(b, node, x, kinds):
    """A Loop: its body gets the round's number and whether it goes on; what does not change it reads from outside."""
    cond, body, count = node.attrs["cond"], node.attrs["body"], len(kinds)
    most = node["maximum_iterations"]
    stays = x[count:]

    def step(inner, given):
        found = inner.write(body, [*given[2:], *stays])
        return [inner.write(cond, [*found, *stays])[0], *found]
    made = b.subgraph("loop", [(I64, []), (BOOL, []), *kinds], step)
    limit = None if most is None or most < 0 else b.constant(most, I64)
    return b.op("Loop", [limit, b.write(cond, x)[0], *x[:count]], outputs=kinds, body=made)


LINES = {
    # What a program checks on its way is left out.
    "assert": lambda b, node, x, kinds: [b.like("Identity", one) for one in x[1:]],
    "assign_add_variable": _assign, "assign_variable": _assign, "call": _call, "cond": _cond,
    "read_variable": _read_variable, "while": _while,
}
