"""Functions of ``tf`` beside results recorded from TensorFlow (tools/record/op_calls.py), at once and traced."""

import json
import pathlib

import numpy as np
import op_calls
import pytest

import leat as tf

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/op_calls.json").read_text())["calls"]
HALVES = {"float16": 2e-3, "bfloat16": 1e-2}


def check(found, wanted):
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            check(one, other)
        return
    if wanted is None or wanted["dtype"] == "string":
        assert found == wanted
        return
    assert (found["dtype"], found["shape"]) == (wanted["dtype"], wanted["shape"])
    found, expected = (np.array(one["values"], np.float64) for one in (found, wanted))
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    exact = not wanted["dtype"].startswith(("float", "bfloat"))
    loose = 0 if exact else HALVES.get(wanted["dtype"], 4e-6 if wanted["dtype"] == "float32" else 1e-10)
    np.testing.assert_allclose(found, expected, rtol=loose, atol=loose * scale)


@pytest.mark.parametrize("call", RECORDED)
def test_gives_what_tensorflow_gives(call):
    wanted = RECORDED[call]
    if "error" not in wanted:
        check(op_calls.plain(tf, op_calls.evaluate(tf, call)), wanted)
        return
    with pytest.raises(Exception) as found:
        op_calls.evaluate(tf, call)
    names = [one.__name__ for one in type(found.value).__mro__]
    assert wanted["error"] in names, f"{type(found.value).__name__}: {found.value}"


@pytest.mark.parametrize("call", [call for call, wanted in RECORDED.items()
                                  if "error" not in wanted and "Generator" not in call])
def test_gives_the_same_when_traced(call):
    words = {name: tf.constant(value) for name, value in op_calls.NAMES.items() if name in call}
    whole = {**op_calls.NAMES, **words}

    @tf.function
    def run(given):
        return op_calls.evaluate(tf, call, {**whole, **given})
    check(op_calls.plain(tf, run(words)), RECORDED[call])
