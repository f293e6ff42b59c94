"""Calls of a line each: what TensorFlow gives is recorded (tools/record/small_agreements.py)."""

import json
import math
import pathlib

import pytest
import small_agreements

import leat as tf

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/small_agreements.json").read_text())
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "complex64": 2e-6}


def _is_near(found, wanted, tolerance):
    found, wanted = float(found), float(wanted)
    if math.isnan(wanted) or math.isinf(wanted) or wanted == 0:
        return repr(found) == repr(wanted) or abs(found) < tolerance and wanted == 0 != found
    return abs(found - wanted) <= tolerance * abs(wanted) + 1e-15


def _agree(found, wanted):
    if not isinstance(wanted, list) or not isinstance(found, list):
        return found == wanted
    if "float" not in wanted[0] and "complex" not in wanted[0]:
        return found == wanted
    tolerance = TOLERANCE.get(wanted[0], 1e-14)
    return found[:2] == wanted[:2] and all(_is_near(*pair, tolerance) for pair in zip(found[2], wanted[2]))


@pytest.mark.filterwarnings("ignore")
def test_what_tensorflow_gives():
    found = small_agreements.outcomes(tf)
    assert found.keys() == RECORDED.keys()
    # What TensorFlow refuses leat may compute.
    wrong = {text: (found[text], wanted) for text, wanted in RECORDED.items()
             if wanted != "error" and not _agree(found[text], wanted)}
    assert wrong == {}
