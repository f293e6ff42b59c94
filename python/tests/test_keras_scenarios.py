"""What Keras' own unit tests ask of it; shapes, numbers and texts are those of Keras 3.15 on TensorFlow."""

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import KerasTensor, layers, ops


@pytest.fixture(name="channels_first")
def _channels_first():
    keras.config.set_image_data_format("channels_first")
    yield
    keras.config.set_image_data_format("channels_last")


# ---- channels in front ----

@pytest.mark.usefixtures("channels_first")
def test_layers_with_channels_in_front():
    pictures = np.arange(60, dtype="float32").reshape(1, 2, 5, 6)
    assert keras.backend.image_data_format() == "channels_first"
    assert layers.Conv2D(3, 2)(pictures).shape == (1, 3, 4, 5)
    assert layers.Conv2D(3, 2).get_config()["data_format"] == "channels_first"
    np.testing.assert_array_equal(layers.MaxPooling2D()(pictures), [[[[7, 9, 11], [19, 21, 23]],
                                                                     [[37, 39, 41], [49, 51, 53]]]])
    np.testing.assert_array_equal(layers.GlobalAveragePooling2D()(pictures), [[14.5, 44.5]])
    assert ops.image.resize(pictures[0], (3, 4)).shape == (2, 3, 4)
    assert ops.image.rgb_to_grayscale(KerasTensor((None, 3, 20, 20))).shape == (None, 1, 20, 20)


@pytest.mark.usefixtures("channels_first")
def test_models_by_name_want_channels_last():
    with pytest.raises(NotImplementedError, match="channels_last"):
        keras.applications.MobileNet(weights=None)


def test_layouts_that_there_are_none():
    with pytest.raises(ValueError, match="channels_middle"):
        keras.config.set_image_data_format("channels_middle")


# ---- operations on KerasTensors ----

@pytest.mark.parametrize("call, shape, dtype", [
    (lambda: ops.bitwise_and(KerasTensor((2, None, 3)), KerasTensor((1, 3))), (2, None, 3), "float32"),
    (lambda: ops.bitwise_invert(KerasTensor((None, 3))), (None, 3), "float32"),
    (lambda: ops.scatter(KerasTensor((5, 2)), KerasTensor((5,)), (4, 4)), (4, 4), "float32"),
    (lambda: ops.scatter_update(KerasTensor((4, None)), KerasTensor((5, 2)), KerasTensor((5,))), (4, None), "float32"),
    (lambda: ops.fori_loop(0, 10, lambda i, x: x + i, KerasTensor((3, 5, None))), (3, 5, None), "float32"),
    (lambda: ops.while_loop(lambda x: x < 2, lambda x: x + 1, KerasTensor((10,))), (10,), "float32"),
    (lambda: ops.image.gaussian_blur(KerasTensor((20, 20, 3)), KerasTensor((2,)), KerasTensor((2,))), (20, 20, 3),
     "float32"),
    (lambda: ops.array_split(KerasTensor((None, 4)), 2)[0], (None, 4), "float32"),
    (lambda: ops.dsplit(KerasTensor((3, 3, None)), [1, 3])[1], (3, 3, 2), "float32"),
    (lambda: ops.diagflat(KerasTensor((None, 3))), (None, None), "float32"),
    (lambda: ops.vander(KerasTensor((None,)), N=4), (None, 4), "float32"),
    (lambda: ops.array(KerasTensor((None, 3)), dtype="int32"), (None, 3), "int32"),
    (lambda: ops.in_top_k(KerasTensor((5,)), KerasTensor((5, 10)), k=5), (5,), "bool"),
    (lambda: ops.take_along_axis(KerasTensor((None, 3)), KerasTensor((None, 2)), axis=1), (None, 2), "float32"),
    (lambda: ops.nancumsum(KerasTensor((None, 3, 3)), axis=(1,)), (None, 3, 3), "float32"),
    (lambda: ops.extract_sequences(KerasTensor((None, None)), 3, 2), (None, None, 3), "float32"),
    (lambda: ops.rfft(KerasTensor((None, None)))[0], (None, None), "float32"),
    (lambda: ops.associative_scan(lambda a, b: a + b, KerasTensor((None, 6))), (None, 6), "float32"),
])
def test_symbolic(call, shape, dtype):
    found = call()
    assert isinstance(found, KerasTensor) and (found.shape, found.dtype) == (shape, dtype)


@pytest.mark.parametrize("call, text", [
    (lambda: ops.cond(KerasTensor((), dtype="bool"), lambda: ops.ones((3,)), lambda: ops.zeros((4,))), "`true_fn`"),
    (lambda: ops.concatenate([KerasTensor((3, 4)), KerasTensor((3, 4))], axis=10), "10"),
    (lambda: ops.stack([KerasTensor((3, 4)), KerasTensor((3, 4))], axis=10), "10"),
    (lambda: ops.take_along_axis(KerasTensor((3, 4)), KerasTensor((3, 2), "int32"), axis=10), "10"),
    (lambda: ops.concatenate([KerasTensor((None, 3, 3)), KerasTensor((None, 3))]), "`xs`"),
    (lambda: ops.squeeze(KerasTensor((None, 1)), axis=0), "axis=0"),
    (lambda: ops.transpose(KerasTensor((2, 3, 4)), [0, 1, 5]), "`axes`"),
    (lambda: ops.inner(KerasTensor((5, 3)), KerasTensor((4,))), "`inner`"),
    (lambda: ops.argpartition(KerasTensor((None, 3)), (1, 3)), "kth"),
    (lambda: ops.average(KerasTensor((None, 3, 3)), weights=KerasTensor((None, 4))), "weights"),
    (lambda: ops.depthwise_conv(KerasTensor((2, 10, 3)), KerasTensor((3, 5, 1))), "channels=3"),
    (lambda: ops.conv_transpose(KerasTensor((2, 4, 3)), KerasTensor((2, 4, 5)), 2), "channels=3"),
    (lambda: ops.depth_to_space(np.ones((1, 2, 2, 4)), 0), "`block_size`"),
    (lambda: ops.segment_sum(np.zeros((4,)), np.zeros((2, 2), "int32")), "1-D"),
    (lambda: ops.segment_max(np.zeros((0,)), np.zeros((4,), "int32")), "leading"),
    (lambda: ops.cdist(np.ones((3, 4)), np.ones((5, 5))), "`cdist`"),
    (lambda: ops.istft((np.ones((1, 2)), np.ones((1, 2))), 2, 0, 4), "`sequence_stride`"),
    (lambda: ops.stft(np.ones((4,)), 2, 1.5, 4), "`sequence_stride`"),
    (lambda: ops.fft2((KerasTensor((None, None, 3)), KerasTensor((None, None, 3)))), "fully-defined"),
    (lambda: KerasTensor(3), "'3'"),
    (lambda: layers.Conv2D(5, 2, groups=0), "groups=0"),
    (lambda: keras.optimizers.Ftrl(initial_accumulator_value=-0.1), "^`initial_accumulator_value`"),
    (lambda: keras.optimizers.Lion(beta_1=0), r"beta_1=0\.0\."),
    (lambda: keras.export.ExportArchive().track("model"), "resource"),
])
def test_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_unique_parts_of_a_dimension():
    x = np.array([[3, 1], [1, 2], [3, 1], [0, 5]])
    found = ops.unique(x, axis=0, return_index=True, return_inverse=True, return_counts=True)
    wanted = [[0, 5], [1, 2], [3, 1]], [3, 1, 0], [2, 1, 2, 0], [1, 1, 2]
    for one, other in zip(found, wanted):
        np.testing.assert_array_equal(one, other)
    values, places = ops.unique(x, axis=0, return_index=True, size=5, fill_value=9)
    np.testing.assert_array_equal(values, [[0, 5], [1, 2], [3, 1], [9, 9], [9, 9]])
    np.testing.assert_array_equal(places, [3, 1, 0, 1, 1])
    np.testing.assert_array_equal(ops.unique(x, axis=-1), [[1, 3], [2, 1], [1, 3], [5, 0]])


def test_unknown_sizes_in_models():
    start = keras.Input((None,))
    parts = keras.Model(start, ops.split(start, [1, 3], axis=1))(np.arange(10).reshape(2, 5))
    assert [part.shape for part in parts] == [(2, 1), (2, 2), (2, 2)]
    parts = keras.Model(start, ops.array_split(start, 3, axis=1))(np.arange(10).reshape(2, 5))
    assert [part.shape for part in parts] == [(2, 2), (2, 2), (2, 1)]

    @tf.function(input_signature=[tf.TensorSpec((None, 2), "float32")])
    def folded(x):
        return ops.associative_scan(lambda a, b: a + b, x), ops.associative_scan(lambda a, b: a + b, x, reverse=True)
    forward, backward = folded(np.arange(6, dtype="float32").reshape(3, 2))
    np.testing.assert_array_equal(forward, [[0, 1], [2, 4], [6, 9]])
    np.testing.assert_array_equal(backward, [[6, 9], [6, 8], [4, 5]])


def test_kinds_of_tensors():
    sparse, ragged = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], (2, 3)), tf.ragged.constant([[3, 1], [], [5]])
    assert ops.is_tensor(sparse) and ops.is_tensor(ragged)
    np.testing.assert_array_equal(ops.convert_to_numpy(ragged), [[3, 1], [0, 0], [5, 0]])
    assert not isinstance(ops.convert_to_tensor(ragged, ragged=False), tf.RaggedTensor)
    symbol = KerasTensor((2, 3), sparse=True)
    assert ops.convert_to_tensor(symbol).sparse and not ops.convert_to_tensor(symbol, sparse=False).sparse
    slices = tf.IndexedSlices([[1.0, 2.0]], [1], [3, 2])
    np.testing.assert_array_equal(ops.multiply(slices, 2.0), [[0, 0], [2, 4], [0, 0]])
    guesses = np.array([[0.1, 0.9], [0.2, 0.8]])
    np.testing.assert_array_equal(ops.in_top_k(np.array([1, 0]), guesses, k=1), [True, False])
    assert ops.view_as_complex(np.ones((2, 2))).dtype == "complex64"


# ---- models, their configurations and files ----

class Marked(keras.Model):
    def __init__(self, *args, mark=1, **kwargs):
        super().__init__(*args, **kwargs)
        self.mark = mark

    def get_config(self):
        return {**super().get_config(), "mark": self.mark}


def test_arguments_beside_inputs_and_outputs():
    start = keras.Input((3,))
    model = Marked(inputs=start, outputs=layers.Dense(5)(start), mark=3)
    assert Marked.from_config(model.get_config()).mark == 3


def test_configuration_of_a_layer_without_arguments():
    class Plain(layers.Layer):
        def call(self, inputs):
            return inputs
    config = Plain(name="plain").get_config()
    assert sorted(config) == ["dtype", "name", "trainable"]
    assert Plain.from_config(config).get_config() == config


def test_layers_of_several_arguments_in_a_sequence():
    class Two(layers.Layer):
        def call(self, inputs, other):
            return inputs
    model = keras.Sequential([Two()])
    with pytest.raises(ValueError, match="positional"):
        model.build((None, 2))


def test_functions():
    one, two = KerasTensor((2, 3)), KerasTensor((2, 3))
    function = keras.Function([one, two], [one * 3, two ** 2])
    with pytest.raises(ValueError, match="structure"):
        function(np.ones((2, 3)))
    with pytest.raises(ValueError, match="incompatible"):
        function([np.ones((4, 3)), np.ones((2, 3))])
    for inputs, outputs, kind in (([], one, "inputs"), (one, [], "outputs")):
        with pytest.raises(ValueError, match=f"^`{kind}`"):
            keras.Function(inputs, outputs)


def test_folders_of_models(tmp_path):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(5), layers.Softmax()])
    with pytest.raises(ValueError, match="`zipped=False`"):
        model.save(tmp_path / "model.keras", zipped=False)
    model.save(tmp_path / "model", zipped=False)
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "config.json", "metadata.json", "model.weights.h5"]
    x = np.ones((2, 3))
    np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model")(x), model(x))
    (tmp_path / "model" / "model.weights.h5").unlink()
    with pytest.raises(ValueError, match="model.weights.h5"):
        keras.models.load_model(tmp_path / "model")


@pytest.mark.parametrize("name", ["w.keras", "w.weights.h5"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_weights_of_bfloat16_in_other_dtypes(tmp_path, name, dtype):
    saved = keras.Sequential([keras.Input((3,)), layers.Dense(2, dtype="bfloat16")])
    (saved.save if name.endswith(".keras") else saved.save_weights)(tmp_path / name)
    other = keras.Sequential([keras.Input((3,)), layers.Dense(2, dtype=dtype)])
    other.load_weights(tmp_path / name)
    np.testing.assert_array_equal(other.get_weights()[0].astype("float32"),
                                  saved.get_weights()[0].astype("float32").astype(other.get_weights()[0].dtype))


def test_served_sequences_take_any_batch(tmp_path):
    model = keras.Sequential([layers.Dense(4), layers.Dense(1)])
    model(tf.ones((3, 10)))
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("call", model.__call__, input_signature=[tf.TensorSpec((None, 10), "float32")])
    archive.write_out(tmp_path / "served", verbose=False)
    assert tf.saved_model.load(tmp_path / "served").call(tf.ones((6, 10))).shape == (6, 1)


def test_names_of_served_inputs(tmp_path):
    one, two = keras.Input((3,)), keras.Input((5,))
    model = keras.Model([one, two], [layers.Dense(1)(one), layers.Dense(1)(two)])
    tf.saved_model.save(model, tmp_path / "model")
    served = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    found = served(inputs=tf.ones((1, 3)), inputs_1=tf.ones((1, 5)))
    np.testing.assert_allclose(found["output_1"], model([tf.ones((1, 3)), tf.ones((1, 5))])[1], rtol=1e-6)


# ---- callbacks of several optimizers ----

def _with_two_optimizers(use_ema=False):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2, name="a"), layers.Dense(1, name="b")])
    first, second = keras.optimizers.SGD(0.1, use_ema=use_ema, name="one"), keras.optimizers.SGD(0.01, name="two")
    model.compile(keras.optimizers.MultiOptimizer(keras.optimizers.OptimizerMap(second, {".*/a/.*": first})), "mse")
    return model, first, second


def test_rates_of_several_optimizers():
    model, first, second = _with_two_optimizers()
    history = model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=2, verbose=0, callbacks=[
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)]).history
    np.testing.assert_allclose([float(first.learning_rate), float(second.learning_rate)], [0.025, 0.0025], rtol=1e-6)
    np.testing.assert_allclose(history["learning_rate_one"], [0.05, 0.025], rtol=1e-6)
    watcher = keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1)
    watcher.set_model(model)
    watcher.on_train_begin()
    for epoch in range(2):
        watcher.on_epoch_end(epoch, {"val_loss": 1.0})
    np.testing.assert_allclose([float(first.learning_rate), float(second.learning_rate)], [0.0125, 0.00125], rtol=1e-6)


def test_averages_of_one_of_several_optimizers():
    model, _, _ = _with_two_optimizers(use_ema=True)
    for _ in range(2):
        model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))
    kernels = [layer.kernel.numpy() for layer in model.layers]
    swap = keras.callbacks.SwapEMAWeights()
    swap.set_model(model)
    swap.on_test_begin()
    assert not np.array_equal(model.layers[0].kernel, kernels[0]) and np.array_equal(model.layers[1].kernel, kernels[1])
    swap.on_test_end()
    np.testing.assert_array_equal(model.layers[0].kernel, kernels[0])
    model, _, _ = _with_two_optimizers()
    swap.set_model(model)
    with pytest.raises(ValueError, match="MultiOptimizer"):
        swap.on_test_begin()


# ---- layers ----

def test_halves_of_layers():
    pictures = np.ones((1, 2, 2, 1), "float32")
    assert layers.UpSampling2D(interpolation="bilinear", dtype="mixed_float16")(pictures).dtype == "float16"
    large = ops.full((2, 4, 8), 70000.0)
    for make in (layers.GroupNormalization, layers.LayerNormalization):
        found = make(**({"groups": 2} if make is layers.GroupNormalization else {}), dtype="mixed_float16")(large)
        assert found.dtype == "float16" and not np.isnan(found).any()


def test_numbers_of_steps():
    start = keras.Input((4, 5))
    assert layers.RNN([layers.LSTMCell(2), layers.LSTMCell(3)], return_sequences=True)(start).shape == (None, 4, 3)
    rows = keras.Input((2, 6, 3))
    assert layers.ConvLSTM1D(5, 3, padding="same", return_sequences=True)(rows).shape == (None, 2, 6, 5)
    assert layers.Bidirectional(layers.LSTM(2))(np.array([[[101, 202], [303, 404]]])).shape == (1, 4)


@pytest.mark.parametrize("make, error, word", [
    (lambda: layers.RepeatVector("3"), TypeError, "`n`"), (lambda: layers.RepeatVector(0), ValueError, "n=0"),
    (lambda: layers.UpSampling1D("2"), TypeError, "`size`"), (lambda: layers.UpSampling1D(0), ValueError, "size=0")])
def test_counts(make, error, word):
    with pytest.raises(error, match=word):
        make()


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_integers(dtype):
    x = np.array([0, 1, 3], dtype)
    for found, wanted in ((ops.abs(x), [0, 1, 3]), (ops.sign(x), [0, 1, 1]),
                          (ops.vander(x), [[0, 0, 1], [1, 1, 1], [9, 3, 1]])):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wanted)


def test_one_pictures_boxes():
    boxes = {"boxes": np.array([[2.0, 1.0, 4.0, 3.0]]), "labels": np.array([1])}
    layer = layers.MaxNumBoundingBoxes(3, bounding_box_format="xyxy")
    found = layer({"images": np.ones((10, 8, 3)), "bounding_boxes": boxes})["bounding_boxes"]
    np.testing.assert_array_equal(found["labels"], [1, -1, -1])
    np.testing.assert_array_equal(found["boxes"], [[2, 1, 4, 3], [-1] * 4, [-1] * 4])


def test_weights_of_half_precision_layers_in_operations():
    class Shifted(layers.Layer):
        def __init__(self):
            super().__init__(dtype="mixed_float16")
            self.shift = self.add_weight(shape=(), initializer="ones")

        def call(self, inputs):
            return ops.add(inputs, self.shift)
    layer = Shifted()
    assert layer(np.array(1.0)).dtype == "float16" and layer.shift.dtype == "float32"


def test_tensors_in_configurations_stay_tensors():
    layer = layers.Lambda(ops.square, mask=ops.ones((2, 3)))
    with keras.saving.custom_object_scope({"square": ops.square}):
        again = layers.Lambda.from_config(layer.get_config())
    assert again.get_config()["mask"]["class_name"] == layer.get_config()["mask"]["class_name"] == "__tensor__"
