"""Saves whose process is killed in front of each of its calls that change files (tests/faults/calls.h)."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("h5py")
PRELOAD = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve() / "tests/faults_preload.so"

PROGRAM = """
import ctypes, os, shutil, signal, sys
import h5py, numpy as np
from leat import keras
calls, folder = ctypes.CDLL(None), sys.argv[1]
calls.calls_count.restype = ctypes.c_long

def model(value):
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    made.compile("adam", "mse")
    made.set_weights([np.full((3, 2), value, "float32"), np.full(2, value, "float32")])
    return made

def weights(name):
    def save(version):
        model(version).save_weights(f"{folder}/{name}")
    def load():
        made = model(7)
        made.load_weights(f"{folder}/{name}")
        return {float(value) for one in made.get_weights() for value in one.ravel()}
    return name, save, load, 1

def whole(name):
    def save(version):
        model(version).save(f"{folder}/{name}")
    def load():
        made = keras.models.load_model(f"{folder}/{name}")
        return {float(value) for one in made.get_weights() for value in one.ravel()}
    return name, save, load, 1

def backup(double):
    # Weights and epoch have one number; a pair of two shows as a set of two.
    def save(version):
        callback = keras.callbacks.BackupAndRestore(folder, double_checkpoint=double)
        callback.set_model(model(version))
        callback.on_epoch_end(version)
    def load():
        callback, made = keras.callbacks.BackupAndRestore(folder), model(7)
        callback.set_model(made)
        callback.on_train_begin()
        return {float(value) for one in made.get_weights() for value in one.ravel()} | {callback._epoch - 1.0}
    return f"backup {double}", save, load, 4 if double else 2

def child(body, *arguments, kill_at=0):
    number = os.fork()
    if number == 0:
        try:
            calls.calls_kill_at(ctypes.c_long(kill_at))
            os._exit(body(*arguments) or 0)
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(100)
    status = os.waitpid(number, 0)[1]
    return -1 if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL else os.waitstatus_to_exitcode(status)

def version(load):
    found = load()
    return int(found.pop()) if len(found) == 1 else 50

for name, save, load, files in (weights("a.weights.h5"), weights("a.safetensors"), whole("a.keras"), backup(False),
                                backup(True)):
    code, n = -1, 0
    while code == -1:
        n += 1
        shutil.rmtree(folder)
        os.mkdir(folder)
        assert child(save, 0) == 0 and child(save, 0) == 0
        code = child(save, 1, kill_at=n)
        found = child(version, load)
        assert code in (-1, 0) and (found == 1 or found == 0 and code == -1), (name, n, code, found)
        assert child(save, 1) == 0 and child(version, load) == 1
        assert len(os.listdir(folder)) == files, (name, n, os.listdir(folder))
    print(name, "survives" if n > 10 else f"{n} calls")
"""


@pytest.mark.skipif(not PRELOAD.exists(), reason="a sanitizer's build has no tests/faults_preload.so")
def test_saves_are_whole_wherever_they_are_killed(tmp_path):
    environment = {**os.environ, "LD_PRELOAD": str(PRELOAD), "LEAT_FAULTS_FOLDER": str(tmp_path / "it")}
    (tmp_path / "it").mkdir()
    found = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path / "it")], env=environment, capture_output=True,
                           text=True)
    assert found.returncode == 0, found.stderr
    assert [line.endswith(" survives") for line in found.stdout.splitlines()] == [True] * 5, found.stdout
