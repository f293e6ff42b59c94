"""Gradients: tapes against what TensorFlow's do, and differentiable operations against differences of values."""

import gc
import weakref

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

import custom_gradients
import leat as tf


def test_square():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 6.0
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, x)


# Each function's gradients as TensorFlow gives them, computed eagerly or traced, but for what is computed behind the
# block (None there): a tape knows what was computed in its block of what it watched by then.
def _outside(x, v, fixed):
    before, late = v * x, x * x
    with tf.GradientTape(persistent=True) as tape:
        unwatched = x * 2.
        tape.watch(x)
        inside = before * v * x + late + unwatched * v + fixed * v
        again = v * 1.
    behind = inside * 3.
    return (tape.gradient(inside, [v, x, fixed, before]), tape.gradient(before, [v, x]), tape.gradient(behind, [v]),
            tape.gradient(again, [v, x]))


def _numbers(structure):
    return tf.nest.map_structure(lambda one: None if one is None else float(one), structure)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_a_tape_knows_its_block_alone(wrap):
    v, fixed = tf.Variable(2.), tf.Variable(5., trainable=False)
    found = wrap(lambda x: _outside(x, v, fixed))(tf.constant(3.))
    assert _numbers(found) == ([29., 12., None, None], [None, None], [87.], [1., None])


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_no_gradient_flows_through_targets_from_outside(wrap):
    model, w = lambda x: x * w * w, tf.Variable(2.)

    def step(x):
        target = 1. + 0.5 * model(x)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                loss = (target - model(x)) ** 2
            first = tape.gradient(loss, w)
            second = first * target
        return first, outer.gradient(second, w)
    assert _numbers(wrap(step)(tf.constant(3.))) == (120., 2436.)


def test_what_follows_the_block_is_recorded_until_gradient():
    v = tf.Variable([1., 2.])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    loss = loss / 2.
    assert tape.gradient(loss, v).numpy().tolist() == [1, 2]
    assert (loss * 2)._graph is None  # the recording has ended


def test_a_dropped_tape_records_no_more():
    v = tf.Variable(1.)
    with tf.GradientTape() as tape:
        loss = v * v
    del tape
    gc.collect()
    assert (loss * 2)._graph is None


def test_sources_and_targets_of_any_structure():
    v, w, x = tf.Variable(2.), tf.Variable(3.), tf.constant(1.)
    with tf.GradientTape(persistent=True) as tape:
        y, z = v * w, v * v
    found = tape.gradient([y, z], {"v": v, "other": [w, x]})
    assert found["v"].numpy() == 7 and found["other"][0].numpy() == 2 and found["other"][1] is None
    assert tape.gradient(y, x, unconnected_gradients="zero").numpy() == 0
    assert tape.gradient(y, v, output_gradients=tf.constant(10.)).numpy() == 30
    assert [one.name for one in tape.watched_variables()] == ["Variable:0", "Variable:0"]


def test_variables_that_are_not_trainable_are_watched_on_request():
    v = tf.Variable(2., trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = v * v
    assert tape.gradient(y, v).numpy() == 4
    w = tf.Variable(2.)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = w * w
    assert tape.gradient(y, w) is None


def test_nested_tapes():
    x = tf.Variable([1., 2.])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x * x * x)
        first = inner.gradient(y, x)
    assert first.numpy().tolist() == [3, 12]
    assert outer.gradient(first, x).numpy().tolist() == [6, 12]


def test_stop_recording_and_stop_gradient():
    v = tf.Variable(2.)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            a = v * v
        y = v * a + tf.stop_gradient(v * v) * v
    assert tape.gradient(y, v).numpy() == 8


def test_reads_around_an_assignment():
    v = tf.Variable(2.)
    with tf.GradientTape(persistent=True) as tape:
        a = v * 3
        v.assign_add(1.)
        b = v * v
    assert tape.gradient(a, v).numpy() == 3 and tape.gradient(b, v).numpy() == 6
    assert tape.gradient([a, b], v).numpy() == 9


def test_custom_gradient():
    @tf.custom_gradient
    def ten(x):
        return x * 1.0, lambda upstream: upstream * 10.
    x = tf.constant(3.)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = ten(x * 2.) * x
    assert tape.gradient(y, x).numpy() == 66

    @tf.function
    def traced(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ten(x * 2.) * x
        return tape.gradient(y, x)
    assert traced(x).numpy() == 66


def test_jacobian():
    x = tf.constant([1., 2.])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.jacobian(y, x).numpy().tolist() == [[2, 0], [0, 4]]


def test_jacobians_of_several_sources_in_functions_and_of_none():
    x, w = tf.constant([[1., 2.], [3., 4.]]), tf.Variable([[1., 0.], [2., 1.]])
    alone = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.relu(x @ w) ** 2
    found = tape.jacobian(y, {"x": x, "w": w, "alone": alone})
    assert found["x"].shape == found["w"].shape == [2, 2, 2, 2] and found["alone"] is None
    expected = np.zeros((2, 2, 2, 2), np.float32)
    for i in range(2):
        for j in range(2):
            expected[i, j, i] = 2 * (x.numpy() @ w.numpy())[i, j] * w.numpy()[:, j]
    np.testing.assert_allclose(found["x"], expected)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, x)

    @tf.function
    def traced(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x + tf.reduce_sum(x)
        return tape.jacobian(y, x)
    assert traced(tf.constant([1., 2., 3.])).numpy().tolist() == [[3, 1, 1], [1, 5, 1], [1, 1, 7]]


def test_batch_jacobian():
    x, w = tf.constant([[1., 2., 0.], [3., 4., 1.]]), tf.constant([[1., 0.], [2., 1.], [-1., 3.]])

    def rows(x, persistent=False):
        with tf.GradientTape(persistent) as tape:
            tape.watch(x)
            y = (x @ w) ** 2
        return tape, y
    tape, y = rows(x)
    found = tape.batch_jacobian(y, x)
    expected = np.stack([2 * (x.numpy() @ w.numpy())[i][:, None] * w.numpy().T for i in range(2)])
    np.testing.assert_allclose(found, expected)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.batch_jacobian(y, x)

    @tf.function
    def traced(x):
        tape, y = rows(x)
        return tape.batch_jacobian(y, x)
    np.testing.assert_allclose(traced(x), expected)
    tape, y = rows(x, persistent=True)
    assert tape.batch_jacobian(y, tf.ones([2, 4])).numpy().tolist() == np.zeros((2, 2, 4)).tolist()
    with pytest.raises(ValueError, match=r"\(\(3, 2\)\)"):
        tape.batch_jacobian(y, tf.ones([3, 2]))
    with pytest.raises(ValueError, match=r"\(2,\)"):
        tape.batch_jacobian(y, tf.ones([2]))


def test_einsum_of_diagonals():
    x = tf.reshape(tf.range(9.), [3, 3])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        trace = tf.einsum("ii->", x) * 2.
        mixed = tf.einsum("ii,ij->j", x, x)
    assert tape.gradient(trace, x).numpy().tolist() == (2 * np.eye(3)).tolist()
    assert tape.gradient(mixed, x).numpy().tolist() == [[3, 0, 0], [4, 16, 4], [8, 8, 29]]


def test_recordings_are_freed():
    v = tf.Variable(np.zeros(1000, np.float32))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    recording = weakref.ref(tape._recording)
    gradient = tape.gradient(loss, v)
    del tape, loss
    gc.collect()
    assert recording() is None and gradient.shape == [1000]


# ---- against differences ----

UNARY = {
    "exp": tf.exp, "log": lambda x: tf.math.log(x + 3.), "sqrt": lambda x: tf.sqrt(x + 3.),
    "rsqrt": lambda x: tf.math.rsqrt(x + 3.), "square": tf.square, "tanh": tf.tanh, "sigmoid": tf.sigmoid,
    "negative": tf.negative, "abs": lambda x: tf.abs(x + 3.), "relu": lambda x: tf.nn.relu(x + 3.),
    "softmax": tf.nn.softmax, "log_softmax": tf.nn.log_softmax, "sum": lambda x: tf.reduce_sum(x, -1),
    "mean": lambda x: tf.reduce_mean(x, -1), "transpose": tf.transpose, "reshape": lambda x: tf.reshape(x, [-1]),
    "expand": lambda x: tf.expand_dims(x, 0), "stack": lambda x: tf.stack([x, x * x]),
    "concat": lambda x: tf.concat([x, x * 2.], 0), "cast": lambda x: tf.cast(x, tf.float32),
    "gather": lambda x: tf.gather(x, [0, 0, 1]), "slice": lambda x: x[1:, ::2],
    "divide": lambda x: 1. / (x + 3.), "floormod": lambda x: (x + 3.) * 2. - x, "max": lambda x: tf.reduce_max(x, 0),
    "matmul": lambda x: tf.matmul(x, x, transpose_b=True), "where": lambda x: tf.where(x > 0., x * 2., x * 3.),
    "maximum": lambda x: tf.maximum(x, 0.5 * x), "sparse_ce": lambda x:
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=x),
}


def numerical(function, x, weights, step=1e-6):
    out = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        out[at] = np.sum((function(tf.constant(up)).numpy().astype(np.float64) -
                          function(tf.constant(down)).numpy()) * weights) / (2 * step)
    return out


@pytest.mark.parametrize("name", UNARY)
@hypothesis.given(x=hnp.arrays(np.float64, (2, 3), elements=st.floats(-2, 2).filter(lambda v: abs(v) > 1e-3),
                               unique=True))
@hypothesis.settings(deadline=None, max_examples=8)
def test_operations_have_the_gradients_of_their_values(name, x):
    function = UNARY[name]
    if name == "cast":
        pytest.skip("float32 is too coarse for differences")
    if name in ("max", "where", "maximum") and np.min(np.abs(np.diff(x, axis=0))) < 1e-3:
        return
    source = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(source)
        target = function(source)
    weights = np.cos(np.arange(target.shape.num_elements())).reshape(target.shape)
    found = tape.gradient(target, source, output_gradients=tf.constant(weights))
    np.testing.assert_allclose(found.numpy(), numerical(function, x, weights), rtol=2e-4, atol=2e-5)


def test_convolutions_and_pools_have_them_too():
    rng = np.random.default_rng(3)
    picture = rng.normal(size=(1, 5, 5, 2)).astype(np.float32)
    filters = rng.normal(size=(3, 3, 2, 2)).astype(np.float32)

    def network(p, f):
        return tf.reduce_sum(tf.square(tf.nn.max_pool2d(tf.nn.conv2d(p, f, 1, "SAME"), 2, 2, "VALID")))
    p, f = tf.constant(picture), tf.constant(filters)
    with tf.GradientTape() as tape:
        tape.watch([p, f])
        loss = network(p, f)
    for found, source, at in zip(tape.gradient(loss, [p, f]), (picture, filters), ((0, 2, 3, 1), (1, 0, 1, 1))):
        step = 1e-2
        up, down = source.copy(), source.copy()
        up[at] += step
        down[at] -= step
        pairs = [(up, filters), (down, filters)] if source is picture else [(picture, up), (picture, down)]
        high, low = (float(network(tf.constant(a), tf.constant(b))) for a, b in pairs)
        assert found.numpy()[at] == pytest.approx((high - low) / (2 * step), rel=2e-2)


def test_a_variable_by_itself():
    v, w, fixed = tf.Variable([2.0, 3.0]), tf.Variable(3.0), tf.Variable(2.0, trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y, both, other = v, [w, w * w], fixed
    assert tape.gradient(y, v).numpy().tolist() == [1.0, 1.0]
    assert tape.jacobian(y, v).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert tape.gradient(y, v, output_gradients=tf.constant([5.0, 7.0])).numpy().tolist() == [5.0, 7.0]
    assert tape.gradient(both, w).numpy() == 7.0 and tape.gradient(other, fixed).numpy() == 1.0
    assert tape.gradient(y, w) is None and tape.gradient(v, tf.constant(1.0)) is None
    matrix = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = matrix
    np.testing.assert_array_equal(tape.batch_jacobian(y, matrix), [np.eye(2), np.eye(2)])

    @tf.function
    def traced():
        with tf.GradientTape() as tape:
            y = w
        return tape.gradient(y, w)
    assert traced().numpy() == 1.0


def test_gradients_in_branches_and_loops():
    v = tf.Variable(3.0)

    @tf.function
    def branch(x):
        with tf.GradientTape() as tape:
            y = v * v * x
        if x > 0.0:
            g = tape.gradient(y, v) if x > 1.0 else x * 0.0
        else:
            g = tf.constant(0.0)
        return g
    assert [branch(tf.constant(x)).numpy() for x in (2.0, 0.5, -2.0)] == [12.0, 0.0, 0.0]

    @tf.function
    def until_large(n):
        total = tf.constant(0.0)
        for i in tf.range(n):
            x = tf.cast(i, tf.float32)
            with tf.GradientTape() as tape:
                y = v * v * x
            if x > 2.0:
                break
            total += tape.gradient(y, v)
        return total
    assert [until_large(tf.constant(n)).numpy() for n in (5, 2)] == [18.0, 6.0]

    @tf.function
    def loop(x):
        with tf.GradientTape() as tape:
            y = v * x
        i, total = tf.constant(0), tf.constant(0.0)
        while i < 3:
            total += tape.gradient(y, v)
            i += 1
        return total
    assert loop(tf.constant(2.0)).numpy() == 6.0

    @tf.function
    def jacobians(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = w * w
        if x > 0.0:
            g = tape.jacobian(y, w)
        else:
            g = tf.zeros([2, 2])
        return g
    w = tf.constant([3.0, 4.0])
    assert jacobians(tf.constant(1.0), w).numpy().tolist() == [[6.0, 0.0], [0.0, 8.0]]
    assert jacobians(tf.constant(-1.0), w).numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_gradients_in_a_branch_of_what_the_branch_computed(caplog):
    v = tf.Variable(3.0)

    @tf.function
    def inside(x):
        r = x
        with tf.GradientTape() as tape:
            y = v * x
            if x > 0.0:
                z = y * y
                r = tape.gradient(z, v)
        return r
    assert [inside(tf.constant(x)).numpy() for x in (2.0, -2.0)] == [24.0, -2.0]
    assert "branch" in caplog.text  # it runs in Python


@pytest.mark.parametrize("inside, expected", [
    (lambda f, x: f(x), [12.0, 12.0]), (lambda f, x: f(x * x), [192.0, 480.0]),
    (lambda f, x: f(x) ** 2, [192.0, 480.0]), (lambda f, x: f(f(x)), [2304.0, 9216.0])])
def test_second_gradients_through_a_custom_one(inside, expected):
    @tf.custom_gradient
    def cube(x):
        return x ** 3, lambda upstream: upstream * 3.0 * x ** 2

    def gradients(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = inside(cube, x)
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)
    for found in (gradients(tf.constant(2.0)), tf.function(gradients)(tf.constant(2.0))):
        assert [one.numpy() for one in found] == expected


def test_output_gradients_are_constants():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y, weights = x * x, x * 3.0
    assert tape.gradient(y, x, output_gradients=weights).numpy().tolist() == [6.0, 24.0]
    assert tape.gradient(y, x, output_gradients=2.0).numpy().tolist() == [4.0, 8.0]


@tf.custom_gradient
def tenfold(x):
    return x * 2.0, lambda gradient: gradient * 10.0


def test_custom_gradients_in_functions():
    variable = tf.Variable(2.0)

    @tf.function
    def of_argument(x):
        return tenfold(x) + x * variable

    @tf.function
    def of_variable():
        return tenfold(variable * 3.0)
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first, second = of_argument(x), of_variable()
    assert [float(one) for one in tape.gradient(first, [x, variable])] == [12.0, 3.0]
    assert float(tape.gradient(second, variable)) == 30.0


@pytest.mark.parametrize("name", custom_gradients.EXPECTED)
@pytest.mark.parametrize("traced", [False, True])
def test_custom_gradients_as_tensorflows(name, traced):
    found = custom_gradients.values(tf, custom_gradients.module(tf), name, traced)
    assert not custom_gradients.differs(found, custom_gradients.EXPECTED[name])


def test_custom_gradients_are_as_many_as_the_arguments():
    x = tf.constant(2.0)
    for given in ((1.0,), (1.0, 2.0, 3.0)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.custom_gradient(lambda a, b: (a * b, lambda gradient: given))(x, x)
        with pytest.raises(ValueError, match="2"):
            tape.gradient(y, x)


def test_custom_gradients_of_structures():
    @tf.custom_gradient
    def product(pair):
        return pair[0] * pair[1], lambda gradient: (gradient * 3.0, gradient * 5.0)
    x = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = product((x, x * 2.0))
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (4.5, 13.0)


def test_custom_gradients_of_variables():
    variable = tf.Variable(2.0)

    def product(x):
        return x * variable, lambda gradient, variables=None: (gradient * 10.0, [gradient * 5.0 for _ in variables])
    for function in (tf.custom_gradient(product), tf.function(tf.custom_gradient(product))):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x) * 2.0 + variable * variable
        assert [float(one) for one in tape.gradient(y, [x, variable])] == [20.0, 14.0]
    with tf.GradientTape(), pytest.raises(TypeError, match="variables"):
        tf.custom_gradient(lambda x: (x * variable, lambda gradient: gradient))(tf.constant(3.0))
