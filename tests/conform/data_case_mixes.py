"""The slow model of the operators that mix datasets, and of sources of numbers: an addition to data_case_model.py's tables.

`data_case_mixes.py FOLDER` compares the model with the cases recorded from TensorFlow in FOLDER/tfdata.
"""
import itertools
import math
import struct
import sys

import data_case_model as model
from data_case_model import DATASETS, OPERATORS, Error, Node, Tensor, Unknown, call, number, philox, run, scalar, words


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


def in_workers(node, keeps_block=False):
    """The parallel form: each element of the input is a worker with a list of results, errors among them.

    keeps_block: a worker that ends and is not replaced leaves what its block lacks to the next one.
    """
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
            rest = given if keeps_block and slots[at] is None else 0
            at, given = (at + 1) % len(slots), rest


def run_parallel_interleave(node):
    yield from in_workers(node, keeps_block=True)


# ---- sources of numbers ----


def pair_of(node):
    """The seeds of one iteration."""
    if node.arg("seed") is None:
        raise Unknown("random without a seed")
    pair = (87654321, node.arg("seed") % (2**31 - 1))
    if not node.arg("rerandomize_each_iteration", False):
        return pair
    if node.generator is None:
        node.generator = words(*pair)
    return (next(node.generator), next(node.generator))


def run_random(node):
    for word in words(*pair_of(node)):
        yield scalar(word)


SIZES = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def run_counter(node):
    dtype, x, step = node.arg("dtype", "int64"), node.arg("start", 0), node.arg("step", 1)
    if dtype not in SIZES and dtype != "float32":
        raise Unknown(dtype)
    while True:
        yield scalar(x, dtype)
        x += step
        if dtype == "float32":
            x = struct.unpack("f", struct.pack("f", x))[0]
        else:
            half = 2 ** (SIZES[dtype] - 1)
            x = (x + half) % (2 * half) - half


# ---- elements of several inputs in a given order ----


def directed(numbers, sources, stop_on_empty):
    dead = set()
    for choice in numbers:
        if isinstance(choice, Error):
            yield choice
        elif not 0 <= choice < len(sources):
            yield Error()
        elif choice not in dead:
            outcome = next(sources[choice], None)
            if outcome is not None:
                yield outcome
                continue
            dead.add(choice)
            if stop_on_empty or len(dead) == len(sources):
                return


def run_choose_from_datasets(node):
    choices = (c if isinstance(c, Error) else number(c) for c in run(node.args["choice_dataset"]))
    yield from directed(choices, [run(i) for i in node.inputs], node.arg("stop_on_empty_dataset", True))


def multinomial(weights, s0, s1):
    """One sample of the stateless multinomial."""
    m = philox((0x3EC8F720, 0x02461E29), (s0 & 0xFFFFFFFF, s0 >> 32, s1 & 0xFFFFFFFF, s1 >> 32))
    a, b = philox((m[0], m[1]), (0, 0, m[2], m[3]))[:2]
    uniform = struct.unpack("d", struct.pack("Q", (0x3FF << 52) | (a & 0xFFFFF) << 32 | b))[0] - 1
    greatest = max(math.log(w) for w in weights if w > 0)
    sums = list(itertools.accumulate(math.exp(math.log(w) - greatest) if w > 0 else 0 for w in weights))
    return next((i for i, c in enumerate(sums) if c > uniform * sums[-1]), len(sums))


def run_sample_from_datasets(node):
    inputs, weights = node.inputs, node.args.get("weights")
    varying = isinstance(weights, Node)
    if weights is None:
        weights = [1.0] * len(inputs)
    if isinstance(weights, list):
        kept = [(i, w) for i, w in zip(inputs, weights) if w > 0]
        inputs, weights = [i for i, _ in kept], [w for _, w in kept]
        if not inputs:
            return
    if isinstance(weights, Tensor):
        weights = weights.data
    if len(inputs) == 1 and not varying:
        yield from run(inputs[0])
        return
    stream = words(*pair_of(node))

    def draws():
        for row in run(weights) if varying else itertools.repeat(None):
            seeds = next(stream), next(stream)
            yield row if isinstance(row, Error) else multinomial(row.data if varying else weights, *seeds)

    yield from directed(draws(), [run(i) for i in inputs], node.arg("stop_on_empty_dataset", False))


def begin(node):
    """Draws the seeds that opening an iterator draws, for the operators here too."""
    if node.op == "choose_from_datasets":
        begin(node.args["choice_dataset"])
    if node.op == "random" or (node.op == "sample_from_datasets" and len(node.inputs) > 1):
        pair_of(node)
    others(node)


others, model.begin = model.begin, begin

OPERATORS["interleave"] = (run_interleave, ["map_func", "cycle_length", "block_length", "num_parallel_calls", "deterministic"])
OPERATORS["parallel_interleave"] = (
    run_parallel_interleave,
    ["map_func", "cycle_length", "block_length", "sloppy", "buffer_output_elements", "prefetch_input_elements", "num_parallel_calls"],
)
OPERATORS["random"] = (run_random, ["seed", "rerandomize_each_iteration"])
OPERATORS["counter"] = (run_counter, ["start", "step", "dtype"])
OPERATORS["choose_from_datasets"] = (run_choose_from_datasets, ["choice_dataset", "stop_on_empty_dataset"])
OPERATORS["sample_from_datasets"] = (
    run_sample_from_datasets,
    ["weights", "seed", "stop_on_empty_dataset", "rerandomize_each_iteration"],
)

if __name__ == "__main__":
    sys.exit(model.compare(sys.argv[1]) != 0)
