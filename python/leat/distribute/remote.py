"""What a function does at other tasks while it runs: reads, updates, the next element of an iterator.

Each is a call of the one callback that is registered here, in the function's order. Its first input is a text that says
what is asked of whom; so functions travel as plans, and run on any worker, or where they were traced.
"""

import collections
import contextlib
import itertools
import json
import sys
import threading

from leat import _native, dtypes, errors, nest
from leat._core import specs
from leat._core.tensor import constant, convert_to_tensor
from leat._graph import trace
from leat.distribute.peers import peer

NAME = "leat.distribute.remote"
_TEXT = specs.TensorSpec([], dtypes.string)
_sites = itertools.count(1)


class _Running(threading.local):
    """What this thread runs for a coordinator."""

    task = closure = turns = None


_running = _Running()


@contextlib.contextmanager
def running(task, closure):
    """In this block the thread runs a closure of a coordinator: a dictionary of its "session" (which coordinator),
    "closure" (its number there) and "floor", below which closures are over."""
    _running.task, _running.closure = task, closure
    _running.turns = collections.Counter()
    try:
        yield
    finally:
        _running.task = _running.closure = _running.turns = None


# ---- where it is traced ----

def add(graph, said, inputs, spec):
    """Adds to a graph what is `said`, a dictionary for JSON; the tensors of what comes back, a structure of `spec`."""
    graph.branches = True  # of which steps of the processor know nothing
    inputs = [trace.reach(graph, tensor) for tensor in (constant(json.dumps(said)), *inputs)]
    attributes = {"name": NAME, "input": nest.to_json((_TEXT, *map(nest.spec_of_leaf, inputs[1:]))),
                  "output": nest.to_json(spec)}
    return graph.call("call", json.dumps(attributes), inputs)


def add_update(graph, said, inputs):
    """Adds updates of variables, each of which has a mark of its own when the function runs."""
    graph.has_effects = True
    add(graph, {"do": "update", "site": next(_sites), **said}, inputs, (specs.TensorSpec([], dtypes.bool),))


def add_print(graph, text, stream):
    """Adds the printing of a text, at the task that runs the function."""
    if stream not in (None, sys.stderr, sys.stdout):
        raise errors.UnimplementedError(None, None, "tf.print on a worker is to its sys.stderr or sys.stdout")
    graph.has_effects = True
    add(graph, {"do": "print", "stream": "stdout" if stream is sys.stdout else "stderr"}, [text],
        (specs.TensorSpec([], dtypes.bool),))


# ---- where it runs ----

def ask(said, method, head, tensors=()):
    """The tensors that the task which `said` names answers with."""
    task = peer(said["task"], said["address"])
    return task.call(method, {"incarnation": said["incarnation"], **head}, tensors)[1]


def _marked(said):
    """The updates that are said; of a closure each has a mark: its place there, and how often that was reached."""
    if _running.closure is None:
        return said["updates"]
    _running.turns[said["site"]] += 1
    turn = _running.turns[said["site"]]
    return [{**one, "mark": [said["site"], turn, place]} for place, one in enumerate(said["updates"])]


def together(asked):
    """Reads, or updates, one call for each server: the results of each, for pairs of what is said and its inputs."""
    by_task, results = {}, [None] * len(asked)
    for place, (said, _) in enumerate(asked):
        by_task.setdefault(said["task"], []).append(place)
    for places in by_task.values():
        first = asked[places[0]][0]
        if first["do"] == "read":
            numbers = [one for place in places for one in asked[place][0]["variables"]]
            found = iter(ask(first, "read", {"variables": numbers}))
            for place in places:
                results[place] = [next(found) for _ in asked[place][0]["variables"]]
        elif first["do"] == "rows":
            numbers = [number for place in places for number in asked[place][0]["variables"]]
            found = ask(first, "rows", {"variables": numbers}, [asked[place][1][0] for place in places])
            for place, tensor in zip(places, found):
                results[place] = [tensor]
        else:
            updates = [one for place in places for one in _marked(asked[place][0])]
            ask(first, "update", {"updates": updates, **(_running.closure or {})},
                [tensor for place in places for tensor in asked[place][1]])
            for place in places:
                results[place] = [constant(True)]
    return results


def _next(said, inputs):
    if _running.task is None:
        raise errors.FailedPreconditionError(None, None, "an iterator of create_per_worker_dataset is on the workers; "
                                             "call the function by ClusterCoordinator.schedule")
    found = _running.task.next_of(int(inputs[0]))
    if said["optional"]:
        nothing = [convert_to_tensor(part) for part in inputs[1:]]
        return [constant(found is not None), *(nothing if found is None else found)]
    if found is None:
        raise errors.OutOfRangeError(None, None, "End of sequence")
    return found


def _print(said, inputs):
    print(inputs[0].numpy().decode("utf-8", "backslashreplace"), end="", flush=True,
          file=sys.stdout if said["stream"] == "stdout" else sys.stderr)
    return [constant(True)]


def perform(said, inputs):
    """The tensors that come of what is said."""
    alone = {"next": _next, "print": _print}.get(said["do"])
    return together([(said, inputs)])[0] if alone is None else alone(said, inputs)


def _call(tensors):
    with trace.eagerly():
        return perform(json.loads(tensors[0].numpy()), tensors[1:])


_native.Function.register(NAME, _call)
