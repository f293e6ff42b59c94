"""What each thread knows of tracing: the graphs that are traced, the tapes that record, the strategy around it."""

import contextlib
import threading
import weakref

from leat._core import tensor
from leat._core.tensor import NotTraceable


class NeedsPython(NotTraceable):
    """Raised where a function drives the replicas of a strategy: it runs in Python, and what the replicas run is traced
    on its own."""


class _State(threading.local):
    def __init__(self):
        self.graphs = []  # those being traced, innermost last
        self.checks = {}  # id of a graph -> what was asserted in it, for its results
        self.guards = []  # what the operations of blocks of control_dependencies wait for
        self.tapes = []  # gradient tapes that record
        self.stopped = 0  # blocks in which tapes do not record
        self.cuts = 0  # those of them that are stop_recording's
        self.keeps = False  # are constants values of the graphs that are traced, too?
        self.saves = None  # is what is traced to be saved with its custom gradients, or without? None: neither
        self.default_runs = 0  # calls of the default strategy's `run`
        self.functions = 0  # tf.functions that drive replicas and therefore run in Python
        self.devices = []  # blocks of tf.device: (the name, how many contexts, how many graphs)
        self.contexts = []  # (strategy, replica context or None): scopes and runs of strategies, innermost last


_state = _State()


class Bound(Exception):
    """An argument that is a tensor without a value yet; the operation is called with one more input."""

    def __init__(self, name, tensor):
        super().__init__(name)
        self.name = name
        self.tensor = tensor


@tensor.is_aliased.provide
def aliased(tensor):
    """Is it a tensor with values that something records operations of?"""
    if _state.graphs:
        _note_outer([tensor])
        return id(tensor) in _state.graphs[-1].aliases
    return any(id(tensor) in tape._recording.aliases for tape in _state.tapes)


def strategy():
    """The strategy in whose scope or run this thread is; None outside of all."""
    return _state.contexts[-1][0] if _state.contexts else None


def replica_context():
    """What the replica that `run` of a strategy runs, or traces its function for, knows; None outside."""
    return _state.contexts[-1][1] if _state.contexts else None


def running_replica():
    """The same of a replica that Python runs for; None also in a function that is traced."""
    found = replica_context()
    return found if found is not None and found.is_running and not _state.graphs else None


_FIRST = "/job:localhost/replica:0/task:0/device:CPU:0"


@tensor.device_now.provide
def device_now():
    """The device of what is computed here."""
    if _state.devices:
        name, contexts, graphs = _state.devices[-1]
        if contexts >= len(_state.contexts) and graphs >= len(_state.graphs):
            return name
    replica = replica_context()
    if replica is not None:
        return replica.device
    return "" if _state.graphs else _FIRST


class device_block:
    """A block of tf.device; `name`: a logical CPU's, or None."""

    def __init__(self, name):
        self._name = name or _FIRST

    def __enter__(self):
        _state.devices.append((self._name, len(_state.contexts), len(_state.graphs)))

    def __exit__(self, *error):
        _state.devices.pop()


class called_in_python:
    """A block that is a tf.function's, whose Python runs since it drives replicas."""

    def __enter__(self):
        _state.functions += 1

    def __exit__(self, *error):
        _state.functions -= 1


def in_function():
    """Is this thread in such a block?"""
    return _state.functions > 0


def check_write(variable):
    """ValueError where replicas assign a variable that they have no copies of."""
    context = replica_context()
    if context is not None and variable._native.num_copies() != context.strategy._local:
        raise ValueError(f"Variable '{variable.name}' was not created in the scope of the distribution strategy, so "
                         f"its {context.num_replicas_in_sync} replicas have no copies to assign; create it under "
                         "strategy.scope()")


@tensor.tracing_now.provide
def is_tracing():
    """Whether this thread is tracing a function."""
    return bool(_state.graphs)


def note_state(is_made):
    """The functions that are traced know whether an object made variables of its own, outside of them."""
    for graph in _state.graphs:
        graph.makes_state = graph.makes_state or is_made


def current_graph():
    """The innermost graph that this thread is tracing; None outside of functions."""
    return _state.graphs[-1] if _state.graphs else None


def inside_function():
    """Is a function being traced (``tf.inside_function``)?"""
    return bool(_state.graphs)


def is_called():
    """Is what is traced, or the function around it, a tf.function, and not a pipeline's?"""
    return bool(_state.graphs) and _state.graphs[0].is_called


def executing_eagerly():
    """Are operations computed at once (``tf.executing_eagerly``)?"""
    return not _state.graphs


def is_cut():
    """Is this thread in a block of `stop_recording`? No gradient goes through what is traced there."""
    return _state.cuts > 0


class unrecorded:
    """Gradient tapes do not see the operations inside of the block."""

    def __enter__(self):
        _state.stopped += 1

    def __exit__(self, *error):
        _state.stopped -= 1


def wants_nodes(graph):
    """Are custom gradients of that graph parts of it: is it a branch's or a loop's, or to be saved?"""
    return not graph.is_eager and (_state.saves is not None or graph.captured is not None)


def saves_gradients():
    """Is what is traced to be saved with its custom gradients, or without? None: it is not to be saved."""
    return _state.saves


@contextlib.contextmanager
def saving(with_gradients):
    """A block in which functions are traced to be saved, with what their custom gradients compute or without."""
    before, _state.saves = _state.saves, bool(with_gradients)
    try:
        yield
    finally:
        _state.saves = before


class cut(unrecorded):
    """The same on a user's wish, so that it holds in functions that are traced, too."""

    def __enter__(self):
        super().__enter__()
        _state.cuts += 1

    def __exit__(self, *error):
        _state.cuts -= 1
        super().__exit__(*error)


class recorded:
    """They do again, inside of such a block."""

    def __enter__(self):
        self._stopped, _state.stopped = _state.stopped, 0

    def __exit__(self, *error):
        _state.stopped = self._stopped


class tracing:
    """Operations inside of the block become nodes of `graph`."""

    def __init__(self, graph):
        self._graph = graph

    def __enter__(self):
        _state.graphs.append(self._graph)

    def __exit__(self, *error):
        _state.graphs.pop()


def repeats_calls():
    """May what a call of a function adds be what an earlier one added? Not where blocks, replicas or a wish to save
    decide about it, too."""
    return not _state.guards and replica_context() is None and _state.saves is None and not _state.cuts


def is_within(graph, inner=None):
    """Is what is traced now, or `inner` of it, a function within the one that `graph` is of?"""
    places = [place for place, around in enumerate(_state.graphs) if around is graph]
    within = _state.graphs[places[0] + 1:] if places else []
    return bool(within) if inner is None else any(inner is one for one in within)


class back_in:
    """Operations inside of the block become nodes of `graph`, whatever is traced within it; one that is not being
    traced changes nothing."""

    def __init__(self, graph):
        self._graph = graph

    def __enter__(self):
        self._graphs = _state.graphs
        places = [place for place, graph in enumerate(self._graphs) if graph is self._graph]
        if places:
            _state.graphs = self._graphs[:places[0] + 1]

    def __exit__(self, *error):
        _state.graphs = self._graphs


class eagerly:
    """Operations inside of the block are computed at once, whatever is traced around it."""

    def __enter__(self):
        self._graphs, _state.graphs = _state.graphs, []

    def __exit__(self, *error):
        _state.graphs = self._graphs


class init_scope(eagerly):
    """A block outside of all functions that are traced (``tf.init_scope``): what it makes lives on."""


def graph_for(inputs, flags):
    """The graph that an operation of these inputs becomes a node of; None: it is computed at once."""
    if _state.graphs:
        graph = _state.graphs[-1]
        _note_outer(inputs)
        if graph.keeps:
            _keep(graph, inputs)
        if flags & {"random", "stateful", "impure"} or any(
                not tensor._has_values or id(tensor) in graph.aliases for tensor in inputs):
            return graph
    for tensor in inputs:
        if not tensor._has_values:
            raise NotTraceable("a tensor is used outside of the function that it was traced in; return it from there")
    for tape in () if _state.stopped else reversed(_state.tapes):
        recording = tape._recording
        if any(tensor._graph is recording or id(tensor) in recording.aliases for tensor in inputs):
            return recording
    for tensor in () if _state.stopped else inputs:  # behind the block
        if tensor._graph is not None and tensor._graph.is_open:
            return tensor._graph
    return None


class Untold(BaseException):
    """Raised where gradients are asked for by a constant of the function that is traced: what depends on it was
    computed at once; tracing once more tells."""


def with_constants(build):
    """``build()``, which traces; a second time, with constants as values of the graph, where gradients want them."""
    try:
        return build()
    except Untold:
        _state.keeps = True
        try:
            return build()
        finally:
            _state.keeps = False


def check_told(graph, sources):
    """Untold where one of the sources is a constant that operations used and that is no value of the graph."""
    if not graph.keeps and any(id(source) in graph.outer and id(source) not in graph.aliases for source in sources):
        raise Untold


def _keep(graph, tensors):
    for tensor in tensors:
        if tensor._has_values and tensor.dtype._is_trainable and id(tensor) not in graph.aliases:
            graph.aliases[id(tensor)] = tensor, graph.constant(tensor)


def _note_outer(tensors):
    """The graphs that are traced know which tensors from outside they use: a tape may watch them when they run."""
    for tensor in tensors:
        if tensor._has_values:
            for graph in _state.graphs:
                graph.outer.setdefault(id(tensor), weakref.ref(tensor))


def key_of(tensor):
    """What tells a value of a graph from those of all graphs."""
    return id(tensor._graph), tensor._id


def reach(graph, tensor):
    """The tensor as an input of a node of `graph`."""
    if tensor._graph is graph:
        for call in graph.ended:
            call.check(graph, tensor)
        return tensor
    if tensor._has_values:
        _note_outer([tensor])
        return graph.aliases.get(id(tensor), (tensor, tensor))[1]
    if graph.captured is None or all(tensor._graph is not around for around in _state.graphs):
        raise NotTraceable("a tensor is used outside of the function that it was traced in; return it from there")
    return graph.capture(tensor)


def is_captured(graph, tensor):
    """Does an argument of `graph` stand for a value of the graph around it, and is it this tensor?"""
    return any(inner is tensor for inner in (graph.captured or {}).values())
