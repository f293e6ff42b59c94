"""Updates of variables at parameter servers: what a function does to variables is cut into two parts.

An update (an optimizer's step, a metric's, a scatter) is traced by itself, with the values of its variables and of what
it is given as inputs. Of its operations each server runs those that follow from the variables that it owns, as a whole
and under their locks; what follows from other values alone is computed once, by the worker, and sent along. So a
gradient is computed from the values that the worker has read, and is applied to those that are there when it arrives.
"""

import hashlib
import json

from leat import _native, dtypes, nest
from leat._core import specs
from leat._core.table import TABLE
from leat._core.tensor import constant
from leat._graph import trace
from leat._graph.graphs import Graph
from leat._graph.ops import FUNCTIONS as F
from leat._graph.tape import of_slices
from leat._graph.traced import Function
from leat.distribute import remote
from leat.errors import UnimplementedError

_NONE = frozenset()
_INPUT = "input"  # among what a value follows from: not only variables


def _spec_of(tensor):
    return specs.TensorSpec(tensor.shape, tensor.dtype)


class _Program:
    """The operations of an update: values are ("variable", place), ("input", place) and ("node", number, output)."""

    def __init__(self):
        self.nodes = []
        self.changed = {}  # place of a variable -> its value afterwards
        self._sources = {}

    def add(self, node, inputs):
        """Adds an operation of a description; the values that it gives."""
        if _mentions_variables(node["attrs"]):
            raise UnimplementedError(None, None, "an update of variables on parameter servers whose conditions or "
                                     "loops read or assign variables; use tf.where")
        self.nodes.append({"op": node["op"], "version": node["version"], "attrs": node["attrs"], "inputs": inputs,
                           "count": max(len(node["types"]), 1)})
        return [("node", len(self.nodes) - 1, place) for place in range(len(node["types"]))]

    def inline(self, body, values, kinds):
        """Adds what a function of tensors does; the values of its results. `kinds`: the TypeSpecs of `values`."""
        with trace.eagerly():
            native, _ = trace.trace(body, tuple(kinds))
        described, known = json.loads(native.describe([])), list(values)
        for node in described["nodes"]:
            known += self.add(node, [known[number] for number in node["inputs"]])
        return [known[number] for number in described["outputs"]]

    def sources(self, value):
        """The variables that a value follows from, and _INPUT if from what is given."""
        if value[0] != "node":
            return frozenset([value[1] if value[0] == "variable" else _INPUT])
        found = self._sources.get(value[1])
        if found is None:
            inputs = self.nodes[value[1]]["inputs"]
            found = self._sources[value[1]] = _NONE.union(*map(self.sources, inputs)) if inputs else _NONE
        return found


def _mentions_variables(value):
    if isinstance(value, dict):
        return bool(value.get("variables")) or any(map(_mentions_variables, value.values()))
    return isinstance(value, list) and any(map(_mentions_variables, value))


def _of_values(described, num_variables, places):
    """The program of a function of values: the first inputs are those of variables, the outputs those of `places`."""
    program, known = _Program(), []
    inputs = len(nest.leaves(nest.from_json(described["input"])))
    known += [("variable", place) for place in range(num_variables)]
    known += [("input", place) for place in range(inputs - num_variables)]
    for node in described["nodes"]:
        known += program.add(node, [known[number] for number in node["inputs"]])
    program.changed = {place: known[number] for place, number in zip(places, described["outputs"])}
    return program


def _descend(node):
    return lambda value, gradient, rate: (value - gradient * rate,)


def _attributes(node, *names):
    """The attributes of a node; those that are not written have their defaults."""
    defaults = {row["name"]: row.get("default") for row in TABLE[node["op"]]["arguments"]}
    return [node["attrs"].get(name, defaults[name]) for name in names]


def _roll(node):
    momentum, looks_ahead = _attributes(node, "momentum", "use_nesterov")

    def roll(value, slot, gradient, rate):
        step = gradient * rate
        slot = slot * momentum - step
        return value + (slot * momentum - step if looks_ahead else slot), slot
    return roll


def _adam(node):
    beta_1, beta_2, epsilon = _attributes(node, "beta_1", "beta_2", "epsilon")

    def adam(value, first, second, gradient, rate, step, squares=None):
        step = F["cast"](step, value.dtype)
        alpha = rate * F["sqrt"](1 - F["pow"](beta_2, step)) / (1 - F["pow"](beta_1, step))
        first = first + (gradient - first) * (1 - beta_1)
        second = second + ((gradient * gradient if squares is None else squares) - second) * (1 - beta_2)
        return value - first * alpha / (F["sqrt"](second) + epsilon), first, second
    return adam


# Operations that write variables of this process in place, as functions of their values.
_IN_PLACE = {
    "assign_variable": lambda node: lambda value, given: (given,),
    "assign_add_variable": lambda node: lambda value, delta: (value + delta,),
    "apply_gradient_descent": _descend, "apply_keras_momentum": _roll, "apply_adam": _adam}


def _of_assignments(described, variables):
    """The program of a function that reads and assigns variables."""
    program = _Program()
    now = [("variable", place) for place in range(len(variables))]
    kinds = nest.leaves(nest.from_json(described["input"]))
    known = [("input", place) for place in range(len(kinds))]
    for node in described["nodes"]:
        inputs, places = [known[number] for number in node["inputs"]], node["variables"]
        made = [specs.TensorSpec(one["shape"], dtypes.as_dtype(one["dtype"])) for one in node["types"]]
        if not places:
            known += program.add(node, inputs)
        elif node["op"] == "read_variable":
            known.append(now[places[0]])
        elif node["op"] in _IN_PLACE:
            given = [now[place] for place in places] + inputs
            of_given = [_spec_of(variables[place]) for place in places] + [kinds[number] for number in node["inputs"]]
            changed = program.inline(_IN_PLACE[node["op"]](node), given, of_given)
            for place, value in zip(places, changed):
                now[place] = program.changed[place] = value
        else:
            raise UnimplementedError(None, None, f"operation {node['op']} on a variable of a parameter server")
        kinds += made
    return program


# ---- the two parts ----

class _Worker:
    """What the worker computes of a program: operations of the graph that is traced."""

    def __init__(self, graph, program, variables, inputs):
        self._graph, self._program = graph, program
        self._variables, self._inputs = variables, inputs
        self._made = {}

    def tensor(self, value):
        """The tensor of a value."""
        if value[0] == "variable":
            return self._graph.read_variable(self._variables[value[1]])
        if value[0] == "input":
            return self._inputs[value[1]]
        if value[1] not in self._made:
            node = self._program.nodes[value[1]]
            inputs = [trace.reach(self._graph, self.tensor(one)) for one in node["inputs"]]
            self._made[value[1]] = self._graph.call(node["op"], json.dumps(node["attrs"]), inputs)
        return self._made[value[1]][value[2]]


class _Server:
    """What one server runs of a program, as a function of the values of its variables and of what the worker sends."""

    def __init__(self, program, variables, changed):
        own = [place for place, one in enumerate(variables) if one._native.task == variables[changed[0]]._native.task]
        self._program, self._own = program, frozenset(own)
        values = [program.changed[place] for place in changed]
        self._nodes, self.sent = {}, []  # of the program: number -> place here; values that the worker sends
        for value in values:
            self._take(value)
        read = {value[1] for number in self._nodes for value in program.nodes[number]["inputs"]
                if value[0] == "variable" and value[1] in self._own}
        read |= {value[1] for value in values if value[0] == "variable"}
        self.places = [*changed, *sorted(read.difference(changed))]
        self.outputs = values

    def _is_here(self, value):
        """Does it follow from the server's variables, or from nothing at all?"""
        sources = self._program.sources(value)
        return bool(sources & self._own) or not sources

    def _take(self, value):
        if value[0] == "variable" and value[1] in self._own or value[0] == "node" and value[1] in self._nodes:
            return
        if value[0] != "node" or not self._is_here(value):
            if value not in self.sent:
                self.sent.append(value)
            return
        for one in self._program.nodes[value[1]]["inputs"]:
            self._take(one)
        self._nodes[value[1]] = None

    def text(self, variables, sent):
        """The function as JSON; `sent`: the tensors that the worker sends."""
        ids = {("variable", place): number for number, place in enumerate(self.places)}
        ids.update((value, len(self.places) + number) for number, value in enumerate(self.sent))
        following, nodes = len(ids), []
        for number in self._nodes:  # in an order in which each comes behind what it needs
            node = self._program.nodes[number]
            nodes.append({"op": node["op"], "version": node["version"], "attrs": node["attrs"],
                          "inputs": [ids[value] for value in node["inputs"]]})
            for place in range(node["count"]):
                ids["node", number, place] = following + place
            following += node["count"]
        taken = [*(variables[place] for place in self.places), *sent]
        return json.dumps({"input": nest.to_json(tuple(map(_spec_of, taken))),
                           "output": nest.to_json(tuple(_spec_of(variables[place])
                                                        for place in self.places[:len(self.outputs)])),
                           "nodes": nodes, "outputs": [ids[value] for value in self.outputs]})


def _add(graph, program, variables, inputs):
    """Adds a program's update to the graph that is traced."""
    worker, by_task = _Worker(graph, program, variables, inputs), {}
    for place in sorted(program.changed):
        by_task.setdefault(variables[place]._native.task, []).append(place)
    made = []
    for changed in by_task.values():  # first all that is computed, of the values before any of the updates
        server = _Server(program, variables, changed)
        made.append((server, [worker.tensor(value) for value in server.sent]))
    for server, sent in made:
        natives = [variables[place]._native for place in server.places]
        text = server.text(variables, sent)
        key = hashlib.sha256(text.encode()).hexdigest()
        natives[0].keeper.put_function(natives[0].task, key, text)
        change = {"variables": [native.number for native in natives], "function": key, "inputs": len(sent)}
        remote.add_update(graph, {**natives[0].where, "updates": [change]}, sent)
    for place in program.changed:
        graph.variables.setdefault(id(variables[place]), [variables[place], [], False])[2] = False
        graph.written.add(id(variables[place]))


def _check_remote(variables):
    for variable in variables:
        if not variable._is_remote:
            raise UnimplementedError(None, None, f"variable {variable.name} is changed together with variables on "
                                     "parameter servers, and is none; create it under strategy.scope()")


# ---- updates of values ----

def change(variables, body, inputs, key):
    """Assigns variables what ``body(values, inputs)`` gives, None where one stays: each server's as a whole."""
    _check_remote(variables)
    if not trace.is_tracing():
        kept = variables[0].__dict__.setdefault("_changes", {})
        key = (key, *map(id, variables))
        if key not in kept:
            kept[key] = Function(lambda given: change(variables, body, given, key) or [], autograph=False)
        with trace.unrecorded():
            kept[key](list(inputs))
        return
    places = []

    def whole(*given):
        found = body(list(given[:len(variables)]), list(given[len(variables):]))
        places[:] = [place for place, value in enumerate(found) if value is not None]
        return tuple(found[place] for place in places)
    graph = trace.current_graph()
    tensors = [trace.reach(graph, tensor) for tensor in inputs]
    native, _ = trace.trace(whole, (*map(_spec_of, variables), *map(_spec_of, tensors)))
    program = _of_values(json.loads(native.describe([])), len(variables), places)
    _add(graph, program, variables, tensors)


# ---- an optimizer's step ----

class _Step(Graph):
    """A graph in which native variables of this process stand for those of the servers."""

    natives = {}  # by the variable's id

    def read_variable(self, variable):
        if id(variable) not in self.natives:
            return super().read_variable(variable)
        return self.read(self.natives[id(variable)])

    def write_variable(self, variable, value, add):
        if id(variable) not in self.natives:
            raise UnimplementedError(None, None, f"an optimizer's step that assigns variable {variable.name}, which is "
                                     "none of its own")
        self.assign(self.natives[id(variable)], trace.reach(self, value), add, True)


def apply(graph, part, gradients, variables, slots, iterations, rate, keeps, alone, update, others):
    """Adds an optimizer's step (Graph.apply_part)."""
    changed = list({id(one): one for one in (*variables, *slots, *others, iterations)}.values())
    _check_remote(changed)
    sliced = [graph.slices(gradient) for gradient in gradients]
    inputs = [one for gradient, parts in zip(gradients, sliced) for one in parts or [gradient]] + [rate]
    inputs = [trace.reach(graph, tensor) for tensor in inputs]
    step = _Step(nest.to_text(tuple(map(_spec_of, inputs))))
    step.natives = {id(variable): variable._shadow() for variable in changed}
    trace._state.checks[id(step)] = []
    try:
        with trace.tracing(step), trace.recorded():
            given, taken = iter(step.arguments()), []
            for variable, parts in zip(variables, sliced):
                parts = [next(given) for _ in parts] or [next(given)]
                taken.append(parts[0] if len(parts) == 1 else
                             of_slices(step.read_variable(variable), parts, lambda slices: slices))
            native = [[step.natives[id(one)] for one in listed] for listed in (variables, slots, others)]
            part.apply(step, taken, native[0], native[1], step.natives[id(iterations)], next(given), keeps, alone,
                       update, native[2])
            outputs = [trace.reach(step, constant(True))]
    finally:
        del trace._state.checks[id(step)]
        step.release()
    function = step.finish(outputs, nest.to_text((specs.TensorSpec([], dtypes.bool),)))
    described = json.loads(function.describe([step.natives[id(one)] for one in changed]))
    _add(graph, _of_assignments(described, changed), changed, inputs)


def native_like(variable):
    """A native variable of this process of the same dtype and shape, without its values."""
    with trace.eagerly():
        return _native.Variable(F["zeros"](variable.shape, variable.dtype), name=variable._name,
                                trainable=bool(variable._trainable))
