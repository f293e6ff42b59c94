"""Variables on parameter servers, as the coordinator has them."""

import itertools
import os
import secrets
import weakref

from leat import _native
from leat._core import specs
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._structures.variables import Variable
from leat.distribute import peers, remote, updates
from leat.distribute.values import joined_class
from leat.errors import InvalidArgumentError

OWNER = secrets.token_hex(16)  # this process, among coordinators
_numbers = itertools.count(1)


class Keeper:
    """The parameter servers of a cluster: which tasks they are, and what they hold of this coordinator."""

    def __init__(self, tasks, incarnations):
        self.peers = tasks
        self._where = [{"task": one.name, "address": one.address,
                        "incarnation": peers.begin(one, incarnations[one.name], OWNER)} for one in tasks]
        self._functions = set()  # (task, key) of those that are there
        self._dropped = [[] for _ in tasks]  # numbers of variables that nobody has any more
        self._count = 0

    def next_task(self):
        """The server of the next variable: each in its turn."""
        self._count += 1
        return (self._count - 1) % len(self.peers)

    def where(self, task):
        """How calls name a server."""
        return self._where[task]

    def put_function(self, task, key, text):
        """Sees to it that a server has a function."""
        if (task, key) not in self._functions:
            remote.ask(self._where[task], "function", {"key": key, "text": text})
            self._functions.add((task, key))

    def make(self, task, value):
        """What stands for a new variable's native object."""
        made, dropped = Handle(self, task, next(_numbers)), self._dropped[task]
        gone, dropped[:] = list(dropped), []
        remote.ask(made.where, "make", {"number": made.number, "dropped": gone}, [value])
        weakref.finalize(made, dropped.append, made.number).atexit = False
        return made


class Handle:
    """Stands where a variable's native object stands, for one that lives on a server."""

    def __init__(self, keeper, task, number):
        self.keeper, self.task, self.number = keeper, task, number

    where = property(lambda self: self.keeper.where(self.task))

    def num_copies(self):
        """One, for all workers."""
        return 1

    def read(self):
        """The value as of now."""
        return remote.ask(self.where, "read", {"variables": [self.number]})[0]

    def read_copy(self, replica):
        """The same."""
        return self.read()

    def assign(self, value):
        """Sets the value."""
        self.update("assign", value)

    def assign_copy(self, replica, value):
        """The same."""
        self.assign(value)

    def update(self, function, value):
        """Sets it or adds to it."""
        remote.ask(self.where, "update", self.said(function), [value])

    def said(self, function):
        """How a call says that."""
        return {"updates": [{"variables": [self.number], "function": function, "inputs": 1}]}


class ServerVariable(Variable):
    """A variable on a parameter server, whose `device` says on which one."""

    distribute_strategy = property(lambda self: self._strategy, doc="The strategy in whose scope it was made.")
    _applies = staticmethod(updates.apply)
    _is_remote = True

    def _make_native(self, variable, value):
        """What a variable that is made beside this one has."""
        variable._device = self._device
        return self._native.keeper.make(self._native.task, value)

    @staticmethod
    def _distributed(kind, synchronization):
        return server_class(kind)

    def _shadow(self):
        return updates.native_like(self)

    def _read_node(self, graph):
        said = {"do": "read", **self._native.where, "variables": [self._native.number]}
        return remote.add(graph, said, [], (specs.TensorSpec(self.shape, self.dtype),))[0]

    def _assign_node(self, graph, value, add, combines):
        said = {**self._native.where, **self._native.said("assign_add" if add else "assign")}
        remote.add_update(graph, said, [value])

    def _write(self, value, add):
        if trace._state.graphs:
            super()._write(value, add)
            return
        self._check_value(value, add)
        self._check_addition(add)
        self._native.update("assign_add" if add else "assign", value)
        for tape in trace._state.tapes:
            tape._recording.forget_reads(self)

    def _change(self, key, body, *inputs):
        tensors = [convert_to_tensor(one) for one in inputs]
        updates.change([self], lambda values, given: [body(values[0], *given)], tensors, key)
        for tape in trace._state.tapes:
            tape._recording.forget_reads(self)
        return self

    def _changes_together(self, variables, body, inputs, key):
        updates.change(variables, body, inputs, key)


def server_class(kind):
    """The class of a variable of `kind` on a parameter server."""
    return joined_class(ServerVariable, kind)


def connect_seconds():
    """How long the tasks of a cluster are waited for."""
    text = os.environ.get("LEAT_CONNECT_TIMEOUT_S", "300")
    try:
        return float(text)
    except ValueError:
        raise InvalidArgumentError(None, None, f"LEAT_CONNECT_TIMEOUT_S is {text!r}; expected seconds") from None


def connect(cluster):
    """(Keeper, the workers as peers) of a cluster, all of whose tasks have answered."""
    tasks = {job: [peers.peer(peers.task_name(job, index), cluster.task_address(job, index))
                   for index in cluster.task_indices(job)] for job in ("ps", "worker")}
    found = peers.wait_for([*tasks["ps"], *tasks["worker"]], {"version": _native.version()},
                           connect_seconds())
    if len(set(found.values())) != len(found):
        raise InvalidArgumentError(None, None, "two tasks of the cluster are one process; give each an address of its "
                                   "own")
    return Keeper(tasks["ps"], found), tasks["worker"]
