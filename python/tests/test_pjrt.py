"""Devices of PJRT plug-ins, by the one that XLA makes of the host's cores: training as on the CPU.

What it is compared with are runs on CPU devices, which other tests compare with TensorFlow.
"""
import os
import subprocess
import sys

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat._core import devices

pytestmark = pytest.mark.skipif(devices.number("XLA_CPU") == 0, reason="the package xla-cpu-pjrt is not installed")


def pictures(rows=50):
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, 12, 12, 2)).astype("float32"), rng.integers(0, 5, rows)


def network(optimizer, small=False):
    """Layers of many kinds, or a few, made under the strategy that is open."""
    keras.utils.set_random_seed(3)
    model = keras.Sequential([
        keras.Input((12, 12, 2)), keras.layers.Flatten(), keras.layers.Dense(5)]) if small else keras.Sequential([
        keras.Input((12, 12, 2)), keras.layers.Conv2D(6, 3, padding="same", activation="relu"),
        keras.layers.BatchNormalization(), keras.layers.MaxPooling2D(), keras.layers.DepthwiseConv2D(3),
        keras.layers.LayerNormalization(), keras.layers.AveragePooling2D(2, padding="same"), keras.layers.Flatten(),
        keras.layers.Dropout(0.2), keras.layers.Dense(8, activation="gelu"), keras.layers.Dense(5)])
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def train(device, optimizer, small=False):
    """Losses of three epochs, with a last batch that is smaller, what predict says, and the weights."""
    x, y = pictures()
    with tf.distribute.OneDeviceStrategy(device).scope():
        model = network(optimizer(), small)
        history = model.fit(x, y, batch_size=16, epochs=3, verbose=0, shuffle=False)
        scores = model.evaluate(x, y, batch_size=16, verbose=0)
        return history.history["loss"], scores, model.predict(x, verbose=0), model.get_weights()


@pytest.mark.parametrize("optimizer", [
    lambda: keras.optimizers.Adam(0.01), lambda: keras.optimizers.SGD(0.01),
    lambda: keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True), lambda: keras.optimizers.RMSprop(0.005)],
    ids=["adam", "sgd", "nesterov", "rmsprop"])
def test_training_is_that_of_the_cpu(optimizer, request):
    small = "adam" not in request.node.name
    found, expected = train("XLA_CPU:0", optimizer, small), train("CPU:0", optimizer, small)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-2, atol=1e-3)
    for one, other in zip(found[3], expected[3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-2, atol=2e-3)


def test_a_run_is_the_same_again():
    found, again = (train("XLA_CPU:0", lambda: keras.optimizers.Adam(0.01), small=True) for _ in range(2))
    assert found[0] == again[0]
    assert all(np.array_equal(one, other) for one, other in zip(found[3], again[3], strict=True))


def test_variables_live_on_the_device():
    strategy = tf.distribute.OneDeviceStrategy("XLA_CPU:0")
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])
    variable.assign([3.0, 4.0])

    @tf.function
    def step(x):
        variable.assign_add(x)
        return variable * 2.0

    assert strategy.run(step, (tf.constant([1.0, 1.0]),)).numpy().tolist() == [8.0, 10.0]
    assert variable.numpy().tolist() == [4.0, 5.0]


def test_random_numbers_are_those_of_the_cpu():
    def draw():
        return (tf.random.uniform((3, 5)), tf.random.stateless_uniform((7,), [1, -2], -1.0, 3.0),
                tf.random.stateless_uniform((4,), [1, 2], 0, 100, tf.int32))

    def numbers(device):
        tf.random.set_seed(5)
        return [value.numpy() for value in tf.distribute.OneDeviceStrategy(device).run(draw)]

    for one, other in zip(numbers("XLA_CPU:0"), numbers("CPU:0"), strict=True):
        np.testing.assert_array_equal(one, other)


def test_operations_of_the_host_are_refused_by_name():
    strategy = tf.distribute.OneDeviceStrategy("XLA_CPU:0")

    @tf.function
    def step(x):
        return tf.linalg.svd(x)

    with pytest.raises(tf.errors.UnimplementedError, match="svd"):
        strategy.run(step, (tf.eye(3) * tf.constant(2.0),))


def test_devices_that_are_not_there():
    with pytest.raises(tf.errors.InvalidArgumentError, match="XLA_CPU:99"):
        tf.distribute.MirroredStrategy(["XLA_CPU:99"])
    with pytest.raises(ValueError, match="NPU"):
        tf.distribute.MirroredStrategy(["NPU:0"])
    assert [device.name for device in tf.config.list_logical_devices("XLA_CPU")] == [
        f"/device:{name}" for name in devices.names("XLA_CPU")]


# ---- settings, each in a process of its own ----

def run(code, **environment):
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True,
                          text=True, timeout=240)


REPLICAS = """
import numpy as np, leat as tf
from leat import keras
strategy = tf.distribute.MirroredStrategy()
keras.utils.set_random_seed(1)
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
history = model.fit(x, x.sum(1), batch_size=16, epochs=4, verbose=0, shuffle=False)
print(strategy.num_replicas_in_sync, " ".join(f"{loss:.5f}" for loss in history.history["loss"]))
"""


def test_replicas_of_the_environment():
    found, expected = run(REPLICAS, LEAT_DEVICES="xla_cpu:2"), run(REPLICAS, LEAT_DEVICES="cpu:2")
    assert found.returncode == 0, found.stderr
    assert found.stdout.split()[0] == "2"
    np.testing.assert_allclose(np.array(found.stdout.split(), float), np.array(expected.stdout.split(), float),
                               rtol=1e-4)


@pytest.mark.parametrize("plugin, text", [
    ("GPU=/nowhere/plugin.so", "plugin.so"), ("GPU=/lib/x86_64-linux-gnu/libm.so.6", "GetPjrtApi"),
    ("XLA_CPU=x", "jax-cuda13-pjrt")])
def test_plugins_that_are_none(plugin, text):
    done = run("import leat as tf; tf.distribute.MirroredStrategy(['GPU:0'])", LEAT_PJRT_PLUGIN=plugin)
    assert done.returncode == 1 and text in done.stderr, done.stderr
    # Nothing that asks for all devices fails for want of one.
    assert run("import leat as tf; tf.distribute.MirroredStrategy(); print(tf.config.list_physical_devices('GPU'))",
               LEAT_PJRT_PLUGIN=plugin).stdout == "[]\n"


def test_settings_that_are_none():
    done = run("import leat as tf; tf.distribute.MirroredStrategy()", LEAT_DEVICES="npu:2")
    assert done.returncode == 1 and "LEAT_DEVICES" in done.stderr
