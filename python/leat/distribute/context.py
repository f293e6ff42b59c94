"""What replicas exchange, and what stands for a replica.

While `run` traces, one ReplicaContext stands for all replicas: its replica id is a tensor without a
value, and what replicas exchange is an operation of the function that is traced. Where Python runs the function
instead, replicas.py has what holds.
"""

import copy
import json

from leat import dtypes, nest
from leat._core.tensor import Tensor, constant, convert_to_tensor
from leat._graph import trace
from leat._structures.indexed_slices import IndexedSlices
from leat.distribute.communication import CommunicationOptions
from leat.distribute.scope import ReduceOp, entered, no_sum, reduce_op as _reduce_op
from leat.distribute.values import DistributedValues, PerReplica, check_same_name, merging
from leat.errors import InvalidArgumentError


# ---- inside of a replica ----

class Merged(DistributedValues):
    """In `merge_call`: a value of every replica, of which this one's is here, a tensor of the traced function."""

    def __init__(self, tensor, strategy):
        super().__init__((tensor,))
        self._strategy = strategy
        self._gathered = None

    @property
    def values(self):
        """The values of all replicas of this process, gathered; NotTraceable where there are several processes."""
        if self._strategy._workers > 1:
            raise trace.NotTraceable("merge_call sees the values of the replicas of several processes as a whole: "
                                     "combine them by strategy.reduce or strategy.extended.reduce_to")
        if self._gathered is None:
            self._gathered = tuple(of_all(self._values[0], self._strategy.num_replicas_in_sync))
        return self._gathered


def of_all(tensor, replicas):
    """The tensors that all replicas have where this one has `tensor`, as a list; the shapes are equal."""
    from leat._graph import ops
    graph = trace.current_graph()
    whole = graph.call("all_gather", json.dumps({"axis": 0, "sizes": [1] * replicas}),
                       [trace.reach(graph, ops.FUNCTIONS["expand_dims"](tensor, 0))])[0]
    return ops.FUNCTIONS["unstack"](whole, replicas)


def is_merging():
    """Is the caller in the function of a `merge_call`?"""
    return merging() is not None


def combine(operation, tensors, strategy):
    """All-reduces tensors of the function that is traced, those of one dtype in one exchange."""
    replicas = strategy.num_replicas_in_sync
    if strategy._cross_device_ops is not None:
        return _combined_by(strategy._cross_device_ops, operation, tensors, replicas)
    if replicas == 1:
        return list(tensors)
    graph = trace.current_graph()
    out, groups = list(tensors), {}
    for i, tensor in enumerate(tensors):
        no_numbers(tensor)
        groups.setdefault(tensor.dtype, []).append(i)
    for dtype, places in groups.items():
        mean = operation is ReduceOp.MEAN and dtype.is_floating
        found = graph.call("all_reduce", json.dumps({"reduction": "MEAN" if mean else "SUM"}),
                           [trace.reach(graph, tensors[i]) for i in places])
        for i, tensor in zip(places, found):
            exact = mean or operation is ReduceOp.SUM
            out[i] = tensor if exact else _cast(tensor, dtypes.float64) / replicas
    return out


def no_numbers(tensor):
    """TypeError where a tensor that is reduced holds no numbers."""
    if tensor.dtype in (dtypes.string, dtypes.variant, dtypes.bool):
        raise TypeError(f"all_reduce of a {tensor.dtype.name} tensor; expected numbers")


def _combined_by(given, operation, tensors, replicas):
    """`batch_reduce` of tensors of the function that is traced, of which every replica has one."""
    pairs = []
    for tensor in tensors:
        value = PerReplica(of_all(tensor, replicas))
        pairs.append((value, value))
    found = given.batch_reduce(operation, pairs, CommunicationOptions())
    return [one.values[0] if isinstance(one, DistributedValues) else one for one in found]


def no_slices(value, name):
    """NotImplementedError where there are IndexedSlices in the structure."""
    if any(isinstance(leaf, IndexedSlices) for leaf in nest.flatten(value)):
        raise NotImplementedError(f"{name} does not support IndexedSlices")


def reduce_merged(strategy, operation, value, axis):
    """`Strategy.reduce` in `merge_call`: of a value of every replica, or of one that all have."""
    from leat._graph import ops
    differs = isinstance(value, Merged) or strategy.num_replicas_in_sync == 1
    tensor = convert_to_tensor(unwrapped(value))
    if axis is None:
        if not differs and operation is ReduceOp.SUM:
            raise no_sum(value, operation)
        return combine(operation, [tensor], strategy)[0] if differs else value
    check_axis(tensor, axis)
    if operation is ReduceOp.SUM:
        return combine(operation, [ops.FUNCTIONS["reduce_sum"](tensor, axis)], strategy)[0]
    if not tensor.dtype.is_floating:
        tensor = _cast(tensor, dtypes.float64)
    rows = _cast(ops.FUNCTIONS["shape"](tensor)[axis], tensor.dtype)
    total, rows = combine(ReduceOp.SUM, [ops.FUNCTIONS["reduce_sum"](tensor, axis), rows], strategy)
    return total / rows


def check_axis(tensor, axis):
    """ValueError where a tensor has no such dimension; None is any."""
    rank = tensor.shape.rank
    if axis is not None and rank is not None and not -rank <= axis < rank:
        raise ValueError(f"Invalid reduction dimension {axis} for input with {rank} dimensions.")


def rows_of(tensor, axes):
    """A tensor some of whose dimensions are one, the first."""
    from leat._graph import ops
    for axis in axes:
        check_axis(tensor, axis)
    first = [axis % tensor.shape.rank for axis in axes]
    others = [axis for axis in range(tensor.shape.rank) if axis not in first]
    moved = ops.FUNCTIONS["transpose"](tensor, first + others)
    return ops.FUNCTIONS["reshape"](moved, [-1, *(tensor.shape[axis] for axis in others)])


def _cast(tensor, dtype):
    from leat._graph import ops
    return ops.FUNCTIONS["cast"](tensor, dtype)


_NO_STRINGS = ("Value passed to parameter 'input' has DataType string not in list of allowed values: float32, float16, "
               "float64, int32, int64")


class UnknownSizes(BaseException):
    """Ends a trace at an all_gather whose sizes on the other replicas are not known yet."""

    def __init__(self, size, shape, axis):
        super().__init__()
        self.size, self.shape, self.axis = size, shape, axis


def check_joined(shapes, axis):
    """InvalidArgumentError where tensors of these shapes, one for each replica, cannot be gathered along `axis`."""
    first = shapes[0].as_list()
    for other in (shape.as_list() for shape in shapes[1:]):
        if len(first) != len(other):
            raise InvalidArgumentError(None, None, f"Shape mismatch: Shape must be rank {len(first)} but is rank "
                                       f"{len(other)}")
        for place, (here, there) in enumerate(zip(first, other)):
            if place != axis and here != there:
                raise InvalidArgumentError(
                    None, None, f"Shape mismatch: Dimension {place} in both shapes must be equal, but are {here} and "
                                f"{there}. Shapes are {first} and {other}.")


class ReplicaContext:
    """What a replica knows (``tf.distribute.ReplicaContext``)."""

    is_running = False  # does Python run for the replica? else its function is traced

    def __init__(self, strategy, sizes=None, replica=0, captured=(), made=None):
        self._strategy = strategy
        self.captured = captured  # what the function has from outside: the same objects on all replicas
        self._first_made = made  # the variables that another replica made; None in the first one
        self.made = []
        self._replica = replica  # its number among all
        self._sizes = sizes  # what each all_gather finds along its axis on every replica; None: the same on all
        self._passed = 0  # how many there were
        self.gathers = False  # was all_gather called?
        self.is_numbered = False  # was its number asked for?
        self.shared = []  # what merge_call returned: tensors that are the same on all replicas
        self.updates = False  # is each copy of a variable assigned by itself?

    strategy = property(lambda self: self._strategy)
    num_replicas_in_sync = property(lambda self: self._strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self):
        """The number of this replica: a scalar int32 tensor, in the default strategy outside of `run` 0."""
        self.is_numbered = True
        is_plain = self._strategy._native is None and not trace._state.default_runs
        return 0 if is_plain else constant(self._replica, dtypes.int32)

    @property
    def devices(self):
        """The name of the device that the replica runs on, in a tuple."""
        return (self.device,)

    @property
    def device(self):
        """The same name; a function that asks is traced for each replica."""
        self.is_numbered = True
        devices = self._strategy.extended._devices
        return devices[(self._replica - self._strategy._first) % len(devices)]

    def note_variable(self, variable):
        """A variable has been made: replicas share those that the first of them makes, in their order."""
        place = len(self.made)
        if self._first_made is not None and place < len(self._first_made):
            first = self._first_made[place]
            check_same_name(first, variable, self._replica)
            variable.__class__, variable.__dict__ = first.__class__, first.__dict__
        self.made.append(variable)

    def updating(self):
        """This context in `StrategyExtended.update`, where what replicas assign is not combined."""
        made = copy.copy(self)
        made.updates = True
        return made

    def __enter__(self):
        raise RuntimeError("a ReplicaContext is entered by Strategy.run")

    def __exit__(self, *error):
        pass

    def all_reduce(self, reduce_op, value, options=None):
        """The sum or mean over replicas of a structure of tensors, differentiable (``ReplicaContext.all_reduce``).

        IndexedSlices become those of all replicas one after the other, for MEAN divided by their number.
        """
        operation = _reduce_op(reduce_op)
        given = nest.flatten(value)
        if not any(isinstance(leaf, IndexedSlices) for leaf in given):
            return nest.pack_sequence_as(value, self._combine(operation, list(map(convert_to_tensor, given))))
        return nest.map_structure(lambda leaf: self._joined(operation, leaf) if isinstance(leaf, IndexedSlices)
                                  else self._combine(operation, [convert_to_tensor(leaf)])[0], value)

    def _combine(self, operation, tensors):
        return combine(operation, tensors, self._strategy)

    def _joined(self, operation, slices):
        values, indices = (self._gather(part, 0) for part in (slices.values, slices.indices))
        share = values / self.num_replicas_in_sync if operation is ReduceOp.MEAN else values
        return IndexedSlices(share, indices, slices.dense_shape)

    def all_gather(self, value, axis, options=None):
        """The replicas' tensors one after the other along `axis`, where alone their shapes may differ
        (``ReplicaContext.all_gather``)."""
        no_slices(value, "all_gather")
        return nest.map_structure(lambda leaf: self._gather(convert_to_tensor(leaf), axis), value)

    def _gather(self, tensor, axis):
        rank = tensor.shape.rank
        if self.num_replicas_in_sync == 1:
            return tensor
        if tensor.dtype is dtypes.string:
            raise TypeError(_NO_STRINGS)
        if not rank:
            raise InvalidArgumentError(None, None, "all_gather of a scalar: Can't concatenate scalars (use tf.stack)")
        if not -rank <= axis < rank:
            raise ValueError(f"all_gather along axis {axis} of a tensor of shape {tensor.shape}")
        axis %= rank
        if tensor.shape[axis] is None:
            raise trace.NotTraceable(f"all_gather along dimension {axis} of {tensor.shape}, which is not known")
        return self._rows_of_all(tensor, axis)

    def _rows_of_all(self, tensor, axis):
        sizes = self._sizes_of(tensor.shape, axis)
        graph = trace.current_graph()
        return graph.call("all_gather", json.dumps({"axis": axis, "sizes": list(sizes)}),
                          [trace.reach(graph, tensor)])[0]

    def _sizes_of(self, shape, axis):
        """What the next all_gather finds on every replica."""
        self.gathers = True
        if self._sizes is None:
            return [shape[axis]] * self.num_replicas_in_sync
        if self._passed == len(self._sizes):
            raise UnknownSizes(shape[axis], shape, axis)
        self._passed += 1
        return self._sizes[self._passed - 1]

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls ``merge_fn(strategy, *args, **kwargs)`` once for all replicas, outside of them.

        Where there are several replicas, the tensors of the arguments are values per replica there.
        """
        args, kwargs = nest.map_structure(self._wrapped, (tuple(args), kwargs or {}))
        with entered(self._strategy):
            result = merge_fn(self._strategy, *args, **kwargs)
        self.shared += [leaf for leaf in nest.flatten(result) if isinstance(leaf, Tensor)]
        return nest.map_structure(unwrapped, result)

    def run_merged(self, fn, args, kwargs):
        """`Strategy.run` in the function of a `merge_call`: each replica goes on with its own of the values."""
        args, kwargs = nest.map_structure(unwrapped, (tuple(args), kwargs))
        with entered(self._strategy, self):
            result = fn(*args, **kwargs)
        return nest.map_structure(self._wrapped, result)

    def _wrapped(self, leaf):
        is_tensor = hasattr(leaf, "_has_values") and self.num_replicas_in_sync > 1
        return Merged(leaf, self._strategy) if is_tensor else leaf


def unwrapped(leaf):
    """This replica's tensor of a Merged value; other leaves as they are."""
    return leaf._values[0] if isinstance(leaf, Merged) else leaf
