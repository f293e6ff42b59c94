"""leat.distribute on logical CPU devices: steps, values, variables and data.

Printed forms are TensorFlow 2.21's. Numbers come from a plain model of one device.
"""

import gc
import weakref

import numpy as np
import pytest

import leat as tf
from devices import BOTH_WAYS, ONE, THREE, TRACED, TWO, numbers, replica_id, total, way  # noqa: F401
from leat.distribute.step import _MOST_STEPS
from leat.distribute.values import PerReplica

pytestmark = BOTH_WAYS


# ---- what is printed ----

def test_the_default_strategy_numbers_its_replica_in_run():
    def number():
        return tf.distribute.get_replica_context().replica_id_in_sync_group
    assert number() == 0 and isinstance(number(), int)
    found = tf.distribute.get_strategy().run(number)
    assert (found.dtype, found.numpy()) == (tf.int32, 0)


def test_printed_forms():
    value = TWO.run(lambda: tf.constant([1, 2]))
    assert str(value) == ("PerReplica:{\n  0: tf.Tensor([1 2], shape=(2,), dtype=int32),\n"
                          "  1: tf.Tensor([1 2], shape=(2,), dtype=int32)\n}")
    assert repr(value) == ("PerReplica:{\n"
                           "  0: <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>,\n"
                           "  1: <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>\n}")
    with TWO.scope():
        mirrored = tf.Variable(1.0, name="v")
        on_read = tf.Variable([1.0], name="r", synchronization=tf.VariableSynchronization.ON_READ,
                              aggregation=tf.VariableAggregation.SUM)
    assert repr(mirrored) == str(mirrored) == (
        "MirroredVariable:{\n  0: <tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>,\n"
        "  1: <tf.Variable 'v/replica_1:0' shape=() dtype=float32, numpy=1.0>\n}")
    assert repr(on_read) == ("SyncOnReadVariable:{\n"
                             "  0: <tf.Variable 'r:0' shape=(1,) dtype=float32, numpy=array([1.], dtype=float32)>,\n"
                             "  1: <tf.Variable 'r/replica_1:0' shape=(1,) dtype=float32, "
                             "numpy=array([1.], dtype=float32)>\n}")
    assert repr(mirrored.assign(3.0)) == (
        "Mirrored:{\n  0: <tf.Tensor: shape=(), dtype=float32, numpy=3.0>,\n"
        "  1: <tf.Tensor: shape=(), dtype=float32, numpy=3.0>\n}")
    assert mirrored.assign(4.0).numpy() == 4
    with ONE.scope():
        assert repr(tf.Variable(1.0, name="v")) == (
            "MirroredVariable:{\n  0: <tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>\n}")
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        assert repr(tf.Variable(1.0, name="v")) == "<tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>"
    spec = TWO.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2)).element_spec
    assert repr(spec) == ("PerReplicaSpec(TensorSpec(shape=(None,), dtype=tf.int64, name=None), "
                          "TensorSpec(shape=(None,), dtype=tf.int64, name=None))")


# ---- a training step, against one device ----

def data(rows):
    random = np.random.default_rng(3)
    x = random.normal(size=(rows, 3)).astype("float32")
    return x, (x @ [[1.0], [2.0], [3.0]]).astype("float32") + 0.5


def train(strategy, rows, batch, epochs):
    """Losses of each step of a linear model, and its weights."""
    with strategy.scope():
        weights, bias = tf.Variable(tf.zeros([3, 1])), tf.Variable(0.0)

    def step(x, y):
        with tf.GradientTape() as tape:
            predictions = tf.matmul(x, weights) + bias
            loss = tf.reduce_sum((predictions - y) ** 2) / batch
        gradients = total(tape.gradient(loss, [weights, bias]))
        for variable, gradient in zip([weights, bias], gradients):
            variable.assign_sub(0.1 * gradient)
        return loss, predictions

    @tf.function
    def distributed_step(x, y):
        loss, predictions = strategy.run(step, args=(x, y))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, loss, axis=None), predictions
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(data(rows)).batch(batch))
    losses = [float(distributed_step(x, y)[0]) for _ in range(epochs) for x, y in dataset]
    return losses, weights, bias


def model(rows, batch, epochs):
    x, y = data(rows)
    weights, bias, losses = np.zeros((3, 1), "float32"), np.float32(0), []
    for _ in range(epochs):
        for at in range(0, rows, batch):
            bx, by = x[at:at + batch], y[at:at + batch]
            wrong = bx @ weights + bias - by
            losses.append(float((wrong ** 2).sum() / batch))
            weights = weights - 0.1 * 2 * bx.T @ wrong / batch
            bias = bias - 0.1 * 2 * wrong.sum() / batch
    return losses, weights, bias


@pytest.mark.parametrize("strategy", [ONE, TWO, THREE, tf.distribute.OneDeviceStrategy("/device:CPU:1"),
                                      tf.distribute.MultiWorkerMirroredStrategy()])
def test_training_is_that_of_one_device(strategy):
    # 20 rows in batches of 8: the last batch is short, and on three replicas uneven.
    expected, weights, bias = model(20, 8, 10)
    losses, found, offset = train(strategy, 20, 8, 10)
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-6)
    assert losses[-1] < losses[0] / 20
    np.testing.assert_allclose(found.numpy(), weights, rtol=1e-4)
    for copy in getattr(found, "values", [found]):
        assert copy.numpy().tobytes() == found.numpy().tobytes()
    np.testing.assert_allclose(offset.numpy(), bias, rtol=1e-4)


def test_losses_are_the_same_bits_from_run_to_run():
    assert train(TWO, 20, 8, 5)[0] == train(TWO, 20, 8, 5)[0]


def test_a_step_returns_loss_and_predictions_by_replica():
    loss, predictions = TWO.run(lambda x: (tf.reduce_sum(x), {"predictions": x * 2, "number": 7, "none": None}),
                                args=(PerReplica([tf.constant([1.0, 2.0]), tf.constant([3.0])]),))
    assert numbers(loss) == [3.0, 3.0]
    assert numbers(predictions["predictions"]) == [[2.0, 4.0], [6.0]]
    assert (predictions["number"], predictions["none"]) == (7, None)
    assert TWO.gather(predictions["predictions"], axis=0).numpy().tolist() == [2, 4, 6]
    assert [one["number"] for one in TWO.experimental_local_results(predictions)] == [7, 7]


def test_arguments_that_are_not_per_replica_come_back_as_they_are():
    x = tf.constant([1.0])
    a, b, c = TWO.run(lambda a, b, c: (a, b, c), args=(x, "text"), kwargs={"c": np.float32(3)})
    assert a is x and b == "text" and c == 3


def test_values_of_a_function_reach_their_replica():
    values = TWO.experimental_distribute_values_from_function(lambda context: 10 * context.replica_id_in_sync_group)
    assert numbers(TWO.run(lambda x: tf.constant(1) * x, args=(values,))) == [0, 10]
    assert TWO.run(lambda x: x + 1, args=(values,)).values == (1, 11)


# ---- how often functions are traced ----

@TRACED
def test_one_trace_for_equal_shapes():
    traced = []

    def step(x):
        traced.append(x.shape[0])
        return x + 1
    for rows in ((2, 2), (2, 2), (2, 1), (1, 2), (2, 2)):
        value = TWO.run(step, args=(PerReplica([tf.zeros([n]) for n in rows]),))
        assert numbers(value) == [[1.0] * n for n in rows]
    assert traced == [2, 1]


def test_a_function_that_is_made_for_each_step_is_traced_once():
    traced = []

    @tf.function
    def step(iterator):
        def inner(x):
            traced.append(1)
            return x * 2
        return TWO.run(inner, args=(next(iterator),))
    iterator = iter(TWO.experimental_distribute_dataset(tf.data.Dataset.range(12).batch(4)))
    assert [numbers(step(iterator)) for _ in range(3)][-1] == [[16, 18], [20, 22]]
    assert len(traced) == 1


def test_what_a_function_captures_counts():
    def made(factor):
        return lambda x: x * factor
    x = tf.constant(2.0)
    assert [numbers(TWO.run(made(f), (x,)))[0] for f in (1.0, 2.0, 1.0)] == [2.0, 4.0, 2.0]


FACTOR, STEPS = 1.0, []


def scaled(x):
    STEPS.append(1)
    return x * FACTOR


@TRACED
def test_the_globals_that_a_function_reads_count(monkeypatch):
    # TensorFlow runs the function anew each time; a trace of before would be another function's.
    STEPS.clear()
    x = tf.constant(2.0)
    found = []
    for factor in (1.0, 3.0, 3.0, 1.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        found += [numbers(TWO.run(lambda x: scaled(x) + FACTOR, (x,)))[0], numbers(TWO.run(scaled, (x,)))[0]]
    assert found == [3.0, 2.0, 9.0, 6.0, 9.0, 6.0, 3.0, 2.0] and len(STEPS) == 4
    monkeypatch.setitem(globals(), "scaled", lambda x: x - 1)
    assert numbers(TWO.run(lambda x: scaled(x) + FACTOR, (x,)))[0] == 2.0


def test_functions_are_forgotten():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    class Held:
        pass
    held = Held()
    alive = weakref.ref(held)
    strategy.run(lambda: (held, tf.constant(1))[1])
    del held
    for i in range(_MOST_STEPS):
        strategy.run(lambda x, n: x + n, args=(tf.constant(1), i))
    gc.collect()
    assert alive() is None


def test_functions_that_drive_replicas_run_in_python(caplog):
    seen = []

    @tf.function
    def epoch(dataset):
        loss = tf.constant(0, tf.int64)
        for x in dataset:
            seen.append(1)
            loss += TWO.reduce("SUM", TWO.run(tf.reduce_sum, args=(x,)), axis=None)
        return loss
    dataset = TWO.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(4))
    assert [int(epoch(dataset)) for _ in range(2)] == [28, 28]
    assert len(seen) == 4 and caplog.text == ""


def test_a_function_may_assign_a_mirrored_variable():
    with TWO.scope():
        mirrored = tf.Variable(1.0)
        on_read = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ,
                              aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def assign(value):
        mirrored.assign(value)
        return mirrored * 2

    @tf.function
    def read():
        return on_read + 1.0
    assert float(assign(3.0)) == 6.0
    assert [float(copy) for copy in mirrored.values] == [3.0, 3.0]
    assert float(read()) == 3.0


# ---- exchanges ----

def test_all_reduce_of_structures():
    result = TWO.run(lambda: total({"a": tf.cast(replica_id(), tf.float32), "b": (replica_id(), 1.5)}))
    assert numbers(result["a"]) == [1.0, 1.0]
    assert [numbers(part) for part in result["b"]] == [[1, 1], [3.0, 3.0]]


def test_all_reduce_has_a_gradient():
    def step():
        x = tf.cast(replica_id() + 1, tf.float32)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = total(x * x) * x
        return tape.gradient(y, x)
    # y_r = (x_0^2 + x_1^2) x_r, and the gradients of the sum are summed over replicas.
    assert numbers(TWO.run(step)) == [5.0 + 3.0 * 2, 5.0 + 3.0 * 4]


def test_all_gather():
    result = TWO.run(lambda: tf.distribute.get_replica_context().all_gather(
        {"rows": tf.reshape(tf.cast(replica_id(), tf.float32), [1, 1]) + [[1.0, np.nan]],
         "bool": tf.reshape(replica_id() > 0, [1])},
        axis=0))
    np.testing.assert_equal(numbers(result["rows"]), [[[1.0, np.nan], [2.0, np.nan]]] * 2)
    assert numbers(result["bool"]) == [[False, True]] * 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="all_gather"):
        TWO.run(lambda: tf.distribute.get_replica_context().all_gather(1.0, axis=0))


def test_merge_call():
    with TWO.scope():
        variable = tf.Variable(1.0)

    def merge(strategy, value, extra):
        assert strategy is TWO and tf.distribute.get_replica_context() is None and extra == "extra"
        mean = strategy.extended.reduce_to("MEAN", value, variable)
        strategy.extended.update(variable, lambda v, x: v.assign_add(x), args=(mean,))
        return strategy.reduce("SUM", value, axis=None)
    result = TWO.run(lambda: tf.distribute.get_replica_context().merge_call(
        merge, args=(tf.cast(replica_id(), tf.float32),), kwargs={"extra": "extra"}))
    assert result.numpy() == 1.0  # one tensor for all replicas
    assert [float(copy) for copy in variable.values] == [1.5, 1.5]


@pytest.mark.parametrize("aggregation", list(tf.VariableAggregation))
def test_updates_are_not_combined(aggregation):
    for strategy in (TWO, tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"])):
        with strategy.scope():
            one, other = (tf.Variable(1.0, aggregation=aggregation) for _ in range(2))
        strategy.extended.update(one, lambda v, x: v.assign_add(x), args=(2.0,))

        def merge(merged, x):
            total = merged.extended.reduce_to("SUM", x, other)
            merged.extended.update(other, lambda v, y: v.assign(y), args=(total,))
        strategy.run(lambda: tf.distribute.get_replica_context().merge_call(
            merge, args=(tf.cast(replica_id() + 1, tf.float32),)))
        for variable in (one, other):
            assert {float(copy) for copy in strategy.experimental_local_results(variable)} == {3.0}
    alone = tf.Variable(1.0, aggregation=aggregation)
    tf.distribute.get_strategy().extended.update(alone, lambda v, x: v.assign_add(x), args=(2.0,))
    assert float(alone) == 3.0


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adamax"])
def test_optimizers_update_variables_whose_assignments_are_summed(name):
    found = []
    for aggregation in (tf.VariableAggregation.NONE, tf.VariableAggregation.SUM):
        with TWO.scope():
            variable = tf.Variable(1.0, aggregation=aggregation)
            optimizer = getattr(tf.keras.optimizers, name)(0.1)
        TWO.run(lambda: optimizer.apply_gradients([(tf.constant(1.0), variable)]))
        found.append([float(copy) for copy in variable.values])
    assert found[0] == found[1] and found[0][0] < 1


def test_central_storage():
    strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:0")
    assert strategy.num_replicas_in_sync == 2 and strategy.extended.parameter_devices == (
        "/job:localhost/replica:0/task:0/device:CPU:0",)
    for aggregation, expected in (("SUM", 13.0), ("MEAN", 7.0), ("ONLY_FIRST_REPLICA", 2.0)):
        with strategy.scope():
            variable = tf.Variable(1.0, name="v", aggregation=tf.VariableAggregation[aggregation])
        assert repr(variable) == "<tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>"
        assert type(variable).__name__ == "AggregatingVariable"
        strategy.run(lambda: variable.assign_add(10 * tf.cast(replica_id(), tf.float32) + 1))
        assert float(variable) == expected and strategy.experimental_local_results(variable) == (variable,)
        assert numbers(strategy.run(lambda: variable * 2)) == [2 * expected] * 2
    with strategy.scope():
        plain = tf.Variable(1.0)
    with pytest.raises(ValueError, match="`aggregation`"):
        strategy.run(lambda: plain.assign(2.0))
    assert float(plain.assign(2.0)) == 2.0
    assert tf.distribute.experimental.CentralStorageStrategy().num_replicas_in_sync == 1


def test_distributed_datasets_reduce():
    dataset = TWO.experimental_distribute_dataset(
        tf.data.Dataset.range(6).batch(4), tf.distribute.InputOptions(experimental_per_replica_buffer_size=0))
    assert dataset.reduce(0, lambda steps, x: steps + 1) == 2
    with pytest.raises(ValueError, match="experimental_per_replica_buffer_size"):
        TWO.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(4),
                                            tf.distribute.InputOptions(experimental_per_replica_buffer_size=-1))


def test_what_is_called_where():
    with pytest.raises(RuntimeError, match="merge_call"):
        TWO.run(lambda: TWO.scope().__enter__())
    with pytest.raises(RuntimeError, match="all_gather"):
        TWO.run(lambda: TWO.gather(tf.constant([1.0]), axis=0))
    with pytest.raises(ValueError, match="positional"):
        TWO.run(lambda x: x, args=tf.constant([1.0]))
    with pytest.raises(ValueError, match="dimension"):
        TWO.reduce("SUM", PerReplica([tf.constant([1.0])] * 2), axis=1)
    assert TWO.gather(tf.constant([1.0, 2.0]), axis=0).numpy().tolist() == [1, 2]
    assert TWO.experimental_local_results({"a": 7}) == TWO.unwrap({"a": 7}) == ({"a": 7}, {"a": 7})


def test_random_numbers_differ_between_replicas_and_runs():
    values = [number for _ in range(3) for number in numbers(TWO.run(lambda: tf.random.uniform([])))]
    assert len(set(values)) == 6


# ---- variables ----

@TRACED
def test_variables_made_outside_are_read_but_not_assigned():
    variable = tf.Variable(2.0)
    for value in (2.0, 3.0):
        variable.assign(value)
        assert numbers(TWO.run(lambda: variable * 2)) == [2 * value] * 2
    with pytest.raises(ValueError, match="scope"):
        TWO.run(lambda: variable.assign_add(1.0))


def test_variables_are_created_in_a_run_once():
    made = []

    def step():
        if not made:
            made.append(tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM))
        return made[0].assign_add(tf.constant(1.0))
    assert [numbers(TWO.run(step)) for _ in range(2)] == [[3.0, 3.0], [5.0, 5.0]]
    assert type(made[0]).__name__ == "MirroredVariable"


def test_the_copies_of_a_variable():
    with TWO.scope():
        variable = tf.Variable([1.0, 2.0], name="v", synchronization=tf.VariableSynchronization.ON_READ,
                               aggregation=tf.VariableAggregation.MEAN)
    TWO.run(lambda: variable.assign_add(tf.cast(replica_id(), tf.float32) + [0.0, 10.0]))
    assert [copy.numpy().tolist() for copy in TWO.experimental_local_results(variable)] == [[1, 12], [2, 13]]
    assert variable.numpy().tolist() == [1.5, 12.5]
    assert (variable.values[0] + variable.values[1]).numpy().tolist() == [3, 25]
    variable.values[0].assign([0.0, 0.0])
    assert variable.numpy().tolist() == [1, 6.5]
    with pytest.raises(TypeError):
        type(variable.values[0])(1.0)
    assert isinstance(variable, tf.Variable) and not variable.trainable
    with pytest.raises(TypeError):
        type(variable)(1.0)


def test_update_outside_of_replicas():
    with TWO.scope():
        variable = tf.Variable(1.0)
        TWO.extended.update(variable, lambda v, x: v.assign(x), args=(9.0,))
    assert [float(copy) for copy in variable.values] == [9.0, 9.0]


def test_a_checkpoint_holds_mirrored_variables(tmp_path):
    with TWO.scope():
        variable = tf.Variable(1.0)
        checkpoint = tf.train.Checkpoint(v=variable)
        variable.assign(5.0)
        path = checkpoint.save(str(tmp_path / "c"))
        variable.assign(6.0)
        checkpoint.restore(path)
    assert [float(copy) for copy in variable.values] == [5.0, 5.0]


# ---- data ----

def test_a_distributed_dataset():
    dataset = tf.data.Dataset.from_tensor_slices({"x": list(range(10)), "y": ["a"] * 10}).batch(4)
    distributed = TWO.experimental_distribute_dataset(dataset)
    assert len(distributed) == 3 == int(distributed.cardinality())
    assert [numbers(step["x"]) for step in distributed] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], [9]]]
    assert "2 replicas, policy DATA" in distributed.explain()
    with pytest.raises(TypeError, match="infinite"):
        len(TWO.experimental_distribute_dataset(dataset.repeat()))


def test_a_distributed_iterator_is_saved_and_restored():
    distributed = TWO.experimental_distribute_dataset(tf.data.Dataset.range(24).shuffle(24, seed=1).batch(4))
    iterator = iter(distributed)
    next(iterator)
    state = iterator.save()
    expected = [numbers(step) for step in iterator]
    assert len(expected) == 5
    iterator.restore(state)
    assert [numbers(step) for step in iterator] == expected


def test_get_next_as_optional():
    iterator = iter(TWO.experimental_distribute_dataset(tf.data.Dataset.range(3).batch(3)))
    first, end = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    assert bool(first.has_value()) and numbers(first.get_value()) == [[0, 1], [2]]
    assert not bool(end.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError):
        end.get_value()


def test_file_readers_of_functions_are_split_by_size(tmp_path):
    for name in "ab":
        with tf.io.TFRecordWriter(str(tmp_path / name)) as writer:
            for i in range(5):
                writer.write(str(i).encode())
    files = tf.data.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    dataset = files.interleave(tf.data.TFRecordDataset).map(lambda x: tf.strings.to_number(x, tf.int32)).batch(
        3, drop_remainder=True)
    distributed = THREE.experimental_distribute_dataset(dataset)
    assert "policy FILE" in distributed.explain()


def test_the_default_strategy():
    strategy = tf.distribute.get_strategy()
    dataset = tf.data.Dataset.range(3)
    assert strategy.num_replicas_in_sync == 1 and strategy.experimental_distribute_dataset(dataset) is dataset
    with strategy.scope():
        assert type(tf.Variable(1.0)) is tf.Variable
    assert strategy.run(lambda x: x.numpy() + 1, args=(tf.constant(1),)) == 2
    assert strategy.reduce("SUM", tf.constant([1, 2]), axis=0).numpy() == 3
    assert int(tf.distribute.get_replica_context().all_reduce("SUM", 5)) == 5
    tf.distribute.experimental_set_strategy(TWO)
    try:
        assert tf.distribute.get_strategy() is TWO
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert tf.distribute.get_strategy() is strategy
