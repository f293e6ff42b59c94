"""Converted functions: the order of their effects, what is traced once, and what is refused."""

import sys

import pytest

import leat as tf
from traced_programs import integer, number

pytestmark = pytest.mark.usefixtures("traced")


def test_assertions_come_before_later_effects():
    v = tf.Variable(0)

    @tf.function
    def f(x):
        v.assign_add(1)
        tf.debugging.assert_positive(x, message="bad x")
        v.assign_add(10)

    @tf.function
    def g(x):
        assert x > 0, "not positive"
        return tf.constant(1)
    f(integer(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        f(integer(-1))
    assert v.numpy() == 12
    with pytest.raises(tf.errors.InvalidArgumentError, match="positive"):
        g(integer(-1))


def test_print_runs_with_the_function(capsys):
    @tf.function
    def f(x):
        tf.print("x", x, {"a": [x * 2, "s"]}, sep="|", output_stream=sys.stdout)
        for i in tf.range(x):
            tf.print(i, output_stream=sys.stdout)
        if x > 2:
            tf.print("large", output_stream=sys.stdout)
        return x
    for x in (1, 1, 3):
        f(integer(x))
    once = "x|1|{'a': [2, 's']}\n0\n"
    assert capsys.readouterr().out == once * 2 + "x|3|{'a': [6, 's']}\n0\n1\n2\nlarge\n"
    assert f.experimental_get_tracing_count() == 1

    def each(x):
        tf.print("element", x, output_stream=sys.stdout)
        return x
    assert list(tf.data.Dataset.range(2).map(each).as_numpy_iterator()) == [0, 1]
    assert capsys.readouterr().out == "element 0\nelement 1\n"


def test_loops_are_staged_once():
    seen = []

    @tf.function
    def f():
        s, i = 0, tf.constant(0)
        for k in tf.range(1000):
            seen.append(k)
            s += k
        while i < 1000:
            seen.append(i)
            i += 1
        return s, i
    assert [int(x) for x in f()] == [499500, 1000]
    assert len(seen) == 2


def test_stopped_recording_holds_in_functions():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with tape.stop_recording():
                z = y * x
            total = y + z
        return tape.gradient(total, x)
    assert f(number(3)).numpy() == 6.0


@pytest.mark.parametrize("statement, text", [
    ("if x > 0: o.a = 1", "'o.a'"),
    ("if x > 0: d['k'] = x", r"d\['k'\]"),
    ("if x > 0: y = None\nelse: y = x\nx = y", "None"),
    ("while x > 0: z, x = z + 1, x - 1", "'z'"),
])
def test_errors(statement, text, tmp_path):
    path = tmp_path / "program.py"
    inner = statement.replace("\n", "\n    ")
    path.write_text(f"class O: pass\ndef f(x):\n    o, d = O(), {{}}\n    {inner}\n    return x\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(ValueError, match=text):
        tf.function(names["f"])(integer(1))


def test_short_loops_of_pipelines_are_written_out():
    seen = []

    def few(x):
        for v in tf.range(3):
            seen.append(v)
            x = x * 2 + tf.cast(v, tf.int64)
        return x

    def many(x):
        for v in tf.range(100):
            seen.append(v)
            x = x + tf.cast(v, tf.int64)
        return x
    dataset = tf.data.Dataset.range(2)
    assert list(dataset.map(few).as_numpy_iterator()) == [4, 12] and len(seen) == 3
    assert list(dataset.map(many).as_numpy_iterator()) == [4950, 4951] and len(seen) == 4
