"""Recurrent layers beside Keras' own: keras_recurrent.py records what Keras gives."""

import json
import pathlib

import keras_recurrent
import numpy as np
import pytest

import leat as tf
from leat import keras

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_recurrent.json").read_text())


def close(found, wanted):
    """Asserts that two structures are equal, numbers to 1e-5."""
    if isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted)
        for key in wanted:
            close(found[key], wanted[key])
    elif isinstance(wanted, list) and any(isinstance(one, (list, str)) for one in wanted):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            close(one, other)
    elif isinstance(wanted, list) or isinstance(wanted, float):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)  # some are exponentials of exponentials
    else:
        assert found == wanted


@pytest.mark.parametrize("name", RECORDED["layers"])
def test_layers(name):
    layer, call = keras_recurrent.options(keras)[name]
    close(keras_recurrent.seen(tf, layer, **dict(call)), RECORDED["layers"][name])


def test_cells():
    close(keras_recurrent.cells(tf, keras), RECORDED["cells"])


def test_trained():
    close(keras_recurrent.trained(keras), RECORDED["trained"])


def test_kept():
    close(keras_recurrent.kept(keras), RECORDED["kept"])


def test_wrapped():
    close(keras_recurrent.wrapped(tf, keras), RECORDED["wrapped"])


@pytest.mark.parametrize("kind", keras_recurrent.KINDS)
def test_what_is_refused(kind):
    make, x = getattr(keras.layers, kind), tf.constant(keras_recurrent.X)
    for given, word in (({"units": 0}, "positive"), ({"units": 3, "foo": 1}, "Unrecognized")):
        with pytest.raises(ValueError, match=word):
            make(**given)
    with pytest.raises(ValueError, match="ndim=3"):
        make(3)(x[0])
    with pytest.raises(ValueError, match="static"):
        make(3, stateful=True)(keras.Input((4, 3)))
    layer = make(3, stateful=True)
    layer(x)
    with pytest.raises(ValueError, match="size"):
        layer(tf.concat([x, x], 0))
    # An unrolled layer learns the number of steps when it is called, as in Keras.
    model = keras.Sequential([keras.Input((None, 3)), make(3, unroll=True)])
    assert model(x).shape == (2, 3)


def test_what_wrappers_refuse():
    layers = keras.layers
    for call, word in ((lambda: layers.Bidirectional(layers.LSTM(3), merge_mode="x"), "merge"),
                       (lambda: layers.Bidirectional(layers.LSTM(3), backward_layer=layers.LSTM(3)), "go_backwards"),
                       (lambda: layers.TimeDistributed(3), "TimeDistributed"),
                       (lambda: layers.LSTM(3, use_cudnn=3), "use_cudnn"),
                       (lambda: layers.LSTM(3, use_cudnn=True)(keras_recurrent.X), "cuDNN"),
                       (lambda: layers.RNN(3), "`call`"),
                       (lambda: layers.StackedRNNCells([3]), "`call`")):
        with pytest.raises(ValueError, match=word):
            call()


# What Keras gives under these policies for weights in equal steps from -0.9 to 0.8.
HALVES = {("mixed_float16", "SimpleRNN"): [[-0.345947265625, 0.9287109375], [-0.654296875, 0.9736328125]],
          ("mixed_float16", "GRU"): [[0.06915283203125, 0.255615234375], [0.446533203125, 0.84423828125]],
          ("mixed_float16", "LSTM"): [[0.078857421875, 0.2030029296875], [0.0341796875, 0.19140625]],
          ("mixed_bfloat16", "SimpleRNN"): [[-0.34375, 0.9296875], [-0.6484375, 0.97265625]],
          ("mixed_bfloat16", "GRU"): [[0.06787109375, 0.255859375], [0.443359375, 0.83984375]],
          ("mixed_bfloat16", "LSTM"): [[0.0791015625, 0.203125], [0.033935546875, 0.19140625]]}


@pytest.mark.parametrize("policy, kind", list(HALVES))
def test_halves(policy, kind):
    layer = getattr(keras.layers, kind)(2, dtype=policy)
    layer.build((2, 5, 3))
    layer.set_weights([np.linspace(-.9, .8, w.size).reshape(w.shape) for w in layer.get_weights()])
    with tf.GradientTape() as tape:
        out = layer(np.linspace(-1, 1, 30).reshape(2, 5, 3).astype("f"))
    assert out.dtype == policy.removeprefix("mixed_")
    np.testing.assert_allclose(np.asarray(out).astype("f"), HALVES[policy, kind],
                               atol=5e-4 if policy == "mixed_float16" else 8e-3)
    assert all(one.dtype == "float32" for one in tape.gradient(out, layer.trainable_variables))


@pytest.mark.parametrize("make, kernel, recurrent", [
    (lambda: tf.keras.layers.SimpleRNN(3), [0.3470, -0.4811, -0.1935], [-0.3170, -0.1082, -0.9422]),
    (lambda: tf.keras.layers.RNN(tf.keras.layers.SimpleRNNCell(2)), [0.3801, -0.5270, -0.2120],
     [-0.6734, 0.7393, -0.7393])])
def test_seeds_of_a_simple_cell_are_drawn_in_keras_order(make, kernel, recurrent):
    tf.keras.utils.set_random_seed(3)
    layer = make()
    layer.build((None, 2, 3))
    found = [weight.numpy().reshape(-1)[:3] for weight in layer.weights[:2]]
    np.testing.assert_allclose(found, [kernel, recurrent], atol=6e-5)
