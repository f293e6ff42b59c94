"""The example programs: they run, and `explain` counts no callback in any pipeline that they iterate over."""

import pathlib
import runpy
import sys

import pytest

import leat as tf
from leat.data import iterator as iterators

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
CALLS_PYTHON = frozenset()  # examples whose subject is py_function or a generator


@pytest.fixture
def explained(monkeypatch):
    """Explanations of the iterators that were made, in a function that takes them when the program is over."""
    found, opened = [], iterators._open

    def open_and_keep(dataset):
        found.append(opened(dataset))
        return found[-1]
    monkeypatch.setattr(iterators, "_open", open_and_keep)
    return lambda: [iterators.Iterator.explain(type("Held", (), {"_native": native})()) for native in found]


def callbacks(explanations):
    rows = [row for found in explanations for row in found.operators]
    return [(row["operator"], row["callbacks"]) for row in rows if row["callbacks"]]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_call_no_python(path, explained, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    found = explained()
    if path.name not in CALLS_PYTHON:
        assert callbacks(found) == []
        assert not [record for record in caplog.records if "is called in Python" in record.getMessage()]


def test_callbacks_are_seen(explained):
    """The check above can fail."""
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.py_function(lambda v: v, [x], tf.int64))
    assert [int(x) for x in dataset] == [0, 1, 2]
    assert [int(x) for x in tf.data.Dataset.range(2).map(lambda x: int(x.numpy()))] == [0, 1]
    assert callbacks(explained()) == [("map", 3), ("map", 2)]
