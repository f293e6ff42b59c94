"""The graphs that functions are traced into and that tapes record into, with what Python keeps beside them."""

import contextlib
import functools
import json
import weakref

from leat import _native, nest
from leat._core.table import TABLE
from leat._graph import state
from leat.errors import InvalidArgumentError, NoGradientError, UnimplementedError


class ShapeError(InvalidArgumentError, ValueError):
    """An operation refuses its inputs, in a function that is traced or where TensorFlow checks them in Python: its
    class there, and leat's for operations."""


class DtypeError(ShapeError, TypeError):
    """The same for a dtype that the operation does not take, or for inputs of different ones."""


class StructureError(InvalidArgumentError, TypeError):
    """A dataset operator refuses the dtype or the structure of what it is given: its class in TensorFlow."""


_BRANCHES = json.dumps({"then_branch": {"function": 0}, "else_branch": {"function": 1}})
_REFUSED = {"DTYPE": StructureError, "STRUCTURE": StructureError, "SHAPE": ShapeError, "VALUE": ShapeError}


def refused(error):
    """The failure of a dataset operator that is made, of the class of its reason; None where it has the right one."""
    kind = _REFUSED.get(error.reason) if type(error) is InvalidArgumentError else None
    return None if kind is None else error._as(kind)


def refined(error, is_checked=True):
    """An InvalidArgumentError of the class of its reason; `is_checked`: a ValueError where that is no dtype."""
    kind = DtypeError if error.reason == "DTYPE" else ShapeError if is_checked else type(error)
    return error._as(kind)


def logged(method):
    """A method of Graph that adds something to it: the innermost call is noted in the logs of the graph."""
    name = method.__name__

    @functools.wraps(method)
    def run(self, *args, **kwargs):
        logs = self.logs
        if not logs:
            return method(self, *args, **kwargs)
        is_inside, self.is_inside = self.is_inside, True
        try:
            result = method(self, *args, **kwargs)
        finally:
            self.is_inside = is_inside
        for log in () if is_inside else logs:
            log.note(name, args, kwargs, result)
        return result
    return run


class Graph(_native.Graph):
    """A graph of the library.

    `aliases`: tensors from outside that tapes watch, by their id, with what stands for them here. `parents`: for each
    value those that a gradient may flow to. `is_open`: what is computed of its values is recorded.
    """

    def __init__(self, spec=None, eager=False):
        self.is_eager = eager
        self.is_called = False  # its arguments are a caller's, not elements
        self.is_sketch = False  # it says shapes and dtypes alone, and never runs
        self.is_open = True
        self.keeps = state._state.keeps and not eager  # is each constant that operations use in `aliases`?
        self.aliases = {}
        self.parents = {}
        self.outer = {}  # id -> a weak reference: tensors with values that operations use, also those computed at once
        self.variables = {}  # id -> [variable, its reads, is the last one of them current?]
        self.around = None  # the graph whose reads of variables are read here, of the gradient of a custom one
        self.given = {}  # id of a variable -> the argument that stands for its value
        self.names = {}  # of arguments, by number
        self.created = []  # variables that were made while this was traced
        self.makes_state = False  # did an optimizer make its variables while this was traced?
        self.customs = []  # (inputs, outputs, function of gradients), see tape.custom_gradient
        self.has_effects = False  # it assigns variables or calls Python: no gradient flows through a call of it
        self.has_customs = False  # parts of it have gradients of their own, which a call of it does not know
        self.is_random = False  # it draws random numbers
        self.is_large = False  # it computes layers or products of matrices
        self.branches = False  # it has conditions or loops, or calls Python
        self.written = set()  # ids of the variables that it assigns
        self.calls = {}  # number of a value -> (operation, attributes, inputs, its place among the outputs)
        self.captured = None  # while it is traced, if it may use values of graphs around it: {value there: argument}
        self._captures = None  # those values in the order of the arguments; other functions may share the list
        self.feeds = {}  # number of an argument -> what it is in the call that the function is traced for
        self._users = set()
        self._behind = weakref.WeakSet()  # of these, those whose blocks have ended
        self.logs = ()  # of the calls of functions that are under way in it (replay.Log)
        self.ended = ()  # those that are over, and whose values may have got out
        self.is_inside = False  # is a method running that the logs note?
        self._seedless = None  # how many operations without a seed an inner function has so far

    @contextlib.contextmanager
    def seeds_of_its_own(self):
        """In this block, a function called in the traced one, operations without a seed are counted from 0."""
        before, self._seedless = self._seedless, 0
        try:
            yield
        finally:
            self._seedless = before

    # ---- values of the graphs around it ----

    def capture_into(self, captures, arguments):
        """Values of the graphs around it become arguments, and are noted in `captures`; `arguments` stand for those
        that are there."""
        self._captures = captures
        self.captured = {state.key_of(outer): inner for outer, inner in zip(captures, arguments)}
        self._num_captured = len(captures)

    def capture(self, tensor):
        """The argument that stands for a value of a graph around it."""
        found = self.captured.get(state.key_of(tensor))
        if found is None:
            self._captures.append(tensor)
            found = self.captured[state.key_of(tensor)] = self._take(tensor)
        return found

    def take_captures(self):
        """Arguments for what others that share the list have found since."""
        for tensor in () if self._captures is None else self._captures[self._num_captured:]:
            self._take(tensor)

    def _take(self, tensor):
        self._num_captured += 1
        return self.add_argument(nest.to_text(nest.spec_of_leaf(tensor)))

    # ---- what depends on what ----

    def _note(self, inputs, outputs):
        known = [tensor._id for tensor in inputs if tensor._graph is self]
        made = [output._id for output in outputs if output.dtype._is_trainable and output._id not in known]
        for number in made:  # the others a layer handed on as they were given
            self.parents[number] = known
        for tape in self._take_part():
            if not tape.recorded.isdisjoint(known):
                tape.recorded.update(made)
        return outputs

    def _tapes(self):
        """The tapes whose blocks record into this graph now."""
        return () if state._state.stopped else [tape for tape in state._state.tapes if tape._recording is self]

    def _take_part(self):
        """These, and those that go on behind their blocks, until they are asked, with what they recorded."""
        tapes = self._tapes()
        return tapes if state._state.stopped or not self._behind else [*tapes, *self._behind.difference(tapes)]

    def ancestors(self, number, ends=()):
        """The numbers of the values that influence value `number`, itself among them; through `ends` none does."""
        seen, waiting = {number}, [number]
        while waiting:
            one = waiting.pop()
            for parent in self.parents.get(one, ()) if one not in ends else ():
                if parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return seen

    @logged
    def call(self, name, attributes, inputs):
        """Adds an operation; its outputs."""
        flags = TABLE[name]["flags"]
        if "random" in flags:
            self.is_random = True
            attributes = self._seeded(attributes)
        elif "large" in flags:
            self.is_large = True
        outputs = self._call(name, attributes, inputs)
        if not self.is_eager:
            self.calls.update((output._id, (name, attributes, inputs, place)) for place, output in enumerate(outputs))
        if not self.is_eager and state.is_cut():
            return [super(Graph, self).call("stop_gradient", None, [one])[0] if one.dtype._is_trainable else one
                    for one in outputs]
        return outputs if "cuts gradients" in flags else self._note(inputs, outputs)

    def _call(self, name, attributes, inputs):
        """Exceptions of a function that is traced are of the classes that TensorFlow's have."""
        try:
            return super().call(name, attributes, inputs)
        except InvalidArgumentError as error:
            if self.is_eager:
                raise
            raise refined(error) from None

    @logged
    def call_part(self, part, inputs, weights, training):
        """Adds the operations of a layer or loss: (output, what becomes of each weight, None where it stays)."""
        self.is_large = True
        try:
            output, updates = part.call(self, inputs, weights, training)
        except InvalidArgumentError as error:
            raise refined(error) from None
        self._note([*inputs, *weights], [output, *(update for update in updates if update is not None)])
        return output, updates

    @logged
    def use(self, function, tensors):
        """What ``function(graph, tensors)`` adds, which knows no other tensors."""
        return function(self, tensors)

    @logged
    def apply_part(self, part, gradients, variables, slots, iterations, rate, keeps=None, alone=False, update=None,
                   others=()):
        """Adds the step of an optimizer over variables, of which the last ones may have no gradient; `keeps`: which of
        them weight decay leaves alone; `alone`: only the update of variables and slots; `update`: what adds it, a
        function of a variable's place, its gradient and the rate, which may change `others` beside."""
        self.has_effects = True
        changed = (*variables, *slots, *others, iterations)
        applies = next((variable._applies for variable in changed if variable._applies is not None), None)
        if applies is not None:
            applies(self, part, gradients, variables, slots, iterations, rate, keeps, alone, update, others)
            return
        for variable in changed:
            self.variables.setdefault(id(variable), [variable, [], False])[2] = False
        part.apply(self, gradients, [v._native for v in variables], [v._native for v in slots], iterations._native,
                   rate, keeps, alone, update, [v._native for v in others])
        for variable in changed:
            self.forget_reads(variable)

    def _seeded(self, attributes):
        """The attributes with the seed that an operation of an inner function has under a global seed."""
        given = json.loads(attributes) if attributes else {}
        if self._seedless is None or given.get("seed") is not None or not _native.has_seed():
            return attributes
        self._seedless += 1
        return json.dumps(dict(given, seed=self._seedless - 1))

    @logged
    def cond(self, predicate, then_branch, else_branch, inputs):
        """Adds a cond node; its outputs."""
        self.branches = True
        return self._note(inputs, self.call_functions("cond", _BRANCHES, (then_branch, else_branch),
                                                      [predicate, *inputs]))

    @logged
    def custom_gradient(self, results, sources, captures, reverse):
        """Adds results whose gradients, those of `sources`, a function makes of theirs and of `captures`."""
        numbers = json.dumps({"reverse": {"function": 0}, "num_results": len(results), "num_sources": len(sources)})
        return self._note(sources, self.call_functions("custom_gradient", numbers, (reverse,),
                                                       [*results, *sources, *captures]))

    @logged
    def inline(self, function, inputs):
        """Adds the operations of a finished function; its outputs."""
        return self._note(inputs, super().inline(function, inputs))

    @logged
    def while_loop(self, cond, body, variables, invariants, maximum, shapes):
        """Adds a loop; its variables after the last iteration."""
        self.branches = True
        outputs = super().while_loop(cond, body, variables, invariants, maximum, shapes)
        return self._note([*variables, *invariants], outputs)

    @logged
    def reduce_dataset(self, dataset, body, variables, captures, *options):
        """Adds a loop over a dataset; its variables after the last element."""
        self.branches = True
        outputs = super().reduce_dataset(dataset, body, variables, captures, *options)
        return self._note([*variables, *captures], outputs)

    @logged
    def gradients(self, target, sources, upstream=None, stops=()):
        """Adds the gradients of a target, of which `upstream` is known; one for each source. None flows through the
        values whose numbers are `stops`."""
        inputs = [target, *sources] if upstream is None else [target, *sources, upstream]
        try:
            found = super().gradients(target, sources, upstream, stops)
        except UnimplementedError as error:
            raise error._as(NoGradientError) from None
        self._note(inputs, [one for one in found if upstream is None or one._id != upstream._id])
        return found

    @logged
    def constant(self, tensor):
        """The tensor as a value of this graph."""
        return super().constant(tensor)

    @logged
    def dataset(self, *what):
        """Adds a dataset that is made when the function runs."""
        return super().dataset(*what)

    @logged
    def slices(self, gradient):
        """What the gradient of a table of rows is made of; nothing of one that is whole."""
        return super().slices(gradient)

    def add_custom(self, inputs, outputs, grad_fn):
        """Remembers outputs that have a gradient of their own."""
        self.customs.append((inputs, outputs, grad_fn))
        self.has_customs = True
        for tape in self._take_part():
            if any(tensor._graph is self and tensor._id in tape.recorded for tensor in inputs):
                tape.recorded.update(output._id for output in outputs)

    def value_now(self, tensor):
        """What a value of this graph is in the call that is traced, computed apart from the function: what a variable
        begins with. None where it needs an argument without a value, control flow or a layer."""
        if tensor._has_values or tensor._graph is not self:
            return tensor if tensor._has_values else None
        if tensor._id in self.feeds:
            return self.feeds[tensor._id]
        for variable, reads, _ in self.variables.values():
            if any(read is tensor for read in reads):
                return variable._read_now()
        if tensor._id not in self.calls:
            return None
        name, attributes, inputs, place = self.calls[tensor._id]
        values = [self.value_now(one) for one in inputs]
        if any(value is None for value in values):
            return None
        return self.feeds.setdefault(tensor._id, _native.Graph.eager(name, attributes, values)[place])

    # ---- variables ----

    def note_creation(self, variable):
        """Remembers that a variable was made while this was traced."""
        self.created.append(variable)

    @logged
    def value_of(self, variable):
        """The variable's value where this graph is traced, of this graph or of one around it."""
        return variable._read_traced()

    @logged
    def read_variable(self, variable):
        """The variable's value as of now, as a value of this graph."""
        if self.around is not None:
            return state.reach(self, self.around.read_variable(variable))
        entry = self.variables.setdefault(id(variable), [variable, [], False])
        if not entry[2]:
            if self.is_eager:
                tensor = self.constant(variable._read_now())
            else:
                tensor = self.given.get(id(variable))
                tensor = variable._read_node(self) if tensor is None else tensor
            entry[1].append(tensor)
            entry[2] = True
        for tape in self._tapes():
            if tape._watches(variable):
                tape.recorded.add(entry[1][-1]._id)
        return entry[1][-1]

    @logged
    def write_variable(self, variable, value, add):
        """An assignment as a node."""
        self.has_effects = True
        self.written.add(id(variable))
        combines = not getattr(state.replica_context(), "updates", False)
        if add and not combines:
            value, add = self.read_variable(variable) + value, False
        if id(variable) in self.given:
            value = self.read_variable(variable) + value if add else value
            self.given[id(variable)] = value = state.reach(self, value)
            add = False
        variable._assign_node(self, state.reach(self, value), add, combines)
        self.variables.setdefault(id(variable), [variable, [], False])[2] = False

    def forget_reads(self, variable):
        """The next read of the variable reads anew."""
        if id(variable) in self.variables:
            self.variables[id(variable)][2] = False

    def forget_all_reads(self):
        """The same of every variable."""
        for entry in self.variables.values():
            entry[2] = False

    def reads_of(self, variable):
        """All values that reads of the variable gave."""
        return self.variables[id(variable)][1] if id(variable) in self.variables else []

    def include(self, inner):
        """A function traced inside of this one reads and assigns what it does."""
        self.include_what((inner.has_effects, inner.has_customs, inner.is_random), frozenset(inner.written),
                          tuple(variable for variable, _, _ in inner.variables.values()))

    @logged
    def include_what(self, flags, written, variables):
        """The same, in parts."""
        self.has_effects, self.has_customs, self.is_random = (
            mine or theirs for mine, theirs in zip((self.has_effects, self.has_customs, self.is_random), flags))
        self.written |= written
        for variable in variables:
            self.variables.setdefault(id(variable), [variable, [], False])[2] = False

    # ---- who records ----

    def join(self, tape):
        """The tape records into this graph."""
        self._users.add(id(tape))

    def end_block(self, tape):
        """The block of a tape that records into this graph has ended."""
        self._behind.add(tape)

    def is_user(self, tape):
        """Does the tape still record into this graph?"""
        return id(tape) in self._users

    def leave(self, tape):
        """The tape wants no more; a graph that no tape wants records no more."""
        self._users.discard(id(tape))
        self._behind.discard(tape)
        if not self._users and self.is_eager:
            self.is_open = False
            self.release()

    def release(self):
        """Drops what refers to values of this graph, which refer to it: nothing else ends that circle."""
        self.aliases, self.parents, self.variables, self.given, self.customs = {}, {}, {}, {}, []
        self.calls, self.feeds = {}, {}
