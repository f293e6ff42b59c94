"""A scheduled function as a worker runs it: in stages, each of which computes, or asks other tasks.

What lies between two updates is computed as a function of its own, which executors of layers take. Reads of variables
come before it, all of one server in one call; so do updates that follow each other. The order of effects is the
function's own.
"""

import itertools
import json
import secrets

from leat import _native, nest
from leat._core import specs
from leat._core.table import TABLE
from leat._graph import steps, trace
from leat.distribute import remote

_EFFECTS = frozenset(["impure", "stateful"])


# ---- where it is traced ----

def text_of(native):
    """What workers are sent of a function: JSON, of its stages or where there are none as a whole."""
    described = json.loads(native.describe([]))
    leaves = nest.leaves(nest.from_json(described["input"]))
    if all(type(leaf) is specs.TensorSpec or leaf.num_components == 1 for leaf in leaves):
        program = _Cut(described, [leaf._json() for leaf in leaves]).program()
        if program is not None:
            return json.dumps(program)
    return json.dumps({"whole": native.to_json()})


def _functions_in(value):
    """The functions among the attributes of an operation."""
    if isinstance(value, dict):
        found = [value] if "nodes" in value else []
        return found + [one for inner in value.values() for one in _functions_in(inner)]
    return [one for inner in value for one in _functions_in(inner)] if isinstance(value, list) else []


def _has(node, flags):
    """Has an operation, or one of a function among its attributes, one of these flags?"""
    return not flags.isdisjoint(TABLE[node["op"]]["flags"]) or any(
        _has(inner, flags) for function in _functions_in(node["attrs"]) for inner in function["nodes"])


class _Cut:
    """The stages of a function that is described."""

    def __init__(self, described, kinds):
        self._kinds, self._nodes, self._outputs = list(kinds), described["nodes"], described["outputs"]
        self._arguments = len(kinds)
        self._made_by = {}  # number of a value -> its node
        self._numbers = []  # of each node's values
        for node in self._nodes:
            first = len(self._kinds)
            self._kinds += [{"dtype": one["dtype"], "shape": one["shape"]} for one in node["types"]]
            self._numbers.append(range(first, len(self._kinds)))
            self._made_by.update((number, node) for number in self._numbers[-1])
        self._asked = {place: said for place, node in enumerate(self._nodes) if (said := self._said(node)) is not None}
        self._live = self._needed()
        self._read_rows()
        self._stages, self._waiting, self._within = [], [], set()

    def program(self):
        """The stages as a dictionary for JSON; None where a value between them has no form in messages."""
        for place in sorted(self._live):
            node, said = self._nodes[place], self._asked.get(place)
            if said is not None:
                inputs = node["inputs"][1:]
                if said["do"] == "update" or not self._within.isdisjoint(inputs):
                    self._compute()
                self._stages.append({"said": said, "inputs": inputs, "outputs": list(self._numbers[place])})
            elif _has(node, _EFFECTS):
                self._compute()
                self._waiting = [place]
                self._compute()
            else:
                self._waiting.append(place)
                self._within.update(self._numbers[place])
        self._compute()
        used = set(self._outputs)
        for stage in reversed(self._stages):
            if "nodes" in stage:
                self._finish(stage, used)
            used.update(stage["inputs"])
        stages = [stage for stage in self._stages if stage.get("text", True)]
        crossing = used | {number for stage in stages for number in stage["outputs"]}
        if any(self._kinds[number]["dtype"] == "variant" for number in crossing if number >= self._arguments):
            return None
        return {"stages": stages, "outputs": self._outputs}

    def _said(self, node):
        """What a node asks of other tasks; None of others."""
        if node["op"] != "call" or node["attrs"].get("name") != remote.NAME:
            return None
        return json.loads(self._made_by[node["inputs"][0]]["attrs"]["value"]["data"][0])

    def _is_effect(self, place):
        """Does an operation more than compute? Reads of variables do not."""
        if place in self._asked:
            return self._asked[place]["do"] != "read"
        return self._nodes[place]["op"] == "assert" or _has(self._nodes[place], _EFFECTS)

    def _needed(self):
        """The places of the operations that results and effects follow from."""
        needed, live = set(self._outputs), set()
        for place in reversed(range(len(self._nodes))):
            if self._is_effect(place) or not needed.isdisjoint(self._numbers[place]):
                live.add(place)
                needed.update(self._nodes[place]["inputs"][place in self._asked:])
        return live

    def _read_rows(self):
        """Reads of variables of which nothing but rows is used read these rows alone."""
        users = {}  # of a value
        for place in self._live:
            for number in self._nodes[place]["inputs"]:
                users.setdefault(number, []).append(place)
        effects = [place for place in sorted(self._live) if self._is_effect(place)]
        for read in [place for place in self._live if self._asked.get(place, {}).get("do") == "read"]:
            number, = self._numbers[read]
            gathers = users.get(number, [])
            changes = any(read < place < max(gathers) for place in effects) if gathers else True
            if number in self._outputs or changes or not all(self._takes_rows(place, number) for place in gathers):
                continue
            self._live.discard(read)
            for place in gathers:
                self._asked[place] = {**self._asked[read], "do": "rows"}

    def _takes_rows(self, place, number):
        """Is an operation the gather of rows of this value, and does nothing else with it?"""
        node = self._nodes[place]
        return (node["op"] == "gather" and node["attrs"].get("axis") in (None, 0)
                and not node["attrs"].get("batch_dims") and node["inputs"][0] == number != node["inputs"][1])

    def _compute(self):
        """What waits is computed now."""
        if self._waiting:
            self._stages.append({"nodes": self._waiting})
            self._stages[-1]["inputs"] = sorted({
                number for place in self._waiting for number in self._nodes[place]["inputs"]}.difference(
                    number for place in self._waiting for number in self._numbers[place]))
        self._waiting, self._within = [], set()

    def _finish(self, stage, used):
        """Writes a stage's function, whose outputs are the values that are used behind it."""
        places = stage.pop("nodes")
        nodes = [self._nodes[place] for place in places]
        made = [number for place in places for number in self._numbers[place]]
        outputs = [number for number in made if number in used]
        stage["outputs"], stage["text"] = outputs, ""
        asserts = any(node["op"] != "constant" for node in nodes)
        if not outputs and not asserts:
            return
        names = {number: place for place, number in enumerate([*stage["inputs"], *made])}
        stage["text"] = json.dumps({
            "input": {"tuple": [self._kinds[number] for number in stage["inputs"]]},
            "output": {"tuple": [self._kinds[number] for number in outputs or made[-1:]]},
            "nodes": [{**node, "inputs": [names[number] for number in node["inputs"]]} for node in nodes],
            "outputs": [names[number] for number in outputs or made[-1:]]})
        is_large = any(_has(node, {"large"}) for node in nodes)
        branches = any(_has(node, {"random"}) or _functions_in(node["attrs"]) for node in nodes)
        stage["large"] = is_large and not branches


# ---- where it runs ----

def with_own_seeds(text, of_operators=True):
    """The JSON of a function or dataset in which what has no seed draws numbers of one worker's own."""
    is_of_any = '"unseeded"' in text or of_operators and '"pair_0"' in text
    return json.dumps(_reseeded(json.loads(text), of_operators)) if is_of_any else text


def _reseeded(value, of_operators):
    if isinstance(value, list):
        return [_reseeded(one, of_operators) for one in value]
    if not isinstance(value, dict):
        return value
    own = {"op_seed": secrets.randbits(62)} if value.get("unseeded") is True else {}
    if of_operators and "pair_0" in value and "seed" not in value:
        own = {"pair_0": secrets.randbits(62), "pair_1": secrets.randbits(62)}
    return {**{name: _reseeded(one, of_operators) for name, one in value.items()}, **own}


def _function(text):
    return _native.Function.from_json(with_own_seeds(text, False))


class Program:
    """A function that came as text."""

    def __init__(self, text):
        program = json.loads(text)
        self._whole = _function(program["whole"]) if "whole" in program else None
        self._stages = [_Stage(stage) for stage in program.get("stages", ())]
        self._outputs = program.get("outputs")

    def call(self, inputs):
        """The results for these inputs."""
        if self._whole is not None:
            return self._whole.call(inputs)
        values = dict(enumerate(inputs))
        with trace.eagerly():
            for kind, stages in itertools.groupby(self._stages, lambda stage: stage.kind):
                if kind in ("read", "rows", "update"):
                    group = list(stages)
                    found = remote.together([(stage.said, stage.given(values)) for stage in group])
                    for stage, tensors in zip(group, found):
                        stage.put(values, tensors)
                else:
                    for stage in stages:
                        stage.run(values)
            return [values[number] for number in self._outputs]


class _Stage:
    def __init__(self, stage):
        self.said = stage.get("said")
        self.kind = self.said["do"] if self.said is not None else "compute"
        self._inputs, self._outputs = stage["inputs"], stage["outputs"]
        if self.said is None:
            self._function = _function(stage["text"])
            self._step = steps.Step(self._function) if stage["large"] else None

    def given(self, values):
        """Its inputs."""
        return [values[number] for number in self._inputs]

    def put(self, values, tensors):
        """Notes its results."""
        values.update(zip(self._outputs, tensors))

    def run(self, values):
        """Computes, or asks, at once."""
        given = self.given(values)
        if self.said is not None:
            self.put(values, remote.perform(self.said, given))
            return
        found = self._step.run(given) if self._step is not None else None
        self.put(values, self._function.call(given) if found is None else found)
