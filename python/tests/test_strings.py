"""tf.strings.split: ragged results, as TensorFlow's."""
import numpy as np
import pytest

import leat as tf


@pytest.mark.parametrize(("value", "arguments", "expected"), [
    ([b"a b  c", b" x ", b""], {}, [[b"a", b"b", b"c"], [b"x"], []]),
    ([b"a<>b<><>c", b"<>x<>", b""], {"sep": "<>"}, [[b"a", b"b", b"", b"c"], [b"", b"x", b""], [b""]]),
    ([b" a b  c d ", b"  a"], {"maxsplit": 1}, [[b"a", b"b  c d "], [b"a", b""]]),
    ([[b"a b", b"c"], [b"d", b"e f g"]], {}, [[[b"a", b"b"], [b"c"]], [[b"d"], [b"e", b"f", b"g"]]]),
    ([[[b"a b"]]], {}, [[[[b"a", b"b"]]]]),
])
def test_split_is_ragged(value, arguments, expected):
    found = tf.strings.split(value, **arguments)
    assert isinstance(found, tf.RaggedTensor)
    assert found.to_list() == expected
    assert found.row_splits.dtype is tf.int64


def test_split_of_a_scalar_is_a_vector():
    assert tf.strings.split("a b  c").numpy().tolist() == [b"a", b"b", b"c"]
    assert tf.strings.split("", ",").numpy().tolist() == [b""]


def test_split_refuses_numbers():
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        tf.strings.split([1])


def test_split_in_a_dataset():
    lines = tf.data.Dataset.from_tensor_slices([b"a b", b"c"]).map(tf.strings.split)
    assert [line.numpy().tolist() for line in lines] == [[b"a", b"b"], [b"c"]]


def test_numbers_are_written_and_read_to_the_last_digit():
    rng = np.random.default_rng(7)
    numbers = np.concatenate([rng.normal(size=2000) * 10.0 ** rng.uniform(-9, 14, 2000), [
        0.5e-6, 1.5e-6, 2.5e-6, -2.5e-7, -0.0, 5e-324, 8.9999999999e12, 9e12, 1e300, np.inf, -np.inf]])
    for dtype in ("float64", "float32"):
        with np.errstate(over="ignore"):
            given = numbers.astype(dtype)
        written = tf.strings.as_string(tf.constant(given)).numpy()
        assert written.tolist() == [b"%f" % float(one) for one in given]  # Python rounds correctly
    spread = rng.normal(size=2000) * 10.0 ** rng.uniform(-6, 8, 2000)
    texts = ["%.*f" % (int(rng.integers(0, 9)), one) for one in spread]
    texts += ["1", ".5", "5.", "+3", "-0", "00012.5000", "0.1", "123456789012345.6", "0.000000000000001"]
    assert tf.strings.to_number(texts, tf.float64).numpy().tolist() == [float(one) for one in texts]
    # Halfway between two floats: the even one, also where the double next to it is the middle.
    texts = ["16777217", "16777219.0", "33554433", "8388609.5", "0.1", "3.4028235e38"]
    wanted = [16777216.0, 16777220.0, 33554432.0, 8388610.0, np.float32(0.1), np.float32(3.4028235e38)]
    assert tf.strings.to_number(texts).numpy().tolist() == [float(one) for one in wanted]
    for text in ("", ".", "-", "+.", "1..2", "1_0", "--1"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.strings.to_number([text])


@pytest.mark.parametrize("function", [
    tf.strings.split, tf.strings.bytes_split, lambda x: tf.strings.unicode_split(x, "UTF-8"),
    lambda x: tf.strings.unicode_decode_with_offsets(x, "UTF-8")[1]])
def test_parts_of_rows_know_how_long_the_rows_are(function):
    x = tf.constant([[b"a b", b"c", b"d"], [b"a", b"", b"e"]])
    assert function(x).shape.as_list() == [2, 3, None] and int(function(x).uniform_row_length) == 3
    assert tf.data.Dataset.from_tensors(x).map(function).element_spec.shape.as_list() == [2, 3, None]
    ragged = tf.RaggedTensor.from_uniform_row_length(x[0, :2], 2)
    assert function(ragged).shape.as_list() == [1, 2, None]
