"""What all workers must have alike: two and three processes of which the last differs in one thing, which all are told
by worker, operator, layer or variable, both values and a way out."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from leat import _native
from leat.distribute import agreement

LEAT = pathlib.Path(_native.__file__).resolve().parents[2] / "bin/leat"
started = pytest.mark.skipif(not LEAT.is_file(), reason="the tool is not built beside the package")

PROGRAM = '''
import json, os, signal, sys
import numpy as np
import leat as tf

signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the launcher's, so that each says what it was told
keras = tf.keras
strategy = tf.distribute.MultiWorkerMirroredStrategy()
ME = strategy.cluster_resolver.task_id
IS_ODD = ME == strategy.num_replicas_in_sync - 1
X = np.arange(24, dtype="float32").reshape(12, 2) / 24
Y = (X.sum(1) > 0.5).astype("float32")
told = []


def case(name, run):
    """Says what `run(odd)` was refused with; a difference does not end the job."""
    for odd in (False, IS_ODD):
        try:
            run(odd)
            told.append([name, None])
        except tf.errors.FailedPreconditionError as error:
            told.append([name, str(error)])
'''


def run(tmp_path, workers, body, **variables):
    """{case: what each worker was told with one that differs}, of cases that pass where none does."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + body + "\nprint(json.dumps(told))\n")
    done = subprocess.run([LEAT, "launch", "-n", str(workers), "--", sys.executable, str(path)], capture_output=True,
                          text=True, timeout=300, env={**os.environ, **variables})
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(re.match(r"\[worker \d+\] (.*)", line).group(1)) for line in done.stdout.splitlines()]
    assert len(lines) == workers
    found = {}
    for told in lines:
        for (name, equal), (again, odd) in zip(told[::2], told[1::2]):
            assert name == again and equal is None, (name, equal)
            found.setdefault(name, []).append(odd)
    return found


def check(found, expected, workers):
    assert set(found) == set(expected)
    for name, words in expected.items():
        for text in found[name]:
            assert (text is None) == (words is None), (name, text)
            for word in words or ():
                assert word in text, (name, word, text)
            if words is not None:
                assert f"worker {workers - 1} (" in text and "worker 0 (" in text, text


DATA = '''
import tempfile
FILES = [f"/data/{i}" for i in range(5)]


def pipeline(seed=4, take=9, batch=4, add=1, weights=(0.5, 0.5), files=None, reshuffle=True, uniform=7, unseeded=None):
    one = tf.data.TextLineDataset(files) if files else tf.data.Dataset.range(10)
    if files is None:
        one = one.map(lambda x: x + add).shuffle(10, seed=seed, reshuffle_each_iteration=reshuffle).take(take)
        one = one.map(lambda x: tf.cast(x, tf.float32) + tf.random.uniform([], seed=uniform))
        one = tf.data.Dataset.sample_from_datasets([one, one], weights=list(weights), seed=1)
        one = one.shuffle(3)
    strategy.experimental_distribute_dataset(one.batch(batch))


def options(odd, **differences):
    pipeline(**(differences if odd else {}))


case("seed", lambda odd: options(odd, seed=5))
case("take", lambda odd: options(odd, take=8))
case("batch", lambda odd: options(odd, batch=6))
case("constant", lambda odd: options(odd, add=2))
case("weights", lambda odd: options(odd, weights=(0.25, 0.75)))
case("reshuffle", lambda odd: options(odd, reshuffle=False))
case("uniform", lambda odd: options(odd, uniform=8))
case("order of files", lambda odd: pipeline(files=FILES[::-1] if odd else FILES))
case("one file more", lambda odd: pipeline(files=[*FILES, "/data/5"] if odd else FILES))
case("another folder", lambda odd: pipeline(files=["/other/0", *FILES[1:]] if odd else FILES))


def seeded(odd):
    tf.random.set_seed(ME if odd else 0)
    try:
        pipeline()
    finally:
        tf.random.set_seed(None)


case("global seed", seeded)


def own(odd):
    def make(context):
        rows = tf.data.Dataset.range(10 + 2 * odd).shuffle(5, seed=ME)
        return rows.shard(context.num_input_pipelines, context.input_pipeline_id).batch(2 + odd)
    strategy.distribute_datasets_from_function(make)


def off(odd):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    strategy.experimental_distribute_dataset(tf.data.Dataset.range(10 + 2 * odd).shuffle(3, seed=ME).batch(4)
                                             .with_options(options))


case("of a function", own)
case("policy OFF", off)
case("OFF on one", lambda odd: off(odd) if odd else pipeline())
case("a function on one", lambda odd: own(odd) if odd else pipeline())
'''


@started
@pytest.mark.parametrize("workers", [2, 3])
def test_datasets(tmp_path, workers):
    check(run(tmp_path, workers, DATA), {
        "seed": ["shuffle: seed is 5", "and 4 "], "take": ["take: count is 8", "and 9 "],
        "batch": ["batch: batch_size is 6", "and 4 "], "constant": ["map (program.py:", "constant", "[2]", "[1]"],
        "weights": ["sample_from_datasets", "0.75", "0.5"],
        "reshuffle": ["shuffle: reshuffle_each_iteration", "false", "true"],
        "uniform": ["map (program.py:", "seed", "8", "7"],
        "order of files": ["[0]", "/data/4", "/data/0"], "one file more": ["/data/5"],
        "another folder": ["[0]", "/other/0", "/data/0"],
        "global seed": ["global random seed", f"is {workers - 1} ", "and 0 "],
        "of a function": None, "policy OFF": None, "OFF on one": ["policy", "OFF", "AUTO"],
        "a function on one": ["policy", "function", "AUTO"]}, workers)


MODEL = '''
def fit(odd, size=4, activation="relu", init=1, rate=0.5, dropout_seed=3, learning=0.01, beta=0.9, loss="mse", epochs=1,
        batch=4, clip=None, written=1.0, drawn=None, shuffled=True, weights=None, validation=False):
    keras.backend.clear_session()
    with strategy.scope():
        tf.Variable(written, name="written")
        tf.Variable(np.float32(drawn or 0), name="array")
        tf.Variable(lambda: tf.random.normal([2]), name="drawn")
        model = keras.Sequential([
            keras.layers.Input((2,)),
            keras.layers.Dense(size, activation, kernel_initializer=keras.initializers.GlorotUniform(init), name="a"),
            keras.layers.BatchNormalization(), keras.layers.Dropout(rate, seed=dropout_seed, name="b"),
            keras.layers.Dropout(0.1), keras.layers.Dense(1, name="c")])
        model.compile(keras.optimizers.Adam(learning, beta_1=beta, clipnorm=clip), loss)
    model.fit(X, Y, batch, epochs, verbose=0, shuffle=shuffled, class_weight=weights,
              validation_data=(X, Y) if validation else None)


for name, value in {"activation": "tanh", "init": 2, "rate": 0.25, "dropout_seed": 9, "learning": 0.1, "beta": 0.8,
                    "loss": "mae", "epochs": 2, "batch": 6, "clip": 1.0, "written": 2.0, "drawn": 5, "shuffled": False,
                    "weights": {0: 1.0, 1: 2.0}, "validation": True, "size": 5}.items():
    case(name, lambda odd: fit(odd, **({name: value} if odd else {})))
'''


@started
@pytest.mark.parametrize("workers", [2, 3])
def test_models(tmp_path, workers):
    check(run(tmp_path, workers, MODEL), {
        "activation": ['layer "a"', "activation", "tanh", "relu"], "init": ['layer "a"', "seed", "2", "1"],
        "rate": ['layer "b"', "rate", "0.25", "0.5"], "dropout_seed": ['layer "b"', "seed", "9", "3"],
        "learning": ["learning_rate", "0.1", "0.01"], "beta": ['optimizer "adam', "beta_1", "0.8", "0.9"],
        "loss": ["loss", "mae", "mse"], "epochs": ["epochs", "2", "1"], "batch": ["batch_size", "6", "4"],
        "clip": ["clipnorm", "1.0", "None"], "written": ['"written"', "2.0", "1.0"], "drawn": None,
        "shuffled": ["operator"], "weights": ["class_weight"], "validation": ["validation"],
        "size": ["a/kernel", "[2, 5]", "[2, 4]"]}, workers)


VALUES = '''
def made():
    with strategy.scope():
        model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(2, name="a"), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.1, momentum=0.5), "mse")
    return model


class Assigns(keras.callbacks.Callback):
    def __init__(self, odd):
        super().__init__()
        self.odd = odd

    def on_train_batch_end(self, batch, logs=None):
        if self.odd and batch == 1:
            self.model.layers[0].bias.assign([1.0, 2.0])


def loads(odd):
    model = made()
    if odd:
        model.layers[0].kernel.assign([[1.0, 2.0], [3.0, 4.0]])
    model.fit(X, Y, 4, verbose=0)


def optimizer(odd):
    model = made()
    model.fit(X, Y, 4, verbose=0)
    if odd:
        model.optimizer.learning_rate.assign(0.5)
    model.fit(X, Y, 4, verbose=0)


case("loads", loads)
case("assigns", lambda odd: made().fit(X, Y, 4, verbose=0, callbacks=[Assigns(odd)]))
case("optimizer", optimizer)
'''


@started
def test_an_assignment_on_one_worker_alone(tmp_path):
    check(run(tmp_path, 2, VALUES), {
        "loads": ["a/kernel", "before training", "1.0, 2.0", "all workers"],
        "assigns": ["a/bias", "after epoch 1", "all workers"],
        "optimizer": ["learning_rate", "before training", "0.5", "0.1"]}, 2)


STEPS = '''
def custom(odd):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v")
        mean = tf.Variable(0.0, name="mean", trainable=False, synchronization=tf.VariableSynchronization.ON_READ,
                           aggregation=tf.VariableAggregation.SUM)

    def step():
        mean.assign_add(float(ME))
        v.assign_add(tf.ones([2]))
        return tf.distribute.get_replica_context().all_reduce("SUM", v + 1.0)
    for number in range(3):
        strategy.run(step)
        if odd and number == 1:
            v.assign([7.0, 7.0])


case("custom", custom)
'''


@started
@pytest.mark.parametrize("value, words", [("variables", ['"v', "before a step", "[7.0, 7.0]"]), ("", None)])
def test_each_step_is_compared_where_that_is_asked_for(tmp_path, value, words):
    assert (agreement.checks_every_step() is False) and agreement._CHECK == "LEAT_CHECK"
    check(run(tmp_path, 2, STEPS, LEAT_CHECK=value), {"custom": words}, 2)


def test_what_a_configuration_is():
    class Thing:
        def get_config(self):
            return {"b": [1, 2.5], "a": None}

    def function():
        pass
    found = agreement.configuration('layer "x"', {"thing": Thing(), "array": np.arange(9), "call": function})
    names, texts = zip(*found)
    assert 'layer "x" thing.b[1]' in names and "2.5" in texts
    assert not any("0x" in text for text in texts)  # an address, which differs from process to process
    assert found == agreement.configuration('layer "x"', {"call": function, "array": np.arange(9), "thing": Thing()})
