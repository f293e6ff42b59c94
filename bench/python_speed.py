#!/usr/bin/env python3
"""What Python adds to leat: python_speed.py BUILD SECONDS batches|scalars|map|callback|add|call. Processor time, but for `map`.

batches   `for x in dataset` over batches that cost nothing to make; the limit is 5 us a batch
scalars   `for x in dataset.as_numpy_iterator()` over numbers; the limit is 1 us a number
map       bench/leat_chain_8.c through Python, eight traced maps x + 1; its limit is that program
add       an eager sum of two tensors of ten numbers; the limit is numpy's time for it and 1 us
call      a call of a traced function of nothing; the limit is 3 us
callback  a map that numpy does in about 50 us an element, called in Python; the limit is a bare loop of the same calls
"""
import json
import logging
import os
import sys
import time

sys.path.insert(0, os.path.join(sys.argv[1], "python"))
import numpy as np  # noqa: E402

import leat as tf  # noqa: E402

D = tf.data.Dataset


def cost(function, seconds):
    """The processor time of a call of `function`, which returns how many units it did: the least of many turns."""
    function()
    end, best = time.monotonic() + seconds, float("inf")
    while time.monotonic() < end or best == float("inf"):
        start = time.process_time()
        units = function()
        best = min(best, (time.process_time() - start) / units)
    return best


def count(iterable):
    return sum(1 for _ in iterable)


def batches(seconds):
    dataset = D.from_tensors(np.zeros((32, 8), np.float32)).repeat(10000)
    return 1 / cost(lambda: count(dataset), seconds), 1 / 5e-6, "batches/CPU s"


def scalars(seconds):
    dataset = D.range(100000)
    return 1 / cost(lambda: count(dataset.as_numpy_iterator()), seconds), 1 / 1e-6, "elements/CPU s"


def chain(seconds):
    """Batches of 65,536 on one thread, so that what a batch costs in Python, which is measured above, counts little."""
    dataset = D.range(1 << 60)
    for _ in range(8):
        dataset = dataset.map(lambda x: x + 1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    iterator = iter(dataset.batch(65536))
    next(iterator)
    start, elements = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        elements += 65536 if next(iterator).shape == (65536,) else 0
    return 8 * elements / (time.perf_counter() - start), None, "element maps/s"


def callback(seconds):
    logging.getLogger("leat").setLevel(logging.ERROR)    # that it is called in Python is the point
    values = np.random.default_rng(1).random(8000).astype(np.float32)
    calls = 500

    def work(x):
        return np.sqrt(np.cumsum(values * np.float32(x.numpy()))).sum()
    elements = [tf.constant(i, tf.int64) for i in range(calls)]
    dataset = D.range(calls).map(work).batch(50)

    def bare():
        for x in elements:
            work(x)
        return calls

    def mapped():
        return 50 * count(dataset)
    turns = [(cost(bare, seconds / 10), cost(mapped, seconds / 10)) for _ in range(5)]
    return 1 / min(turn[1] for turn in turns), 1 / min(turn[0] for turn in turns), "calls/CPU s"


def add(seconds):
    one, other, calls = np.ones(10, np.float32), np.ones(10, np.float32), range(10000)
    a, b = tf.constant(one), tf.constant(other)

    def bare():
        for _ in calls:
            one + other
        return len(calls)

    def eager():
        for _ in calls:
            a + b
        return len(calls)
    turns = [(cost(bare, seconds / 10), cost(eager, seconds / 10)) for _ in range(5)]
    return 1 / min(turn[1] for turn in turns), 1 / (min(turn[0] for turn in turns) + 1e-6), "sums/CPU s"


def call(seconds):
    @tf.function
    def nothing():
        pass

    def run():
        for _ in range(10000):
            nothing()
        return 10000
    return 1 / cost(run, seconds), 1 / 3e-6, "calls/CPU s"


def main():
    parts = {"batches": batches, "scalars": scalars, "map": chain, "callback": callback, "add": add, "call": call}
    rate, limit, unit = parts[sys.argv[3]](float(sys.argv[2]))
    print(json.dumps({"rate": rate, "unit": unit, **({"limit": limit} if limit else {})}))


if __name__ == "__main__":
    main()
