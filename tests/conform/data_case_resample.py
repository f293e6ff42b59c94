"""The slow model of rejection_resample: an addition to data_case_model.py's tables.

Where the input draws seeds when it is opened, or where one iterator runs through several epochs, the cases are recorded ones.
`data_case_resample.py FOLDER` compares the model with the cases recorded from TensorFlow in FOLDER/tfdata.
"""
import itertools
import struct
import sys

import data_case_model as model
from data_case_mixes import directed, multinomial, pair_of
from data_case_model import FUNCTIONS, OPERATORS, Error, call, number, philox, plain, run, scalar, words

FUNCTIONS["mod_2_int32"] = lambda x: scalar(number(x) % 2, "int32")
FUNCTIONS["mod_2_of_first"] = lambda a, b: scalar(number(a) % 2)
TINY = 2.0**-126


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def probabilities(initial, target):
    """Of acceptance by class, and of the untouched copy."""
    ratio = [single(t / single(i + TINY)) for t, i in zip(target, initial)]
    least, most = min(ratio), max(ratio)
    return [single(single(r - least) / single(most - least)) for r in ratio], least


def uniforms(pair):
    """One number of [0, 1) per call of a kernel that reserves 256 blocks each time."""
    for block in itertools.count(0, 256):
        word = philox((pair[0], 0), (block & 0xFFFFFFFF, block >> 32, pair[1], 0))[0]
        yield struct.unpack("f", struct.pack("I", 0x3F800000 | word & 0x7FFFFF))[0] - 1


def with_classes(node, rows):
    """(class, element), or an error."""
    for outcome in rows:
        try:
            if isinstance(outcome, Error):
                raise outcome
            yield call(FUNCTIONS, node.args["class_func"], outcome), outcome
        except Error as error:
            yield error


def estimates(node, classes):
    """The distribution for each element, as it was known with its batch of 32."""
    seen = [10] * classes
    for batch in run(plain("batch", [plain("map", node.inputs, map_func=node.args["class_func"])], batch_size=32)):
        if isinstance(batch, Error):
            yield batch
            continue
        for c in batch.data:
            if 0 <= c < classes:
                seen[c] += 1
        yield from [[single(s / sum(seen)) for s in seen]] * 32


def in_step(distributions, rows):
    """Pairs of a distribution and an element; either one's error stands for both."""
    for distribution in distributions:
        outcome = next(rows, None)
        if isinstance(distribution, Error):
            yield distribution
        elif outcome is not None:
            yield outcome if isinstance(outcome, Error) else (distribution, outcome)
        if outcome is None:
            return


def kept(node, distributions, target):
    draws = uniforms(pair_of(node))
    for pair in in_step(distributions, run(node.inputs[0])):
        outcome = pair if isinstance(pair, Error) else next(with_classes(node, [pair[1]]))
        if isinstance(outcome, Error):
            yield outcome
        elif not 0 <= outcome[0].data[0] < len(target):
            yield Error()
        elif next(draws) < probabilities(pair[0], target)[0][outcome[0].data[0]]:
            yield outcome


def run_rejection_resample(node):
    target = [single(x) for x in node.args["target_dist"].data]
    given = node.arg("initial_dist")
    original = with_classes(node, run(node.inputs[0]))
    if given is None:
        distributions = lambda: estimates(node, len(target))  # noqa: E731
        ratio = None
    else:
        initial = [single(x) for x in given.data]
        distributions = lambda: itertools.repeat(initial)  # noqa: E731
        ratio = min(single(t / i) for t, i in zip(target, initial))
    if ratio == 1:
        yield from original
        return
    if ratio == 0:
        yield from kept(node, distributions(), target)
        return
    stream = words(*pair_of(node))

    def draws():
        for distribution in distributions():
            seeds = next(stream), next(stream)
            if isinstance(distribution, Error):
                yield distribution
            else:
                untouched = probabilities(distribution, target)[1]
                yield multinomial([untouched, single(1 - untouched)], *seeds)

    yield from directed(draws(), [original, kept(node, distributions(), target)], True)


OPERATORS["rejection_resample"] = (run_rejection_resample, ["class_func", "target_dist", "initial_dist", "seed"])

if __name__ == "__main__":
    sys.exit(model.compare(sys.argv[1]) != 0)
