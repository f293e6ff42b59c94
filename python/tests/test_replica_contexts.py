"""Where a program stands under strategies, and what replicas and merge_call see; expectations are TensorFlow 2.21's."""

import pytest

import leat as tf
from devices import BOTH_WAYS, TRACED, way  # noqa: F401

pytestmark = BOTH_WAYS

ONE = tf.distribute.OneDeviceStrategy("/cpu:0")
SINGLE = tf.distribute.MirroredStrategy(["/cpu:0"])
TWO = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def context():
    return tf.distribute.get_replica_context()


def values_of(value):
    return [one.numpy().tolist() for one in TWO.experimental_local_results(value)]


def test_a_strategy_is_set_and_taken_back():
    tf.distribute.experimental_set_strategy(TWO)
    try:
        with TWO.scope():
            for strategy in (None, TWO):
                with pytest.raises(RuntimeError, match="scope"):
                    tf.distribute.experimental_set_strategy(strategy)
        assert tf.distribute.get_strategy() is TWO and tf.distribute.in_cross_replica_context()
        with pytest.raises(RuntimeError, match="Mixing"):
            ONE.run(lambda: 1)
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


def test_a_variable_belongs_to_one_strategy():
    other = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with TWO.scope():
        variable = tf.Variable(3.0)
    assert values_of(other.run(lambda: variable + 1.0)) == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="Mixing"):
        other.run(lambda: variable.assign(5.0))
    assert TWO.extended.variable_created_in_scope(variable)
    assert not TWO.extended.variable_created_in_scope(tf.Variable(1.0))


def test_the_default_replica():
    def merge(strategy, text):
        assert tf.distribute.in_cross_replica_context() and context() is None
        assert strategy is tf.distribute.get_strategy() and not tf.distribute.has_strategy()
        return text + "!"
    assert context().merge_call(merge, args=("all",)) == "all!"
    assert type(context().replica_id_in_sync_group) is int and context().replica_id_in_sync_group == 0


@TRACED
def test_replicas_know_their_numbers_while_they_are_traced():
    names = ["left", "right"]
    calls = []

    def step():
        number = context().replica_id_in_sync_group
        calls.append(int(number.numpy()))
        return names[number], tf.fill([2], number * 10)
    name, filled = TWO.run(step)
    assert name.values == ("left", "right") and values_of(filled) == [[0, 0], [10, 10]]
    TWO.run(step)
    assert calls == [0, 1]  # one trace for each, once
    with pytest.raises(AssertionError, match="structures"):
        TWO.run(lambda: list(range(context().replica_id_in_sync_group)))


def test_what_all_replicas_return_is_one_value():
    outside = tf.constant([3.0, 4.0])
    assert TWO.run(lambda: outside) is outside
    total = TWO.run(lambda: context().merge_call(lambda s, x: s.reduce("SUM", x, axis=None), args=(tf.constant(2.0),)))
    assert total.numpy() == 4.0
    assert values_of(TWO.run(lambda: tf.constant(2.0))) == [2.0, 2.0]


@pytest.mark.parametrize("strategy, sum_, mean", [(TWO, 21.0, 21.0 / 5), (SINGLE, 3.0, 1.5), (ONE, 3.0, 1.5)])
def test_merge_call_reduces_along_an_axis(strategy, sum_, mean):
    def step(rows):
        def merge(strategy, rows):
            return strategy.reduce("SUM", rows, axis=0), strategy.reduce("MEAN", rows, axis=0)
        return context().merge_call(merge, args=(rows,))
    rows = strategy.experimental_distribute_values_from_function(
        lambda c: tf.range(1.0, 3.0) if c.replica_id_in_sync_group == 0 else tf.constant([5.0, 6.0, 7.0]))
    found = strategy.run(step, (rows,))
    assert [float(one) for one in found] == pytest.approx([sum_, mean])


def test_merge_call_sees_the_values_of_all_replicas():
    def merge(strategy, value):
        assert isinstance(value, tf.distribute.DistributedValues)
        return tf.add_n([one * one for one in strategy.experimental_local_results(value)])

    def step():
        return context().merge_call(merge, args=(tf.cast(context().replica_id_in_sync_group, tf.float32) + 2.0,))
    assert TWO.run(step).numpy() == 13.0


def test_merge_call_runs_replicas_and_assigns():
    with TWO.scope():
        variable = tf.Variable(1.0)

    def merge(strategy, value):
        variable.assign(6.0)
        doubled = strategy.run(lambda x: x * 2.0, args=(value,))
        variable.assign_add(strategy.reduce("SUM", doubled, axis=None))
        return doubled

    def step():
        number = tf.cast(context().replica_id_in_sync_group, tf.float32)
        return context().merge_call(merge, args=(number + 1.0,))
    assert values_of(TWO.run(step)) == [2.0, 4.0]
    assert values_of(variable) == [12.0, 12.0]


def test_what_merge_call_and_its_replicas_raise_arrives():
    def fail(*ignored):
        raise KeyError("mine")
    for merge in (fail, lambda strategy: strategy.run(fail),
                  lambda strategy: strategy.run(lambda: context().merge_call(fail))):
        with pytest.raises(KeyError, match="mine"):
            TWO.run(lambda merge=merge: context().merge_call(merge))


def test_replicas_share_the_variables_that_they_make():
    def step():
        return tf.Variable(2.0, name=f"part_{context().replica_id_in_sync_group.numpy()}")
    made = TWO.run(step)
    assert made.name == "part_0:0" and values_of(made) == [2.0, 2.0]
    names = TWO.experimental_distribute_values_from_function(lambda c: ["this", "that"][c.replica_id_in_sync_group])
    with pytest.raises(RuntimeError, match="name"):
        TWO.run(lambda name: tf.Variable(1.0, name=name), args=(names,))


def test_slices_are_gathered():
    def slices(number):
        values = tf.constant([[2.0, 4.0]]) * tf.cast(number + 1, tf.float32)
        return tf.IndexedSlices(values, tf.reshape(number, [1]) + 1, tf.constant([4, 2]))

    def step(operation):
        return context().all_reduce(operation, slices(context().replica_id_in_sync_group))
    for operation, first in (("SUM", [2.0, 4.0]), ("MEAN", [1.0, 2.0])):
        for found in TWO.experimental_local_results(TWO.run(step, (operation,))):
            assert found.indices.numpy().tolist() == [1, 2]
            assert found.values.numpy().tolist() == [first, [2 * one for one in first]]
    with pytest.raises(NotImplementedError, match="all_gather"):
        TWO.run(lambda: context().all_gather(slices(tf.constant(0)), axis=0))
    with pytest.raises(NotImplementedError, match="IndexedSlices"):
        TWO.gather(slices(tf.constant(0)), axis=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        TWO.gather(TWO.run(lambda: tf.constant(1.0)), axis=0)


def test_options_print_and_compare():
    options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    assert repr(options) == (
        "InputOptions(experimental_fetch_to_device=True, experimental_replication_mode=<InputReplicationMode."
        "PER_WORKER: 'PER_WORKER'>, experimental_place_dataset_on_device=False, "
        "experimental_per_replica_buffer_size=4)")
    assert options == tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    assert str(tf.distribute.experimental.CommunicationOptions(9)) == (
        "Options(bytes_per_pack=9,timeout_seconds=None, implementation=CommunicationImplementation.AUTO)")


@pytest.mark.parametrize("make", [
    tf.distribute.experimental.PreemptionWatcher, tf.distribute.experimental.rpc.Client,
    tf.distribute.experimental.rpc.Server])
def test_what_is_absent_says_so(make):
    with pytest.raises(tf.errors.UnimplementedError, match=make.__name__):
        make(2)


def test_replicas_exchange_equal_shapes(way):
    rows = TWO.experimental_distribute_values_from_function(
        lambda c: tf.fill([1, c.replica_id_in_sync_group + 1], 4.0))
    for call in (lambda x: context().all_reduce("SUM", x), lambda x: context().all_gather(x, axis=0)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="[Ss]hape"):
            TWO.run(call, (rows,))


def test_devices_are_those_of_the_replicas(way):
    first, second = TWO.extended.worker_devices
    assert TWO.experimental_local_results(TWO.run(lambda: context().devices)) == ((first,), (second,))
    found = []
    TWO.run(lambda: found.append((tf.constant(1.0) + 1.0).device))
    assert found == [first, second]
    with TWO.scope():
        assert tf.constant(1).device == first


def test_devices_of_blocks():
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=1)):
        variable = tf.Variable(1.0)
        assert tf.constant(1).device == variable.device == "/job:localhost/replica:0/task:0/device:CPU:1"
        with tf.device(None):
            assert tf.constant(1).device.endswith("CPU:0")
        @tf.function
        def within():
            found.append(tf.ones([]).device)
            with tf.device("cpu:1"):
                found.append(tf.ones([]).device)
        found = []
        within()
        assert not found[0] and found[1].endswith("CPU:1")
    with tf.device("gpu:0"):
        assert tf.constant(1).device.endswith("CPU:0")
    assert variable.device.endswith("CPU:1") and tf.Variable(1.0).device.endswith("CPU:0")
    with pytest.raises(RuntimeError, match="functions"):
        tf.device(lambda operation: "cpu:0")


def test_places_of_variables_and_sums():
    with TWO.scope():
        variable = tf.Variable(1.0)
    ones = TWO.run(lambda: tf.constant(1.0))
    assert [float(one) for one in TWO.extended.reduce_to("SUM", ones, variable).values] == [2.0, 2.0]
    assert float(TWO.extended.reduce_to("SUM", ones, "cpu:0")) == 2.0
    with pytest.raises(RuntimeError, match="scope"):
        TWO.extended.colocate_vars_with(variable)
    with TWO.scope(), pytest.raises(ValueError, match="created"):
        TWO.extended.colocate_vars_with(tf.constant(1.0))


def test_input_functions_of_older_programs():
    iterator = TWO.make_input_fn_iterator(lambda where: tf.data.Dataset.range(4))
    for _ in range(2):
        iterator.initialize()
        assert [[int(one) for one in step.values] for step in iterator] == [[0, 1], [2, 3]]
    batches = TWO.make_dataset_iterator(tf.data.Dataset.range(2).batch(2))
    found = TWO.experimental_run(lambda x: x + 1, batches)
    assert [one.numpy().tolist() for one in found.values] == [[1], [2]]
    numbers = iter(range(9))
    iterator = TWO.make_input_fn_iterator(lambda where: lambda: tf.constant(next(numbers)))
    assert [[int(one) for one in iterator.get_next().values] for _ in range(2)] == [[0, 1], [2, 3]]


def test_the_spec_of_an_optional_step_is_that_of_its_values():
    iterator = iter(TWO.experimental_distribute_dataset(tf.data.Dataset.from_tensors([1.0]).repeat(8).batch(8)))
    assert iterator.get_next_as_optional().element_spec._value_specs[0].shape == (4, 1)
    assert iterator.element_spec._value_specs[0].shape.as_list() == [None, 1]
