"""PreemptionCheckpointHandler: programs that are told to end save, end and go on, alone and as several workers."""

import pathlib
import re
import subprocess
import sys

import pytest

from leat import _native

LEAT = pathlib.Path(_native.__file__).resolve().parents[2] / "bin/leat"

PROGRAM = """
import os, signal, sys, time
import leat as tf

FOLDER, MODE = sys.argv[1], sys.argv[2]
strategy = tf.distribute.{strategy}
with strategy.scope():
    weight = tf.Variable(0.0)
step = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(weight=weight, step=step)
config = tf.distribute.experimental.TerminationConfig({config})
handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    {resolver}, checkpoint, FOLDER, termination_config=config)
print("starts at", int(step), handler.total_run_calls)


def train():
    strategy.run(lambda: weight.assign_add(1.0 / strategy.num_replicas_in_sync))
    step.assign_add(1)
    if MODE == "told" and int(step) == 3 and {mine}:
        os.kill(os.getpid(), signal.SIGTERM)
    return float(weight.numpy())


while int(step) < 6:
    found = handler.run(train)
print("ends at", int(step), found, sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else [])
"""


def write(tmp_path, strategy="MirroredStrategy(['CPU:0'])", config="", resolver="None", mine="True"):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(strategy=strategy, config=config, resolver=resolver, mine=mine))
    return path


def run(path, folder, mode):
    done = subprocess.run([sys.executable, str(path), str(folder), mode], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_a_program_that_is_told_goes_on_where_it_ended(tmp_path):
    path, folder = write(tmp_path), tmp_path / "saved"
    status, lines, errors = run(path, folder, "told")
    assert (status, lines) == (42, ["starts at 0 0"]), errors
    assert sorted(path.name for path in folder.iterdir()) == [
        "checkpoint", "ckpt-1.data-00000-of-00001", "ckpt-1.index"]
    status, lines, errors = run(path, folder, "calm")
    assert status == 0, errors
    assert lines[0] == "starts at 3 3" and lines[1].startswith("ends at 6 6.0 ")


def test_a_program_of_its_own_ways(tmp_path):
    """A function is asked in place of the signal, training goes on for the grace period, and the end is chosen."""
    config = ("termination_watcher_fn=lambda: int(step) >= 2, exit_fn=lambda: (print('left after', int(step) >= 2), "
              "os._exit(7)), grace_period=0.2")
    path, folder = write(tmp_path, config=config), tmp_path / "saved"
    text = path.read_text().replace("while int(step) < 6:", "while True:")
    path.write_text(text.replace("print('left after", "sys.stdout.flush() or print('left after").replace(
        "os._exit(7)", "sys.stdout.flush(), os._exit(7)"))
    status, lines, errors = run(path, folder, "calm")
    assert (status, lines) == (7, ["starts at 0 0", "left after True"]), errors
    names = [one.name for one in folder.iterdir()]
    assert "ckpt-2.index" in names and "ckpt-1.index" not in names  # saved when told, and again at the end


def test_steps_that_follow_by_themselves(tmp_path):
    """fit, with the handler asked after each batch."""
    program = tmp_path / "fit.py"
    program.write_text("""
import os, signal, sys
import numpy as np
import leat as tf
from leat import keras

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    None, tf.train.Checkpoint(model=model, optimizer=model.optimizer), sys.argv[1])
print("starts at", int(model.optimizer.iterations), handler.total_run_calls)


def after(batch, logs):
    if sys.argv[2] == "told" and batch == 1:
        os.kill(os.getpid(), signal.SIGTERM)
    handler.save_checkpoint_if_preempted()


model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, verbose=0,
          callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=after)])
print("ends")
""")
    assert run(program, tmp_path / "saved", "told")[:2] == (42, ["starts at 0 0"])
    assert run(program, tmp_path / "saved", "calm")[:2] == (0, ["starts at 2 1", "ends"])


@pytest.mark.skipif(not LEAT.is_file(), reason="the tool is not built beside the package")
def test_all_workers_save_after_the_same_step(tmp_path):
    path = write(tmp_path, "MultiWorkerMirroredStrategy()", resolver="strategy.cluster_resolver",
                 mine="strategy.cluster_resolver.task_id == 1")
    folder = tmp_path / "saved"

    def launch(mode):
        done = subprocess.run([LEAT, "launch", "-n", "2", "--", sys.executable, str(path), str(folder), mode],
                              capture_output=True, text=True, timeout=300)
        lines = [re.match(r"\[worker (\d+)\] ?(.*)", line).groups() for line in done.stdout.splitlines()]
        return done, [[text for number, text in lines if number == str(worker)] for worker in (0, 1)]
    done, lines = launch("told")
    assert done.returncode != 0 and "42" in done.stderr, done.stderr
    assert lines == [["starts at 0 0"], ["starts at 0 0"]]
    assert sorted(one.name for one in folder.iterdir()) == [
        "checkpoint", "ckpt-1.data-00000-of-00001", "ckpt-1.index"]
    done, lines = launch("calm")
    assert done.returncode == 0, done.stderr
    for told in lines:
        assert told[0] == "starts at 3 3" and told[1].startswith("ends at 6 3.0 ")  # each replica adds to its own


def test_wrong_arguments():
    import leat as tf
    with pytest.raises(tf.errors.InvalidArgumentError, match="checkpoint_dir"):
        tf.distribute.experimental.PreemptionCheckpointHandler(None, tf.train.Checkpoint())
