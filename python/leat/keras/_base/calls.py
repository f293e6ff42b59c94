"""Calls of the library's parts: into the graph that is traced or recorded, or at once through a traced function."""

import threading
import weakref

from leat._graph import trace
from leat._graph.graphs import Graph
from leat._graph.traced import Function

_STANDALONE = frozenset()


def graph_for(tensors):
    """The graph that a call of these tensors becomes part of; None: it is computed at once."""
    return trace.graph_for(tensors, _STANDALONE)


def is_plain(tensors):
    """Is nothing traced or recorded that a call of these tensors could become part of?"""
    if trace._state.graphs or (trace._state.tapes and not trace._state.stopped):
        return False
    return all(tensor._graph is None or not tensor._graph.is_open for tensor in tensors)


def in_graph(tensors, use):
    """``use(graph, the tensors in it)``, a list of tensors or Nones, in the graph of the call or at once."""
    graph = graph_for(tensors)
    if graph is not None:
        outputs = graph.use(use, [trace.reach(graph, tensor) for tensor in tensors])
        if not trace._state.guards:
            return outputs
        guarded = iter(trace.guarded(graph, [output for output in outputs if output is not None]))
        return [None if output is None else next(guarded) for output in outputs]
    graph = Graph(eager=True)
    outputs = graph.use(use, tensors)
    graph.is_open = False
    made = [None if output is None else graph.eager("identity", None, [output])[0] for output in outputs]
    graph.release()
    return made


def call(part, inputs, weights, training=False):
    """A layer or loss: (output, what becomes of each weight, None where it stays)."""
    count = len(inputs)

    def use(graph, tensors):
        output, updates = graph.call_part(part, tensors[:count], tensors[count:], training)
        return [output, *updates]
    output, *updates = in_graph([*inputs, *weights], use)
    return output, updates


def update(part, values, states):
    """A metric's new states, None where one stays."""
    count = len(values)
    return in_graph([*values, *states], lambda graph, tensors: part.update(graph, tensors[:count], tensors[count:]))


def result(part, states):
    """A metric's result."""
    def use(graph, tensors):
        output = part.result(graph, tensors)
        return graph._note(tensors, [output])
    return in_graph(states, use)[0]


class Compiled:
    """A method that runs as one function of the library where nothing records it, traced once per kind of arguments."""

    def __init__(self, method):
        self._method = weakref.WeakMethod(method)
        self._function = None
        self._lock = threading.Lock()

    def __call__(self, *args):
        with self._lock:
            if self._function is None:
                reference = self._method
                self._function = Function(lambda *given: reference()(*given), autograph=False)
        return self._function(*args)


# ---- logits behind probabilities ----

_logits = {}  # id of a tensor -> (a weak reference to it, the activation that gave it, what it was given)


def remember_logits(tensor, activation, logits):
    """Notes of what a tensor with values is the softmax or sigmoid, for losses."""
    if tensor._has_values:
        number = id(tensor)
        _logits[number] = (weakref.ref(tensor, lambda _: _logits.pop(number, None)), activation, logits)


def logits_of(tensor):
    """(activation, logits) of a tensor that is the softmax or sigmoid of others; (None, None)."""
    found = _logits.get(id(tensor))
    return found[1:] if found is not None and found[0]() is tensor else (None, None)


# ---- masks ----

def mask_of(tensor):
    """The mask of a tensor (``y_pred._keras_mask``): rows or steps that count; None: all of them."""
    return getattr(tensor, "_keras_mask", None)


def refuse_complex(leaf, layer):
    """The library's layers compute in floats, but for Lambda: they refuse complex numbers by name."""
    kind = type(layer)
    if kind.__module__.startswith("leat.keras.layers") and not getattr(kind, "_takes_complex", False):
        raise TypeError(f"layer {layer.name!r} takes no complex numbers, found {leaf.dtype.name}; give it their "
                        "parts by keras.ops.view_as_real, real or abs")
