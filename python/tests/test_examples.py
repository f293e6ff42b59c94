"""The example programs: they run, and `explain` counts no callback in any pipeline that they iterate over."""

import pathlib
import re
import runpy
import subprocess
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
        assert not [record for record in caplog.records if "Python" in record.getMessage()]


def test_callbacks_are_seen(explained):
    """The check above can fail."""
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.py_function(lambda v: v, [x], tf.int64))
    assert [int(x) for x in dataset] == [0, 1, 2]
    assert [int(x) for x in tf.data.Dataset.range(2).map(lambda x: int(x.numpy()))] == [0, 1]
    assert callbacks(explained()) == [("map", 3), ("map", 2)]


def printed(name, *arguments):
    """What an example prints, in a process of its own, and what goes to the standard error."""
    path = next(path for path in EXAMPLES if path.name == name)
    done = subprocess.run([sys.executable, str(path), *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_each_picture_of_the_validation_counts_once():
    for devices in ("1", "3"):
        text, errors = printed("distributed_validation.py", "--devices", devices, "--epochs", "2", "--batch-size", "11")
        found = re.findall(r"Loss: ([\d.]+), .* of 45 pictures", text)
        assert len(found) == 2 and float(found[1]) < float(found[0]) and errors == ""


def test_shuffling_batches_is_said():
    text, errors = printed("fit_dataset.py", "shuffled")
    assert errors.count("shuffled after it was batched") == 1 and text.count("Epoch ") == 2


def test_epochs_of_steps_stay_below_the_limit():
    text, errors = printed("fit_dataset.py", "steps", "--epochs", "3")
    assert "60 steps over 32200 pictures, peak below the limit: True" in text and text.count("20/20") == 3
    assert errors == ""


def test_what_operators_hold_is_shown():
    text, errors = printed("fit_dataset.py", "plain")
    held = {line.split()[0]: line.split()[7] for line in text.splitlines()
            if re.match(r"\s*(batch|map|from_tensor_slices) ", line)}
    assert held["batch"] == held["from_tensor_slices"] == "0" and errors == ""


def test_fit_over_a_service():
    text, errors = printed("service.py")
    found = re.fullmatch(r"3 epochs, accuracy ([\d.]+)\n", text)
    assert found and float(found[1]) > 0.8 and errors == ""


def test_fit_over_a_service_that_others_have_read(monkeypatch):
    service = tf.data.experimental.service
    with service.DispatchServer() as dispatcher:
        address = dispatcher.target.split("://")[1]
        with service.WorkerServer(service.WorkerConfig(dispatcher_address=address)):
            monkeypatch.setenv("LEAT_SERVICE_ADDRESS", address)
            assert printed("service.py")[0].startswith("3 epochs")
            assert printed("service.py")[0] == "other programs read all rows\n"
