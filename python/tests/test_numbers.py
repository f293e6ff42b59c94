"""Functions made of operations, against values that TensorFlow gave (tools/record/composites.py)."""

import json
import os
import re

import numpy as np
import pytest

import leat as tf

X = np.array([[0.5, -1.25, 2.0], [3.0, 0.0, -0.75]], np.float32)
with open(os.path.join(os.path.dirname(__file__), "data", "composites.json")) as text:
    LINES = json.load(text)


def ragged():
    """The tensors that expressions on ragged and sparse ones use."""
    return {"r": tf.ragged.constant([[1, 2, 3], [], [4, 5]]), "rr": tf.ragged.constant([[[1, 2], [3]], [], [[4]]]),
            "w": tf.ragged.constant([["A"], ["Bc", "D"]]),
            "s": tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 2, -3], [2, 3]),
            "t": tf.SparseTensor([[1, 1], [0, 2], [0, 0]], [1, 2, -3], [2, 3])}


def evaluate(line, x=None, **names):
    return eval(line["expression"], {"tf": tf, "np": np, "x": x, **(names or ragged())})


def compare(expected, found):
    if "ragged" in expected:
        assert json.loads(json.dumps(found.to_list(), default=bytes.decode)) == expected["ragged"]
        assert (found.dtype.name, found.row_splits.dtype.name) == (expected["dtype"], expected["splits"])
        return
    if "sparse" in expected:
        compare(expected["sparse"], [found.indices, found.values, found.dense_shape])
        return
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for a, b in zip(expected, found):
            compare(a, b)
        return
    assert found.dtype.name == expected["dtype"]
    if expected["dtype"] == "string":
        texts = np.asarray(expected["value"], object).astype("S").astype(object)
        assert np.asarray(found.numpy()).tolist() == texts.tolist()
        return
    wanted = np.array(expected["value"], dtype=object).astype(np.float64)
    if expected["dtype"] in ("int64", "uint64"):
        assert found.numpy().tolist() == expected["value"]
    if wanted.size == 0:
        assert found.numpy().size == 0
        return
    assert found.numpy().shape == wanted.shape
    loose = 2e-3 if expected["dtype"] == "float16" else 2e-6
    np.testing.assert_allclose(found.numpy().astype(np.float64), wanted, rtol=loose, atol=loose)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["expression"])
def test_eager(line):
    if "error" in line:
        with pytest.raises((getattr(tf.errors, line["error"], None) or __builtins__[line["error"]], ValueError)):
            evaluate(line, tf.constant(X))
        return
    compare(line["result"], evaluate(line, tf.constant(X)))


def uses(line, *names):
    return "result" in line and any(re.search(r"\b%s\b" % name, line["expression"]) for name in names)


@pytest.mark.parametrize("line", [line for line in LINES if uses(line, "x")], ids=lambda line: line["expression"])
def test_traced(line):
    """In a function whose argument has a known shape, and none of it calls back into Python."""
    function = tf.function(lambda x: evaluate(line, x), input_signature=[tf.TensorSpec([2, 3], tf.float32)])
    compare(line["result"], function(tf.constant(X)))


@pytest.mark.parametrize("line", [line for line in LINES if uses(line, "r", "rr", "w", "s")],
                         ids=lambda line: line["expression"])
def test_ragged_traced(line):
    """In a function whose rows have no known number."""
    names = ragged()
    kind = {"r": tf.RaggedTensorSpec([None, None], tf.int32), "w": tf.RaggedTensorSpec([None, None], tf.string),
            "rr": tf.RaggedTensorSpec([None, None, None], tf.int32), "s": tf.SparseTensorSpec([2, 3], tf.int32),
            "t": tf.SparseTensorSpec([2, 3], tf.int32)}
    function = tf.function(lambda *values: evaluate(line, **dict(zip(names, values))),
                           input_signature=[kind[name] for name in names])
    compare(line["result"], function(*names.values()))


def test_in_map():
    dataset = tf.data.Dataset.from_tensors(X).map(lambda x: (tf.math.reduce_std(x, 0), tf.nn.moments(x, [0, 1]),
                                                             tf.clip_by_norm(x, 1.0), tf.math.bincount([1, 1, 2])))
    std, (mean, variance), clipped, counts = next(iter(dataset))
    np.testing.assert_allclose(std.numpy(), X.std(0), rtol=1e-6)
    np.testing.assert_allclose([mean.numpy(), variance.numpy()], [X.mean(), X.var()], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(clipped.numpy()), 1, rtol=1e-6)
    assert counts.numpy().tolist() == [0, 2, 1]


def test_steps_are_counted_in_the_dtype_of_the_bounds():
    assert tf.range(0.1, 1.1, 0.1).shape == (10,) and tf.range(0.2, 1.1, 0.3).shape == (3,)
    assert tf.range(*(tf.constant(x, tf.float64) for x in (0.2, 1.1, 0.3))).shape == (4,)


def test_sparse_rows_that_no_number_counts_are_refused():
    value = tf.sparse.SparseTensor([[0, 0]], [1], [2**62, 2])
    assert tf.sparse.concat(1, [value, value]).dense_shape.numpy().tolist() == [2**62, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="int64"):
        tf.sparse.concat(0, [value, value])
