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
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
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
