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
