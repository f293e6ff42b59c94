"""Traced functions over layers run as steps of the processor (leat._graph.steps), where the interpreter gives the
same."""

import threading

import numpy as np
import pytest

import leat
from leat import keras


def step_of(function):
    return [made.step for made in function._traces.values()]


def test_a_product_runs_as_a_step_and_gives_the_same():
    a = leat.constant(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
    b = leat.constant(np.linspace(0, 2, 8, dtype=np.float32).reshape(4, 2))

    @leat.function
    def product(x, y):
        return leat.matmul(x, y) + 1.0

    np.testing.assert_allclose(product(a, b).numpy(), a.numpy() @ b.numpy() + 1, rtol=1e-6)
    step, = step_of(product)
    assert "matmul" in step.explain()


def test_variables_are_read_and_written():
    total = leat.Variable(np.zeros((2, 2), np.float32))

    @leat.function
    def add(x):
        total.assign_add(leat.matmul(x, x))
        return total + 0.0

    x = leat.constant(np.array([[1, 1], [0, 1]], np.float32))
    assert add(x).numpy().tolist() == [[1, 2], [0, 1]]
    assert add(x).numpy().tolist() == [[2, 4], [0, 2]]
    assert total.numpy().tolist() == [[2, 4], [0, 2]]
    step, = step_of(add)
    assert "assign_add_variable" in step.explain()


def test_what_draws_branches_or_calls_is_the_interpreters():
    x = leat.constant(np.eye(2, dtype=np.float32))

    @leat.function
    def draws(x):
        return leat.matmul(x, leat.random.uniform((2, 2)))

    @leat.function
    def branches(x):
        return leat.cond(leat.reduce_sum(x) > 0, lambda: leat.matmul(x, x), lambda: x)

    @leat.function
    def calls(x):
        return leat.numpy_function(lambda v: v + 1, [leat.matmul(x, x)], leat.float32)

    for function in (draws, branches, calls):
        function(x)
        assert step_of(function) == [None]


def test_unknown_shapes_are_the_interpreters():
    @leat.function(input_signature=[leat.TensorSpec([None, 2], leat.float32)])
    def product(x):
        return leat.matmul(x, leat.eye(2))

    for rows in (1, 3):
        assert product(leat.constant(np.ones((rows, 2), np.float32))).numpy().tolist() == [[1, 1]] * rows
    step, = step_of(product)
    assert len(step.explain().splitlines()) < 2


def test_a_failure_of_the_function_is_its_own():
    @leat.function
    def checked(x):
        leat.debugging.assert_less(leat.reduce_max(x), 2.0)
        return leat.matmul(x, x)

    good = leat.constant(np.ones((2, 2), np.float32))
    for _ in range(2):
        assert checked(good).numpy().tolist() == [[2, 2], [2, 2]]
        with pytest.raises(leat.errors.InvalidArgumentError):
            checked(good * 3.0)


def test_threads_take_turns():
    x = leat.constant(np.full((64, 64), 0.5, np.float32))
    found = []

    @leat.function
    def product(x):
        return leat.reduce_sum(leat.matmul(x, x))

    def work():
        for _ in range(20):
            found.append(float(product(x)))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [64 * 64 * 16.0] * 80


def test_fit_and_predict_run_as_steps():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3), keras.layers.BatchNormalization(),
                              keras.layers.ReLU(), keras.layers.Flatten(), keras.layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x = np.random.default_rng(1).random((20, 8, 8, 1), np.float32)
    model.fit(x, np.arange(20) % 3, batch_size=8, verbose=0)
    trained = [step.explain() for step in step_of(model._functions["train"])]
    assert len(trained) == 2 and all("batch_norm_grad" in text and "apply_adam" in text for text in trained)
    predicted = model.predict(x, verbose=0)
    text, *_ = [step.explain() for step in step_of(model._functions["predict"])]
    assert "conv2d" in text
    np.testing.assert_allclose(predicted, model(x, training=False).numpy(), rtol=1e-4, atol=1e-5)
