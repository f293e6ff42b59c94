"""Random numbers are TensorFlow's, from call to call, in functions and out of them."""

import json
import pathlib

import numpy as np
import pytest
import random_sequences

import leat as tf

DATA = pathlib.Path(__file__).with_name("data")
SEQUENCES = json.loads((DATA / "random_sequences.json").read_text())


@pytest.fixture(scope="module")
def found():
    yield random_sequences.sequences(tf)
    tf.random.set_seed(None)


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences(found, name):
    assert [len(call) for call in found[name]] == [len(call) for call in SEQUENCES[name]]
    for one, expected in zip(found[name], SEQUENCES[name]):
        np.testing.assert_allclose(one, expected, rtol=2e-6)
