"""leat.distribute on logical CPU devices: what fails, and what must not hang."""

import os
import re
import subprocess
import sys
import threading

import pytest

import leat as tf
from devices import TWO, THREE, replica_id, total, numbers
from leat._graph import trace
from leat.distribute.values import PerReplica


def test_the_error_of_a_replica_names_it():
    def step(number):
        tf.debugging.assert_less(number, 2, message="too many")
        return total(1.0)
    numbers_of_replicas = THREE.experimental_distribute_values_from_function(
        lambda context: tf.constant(context.replica_id_in_sync_group))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\b2\b"):
        THREE.run(step, (numbers_of_replicas,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="many") as found:
        THREE.run(lambda: step(replica_id()))  # which is known when the function is traced for that replica
    assert re.search(r"\b2\b", found.value.__notes__[-1])
    assert numbers(THREE.run(lambda: total(1.0))) == [3.0] * 3  # and the others did not wait for it


def test_replicas_that_exchange_different_things_do_not_hang():
    def step(x):
        return total(x)
    value = PerReplica([tf.zeros([2]), tf.zeros([3])])
    with pytest.raises(tf.errors.OpError):
        TWO.run(step, args=(value,))
    assert numbers(TWO.run(step, args=(tf.constant(1.0),))) == [2.0, 2.0]


def test_an_exception_of_the_function_arrives_unchanged():
    class Mine(Exception):
        pass
    error = Mine("by order")

    def step():
        raise error
    with pytest.raises(Mine) as found:
        TWO.run(step)
    assert found.value is error and found.traceback[-1].name == "step"


def test_what_needs_a_value_says_so():
    with pytest.raises(trace.NotTraceable, match="numpy") as found:
        TWO.run(tf.function(lambda x: x.numpy()), args=(tf.constant(1.0),))
    assert re.search(r"test_distribute_failures.py:\d+", str(found.value))


@pytest.mark.parametrize("make, kind", [
    (lambda: tf.distribute.MirroredStrategy(["GPU:0"]), ValueError),
    (lambda: tf.distribute.TPUStrategy(), tf.errors.UnimplementedError),
    (lambda: tf.distribute.Strategy(), TypeError),
    (lambda: tf.distribute.HierarchicalCopyAllReduce(-1), ValueError)])
def test_what_is_not_there(make, kind):
    with pytest.raises(kind):
        make()


# ---- threads, forks, Ctrl-C ----

def test_threads_share_a_strategy():
    found, errors = [], []

    def work(number):
        try:
            with TWO.scope():
                variable = tf.Variable(float(number))
            for _ in range(20):
                found.append(numbers(TWO.run(lambda: total(variable))) == [2.0 * number] * 2)
        except Exception as error:  # shown by the assertion below
            errors.append(error)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and found == [True] * 80
    assert not tf.distribute.has_strategy()


def test_a_fork_is_told():
    TWO.run(replica_id)
    child = os.fork()
    if child == 0:
        try:
            TWO.run(replica_id)
        except RuntimeError as error:
            os._exit(0 if "parent" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


CTRL_C = """
import os, signal, sys, threading
import leat as tf
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                           [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy()
started, free = threading.Event(), threading.Event()
def wait(x):
    started.set()
    free.wait()
    return x
dataset = tf.data.Dataset.range(4).map(lambda x: tf.numpy_function(wait, [x], tf.int64)).batch(2)
def interrupt():
    started.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
iterator = iter(strategy.experimental_distribute_dataset(dataset))
try:
    next(iterator)
except KeyboardInterrupt:
    print("interrupted", flush=True)
free.set()
"""


def test_ctrl_c_ends_a_wait_for_data():
    done = subprocess.run([sys.executable, "-c", CTRL_C], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr
