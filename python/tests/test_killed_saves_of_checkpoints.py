"""Checkpoints whose process is killed in front of each of its calls that change files (tests/faults/calls.h)."""

import os
import pathlib
import subprocess
import sys

import pytest

PRELOAD = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve() / "tests/faults_preload.so"
WAYS = 5 if int(os.environ.get("LEAT_KILLS", "0")) >= 500 else 2  # of saving; all of them by `make test-long`
PROGRAM = """
import ctypes, os, signal, sys, warnings
import leat as tf

calls, folder = ctypes.CDLL(None), sys.argv[1]
calls.calls_count.restype = ctypes.c_long

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

prefix = os.path.join(folder, "ckpt")
a, b = tf.Variable(0.0), tf.Variable([0.0, 0.0])
checkpoint = tf.train.Checkpoint(a=a, b=b)

# Each begins as a process that was started anew: it restores what there is, and saves.
def write():
    return checkpoint.write(prefix)

def read():
    checkpoint.read(prefix).assert_consumed()

def save():
    tf.train.Checkpoint(a=a, b=b).save(prefix)  # number 1 again: nothing was restored to it

def restore():
    checkpoint.restore(tf.train.latest_checkpoint(folder)).assert_consumed()

def manager(numbered=False):
    made = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
    value = float(a.numpy())
    made.restore_or_initialize()
    a.assign(value)
    b.assign([value, -value])
    made.save(checkpoint_number=int(value) if numbered else None)

def numbered():
    manager(True)

def initialize():
    made = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
    assert made.restore_or_initialize() is not None

def handler():
    return tf.distribute.experimental.PreemptionCheckpointHandler(
        None, checkpoint, folder, tf.distribute.experimental.TerminationConfig(exit_fn=lambda: None))

def preempted():
    value = float(a.numpy())
    made = handler()
    a.assign(value)
    b.assign([value, -value])
    os.kill(os.getpid(), signal.SIGTERM)
    made.run(lambda: None)

def saved(save, value):
    a.assign(value)
    b.assign([value, -value])
    save()

def found(restore):
    a.assign(-1.0)
    restore()
    assert b.numpy().tolist() == [a.numpy(), -a.numpy()], "a pair that does not fit"
    return int(a.numpy())

warnings.simplefilter("error")
ways = [(save, restore, 1), (manager, initialize, 1), (write, read, 0), (numbered, initialize, 1),
        (preempted, handler, 1)]
for save, restore, is_state_there in ways[:int(sys.argv[2])]:
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    assert child(saved, save, 1.0) == 0
    done, code, n = 1, -1, 0
    while code == -1:
        n += 1
        code = child(saved, save, done + 1.0, kill_at=n)
        value = child(found, restore)
        assert value == done + 1 or value == done and code == -1, (save.__name__, n, code, value, done)
        done = value + 1
        assert child(saved, save, float(done)) == 0 and child(found, restore) == done, (save.__name__, n)
        assert len(os.listdir(folder)) == 2 + is_state_there, (save.__name__, n, os.listdir(folder))
    print(save.__name__, "survives" if n > 10 else f"{n} calls")
"""


@pytest.mark.skipif(not PRELOAD.exists(), reason="a sanitizer's build has no tests/faults_preload.so")
def test_checkpoints_are_whole_wherever_they_are_killed(tmp_path):
    environment = {**os.environ, "LD_PRELOAD": str(PRELOAD), "LEAT_FAULTS_FOLDER": str(tmp_path / "it")}
    (tmp_path / "it").mkdir()
    found = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path / "it"), str(WAYS)], env=environment,
                           capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert [line.endswith(" survives") for line in found.stdout.splitlines()] == [True] * WAYS, found.stdout
