"""What replicas get of datasets: iterators that go on elsewhere, what dataset functions raise, exact means."""

import numpy as np
import pytest
from test_distribute import ONE, THREE, TWO, numbers, total

import leat as tf
from leat.distribute.values import PerReplica


# ---- dataset functions ----

@pytest.mark.parametrize("mode", tf.distribute.InputReplicationMode)
@pytest.mark.parametrize("before, after", [(TWO, TWO), (TWO, THREE), (THREE, ONE)])
def test_the_iterator_of_a_function_is_restored_on_other_replicas(before, after, mode):
    asked = []

    def make(context):
        asked.append((context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync))
        rows = tf.data.Dataset.range(50).shard(context.num_input_pipelines, context.input_pipeline_id)
        return rows.batch(context.get_per_replica_batch_size(6))
    options = tf.distribute.InputOptions(experimental_replication_mode=mode)

    def rows_of(strategy, step):
        return [row for part in strategy.experimental_local_results(step) for row in part.numpy().tolist()]
    iterator = iter(before.distribute_datasets_from_function(make, options))
    rows = rows_of(before, next(iterator)) + rows_of(before, next(iterator))
    state = iterator.save()
    left = [row for step in iterator for row in rows_of(before, step)]
    assert sorted(rows + left) == list(range(50))
    asked.clear()
    iterator = iter(after.distribute_datasets_from_function(make, options))
    iterator.restore(state)
    assert sorted(rows + [row for step in iterator for row in rows_of(after, step)]) == list(range(50))
    each = mode is tf.distribute.InputReplicationMode.PER_REPLICA
    assert all(of[0] == (of[2] if each else 1) for of in asked)


def test_what_a_dataset_function_raises_arrives():
    def fails(context):
        raise KeyError("no such column")
    with pytest.raises(KeyError, match="column"):
        TWO.distribute_datasets_from_function(fails)
    with pytest.raises(AttributeError, match="'element_spec'"):
        TWO.distribute_datasets_from_function(lambda context: 7)


def test_what_a_dataset_function_raises_when_a_state_is_restored_arrives():
    def make(context):
        if context.num_replicas_in_sync == 2:
            raise RuntimeError("two is no good")
        return tf.data.Dataset.range(8).batch(1)
    iterator = iter(TWO.distribute_datasets_from_function(lambda context: tf.data.Dataset.range(8).batch(1)))
    next(iterator)
    again = iter(THREE.distribute_datasets_from_function(make))
    with pytest.raises(RuntimeError, match="two"):
        again.restore(iterator.save())


# ---- rows of a step ----

@pytest.mark.parametrize("strategy", [ONE, TWO, THREE])
def test_exact_means_of_uneven_steps(strategy):
    # 17 rows in batches of 8: the last step has one row, so that two of three replicas have none.
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(1.0, 18, dtype=np.float32)).batch(8)
    with strategy.scope():
        weight = tf.Variable(2.0)

    def step(x):
        with tf.GradientTape() as tape:
            losses = weight * x
            loss = tf.nn.compute_average_loss(losses, global_batch_size=tf.distribute.global_rows(losses))
        return loss, total(tape.gradient(loss, weight)), tf.distribute.global_rows(losses)
    for rows, batch in zip(np.split(np.arange(1.0, 18), [8, 16]), strategy.experimental_distribute_dataset(dataset)):
        loss, gradient, count = strategy.run(step, args=(batch,))
        assert float(strategy.reduce("SUM", loss, axis=None)) == pytest.approx(2 * rows.mean(), rel=1e-6)
        for own in strategy.experimental_local_results(gradient):
            assert float(own) == pytest.approx(rows.mean(), rel=1e-6)
        assert [int(own) for own in strategy.experimental_local_results(count)] == [len(rows)] * len(
            strategy.extended.worker_devices)


def test_the_rows_of_a_step_without_any():
    found = TWO.run(lambda x: (tf.distribute.global_rows(x), tf.nn.compute_average_loss(
        x, global_batch_size=tf.distribute.global_rows(x))), args=(PerReplica([tf.zeros([0])] * 2),))
    assert [numbers(one) for one in found] == [[0, 0], [0.0, 0.0]]
    assert int(tf.distribute.global_rows(tf.zeros([3, 2]))) == 3  # outside of strategies there is one replica
    with TWO.scope(), pytest.raises(RuntimeError, match="global_rows"):
        tf.distribute.global_rows(tf.zeros([3]))


def test_a_function_that_asks_for_too_much():
    iterator = iter(TWO.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2)))

    @tf.function
    def step(iterator):
        return TWO.reduce("SUM", TWO.run(tf.reduce_sum, (next(iterator),)), axis=None)
    assert [int(step(iterator)) for _ in range(2)] == [1, 5]
    with pytest.raises(tf.errors.OutOfRangeError):
        step(iterator)


def test_a_run_may_end_where_a_replica_has_no_rows():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    counts = []
    for is_filled in (True, False):
        strategy.extended.experimental_enable_get_next_as_optional = is_filled
        made = strategy.distribute_datasets_from_function(lambda context: tf.data.Dataset.range(5).batch(1))
        iterator = iter(made)
        counts.append(len(list(iterator)))
        with pytest.raises(StopIteration):
            next(iterator)
    assert counts == [3, 2]


def test_the_narrowest_spec_of_two_inputs():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    datasets = [tf.data.Dataset.range(10).batch(2).batch(5), tf.data.Dataset.from_tensors(tf.zeros([5, 2], tf.int64))]
    wide, narrow = [strategy.experimental_distribute_dataset(one).element_spec for one in datasets]
    assert wide != narrow and wide == wide.most_specific_compatible_type(narrow)
    assert wide == narrow.most_specific_compatible_type(wide)
