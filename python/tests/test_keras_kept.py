"""What Keras keeps of its second version, beside results recorded from it (tools/record/keras_ops.py)."""

import json
import pathlib

import keras_kept_calls
import pytest
from test_keras_ops import check

import leat as tf
from leat import keras

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_kept.json").read_text())["calls"]


@pytest.mark.parametrize("call", RECORDED)
def test_gives_what_keras_gives(call):
    found = eval(call, {**keras_kept_calls.NAMES, "tf": tf, "keras": keras, "ops": keras.ops})
    check(found, RECORDED[call])
