"""Programs of the real Keras over leat's datasets, for each of its backends: python/interop has jax's,
python/frameworks PyTorch's. Expected are the losses and predictions that Keras gives for the same arrays in the same
order."""

import numpy as np
import pytest

import keras
import leat as tf

D = tf.data.Dataset
X = np.random.default_rng(0).normal(size=(23, 4)).astype(np.float32)
Y = (X.sum(axis=1, keepdims=True) > 0).astype(np.float32)
W = np.linspace(0.5, 2, 23).astype(np.float32)


def model(outputs=1):
    keras.utils.set_random_seed(3)
    made = keras.Sequential([keras.Input((4,)), keras.layers.Dense(5, "relu"), keras.layers.Dense(outputs)])
    made.compile("sgd", "mse", weighted_metrics=["mae"])
    return made


def arrays_fit(**more):
    made = model()
    history = made.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0, **more).history
    return history, made.predict(X, verbose=0)


def check(found, expected):
    assert found[0].keys() == expected[0].keys()
    for key, values in expected[0].items():
        np.testing.assert_allclose(found[0][key], values, rtol=1e-5)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5, atol=1e-6)


def dataset(*parts):
    return D.from_tensor_slices(parts if len(parts) > 1 else parts[0]).batch(4).prefetch(2)


def test_fit_evaluate_and_predict():
    made = model()
    history = made.fit(dataset(X, Y), epochs=2, verbose=0, validation_data=dataset(X, Y), shuffle=False).history
    found = history, made.predict(dataset(X), verbose=0)
    check(found, arrays_fit(validation_data=(X, Y), validation_batch_size=4))
    losses = made.evaluate(dataset(X, Y), verbose=0)
    np.testing.assert_allclose(losses, made.evaluate(X, Y, batch_size=4, verbose=0), rtol=1e-5)
    assert made.predict(dataset(X, Y), verbose=0).shape == (23, 1)


def test_weights_of_samples_and_classes():
    made = model()
    history = made.fit(dataset(X, Y, W), epochs=2, verbose=0, shuffle=False).history
    check((history, made.predict(dataset(X), verbose=0)), arrays_fit(sample_weight=W))
    made = model()
    history = made.fit(dataset(X, Y), epochs=2, verbose=0, class_weight={0: 0.5, 1: 3.0}, shuffle=False).history
    check((history, made.predict(dataset(X), verbose=0)), arrays_fit(class_weight={0: 0.5, 1: 3.0}))
    with pytest.raises(ValueError, match="class_weight"):
        model().fit(dataset(X, Y, W), verbose=0, class_weight={0: 1.0})


def test_names_of_inputs_and_outputs():
    a, b = keras.Input((4,), name="a"), keras.Input((1,), name="b")
    made = keras.Model({"a": a, "b": b}, {"p": keras.layers.Dense(1)(a), "q": keras.layers.Dense(2)(b)})
    made.compile("sgd", {"p": "mse", "q": "mse"})
    rows = dataset({"a": X, "b": Y}, {"p": Y, "q": np.concatenate([Y, Y], 1)})
    assert len(made.fit(rows, epochs=2, verbose=0).history["loss"]) == 2
    assert {key: value.shape for key, value in made.predict(rows, verbose=0).items()} == {"p": (23, 1), "q": (23, 2)}


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_infinite_unknown_and_failing_datasets():
    made = model()
    endless = dataset(X, Y).repeat()
    assert len(made.fit(endless, steps_per_epoch=3, epochs=2, verbose=0).history["loss"]) == 2
    some = dataset(X, Y).filter(lambda x, y: tf.shape(x)[0] == 4)
    assert some.cardinality() == -2 and len(made.fit(some, epochs=2, verbose=0).history["loss"]) == 2
    assert made.predict(some.map(lambda x, y: x), verbose=0).shape == (20, 1)
    bad = dataset(X, Y).map(lambda x, y: (tf.debugging.check_numerics(x / tf.zeros([]), "x"), y))
    with pytest.raises(Exception, match="x"):
        made.fit(bad, verbose=0)


def test_shuffled_datasets_give_another_order_each_epoch():
    seen = []

    class Sees(keras.layers.Layer):
        def call(self, x):
            return x
    numbers = D.range(12).shuffle(12, seed=5).batch(12).map(lambda x: tf.cast(x, tf.float32)[:, None])
    made = keras.Sequential([keras.Input((1,)), Sees()])
    made.compile()
    for _ in range(2):
        seen.append(made.predict(numbers, verbose=0).ravel().tolist())
    assert sorted(seen[0]) == sorted(seen[1]) == list(range(12)) and seen[0] != seen[1]


def test_what_keras_refuses():
    for more, name in ((dict(y=Y), "`y`"), (dict(sample_weight=W), "sample_weights")):
        with pytest.raises(ValueError, match=name):
            model().fit(dataset(X, Y), verbose=0, **more)
    with pytest.warns(UserWarning, match="shuffle"):
        model().fit(dataset(X, Y), verbose=0, shuffle=True)
    with pytest.raises(ValueError, match="Unrecognized"):
        model().fit(object(), verbose=0)
