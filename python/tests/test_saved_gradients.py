"""Gradients in SavedModels: of custom_gradient, by leat and by TensorFlow, and of loops."""

import pytest

import custom_gradients
import leat as tf
from leat._saved_model import messages
from test_saved_model import unpacked


@pytest.mark.parametrize("by", ["TensorFlow", "leat"])
def test_custom_gradients(tmp_path, by):
    folder = str(unpacked(tmp_path, "gradients") if by == "TensorFlow" else tmp_path)
    if by == "leat":
        tf.saved_model.save(custom_gradients.module(tf), folder)
    loaded = tf.saved_model.load(folder)
    for name, expected in custom_gradients.EXPECTED.items():
        for traced in (False, True):
            found = custom_gradients.values(tf, loaded, name, traced)
            assert not custom_gradients.differs(found, expected), (name, traced, found)


def test_custom_gradients_that_are_not_there(tmp_path):
    @tf.custom_gradient
    def broken(x):
        def gradient(upstream):
            raise KeyError("none")
        return x * 2.0, gradient
    made, options = tf.Module(), tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    made.broken = tf.function(lambda x: broken(x) + x, input_signature=[tf.TensorSpec([])])
    made.inner = tf.function(lambda x: tf.cond(x > 0, lambda: broken(x), lambda: x),
                             input_signature=[tf.TensorSpec([])])
    with pytest.raises(ValueError, match="experimental_custom_gradients"):
        tf.saved_model.save(made, str(tmp_path))
    tf.saved_model.save(made, str(tmp_path), options=options)
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.broken(2.0).numpy() == 6.0 and loaded.inner(2.0).numpy() == 4.0
    for function, error in ((loaded.broken, LookupError), (loaded.inner, tf.errors.InvalidArgumentError),
                            (made.inner, tf.errors.InvalidArgumentError)):
        x = tf.constant(2.0)
        with pytest.raises(error, match="custom_gradient"), tf.GradientTape() as tape:
            tape.watch(x)
            tape.gradient(function(x), x)


def test_a_loop_says_how_many_rounds_it_has(tmp_path):
    made = tf.Module()  # TensorFlow's gradient keeps that many values; -1: any number
    made.loop = tf.function(lambda x: (tf.while_loop(lambda y: y < 9.0, lambda y: (y * 2.0,), (x,))[0], tf.while_loop(
        lambda y: y < 9.0, lambda y: (y * 2.0,), (x,), maximum_iterations=2)[0]), [tf.TensorSpec([])])
    tf.saved_model.save(made, str(tmp_path))
    library = messages.decode("SavedModel", (tmp_path / "saved_model.pb").read_bytes()).meta_graphs[0].graph_def.library
    nodes = {one.name: one for function in library.function for one in function.node_def}
    loops = [one for one in nodes.values() if one.op == "StatelessWhile"]
    constants = [nodes[one.input[1].split(":")[0]].attr["value"].tensor for one in loops]
    assert [int.from_bytes(one.tensor_content, "little", signed=True) for one in constants] == [-1, 2]
    assert [one.numpy() for one in tf.saved_model.load(str(tmp_path)).loop(1.0)] == [16.0, 4.0]


def changed(folder, change):
    """The folder, whose first graph's library and objects `change` has changed."""
    path = folder / "saved_model.pb"
    model = messages.decode("SavedModel", path.read_bytes())
    meta = model.meta_graphs[0]
    change(meta.graph_def.library, meta.object_graph_def)
    path.write_bytes(messages.encode(model))
    return tf.saved_model.load(str(folder))


def test_damaged_gradients_are_refused(tmp_path):
    made, x = tf.Module(), tf.constant(2.0)
    double = tf.custom_gradient(lambda x: (x * 2.0, lambda upstream: upstream * x * 10.0))
    made.double = tf.function(double, input_signature=[tf.TensorSpec([])])

    def gradient(loaded):
        @tf.function
        def inside(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.cond(x > 0.0, lambda: loaded.double(x), lambda: x)
            return tape.gradient(y, x)
        return inside(x).numpy()

    def elsewhere(library, objects):
        objects.nodes[-1].captured_tensor["concrete_function"] = "none"

    def circle(library, objects):
        objects.nodes[-1].captured_tensor["name"] = next(
            one.name for function in library.function for one in function.node_def if one.op == "IdentityN") + ":0"

    for place, change in enumerate((elsewhere, circle)):
        folder = tmp_path / str(place)
        tf.saved_model.save(made, str(folder))
        assert gradient(tf.saved_model.load(str(folder))) == 20.0
        with pytest.raises(tf.errors.DataLossError):
            gradient(changed(folder, change))
