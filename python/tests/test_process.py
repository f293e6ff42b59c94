"""Processes: Ctrl-C, forks, threads, and the end of the interpreter with iterators alive."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import leat as tf


def run(program, **kwargs):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=120, **kwargs)


def interrupt(program):
    """Starts a program, sends it SIGINT when it says "ready"; its output."""
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.2)  # so that it is in the call; a signal before that ends it just as well
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    return child.returncode, out, err


BLOCKED = """
    import threading, leat as tf
    never = threading.Event()
    def wait(x):
        int(x) == 3 and print("ready", flush=True)
        int(x) == 3 and never.wait()
        return x
    dataset = tf.data.Dataset.range(10).map(wait{parallel}).prefetch(1)
    try:
        list(dataset)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        never.set()
"""


@pytest.mark.parametrize("parallel", ["", ", num_parallel_calls=2"])
def test_ctrl_c_ends_a_wait_for_a_blocked_callback(parallel):
    code, out, err = interrupt(BLOCKED.replace("{parallel}", parallel))
    assert out == "interrupted\n", err
    assert code == 0


@pytest.mark.parametrize("call", ["tf.py_function(slow, [x], tf.int64)", "slow(int(x))"])
def test_ctrl_c_ends_a_batch_of_many_callbacks(call):
    code, out, err = interrupt(f"""
        import logging, time
        import leat as tf
        logging.getLogger("leat").setLevel(logging.ERROR)

        def slow(x):
            time.sleep(0.005)
            return x
        print("ready", flush=True)
        try:
            next(iter(tf.data.Dataset.range(10**9).map(lambda x: {call}).batch(10**6)))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    assert (code, out) == (0, "interrupted\n"), err


def test_ctrl_c_ends_a_wait_for_a_saved_dataset(tmp_path):
    code, out, err = interrupt(f"""
        import leat as tf
        print("ready", flush=True)
        try:
            tf.data.Dataset.load({str(tmp_path / "none")!r}, wait=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    assert (code, out) == (0, "interrupted\n"), err


@pytest.mark.parametrize("loop", ["for x in tf.data.Dataset.range(2).repeat(): s += x", "while s < 1: s -= 1"])
def test_ctrl_c_ends_a_traced_loop(loop, tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(f"""
        import leat as tf
        @tf.function
        def forever():
            s = tf.constant(0, tf.int64)
            {loop}
            return s
        forever.get_concrete_function()
        print("ready", flush=True)
        try:
            forever()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """))
    code, out, err = interrupt(f"exec(compile(open({str(tmp_path / 'program.py')!r}).read(), "
                               f"{str(tmp_path / 'program.py')!r}, 'exec'))")
    assert (code, out) == (0, "interrupted\n"), err


def test_ctrl_c_ends_a_restore():
    code, out, err = interrupt("""
        import leat as tf
        iterator = iter(tf.data.Dataset.range(10**12).filter(lambda x: x % 1_000_000 == 0).shuffle(9, seed=1))
        next(iterator)
        state = iterator.save("positions")  # restoring computes nine million elements again
        print("ready", flush=True)
        try:
            while True:
                iterator.restore(state)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    assert (code, out) == (0, "interrupted\n"), err


def test_ctrl_c_ends_a_pipeline_that_delivers_nothing():
    code, out, err = interrupt("""
        import leat as tf
        print("ready", flush=True)
        try:
            next(iter(tf.data.Dataset.range(10**15).filter(lambda x: x < 0)))
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert out == "interrupted\n", err


def test_the_interpreter_ends_with_live_iterators():
    done = run("""
        import leat as tf
        slow = tf.data.Dataset.range(10**9).map(lambda x: int(x) + 1, num_parallel_calls=2).prefetch(4)
        iterators = [iter(slow), slow.as_numpy_iterator(), iter(tf.data.Dataset.range(10**9).shuffle(100).prefetch(2))]
        for iterator in iterators:
            next(iterator)
        print("done")
    """)
    assert done.stdout == "done\n" and done.returncode == 0, done.stderr


def test_a_forked_child_refuses_its_parents_iterator_and_makes_its_own():
    done = run("""
        import os, leat as tf
        iterator = iter(tf.data.Dataset.range(5).prefetch(1))
        next(iterator)
        child = os.fork()
        if child == 0:
            try:
                next(iterator)
            except RuntimeError as error:
                print(error)
            parallel = tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2)
            print(list(parallel.as_numpy_iterator()) == [1, 2, 3], flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(int(next(iterator)))
    """)
    assert "parent" in done.stdout and done.stdout.endswith("True\n1\n"), done.stderr


def test_a_child_forked_before_any_iterator_works():
    done = run("""
        import os, leat as tf
        child = os.fork()
        if child == 0:
            dataset = tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2)
            print(list(dataset.as_numpy_iterator()) == [1, 2, 3])
            import sys; sys.stdout.flush()
            os._exit(0)
        print(os.waitpid(child, 0)[1])
    """)
    assert done.stdout == "True\n0\n", done.stderr


def test_many_threads_iterate_and_one_iterator_is_for_one_thread():
    dataset = tf.data.Dataset.range(2000).map(lambda x: x * 2).batch(10)
    totals = []

    def total():
        totals.append(sum(int(batch.numpy().sum()) for batch in dataset))
    threads = [threading.Thread(target=total) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals == [sum(range(2000)) * 2] * 8


def test_lifetimes_leave_nothing_behind():
    resource = pytest.importorskip("resource")
    dataset = tf.data.Dataset.range(100).map(lambda x: x + 1).batch(10)
    for _ in range(1000):
        next(iter(dataset))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10000):
        next(iter(dataset))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * 1024  # KiB


def test_subinterpreters_are_refused():
    done = run("""
        import _xxsubinterpreters as interpreters, sys
        other = interpreters.create()
        try:
            interpreters.run_string(other, "import sys; sys.path[:] = %r\\nimport leat" % sys.path)
        except Exception as error:
            print("main" in str(error))
    """)
    if "_xxsubinterpreters" in done.stderr:
        pytest.skip("this Python has no module for subinterpreters")
    assert done.stdout == "True\n", done.stderr + done.stdout


def test_memory_outlives_its_tensor():
    array = np.asarray(next(iter(tf.data.Dataset.from_tensors([1.0, 2.0]))))
    assert array.tolist() == [1.0, 2.0] and not array.flags.writeable
    assert os.getpid() > 0


def test_other_threads_run_while_a_call_waits():
    """Each reads a pipe that another thread of Python writes to: with the interpreter's lock it would never end."""
    done = run("""
        import faulthandler, os, tempfile, threading
        import leat as tf
        faulthandler.dump_traceback_later(100, exit=True)  # where it hangs
        folder, Dataset = tempfile.mkdtemp(), tf.data.Dataset

        @tf.function
        def epoch(dataset):
            count = 0
            for _ in dataset:
                count += 1
            return count

        def saved(lines):
            iterator = iter(lines.prefetch(1))
            next(iterator)
            return iterator.save()

        def write(path):
            with open(path, "wb") as pipe:
                pipe.write(b"a\\nb\\nc\\n")

        calls = [
            lambda lines, path: next(iter(lines)),
            lambda lines, path: list(lines.as_numpy_iterator()),
            lambda lines, path: lines.reduce(0, lambda count, _: count + 1),
            lambda lines, path: lines.batch(3).get_single_element(),
            lambda lines, path: list(lines.prefetch(2).batch(3)),
            lambda lines, path: list(lines.map(tf.strings.length, num_parallel_calls=2)),
            lambda lines, path: list(Dataset.from_tensors(path).interleave(tf.data.TextLineDataset)),
            lambda lines, path: lines.explain(),
            lambda lines, path: lines.save(path + ".saved"),
            lambda lines, path: saved(lines),
            lambda lines, path: epoch(lines),
            lambda lines, path: tf.io.read_file(path),
            lambda lines, path: tf.function(tf.io.read_file)(path),
            lambda lines, path: next(iter(tf.data.FixedLengthRecordDataset(path, 1))),
            lambda lines, path: tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, -1)._pairs(),
            lambda lines, path: list(tf.distribute.OneDeviceStrategy("/cpu:0").experimental_distribute_dataset(lines)),
        ]
        for number, call in enumerate(calls):
            path = os.path.join(folder, str(number))
            os.mkfifo(path)
            writer = threading.Thread(target=write, args=[path])
            writer.start()
            call(tf.data.TextLineDataset(path), path)
            writer.join()
        print("all", len(calls))
    """)
    assert done.stdout.endswith("all 16\n"), done.stderr


ENDLESS = """
    import queue, sys, threading
    import leat as tf

    def wait(x):
        print("ready", flush=True)
        threading.Event().wait()
        return x

    def values():
        print("ready", flush=True)
        yield queue.Queue().get()
    dataset = {dataset}.prefetch(1)
"""


@pytest.mark.parametrize("dataset", [
    "tf.data.Dataset.range(9).map(lambda x: tf.numpy_function(wait, [x], x.dtype))",
    "tf.data.Dataset.range(9).map(lambda x: tf.numpy_function(wait, [x], x.dtype), num_parallel_calls=2)",
    "tf.data.Dataset.from_generator(values, output_signature=tf.TensorSpec([], tf.int64))"])
def test_callbacks_that_never_end_keep_nobody(dataset):
    """Neither Ctrl-C in a plain loop nor the end of the interpreter waits for them."""
    program = textwrap.dedent(ENDLESS).replace("{dataset}", dataset)
    code, _, err = interrupt(program + "for _ in dataset:\n    pass\n")
    assert code != 0 and err.rstrip().endswith("KeyboardInterrupt"), err
    done = run(program + textwrap.dedent("""
        iterator = iter(dataset)
        threading.Thread(target=lambda: next(iterator), daemon=True).start()
        threading.Event().wait(1)
        sys.exit(3)
    """))
    assert done.returncode == 3, done.stderr


def test_an_iterator_is_for_one_thread():
    inside, leave = threading.Event(), threading.Event()

    def wait(x):
        inside.set()
        leave.wait(60)
        return x
    iterator = iter(tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(wait, [x], x.dtype)))
    found = []
    first = threading.Thread(target=lambda: found.append(int(next(iterator))))
    first.start()
    assert inside.wait(60)
    with pytest.raises(ValueError, match="thread"):
        next(iterator)
    leave.set()
    first.join()
    assert found == [0] and [int(x) for x in iterator] == [1, 2]


def test_an_exception_leaves_a_loop_over_a_generator():
    closed = []

    def numbers():
        try:
            for i in range(100):
                yield [float(i)]
        finally:
            closed.append(True)

    def read():
        spec = tf.TensorSpec([1], "float32")
        for _ in tf.data.Dataset.from_generator(numbers, output_signature=spec).batch(2):
            raise KeyError("mine")  # frees the loop's iterator, which closes the generator, while it is on its way
    with pytest.raises(KeyError, match="mine"):
        read()
    assert closed == [True]


def test_python_code_that_is_no_longer_called_says_why():
    done = run("""
        import leat as tf
        from leat import _native
        source = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32))
        mapped = tf.data.Dataset.range(3).map(lambda x: int(x.numpy()))
        running = iter(source)
        _native.shutdown()  # as at the end of the interpreter
        for dataset in (source, mapped):
            try:
                list(dataset)
            except tf.errors.CancelledError as error:
                print("ending" in error.message)
    """)
    assert (done.returncode, done.stdout) == (0, "True\nTrue\n"), done.stderr
