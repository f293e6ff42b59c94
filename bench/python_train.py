#!/usr/bin/env python3
"""A training step by leat's Python package: python_train.py BUILD SECONDS THREADS cnn8|cnn28|resnet50 [fit].

The functions are those of bench/peers/cases/train.py. THREADS: cores that the process may use; with one, rates
are by the processor's time, which other programs disturb less. With LEAT_BENCH_EXPLAIN set, stderr
tells where the time of the step went.
"""
import json
import os
import sys
import time

BUILD, SECONDS, THREADS, KIND = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
sys.path[:0] = [os.path.join(BUILD, "python"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")]

import leat  # noqa: E402
from cases.train import keras_fit, tf_step  # noqa: E402
from common import Context  # noqa: E402


def main():
    steps = (keras_fit if "fit" in sys.argv[5:] else tf_step)(Context(SECONDS), KIND, tf=leat)
    clock = time.process_time if THREADS == 1 else time.perf_counter
    warm = time.perf_counter() + min(1, SECONDS / 5)
    next(steps)
    while time.perf_counter() < warm:
        next(steps)
    start, counted, cpu, units = time.perf_counter(), clock(), time.process_time(), 0
    while units == 0 or time.perf_counter() - start < SECONDS:
        units += next(steps)
    counted, elapsed = clock() - counted, time.perf_counter() - start
    if "LEAT_BENCH_EXPLAIN" in os.environ:
        function = steps.gi_frame.f_locals.get("step")
        for made in function._traces.values() if function is not None else ():
            print(made.step.explain(), file=sys.stderr)
    print(json.dumps({"rate": units / counted, "unit": "steps/CPU s" if THREADS == 1 else "steps/s", "cpu_s": round(time.process_time() - cpu, 3),
                      "elapsed_s": round(elapsed, 3)}))


if __name__ == "__main__":
    main()
