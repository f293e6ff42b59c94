"""tf.strings.split: ragged results, as TensorFlow's."""
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
