"""Cross-device operations: what they give and refuse, as TensorFlow 2.21, and what a strategy makes of them."""

import pytest
from devices import BOTH_WAYS, TRACED, TWO, numbers, total, way  # noqa: F401

import leat as tf
from leat.distribute.values import Mirrored, PerReplica

pytestmark = BOTH_WAYS

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
VALUE = PerReplica([tf.constant([1.0, 2.0]), tf.constant([2.0, 4.0])])
KINDS = pytest.mark.parametrize("make", [tf.distribute.ReductionToOneDevice, tf.distribute.HierarchicalCopyAllReduce,
                                         tf.distribute.NcclAllReduce])


def shown(value):
    if isinstance(value, Mirrored):
        return "Mirrored", numbers(value)
    assert not hasattr(value, "_values") or not isinstance(value, PerReplica)
    return "tensor", value.numpy().tolist()


@KINDS
def test_reduce(make):
    ops = make()
    with TWO.scope():
        variable = tf.Variable([0.0, 0.0])
    assert shown(ops.reduce(SUM, VALUE, VALUE)) == ("Mirrored", [[3, 6], [3, 6]])
    assert shown(ops.reduce(MEAN, VALUE, variable)) == ("Mirrored", [[1.5, 3], [1.5, 3]])
    assert shown(ops.reduce(SUM, VALUE, "CPU:0")) == ("tensor", [3, 6])
    assert shown(ops.reduce(SUM, VALUE, tf.Variable(1.0))) == ("tensor", [3, 6])
    assert shown(ops.reduce(SUM, VALUE, tf.constant(1.0))) == ("tensor", [3, 6])
    assert shown(ops.reduce(SUM, tf.constant([1.0]), "CPU:0")) == ("tensor", [1])
    whole = ops.reduce(MEAN, PerReplica([tf.constant([1, 2]), tf.constant([2, 4])]), "CPU:0")
    assert shown(whole) == ("tensor", [1.5, 3]) and whole.dtype == tf.float64


@KINDS
def test_reduce_refuses(make):
    ops = make()
    for destinations in (None, ("CPU:0", "CPU:1")):
        with pytest.raises(ValueError, match="destinations"):
            ops.reduce(SUM, VALUE, destinations)
    with pytest.raises(ValueError, match="`reduce_op`"):
        ops.reduce("MEAN", VALUE, VALUE)
    with pytest.raises(TypeError):
        ops.reduce(SUM, VALUE)


@KINDS
def test_batch_reduce_and_broadcast(make):
    ops = make()
    found = ops.batch_reduce(MEAN, [(VALUE, VALUE), (VALUE, "CPU:0")])
    assert [shown(one) for one in found] == [("Mirrored", [[1.5, 3], [1.5, 3]]), ("tensor", [1.5, 3])]
    with pytest.raises(ValueError, match="`value_destination_pairs`"):
        ops.batch_reduce(SUM, [VALUE])
    assert shown(ops.broadcast(tf.constant([1.0]), VALUE)) == ("Mirrored", [[1], [1]])
    assert shown(ops.broadcast(tf.constant([1.0]), "CPU:0")) == ("tensor", [1])
    with pytest.raises(ValueError, match="destinations"):
        ops.broadcast(tf.constant([1.0]), ["CPU:0"])


@KINDS
def test_slices_are_joined(make):
    slices = PerReplica([tf.IndexedSlices([[2.0]], [1], [3, 1]), tf.IndexedSlices([[4.0]], [1], [3, 1])])
    found = make().reduce(MEAN, slices, "CPU:0")
    assert found.values.numpy().tolist() == [[1], [2]] and found.indices.numpy().tolist() == [1, 1]


def test_num_packs():
    for make, name in ((tf.distribute.NcclAllReduce, "NCCL all-reduce"),
                       (tf.distribute.HierarchicalCopyAllReduce, "HierarchicalCopy")):
        make(num_packs=0)
        with pytest.raises(ValueError, match="num_packs"):
            make(num_packs=-1)


class Largest(tf.distribute.CrossDeviceOps):
    """The largest value of all replicas, whatever was asked for."""

    calls = []

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        self.calls.append((reduce_op, len(value_destination_pairs), options.bytes_per_pack))
        return [tf.reduce_max(tf.stack(value.values), axis=0) for value, _ in value_destination_pairs]


def test_the_base_class():
    base = tf.distribute.CrossDeviceOps()
    with pytest.raises(NotImplementedError, match="_reduce"):
        base.reduce(SUM, VALUE, VALUE)
    with pytest.raises(NotImplementedError, match="batch_reduce_implementation"):
        base.batch_reduce(SUM, [(VALUE, VALUE)])
    assert shown(base.broadcast(tf.constant(1.0), VALUE)) == ("Mirrored", [1, 1])
    assert shown(Largest().batch_reduce(SUM, [(VALUE, VALUE)])[0]) == ("tensor", [2, 4])


# ---- in a strategy ----

def mirrored(ops):
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=ops)


@KINDS
def test_a_strategy_of_a_known_operation_is_as_any(make):
    strategy = mirrored(make())
    assert numbers(strategy.run(total, (VALUE,))) == numbers(TWO.run(total, (VALUE,))) == [[3, 6], [3, 6]]


def test_a_strategy_calls_the_users_class():
    strategy = mirrored(Largest())
    Largest.calls.clear()
    assert numbers(strategy.run(lambda x: total({"a": x, "b": -x}), (VALUE,))["b"]) == [[-1, -2], [-1, -2]]
    assert Largest.calls[0] == (SUM, 2, 0)
    assert strategy.reduce("SUM", VALUE, axis=None).numpy().tolist() == [3, 6]  # as in TensorFlow
    assert strategy.gather(VALUE, axis=0).numpy().tolist() == [1, 2, 2, 4]


def test_a_strategy_calls_the_accumulation_function():
    strategy = mirrored(tf.distribute.ReductionToOneDevice(accumulation_fn=lambda values: values[0] * 10))
    assert numbers(strategy.run(total, (VALUE,))) == [[10, 20], [10, 20]]
    mean = strategy.run(lambda x: tf.distribute.get_replica_context().all_reduce("MEAN", x), (VALUE,))
    assert numbers(mean) == [[5, 10], [5, 10]]


@TRACED
def test_the_gradient_through_the_users_class():
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(total(x))
        return tape.gradient(y, x)
    assert numbers(mirrored(Largest()).run(step, (VALUE,))) == [[0, 0], [2, 2]]


@pytest.mark.parametrize("bad, name", [("nccl", "str"), (3, "int")])
def test_what_is_no_cross_device_operation(bad, name):
    strategy = mirrored(bad)
    with pytest.raises(AttributeError, match="'batch_reduce'"):
        strategy.run(total, (VALUE,))
    with pytest.raises(AttributeError, match="'_gather'"):
        strategy.gather(VALUE, axis=0)
    assert strategy.reduce("SUM", VALUE, axis=None).numpy().tolist() == [3, 6]
