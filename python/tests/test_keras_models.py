"""leat.keras: models against recordings of Keras 3: configurations, summaries, ResNet-50, layers that draw numbers."""

import json
import pathlib

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers
from leat.keras.applications import resnet

if len(tf.config.list_logical_devices("CPU")) < 2:
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                               [tf.config.LogicalDeviceConfiguration()] * 2)
NN = pathlib.Path(__file__).parents[2] / "tests/golden/data/nn"
MODELS = json.loads((pathlib.Path(__file__).parent / "data/keras_models.json").read_text())["models"]


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def array(value):
    return np.array(value["data"], np.float32).reshape(value["shape"])


# ---- recorded models ----

def revived(case):
    model = keras.models.model_from_json(case["json"])
    model.set_weights([array(value) for value in case["weights"]])
    return model


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case["name"])
def test_configurations_of_keras_make_its_models(case):
    model = revived(case)
    # A layer that is made of its configuration is built on its own, in Keras too: its model is not in the path.
    assert [w.path.split("/")[-2:] for w in model.weights] == [path.split("/")[-2:] for path in case["paths"]]
    assert [layer.name for layer in model.layers] == case["layers"]
    given = [tf.constant(array(value)) for value in case["inputs"]]
    outputs = model(given if len(given) > 1 else given[0])
    for found, expected in zip(outputs if isinstance(outputs, (list, tuple)) else [outputs], case["outputs"]):
        np.testing.assert_allclose(found, array(expected), rtol=0, atol=1e-5 * np.abs(array(expected)).max())


def essence(config):
    """A configuration without what only newer versions or other backends say."""
    if isinstance(config, dict):
        kept = {key: essence(value) for key, value in config.items() if key not in (
            "build_config", "compile_config", "input_axes", "output_axes", "quantization_config", "module", "seed",
            "rms_scaling")}
        if kept.get("class_name") == "BatchNormalization":
            kept["inbound_nodes"] = [dict(node, kwargs={}) for node in config["inbound_nodes"]]
        return kept
    return [essence(item) for item in config] if isinstance(config, list) else config


def same_arguments(found, expected):
    """Calls: Keras writes arguments that have their defaults."""
    for one, other in zip(found["layers"], expected["layers"]):
        for node in (*one.get("inbound_nodes", ()), *other.get("inbound_nodes", ())):
            node["kwargs"] = {}
        if "layers" in one["config"]:
            same_arguments(one["config"], other["config"])


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case["name"])
def test_configurations_are_those_of_keras(case):
    model = revived(case)
    found, expected = essence(json.loads(model.to_json())), essence(json.loads(case["json"]))
    same_arguments(found["config"], expected["config"])
    assert found == expected
    again = keras.models.model_from_json(model.to_json())
    assert json.loads(again.to_json()) == json.loads(model.to_json())


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case["name"])
@pytest.mark.parametrize("kind", ["plain", "wide", "narrow"])
def test_summaries_are_those_of_keras(case, kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    recorded, lines = case["summaries"][kind], []
    revived(case).summary(print_fn=lines.append, **recorded["arguments"])
    assert "\n".join(lines).rstrip() == recorded["text"].rstrip()


def test_models_of_other_models_tensors():
    base = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="relu"), layers.Dense(2)])
    inner = keras.Model(base.inputs, base.layers[0].output)
    x = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)
    np.testing.assert_allclose(inner(x), base.layers[0](x))
    start = keras.Input((4,))
    model = keras.Model(start, base(start) * 2.0 + 1.0)
    np.testing.assert_allclose(model(x), base(x) * 2 + 1)
    with pytest.raises(ValueError, match="connected"):
        keras.Model(keras.Input((4,)), base.output)
    with pytest.raises(ValueError, match=r"\(2, 5\)"):
        model(np.zeros((2, 5), np.float32))
    with pytest.raises(ValueError, match="expects"):
        model([x, x])


def test_a_layer_that_is_called_twice_has_one_set_of_weights():
    first, second, dense = keras.Input((3,)), keras.Input((3,)), layers.Dense(2)
    model = keras.Model({"a": first, "b": second}, layers.Subtract()([dense(first), dense(second)]))
    assert len(model.weights) == 2
    x = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(model({"a": x, "b": x}), np.zeros((2, 2)))
    with pytest.raises(ValueError, match='"b"'):
        model({"a": x})


# ---- ResNet-50 ----

def test_resnet50_has_the_parameters_and_names_of_keras():
    facts = json.loads((NN / "resnet50_facts.json").read_text())["cases"][0]
    model = keras.applications.ResNet50(weights=None)
    assert model.name == "resnet50" and model.count_params() == facts["parameters"] == 25636712
    assert len(model.layers) == facts["layers"] and len(model.trainable_variables) == facts["trainable_tensors"]
    assert sum(int(np.prod(w.shape)) for w in model.non_trainable_weights) == facts["non_trainable_parameters"]
    assert [[w.path, w.shape.as_list()] for w in model.weights] == facts["weights"]
    assert model.output_shape == (None, 1000)
    headless = keras.applications.ResNet50(include_top=False, weights=None, input_shape=(64, 64, 3), pooling="avg")
    assert headless.output_shape == (None, 2048)
    with pytest.raises(ValueError, match="32x32"):
        keras.applications.ResNet50(weights=None, include_top=False, input_shape=(16, 16, 3))


def narrow():
    """The recorded network: the layers of ResNet-50 with 8 filters, and its recorded weights."""
    start = keras.Input((32, 32, 3))
    x = layers.GlobalAveragePooling2D(name="avg_pool")(resnet._features(start, (2, 2, 2, 2), 8))
    model = keras.Model(start, layers.Dense(10, name="predictions")(x))
    index = json.loads((NN / "resnet_weights.index.json").read_text())["weights"]
    flat = np.load(NN / "resnet_weights.npy").reshape(-1)
    by_path = {w.path: w for w in model.weights}
    assert set(by_path) == {one["name"] for one in index}
    for one in index:
        size = int(np.prod(one["shape"]))
        by_path[one["name"]].assign(flat[one["offset"]:one["offset"] + size].reshape(one["shape"]))
    return model, [one for one in index if one["trainable"]], by_path


def near(found, expected, relative):
    found, expected = np.asarray(found), np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=relative * np.abs(expected).max())


RESNET = json.loads((NN / "resnet.json").read_text())["cases"][0]


def test_narrow_resnet_computes_what_keras_does():
    model, trainable, by_path = narrow()
    x, y = tf.constant(np.load(NN / "resnet_x.npy")), tf.constant(RESNET["labels"])
    near(model(x, training=False), array(RESNET["inference_logits"]), 1e-4)
    norms = RESNET["inference_activation_norms"]
    inside = keras.Model(model.input, [model.get_layer(name).output for name in norms])
    for found, expected in zip(inside(x), norms.values()):
        near(np.linalg.norm(found), expected, 1e-4)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    variables = [by_path[one["name"]] for one in trainable]

    @tf.function
    def run(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_fn(y, logits)
        return logits, tape.gradient(loss, variables)
    logits, gradients = run(x, y)
    near(logits, array(RESNET["training_logits"]), 1e-3)
    flat = np.load(NN / "resnet_grads.npy").reshape(-1)
    start = 0
    for one, found in zip(trainable, gradients):
        size = int(np.prod(one["shape"]))
        expected, start = flat[start:start + size].reshape(one["shape"]), start + size
        if one["name"].endswith("conv/bias"):  # zero but for rounding, as a normalisation follows
            assert np.abs(found).max() < 1e-4
        else:
            near(found, expected, 1e-3)
    for name, expected in RESNET["moving_stats_after_one_step_norms"].items():
        near(np.linalg.norm(by_path[name]), expected, 1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_narrow_resnet_learns_as_in_keras(name):
    model, _, _ = narrow()
    x, y = tf.constant(np.load(NN / "resnet_x.npy")), tf.constant(RESNET["labels"])
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = getattr(keras.optimizers, name)(**RESNET[f"optimizer_{name}"])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss
    # Steps of this size are unstable: Keras itself gives 3.40 to 3.49 in SGD's third step where its first kernel is
    # changed by a part in a million, or another day's kernels compute it; Adam's third loss is 1.933 or 1.985 there.
    found, recorded = [float(step(x, y)) for _ in range(3)], RESNET[f"losses_{name}"]
    near(found[:2], recorded[:2], 1e-3)
    near(found, recorded, 0.03)
    near(float(loss_fn(y, model(x, training=False))), RESNET[f"inference_loss_after_3_steps_{name}"], 0.03)


# ---- layers that draw numbers, and moving statistics, on replicas ----

def test_dropout_draws_anew_at_each_call_and_again_after_a_reset():
    layer, x = layers.Dropout(0.5, seed=3), tf.ones((4, 50))
    first, second = layer(x, training=True).numpy(), layer(x, training=True).numpy()
    assert (first != second).any() and set(np.unique(first)) == {0.0, 2.0}
    assert layer.variables[0].numpy().tolist() == [3, 2] and layer.weights == []
    layer.seed_generator.state.assign([3, 0])
    np.testing.assert_array_equal(tf.function(lambda x: layer(x, training=True))(x), first)
    np.testing.assert_array_equal(layer(x), x)


def test_replicas_drop_different_values_and_keep_their_own_statistics():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        drop, norm = layers.Dropout(0.5, seed=3), layers.BatchNormalization(momentum=0.5)
        norm.build((None, 4))
    x = np.arange(16, dtype=np.float32).reshape(4, 4) ** 2
    rows = next(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(4))))
    masks = strategy.run(tf.function(lambda x: drop(tf.ones_like(x), training=True)), (rows,)).values
    assert (masks[0].numpy() != masks[1].numpy()).any()
    strategy.run(lambda x: norm(x, training=True), (rows,))
    np.testing.assert_allclose(norm.moving_mean.numpy(), 0.5 * x[:2].mean(0), rtol=1e-6)


def test_synchronized_statistics_are_those_of_the_whole_batch():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        norm = layers.BatchNormalization(synchronized=True)
        norm.build((None, 4))
    x = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    rows = next(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(6))))
    found = np.concatenate([part.numpy() for part in strategy.run(lambda x: norm(x, training=True), (rows,)).values])
    whole = layers.BatchNormalization()
    np.testing.assert_allclose(found, whole(x, training=True), atol=1e-5)
    np.testing.assert_allclose(norm.moving_variance.numpy(), whole.moving_variance.numpy(), rtol=1e-5)
    alone = layers.BatchNormalization(synchronized=True)
    np.testing.assert_allclose(alone(x, training=True), whole(x, training=True), atol=1e-5)


def test_normalization_adapts_to_data():
    x = np.random.default_rng(0).normal(5, 3, size=(40, 2, 3)).astype(np.float32)
    expected = (x - x.mean((0, 1))) / x.std((0, 1))
    for data in (x, tf.data.Dataset.from_tensor_slices(x).batch(7), [x[:3], x[3:]]):
        layer = layers.Normalization()
        layer.adapt(data)
        np.testing.assert_allclose(layer(x), expected, atol=1e-5)
    assert [w.name for w in layer.weights] == ["mean", "variance", "count"] and layer.trainable_weights == []
    again = layers.Normalization.from_config(layer.get_config())
    again.build((None, 2, 3))
    again.set_weights(layer.get_weights())
    np.testing.assert_allclose(again(x), expected, atol=1e-5)
    both = layers.Normalization(axis=(1, 2))
    both.adapt(x)
    np.testing.assert_allclose(both(x), (x - x.mean(0)) / x.std(0), atol=1e-5)
    whole = layers.Normalization(axis=None)
    whole.adapt(iter([x[:9], (x[9:], 0)]))
    np.testing.assert_allclose(whole(x), (x - x.mean()) / x.std(), atol=1e-5)
    assert whole.mean.shape == (1, 1, 1) and whole.adapt_mean.shape == ()
    with pytest.raises(ValueError, match="adapt"):
        layers.Normalization(mean=0.0, variance=1.0).adapt(x)


def test_normalization_spreads_what_it_is_given():
    mean = np.arange(1, 4, dtype="f")
    layer = layers.Normalization(axis=(1, 2), mean=mean, variance=mean + 3)
    x = np.random.default_rng(2).normal(size=(5, 2, 3, 4)).astype("f")
    expected = (x - mean[:, None]) / np.sqrt(mean + 3)[:, None]
    np.testing.assert_allclose(layer(x), expected, atol=1e-6)
    assert layer.mean.shape == (1, 2, 3, 1) and layer.get_config()["mean"] == [1, 2, 3]
    np.testing.assert_allclose(layers.Normalization.from_config(layer.get_config())(x), expected, atol=1e-6)
    scalar = layers.Normalization(mean=5.0, variance=4.0, invert=True)
    np.testing.assert_allclose(scalar(x), x * 2 + 5, atol=1e-5)
    np.testing.assert_array_equal(scalar.mean, np.full((1, 1, 1, 4), 5, "f"))
    for make, text in ((lambda: layers.Normalization(mean=1.0), "variance=None"),
                       (lambda: layers.Normalization(mean=[1.0], variance=2.0), r"\(\)"),
                       (lambda: layers.Normalization(mean=[[1.0]], variance=[[2.0]]), "rank"),
                       (lambda: layers.Normalization(axis=4)(x), r"axis=\(4,\)"),
                       (lambda: layers.Normalization(axis=1).build((None, None)), "unknown"),
                       (lambda: layers.Normalization().adapt([x, x[..., :3]]), r"\(5, 2, 3, 3\)")):
        with pytest.raises(ValueError, match=text):
            make()
    with pytest.raises(TypeError, match="`.shape`"):
        layers.Normalization().adapt(iter([3]))


def test_frozen_normalisation_computes_as_in_inference():
    norm = layers.BatchNormalization()
    x = np.random.default_rng(0).normal(3, 2, size=(6, 4)).astype(np.float32)
    norm(x, training=True)
    norm.trainable = False
    before = norm.moving_mean.numpy().copy()
    np.testing.assert_allclose(norm(x, training=True), norm(x, training=False))
    np.testing.assert_array_equal(norm.moving_mean.numpy(), before)


@pytest.mark.parametrize("name, given, rank", [
    ("Cropping2D", {"cropping": ((1, 0), (0, 2))}, 4), ("Cropping3D", {"cropping": ((0, 1), (1, 1), (2, 0))}, 5),
    ("ZeroPadding2D", {"padding": ((1, 0), (0, 2))}, 4), ("ZeroPadding3D", {"padding": (1, 0, 2)}, 5),
    ("UpSampling2D", {"size": (2, 3)}, 4), ("UpSampling2D", {"size": (2, 3), "interpolation": "bilinear"}, 4),
    ("UpSampling3D", {"size": (1, 2, 3)}, 5)])
def test_channels_first_is_channels_last_elsewhere(name, given, rank):
    x = np.random.default_rng(2).normal(size=(2, 4, 5, 6, 3)[:rank - 1] + (3,)).astype(np.float32)
    last = getattr(layers, name)(**given)(x)
    layer = getattr(layers, name)(data_format="channels_first", **given)
    found = layer(np.moveaxis(x, -1, 1))
    np.testing.assert_array_equal(np.moveaxis(found.numpy(), 1, -1), last)
    assert layer.get_config()["data_format"] == "channels_first"
    outside = tf.function(layer, input_signature=[tf.TensorSpec((None, 3, *x.shape[1:-1]))])(np.moveaxis(x, -1, 1))
    np.testing.assert_array_equal(outside, found)


def test_sizes_of_borders_are_kept_for_each_side():
    for name, word in (("Cropping", "cropping"), ("ZeroPadding", "padding")):
        for directions, given, expected in ((1, 2, (2, 2)), (1, (1, 2), (1, 2)), (2, 1, ((1, 1), (1, 1))),
                                            (2, (1, 2), ((1, 1), (2, 2))), (2, ((1, 0), 3), ((1, 0), (3, 3))),
                                            (3, [1, 2, 3], ((1, 1), (2, 2), (3, 3)))):
            layer = getattr(layers, f"{name}{directions}D")(**{word: given})
            assert getattr(layer, word) == layer.get_config()[word] == expected
        for directions, given in ((1, (1,)), (1, (1, 2, 3)), (1, "1"), (2, (1,)), (2, ((1, 2), (3, -4))),
                                  (2, ((1, 2), "3")), (3, (1, 2)), (3, ((1, 2), (3, 4), (5, 6, 7)))):
            with pytest.raises(ValueError, match=f"`{word}`"):
                getattr(layers, f"{name}{directions}D")(**{word: given})


@pytest.mark.parametrize("make, text", [
    (lambda x: layers.Cropping1D((2, 2))(x[..., 0]), "`Cropping1D`"),
    (lambda x: layers.Cropping2D((2, 1))(x), r"\[2, 4, 4, 3\]"),
    (lambda x: layers.Cropping2D((0, 2), data_format="channels_first")(x), r"\[2, 4, 3, 4\]"),
    (lambda x: layers.UpSampling2D(data_format="first"), "data_format"),
    (lambda x: layers.Dropout(1.5), "`rate`"),
    (lambda x: layers.AlphaDropout(-0.1), "`rate`"),
    (lambda x: layers.SpatialDropout2D(2), "`rate`"),
    (lambda x: layers.GaussianDropout(1), "infinite"),
    (lambda x: layers.GaussianNoise(-1), "`stddev`"),
    (lambda x: layers.Dropout(0.5, noise_shape="x"), "noise_shape=x"),
    (lambda x: layers.Dropout(0.5, noise_shape=(2, 1.5)), r"noise_shape=\(2, 1.5\)"),
    (lambda x: layers.Dropout(0.5, noise_shape=(2, 0)), r"noise_shape=\(2, 0\)"),
    (lambda x: layers.GroupNormalization(0), "`groups`"),
    (lambda x: layers.GroupNormalization(4)(x), r"\(4\)"),
    (lambda x: layers.GroupNormalization(2)(x), r"\(2\)"),
])
def test_layers_say_what_they_do_not_take(make, text):
    with pytest.raises(ValueError, match=text):
        make(np.ones((2, 4, 4, 3), "f"))
