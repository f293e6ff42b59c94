"""Small parts of ``leat.keras``: functions of layers, registered names, keras.random, keras.tree, keras.config."""

import numpy as np
import pytest

import leat as tf
from leat import keras


def test_merging_functions():
    a, b = keras.Input((4,)), keras.Input((4,))
    assert keras.layers.concatenate([a, b]).shape == (None, 8)
    assert keras.layers.concatenate([a, b], axis=0).shape == (None, 4)
    model = keras.Model([a, b], [keras.layers.add([a, b]), keras.layers.subtract([a, b], name="difference"),
                                 keras.layers.dot([a, b], axes=1)])
    x, y = np.arange(8.0).reshape(2, 4).astype("f"), np.ones((2, 4), "f")
    total, difference, product = model([x, y])
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(difference, x - y)
    np.testing.assert_array_equal(product, (x * y).sum(1, keepdims=True))
    assert model.get_layer("difference")
    assert keras.layers.Convolution1D is keras.layers.Conv1D and keras.layers.MaxPool3D is keras.layers.MaxPooling3D


def test_layers_as_configurations():
    config = keras.layers.serialize(keras.layers.Dense(3, activation="relu"))
    assert config["class_name"] == "Dense" and config["config"]["units"] == 3
    assert keras.layers.deserialize(config).get_config() == config["config"]


def test_registered_activations():
    @keras.saving.register_keras_serializable(package="test", name="square")
    def squared(x):
        return x * x

    layer = keras.layers.Dense(2, activation=squared)
    config = layer.get_config()
    assert config["activation"] == {"module": "builtins", "class_name": "function", "config": "test>square",
                                    "registered_name": "function"}  # as Keras writes it
    assert keras.layers.Dense.from_config(config).activation is squared
    assert keras.activations.get("test>square") is squared
    with pytest.raises(ValueError, match="no_such"):
        keras.activations.get("no_such")


def test_custom_object_scope():
    def half(x):
        return x / 2
    with keras.saving.custom_object_scope({"half": half}):
        assert keras.activations.get("half") is half
    with pytest.raises(ValueError, match="half"):
        keras.activations.get("half")


def test_random_with_a_generator():
    # As keras.random.dropout and categorical gave them with TensorFlow's backend.
    generator = keras.random.SeedGenerator(1337)
    np.testing.assert_array_equal(keras.random.dropout(tf.ones((2, 4)), 0.5, seed=generator),
                                  [[2, 0, 2, 2], [0, 0, 2, 2]])
    drawn = keras.random.shuffle(np.arange(12).reshape(3, 4), axis=1, seed=3).numpy()
    assert sorted(drawn[0]) == [0, 1, 2, 3] and (drawn == drawn[0] + np.array([[0], [4], [8]])).all()
    classes = keras.random.categorical(np.log([[0.0001, 0.9998, 0.0001]]).astype("f"), 50, seed=5)
    assert classes.dtype == "int32" and (classes.numpy() == 1).mean() > 0.9


def test_tree():
    nested = {"b": [1, (2, 3)], "a": 4}
    assert keras.tree.flatten(nested) == [4, 1, 2, 3]
    assert keras.tree.map_structure(lambda x: x + 1, nested) == {"a": 5, "b": [2, (3, 4)]}
    assert keras.tree.pack_sequence_as(nested, [0, 1, 2, 3]) == {"a": 0, "b": [1, (2, 3)]}
    assert keras.tree.lists_to_tuples([1, [2, {"a": [3]}]]) == (1, (2, {"a": (3,)}))
    with pytest.raises(ValueError):
        keras.tree.assert_same_structure([1, 2], [1, [2]])


def test_config():
    assert keras.config.floatx() == "float32" and keras.config.backend() == "tensorflow"
    keras.config.set_floatx("float32")
    with pytest.raises(NotImplementedError, match="1e-05"):
        keras.config.set_epsilon(1e-5)
    with pytest.raises(ValueError, match="Unknown"):
        keras.config.set_floatx("int3")


def test_lines_instead_of_bars(capsys):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(loss="mse")
    keras.config.disable_interactive_logging()
    try:
        model.fit(np.zeros((4, 2)), np.zeros((4, 1)), batch_size=2)
    finally:
        keras.config.enable_interactive_logging()
    printed = capsys.readouterr().out
    assert "\r" not in printed and "\b" not in printed and "2/2 - " in printed


def test_a_subclass_between_tensors():
    class Doubling(keras.Model):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.steps = 0

        def train_step(self, data):
            self.steps += 1
            return super().train_step(data)
    inputs = keras.Input((3,))
    model = Doubling(inputs, keras.layers.Dense(1)(inputs), name="own")
    assert isinstance(model, Doubling) and type(model).__name__ == "Doubling" and model.name == "own"
    assert model.output_shape == (None, 1) and len(model.layers) == 2
    model.compile(optimizer="sgd", loss="mse")
    model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
    assert model.steps == 1  # traced once
    with pytest.raises(TypeError, match="keras.Input"):
        Doubling(3)


def test_sizes_through_up_sampling():
    x = keras.layers.UpSampling2D((2, 3))(keras.Input((4, 5, 1)))
    assert x.shape == (None, 8, 15, 1)
    assert keras.layers.UpSampling1D(2)(keras.Input((4, 3))).shape == (None, 8, 3)
    rows = tf.data.Dataset.from_tensor_slices(np.arange(6).reshape(2, 3)).map(lambda x: tf.repeat(x, [2, 0, 1]))
    assert rows.element_spec.shape == (3,)
    assert [row.tolist() for row in rows.as_numpy_iterator()] == [[0, 0, 2], [3, 3, 5]]


def test_aliases_of_losses_and_metrics():
    for short, name in (("mse", "mean_squared_error"), ("mae", "mean_absolute_error"), ("kld", "kl_divergence"),
                        ("mape", "mean_absolute_percentage_error"), ("msle", "mean_squared_logarithmic_error")):
        for module in (keras.losses, keras.metrics):
            assert getattr(module, short) is getattr(module, short.upper()) is getattr(keras.losses, name)
    assert keras.losses.logcosh is keras.metrics.logcosh is keras.losses.log_cosh
    assert keras.losses.Reduction.SUM == "sum" and keras.losses.Reduction.AUTO == "auto"
    with pytest.raises(ValueError, match="auto"):
        keras.losses.Reduction.validate("most")
    with pytest.raises(ValueError, match="auto"):
        keras.losses.MeanSquaredError(reduction=keras.losses.Reduction.AUTO)


def test_modules_of_operations():
    assert keras.ops.numpy.all is keras.ops.all and keras.ops.nn.one_hot is keras.ops.one_hot
    assert keras.ops.nn.polar is keras.ops.polar
    assert len(keras.ops.numpy.__all__) == 220 and not hasattr(keras.ops.numpy, "softmax")  # as in Keras
    assert keras.version() == keras.__version__ == "3.15.1"


def test_operations_of_a_program():
    class Times(keras.Operation):
        def __init__(self, factor, name=None):
            super().__init__(name=name)
            self.factor = factor

        def call(self, x):
            return x * self.factor

        def compute_output_spec(self, x):
            return keras.KerasTensor(x.shape, x.dtype)
    times, x = Times(3, name="times"), keras.Input((2,))
    assert times(2) == 6 and times.get_config() == {"name": "times", "factor": 3}
    model = keras.Model(x, keras.layers.Dense(1)(times(x)))
    assert times.output.shape == (None, 2) and times in model.operations and times not in model.layers
    np.testing.assert_allclose(model(np.ones((1, 2), "f")), 3 * np.sum(model.layers[-1].kernel, 0)[None], rtol=1e-6)
    again = keras.Model.from_config(model.get_config(), custom_objects={"Times": Times})
    assert [one.factor for one in again.operations if one.name == "times"] == [3]
    assert isinstance(model.layers[-1], keras.Operation) and not isinstance(model.layers[-1], Times)
    between = keras.Function(x, times(x))
    assert between.compute_output_shape((5, 2)) == (5, 2) and between.compute_output_spec(x).shape == (None, 2)
    np.testing.assert_array_equal(between(np.ones((1, 2), "f")), [[3, 3]])


def test_devices_and_rematerialisation():
    with keras.device("cpu:0"), keras.RematScope(mode="full"):
        assert float(keras.remat(lambda x: x * x)(tf.constant(3.0))) == 9
    with pytest.raises(ValueError, match="larger_than"):
        keras.RematScope(mode="some")


def test_estimators_need_their_package(monkeypatch):
    wrappers = keras.wrappers
    monkeypatch.setattr(wrappers, "sklearn", None)
    for name in ("SKLearnClassifier", "SKLearnRegressor", "SKLearnTransformer"):
        with pytest.raises(ImportError, match="scikit-learn"):
            getattr(wrappers, name)(lambda X, y: None)
