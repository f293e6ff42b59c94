#!/usr/bin/env python3
"""Record what TensorFlow answers to plans of tests/golden/data/README.md.

    plans.py CASES [SECONDS] > RECORDED    CASES: a file of cases; "expect" in it is put anew; default 20 seconds per case

Needs TensorFlow 2.21; nothing else in the project does. The cases run in a process of their own, so that one that hangs or aborts
TensorFlow costs only itself: it is left out and named on stderr. A case that goes on after 48 results gets a number in "iterate".
"""
import json
import os
import queue
import subprocess
import sys
import threading

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
LONGEST = 48
CODES = {1: "CANCELLED", 2: "UNKNOWN", 3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED", 5: "NOT_FOUND", 6: "ALREADY_EXISTS",
         7: "PERMISSION_DENIED", 8: "RESOURCE_EXHAUSTED", 9: "FAILED_PRECONDITION", 10: "ABORTED", 11: "OUT_OF_RANGE",
         12: "UNIMPLEMENTED", 13: "INTERNAL", 14: "UNAVAILABLE", 15: "DATA_LOSS"}
CURRIED = ("assert_cardinality", "group_by_reducer", "pad_to_cardinality", "parallel_interleave", "map_and_batch",
           "shuffle_and_repeat", "parse_example_dataset")


def worker():
    import plans_tensorflow
    for line in sys.stdin:
        print(json.dumps(plans_tensorflow.record(json.loads(line))), flush=True)


class Worker:
    """A process that answers cases; a case without an answer in time ends it, and the next case gets a new one."""

    def __init__(self):
        self.process = None

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "--worker"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.lines = queue.Queue()
        process, lines = self.process, self.lines

        def read():
            for line in process.stdout:
                lines.put(line)
            lines.put(None)
        threading.Thread(target=read, daemon=True).start()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None

    def answer(self, case, seconds):
        fresh = self.process is None
        if fresh:
            self.start()
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        try:
            line = self.lines.get(timeout=seconds + (120 if fresh else 0))
        except queue.Empty:
            line = None
        if line is None:
            self.stop()
            return None
        return json.loads(line)


def record_all(cases, seconds):
    """Yields the cases that TensorFlow answers in time."""
    worker = Worker()
    for case in cases:
        recorded = worker.answer(case, seconds)
        if recorded is None:
            print("no answer: " + json.dumps(case), file=sys.stderr)
        else:
            yield recorded
    worker.stop()


def main(args):
    if args == ["--worker"]:
        return worker()
    with open(args[0]) as file:
        cases = json.load(file)
    between = "[\n"
    for recorded in record_all(cases, float(args[1]) if len(args) > 1 else 20):
        print(between + json.dumps(recorded), end="", flush=True)
        between = ",\n"
    print("\n]")


if __name__ == "__main__":
    main(sys.argv[1:])
