"""Optimizers of leat.keras beyond the recorded steps: exclusions, several of them, optimizers of a program's own."""

import numpy as np
import pytest

import leat as tf
from leat import keras

START = [np.array([[1., -2.], [3., 4.]], np.float32), np.array([0.5, -0.5], np.float32)]
GRADS = [[np.full((2, 2), 0.1 * step, np.float32), np.full(2, -0.2 * step, np.float32)] for step in range(1, 5)]


def variables():
    return [keras.Variable(value, name=name) for value, name in zip(START, ("kernel", "bias"))]


def run(optimizer, made=None, grads=GRADS):
    made = variables() if made is None else made
    for given in grads:
        optimizer.apply_gradients(zip([tf.constant(one) for one in given], made))
    return [one.numpy() for one in made]


@pytest.mark.parametrize("by_name", [False, True])
def test_variables_that_do_not_decay(by_name):
    made, optimizer = variables(), keras.optimizers.SGD(0.5, weight_decay=0.1)
    if by_name:
        optimizer.exclude_from_weight_decay(var_names=["bi", "other"])
    else:
        optimizer.exclude_from_weight_decay(var_list=[made[1]])
    kernel, bias = run(optimizer, made, GRADS[:1])
    np.testing.assert_allclose(kernel, START[0] * 0.95 - 0.05, rtol=1e-6)
    np.testing.assert_allclose(bias, START[1] + 0.1, rtol=1e-6)


def test_gradients_of_scaled_losses_are_divided():
    optimizer = keras.optimizers.SGD(0.5, loss_scale_factor=4.0)
    assert float(optimizer.scale_loss(tf.constant(3.))) == 12
    kernel, _ = run(optimizer, grads=GRADS[:1])
    np.testing.assert_allclose(kernel, START[0] - 0.0125, rtol=1e-6)
    assert keras.optimizers.SGD().scale_loss(3.) == 3.


def test_fit_with_a_scaled_loss_is_fit():
    def trained(**arguments):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        model.compile(keras.optimizers.SGD(0.1, **arguments), "mse")
        x = np.arange(24, dtype=np.float32).reshape(8, 3) / 24
        losses = model.fit(x, x[:, :2], shuffle=False, epochs=2, verbose=0).history["loss"]
        return losses, model.get_weights()[0]
    plain, scaled = trained(), trained(loss_scale_factor=1024.0)
    assert plain[0] == scaled[0]
    np.testing.assert_array_equal(plain[1], scaled[1])


class Own(keras.optimizers.Optimizer):
    """Keras' documentation's example: SGD with momentum."""

    def __init__(self, learning_rate=0.1, momentum=0.9, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum

    def build(self, variables):
        super().build(variables)
        self.momentums = self.add_optimizer_variables(variables, "momentum")

    def update_step(self, gradient, variable, learning_rate):
        m = self.momentums[self._get_variable_index(variable)]
        self.assign(m, m * self.momentum - gradient * learning_rate)
        self.assign_add(variable, m)


@pytest.mark.parametrize("shared", [
    {}, {"weight_decay": 0.1}, {"clipnorm": 0.2}, {"global_clipnorm": 0.1}, {"clipvalue": 0.05},
    {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2}, {"gradient_accumulation_steps": 2},
    {"gradient_accumulation_steps": 2, "use_ema": True, "ema_momentum": 0.6}, {"loss_scale_factor": 2.0}])
def test_optimizers_of_ones_own_have_what_all_have(shared):
    own, table = Own(**shared), keras.optimizers.SGD(0.1, momentum=0.9, **shared)
    made = [variables(), variables()]
    for found, expected in zip(run(own, made[0]), run(table, made[1])):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert [v.shape for v in own.variables] == [v.shape for v in table.variables]
    assert int(own.iterations) == int(table.iterations)
    for optimizer, listed in ((own, made[0]), (table, made[1])):
        optimizer.finalize_variable_values(listed)
    for found, expected in zip(*made):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_step_without_changing_variables():
    optimizer, made = keras.optimizers.SGD(0.5, momentum=0.9), variables()
    optimizer.build(made)
    values, own = optimizer.stateless_apply([v.numpy() for v in optimizer.variables], GRADS[0],
                                            [v.numpy() for v in made])
    np.testing.assert_allclose(values[0], START[0] - 0.05, rtol=1e-6)
    assert int(own[0]) == 1 and int(optimizer.iterations) == 0
    np.testing.assert_array_equal(made[0], START[0])
    optimizer.set_weights([np.asarray(one) for one in own])
    assert int(optimizer.iterations) == 1
    with pytest.raises(ValueError, match="has 1 tensors; expected 2"):
        optimizer.stateless_apply(own, GRADS[0], values[:1])


def test_embeddings_are_not_muons():
    optimizer = keras.optimizers.Muon(0.1)
    made = [keras.Variable(START[0], name=name) for name in ("kernel", "my_Embedding_table")]
    optimizer.build(made)
    assert [v.name for v in optimizer.variables[2:]] == ["kernel_momentum", "my_Embedding_table_momentum",
                                                        "my_Embedding_table_velocity"]
    with pytest.raises(Exception, match="exclude_layers"):
        keras.optimizers.Muon(exclude_layers=["("]).build(made)


def test_an_optimizer_for_each_variable():
    chosen = keras.optimizers.OptimizerMap(keras.optimizers.SGD(0.5))
    chosen["bi.*"] = keras.optimizers.Adam(0.1)
    optimizer = keras.optimizers.MultiOptimizer(chosen)
    found = run(optimizer)
    np.testing.assert_allclose(found[0], run(keras.optimizers.SGD(0.5))[0], rtol=1e-6)
    np.testing.assert_allclose(found[1], run(keras.optimizers.Adam(0.1))[1], rtol=1e-6)
    assert int(optimizer.iterations) == 4 and len(optimizer.optimizers) == 2
    with pytest.raises(AttributeError, match="individual sub-optimizers"):
        optimizer.learning_rate
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(again.optimizers[0]) is keras.optimizers.Adam and float(again.optimizers[0].learning_rate) == (
        pytest.approx(0.1))
    with pytest.raises(ValueError, match="already exists"):
        chosen["bi.*"] = keras.optimizers.Adam(0.1)
    chosen["bia."] = keras.optimizers.Adam(0.1)
    with pytest.raises(ValueError, match="Multiple optimizers assigned"):
        chosen["bias"]


def test_several_optimizers_in_fit():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, name="first"), keras.layers.Dense(1)])
    slow, fast = keras.optimizers.SGD(0.0), keras.optimizers.SGD(0.1)
    model.compile(keras.optimizers.MultiOptimizer(lambda variable: slow if "first" in variable.path else fast), "mse")
    before = [weight.numpy() for weight in model.weights]
    model.fit(np.ones((8, 3), np.float32), np.ones((8, 1), np.float32), verbose=0)
    after = [weight.numpy() for weight in model.weights]
    np.testing.assert_array_equal(before[0], after[0])
    assert (before[2] != after[2]).any()


def test_mixed_precision_is_refused_with_a_way_out():
    with pytest.raises(NotImplementedError, match="loss_scale_factor"):
        keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())


def test_wrong_arguments_are_keras_errors():
    with pytest.raises(ValueError, match="must be an integer >= 2"):
        keras.optimizers.SGD(gradient_accumulation_steps=1)
    with pytest.raises(ValueError, match="Only one of `clipnorm`"):
        keras.optimizers.Adafactor(clipnorm=1.0, clipvalue=1.0)
    with pytest.raises(ValueError, match=r"must be in the range \[0, 1\]"):
        keras.optimizers.Adam(use_ema=True, ema_momentum=1.5)
