"""tf.quantization's fake quantisation and small names of the top level; values are TensorFlow 2.21's."""

import numpy as np
import pytest

import leat as tf

q = tf.quantization
X = [-7., -1.3, 0.1, 2., 8.]
Z = [[-7., 1.], [0.1, 2.]]


@pytest.mark.parametrize("made, wanted", [
    (lambda: q.fake_quant_with_min_max_args(X), [-6.0235295, -1.3176471, 0.09411765, 2.0235295, 5.9764705]),
    (lambda: q.fake_quant_with_min_max_args(X, min=0, max=3, num_bits=4, narrow_range=True),
     [0., 0., 0., 1.9285715, 3.]),
    (lambda: q.fake_quant_with_min_max_vars(X, -1., 4.), [-1., -1., 0.09803922, 2., 4.]),
    (lambda: q.fake_quant_with_min_max_args(X, 1., 3.), [0., 0., 0.10196079, 2., 2.]),
    (lambda: q.fake_quant_with_min_max_args(X, -3., -1.), [-2., -1.3019608, 0., 0., 0.]),
    (lambda: q.fake_quant_with_min_max_vars_per_channel(Z, [-1., 0.], [4., 1.]), [[-1., 1.], [0.09803922, 1.]]),
    (lambda: tf.function(q.fake_quant_with_min_max_args)(tf.constant(X)),
     [-6.0235295, -1.3176471, 0.09411765, 2.0235295, 5.9764705]),
    (lambda: q.fake_quant_with_min_max_args_gradient(X, X), [0., -1.3, .1, 2., 0.])])
def test_numbers_are_rounded(made, wanted):
    found = made()
    assert found.dtype is tf.float32 and np.array_equal(found.numpy(), np.float32(wanted))


def test_gradients_go_through_and_to_the_bounds():
    x, low, high = tf.constant(X), tf.Variable(-1.), tf.Variable(4.)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(q.fake_quant_with_min_max_vars(x, low, high) * [1., 2., 3., 4., 5.])
    assert [one.numpy().tolist() for one in tape.gradient(y, [x, low, high])] == [[0., 0., 3., 4., 0.], 3., 5.]
    z, low, high = tf.constant(Z), tf.Variable([-1., 0.]), tf.Variable([4., 1.])
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.reduce_sum(q.fake_quant_with_min_max_vars_per_channel(z, low, high) * [1., 2.])
    wanted = [[[0., 2.], [1., 0.]], [1., 0.], [0., 2.]]
    assert [one.numpy().tolist() for one in tape.gradient(y, [z, low, high])] == wanted
    found = q.fake_quant_with_min_max_vars_gradient(X, X, -1., 3.)
    np.testing.assert_allclose(found[0].numpy(), [0., 0., .1, 2., 0.])
    np.testing.assert_allclose([found[1].numpy(), found[2].numpy()], [-8.3, 8.], rtol=1e-6)


def test_ranges_are_refused():
    for arguments in ({"min": 3., "max": 1.}, {"num_bits": 1}, {"num_bits": 17}):
        with pytest.raises(tf.errors.InvalidArgumentError):
            q.fake_quant_with_min_max_args(X, **arguments)


def test_small_names():
    paddings, crops = tf.required_space_to_batch_paddings([5, 5], [2, 3], [[1, 0], [0, 2]])
    assert (paddings.numpy().tolist(), crops.numpy().tolist()) == ([[1, 0], [0, 4]], [[0, 0], [0, 2]])
    assert tf.tuple([1, None]) == [1, None] and tf.realdiv([1.], [2.]).numpy().tolist() == [.5]
    assert int(tf.CriticalSection().execute(lambda: tf.constant(3))) == 3 and tf.AggregationMethod.ADD_N == 0
    assert tf.tuple([]) == []
    assert tf.config.get_soft_device_placement() and not tf.debugging.get_log_device_placement()
    tf.config.set_soft_device_placement(False)
    tf.debugging.set_log_device_placement(True)
    assert not tf.config.get_soft_device_placement() and tf.debugging.get_log_device_placement()
