"""Training under strategies: checkpoints in the middle of an epoch, and validation that counts each example once."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import leat as tf
from leat import _native, keras
from leat.keras import layers

if len(tf.config.list_logical_devices("CPU")) < 3:
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                               [tf.config.LogicalDeviceConfiguration()] * 3)
LEAT = pathlib.Path(_native.__file__).resolve().parents[2] / "bin/leat"
RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(30, 4)).astype(np.float32), RNG.integers(0, 3, 30)
STRATEGIES = {
    "default": tf.distribute.get_strategy, "one device": lambda: tf.distribute.OneDeviceStrategy("CPU:0"),
    "one replica": lambda: tf.distribute.MirroredStrategy(["CPU:0"]),
    "two replicas": lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]),
    "three replicas": lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"]),
    "central": lambda: tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"]),
    "alone": tf.distribute.MultiWorkerMirroredStrategy,
}


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


class Program:
    """A training loop of one's own, whose state is a checkpoint's."""

    def __init__(self, strategy):
        self.strategy = strategy
        keras.utils.set_random_seed(7)
        with strategy.scope():
            middle = [layers.BatchNormalization(), layers.Dropout(0.3)]
            if isinstance(strategy, tf.distribute.experimental.CentralStorageStrategy):
                middle = [layers.LayerNormalization()]  # the others assign what has no aggregation and one copy alone
            self.model = keras.Sequential([keras.Input((4,)), layers.Dense(5, activation="relu"), *middle,
                                           layers.Dense(3)])
            self.optimizer = keras.optimizers.Adam(0.05)
            self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            self.accuracy = keras.metrics.SparseCategoricalAccuracy()
        data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(30, seed=5).batch(4).repeat(2)
        self.iterator = iter(strategy.experimental_distribute_dataset(data))
        self.steps = tf.Variable(0, dtype=tf.int64)
        self.checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer, iterator=self.iterator,
                                              accuracy=self.accuracy, steps=self.steps)

    def step(self):
        def train(x, y):
            with tf.GradientTape() as tape:
                logits = self.model(x, training=True)
                loss = self.loss(y, logits)
            variables = self.model.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            self.accuracy.update_state(y, logits)
            return loss
        self.strategy.run(train, next(self.iterator))
        self.steps.assign_add(1)

    def run(self, until):
        while int(self.steps) < until:
            self.step()

    def state(self):
        return [*self.model.get_weights(), *[variable.numpy() for variable in self.optimizer.variables],
                np.float32(self.accuracy.result())]


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_loop_goes_on_from_a_checkpoint(tmp_path, name):
    whole = Program(STRATEGIES[name]())
    whole.run(14)
    first = Program(STRATEGIES[name]())
    manager = tf.train.CheckpointManager(first.checkpoint, tmp_path, max_to_keep=2)
    for until in (3, 6, 9):
        first.run(until)
        manager.save()
    assert len(manager.checkpoints) == 2
    again = Program(STRATEGIES[name]())
    again.step()  # whatever it did before is forgotten
    manager = tf.train.CheckpointManager(again.checkpoint, tmp_path, max_to_keep=2)
    assert manager.restore_or_initialize() == manager.latest_checkpoint
    assert int(again.steps) == 9
    again.run(14)
    for found, expected in zip(again.state(), whole.state(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    with pytest.raises(StopIteration):
        while True:
            again.step()
    assert int(again.steps) == 16


@pytest.mark.parametrize("rows", [1, 2, 5, 7, 29, 30])
@pytest.mark.parametrize("name", ["two replicas", "three replicas", "central"])
def test_validation_counts_each_example_once(rows, name):
    """Batches that leave replicas without rows, and tails of other sizes: as on one device."""
    def made():
        keras.utils.set_random_seed(3)
        model = keras.Sequential([keras.Input((4,)), layers.BatchNormalization(), layers.Dense(3)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(2)])
        return model
    alone = made()
    with STRATEGIES[name]().scope():
        several = made()
    data = tf.data.Dataset.from_tensor_slices((X[:rows], Y[:rows])).batch(4)
    found, expected = (model.evaluate(data, verbose=0, return_dict=True) for model in (several, alone))
    assert set(found) == set(expected)
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-5), key
    assert several.evaluate(X[:rows], Y[:rows], batch_size=4, verbose=0)[1] == pytest.approx(expected["accuracy"])
    np.testing.assert_allclose(several.predict(X[:rows], batch_size=4, verbose=0),
                               alone.predict(X[:rows], batch_size=4, verbose=0), atol=1e-6)


def test_validation_in_a_loop_of_ones_own_counts_each_example_once():
    """Program 9: a validation step with training=False and a metric, over pictures that do not divide evenly."""
    strategy = STRATEGIES["two replicas"]()
    with strategy.scope():
        model = keras.Sequential([keras.Input((4,)), layers.Dense(3)])
        accuracy, seen = keras.metrics.SparseCategoricalAccuracy(), keras.metrics.Sum()
    distributed = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((X[:5], Y[:5])).batch(4))

    @tf.function
    def validate(x, y):
        logits = model(x, training=False)
        accuracy.update_state(y, logits)
        seen.update_state(tf.ones_like(tf.cast(y, tf.float32)))
    for batch in distributed:
        strategy.run(validate, args=batch)
    assert float(seen.result()) == 5
    expected = np.mean(np.argmax(model.predict(X[:5], verbose=0), axis=1) == Y[:5])
    assert float(accuracy.result()) == pytest.approx(expected)


WORKER = """
import sys
import numpy as np
import leat as tf
sys.path.insert(0, {tests!r})
import test_keras_strategies as program

strategy = tf.distribute.MultiWorkerMirroredStrategy()
one = program.Program(strategy)
folder = sys.argv[1] + f"/{{strategy.cluster_resolver.task_id}}"
manager = tf.train.CheckpointManager(one.checkpoint, folder, max_to_keep=1)
print("from", manager.restore_or_initialize() is not None, int(one.steps))
one.run(int(sys.argv[2]))
manager.save()
print("state", [round(float(np.sum(np.abs(value))), 4) for value in one.state()])
"""


@pytest.mark.skipif(not LEAT.is_file(), reason="the tool is not built beside the package")
def test_workers_go_on_from_a_checkpoint(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(WORKER.format(tests=str(pathlib.Path(__file__).parent)))

    def launch(folder, until):
        done = subprocess.run([LEAT, "launch", "-n", "2", "--", sys.executable, str(path), str(tmp_path / folder),
                               str(until)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return sorted(re.sub(r"^\[worker (\d)\] ", r"\1 ", line) for line in done.stdout.splitlines())
    whole = launch("whole", 12)
    assert launch("parts", 5)[0] == "0 from False 0"
    found = launch("parts", 12)
    assert found[0] == "0 from True 5" and found[2] == "1 from True 5"
    assert found[1::2] == whole[1::2]


class Plain(keras.optimizers.Optimizer):
    """Gradient descent in Python."""

    def update_step(self, gradient, variable, learning_rate):
        self.assign_sub(variable, gradient * learning_rate)


class Halved(keras.optimizers.SGD):
    """Gradient descent with half of the gradient and twice the rate."""

    def update_step(self, gradient, variable, learning_rate):
        super().update_step(gradient * 0.5, variable, learning_rate * 2.0)


@pytest.mark.parametrize("name", ["default", "one replica", "two replicas", "three replicas"])
@pytest.mark.parametrize("kind", [Plain, Halved, lambda rate: keras.optimizers.LossScaleOptimizer(
    keras.optimizers.SGD(rate))])
def test_optimizers_of_ones_own_sum_gradients_over_replicas(name, kind):
    def trained(kind):
        strategy = STRATEGIES[name]()
        with strategy.scope():
            variable, optimizer = keras.Variable(np.array([1., 2.], np.float32), name="v"), kind(0.125)

        def one(x):
            with tf.GradientTape() as tape:
                loss = optimizer.scale_loss(tf.reduce_sum(variable * x))
            optimizer.apply_gradients(zip(tape.gradient(loss, [variable]), [variable]))
        data = tf.data.Dataset.from_tensor_slices(X[:24, :2]).batch(6)
        for batch in strategy.experimental_distribute_dataset(data):
            strategy.run(one, (batch,))
        optimizer.apply([optimizer.scale_loss(tf.constant([0.5, -0.25]))], [variable])
        copies = [copy.numpy() for copy in strategy.experimental_local_results(variable)]
        for copy in copies:
            np.testing.assert_array_equal(copy, copies[0])
        return copies[0]
    np.testing.assert_allclose(trained(kind), trained(keras.optimizers.SGD), rtol=1e-6)


@pytest.mark.parametrize("options, draws", [
    ({"dropout": 0.2}, [2, 4]), ({"dropout": 0.1, "recurrent_dropout": 0.2}, [16, 32])])
def test_recurrent_layers_draw_as_often_as_in_keras(options, draws):
    with STRATEGIES["two replicas"]().scope():
        model = keras.Sequential([layers.Embedding(10, 4, mask_zero=True), layers.LSTM(3, seed=5, **options)])
        model.compile("sgd", "mse")
    numbers = np.arange(40).reshape(8, 5) % 10
    model.fit(numbers, np.ones((8, 3)), batch_size=4, verbose=0)
    found = [model.layers[1].cell.seed_generator.state.numpy().tolist()]
    model.predict(numbers, batch_size=4, verbose=0)
    found.append(model.layers[1].cell.seed_generator.state.numpy().tolist())
    assert found == [[5, draws[0]], [5, draws[1]]]
