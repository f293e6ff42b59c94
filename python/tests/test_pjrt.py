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

DEVICE = os.environ.get("LEAT_TEST_DEVICE", "XLA_CPU:0")  # tools/gpu.sh names another

pytestmark = pytest.mark.skipif(devices.number(DEVICE.partition(":")[0]) == 0,
                                reason="the package xla-cpu-pjrt is not installed")


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
    found, expected = train(DEVICE, optimizer, small), train("CPU:0", optimizer, small)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-2, atol=1e-3)
    for one, other in zip(found[3], expected[3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-2, atol=2e-3)


@pytest.mark.parametrize("policy, error", [("mixed_bfloat16", 0.05), ("mixed_float16", 0.01)])
def test_mixed_precision(policy, error):
    """Steps in halves, of float16 with a scaled loss, which end within their precision of the CPU's."""
    def losses(device):
        x, y = pictures(64)
        keras.config.set_dtype_policy(policy)
        with tf.distribute.OneDeviceStrategy(device).scope():
            model = network(keras.optimizers.SGD(0.05), small=True)
            history = model.fit(x, y, batch_size=16, epochs=2, verbose=0, shuffle=False)
        scale = getattr(model.optimizer, "dynamic_scale", None)
        return history.history["loss"], None if scale is None else float(np.asarray(scale))

    try:
        found, expected = losses(DEVICE), losses("CPU:0")
    finally:
        keras.config.set_dtype_policy("float32")
    np.testing.assert_allclose(found[0], expected[0], rtol=error)
    assert found[0][1] < found[0][0] and found[1] == expected[1]
    assert (found[1] is not None) == (policy == "mixed_float16")


def test_a_run_is_the_same_again():
    found, again = (train(DEVICE, lambda: keras.optimizers.Adam(0.01), small=True) for _ in range(2))
    assert found[0] == again[0]
    assert all(np.array_equal(one, other) for one, other in zip(found[3], again[3], strict=True))


def test_variables_live_on_the_device():
    strategy = tf.distribute.OneDeviceStrategy(DEVICE)
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

    for one, other in zip(numbers(DEVICE), numbers("CPU:0"), strict=True):
        np.testing.assert_array_equal(one, other)


# ---- branches and loops: what they give follows from numpy ----

def on_device(function, *args):
    """What a function gives there, as arrays."""
    out = tf.distribute.OneDeviceStrategy(DEVICE).run(tf.function(function), args)
    return [np.asarray(value) for value in tf.nest.flatten(out)]


def loop(steps, x, **options):
    """i and x after `steps` of x -> x * x / 2, and what flows back from the sum."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        i, y = tf.while_loop(lambda i, y: i < steps, lambda i, y: (i + 1, y * y / 2.0), (tf.constant(0), x), **options)
    return i, y, tape.gradient(y, x)


def test_loops_and_their_gradients():
    x = np.array([1.0, 3.0], "float32")
    y, slope = x.astype("float64"), np.ones(2)
    for _ in range(3):
        y, slope = y * y / 2, slope * y
    known = on_device(lambda x: loop(3, x), tf.constant(x))
    bounded = on_device(lambda x, n: loop(n, x, maximum_iterations=5), tf.constant(x), tf.constant(3))
    for found in known, bounded:
        assert found[0] == 3
        np.testing.assert_allclose(found[1], y, rtol=1e-5)
        np.testing.assert_allclose(found[2], slope, rtol=1e-5)
    never = on_device(lambda x: loop(0, x), tf.constant(x))
    assert never[0] == 0 and never[1].tolist() == x.tolist() and never[2].tolist() == [1.0, 1.0]
    # The limit cuts what the condition would let go on.
    assert on_device(lambda x, n: loop(n, x, maximum_iterations=2), tf.constant(x), tf.constant(3))[0] == 2
    with pytest.raises(tf.errors.UnimplementedError, match="maximum_iterations"):
        on_device(lambda x, n: loop(n, x), tf.constant(x), tf.constant(3))


def test_loops_in_loops_and_arrays():
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, 3)

            def body(i, state, array):
                _, state = tf.while_loop(lambda j, s: j < 2, lambda j, s: (j + 1, s * x[i]), (tf.constant(0), state))
                return i + 1, state, array.write(i, state)

            array = tf.while_loop(lambda i, s, a: i < 3, body, (tf.constant(0), tf.ones((2,)), array))[2]
            states = array.stack()
        return states, tape.gradient(states, x)

    x = np.array([[2, 1], [0.5, 3], [1.5, 2]], "float32")
    states = np.cumprod(x.astype("float64") ** 2, 0)
    slopes = [2 / x[i] * states[i:].sum(0) for i in range(3)]
    found = on_device(step, tf.constant(x))
    np.testing.assert_allclose(found[0], states, rtol=1e-5)
    np.testing.assert_allclose(found[1], slopes, rtol=1e-5)


def test_branches_and_loops_write_variables():
    strategy = tf.distribute.OneDeviceStrategy(DEVICE)
    with strategy.scope():
        sums, count = tf.Variable([0.0, 0.0]), tf.Variable(1.0)

    @tf.function
    def step(x, n):
        def body(i):
            sums.assign_add(x * count)
            count.assign(count + 1.0)
            return (i + 1,)

        tf.while_loop(lambda i: i < n, body, (tf.constant(0),))
        return tf.cond(x[0] > 0, lambda: (count.assign(100.0), x * 2.0)[1], lambda: x - 1.0)

    assert strategy.run(step, (tf.constant([1.0, 2.0]), tf.constant(3))).numpy().tolist() == [2.0, 4.0]
    assert sums.numpy().tolist() == [6.0, 12.0] and count.numpy() == 100.0
    assert strategy.run(step, (tf.constant([-1.0, 2.0]), tf.constant(0))).numpy().tolist() == [-2.0, 1.0]
    assert sums.numpy().tolist() == [6.0, 12.0] and count.numpy() == 100.0


def test_shapes_that_the_program_computes():
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reshape(x, [tf.shape(x)[1], -1]) * tf.reshape(tf.range(6, dtype=tf.float32), [3, 2])
        return y, tape.gradient(y, x), tf.fill([tf.size(x)], 1.0)

    x = np.arange(6, dtype="float32").reshape(2, 3)
    y, slope, ones = on_device(step, tf.constant(x))
    assert y.tolist() == (np.arange(6.0) ** 2).reshape(3, 2).tolist()
    assert slope.tolist() == np.arange(6.0).reshape(2, 3).tolist() and ones.tolist() == [1.0] * 6


# ---- layers with a sense of order: as on the CPU ----

class Attention(keras.layers.Layer):
    """Attention of a sequence to itself."""

    def __init__(self):
        super().__init__()
        self.inner = keras.layers.MultiHeadAttention(2, 4)

    def call(self, x):
        return self.inner(x, x, use_causal_mask=True)


def sequences(device):
    """Losses and weights after two steps."""
    rng = np.random.default_rng(0)
    with tf.distribute.OneDeviceStrategy(device).scope():
        keras.utils.set_random_seed(3)
        model = keras.Sequential([
            keras.Input((5,), dtype="int32"), keras.layers.Embedding(10, 3, mask_zero=True),
            keras.layers.LSTM(4, return_sequences=True), Attention(), keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.05, momentum=0.9), "mse")
        history = model.fit(rng.integers(0, 10, (16, 5)), rng.normal(size=(16, 1)), batch_size=8, epochs=1, verbose=0,
                            shuffle=False)
        return history.history["loss"], model.get_weights()


def test_sequences_are_those_of_the_cpu():
    found, expected = sequences(DEVICE), sequences("CPU:0")
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_pictures_changed_at_random():
    """With the CPU's bits: drawn on the device (a crop), by the host (boxes), and a slice from where the run says."""
    def change(x, n):
        seed = tf.constant([3, 7])
        begin, _, _ = tf.image.stateless_sample_distorted_bounding_box([6, 8, 3], tf.zeros([1, 0, 4]), seed,
                                                                         use_image_if_no_bounding_boxes=True)
        return (tf.image.stateless_random_crop(x, [4, 5, 3], seed), tf.slice(x, tf.stack([0, n, 0]), [-1, 2, -1]),
                begin, tf.image.crop_and_resize(x[None], [[0.1, 0.2, 0.8, 1.1]], [0], [3, 3]))

    x = np.random.default_rng(0).random((6, 8, 3), dtype="float32")
    found = on_device(change, tf.constant(x), tf.constant(5))
    expected = [value.numpy() for value in change(tf.constant(x), tf.constant(5))]
    for one, other in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(found[3], expected[3], rtol=1e-5)


def test_factors_of_matrices():
    a = np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32")
    a[1, :, 3] = a[1, :, 0]  # of rank 3

    def step(a):
        square = tf.matmul(a, a, transpose_a=True)
        return (*tf.linalg.svd(a), *tf.linalg.qr(a, full_matrices=True), *tf.linalg.eigh(square))

    s, u, v, q, r, values, vectors = on_device(step, tf.constant(a))
    np.testing.assert_allclose(s, np.linalg.svd(a.astype("float64"))[1], atol=1e-5)
    np.testing.assert_allclose(u * s[:, None] @ v.transpose(0, 2, 1), a, atol=1e-5)
    np.testing.assert_allclose(u.transpose(0, 2, 1) @ u, np.broadcast_to(np.eye(4), (2, 4, 4)), atol=1e-5)
    np.testing.assert_allclose(q @ r, a, atol=1e-5)
    square = a.transpose(0, 2, 1) @ a
    np.testing.assert_allclose(values, np.linalg.eigvalsh(square.astype("float64")), atol=5e-5)
    np.testing.assert_allclose(square @ vectors, vectors * values[:, None], atol=5e-5)


def test_operations_of_the_host_are_refused_by_name():
    strategy = tf.distribute.OneDeviceStrategy(DEVICE)

    @tf.function
    def step(x):
        return tf.linalg.eig(x)

    with pytest.raises(tf.errors.UnimplementedError, match="eig"):
        strategy.run(step, (tf.eye(3) * tf.constant(2.0),))


def test_devices_that_are_not_there():
    with pytest.raises(tf.errors.InvalidArgumentError, match="XLA_CPU:99"):
        tf.distribute.MirroredStrategy(["XLA_CPU:99"])
    with pytest.raises(ValueError, match="NPU"):
        tf.distribute.MirroredStrategy(["NPU:0"])
    assert [device.name for device in tf.config.list_logical_devices("XLA_CPU")] == [
        f"/device:{name}" for name in devices.names("XLA_CPU")]


# ---- settings, each in a process of its own ----

def run(code, *launcher, **environment):
    return subprocess.run([*launcher, sys.executable, "-c", code], env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=240)


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


def test_devices_of_two_workers():
    tool = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(tf.__file__))), "bin", "leat")
    found = run(REPLICAS.replace("Mirrored", "MultiWorkerMirrored"), tool, "launch", "-n", "2", "--plain", "--",
                LEAT_DEVICES="xla_cpu:2")
    expected = run(REPLICAS, LEAT_DEVICES="cpu:4")
    assert found.returncode == 0, found.stderr
    lines = [line.split() for line in found.stdout.splitlines()]
    assert len(lines) == 2 and lines[0] == lines[1] and lines[0][0] == "4"
    np.testing.assert_allclose(np.array(lines[0], float), np.array(expected.stdout.split(), float), rtol=1e-4)


CACHED = """
import leat as tf
strategy = tf.distribute.OneDeviceStrategy("XLA_CPU:0")
print(strategy.run(tf.function(lambda x: x * 2.0 + 1.0), (tf.constant([1.0, 2.0]),)).numpy().tolist())
"""


def test_compiled_programs_are_kept(tmp_path):
    def start(path, **environment):
        return run(CACHED, LEAT_DEVICE_CACHE=str(path), LEAT_LOG="info:exec", **environment)

    folder = tmp_path / "deep" / "cache"
    first = start(folder)
    assert first.stdout == "[3.0, 5.0]\n" and "compiled" in first.stderr
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    again = start(folder)
    assert again.stdout == first.stdout and "kept" in again.stderr and "compiled" not in again.stderr
    # One of a damaged file says so, and writes it anew; where nothing may be kept nothing is.
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    damaged = start(folder, LEAT_DEVICE_CACHE_BYTES="1")
    assert damaged.stdout == first.stdout and "damaged" in damaged.stderr and list(folder.iterdir()) == []
    file.write_bytes(b"")
    refused = start(file)
    assert refused.stdout == first.stdout and "cache" in refused.stderr


VISIBLE = """
import leat as tf
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
print(len(gpus), tf.config.experimental.get_memory_growth(gpus[0]),
      tf.distribute.MirroredStrategy().extended.worker_devices)
tf.config.set_visible_devices([], "GPU")
print(tf.config.get_visible_devices("GPU"), tf.config.list_logical_devices("GPU"),
      tf.distribute.MirroredStrategy().extended.worker_devices)
tf.config.set_visible_devices(gpus, "GPU")
print(tf.config.list_logical_devices("GPU"))
try:
    tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=10)])
except tf.errors.UnimplementedError:
    print("not split")
"""


def run_mock(code, kind):
    """The code's lines, with the tests' plug-in as devices of a kind."""
    plugin = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(tf.__file__))), "tests", "pjrt_mock.so")
    if not os.path.exists(plugin):
        pytest.skip("the tests' plug-in is not built")
    done = run(code, LEAT_PJRT_PLUGIN=f"{kind}={plugin}")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_devices_that_are_hidden():
    lines = run_mock(VISIBLE, "GPU")
    assert lines[0].startswith("1 True") and "GPU:0" in lines[0]
    assert lines[1].startswith("[] []") and "CPU:0" in lines[1] and "GPU" not in lines[1]
    assert "/device:GPU:0" in lines[2] and lines[3] == "not split"


INTERRUPTED = """
import ctypes, os, signal, threading
import leat as tf
strategy = tf.distribute.OneDeviceStrategy("TPU:0")
with strategy.scope():
    variable = tf.Variable([1.0, 2.0])
step = tf.function(lambda: variable.assign_add([1.0, 1.0]))
mock = ctypes.CDLL(os.environ["LEAT_PJRT_PLUGIN"].partition("=")[2])

def interrupt():
    while not mock.mock_pjrt_waiting():
        pass
    os.kill(os.getpid(), signal.SIGINT)
    mock.mock_pjrt_go_on()

os.environ["LEAT_MOCK_PJRT"] = "hang"
thread = threading.Thread(target=interrupt)
thread.start()
try:
    strategy.run(step)
except KeyboardInterrupt:
    print("interrupted")
thread.join()
os.environ["LEAT_MOCK_PJRT"] = ""
strategy.run(step)
print(variable.numpy().tolist()[1] - variable.numpy().tolist()[0])
"""


def test_ctrl_c_is_heard_behind_a_run():
    assert run_mock(INTERRUPTED, "TPU") == ["interrupted", "1.0"]


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
