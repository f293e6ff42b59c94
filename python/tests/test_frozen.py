"""What leat of earlier versions wrote is read by this one: tests/frozen (docs/VERSIONING.md)."""

import base64
import json
import os
import shutil

import numpy as np
import pytest

import frozen
import leat as tf

Dataset = tf.data.Dataset
ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "frozen")
VERSIONS = sorted(os.listdir(ROOT))
NUMBERS = [[i, str(i * i)] for i in range(10)]


@pytest.fixture(params=VERSIONS)
def kept(request, tmp_path, monkeypatch):
    """A copy of the folder of one version, which is the current one."""
    shutil.copytree(os.path.join(ROOT, request.param), tmp_path / "kept")
    monkeypatch.chdir(tmp_path / "kept")


def texts(dataset):
    return [frozen.plain(element) for element in dataset]


def test_there_are_versions():
    assert VERSIONS and len(frozen.pipelines()) >= 15


def test_states(kept):
    with open("states.json") as file:
        states = json.load(file)
    assert {state["name"] for state in states} == set(frozen.pipelines())
    for state in states:
        plan = json.dumps(state["plan"])
        whole = texts(Dataset.from_json(plan))
        iterator = iter(Dataset.from_json(plan))
        iterator.restore(base64.b64decode(state["state"]))
        rest = texts(iterator)
        assert rest == state["rest"], state["name"]
        assert rest == whole[3:], state["name"]


def test_plans_mean_what_they_meant(kept):
    with open("states.json") as file:
        states = {state["name"]: state for state in json.load(file)}
    for name, dataset in frozen.pipelines().items():
        assert texts(dataset)[3:] == states[name]["rest"], name


def test_cache(kept):
    broken = Dataset.range(10).map(lambda x: (x, tf.strings.as_string(x * x)))
    assert texts(broken.cache("cache")) == NUMBERS
    before = os.stat("cache.data").st_mtime_ns
    assert texts(broken.cache("cache")) == NUMBERS and os.stat("cache.data").st_mtime_ns == before


def test_saved_datasets(kept):
    assert texts(Dataset.load("saved")) == NUMBERS
    files = sorted(os.walk("snapshot"))
    assert texts(Dataset.range(10).map(lambda x: (x, tf.strings.as_string(x * x))).snapshot("snapshot")) == NUMBERS
    assert sorted(os.walk("snapshot")) == files


def test_models(kept):
    with open("values.json") as file:
        values = json.load(file)
    whole = tf.keras.models.load_model("model.keras")
    np.testing.assert_allclose(whole.predict(frozen.INPUTS, verbose=0), values["predicted"], rtol=1e-5, atol=1e-6)
    loss = whole.fit(frozen.INPUTS, frozen.TARGETS, verbose=0).history["loss"][0]
    np.testing.assert_allclose(loss, values["next_loss"], rtol=1e-5)
    weights = frozen.model()
    weights.load_weights("model.weights.h5")
    np.testing.assert_allclose(weights.predict(frozen.INPUTS, verbose=0), values["predicted"], rtol=1e-5, atol=1e-6)


def test_checkpoint(kept):
    numbers = Dataset.range(10).map(lambda x: (x, tf.strings.as_string(x * x)))
    with open("values.json") as file:
        values = json.load(file)
    made = frozen.model()
    iterator = iter(numbers)
    next(iterator)
    tf.train.Checkpoint(model=made, iterator=iterator).read("checkpoint")
    assert texts(iterator) == NUMBERS[4:]
    np.testing.assert_allclose(made.predict(frozen.INPUTS, verbose=0), values["predicted"], rtol=1e-5, atol=1e-6)
