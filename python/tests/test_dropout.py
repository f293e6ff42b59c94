"""tf.nn.dropout and its kin, bit by bit what TensorFlow 2.21 gives for the same seeds."""

import numpy as np
import pytest

import leat as tf

X = [[0.1, 0.2, 0.3, 0.7], [1.1, 1.3, 1.7, 1.9]]
PLAIN = [0.1428571492433548, 0.2857142984867096, 0.0, 1.0, 1.571428656578064, 1.8571428060531616, 2.4285714626312256,
         2.7142858505249023]


def flat(found):
    return np.asarray(found).reshape(-1).astype("float64").tolist()


@pytest.mark.parametrize("rate, dtype, noise_shape, expected", [
    (0.3, "float32", None, PLAIN), (np.float32(0.3), "float32", None, PLAIN),
    (0.1, "float32", None, [0.111111119389534, 0.222222238779068, 0.0, 0.7777777910232544, 1.2222223281860352,
                            1.4444444179534912, 1.8888890743255615, 2.1111111640930176]),
    (0.3, "float16", None, [0.142822265625, 0.28564453125, 0.0, 0.0, 0.0, 0.0, 2.4296875, 2.71484375]),
    (0.3, "bfloat16", None, [0.1435546875, 0.287109375, 0.0, 1.0, 0.0, 1.8515625, 0.0, 2.71875]),
    (0.3, "float64", None, [0.0, 0.0, 0.42857142857142855, 1.0, 1.5714285714285716, 1.8571428571428572, 0.0, 0.0]),
    (tf.constant(0.3), "float32", None, [*PLAIN[:-1], 2.7142856121063232]),  # divided by 1 - rate
    (0.3, "float32", [None, 1], [*PLAIN[:2], 0.4285714626312256, *PLAIN[3:]]),
    (0.6, "float32", tf.constant([1, 4]), [0.0, 0.5, 0.0, 1.75, 0.0, 3.25, 0.0, 4.75])])
def test_values(rate, dtype, noise_shape, expected):
    def call(x):
        return tf.nn.dropout(x, rate, noise_shape=noise_shape, seed=5)
    for function in (call, tf.function(call)):
        tf.random.set_seed(3)
        assert flat(function(tf.constant(X, dtype))) == expected


def test_of_a_seed_or_a_sampler():
    nn, x = tf.nn.experimental, tf.constant(X)
    assert flat(nn.stateless_dropout(x, 0.3, seed=[1, 2])) == [
        PLAIN[0], 0.0, 0.4285714626312256, 0.0, 0.0, PLAIN[5], 0.0, 0.0]
    assert flat(nn.stateless_dropout(x, 0.3, seed=[1, 2], rng_alg="philox", noise_shape=[2, 1])) == [
        *PLAIN[:2], 0.4285714626312256, 1.0, 0.0, 0.0, 0.0, 0.0]

    def sampler(shape, dtype):
        return tf.random.stateless_uniform(shape, [3, 4], dtype=dtype)
    assert flat(nn.general_dropout(x, 0.3, uniform_sampler=sampler)) == [0.0, PLAIN[1], 0.0, *PLAIN[3:7], 0.0]
    assert nn.general_dropout(x, 0, uniform_sampler=None) is x


@pytest.mark.parametrize("rate", [
    1.0, -0.1, True, [0.1, 0.2], "a", None, tf.constant([0.1, 0.2]), tf.constant(0.3, tf.float64)])
def test_rates_that_are_refused(rate):
    with pytest.raises(ValueError, match="rate"):
        tf.nn.dropout(tf.constant(X), rate)
    with pytest.raises(ValueError, match="rate"):
        tf.nn.experimental.stateless_dropout(tf.constant(X), rate, seed=[1, 2])


def test_integers_are_refused():
    with pytest.raises(ValueError, match="floating"):
        tf.nn.dropout(tf.constant([1, 2]), 0.5)
