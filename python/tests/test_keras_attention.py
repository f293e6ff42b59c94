"""Layers of attention as Keras 3 has them: keras_attention.py recorded outputs, gradients, masks and training steps."""

import json
import pathlib

import keras_attention
import numpy as np
import pytest

import leat as tf

DATA = pathlib.Path(__file__).parent / "data"
RECORDED = json.loads((DATA / "keras_attention.json").read_text())


def compare(found, expected, tolerance=2e-5):
    if isinstance(expected, list) and any(isinstance(one, list) or one is None for one in expected):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            compare(one, other, tolerance)
    elif expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("name", list(keras_attention.CASES))
def test_layers(name, is_traced):
    if is_traced and not RECORDED["cases"][name]["output"]:
        pytest.skip("nothing to compare")
    kind, config, count, call = keras_attention.CASES[name]
    if is_traced:
        layer = getattr(tf.keras.layers, kind)(**config)
        found = traced(layer, kind, count, call)
    else:
        found = keras_attention.one(tf, tf.keras, name)
        assert found["paths"] == RECORDED["cases"][name]["paths"]
        compare(found["losses"], RECORDED["cases"][name]["losses"])
    compare(found["output"], RECORDED["cases"][name]["output"])
    compare(found["gradients"], RECORDED["cases"][name]["gradients"])


def traced(layer, kind, count, call):
    """Output and gradients of a function that is traced."""
    given = [tf.constant(one) for one in (keras_attention.QUERY, keras_attention.VALUE, keras_attention.KEY)[:count]]
    shapes = [tuple(one.shape) for one in given]
    layer.build(*shapes) if kind[0] in "MG" else layer.build(shapes)
    keras_attention.fixed(layer)

    @tf.function(input_signature=[tf.TensorSpec([None, None, 5], "float32")] * count)
    def step(*tensors):
        with tf.GradientTape() as tape:
            tape.watch(list(tensors))
            output = layer(*tensors, **call) if kind[0] in "MG" else layer(list(tensors), **call)
            first = output[0] if isinstance(output, tuple) else output
            places = tf.reshape(tf.range(tf.size(first), dtype="float32"), tf.shape(first))
            loss = tf.reduce_sum(first * tf.sin(places))
        gradients = tape.gradient(loss, [*tensors, *layer.trainable_weights])
        return output if isinstance(output, tuple) else (output,), [
            tf.constant([]) if one is None else one for one in gradients]
    outputs, gradients = step(*given)
    return {"output": [one.numpy() for one in outputs],
            "gradients": [one.numpy() if one.shape != (0,) else None for one in gradients]}


@pytest.mark.parametrize("name", list(keras_attention.AXES))
def test_attention_over_some_dimensions(name):
    found = keras_attention.axes(tf, tf.keras, name)
    compare(found["output"], RECORDED["axes"][name]["output"])
    compare(found["gradients"], RECORDED["axes"][name]["gradients"])


@pytest.mark.parametrize("name", list(keras_attention.SECOND))
@pytest.mark.parametrize("is_traced", [False, True])
def test_second_derivatives(name, is_traced):
    found = tf.function(lambda: keras_attention.second(tf, tf.keras, name))() if is_traced else keras_attention.second(
        tf, tf.keras, name)
    compare(keras_attention.listed(found), RECORDED["second"][name], 1e-4)


def test_configurations():
    found = keras_attention.configs(tf.keras)
    for name, config in RECORDED["configs"].items():
        assert found[name] == config, name


def test_errors():
    assert keras_attention.errors(tf.keras) == RECORDED["errors"]


def test_training():
    found, expected = keras_attention.training(tf.keras), RECORDED["training"]
    np.testing.assert_allclose(found["first"], expected["first"], rtol=1e-5)
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=2e-3)
    np.testing.assert_allclose(found["after"], expected["after"], rtol=0.05, atol=0.02)


def test_weights_of_keras():
    model = keras_attention.small_model(tf.keras)
    for weight in model.trainable_weights:
        weight.assign(tf.zeros_like(weight))
    model.load_weights(DATA / "keras_attention.weights.h5")
    compare(model(keras_attention.words()[0]).numpy().tolist(), RECORDED["training"]["after"])


def test_files(tmp_path):
    model, (x, _) = keras_attention.small_model(tf.keras), keras_attention.words()
    model.save(tmp_path / "model.keras")
    again = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again(x), model(x))


def test_masks_stay_with_the_result():
    layer = tf.keras.layers.MultiHeadAttention(2, 2)
    x = tf.keras.layers.Masking()(tf.constant(keras_attention.QUERY))
    result = layer(x, x)
    assert x._keras_mask is None and result._keras_mask.shape == (2, 3)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_tiles(dtype):
    """More queries and keys than a tile has, against products of whole matrices."""
    random = np.random.default_rng(2)
    q, k, v = [random.normal(size=shape) for shape in ((2, 70, 4, 3), (2, 131, 2, 3), (2, 131, 2, 5))]
    bias, mask = random.normal(size=(4, 70, 131)), random.random((2, 1, 1, 131)) > 0.5
    found = tf.keras.ops.dot_product_attention(*[tf.constant(one, dtype) for one in (q, k, v)],
                                               bias=tf.constant(bias, dtype), mask=mask, scale=0.4)
    assert found.dtype.name == dtype
    scores = np.einsum("btnh,bsnh->bnts", q, np.repeat(k, 2, 2)) * 0.4 + bias
    scores = np.exp(np.where(mask, scores, -np.inf))
    expected = np.einsum("bnts,bsnd->btnd", scores / scores.sum(-1, keepdims=True), np.repeat(v, 2, 2))
    near = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 8e-2}[dtype]
    np.testing.assert_allclose(tf.cast(found, "float64"), expected, atol=near)


def test_no_matrix_of_all_by_all():
    """A sequence whose scores alone would be 2.5 GB."""
    x = tf.ones([1, 25000, 1, 1])
    found = tf.keras.ops.dot_product_attention(x, x[:, :32], x[:, :32])
    assert found.shape == (1, 25000, 1, 1) and float(found[0, -1, 0, 0]) == 1


def test_refused():
    x = tf.ones([2, 3, 4, 5])
    with pytest.raises(ValueError, match="4D"):
        tf.keras.ops.dot_product_attention(x[0], x[0], x[0])
    with pytest.raises(ValueError, match="soft_cap"):
        tf.keras.ops.dot_product_attention(x, x, x, attn_logits_soft_cap=1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="bias"):
        tf.keras.ops.dot_product_attention(x, x, x, bias=tf.ones([4, 4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="heads"):
        tf.keras.ops.dot_product_attention(x, x[:, :, :3], x[:, :, :3])


def test_a_gradient_goes_through_a_layer_that_hands_on_its_input():
    x, layer = tf.constant([[1.0, -2.0]]), tf.keras.layers.Dropout(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.square(layer(x * 2, training=False))
    assert tape.gradient(y, x).numpy().tolist() == [[8.0, -16.0]]


@pytest.mark.parametrize("name, first", [  # recorded from Keras 3.15 for seed 3, axes [0] and [1, 2] of (4, 2, 3)
    ("GlorotNormal", -0.3414428), ("GlorotUniform", -0.4710898), ("HeNormal", -0.5398685), ("HeUniform", -0.7448584),
    ("LecunNormal", -0.38174465), ("LecunUniform", -0.5266944), ("VarianceScaling", -0.38174465)])
def test_axes_of_initializers(name, first):
    made = getattr(tf.keras.initializers, name)(seed=3, input_axes=[0], output_axes=[1, 2])
    np.testing.assert_allclose(made((4, 2, 3)).numpy()[0, 0, 0], first, rtol=1e-6)


@pytest.mark.parametrize("config, first, dtype", [  # recorded from Keras 3.15 with set_random_seed(1)
    ({}, [-0.00303, 0.00396, 0.00104, 0.00112], "float32"),
    ({"tie_weights": False}, [0.00163, 0.00069, 0.00111, -0.00056], "float32"),
    ({"logit_soft_cap": 0.5, "reverse_dtype": "float64"}, [-0.00303, 0.00396, 0.00104, 0.00112], "float64"),
    ({"mask_zero": True}, [-0.00303, 0.00396, 0.00104, 0.00112], "float32")])
def test_reversible_embedding(config, first, dtype):
    tf.keras.utils.set_random_seed(1)
    layer, ids = tf.keras.layers.ReversibleEmbedding(5, 3, **config), np.array([[1, 0, 4]])
    rows = layer(ids)
    logits = layer(rows, reverse=True)
    assert logits.dtype.name == dtype and logits.shape == (1, 3, 5)
    np.testing.assert_allclose(logits.numpy().reshape(-1)[:4], first, atol=6e-6)
    assert [one.path.split("/")[-1] for one in layer.weights] == ["embeddings"] + (
        [] if config.get("tie_weights", True) else ["reverse_embeddings"])
    assert (getattr(rows, "_keras_mask", None) is not None) == config.get("mask_zero", False)
    start = tf.keras.Input((3,), dtype="int32")
    model = tf.keras.Model(start, layer(layer(start), reverse=True))
    np.testing.assert_array_equal(model(ids), logits)
    assert type(layer).from_config(layer.get_config()).get_config() == layer.get_config()


def test_eight_dimensions():
    """Scores of three dimensions on either side, beside numpy."""
    rng = np.random.default_rng(0)
    scores, value = (rng.normal(size=shape).astype("f") for shape in ((2, 1, 2, 1, 3, 1, 2, 2), (2, 1, 2, 2, 1, 3)))
    equation = "abcdefgh,afghbi->acdebi"
    np.testing.assert_allclose(tf.einsum(equation, scores, value), np.einsum(equation, scores, value), rtol=1e-5)
    layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=2, value_dim=2)
    query, value = (np.ones((2, *shape), "f") for shape in ((4, 2, 3, 8), (1, 1, 5, 8)))
    assert layer(query, value).shape == layer.compute_output_shape(query.shape, value.shape) == (2, 4, 2, 3, 8)
