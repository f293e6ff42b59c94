"""keras.callbacks that touch files, servers and averages: BackupAndRestore, SwapEMAWeights, RemoteMonitor."""

import fcntl
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import urllib.parse
import warnings

import numpy as np
import pytest

import keras_programs
from leat import _native, keras
from leat._files.replacing import replace
from leat.keras import layers
from leat.keras.saving import files

LEAT = pathlib.Path(_native.__file__).resolve().parents[2] / "bin/leat"
pytest.importorskip("h5py")
X = keras_programs.rows(24, 3)
Y = X[:, :1] * 2 + 1


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def model(**kwargs):
    keras.utils.set_random_seed(5)
    made = keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="relu"), layers.Dense(1)])
    made.compile(keras.optimizers.Adam(0.01, **kwargs), "mse")
    return made


class Interrupt(keras.callbacks.Callback):
    """Ends training as a crash does."""

    def __init__(self, epoch, batch=None):
        super().__init__()
        self._epoch, self._batch, self._now = epoch, batch, 0

    def on_epoch_begin(self, epoch, logs=None):
        self._now = epoch

    def on_epoch_end(self, epoch, logs=None):
        if self._batch is None and epoch == self._epoch:
            raise RuntimeError("interrupted")

    def on_train_batch_end(self, batch, logs=None):
        if (self._now, batch) == (self._epoch, self._batch):
            raise RuntimeError("interrupted")


def fit(made, callbacks, epochs=5):
    return made.fit(X, Y, batch_size=8, epochs=epochs, shuffle=False, verbose=0, callbacks=callbacks)


def test_training_goes_on_where_it_was_interrupted(tmp_path):
    whole = model()
    fit(whole, [])
    folder = tmp_path / "backup"
    with pytest.raises(RuntimeError, match="interrupted"):
        fit(model(), [keras.callbacks.BackupAndRestore(folder), Interrupt(2)])
    assert sorted(os.listdir(folder)) == ["latest.weights.h5", "training_metadata.json"]
    # BackupAndRestore comes first, so epoch 2 was saved before the crash.
    assert json.loads((folder / "training_metadata.json").read_text()) == {"epoch": 3, "batch": 0}
    again = model()
    history = fit(again, [keras.callbacks.BackupAndRestore(folder)])
    assert history.epoch == [3, 4] and not folder.exists()
    assert int(again.optimizer.iterations) == 15
    for found, expected in zip(again.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert fit(again, []).epoch == [0, 1, 2, 3, 4]  # only where it was asked for


def test_saving_after_batches(tmp_path):
    with pytest.raises(RuntimeError):
        fit(model(), [keras.callbacks.BackupAndRestore(tmp_path / "b", save_freq=2), Interrupt(1, 2)])
    assert json.loads((tmp_path / "b/training_metadata.json").read_text()) == {"epoch": 1, "batch": 2}
    again = model()
    history = fit(again, [keras.callbacks.BackupAndRestore(tmp_path / "b", save_freq=2, delete_checkpoint=False)])
    assert history.epoch == [1, 2, 3, 4] and int(again.optimizer.iterations) == 6 + 12
    assert (tmp_path / "b").exists()


def interrupted(folder):
    """A state of two epochs."""
    with pytest.raises(RuntimeError):
        fit(model(), [keras.callbacks.BackupAndRestore(folder), Interrupt(1)])
    return folder / "latest.weights.h5", folder / "training_metadata.json"


def test_weights_and_epoch_are_of_one_state(tmp_path, monkeypatch):
    weights, metadata = interrupted(tmp_path)
    assert json.loads(metadata.read_text())["epoch"] == 2
    # Killed behind the file of weights of the next epoch.
    monkeypatch.setattr(files, "replace", lambda path, content: replace(path, content) if path == str(weights) else
                        (_ for _ in ()).throw(RuntimeError("killed")))
    with pytest.raises(RuntimeError, match="killed"):
        fit(model(), [keras.callbacks.BackupAndRestore(tmp_path)])
    monkeypatch.undo()
    assert json.loads(metadata.read_text())["epoch"] == 2
    again = model()
    assert fit(again, [keras.callbacks.BackupAndRestore(tmp_path)]).epoch == [3, 4]
    assert int(again.optimizer.iterations) == 5 * 3


def test_states_of_two_files(tmp_path):
    """As Keras writes them, and leat did: the file of weights says no epoch."""
    weights, metadata = interrupted(tmp_path)
    with pytest.importorskip("h5py").File(weights, "a") as file:
        for name in list(file.attrs):
            del file.attrs[name]
    metadata.write_text('{"batch": 0}')
    with pytest.raises(OSError, match="epoch"):
        fit(model(), [keras.callbacks.BackupAndRestore(tmp_path)])
    metadata.write_text('{"epoch": 2, "batch": 0}')
    assert fit(model(), [keras.callbacks.BackupAndRestore(tmp_path)]).epoch == [2, 3, 4]
    # What a removal that was interrupted left.
    tmp_path.mkdir(exist_ok=True)
    metadata.write_text('{"epoch": 4, "batch": 0}')
    assert fit(model(), [keras.callbacks.BackupAndRestore(tmp_path)]).epoch == [0, 1, 2, 3, 4]


def test_a_damaged_backup(tmp_path):
    folder = tmp_path / "b"
    with pytest.raises(RuntimeError):
        fit(model(), [keras.callbacks.BackupAndRestore(folder, double_checkpoint=True), Interrupt(2)])
    assert len(os.listdir(folder)) == 4
    latest = folder / "latest.weights.h5"
    latest.write_bytes(latest.read_bytes()[:700])
    history = fit(model(), [keras.callbacks.BackupAndRestore(folder, double_checkpoint=True, delete_checkpoint=False)])
    assert history.epoch == [2, 3, 4]
    for path in folder.iterdir():
        path.write_bytes(b"x")
    made = model()
    before = made.get_weights()
    with pytest.raises(OSError, match="training"):
        keep_one = [name for name in os.listdir(folder) if name.endswith(".bkp")]
        for name in keep_one:
            os.remove(folder / name)
        fit(made, [keras.callbacks.BackupAndRestore(folder)])
    for found, expected in zip(made.get_weights(), before, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_wrong_arguments_of_backups(tmp_path):
    with pytest.raises(ValueError, match="`backup_dir`"):
        keras.callbacks.BackupAndRestore("")
    with pytest.raises(ValueError, match="`save_freq`"):
        keras.callbacks.BackupAndRestore(tmp_path, save_freq="batch")


@pytest.mark.parametrize("on_epoch", [False, True])
def test_averages_are_evaluated_and_weights_trained(tmp_path, on_epoch):
    plain, swapped = model(use_ema=True, ema_momentum=0.8), model(use_ema=True, ema_momentum=0.8)
    seen = {}

    class Look(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen[epoch] = [value.copy() for value in self.model.get_weights()]
    losses = fit(plain, [], 3).history["loss"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        history = swapped.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0, validation_data=(X, Y),
                              callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=on_epoch), Look()])
    np.testing.assert_allclose(history.history["loss"], losses, rtol=1e-6)  # it trains as without
    # At its end `fit` sets the weights to the averages, so that the last validation is what evaluate gives.
    assert swapped.evaluate(X, Y, verbose=0) == pytest.approx(history.history["val_loss"][-1], rel=1e-6)
    for found, expected in zip(swapped.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    ends = [np.allclose(a, b) for a, b in zip(seen[2], plain.get_weights())]
    assert all(ends) == on_epoch
    with pytest.raises(ValueError, match="`use_ema=True`"):
        model().evaluate(X, Y, verbose=0, callbacks=[keras.callbacks.SwapEMAWeights()])


def test_averages_of_an_update_worked_out_by_hand():
    keras.utils.set_random_seed(1)
    made = keras.Sequential([keras.Input((1,)), layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    made.compile(keras.optimizers.SGD(0.25, use_ema=True, ema_momentum=0.75), "mse")
    x = np.ones((1, 1), np.float32)
    made.fit(x, 3 * x, verbose=0, epochs=2, callbacks=[Keep()])
    # The gradients are 2 * (1 - 3) and 2 * (2 - 3): the weight goes from 1 to 2 to 2.5. The first average is the weight
    # itself, as in Keras, the second 0.75 * 2 + 0.25 * 2.5.
    assert Keep.weight == pytest.approx(2.5)
    assert float(made.get_weights()[0].item()) == pytest.approx(2.125)


class Keep(keras.callbacks.Callback):
    """Keeps the weight after the epoch."""

    weight = None

    def on_epoch_end(self, epoch, logs=None):
        Keep.weight = float(self.model.get_weights()[0].item())


@pytest.fixture
def server():
    """(url, requests that came) of a server on this host."""
    came = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.path, self.headers["Content-Type"], self.headers.get("X-Run"), body))
            self.send_response(404 if self.path == "/bad" else 200)
            self.end_headers()

        def log_message(self, *args):
            pass
    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_address[1]}", came
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_remote_monitor(server):
    url, came = server
    losses = fit(model(), [keras.callbacks.RemoteMonitor(url), keras.callbacks.RemoteMonitor(
        url, path="/bad", send_as_json=True, headers={"X-Run": "7"})], 2).history["loss"]
    assert [one[0] for one in came] == ["/publish/epoch/end/", "/bad"] * 2
    assert came[0][1] == "application/x-www-form-urlencoded" and came[1][1:3] == ("application/json", "7")
    form = urllib.parse.parse_qs(came[0][3].decode())
    assert json.loads(form["data"][0]) == {"epoch": 0, "loss": losses[0]}
    assert json.loads(came[3][3]) == {"epoch": 1, "loss": losses[1]}


def test_a_server_that_is_not_there_is_a_warning():
    with pytest.warns(UserWarning, match="http://127.0.0.1:1"):
        fit(model(), [keras.callbacks.RemoteMonitor("http://127.0.0.1:1")], 1)


def test_safetensors_checkpoints(tmp_path):
    made = model()
    fit(made, [keras.callbacks.ModelCheckpoint(tmp_path / "{epoch}.safetensors", save_weights_only=True)], 2)
    other = model()
    other.load_weights(tmp_path / "2.safetensors")
    for found, expected in zip(other.get_weights(), made.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_killed_trainings_left_goes_whatever_its_name(tmp_path):
    def names():
        return sorted(path.name for path in tmp_path.iterdir())
    left = ".m-03-0.1250.keras.leat-0.tmp"
    others = [".m-0.5.h5.leat-0.tmp", ".x-03-0.5.keras.leat-0.tmp", "m-03-.keras"]
    lives = tmp_path / ".m-04-0.2500.keras.leat-1.tmp"
    for name in (left, *others, lives.name):
        (tmp_path / name).write_bytes(b"cut")
    with open(lives, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        fit(model(), [keras.callbacks.ModelCheckpoint(tmp_path / "m-{epoch:02d}-{loss:.4f}.keras")], 1)
    found = names()
    assert left not in found and {*others, lives.name} <= set(found) and len(found) == len(others) + 2


def test_the_best_by_what_is_no_number(tmp_path):
    checkpoint = keras.callbacks.ModelCheckpoint(tmp_path / "w.weights.h5", monitor="odd", mode="min",
                                                 save_weights_only=True, save_best_only=True)
    checkpoint.set_model(model())
    with pytest.warns(UserWarning, match="`monitor`"):
        checkpoint.on_epoch_end(0, {"odd": np.ones(2)})
    assert (tmp_path / "w.weights.h5").exists()
    with pytest.warns(UserWarning, match="odd"):
        checkpoint.on_epoch_end(1, {})


WORKER = """
import os, sys
import numpy as np
import leat as tf
from leat import keras

strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = strategy.cluster_resolver.task_id
folder = os.path.join(sys.argv[1], str(me))  # so that it shows who writes
with strategy.scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.BatchNormalization(),
                              keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
x = np.random.default_rng(0).normal(size=(16, 3))
model.fit(x, x[:, :1], batch_size=4, epochs=2, verbose=0, validation_data=(x, x[:, :1]), callbacks=[
    keras.callbacks.ModelCheckpoint(folder + "/{epoch}.weights.h5", save_weights_only=True),
    keras.callbacks.ModelCheckpoint(folder + "/best.keras", save_best_only=True),
    keras.callbacks.ModelCheckpoint(folder + "/w.safetensors", save_weights_only=True, save_freq=3),
    keras.callbacks.BackupAndRestore(folder + "/backup", delete_checkpoint=False),
    keras.callbacks.CSVLogger(sys.argv[1] + f"/log{me}.csv"),
    keras.callbacks.TensorBoard(folder, histogram_freq=1, update_freq=1)])
try:
    model.fit(x, x[:, :1], epochs=3, verbose=0, callbacks=[keras.callbacks.BackupAndRestore(folder + "/backup")])
except OSError as error:
    print("epochs" in str(error))
print("weights", float(np.sum([w.numpy().sum() for w in model.trainable_weights])))
"""


@pytest.mark.skipif(not LEAT.is_file(), reason="the tool is not built beside the package")
def test_the_chief_alone_writes(tmp_path):
    program, folder = tmp_path / "program.py", tmp_path / "out"
    program.write_text(WORKER)
    folder.mkdir()
    done = subprocess.run([LEAT, "launch", "-n", "2", "--", sys.executable, str(program), str(folder)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    shown = [re.sub(r"\[worker \d\] ", "", line) for line in done.stdout.splitlines()]
    shown.sort()
    assert shown[:2] == ["True"] * 2 and len(shown) == 4 and shown[2] == shown[3]
    assert sorted(os.listdir(folder)) == ["0", "log0.csv"]
    assert sorted(os.listdir(folder / "0")) == ["1.weights.h5", "2.weights.h5", "backup", "best.keras", "train",
                                                "validation", "w.safetensors"]
    assert len((folder / "log0.csv").read_text().splitlines()) == 3


def test_callbacks_see_what_a_step_left_in_the_model():
    class Counting(keras.Model):
        def __init__(self):
            super().__init__()
            self.seen = self.add_variable(shape=(), initializer="zeros", trainable=False)

        def call(self, x):
            self.seen.assign(self.seen + 1)
            return x
    model, found = Counting(), []
    model.compile("sgd", "mse")
    x = np.ones((8, 1), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is nothing to train
        model.fit(x, x, batch_size=2, verbose=0, callbacks=[keras.callbacks.LambdaCallback(
            on_train_batch_end=lambda batch, logs: found.append(int(model.seen)))])
    assert found == [1, 2, 3, 4]


def test_whoever_listens_to_batches_hears_each():
    def listener(name, place):
        one, heard = keras.callbacks.Callback(), []

        def hear(batch, logs=None):
            heard.append((batch, sorted(logs)))
        if place == "attribute":
            setattr(one, name, hear)
            return one, heard
        methods = {name: lambda self, batch, logs=None: hear(batch, logs)}
        inner = type("Listening", (keras.callbacks.Callback,), methods)()
        return (inner if place == "class" else keras.callbacks.CallbackList([inner])), heard
    model = keras.Sequential([layers.Input((1,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((6, 1), np.float32)
    calls = {"train": lambda given: model.fit(x, x, batch_size=2, verbose=0, callbacks=given),
             "test": lambda given: model.evaluate(x, x, batch_size=2, verbose=0, callbacks=given),
             "predict": lambda given: model.predict(x, batch_size=2, verbose=0, callbacks=given)}
    logs = {"train": ["loss"], "test": ["loss"], "predict": ["outputs"]}
    for place in ("attribute", "class", "list"):
        for kind, call in calls.items():
            for name in [f"on_{kind}_batch_", "on_batch_"][:1 + (kind == "train")]:
                one, heard = listener(name + "begin", place)
                call([one, keras.callbacks.Callback()])
                assert heard == [(n, []) for n in range(3)], (place, name)
                one, heard = listener(name + "end", place)
                call([keras.callbacks.Callback(), one])
                assert heard == [(n, logs[kind]) for n in range(3)], (place, name)
