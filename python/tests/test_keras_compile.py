"""leat.keras: what `compile` is given for models of several outputs, and what comes out of it, as Keras 3.15 has it."""

import warnings

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers

X = (np.arange(12.).reshape(6, 2) / 10).astype("float32")
A, B = np.zeros((6, 1), "float32"), np.ones((6, 2), "float32")
A_MSE, B_MSE, A_MAE, B_MAE = 1.6766666, 0.4766666, 1.1, 0.6  # of the model below for A and B


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def two(outputs):
    start = keras.Input((2,))
    return keras.Model(start, outputs(layers.Dense(1, kernel_initializer="ones", name="a")(start),
                                      layers.Dense(2, kernel_initializer="ones", name="b")(start)))


def evaluated(outputs, y, sample_weight=None, **compiled):
    model = two(outputs)
    model.compile("sgd", **compiled)
    return model.evaluate(X, y, sample_weight=sample_weight, batch_size=6, verbose=0, return_dict=True)


def as_list(a, b):
    return [a, b]


def as_dict(a, b):
    return {"p": a, "q": b}


def nested(a, b):
    return {"s": {"p": a}, "t": [b, a]}


def distance(y_true, y_pred):
    return tf.reduce_sum(tf.abs(y_true - y_pred), -1)


class Distance:
    def __call__(self, y_true, y_pred):
        return distance(y_true, y_pred)


SAVED = {
    "the second has no loss": (as_list, A, {"loss": ["mse", None], "metrics": [["mae"], []]},
                               {"loss": A_MSE, "a_mae": A_MAE}),
    "a dictionary": (as_dict, {"p": A, "q": B},
                     {"loss": {"p": "mse", "q": "mae"}, "loss_weights": {"p": .5, "q": 2.}, "metrics": {"q": "mse"}},
                     {"loss": A_MSE / 2 + 2 * B_MAE, "p_loss": A_MSE, "q_loss": B_MAE, "q_mse": B_MSE}),
    "a part of a dictionary": (as_dict, {"p": A, "q": B}, {"loss": {"p": "mse"}}, {"loss": A_MSE}),
    "a list for a dictionary": (as_dict, {"p": A, "q": B}, {"loss": ["mse", "mae"]},
                                {"loss": A_MSE + B_MAE, "p_loss": A_MSE, "q_loss": B_MAE}),
    "names of layers for a list": (as_list, {"a": A, "b": B},
                                   {"loss": {"b": "mae", "a": "mse"}, "metrics": {"b": "mse"}},
                                   {"loss": A_MSE + B_MAE, "a_loss": A_MSE, "b_loss": B_MAE, "b_mse": B_MSE}),
    "structures": (nested, {"s": {"p": A}, "t": [B, A]},
                   {"loss": {"s": {"p": "mse"}, "t": ["mae", None]},
                    "metrics": {"s": {"p": "mae"}, "t": ["mse", None]}},
                   {"loss": A_MSE + B_MAE, "s/p_loss": A_MSE, "t/b_loss": B_MAE, "a_mae": A_MAE, "b_mse": B_MSE}),
    "one for a structure, flat labels": (nested, [A, B, A], {"loss": "mse"}, {
        "loss": 2 * A_MSE + B_MSE, "s/p_loss": A_MSE, "t/b_loss": B_MSE, "t/a_loss": A_MSE}),
    "lists of one": (lambda a, b: b, B, {"loss": ["mse"], "metrics": ["mae", ["mse"]]},
                     {"loss": B_MSE, "mae": B_MAE, "mse": B_MSE}),
    "the name of the only output": (lambda a, b: b, B, {"loss": {"b": "mse"}, "metrics": {"b": ["mae"]}},
                                    {"loss": B_MSE, "mae": B_MAE}),
    "functions and objects": (as_list, [A, B], {"loss": [distance, "mse"], "metrics": [[Distance()], None]},
                              {"loss": A_MAE + B_MSE, "a_loss": A_MAE, "b_loss": B_MSE, "a_distance": A_MAE}),
}


@pytest.mark.parametrize("name", SAVED)
def test_losses_and_metrics_find_their_outputs(name):
    outputs, y, compiled, expected = SAVED[name]
    found = evaluated(outputs, y, **compiled)
    assert set(found) == set(expected)
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-5), key


def test_weights_of_rows_reach_weighted_metrics_alone():
    found = evaluated(as_dict, {"p": A, "q": B}, {"p": np.arange(6.), "q": np.ones(6)}, loss={"p": "mse", "q": "mae"},
                      metrics={"q": "mse"}, weighted_metrics={"p": ["mae"]})
    assert found["p_loss"] == pytest.approx(6.7583327, rel=1e-5)
    assert found["p_mae"] == pytest.approx(1.5666667, rel=1e-5)
    found = evaluated(lambda a, b: b, B, np.arange(6.), loss="mse", metrics=["mae", "mae"],
                      weighted_metrics=["mae", "mae"])
    assert found == pytest.approx({"loss": 1.4249998, "mae": .6, "mae_1": .6, "weighted_mae": .66,
                                   "weighted_mae_1": .66}, rel=1e-5)


REFUSED = [
    (as_list, [A], {"loss": ["mse", "mse"]}, ValueError, "y_true and y_pred have different structures"),
    (as_list, {"a": A, "c": B}, {"loss": ["mse", "mse"]}, ValueError, "different structures"),
    (as_dict, {"p": A, "q": B}, {"loss": {"p": "mse", "z": "mae"}}, KeyError, "can't be found in either the model's"),
    (as_list, [A, B], {"loss": {"a": "mse", "z": "mse"}}, ValueError, r"Expected keys \['a', 'b'\] in loss dict"),
    (as_list, [A, B], {"loss": ["mse", "mse", "mse"]}, KeyError, r"\(2,\) in the `loss` argument"),
    (as_list, [A, B], {"loss": "mse", "loss_weights": [1., 2.]}, ValueError, "got 1 losses and 2 weights"),
    (as_list, [A, B], {"loss": ["mse", "mse"], "loss_weights": [1.]}, ValueError, "got 2 losses and 1 weights"),
    (as_list, [A, B], {"loss": "mse", "loss_weights": 2}, ValueError, "Expected `loss_weights` argument to be a float"),
    (as_list, [A, B], {"loss": "mse", "metrics": ["mae"]}, ValueError, r"(?s)Invalid `metrics`.*\['a', 'b'\]"),
    (as_dict, {"p": A, "q": B}, {"loss": "mse", "weighted_metrics": {"z": "mae"}}, ValueError,
     "(?s)Invalid `weighted_metrics`.*'z'"),
    (as_list, [A, B], {"loss": "nonsense"}, ValueError, "Could not interpret loss identifier: nonsense"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: str(case[2]))
def test_what_does_not_fit_the_outputs_is_refused(case):
    outputs, y, compiled, error, text = case
    with pytest.raises(error, match=text):
        evaluated(outputs, y, **compiled)


def test_a_second_loss_of_one_output_does_not_count_and_is_said():
    with pytest.warns(UserWarning, match=r"\b2\b"):
        assert evaluated(lambda a, b: b, B, loss=["mse", "mae"])["loss"] == pytest.approx(B_MSE, rel=1e-5)


def test_metrics_of_compile_are_one_among_the_models():
    x = np.arange(10.).reshape(5, 2).astype("float32")
    y = [np.zeros((5, 1)), np.ones((5, 2))]
    model = two(as_list)
    assert model.metrics_names == []
    model.compile("sgd", "mse", metrics=[["mae"], ["mae", "mse"]])
    assert model.evaluate(x, y, batch_size=2, verbose=0) == pytest.approx([209, 142.3333282, 122.6666641, 9, 8, 96])
    assert model.metrics_names == ["loss", "compile_metrics", "a_loss", "b_loss"]
    assert [type(one).__name__ for one in model.metrics] == ["Mean", "CompileMetrics", "Mean", "Mean"]
    assert len(model.metrics_variables) == 12
    first = model.train_on_batch(x, y)
    assert first == pytest.approx([209, 113, 96, 9, 8, 96])
    assert model.train_on_batch(x, y, return_dict=True) == pytest.approx({
        "a_loss": 2.6144, "a_mae": 1.44, "b_loss": 17.6128, "b_mae": 3.456, "b_mse": 17.6128, "loss": 20.2272},
        rel=1e-4)


class Tracking(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1, kernel_initializer="ones")
        self._private = keras.metrics.Mean(name="private")
        self.several = [keras.metrics.Mean(name="l0"), keras.metrics.Mean(name="l1")]
        self.named = {"k": keras.metrics.Mean(name="dk")}

    def call(self, x):
        return [self.dense(x), self.dense(x) * 2]


def test_metrics_among_attributes_and_outputs_without_names():
    x, y = np.arange(10.).reshape(5, 2).astype("float32"), [np.zeros((5, 1))] * 2
    model = Tracking()
    assert model.metrics_names == ["private", "l0", "l1", "dk"]
    model.compile("sgd", "mse", metrics=[["mae"], ["mse"]], weighted_metrics=[["mae"], None])
    history = model.fit(x, y, verbose=0, batch_size=5, shuffle=False).history
    assert {name: value[0] for name, value in history.items()} == pytest.approx({
        "dk": 0, "l0": 0, "l1": 0, "loss": 565, "mae": 9, "mse": 452, "mse_loss": 452, "private": 0, "weighted_mae": 9})
    assert model.metrics_names == ["loss", "compile_metrics", "mse_loss", "mse_loss", "private", "l0", "l1", "dk"]
    assert len(model.evaluate(x, y, verbose=0)) == 11


def test_a_model_inside_keeps_its_metrics_for_itself():
    inner = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    inner.compile("sgd", "mse", metrics=["mae"])
    outer = keras.Sequential([keras.Input((2,)), inner, layers.Dense(1)])
    outer.compile("sgd", "mse", metrics=["mae"])
    assert inner.metrics_names == outer.metrics_names == ["loss", "compile_metrics"]
    assert outer.metrics[0] is not inner.metrics[0]


class Telling(keras.Model):
    def call(self, x):
        return x

    def train_step(self, data):
        return {"z": 1.0, "a": {"q": 2.0, "b": np.float32(3)}, "several": np.arange(3.)}


def test_what_a_step_tells_is_flat():
    model = Telling()
    model.compile()
    history = model.fit(np.zeros((2, 1)), verbose=0).history
    assert list(history) == ["b", "q", "several", "z"] and history["q"] == [2.0]
    found = model.train_on_batch(np.zeros((2, 1)))
    assert found[:2] == [3.0, 2.0] and found[2].tolist() == [0, 1, 2] and found[3] == 1.0


class OldLoss(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        return 2 * super().compute_loss(x, y, y_pred, sample_weight)


def test_compute_loss_may_lack_training():
    model = OldLoss()
    model.compile("sgd", "mse", metrics=["mse"])
    loss, mse = model.evaluate(X, A, verbose=0)
    assert loss == pytest.approx(2 * mse, rel=1e-5)
    assert np.isfinite(model.train_on_batch(X, A)[0])


def test_programs_of_keras_2_update_metrics_by_their_names():
    model = two(lambda a, b: b)
    model.compile("sgd", "mse", metrics=["mae"])
    model.evaluate(X, B, verbose=0)
    model.reset_metrics()
    with pytest.warns(UserWarning, match="deprecated"):
        assert float(model.compiled_loss(tf.constant(B), model(X))) == pytest.approx(B_MSE, rel=1e-5)
    with pytest.warns(UserWarning, match="deprecated"):
        model.compiled_metrics.update_state(tf.constant(B), model(X))
    assert model.get_metrics_result()["mae"].numpy() == pytest.approx(B_MAE, rel=1e-5)


def test_a_compiled_model_tells_its_configuration():
    model = two(as_list)
    assert model.get_compile_config() == {}
    model.compile("sgd", "mse", metrics=[["mae"], None], steps_per_execution=2)
    config = model.get_compile_config()
    assert config.pop("optimizer")["class_name"] == "SGD"
    assert config == {"loss": "mse", "loss_weights": None, "metrics": [["mae"], None], "weighted_metrics": None,
                      "run_eagerly": False, "steps_per_execution": 2, "jit_compile": False}
    other = two(as_list)
    other.compile_from_config({**config, "optimizer": "adam"})
    assert other.compiled and other.steps_per_execution == 2 and other.optimizer.built
    with pytest.warns(UserWarning, match="`jit_compile`"):
        other.compile("sgd", "mse", run_eagerly=True, jit_compile=True)
    assert other.jit_compile is False


def test_callbacks_stop_evaluation_and_prediction():
    model, seen = two(as_list), []
    model.compile("sgd", "mse")

    class Stopping(keras.callbacks.Callback):
        def on_test_batch_end(self, batch, logs=None):
            seen.append(batch)
            self.model.stop_evaluating = True

        def on_predict_batch_end(self, batch, logs=None):
            seen.append([one.shape for one in logs["outputs"]])
            self.model.stop_predicting = True
    model.evaluate(X, [A, B], batch_size=2, verbose=0, callbacks=[Stopping()])
    found = model.predict(X, batch_size=2, verbose=0, callbacks=[Stopping()])
    assert seen == [0, [(2, 1), (2, 2)]] and found[0].shape == (2, 1)


def test_trials_of_a_program_are_bounded():
    model, seen = two(lambda a, b: b), []
    model.compile("sgd", "mse")
    note = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
    keras.config.set_max_epochs(2)
    keras.config.set_max_steps_per_epoch(2)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(X, B, batch_size=1, epochs=5, verbose=0, callbacks=[note])
    finally:
        keras.config.set_max_epochs(None)
        keras.config.set_max_steps_per_epoch(None)
    assert seen == [0, 1, 0, 1] and len({str(one.message) for one in said}) == 2
    assert all(any(word in str(one.message).split() for one in said) for word in ("epochs", "steps_per_epoch"))
