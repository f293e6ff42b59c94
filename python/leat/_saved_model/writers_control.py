"""The same as ``writers`` of variables, conditions and loops: lines of WRITERS there."""

from leat import dtypes
from leat._saved_model.messages import Message
from leat._saved_model.translate import Gradient, Value, output_of as _of, write_function
from leat._saved_model.values import RESOURCE, Shape, Type, shape_message
from leat.errors import UnimplementedError

I32 = dtypes.int32


# ---- variables, conditions, loops ----

def _read_variable(b, node, x, kinds):
    return b.op("ReadVariableOp", [b.variables[node.variables[0]]], effect=True, dtype_=kinds[0][0], **_of(kinds))


def _assign(name):
    def write(b, node, x, kinds):
        b.op(name, [b.variables[node.variables[0]], x[0]], effect=True)
        return list(x[:1])[:len(kinds)]
    return write


def _assert(b, node, x, kinds):
    message = b.constant(node["message"], dtypes.string)
    check = b.op("Assert", [x[0], message], effect=True, T=[dtypes.string])
    return [b.op("Identity", [one], one.dtype, one.dims, after=[check]) for one in x[1:]]


def _cond(b, node, x, kinds):
    predicate, given = x[0], x[1:]
    branches = [node.attrs[name] for name in ("then_branch", "else_branch")]
    held = sorted(b.resources_in(branches[0]) | b.resources_in(branches[1]))
    names = [b.function(f"cond_{side}", branch, given, held) for side, branch in zip(("true", "false"), branches)]
    effect = any(_has_effect(b, name) for name in names)
    made = b.op("If" if effect else "StatelessIf", [predicate, *given, *(b.variables[place] for place in held)],
                outputs=kinds, effect=effect, Tcond=predicate.dtype, then_branch=names[0], else_branch=names[1],
                Tin=_kinds_of(given, held), Tout=[dtype for dtype, _ in kinds], output_shapes=_shapes(kinds))
    return made


def _kinds_of(given, held):
    return [one.dtype for one in given] + [Type(RESOURCE)] * len(held)


def _shapes(kinds):
    return [shape_message(dims) for _, dims in kinds]


def _has_effect(b, name):
    return b.library.functions[name].signature.is_stateful


def _while(b, node, x, kinds):
    """TensorFlow's loop: before the variables a counter and the largest number of rounds, -1 for any, by which its
    gradient keeps what it needs; behind them what stays."""
    cond, body, count = node.attrs["cond"], node.attrs["body"], len(kinds)
    most = node["maximum_iterations"]
    held = sorted(b.resources_in(cond) | b.resources_in(body))
    # The variables have the types that they may have in any round.
    given = [Value(one.ref, *kind) for one, kind in zip(x, kinds)] + list(x[count:])
    arguments = [(name, Value("", I32, [])) for name in ("counter", "most")]
    arguments += [(f"arg_{i}", one) for i, one in enumerate(given)]

    def go_on(inner, values):
        result = inner.write(cond, values[2:])[0]
        if most < 0:
            return [result]
        below = inner.op("Less", values[:2], dtypes.bool, [])
        return [inner.op("LogicalAnd", [below, result], dtypes.bool, [])]

    def step(inner, values):
        found = inner.write(body, values[2:])
        counter = inner.op("AddV2", [values[0], inner.constant(1, I32)], I32, [])
        return [counter, values[1], *found, *values[2 + count:]]
    names = [_with_resources(b, f"while_{what}", arguments, held, fill, returns)
             for what, fill, returns in (("cond", go_on, False), ("body", step, True))]
    effect = any(_has_effect(b, name) for name in names)
    types = [(I32, [])] * 2 + [(one.dtype, one.dims) for one in given]
    made = b.op("While" if effect else "StatelessWhile", [
        b.constant(0, I32), b.constant(max(most, -1), I32), *x, *(b.variables[place] for place in held)],
                outputs=types, effect=effect, T=_kinds_of([Value("", *kind) for kind in types], held),
                cond=names[0], body=names[1],
                output_shapes=_shapes(types) + [Shape()] * len(held))
    return made[2:2 + count]


def _with_resources(b, stem, arguments, held, fill, returns):
    """A function of a loop: the body hands on the variables that it uses."""
    name = write_function(b.library, stem, arguments, held, b.variables, fill)
    if returns and held:
        _return_resources(b.library.functions[name], len(held))
    return name


def _return_resources(function, count):
    for argument in function.signature.input_arg[-count:]:
        out = f"out_{argument.name}"
        function.signature["output_arg"].append(Message("ArgDef", name=out, type=RESOURCE))
        function["ret"][out] = argument.name


def _custom_gradient(b, node, x, kinds):
    """TensorFlow's: results and sources handed on by a node of a type whose gradient is a function."""
    results, ends = node["num_results"], node["num_results"] + node["num_sources"]
    kind = b.library.name_for("CustomGradient")
    if b.library.with_gradients:
        kept = [b.op("Identity", [one], one.dtype, one.dims) for one in x[ends:]]
        reverse = node.attrs["reverse"]
        held = sorted(b.resources_in(reverse))
        arguments = [(f"arg_{i}", one) for i, one in enumerate([*x[:ends], *kept])]
        name = write_function(b.library, "gradient", arguments, held, b.variables, lambda inner, given: inner.write(
            reverse, [*given[:results], *given[ends:]]))
        b.library.gradients.append(Gradient(kind, name, x[:ends], [None] * results + x[results:ends], b.name,
                                            [one.ref.split(":")[0] for one in kept], held))
    types = [(one.dtype, one.dims) for one in x[:ends]]
    return b.op("IdentityN", x[:ends], outputs=types, T=[one.dtype for one in x[:ends]],
                _gradient_op_type=kind)[:results]


def _call(b, node, x, kinds):
    raise UnimplementedError(None, None, "a function that is called in Python (numpy_function, py_function) cannot be "
                             "written into a SavedModel, as in TensorFlow; export a function without it")


LINES = {
    "assert": _assert, "assign_add_variable": _assign("AssignAddVariableOp"),
    "assign_variable": _assign("AssignVariableOp"), "call": _call, "cond": _cond, "custom_gradient": _custom_gradient,
    "read_variable": _read_variable, "while": _while,
}
