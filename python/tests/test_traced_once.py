"""Functions in loops and branches run in Python as often as TensorFlow's tracing runs them, whatever they use of the
function around them. What each test expects was printed by TensorFlow 2.21."""

import pytest

import leat as tf
from leat import keras


class Box:
    """What a function reads without mentioning it."""


box, log = Box(), []


def noted(what, value):
    log.append(what)
    return value


def loop(n):
    box.a, box.b, box.c = n * 2, n * 3, n * 5
    i, total = tf.constant(0), tf.constant(0)
    while i < box.a:
        log.append("body")
        total += box.b
        total += box.c
        i += 1
    return total


def nested(n):
    box.a, box.b, box.c = n * 2, n * 3, n + 7
    i, total = tf.constant(0), tf.constant(0)
    while i < n:
        log.append("outer")
        j = tf.constant(0)
        while j < box.a:
            log.append("inner")
            total += box.b
            if total > box.c:
                log.append("if")
                total -= box.a
            else:
                log.append("else")
                total += box.c
            j += 1
        i += 1
    return total


def over_dataset(n):
    box.a = tf.cast(n + 1, tf.int64)
    total = tf.constant(0, tf.int64)
    for k in tf.data.Dataset.range(5):
        log.append("k")
        total += k * box.a
    return total


def pipeline(n):
    box.a, box.b = tf.cast(n + 1, tf.int64), tf.cast(n * 4, tf.int64)
    mapped = tf.data.Dataset.range(5).map(lambda x: noted("m", x * box.a + box.b))
    return mapped.reduce(tf.constant(0, tf.int64), lambda total, x: noted("r", total + x * box.a))


def branches(n):
    box.a, box.b = n * 2, n * 3
    return tf.cond(n > 1, lambda: noted("t", box.a), lambda: noted("f", box.b + box.a))


def while_loop(n):
    box.a = n * 2
    return tf.while_loop(lambda i, total: noted("c", i < box.a),
                         lambda i, total: noted("b", (i + 1, total + box.a * n)), (0, tf.constant(0)))[1]


def switch(n):
    box.a, box.b = n * 2, n * 5
    return tf.switch_case(n, [lambda: noted(0, box.a), lambda: noted(1, box.b), lambda: noted(2, box.a + box.b)])


def case(n):
    box.a, box.b = n * 2, n * 5
    return tf.case([(n > 5, lambda: noted(0, box.a)), (n > 2, lambda: noted(1, box.b))],
                   default=lambda: noted(2, box.a - box.b))


def mapped(n):
    box.a = n * 2
    return tf.map_fn(lambda x: noted("m", x * box.a), tf.range(4))


def scanned(n):
    box.a = n * 2
    return tf.scan(lambda total, x: noted("s", total + x * box.a), tf.range(4))


def folded(n):
    box.a = n * 2
    return tf.foldr(lambda total, x: noted("s", total + x * box.a), tf.range(4))


def differentiated(n):
    x = tf.cast(n, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        box.a, box.b, y = x * 2.0, x + 1.0, x
        i = tf.constant(0)
        while i < 2:
            log.append("g")
            if y > 5.0:
                log.append("if")
                y = y * box.a
            else:
                log.append("else")
                y = y * box.b
            i += 1
    return tape.gradient(y, x)


def growing(n):
    box.a, rows = n, tf.zeros([0], tf.int32)
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(rows, tf.TensorShape([None]))])
        log.append("b")
        rows = tf.concat([rows, [i * box.a]], 0)
    return rows


def called(n):
    box.a = n * 2
    total = tf.constant(0)
    inner = tf.function(lambda x: noted("g", x + 1))
    for i in tf.range(3):
        log.append("b")
        total += inner(i) * box.a
    return total


def listed(n):
    box.a, seen = n, []
    for i in tf.range(3):
        seen.append(1)
        _ = i * box.a
    return tf.constant(len(seen))


def caught(n):
    box.a, total = n * 2, tf.constant(0)

    def add():
        try:
            return total + box.a
        except BaseException:
            log.append("caught")
            raise
    for _ in tf.range(3):
        total = add()
    return total


@pytest.mark.parametrize("function, value, calls", [
    (loop, 64, ["body"]), (nested, 29, ["outer", "inner", "if", "else"]), (over_dataset, 30, ["k"]),
    (pipeline, 210, ["m", "r"]), (branches, 4, ["t", "f"]), (while_loop, 32, ["c", "b"]), (switch, 14, [0, 1, 2]),
    (case, -6, [0, 1, 2]), (mapped, [0, 4, 8, 12], ["m"]), (scanned, [0, 4, 12, 24], ["s"]), (folded, 15, ["s"]),
    (differentiated, 32.0, ["g", "if", "else"]), (growing, [0, 2, 4], ["b"]), (called, 24, ["b", "g"]),
    (listed, 1, []), (caught, 12, []),
], ids=lambda value: getattr(value, "__name__", ""))
def test_python_runs_once(function, value, calls):
    log.clear()
    assert tf.function(function)(tf.constant(2)).numpy().tolist() == value
    assert log == calls


def test_rows_draw_numbers_of_their_own():
    """One operation with a seed, which draws for each row, and not one for each row, which would draw the same."""
    draw = tf.function(lambda x: tf.map_fn(lambda row: tf.random.uniform([], seed=1), x))
    assert len(set(draw(tf.zeros(8)).numpy().tolist())) == 8
    drawn = tf.data.Dataset.from_tensors(tf.zeros(8)).map(
        lambda x: tf.map_fn(lambda row: tf.random.uniform([], seed=1), x))
    assert len(set(next(drawn.as_numpy_iterator()).tolist())) == 8


def test_shapes_of_rows_are_known():
    @tf.function
    def shapes(x):
        outs = (tf.map_fn(tf.reduce_sum, x), tf.map_fn(lambda row: row[:2], x), tf.scan(lambda a, b: a + b, x),
                tf.vectorized_map(lambda row: row * 2, x), keras.ops.scan(lambda c, row: (c, row), x[0], x)[1])
        box.shapes = [out.shape.as_list() for out in outs]
        return outs
    shapes(tf.zeros([4, 3]))
    assert box.shapes == [[4], [4, 2], [4, 3], [4, 3], [4, 3]]


def test_rows_of_unknown_number_give_any_dtype():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def mapped(x):
        size = tf.shape(x)
        return tf.map_fn(lambda row: row > 1.5, x, fn_output_signature=tf.bool), tf.zeros(size, tf.bool), tf.ones(
            size, tf.bool)
    assert [one.numpy().tolist() for one in mapped([1.0, 2.0])] == [[False, True], [False, False], [True, True]]


def test_rows_of_several_tensors_are_as_many():
    for function in (tf.function, lambda function: function):
        with pytest.raises(ValueError, match="2"):
            function(lambda: tf.map_fn(lambda rows: rows[0], (tf.zeros(2), tf.zeros(3)),
                                       fn_output_signature=tf.float32))()


def test_scans_of_keras_in_functions():
    def scan(xs, **more):
        return keras.ops.scan(lambda total, x: (total + x, total * x), keras.ops.convert_to_tensor(0.0), xs, **more)
    xs = tf.range(4.0)
    for more, outputs in (({}, [0, 0, 2, 9]), ({"reverse": True}, [0, 5, 6, 0])):
        last, out = tf.function(lambda xs, more=more: scan(xs, **more))(xs)
        assert (last.numpy(), out.numpy().tolist()) == (6, outputs)
    last, _ = tf.function(lambda: keras.ops.scan(lambda total, _: (total + 1, None), tf.constant(0), length=3))()
    assert last.numpy() == 3
