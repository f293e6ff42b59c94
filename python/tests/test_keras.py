"""leat.keras: names, printed forms, errors, custom layers and models, as recorded from Keras 3."""

import inspect
import subprocess
import sys
import threading

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers

SUMMARY = """\
Model: "sequential"
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
│ conv2d (Conv2D)                 │ (None, 26, 26, 32)     │           320 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ max_pooling2d (MaxPooling2D)    │ (None, 13, 13, 32)     │             0 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ flatten (Flatten)               │ (None, 5408)           │             0 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ dense (Dense)                   │ (None, 64)             │       346,176 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ dense_1 (Dense)                 │ (None, 10)             │           650 │
└─────────────────────────────────┴────────────────────────┴───────────────┘
 Total params: 347,146 (1.32 MB)
 Trainable params: 347,146 (1.32 MB)
 Non-trainable params: 0 (0.00 B)"""

UNBUILT = """\
Model: "sequential"
┏━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━┓
┃ Layer (type)             ┃ Output Shape      ┃   Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━┩
│ dense (Dense)            │ ?                 │         0 │
│                          │                   │ (unbuilt) │
└──────────────────────────┴───────────────────┴───────────┘
 Total params: 0 (0.00 B)
 Trainable params: 0 (0.00 B)
 Non-trainable params: 0 (0.00 B)"""


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def network():
    return keras.Sequential([
        layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)), layers.MaxPooling2D(), layers.Flatten(),
        layers.Dense(64, activation="relu"), layers.Dense(10)])


# ---- models ----

def test_summary_is_the_recorded_one(capsys):
    model = network()
    model.summary(line_length=76)
    assert capsys.readouterr().out.rstrip("\n") == SUMMARY
    lines = []
    keras.backend.clear_session()
    keras.Sequential([layers.Dense(4)]).summary(line_length=60, print_fn=lines.append)
    assert lines == [UNBUILT]


def test_sequential_is_built_as_its_input_is_known():
    model = network()
    assert repr(model) == "<Sequential name=sequential, built=True>"
    assert [layer.name for layer in model.layers] == ["conv2d", "max_pooling2d", "flatten", "dense", "dense_1"]
    assert [v.path for v in model.weights[:2]] == ["sequential/conv2d/kernel", "sequential/conv2d/bias"]
    assert model.input_shape == (None, 28, 28, 1) and model.output_shape == (None, 10)
    assert model.count_params() == 347146 and len(model.trainable_variables) == 6
    late = keras.Sequential([layers.Dense(4), layers.Dense(2)])
    assert late.weights == [] and not late.built
    with pytest.raises(ValueError, match="count_params"):
        late.count_params()
    assert late(np.ones((2, 3), np.float32)).shape == (2, 2)
    assert [v.path for v in late.weights] == ["sequential_1/dense_2/kernel", "sequential_1/dense_2/bias",
                                              "sequential_1/dense_3/kernel", "sequential_1/dense_3/bias"]
    last = late.pop()
    assert last.name == "dense_3" and len(late.layers) == 1
    late.add(layers.Dense(5))
    assert late(np.ones((2, 3), np.float32)).shape == (2, 5)


def test_input_forms():
    first = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    second = keras.Sequential([layers.InputLayer((3,)), layers.Dense(2)])
    third = keras.Sequential([layers.Dense(2, input_dim=3)])
    assert first.input_shape == second.input_shape == third.input_shape == (None, 3)
    assert len(first.layers) == 1
    assert repr(keras.Input((3,))).startswith("<KerasTensor shape=(None, 3), dtype=float32, sparse=False, ")
    built = keras.Sequential([layers.Dense(3)])
    built.build((None, 2))
    assert built.layers[0].kernel.path.endswith("dense_3/kernel") and built.built


def test_equal_seeds_give_the_weights_of_keras():
    keras.utils.set_random_seed(0)
    model = network()
    np.testing.assert_allclose(model.weights[0].numpy().ravel()[:4], [0.00445856, -0.05427749, 0.09633955, -0.11183037],
                               atol=1e-8)
    np.testing.assert_allclose(keras.initializers.GlorotUniform(seed=1)((2, 2)).numpy(),
                               [[0.9271029, -0.09802794], [0.24566245, -0.2630809]], atol=1e-7)


def test_get_layer_and_weights():
    model = network()
    assert model.get_layer("dense").name == "dense" and model.get_layer(index=1).name == "max_pooling2d"
    with pytest.raises(ValueError, match="'max_pooling2d'"):
        model.get_layer("x")
    with pytest.raises(ValueError, match=r"\b9\b"):
        model.get_layer(index=9)
    with pytest.raises(ValueError, match=r"\b6\b"):
        model.set_weights([np.ones((3, 4))])
    with pytest.raises(ValueError, match=r"\(3,\)"):
        model.set_weights([np.ones(3)] * 6)
    values = [np.full(w.shape, 2, np.float32) for w in model.get_weights()]
    model.set_weights(values)
    assert all((w == 2).all() for w in model.get_weights())


def test_configurations_make_the_same_model():
    model = network()
    again = keras.Sequential.from_config(model.get_config())
    assert [type(layer).__name__ for layer in again.layers] == [type(layer).__name__ for layer in model.layers]
    again.set_weights(model.get_weights())
    x = np.random.default_rng(0).normal(size=(2, 28, 28, 1)).astype(np.float32)
    np.testing.assert_array_equal(model(x).numpy(), again(x).numpy())


def test_trainable():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2), layers.Activation("softmax")], name="net")
    model.layers[0].trainable = False
    assert len(model.trainable_variables) == 0 and len(model.non_trainable_variables) == 2
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones((1, 3))))
    assert tape.gradient(loss, model.weights) == [None, None]


# ---- custom layers and models ----

class Linear(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", trainable=True)
        self.b = self.add_weight(shape=(self.units,), initializer="zeros")

    def call(self, x):
        return tf.matmul(x, self.w) + self.b


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = Linear(3)
        self.rest = [layers.Dense(2), layers.Dense(2)]
        self.seen = None

    def call(self, x, training=False):
        self.seen = training
        return self.rest[1](self.rest[0](self.first(x)))


def test_custom_layers_and_models_train():
    model = Net()
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32))
    model(x)
    assert [v.path for v in model.weights] == ["net/linear/variable", "net/linear/variable_1", "net/dense/kernel",
                                               "net/dense/bias", "net/dense_1/kernel", "net/dense_1/bias"]
    assert repr(model) == "<Net name=net, built=True>" and len(model.layers) == 3
    optimizer = keras.optimizers.Adam(0.05)
    seen = []
    for _ in range(30):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - 1.0))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        seen.append(float(loss))
    assert seen[-1] < 0.2 * seen[0] and model.seen is True
    model(x)
    assert model.seen is False


def test_first_call_inside_of_a_function_builds():
    model, optimizer = Net(), keras.optimizers.SGD(0.01)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - 1.0))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss
    x = tf.ones((4, 3))
    losses = [float(step(x)) for _ in range(20)]
    assert losses[-1] < losses[0] and int(optimizer.iterations) == 20
    assert float(step(tf.ones((2, 3)))) < losses[0]


def test_functional_models():
    a, b = keras.Input((3,)), keras.Input((3,))
    shared = layers.Dense(4, activation="relu")
    both = keras.Model([a, b], layers.Dense(1)(layers.Lambda(lambda pair: pair[0] + pair[1])([shared(a), shared(b)])))
    assert both.output_shape == (None, 1) and len(both.weights) == 4
    x = tf.ones((2, 3))
    assert both([x, x]).shape == (2, 1)
    with pytest.raises(ValueError, match="connected"):
        keras.Model(a, shared(b))


def test_misuse_of_layers_is_named():
    class NoCall(layers.Layer):
        pass

    class NoSuper(layers.Layer):
        def __init__(self):
            self.x = 1

        def call(self, x):
            return x
    with pytest.raises(NotImplementedError, match="NoCall"):
        NoCall()(np.ones((2, 2)))
    with pytest.raises(RuntimeError, match="NoSuper"):
        NoSuper()(np.ones((2, 2)))
    with pytest.raises(ValueError, match="positional"):
        layers.Dense(2)(1.0)
    with pytest.raises(ValueError, match="'foo'"):
        layers.Dense(3, foo=1)
    with pytest.raises(TypeError, match="'units'"):
        layers.Dense()
    with pytest.raises(ValueError, match="units"):
        layers.Dense(-1)
    with pytest.raises(ValueError, match="activation"):
        layers.Dense(3, activation="foo")
    with pytest.raises(ValueError, match="initializer"):
        layers.Dense(3, kernel_initializer="foo")
    with pytest.raises(ValueError, match="`kernel_size`"):
        layers.Conv2D(3, (3, 3, 3))
    with pytest.raises(ValueError, match="min_ndim=4"):
        layers.Conv2D(4, 3)(np.ones((2, 3), np.float32))
    model = keras.Sequential([layers.Dense(4), layers.Dense(2)])
    model(np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match=r"\(2, 4\)") as caught:
        model(np.ones((2, 4), np.float32))
    assert any("dense" in note for note in caught.value.__notes__)
    with pytest.raises(ValueError, match="`keras.Layer`"):
        model.add(3)
    with pytest.raises(ValueError, match="'a'"):
        keras.Sequential([layers.Dense(3, name="a"), layers.Dense(3, name="a")])


def test_what_python_says_of_the_classes():
    assert str(inspect.signature(layers.Dense)).startswith(
        "(units, activation=None, use_bias=True, kernel_initializer='glorot_uniform', bias_initializer='zeros', "
        "kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, "
        "bias_constraint=None, lora_rank=None, lora_alpha=None")
    assert str(inspect.signature(layers.MaxPooling2D)) == (
        "(pool_size=(2, 2), strides=None, padding='valid', data_format=None, name=None, **kwargs)")
    assert str(inspect.signature(keras.losses.SparseCategoricalCrossentropy)) == (
        "(from_logits=False, ignore_class=None, reduction='sum_over_batch_size', axis=-1, "
        "name='sparse_categorical_crossentropy', dtype=None)")
    assert str(inspect.signature(keras.optimizers.Adam)) == (
        "(learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, amsgrad=False, weight_decay=None, "
        "clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, "
        "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None, name=None, **kwargs)")
    assert "units: Size of the output's last dimension." in layers.Dense.__doc__


# ---- losses, metrics, optimizers ----

def test_losses_refuse_what_does_not_fit():
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    assert repr(loss).startswith("<LossFunctionWrapper(<function sparse_categorical_crossentropy at ")
    with pytest.raises(ValueError, match="`reduction`"):
        keras.losses.SparseCategoricalCrossentropy(reduction="foo")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\b3\b"):
        loss(np.array([0, 3]), np.array([[.5, .5], [.2, .8]]))
    with pytest.raises(ValueError, match="target.shape"):
        loss(np.array([0]), np.array([[.5, .5], [.2, .8]]))
    with pytest.raises(ValueError, match="Flatten"):
        loss(np.zeros(2, np.int64), np.zeros((2, 8, 8, 10), np.float32))


def test_a_loss_of_ones_own():
    class Absolute(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)
    assert float(Absolute()([[1.0, 2.0]], [[2.0, 4.0]])) == 1.5
    assert Absolute(reduction="none")([[1.0, 2.0]], [[2.0, 4.0]]).numpy().tolist() == [1.5]
    assert float(Absolute(reduction="sum")([[1.0], [2.0]], [[2.0], [4.0]], sample_weight=[1.0, 2.0])) == 5


def test_metrics():
    mean = keras.metrics.Mean()
    assert float(mean(3.0)) == 3 and float(mean([1.0, 2.0], sample_weight=[1, 0])) == 2
    assert repr(mean) == "<Mean name=mean>"
    assert repr(mean.variables) == ("[<Variable path=mean/total, shape=(), dtype=float32, value=4.0>, "
                                    "<Variable path=mean/count, shape=(), dtype=float32, value=2.0>]")
    mean.reset_state()
    assert float(mean.result()) == 0

    @tf.function
    def add(x):
        mean.update_state(x)
        return mean.result()
    assert float(add(tf.constant([1.0, 5.0]))) == 3 and float(mean.result()) == 3

    class Largest(keras.metrics.Metric):
        def __init__(self):
            super().__init__()
            self.most = self.add_variable((), "zeros", name="most")

        def update_state(self, value):
            self.most.assign(tf.maximum(self.most, value))

        def result(self):
            return self.most.read_value()
    largest = Largest()
    assert float(largest(4.0)) == 4 and float(largest(2.0)) == 4


def test_optimizers_names_and_errors():
    dense = layers.Dense(2)
    dense.build((None, 3))
    adam = keras.optimizers.Adam(use_ema=True, gradient_accumulation_steps=2, amsgrad=True)
    adam.build(dense.trainable_variables)
    assert [v.path for v in adam.variables] == ["adam/" + name for name in (
        "iteration learning_rate dense_kernel_average dense_bias_average dense_kernel_gradient_accumulator "
        "dense_bias_gradient_accumulator dense_kernel_momentum dense_kernel_velocity dense_bias_momentum "
        "dense_bias_velocity dense_kernel_velocity_hat dense_bias_velocity_hat").split()]
    sgd = keras.optimizers.SGD(0.1)
    variable = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="gradients"):
        sgd.apply_gradients([(None, variable)])
    with pytest.raises(ValueError, match="unpack"):
        sgd.apply_gradients([])
    assert int(sgd.apply_gradients([(tf.constant([1.0, 1.0]), variable)])) == 1
    np.testing.assert_allclose(variable.numpy(), [0.9, 1.9], rtol=1e-6)
    with pytest.raises(ValueError, match="'w:0'"):
        sgd.apply_gradients([(tf.constant([1.0]), tf.Variable([1.0], name="w"))])
    sgd.learning_rate = 0.5
    assert float(sgd.learning_rate) == 0.5
    sgd.apply([tf.constant([1.0, 1.0])])
    np.testing.assert_allclose(variable.numpy(), [0.4, 1.4], rtol=1e-6)
    with pytest.raises(ValueError, match="`global_clipnorm`"):
        keras.optimizers.Adam(clipnorm=1.0, clipvalue=1.0)
    with pytest.raises(ValueError, match="`learning_rate`"):
        keras.optimizers.Adam(learning_rate="a")
    with pytest.raises(ValueError, match="'foo'"):
        keras.optimizers.Adam(foo=1)
    with pytest.warns(UserWarning, match="Gradients"):
        keras.optimizers.SGD().apply_gradients([(None, dense.kernel), (tf.ones(2), dense.bias)])


def test_schedules_drive_the_rate():
    decay = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    sgd, variable = keras.optimizers.SGD(decay), tf.Variable([1.0])
    for _ in range(3):
        sgd.apply_gradients([(tf.constant([1.0]), variable)])
    np.testing.assert_allclose(variable.numpy(), [1 - 0.1 - 0.05 - 0.025], rtol=1e-6)
    with pytest.raises(TypeError, match="settable"):
        sgd.learning_rate = 0.5
    plain = keras.optimizers.SGD(lambda: 0.25)
    plain.apply_gradients([(tf.constant([1.0]), variable)])
    np.testing.assert_allclose(variable.numpy(), [0.575], rtol=1e-6)


def test_an_optimizer_of_ones_own():
    class Signs(keras.optimizers.Optimizer):
        def __init__(self, rate):
            super().__init__(learning_rate=rate)

        def update_step(self, gradient, variable, learning_rate):
            self.assign_sub(variable, tf.sign(gradient) * learning_rate)
    variable = tf.Variable([1.0, -1.0])
    Signs(0.5).apply_gradients([(tf.constant([3.0, -2.0]), variable)])
    assert variable.numpy().tolist() == [0.5, -0.5]


def test_variables():
    dense = layers.Dense(3)
    dense(np.ones((2, 2), np.float32))
    kernel = dense.kernel
    assert kernel.name == "kernel" and kernel.path == "dense/kernel" and kernel.trainable
    kernel.assign(np.ones((2, 3)))
    assert repr(dense.bias) == "<Variable path=dense/bias, shape=(3,), dtype=float32, value=[0. 0. 0.]>"
    with pytest.raises(ValueError, match="variable.shape"):
        kernel.assign(np.ones((2, 4)))
    with pytest.raises(TypeError, match="'Variable'"):
        hash(kernel)
    np.testing.assert_array_equal((kernel + 1).numpy(), np.full((2, 3), 2))


def test_utils():
    assert keras.utils.to_categorical([0, 1, 2]).tolist() == np.eye(3).tolist()
    assert keras.utils.to_categorical(np.array([[1], [0]]), 3).tolist() == [[0, 1, 0], [1, 0, 0]]
    with pytest.raises(IndexError):
        keras.utils.to_categorical([0, 5], 3)
    with pytest.raises(ValueError, match="`seed`"):
        keras.utils.set_random_seed("a")


def test_float64_layers_and_integer_inputs():
    layer = layers.Dense(3, dtype="float64")
    assert layer(np.ones((2, 2))).dtype == tf.float64 and layer.compute_dtype == "float64"
    assert layers.Dense(3)(np.ones((2, 2), np.int32)).dtype == tf.float32
    assert layers.Dense(3)(np.ones((2, 2))).dtype == tf.float32


def test_layers_are_called_from_many_threads():
    model = network()
    x = np.random.default_rng(0).normal(size=(2, 28, 28, 1)).astype(np.float32)
    wanted, found = model(x).numpy(), []

    def run():
        for _ in range(5):
            found.append(np.array_equal(model(x).numpy(), wanted))
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20 and all(found)


def test_keras_is_imported_when_it_is_used():
    code = ("import sys, leat; assert 'leat.keras' not in sys.modules; leat.keras.layers.Dense; "
            "print('leat.keras' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=True).stdout.strip() == "True"
