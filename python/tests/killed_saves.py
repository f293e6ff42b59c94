"""Saves whose process is killed in front of a call that changes files (tests/faults/calls.h, by its preload library).

    killed_saves.py FOLDER each NAME...            in front of each of its calls, one after the other
    killed_saves.py FOLDER random COUNT SEED       COUNT killed processes, scenarios and calls drawn by the seed

All work is done in children, so nothing but files passes from one to the next. A version is a number; what a save had
before it was killed, or what it was writing, has to be there, whole, and the next save leaves nothing else behind.
Prints a line for each scenario; a mistake is an AssertionError that says how to make it again.
"""

import contextlib
import ctypes
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import types

import h5py  # noqa: F401  before any child: what is imported later opens files
import numpy as np

import leat as tf
from leat import keras
import event_files

VERSIONS, ELEMENTS = 8, 6  # of a trial; of a dataset
NOT_ONE, FAILED = 99, 100  # no version, several, or others' values; an exception
KILLED = -1
CALLS = ctypes.CDLL(None)
TOOL = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve() / "bin/leat"


class Scenario(types.SimpleNamespace):
    """What is saved into a folder.

    `save(folder, version)` writes it, `load(folder)` is the set of versions that it finds, `left(folder)` lists what a
    whole save would not leave. `versions`: else it is saved once, and computed by whoever does not find it.
    """

    versions = True

    @staticmethod
    def left(folder):
        return temporary(folder)


def temporary(folder, more=()):
    """The temporary files below a folder, and those of the names `more`."""
    return [str(one) for one in pathlib.Path(folder).rglob("*") if one.name.endswith(".tmp") or one.name in more]


def files(count):
    """`left` of a scenario that has so many files."""
    def left(folder):
        found = [str(one) for one in pathlib.Path(folder).rglob("*") if one.is_file()]
        return found if len(found) != count else temporary(folder)
    return left


# ---- models ----

def model(value):
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    made.compile("sgd", "mse")
    made.optimizer.build(made.trainable_variables)
    made.set_weights([np.full((3, 2), value, "float32"), np.full(2, value, "float32")])
    return made


def values(made):
    return {int(value) for one in made.get_weights() for value in one.ravel()}


def weights(name):
    def load(folder):
        made = model(50)
        made.load_weights(f"{folder}/{name}")
        return values(made)
    return Scenario(name=name, save=lambda folder, version: model(version).save_weights(f"{folder}/{name}"), load=load,
                    left=files(1))


def whole(name):
    return Scenario(name=name, save=lambda folder, version: model(version).save(f"{folder}/{name}"), left=files(1),
                    load=lambda folder: values(keras.models.load_model(f"{folder}/{name}")))


def in_parts():
    """Every variable in a file of its own."""
    def load(folder):
        made = model(50)
        made.load_weights(f"{folder}/p.weights.json")
        return values(made)
    return Scenario(name="weights in parts", load=load, left=files(3), save=lambda folder, version: model(
        version).save_weights(f"{folder}/p.weights.json", max_shard_size=25 / 1024 ** 3))


def edited():
    def save(folder, version):
        model(version).save_weights(beside(folder, "first.weights.h5"))
        with contextlib.redirect_stdout(sys.stderr):  # it tells what it opened
            keras.saving.KerasFileEditor(beside(folder, "first.weights.h5")).save(f"{folder}/e.weights.h5")
    return Scenario(name="KerasFileEditor", save=save, load=weights("e.weights.h5").load, left=files(1))


def saved_model():
    """A graph with a constant, a variable and a table's file, each of the version."""
    def save(folder, version):
        place = pathlib.Path(beside(folder, f"{version}.asset"), "words")
        place.parent.mkdir(exist_ok=True)
        place.write_text(str(version), encoding="utf-8")
        made = tf.Module()
        made.v, made.asset = tf.Variable([version] * 3), tf.saved_model.Asset(str(place))
        made.read = tf.function(lambda: (made.v + 0, tf.constant(version)), input_signature=[])
        tf.saved_model.save(made, f"{folder}/model")

    def load(folder):
        made = tf.saved_model.load(f"{folder}/model")
        found, constant = made.read()
        words = pathlib.Path(os.fsdecode(made.asset.asset_path.numpy())).read_text(encoding="utf-8")
        return {int(constant), int(words), *found.numpy().tolist()}
    return Scenario(name="saved_model.save", save=save, load=load, left=files(4))


def exported():
    def save(folder, version):
        model(version).export(f"{folder}/served", verbose=False)

    def load(folder):
        found = tf.saved_model.load(f"{folder}/served").serve(tf.ones((1, 3))).numpy()
        return {int(one) // 4 for one in found.ravel()}
    return Scenario(name="Model.export", save=save, load=load, left=files(3))


def backup(double):
    # Weights and epoch have one number; a pair of two shows as a set of two.
    def save(folder, version):
        callback = keras.callbacks.BackupAndRestore(folder, double_checkpoint=double)
        callback.set_model(model(version))
        callback.on_epoch_end(version)

    def load(folder):
        callback, made = keras.callbacks.BackupAndRestore(folder), model(50)
        callback.set_model(made)
        callback.on_train_begin()
        return values(made) | {callback._epoch - 1}
    # The second pair is there from the second save on.
    return Scenario(name=f"backup {double}", save=save, load=load,
                    left=lambda folder: temporary(folder) if double else files(2)(folder))


def model_checkpoint(name, **options):
    def save(folder, version):
        callback = keras.callbacks.ModelCheckpoint(f"{folder}/{name}", **options)
        callback.set_model(model(version))
        callback.on_epoch_end(version, {"loss": -version, "val_loss": -version})

    def load(folder):
        if name.endswith(".keras"):
            return values(keras.models.load_model(f"{folder}/{name}"))
        made = model(50)
        made.load_weights(f"{folder}/{name}")
        return values(made)
    return Scenario(name=f"ModelCheckpoint {name}", save=save, load=load, left=files(1))


def checkpoint(name, save, last):
    """`save` writes an object for checkpoints into a folder, `last` is the place of the newest one there."""
    def save_version(folder, version):
        one = tf.train.Checkpoint(a=tf.Variable(50.0), b=tf.Variable([50] * 3))
        save(one, folder, lambda: (one.a.assign(float(version)), one.b.assign([version] * 3)))

    def load(folder):
        a, b = tf.Variable(50.0), tf.Variable([50] * 3)
        tf.train.Checkpoint(a=a, b=b).read(last(folder)).assert_existing_objects_matched()
        return {int(a.numpy()), *b.numpy().tolist()}
    return Scenario(name=name, load=load, save=save_version)


def write(one, folder, assign):
    assign()
    one.write(f"{folder}/c")


def manage(one, folder, assign):
    """As a training program does: it goes on from the newest one, and two are kept."""
    manager = tf.train.CheckpointManager(one, folder, 2)
    manager.restore_or_initialize()
    assign()
    manager.save()


def newest(folder):
    found = tf.train.latest_checkpoint(folder)
    if found is None:
        raise FileNotFoundError(folder)
    return found


# ---- datasets ----

def numbers(version):
    return tf.data.Dataset.range(100 * version, 100 * version + ELEMENTS)


def version_of(found):
    found = [int(one) for one in found]
    return {one // 100 for one in found} if [one % 100 for one in found] == list(range(ELEMENTS)) else {NOT_ONE}


def unfinished(folder):
    """Runs of saved datasets that are not whole, and what their writers held."""
    runs = [one for one in pathlib.Path(folder).rglob("*") if one.is_dir() and list(one.glob("*.shard"))]
    broken = [str(one) for one in runs if not (one / "snapshot.metadata").exists()]
    return broken + temporary(folder, {".writer", "checkpoint"})


def saved(compression, shards=None):
    def save(folder, version):
        numbers(version).save(f"{folder}/saved", compression, shards and (lambda x: x % shards))

    def load(folder):
        return version_of(sorted(int(one) for one in tf.data.Dataset.load(f"{folder}/saved", compression=compression)))
    return Scenario(name=f"save {compression} {shards}", save=save, load=load, left=unfinished)


def saved_with_checkpoint():
    # Every save goes on with a killed one of its version, and so has to be told by its path.
    def save(folder, version):
        numbers(1).save(f"{folder}/saved", checkpoint_args={"directory": folder, "step_counter_interval": 2})

    def load(folder):
        save(folder, 1)
        return version_of(tf.data.Dataset.load(f"{folder}/saved"))
    return Scenario(name="save with checkpoints", save=save, load=load, versions=False, left=unfinished)


def snapshot(compression):
    def load(folder):
        return version_of(numbers(1).snapshot(f"{folder}/snapshot", compression))
    return Scenario(name=f"snapshot {compression}", save=lambda folder, version: load(folder), load=load,
                    versions=False, left=unfinished)


def cache():
    def load(folder):
        return version_of(numbers(1).cache(f"{folder}/cache"))
    return Scenario(name="cache", save=lambda folder, version: load(folder), load=load, versions=False, left=files(2))


def records(compression):
    def save(folder, version):
        with tf.io.TFRecordWriter(f"{folder}/records", compression) as writer:
            for number in range(100 * version, 100 * version + ELEMENTS):
                writer.write(str(number).encode())
    return Scenario(name=f"TFRecordWriter {compression}", save=save, left=temporary, load=lambda folder: version_of(
        one.numpy() for one in tf.data.TFRecordDataset(f"{folder}/records", compression)))


# ---- the tool ----

def beside(folder, name):
    """A path in which no call counts."""
    return os.path.join(os.path.dirname(folder), name)


def pictures(folder):
    """Folders of pictures for `convert`: in each the version is the class."""
    for version in range(VERSIONS):
        place = pathlib.Path(beside(folder, "pictures"), str(version), str(version))
        place.mkdir(parents=True)
        for number in range(ELEMENTS):
            (place / f"{number}.png").write_bytes(tf.io.encode_png(np.full((2, 2, 1), number, "uint8")).numpy())


def convert(shards):
    """Of several files each is replaced for itself; the oldest counts."""
    def save(folder, version):
        command = [TOOL, "convert", "--force", "--index", "--shards", str(shards)]
        done = subprocess.run([*command, f"{beside(folder, 'pictures')}/{version}", f"{folder}/out"],
                              capture_output=True, text=True, check=False)
        if done.returncode == -signal.SIGKILL:
            os.kill(os.getpid(), signal.SIGKILL)
        assert done.returncode == 0, done.stderr

    def version_of_file(path, first):
        subprocess.run([TOOL, "inspect", path], check=True, capture_output=True)
        found, each = [], ELEMENTS // shards
        for one in tf.data.TFRecordDataset(path):
            features = tf.train.Example.FromString(one.numpy()).features.feature
            found.append([features[key].bytes_list.value[0].decode() for key in ("image/class/text", "image/filename")])
        version = found[0][0] if found else ""
        is_whole = found == [[version, f"{number}.png"] for number in range(first * each, (first + 1) * each)]
        return int(version) if is_whole else NOT_ONE

    def load(folder):
        versions = {version_of_file(f"{folder}/out-{shard:05}-of-{shards:05}.tfrecord", shard)
                    for shard in range(shards)}
        return {NOT_ONE if NOT_ONE in versions else min(versions)}
    return Scenario(name=f"convert {shards}", save=save, load=load, left=files(2 * shards))


# ---- event files ----

def events():
    """What was flushed is there; the file of a killed writer may end inside of an event, and stays."""
    def save(folder, version):
        writer = tf.summary.create_file_writer(f"{folder}/logs", filename_suffix=f".{version}")
        with writer.as_default(), open(beside(folder, "flushed"), "a", encoding="utf-8") as flushed:
            for step in range(100 * version, 100 * version + ELEMENTS):
                tf.summary.scalar("x", 0.5, step)
                writer.flush()
                print(step, file=flushed, flush=True)
        writer.close()

    def load(folder):
        found = []
        for path in pathlib.Path(f"{folder}/logs").glob("*"):
            try:
                for one in tf.data.TFRecordDataset(str(path)):
                    event = event_files.message(one.numpy())
                    found += [event.get(2, 0)] if 5 in event else []
            except tf.errors.DataLossError:
                pass  # the torn end
        steps = set(map(int, pathlib.Path(beside(folder, "flushed")).read_text(encoding="utf-8").split()))
        whole_ones = [version for version in range(VERSIONS)
                      if {100 * version + step for step in range(ELEMENTS)} <= set(found)]
        return {max(whole_ones)} if steps <= set(found) and len(set(found)) == len(found) else {NOT_ONE}
    return Scenario(name="events", save=save, load=load)


SCENARIOS = [
    weights("a.weights.h5"), weights("a.safetensors"), in_parts(), whole("a.keras"), whole("a.h5"), edited(),
    saved_model(), exported(), backup(False), backup(True),
    model_checkpoint("m.keras"), model_checkpoint("m.weights.h5", save_weights_only=True, save_best_only=True),
    checkpoint("Checkpoint.write", write, lambda folder: f"{folder}/c"),
    checkpoint("CheckpointManager", manage, newest),
    saved(None), saved("GZIP", 3), saved_with_checkpoint(), snapshot("AUTO"), snapshot("GZIP"), cache(),
    records(None), records("ZSTD"), convert(1), convert(3), events(),
]


# ---- children ----

def child(body, *arguments, kill_at=0):
    """What `body` returns in a process of its own, which is killed in front of call number `kill_at`; 0: it is not."""
    number = os.fork()
    if number == 0:
        try:
            os.environ["LEAT_FAULTS_KILL_AT"] = str(kill_at)  # for the tool
            CALLS.calls_kill_at(ctypes.c_long(kill_at))
            os._exit(body(*arguments) or 0)
        except BaseException as error:
            print(type(error).__name__, error, file=sys.stderr)
            os._exit(FAILED)
    status = os.waitpid(number, 0)[1]
    return KILLED if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL else os.waitstatus_to_exitcode(
        status)


def save(scenario, folder, version, kill_at=0):
    """0, or KILLED."""
    return child(lambda: scenario.save(folder, version) and None, kill_at=kill_at)


def load(scenario, folder):
    """The version that is there; NOT_ONE or FAILED."""
    def version():
        found = scenario.load(folder)
        return found.pop() if len(found) == 1 else NOT_ONE
    return child(version)


def clear(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    pathlib.Path(beside(folder, "flushed")).write_text("", encoding="utf-8")


# ---- schedules ----

def check_end(scenario, folder, version):
    """The next save that is not killed is whole, and leaves nothing else."""
    assert save(scenario, folder, version) == 0, "the next save"
    found, left = load(scenario, folder), scenario.left(folder)
    assert found == version, f"version {found} after the next save; expected {version}"
    assert left == [], f"left behind: {left}"


def each(scenario, folder):
    """Kills a save in front of each of its calls, over what a whole one left: how many there are."""
    code, at = KILLED, 0
    while code == KILLED:
        at += 1
        clear(folder)
        last = 0
        if scenario.versions:
            assert save(scenario, folder, 0) == 0 and save(scenario, folder, 0) == 0
            last = 1
        code = save(scenario, folder, 1, at)
        found = load(scenario, folder)
        try:
            assert code in (KILLED, 0), f"exit status {code}"
            assert found == 1 or found == 0 and last == 1 and code == KILLED, f"version {found}"
            check_end(scenario, folder, 1)
        except AssertionError as error:
            raise AssertionError(f"{scenario.name}, killed at call {at}: {error}") from None
    return at


def count_calls(scenario, folder):
    """About how many calls a save makes."""
    most = 16
    while True:
        clear(folder)
        if scenario.versions:
            assert save(scenario, folder, 0) == 0
        if save(scenario, folder, 1, most) != KILLED:
            return most
        most = most * 3 // 2


def trial(scenario, folder, most, rng):
    """One to three saves that are killed, one over the other: how many were."""
    clear(folder)
    killed, version, possible = 0, 1, {1} if not scenario.versions else set()
    if scenario.versions and rng.random() < 0.8:
        assert save(scenario, folder, 0) == 0
        possible = {0}
    for _ in range(rng.randint(1, 3)):
        code = save(scenario, folder, version, rng.randint(1, most))
        assert code in (KILLED, 0), f"exit status {code}"
        killed += code == KILLED
        is_first = not possible
        possible = possible | {version} if code == KILLED and not is_first else {version}
        # Nothing may be there yet. What is loaded may finish it, and so is not always.
        if not (is_first and code == KILLED) and rng.random() < 0.7:
            found = load(scenario, folder)
            assert found in possible, f"version {found}; expected one of {possible}"
            possible = {found}
        elif is_first and code == KILLED:
            possible = set()
        version += scenario.versions
    check_end(scenario, folder, version)
    return killed


def sweep(scenarios, folder, count, seed):
    """Trials until so many processes were killed: {name: how many}, and what went wrong."""
    most = {one.name: count_calls(one, folder) for one in scenarios}
    killed, wrong, number = dict.fromkeys(most, 0), [], 0
    while sum(killed.values()) < count:
        rng = random.Random(f"{seed} {number}")
        scenario = rng.choice(scenarios)
        try:
            killed[scenario.name] += trial(scenario, folder, most[scenario.name], rng)
        except AssertionError as error:
            wrong.append(f"{scenario.name}, trial {number} of seed {seed}: {error}")
            killed[scenario.name] += 1
        number += 1
    return killed, wrong


def main(folder, how, *arguments):
    pictures(folder)
    if how == "each":
        for scenario in SCENARIOS:
            if scenario.name in arguments:
                print(scenario.name, each(scenario, folder), flush=True)
        return 0
    chosen = [one for one in SCENARIOS if one.name in arguments[2:]] or SCENARIOS
    killed, wrong = sweep(chosen, folder, int(arguments[0]), int(arguments[1]))
    for name, count in killed.items():
        print(name, count)
    print("\n".join(wrong), file=sys.stderr)
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
