"""Functions as StableHLO (leat.export): what the text says of arguments, and what is refused. That it computes the
same is tried by jax in python/interop/test_stablehlo.py."""

import pytest

import leat as tf


def test_arguments_keep_their_order():
    text = tf.export.to_stablehlo(lambda a, unused, b: (b - a, a), tf.TensorSpec((2, 3)), tf.TensorSpec((), tf.int32),
                                  tf.TensorSpec((3,)))
    head = next(line for line in text.splitlines() if "@main" in line)
    assert [head.index(part) for part in ("tensor<2x3xf32>", "tensor<i32>", "tensor<3xf32>")] == sorted(
        head.index(part) for part in ("tensor<2x3xf32>", "tensor<i32>", "tensor<3xf32>"))
    assert head.partition("->")[2].count("tensor<2x3xf32>") == 2 and "subtract" in text


def test_variables_are_constants():
    variable = tf.Variable([1.0, 2.0])
    read = tf.function(lambda x: x * variable, input_signature=[tf.TensorSpec((2,))])
    first = tf.export.to_stablehlo(read)
    variable.assign([3.0, 4.0])
    assert "0x0000803F00000040" in first and "0x0000404000008040" in tf.export.to_stablehlo(read)
    with pytest.raises(tf.errors.UnimplementedError, match="variable"):
        tf.export.to_stablehlo(lambda x: variable.assign_add(x), tf.TensorSpec((2,)))


@pytest.mark.parametrize("function, spec, keyword", [
    (lambda x: x + tf.random.uniform((2,)), tf.TensorSpec((2,)), "seed"),
    (tf.linalg.eig, tf.TensorSpec((2, 2)), "eig"),
    (lambda x: x + 1.0, tf.TensorSpec((None, 2)), r"\?"),
    (tf.strings.upper, tf.TensorSpec((2,), tf.string), "string"),
])
def test_what_a_text_cannot_say(function, spec, keyword):
    with pytest.raises(tf.errors.UnimplementedError, match=keyword):
        tf.export.to_stablehlo(function, spec)
