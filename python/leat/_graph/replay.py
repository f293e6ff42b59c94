"""What the call of a traced function adds to the graph of the function that calls it, kept so that another call adds
the same without calling Python: a function that is called in a traced one is traced once for each sort of arguments.

Every method of the graph that adds something (graphs.logged) is noted with its arguments, in which a number stands for
a tensor of the call (its arguments first, then what was made). Happy path: the same methods are called again with other
tensors. What cannot be told from arguments (a gradient of its own in Python, a variable that is made) makes a log
useless, and the function is called each time.
"""

import weakref

from leat import nest
from leat._core.tensor import NotTraceable, Tensor, constant
from leat._graph import state
from leat._graph.arguments import _leaf, _shape_of, _Static

_MOST_LOGS = 64
_PLAIN = (bool, int, float, str, bytes, type(None))


class _Made:
    """A tensor of the call, by its number."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number


class _Around:
    """A tensor of the graph that was there before the call."""

    __slots__ = ("tensor",)

    def __init__(self, tensor):
        self.tensor = weakref.ref(tensor)


class _Useless(Exception):
    """Something was used whose origin the log does not know."""


def _tensors_in(value):
    """The tensors of a result, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors_in(part)


def _mapped(value, change, kinds):
    """A nested argument with `change` of what is of `kinds`."""
    if isinstance(value, kinds):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_mapped(part, change, kinds) for part in value)
    return value


class Log:
    """What one call adds to `graph`; `tensors`: its arguments, which were made for it."""

    def __init__(self, graph, tensors):
        self._graph = graph
        # What is made from here on has a number from this one on; a graph without values has none of others.
        self._first = tensors[0]._id if tensors else graph.constant(constant(True))._id if graph.calls else 0
        self._numbers = {state.key_of(tensor): number for number, tensor in enumerate(tensors)}
        self._count = len(tensors)
        self._steps = []  # (method, arguments, keyword arguments)
        self._around = []
        self._variables = {}  # those that functions within it use
        self._is_useful, self._has_served = True, False
        self._before = self._kept_beside()
        self.results = None  # numbers, or tensors with values; after `end`

    def _kept_beside(self):
        """How much there is of what calls leave beside the graph's operations."""
        graph = self._graph
        return (len(graph.customs), len(graph.created), graph.makes_state,
                len(state._state.checks.get(id(graph), ())))

    def note(self, name, args, kwargs, result):
        """A method was called, by none that is noted."""
        if not self._is_useful:
            return
        try:
            self._steps.append((name, self._folded(args), {key: self._folded(value) for key, value in kwargs.items()}))
        except _Useless:
            self._is_useful = False
        if name == "include_what":
            self._variables.update((id(variable), variable) for variable in args[-1])
        for tensor in _tensors_in(result):
            for known in (tensor, state.reach(self._graph, tensor)):
                self._numbers[state.key_of(known)] = self._count
            self._count += 1

    def _folded(self, value):
        return _mapped(value, self._fold, Tensor)

    def _fold(self, tensor):
        if state.key_of(tensor) in self._numbers:
            return _Made(self._numbers[state.key_of(tensor)])
        if tensor._graph is self._graph and (tensor._id < self._first or state.is_captured(self._graph, tensor)):
            self._around.append(_Around(tensor))
            return self._around[-1]
        if tensor._has_values:
            return tensor
        raise _Useless

    def end(self, results):
        """The call is over and gave these tensors; is the log good for others?"""
        try:
            self.results = [self._folded(tensor) for tensor in results]
        except _Useless:
            self._is_useful = False
        self._is_useful = self._is_useful and self._before == self._kept_beside()
        self._surroundings = self._surroundings_of(self._graph)
        if self._is_useful:
            self._graph.ended = (*self._graph.ended, _Ended(self, self._first, {
                number for graph, number in self._numbers if graph == id(self._graph)}, results))
        self._graph = self._numbers = None
        return self._is_useful

    def forget(self):
        """It serves no more calls; NotTraceable where it did."""
        if self._has_served:
            raise NotTraceable("a tensor of a function is used outside of it and of what it returns; return it")
        self._is_useful = False

    def _surroundings_of(self, graph):
        """What else decides about what a call adds: the tensors and variables of its that tapes watch."""
        watched = (id(variable) for variable in self._variables.values()
                   if any(tape._watches(variable) for tape in state._state.tapes))
        return frozenset(graph.aliases), frozenset(watched), graph.keeps, state.wants_nodes(graph)

    def suits(self, graph, variables):
        """Does a call add the same to a graph of its own, now, where the values of variables are arguments?"""
        return not self._around and self.fits(graph) and not any(id(one) in self._variables for one in variables)

    def fits(self, graph):
        """Does a call in that graph, now, add the same?"""
        if not self._is_useful:
            return False
        for one in self._around:
            tensor = one.tensor()
            if tensor is None or tensor._graph is not graph and (graph.captured is None or all(
                    tensor._graph is not around for around in state._state.graphs)):
                return False
        return self._surroundings == self._surroundings_of(graph)

    def add_to(self, graph, tensors):
        """Adds what the call added, of other arguments; the tensors that it gives."""
        made, self._has_served = list(tensors), True

        def unfold(one):
            return state.reach(graph, made[one.number] if isinstance(one, _Made) else
                               one.tensor() if isinstance(one, _Around) else one)

        def unfolded(value):
            return _mapped(value, unfold, (_Made, _Around, Tensor))
        for name, args, kwargs in self._steps:
            result = getattr(graph, name)(*unfolded(args), **{key: unfolded(value) for key, value in kwargs.items()})
            made.extend(_tensors_in(result))
        return unfolded(self.results)


class _Ended:
    """A call that is over in a graph: what it has made and not returned is nobody else's, since other calls would not
    make it anew."""

    def __init__(self, log, first, numbers, results):
        self._log = log
        self._numbers = {number for number in numbers if number >= first}.difference(one._id for one in results)

    def check(self, graph, tensor):
        """A tensor of the graph is used outside."""
        if tensor._id in self._numbers and not any(
                read is tensor for _, reads, _ in graph.variables.values() for read in reads):
            self._log.forget()


def _parts_of(result):
    """(tensors, what puts such a result together of others); None of one that is more than tensors and plain values."""
    leaves = nest.flatten(result)
    if any(getattr(leaf, "_keras_mask", None) is not None or not isinstance(leaf, (Tensor, *_PLAIN)) and not hasattr(
            leaf, "_is_leaf_value") for leaf in leaves):
        return None
    kinds = [leaf if isinstance(leaf, _PLAIN) else nest.spec_of_leaf(leaf) for leaf in leaves]
    structure = nest.map_structure(lambda leaf: None, result)

    def put(tensors):
        return nest.pack_sequence_as(structure, [kind if isinstance(kind, _PLAIN) else kind._put(tensors)
                                                 for kind in kinds])
    return [tensor for leaf, kind in zip(leaves, kinds) if not isinstance(leaf, _PLAIN)
            for tensor in kind._take(leaf)], put


class Calls:
    """The calls of one function in all graphs of its own and of functions that call it."""

    def __init__(self):
        self._logs = {}  # sort of call -> (its log, what puts its result together)

    def run_inside(self, graph, function, args, kwargs):
        """What ``function(*args, **kwargs)`` gives in the graph of a function that calls it."""
        leaves = [_leaf(leaf) for leaf in nest.flatten((args, kwargs))]
        given = [tensor for leaf in leaves if not isinstance(leaf, _Static)
                 for tensor in nest.spec_of_leaf(leaf)._take(leaf)]
        if any(tensor._has_values for tensor in given) or not state.repeats_calls():
            return function(*args, **kwargs)
        kinds = [leaf if isinstance(leaf, _Static) else nest.spec_of_leaf(leaf) for leaf in leaves]
        sort = _sort_of(kinds, (args, kwargs))
        log, put = self._logs.get(sort, (None, None))
        if log is not None and log.fits(graph):
            return put(iter(log.add_to(graph, given)))
        # Tensors of their own: the function may find those that it is given in what is around it, too.
        own = [graph.call("identity", None, [state.reach(graph, tensor)])[0] for tensor in given]
        there = iter(own)
        args, kwargs = nest.pack_sequence_as((args, kwargs), [
            kind.value if isinstance(kind, _Static) else kind._put(there) for kind in kinds])
        return self._called(graph, sort, own, function, args, kwargs)

    def run(self, graph, kinds, tensors, variables, function, args, kwargs):
        """The same in the function's own graph, whose arguments are `tensors` and the values of `variables`; `kinds`:
        the specs of the leaves of `args` and `kwargs`."""
        if not state.repeats_calls():
            return function(*args, **kwargs)
        sort = _sort_of(kinds, (args, kwargs))
        log, put = self._logs.get(sort, (None, None))
        if log is not None and log.suits(graph, variables):
            return put(iter(log.add_to(graph, tensors)))
        return self._called(graph, sort, tensors, function, args, kwargs)

    def _called(self, graph, sort, tensors, function, args, kwargs):
        log = Log(graph, tensors)
        before, graph.logs = graph.logs, (*graph.logs, log)
        try:
            result = function(*args, **kwargs)
            found = _parts_of(result)
            if found is not None and log.end([state.reach(graph, tensor) for tensor in found[0]]):
                if len(self._logs) >= _MOST_LOGS:
                    self._logs.clear()
                self._logs[sort] = log, found[1]
            return result
        finally:
            graph.logs = before


def _sort_of(kinds, structure):
    return tuple(kinds), _shape_of(structure), id(state.strategy())
