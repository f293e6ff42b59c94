"""Random numbers are TensorFlow's, from call to call, in functions and out of them."""

import json
import pathlib

import numpy as np
import pytest
import random_sequences
import random_values

import leat as tf

DATA = pathlib.Path(__file__).with_name("data")
SEQUENCES = json.loads((DATA / "random_sequences.json").read_text())


@pytest.fixture(scope="module")
def found():
    yield random_sequences.sequences(tf)
    tf.random.set_seed(None)


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences(found, name):
    assert [len(call) for call in found[name]] == [len(call) for call in SEQUENCES[name]]
    for one, expected in zip(found[name], SEQUENCES[name]):
        np.testing.assert_allclose(one, expected, rtol=2e-6)


VALUES = json.loads((DATA / "random_values.json").read_text())
CALLS = random_values.calls(tf)


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    expected = VALUES[name]
    if isinstance(expected, dict):
        with pytest.raises(Exception) as found:
            CALLS[name]()
        assert type(found.value).__name__ == expected["error"]
        return
    made = CALLS[name]()
    tf.random.set_seed(None)
    made = made if isinstance(made, list) else [made]
    assert len(made) == len(expected)
    for tensor, one in zip(made, expected):
        assert (tensor.dtype.name, tensor.shape.as_list()) == (one["dtype"], one["shape"])
        found = tensor.numpy().reshape(-1).tolist()
        if tensor.dtype.is_integer:
            assert found == one["data"]
        elif "normal" in name or "half" in name or "moved" in name or "mean" in name or "enerator" in name or (
                "truncated" in name or "function seed" in name or "without" in name):
            # Logarithms and sines of the C library are not those of Eigen to the last bit.
            tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 3e-6, "float64": 1e-12}[tensor.dtype.name]
            np.testing.assert_allclose(found, one["data"], rtol=tolerance, atol=tolerance / 10)
        else:
            assert found == one["data"]


def test_gradients_flow_through_bounds():
    mean, deviation = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        drawn = tf.random.stateless_normal([3], [1, 2], mean, deviation)
        total = tf.reduce_sum(drawn)
    one, other = tape.gradient(total, [mean, deviation])
    assert one.numpy() == 3
    np.testing.assert_allclose(other.numpy(), float(total) / 2 - 1.5, rtol=1e-5)


def test_generator_is_shared():
    shared = tf.random.get_global_generator()
    assert tf.random.get_global_generator() is shared
    tf.random.set_global_generator(tf.random.Generator.from_seed(3))
    np.testing.assert_array_equal(tf.random.get_global_generator().uniform([2]).numpy(),
                                  tf.random.Generator.from_seed(3).uniform([2]).numpy())
    assert list(tf.random.Algorithm) == [tf.random.Algorithm(i) for i in (1, 2, 3)]
    with pytest.raises(NotImplementedError, match="float64"):
        tf.random.uniform([1], 0, 2**60 + 1, tf.int64)


PICTURE = np.arange(48, dtype=np.float32).reshape(4, 4, 3) / 48
BOXES = np.array([[[0.0, 0.0, 1.0, 1.0]]], np.float32)
image = tf.image
OF_SEEDS = {
    "brightness": lambda seed: image.stateless_random_brightness(PICTURE, 0.5, seed),
    "contrast": lambda seed: image.stateless_random_contrast(PICTURE, 0.5, 1.0, seed),
    "hue": lambda seed: image.stateless_random_hue(PICTURE, 0.2, seed),
    "saturation": lambda seed: image.stateless_random_saturation(PICTURE, 0.5, 1.0, seed),
    "crop": lambda seed: image.stateless_random_crop(PICTURE, [2, 2, 3], seed),
    "left_right": lambda seed: image.stateless_random_flip_left_right(PICTURE, seed),
    "up_down": lambda seed: image.stateless_random_flip_up_down(PICTURE, seed),
    "quality": lambda seed: image.stateless_random_jpeg_quality((PICTURE * 255).astype(np.uint8), 70, 90, seed),
    "boxes": lambda seed: image.stateless_sample_distorted_bounding_box([4, 4, 3], BOXES, seed),
    "shuffle": lambda seed: tf.random.experimental.stateless_shuffle(PICTURE, seed),
    "uniform": lambda seed: tf.random.stateless_uniform([2], seed),
    "integers": lambda seed: tf.random.stateless_uniform([2], seed, 0, 9, tf.int32),
    "normal": lambda seed: tf.random.stateless_normal([2], seed),
    "truncated_normal": lambda seed: tf.random.stateless_truncated_normal([2], seed),
}


@pytest.mark.parametrize("name", OF_SEEDS)
def test_seeds_that_turn_out_to_have_three_numbers(name):
    """Where only the run knows the size of a seed: the elements before it come, and the error names its own."""
    seeds = [[1, 2], [3, 4], [5, 6, 7], [8, 9]]
    dataset = tf.data.Dataset.from_generator(lambda: seeds, output_signature=tf.TensorSpec([None], tf.int64))
    elements, count = iter(dataset.map(OF_SEEDS[name])), 0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\b3\b") as caught:
        for _ in elements:
            count += 1
    assert (count, caught.value.element, caught.value.reason) == (2, 2, "SHAPE")
