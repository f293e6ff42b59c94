"""Python's control flow over tensors in functions that are traced."""

import functools
import traceback

import pytest

import leat as tf

Dataset = tf.data.Dataset


pytestmark = pytest.mark.usefixtures("traced")


def early(x):
    if x > 3:
        return x * 10
    if x % 2 == 0:
        return -x
    return x


def jumps(n):
    s = tf.constant(0, tf.int64)
    i = tf.constant(0, tf.int64)
    while i < n:
        i += 1
        if i == 2:
            continue
        if i > 4:
            break
        s = s + i
    return s


def counts(n):
    s = tf.constant(0, tf.int64)
    for i in range(n):
        t = i * 2
        s += t
    return s


def returns_from_a_loop(n):
    for i in range(n):
        if i * i > 5:
            return i
    return n + 100


def rows(x):
    total = tf.constant(0, tf.int64)
    for row in tf.stack([x, x + 1, x + 2]):
        if row % 2 == 0:
            total += row
    return total


def helper(x):
    if x > 2:
        y = x
    else:
        y = x + 10
    return y


def closed(k):
    def inner(x):
        if x > k:
            return x
        return tf.constant(0, tf.int64)
    return inner


class Adds:
    def __init__(self, k):
        self.k = k

    def method(self, x, y=3):
        if x > self.k:
            return x + y
        else:
            return x

    def __call__(self, x):
        return self.method(x) if x < 4 else x


def with_more(a, b, x):
    if x > 1:
        return a + x
    return b * x


def plain(x, flag=True):
    if flag:
        kept = []
        for i in [1, 2, 3]:
            kept.append(x + i)
        return kept[0]
    raise ValueError


def breaks_out_of_a_list(x):
    s = x
    for i in [1, 2, 3]:
        if s > 5:
            break
        s = s + i
    return s


def asserts(x):
    assert x < 10, "large"
    return x


def defines(x):
    def inner(a, b=2):
        if a > 2:
            return a * b
        return a
    z = inner(x)
    return z


def nested(n):
    s = tf.constant(0, tf.int64)
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            s += 1
    return s


@pytest.mark.parametrize("function, expected", [
    (early, [0, 1, -2, 3, 40, 50]), (jumps, [0, 1, 1, 4, 8, 8]), (counts, [0, 0, 2, 6, 12, 20]),
    (returns_from_a_loop, [100, 101, 102, 103, 3, 3]), (rows, [2, 2, 6, 4, 10, 6]),
    (lambda x: x if x > 2 and not x > 4 else -x, [0, -1, -2, 3, 4, -5]),
    (lambda x: 1 if 1 < x < 4 else 0, [0, 0, 1, 1, 0, 0]),
    (lambda x: 1 if x in (2, 3) else 0, [0, 0, 1, 1, 0, 0]), (lambda x: helper(x) + 1, [11, 12, 13, 4, 5, 6]),
    ((lambda x: 1 if x > 1 else 0, lambda x: 2 if x > 1 else 5)[1], [5, 5, 2, 2, 2, 2]),
    (closed(2), [0, 0, 0, 3, 4, 5]), (Adds(2).method, [0, 1, 2, 6, 7, 8]), (Adds(2), [0, 1, 2, 6, 4, 5]),
    (functools.partial(with_more, 1, 2), [0, 2, 3, 4, 5, 6]), (plain, [1, 2, 3, 4, 5, 6]),
    (breaks_out_of_a_list, [6, 7, 8, 6, 7, 6]), (asserts, [0, 1, 2, 3, 4, 5]), (defines, [0, 1, 2, 6, 8, 10]),
    (nested, [0, 0, 1, 3, 5, 7]), (tf.function(early), [0, 1, -2, 3, 40, 50]),
])
def test_values(function, expected):
    assert list(Dataset.range(6).map(function).as_numpy_iterator()) == expected


def test_shapes_that_change_are_said_by_loop_options():
    def grow(n):
        row = tf.constant([7], tf.int64)
        for i in range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(row, tf.TensorShape([None]))])
            row = tf.concat([row, [i]], 0)
        return row
    found = Dataset.range(3).map(grow).as_numpy_iterator()
    assert [row.tolist() for row in found] == [[7], [7, 0], [7, 0, 1]]


def in_one_branch(x):
    if x > 1:
        y = x
    return y


def of_two_dtypes(x):
    if x > 1:
        y = x
    else:
        y = 1.5
    return y


def of_two_structures(x):
    if x > 1:
        y = (x, x)
    else:
        y = x
    return y


def in_no_branch(x):
    if x > 1:
        return x


def loop_of_two_dtypes(x):
    y = x
    while y < 5:
        y = tf.cast(y, tf.float32)
    return y


def loop_of_two_shapes(x):
    y = tf.constant([1], tf.int64)
    for i in range(x):
        y = tf.concat([y, [i]], 0)
    return y


@pytest.mark.parametrize("function, kind, text", [
    (in_one_branch, ValueError, "'y'"),
    (of_two_dtypes, TypeError, "float32"),
    (of_two_structures, TypeError, "structure"),
    (in_no_branch, ValueError, "return"),
    (loop_of_two_dtypes, TypeError, "iteration"),
    (loop_of_two_shapes, ValueError, r"\(1,\)"),
])
def test_errors_name_the_variable(function, kind, text):
    with pytest.raises(kind, match=text):
        Dataset.range(3).map(function)


def test_lines_are_the_users():
    def refuse(x):
        if x > 1:
            return unknown  # noqa: F821
        return x
    with pytest.raises(NameError) as caught:
        Dataset.range(3).map(refuse)
    last = traceback.extract_tb(caught.tb)[-1]
    assert last.filename == __file__ and last.line.startswith("return unknown")


def test_what_is_not_to_be_converted_is_not(monkeypatch):
    announced = []
    monkeypatch.setattr(tf._graph.trace, "announce", lambda function, what, reason: announced.append(str(reason)))
    made = Dataset.range(6).map(tf.autograph.experimental.do_not_convert(early))
    assert list(made.as_numpy_iterator()) == [0, 1, -2, 3, 40, 50]
    assert len(announced) == 1 and "truth" in announced[0]


def test_graphs_of_functions():
    assert tf.autograph.to_graph(early)(7) == 70
    assert "if_(" in tf.autograph.to_code(early)
