"""tf.debugging and tf.print against the texts that TensorFlow 2.21 gives (recorded)."""

import numpy as np
import pytest

import leat as tf

X = tf.constant([[1., 2., 3.], [4., 5., 6.]])
FAILURES = [
    (lambda: tf.debugging.assert_equal(1, 2),
     "Condition x == y did not hold.\nFirst 1 elements of x:\n[1]\nFirst 1 elements of y:\n[2]"),
    (lambda: tf.debugging.assert_less([1, 5, 2], [2, 2, 2], message="less"),
     "less\nCondition x < y did not hold.\nIndices of first 2 different values:\n[[1]\n [2]]\n"
     "Corresponding x values:\n[5 2]\nCorresponding y values:\n[2 2]\n"
     "First 3 elements of x:\n[1 5 2]\nFirst 3 elements of y:\n[2 2 2]"),
    (lambda: tf.debugging.assert_equal(list(range(10)), list(range(1, 11)), summarize=2),
     "Condition x == y did not hold.\nIndices of first 2 different values:\n[[0]\n [1]]\nCorresponding x values:\n"
     "[0 1]\nCorresponding y values:\n[1 2]\nFirst 2 elements of x:\n[0 1]\nFirst 2 elements of y:\n[1 2]"),
    (lambda: tf.debugging.assert_positive([[1, -1], [0, 2]]),
     "\nCondition x > 0 did not hold element-wise:\nx (shape=(2, 2) dtype=int32) = \n['1', '-1', '0', '...']"),
    (lambda: tf.debugging.assert_positive([1.5, -1], message="pos"),
     "pos.  \nCondition x > 0 did not hold element-wise:\nx (shape=(2,) dtype=float32) = \n['1.5', '-1.0']"),
    (lambda: tf.debugging.assert_non_negative(-1),
     "\nCondition x >= 0 did not hold element-wise:\nx (shape=() dtype=int32) = \n-1"),
    (lambda: tf.debugging.assert_non_positive([1]),
     "\nCondition x <= 0 did not hold element-wise:x (shape=(1,) dtype=int32) = \n['1']"),
    (lambda: tf.debugging.Assert(False, [X]), "Expected 'False' to be true. Summarized data: 1.0, 2.0, 3.0, ..."),
    (lambda: tf.debugging.assert_near([1., 3.], [2., 3.]),
     "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b''\n"
     "b'x and y not equal to tolerance rtol = tf.Tensor(1.1920929e-06, shape=(), dtype=float32), "
     "atol = tf.Tensor(1.1920929e-06, shape=(), dtype=float32)'\n"
     "b'x (shape=(2,) dtype=float32) = '\n1.0, 3.0\nb'y (shape=(2,) dtype=float32) = '\n2.0, 3.0"),
]


@pytest.mark.parametrize("check, text", FAILURES)
def test_texts_of_failed_assertions(check, text):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        check()
    assert str(caught.value) == text


@pytest.mark.parametrize("check, error, word", [
    (lambda: tf.debugging.assert_rank(X, 1, message="m"), ValueError, r"\b1\b"),
    (lambda: tf.debugging.assert_rank_in(X, [1, 3]), ValueError, r"\(1, 3\)"),
    (lambda: tf.debugging.assert_shapes([(X, ("a", "a"))]), ValueError, "size"),
    (lambda: tf.debugging.assert_type(X, tf.int32), TypeError, "int32"),
    (lambda: tf.debugging.assert_integer(X), TypeError, "integer"),
    (lambda: tf.debugging.assert_scalar(X), ValueError, "scalar"),
    (lambda: tf.debugging.assert_proper_iterable(1), TypeError, "iterable")])
def test_static_assertions_name_what_they_found(check, error, word):
    with pytest.raises(error, match=word):
        check()


def test_assertions_that_hold():
    assert tf.debugging.assert_equal(X, X) is None and tf.debugging.assert_near(1., 1.0000001) is None
    assert tf.debugging.assert_shapes([(X, ("a", "b")), (tf.constant([1, 2, 3]), ("b",))]) is None
    assert tf.debugging.assert_all_finite(X, "bad") is not None
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN") as caught:
        tf.debugging.assert_all_finite(tf.constant([float("nan")]), "bad")
    assert caught.value.reason == "VALUE"


def test_assertions_inside_of_pipelines():
    def check(x):
        tf.debugging.assert_less(x, tf.constant(2, tf.int64), message="too large")
        return x
    dataset = tf.data.Dataset.range(4).map(check).as_numpy_iterator()
    assert [int(next(dataset)), int(next(dataset))] == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="large"):
        next(dataset)


PRINTED = [
    ((tf.constant([1, 2, 3]), X, [1, tf.constant([1])], {"a": tf.constant(1)}, tf.constant("s"), tf.constant(True),
      np.arange(3), None), {"sep": "|"},
     "[1 2 3]|[[1 2 3]\n [4 5 6]]|[1, [1]]|{'a': 1}|\"s\"|1|array([0, 1, 2])|None\n"),
    ((tf.range(20), tf.constant([1e-10, 1e10, 0.1, 1 / 3]), tf.constant(1 / 3, tf.float64)), {"summarize": 2},
     "[0 1 ... 18 19] [1e-10 1e+10 0.1 0.333333343] 0.33333333333333331\n"),
    ((tf.zeros([3, 5, 2]),), {"summarize": 1},
     "[[[0 0]\n  ...\n  [0 0]]\n\n ...\n\n [[0 0]\n  ...\n  [0 0]]]\n"),
    ((tf.constant([0.1, 1e6, 1e7, 123456.789, 1e-5, float("nan"), float("inf"), -0.0]),), {"summarize": -1},
     "[0.1 1e+06 1e+07 123456.789 1e-05 nan inf -0]\n"),
    ((tf.constant([0.1, 1e6, 1e-5, 1e17], tf.float64), tf.constant([0.1, 2], tf.float16)), {"summarize": -1},
     "[0.1 1000000 1e-05 1e+17] [0.0999755859 2]\n"),
    (([1, [2, "b"]], (1,), {"k": "v"}, b"by", True, 1e-9, tf.constant(['a"b\n'])), {},
     "[1, [2, 'b']] (1,) {'k': 'v'} b'by' True 1e-09 [\"a\\\"b\\n\"]\n"),
    ((tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([[1.5], [], [2.0, 3.25]]),
      tf.ragged.constant([[True]]), [tf.ragged.constant([[1] * 10] * 3)],
      tf.sparse.from_dense([0, 1, 2])), {"sep": "|"},
     "[['a'], ['b', 'c']]|[[1.500000], [], [2.000000, 3.250000]]|[[true]]|[[[1, 1, 1, ..., 1, 1, 1], "
     "[1, 1, 1, ..., 1, 1, 1], [1, 1, 1, ..., 1, 1, 1]]]|"
     "'SparseTensor(indices=[[1]\n [2]], values=[1 2], shape=[3])'\n"),
]


@pytest.mark.parametrize("values, options, text", PRINTED)
def test_print_is_tensorflows(values, options, text, tmp_path):
    lines = []
    tf.print(*values, output_stream=lines.append, **options)
    assert lines == [text]
    path = tmp_path / "out"
    tf.print("x", end="", output_stream=f"file://{path}")
    tf.print(*values, output_stream=f"file://{path}", **options)
    assert path.read_text() == "x" + text


def test_print_goes_to_stderr(capsys):
    tf.print("hello", tf.constant(1))
    assert capsys.readouterr().err == "hello 1\n"


@pytest.mark.parametrize("has_result", [True, False])
@pytest.mark.parametrize("is_inner", [True, False])
def test_a_function_fails_where_its_assertions_do(has_result, is_inner):
    count = tf.Variable(0)

    @tf.function
    def checked(x):
        tf.debugging.assert_positive(x, message="found less")
        return x if has_result else None

    @tf.function
    def outer(x):
        found = checked(x)
        count.assign_add(1)
        return found
    function = outer if is_inner else checked
    found = function(tf.constant([1, 2]))
    assert found.numpy().tolist() == [1, 2] if has_result else found is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="less"):
        function(tf.constant([1, -2]))
