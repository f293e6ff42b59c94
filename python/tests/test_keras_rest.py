"""leat.keras beside Keras 3.15: random numbers, renormalization, masks, paths of CTC; keras_rest.py records."""

import json
import pathlib

import keras_rest
import numpy as np
import pytest

import leat as tf
from leat import keras

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_rest.json").read_text())


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def same(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if not isinstance(expected, list) or expected[:1] == ["text"]:
        assert found == expected
    elif len(expected) == 3 and isinstance(expected[0], str) and isinstance(expected[1], list):
        assert found[:2] == expected[:2]
        tolerance = 2e-3 if expected[0] == "float16" else 2e-5
        np.testing.assert_allclose(found[2], expected[2], atol=tolerance, rtol=tolerance)
    else:
        assert isinstance(found, list) and len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)


@pytest.mark.filterwarnings("ignore:Layer '")
@pytest.mark.parametrize(("sort", "name"), [(sort, name) for sort, calls in RECORDED.items() for name in calls])
def test_what_keras_gives(sort, name):
    calls = keras_rest.SORTS[sort](keras)
    assert list(calls) == list(RECORDED[sort])
    same(keras_rest.called(calls[name]), RECORDED[sort][name])


def test_renormalization_is_not_synchronized():
    layer = keras.layers.BatchNormalization(renorm=True, synchronized=True)
    with pytest.raises(NotImplementedError, match="renorm"):
        layer(keras_rest.X, training=True)
    again = keras.layers.BatchNormalization.from_config(layer.get_config())
    assert again.renorm and again.renorm_clipping == {}


# ---- feature spaces ----

def test_feature_spaces_in_datasets_and_files(tmp_path):
    space = keras.utils.FeatureSpace(keras_rest.kinds(keras.utils.FeatureSpace), crosses=[("b", "c")], crossing_dim=5)
    rows = tf.data.Dataset.from_tensor_slices(keras_rest.COLUMNS)
    space.adapt(rows.batch(3))
    expected = space(keras_rest.COLUMNS).numpy()
    same(keras_rest.plain(expected), RECORDED["spaces"]["all"])
    np.testing.assert_array_equal(np.stack(list(rows.map(space).as_numpy_iterator())), expected)
    model = keras.Sequential([keras.Input(expected.shape[1:]), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(tf.data.Dataset.zip((rows, tf.data.Dataset.range(4))).batch(2).map(lambda x, y: (space(x), y)), verbose=0)
    pytest.importorskip("h5py")
    space.save(tmp_path / "space.keras")
    again = keras.models.load_model(tmp_path / "space.keras")
    np.testing.assert_array_equal(again(keras_rest.COLUMNS), expected)


# ---- boxes ----

def bounds(picture):
    """The box around what is not 0."""
    rows, columns = np.nonzero(picture.sum(-1) > 0.5)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


@pytest.mark.parametrize("form", ["xyxy", "rel_yxyx"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("make", [lambda **kw: keras.layers.RandomCrop(12, 20, seed=4, **kw),
                                  lambda **kw: keras.layers.RandomCrop(30, 20, seed=4, **kw),
                                  lambda **kw: keras.layers.RandomRotation((0.25, 0.25), seed=4, **kw),
                                  lambda **kw: keras.layers.MixUp(seed=1, **kw)])
def test_boxes_move_as_their_pictures(form, training, make):
    """Where Keras moves boxes by the other side's start, takes any format for corners, or joins labels elsewhere."""
    pictures = np.zeros((2, 24, 24, 1), "float32")
    pictures[0, 8:16, 6:18], pictures[1, 10:14, 9:15] = 1, 1
    given = np.array([[[6, 8, 18, 16]], [[9, 10, 15, 14]]], "float32")
    convert = keras.utils.bounding_boxes.convert_format
    layer = make(bounding_box_format=form)
    out = layer({"images": pictures, "bounding_boxes": {
        "boxes": convert(given, "xyxy", form, 24, 24), "labels": np.array([[1], [2]])}}, training=training)
    size = out["images"].shape[1:3]
    found = convert(out["bounding_boxes"]["boxes"], form, "xyxy", *size).numpy()
    if isinstance(layer, keras.layers.MixUp):
        assert out["bounding_boxes"]["labels"].shape == found.shape[:2] == (2, 2 if training else 1)
        return
    for picture, box in zip(out["images"].numpy(), found):
        np.testing.assert_allclose(box[0], bounds(picture), atol=1.01)
    assert out["bounding_boxes"]["labels"].numpy().tolist() == [[1], [2]]


def test_boxes_in_datasets_ragged_and_wrong():
    layer = keras.layers.RandomFlip("horizontal", seed=3, bounding_box_format="xyxy")
    ragged = {"boxes": tf.ragged.constant([[[1., 2, 6, 7], [0, 0, 14, 10]], [[3., 1, 9, 9]], []], ragged_rank=1,
                                          inner_shape=(4,)),
              "labels": tf.ragged.constant([[1, 2], [3], []])}
    found = layer({"images": keras_rest.PICTURES, "bounding_boxes": ragged})["bounding_boxes"]
    assert found["boxes"].shape == (3, 2, 4) and found["labels"].numpy().tolist() == [[1, 2], [3, -1], [-1, -1]]
    rows = tf.data.Dataset.from_tensors({"images": keras_rest.PICTURES, "bounding_boxes": {
        "boxes": keras_rest.BOXES, "labels": keras_rest.BOX_LABELS}})
    layer = keras.layers.RandomFlip("horizontal", seed=3, bounding_box_format="xyxy")
    [mapped] = rows.map(layer)
    same(keras_rest.plain([mapped["bounding_boxes"][name] for name in ("boxes", "labels")]), RECORDED["boxes"]["flip"])
    for wrong in ({"boxes": keras_rest.BOXES}, [1], {"boxes": np.zeros(4), "labels": np.zeros(1)},
                  {"boxes": ragged["boxes"], "labels": np.zeros((3, 2))}):
        with pytest.raises(ValueError, match="bounding_boxes"):
            layer({"images": keras_rest.PICTURES, "bounding_boxes": wrong})
    with pytest.raises(ValueError, match="bounding_box_format"):
        keras.layers.RandomFlip()({"images": keras_rest.PICTURES, "bounding_boxes": ragged})


# What keras.initializers draws for the seed 1, shape [2, 2], by Keras.
DRAWN = {
    ("RandomNormal", "float64"): [-0.1266, 0.0432, -0.13529, -0.00569],
    ("RandomNormal", "float16"): [0.00633, -0.02464, 0.03155, -0.03943],
    ("RandomNormal", "bfloat16"): [0.00635, -0.02466, 0.03174, -0.03955],
    ("RandomUniform", "float64"): [-0.04721, 0.03023, -0.04745, 0.02433],
    ("RandomUniform", "float16"): [0.00751, -0.03418, 0.00861, -0.034],
    ("RandomUniform", "bfloat16"): [0.01025, -0.02344, 0.0188, -0.02185],
    ("TruncatedNormal", "float64"): [0.0432, -0.00569, -0.0721, 0.01154],
    ("TruncatedNormal", "float16"): [0.00633, -0.02464, 0.03155, -0.03943],
    ("TruncatedNormal", "bfloat16"): [0.00635, -0.02466, 0.03174, -0.03955],
    ("VarianceScaling", "float64"): [-2.53209, 0.86392, -2.70583, -0.11385],
    ("VarianceScaling", "float16"): [0.12671, -0.49292, 0.63135, -0.78906],
    ("VarianceScaling", "bfloat16"): [0.12695, -0.49219, 0.63281, -0.78906],
    ("GlorotUniform", "float64"): [-1.15639, 0.74056, -1.16217, 0.59598],
    ("GlorotUniform", "float16"): [0.18457, -0.83691, 0.21094, -0.83203],
    ("GlorotUniform", "bfloat16"): [0.25, -0.57422, 0.46094, -0.53516],
    ("GlorotNormal", "float64"): [0.69448, -0.09152, -1.15916, 0.18547],
    ("GlorotNormal", "float16"): [0.10187, -0.39624, 0.50732, -0.63428],
    ("GlorotNormal", "bfloat16"): [0.10205, -0.39648, 0.50781, -0.63672],
    ("HeNormal", "float64"): [0.98215, -0.12943, -1.63931, 0.2623],
    ("HeNormal", "float16"): [0.14404, -0.56055, 0.71777, -0.89697],
    ("HeNormal", "bfloat16"): [0.14453, -0.5625, 0.72266, -0.89844],
    ("HeUniform", "float64"): [-1.63538, 1.0473, -1.64355, 0.84284],
    ("HeUniform", "float16"): [0.26074, -1.18359, 0.29688, -1.17773],
    ("HeUniform", "bfloat16"): [0.35938, -0.8125, 0.65625, -0.75781],
    ("LecunNormal", "float64"): [0.69448, -0.09152, -1.15916, 0.18547],
    ("LecunNormal", "float16"): [0.10187, -0.39624, 0.50732, -0.63428],
    ("LecunNormal", "bfloat16"): [0.10205, -0.39648, 0.50781, -0.63672],
    ("LecunUniform", "float64"): [-1.15639, 0.74056, -1.16217, 0.59598],
    ("LecunUniform", "float16"): [0.18457, -0.83691, 0.21094, -0.83203],
    ("LecunUniform", "bfloat16"): [0.25, -0.57422, 0.46094, -0.53516],
}


@pytest.mark.parametrize("name, dtype", DRAWN)
def test_initializers_draw_in_their_dtype(name, dtype):
    arguments = {"scale": 2.0, "mode": "fan_avg", "distribution": "untruncated_normal"}
    made = getattr(keras.initializers, name)(seed=1, **(arguments if name == "VarianceScaling" else {}))
    found = made([2, 2], dtype=dtype)
    assert found.dtype.name == dtype
    np.testing.assert_allclose(tf.cast(found, "float64").numpy().reshape(-1), DRAWN[name, dtype], atol=6e-6, rtol=0)


WINDOWS = {  # of scipy.signal.get_window(name, 6)
    "flattop": [-0.000421, -0.051263, 0.198211, 1, 0.198211, -0.051263],
    "parzen": [0.005831, 0.157434, 0.650146, 1, 0.650146, 0.157434],
    "nuttall": [0.000363, 0.061334, 0.52923, 1, 0.52923, 0.061334],
    "lanczos": [0, 0.413497, 0.826993, 1, 0.826993, 0.413497], "bohman": [0, 0.108998, 0.608998, 1, 0.608998, 0.108998],
    "barthann": [0, 0.27, 0.73, 1, 0.73, 0.27], "triang": [0.25, 0.5, 0.75, 1, 0.75, 0.5],
    "cosine": [0.222521, 0.62349, 0.900969, 1, 0.900969, 0.62349],
    "exponential": [0.049787, 0.135335, 0.367879, 1, 0.367879, 0.135335]}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_of_fourier_transforms(name):
    kernel = tf.keras.initializers.STFT("real", name, None, True)((6, 1, 2))
    np.testing.assert_allclose(kernel[:, 0, 0], WINDOWS[name], atol=2e-6)


def test_scaling_by_the_variance():
    with pytest.warns(UserWarning, match="rms_scaling"):
        layer = tf.keras.layers.LayerNormalization(rms_scaling=True)
        found = layer(np.arange(8, dtype="f").reshape(2, 4))
    np.testing.assert_allclose(found, [[0, 0.89407, 1.78814, 2.68221], [3.57628, 4.47035, 5.36442, 6.25849]], rtol=1e-5)
    config = layer.get_config()
    assert len(layer.weights) == 1 and config["center"] and config["scale"] and config["rms_scaling"]


def test_dtypes_in_calls_of_half_precision():
    seen = []

    class Layer(tf.keras.layers.Layer):
        def build(self, shape):
            self.cast, self.kept = (self.add_weight(shape=(), initializer="ones", autocast=one)
                                    for one in (True, False))

        def call(self, x):
            seen.extend([self.cast.dtype.name, self.kept.dtype.name])
            return x * self.cast

    layer = Layer(dtype="mixed_float16")
    assert layer(np.ones((2, 2), "f")).dtype == "float16"
    assert seen == ["float16", "float32"] and layer.cast.dtype == "float32"
    policies = tf.keras.dtype_policies.DTypePolicyMap()
    dense = tf.keras.layers.Dense(2, dtype=policies, name="one")
    dense.dtype_policy = "mixed_bfloat16"
    assert list(policies) == ["one"] and dense.compute_dtype == "bfloat16"
    rescaling = tf.keras.layers.Rescaling([1.0, 2.0], 0.5, dtype="float16")
    assert rescaling(np.ones((1, 2), "int32")).dtype == "float16"
    assert tf.keras.layers.Rescaling.from_config(rescaling.get_config()).scale == (1.0, 2.0)
    tf.keras.config.set_image_data_format("channels_first")
    try:
        found = tf.keras.layers.Rescaling([1.0, 2.0], 0.5)(np.ones((1, 2, 1, 2), "f"))
    finally:
        tf.keras.config.set_image_data_format("channels_last")
    np.testing.assert_array_equal(found, [[[[1.5, 1.5]], [[2.5, 2.5]]]])
    bins = tf.keras.layers.Discretization([0.0, 1.0], dtype="float16")
    assert bins.output_dtype == bins.compute_output_spec(tf.keras.KerasTensor((None, 3))).dtype == "int32"
    assert tf.keras.layers.Discretization([0.0], output_mode="one_hot", dtype="float16").output_dtype == "float16"


def test_batches_of_different_lengths():
    model = tf.keras.Sequential([tf.keras.Input((None, 2)), tf.keras.layers.Identity()])
    found = model.predict((np.full((1, n, 2), n, "f") for n in (2, 1)), verbose=0)
    assert found.shape == (2, None, 2) and found.to_list() == [[[2, 2], [2, 2]], [[1, 1]]]
    model = tf.keras.Sequential([tf.keras.Input((None,)), tf.keras.layers.MelSpectrogram(
        num_mel_bins=3, fft_length=16, sequence_stride=4)])
    assert model.predict(np.ones((1, 20), "f"), verbose=0).shape == (1, 3, 6)
    texts = tf.keras.layers.TextVectorization(vocabulary=["a", "b"], ragged=True, output_sequence_length=2)
    assert texts(["a b a", "b"]).to_list() == [[2, 3, 2][:2], [3]]


def test_floats_of_64_bits():
    """Numbers of Keras 3.15 with the same settings."""
    keras.config.set_floatx("float64")
    try:
        ops, name = keras.ops, keras.backend.standardize_dtype
        keras.utils.set_random_seed(1)
        layers = [keras.Input((3,)), keras.layers.Dense(2, activation="relu"), keras.layers.BatchNormalization()]
        model = keras.Sequential(layers)
        assert [name(x.dtype) for x in (
            ops.add(1.0, 2), ops.zeros(2), ops.sqrt(4), ops.one_hot([1], 3), layers[0],
            keras.random.uniform((2,), seed=1), keras.initializers.Zeros()((2,)),
            ops.divide(1, 2), keras.losses.MeanSquaredError()([1.0], [2.0]),
            model.weights[0], ops.convert_to_tensor(1.0), keras.Variable(1.0))] == ["float64"] * 10 + ["float32"] * 2
        assert keras.backend.result_type(int, float) == keras.metrics.Mean().dtype == "float64"
        x = np.random.default_rng(0).normal(size=(16, 3))
        model.compile(keras.optimizers.SGD(0.01), "mse")
        assert abs(model.evaluate(x, x[:, :2], verbose=0) - 2.0089703522243414) < 1e-14
        found = model.fit(x, x[:, :2], epochs=2, batch_size=8, verbose=0, shuffle=False).history["loss"]
        np.testing.assert_allclose(found, [2.7765055236524137, 2.6732730177326296], rtol=1e-14)
        assert model.predict(x, verbose=0).dtype == np.float64
        keras.config.set_floatx("float16")
        assert keras.losses.MeanSquaredError().dtype == "float16" and keras.layers.Dense(1).dtype == "float64"
    finally:
        keras.config.set_floatx("float32")
        keras.utils.clear_session()
    assert keras.layers.Dense(1).dtype == "float32"


def test_specs_of_operations():
    ops, tensor = keras.ops, keras.KerasTensor
    x = tensor((None, 3, None, 5))
    assert ops.take(x, tensor((6, 7)), axis=2).shape == (None, 3, 6, 7, 5)
    assert ops.take(tensor((None, 3)), [[1, 2], [1, 2]], axis=1).shape == (None, 2, 2)
    assert ops.where(tensor((2, None, 1))).shape == (2, None, 1)
    assert ops.where(tensor((2, None, 1)), tensor((None, 1)), tensor((None, 3))).shape == (2, None, 3)
    assert ops.searchsorted(tensor((None,)), tensor((2, 3))).dtype == "int64" and ops.ndim(x).shape == (4,)
    assert ops.searchsorted(tensor((3,)), tensor((2, 3))).dtype == "int32"
    assert ops.view(ops.cast(tensor((None, 3)), "int32"), "int16").shape == (None, 6)
    assert [one.shape for one in ops.lu_factor(tensor((None, 4, 3)))] == [(None, 4, 3), (None, 3)]
    assert ops.istft((tensor((None, None, 5)),) * 2, 4, 1, 8, 1, "hann", False).shape == (None, 1)
    for wrong in (lambda: ops.solve(tensor((2, 2)), tensor(())), lambda: ops.where(x, x),
                  lambda: ops.image.gaussian_blur(tensor((10, 10))), lambda: ops.take_along_axis(
                      tensor((3, 4)), tensor((3, 2), "int32"), axis=10)):
        with pytest.raises(ValueError):
            wrong()
    assert ops.conv(tensor((2, 10, None)), tensor((3, 5, 4))).shape == (2, 8, 4)
    counts = ops.bincount(np.array([[1, 1], [0, 2]]), sparse=True)
    np.testing.assert_array_equal(tf.sparse.to_dense(counts), [[0, 2, 0], [1, 0, 1]])
    mean, variance = ops.moments(np.array([1.0, 3.0], "f"), [0], synchronized=True)
    assert (float(mean), float(variance)) == (2, 1)


def test_signals_of_unknown_length():
    signal = np.sin(np.arange(32, dtype="f"))

    def both(x):
        return keras.ops.istft(keras.ops.stft(x, 8, 4, 8), 8, 4, 8)
    open_call = tf.function(both, input_signature=[tf.TensorSpec([None], tf.float32)])
    np.testing.assert_allclose(open_call(signal), both(signal), atol=1e-6)


@pytest.mark.parametrize("axis, expected", [  # of TensorFlow
    (1, [[[[4, 5]], [[0, 1], [2, 3], [2, 3]]], [[[10, 11]], [[6, 7], [8, 9], [8, 9]]]]),
    (2, [[[[1], [0, 1, 1]], [[3], [2, 3, 3]], [[5], [4, 5, 5]]],
         [[[7], [6, 7, 7]], [[9], [8, 9, 9]], [[11], [10, 11, 11]]]])])
def test_ragged_places_in_later_dimensions(axis, expected):
    x = np.arange(12).reshape(2, 3, 2)
    places = tf.ragged.constant([[2 if axis == 1 else 1], [0, 1, -1 if axis == 2 else 1]])
    found = keras.ops.take(x, places, axis=axis)
    assert found.to_list() == expected and found.shape == (*x.shape[:axis], 2, None, *x.shape[axis + 1:])
    places = tf.ragged.constant([[2 if axis == 1 else 1], [0, 1, 1]])
    call = tf.function(lambda x: tf.gather(x, places, axis=axis),
                       input_signature=[tf.TensorSpec([None, None, None], tf.int64)])
    assert call(x).to_list() == expected


def test_ragged_labels_and_outputs():
    """As in Keras 3.15."""
    class Same(keras.Model):
        def call(self, inputs):
            return inputs
    x = tf.ragged.constant([[1.0], [2.0, 3.0], [4.0, 5.0, 6.0]])
    for loss in ("mse", "mae", lambda a, b: tf.reduce_mean(tf.square(a - b))):
        model = Same()
        model.compile("sgd", loss)
        assert model.evaluate(x, x + 1.0, verbose=0, batch_size=2) == 1
    assert model.predict(x, batch_size=2, verbose=0).to_list() == x.to_list()
    model.compile("sgd", "binary_crossentropy")
    with pytest.raises(ValueError, match="ragged"):
        model.evaluate(x, x, verbose=0)
    with pytest.raises(ValueError, match="axis=0"):
        keras.losses.SparseCategoricalCrossentropy(axis=0)(np.zeros(2, "int32"), np.ones((2, 3), "float32"))


def test_functions_of_parts():
    """Beside numpy's vectorize."""
    ops, rng = keras.ops, np.random.default_rng(0)
    a, b, c = (rng.normal(size=shape).astype("f") for shape in ((2, 3, 4), (4,), (3, 1)))
    found = ops.vectorize(lambda m, v: ops.matmul(m, v), signature="(m,n),(n)->(m)")(a, b)
    np.testing.assert_allclose(found, a @ b, rtol=1e-5)
    np.testing.assert_array_equal(ops.vectorize(ops.diag, signature="(d,d)->(d)")(np.eye(4)), np.ones(4))
    np.testing.assert_allclose(ops.vectorize(lambda x, y, z: x + y * z, excluded={2})(c, b, 3.0), c + b * 3, rtol=1e-6)
    two = tf.function(lambda x: ops.vectorize(lambda m: (ops.sum(m), m * 2), signature="(n)->(),(n)")(x),
                      input_signature=[tf.TensorSpec([None, None, 4])])
    np.testing.assert_allclose(two(a)[0], a.sum(-1), rtol=1e-5)
    np.testing.assert_array_equal(two(a)[1], a * 2)
    for wrong in ("d->d", "(a,b),(b)->(a)"):
        with pytest.raises(ValueError):
            ops.vectorize(ops.matmul, signature=wrong)(a, np.ones(3, "f"))
    tensor = keras.KerasTensor
    assert ops.take_along_axis(tensor((None, 3)), tensor((1, 3)), axis=0).shape == (1, 3)
    assert ops.take_along_axis(tensor((None, 3, 3)), tensor((1, 3, None)), axis=1).shape == (None, 3, 3)
    for wrong in (lambda: ops.take_along_axis(tensor((2, 3)), tensor((1, 4)), axis=0),
                  lambda: ops.diff(tensor((3, 4)), axis=10), lambda: ops.transpose(tensor((2, 3, 4)), [0, 1])):
        with pytest.raises(ValueError):
            wrong()
