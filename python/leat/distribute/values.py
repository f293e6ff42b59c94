"""Values that differ from replica to replica, and variables with a copy on each replica.

They print as TensorFlow prints them. A variable that is created in a strategy's scope becomes one of the two classes
here; what happens on assignment follows from where it is assigned: by all replicas together (inside of `run`), or for
all of them at once.
"""

import functools

from leat import nest, specs, trace
from leat.errors import UnimplementedError
from leat.variables import Variable, VariableAggregation, VariableSynchronization


def _lines(self, values, show):
    inner = ",\n".join(f"  {i}: {show(value)}" for i, value in enumerate(values))
    return f"{type(self).__name__}:{{\n{inner}\n}}"


class DistributedValues:
    """One value for each replica (``tf.distribute.DistributedValues``): the tuple `values`."""

    def __init__(self, values):
        self._values = tuple(values)

    values = property(lambda self: self._values)

    def __str__(self):
        return _lines(self, self._values, str)

    def __repr__(self):
        return _lines(self, self._values, repr)


class PerReplica(DistributedValues):
    """A value that may be another one on each replica."""

    _is_leaf_value = True

    @property
    def _type_spec(self):
        return PerReplicaSpec(*(nest.map_structure(nest.spec_of_leaf, value) for value in self._values))

    def _as_tensor(self):
        raise ValueError("It looks like you are using a PerReplica object while not inside a replica context, which is "
                         "not supported. Try running your op or function inside a replica context by using "
                         "`strategy.run`")


class Mirrored(DistributedValues):
    """The same value on each replica; it can be used as that value."""

    def __getattr__(self, name):
        return getattr(self._values[0], name)

    def _as_tensor(self):
        return self._values[0]


class PerReplicaSpec(specs.TypeSpec):
    """The type of a PerReplica value: the specs of its values."""

    __slots__ = ("_value_specs",)

    def __init__(self, *value_specs):
        self._value_specs = value_specs

    value_type = property(lambda self: PerReplica)

    def _covers(self, other):
        return len(self._value_specs) == len(other._value_specs) and all(
            map(nest.compatible, self._value_specs, other._value_specs))

    def _key(self):
        return tuple(nest.key(spec) for spec in self._value_specs)

    def _json(self):
        raise trace.NeedsPython("a value that differs from replica to replica is an argument")

    def __repr__(self):
        return f"PerReplicaSpec({', '.join(map(repr, self._value_specs))})"


def regroup(values):
    """The structure of PerReplica values of one structure for each replica; the only one where there is one."""
    if len(values) == 1:
        return values[0]
    return nest._map_all(lambda *leaves: PerReplica(leaves), values, True)


def select(replica, value):
    """The structure with the replica's own value in place of each PerReplica."""
    return nest.map_structure(lambda leaf: leaf.values[replica] if isinstance(leaf, DistributedValues) else leaf, value)


# ---- variables ----

class _Copy:
    """Stands where a variable's native object stands, for one of its copies."""

    def __init__(self, native, replica):
        self._native = native
        self._replica = replica

    def read(self):
        return self._native.read_copy(self._replica)

    def assign(self, value):
        raise UnimplementedError("one replica's copy of a variable cannot be assigned by itself; assign the variable, "
                                 "or assign it inside of strategy.run")


class DistributedVariable(Variable):
    """A variable with a copy on each replica; a Variable created in a strategy's scope is one of its two subclasses."""

    def __init__(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__} is made by leat.Variable in the scope of a strategy")

    @property
    def values(self):
        """The copies, in the order of the replicas; each can be read."""
        return tuple(self._copy(replica) for replica in range(self._native.num_copies()))

    def _copy(self, replica):
        made = Variable.__new__(Variable)
        made.__dict__.update(self.__dict__)
        made._native = _Copy(self._native, replica)
        if replica > 0:
            made._name = f"{self._name}/replica_{replica}"
        return made

    def _write(self, value, add):
        if trace._state.graphs and trace.replica_context() is None:
            raise trace.NeedsPython(f"variable {self.name} is assigned for all replicas at once")
        self._check_write(add)
        super()._write(value, add)

    def _check_write(self, add):
        pass

    def __repr__(self):
        if trace._state.graphs:
            return super().__repr__()
        return _lines(self, self.values, repr)

    __str__ = __repr__


def _assigning(name):
    """An assignment as Variable has it; outside of replicas its result is the value on each of them."""
    inherited = getattr(Variable, name)

    @functools.wraps(inherited)
    def assign(self, *args, **kwargs):
        result = inherited(self, *args, **kwargs)
        if result is None or trace._state.graphs or self._native.num_copies() == 1:
            return result
        return Mirrored([copy._native.read() for copy in self.values])
    return assign


class MirroredVariable(DistributedVariable):
    """One value on all replicas: assignments combine what the replicas give, by the variable's aggregation."""

    assign, assign_add, assign_sub = map(_assigning, ("assign", "assign_add", "assign_sub"))


class SyncOnReadVariable(DistributedVariable):
    """A value on each replica, which are combined when it is read outside of the replicas."""

    def _as_tensor(self):
        if trace._state.graphs and trace.replica_context() is None:
            raise trace.NeedsPython(f"variable {self.name} is the combination of its copies")
        return super()._as_tensor()

    def _check_write(self, add):
        if add and trace.replica_context() is None and self._aggregation is VariableAggregation.SUM:
            raise ValueError("SyncOnReadVariable does not support `assign_add` in cross-replica context when "
                             "aggregation is set to `tf.VariableAggregation.SUM`.")


class AggregatingVariable(Variable):
    """One value that replicas share: what they assign is combined by the variable's aggregation first."""

    @property
    def values(self):
        """The variable itself: there is one value."""
        return (self,)

    def _write(self, value, add):
        replica = trace.replica_context()
        if self._aggregation is VariableAggregation.NONE and replica is not None and not replica.updates:
            raise ValueError("You must specify an aggregation method to update a AggregatingVariable in Replica "
                             "Context. You can do so by passing an explicit value for argument `aggregation` to "
                             "tf.Variable(..), e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)`; it may "
                             "be SUM, MEAN or ONLY_FIRST_REPLICA")
        if trace._state.graphs and replica is None:
            raise trace.NeedsPython(f"variable {self.name} is assigned for all replicas at once")
        super()._write(value, add)


@functools.cache
def central_class(kind):
    """The class of a variable of `kind` that replicas share."""
    if issubclass(AggregatingVariable, kind) or issubclass(kind, AggregatingVariable):
        return AggregatingVariable if issubclass(AggregatingVariable, kind) else kind
    return type(kind.__name__, (AggregatingVariable, kind), {"__module__": kind.__module__, "__doc__": kind.__doc__,
                                                             "__init__": kind.__init__})


@functools.cache
def variable_class(kind, synchronization):
    """The class of a variable that a strategy of mirrored replicas makes as one of `kind`."""
    base = SyncOnReadVariable if synchronization is VariableSynchronization.ON_READ else MirroredVariable
    if issubclass(base, kind) or issubclass(kind, DistributedVariable):
        return base if issubclass(base, kind) else kind
    # A subclass of Variable keeps its constructor, its name and its printed form.
    kept = {name: getattr(kind, name) for name in ("__init__", "__repr__", "__str__", "assign", "assign_add",
                                                    "assign_sub")}
    return type(kind.__name__, (base, kind), {**kept, "__module__": kind.__module__, "__doc__": kind.__doc__})


DistributedVariable._distributed = staticmethod(variable_class)
