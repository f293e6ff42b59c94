"""Operators with functions of their own inside functions that are traced, with values of the function around them.

Each program is a dataset made of range(10) and a number: at the top with 1, in flat_map with 1 and 2, and as the number
of its elements in a tf.function with 2. Expected are TensorFlow's 2.21 elements.
"""

import pytest

import leat as tf

pytestmark = pytest.mark.usefixtures("traced")

Dataset = tf.data.Dataset
PROGRAMS = []


def program(expected):
    def add(function):
        PROGRAMS.append((function, expected))
        return function
    return add


def zero():
    return tf.constant(0, tf.int64)


def elements(dataset):
    return [tf.nest.map_structure(lambda value: value.tolist() if hasattr(value, "tolist") else value, element)
            for element in dataset.as_numpy_iterator()]


@program(([0, 0, 1, 3, 6, 10, 15, 21, 28, 36],
          [0, 0, 1, 3, 6, 10, 15, 21, 28, 36, 0, 0, 2, 6, 12, 20, 30, 42, 56, 72], 10))
def scan(d, x):
    return d.scan(zero(), lambda s, e: (s + e * x, s))


@program(([0, 1, 2], [0, 1, 2, 0, 1, 2], 3))
def scan_shape(d, x):
    return d.take(3).scan(tf.zeros([0], tf.int64), lambda s, e: (tf.concat([s, [e * x]], 0), tf.size(s)))


@program(([1, 0, 1, 1, 3, 4, 7, 9, 13, 16], [1, 0, 1, 1, 3, 4, 7, 9, 13, 16, 2, 0, 2, 1, 4, 4, 8, 9, 14, 16], 10))
def scan_dict(d, x):
    return d.scan({"a": x, "b": zero()}, lambda s, e: ({"a": s["b"], "b": s["a"] + e}, s["a"]))


@program(([0, 1, 2], [0, 1, 2, 0, 1, 2, 3, 4, 5], 6))
def take_while(d, x):
    return d.take_while(lambda e: e < 3 * x)


@program(([0, 2, 4, 6, 8], [0, 2, 4, 6, 8, 0, 3, 6, 9], 4))
def filter(d, x):
    return d.filter(lambda e: e % (x + 1) == 0)


@program(([[0, 2], [101, 103], [4, 6], [105, 107], [8], [109]],
          [[0, 2], [101, 103], [4, 6], [105, 107], [8], [109], [0, 3], [201, 204], [402, 405], [6, 9], [207],
           [408]],
          6))
def group_by_window(d, x):
    return d.group_by_window(lambda e: e % (x + 1), lambda k, w: w.map(lambda v: v + k * 100 * x).batch(2),
                    window_size=2)


@program(([[0, 2], [1, 3, 5], [4, 6], [8], [7, 9]],
          [[0, 2], [1, 3, 5], [4, 6], [8], [7, 9], [0, 2, 4], [1, 3, 5, 7], [6, 8], [9]], 4))
def group_by_window_func(d, x):
    return d.group_by_window(lambda e: e % 2, lambda k, w: w.batch(4), window_size_func=lambda k: k + 1 + x)


@program(([[[1, 1, 0], [2, 2, 2]], [[0], [4]], [[5, 5, 0], [6, 6, 6]], [[3, 3, 3, 3], [7, 7, 7, 7]], [[8]],
           [[9, 9]]],
          [[[1, 1, 0], [2, 2, 2]], [[0], [4]], [[5, 5, 0], [6, 6, 6]], [[3, 3, 3, 3], [7, 7, 7, 7]], [[8]],
           [[9, 9]], [[0, 0, 0], [1, 1, 1]], [[2, 2, 2, 2, 0], [3, 3, 3, 3, 3]], [[4, 4, 0], [5, 5, 5]],
           [[6, 6, 6, 6, 0], [7, 7, 7, 7, 7]], [[8, 8, 0], [9, 9, 9]]],
          5))
def bucket(d, x):
    return d.map(lambda e: tf.fill([e % 4 + x], e)).bucket_by_sequence_length(lambda e: tf.size(e), [2, 4], [2, 2, 2])


@program(([0, 0, 1, 0, 1, 2], [0, 0, 1, 0, 1, 2, 0, 0, 1, 1, 2, 0, 1, 2, 3], 9))
def interleave(d, x):
    return d.take(3).interleave(lambda e: Dataset.range(e + x), cycle_length=2)


@program(([0, 0, 1, 0, 1, 2], [0, 0, 1, 0, 1, 2, 0, 0, 1, 1, 2, 0, 1, 2, 3], 9))
def parallel_interleave(d, x):
    return d.take(3).interleave(lambda e: Dataset.range(e + x), cycle_length=2, num_parallel_calls=2)


@program(([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18], 10))
def batch_map(d, x):
    return d.batch(3).map(lambda e: e * x, num_parallel_calls=2).unbatch()


@program(([[[0, 0], [1, 0], [2, 2], [0, 0]], [[4, 0], [5, 5], [0, 0], [7, 0]], [[8, 8], [0, 0]]],
          [[[0, 0], [1, 0], [2, 2], [0, 0]], [[4, 0], [5, 5], [0, 0], [7, 0]], [[8, 8], [0, 0]],
           [[0, 0], [2, 0], [4, 4], [0, 0]], [[8, 0], [10, 10], [0, 0], [14, 0]], [[16, 16], [0, 0]]],
          3))
def padded(d, x):
    return d.map(lambda e: tf.fill([e % 3], e * x)).padded_batch(4)


@program(([([0, 1], [0, 1]), ([2, 3], [2, 3]), ([4, 5], [4, 5]), ([6, 7], [6, 7]), ([8, 9], [8, 9])],
          [([0, 1], [0, 1]), ([2, 3], [2, 3]), ([4, 5], [4, 5]), ([6, 7], [6, 7]), ([8, 9], [8, 9]),
           ([0, 2], [0, 1]), ([4, 6], [2, 3]), ([8, 10], [4, 5]), ([12, 14], [6, 7]), ([16, 18], [8, 9])],
          5))
def window_zip(d, x):
    return (Dataset.zip((d.map(lambda e: e * x), d))
            .window(4).flat_map(lambda a, b: Dataset.zip((a.batch(2), b.batch(2)))))


@program(([12, 123, 234, 345, 456, 567, 678, 789, 89, 9],
          [12, 123, 234, 345, 456, 567, 678, 789, 89, 9, 12, 234, 456, 678, 89], 5))
def window_reduce(d, x):
    return d.window(3, shift=x).map(lambda w: w.reduce(zero(), lambda s, e: s * 10 + e))


@program(([0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 0, 1, 2, 3], 4))
def unique(d, x):
    return d.map(lambda e: e // (x + 1)).unique()


@program(([0, 1, 0, 1], [0, 1, 0, 1, 0, 1, 2, 0, 1, 2], 6))
def cache_repeat(d, x):
    return d.take(x + 1).cache().repeat(2)


@program(([0, 0], [0, 0, 0, 1, 0, 1], 4))
def concat(d, x):
    return d.take(x).concatenate(Dataset.range(x))


@program(([(1, 0), (2, 1)], [(1, 0), (2, 1), (2, 0), (3, 1)], 2))
def enumerate(d, x):
    return d.take(2).enumerate(x)


@program(([2, 4, 6, 8], [2, 4, 6, 8, 3, 5, 7, 9], 4))
def skip_shard(d, x):
    return d.skip(x).shard(2, 1)


@program(([{"a": 1, "b": 1}, {"a": 2, "b": 2}],
          [{"a": 1, "b": 1}, {"a": 2, "b": 2}, {"a": 2, "b": 2}, {"a": 3, "b": 4}], 2))
def from_slices(d, x):
    return Dataset.from_tensor_slices({"a": [x, x + 1], "b": tf.stack([x, x * 2])})


@program(([0, 0, 1, -1, 2, -2], [0, 0, 1, -1, 2, -2, 0, 0, 1, -1, 2, -2], 6))
def choose(d, x):
    return Dataset.choose_from_datasets([d, d.map(lambda e: -e)], Dataset.range(2).repeat(3))


@program(([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]],
          [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9], [0, 1, 2], [3, 4, 5], [6, 7, 8], [9]], 4))
def rebatch(d, x):
    return d.batch(4).rebatch(3)


@program(([[[0], [0]], [[0, 1, 0], [0, 1, 2]]],
          [[[0], [0]], [[0, 1, 0], [0, 1, 2]], [[0], [0]], [[0, 1, 0], [0, 1, 2]]], 2))
def ragged(d, x):
    return d.take(4).map(lambda e: tf.range(e)).ragged_batch(2).map(lambda r: r.to_tensor())


@program(([[[0, 0, 0, 0], [0, 0, 0, 0]], [[0, 1, 0, 0], [0, 0, 0, 0]]],
          [[[0, 0, 0, 0], [0, 0, 0, 0]], [[0, 1, 0, 0], [0, 0, 0, 0]], [[0, 0, 0, 0], [0, 0, 0, 0]],
           [[0, 1, 0, 0], [0, 0, 0, 0]]],
          2))
def sparse(d, x):
    return (d.take(4).map(lambda e: tf.range(e % 3))
            .apply(tf.data.experimental.dense_to_sparse_batch(2, [4])).map(lambda s: tf.sparse.to_dense(s)))


@program(([20, 25], [20, 25, 40, 50], 2))
def group_by_reducer(d, x):
    r = tf.data.experimental.Reducer(lambda k: zero(), lambda s, e: s + e * x, lambda s: s)
    return d.apply(tf.data.experimental.group_by_reducer(lambda e: e % 2, r))


@program(([0, 0], [0, 0, 0, 0], 2))
def resample(d, x):
    return (d.rejection_resample(lambda e: tf.cast(e % 2, tf.int32), [1.0, 0.0], [0.5, 0.5], seed=1)
            .map(lambda c, e: c).take(2))


@program(([0], [0, 0, 1], 2))
def options(d, x):
    o = tf.data.Options()
    o.deterministic = True
    return d.with_options(o).take(x)


@program(([0], [0, 0, 1], 2))
def prefetch(d, x):
    return d.prefetch(2).take(x)


@program(([1, 1], [1, 1, 2, 2], 2))
def snapshot(d, x):
    return d.shuffle(10, seed=1).map(lambda e: x).take(2)


@program(([1, 3, 5], [1, 3, 5, 2, 4, 6], 3))
def counter(d, x):
    return Dataset.counter(start=x, step=2).take(3)


@program(([[1, 1], [1, 1]], [[1, 1], [1, 1], [2, 2], [2, 2]], 2))
def list(d, x):
    return Dataset.from_tensors([x, x]).repeat(2)


@pytest.mark.parametrize("build, expected", PROGRAMS, ids=[program[0].__name__ for program in PROGRAMS])
def test_programs(build, expected):
    @tf.function
    def count():
        n = tf.constant(0)
        for _ in build(Dataset.range(10), tf.constant(2, tf.int64)):
            n += 1
        return n
    at_top, inside, number = expected
    assert elements(build(Dataset.range(10), tf.constant(1, tf.int64))) == at_top
    assert elements(Dataset.range(1, 3).flat_map(lambda x: build(Dataset.range(10), x))) == inside
    assert int(count()) == number
