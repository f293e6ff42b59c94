"""Functions and models as StableHLO, compiled and run by jax: the same numbers as here."""

import numpy as np

import leat as tf
from leat import keras


def run(text, *arguments):
    """What jax's compiler makes of a module."""
    import jax
    from jax._src import compiler
    device = jax.devices("cpu")[0]
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    loaded = device.client.compile_and_load(text, [device], options)
    results = loaded.execute_sharded([jax.device_put(argument, device) for argument in arguments])
    return [np.asarray(parts[0]) for parts in results.disassemble_into_single_device_arrays()]


def test_a_model():
    keras.utils.set_random_seed(2)
    model = keras.Sequential([
        keras.Input((8, 8, 2)), keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.MaxPooling2D(),
        keras.layers.BatchNormalization(), keras.layers.Flatten(), keras.layers.Dense(3, activation="softmax")])
    x = np.random.default_rng(0).normal(size=(4, 8, 8, 2)).astype("float32")
    (found,) = run(tf.export.to_stablehlo(model, tf.TensorSpec(x.shape)), x)
    np.testing.assert_allclose(found, model(x).numpy(), rtol=1e-4, atol=1e-6)


def test_loops_and_gradients():
    def function(x, unused, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * y / 2.0), (tf.constant(0), x),
                              maximum_iterations=5)[1]
        return y, tape.gradient(y, x), tf.random.stateless_uniform((3,), [1, 2])

    x = np.array([1.0, 3.0], "float32")
    text = tf.export.to_stablehlo(function, tf.TensorSpec((2,)), tf.TensorSpec(()), tf.TensorSpec((), tf.int32))
    found = run(text, x, np.float32(0), np.int32(3))
    expected = function(tf.constant(x), None, tf.constant(3))
    for one, other in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-5)
    np.testing.assert_array_equal(found[2], expected[2].numpy())
