"""Datasets, iterators and optionals in functions that are traced. Expected values are TensorFlow's 2.21."""

import gc
import threading
import weakref

import pytest

import leat as tf

pytestmark = pytest.mark.usefixtures("traced")

Dataset = tf.data.Dataset
five = Dataset.range(5)
pairs = Dataset.from_tensor_slices(({"a": [1, 2, 3, 4], "b": [1., 2., 3., 4.]}, [10, 20, 30, 40]))


def zero():
    return tf.constant(0, tf.int64)


def long(value):
    return tf.constant(value, tf.int64)


def total(n):
    s = zero()
    for x in five:
        s += x
    return s + n - n


def breaks(n):
    s = zero()
    for x in five:
        if x >= n:
            break
        s += x
    return s


def continues(n):
    s = zero()
    for x in five:
        if x == n:
            continue
        s = s * 10 + x
    return s


def ends(n):
    s = zero()
    for x in five:
        if x > n:
            break
        s = s * 10 + x
    else:
        s = -s
    return s


def returns(n):
    for x in five:
        if x * x > n:
            return x
    return long(-1)


def nested(n):
    s = zero()
    for x in five:
        for y in Dataset.range(x):
            if y == n:
                break
            s += y
    return s


def numbered(n):
    s = zero()
    for i, x in enumerate(five.skip(1), n):
        s += i * x
    return s


def together(n):
    s = n
    for a, (b, c) in zip(five, zip(five.skip(1), five.skip(2))):
        s += a * b * c
    return s


def last(n):
    x = n
    for x in five:
        pass
    return x


def grows(n):
    s = tf.zeros([0], tf.int64)
    for x in five:
        s = tf.concat([s, [x + n]], 0)
    return s


def written(n):
    rows, i = tf.TensorArray(tf.int64, 0, dynamic_size=True), 0
    for x in five:
        rows = rows.write(i, x * n)
        i += 1
    return rows.stack()


def chosen(n):
    s = zero()
    if n > 1:
        for x in five:
            s += x
    return s


def reduced(n):
    return five.reduce(zero(), lambda s, x: s + x * n)


def reduced_growing(n):
    return five.reduce(tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x * n]], 0))


def reduced_structure(n):
    out = pairs.reduce({"n": 0, "s": 0.0}, lambda s, e: {"n": s["n"] + e[1], "s": s["s"] + e[0]["b"]})
    return tf.cast(out["n"], tf.int64) + tf.cast(out["s"], tf.int64) * n


def inner(n):
    return Dataset.range(n).reduce(zero(), lambda s, y: s * n + y)


def single(n):
    return Dataset.range(n).batch(9).get_single_element()


def optional(n):
    s = n
    it = iter(five.take(1))
    for _ in tf.range(2):
        found = it.get_next_as_optional()
        if found.has_value():
            s += found.get_value() + 100
    return s


def nexts(n):
    it = iter(five)
    return next(it) + next(it) * 10 + n - n


def rest(n):
    it = iter(five)
    s = next(it) + n
    for x in it:
        s = s * 10 + x
    return s


PROGRAMS = [
    (total, [2], [10]), (breaks, [3, 9], [3, 10]), (continues, [3], [124]), (ends, [2, 9], [12, -1234]),
    (returns, [3, 90], [2, -1]), (nested, [1, 9], [0, 10]), (numbered, [0, 10], [20, 120]), (together, [0], [30]),
    (last, [7], [4]), (grows, [1], [[1, 2, 3, 4, 5]]), (written, [2], [[0, 2, 4, 6, 8]]), (chosen, [1, 2], [0, 10]),
    (reduced, [3], [30]), (reduced_growing, [2], [[0, 2, 4, 6, 8]]), (reduced_structure, [1], [110]),
    (inner, [3], [5]), (single, [3], [[0, 1, 2]]), (optional, [1], [101]), (nexts, [0], [10]), (rest, [0], [1234]),
]


@pytest.mark.parametrize("function, arguments, expected", PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
def test_in_functions(function, arguments, expected):
    traced = tf.function(function)
    for _ in range(2):
        assert [traced(long(n)).numpy().tolist() for n in arguments] == expected
    assert traced.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("function, arguments, expected", PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
def test_in_pipelines(function, arguments, expected):
    dataset = Dataset.from_tensor_slices(arguments).map(lambda n: function(tf.cast(n, tf.int64)))
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == expected


def test_windows():
    def largest(w):
        m = long(-1)
        for y in w:
            m = tf.maximum(m, y)
        return m
    windows = Dataset.range(7).window(3)
    assert list(windows.map(largest).as_numpy_iterator()) == [2, 5, 6]
    assert list(windows.map(lambda w: w.reduce(zero(), lambda s, y: s * 10 + y)).as_numpy_iterator()) == [12, 345, 6]
    groups = Dataset.range(10).group_by_window(
        lambda x: x % 2, lambda k, w: Dataset.from_tensors(w.reduce(k, lambda s, x: s * 10 + x)), window_size=3)
    assert list(groups.as_numpy_iterator()) == [24, 1135, 68, 179]


def test_effects_come_with_each_element():
    v, seen = tf.Variable(0, dtype=tf.int64), []

    @tf.function
    def f():
        for x in five.batch(2):
            seen.append(x)  # Python's effects: once, while it is traced
            v.assign_add(tf.reduce_sum(x))
    f()
    f()
    assert v.numpy() == 20 and len(seen) == 1


def test_training_loop():
    v = tf.Variable(1.0)

    @tf.function
    def epoch():
        for x in pairs:
            with tf.GradientTape() as tape:
                loss = v * v * x[0]["b"]
            v.assign_sub(0.01 * tape.gradient(loss, v))
        return v.read_value()
    assert epoch().numpy() == pytest.approx(0.81360377)


def test_a_shuffle_is_drawn_anew():
    dataset = Dataset.range(100).shuffle(100)

    @tf.function
    def f():
        a = dataset.reduce(zero(), lambda s, x: s * 7 + x)
        return a, dataset.reduce(zero(), lambda s, x: s * 7 + x)

    @tf.function
    def over(given):
        return given.reduce(zero(), lambda s, x: s * 7 + x), given.reduce(zero(), lambda s, x: s * 7 + x)
    values = [int(x) for pair in (f(), f(), over(dataset)) for x in pair]
    assert len(set(values)) == 6


def test_dataset_arguments_share_a_trace():
    @tf.function
    def f(dataset):
        return dataset.reduce(zero(), lambda s, x: s + x)
    assert [int(f(five)), int(f(Dataset.range(3)))] == [10, 3]
    assert f.experimental_get_tracing_count() == 1


def test_iterator_arguments_share_a_trace():
    @tf.function
    def f(it, steps):
        s = zero()
        for _ in tf.range(steps):
            s += next(it)
        return s
    it = iter(five)
    assert [int(f(it, tf.constant(2))), int(f(it, tf.constant(2))), int(f(iter(five), tf.constant(5)))] == [1, 5, 10]
    assert f.experimental_get_tracing_count() == 1
    gone = weakref.ref(it)
    del it
    gc.collect()
    assert gone() is None


def test_captured_iterator():
    it = iter(five)

    @tf.function
    def f():
        return next(it), it.get_next()
    assert [int(x) for pair in (f(), f()) for x in pair] == [0, 1, 2, 3]
    with pytest.raises(tf.errors.OutOfRangeError, match="sequence"):
        f()


def test_optionals_end():
    @tf.function
    def f(it):
        s, more = zero(), tf.constant(True)
        while more:
            found = it.get_next_as_optional()
            more = found.has_value()
            if more:
                s += found.get_value()
        return s

    @tf.function
    def value(it):
        return it.get_next_as_optional().get_value()
    assert f(iter(five)).numpy() == 10
    with pytest.raises(tf.errors.InvalidArgumentError, match="optional"):
        value(iter(five.take(0)))


def test_iterators_of_threads():
    @tf.function
    def f():
        it = iter(Dataset.range(1000))
        s = zero()
        for x in it:
            s += x
        return s
    f()
    found = []
    threads = [threading.Thread(target=lambda: found.extend(int(f()) for _ in range(3))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [499500] * 12


def test_single_elements_fail():
    @tf.function
    def f(dataset):
        return dataset.get_single_element()
    with pytest.raises(tf.errors.InvalidArgumentError, match="one"):
        f(five)
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
        f(five.take(0))


def test_failures():
    @tf.function
    def f():
        s = zero()
        for x in five:
            s += 6 // (x - 4)
        return s

    @tf.function
    def g():
        return five.reduce(zero(), lambda s, x: (s, x))

    @tf.function
    def h():
        return five.reduce(0, lambda s, x: x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\b4\b") as caught:
        f()
    assert caught.value.reason == "VALUE"
    with pytest.raises(TypeError, match="classes"):
        g()
    with pytest.raises(TypeError, match="types"):
        h()
