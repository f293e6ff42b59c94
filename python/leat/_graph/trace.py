"""Tracing: a Python function, called once with tensors that have no values yet, becomes a function of the library.

What cannot be traced (numpy on a tensor, Python code that needs a value) becomes a callback into Python, announced once
with its reason; `callbacks` counts them.
"""

import functools
import json

from leat import _native, nest
from leat._core.element_specs import DatasetSpec
from leat._core.later import Hook
from leat._core.tensor import NotTraceable, Tensor, constant
from leat._graph.graphs import Graph
from leat._graph.state import (Bound, NeedsPython, _state, aliased, back_in, called_in_python,  # noqa: F401
                               check_told, check_write, current_graph, cut, eagerly, executing_eagerly, graph_for,
                               in_function, init_scope, inside_function, is_called, is_captured, is_cut, is_tracing,
                               is_within, key_of, note_state, reach, recorded, replica_context, running_replica,
                               saves_gradients, saving, strategy, tracing, unrecorded, wants_nodes, with_constants)

debugging = [False]  # are the functions of operators called in Python for each element, so that a debugger sees them?
convert_control_flow = Hook()  # (function): the same with its control flow as operations; leat.autograph.convert
graph_def = Hook()  # (bytes): a GraphDef message; leat._files.protos


# ---- from Python functions to functions of the library ----

def arguments_of(value):
    """How tf.data calls a function: a plain tuple is spread over the parameters."""
    return value if type(value) is tuple else (value,)


def _place(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("?", 0)


def trace(function, spec, call=None, returns=nest.normalize):
    """(library function, spec of its result) of a Python function over values of `spec`.

    `call(function, value)` calls it (default: as tf.data does); `returns` normalizes what it gives. Control flow over
    tensors is converted: where the function itself has some, or where what it calls fails for it.
    """
    ready = converted(function, always=False)
    try:
        return _trace(ready, spec, call, returns)
    except NotTraceable:
        whole = converted(function)
        if whole is ready or ready is not function:
            raise
        return _trace(whole, spec, call, returns)


def converted(function, autograph=True, always=True):
    """The function with its `if`, `while` and `for` over tensors as operations; `always` or where its code branches."""
    if not autograph or not always and not _branches(function):
        return function
    return convert_control_flow(function)


def _branches(function):
    """Does the function's code jump, or ask what cannot be asked of tensors?"""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and not _jumps().isdisjoint(code.co_code[::2])


@functools.cache
def _jumps():
    """Numbers of the byte codes that control flow and tests are made of."""
    import opcode
    names = {"UNARY_NOT", "CONTAINS_OP"}
    return frozenset([*opcode.hasjrel, *opcode.hasjabs, *getattr(opcode, "hasjump", ()),
                      *(number for number, name in enumerate(opcode.opname) if name in names)])


def trace_inside(function, spec, captures, call=None, returns=nest.normalize):
    """The same within a function that is traced: values of that one are further arguments.

    `captures`, a list of them, grows by those that the function uses.
    """
    begun = begin_inside(function, spec, captures, call, returns)
    return begun.complete(), begun.spec


def begin_inside(function, spec, captures, call=None, returns=nest.normalize):
    """The same, whose arguments may still become more: several functions have the same, and each is called once."""
    return _Begun(converted(function, always=False), spec, call, returns, captures)


class Inner:
    """A Python function that is called once, within one that is traced, and whose operations are added to that one, or
    to functions inside of it, for each call.

    `spec`: of its result. `repeats`: may several copies stand in one function? Their random operations would draw the
    same numbers.
    """

    def __init__(self, function, spec):
        self._in_spec, self._captures = spec, []
        begun = begin_inside(function, spec, self._captures)
        self._function, self.spec = begun.complete(), begun.spec
        self.repeats = not (begun.graph.is_random or begun.graph.has_effects)

    def __call__(self, *values):
        return _inlined(self._function, [*nest.components(values, self._in_spec), *self._captures], self.spec)


def _inlined(function, inputs, spec):
    """The function's result, of `spec`: its operations are added to the graph that is traced."""
    graph = current_graph()
    return nest.assemble(spec, iter(graph.inline(function, [reach(graph, one) for one in inputs])))


def _with_captures(spec, captures):
    """The spec of the arguments: the element's, or its parts', and then what is captured."""
    inner = tuple(nest.spec_of_leaf(tensor) for tensor in captures)
    return (spec if type(spec) is tuple else (spec,)) + inner


def _trace(function, spec, call, returns):
    begun = _Begun(function, spec, call, returns, None)
    return begun.complete(), begun.spec


class _Begun:
    """The operations of a Python function: `spec` of the result, and `complete()`, which gives the library function; it
    takes what there is in `captures` by then."""

    def __init__(self, function, spec, call, returns, captures):
        self._function, self._in_spec, self._captures = function, spec, captures
        self.graph = graph = Graph(nest.to_text(spec if captures is None else _with_captures(spec, captures)))
        number = id(graph)
        arguments = graph.arguments()
        if captures is not None:
            graph.capture_into(captures, arguments[len(arguments) - len(captures):])
        _state.checks[number] = []
        guards, _state.guards = _state.guards, []
        try:
            with tracing(graph):
                value = nest.assemble(spec, iter(arguments))
                result = call(function, value) if call else function(*arguments_of(value))
                result = returns(as_result(result))
                self.spec = nest.spec_of(result)
                outputs = [reach(graph, tensor) for tensor in nest.components(result, self.spec)]
                for condition, message in _state.checks[number]:
                    outputs = [guard(graph, output, condition, message) for output in outputs]
        finally:
            _state.guards = guards
            del _state.checks[number]
            graph.captured = None
            if _state.graphs:
                _state.graphs[-1].include(graph)
            graph.release()
        self._outputs = outputs

    def over(self, spec):
        """The same operations, once more, of arguments of a spec that says more of their shapes."""
        made, captures = self.complete(), list(self._captures)

        def again(*values):
            return _inlined(made, [*nest.components(values, self._in_spec), *captures], self.spec)
        return _Begun(again, spec, None, nest.normalize, self._captures)

    def complete(self):
        self.graph.take_captures()
        return self.graph.finish(self._outputs, nest.to_text(self.spec)).at(*_place(self._function))


def guard(graph, tensor, condition, message):
    """The tensor, which fails where `condition` does not hold."""
    return graph.call("assert", json.dumps({"message": message}), [reach(graph, condition), tensor])[0]


def guarded(graph, outputs):
    """The outputs of an operation in a block of control_dependencies: they wait for what the block names."""
    for check in _state.guards:
        condition, message = check
        outputs = [guard(graph, output, condition, message) for output in outputs]
        checks = _state.checks.get(id(graph), [])
        checks[:] = [other for other in checks if other is not check]
    return outputs


def add_check(condition, message):
    """Notes that the function being traced fails unless `condition` holds; returns what stands for that."""
    graph = _state.graphs[-1]
    check = (condition, message)
    if graph.is_called:  # effects that follow wait for it
        graph.call("assert", json.dumps({"message": message, "ordered": True}),
                   [reach(graph, condition), reach(graph, constant(True))])
        return check
    _state.checks.setdefault(id(graph), []).append(check)
    return check


def values_around(function):
    """The values of traced functions that a Python function mentions: what it will probably capture."""
    found, seen = [], set()
    while hasattr(function, "func") and hasattr(function, "args"):  # functools.partial
        _collect(list(function.args) + list((function.keywords or {}).values()), found, seen)
        function = function.func
    function = getattr(function, "__func__", function)
    cells = getattr(function, "__closure__", None) or ()
    for cell in cells:
        try:
            _collect([cell.cell_contents], found, seen)
        except ValueError:  # still empty
            pass
    _collect(list(getattr(function, "__defaults__", None) or ()), found, seen)
    return found


def _collect(values, found, seen):
    for value in values:
        for leaf in nest.leaves(value) if not isinstance(value, list) else value:
            tensor = getattr(leaf, "_value", None) if hasattr(leaf, "_is_leaf_value") else leaf
            if isinstance(tensor, Tensor) and not tensor._has_values and any(
                    tensor._graph is around for around in _state.graphs):
                if key_of(tensor) not in seen:
                    seen.add(key_of(tensor))
                    found.append(tensor)


_announced = set()


def as_result(result):
    """A list that a function returns is a tuple: it rather comes from an operation than from a wish to stack."""
    return tuple(result) if type(result) is list else result


def announce(function, what, reason):
    """Says once that a function is called in Python for each element, and why."""
    place = _place(function)
    if (place, what) not in _announced:
        import logging
        _announced.add((place, what))
        text = "%s: the function at %s:%d is called in Python for each element: %s"
        logging.getLogger("leat").warning(text, what, *place, reason)


def callback(function, spec, out_spec, call=None, returns=nest.normalize, pure=False):
    """A function of the library that calls back into Python, with values of `spec`, for values of `out_spec`."""
    assemble, take = nest.assembler(spec), nest.taker(out_spec)
    is_plain = returns is nest.normalize or getattr(returns, "is_plain", False)  # `take` does what `returns` does

    def run(tensors):
        if _state.graphs:
            with eagerly():
                return run(tensors)
        value = assemble(tensors)
        result = as_result(call(function, value) if call else function(*arguments_of(value)))
        return take(result if is_plain else returns(result))
    file, line = _place(function)
    return _native.Function.python(run, nest.to_text(spec), nest.to_text(out_spec), pure).at(file, line)


def tensor_callback(function, spec, out_spec):
    """A pure function of the library: ``function(tensors)`` gives the tensors of a value of `out_spec`."""
    def run(tensors):
        if _state.graphs:
            with eagerly():
                return function(tensors)
        return function(tensors)
    file, line = _place(function)
    return _native.Function.python(run, nest.to_text(spec), nest.to_text(out_spec), True).at(file, line)


def called(run, inputs, in_spec, out_spec):
    """The tensors that ``run(tensors)`` gives when the function being traced runs: in its order, with its effects."""
    graph = _state.graphs[-1]
    graph.has_effects = True

    def call(tensors):
        with eagerly():
            return run(tensors)
    function = _native.Function.python(call, nest.to_text(in_spec), nest.to_text(out_spec), False)
    return graph.cond(constant(True), function, function, [reach(graph, tensor) for tensor in inputs])


def trace_or_call(function, spec, what, sample, call=None, returns=nest.normalize):
    """`trace`, or where that cannot be a callback whose result is like that for `sample()`."""
    try:
        if not debugging[0] or is_tracing():
            return trace(function, spec, call, returns)
    except NotTraceable as reason:
        if is_tracing():
            raise
        announce(function, what, reason)
    with eagerly():
        value = sample()
        result = returns(as_result(call(function, value) if call else function(*arguments_of(value))))
        out_spec = nest.map_structure(_relaxed, nest.spec_of(result))
    return callback(function, spec, out_spec, call, returns), out_spec


def _relaxed(leaf):
    """The spec for other elements than the one that was tried: dimensions may differ."""
    if isinstance(leaf, DatasetSpec):
        return leaf._with_elements(nest.map_structure(_relaxed, leaf.element_spec))
    shape = getattr(leaf, "shape", None)
    return leaf if shape is None or shape.rank in (None, 0) else leaf._with_shape([None] * shape.rank)
