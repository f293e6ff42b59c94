"""Models as ONNX files: the package onnx checks them, and ONNX Runtime computes what the model does."""

import numpy as np
import onnx
import onnxruntime
import pytest

import leat as tf
from leat import keras
from leat.errors import UnimplementedError
from leat.keras import layers, ops

RANDOM = np.random.RandomState(0)


def session_of(path):
    onnx.checker.check_model(str(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def check(model, tmp_path, *arrays, tolerance=1e-5, **kwargs):
    """What ONNX Runtime makes of the arrays is what the model predicts."""
    model.export(tmp_path / "model.onnx", format="onnx", verbose=False, **kwargs)
    session = session_of(tmp_path / "model.onnx")
    inputs = session.get_inputs()
    assert [one.shape[0] for one in inputs] == ["batch"] * len(arrays)
    found = session.run(None, {one.name: array for one, array in zip(inputs, arrays, strict=True)})
    expected = tf.nest.flatten(model.predict(arrays[0] if len(arrays) == 1 else list(arrays), verbose=0))
    for one, wanted in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(one, wanted, rtol=tolerance, atol=tolerance)


def of_layer(shape, layer, dtype="float32"):
    """A model of one layer, with weights that are no constants, and a batch of three for it."""
    start = keras.Input(shape, dtype=dtype)
    model = keras.Model(start, layer(start))
    for variable in model.weights:
        if variable.dtype == "float32":
            low = 0.5 if "variance" in variable.path else -0.7
            variable.assign(RANDOM.uniform(low, 0.7, variable.shape))
    dims = [3, *(7 if size is None else size for size in shape)]
    data = RANDOM.normal(size=dims) if dtype == "float32" else RANDOM.randint(0, 5, dims)
    return model, data.astype(dtype)


def windows():
    """Layers with windows: {name: (shape of a row, layer)}."""
    found, shapes = {}, {1: (9, 4), 2: (9, 8, 4), 3: (6, 7, 6, 4)}
    for padding in ("valid", "same"):
        for step in (1, 2):
            for rank, shape in shapes.items():
                for kind, args in (("Conv{}D", (6, 3)), ("Conv{}DTranspose", (6, 3)), ("DepthwiseConv{}D", (3,)),
                                   ("SeparableConv{}D", (5, 3)), ("MaxPooling{}D", (2,)), ("AveragePooling{}D", (3,))):
                    made = getattr(layers, kind.format(rank), None)
                    if made is not None:
                        found[f"{kind.format(rank)}-{padding}-{step}"] = shape, made(*args, strides=step,
                                                                                     padding=padding)
    for rank, shape in shapes.items():
        for kind in ("GlobalMaxPooling{}D", "GlobalAveragePooling{}D"):
            found[kind.format(rank)] = shape, getattr(layers, kind.format(rank))()
        for kind, size in (("AdaptiveAveragePooling{}D", 3), ("AdaptiveMaxPooling{}D", 3), ("UpSampling{}D", 2),
                           ("ZeroPadding{}D", 1), ("Cropping{}D", 1)):
            found[kind.format(rank)] = shape, getattr(layers, kind.format(rank))(size)
    return found


LAYERS = {
    **windows(),
    "groups": ((9, 8, 4), layers.Conv2D(6, 3, groups=2)), "dilation": ((9, 8, 4), layers.Conv2D(
        6, 3, dilation_rate=2, padding="same")), "causal": ((9, 3), layers.Conv1D(4, 3, padding="causal")),
    "any size": ((None, None, 4), layers.Conv2D(6, 3, 2, padding="same")),
    "any size widened": ((None, None, 3), layers.Conv2DTranspose(4, 3, 2)),
    "output_padding": ((6, 5, 3), layers.Conv2DTranspose(4, 3, 2, padding="same", output_padding=1)),
    "Dense": ((4, 8), layers.Dense(3, activation="relu")), "PReLU": ((8,), layers.PReLU()),
    "ReLU": ((8,), layers.ReLU(1.0, 0.1, 0.2)), "BatchNormalization": ((6, 4), layers.BatchNormalization()),
    "LayerNormalization": ((6, 4), layers.LayerNormalization()),
    "RMSNormalization": ((6, 4), layers.RMSNormalization()),
    "GroupNormalization": ((8, 8, 4), layers.GroupNormalization(2)),
    "UnitNormalization": ((6, 4), layers.UnitNormalization()),
    "SpectralNormalization": ((4,), layers.SpectralNormalization(layers.Dense(3))),
    "GRU before": ((5, 3), layers.GRU(4, reset_after=False)),
    "cells": ((5, 3), layers.RNN([layers.LSTMCell(4), layers.GRUCell(3)])),
    "ConvLSTM2D": ((4, 6, 6, 2), layers.ConvLSTM2D(3, 3)), "Masking": ((5, 3), lambda x: layers.LSTM(4)(
        layers.Masking()(x))),
    "MultiHeadAttention": ((None, 8), lambda x: layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)),
    "Attention": ((5, 8), lambda x: layers.Attention()([x, x])),
    "AdditiveAttention": ((5, 8), lambda x: layers.AdditiveAttention()([x, x])),
    "Reshape": ((12,), layers.Reshape((-1, 4))), "Flatten": ((3, 4), layers.Flatten()),
    "Permute": ((3, 4), layers.Permute((2, 1))), "RepeatVector": ((4,), layers.RepeatVector(3)),
    "TimeDistributed": ((3, 8, 8, 2), layers.TimeDistributed(layers.Conv2D(2, 3))),
    "EinsumDense": ((4, 5), layers.EinsumDense("abc,cd->abd", output_shape=(None, 3), bias_axes="d")),
    "Dot": ((3, 4), lambda x: layers.Dot(2, normalize=True)([x, x])), "Dropout": ((3, 4), layers.Dropout(0.5)),
    "Normalization": ((3,), layers.Normalization(mean=[1.0, 2, 3], variance=[1.0, 4, 1])),
    "Discretization": ((3,), layers.Discretization([-1.0, 0.0, 1.0])), "CenterCrop": ((8, 9, 3), layers.CenterCrop(
        4, 5)), "Rescaling": ((8,), layers.Rescaling(1 / 255, 0.1)),
    "bilinear": ((4, 5, 3), layers.UpSampling2D((2, 3), interpolation="bilinear")),
    "lanczos5": ((4, 5, 3), layers.UpSampling2D(2, interpolation="lanczos5")),
    "bicubic": ((13, 17, 3), layers.Resizing(5, 4, interpolation="bicubic")),
    "antialias": ((13, 17, 3), layers.Resizing(5, 4, antialias=True)),
    "nearest": ((13, 17, 3), layers.Resizing(5, 4, interpolation="nearest")),
    "crop_to_aspect_ratio": ((13, 17, 3), layers.Resizing(5, 4, crop_to_aspect_ratio=True)),
    "pad_to_aspect_ratio": ((13, 17, 3), layers.Resizing(5, 4, pad_to_aspect_ratio=True)),
    **{kind: ((3, 4), lambda x, kind=kind: getattr(layers, kind)()([x, layers.Dense(4)(x)])) for kind in (
        "Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate")},
    **{f"{kind} {name}": ((5, 3), getattr(layers, kind)(4, **kwargs)) for kind in ("LSTM", "GRU", "SimpleRNN")
       for name, kwargs in {"last": {}, "all": {"return_sequences": True}, "backwards": {"go_backwards": True},
                            "states": {"return_state": True}, "relu": {"activation": "relu"}}.items()},
    **{f"Bidirectional {kind}": ((None, 3), layers.Bidirectional(getattr(layers, kind)(4, return_sequences=True)))
       for kind in ("LSTM", "GRU", "SimpleRNN")},
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer(name, tmp_path):
    model, data = of_layer(*LAYERS[name])
    check(model, tmp_path, data)


@pytest.mark.parametrize("name", """relu relu6 gelu elu selu silu sigmoid tanh softmax softplus softsign hard_sigmoid
    hard_silu mish leaky_relu exponential log_softmax celu glu hard_tanh hard_shrink soft_shrink tanh_shrink squareplus
    sparse_plus log_sigmoid sparsemax sparse_sigmoid""".split())
def test_an_activation(name, tmp_path):
    model, data = of_layer((8,), layers.Activation(name))
    check(model, tmp_path, data)


WHOLE_NUMBERS = {
    "Embedding": ((5,), layers.Embedding(10, 4), "int32"), "mask": ((None,), lambda x: layers.LSTM(3)(
        layers.Embedding(10, 4, mask_zero=True)(x)), "int32"),
    "one_hot": ((1,), layers.CategoryEncoding(5, "one_hot"), "int32"),
    "multi_hot": ((3,), layers.CategoryEncoding(5), "int32"),
    "count": ((3,), layers.CategoryEncoding(5, "count"), "int32"),
    "IntegerLookup": ((3,), layers.IntegerLookup(vocabulary=[1, 2, 3]), "int64"),
    "lookup multi_hot": ((3,), layers.IntegerLookup(vocabulary=[1, 2, 3], output_mode="multi_hot"), "int64")}


@pytest.mark.parametrize("name", WHOLE_NUMBERS)
def test_a_layer_of_whole_numbers(name, tmp_path):
    model, data = of_layer(*WHOLE_NUMBERS[name])
    check(model, tmp_path, data)


def test_texts(tmp_path):
    start = keras.Input((2,), dtype="string")
    model = keras.Model(start, layers.StringLookup(vocabulary=["a", "b"])(start))
    check(model, tmp_path, np.array([["a", "c"], ["b", "b"]], object))


FUNCTIONS = {
    "where": lambda x: tf.where(x > 0, x, -x), "gather": lambda x: tf.gather(x, [2, 0], axis=1),
    "batch gather": lambda x: tf.gather(x, tf.argsort(x, axis=1), axis=1, batch_dims=1) if x.shape.rank == 2 else
    ops.take_along_axis(x, ops.argsort(x, axis=1), axis=1), "top_k": lambda x: tf.math.top_k(x, 2)[1],
    "einsum": lambda x: tf.einsum("bij,bkj->bik", x, x), "slice": lambda x: x[:, ::-1, 1:3],
    "new axis": lambda x: x[:, None, ..., -1], "computed slice": lambda x: x[:, tf.shape(x)[1] - 2:],
    "cast": lambda x: tf.cast(x * 3, tf.int32), "compare": lambda x: tf.cast((x > 0) & (x <= 1) | (x != x), tf.float32),
    "one_hot": lambda x: tf.one_hot(tf.argmax(x, -1) - 1, 3, axis=1), "cumsum": lambda x: tf.cumsum(
        x, 1, exclusive=True, reverse=True), "sort": lambda x: tf.sort(x, 1, "DESCENDING"),
    "roll": lambda x: tf.roll(x, [1, -2], [1, 2]), "logsumexp": lambda x: tf.reduce_logsumexp(x, -1),
    "std": lambda x: tf.math.reduce_std(x, [1, 2]), "log1p": lambda x: tf.math.log1p(tf.abs(x) * 1e-4) * 1e4,
    "expm1": lambda x: tf.math.expm1(x * 1e-4) * 1e4, "floordiv": lambda x: x // 0.3, "mod": lambda x: x % 0.3,
    "whole mod": lambda x: tf.cast(x * 5, tf.int32) % 3, "whole floordiv": lambda x: tf.cast(x * 5, tf.int32) // 3,
    "negative mod": lambda x: tf.cast(x * 5, tf.int32) % -3, "round": lambda x: tf.round(x * 3),
    "any": lambda x: tf.reduce_any(x > 1, -1), "all": lambda x: tf.reduce_all(x > -1, -1, keepdims=True),
    "prod": lambda x: tf.reduce_prod(x, 1), "pad": lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 1]], constant_values=2.0),
    "reflect": lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 1]], "REFLECT"), "tile": lambda x: tf.tile(x, [1, 2, 1]),
    "repeat": lambda x: tf.repeat(x, [1, 2, 0], axis=1), "split": lambda x: tf.split(x, [1, 3], -1)[1],
    "unstack": lambda x: tf.unstack(x, axis=1)[1], "stack": lambda x: tf.stack([x, x], 1),
    "band_part": lambda x: tf.linalg.band_part(x, 0, 1), "transpose": lambda x: tf.matmul(x, x, transpose_b=True),
    "cond": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x),
    "while": lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (0, x))[1],
    "map_fn": lambda x: tf.map_fn(lambda row: row * 2, x), "shape": lambda x: tf.reshape(x, [tf.shape(x)[0], -1]),
    "segments": lambda x: tf.math.unsorted_segment_sum(x, tf.constant([0, -1, 1]), 2),
    "scatter": lambda x: tf.tensor_scatter_nd_sub(x, [[0, 1], [0, 1]], x[:2, 0]),
    "finite": lambda x: tf.math.is_finite(x / (x - x)), "no nan": lambda x: tf.math.divide_no_nan(x, tf.nn.relu(x)),
    "linspace": lambda x: x * tf.linspace(0.0, 1.0, 4), "unique": lambda x: tf.unique(tf.reshape(tf.round(x), [-1]))[1],
    "bits": lambda x: tf.bitwise.bitwise_xor(tf.cast(x * 9, tf.int32), 3), "nonzero": lambda x: tf.where(x > 0),
    "count": lambda x: tf.math.count_nonzero(x > 0, 1), "mask": lambda x: tf.sequence_mask([1, 3, 2], 4),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function(name, tmp_path):
    function = tf.function(FUNCTIONS[name], input_signature=[tf.TensorSpec([None, 3, 4], name="x")])
    tf.onnx.export(function, tmp_path / "f.onnx")
    data = RANDOM.normal(size=(3, 3, 4)).astype(np.float32)
    found, = session_of(tmp_path / "f.onnx").run(None, {"x": data})
    expected = function(data).numpy()
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name, size", [
    ("ResNet50", 64), ("MobileNetV2", 64), ("EfficientNetB0", 64), ("DenseNet121", 64), ("ConvNeXtTiny", 64),
    ("InceptionV3", 80), ("VGG16", 48)])
def test_an_application(name, size, tmp_path):
    model = getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10,
                                              classifier_activation=None)
    for variable in model.weights:
        if "moving" in variable.path:
            low, high = (0.8, 1.2) if "variance" in variable.path else (-0.1, 0.1)
            variable.assign(RANDOM.uniform(low, high, variable.shape))
    check(model, tmp_path, RANDOM.uniform(0, 1, (2, size, size, 3)).astype(np.float32))


class Places(layers.Layer):
    """Adds a vector for each place."""

    def build(self, shape):
        self.places = self.add_weight(shape=(40, shape[-1]), name="places")

    def call(self, x):
        return x + self.places[:tf.shape(x)[1]]


@pytest.mark.parametrize("opset", [None, 18, 19, 20, 21, 22, 23])
def test_a_transformer(opset, tmp_path):
    start = keras.Input((None,), dtype="int32")
    x = Places()(layers.Embedding(50, 16)(start))
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 4)(y, y, use_causal_mask=True)
        x = x + layers.Dense(16)(layers.Dense(32, activation="gelu")(layers.LayerNormalization()(x)))
    check(keras.Model(start, layers.Dense(50)(x)), tmp_path, RANDOM.randint(0, 50, (2, 7)).astype(np.int32),
          opset_version=opset)


def test_texts_of_numbers_by_recurrences(tmp_path):
    start = keras.Input((None,), dtype="int32")
    x = layers.LSTM(8, return_sequences=True)(layers.Embedding(50, 16, mask_zero=True)(start))
    x = layers.Bidirectional(layers.LSTM(6))(x)
    model = keras.Model(start, layers.Dense(3, activation="softmax")(x))
    check(model, tmp_path, RANDOM.randint(0, 3, (4, 9)).astype(np.int32))


def test_inputs_and_results_have_names(tmp_path):
    first, second = keras.Input((4,), name="first"), keras.Input((3,), name="second")
    joined = layers.Dense(2)(layers.Concatenate()([first, second]))
    model = keras.Model([first, second], [joined, layers.Dense(1)(first)])
    arrays = [RANDOM.normal(size=(3, size)).astype(np.float32) for size in (4, 3)]
    check(model, tmp_path, *arrays)
    session = session_of(tmp_path / "model.onnx")
    assert [one.name for one in session.get_inputs()] == ["first", "second"]
    assert [one.name for one in session.get_outputs()] == ["output_0", "output_1"]
    named = tf.function(lambda x: {"sum": x + 1, "all": x}, input_signature=[tf.TensorSpec([2, None], tf.int64, "x")])
    tf.onnx.export(named, tmp_path / "named.onnx")
    session = session_of(tmp_path / "named.onnx")
    assert [(one.name, one.shape) for one in session.get_inputs()] == [("x", [2, "x_1"])]
    found = dict(zip([one.name for one in session.get_outputs()], session.run(None, {"x": np.array([[1], [2]])})))
    np.testing.assert_array_equal(found["sum"], [[2], [3]])
    np.testing.assert_array_equal(found["all"], [[1], [2]])


class Own(keras.Model):
    """A model of a class of its own, which is another one in training."""

    def __init__(self):
        super().__init__()
        self.dense, self.norm = layers.Dense(2), layers.BatchNormalization()

    def call(self, x, training=False):
        return {"out": self.norm(self.dense(x), training=training)}


def test_a_class_of_models(tmp_path):
    data = RANDOM.normal(size=(3, 4)).astype(np.float32)
    model = Own()
    with pytest.raises(ValueError, match="built"):
        model.export(tmp_path / "model.onnx", format="onnx")
    model(data)
    check(model, tmp_path, data)
    assert [one.name for one in session_of(tmp_path / "model.onnx").get_outputs()] == ["out"]


def test_a_dictionary_of_inputs(tmp_path):
    starts = {name: keras.Input((4,), name=name) for name in ("b", "a")}
    model = keras.Model(starts, layers.Subtract()([starts["a"], starts["b"]]))
    model.export(tmp_path / "model.onnx", format="onnx", verbose=False)
    found, = session_of(tmp_path / "model.onnx").run(None, {
        "a": np.full([2, 4], 5, np.float32), "b": np.full([2, 4], 3, np.float32)})
    np.testing.assert_array_equal(found, np.full([2, 4], 2))


def test_a_layer_with_a_signature(tmp_path):
    layer, data = layers.Dense(3), RANDOM.normal(size=(2, 4)).astype(np.float32)
    expected = layer(data).numpy()
    with pytest.raises(ValueError, match="input_signature"):
        tf.onnx.export(layer, tmp_path / "layer.onnx")
    tf.onnx.export(layer, tmp_path / "layer.onnx", [tf.TensorSpec([None, 4])])
    np.testing.assert_allclose(session_of(tmp_path / "layer.onnx").run(None, {"args_0": data})[0], expected, 1e-5, 1e-6)


def test_statements_of_python(tmp_path):
    factors = tf.Variable([1.0, 2.0, 3.0, 4.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x")])
    def function(x):
        if tf.reduce_sum(x) > 0:
            x = x * factors
        else:
            x = x - factors
        for i in tf.range(3):
            x = x + tf.cast(i, tf.float32) * factors
        return x
    tf.onnx.export(function, tmp_path / "f.onnx")
    session, data = session_of(tmp_path / "f.onnx"), np.abs(RANDOM.normal(size=(3, 4))).astype(np.float32)
    for one in (data, -data):
        np.testing.assert_allclose(session.run(None, {"x": one})[0], function(one), rtol=1e-6)


def test_a_variable_has_the_value_of_now(tmp_path):
    variable = tf.Variable([1.0, 2.0])
    function = tf.function(lambda x: x * variable, input_signature=[tf.TensorSpec([2], name="x")])
    variable.assign([3.0, 4.0])
    tf.onnx.export(function, tmp_path / "f.onnx")
    found, = session_of(tmp_path / "f.onnx").run(None, {"x": np.ones(2, np.float32)})
    np.testing.assert_array_equal(found, [3, 4])


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int32", "int64", "bool"])
def test_dtypes(dtype, tmp_path):
    function = tf.function(lambda x: tf.where(tf.equal(x, tf.cast(1, x.dtype)), x, tf.zeros_like(x)),
                           input_signature=[tf.TensorSpec([None], dtype, "x")])
    tf.onnx.export(function, tmp_path / "f.onnx")
    data = np.array([0, 1, 1]).astype(dtype)
    found, = session_of(tmp_path / "f.onnx").run(None, {"x": data})
    np.testing.assert_array_equal(found, data)
    assert found.dtype == data.dtype


def test_what_cannot_be_written_is_refused_by_name(tmp_path):
    spec = [tf.TensorSpec([4, 4])]
    for function, word in ((tf.linalg.det, "matrix_determinant"), (lambda x: tf.pad(x, [[1, 1], [1, 1]], "SYMMETRIC"),
                                                                   "SYMMETRIC")):
        with pytest.raises(UnimplementedError, match=word):
            tf.onnx.export(tf.function(function), tmp_path / "f.onnx", spec)
    variable = tf.Variable(1.0)
    with pytest.raises(UnimplementedError, match="assigned"):
        tf.onnx.export(lambda x: variable.assign_add(x), tmp_path / "f.onnx", [tf.TensorSpec([])])
    for opset in (17, 24, "18"):
        with pytest.raises(UnimplementedError, match="opset_version"):
            tf.onnx.export(tf.identity, tmp_path / "f.onnx", spec, opset)
    assert not list(tmp_path.iterdir())
