"""Optimizers of leat.keras beyond the recorded steps: exclusions, several of them, optimizers of a program's own."""

import pickle

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


def test_an_optimizer_of_ones_own_may_keep_many_slots_and_fail():
    class Many(keras.optimizers.Optimizer):
        def build(self, variables):
            super().build(variables)
            self.kept = self.add_optimizer_variables(variables, [f"slot{place}" for place in range(6)])

        def update_step(self, gradient, variable, learning_rate):
            for listed in self.kept:
                self.assign_add(listed[self._get_variable_index(variable)], gradient)
            if self.kept[0][0].shape != variable.shape and self.fails:
                raise KeyError("bias")
    optimizer, made = Many(1.0, gradient_accumulation_steps=2, use_ema=True, ema_momentum=0.5), variables()
    optimizer.fails = True
    with pytest.raises(KeyError, match="bias"):
        run(optimizer, made, GRADS[:1])
    optimizer.fails = False
    assert int(optimizer.iterations) == 0 and len(optimizer.variables) == 2 + 4 + 12
    with pytest.warns(UserWarning, match="bias"):
        optimizer.apply([tf.constant(GRADS[0][0]), None], made)
    np.testing.assert_array_equal(optimizer.kept[5][0], np.zeros((2, 2)))
    np.testing.assert_array_equal(optimizer._model_variables_moving_average[1], START[1])
    run(optimizer, made, GRADS[1:2])
    np.testing.assert_allclose(optimizer.kept[5][0], (GRADS[0][0] + GRADS[1][0]) / 2, rtol=1e-6)
    np.testing.assert_allclose(optimizer.kept[5][1], GRADS[1][1] / 2, rtol=1e-6)


def test_an_optimizer_of_ones_own_may_look_at_values():
    class Looking(Own):
        def update_step(self, gradient, variable, learning_rate):
            seen.append(float(gradient.numpy().sum()))
            super().update_step(gradient, variable, learning_rate)
    shared, seen = {"clipnorm": 0.2, "weight_decay": 0.1, "use_ema": True, "gradient_accumulation_steps": 2}, []
    looking, traced = Looking(**shared), Own(**shared)
    for found, expected in zip(run(looking), run(traced)):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    for found, expected in zip(looking.variables, traced.variables):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert len(seen) == 2 * len(GRADS) and int(looking._iterations) == len(GRADS)


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
    with pytest.raises(ValueError, match="`trainable_variables`"):
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
    with pytest.raises(AttributeError, match="sub-optimizers"):
        optimizer.learning_rate
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(again.optimizers[0]) is keras.optimizers.Adam and float(again.optimizers[0].learning_rate) == (
        pytest.approx(0.1))
    with pytest.raises(ValueError, match="OptimizerMap"):
        chosen["bi.*"] = keras.optimizers.Adam(0.1)
    with pytest.raises(ValueError, match="optimizer"):
        chosen["other"] = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())
    with pytest.raises(ValueError, match="MultiOptimizer"):
        keras.optimizers.MultiOptimizer(lambda v: keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())).build(
            variables())
    chosen["bia."] = keras.optimizers.Adam(0.1)
    with pytest.raises(ValueError, match="bias"):
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


SCALED_STEPS = [  # gradient; the variable, the scale, steps since it changed, steps taken, of Keras 3.15
    ([8., -16.], [0.9000009894371033, 2.099999189376831], 8.0, 1, 1),
    ([np.inf, 1.], [0.9000009894371033, 2.099999189376831], 4.0, 0, 1),
    ([4., 4.], [0.8000022172927856, 2.1266326904296875], 4.0, 1, 2),
    ([2., 8.], [0.7058214545249939, 2.099363088607788], 8.0, 0, 3),
    ([np.nan, 0.], [0.7058214545249939, 2.099363088607788], 4.0, 0, 3),
    ([1., 1.], [0.6201623678207397, 2.072272300720215], 4.0, 1, 4)]


@pytest.mark.parametrize("is_traced", [False, True])
def test_scales_of_losses_follow_the_gradients(is_traced):
    variable = keras.Variable(np.array([1., 2.], np.float32), name="w")
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.1), initial_scale=8.0,
                                                    dynamic_growth_steps=2)
    assert float(optimizer.scale_loss(3.0)) == 24.0
    optimizer.build([variable])

    def step(gradient):
        optimizer.apply([gradient], [variable])
    step = tf.function(step) if is_traced else step
    for gradient, *expected in SCALED_STEPS:
        step(tf.constant(gradient))
        np.testing.assert_allclose(variable, expected[0], rtol=1e-6)
        assert [float(optimizer.dynamic_scale), int(optimizer.step_counter), int(optimizer.iterations)] == expected[1:]
    assert float(optimizer.scale_loss(tf.constant(2.0))) == 8.0
    assert [v.name for v in optimizer.variables] == ["iteration", "learning_rate", "step_counter", "dynamic_scale",
                                                    "iteration", "learning_rate", "w_momentum", "w_velocity"]
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert again.get_config() == optimizer.get_config() and again.dynamic_growth_steps == 2
    optimizer.learning_rate = 0.5
    assert float(optimizer.inner_optimizer.learning_rate) == 0.5
    for arguments, words in (({"dynamic": False}, "`dynamic=False`"), ({"clipnorm": 1.0}, "`clipnorm`"),
                             ({"other": 1}, "`other`")):
        with pytest.raises(ValueError, match=words):
            keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(), **arguments)


def test_fit_with_a_scale_of_losses():
    def trained(optimizer):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        model.compile(optimizer, "mse")
        x = np.arange(24, dtype=np.float32).reshape(8, 3) / 24
        model.fit(x, x[:, :2], shuffle=False, epochs=2, verbose=0)
        return model.get_weights()[0]
    scaled = trained(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)))
    np.testing.assert_allclose(scaled, trained(keras.optimizers.SGD(0.1)), rtol=1e-6)


def test_names_of_keras_2_say_what_to_use():
    with pytest.raises(ImportError, match="keras.optimizers.Adam"):
        keras.optimizers.legacy.Adam(0.1)


class Twice(keras.optimizers.SGD):
    """Steps along twice the gradient."""

    def update_step(self, gradient, variable, learning_rate):
        super().update_step(gradient * 2.0, variable, learning_rate)


class TwiceAndMore(keras.optimizers.Adam):
    """Steps along a line of the gradient."""

    def update_step(self, gradient, variable, learning_rate):
        super().update_step(gradient * 2.0 + 0.5, variable, learning_rate)


@pytest.mark.parametrize("kind,arguments,first,second", [
    (Twice, {"momentum": 0.5, "clipnorm": 1.0, "weight_decay": 0.1}, [0.28257596492767334, 2.88674259185791],
     [2.400141477584839, -1.4459308385849]),
    (TwiceAndMore, {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 2},
     [0.8621283769607544, 2.1389989852905273], [2.8610012531280518, -1.1290894746780396]),
    (TwiceAndMore, {"gradient_accumulation_steps": 2}, [0.8042391538619995, 2.199998140335083],
     [2.800001859664917, -1.1558014154434204])])
def test_steps_of_subclasses_of_built_in_optimizers(kind, arguments, first, second):
    made = [keras.Variable(np.array([1., 2.], np.float32), name="w"),
            keras.Variable(np.array([[3., -1.]], np.float32), name="b")]
    optimizer = kind(learning_rate=0.1, **arguments)
    for i in range(4):
        optimizer.apply([tf.constant([1. + i, -3.]), tf.constant([[0.5, 2. - i]])], made)
    np.testing.assert_allclose(made[0], first, rtol=1e-5)
    np.testing.assert_allclose(made[1], [second], rtol=1e-5)
    assert int(optimizer._iterations) == 4


def test_a_norm_that_is_not_finite_is_seen():
    """As in Keras all gradients are NaN then."""
    for kind in (Own, keras.optimizers.SGD):
        kernel, bias = run(kind(0.1, global_clipnorm=1.0), grads=[[np.full((2, 2), np.inf, np.float32), GRADS[0][1]]])
        assert np.isnan(kernel).all() and np.isnan(bias).all()


def test_a_single_update():
    optimizer, made = keras.optimizers.SGD(0.5, momentum=0.9, clipnorm=0.1), variables()
    optimizer.build(made)
    optimizer.update_step(tf.constant([1., -1.]), made[1], 0.25)
    np.testing.assert_allclose(made[1], [0.25, -0.25])
    assert int(optimizer.iterations) == 0
    nadam = keras.optimizers.Nadam()
    nadam.build(made)
    with pytest.raises(NotImplementedError, match="Nadam"):
        nadam.update_step(tf.constant([1., -1.]), made[1], 0.25)


def test_nadam_keeps_its_product():
    variable = keras.Variable(np.array([1., 2.], np.float32), name="w")
    optimizer = keras.optimizers.Nadam(0.1, beta_1=0.8, gradient_accumulation_steps=2)
    for i in range(5):
        optimizer.apply([tf.constant([1. + i, -3.])], [variable])
    np.testing.assert_allclose(variable, [0.7824957370758057, 2.197270393371582], rtol=5e-6)
    assert float(optimizer.variables[-1]) == pytest.approx(0.1794457584619522, rel=1e-6)
    assert len(optimizer.variables) == 6 and optimizer.variables[-1].path.startswith(f"{optimizer.name}/variable")
    values = [v.numpy() for v in optimizer.variables]
    values[-1] = np.float32(0.5)
    optimizer.set_weights(values)
    optimizer.apply([tf.constant([1., 1.])], [variable])
    assert float(optimizer.variables[-1]) == pytest.approx(0.5 * 0.8 * (1 - 0.5 * 0.96 ** 3), rel=1e-6)


def test_gradients_take_the_dtype_of_their_variables():
    found = run(keras.optimizers.Adagrad(0.1), grads=[[g.astype(np.float64) for g in one] for one in GRADS])
    for one, expected in zip(found, run(keras.optimizers.Adagrad(0.1))):
        np.testing.assert_allclose(one, expected, rtol=1e-6)


def test_states_of_optimizers_go_through_dictionaries():
    optimizer, other = keras.optimizers.SGD(0.5, momentum=0.9), keras.optimizers.SGD(0.1, momentum=0.9)
    made = variables()
    run(optimizer, made)
    store = {}
    optimizer.save_own_variables(store)
    assert sorted(store) == ["0", "1", "2", "3"] and store["2"].shape == (2, 2)
    with pytest.warns(UserWarning, match=r"\b4\b"):
        other.load_own_variables(store)
    assert int(other.iterations) == 0
    other.build(made)
    other.load_own_variables(store)
    assert float(other.learning_rate) == 0.5 and int(other.iterations) == 4
    np.testing.assert_array_equal(other.variables[2], optimizer.variables[2])
    with pytest.raises(ValueError, match=r"\(3,\)"):
        other.set_weights([store["0"], store["1"], np.zeros(3)])
    copied = pickle.loads(pickle.dumps(optimizer))
    assert copied.get_config() == optimizer.get_config() and int(copied.iterations) == 4
    copied.build(made)
    np.testing.assert_array_equal(copied.variables[2], optimizer.variables[2])


def test_rates_that_are_functions():
    @keras.saving.register_keras_serializable("tests")
    def quarter():
        return 0.25
    optimizer = keras.optimizers.SGD(quarter)
    assert optimizer.get_config()["learning_rate"] == {
        "module": "builtins", "class_name": "function", "config": "tests>quarter", "registered_name": "function"}
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    np.testing.assert_allclose(run(again, grads=GRADS[:1])[1], START[1] + 0.05)


def test_attributes_of_optimizers_are_theirs():
    class Counting(keras.optimizers.Optimizer):
        def __init__(self):
            super().__init__(0.1)
            self.seen, self.more = keras.Variable(0.0), {"a": [keras.Variable(1.0)]}

        def update_step(self, gradient, variable, learning_rate):
            self.seen.assign_add(tf.reduce_sum(gradient))
    optimizer = Counting()
    assert optimizer.name.startswith("counting") and len(optimizer.variables) == 4
    run(optimizer, grads=GRADS[:1])
    assert float(optimizer.seen) == pytest.approx(0.0, abs=1e-6)

    class Forgetful(keras.optimizers.Optimizer):
        def __init__(self):
            self.rate = 1
    with pytest.raises(RuntimeError, match="'Forgetful'"):
        Forgetful()
    with pytest.warns(UserWarning, match="`decay`"):
        keras.optimizers.SGD(decay=0.1)
    assert optimizer.apply([]) is None and int(optimizer.iterations) == 1


def test_wrong_arguments_are_keras_errors():
    with pytest.raises(ValueError, match="`gradient_accumulation_steps`"):
        keras.optimizers.SGD(gradient_accumulation_steps=1)
    with pytest.raises(ValueError, match="`global_clipnorm`"):
        keras.optimizers.Adafactor(clipnorm=1.0, clipvalue=1.0)
    with pytest.raises(ValueError, match="`ema_momentum`"):
        keras.optimizers.Adam(use_ema=True, ema_momentum=1.5)


@pytest.mark.parametrize("exact, squares", [(False, [1 + 4, 16, 0]), (True, [(1 + 2)**2, 16, 0])])
def test_slices_of_one_row_are_squared_by_themselves_or_added_up_first(exact, squares):
    keras.config.set_exact_slices(exact)
    try:
        optimizer = keras.optimizers.Adagrad(1.0, initial_accumulator_value=0.0)
    finally:
        keras.config.set_exact_slices(False)
    table = tf.Variable([[1.], [1.], [1.]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [0, 0, 1]) * [[1.], [2.], [4.]])
    optimizer.apply_gradients([(tape.gradient(loss, table), table)])
    np.testing.assert_array_equal(optimizer.variables[2].numpy()[:, 0], squares)


# A variable after three steps in Keras: its dtype, the rows of the slices that the gradient consists of (None: a plain
# one), and the values. Each of several slices of one row is squared by itself.
HALVES_AND_SLICES = {
    "K.SGD(.1)": [
        ("float32", [0, 0], [0.55, 1.25, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.7002, 2.44922, -0.64941, -0.94922, 2.69922, -0.5498]),
        ("float16", [0, 2], [0.7002, 2.44922, -0.5, 0.25, 2.84961, -2.19922]),
        ("bfloat16", [0, 2], [0.69531, 2.45312, -0.5, 0.25, 2.84375, -2.20312]),
    ],
    "K.SGD(.1, momentum=.9)": [
        ("float32", [0, 0], [0.28675, 0.81125, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.5249, 2.71094, -0.73779, -1.65137, 2.52344, -0.28711]),
        ("float16", [0, 2], [0.5249, 2.71094, -0.5, 0.25, 2.76172, -2.90234]),
        ("bfloat16", [0, 2], [0.52344, 2.71875, -0.5, 0.25, 2.75, -2.90625]),
    ],
    "K.SGD(.1, momentum=.9, nesterov=True)": [
        ("float32", [0, 0], [-0.09193, 0.18013, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.2727, 3.0918, -0.86377, -2.66016, 2.27148, 0.0918]),
        ("float16", [0, 2], [0.2727, 3.0918, -0.5, 0.25, 2.63672, -3.91016]),
        ("bfloat16", [0, 2], [0.27344, 3.09375, -0.5, 0.25, 2.64062, -3.90625]),
    ],
    "K.Adam(.1)": [
        ("float32", [0, 0], [0.60782, 1.82893, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.71143, 2.28711, -0.78857, -0.03876, 2.71094, -0.71143]),
        ("float16", [0, 2], [0.71143, 2.28711, -0.5, 0.25, 2.71094, -1.28906]),
        ("bfloat16", [0, 2], [1.0, 2.0, -0.5, 0.25, 3.0, -1.0]),
    ],
    "K.Adam(.1, amsgrad=True)": [
        ("float32", [0, 0], [0.60782, 1.82893, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.71143, 2.28711, -0.78857, -0.03876, 2.71094, -0.71143]),
        ("float16", [0, 2], [0.71143, 2.28711, -0.5, 0.25, 2.71094, -1.28906]),
        ("bfloat16", [0, 2], [1.0, 2.0, -0.5, 0.25, 3.0, -1.0]),
    ],
    "K.AdamW(.1)": [
        ("float32", [0, 0], [0.60678, 1.82661, -0.4994, 0.2497, 2.9964, -0.9988]),
        ("float16", None, [0.70996, 2.28711, -0.78809, -0.03903, 2.70312, -0.70996]),
        ("float16", [0, 2], [0.70996, 2.28711, -0.49927, 0.24963, 2.70312, -1.28906]),
        ("bfloat16", [0, 2], [1.0, 2.0, -0.5, 0.25, 3.0, -1.0]),
    ],
    "K.Nadam(.1)": [
        ("float32", [0, 0], [0.60659, 1.8284, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.70654, 2.29102, -0.79346, -0.04309, 2.70898, -0.70654]),
        ("float16", [0, 2], [0.70654, 2.29102, -0.5, 0.25, 2.70898, -1.29297]),
    ],
    "K.Adamax(.1)": [
        ("float32", [0, 0], [0.75468, 1.88849, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.75537, 2.24414, -0.74463, 0.00488, 2.75586, -0.75537]),
        ("bfloat16", [0, 2], [0.75781, 2.23438, -0.5, 0.25, 2.76562, -1.25]),
    ],
    "K.Adagrad(.1)": [
        ("float32", [0, 0], [0.66053, 1.843, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.75049, 2.25977, -0.71582, -0.01788, 2.75195, -0.74023]),
        ("float16", [0, 2], [0.75049, 2.25977, -0.5, 0.25, 2.7832, -1.26758]),
        ("bfloat16", [0, 2], [0.75, 2.26562, -0.5, 0.25, 2.78125, -1.26562]),
    ],
    "K.Adadelta(.1)": [
        ("float32", [0, 0], [0.99928, 1.99968, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [1.0, 2.0, -0.5, 0.24939, 3.0, -1.0]),
        ("float16", [0, 2], [1.0, 2.0, -0.5, 0.25, 3.0, -1.0]),
        ("bfloat16", [0, 2], [1.0, 2.0, -0.5, 0.25, 3.0, -1.0]),
    ],
    "K.RMSprop(.1)": [
        ("float32", [0, 0], [-0.15516, 1.49613, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.13916, 2.86133, -1.36035, -0.61035, 2.14062, -0.1394]),
        ("float16", [0, 2], [0.13916, 2.86133, -0.5, 0.25, 2.14062, -1.86035]),
        ("bfloat16", [0, 2], [0.13672, 2.85938, -0.5, 0.25, 2.14062, -1.85938]),
    ],
    "K.RMSprop(.1, centered=True, momentum=.9)": [
        ("float32", [0, 0], [-1.60316, 1.00413, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [-0.79395, 3.79492, -2.29297, -1.54394, 1.20508, 0.79395]),
        ("float16", [0, 2], [-0.79395, 3.79492, -0.5, 0.25, 1.20508, -2.79297]),
        ("bfloat16", [0, 2], [-0.80469, 3.78125, -0.5, 0.25, 1.17969, -2.8125]),
    ],
    "K.Ftrl(.1)": [
        ("float32", [0, 0], [0.16816, 1.5501, 0.0, 0.0, 0.0, 0.0]),
        ("float16", None, [0.21643, 1.48242, -0.32349, -0.05707, 1.14844, -0.3523]),
        ("float16", [0, 2], [0.21643, 1.48242, 0.0, 0.0, 0.43066, -1.11231]),
        ("bfloat16", [0, 2], [0.21387, 1.49219, 0.0, 0.0, 0.42383, -1.11719]),
    ],
    "K.Lion(.1)": [
        ("float32", [0, 0], [0.7, 1.7, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.69971, 2.29883, -0.80029, -0.04993, 2.70117, -0.69971]),
        ("float16", [0, 2], [0.69971, 2.29883, -0.5, 0.25, 2.70117, -1.29883]),
        ("bfloat16", [0, 2], [0.69531, 2.28125, -0.5, 0.25, 2.71875, -1.30469]),
    ],
    "K.Adam(.1, clipnorm=1.)": [
        ("float32", [0, 0], [0.59751, 1.82444, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.7041, 2.29688, -0.7959, -0.0462, 2.70117, -0.7041]),
        ("float16", [0, 2], [0.7041, 2.29688, -0.5, 0.25, 2.70117, -1.2959]),
        ("bfloat16", [0, 2], [1.0, 2.0, -0.5, 0.25, 3.0, -1.0]),
    ],
    "K.LossScaleOptimizer(K.Adam(.1))": [
        ("float32", [0, 0], [0.64478, 1.83356, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [-2.0, 6.0, -1.5, -10.25, 0.0, 3.0]),
        ("float16", [0, 2], [-2.0, 6.0, -0.5, 0.25, 2.0, -11.5]),
        ("bfloat16", [0, 2], [1.0, 2.0, -0.5, 0.25, 3.0, -1.0]),
    ],
    "K.Adam(.1, gradient_accumulation_steps=2)": [
        ("float32", [0, 0], [0.9, 1.9, -0.5, 0.25, 3.0, -1.0]),
        ("float16", None, [0.90137, 2.09961, -0.59863, 0.15137, 2.90234, -0.90137]),
        ("float16", [0, 2], [0.90137, 2.09961, -0.5, 0.25, 2.90234, -1.09863]),
        ("bfloat16", [0, 2], [1.0, 2.0, -0.5, 0.25, 3.0, -1.0]),
    ],
}


@pytest.mark.parametrize("made, dtype, rows, expected", [(made, *case) for made, cases in HALVES_AND_SLICES.items()
                                                         for case in cases])
def test_halves_and_slices(made, dtype, rows, expected):
    optimizer = eval(made, {"K": keras.optimizers})
    variable = tf.Variable(tf.constant([[1., 2.], [-.5, .25], [3., -1.]], dtype))
    for step in (1, 2, 3):
        gradient = tf.constant([[.5, -.75], [.25, 2.]], dtype) * step
        given = tf.IndexedSlices(gradient, rows, [3, 2]) if rows else tf.concat([gradient, gradient[:1]], 0)
        optimizer.apply_gradients([(given, variable)])
    found = tf.cast(variable, tf.float64).numpy().reshape(-1)
    near = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 1e-2}[dtype]
    np.testing.assert_allclose(found, expected, rtol=near, atol=near)


def test_weights_that_ftrl_makes_zero_have_no_sign():
    variable = tf.Variable([1.0, -1.0, 0.0])
    keras.optimizers.Ftrl(0.1).apply([tf.constant([0.0, -0.0, 0.5])], [variable])
    np.testing.assert_allclose(variable, [0.0, 0.0, -0.08451542], 1e-6)
    assert np.signbit(variable.numpy()).tolist() == [False, False, True]


def test_layers_that_muon_leaves_to_adam_are_a_list():
    assert keras.optimizers.Muon().get_config()["exclude_layers"] == keras.optimizers.Muon().exclude_layers == []
    assert keras.optimizers.Muon(exclude_layers=["a"]).get_config()["exclude_layers"] == ["a"]
