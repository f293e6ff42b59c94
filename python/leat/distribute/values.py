"""Values that differ from replica to replica, and variables with a copy on each replica.

They print as TensorFlow prints them. A variable that is created in a strategy's scope becomes one of the two classes
here; what happens on assignment follows from where it is assigned: by all replicas together (inside of `run`), or for
all of them at once.
"""

import functools
import operator
import re

from leat import nest
from leat._core import specs
from leat._graph import trace
from leat._structures.variables import Variable, VariableAggregation, VariableSynchronization
from leat.distribute import scope


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
    _is_tensor = False

    @property
    def _type_spec(self):
        return PerReplicaSpec(*(nest.map_structure(nest.spec_of_leaf, value) for value in self._values))

    def _as_tensor(self):
        raise ValueError("It looks like you are using a PerReplica object while not inside a replica context, which is "
                         "not supported. Try running your op or function inside a replica context by using "
                         "`strategy.run`")

    def _dispatch(self, entry, values, arguments):
        self._as_tensor()


def _first_of(value):
    return value.values[0] if isinstance(value, Mirrored) else value


def _computed(function, reflected=False):
    """An operator of the value that all replicas have."""
    if reflected:
        return lambda self, other: function(_first_of(other), self.values[0])
    return lambda self, *others: function(self.values[0], *map(_first_of, others))


class Mirrored(DistributedValues):
    """The same value on each replica; it can be used as that value."""

    __add__, __radd__ = _computed(operator.add), _computed(operator.add, True)
    __sub__, __rsub__ = _computed(operator.sub), _computed(operator.sub, True)
    __mul__, __rmul__ = _computed(operator.mul), _computed(operator.mul, True)
    __truediv__, __rtruediv__ = _computed(operator.truediv), _computed(operator.truediv, True)
    __floordiv__, __rfloordiv__ = _computed(operator.floordiv), _computed(operator.floordiv, True)
    __mod__, __rmod__ = _computed(operator.mod), _computed(operator.mod, True)
    __pow__, __rpow__ = _computed(operator.pow), _computed(operator.pow, True)
    __matmul__, __rmatmul__ = _computed(operator.matmul), _computed(operator.matmul, True)
    __and__, __rand__ = _computed(operator.and_), _computed(operator.and_, True)
    __or__, __ror__ = _computed(operator.or_), _computed(operator.or_, True)
    __xor__, __rxor__ = _computed(operator.xor), _computed(operator.xor, True)
    __lt__, __le__, __gt__, __ge__ = map(_computed, (operator.lt, operator.le, operator.gt, operator.ge))
    __neg__, __invert__, __abs__ = map(_computed, (operator.neg, operator.invert, operator.abs))
    __getitem__ = _computed(operator.getitem)

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

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and `others`; None where there is none."""
        joined = self._value_specs
        for other in others:
            if type(other) is not type(self) or len(other._value_specs) != len(joined):
                return None
            joined = [one.most_specific_common_supertype([more]) for one, more in zip(joined, other._value_specs)]
        return None if None in joined else PerReplicaSpec(*joined)

    def _key(self):
        return tuple(nest.key(spec) for spec in self._value_specs)

    def _take(self, value):
        raise trace.NeedsPython("a value that differs from replica to replica is a result")

    def _json(self):
        raise trace.NeedsPython("a value that differs from replica to replica is an argument")

    def __repr__(self):
        return f"PerReplicaSpec({', '.join(map(repr, self._value_specs))})"


def check_structures(first, other, replica):
    """AssertionError where a replica's value has another structure than the first one's."""
    try:
        nest.assert_same_structure(first, other)
    except (TypeError, ValueError):
        raise AssertionError(f"replicas 0 and {replica} return different structures: {first} and {other}; expected "
                             "equal ones") from None


def regroup(values):
    """The structure of PerReplica values of one structure for each replica; the only one where there is one."""
    if len(values) == 1:
        return values[0]
    for replica, value in enumerate(values):
        check_structures(values[0], value, replica)
    return nest._map_all(lambda *leaves: PerReplica(leaves), values, True)


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def same(column):
    """Is a value the same on all replicas: one object, equal plain ones or one variable?"""
    first = column[0]
    return all(_is_one(value, first) or type(first) in _PLAIN and type(value) is type(first) and value == first
               for value in column)


def grouped(values, kind=PerReplica):
    """The structure of what replicas have, one structure for each: a PerReplica, or what `kind` says, where it is not
    one object."""
    for replica, value in enumerate(values):
        check_structures(values[0], value, replica)
    return nest._map_all(lambda *column: column[0] if all(_is_one(value, column[0]) for value in column)
                         else kind(column), values, True)


def _is_one(value, first):
    return value is first or (isinstance(value, Variable) and isinstance(first, Variable)
                              and value._native is first._native)


def select(replica, value):
    """The structure with the replica's own value in place of each PerReplica."""
    return nest.map_structure(lambda leaf: leaf.values[replica] if isinstance(leaf, DistributedValues) else leaf, value)


# ---- variables ----

def merging():
    """The replica's context in whose `merge_call` the caller is; None outside."""
    contexts = trace._state.contexts
    return contexts[-2][1] if len(contexts) > 1 and contexts[-1][1] is None else None


class _Copy:
    """Stands where a variable's native object stands, for one of its copies."""

    def __init__(self, native, replica):
        self._native = native
        self._replica = replica

    def read(self):
        return self._native.read_copy(self._replica)

    def assign(self, value):
        self._native.assign_copy(self._replica, value)


class _CopyVariable(Variable):
    """One of a variable's copies: a function that reads or assigns it runs in Python."""

    def __init__(self, *args, **kwargs):
        raise TypeError("a variable's copies are its `values`")

    def _as_tensor(self):
        self._check_not_traced()
        return super()._as_tensor()

    def _write(self, value, add):
        self._check_not_traced()
        super()._write(value, add)

    def _check_not_traced(self):
        if trace.is_tracing():
            raise trace.NeedsPython(f"variable {self.name} is one replica's copy")


def write_for_all(variable, write, value, add):
    """Assigns where the caller is: in a replica, for all of them at once, or in `merge_call`."""
    if variable._strategy is not None:
        scope.check_mixing(variable._strategy)
    running = trace.running_replica()
    if running is not None:
        return running.assign(variable, value, add)
    replica = merging()
    if replica is not None:
        with scope.entered(replica.strategy, replica.updating()):
            return write(value, add)
    if trace._state.graphs and trace.replica_context() is None and not trace._state.graphs[0].is_sketch:
        raise trace.NeedsPython(f"variable {variable.name} is assigned for all replicas at once")
    return write(value, add)


def check_variable(name, dtype, synchronization, aggregation):
    """ValueError where replicas cannot have copies of such a variable."""
    if synchronization is VariableSynchronization.NONE:
        raise ValueError("`NONE` variable synchronization mode is not supported with tf.distribute strategy. Please "
                         f"change the `synchronization` for variable: {name}")
    if aggregation is VariableAggregation.MEAN and not dtype.is_floating:
        raise ValueError("creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype is not "
                         f"supported, please use a different aggregation or dtype; variable {name} is of {dtype.name}")


def check_same_name(first, other, replica):
    """RuntimeError where replica `replica` makes another variable than the first one; numbers may differ."""
    if re.sub(r"_\d+(?=/|$)", "", first._name) != re.sub(r"_\d+(?=/|$)", "", other._name):
        raise RuntimeError(f"Tried to create variable {other._name} with mismatching name on device {replica}, where "
                           f"replica 0 created {first._name}; expected the same variables on all replicas")


def check_sum(variable, given):
    """ValueError where replicas that are not told apart assign one value, and the variable is the sum of theirs."""
    replica = trace.replica_context()
    if trace.running_replica() is not None:
        replica.given = given  # it is compared with the others' when replicas meet
        return
    if (replica is None or replica.updates or variable._aggregation is not VariableAggregation.SUM
            or replica.num_replicas_in_sync == 1):
        return
    if not hasattr(given, "_as_tensor") and not hasattr(given, "_has_values") or any(
            given is one for one in replica.captured):
        raise scope.no_sum(given, scope.ReduceOp.SUM)


def scattered(variable, scatter, kind, slices):
    """Scatters slices of every replica as the variable's aggregation says: those of all at once."""
    replica = trace.replica_context()
    sums = variable._aggregation in (VariableAggregation.SUM, VariableAggregation.MEAN)
    if sums and kind in ("min", "max", "update"):
        raise NotImplementedError(f"scatter_{kind} is only supported for mirrored variable (variable created within "
                                  "certain `tf.distribute.Strategy` scope) with NONE or `ONLY_FIRST_REPLICA` "
                                  f"aggregation, got: {variable._aggregation}.")
    if replica is None or replica.updates or not sums:
        return scatter(kind, slices)
    if trace.running_replica() is None:
        check_sum(variable, slices)
    if not any(slices is one for one in replica.captured):
        slices = replica.all_reduce(variable._aggregation.name, slices)
    with scope.entered(replica.strategy, replica.updating()):
        return scatter(kind, slices)


def own_value(variable):
    """The value as of now: where Python runs a replica, that of its copy."""
    replica = trace.running_replica()
    if replica is None or replica.strategy is not variable._strategy:
        return variable._native.read()
    return variable._native.read_copy(replica.local if variable._native.num_copies() > 1 else 0)


class DistributedVariable(Variable):
    """A variable with a copy on each replica; a Variable created in a strategy's scope is one of its two subclasses."""

    def __init__(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__} is made by leat.Variable in the scope of a strategy")

    @property
    def values(self):
        """The copies, in the order of the replicas; each can be read."""
        return tuple(self._copy(replica) for replica in range(self._native.num_copies()))

    @property
    def distribute_strategy(self):
        """The strategy in whose scope the variable was made."""
        return self._strategy

    def __deepcopy__(self, memo):
        if trace.strategy() is not None:
            return super().__deepcopy__(memo)
        with scope.entered(self._strategy):
            return super().__deepcopy__(memo)

    def _copy(self, replica):
        made = Variable.__new__(_CopyVariable)
        made.__dict__.update(self.__dict__)
        made._native = _Copy(self._native, replica)
        made._container = self
        if self._strategy is not None:
            made._device = self._strategy.extended.worker_devices[replica]
        if replica > 0:
            made._name = f"{self._name}/replica_{replica}"
        return made

    def _write(self, value, add):
        self._check_write(add)
        self._check_value(value, add)
        write_for_all(self, super()._write, value, add)

    def _read_now(self):
        return own_value(self)

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
        given = args[0] if args else kwargs.get("value", kwargs.get("delta"))
        check_sum(self, given)
        if isinstance(given, PerReplica) and not trace._state.contexts and not trace._state.graphs:
            return self._strategy.extended.update(self, inherited, (given,))
        result = inherited(self, *args, **kwargs)
        if result is not None and trace.running_replica() is not None:
            return self._read_now()
        if result is None or trace._state.graphs or self._native.num_copies() == 1:
            return result
        return Mirrored([copy._native.read() for copy in self.values])
    return assign


class MirroredVariable(DistributedVariable):
    """One value on all replicas: assignments combine what the replicas give, by the variable's aggregation."""

    assign, assign_add, assign_sub = map(_assigning, ("assign", "assign_add", "assign_sub"))

    @property
    def synchronization(self):
        """ON_WRITE, which AUTO stands for here."""
        return VariableSynchronization.ON_WRITE

    def _scattered_slices(self, kind, slices):
        return scattered(self, super()._scattered_slices, kind, slices)


class SyncOnReadVariable(DistributedVariable):
    """A value on each replica, which are combined when it is read outside of the replicas."""

    def __deepcopy__(self, memo):
        made = super().__deepcopy__(memo)
        each = PerReplica([copy._native.read() for copy in self.values])
        self._strategy.extended.update(made, lambda copy, value: copy.assign(value), (each,))
        return made

    def _check_one_value(self):
        if self._aggregation is VariableAggregation.NONE and trace.replica_context() is None:
            scope.ReduceOp.from_variable_aggregation(self._aggregation)

    def _as_tensor(self):
        self._check_one_value()
        if trace._state.graphs and trace.replica_context() is None:
            raise trace.NeedsPython(f"variable {self.name} is the combination of its copies")
        return super()._as_tensor()

    def numpy(self):
        """A copy of the values as a numpy array; ValueError where no aggregation says which."""
        self._check_one_value()
        return super().numpy()

    def _checkpoint_tensor(self):
        self._check_one_value()
        return super()._checkpoint_tensor()

    def _check_write(self, add):
        self._check_one_value()
        if add:
            self._check_sum("assign_add")

    def _check_sum(self, name):
        if trace.replica_context() is None and self._aggregation is VariableAggregation.SUM:
            raise ValueError(f"SyncOnReadVariable does not support `{name}` in cross-replica context when "
                             "aggregation is set to `tf.VariableAggregation.SUM`.")

    def assign_sub(self, *args, **kwargs):
        """Variable's."""
        self._check_sum("assign_sub")
        return super().assign_sub(*args, **kwargs)

    def _scattered_slices(self, kind, slices):
        raise NotImplementedError(f"Variables with `synchronization=ON_READ` doesn't support `scatter_{kind}`")


class AggregatingVariable(Variable):
    """One value that replicas share: what they assign is combined by the variable's aggregation first."""

    @property
    def values(self):
        """The variable itself: there is one value."""
        return (self,)

    distribute_strategy = DistributedVariable.distribute_strategy
    _read_now = own_value

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the values, combined where replicas assign; the variable itself."""
        check_sum(self, value)
        return super().assign(value, use_locking, name, read_value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to the values; the variable itself."""
        check_sum(self, delta)
        return super().assign_add(delta, use_locking, name, read_value)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from the values; the variable itself."""
        check_sum(self, delta)
        return super().assign_sub(delta, use_locking, name, read_value)

    def _scattered_slices(self, kind, slices):
        return scattered(self, super()._scattered_slices, kind, slices)

    def _write(self, value, add):
        replica = trace.replica_context()
        if self._aggregation is VariableAggregation.NONE and replica is not None and not replica.updates:
            raise ValueError("You must specify an aggregation method to update a AggregatingVariable in Replica "
                             "Context. You can do so by passing an explicit value for argument `aggregation` to "
                             "tf.Variable(..), e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)`; it may "
                             "be SUM, MEAN or ONLY_FIRST_REPLICA")
        self._check_value(value, add)
        write_for_all(self, super()._write, value, add)


@functools.cache
def joined_class(base, kind):
    """The class of a variable of `kind` that is kept as `base` says: the narrower of the two, or one made of both."""
    if issubclass(base, kind) or issubclass(kind, base):
        return base if issubclass(base, kind) else kind
    return type(kind.__name__, (base, kind), {"__module__": kind.__module__, "__doc__": kind.__doc__,
                                              "__init__": kind.__init__})


def central_class(kind):
    """The class of a variable of `kind` that replicas share."""
    return joined_class(AggregatingVariable, kind)


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
DistributedVariable._check_variable = staticmethod(check_variable)
