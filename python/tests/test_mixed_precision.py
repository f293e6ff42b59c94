"""``keras.mixed_precision`` and ``keras.dtype_policies``: what to expect was printed by Keras 3.15."""

import numpy as np
import pytest

import leat as tf

k = tf.keras
CONFIG = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "mixed_float16"}, "registered_name": None}


@pytest.fixture
def policy(request):
    k.mixed_precision.set_global_policy(request.param)
    yield request.param
    k.mixed_precision.set_global_policy("float32")


@pytest.mark.parametrize("policy, losses, total", [("mixed_float16", [1.8258, 1.8795, 1.664], 45.186882),
                                                   ("mixed_bfloat16", [1.7957, 1.7257, 1.8195], 45.120483)],
                         indirect=["policy"])
def test_a_model_is_trained_and_saved(policy, losses, total, tmp_path):
    rng = np.random.RandomState(0)
    x, y = rng.randn(64, 8, 8, 3).astype("float32"), rng.randint(0, 5, (64,))
    k.utils.set_random_seed(1)
    model = k.Sequential([k.layers.Input((8, 8, 3)), k.layers.Conv2D(4, 3, activation="relu"),
                          k.layers.BatchNormalization(), k.layers.MaxPooling2D(), k.layers.Dropout(0.2),
                          k.layers.Flatten(), k.layers.LayerNormalization(), k.layers.Dense(8, activation="gelu"),
                          k.layers.Dense(5, dtype="float32", activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    assert isinstance(model.optimizer, k.optimizers.LossScaleOptimizer) == (policy == "mixed_float16")
    half = policy.removeprefix("mixed_")
    assert [layer.compute_dtype for layer in model.layers] == [half] * 7 + ["float32"]
    assert {variable.dtype.name for variable in model.weights} == {"float32"}
    history = model.fit(x, y, batch_size=16, epochs=3, verbose=0, shuffle=False)
    np.testing.assert_allclose(history.history["loss"], losses, atol=5e-3)
    first = model.layers[0](x[:1])
    assert first.dtype.name == half
    assert abs(np.sum(tf.cast(first, tf.float32).numpy()) - total) < 0.2
    model.save(tmp_path / "m.keras")
    again = k.models.load_model(tmp_path / "m.keras")
    assert [layer.dtype_policy.name for layer in again.layers] == [policy] * 7 + ["float32"]
    np.testing.assert_array_equal(again.predict(x[:4], verbose=0), model.predict(x[:4], verbose=0))


@pytest.mark.parametrize("policy", ["mixed_bfloat16"], indirect=True)
def test_dtypes_of_symbolic_values(policy):
    start = k.Input((3,))
    made = k.layers.Dense(2)(start)
    model = k.Model(start, k.layers.Add()([made, made]))
    assert (start.dtype, made.dtype, model.output.dtype, model.compute_dtype) == ("float32",) + ("bfloat16",) * 3
    assert model(np.ones((1, 3))).dtype == tf.bfloat16
    table = k.layers.Embedding(4, 3)
    assert table(np.array([1, 2])).dtype == tf.bfloat16 and table.embeddings.dtype == tf.float32
    assert k.layers.Dense(2, dtype="float32")(made).dtype == "float32"


def test_gradients_are_of_the_variables():
    layer = k.layers.Dense(2, dtype=k.mixed_precision.Policy("mixed_float16"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(np.ones((1, 2), "float32")))
    assert loss.dtype == tf.float16
    assert [one.dtype for one in tape.gradient(loss, layer.trainable_variables)] == [tf.float32] * 2
    assert layer.get_config()["dtype"] == CONFIG
    assert k.layers.Dense.from_config(layer.get_config()).dtype_policy == layer.dtype_policy


def test_maps():
    policies = k.dtype_policies.DTypePolicyMap()
    policies["a/.*"] = "mixed_bfloat16"
    assert (policies["a/b"].name, policies["c"].name, len(policies)) == ("mixed_bfloat16", "float32", 1)
    again = k.dtype_policies.deserialize(k.dtype_policies.serialize(policies))
    assert again["a/b"].name == "mixed_bfloat16" and again.name == "map_float32"
    with pytest.raises(ValueError, match="duplicated"):
        policies["a/.*"] = "float32"
    policies["a/b.*"] = "float64"
    with pytest.raises(ValueError, match="multiple"):
        policies["a/b"]
    assert k.layers.Dense(2, dtype=k.dtype_policies.DTypePolicyMap("bfloat16")).compute_dtype == "bfloat16"


def test_get_and_its_errors():
    get = k.dtype_policies.get
    assert (get("bfloat16").name, get(CONFIG).name, get(None).name) == ("bfloat16", "mixed_float16", "float32")
    assert k.dtype_policies.serialize(get(CONFIG)) == CONFIG
    with pytest.raises(ValueError, match="mixed_float8"):
        get("mixed_float8")
    for wrong in (3, 1.5):
        with pytest.raises(ValueError, match="dtype"):
            get(wrong)
        with pytest.raises(ValueError, match="policy"):
            k.config.set_dtype_policy(wrong)
