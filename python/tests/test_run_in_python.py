"""Strategy.run outside of a tf.function: Python runs for each replica and each time. Values are TensorFlow 2.21's."""

import numpy as np
import pytest

import leat as tf
from devices import ONE, TWO, numbers, replica_id, total

AGGREGATION, SYNCHRONIZATION = tf.VariableAggregation, tf.VariableSynchronization


def number():
    return tf.cast(replica_id(), tf.float32)


def made(aggregation="NONE", synchronization="AUTO", value=1.0):
    with TWO.scope():
        return tf.Variable(value, aggregation=AGGREGATION[aggregation],
                           synchronization=SYNCHRONIZATION[synchronization])


def copies(variable):
    return [float(one) for one in variable.values]


# ---- Python runs anew ----

def test_attributes_count_at_each_call():
    class Holder:
        rate = 1.0
    held = Holder()

    def scaled(x):
        return x * held.rate
    assert float(ONE.run(scaled, (tf.constant(3.0),))) == 3
    held.rate = 2.0
    assert float(ONE.run(scaled, (tf.constant(3.0),))) == 6


def test_what_is_made_inside_is_new_each_time():
    def variable():
        made = tf.Variable(1.0)
        made.assign_add(1.0)
        return made.read_value()
    assert [float(ONE.run(variable)) for _ in range(2)] == [2.0, 2.0]

    def drawn():
        return tf.random.Generator.from_seed(1).normal([])
    first, second = TWO.run(drawn), TWO.run(drawn)
    assert numbers(first) == numbers(second) == pytest.approx([-0.8793, 0.02066], abs=1e-4)


def test_python_runs_for_each_replica_in_turn():
    seen = []

    def step(x):
        seen.append(int(replica_id()))
        return len(seen), float(x.numpy()) + 1, x > 1
    count, value, is_large = TWO.run(step, (tf.constant(2.0),))
    assert count.values == (1, 2) and value.values == (3.0, 3.0) and numbers(is_large) == [True, True]
    assert TWO.run(step, (tf.constant(2.0),))[0].values == (3, 4)
    assert seen == [0, 1, 0, 1]


def test_what_is_one_object_comes_back_as_it_is():
    shared, held = tf.constant(1.0), object()
    assert TWO.run(lambda: shared) is shared and TWO.run(lambda: held) is held
    assert len(set(map(id, TWO.run(object).values))) == 2
    found = TWO.run(lambda: (1, 2.5, "a", None, [tf.constant(1)]))
    assert found[:4] == (1, 2.5, "a", None) and numbers(found[4][0]) == [1, 1]


def test_replicas_meet_at_merge_call():
    log = []

    def merge(strategy, x, text):
        log.append(("merge", text, tf.distribute.in_cross_replica_context()))
        return strategy.reduce("SUM", x, axis=None)

    def step():
        log.append(("before", int(replica_id())))
        result = tf.distribute.get_replica_context().merge_call(merge, args=(number() + 1, "all"))
        log.append(("after", int(replica_id())))
        return result
    assert float(TWO.run(step)) == 3.0
    assert log == [("before", 0), ("before", 1), ("merge", "all", True), ("after", 0), ("after", 1)]


def test_replicas_that_meet_unequally_often_are_refused():
    def step():
        if int(replica_id()) == 0:
            tf.distribute.get_replica_context().merge_call(lambda strategy: None)
    with pytest.raises(RuntimeError, match="different"):
        TWO.run(step)


def test_the_first_error_ends_all_and_arrives_as_it_is():
    ended = []

    def step(failing):
        try:
            if int(replica_id()) == failing:
                raise KeyError("mine")
            total(number())
        finally:
            ended.append(int(replica_id()))
    for failing in (0, 1):
        with pytest.raises(KeyError, match="mine"):
            TWO.run(step, (failing,))
    assert sorted(ended) == [0, 0, 1]  # the second never began where the first one failed
    assert numbers(TWO.run(lambda: total(number()))) == [1.0, 1.0]


# ---- variables ----

@pytest.mark.parametrize("aggregation, synchronization, expected", [
    ("NONE", "AUTO", [2, 3]), ("SUM", "AUTO", [4, 4]), ("MEAN", "AUTO", [2.5, 2.5]),
    ("ONLY_FIRST_REPLICA", "AUTO", [2, 2]), ("NONE", "ON_READ", [2, 3]), ("SUM", "ON_READ", [2, 3]),
    ("MEAN", "ON_READ", [2, 3])])
def test_assignments_combine_as_the_aggregation_says(aggregation, synchronization, expected):
    variable = made(aggregation, synchronization)

    def step():
        variable.assign_add(number() + 1)
        return variable.read_value()
    assert numbers(TWO.run(step)) == copies(variable) == expected


def test_an_assignment_returns_the_value_of_then():
    variable = made("SUM")
    found = TWO.run(lambda: variable.assign_add(number()))
    variable.assign(7.0)
    assert numbers(found) == [2.0, 2.0]


def test_one_value_for_all_is_not_added_up():
    variable = made("SUM")
    with pytest.raises(ValueError, match="non-DistributedValues"):
        TWO.run(lambda: variable.assign_add(1.0))
    variable = made("MEAN")
    TWO.run(lambda: variable.assign_add(1.0))
    assert copies(variable) == [2.0, 2.0]


def test_variables_made_outside_are_assigned_by_each_replica():
    variable = tf.Variable(0.0)
    TWO.run(lambda: variable.assign_add(1.0))
    assert float(variable) == 2.0


def test_a_tape_outside_records_what_runs_on_its_thread():
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        alone = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.distribute.OneDeviceStrategy("/cpu:0").run(lambda: alone * 2.0)
    assert float(tape.gradient(y, alone)) == 2.0
    with ONE.scope():
        mirrored = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = ONE.run(lambda: mirrored * 2.0)
    assert tape.gradient(y, mirrored) is None


# ---- functions inside, and around ----

def test_functions_inside_work_on_the_replicas_copies():
    mirrored, on_read = made("NONE", value=2.0), made("NONE", "ON_READ", 0.0)

    @tf.function
    def scaled(x):
        return x * mirrored

    @tf.function
    def add(x):
        on_read.assign_add(x)

    def step():
        mirrored.assign(number() + 5)
        add(number() + 1)
        add(number() + 1)
        return scaled(number() + 1)
    assert numbers(TWO.run(step)) == [5.0, 12.0] and copies(on_read) == [2.0, 4.0]


def test_functions_are_traced_as_before():
    seen = []

    def step(x):
        seen.append(1)
        return x + 1
    traced = tf.function(step)
    for _ in range(2):
        assert numbers(TWO.run(traced, (tf.constant(1),))) == [2, 2]
    assert len(seen) == 1
    whole = tf.function(lambda x: TWO.run(step, (x,)))
    before = None
    for _ in range(2):
        assert numbers(whole(tf.constant(1))) == [2, 2]
        before = before or len(seen)
    assert len(seen) == before
    tf.config.run_functions_eagerly(True)
    try:
        TWO.run(traced, (tf.constant(1),))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(seen) == before + 2


# ---- training ----

def test_a_step_of_keras_in_python():
    with TWO.scope():
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
        optimizer, mean = tf.keras.optimizers.SGD(0.1), tf.keras.metrics.Mean()

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x) ** 2) / 4.0
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        mean.update_state(loss)
        return loss
    x = TWO.experimental_distribute_values_from_function(
        lambda context: tf.ones([2, 2]) * (context.replica_id_in_sync_group + 1.0))
    losses = [numbers(TWO.run(step, (x,))) for _ in range(3)]
    np.testing.assert_allclose(losses, [[2.0, 8.0], [0.18, 0.18], [0.0072, 0.0288]], rtol=1e-4)
    assert float(mean.result()) == pytest.approx(np.mean(losses), rel=1e-5)
