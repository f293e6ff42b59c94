"""The slow model of the operators that mix datasets, and of sources of numbers: an addition to data_case_model.py's tables.

`data_case_mixes.py FOLDER` compares the model with the cases recorded from TensorFlow in FOLDER/tfdata.
"""
import itertools
import sys

import data_case_model as model
from data_case_model import DATASETS, OPERATORS, Error, call, run


def opened(node, outcome):
    """The inner dataset's outcomes for an outcome of the input, or the error that stands in its place."""
    if isinstance(outcome, Error):
        return None, outcome
    try:
        return run(call(DATASETS, node.args["map_func"], outcome)), None
    except Error as error:
        return None, error


def run_interleave(node):
    if "num_parallel_calls" in node.args:
        yield from in_workers(node)
        return
    cycle, block = node.arg("cycle_length"), node.arg("block_length", 1)
    source, slots, at, given, ended = run(node.inputs[0]), [None] * cycle, 0, 0, False
    while not ended or any(slots):
        if slots[at] is not None:
            outcome = next(slots[at], None)
            if outcome is None:
                slots[at] = None
            else:
                yield outcome
                given += not isinstance(outcome, Error)
            if outcome is None or given == block:
                at, given = (at + 1) % cycle, 0
        elif ended:
            at, given = (at + 1) % cycle, 0
        else:
            outcome = next(source, None)
            ended = outcome is None
            if not ended:
                slots[at], error = opened(node, outcome)
                if error is not None:
                    yield error


def in_workers(node):
    """The parallel form: each element of the input is a worker with a list of results, errors among them."""
    cycle, block = node.arg("cycle_length"), node.arg("block_length", 1)

    def workers():
        for outcome in run(node.inputs[0]):
            inner, error = opened(node, outcome)
            yield iter([error]) if error is not None else inner

    waiting = workers()
    slots = list(itertools.islice(waiting, cycle))
    at = given = 0
    while any(slots):
        outcome = next(slots[at], None) if slots[at] is not None else None
        if outcome is None and slots[at] is not None:
            slots[at] = next(waiting, None)
        elif outcome is not None:
            yield outcome
            given += 1
        if outcome is None or given == block:
            at, given = (at + 1) % len(slots), 0


OPERATORS["interleave"] = (run_interleave, ["map_func", "cycle_length", "block_length", "num_parallel_calls", "deterministic"])

if __name__ == "__main__":
    sys.exit(model.compare(sys.argv[1]) != 0)
