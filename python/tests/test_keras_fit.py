"""leat.keras: fit, evaluate, predict and callbacks against recordings of Keras 3."""

import json
import pathlib
import re
import warnings

import numpy as np
import pytest

import keras_programs
import leat as tf
from leat import keras
from leat.keras import layers

if len(tf.config.list_logical_devices("CPU")) < 2:
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                               [tf.config.LogicalDeviceConfiguration()] * 2)
HERE = pathlib.Path(__file__).parent
NN = HERE.parents[1] / "tests/golden/data/nn"
RECORDED = json.loads((HERE / "data/keras_fits.json").read_text())["programs"]
RUNS = [run for run in json.loads((NN / "training.json").read_text())["cases"]
        if run["run"] == "fit" and "history" in run]


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def same(found, expected, where=""):
    if isinstance(expected, dict):
        assert set(found) == set(expected), where
        for key in expected:
            same(found[key], expected[key], f"{where}/{key}")
    elif isinstance(expected, list) and any(isinstance(one, (dict, list, str)) for one in expected):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected)):
            same(one, other, f"{where}[{place}]")
    elif isinstance(expected, str):
        assert found == expected, where
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5, err_msg=where)


def close_text(found, expected):
    """Lines are equal but for the last digits of numbers."""
    split = re.compile(r"(-?\d+\.\d+(?:e-?\d+)?)").split
    for one, other in zip(found.splitlines(), expected.splitlines(), strict=True):
        assert split(one)[::2] == split(other)[::2]
        np.testing.assert_allclose([float(x) for x in split(one)[1::2]], [float(x) for x in split(other)[1::2]],
                                   rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("program", keras_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_programs_give_and_print_what_they_do_under_keras(program, tmp_path, capsys):
    recorded = RECORDED[program.__name__]
    found = program(tf, keras, str(tmp_path))
    same(json.loads(json.dumps(found)), recorded["gives"])
    close_text(re.sub(r"\d+(ms|us|s)\b", "T", capsys.readouterr().out), recorded["prints"])


# ---- the recorded network on digits ----

def digits():
    return np.load(NN / "digits_x.npy").astype(np.float32) / 16, np.load(NN / "digits_y.npy").astype(np.int64)


def network(softmax):
    model = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(2),
                              layers.Flatten(), layers.Dense(64, activation="relu"),
                              layers.Dense(10, activation="softmax" if softmax else None)])
    flat = np.load(NN / "cnn_weights.npy")
    index = json.loads((NN / "cnn_weights.index.json").read_text())["weights"]
    model.set_weights([flat[w["offset"]:w["offset"] + int(np.prod(w["shape"]))].reshape(w["shape"]) for w in index])
    return model


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['strategy'][:8]}-{run['loss']}-{run['optimizer'][0]}")
def test_fit_follows_the_recorded_trajectories(run):
    x, y = digits()
    weights = None
    if run["loss"] == "onehot_weighted":
        weights = dict(enumerate((1, .5, 2, 1, 1.5, .25, 1, 3, 1, .75)))
        y, loss = np.eye(10, dtype=np.float32)[y], keras.losses.CategoricalCrossentropy(from_logits=True)
    else:
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    two = "two CPUs" in run["strategy"]
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"] if two else ["CPU:0"])
    running = []
    with strategy.scope():
        model = network(False)
        model.compile(getattr(keras.optimizers, run["optimizer"][0])(**run["optimizer"][1]), loss, metrics=["accuracy"])
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(run["global_batch"])
    history = model.fit(data, epochs=run["epochs"], class_weight=weights, verbose=0, callbacks=[
        keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: running.append(
            [logs["loss"], logs["accuracy"]]))])
    expected = np.array(run["running_loss_and_accuracy"])[:20 if two else 50]
    np.testing.assert_allclose(np.array(running[:len(expected)])[:, 0], expected[:, 0], rtol=1e-3 if two else 1e-4)
    for name, values in run["history"].items():
        np.testing.assert_allclose(history.history[name], values, rtol=0.05, atol=0.02)
    loss, accuracy = model.evaluate(data, verbose=0)
    np.testing.assert_allclose([loss, accuracy], run["evaluate_loss_accuracy"], rtol=0.05, atol=0.01)


# ---- what recordings do not show ----

def test_shuffled_data_are_all_the_rows_of_each_epoch():
    seen = []

    class Noting(keras.Model):
        def call(self, x):
            return x

        def train_step(self, data):
            tf.py_function(lambda rows: seen.append(rows.numpy().ravel().tolist()), [data[0]], [])
            return {}
    model = Noting()
    model.compile()
    model.fit(np.arange(10, dtype=np.float32)[:, None], np.zeros(10), batch_size=4, epochs=2, verbose=0)
    first, second = sum(seen[:3], []), sum(seen[3:], [])
    assert sorted(first) == sorted(second) == list(range(10)) and first != second and len(seen[0]) == 4


def test_each_example_counts_once_on_two_replicas():
    x = np.random.default_rng(0).normal(size=(11, 3)).astype(np.float32)
    y = x[:, :1] > 0
    results = []
    for devices in (["CPU:0"], ["CPU:0", "CPU:1"]):
        keras.utils.set_random_seed(0)
        with tf.distribute.MirroredStrategy(devices).scope():
            model = keras.Sequential([keras.Input((3,)), layers.Dense(1, activation="sigmoid")])
            model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
        results.append([model.evaluate(x, y, batch_size=4, verbose=0)[1], model.predict(x, batch_size=4, verbose=0)])
    assert results[0][0] == pytest.approx(results[1][0], abs=1e-6)
    np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-6)


def test_what_keras_refuses_is_refused():
    model = keras_programs.regression(keras)
    x = np.zeros((4, 3), np.float32)
    with pytest.raises(ValueError, match="compile"):
        model.fit(x, x[:, :1])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="cardinality"):
        model.fit(x, np.zeros((3, 1)))
    with pytest.raises(ValueError, match="`y`"):
        model.fit(tf.data.Dataset.from_tensor_slices((x, x)).batch(2), x)
    with pytest.raises(ValueError, match="`validation_split`"):
        model.fit(x, x[:, :1], validation_split=0.9)
    with pytest.raises(ValueError, match="factor"):
        keras.callbacks.ReduceLROnPlateau(factor=2)
    with pytest.raises(ValueError, match="`save_weights_only=True`"):
        keras.callbacks.ModelCheckpoint("x.h5", save_weights_only=True)
    with pytest.raises(ValueError, match="`metrics`"):
        model.compile("sgd", "mse", metrics="mae")
    model = keras_programs.regression(keras)
    model.compile("sgd")
    with pytest.raises(ValueError, match="`loss`"):
        model.fit(x, x[:, :1], verbose=0)


def test_data_that_end_early_stop_with_a_warning():
    model = keras_programs.regression(keras)
    model.compile("sgd", "mse")
    x = np.zeros((8, 3), np.float32)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(4), steps_per_epoch=5, epochs=1, verbose=0)
    assert any("interrupting" in str(one.message) for one in seen)


def test_steps_per_execution_calls_back_less_often():
    model, seen = keras_programs.regression(keras), []
    model.compile("sgd", "mse", steps_per_execution=3)
    x = np.zeros((28, 3), np.float32)
    model.fit(x, x[:, :1], batch_size=4, verbose=0, callbacks=[
        keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))])
    assert seen == [2, 5, 8]


# ---- what leat says of programs that train, but not as their authors think ----

def test_shuffling_after_batching_is_said_once(caplog):
    from leat.keras._training import feeding
    feeding._warned.clear()
    x = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    rows = tf.data.Dataset.from_tensor_slices((x, x[:, :1]))

    def fit(dataset, **kwargs):
        model = keras_programs.regression(keras)
        model.compile("sgd", "mse")
        model.fit(dataset, verbose=0, **kwargs)
    fit(rows.shuffle(12).batch(4).prefetch(1))
    fit(rows.batch(4).unbatch().shuffle(12).batch(2), validation_data=rows.batch(2).shuffle(2))
    assert caplog.records == []
    fit(rows.batch(4).map(lambda x, y: (x, y)).shuffle(3).prefetch(1))
    fit(rows.batch(4).shuffle(3))
    assert len(caplog.records) == 1
    assert "dataset.shuffle(buffer_size).batch(batch_size)" in caplog.text


def test_fit_without_compile_names_the_call():
    with pytest.raises(ValueError, match="compile"):
        keras_programs.regression(keras).fit(np.zeros((2, 3)), np.zeros((2, 1)))


def test_epochs_of_steps_go_on_in_the_stream():
    """Program 12: so many steps as were asked for, and each epoch starts where the last one ended."""
    seen = []

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            tf.py_function(lambda x: seen.extend(x.numpy()[:, 0].tolist()) or 0.0, [data[0]], tf.float32)
            return super().train_step(data)
    model = Model()
    model.compile("sgd", "mse")
    rows = tf.data.Dataset.range(10).map(lambda i: (tf.fill([1], tf.cast(i, tf.float32)), tf.zeros([1])))
    history = model.fit(rows.repeat().batch(2), epochs=3, steps_per_epoch=4, verbose=0)
    assert seen == [float(i % 10) for i in range(24)] and len(history.history["loss"]) == 3
    assert int(model.optimizer.iterations) == 12
