"""MultiWorkerMirroredStrategy as two and three processes, which `leat launch` starts."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

from leat import _native

LEAT = pathlib.Path(_native.__file__).resolve().parents[2] / "bin/leat"
ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not LEAT.is_file(), reason="the tool is not built beside the package")


def launch(workers, *arguments, status=0):
    """What each worker printed, a list of lines; all end with `status`."""
    done = subprocess.run([LEAT, "launch", "-n", str(workers), "--", sys.executable, *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == status, done.stdout + done.stderr
    lines = [re.match(r"\[worker (\d+)\] ?(.*)", line).groups() for line in done.stdout.splitlines()]
    return [[text for number, text in lines if number == str(worker)] for worker in range(workers)], done.stderr


PROGRAM = '''
import json, os, re
import leat as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
WORKERS, ME = strategy.num_replicas_in_sync, strategy.cluster_resolver.task_id


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def variable(value=1.0, **arguments):
    with strategy.scope():
        return tf.Variable(value, name="v", **arguments)


def show(value):
    print(json.dumps(value))


def values(function):
    return strategy.experimental_distribute_values_from_function(lambda c: function(c.replica_id_in_sync_group))
'''


def run(tmp_path, workers, body, status=0):
    """What each worker gave to `show`."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + body)
    shown, errors = launch(workers, path, status=status)
    return [[json.loads(line) for line in lines] for lines in shown] if status == 0 else (shown, errors)


SUM = {2: 3.0, 3: 6.0}  # of the replicas' numbers from 1


@pytest.mark.parametrize("workers", [2, 3])
def test_where_a_program_stands(tmp_path, workers):
    found = run(tmp_path, workers, '''
context = tf.distribute.get_strategy() is not strategy and not tf.distribute.has_strategy()
show([strategy.num_replicas_in_sync, ME, context, list(strategy.extended.worker_devices)])
show(str(strategy.run(number)))
show(str(values(lambda number: number)))
show(strategy.run(lambda: tf.distribute.get_replica_context().num_replicas_in_sync))
contexts = []
strategy.distribute_datasets_from_function(lambda c: (contexts.append([c.num_input_pipelines, c.input_pipeline_id,
    c.num_replicas_in_sync, c.get_per_replica_batch_size(6 * WORKERS)]), tf.data.Dataset.range(2))[1])
show(contexts)
show(strategy.explain().splitlines()[0].split(" over ")[0])
''')
    for worker, shown in enumerate(found):
        assert shown == [
            [workers, worker, True, [f"/job:worker/replica:0/task:{worker}/device:CPU:0"]],
            f"tf.Tensor({worker}.0, shape=(), dtype=float32)",
            f"PerReplica:{{\n  0: {worker}\n}}",
            workers,
            [[workers, worker, workers, 6]],
            f'strategy "multi_worker_mirrored": {workers} replicas in sync, 1 on each of {workers} workers']


@pytest.mark.parametrize("workers", [2, 3])
def test_exchanges(tmp_path, workers):
    found = run(tmp_path, workers, '''
context = tf.distribute.get_replica_context


def exchange():
    mine = number() + 1
    with tf.GradientTape() as tape:
        tape.watch(mine)
        total = context().all_reduce("SUM", mine * mine) * mine
    return (context().all_reduce("SUM", mine), context().all_reduce("MEAN", {"a": mine})["a"],
            tape.gradient(total, mine),
            context().merge_call(lambda s, x: s.reduce("MEAN", x, axis=None), args=(mine,)),
            context().all_gather(tf.reshape(mine, [1, 1]), axis=0))
show([part.numpy().tolist() for part in strategy.run(exchange)])
rows = values(lambda number: tf.range(number + 1))
for _ in range(2):
    gathered = strategy.run(lambda x: context().all_gather(x, axis=0), (rows,))
    show(gathered.numpy().tolist())
show(strategy.gather(rows, axis=0).numpy().tolist())
loss = strategy.run(lambda: number() + 1)
show([float(strategy.reduce(op, loss, axis=None)) for op in ("SUM", "MEAN")])
show([float(strategy.reduce(op, rows, axis=0)) for op in ("SUM", "MEAN")])
''')
    numbers = [float(n + 1) for n in range(workers)]
    ranges = [i for n in range(workers) for i in range(n + 1)]
    squares = sum(n * n for n in numbers)
    for worker, shown in enumerate(found):
        mine = numbers[worker]
        # y_r = (sum of x_i^2) x_r; the gradients of the sum add up over replicas.
        assert shown[0] == [sum(numbers), sum(numbers) / workers, squares + 2 * mine * sum(numbers),
                            sum(numbers) / workers, [[n] for n in numbers]]
        assert shown[1] == shown[2] == shown[3] == ranges
        assert shown[4] == [sum(numbers), sum(numbers) / workers]
        assert shown[5] == [sum(ranges), pytest.approx(sum(ranges) / len(ranges))]


@pytest.mark.parametrize("workers", [2, 3])
def test_variables(tmp_path, workers):
    found = run(tmp_path, workers, '''
V, A = tf.VariableSynchronization, tf.VariableAggregation
show(variable(tf.random.normal([3])).numpy().tolist())
show(repr(variable()))
for aggregation in (A.SUM, A.MEAN, A.ONLY_FIRST_REPLICA):
    mirrored = variable(aggregation=aggregation)
    strategy.run(lambda: mirrored.assign_add(10 * number() + 1))
    here = float(mirrored)
    mirrored.assign(6.0)
    on_read = variable(synchronization=V.ON_READ, aggregation=aggregation)
    strategy.run(lambda: on_read.assign_add(10 * number() + 1))
    before = [float(on_read.values[0]), float(on_read)]
    on_read.assign(6.0)
    show([here, float(mirrored), before, [float(on_read.values[0]), float(on_read)]])
''')
    total = sum(10 * n + 1 for n in range(workers))
    for worker, shown in enumerate(found):
        assert shown[0] == found[0][0] and len(set(shown[0])) == 3
        assert shown[1] == ("MirroredVariable:{\n  0: <tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>\n}")
        own = 10.0 * worker + 2
        assert shown[2] == [1.0 + total, 6.0, [own, 1.0 * workers + total], [pytest.approx(6 / workers), 6.0]]
        assert shown[3] == [1 + total / workers, 6.0, [own, 1 + total / workers], [6.0, 6.0]]
        assert shown[4] == [2.0, 6.0, [own, 2.0], [6.0, 6.0]]


RESUME = '''
FOLDER, STEPS = {folder!r}, {steps}

def make(context):
    rows = tf.data.Dataset.range(53).shuffle(53, seed=4, reshuffle_each_iteration=False)
    rows = rows.shard(context.num_input_pipelines, context.input_pipeline_id)
    return rows.batch(context.get_per_replica_batch_size(12)).map(lambda x: x)

iterator = iter(strategy.distribute_datasets_from_function(make))
if os.path.exists(FOLDER + "/state"):
    iterator.restore(open(FOLDER + "/state", "rb").read())
taken = []
for step, batch in enumerate(iterator, 1):
    taken += [int(row) for part in strategy.experimental_local_results(batch) for row in part]
    if step == STEPS:
        break
state = iterator.save()
if ME == 0:
    open(FOLDER + "/state", "wb").write(state)
show(taken)
'''


@pytest.mark.parametrize("sizes", [(3, 2), (2, 1, 3)])
def test_the_input_of_a_function_goes_on_with_another_number_of_workers(tmp_path, sizes):
    rows = []
    for job, workers in enumerate(sizes):
        steps = 0 if job == len(sizes) - 1 else 2 - job
        shown = run(tmp_path, workers, RESUME.format(folder=str(tmp_path), steps=steps))
        assert all(taken for (taken,) in shown)
        rows += [row for (taken,) in shown for row in taken]
    assert sorted(rows) == list(range(53))


def test_a_failing_worker_ends_the_job(tmp_path):
    shown, errors = run(tmp_path, 2, '''
def step(limit):
    tf.debugging.assert_less(number(), limit)
    return tf.distribute.get_replica_context().all_reduce("SUM", number())
try:
    strategy.run(step, (tf.constant(1.0),))
except Exception as error:
    print(type(error).__name__, re.search(r"\\b1\\b", str(error)) is not None)
    raise
''', status=1)
    assert "AbortedError True" in shown[0] or shown[0] == []  # it may be ended before it can say so
    assert shown[1] and shown[1][0].startswith("InvalidArgumentError")


FAULTS = {  # who is guilty, what it does, what the other one does until it is told, and what it is told
    "in the program": (1, "raise ValueError('no such column')", "pass", "worker 1 .*ValueError: no such column"),
    "in its input": (1, "list(DATA)", "list(DATA)", "worker 1 .*ZeroDivisionError"),
    "at a checkpoint": (0, "save()", "variable(tf.zeros([1000]))", "worker 0 .*File too large"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_others_are_told_why_a_worker_ended(tmp_path, fault):
    guilty, does, meanwhile, told = FAULTS[fault]
    shown, _ = run(tmp_path, 2, f'''
import resource, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the launcher's, so that the other one can say what it was told
DATA = strategy.distribute_datasets_from_function(lambda context: tf.data.Dataset.range(9).map(
    lambda x: tf.py_function(lambda x: 1 // (4 - int(x) * ME), [x], tf.int64)).batch(1))

def save():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # as a disk that is full
    tf.train.Checkpoint(v=variable(tf.zeros([1000]))).save({str(tmp_path)!r} + "/c")

for _ in range(3):
    strategy.reduce("SUM", strategy.run(number), axis=None)
if ME == {guilty}:
    {does}
try:
    while True:
        {meanwhile}
        strategy.reduce("SUM", strategy.run(number), axis=None)
except tf.errors.AbortedError as error:
    print(str(error).replace("\\n", " "), flush=True)
    raise
''', status=1)
    assert re.search(told, shown[1 - guilty][0]), shown
    assert not list(tmp_path.glob("c*")), "part of a checkpoint"


def test_the_exception_of_another_worker_is_not_taken_for_ones_own(tmp_path):
    shown = run(tmp_path, 2, '''
def fail(x):
    raise KeyError("of worker 0, long ago")
if ME == 0:
    list(tf.data.Dataset.range(2).map(lambda x: tf.py_function(fail, [x], tf.int64)).ignore_errors())

def rows():
    yield from range(3)
    if ME == 1:
        raise ValueError("a bad row")
    yield from range(20)

try:
    for _ in strategy.distribute_datasets_from_function(
            lambda context: tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([], tf.int32))):
        pass
except Exception as error:
    show([type(error).__name__, "ValueError" in str(error) or ME == 1, "[python" in str(error)])
''')
    assert shown == [[["AbortedError", True, False]], [["ValueError", True, False]]]


def test_programs_that_differ_are_named(tmp_path):
    assert run(tmp_path, 2, "") == [[], []]
    path = tmp_path / "differs.py"
    path.write_text("import os, sys, json\nimport leat as tf\n"
                    "sys.argv[0] = str(json.loads(os.environ['TF_CONFIG'])['task']['index']) + '.py'\n"
                    "tf.distribute.MultiWorkerMirroredStrategy()\n")
    _, errors = launch(2, path, status=1)
    assert "FailedPreconditionError" in errors and "1.py" in errors


# ---- the example programs ----

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/example_programs.json").read_text())


@pytest.mark.parametrize("name, workers", [(name, int(workers)) for name in ("per_replica", "dataset_function")
                                           for workers in RECORDED[name]])
def test_examples_print_what_tensorflow_prints(name, workers):
    if workers == 1:
        done = subprocess.run([sys.executable, ROOT / f"examples/{name}.py"], capture_output=True, text=True,
                              timeout=300)
        assert [done.stdout.splitlines()] == RECORDED[name]["1"], done.stderr
    else:
        assert launch(workers, ROOT / f"examples/{name}.py")[0] == RECORDED[name][str(workers)]


def losses(lines):
    return [float(line.rpartition(" ")[2]) for line in lines[1:]]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_imbalanced_classes(workers):
    # The losses are TensorFlow's with one worker, however many share a batch.
    found, _ = launch(workers, ROOT / "examples/imbalanced_workers.py")
    expected = RECORDED["imbalanced_workers"]["1"][0]
    for lines in found:
        assert lines == [f"Number of replicas: {workers}", *found[0][1:]]
        assert [line.rpartition(" ")[0] for line in lines[1:]] == [line.rpartition(" ")[0] for line in expected[1:]]
        assert losses(lines) == pytest.approx(losses(expected), rel=2e-3, abs=2e-5)


def test_a_strategy_is_made_again(tmp_path):
    found = run(tmp_path, 2, '''
again = tf.distribute.MultiWorkerMirroredStrategy()
with again.scope():
    variable = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
again.run(tf.function(lambda: variable.assign_add(number() + 1.0)))
show([float(variable.numpy()), float(strategy.reduce("SUM", strategy.run(number), axis=None))])
del again, strategy
third = tf.distribute.MultiWorkerMirroredStrategy()
show(float(third.reduce("SUM", third.run(number), axis=None)))
''')
    assert found == [[[3.0, 1.0], 1.0]] * 2
