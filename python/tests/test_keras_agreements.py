"""What once differed from Keras without a word: keras_agreements.py recorded what Keras 3.15 gives."""

import json
import pathlib

import keras_agreements
import pytest

import leat as tf

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_agreements.json").read_text())


def differences(found, wanted, place=()):
    """Where two structures differ, floats by more than what is rounded."""
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for number, pair in enumerate(zip(found, wanted)):
            yield from differences(*pair, (*place, number))
    elif isinstance(wanted, float) and isinstance(found, float):
        if found != wanted and not abs(found - wanted) <= 2e-5 * max(1, abs(wanted)):
            if found == found or wanted == wanted:
                yield place, found, wanted
    elif found != wanted:
        yield place, found, wanted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(keras_agreements.CASES))
def test_what_keras_gives(name):
    found = json.loads(json.dumps(keras_agreements.CASES[name](tf, tf.keras)))
    assert list(differences(found, RECORDED[name])) == []
