"""leat.keras: clones, copies and files of models, and what is registered, as Keras 3.15 has them."""

import copy
import io
import pathlib
import pickle
import zipfile

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers

pytest.importorskip("h5py")
X = (np.arange(8.).reshape(2, 4) / 10).astype("float32")


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def functional():
    start = keras.Input((4,), name="start")
    return keras.Model(start, layers.Dense(2, name="end")(layers.Dense(3, activation="relu", name="middle")(start)))


def same(one, other):
    np.testing.assert_allclose(one(X), other(X), rtol=1e-6)


def saved(model, **kwargs):
    memory = io.BytesIO()
    model.save(memory)
    memory.seek(0)
    return keras.models.load_model(memory, **kwargs)


# ---- clones ----

def test_clones_have_weights_of_their_own_and_are_compiled():
    for model in (functional(), keras.Sequential([keras.Input((4,)), layers.Dense(2)]),
                  keras.Sequential([layers.Dense(2)])):
        model.compile("adam", "mse", metrics=["mae"])
        model(X)
        clone = keras.models.clone_model(model)
        clone(X)
        assert clone.compiled and type(clone.optimizer).__name__ == "Adam"
        assert all(one is not other for one, other in zip(clone.weights, model.weights, strict=True))
        clone.set_weights(model.get_weights())
        same(clone, model)


def test_clones_by_functions():
    def renamed(layer):
        return type(layer).from_config({**layer.get_config(), "name": f"{layer.name}_new"})

    def with_dropout(layer, *args, **kwargs):
        return layers.Dropout(0.5)(layer(*args, **kwargs))
    model = functional()
    assert [one.name for one in keras.models.clone_model(model, clone_function=renamed).layers] == [
        "start", "middle_new", "end_new"]
    dropping = keras.models.clone_model(model, clone_function=lambda layer: layer, call_function=with_dropout)
    assert [type(one).__name__ for one in dropping.layers] == ["InputLayer", "Dense", "Dropout", "Dense", "Dropout"]
    same(dropping, model)
    outer = keras.Sequential([keras.Input((4,)), model, layers.Dense(1, name="last")])
    clone = keras.models.clone_model(outer, clone_function=renamed, recursive=True)
    assert [one.name for one in clone.layers] == ["functional", "last_new"]
    assert [one.name for one in clone.layers[0].layers] == ["start", "middle_new", "end_new"]
    on_other = keras.models.clone_model(model, input_tensors=keras.Input((4,), batch_size=2))
    assert on_other.output_shape == (2, 2)
    with pytest.raises(ValueError, match="`input_tensors`"):
        keras.models.clone_model(model, input_tensors=[model.input, model.input])
    with pytest.raises(ValueError, match="`call_function`"):
        keras.models.clone_model(outer, call_function=with_dropout)


def test_a_model_of_the_middle_of_another():
    model = functional()
    part = keras.Model(model.get_layer("middle").output, model.output)
    assert [type(one).__name__ for one in part.layers] == ["InputLayer", "Dense"]
    middle = model.layers[1](X)
    np.testing.assert_allclose(part(middle), model(X), rtol=1e-6)
    for other in (keras.models.clone_model(part), keras.Model.from_config(part.get_config())):
        other.set_weights(part.get_weights())
        np.testing.assert_allclose(other(middle), model(X), rtol=1e-6)
    assert len(model.layers) == 3 and keras.Model(model.input, model.layers[1].output)(X).shape == (2, 3)


def test_operations_are_no_layers():
    start = keras.Input((4,))
    model = keras.Model(start, layers.Dense(2, name="dense")(start + 1.0))
    assert [one.name for one in model.layers] == ["input_layer", "dense"] and len(model.operations) == 3
    assert model.get_layer(index=1).name == "dense"
    with pytest.raises(AttributeError, match="`Model.layers`"):
        model.layers = []
    same(saved(model), model)


# ---- copies and files ----

@keras.saving.register_keras_serializable("tests")
class Deep(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(2)
        self.inside = [layers.Dense(3), {"k": layers.Dense(1)}]

    def call(self, x):
        return self.inside[1]["k"](self.inside[0](self.first(x)))


@keras.saving.register_keras_serializable("tests")
def distance(y_true, y_pred):
    return tf.reduce_mean(tf.abs(y_true - y_pred), -1)


@pytest.mark.parametrize("make", [functional, Deep, lambda: keras.Sequential([layers.Dense(3), layers.Dense(1)])],
                         ids=["functional", "subclass", "sequential"])
def test_models_come_back_built_and_compiled(make):
    model = make()
    model.compile("adam", distance, metrics=["mae", keras.metrics.MeanSquaredError(name="squares")], run_eagerly=False,
                  steps_per_execution=2)
    y = np.ones((2, model.compute_output_shape((2, 4))[-1]))
    model.fit(X, y, verbose=0)
    for other in (saved(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.built and other.compiled and type(other) is type(model) and other.loss is distance
        assert int(other.optimizer.iterations) == 1 and other.steps_per_execution == 2
        same(other, model)
        assert other.evaluate(X, y, verbose=0) == pytest.approx(model.evaluate(X, y, verbose=0))
    assert not saved(model, compile=False).compiled
    restored = keras.models.model_from_json(model.to_json())
    assert type(restored) is type(model) and restored.compiled


def test_a_model_that_was_built_and_never_called_comes_back_built():
    model = Deep()
    model.build((None, 4))
    assert saved(model).built
    same(saved(model), model)


def test_a_sequential_model_knows_its_shapes_after_a_call():
    model = keras.Sequential([layers.Dense(3), layers.Dense(1)])
    assert not hasattr(model, "input_shape")
    model(X)
    assert model.input_shape == (2, 4) and model.output_shape == (2, 1) and model(np.ones((5, 4))).shape == (5, 1)
    assert keras.Sequential([functional(), layers.Dense(1)]).output_shape == (None, 1)
    with pytest.raises(ValueError, match=r"\(None, 4\)"):
        keras.Sequential([keras.Input((4,)), layers.Dense(1)]).build((2, 3))
    numbers = keras.Sequential([keras.Input((1,)), layers.Dense(1)])
    assert numbers.predict(np.array([1., 2.]), verbose=0).shape == (2, 1)


class Beside(keras.Model):
    """A functional model with layers that are attributes: one of its own, one beside it."""

    def __init__(self):
        start = keras.Input((4,))
        dense = layers.Dense(2, name="dense")
        super().__init__(start, dense(start))
        self.attribute, self.beside = dense, layers.Dense(1, name="beside")
        self.beside.build((None, 2))


def test_layers_beside_the_graph_belong_to_the_model(tmp_path):
    model, path = Beside(), str(tmp_path / "m.weights.h5")
    assert [one.name for one in model.layers] == ["input_layer", "dense", "beside"]
    assert len(model.trainable_weights) == 4
    model.save_weights(path)
    start = keras.Input((4,))
    plain = keras.Model(start, layers.Dense(2)(start))  # its layers are where those of the subclass are
    plain.load_weights(path)
    same(plain, model)


class Own(layers.Layer):
    def build(self, input_shape):
        self.factor = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return x * self.factor

    def save_own_variables(self, store):
        super().save_own_variables(store)
        store["twice"] = 2 * self.factor.numpy()

    def load_own_variables(self, store):
        self.factor.assign(store["twice"])


def test_layers_save_their_variables_as_they_like(tmp_path):
    path = str(tmp_path / "m.weights.h5")
    models = [keras.Sequential([keras.Input((4,)), Own()]) for _ in range(2)]
    models[0].save_weights(path)
    models[1].load_weights(path)
    assert float(models[1].layers[0].factor) == 2


def test_skipped_layers_keep_their_weights(tmp_path):
    path = str(tmp_path / "m.weights.h5")
    one, other = functional(), functional()
    one.save_weights(path)
    kept = other.layers[1].get_weights()
    other.load_weights(path, objects_to_skip=[other.layers[1]])
    np.testing.assert_array_equal(other.layers[1].kernel, kept[0])
    np.testing.assert_array_equal(other.layers[2].kernel, one.layers[2].kernel)
    keras.saving.save_weights(one, path, objects_to_skip=[one.layers[1]])
    with pytest.raises(ValueError, match="'middle'"):
        other.load_weights(path)


def test_what_cannot_be_saved_or_loaded_is_refused(tmp_path):
    model = functional()
    for call, text in ((lambda: model.save("m.png"), "m.png"),
                       (lambda: model.save("m.txt", save_format="tf"), "`save_format`"),
                       (lambda: model.save("m.keras", nonsense=1), "'nonsense'"),
                       (lambda: keras.models.load_model("m.pkl"), "m.pkl"),
                       (lambda: keras.models.load_model("m.keras"), "found"),
                       (lambda: Deep().load_weights("m.weights.h5"), "built")):
        with pytest.raises(ValueError, match=text):
            call()


def test_a_little_file_does_not_fill_the_memory():
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", " " * 100000)
    assert len(memory.getvalue()) < 1000
    tf.config.set_load_limits(unpacked_bytes=10000)
    try:
        with pytest.raises(ValueError, match="bomb"):
            keras.models.load_model(memory)
    finally:
        tf.config.set_load_limits()


def test_a_compile_of_its_own_is_not_called_by_files():
    class Mine(keras.Sequential):
        def compile(self, *args, **kwargs):
            super().compile(*args, **kwargs)
    model = Mine([keras.Input((4,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="compile"):
        assert not saved(model, custom_objects={"Mine": Mine}).compiled


def test_state_trees():
    model = functional()
    model.compile("adam", "mse")
    tree = model.get_state_tree(value_format="numpy_array")
    assert set(tree) == {"trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables"}
    np.testing.assert_array_equal(tree["trainable_variables"]["middle"]["kernel"], model.layers[1].kernel)
    assert tree["metrics_variables"]["loss"] == {"total": 0, "count": 0}
    assert tree["optimizer_variables"]["adam"]["iteration"] == 0
    model.set_state_tree({"optimizer_variables": {"adam": {"iteration": 7}},
                          "trainable_variables": {"end": {"bias": [0.5, 0.25]}}})
    assert int(model.optimizer.iterations) == 7 and model.layers[2].bias.numpy().tolist() == [0.5, 0.25]
    with pytest.raises(ValueError, match="'end/nonsense'"):
        model.set_state_tree({"trainable_variables": {"end": {"nonsense": 1}}})


def test_training_that_the_model_is_told_counts():
    start = keras.Input((20,))
    model = keras.Model(start, layers.Dropout(0.5, seed=1)(start, training=True))
    assert np.all(model.predict(np.ones((4, 20)), verbose=0) == 1)
    assert np.any(model(np.ones((4, 20))).numpy() == 0)


# ---- configurations ----

def test_values_of_configurations():
    for value in ("text", b"bytes", np.array([0., 1.]), ["a", 0, True], {"1": [True, None]}, slice(None, 20, 1)):
        config = keras.saving.serialize_keras_object(value)
        found = keras.saving.deserialize_keras_object(config)
        assert np.array_equal(found, value) if isinstance(value, np.ndarray) else found == value
    assert keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(distance)) is distance
    assert keras.saving.get_registered_name(distance) == "tests>distance"
    assert keras.saving.deserialize_keras_object({"class_name": "function", "config": "relu"}) is keras.activations.relu


@pytest.mark.parametrize("config, error, text", [
    ({"class_name": "Dense", "config": [1]}, TypeError, "'Dense'"),
    ({"class_name": "function", "config": ["relu"]}, TypeError, "'function'"),
    ({"class_name": "Sequential", "module": "keras", "config": {"layers": []}}, ValueError, "'layers'"),
    ({"class_name": "Sequential", "module": "keras", "config": {"name": "s", "layers": [{}]}}, ValueError, "'config'"),
    ({"class_name": "__lambda__", "config": {"code": ""}}, ValueError, "arbitrary"),
    ({"class_name": "Dense", "module": "keras.layers", "registered_name": "my>Dense", "config": {"units": 1}},
     ValueError, "built-in"),
    ({"class_name": "Nonsense", "config": {}}, TypeError, "'Nonsense'"),
])
def test_configurations_that_say_nothing(config, error, text):
    with pytest.raises(error, match=text):
        keras.saving.deserialize_keras_object(config)


def test_only_what_has_a_configuration_is_registered():
    with pytest.raises(ValueError, match="get_config"):
        @keras.saving.register_keras_serializable()
        class Nothing:
            pass


@keras.saving.register_keras_serializable("tests")
class Table(layers.Layer):
    """A layer that keeps what it has learnt in files of its own."""

    words = None

    def call(self, inputs):
        return inputs

    def save_assets(self, dir_path):
        (pathlib.Path(dir_path) / "in").mkdir()
        (pathlib.Path(dir_path) / "in" / "words.txt").write_text(" ".join(self.words))

    def load_assets(self, dir_path):
        self.words = (pathlib.Path(dir_path) / "in" / "words.txt").read_text().split()


def test_files_of_layers(tmp_path):
    model = keras.Sequential([keras.Input((4,)), Table(name="first"), Table(name="second")])
    model.layers[0].words, model.layers[1].words = ["a", "b"], ["c"]
    model.save(tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras") as archive:
        assert [name for name in archive.namelist() if name.startswith("assets")] == [
            "assets/layers/table/in/words.txt", "assets/layers/table_1/in/words.txt"]  # as Keras names them
    again = keras.saving.load_model(tmp_path / "m.keras")
    assert [layer.words for layer in again.layers] == [["a", "b"], ["c"]]


@pytest.mark.parametrize("name", ["../out.txt", "a/../../out.txt", "//out.txt", "./out.txt"])
def test_files_of_layers_stay_in_their_folder(tmp_path, name):
    model = keras.Sequential([keras.Input((4,)), Table()])
    model.layers[0].words = ["a"]
    model.save(tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras", "a") as archive:
        archive.writestr(f"assets/layers/table/{name}", "x")
    with pytest.raises(ValueError, match="file"):
        keras.saving.load_model(tmp_path / "m.keras")
    assert not list(tmp_path.parent.glob("**/out.txt"))


class Named(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)
        self.other = keras.Sequential([layers.Dense(1)])

    def call(self, inputs):
        return self.other(self.dense(inputs))


class Renamed(keras.Model):
    """The parts have other attributes, and the names that they had are properties."""

    def __init__(self):
        super().__init__()
        self.a_dense = layers.Dense(2)
        self.an_other = keras.Sequential([layers.Dense(1)])

    dense = property(lambda self: self.a_dense)
    other = property(lambda self: self.an_other)

    def call(self, inputs):
        return self.an_other(self.a_dense(inputs))


def test_parts_are_found_under_the_names_of_properties(tmp_path):
    one, other = Named(), Renamed()
    one(X), other(X)
    one.save_weights(tmp_path / "w.weights.h5")
    other.load_weights(tmp_path / "w.weights.h5")
    same(one, other)
    other.save_weights(tmp_path / "v.weights.h5")
    again = Renamed()
    again(X)
    again.load_weights(tmp_path / "v.weights.h5")
    same(again, other)
