"""Traced functions that call traced ones: Python runs once for each sort of call, values, gradients and effects are
those of calling it each time. What each test expects was printed by TensorFlow 2.21."""

import numpy as np
import pytest

import leat as tf

log = []
x = tf.constant([1., 2., 3.])


@pytest.fixture(autouse=True)
def nothing_logged():
    log.clear()


def inner(function):
    """The function as one that is traced, which notes its calls."""
    def noted(*args, **kwargs):
        log.append("call")
        return function(*args, **kwargs)
    return tf.function(noted)


def outer(function, *args):
    return tf.nest.map_structure(lambda one: one.numpy().tolist(), tf.function(function)(*args))


def test_each_sort_of_call_once():
    v = tf.Variable(3.)

    @tf.function
    def g(a, b=2.):
        log.append("g")
        return a * b + v
    assert outer(lambda x: g(x) + g(x * 2) + g(x, b=3.) + g(x, 3.), x) == [24., 36., 48.] and log == ["g", "g"]
    assert outer(lambda x: g(g(g(x))), x) == [29., 37., 45.] and len(log) == 2  # another function around it
    v.assign(0.)
    assert outer(lambda x: g(x) + g(x + 1), x) == [6., 10., 14.] and len(log) == 2


def test_gradients():
    v = tf.Variable(3.)
    g = inner(lambda a: a * a * v)
    f = tf.function(lambda x: g(x) + g(x * 2))

    def within(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(g(x) * g(x + 1))
        return tape.gradient(y, [x, v])
    for _ in range(2):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x))
        assert tape.gradient(y, x).numpy().tolist() == [30., 60., 90.] and float(tape.gradient(y, v)) == 70.
    assert outer(within, x) == [[108., 540., 1512.], 1104.]
    log.clear()
    assert outer(within, x)[1] == 1104. and log == []


def test_tapes_and_callers_share_the_trace():
    v = tf.Variable(3.)
    f = inner(lambda a: a * a * v)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(f(x))
    assert float(tape.gradient(y, v)) == 14. and f(x).numpy().tolist() == [3., 12., 27.]
    assert outer(lambda x: f(x) + f(x), x) == [6., 24., 54.]
    assert log == ["call"] and f.experimental_get_tracing_count() == 1


def test_inner_tapes_of_any_order():
    @inner
    def second(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.GradientTape() as within:
                within.watch(x)
                y = x ** 3
            slope = within.gradient(y, x)
        return tape.gradient(slope, x)

    def third(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = second(x) + second(x * 2)
        return tape.gradient(y, x)
    assert outer(lambda x: (second(x), second(x * 2)), x) == ([6., 12., 18.], [12., 24., 36.]) and log == ["call"]
    assert outer(third, x) == [18.] * 3 and third(x).numpy().tolist() == [18.] * 3


def test_assignments_in_their_order():
    total = tf.Variable(0.)

    @inner
    def add(x):
        total.assign_add(tf.reduce_sum(x))
        return total.read_value()

    @inner
    def repeat(x):
        for _ in tf.range(3):
            total.assign_add(x)
        return total + 0.
    assert outer(lambda x: (add(x), add(x), total.assign_add(1.).read_value(), add(x)), x) == (6., 12., 13., 19.)
    assert log == ["call"]
    total.assign(0.)
    assert outer(lambda x: (repeat(x), repeat(x * 2), total + 0.), tf.constant(1.)) == (3., 9., 9.)
    assert log == ["call"] * 2


def test_steps_of_training():
    w = tf.Variable([1., 2., 3.])

    @inner
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x) ** 2)
        w.assign_sub(.1 * tape.gradient(loss, w))
        return loss
    losses = outer(lambda x: [step(x) for _ in range(4)], x)
    np.testing.assert_allclose(losses, [98., 53.12, 33.6128, 21.49684], rtol=1e-6)
    np.testing.assert_allclose(w.numpy(), [.4096, .0032, 1.2288], rtol=1e-5)
    assert log == ["call"]


def test_an_optimizer_and_a_metric():
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
    optimizer, mean = tf.keras.optimizers.SGD(.1, momentum=.9), tf.keras.metrics.Mean()
    optimizer.build(model.trainable_variables)

    @inner
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        mean.update_state(loss)
        return loss
    rows = tf.constant([[[.1, .2, .3]], [[.4, .5, .6]], [[.2, .1, 0.]]])
    losses = outer(lambda x: [step(x[i]) for i in range(3)], rows)
    np.testing.assert_allclose(losses, [.36, 1.7998904, .0577545], rtol=1e-4)
    assert float(mean.result()) == pytest.approx((.36 + 1.7998904 + .0577545) / 3, rel=1e-4) and log == ["call"]
    assert int(optimizer.iterations) == 3


def test_what_it_is_given_and_what_it_finds():
    def local(x):
        @inner
        def add(y):
            return y + x
        return add(x) + add(x * 2)
    minus = inner(lambda x, y: x - y)
    assert outer(local, x) == [5., 10., 15.] and log == ["call"]
    log.clear()
    assert outer(lambda x, y: (minus(x, x), minus(x, y), minus(y, x)), x, x * 2) == ([0.] * 3, [-1., -2., -3.],
                                                                                      [1., 2., 3.])
    assert log == ["call"]


def test_structures_and_plain_results():
    @inner
    def parts(d, k):
        return {"a": d["x"] + 1, "b": (d["y"], None, k), "c": [d["x"], 3]}

    def twice(x):
        first = parts({"x": x, "y": x * 2}, "k")
        again = parts({"x": first["a"], "y": first["c"][0]}, "k")
        return again["a"], again["b"][0], again["c"][0], again["c"][1], again["b"][1] is None
    assert outer(lambda x: twice(x)[:3], x) == ([3., 4., 5.], [1., 2., 3.], [2., 3., 4.])
    assert outer(lambda x: twice(x)[3:], x) == (3, True)
    assert log == ["call"]


def test_random_numbers_without_a_seed_are_others_each_time():
    draw = inner(lambda: (tf.random.uniform([]), tf.random.uniform([], seed=3)))
    first, again = outer(lambda: (draw(), draw()))
    assert first[0] != again[0] and first[1] == again[1] and log == ["call"]


def test_branches_loops_and_recursion():
    v = tf.Variable(2.)

    @tf.function
    def branch(x):
        log.append("branch")
        return x * v if tf.reduce_sum(x) > 5 else x - v

    @tf.function
    def power(x, n):
        log.append(n)
        return x if n == 0 else power(x * 2, n - 1) + power(x, n - 1)

    def gradient(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(branch(x) + branch(x * 3))
        return tape.gradient(y, v)
    assert outer(lambda x: branch(x) + branch(x - 1), x) == [0., 3., 6.] and log == ["branch"]
    assert float(gradient(x)) == 24. and outer(gradient, x) == 24.
    log.clear()
    assert outer(lambda x: power(x, 3), x) == [27., 54., 81.] and log == [3, 2, 1, 0]


def test_gradients_of_their_own_are_called_each_time():
    @tf.custom_gradient
    def doubled(x):
        return x * 2, lambda dy: dy * x * 10
    use = inner(lambda x: doubled(x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x: use(x) + use(x * 3))(x)
    assert tape.gradient(y, x).numpy().tolist() == [100., 200., 300.]


def test_checks_hold_in_each_call():
    @inner
    def positive(x):
        tf.debugging.assert_positive(x)
        return x * 2
    both = tf.function(lambda x: positive(x) + positive(x - 1))
    assert both(tf.constant([2., 3.])).numpy().tolist() == [6., 10.] and log == ["call"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        both(tf.constant([1., 3.]))
    rows = tf.data.Dataset.from_tensor_slices([3., 2., 1.])
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(rows.map(lambda row: positive(row) + positive(row - 1)))


def test_a_signature_holds_inside_too():
    doubled = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None])])
    assert outer(lambda: doubled([1., 2.])) == [2., 4.]
    with pytest.raises(TypeError, match="signature"):
        tf.function(lambda x: doubled(tf.cast(x, tf.int32)))(x)


def test_what_failed_is_tried_again():
    @tf.function
    def at_third(x):
        log.append("try")
        if len(log) < 3:
            raise ValueError
        return x

    def until_it_works(x):
        for _ in range(4):
            try:
                return at_third(x)
            except ValueError:
                log.append("caught")
    assert outer(until_it_works, x) == [1., 2., 3.] and log == ["try", "caught", "try"]


class Box:
    """What keeps a tensor that no function returns."""


@pytest.mark.parametrize("is_used_between", (True, False))
def test_what_gets_out_of_a_call_is_never_that_of_another(is_used_between):
    """TensorFlow refuses each use (TypeError); here the function is called anew where it still can be."""
    box = Box()

    @inner
    def keep(x):
        box.kept = x * 2
        return box.kept + 1

    def both(x):
        first = keep(x)
        found = box.kept + 0 if is_used_between else first
        again = keep(x * 3)
        return first, found, again, box.kept + 0
    if is_used_between:
        assert outer(both, x[:2]) == ([3., 5.], [2., 4.], [7., 13.], [6., 12.])
    else:
        with pytest.raises(TypeError):
            tf.function(both)(x)
