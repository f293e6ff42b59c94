"""``tf.random``: samplers of candidate classes, for losses that look at few of many classes.

TensorFlow's numbers for a seed. The library draws them, from where a stream stands; where that is is kept here, for a
function that was traced at the place of the call.
"""

import collections
import csv
import functools

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat._graph.ops import call
from leat.errors import InvalidArgumentError
from leat.random.philox import seeds, state_of

__all__ = ["all_candidate_sampler", "fixed_unigram_candidate_sampler", "learned_unigram_candidate_sampler",
           "log_uniform_candidate_sampler", "uniform_candidate_sampler"]

_UNIFORM, _LOG_UNIFORM, _LEARNED, _WEIGHTED, _ALL = range(5)  # of the operation candidate_sample
_BLOCKS = 256  # that are reserved for half of a class
_NO_TABLE = convert_to_tensor(np.zeros((0, 0)))

Samples = collections.namedtuple("Samples", "sampled_candidates true_expected_count sampled_expected_count")


@functools.lru_cache(maxsize=16)
def _walker(weights):
    """Of weights by Walker's method, a row each: the weights, shares and the classes that have the rest."""
    count = len(weights)
    given = np.asarray(weights, np.float32)
    total = np.float32(0)
    for one in given:
        total += one
    shares = (given / total * np.float32(count)).astype(np.float64)
    others = np.full(count, -1.)
    high, low = (np.flatnonzero(found).tolist() for found in (shares > 1, shares < 1))
    while high and low:
        light, heavy = low.pop(), high.pop()
        others[light] = heavy
        shares[heavy] -= 1 - shares[light]
        if shares[heavy] < 1:
            low.append(heavy)
        elif shares[heavy] > 1:
            high.append(heavy)
    shares[[*high, *low]] = 1
    return convert_to_tensor(np.stack([given.astype(np.float64), shares, others]))


@functools.lru_cache(maxsize=4)
def _ones(count):
    return convert_to_tensor(np.ones((1, count)))


class _Sampler:
    """A stream that goes on from call to call, each of which reserves a part of it."""

    def __init__(self, attributes, pair, table):
        self._attributes, self._pair, self._place, self._table = attributes, pair, 0, table
        self._counts = None  # how often each class was a true one, and one more; None: none was
        if attributes["kind"] == _LEARNED:
            self._table = _ones(attributes["range"])

    def __call__(self, true, last=False):
        stream = convert_to_tensor(np.array([*self._pair, self._place], np.int64))
        self._place += 2 * self._attributes["count"] * _BLOCKS
        table = self._table if self._counts is None else convert_to_tensor(self._counts)
        out = call("candidate_sample", self._attributes, [true, stream, table])
        if self._attributes["kind"] == _LEARNED and not last:
            if self._counts is None:
                self._counts = np.ones((1, self._attributes["range"]))
            np.add.at(self._counts[0], true.numpy().reshape(-1), 1)
        return out


def _run(kind, size, true_classes, num_true, num_sampled, unique, seed, table=_NO_TABLE):
    from leat._graph.creation import numpy_function
    true = convert_to_tensor(true_classes, dtypes.int64)
    if num_true < 1 or num_sampled < 1:
        raise ValueError("num_true and num_sampled must be at least 1.")
    if true.shape.rank not in (2, None) or true.shape.rank == 2 and true.shape[1] not in (None, num_true):
        raise InvalidArgumentError(None, None, "true_classes must have num_true columns, expected: "
                                   f"{num_true} was: {true.shape}")
    if unique and num_sampled > size:
        raise InvalidArgumentError(None, None, "Sampler's range is too small.")
    pair = seeds(seed)
    attributes = {"kind": kind, "count": int(num_sampled), "range": int(size), "unique": bool(unique)}

    def sampler():
        return _Sampler(attributes, pair, table)
    if true._has_values and not trace.is_tracing():
        key = (kind, *pair, num_true, num_sampled, unique, size, id(table))
        return Samples(*(sampler()(true, True) if seed is None else state_of(key, sampler)(true)))
    draw = sampler()
    outputs = numpy_function(lambda classes: [one.numpy() for one in draw(convert_to_tensor(classes))], [true],
                             [dtypes.int64, dtypes.float32, dtypes.float32])
    for one, shape in zip(outputs, ([num_sampled], true.shape, [num_sampled])):
        one.set_shape(shape)
    return Samples(*outputs)


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """(classes below `range_max`, each as likely, expected counts of the true ones, of these)
    (``tf.random.uniform_candidate_sampler``)."""
    return _run(_UNIFORM, range_max, true_classes, num_true, num_sampled, unique, seed)


def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """The same, of classes that are rarer the larger they are (``tf.random.log_uniform_candidate_sampler``)."""
    return _run(_LOG_UNIFORM, range_max, true_classes, num_true, num_sampled, unique, seed)


def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """The same, of classes as likely as they were true so far (``tf.random.learned_unigram_candidate_sampler``)."""
    return _run(_LEARNED, range_max, true_classes, num_true, num_sampled, unique, seed)


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None,
                                    name=None):
    """The same, of classes with weights to the power of `distortion`: those of `unigrams`, or of the last column of a
    file (``tf.random.fixed_unigram_candidate_sampler``)."""
    if bool(vocab_file) == bool(unigrams):
        raise InvalidArgumentError(None, None, "Must provide either vocab_file or unigrams, but not both.")
    weights = list(unigrams) or _weights_of(vocab_file)
    if distortion != 1:
        weights = [float(np.float32(one) ** np.float32(distortion)) for one in weights]
    weights = [0.0] * num_reserved_ids + weights
    weights = weights[shard::num_shards]
    if len(weights) != range_max and num_shards == 1:
        raise InvalidArgumentError(None, None, f"range_max is {range_max}, but there are {len(weights)} weights")
    return _run(_WEIGHTED, len(weights), true_classes, num_true, num_sampled, unique, seed, _walker(tuple(weights)))


def _weights_of(path):
    with open(path, newline="") as file:
        return [float(row[-1]) for row in csv.reader(file) if row]


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes, each expected once (``tf.random.all_candidate_sampler``)."""
    return _run(_ALL, num_sampled, true_classes, num_true, num_sampled, unique, seed)
