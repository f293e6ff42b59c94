"""leat.keras against golden/nn: training trajectories, losses, metrics and optimizers recorded from Keras."""

import json
import pathlib

import numpy as np
import pytest

import leat as tf
from leat import keras

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/data/nn"


def cases(name):
    return json.loads((FOLDER / name).read_text())["cases"]


def array(value):
    """A recorded array."""
    dtype = "float32" if value["dtype"] == "bfloat16" else value["dtype"]
    if "file" in value:
        flat = np.load(FOLDER / value["file"]).reshape(-1)
        start = value.get("offset", 0)
        return flat[start:start + int(np.prod(value["shape"]))].reshape(value["shape"]).astype(dtype)
    return np.array([float(v) if isinstance(v, str) else v for v in value["data"]], dtype=dtype).reshape(value["shape"])


def close(found, expected, relative=1e-5):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    scale = np.max(np.abs(expected[np.isfinite(expected)])) if np.isfinite(expected).any() else 0
    np.testing.assert_allclose(found, expected, rtol=0, atol=relative * max(scale, 1e-30))


def digits():
    images = np.load(FOLDER / "digits_x.npy").astype(np.float32) / 16
    return images, np.load(FOLDER / "digits_y.npy").astype(np.int64)


def cnn():
    """The network of the recorded runs with its recorded weights."""
    model = keras.Sequential([
        keras.layers.Conv2D(32, (3, 3), activation="relu", input_shape=(8, 8, 1)), keras.layers.MaxPooling2D((2, 2)),
        keras.layers.Flatten(), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
    flat = np.load(FOLDER / "cnn_weights.npy")
    index = json.loads((FOLDER / "cnn_weights.index.json").read_text())["weights"]
    model.set_weights([flat[w["offset"]:w["offset"] + int(np.prod(w["shape"]))].reshape(w["shape"]) for w in index])
    return model


def recorded_run(loss, optimizer):
    return next(run for run in cases("training.json") if run["run"] == "custom loop" and run["loss"] == loss and
                run["strategy"] == "one replica" and run["optimizer"][0] == optimizer)


def train(run, steps, wrap):
    """Losses of the first steps of a recorded custom loop."""
    images, labels = digits()
    model = cnn()
    optimizer = getattr(keras.optimizers, run["optimizer"][0])(**run["optimizer"][1])
    batch = run["global_batch"]
    loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loss_object(y, model(x, training=True))) / batch
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss
    step = wrap(step)
    found = []
    starts = list(range(0, len(images), batch))
    for number in range(steps):
        start = starts[number % len(starts)]
        found.append(float(step(tf.constant(images[start:start + batch]), tf.constant(labels[start:start + batch]))))
    return found, model, optimizer


@pytest.mark.parametrize("optimizer", ["Adam", "SGD"])
def test_cnn_in_a_function_follows_the_recorded_run(optimizer):
    run = recorded_run("sparse", optimizer)
    found, _, used = train(run, 50, tf.function)
    np.testing.assert_allclose(found, run["losses"][:50], rtol=1e-4)
    assert int(used.iterations) == 50


def test_cnn_eagerly_follows_the_recorded_run():
    run = recorded_run("sparse", "Adam")
    found, model, _ = train(run, 32, lambda step: step)
    np.testing.assert_allclose(found, run["losses"][:32], rtol=1e-4)
    images, labels = digits()
    metric = keras.metrics.SparseCategoricalAccuracy()
    metric.update_state(labels, model(images))
    assert abs(float(metric.result()) - run["accuracy_after_each_epoch"][0]) < 0.1  # three batches into the second


def names_of(module):
    return set(dir(module))


LOSSES = [c for c in cases("losses.json") + cases("more_losses.json") if c["loss"] in names_of(keras.losses)]


@pytest.mark.parametrize("case", LOSSES, ids=lambda c: c["loss"])
def test_losses_are_those_recorded(case):
    config = {name: value for name, value in case["config"].items()}
    loss = getattr(keras.losses, case["loss"])(**config)
    weight = case.get("sample_weight")
    y_true, y_pred = tf.constant(array(case["y_true"])), tf.constant(array(case["y_pred"]))
    weight = None if weight is None else tf.constant(array(weight))
    plain = loss(y_true, y_pred, sample_weight=weight)
    close(plain.numpy(), array(case["value"]))
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        value = loss(y_true, y_pred, sample_weight=weight)
    close(value.numpy(), array(case["value"]))
    close(tape.gradient(value, y_pred).numpy(), array(case["grad"]))


METRICS = [c for c in cases("metrics.json") if c["metric"] in names_of(keras.metrics)]


@pytest.mark.parametrize("case", METRICS, ids=lambda c: c["metric"])
def test_metrics_are_those_recorded(case):
    metric = getattr(keras.metrics, case["metric"])(**case["config"])
    close(metric.result().numpy(), np.float32(case["before"]), 1e-6)
    for update, expected in zip(case["updates"], case["results"]):
        metric.update_state(*[array(value) for value in update])
        close(metric.result().numpy(), np.float32(expected), 1e-6)
    metric.reset_state()
    close(metric.result().numpy(), np.float32(case["after_reset"]), 1e-6)


OPTIMIZERS = [c for c in cases("optimizers.json") if c["optimizer"] in names_of(keras.optimizers)]


def schedule(value):
    if not isinstance(value, dict):
        return value
    return getattr(keras.optimizers.schedules, value["schedule"])(**{k: v for k, v in value.items() if k != "schedule"})


@pytest.mark.parametrize("case", OPTIMIZERS, ids=lambda c: c["optimizer"])
def test_optimizers_are_those_recorded(case):
    config = {name: schedule(value) for name, value in case["config"].items()}
    optimizer = getattr(keras.optimizers, case["optimizer"])(**config)
    variables = [tf.Variable(array(value)) for value in case["variables"]]
    for gradients, after in zip(case["grads"], case["after_each_step"]):
        optimizer.apply_gradients(zip([tf.constant(array(g)) for g in gradients], variables))
        for variable, expected in zip(variables, after):
            close(variable.numpy(), array(expected))
    assert len(optimizer.variables) == len(case["slots"])


SCHEDULES = [c for c in cases("schedules.json") if c["schedule"] in names_of(keras.optimizers.schedules)]


@pytest.mark.parametrize("case", SCHEDULES, ids=lambda c: c["schedule"])
def test_schedules_are_those_recorded(case):
    made = getattr(keras.optimizers.schedules, case["schedule"])(**case["config"])
    values = case.get("values", case.get("value"))
    values = array(values) if isinstance(values, dict) else np.array(values, np.float32)
    found = [float(made(step)) for step in case["steps"]]
    np.testing.assert_allclose(found, values, rtol=1e-5, atol=1e-9)
    assert type(made).from_config(made.get_config())(3).numpy() == made(3).numpy()


@pytest.mark.parametrize("case", cases("loss_behind_softmax.json"))
def test_logits_behind_a_softmax_are_found(case):
    logits = tf.constant(array(case["logits"]))
    loss = keras.losses.SparseCategoricalCrossentropy()
    found = loss(np.array(case["labels"]), keras.activations.softmax(logits))
    np.testing.assert_allclose(float(found), case["loss"], rtol=1e-5)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        value = loss(np.array(case["labels"]), keras.activations.softmax(logits))
    np.testing.assert_allclose(float(value), case["loss"], rtol=1e-5)


def test_column_of_weights():
    """Weights of shape (n, 1) are those of n values, in losses and in metrics."""
    y = np.zeros((4, 3), np.float32)
    p = np.repeat(np.array([[1], [2], [3], [4]], np.float32), 3, 1)
    weights = np.array([[1], [0], [2], [1]], np.float32)
    assert float(keras.losses.MeanSquaredError()(y, p, sample_weight=weights)) == (1 + 2 * 9 + 16) / 4
    metric = keras.metrics.MeanSquaredError()
    metric.update_state(y, p, sample_weight=weights)
    assert float(metric.result()) == (1 + 2 * 9 + 16) / 4
    mean = keras.metrics.Mean()
    mean.update_state([1.0, 2, 4], sample_weight=[[1.0], [2], [5]])
    assert float(mean.result()) == (1 + 2 * 2 + 4 * 5) / 8
    accuracy = keras.metrics.SparseCategoricalAccuracy()
    accuracy.update_state([[0], [1], [2]], [[0.9, 0.1, 0], [0.8, 0.1, 0.1], [0, 0, 1.0]],
                          sample_weight=[[1.0], [2], [5]])
    assert float(accuracy.result()) == 6 / 8
