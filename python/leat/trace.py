"""Tracing: a Python function, called once with tensors that have no values yet, becomes a function of the library.

What cannot be traced (numpy on a tensor, Python code that needs a value) becomes a callback into Python, announced once
with its reason; `callbacks` counts them.
"""

import inspect
import logging
import threading

from leat import _native, nest
from leat.tensor import NotTraceable, Tensor

log = logging.getLogger("leat")


class _State(threading.local):
    def __init__(self):
        self.graphs = []  # those being traced, innermost last
        self.tapes = []  # gradient tapes that record


_state = _State()


class Bound(Exception):
    """An argument that is a tensor without a value yet; the operation is called with one more input."""

    def __init__(self, name, tensor):
        super().__init__(name)
        self.name = name
        self.tensor = tensor


def is_tracing():
    return bool(_state.graphs)


def current_graph():
    return _state.graphs[-1] if _state.graphs else None


def executing_eagerly():
    """Are operations computed at once (``tf.executing_eagerly``)?"""
    return not _state.graphs


class tracing:
    """Operations inside of the block become nodes of `graph`."""

    def __init__(self, graph):
        self._graph = graph

    def __enter__(self):
        _state.graphs.append(self._graph)

    def __exit__(self, *error):
        _state.graphs.pop()


class eagerly:
    """Operations inside of the block are computed at once, whatever is traced around it."""

    def __enter__(self):
        self._graphs, _state.graphs = _state.graphs, []

    def __exit__(self, *error):
        _state.graphs = self._graphs


def graph_for(inputs, flags):
    """The graph that an operation of these inputs becomes a node of; None: it is computed at once."""
    if _state.graphs:
        if flags & {"random", "stateful", "impure"} or any(not tensor._has_values for tensor in inputs):
            return _state.graphs[-1]
        return None
    for tensor in inputs:
        if not tensor._has_values:
            raise NotTraceable("a tensor is used outside of the function that it was traced in; return it from there")
    for tape in reversed(_state.tapes):
        graph = tape._graph_for(inputs)
        if graph is not None:
            return graph
    return None


def reach(graph, tensor):
    """The tensor as an input of a node of `graph`."""
    if tensor._graph is None or tensor._graph is graph or tensor._has_values:
        return tensor
    raise NotTraceable("the function uses a tensor of the function around it")


def bound_call(name, attributes, inputs, bound):
    """An operation some of whose arguments are tensors without values."""
    raise NotTraceable(f"{name}: argument {bound[0][0]} is a tensor whose value is not known while tracing")


# ---- from Python functions to functions of the library ----

def arguments_of(value):
    """How tf.data calls a function: a plain tuple is spread over the parameters."""
    return value if type(value) is tuple else (value,)


def _place(function):
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return (code.co_filename, code.co_firstlineno) if code else ("?", 0)


def trace(function, spec, call=None, returns=nest.normalize):
    """(library function, spec of its result) of a Python function over values of `spec`.

    `call(function, value)` calls it (default: as tf.data does); `returns` normalizes what it gives.
    """
    graph = _native.Graph(nest.to_text(spec))
    with tracing(graph):
        value = nest.assemble(spec, iter(graph.arguments()))
        result = call(function, value) if call else function(*arguments_of(value))
        result = returns(result)
        out_spec = nest.spec_of(result)
        outputs = [reach(graph, tensor) for tensor in nest.components(result, out_spec)]
    file, line = _place(function)
    return graph.finish(outputs, nest.to_text(out_spec)).at(file, line), out_spec


_announced = set()


def announce(function, what, reason):
    """Says once that a function is called in Python for each element, and why."""
    place = _place(function)
    if (place, what) not in _announced:
        _announced.add((place, what))
        log.warning("%s: the function at %s:%d is called in Python for each element: %s", what, *place, reason)


def callback(function, spec, out_spec, call=None, returns=nest.normalize, pure=False):
    """A function of the library that calls back into Python, with values of `spec`, for values of `out_spec`."""
    assemble = nest.assembler(spec)

    def run(tensors):
        with eagerly():
            value = assemble(tensors)
            result = returns(call(function, value) if call else function(*arguments_of(value)))
            found = nest.spec_of(result)
            if not nest.compatible(out_spec, found):
                raise TypeError(f"the function returned {found}; its first call returned {out_spec}")
            return nest.components(result, out_spec)
    file, line = _place(function)
    return _native.Function.python(run, nest.to_text(spec), nest.to_text(out_spec), pure).at(file, line)


def trace_or_call(function, spec, what, sample, call=None, returns=nest.normalize):
    """`trace`, or where that cannot be a callback whose result is like that for `sample()`."""
    try:
        return trace(function, spec, call, returns)
    except NotTraceable as reason:
        if is_tracing():
            raise
        announce(function, what, reason)
    with eagerly():
        value = sample()
        result = returns(call(function, value) if call else function(*arguments_of(value)))
        out_spec = nest.map_structure(_relaxed, nest.spec_of(result))
    return callback(function, spec, out_spec, call, returns), out_spec


def _relaxed(leaf):
    """The spec for other elements than the one that was tried: dimensions may differ."""
    shape = getattr(leaf, "shape", None)
    return leaf if shape is None or shape.rank in (None, 0) else leaf._with_shape([None] * shape.rank)
