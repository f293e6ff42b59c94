"""tf.autodiff.ForwardAccumulator; expected values are what TensorFlow 2.21 gives for the same lines."""

import numpy as np
import pytest

import leat as tf

Forward = tf.autodiff.ForwardAccumulator


def near(found, expected):
    if isinstance(found, dict):
        assert found.keys() == expected.keys()
        found, expected = list(found.values()), list(expected.values())
    if isinstance(found, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            near(one, other)
    elif expected is None:
        assert found is None
    else:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=0, atol=6e-5)


def test_loss():
    w, x = tf.Variable([[.5], [.25]]), tf.constant([[2., 3.], [1., 4.]])
    with Forward(w, tf.constant([[1.], [0.]])) as forward:
        loss = tf.reduce_sum((x @ w - tf.constant([[1.], [-1.]])) ** 2.)
    assert forward.jvp(loss) == 8 and forward.jvp(loss) == 8
    assert forward.jvp(w).numpy().tolist() == [[1], [0]]


def test_within_each_other():
    p = tf.constant(1.1)
    with Forward(p, tf.constant(1.)) as outer:
        with Forward(p, tf.constant(1.)) as inner:
            y = p ** tf.constant(3.5)
    near([inner.jvp(y), outer.jvp(inner.jvp(y)), outer.jvp(y)], [4.4417, 10.0948, 4.4417])
    p = tf.constant(2.)
    with Forward(p, tf.constant(1.)) as a:
        with Forward(p, tf.constant(1.)) as b:
            with Forward(p, tf.constant(1.)) as c:
                y = p ** 5
            second = c.jvp(y)
        third = b.jvp(second)
    near([a.jvp(third), b.jvp(y), c.jvp(y), a.jvp(second)], [240, 80, 80, 160])


def test_products_with_hessians():
    v = tf.Variable([1., 2.])
    with Forward(v, tf.constant([1., 0.])) as forward:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v ** 3.)
        gradient = tape.gradient(y, v)
    near([gradient, forward.jvp(gradient), forward.jvp(y)], [[3, 12], [6, 0], 3])


@pytest.mark.parametrize("is_within", [True, False])
def test_gradients_of_it(is_within):
    p = tf.constant([1., 2.])
    with tf.GradientTape() as tape:
        tape.watch(p)
        with Forward(p, tf.constant([1., 0.5])) as forward:
            y = tf.sin(p) * p
        if is_within:
            moved = forward.jvp(y)
    if not is_within:
        moved = forward.jvp(y)
    near([moved, tape.gradient(moved, p)], [[1.3818, 0.0385], [0.2391, -1.3254]])


def test_structures():
    p, q = tf.constant([1., 2.]), tf.constant(3.)
    with Forward({"a": p, "b": q}, {"a": tf.constant([1., 1.]), "b": tf.constant(2.)}) as forward:
        y = {"s": p * q, "m": tf.reduce_max(p) * q, "i": tf.argmax(p)}
    near(forward.jvp(y), {"s": [5, 7], "m": 7, "i": None})
    near([forward.jvp(p), forward.jvp(q)], [[1, 1], 2])


def test_what_is_not_watched():
    v = tf.Variable([1., 2.])
    forward, before = Forward(v, tf.ones(2)), v * 2
    assert forward.jvp(tf.ones(2)) is None
    with forward:
        y = v * 3
    near([forward.jvp(before), forward.jvp(y), forward.jvp(v)], [None, [3, 3], [1, 1]])
    assert forward.jvp(tf.constant(1)) is None and forward.jvp(tf.constant(1.)) is None
    assert forward.jvp(tf.constant([1.]), unconnected_gradients="zero").numpy().tolist() == [0]
    with forward:
        z = v * v
    near([forward.jvp(y), forward.jvp(z)], [[3, 3], [2, 4]])


def test_operations():
    p = tf.reshape(tf.range(6.), [1, 2, 3])
    with Forward(p, tf.ones_like(p)) as forward:
        y = [tf.nn.relu(p - 2), tf.reduce_logsumexp(p), tf.math.cumsum(p, 1), tf.reshape(p, [-1])[2:4],
             tf.matmul(p, p, transpose_b=True), tf.norm(p), tf.stop_gradient(p), tf.where(p > 2, p, -p * p),
             tf.cast(p, "float64") * 2, tf.round(p)]
    near([np.reshape(one, -1) if one is not None else None for one in forward.jvp(y)], [
        [0, 0, 0, 1, 1, 1], [1], [1, 1, 1, 2, 2, 2], [1, 1], [6, 15, 15, 24], [2.0226], None, [0, -2, -4, 1, 1, 1],
        [2] * 6, None])


def test_layers():
    p = tf.constant([[1., 2., 0.]])
    with Forward(p, tf.constant([[1., 0., 0.]])) as forward:
        y = [tf.nn.softmax_cross_entropy_with_logits([[0., 1., 0.]], p), tf.nn.log_softmax(p),
             tf.nn.sparse_softmax_cross_entropy_with_logits([1], p)]
    near([np.reshape(one, -1) for one in forward.jvp(y)], [[0.2447], [0.7553, -0.2447, -0.2447], [0.2447]])
    picture = tf.constant(np.sin(np.arange(32)).reshape(1, 4, 4, 2), "float32")
    kernel = tf.constant(np.cos(np.arange(36)).reshape(3, 3, 2, 2), "float32")
    with Forward([picture, kernel], [tf.ones_like(picture), tf.ones_like(kernel)]) as forward:
        y = tf.nn.conv2d(picture, kernel, 1, "VALID")
    near(tf.reshape(forward.jvp(y), [-1]), [0.062, -0.7729, 0.2317, -0.6032, 0.1741, -0.6608, 0.4536, -0.3813])


def test_complex():
    p = tf.constant([1 + 2j, 2 - 1j], "complex64")
    with Forward(p, tf.constant([1 + 1j, .5j], "complex64")) as forward:
        y = [tf.abs(p), tf.exp(p), tf.math.real(p * p), tf.reduce_sum(p)]
    near([np.reshape(one, -1) for one in forward.jvp(y)], [
        [1.3416, -0.2236], [-3.6029 + 1.3405j, 3.1088 + 1.9962j], [-2, 1], [1 + 1.5j]])


def test_functions():
    @tf.function
    def within(p, tangent):
        with Forward(p, tangent) as forward:
            with tf.GradientTape() as tape:
                tape.watch(p)
                y = tf.reduce_sum(tf.sin(p) * p)
            gradient = tape.gradient(y, p)
        return forward.jvp(gradient)

    @tf.function
    def power(p):
        i = 0
        while i < 3:
            p = p * p
            i += 1
        return p

    near(within(tf.constant([1., 2.]), tf.constant([1., 0.])), [0.2391, 0])
    p = tf.constant([.5, 1.])
    with Forward(p, tf.constant([1., 0.])) as forward:
        y = [tf.function(lambda x: tf.nn.softmax(x * 2))(p), power(p)]
    near(forward.jvp(y), [[0.3932, -0.3932], [0.0625, 0]])


def test_refused():
    v = tf.Variable([1., 2.])
    with pytest.raises(ValueError, match="multiple"):
        Forward([v, v], [tf.ones(2), tf.ones(2)])
    with pytest.raises(ValueError, match="structure"):
        Forward([v], tf.ones(2))
    with pytest.raises(ValueError, match="float32"):
        Forward(v, tf.constant([1, 2]))
    with pytest.raises(ValueError, match=r"\(2,\)"):
        Forward(v, tf.ones(3))
    with Forward(v, tf.ones(2)) as forward:
        with pytest.raises(ValueError, match="already"), forward:
            pass
