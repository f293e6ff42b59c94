"""Training over the data service under strategies: every row is used as often as its policy says."""

import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import leat as tf
from leat import _native

import devices
from service_clusters import Cluster, Policy

LEAT = pathlib.Path(_native.__file__).resolve().parents[2] / "bin/leat"
ROWS, WORKERS = 50, 2
# How often a row comes in an epoch from two workers. Batches of 8 end with one of 2 rows, which replicas share.
TIMES = {"parallel_epochs": WORKERS, Policy.DYNAMIC: 1, Policy.DATA: 1}


class Seen(tf.keras.metrics.Metric):
    """How often each row was given."""

    def __init__(self):
        super().__init__(name="seen")
        self.counts = self.add_weight(name="counts", shape=(ROWS,), initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.counts.assign_add(tf.reduce_sum(tf.one_hot(tf.cast(tf.reshape(y_true, [-1]), tf.int32), ROWS), axis=0))

    def result(self):
        return self.counts + 0.0


def rows(cluster, policy, **arguments):
    dataset = tf.data.Dataset.range(ROWS).map(lambda i: (tf.cast([i], tf.float32), tf.cast([i], tf.float32)))
    return cluster.distribute(dataset.batch(8), policy, **arguments)


@pytest.fixture(scope="module")
def cluster():
    one = Cluster(WORKERS, worker_addresses=["localhost"] * WORKERS)
    yield one
    one.stop()


@pytest.mark.parametrize("strategy", [tf.distribute.get_strategy(), devices.ONE, devices.TWO, devices.THREE],
                         ids=["none", "one", "two", "three"])
@pytest.mark.parametrize("policy", TIMES)
def test_keras(cluster, policy, strategy):
    expected = np.full(ROWS, float(TIMES[policy]))
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Input((1,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", metrics=[Seen()], run_eagerly=False)
    model.optimizer.learning_rate = 0.0
    history = model.fit(rows(cluster, policy), epochs=2, verbose=0).history["seen"]
    assert [list(epoch) for epoch in history] == [list(expected)] * 2
    assert list(model.evaluate(rows(cluster, policy), verbose=0, return_dict=True)["seen"]) == list(expected)
    model.set_weights([np.ones((1, 1), np.float32), np.zeros(1, np.float32)])
    predicted = model.predict(rows(cluster, policy), verbose=0)
    assert sorted(predicted[:, 0]) == sorted([*range(ROWS)] * TIMES[policy])


@pytest.mark.parametrize("strategy", [devices.ONE, devices.TWO, devices.THREE], ids=["one", "two", "three"])
@pytest.mark.parametrize("policy", TIMES)
def test_a_loop_of_ones_own(cluster, policy, strategy):
    @tf.function
    def epoch(inputs):
        counts = tf.zeros([ROWS])
        for batch in inputs:
            given = strategy.run(lambda row: tf.reduce_sum(tf.one_hot(tf.cast(row[1][:, 0], tf.int32), ROWS), axis=0),
                                 args=(batch,))
            counts += strategy.reduce("SUM", given, axis=None)
        return counts
    inputs = strategy.experimental_distribute_dataset(rows(cluster, policy))
    for _ in range(2):
        assert list(epoch(inputs).numpy()) == [float(TIMES[policy])] * ROWS


PROGRAM = '''
import json, os, sys
import leat as tf
service = tf.data.experimental.service
strategy = tf.distribute.MultiWorkerMirroredStrategy()
policy, rows = sys.argv[1], int(sys.argv[2])
dataset = tf.data.Dataset.range(rows).map(lambda i: (tf.cast([i], tf.float32), tf.cast([i], tf.float32))).batch(8)
dataset = dataset.apply(service.distribute(policy, "grpc://" + os.environ["LEAT_SERVICE_ADDRESS"], job_name="job"))
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Input((1,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=[Seen()])
model.optimizer.learning_rate = 0.0
print(json.dumps([[float(x) for x in epoch] for epoch in model.fit(dataset, epochs=2, verbose=0).history["seen"]]))
'''


@pytest.mark.skipif(not LEAT.is_file(), reason="the tool is not built beside the package")
@pytest.mark.parametrize("policy", ["parallel_epochs", "distributed_epoch"])
def test_programs_of_a_job(tmp_path, policy):
    """Two programs share a job: together they see each row, and both know the sum."""
    program = tmp_path / "program.py"
    source = pathlib.Path(__file__).read_text()
    metric = re.search(r"class Seen.*?\n\n\n", source, re.S).group()
    program.write_text(f"import leat as tf\nROWS = {ROWS}\n{metric}{PROGRAM}")
    done = subprocess.run([LEAT, "launch", "-n", "2", "--service", str(WORKERS), "--", sys.executable, program, policy,
                           str(ROWS)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if re.match(r"\[worker \d+\] ?\[", line)]
    found = [json.loads(line.split("]", 1)[1]) for line in lines]
    times = WORKERS if policy == "parallel_epochs" else 1
    assert found == [[[float(times)] * ROWS] * 2] * 2
