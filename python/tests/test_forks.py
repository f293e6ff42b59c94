"""Forks while other threads work: a child finds no lock held by a thread that it does not have. Each child ends by
itself, or by SIGALRM where it hangs, which is what is looked at."""

import os
import subprocess
import sys
import textwrap

CHILDREN = """
    import os, signal, sys, threading
    import leat as tf

    def child(work):
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            code = 1
            try:
                code = 0 if work() else 2
            finally:
                os._exit(code)
        return os.waitpid(pid, 0)[1]

    def first_map():
        ds = tf.data.Dataset.range(20).shuffle(5).map(lambda x: x + 1, num_parallel_calls=2).batch(3).prefetch(1)
        return sorted(int(x) for batch in ds for x in batch) == list(range(1, 21))
"""


def run(program, *arguments):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(CHILDREN) + textwrap.dedent(program), *arguments],
                          capture_output=True, text=True, timeout=600, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    return done.stdout, done.stderr


def test_children_of_a_busy_process_work():
    """Locks of seeds, budgets, traces, plans, states, pools and logs are taken all the time, by three threads."""
    out, err = run("""
        ended = threading.Event()
        elements = tf.data.Dataset.range(50).shuffle(10).map(lambda x: x + tf.random.uniform([], 0, 9, tf.int64),
                                                             num_parallel_calls=2).batch(4).prefetch(2)
        nested = tf.data.Dataset.range(6).flat_map(lambda i: tf.data.Dataset.range(i).map(lambda x: x * i))

        def busy():
            while not ended.is_set():
                for dataset in (elements, nested):
                    iterator = iter(dataset)
                    next(iterator)
                    iterator.explain() if hasattr(iterator, "explain") else None
                tf.random.uniform([3])
        threads = [threading.Thread(target=busy) for _ in range(3)]
        [thread.start() for thread in threads]
        seen = {child(first_map) for _ in range(200)}
        ended.set()
        [thread.join() for thread in threads]
        print(seen)
    """)
    assert out == "{0}\n", err


def test_a_child_that_is_forked_while_a_part_is_imported_has_that_part():
    parts = ["keras", "distribute", "data", "linalg", "strings", "ragged", "sparse", "lookup", "audio", "summary"]
    out, err = run("""
        seen = set()
        for part in sys.argv[1:]:
            thread = threading.Thread(target=lambda: getattr(tf, part))
            thread.start()
            def work():
                return getattr(tf, part).__name__ == "leat." + part and first_map()
            while thread.is_alive():
                seen.add(child(work))
            thread.join()
        print(seen or {0})
    """, *parts)
    assert out == "{0}\n", err


def test_a_child_hears_ctrl_c():
    out, err = run("""
        def work():
            signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                list(tf.data.Dataset.range(10**15).filter(lambda x: x < 0).prefetch(1))
            except KeyboardInterrupt:
                return first_map()
            return False
        list(tf.data.Dataset.range(3).prefetch(1))
        print(child(work))
    """)
    assert out == "0\n", err
