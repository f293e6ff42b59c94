"""How values of replicas are put together: TensorFlow's cross-device operations, as objects.

A strategy needs none of them: its replicas reduce by the library's own collectives. Its argument `cross_device_ops`
changes what `ReplicaContext.all_reduce`, `reduce` in `merge_call` and `gather` do, where it is another operation than a
sum or mean: a class of the user's, or a ReductionToOneDevice with an `accumulation_fn`. Such an operation sees the
values of all replicas, inside of the function that `run` traces.
"""

from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat._structures.indexed_slices import IndexedSlices
from leat._structures.variables import Variable
from leat.distribute.communication import CommunicationOptions
from leat.distribute.scope import ReduceOp
from leat.distribute.values import DistributedValues, DistributedVariable, Mirrored, PerReplica


def _check_destinations(destinations):
    if not isinstance(destinations, (DistributedValues, Variable, Tensor, str)):
        raise ValueError("destinations must be one of a `DistributedValues` object, a tf.Variable object, or a device "
                         "string.")


def spread(value, destinations):
    """The value where it is wanted: on each device of a distributed destination, or once."""
    count = len(destinations.values) if isinstance(destinations, (DistributedValues, DistributedVariable)) else 1
    return value if count == 1 else Mirrored([value] * count)


def _per_replica(value):
    if isinstance(value, (DistributedValues, DistributedVariable)):
        return value
    return PerReplica((value if isinstance(value, IndexedSlices) else convert_to_tensor(value),))


def _joined(values):
    """The slices of all of them, as they stand."""
    return IndexedSlices(ops.FUNCTIONS["concat"]([one.values for one in values], 0),
                         ops.FUNCTIONS["concat"]([one.indices for one in values], 0), values[0].dense_shape)


def _reduced(reduce_op, value, accumulate):
    if reduce_op not in (ReduceOp.SUM, ReduceOp.MEAN):
        raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
    values = list(value.values)
    sparse = all(isinstance(one, IndexedSlices) for one in values)
    found = _joined(values) if sparse else accumulate([convert_to_tensor(one) for one in values])
    if reduce_op is ReduceOp.SUM:
        return found
    return _mean_of_slices(found, len(values)) if sparse else found / len(values)


def _mean_of_slices(slices, count):
    return IndexedSlices(slices.values / count, slices.indices, slices.dense_shape)


def reduced_slices(reduce_op, values):
    """The sum or mean of IndexedSlices: those of all of them as they stand."""
    found = _joined(values)
    return found if reduce_op is ReduceOp.SUM else _mean_of_slices(found, len(values))


class CrossDeviceOps:
    """How values are reduced over devices and copied to them, the base (``tf.distribute.CrossDeviceOps``).

    A class of one's own implements `reduce_implementation` and `batch_reduce_implementation`.
    """

    def reduce(self, reduce_op, per_replica_value, destinations, options=None):
        """The sum or mean (`ReduceOp`) of the values of replicas.

        `destinations`: a value per replica or a variable, on whose devices it is then, as a Mirrored value where these
        are several; or the name of a device. ValueError for anything else.
        """
        value = _per_replica(per_replica_value)
        _check_destinations(destinations)
        if len(value.values) == 1 and not isinstance(destinations, (DistributedValues, DistributedVariable)):
            return value.values[0]
        return self.reduce_implementation(reduce_op, value, destinations, options or CommunicationOptions())

    def batch_reduce(self, reduce_op, value_destination_pairs, options=None):
        """`reduce` of a list of (value, destinations); a list of what that gives."""
        pairs = []
        for pair in value_destination_pairs:
            if not isinstance(pair, tuple):
                raise ValueError("Each element of `value_destination_pairs` should be a tuple.")
            value, destinations = pair
            _check_destinations(destinations)
            pairs.append((_per_replica(value), destinations))
        return self.batch_reduce_implementation(reduce_op, pairs, options or CommunicationOptions())

    def broadcast(self, tensor, destinations):
        """The tensor on the devices of `destinations`: a Mirrored value where these are several."""
        _check_destinations(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        """What `reduce` calls with checked arguments; NotImplementedError in the base."""
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        """What `batch_reduce` calls with checked arguments; NotImplementedError in the base."""
        raise NotImplementedError("batch_reduce_implementation method must be implemented in descendants.")

    def broadcast_implementation(self, tensor, destinations):
        """What `broadcast` calls with checked arguments."""
        return spread(convert_to_tensor(tensor), destinations)

    def _gather(self, values, axis):
        return ops.FUNCTIONS["concat"](values, axis)

    def _is_sum(self):
        """Does it combine values as the library's collectives do?"""
        return False


class ReductionToOneDevice(CrossDeviceOps):
    """Adds up on one device and copies the sum from there (``tf.distribute.ReductionToOneDevice``).

    `accumulation_fn`: another function of the list of tensors; None: add_n. `reduce_to_device` changes nothing here:
    the devices of a process have one memory.
    """

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or ops.FUNCTIONS["add_n"]

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        """The sum, or what `accumulation_fn` gives; for MEAN divided by the number of replicas."""
        return spread(_reduced(reduce_op, per_replica_value, self.accumulation_fn), destinations)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        """One after the other."""
        return [self.reduce_implementation(reduce_op, value, destinations, options)
                for value, destinations in value_destination_pairs]

    def _is_sum(self):
        return type(self) is ReductionToOneDevice and self.accumulation_fn is ops.FUNCTIONS["add_n"]


class _AllReduce(CrossDeviceOps):
    def __init__(self, num_packs):
        self._num_packs = num_packs

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        """The sum or mean."""
        return spread(_reduced(reduce_op, per_replica_value, ops.FUNCTIONS["add_n"]), destinations)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        """One after the other."""
        return [self.reduce_implementation(reduce_op, value, destinations, options)
                for value, destinations in value_destination_pairs]

    def _is_sum(self):
        return type(self) in (NcclAllReduce, HierarchicalCopyAllReduce)


class NcclAllReduce(_AllReduce):
    """``tf.distribute.NcclAllReduce``; ValueError for a negative `num_packs`. Serves CPU devices, too."""

    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")
        super().__init__(num_packs)


class HierarchicalCopyAllReduce(_AllReduce):
    """``tf.distribute.HierarchicalCopyAllReduce``; ValueError for a negative `num_packs`."""

    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is specified")
        super().__init__(num_packs)


# ---- in a strategy ----

def for_strategy(given):
    """The strategy's operation: None where its collectives do the same, else what was given, of whatever type.

    What has not the methods fails where they are called, as in TensorFlow.
    """
    return None if given is None or isinstance(given, CrossDeviceOps) and given._is_sum() else given
