"""Operations on float16 and bfloat16 round as TensorFlow's do: once, or after each step."""

import json
import pathlib

import halves
import numpy as np
import pytest

import leat as tf

EXPECTED = json.loads((pathlib.Path(__file__).with_name("data") / "halves.json").read_text())
CASES = {f"{name} {dtype}": (function, inputs, dtype) for name, function, inputs in halves.cases(tf)
         for dtype in halves.DTYPES}


# What adds up in another order than TensorFlow, and what TensorFlow computes in other steps for the last values of an
# array than for those before: by how many units of the last place of the largest value.
LOOSE = {"rsqrt": 3, "sigmoid bfloat16": 1, "log_sigmoid bfloat16": 1, "softplus bfloat16": 1, "pow broadcast": 1,
         "atan2 broadcast": 1,
         "softmax": 2, "log_softmax": 2, "reduce_sum": 1, "reduce_mean": 1, "reduce_prod": 1, "cumprod": 1, "matmul": 1,
         "total_variation": 1, "sobel_edges": 2, "rgb_to_hsv": 1,
         "per_image_standardization": 2, "stateless_random_brightness": 3,
         "conv2d": 2, "selu": 1, "einsum": 1, "sparse cross entropy": 2, "cross entropy": 4}


def numbers(found):
    """Halves by their bits, as float64."""
    bits = np.array(found[1], np.int64) & 0xffff
    if found[0] == "float16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    return (bits << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def check(name, found, expected):
    loose = next((units for start, units in LOOSE.items() if name.startswith(start)), 0)
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is None:
            continue
        assert one[0] == other[0]
        if one[0] == "float32":
            np.testing.assert_allclose(one[1], other[1], rtol=1e-5, atol=1e-6)
            continue
        if one[0] not in halves.DTYPES or loose == 0:
            np.testing.assert_array_equal(one[1], other[1])
            continue
        largest = max(1, np.max(np.abs(numbers(other)), initial=0))
        unit = {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}[one[0]] * largest
        np.testing.assert_allclose(numbers(one), numbers(other), rtol=0, atol=loose * unit)


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded(name):
    function, inputs, dtype = CASES[name]
    check(name, halves.outcome(tf, function, inputs, dtype), EXPECTED[name])


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith("bfloat16")][::5])
def test_in_functions_and_datasets(name):
    function, inputs, dtype = CASES[name]
    given = tuple(tf.cast(tf.constant(value, tf.float32), dtype) for value in inputs)
    traced = tf.nest.flatten(tf.function(function)(*given))
    check(name, [halves.bits(tf, one) for one in traced], EXPECTED[name][:len(traced)])
    dataset = tf.data.Dataset.from_tensors(given).map(lambda *values: tuple(tf.nest.flatten(function(*values))))
    mapped = next(iter(dataset))
    check(name, [halves.bits(tf, one) for one in mapped], EXPECTED[name][:len(mapped)])
