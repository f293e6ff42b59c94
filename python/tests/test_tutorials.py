"""What guides and tutorials of TensorFlow and Keras do beside what the other tests do; values are theirs."""

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers, ops


class Table:
    """As a table of pandas': an array with an `iloc`."""

    iloc = None
    shape, dtype = (2, 2), np.dtype("float64")

    def __array__(self, dtype=None, copy=None):
        return np.array([[1., 2.], [3., 4.]])


def test_tensors_of_models_have_the_numbers_of_keras():
    keras.backend.clear_session()
    start = keras.Input((4,))
    assert [start.name, keras.Input((1,), name="said").name] == ["keras_tensor", "said"]
    x = layers.Dense(3)(start)
    x = layers.BatchNormalization()(layers.Dropout(.5)(x))
    assert x.name == "keras_tensor_3"
    x = layers.concatenate([ops.relu(x * 2 + 1), start])
    assert x.name == "keras_tensor_7"


def test_a_fit_takes_no_numbers_of_tensors():
    keras.backend.clear_session()
    model = keras.Sequential([layers.Dense(2)])
    model(np.ones((2, 3)))
    before = int(keras.Input((3,)).name.rsplit("_", 1)[1])
    model.compile("sgd", "mse")
    model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    assert keras.Input((3,)).name == f"keras_tensor_{before + 1}"


def test_what_is_called_before_it_is_built_takes_a_number():
    class Outer(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = layers.Dense(2)

        def call(self, x):
            return self.inner(x)
    keras.backend.clear_session()
    start = keras.Input((4,))
    assert Outer()(start).name == "keras_tensor_2"
    Outer()(np.ones((1, 4)))
    assert keras.Input((4,)).name == "keras_tensor_4"


def test_compile_keeps_the_loss_and_metrics_that_it_is_not_given():
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1, kernel_initializer="ones")])
    x, y = np.ones((2, 2)), np.zeros((2, 1))
    model.compile("sgd", "mse", metrics=["mae"])
    model.compile("adam")
    assert model.loss == "mse" and model.evaluate(x, y, verbose=0) == [4., 2.]
    model.compile("adam", "mae")
    assert model.evaluate(x, y, verbose=0) == [2., 2.]


def test_evaluating_makes_no_slots_of_the_optimizer():
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.compile("adam", "mse")
    model.evaluate(np.ones((2, 2)), np.ones((2, 1)), verbose=0)
    model.test_on_batch(np.ones((2, 2)), np.ones((2, 1)))
    assert not model.optimizer.built
    model.train_on_batch(np.ones((2, 2)), np.ones((2, 1)))
    assert model.optimizer.built


def test_models_that_begin_with_texts_are_built_by_their_first_call(tmp_path):
    words = layers.TextVectorization(output_sequence_length=3)
    words.adapt(["a b c"])
    words(tf.constant(["a"]))
    model = keras.Sequential([words, layers.Embedding(5, 2)])
    assert words.compute_dtype == "string"
    assert layers.IntegerLookup(vocabulary=[1]).compute_dtype == "int64"
    assert model.predict(tf.constant(["a b", "c"]), verbose=0).shape == (2, 3, 2)
    lines = []
    model.summary(print_fn=lines.append)
    assert "(None, 3, 2)" in "\n".join(lines)
    model.export(str(tmp_path / "model"), verbose=False)
    assert tf.saved_model.load(str(tmp_path / "model")).serve(tf.constant(["a"])).shape == (1, 3, 2)


def test_a_layer_without_a_call_stands_in_a_model_that_is_not_built():
    class Held(layers.Layer):
        pass
    model = keras.Sequential([keras.Input((4,)), Held()])
    assert not model.built and len(model.layers) == 1


def test_layers_take_tables():
    found = layers.Dense(1, kernel_initializer="ones")(Table())
    assert found.numpy().tolist() == [[3.], [7.]] and found.dtype == tf.float32


def test_summaries_say_shapes_as_keras_does():
    class Twice(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = layers.Dense(2)

        def call(self, x):
            return self.inner(x), self.inner(x)

    class Whole(keras.Model):
        def __init__(self):
            super().__init__()
            self.twice, self.last = Twice(), layers.Dense(3)

        def call(self, x):
            return self.last(self.twice(x)[0])
    whole, lines = Whole(), []
    whole(np.ones((1, 4)))
    whole.summary(print_fn=lines.append)
    rows = [line.split("│") for line in "\n".join(lines).split("\n") if line.startswith("│")]
    assert [row[2].strip() for row in rows] == ["?", "(1, 3)"]
    start, lines = keras.Input((3, 4)), []
    keras.Model(start, layers.LSTM(2, return_state=True)(start)).summary(print_fn=lines.append)
    assert "[(None, 2), (None," in "\n".join(lines)


@pytest.mark.parametrize("size, padding, dilation, strides, groups, expected", [
    ((3, 3, 2), "same", 1, 1, 1, (2, 5, 4, 4, 2)), ((3, 3, 2), "valid", 1, 1, 1, (2, 3, 2, 3, 2)),
    ((2, 1, 1), "same", 2, 1, 1, (2, 5, 4, 4, 2)), ((2, 3, 2), "valid", 1, (2, 1, 1), 1, (2, 2, 2, 3, 2)),
    ((2, 3, 2), "valid", 1, 1, 2, (2, 4, 2, 3, 2))])
def test_space_whose_first_size_is_unknown(size, padding, dilation, strides, groups, expected):
    x = np.random.RandomState(0).rand(2, 5, 4, 4, 2).astype(np.float32)
    layer = layers.Conv3D(2, size, padding=padding, dilation_rate=(dilation, 1, 1), strides=strides, groups=groups)
    start = keras.Input((None, 4, 4, 2))
    model, known = keras.Model(start, layer(start)), keras.Input((5, 4, 4, 2))
    fixed = keras.Model(known, layer(known))  # which test_keras_agreements.py compares with Keras
    assert model.output_shape == (None, None, *expected[2:]) and model(x).shape == expected
    np.testing.assert_allclose(model(x), fixed(x), 1e-5, 1e-6)
    gradients = []
    for one in (model, fixed):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(one(x) ** 2)
        gradients.append(tape.gradient(total, layer.kernel))
    np.testing.assert_allclose(*gradients, 1e-4, 1e-5)


def test_gradients_pass_space_whose_first_size_is_unknown():
    x = np.random.RandomState(0).rand(2, 3, 4, 4, 2).astype(np.float32)

    def found(size):
        keras.utils.set_random_seed(1)
        start = keras.Input((size, 4, 4, 2))
        model = keras.Model(start, layers.Conv3D(2, 3, padding="same")(layers.Conv3D(2, 3, padding="same")(start)))

        @tf.function(input_signature=[tf.TensorSpec([None, size, 4, 4, 2])])
        def gradient(x):
            with tf.GradientTape() as tape:
                total = tf.reduce_sum(model(x) ** 2)
            return tape.gradient(total, model.trainable_variables)
        return gradient(x)
    for one, other in zip(found(None), found(3)):
        np.testing.assert_allclose(one, other, 1e-4, 1e-4)


def test_the_gradient_of_a_padding_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(tf.pad(x, [[1, 2], [0, 1]]) * tf.reshape(tf.range(20.), [5, 4]))
        return tape.gradient(total, x)
    assert gradient(tf.ones([2, 3])).numpy().tolist() == [[4., 5., 6.], [8., 9., 10.]]


def test_space_whose_first_size_is_unknown_has_no_steps():
    with pytest.raises(tf.errors.InvalidArgumentError, match="first"):
        layers.Conv3D(2, 3, strides=2, padding="same")(keras.Input((None, 4, 4, 2)))


TEXTS = [["a", "b"], [], ["c"]]


@pytest.mark.parametrize("axis, separator, keepdims, expected", [
    (-1, "", False, [b"ab", b"", b"c"]), (1, "-", False, [b"a-b", b"", b"c"]), (0, "-", False, [b"a-c", b"b"]),
    (None, "", False, b"abc"), (-1, "", True, [[b"ab"], [b""], [b"c"]])])
def test_texts_of_rows_are_joined(axis, separator, keepdims, expected):
    found = tf.strings.reduce_join(tf.ragged.constant(TEXTS), axis, keepdims, separator)
    assert np.array(found).tolist() == expected


def test_texts_of_inner_rows_are_joined():
    texts = tf.ragged.constant([[["a", "b"], ["d"]], [], [["c"]]])
    assert tf.strings.reduce_join(texts, axis=2, separator=" ").to_list() == [[b"a b", b"d"], [], [b"c"]]
    with pytest.raises(ValueError, match="bounds"):
        tf.strings.reduce_join(texts, 3)


def test_a_concrete_function_refuses_tensors_of_another_dtype():
    taken = tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([], tf.string))
    for call in (lambda: taken(tf.constant(1)), lambda: taken(x=tf.constant(1.))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="string"):
            call()
    with pytest.raises(TypeError, match="Binding"):
        taken(1)


def test_what_a_function_leaves_behind_has_no_array():
    left = []

    @tf.function
    def f(x):
        left.append(x + 1)
        return x
    f(tf.constant(1))
    with pytest.raises(AttributeError, match="SymbolicTensor"):
        left[0].numpy()


def test_strategies_take_logical_devices():
    strategy = tf.distribute.MirroredStrategy(tf.config.list_logical_devices("CPU")[:1])
    assert strategy.num_replicas_in_sync == 1


def test_vocabularies_hold_scalars_of_numpy():
    shown = repr(layers.TextVectorization(vocabulary=["a", "b"]).get_vocabulary())
    assert shown == "['', '[UNK]', np.str_('a'), np.str_('b')]"
    found = layers.IntegerLookup(vocabulary=[1, 2]).get_vocabulary()
    assert [type(one) for one in found] == [int, np.int64, np.int64]


def test_what_is_exported_says_what_it_takes(tmp_path, capsys):
    model = keras.Sequential([keras.Input((3,), name="p"), layers.Dense(2)])
    model.export(str(tmp_path))
    said = capsys.readouterr().out.split("\n")
    assert said[1:6] == [
        "", "* Endpoint 'serve'", "  args_0 (POSITIONAL_ONLY): TensorSpec(shape=(None, 3), dtype=tf.float32, name='p')",
        "Output Type:", "  TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)"]
    assert said[6] == "Captures:" and len(said) == 10 and said[7].endswith(
        ": TensorSpec(shape=(), dtype=tf.resource, name=None)")
    serve = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    assert repr(serve).startswith(
        "<ConcreteFunction (*, p: TensorSpec(shape=(None, 3), dtype=tf.float32, name='p')) -> Dict[['output_0', "
        "TensorSpec(shape=(None, 2), dtype=tf.float32, name='output_0')]] at 0x")
    assert str(serve).split("\n")[:2] == [
        "ConcreteFunction Input Parameters:",
        "  p (KEYWORD_ONLY): TensorSpec(shape=(None, 3), dtype=tf.float32, name='p')"]


def test_functions_trace_by_types_of_ones_own():
    class FruitType(tf.types.experimental.TraceType):
        def __init__(self, fruit):
            self.fruit = fruit

        def is_subtype_of(self, other):
            return type(other) is FruitType and isinstance(self.fruit, type(other.fruit))

        def most_specific_common_supertype(self, others):
            return self if all(self == other for other in others) else None

        def placeholder_value(self, placeholder_context):
            return self.fruit

        def __eq__(self, other):
            return type(other) is FruitType and type(self.fruit) is type(other.fruit)

        def __hash__(self):
            return hash(type(self.fruit))

    class Fruit:
        def __init__(self, weight):
            self.weight = weight

        def __tf_tracing_type__(self, context):
            return FruitType(self)

    class Apple(Fruit):
        pass
    traced = []

    @tf.function
    def weigh(fruit, x):
        traced.append(type(fruit).__name__)
        return fruit.weight + x
    assert [weigh(one, tf.constant(1)).numpy() for one in (Fruit(1), Fruit(2), Apple(3))] == [2, 2, 2]
    assert traced == ["Fruit"]  # an apple is a fruit
    assert weigh(Apple(3), tf.constant([1])).numpy().tolist() == [4] and weigh(Apple(4), tf.constant(1)).numpy() == 2
    assert traced == ["Fruit", "Apple"]


def test_gradients_that_are_not_there_are_a_lookup_that_fails():
    image = tf.Variable([[[0.5, 0.0, 0.0]]])
    with tf.GradientTape() as tape:
        changed = tf.image.adjust_contrast(image, 0.1)
    with pytest.raises(LookupError, match="gradient"):
        tape.gradient(changed, image)


def test_a_model_may_have_no_name():
    class Block(keras.Model):
        def __init__(self):
            super().__init__(name="")
    assert Block().name == "" and layers.Dense(1, name="").name == ""


def test_lists_that_a_checkpoint_waits_for_are_shown_as_such(tmp_path):
    saved = tf.train.Checkpoint(listed=[tf.Variable(1.0)])
    path = saved.save(str(tmp_path / "ck"))
    restored = tf.train.Checkpoint()
    restored.restore(path)
    restored.listed = []
    assert str(restored.listed) == "ListWrapper([])"


def test_dtypes_of_variables_are_texts():
    layer = layers.Dense(2, dtype="mixed_float16")
    layer.build((None, 2))
    assert repr(layer.kernel.dtype) == "'float32'" and isinstance(layer.kernel.dtype, str)
    assert layer.kernel.dtype == tf.float32 and tf.zeros([1], layer.kernel.dtype).dtype is tf.float32


def test_configurations_of_models_say_that_they_are_not_compiled():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    assert model.to_json().endswith('"registered_name": null, "build_config": {"input_shape": [null, 3]}, '
                                    '"compile_config": {}}')
    start = keras.Input((2,), name="start")
    config = keras.Model(start, layers.Dense(1)(start)).get_config()
    assert config["layers"][1]["inbound_nodes"][0]["args"] == ({
        "class_name": "__keras_tensor__", "config": {"shape": (None, 2), "dtype": "float32",
                                                     "keras_history": ["start", 0, 0]}},)


def test_values_of_examples_are_arrays_of_their_dtypes():
    kinds = [tf.train.FloatList(value=[1.5]), tf.train.Int64List(value=[]), tf.train.BytesList(value=[b"abc"])]
    assert [np.array(one.value).dtype.str for one in kinds] == ["<f4", "<i8", "|S3"]
