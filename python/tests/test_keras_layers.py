"""keras.layers.Layer and the layers of the table: building, calls, masks, state, shapes, configurations and errors.

Expectations are those of Keras 3.15.
"""

import copy
import pickle

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers, ops


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


X = np.arange(24, dtype=np.float32).reshape(1, 4, 3, 2) / 10 - 1


# ---- building ----

class Two(layers.Layer):
    """Takes two tensors, and their shapes in another order."""

    def build(self, b_shape, a_shape):
        self.shapes = (a_shape, b_shape)

    def call(self, a, b, b_mask=None):
        self.seen = b_mask
        return a + b


def test_build_gets_shapes_by_the_names_of_arguments():
    layer = Two()
    layer(np.ones((2, 1), np.float32), np.ones((2, 3), np.float32))
    assert layer.shapes == ((2, 1), (2, 3)) and layer.seen is None
    assert layer.get_build_config() == {"shapes_dict": {"b_shape": (2, 3), "a_shape": (2, 1)}}
    again = Two()
    again.build_from_config(layer.get_build_config())
    assert again.built and again.shapes == layer.shapes


def test_build_with_names_that_do_not_fit():
    class NoEnding(Two):
        def build(self, a_shape, other):
            pass

    class Unknown(Two):
        def build(self, a_shape, c_shape):
            pass
    one = np.ones((2, 1), np.float32)
    with pytest.raises(ValueError, match="`other`"):
        NoEnding()(one, one)
    with pytest.raises(ValueError, match="`c_shape`"):
        Unknown()(one, one)


class Scaled(layers.Layer):
    """Multiplies by a weight that it makes itself."""

    def __init__(self, start=1.0, **kwargs):
        super().__init__(**kwargs)
        self.start = start

    def build(self, input_shape):
        self.gain = self.add_weight((input_shape[-1],), keras.initializers.Constant(self.start), name="gain")

    def call(self, x):
        return x * self.gain


def test_build_by_hand_marks_names_and_locks():
    layer = Scaled(2.0)
    layer.build((None, 3))
    assert layer.built and layer.gain.path == "scaled/gain" and layer.get_build_config() == {"input_shape": (None, 3)}
    for what in (layers.Dense(2), keras.Variable([1.0]), keras.random.SeedGenerator(1)):
        with pytest.raises(ValueError, match="'more'"):
            layer.more = what
    with pytest.raises(ValueError, match="'scaled'"):
        layer.add_weight((2,))
    layer.note = 3  # what is no state may still be set
    layer.build((None, 2))  # once more: it may make weights again
    assert layer.gain.shape == (2,)


def test_weights_made_in_a_call_are_refused():
    class Late(layers.Layer):
        def call(self, x):
            self.w = self.add_weight()
            return x
    with pytest.raises(ValueError, match="'late'"):
        Late()(np.ones(2, np.float32))


def test_layers_without_weights_are_built_from_the_start():
    for made in (layers.Dropout(0.5), layers.ReLU(), layers.MaxPooling2D(), layers.GlobalMaxPooling1D(),
                 layers.Identity(), layers.Activation("relu"), layers.Reshape((2,))):
        assert made.built, made
    for made in (layers.Add(), layers.Dense(2), layers.Flatten(), layers.PReLU(), layers.Embedding(2, 2)):
        assert not made.built, made

    class Own(layers.Dropout):
        def build(self, input_shape):
            self.shape = input_shape
    layer = Own(0.5)
    assert not layer.built
    layer(np.ones((2, 3), np.float32))
    assert layer.shape == (2, 3)


def test_a_bias_that_is_not_used_is_none():
    for layer in (layers.Dense(2, use_bias=False), layers.EinsumDense("ab,bc->ac", 4)):
        layer.build((None, 3))
        assert layer.bias is None and len(layer.weights) == 1
    for layer in (layers.Conv2D(2, 1, use_bias=False), layers.SeparableConv2D(2, 1, use_bias=False),
                  layers.DepthwiseConv2D(1, use_bias=False), layers.Conv2DTranspose(2, 1, use_bias=False)):
        layer.build((None, 4, 4, 3))
        assert layer.bias is None
    norm = layers.BatchNormalization(center=False, scale=False)
    norm.build((None, 3))
    assert norm.beta is None and norm.gamma is None and norm.moving_mean.shape == (3,)


def test_layers_that_may_be_quantized_come_out_of_their_configurations():
    for layer in (layers.Dense(2), layers.EinsumDense("ab,bc->ac", 4, lora_rank=2), layers.Embedding(3, 2)):
        assert layer.get_config()["quantization_config"] is None
        assert type(layer).from_config(layer.get_config()).get_config() == layer.get_config()


def test_add_weight_by_position():
    layer = layers.Layer()
    assert layer.add_weight().shape == ()
    assert layer.add_weight((2, 3), "ones", "int32", trainable=False).dtype == "int32"
    assert layer.add_weight((2,)).dtype == "float32"
    with pytest.raises(ValueError, match="`name`"):
        layer.add_weight("kernel", shape=(2,))
    with pytest.raises(ValueError, match="`shape`"):
        layer.add_weight((2,), shape=(2,))
    with pytest.raises(TypeError, match="positional"):
        layer.add_weight((2,), "ones", "float32", "name")


# ---- state ----

class Parts(layers.Layer):
    """Keeps its state in lists."""

    def __init__(self):
        super().__init__()
        self.ws = [keras.Variable([1.0, 2.0]), keras.Variable([3.0], trainable=False)]
        self.gens = {"one": keras.random.SeedGenerator(3)}
        self.mean = keras.metrics.Mean()
        self.sub = [layers.Dense(1)]

    def build(self, input_shape):
        self.sub[0].build(input_shape)

    def call(self, x):
        return self.sub[0](x)


def test_state_in_lists_and_dictionaries():
    layer = Parts()
    layer.build((1, 2))
    assert [tuple(v.shape) for v in layer.variables] == [(2,), (1,), (2,), (2, 1), (1,)]
    assert [tuple(v.shape) for v in layer.weights] == [(2,), (1,), (2, 1), (1,)]
    assert [metric.name for metric in layer.metrics] == ["mean"] and len(layer.metrics_variables) == 2
    assert len(layer.non_trainable_variables) == 2 and len(layer.non_trainable_weights) == 1

    class Around(layers.Layer):
        def __init__(self, inner):
            super().__init__()
            self.inner, self.accuracy = inner, keras.metrics.Accuracy()
    assert [metric.name for metric in Around(layer).metrics] == ["accuracy", "mean"]


def test_deleted_weights_are_gone():
    layer = layers.Layer()
    layer.w = layer.add_weight((2,))
    assert len(layer.weights) == 1
    del layer.w
    assert layer.weights == [] and not hasattr(layer, "w")


class Stateful(layers.Layer):
    """Counts its calls, adds a loss and has a penalty."""

    def __init__(self):
        super().__init__()
        self.gain = self.add_weight(shape=(2,), initializer="ones", regularizer="l2")
        self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        self.calls.assign_add(1.0)
        self.add_loss(ops.sum(x))
        return x * self.gain


def test_stateless_call_leaves_the_variables():
    layer = Stateful()
    with pytest.raises(ValueError, match="Stateful"):
        layer.stateless_call([], [], X)
    layer.build(None)
    x = np.ones((1, 2), np.float32)
    out, changed, losses = layer.stateless_call([np.array([2, 3], np.float32)], [np.float32(5)], x, return_losses=True)
    np.testing.assert_array_equal(out, [[2, 3]])
    assert [float(value) for value in changed] == [6]
    np.testing.assert_allclose([float(loss) for loss in losses], [2, 0.13], atol=1e-6)
    np.testing.assert_array_equal(layer.gain, [1, 1])
    assert float(layer.calls) == 0
    np.testing.assert_allclose([float(loss) for loss in layer.losses], [0.02], atol=1e-7)
    out, changed = layer.stateless_call(layer.trainable_variables, changed, x)
    assert float(changed[0]) == 7 and float(layer.calls) == 0
    with pytest.raises(ValueError, match="`trainable_variables`"):
        layer.stateless_call([], [1.0], x)


def test_stateless_call_of_layers_of_the_table_has_gradients():
    layer = layers.Dense(2, kernel_initializer="ones")
    x = np.array([[1, 2, 3]], np.float32)
    layer(x)
    kernel, bias = tf.constant(np.full((3, 2), 2, np.float32)), tf.constant([1.0, -1.0])
    with tf.GradientTape() as tape:
        tape.watch(kernel)
        out, _ = layer.stateless_call([kernel, bias], [], x)
    np.testing.assert_array_equal(out, [[13, 11]])
    np.testing.assert_array_equal(tape.gradient(out, kernel), np.repeat(x.T, 2, 1))
    np.testing.assert_array_equal(layer(x), [[6, 6]])  # its own values, and no trace of the others
    drop = layers.Dropout(0.5, seed=3)
    out, (state,) = drop.stateless_call([], [drop.seed_generator.state], np.ones((2, 2), np.float32), training=True)
    assert state.numpy().tolist() == [3, 1] and drop.seed_generator.state.numpy().tolist() == [3, 0]


def test_stateless_scope():
    v = keras.Variable([1.0, 2.0])
    with keras.StatelessScope([(v, [3.0, 4.0])]) as scope:
        np.testing.assert_array_equal(v.numpy(), [3, 4])
        v.assign_add([1.0, 1.0])
        np.testing.assert_array_equal(v + 1, [5, 6])
    np.testing.assert_array_equal(scope.get_current_value(v), [4, 5])
    np.testing.assert_array_equal(v, [1, 2])
    with pytest.raises(ValueError, match=r"\(1,\)"):
        keras.StatelessScope([(v, [1.0])])
    with pytest.raises(ValueError, match="1.0"):
        keras.StatelessScope([(1.0, [1.0])])


def test_own_variables_are_saved_in_order():
    layer = Parts()
    layer.build((1, 2))
    store = {}
    layer.save_own_variables(store)
    assert list(store) == ["0", "1"]
    layer.load_own_variables({"0": np.array([5.0, 6.0]), "1": np.array([7.0])})
    np.testing.assert_array_equal(layer.ws[0], [5, 6])
    with pytest.raises(ValueError, match="'parts'"):
        layer.load_own_variables({"0": np.array([5.0, 6.0])})
    with pytest.raises(ValueError, match="'dense_1'"):
        layers.Dense(2).load_own_variables({"0": 1})


# ---- losses ----

def test_losses():
    layer = Stateful()
    layer(np.ones((1, 2), np.float32))
    layer(np.ones((1, 2), np.float32))
    assert len(layer.losses) == 2  # those of the last call alone, and the penalty
    with pytest.raises(ValueError, match="add_loss"):
        layer.add_loss(3.0)
    quiet = layers.Dense(1, activity_regularizer="l1")
    quiet(keras.Input((2,)))
    assert quiet.losses == []


# ---- arguments ----

def test_masks_go_to_the_arguments_that_ask():
    layer, x, y = Two(), tf.ones((2, 1)), tf.ones((2, 3))
    y._keras_mask = tf.constant([True, False])
    layer(x, y)
    np.testing.assert_array_equal(layer.seen, [True, False])
    layer = Two()
    layer(b=y, a=x)
    np.testing.assert_array_equal(layer.seen, [True, False])

    class Passes(layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

        def call(self, x, mask=None):
            return x * 1.0
    out = Passes()(x, mask=tf.constant([False, True]))
    np.testing.assert_array_equal(out._keras_mask, [False, True])


def test_inputs_that_do_not_fit():
    one = np.ones((1, 2), np.float32)
    with pytest.raises(ValueError, match='"dense"'):
        layers.Dense(2)([one, one])
    layer = layers.Layer()
    layer.input_spec = keras.InputSpec(dtype="int32", max_ndim=2)
    layer.call = lambda x: x
    with pytest.raises(ValueError, match="dtype=int32"):
        layer(one)
    with pytest.raises(ValueError, match="max_ndim=2"):
        layer(np.ones((1, 1, 1), np.int32))
    layer.input_spec = [keras.InputSpec(shape=(None, 3), name="a"), keras.InputSpec(ndim=2, name="b", optional=True)]
    with pytest.raises(ValueError, match='"b"'):
        layer({"a": one})
    with pytest.raises(ValueError, match="'a'"):
        layer({"a": one, "b": None})


def test_input_spec():
    assert keras.InputSpec(shape=(None, 3)).get_config() == {
        "dtype": None, "shape": (None, 3), "ndim": 2, "max_ndim": None, "min_ndim": None, "axes": {}, "optional": False}
    assert repr(keras.InputSpec.from_config({"ndim": 2, "axes": {-1: 3}})) == "InputSpec(ndim=2, axes={-1: 3})"
    with pytest.raises(TypeError, match="`axes`"):
        keras.InputSpec(axes={"x": 1})
    with pytest.raises(ValueError, match="Axis"):
        keras.InputSpec(ndim=2, axes={2: 3})


@pytest.mark.parametrize("make, text", [
    (lambda: layers.Dense(1, trainable=1), "trainable=1"),
    (lambda: layers.Dense(2.5), "`units`"),
    (lambda: layers.Dense(None), "`units`"),
    (lambda: layers.Embedding("3", 2), "`input_dim`"),
    (lambda: layers.Embedding(3, True), "`output_dim`"),
    (lambda: layers.Conv2D(0, 1), "filters=0"),
    (lambda: layers.DepthwiseConv2D(2, depth_multiplier=0), "depth_multiplier=0"),
    (lambda: layers.MaxPooling2D((2, 0)), r"pool_size=\(2, 0\)"),
    (lambda: layers.Conv2D(2, 3, strides=2, dilation_rate=(2, 1)), r"dilation_rate=\(2, 1\)"),
    (lambda: layers.Conv1D(2, 3, strides=0), r"strides=\(0,\)"),
    (lambda: layers.Conv2DTranspose(2, 3, strides=2, output_padding=2), "`output_padding`"),
    (lambda: layers.ReLU(negative_slope=None), "negative_slope=None"),
    (lambda: layers.ReLU(threshold=-1.0), "threshold"),
    (lambda: layers.ReLU(max_value=-1.0), "max_value=-1.0"),
    (lambda: layers.LeakyReLU(None), "Leaky"),
    (lambda: layers.DepthwiseConv2D(5)(X[:, :, :3]), "window"),
])
def test_wrong_arguments(make, text):
    with pytest.raises(ValueError, match=text):
        make()


# ---- shapes ----

def test_output_shapes_build_nothing():
    layer = layers.Dense(4, activation="softmax")
    assert layer.compute_output_shape((None, 7)) == (None, 4) and not layer.built
    spec = layers.Dense(3, dtype="float64").compute_output_spec(keras.KerasTensor((2, 2)))
    assert spec.shape == (2, 3) and spec.dtype == "float64"
    assert layers.MaxPooling2D(padding="same").compute_output_shape((None, 5, None, 3)) == (None, 3, None, 3)
    assert layers.Concatenate().compute_output_shape([(None, 2), (None, 5)]) == (None, 7)
    with pytest.raises(NotImplementedError, match="`compute_output_shape`"):
        layers.Layer().compute_output_shape((2,))


def test_a_layer_may_say_its_output_shape():
    class Says(layers.Layer):
        def compute_output_shape(self, input_shape):
            return {"a": (*input_shape, 3), "b": [input_shape, (2,)]}

        def call(self, x):
            raise RuntimeError("is not called")
    outputs = Says()(keras.Input((5,)))
    assert outputs["a"].shape == (None, 5, 3) and [one.shape for one in outputs["b"]] == [(None, 5), (2,)]
    assert Says().compute_output_spec(keras.KerasTensor((1, 2)))["a"].shape == (1, 2, 3)


def test_double_precision():
    layer = layers.Dense(3, dtype="float64")
    assert layer(np.ones((1, 2))).dtype == "float64" and layer.kernel.dtype == "float64"
    with pytest.raises(NotImplementedError, match="quantization"):
        layers.Dense(3, dtype="int8_from_float32")
    layer.dtype_policy = "float32"
    assert layer.compute_dtype == "float32" and layer.dtype_policy == keras.DTypePolicy("float32")


# ---- channels first, unknown sizes ----

def test_convolution_with_channels_first():
    x = X.transpose(0, 3, 1, 2)
    layer = layers.Conv2D(2, (2, 2), strides=(2, 1), data_format="channels_first", padding="same")
    layer.build(x.shape)
    assert layer.kernel.shape == (2, 2, 2, 2) and repr(layer.input_spec) == "InputSpec(min_ndim=4, axes={1: 2})"
    layer.kernel.assign(np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 2, 2, 2))
    np.testing.assert_allclose(
        layer(x).numpy().ravel(), [1.84, 1.733333, 1, 1.2, 1.093333, -0.6, 1.253333, 1.36, 0.866667, 1.893333, 2,
                                   -0.093333], atol=1e-6)
    assert layer.compute_output_shape((None, 2, None, 5)) == (None, 2, None, 5)
    again = layers.Conv2D.from_config(layer.get_config())
    assert again.data_format == "channels_first" and layers.Conv2D(1, 1).data_format == "channels_last"


@pytest.mark.parametrize("make", [
    lambda form: layers.MaxPooling2D((2, 1), data_format=form),
    lambda form: layers.AveragePooling2D(2, strides=1, padding="same", data_format=form),
    lambda form: layers.AdaptiveAveragePooling2D((2, 3), data_format=form),
    lambda form: layers.GlobalMaxPooling2D(data_format=form, keepdims=True),
    lambda form: layers.DepthwiseConv2D(2, depthwise_initializer="ones", data_format=form),
    lambda form: layers.Conv2DTranspose(3, 2, kernel_initializer="ones", data_format=form)])
def test_channels_first_is_channels_last_turned(make):
    last, first = make("channels_last")(X), make("channels_first")(X.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(first.numpy(), last.numpy().transpose(0, 3, 1, 2))


def test_transposed_convolution_of_unknown_sizes():
    layer = layers.Conv2DTranspose(2, 3, strides=2, padding="same")
    start = keras.Input((None, None, 2))
    end = layer(start)
    assert end.shape == (None, None, None, 2)
    layer.kernel.assign(np.linspace(-1, 1, 36, dtype=np.float32).reshape(3, 3, 2, 2))
    model = keras.Model(start, end)
    want = [1.848571, 1.631429, 1.414286, 1.197143, 2.44, 2.051429, 1.117143, 0.945714, 1.845714, 1.548571, 0.82,
            0.694286]
    for call in (model, tf.function(lambda x: model(x), input_signature=[tf.TensorSpec([None, None, None, 2])])):
        out = call(X).numpy()
        assert out.shape == (1, 8, 6, 2)
        np.testing.assert_allclose(out.ravel()[:12], want, atol=1e-5)
        np.testing.assert_allclose(out.sum(), -24.68571, atol=1e-4)
    line = layers.Conv1DTranspose(1, 2, strides=3)
    start = keras.Input((None, 2))
    end = line(start)
    line.kernel.assign(np.linspace(-1, 1, 4, dtype=np.float32).reshape(2, 1, 2))
    np.testing.assert_allclose(
        keras.Model(start, end)(X[:, :, 0]).numpy().ravel(),
        [1.3, -1.233333, 0, 0.5, -0.433333, 0, -0.3, 0.366667, 0, -1.1, 1.166667, 0], atol=1e-6)


def test_transposed_convolution_of_unknown_sizes_learns():
    model = keras.Sequential([keras.Input((None, None, 1)), layers.Conv2D(2, 3, strides=2, padding="same"),
                              layers.Conv2DTranspose(1, 3, strides=2, padding="same")])
    model.compile(optimizer=keras.optimizers.Adam(0.05), loss="mse")
    x = np.random.default_rng(1).normal(size=(8, 6, 8, 1)).astype(np.float32)
    history = model.fit(x, x, batch_size=4, epochs=8, verbose=0).history["loss"]
    assert history[-1] < 0.8 * history[0]


# ---- configurations and copies ----

def test_configuration_of_a_class_without_get_config():
    layer = Scaled(3.0, name="s", trainable=False)
    assert {"name": "s", "trainable": False, "start": 3.0}.items() <= layer.get_config().items()
    again = Scaled.from_config(layer.get_config())
    assert again.start == 3.0 and again.name == "s"

    class Bare(layers.Layer):
        def __init__(self, k):
            super().__init__()
    assert "name" not in Bare(3).get_config() and Bare(3).get_config()["k"] == 3
    with pytest.raises(TypeError, match="'Bare'"):
        Bare.from_config(Bare(3).get_config())
    with pytest.raises(NotImplementedError, match="`get_config"):
        Bare(np.ones(2)).get_config()

    class Own(Bare):
        def get_config(self):
            return {**super().get_config(), "k": 1}
    assert set(Own(np.ones(2)).get_config()) == {"name", "trainable", "dtype", "k"}


def test_pickles_and_copies():
    layer = layers.Dense(2, kernel_regularizer="l2")
    layer.build((None, 3))
    for again in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
        assert again.name == layer.name and again.kernel is not layer.kernel
        np.testing.assert_array_equal(again.kernel, layer.kernel)
        assert again.get_config() == layer.get_config()
    assert not pickle.loads(pickle.dumps(layers.Dense(2))).built


class Stack(layers.Layer):
    """Layers in a list, which its call builds."""

    def __init__(self):
        super().__init__()
        self.parts = [layers.Dense(3), layers.Dense(1)]

    def call(self, x):
        for part in self.parts:
            x = part(x)
        return x


def test_layers_inside_are_built_by_the_call():
    layer = Stack()
    layer.build((None, 2))
    assert [tuple(w.shape) for w in layer.weights] == [(2, 3), (3,), (3, 1), (1,)]
    layer.trainable = False
    again = pickle.loads(pickle.dumps(layer))
    x = np.ones((1, 2), np.float32)
    np.testing.assert_array_equal(again(x), layer(x))
    assert again.trainable_weights == [] and again.get_build_config() == {"input_shape": (None, 2)}
    with pytest.raises(ValueError):
        Stack().build((None, None))


def double(x):
    """Twice x."""
    return 2 * x


def test_lambda_configurations():
    layer = layers.Lambda(double, output_shape=(3,), arguments={})
    assert layer.compute_output_shape((None, 3)) == (None, 3)
    again = layers.Lambda.from_config(layer.get_config(), custom_objects={"double": double})
    np.testing.assert_array_equal(again(np.ones((1, 3), np.float32)), [[2, 2, 2]])
    assert layers.Lambda(lambda x: x, output_shape=lambda shape: (*shape, 7)).compute_output_shape((2,)) == (2, 7)
    config = layers.Lambda(lambda x: x + 1).get_config()
    assert config["function"]["class_name"] == "__lambda__"
    with pytest.raises(ValueError, match="Lambda"):
        layers.Lambda.from_config(config)


def test_keras_tensors():
    value = keras.KerasTensor((3, 2))
    assert value.reshape((6, 1)).squeeze().shape == (6,) and value.reshape((1, 6)).squeeze(axis=0).shape == (6,)
    start = keras.Input((2,))
    for end, want in ((tf.constant([2.0, 3.0]) * start, [2, 3]), (tf.constant([2.0, 0.5]) < start, [False, True])):
        np.testing.assert_array_equal(keras.Model(start, end)(np.ones((1, 2), np.float32)), [want])
    with pytest.raises(AttributeError, match="`shape`"):
        value.shape = (2,)
    with pytest.raises(ValueError, match="`ragged=True`"):
        keras.KerasTensor((3,), sparse=True, ragged=True)
    with pytest.raises(NotImplementedError, match="symbolic"):
        iter(value)
    for use in (np.asarray, tf.convert_to_tensor, tf.nn.relu, lambda one: tf.add(one, 1.0)):
        with pytest.raises(ValueError, match="KerasTensor"):
            use(value)
    for use in (keras.name_scope, lambda name: layers.Dense(1, name=name)):
        with pytest.raises(ValueError, match="`name`"):
            use("a/b")


def test_input_layer_of_a_tensor():
    start = keras.Input((2, 3), batch_size=4)
    again = layers.InputLayer(input_tensor=start)
    assert again.output is start and again.batch_shape == (4, 2, 3) and keras.Input(tensor=start) is start
    for arguments, name in (({"shape": (2, 4)}, "shape"), ({"batch_size": 5}, "batch_size"),
                            ({"dtype": "int32"}, "dtype"), ({"sparse": True}, "sparse")):
        with pytest.raises(ValueError, match=f"`{name}`"):
            layers.InputLayer(input_tensor=start, **arguments)
    with pytest.raises(ValueError, match="`input_tensor`"):
        layers.InputLayer(input_tensor=X)
    with pytest.raises(ValueError, match="`batch_shape`"):
        layers.InputLayer(batch_size=2, batch_shape=(2, 3))
    with pytest.raises(ValueError, match="`ragged=True`"):
        layers.InputLayer((2,), ragged=True, sparse=True)
    assert layers.InputLayer((2,), ragged=True).get_config()["ragged"] and keras.Input((2,), ragged=True).ragged


@pytest.mark.parametrize("axis, before, after", [(-1, -1, [-1]), ((1, 2), [1, 2], [1, 2]), ([2], [2], [2])])
def test_axes_of_layer_normalization_are_a_list_once_it_is_built(axis, before, after):
    layer = keras.layers.LayerNormalization(axis)
    assert layer.axis == layer.get_config()["axis"] == before
    layer.build((2, 3, 4))
    assert layer.axis == layer.get_config()["axis"] == after
    again = keras.layers.LayerNormalization.from_config(layer.get_config())
    again.build((2, 3, 4))
    assert [one.shape for one in again.weights] == [one.shape for one in layer.weights]
