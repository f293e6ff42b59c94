"""``tf.random``: samplers of candidate classes, for losses that look at few of many classes.

TensorFlow's numbers for a seed. Python draws them, also for functions that were traced, where a call site has a stream
of its own.
"""

import collections
import csv
import math

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat.errors import InvalidArgumentError
from leat.random.philox import Stream, seeds, state_of

__all__ = ["all_candidate_sampler", "fixed_unigram_candidate_sampler", "learned_unigram_candidate_sampler",
           "log_uniform_candidate_sampler", "uniform_candidate_sampler"]


# ---- distributions: draw(stream), and probability(class) ----

class _Uniform:
    def __init__(self, count):
        self._count = count

    def draw(self, stream):
        return stream.below(self._count, wide=True)

    def probability(self, classes):
        return np.full(classes.shape, 1 / self._count, np.float32)


class _LogUniform:
    def __init__(self, count):
        self._count, self._log = count, math.log1p(count)

    def draw(self, stream):
        return (int(math.exp(stream.double() * self._log)) - 1) % self._count

    def probability(self, classes):
        return (np.log((classes + 2.0) / (classes + 1.0)) / self._log).astype(np.float32)


class _Learned:
    """Counts of the true classes that were met, each one more than that."""

    def __init__(self, count):
        self._counts = np.ones(count, np.int64)

    def draw(self, stream):
        place = stream.below(int(self._counts.sum()))
        return int(np.searchsorted(np.cumsum(self._counts), place, side="right"))

    def probability(self, classes):
        return self._counts[classes].astype(np.float32) / np.float32(self._counts.sum())

    def learn(self, classes):
        np.add.at(self._counts, classes.reshape(-1), 1)


class _Weighted:
    """Weights, by Walker's method: a class for each place, or another one above a border."""

    def __init__(self, weights):
        count = len(weights)
        self._weights = np.asarray(weights, np.float32)
        total = np.float32(0)
        for one in self._weights:
            total += one
        self._total = total
        self._borders = (self._weights / total * np.float32(count)).astype(np.float64)
        self._others = [-1] * count
        high = [i for i in range(count) if self._borders[i] > 1]
        low = [i for i in range(count) if self._borders[i] < 1]
        self._shares = self._borders.copy()
        while high and low:
            light, heavy = low.pop(), high.pop()
            self._others[light] = heavy
            self._shares[heavy] -= 1 - self._shares[light]
            if self._shares[heavy] < 1:
                low.append(heavy)
            elif self._shares[heavy] > 1:
                high.append(heavy)
        for place in [*high, *low]:
            self._shares[place] = 1

    def draw(self, stream):
        share = stream.float()
        place = stream.below(len(self._others))
        return place if share < np.float32(self._shares[place]) else self._others[place]

    def probability(self, classes):
        return self._weights[classes] / self._total


# ---- sampling ----

Samples = collections.namedtuple("Samples", "sampled_candidates true_expected_count sampled_expected_count")


def _sample(distribution, stream, true, count, unique):
    """(classes, expected counts of the true ones, of the sampled ones)."""
    sampled, used, tries = [], set(), 0
    while len(sampled) < count:
        tries += 1
        drawn = distribution.draw(stream)
        if not unique or drawn not in used:
            used.add(drawn)
            sampled.append(drawn)
    sampled = np.array(sampled, np.int64)

    def expected(classes):
        share = distribution.probability(classes)
        if tries == count:
            return (share * np.float32(count)).astype(np.float32)
        return -np.expm1(np.float32(tries) * np.log1p(-share))
    out = sampled, expected(true), expected(sampled)
    if hasattr(distribution, "learn"):
        distribution.learn(true)
    return out


_BLOCKS = 256  # that are reserved for half of a class


class _Sampler:
    """A stream that goes on from call to call, each of which reserves a part of it."""

    def __init__(self, make, pair, count, unique):
        self._distribution, self._pair, self._place = make(), pair, 0
        self._count, self._unique = count, unique

    def __call__(self, true):
        stream = Stream(*self._pair, self._place)
        self._place += 2 * self._count * _BLOCKS
        return _sample(self._distribution, stream, true, self._count, self._unique)


def _run(kind, make, size, true_classes, num_true, num_sampled, unique, seed):
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

    def sampler():
        return _Sampler(make, pair, num_sampled, unique)
    if true._has_values and not trace.is_tracing():
        classes = true.numpy()
        _want_inside(classes, size)
        key = (kind, *pair, num_true, num_sampled, unique, size)
        outputs = (sampler() if seed is None else state_of(key, sampler))(classes)
        sampled, true_counts, sampled_counts = map(convert_to_tensor, outputs)
    else:
        draw = sampler()

        def compute(classes):
            _want_inside(classes, size)
            return draw(classes)
        sampled, true_counts, sampled_counts = numpy_function(compute, [true], [dtypes.int64, dtypes.float32,
                                                                                dtypes.float32])
        sampled.set_shape([num_sampled])
        true_counts.set_shape(true.shape)
        sampled_counts.set_shape([num_sampled])
    return Samples(sampled, true_counts, sampled_counts)


def _want_inside(classes, size):
    if classes.size and not (0 <= classes.min() and classes.max() < size):
        raise InvalidArgumentError(None, None, f"expected true classes from 0 to {size - 1}, found {classes.min()} to "
                                   f"{classes.max()}")


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """(classes below `range_max`, each as likely, expected counts of the true ones, of these)
    (``tf.random.uniform_candidate_sampler``)."""
    return _run("uniform", lambda: _Uniform(range_max), range_max, true_classes, num_true, num_sampled, unique, seed)


def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """The same, of classes that are rarer the larger they are (``tf.random.log_uniform_candidate_sampler``)."""
    return _run("log uniform", lambda: _LogUniform(range_max), range_max, true_classes, num_true, num_sampled, unique,
                seed)


def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """The same, of classes as likely as they were true so far (``tf.random.learned_unigram_candidate_sampler``)."""
    return _run("learned", lambda: _Learned(range_max), range_max, true_classes, num_true, num_sampled, unique, seed)


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None,
                                    name=None):
    """The same, of classes with weights to the power of `distortion`: those of `unigrams`, or of the last column of a
    file (``tf.random.fixed_unigram_candidate_sampler``)."""
    if bool(vocab_file) == bool(unigrams):
        raise InvalidArgumentError(None, None, "Must provide either vocab_file or unigrams, but not both.")
    weights = list(unigrams) or _weights_of(vocab_file)
    weights = [0.0] * num_reserved_ids + [float(np.float32(one) ** np.float32(distortion)) for one in weights]
    weights = weights[shard::num_shards]
    if len(weights) != range_max and num_shards == 1:
        raise InvalidArgumentError(None, None, f"range_max is {range_max}, but there are {len(weights)} weights")
    key = f"fixed {weights}"
    return _run(key, lambda: _Weighted(weights), range_max, true_classes, num_true, num_sampled, unique, seed)


def _weights_of(path):
    with open(path, newline="") as file:
        return [float(row[-1]) for row in csv.reader(file) if row]


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes, each expected once (``tf.random.all_candidate_sampler``)."""
    class All:
        """One class behind the other."""

        def __init__(self):
            self._next = -1

        def draw(self, stream):
            self._next = (self._next + 1) % num_sampled
            return self._next

        def probability(self, classes):
            return np.full(classes.shape, 1 / num_sampled, np.float32)
    return _run("all", All, num_sampled, true_classes, num_true, num_sampled, unique, seed)
