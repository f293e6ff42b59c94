"""Checkpoints, models and what callbacks write in object stores (docs/REMOTE.md): the same as on a disk, also where the
process is killed."""
import contextlib
import os
import pathlib
import signal
import warnings

import numpy as np
import pytest

import leat as tf
import remote_stores as stores
from leat import keras
from leat._checkpoint import files

pytestmark = pytest.mark.skipif(not (pathlib.Path(tf._native.__file__).parent / "libleat_curl.so").exists(),
                                reason="this build has no libcurl")
KEY = "c2VjcmV0IGtleSBvZiBzb21lb25l"


@pytest.fixture(params=["gs", "az"], name="server")
def running(request, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    with stores.store(stores.Google if request.param == "gs" else stores.Azure) as server:
        server.buckets.add("bucket")
        server.root = f"{request.param}://bucket"
        server.key = KEY if request.param == "az" else None
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING",
                           f"AccountName=someone;AccountKey={KEY};BlobEndpoint={server.url}/")
        yield server


def names(server, start=""):
    return sorted(key for _, key in server.objects if key.startswith(start))


def model(value=1.0):
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    made.compile("sgd", "mse")
    made.optimizer.build(made.trainable_variables)
    made.set_weights([np.full((3, 2), value, "float32"), np.full(2, value, "float32")])
    return made


def values(made):
    return {float(value) for one in made.get_weights() for value in one.ravel()}


def test_checkpoints(server):
    variable = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=variable)
    folder = server.root + "/run"
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    assert manager.latest_checkpoint is None and tf.train.latest_checkpoint(folder) is None
    for number in range(3):
        variable.assign([number, number])
        manager.save()
    assert manager.checkpoints == [folder + "/ckpt-2", folder + "/ckpt-3"]
    assert names(server) == ["run/checkpoint", "run/ckpt-2.data-00000-of-00001", "run/ckpt-2.index",
                             "run/ckpt-3.data-00000-of-00001", "run/ckpt-3.index"]
    assert server.objects["bucket", "run/checkpoint"][0].startswith(b'model_checkpoint_path: "ckpt-3"\n')
    assert tf.train.latest_checkpoint(folder) == folder + "/ckpt-3"
    again = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    assert again.checkpoints == manager.checkpoints
    checkpoint.restore(folder + "/ckpt-2").assert_consumed()
    assert variable.numpy().tolist() == [1, 1]
    assert again.restore_or_initialize() == folder + "/ckpt-3" and variable.numpy().tolist() == [2, 2]
    assert tf.train.load_variable(folder, "v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [2, 2]
    # One of its name takes its place, and nothing of the former is left.
    for _ in range(2):
        checkpoint.write(server.root + "/one")
    assert len(names(server, "one")) == 2
    with pytest.raises(tf.errors.NotFoundError):
        checkpoint.restore(folder + "/none")
    tf.train.update_checkpoint_state(folder + "/other", folder + "/ckpt-2")
    assert tf.train.latest_checkpoint(folder + "/other") == folder + "/ckpt-2"
    del server.objects["bucket", "run/ckpt-3.data-00000-of-00001"]
    with pytest.warns(UserWarning, match="ckpt-2"):
        assert tf.train.latest_checkpoint(folder) == folder + "/ckpt-2"


def test_strangers_name_no_other_machine(server, tmp_path):
    """The file `checkpoint` of a folder leads nowhere else."""
    tf.train.Checkpoint(v=tf.Variable(1)).write(server.root + "/c")
    (tmp_path / "checkpoint").write_text(f'model_checkpoint_path: "{server.root}/c"\n', encoding="utf-8")
    count = len(server.plan)
    server.plan[:] = [lambda handler: pytest.fail("it was asked")]
    with pytest.warns(UserWarning, match="latest"):
        assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert len(server.plan) == count + 1


def test_models(server):
    made, folder = model(3.0), server.root + "/models/"
    for name in ("m.keras", "m.h5", "folder"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of HDF5, which is old
            made.save(folder + name, **({"zipped": False} if name == "folder" else {}))
        assert values(keras.models.load_model(folder + name)) == {3.0}
    for name in ("w.weights.h5", "w.safetensors", "p.weights.json"):
        made.save_weights(folder + name, **({"max_shard_size": 25 / 1024 ** 3} if name.endswith("json") else {}))
        other = model()
        other.load_weights(folder + name)
        assert values(other) == {3.0}
    with pytest.raises(FileNotFoundError):
        made.load_weights(folder + "none.weights.h5")
    with pytest.raises(ValueError, match="none.keras"):
        keras.models.load_model(folder + "none.keras")


def test_saved_models(server, tmp_path):
    (tmp_path / "words").write_text("a\nb\n", encoding="utf-8")
    made, folder = tf.Module(), server.root + "/served"
    assert not tf.saved_model.contains_saved_model(folder)
    made.v, made.asset = tf.Variable([1, 2]), tf.saved_model.Asset(str(tmp_path / "words"))
    made.read = tf.function(lambda: made.v * 2, input_signature=[])
    for value in (3, 4):
        made.v.assign([value, value])
        tf.saved_model.save(made, folder)
    assert tf.saved_model.contains_saved_model(folder)
    found = tf.saved_model.load(folder)
    assert found.read().numpy().tolist() == [8, 8]
    path = found.asset.asset_path.numpy().decode()
    assert path == folder + "/assets/words" and tf.io.gfile.GFile(path).read() == "a\nb\n"
    assert len(names(server)) == 4
    with pytest.raises(OSError, match="none"):
        tf.saved_model.load(server.root + "/none")


def test_callbacks(server):
    made, call = model(), keras.callbacks
    x, y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")

    def callbacks():
        return [call.ModelCheckpoint(server.root + "/best/{epoch}.weights.h5", save_weights_only=True),
                call.BackupAndRestore(server.root + "/backup", delete_checkpoint=False, double_checkpoint=True),
                call.CSVLogger(server.root + "/log.csv", append=True), call.TensorBoard(server.root + "/board")]
    made.fit(x, y, epochs=2, verbose=0, callbacks=callbacks())
    other = model()
    other.fit(x, y, epochs=3, verbose=0, callbacks=callbacks())
    assert names(server, "best") == ["best/1.weights.h5", "best/2.weights.h5", "best/3.weights.h5"]
    lines = server.objects["bucket", "log.csv"][0].decode().splitlines()
    assert [line.split(",")[0] for line in lines] == ["epoch", "0", "1", "2"]
    assert any("board/train/events.out.tfevents" in name for name in names(server))
    call.BackupAndRestore(server.root + "/backup")


@pytest.mark.parametrize("server", ["gs"], indirect=True)
@pytest.mark.parametrize("kind", ["checkpoint", "weights"])
def test_kills(server, kind, monkeypatch):
    """In front of each request of a save, one after the other: what was there is there, or what is new."""
    monkeypatch.setattr(files, "_UNDER_WAY", 0)  # nobody else is at work
    path, pids = server.root + "/" + kind + ".weights.h5", []

    def save(value):
        if kind == "weights":
            model(value).save_weights(path)
        else:
            tf.train.Checkpoint(v=tf.Variable([value] * 3)).write(path)

    def found():
        if kind == "weights":
            made = model(0.0)
            made.load_weights(path)
            return values(made)
        variable = tf.Variable([0.0] * 3)
        tf.train.Checkpoint(v=variable).read(path).assert_consumed()
        return set(variable.numpy().tolist())

    def kill(handler):
        os.kill(pids[-1], signal.SIGKILL)
        return handler.drop()
    save(1.0)
    before, at, killed = 1.0, 0, 0
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the server's threads, which the child has not
            pids.append(os.fork())
        if not pids[-1]:
            signal.alarm(20)
            with contextlib.suppress(BaseException):
                save(before + 1)
                os._exit(0)
            os._exit(1)
        server.plan[:] = [lambda handler: None] * at + [kill]
        _, status = os.waitpid(pids[-1], 0)
        server.plan.clear()
        assert not os.WIFSIGNALED(status) or os.WTERMSIG(status) == signal.SIGKILL, at
        now = found()
        assert now in ({before}, {before + 1}), (at, now)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0 and now == {before + 1}
            break
        killed, at = killed + 1, at + 1
        before = now.pop()
    assert killed >= (1 if kind == "weights" else 4) and len(names(server)) == (1 if kind == "weights" else 2)
