"""leat.distribute on logical CPU devices: the examples, and a model of Keras."""

import importlib.util
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import leat as tf
from devices import ONE, TWO, THREE, numbers

ROOT = pathlib.Path(__file__).resolve().parents[2]


def example(name, *arguments):
    done = subprocess.run([sys.executable, ROOT / "examples" / name, *map(str, arguments)], capture_output=True,
                          text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_per_replica():
    text = example("per_replica.py", "--devices", 2)
    assert text.startswith("Number of devices: 2\nInputs: PerReplica:{\n"
                           "  0: tf.Tensor([0.], shape=(1,), dtype=float32),\n"
                           "  1: tf.Tensor([1.], shape=(1,), dtype=float32)\n}\nLabels: PerReplica:{\n"
                           "  0: tf.Tensor([0], shape=(1,), dtype=int32),\n"
                           "  1: tf.Tensor([1], shape=(1,), dtype=int32)\n}\n")
    assert text.count("Inputs:") == 5
    text = example("per_replica.py")
    assert text.startswith("Number of devices: 1\nInputs: tf.Tensor([0. 1.], shape=(2,), dtype=float32)\n"
                           "Labels: tf.Tensor([0 1], shape=(2,), dtype=int32)\n")


def losses_of(text):
    return [float(line.split("Loss: ")[1].split(",")[0]) for line in text.splitlines() if line.startswith("Epoch")]


@pytest.mark.parametrize("devices", [1, 2])
def test_mirrored_training(devices):
    text = example("mirrored_training.py", "--devices", devices, "--epochs", 3)
    assert text.startswith(f"Number of devices: {devices}\n")
    # A batch of 32 is split 16 + 16.
    assert f"Predictions: {[tf.TensorShape([32 // devices, 10])] * devices}\n" in text
    losses = losses_of(text)
    assert len(losses) == 3 and losses[0] > losses[1] > losses[2] and losses[2] < 0.7 * losses[0]


@pytest.mark.parametrize("devices", [1, 2])
def test_preprocess_cache(devices):
    text = example("preprocess_cache.py", "--devices", devices, "--epochs", 5, "--pictures", 32, "--batch-size", 16)
    losses = losses_of(text)
    assert len(losses) == 5 and losses[4] < losses[0]


def elements(iterator):
    """How many elements each operator gave, by name; those of equal names together."""
    found = {}
    for line in str(iterator.explain()).splitlines()[1:]:
        words = line.split()
        if len(words) == 11:
            found[words[0]] = max(found.get(words[0], 0), int(words[1]))
    return found


def module_of(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_second_epoch_reads_the_cache_while_the_replicas_compute():
    distributed = TWO.experimental_distribute_dataset(module_of("preprocess_cache").make_dataset(24, 8))
    for epoch in range(2):
        iterator = iter(distributed)
        images, labels = next(iterator)
        assert [part.shape.as_list() for part in images.values] == [[4, 224, 224, 3]] * 2
        # One step is taken; the pipeline goes on by itself.
        until = time.monotonic() + 60
        while elements(iterator)["batch"] < 2 and time.monotonic() < until:
            numbers(TWO.run(tf.reduce_mean, args=(images,)))
        assert elements(iterator)["batch"] >= 2
        assert len(list(iterator)) == 2
        found = elements(iterator)
        assert found["cache"] == 24 and found.get("map", 0) == (24 if epoch == 0 else 0)


@pytest.mark.parametrize("devices", [1, 2])
def test_small_cnn(devices):
    text = example("small_cnn.py", "--devices", devices, "--epochs", 2, "--pictures", 16, "--batch-size", 4)
    assert len(losses_of(text)) == 2 and text.count("Accuracy: ") == 2


@pytest.mark.parametrize("strategy", [ONE, TWO, THREE])
def test_a_model_of_keras_is_the_same_on_all_replicas(strategy):
    random = np.random.default_rng(5)
    x = random.normal(size=(40, 6)).astype("float32")
    y = x[:, :3].argmax(1).astype("int32")
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu", input_shape=(6,)),
                                     tf.keras.layers.Dense(3)])
        for variable in model.trainable_variables:
            variable.assign(random.normal(size=variable.shape).astype("float32"))
        optimizer = tf.keras.optimizers.Adam(0.05)
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = tf.nn.compute_average_loss(loss_object(labels, predictions), global_batch_size=16)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        accuracy.update_state(labels, predictions)
        return loss

    @tf.function
    def epoch(dataset):
        total_loss = 0.0
        for batch in dataset:
            total_loss += strategy.reduce("SUM", strategy.run(train_step, args=batch), axis=None)
        return total_loss
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(16))
    losses = [float(epoch(dataset)) for _ in range(15)]
    assert losses[-1] < losses[0] / 3
    accuracy.reset_state()
    epoch(dataset)
    assert float(accuracy.result()) > 0.9
    assert float(accuracy.variables[1].numpy()) == 40  # every row counts once, also in the short last batch
    variables = [*model.trainable_variables, *optimizer.variables]
    assert len(variables) == 4 + 2 + 8
    for variable in variables:
        assert len(variable.values) == strategy.num_replicas_in_sync
        for copy in variable.values:
            assert copy.numpy().tobytes() == variable.values[0].numpy().tobytes()
    assert int(optimizer.iterations) == 16 * 3
    _trained.append(losses)
    np.testing.assert_allclose(losses, _trained[0], rtol=1e-3)  # whatever the number of replicas


_trained = []
