"""The layers of keras.layers that merge, mask and activate. Expectations are those of Keras 3.15."""

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def test_merging_of_shapes_that_do_not_fit():
    def ones(*shape):
        return np.ones(shape, np.float32)
    for call, text in (
            (lambda: layers.Concatenate()([ones(1, 2, 3), ones(1, 3, 3)]), "`Concatenate`"),
            (lambda: layers.Add()([ones(1, 2, 3), ones(1, 3, 3)]), "incompatible"),
            (lambda: layers.Add()([ones(2, 3), ones(3, 3)]), "batch"),
            (lambda: layers.Add()(ones(1, 2, 3)), "input_shape"),
            (lambda: layers.Add().compute_mask([1, 2], 3), "mask=3"),
            (lambda: layers.Add().compute_mask(1, [None, None]), "inputs=1"),
            (lambda: layers.Concatenate().compute_mask([1, 2], [None]), "length")):
        with pytest.raises(ValueError, match=text):
            call()
    assert layers.Add()([ones(2, 1, 3), ones(2, 4, 1)]).shape == (2, 4, 3)


def test_masks_of_merged_inputs():
    x, y = np.ones((1, 2, 3), np.float32), np.ones((1, 2, 2), np.float32)
    one, two = np.array([[True, False]]), np.array([[False, False]])
    np.testing.assert_array_equal(layers.Add().compute_mask([x, x], [one, two]), [[True, False]])
    np.testing.assert_array_equal(layers.Concatenate().compute_mask([x, y], [two, None]), [[True, True]])
    numbers = np.array([[[0, 0], [1, 0]]], np.int32)
    np.testing.assert_array_equal(layers.Masking(0).compute_mask(numbers), [[False, True]])
    assert layers.Embedding(3, 2, mask_zero=True).compute_mask(keras.Input((4,), dtype="int32")).shape == (None, 4)


@pytest.mark.parametrize("name, one, both", [
    ("Maximum", [[0, 0], [5, 2], [1, 2], [7, 4]], [[0, 0], [5, 2], [1, 2], [7, 4]]),
    ("Minimum", [[0, 0], [0, 0], [1, 2], [3, 4]], [[0, 0], [5, 2], [1, 2], [3, 4]]),
    ("Multiply", [[0, 0], [0, 0], [1, 2], [21, 16]], [[0, 0], [5, 2], [1, 2], [21, 16]]),
    ("Add", [[0, 0], [5, 2], [1, 2], [10, 8]], [[0, 0], [5, 2], [1, 2], [10, 8]]),
    ("Average", [[0, 0], [2.5, 1], [0.5, 1], [5, 4]], [[0, 0], [2.5, 1], [0.5, 1], [5, 4]])])
def test_what_a_mask_leaves_out_comes_from_the_other_input(name, one, both):
    mask = layers.Masking()
    x = mask(tf.constant([[[0, 0], [5, 2], [0, 0], [7, 4]]]))
    y = tf.constant([[[0, 0], [0, 0], [1, 2], [3, 4]]])
    out = getattr(layers, name)()([x, y])
    np.testing.assert_array_equal(out, [one])
    assert getattr(out, "_keras_mask", None) is None
    out = getattr(layers, name)()([x, mask(y)])
    np.testing.assert_array_equal(out, [both])
    np.testing.assert_array_equal(out._keras_mask, [[False, True, True, True]])
    assert out.dtype == ("float64" if name == "Average" else "int32")


def test_softmax_over_several_axes_and_masks():
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    layer = layers.Softmax(axis=[1, 2])
    np.testing.assert_allclose(layer(x).numpy().ravel(), [0.00427, 0.011606, 0.03155, 0.085761, 0.233122, 0.633691],
                               atol=1e-6)
    assert layers.Softmax.from_config(layer.get_config()).axis == [1, 2]
    np.testing.assert_allclose(keras.activations.softmax(x, axis=(1, 2)), layer(x), atol=1e-7)
    np.testing.assert_allclose(keras.activations.log_softmax(x.tolist(), axis=(1, 2)), np.log(layer(x)), atol=1e-5)
    np.testing.assert_allclose(layers.Softmax()(x, mask=np.array([1.0, 0.0, 0.2]))[0, 0], [1, 0, 0])
    with pytest.raises(ValueError, match=r"\(1, 1, 1, 3\)"):
        layers.Softmax()(x, mask=np.ones((1, 1, 1, 3)))
    with pytest.raises(ValueError, match=r"\(2, 2, 3\)"):
        layers.Softmax()(x, mask=np.ones((2, 2, 3)))


def test_activations_of_keras_tensors_are_layers_of_the_model():
    start = keras.Input((3,))
    x = np.array([[1, 0.5, -1]], np.float32)
    for name in ("relu", "gelu", "softmax", "exponential", "elu", "leaky_relu", "tanh", "mish", "sparsemax"):
        function = getattr(keras.activations, name)
        end = function(start)
        assert end.shape == (None, 3)
        np.testing.assert_allclose(keras.Model(start, end)(x), function(x), atol=1e-7)
    assert keras.activations.relu(start, max_value=0.25).shape == (None, 3)
    np.testing.assert_allclose(keras.activations.sparsemax(tf.constant(x)), [[0.75, 0.25, 0]], atol=1e-6)
    assert keras.activations.get("sparsemax") is keras.activations.sparsemax


@pytest.mark.parametrize("name, same, other", [
    ("Add", [[11, 22], [33]], "unequal"), ("Subtract", [[-9, -18], [-27]], "unequal"),
    ("Multiply", [[10, 40], [90]], "unequal"), ("Average", [[5.5, 11], [16.5]], "unequal"),
    ("Maximum", [[10, 20], [30]], "unequal"), ("Minimum", [[1, 2], [3]], "unequal"),
    ("Concatenate", [[1, 2, 10, 20], [3, 30]], [[1, 2, 1, 2], [3, 3, 4]])])
def test_ragged_rows_are_merged(name, same, other):
    one, two = tf.ragged.constant([[1., 2.], [3.]]), tf.ragged.constant([[10., 20.], [30.]])
    layer, dense = getattr(layers, name), tf.constant([[1., 2.], [3., 4.]])
    assert layer()([one, two]).to_list() == same
    if other != "unequal":
        assert layer()([one, dense]).to_list() == other
        return
    with pytest.raises(tf.errors.InvalidArgumentError):
        layer()([one, dense])


def test_ragged_steps_are_merged_in_models():
    rows = tf.RaggedTensor.from_row_splits(tf.reshape(tf.range(6.), [3, 2]), [0, 2, 3])
    start = keras.Input((None, 2), ragged=True)
    assert keras.Model(start, layers.Add()([start, start]))(rows).to_list() == [[[0, 2], [4, 6]], [[8, 10]]]
    joined = keras.Model(start, layers.Concatenate()([start, start]))(rows)
    assert joined.to_list() == [[[0, 1, 0, 1], [2, 3, 2, 3]], [[4, 5, 4, 5]]]
    found = layers.BatchNormalization()(rows, training=True).flat_values
    np.testing.assert_allclose(found, [[-1.2245] * 2, [0] * 2, [1.2245] * 2], atol=1e-3)
    for layer in (layers.Flatten(), layers.Dot(1), layers.Reshape((2,))):
        with pytest.raises(NotImplementedError, match="to_tensor"):
            layer([rows, rows] if isinstance(layer, layers.Dot) else rows)


def test_operations_of_ragged_tensors():
    one, two = tf.ragged.constant([[1., 2.], [3.]]), tf.ragged.constant([[10., 20.], [30.]])
    ops = keras.ops
    assert ops.add(one, two).to_list() == [[11, 22], [33]] and ops.cast(one, "int32").to_list() == [[1, 2], [3]]
    assert ops.where(one > 1., one, two).to_list() == [[10, 2], [3]] and ops.shape(one) == (2, None)
    assert ops.concatenate([one, two]).to_list() == [[1, 2], [3], [10, 20], [30]]
    assert ops.relu(-one).to_list() == [[0, 0], [0]] and ops.expand_dims(one, 0).to_list() == [[[1, 2], [3]]]
    assert [float(ops.sum(one)), float(ops.mean(one)), float(ops.max(one))] == [6, 2, 3]
    with pytest.raises(ValueError, match="to_tensor"):
        ops.softmax(one)
