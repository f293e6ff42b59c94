"""SavedModels: what TensorFlow wrote is read (python/tests/saved_models, tools/record/saved_models.py), what leat wrote
is read again, and files from outside are refused by name. TensorFlow reads leat's by python/interop/saved_models.py."""

import json
import pathlib
import zipfile

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat._saved_model import messages
from leat.errors import DataLossError, NotFoundError, UnimplementedError

HERE = pathlib.Path(__file__).parent / "saved_models"
NAMES = sorted(path.stem for path in HERE.glob("*.zip") if path.stem != "gradients")


def unpacked(tmp_path, name):
    with zipfile.ZipFile(HERE / f"{name}.zip") as archive:
        archive.extractall(tmp_path / name)
    return tmp_path / name


def value_of(found):
    if "dict" in found:
        return {key: value_of(one) for key, one in found["dict"].items()}
    if "list" in found:
        return [value_of(one) for one in found["list"]]
    if "plain" in found:
        return found["plain"]
    data = [one.encode() for one in found["data"]] if found["dtype"] == "string" else found["data"]
    return np.array(data, object if found["dtype"] == "string" else found["dtype"]).reshape(found["shape"])


def assert_same(found, expected):
    if isinstance(expected, dict):
        assert sorted(found) == sorted(expected)
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_same(one, other)
    else:
        found = found.numpy() if hasattr(found, "numpy") else found
        found = np.asarray(found, object if expected.dtype == object else None)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, 1e-5, 1e-6)
        else:
            np.testing.assert_array_equal(found, expected)


# ---- what TensorFlow wrote ----

@pytest.mark.parametrize("name", NAMES)
def test_tensorflows_files(tmp_path, name):
    folder = unpacked(tmp_path, name)
    assert tf.saved_model.contains_saved_model(str(folder))
    loaded = tf.saved_model.load(str(folder))
    for case in json.loads((folder / "cases.json").read_text()):
        expected = value_of(case["outputs"])
        if isinstance(case["inputs"], dict):
            inputs = {key: tf.constant(value_of(one)) for key, one in case["inputs"].items()}
            assert_same(loaded.signatures[case["call"]](**inputs), expected)
        else:
            args = [tf.constant(one) if isinstance(one, np.ndarray) else one for one in map(value_of, case["inputs"])]
            function = loaded if case["call"] == "__call__" else getattr(loaded, case["call"])
            assert_same(function(*args, **case["kwargs"]), expected)
            assert int(loaded.count) == case["count"]


def test_code_points(tmp_path):
    made, spec = tf.Module(), [tf.TensorSpec([None], tf.string)]
    made.points = tf.function(lambda x: tf.strings.unicode_decode(x, "UTF-8", replace_control_characters=True), spec)
    made.wide = tf.function(lambda x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE", replacement_char=63), spec)
    made.texts = tf.function(lambda x: (tf.strings.unicode_encode(tf.strings.unicode_decode(x, "UTF-8"), "UTF-8"),
                                        tf.strings.unicode_script(tf.strings.unicode_decode(x, "UTF-8").values)), spec)
    tf.saved_model.save(made, str(tmp_path))
    loaded, x = tf.saved_model.load(str(tmp_path)), tf.constant(["aé\x01", b"\xff", "日本", ""])
    assert loaded.points(x).to_list() == [[97, 233, 65533], [65533], [26085, 26412], []]
    assert loaded.wide(x).numpy().tolist() == [b"\x00a\x00\xe9\x00\x01", b"\x00?", b"e\xe5g,", b""]
    texts, scripts = loaded.texts(x)
    assert texts.numpy().tolist() == ["aé\x01".encode(), "\ufffd".encode(), "日本".encode(), b""]
    assert scripts.numpy().tolist() == [25, 25, 0, 0, 17, 17]


def test_objects_of_tensorflows(tmp_path):
    loaded = tf.saved_model.load(str(unpacked(tmp_path, "module")))
    assert (loaded.weight.name, loaded.weight.trainable, loaded.count.trainable) == ("weight:0", True, False)
    np.testing.assert_array_equal(loaded.listed[1]["a"].numpy(), [2, 3])
    assert loaded.tensorflow_version == "2.21.0"
    assert pathlib.Path(loaded.asset.asset_path.numpy().decode()).read_text() == "one\ntwo\nthree\n"
    with pytest.raises(ValueError, match="matching"):
        loaded.scale(tf.constant([1.0, 2.0]), 5)
    with pytest.raises(TypeError, match="missing"):
        loaded.signatures["serving_default"]()
    with pytest.raises(TypeError, match="unexpected"):
        loaded.signatures["serving_default"](x=tf.ones([1, 2]), y=1)


def test_gradients_go_through_and_variables_are_shared(tmp_path):
    loaded = tf.saved_model.load(str(unpacked(tmp_path, "recurrent")))
    x = tf.constant(np.ones((1, 3, 3), np.float32))
    with tf.GradientTape() as tape:
        before = loaded.serve(x)
        loss = tf.reduce_sum(before)
    found = tape.gradient(loss, loaded.trainable_variables)
    assert len(found) == 11 and all(one is not None and np.any(one.numpy()) for one in found)
    for variable in loaded.trainable_variables:
        variable.assign(tf.zeros_like(variable))
    np.testing.assert_array_equal(loaded.serve(x).numpy(), [[0, 0]])


def test_calls_from_traced_functions_and_pipelines(tmp_path):
    loaded = tf.saved_model.load(str(unpacked(tmp_path, "dense")))
    x = np.random.default_rng(0).random((4, 4), np.float32)
    expected = loaded.serve(x).numpy()
    np.testing.assert_allclose(tf.function(lambda value: loaded.serve(value) * 2)(tf.constant(x)).numpy(), 2 * expected,
                               1e-6)
    rows = list(tf.data.Dataset.from_tensor_slices(x).batch(2).map(loaded.serve).unbatch())
    np.testing.assert_allclose(np.stack([row.numpy() for row in rows]), expected, 1e-6)


def test_loaded_and_saved_again(tmp_path):
    folder = unpacked(tmp_path, "two")
    loaded = tf.saved_model.load(str(folder))
    tf.saved_model.save(loaded, str(tmp_path / "again"), signatures={"serving_default": loaded.serve})
    case = json.loads((folder / "cases.json").read_text())[0]
    inputs = {key: tf.constant(value_of(one)) for key, one in case["inputs"].items()}
    again = tf.saved_model.load(str(tmp_path / "again"))
    assert_same(again.signatures["serving_default"](**inputs), value_of(case["outputs"]))


# ---- what leat writes ----

class Counting(tf.Module):
    def __init__(self):
        super().__init__()
        self.count = tf.Variable(0, name="count")
        self.weights = [tf.Variable([1.0, 2.0]), {"deep": tf.Variable(3.0, trainable=False)}]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def add(self, x):
        self.count.assign_add(tf.size(x))
        return x + self.weights[1]["deep"]

    @tf.function
    def power(self, x, n=2, *, negative=False):
        return -x ** n if negative else x ** n

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def loop(self, n):
        total = tf.constant(0)
        while total < n:
            if total % 3 == 0:
                self.count.assign_add(1)
            total += 2
        return {"total": total}


def counting(tmp_path, **kwargs):
    made = Counting()
    made.power(tf.constant(3.0)), made.power(tf.constant([3]), 3), made.power(tf.constant(3.0), negative=True)
    tf.saved_model.save(made, str(tmp_path / "out"), **kwargs)
    return tf.saved_model.load(str(tmp_path / "out"))


def test_functions_and_variables_of_leats(tmp_path):
    loaded = counting(tmp_path)
    np.testing.assert_array_equal(loaded.add([1.0, 2.0]).numpy(), [4, 5])
    assert int(loaded.count) == 2 and float(loaded.weights[1]["deep"]) == 3
    assert (loaded.power(tf.constant(3.0)).numpy(), loaded.power(tf.constant(3.0), negative=True).numpy()) == (9, -9)
    np.testing.assert_array_equal(loaded.power(tf.constant([3]), 3).numpy(), [27])
    assert loaded.loop(tf.constant(7))["total"].numpy() == 8
    assert int(loaded.count) == 4  # at 0 and 6
    assert dict(loaded.signatures) == {}  # two functions have a signature: none is the default


def test_one_function_with_a_signature_is_the_default(tmp_path):
    class One(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, "given")])
        def __call__(self, x):
            return {"twice": x * 2}
    tf.saved_model.save(One(), str(tmp_path / "one"))
    serve = tf.saved_model.load(str(tmp_path / "one")).signatures["serving_default"]
    assert list(serve.structured_input_signature[1]) == ["given"]
    assert serve.structured_outputs["twice"].shape.as_list() == [None]
    np.testing.assert_array_equal(serve(tf.constant([3.0]))["twice"].numpy(), [6])


def test_the_file_is_as_programs_that_serve_want_it(tmp_path):
    made = Counting()
    tf.saved_model.save(made, str(tmp_path / "out"), signatures=made.add,
                        options=tf.saved_model.SaveOptions(function_aliases={"sum": made.add}))
    meta = messages.decode("SavedModel", (tmp_path / "out" / "saved_model.pb").read_bytes()).meta_graphs[0]
    assert meta.meta_info_def.tags == ["serve"]
    assert list(meta.meta_info_def.function_aliases.values()) == ["sum"]
    served = meta.signature_def["serving_default"]
    assert served.method_name == tf.saved_model.PREDICT_METHOD_NAME
    nodes = {node.name: node for node in meta.graph_def.node}
    assert nodes[served.inputs["x"].name.split(":")[0]].op == "Placeholder"
    assert nodes[served.outputs["output_0"].name.split(":")[0]].op == "StatefulPartitionedCall"
    assert nodes[meta.saver_def.restore_op_name].op == "NoOp"
    held = {node.attr["shared_name"].s for node in meta.graph_def.node if node.op == "VarHandleOp"}
    assert held == {name.encode() for name, _ in tf.train.list_variables(str(tmp_path / "out/variables/variables"))
                    if not name.startswith("_")}


def test_what_cannot_be_saved(tmp_path):
    class Outside(tf.Module):
        @tf.function(input_signature=[])
        def call(self):
            return hidden + 1

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def odd(self, x):
            return tf.image.total_variation(x[None, None])
    hidden = tf.Variable(1.0)
    with pytest.raises(AssertionError, match="untracked"):
        tf.saved_model.save(Outside(), str(tmp_path / "a"))
    with pytest.raises(ValueError, match="Trackable"):
        tf.saved_model.save(3, str(tmp_path / "a"))
    made = Outside()
    made.hidden = hidden
    with pytest.raises(UnimplementedError, match="total_variation"):
        tf.saved_model.save(made, str(tmp_path / "a"))
    with pytest.raises(ValueError, match="trace"):
        tf.saved_model.save(tf.Module(), str(tmp_path / "a"), signatures=tf.function(lambda x: x))
    assert not (tmp_path / "a").exists()


def test_assets_are_copied(tmp_path):
    (tmp_path / "words.txt").write_text("words")
    made = tf.Module()
    made.file = tf.saved_model.Asset(str(tmp_path / "words.txt"))
    tf.saved_model.save(made, str(tmp_path / "out"))
    (tmp_path / "words.txt").unlink()
    (tmp_path / "out").rename(tmp_path / "moved")
    path = pathlib.Path(tf.saved_model.load(str(tmp_path / "moved")).file.asset_path.numpy().decode())
    assert path == tmp_path / "moved/assets/words.txt" and path.read_text() == "words"


# ---- Keras ----

def recurrent():
    layers = keras.layers
    return keras.Sequential([keras.Input((None, 3), name="steps"), layers.Masking(),
                             layers.LSTM(4, return_sequences=True), layers.GRU(3, return_sequences=True),
                             layers.GRU(2, reset_after=False), layers.Dense(2)]), np.random.default_rng(1).random(
                                 (2, 5, 3), np.float32)


def attending():
    start = keras.Input((6, 4), name="x")
    rest = keras.layers.MultiHeadAttention(2, 4)(start, start, use_causal_mask=True)
    rest = keras.layers.LayerNormalization()(rest + start)
    return keras.Model(start, keras.layers.Dense(2)(rest)), np.random.default_rng(1).random((2, 6, 4), np.float32)


def looked_up():
    words = keras.Input((1,), dtype="string", name="words")
    found = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")(words)
    return keras.Model(words, keras.layers.Dense(2)(found)), np.array([["a"], ["q"]])


class Numbered(tf.Module):
    """A constant in the graph, a variable and an asset, all of one number."""

    def __init__(self, number, folder):
        folder.mkdir(exist_ok=True)
        (folder / "words").write_text(str(number))
        self.v, self.asset = tf.Variable(number), tf.saved_model.Asset(str(folder / "words"))
        self.read = tf.function(lambda: (self.v + 0, tf.constant(number)), input_signature=[])


def number_of(folder):
    loaded = tf.saved_model.load(folder)
    found = {*map(int, loaded.read()), int(pathlib.Path(loaded.asset.asset_path.numpy().decode()).read_text())}
    assert len(found) == 1
    return found.pop()


def names(folder):
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


FILES = ["assets/words", "saved_model.pb", "variables/variables.data-00000-of-00001", "variables/variables.index"]


def test_one_over_another(tmp_path):
    """The folder is another one; what is not the model's stays, and what a killed save left goes."""
    made = tmp_path / "made"
    tf.saved_model.save(Numbered(1, tmp_path / "a"), made)
    (made / "assets.extra").mkdir()
    (made / "assets.extra/note").write_text("mine")
    (made / "keras_metadata.pb").write_text("of the model that was")
    made.chmod(0o750)
    left = tmp_path / ".made.leat-1-0.tmp"
    (left / "variables").mkdir(parents=True)
    (left / "more").write_text("of the folder that was")
    (left / ".saved_model.pb.leat-0.tmp").write_text("half a graph")
    (tmp_path / ".madeit.leat-1-0.tmp").mkdir()
    before = made.stat().st_ino
    tf.saved_model.save(Numbered(2, tmp_path / "a"), made)
    assert number_of(made) == 2 and made.stat().st_ino != before and made.stat().st_mode & 0o777 == 0o750
    assert names(made) == sorted([*FILES, "assets.extra/note", "more"])
    assert {one.name for one in tmp_path.iterdir()} == {"a", "made", ".madeit.leat-1-0.tmp"}


def test_one_over_another_that_fails(tmp_path, monkeypatch):
    made = tmp_path / "made"
    tf.saved_model.save(Numbered(1, tmp_path / "a"), made)
    (made / "mine").write_text("mine")
    second = Numbered(2, tmp_path / "b")
    (tmp_path / "b/words").unlink()
    with pytest.raises(FileNotFoundError, match="words"):
        tf.saved_model.save(second, made)
    assert number_of(made) == 1 and names(made) == sorted([*FILES, "mine"])
    assert {one.name for one in tmp_path.iterdir()} == {"a", "b", "made"}


def test_one_over_another_in_place(tmp_path, monkeypatch):
    """The working folder and a link stay what they are; an asset of before is not written over."""
    made = tmp_path / "made"
    tf.saved_model.save(Numbered(1, tmp_path / "a"), made)
    before = made.stat().st_ino
    monkeypatch.chdir(made)
    tf.saved_model.save(Numbered(2, tmp_path / "a"), ".")
    assert number_of(made) == 2 and names(made) == [
        "assets/words_1", "saved_model.pb", "variables/variables.data-00001-of-00002", "variables/variables.index"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("made")
    tf.saved_model.save(Numbered(3, tmp_path / "a"), "link")
    assert number_of(made) == 3 and names(made) == FILES
    assert made.stat().st_ino == before and (tmp_path / "link").is_symlink()


def test_a_loaded_one_is_saved_where_it_was(tmp_path):
    made = tmp_path / "made"
    tf.saved_model.save(Numbered(1, tmp_path / "a"), made)
    tf.saved_model.save(tf.saved_model.load(made), made)
    assert number_of(made) == 1 and names(made) == FILES


def test_models_that_draw_in_training_alone_are_saved(tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(2)])
    tf.saved_model.save(model, str(tmp_path))
    serve = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    np.testing.assert_allclose(serve(tf.ones([1, 3]))["output_0"], model(np.ones((1, 3))), 1e-6)
    assert len(serve.variables) == 2


@pytest.mark.parametrize("make", [recurrent, attending, looked_up])
def test_models_are_exported(tmp_path, make):
    model, x = make()
    model.export(str(tmp_path / "out"), verbose=False)
    expected = model(tf.constant(x)).numpy()
    loaded = tf.saved_model.load(str(tmp_path / "out"))
    assert sorted(loaded.signatures) == ["serve", "serving_default"]
    np.testing.assert_allclose(loaded.serve(x).numpy(), expected, 1e-5, 1e-6)
    layer = keras.layers.TFSMLayer(str(tmp_path / "out"), call_endpoint="serving_default")
    np.testing.assert_allclose(layer(tf.constant(x))["output_0"].numpy(), expected, 1e-5, 1e-6)
    assert len(layer.weights) == len(model.weights)
    with pytest.raises(ValueError, match="safe_mode"):
        keras.layers.TFSMLayer.from_config(layer.get_config(), safe_mode=True)


def test_archives_have_endpoints(tmp_path, capsys):
    model, x = attending()
    archive = keras.export.ExportArchive()
    with pytest.raises(ValueError, match="endpoints"):
        archive.write_out(str(tmp_path / "out"))
    archive.track(model)
    archive.add_endpoint("call", model.call, [keras.InputSpec(shape=(None, 6, 4), dtype="float32")])
    archive.add_endpoint("twice", lambda value: 2 * model(value), [tf.TensorSpec([None, 6, 4])])
    archive.add_variable_collection("own", model.weights[:2])
    with pytest.raises(ValueError, match="taken"):
        archive.add_endpoint("call", model.call, [tf.TensorSpec([None, 6, 4])])
    archive.write_out(str(tmp_path / "out"))
    assert "* Endpoint 'twice'" in capsys.readouterr().out
    loaded = tf.saved_model.load(str(tmp_path / "out"))
    np.testing.assert_allclose(loaded.twice(x).numpy(), 2 * loaded.call(x).numpy(), 1e-5, 1e-6)
    np.testing.assert_array_equal(loaded.own[1].numpy(), model.weights[1].numpy())
    with pytest.raises(ValueError, match="Unrecognized"):
        model.export(str(tmp_path / "b"), format="other")
    with pytest.raises(UnimplementedError, match="openvino"):
        model.export(str(tmp_path / "b"), format="openvino")


def test_results_have_the_names_of_their_keys(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: {"sum": x + 1, "all": x}, input_signature=[tf.TensorSpec([1])])
    tf.saved_model.save(module, tmp_path, module.f)
    found = tf.saved_model.load(tmp_path).signatures["serving_default"](tf.constant([5.0]))
    assert {name: float(one[0]) for name, one in found.items()} == {"sum": 6.0, "all": 5.0}


@pytest.mark.parametrize("count", [1024, 1025, 1026])
def test_large_constants_keep_their_values(count, tmp_path):
    values = np.random.RandomState(count).randint(0, 1 << 32, count, np.uint64).astype(np.uint32).view(np.int32)
    module = tf.Module()
    module.f = tf.function(lambda x: x + tf.constant(values), input_signature=[tf.TensorSpec([], tf.int32)])
    tf.saved_model.save(module, tmp_path)
    np.testing.assert_array_equal(tf.saved_model.load(tmp_path).f(tf.constant(0)), values)


def test_a_keras_model_is_saved_as_it_is(tmp_path):
    model, x = attending()
    tf.saved_model.save(model, str(tmp_path / "out"))
    loaded = tf.saved_model.load(str(tmp_path / "out"))
    np.testing.assert_allclose(loaded.signatures["serving_default"](tf.constant(x))["output_0"].numpy(),
                               model(tf.constant(x)).numpy(), 1e-5, 1e-6)


# ---- files from outside ----

def changed(tmp_path, name, change):
    """A SavedModel of TensorFlow's with a change of its message."""
    folder = unpacked(tmp_path, name)
    message = messages.decode("SavedModel", (folder / "saved_model.pb").read_bytes())
    change(message.meta_graphs[0])
    (folder / "saved_model.pb").write_bytes(messages.encode(message))
    return str(folder)


def functions_of(meta):
    return meta.graph_def.library.function


def test_messages_are_written_as_they_were_read(tmp_path):
    for name in NAMES:
        message = messages.decode("SavedModel", (unpacked(tmp_path, name) / "saved_model.pb").read_bytes())
        assert messages.decode("SavedModel", messages.encode(message)) == message


def test_an_operation_that_is_not_there_is_named(tmp_path):
    def change(meta):
        for function in functions_of(meta):
            for node in function.node_def:
                if node.op == "MatMul":
                    node["op"] = "Quantum"
    loaded = tf.saved_model.load(changed(tmp_path, "dense", change))
    with pytest.raises(UnimplementedError, match="Quantum"):
        loaded.serve(np.ones((1, 4), np.float32))


def body_of(meta, op):
    return next(function for function in functions_of(meta) if any(node.op == op for node in function.node_def))


def circle(meta):
    function = body_of(meta, "MatMul")
    first = next(node for node in function.node_def if node.op == "MatMul")
    other = next(node for node in function.node_def if node.op == "BiasAdd")
    first["input"] = [f"{other.name}:output:0", *first.input[1:]]


def no_node(meta):
    body_of(meta, "MatMul").node_def[-1]["input"] = ["nowhere:output:0"]


def no_output(meta):
    node = next(node for node in body_of(meta, "MatMul").node_def if node.op == "BiasAdd")
    node["input"] = [node.input[0].replace(":0", ":7"), *node.input[1:]]


def calls_itself(meta):
    for function in functions_of(meta):
        for node in function.node_def:
            if node.op in ("StatefulPartitionedCall", "PartitionedCall"):
                node.attr["f"].func["name"] = function.signature.name


def large_constant(meta):
    function = body_of(meta, "MatMul")
    for node in function.node_def:
        if node.op == "ReadVariableOp":
            node["op"], node["input"] = "Const", []
            node.attr["value"] = messages.Message("AttrValue", tensor=messages.Message(
                "TensorProto", dtype=1, tensor_shape=messages.Message("TensorShapeProto", dim=[
                    messages.Message("Dim", size=1 << 40)]), float_val=[1.0]))


@pytest.mark.parametrize("change", [circle, no_node, no_output, calls_itself, large_constant])
def test_functions_that_cannot_be(tmp_path, change):
    loaded = tf.saved_model.load(changed(tmp_path, "dense", change))
    with pytest.raises(DataLossError):
        loaded.signatures["serving_default"](tf.ones([1, 4]))


def escaping(meta):
    meta.asset_file_def[0]["filename"] = "../../etc/passwd"


def odd_edge(meta):
    meta.object_graph_def.nodes[0].children[0]["node_id"] = 1000


def bound_to_nothing(meta):
    next(iter(meta.object_graph_def.concrete_functions.values()))["bound_inputs"] = [-1]


def other_shape(meta):
    node = next(node for node in meta.object_graph_def.nodes if "variable" in node and node.variable.shape.dim)
    node.variable.shape.dim[0]["size"] = 1 << 40


def no_objects(meta):
    del meta["object_graph_def"]


@pytest.mark.parametrize("change", [escaping, odd_edge, bound_to_nothing, other_shape, no_objects])
def test_objects_that_cannot_be(tmp_path, change):
    with pytest.raises(DataLossError):
        tf.saved_model.load(changed(tmp_path, "module", change))


def test_files_that_are_missing_or_damaged(tmp_path):
    with pytest.raises(OSError, match="exist"):
        tf.saved_model.load(str(tmp_path))
    assert not tf.saved_model.contains_saved_model(str(tmp_path))
    folder = unpacked(tmp_path, "dense")
    with pytest.raises(RuntimeError, match="train"):
        tf.saved_model.load(str(folder), tags=["train"])
    (folder / "variables" / "variables.index").unlink()
    with pytest.raises(NotFoundError, match="variables"):
        tf.saved_model.load(str(folder))
    whole = (folder / "saved_model.pb").read_bytes()
    draw = np.random.default_rng(2)
    for _ in range(40):
        data = bytearray(whole)
        for place in draw.integers(0, len(data), 8):
            data[place] = draw.integers(0, 256)
        (folder / "saved_model.pb").write_bytes(bytes(data[:draw.integers(1, len(data))]))
        with pytest.raises((DataLossError, NotFoundError, RuntimeError, UnimplementedError)):
            tf.saved_model.load(str(folder))


def test_a_model_that_is_replaced_while_it_is_loaded(tmp_path, monkeypatch):
    """The reader has the old graph when the new model takes the folder's place: nothing of the old one is given."""
    from leat._saved_model import load

    def saved(value):
        module = tf.Module()
        module.a, module.b = tf.Variable([value] * 100), tf.Variable([value] * 100)
        tf.saved_model.save(module, str(tmp_path / "m"))

    saved(1.0)
    read, versions = load.read_meta_graph, iter([2.0, 3.0])

    def read_slowly(*args):
        meta = read(*args)
        for value in versions:
            saved(value)
            break
        return meta

    monkeypatch.setattr(load, "read_meta_graph", read_slowly)
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    assert float(loaded.a[0]) == float(loaded.b[-1]) == 3.0
