"""golden/nn through Python: layers, losses, metrics, optimizers and schedules as Keras 3 computed them.

Gradients are those of the tape, computed at once and in a function that is traced.
"""

import json
import pathlib

import numpy as np
import pytest

import leat as tf

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/data/nn"


def cases(name):
    listed = json.loads((FOLDER / f"{name}.json").read_text())["cases"]
    kind = {"layers": "layer", "more_layers": "layer", "picture_layers": "layer", "further_layers": "layer",
            "more_initializers": "initializer",
            "losses": "loss", "more_losses": "loss", "metrics": "metric", "more_metrics": "metric",
            "optimizers": "optimizer", "more_optimizers": "optimizer",
            "schedules": "schedule"}.get(name, "mode")
    return [pytest.param(case, id=f"{case[kind]}-{i}") for i, case in enumerate(listed)]


def array(json_value):
    if json_value is None:
        return None
    if "file" in json_value:
        whole = np.load(FOLDER / json_value["file"])
        begin = json_value["offset"]
        return whole[begin:begin + int(np.prod(json_value["shape"]))].reshape(json_value["shape"])
    return np.array([float(x) if isinstance(x, str) else x for x in json_value["data"]], json_value["dtype"]).reshape(
        json_value["shape"])


def near(found, expected, tolerance=1e-5):
    """Relative to the largest magnitude of the array."""
    found, expected = np.asarray(found), array(expected)
    assert found.shape == expected.shape
    scale = max(1e-30, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


# ---- layers ----

def made(case):
    """The layer with its weights; skipped where the package does not have it."""
    kind = getattr(tf.keras.layers, case["layer"], None)
    if kind is None:
        pytest.skip(f"leat has no layer {case['layer']}")
    layer = kind(**case["config"])
    inputs = [tf.constant(array(one)) for one in case["inputs"]]
    layer(inputs if len(inputs) > 1 else inputs[0], training=False)
    by_name = {variable.name: variable for variable in layer.weights}
    assert set(by_name) == set(case["weights"])
    for name, value in case["weights"].items():
        by_name[name].assign(array(value))
    return layer, inputs, by_name


def lost_by_rounding(case):
    """What float32 loses in gradients behind a mean that is taken out; Keras' own answers are no better."""
    if case["layer"] != "BatchNormalization":
        return 0
    x = array(case["inputs"][0]).astype(float)
    return abs(x.mean()) / x.std() * 1.2e-7


@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("case", [*cases("layers"), *cases("more_layers"), *cases("picture_layers"),
                                  *cases("further_layers")])
def test_layers(case, is_traced):
    layer, inputs, by_name = made(case)
    upstream = tf.constant(array(case["upstream"]))
    trainable = [by_name[name] for name in case["weight_grads"]]

    def run(*given):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(list(given))
            output = layer(list(given) if len(given) > 1 else given[0], training=case["training"])
            loss = tf.reduce_sum(tf.cast(output, tf.float32) * upstream)
        return output, tape.gradient(loss, list(given)), tape.gradient(loss, trainable)
    if is_traced:
        found = tf.function(run)
        output, input_grads, weight_grads = found(*inputs)
    else:
        output, input_grads, weight_grads = run(*inputs)
    near(output, case["output"])
    tolerance = 2e-5 + lost_by_rounding(case)
    for gradient, expected in zip(input_grads, case["input_grads"]):
        if expected is None:  # TensorFlow has no gradient on the way, the library's layers have one of zeros
            assert gradient is None or not np.any(gradient)
        else:
            near(gradient, expected, tolerance)
    for gradient, expected in zip(weight_grads, case["weight_grads"].values()):
        near(gradient, expected, tolerance)
    for name, expected in (case.get("state_after") or {}).items():
        near(by_name[name], expected)


@pytest.mark.parametrize("case", cases("more_initializers"))
def test_initializers(case):
    initializer = getattr(tf.keras.initializers, case["initializer"])(**case["config"])
    near(initializer(tuple(case["shape"])), case["value"])


# ---- losses ----

@pytest.mark.parametrize("case", [*cases("losses"), *cases("more_losses")])
def test_losses(case):
    kind = getattr(tf.keras.losses, case["loss"], None)
    if kind is None:
        pytest.skip(f"leat has no loss {case['loss']}")
    loss_fn = kind(**case["config"])
    y_true, y_pred = tf.constant(array(case["y_true"])), tf.constant(array(case["y_pred"]))
    weight = array(case["sample_weight"])
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        value = loss_fn(y_true, y_pred, sample_weight=weight)
        total = tf.reduce_sum(value)
    near(value, case["value"])
    near(tape.gradient(total, y_pred), case["grad"], 2e-5)


@pytest.mark.parametrize("case", [case for case in cases("loss_behind_softmax") if "fit" in case.values[0]["mode"]])
def test_losses_behind_a_softmax_in_fit(case):
    layers = tf.keras.layers
    last = [layers.Dense(5, kernel_initializer="identity"), layers.Softmax()] if "layer" in case["mode"] else [
        layers.Dense(5, kernel_initializer="identity", activation="softmax")]
    model = tf.keras.Sequential([tf.keras.Input((5,)), *last])
    model.compile(tf.keras.optimizers.SGD(1.0), tf.keras.losses.SparseCategoricalCrossentropy())
    history = model.fit(array(case["logits"]), np.array(case["labels"]), batch_size=2, verbose=0).history
    np.testing.assert_allclose(history["loss"], [case["loss"]], rtol=1e-5)
    near(-np.asarray(model.layers[0].bias), case["bias_gradient"])


@pytest.mark.parametrize("case", [case for case in cases("loss_behind_softmax") if "fit" not in case.values[0]["mode"]])
def test_losses_behind_a_softmax(case):
    logits = tf.constant(array(case["logits"]))
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=False)

    def run(logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = loss_fn(tf.constant(case["labels"]), tf.nn.softmax(logits))
        return loss, tape.gradient(loss, logits)
    loss, gradient = run(logits) if case["mode"] == "eager" else tf.function(run)(logits)
    np.testing.assert_allclose(loss, case["loss"], rtol=1e-5)
    near(gradient, case["grad"])


# ---- metrics, optimizers, schedules ----

@pytest.mark.parametrize("case", [*cases("metrics"), *cases("more_metrics")])
def test_metrics(case):
    kind = getattr(tf.keras.metrics, case["metric"], None)
    if kind is None:
        pytest.skip(f"leat has no metric {case['metric']}")
    metric = kind(**case["config"])
    if case["before"] is None:
        with pytest.raises(ValueError, match="update_state"):
            metric.result()
    else:
        np.testing.assert_allclose(metric.result(), case["before"])
    for update, expected in zip(case["updates"], case["results"]):
        metric.update_state(*[None if one is None else tf.constant(array(one)) for one in update])
        found = metric.result()
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-7)
    metric.reset_state()
    if case["after_reset"] is not None:
        np.testing.assert_allclose(metric.result(), case["after_reset"])


SLOTS = ("average", "gradient_accumulator", "momentum", "velocity", "velocity_hat", "average_gradient", "accumulator",
         "accumulated_grad", "accumulated_delta_var", "norm", "linear")


def slot_of(name):
    """What of an optimizer's variable a name says; nothing where Keras has only the variable's name."""
    return max((slot for slot in SLOTS if name.endswith(f"_{slot}")), key=len, default="")


@pytest.mark.parametrize("case", [*cases("optimizers"), *cases("more_optimizers")])
def test_optimizers(case):
    kind = getattr(tf.keras.optimizers, case["optimizer"], None)
    if kind is None:
        pytest.skip(f"leat has no optimizer {case['optimizer']}")
    config = dict(case["config"])
    if isinstance(config.get("learning_rate"), dict):
        schedule = dict(config["learning_rate"])
        config["learning_rate"] = getattr(tf.keras.optimizers.schedules, schedule.pop("schedule"))(**schedule)
    optimizer = kind(**config)
    variables = [tf.keras.Variable(array(one), name=f"v{i}") if "named" in case else tf.Variable(array(one))
                 for i, one in enumerate(case["variables"])]
    for grads, expected in zip(case["grads"], case["after_each_step"]):
        optimizer.apply_gradients(zip([tf.constant(array(one)) for one in grads], variables))
        for variable, value in zip(variables, expected):
            near(variable, value)
    assert [slot_of(v.name) for v in optimizer.variables] == [slot_of(name) for name in case["slots"]]


@pytest.mark.parametrize("case", cases("schedules"))
def test_schedules(case):
    kind = getattr(tf.keras.optimizers.schedules, case["schedule"], None)
    if kind is None:
        pytest.skip(f"leat has no schedule {case['schedule']}")
    schedule = kind(**case["config"])
    near([float(schedule(step)) for step in case["steps"]], case["values"])
