#!/usr/bin/env python3
"""Writes SavedModels of the real TensorFlow into python/tests/saved_models, with what their functions give, for
python/tests/test_saved_model.py: `saved_models.py` with a Python that has tensorflow 2.21 and keras 3.15.

Each is one packed archive NAME.zip, in which the cases lie as cases.json: [{"call", "inputs", "outputs"}] of signatures
and functions, in the order of the calls.
`saved_models.py --check FOLDER` loads what python/interop/saved_models.py wrote there, compares, and says what differs.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parents[2] / "python" / "tests" / "saved_models"
sys.path.insert(0, str(HERE.parent))
import custom_gradients  # noqa: E402


class Module(tf.Module):
    """Several functions of several signatures, variables in lists and dictionaries, a table, an asset."""

    def __init__(self, folder):
        super().__init__()
        self.weight = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="weight")
        self.count = tf.Variable(0, trainable=False, name="count")
        self.bias = tf.constant([1.0, 2.0])
        self.listed = [tf.Variable(1.0), {"a": tf.Variable([2, 3], dtype=tf.int64)}]
        path = pathlib.Path(folder) / "words.txt"
        path.write_text("one\ntwo\nthree\n")
        self.words = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            str(path), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER), -1)
        self.asset = tf.saved_model.Asset(str(path))

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def __call__(self, x):
        self.count.assign_add(1)
        return tf.matmul(x, self.weight) + self.bias

    @tf.function
    def scale(self, x, by=2, *, plain=True):
        if plain:
            return x * tf.cast(by, x.dtype)
        return {"a": x, "b": [x, x + 1]}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def loop(self, n):
        total, rows = tf.constant(0), tf.TensorArray(tf.int32, n)
        for i in tf.range(n):
            if i % 2 == 0:
                total += i
                self.count.assign_add(i)
            rows = rows.write(i, total)
        return total, rows.stack()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def find(self, words):
        return self.words.lookup(tf.strings.lower(words))


def module(folder):
    made = Module(folder)
    for args, kwargs in ((1.0,), {}), (([1.0, 2.0], 3), {}), ((1,), {"plain": False}):
        made.scale(tf.constant(args[0]), *args[1:], **kwargs)
    return made, [("__call__", [np.ones((3, 2), "f")], {}), ("scale", [np.float32(4)], {}),
                  ("scale", [np.array([3.0, 4.0], "f"), 3], {}), ("scale", [np.int32(7)], {"plain": False}),
                  ("loop", [np.int32(6)], {}), ("loop", [np.int32(0)], {}), ("find", [np.array(["TWO", "x"])], {}),
                  ("__call__", [np.zeros((0, 2), "f")], {})]


def sequential(*layers):
    return keras.Sequential(list(layers))


def models():
    """(name, model, inputs)"""
    layers, draw = keras.layers, np.random.default_rng(3)
    yield "dense", sequential(keras.Input((4,), name="x"), layers.Dense(3, "relu"), layers.Dropout(0.5),
                              layers.Dense(2, "softmax")), [draw.random((3, 4), np.float32)]
    yield "pictures", sequential(
        keras.Input((8, 8, 3)), layers.Rescaling(0.5), layers.Conv2D(4, 3, activation="relu", padding="same"),
        layers.BatchNormalization(), layers.MaxPooling2D(), layers.DepthwiseConv2D(2), layers.Conv2DTranspose(3, 2, 2),
        layers.AveragePooling2D(2, padding="same"), layers.ZeroPadding2D(1), layers.LayerNormalization(),
        layers.GlobalAveragePooling2D(), layers.Dense(2)), [draw.random((2, 8, 8, 3), np.float32)]
    yield "recurrent", sequential(keras.Input((None, 3)), layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
                                  layers.GRU(3), layers.Dense(2)), [draw.random((2, 5, 3), np.float32)]
    text = layers.TextVectorization(max_tokens=20, output_sequence_length=5, vocabulary=["a", "b", "cat"])
    yield "text", sequential(keras.Input((), dtype="string"), text, layers.Embedding(20, 4, mask_zero=True),
                             layers.GlobalAveragePooling1D(), layers.Dense(1)), [np.array(["a CAT!", "b c d e f g"])]
    a, b = keras.Input((3,), name="a"), keras.Input((4,), name="b")
    joined = layers.Concatenate()([layers.Dense(3, "gelu")(a), b])
    yield "two", keras.Model([a, b], {"y": layers.Dense(1)(joined), "z": layers.Dense(2, "silu")(a)}), [
        draw.random((2, 3), np.float32), draw.random((2, 4), np.float32)]


def as_json(value):
    """A structure of tensors as JSON."""
    if isinstance(value, dict):
        return {"dict": {key: as_json(one) for key, one in sorted(value.items())}}
    if isinstance(value, (list, tuple)):
        return {"list": [as_json(one) for one in value]}
    if isinstance(value, (bool, int)):
        return {"plain": value}
    found = np.asarray(value)
    data = [one.decode() if isinstance(one, bytes) else str(one) for one in found.reshape(-1)] if (
        found.dtype.kind in "OSU") else found.reshape(-1).tolist()
    return {"dtype": "string" if found.dtype.kind in "OSU" else found.dtype.name, "shape": list(found.shape),
            "data": data}


def numpy_of(structure):
    """The same with numpy arrays."""
    return tf.nest.map_structure(lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, structure)


def pack(folder, name, cases):
    pathlib.Path(folder, "cases.json").write_text(json.dumps(cases))
    HERE.mkdir(exist_ok=True)
    with zipfile.ZipFile(HERE / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file() and path.name != "fingerprint.pb":
                entry = zipfile.ZipInfo(str(path.relative_to(folder)))
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())


def record_module(folder):
    made, calls = module(tempfile.mkdtemp())
    tf.saved_model.save(made, folder, signatures={"serving_default": made.__call__, "loop": made.loop})
    loaded, cases = tf.saved_model.load(folder), []
    for name, args, kwargs in calls:
        given = [tf.constant(one) if isinstance(one, (np.ndarray, np.generic)) else one for one in args]
        found = (loaded if name == "__call__" else getattr(loaded, name))(*given, **kwargs)
        cases.append({"call": name, "inputs": [as_json(one) for one in args], "kwargs": kwargs,
                      "outputs": as_json(numpy_of(found)), "count": int(loaded.count)})
    pack(folder, "module", cases)


def record_gradients(folder):
    made = custom_gradients.module(tf)
    for name, expected in custom_gradients.EXPECTED.items():
        assert not custom_gradients.differs(custom_gradients.values(tf, made, name, False), expected), name
    tf.saved_model.save(made, folder)
    pack(folder, "gradients", [])


def record_model(folder, name, model, inputs):
    model.export(folder, verbose=False)
    serve = tf.saved_model.load(folder).signatures["serving_default"]
    keys = sorted(serve.structured_input_signature[1])
    found = serve(**{key: tf.constant(one) for key, one in zip(keys, inputs)})
    pack(folder, name, [{"call": "serving_default", "inputs": {key: as_json(one) for key, one in zip(keys, inputs)},
                         "outputs": as_json(numpy_of(found))}])


def read_json(value):
    if "dict" in value:
        return {key: read_json(one) for key, one in value["dict"].items()}
    if "list" in value:
        return [read_json(one) for one in value["list"]]
    if "plain" in value:
        return value["plain"]
    kind = object if value["dtype"] == "string" else value["dtype"]
    data = [one.encode() for one in value["data"]] if value["dtype"] == "string" else value["data"]
    return np.array(data, kind).reshape(value["shape"])


def differences(found, expected, where):
    if isinstance(expected, dict):
        if set(found) != set(expected):
            return [f"{where}: keys {sorted(found)}, expected {sorted(expected)}"]
        return [line for key in expected for line in differences(found[key], expected[key], f"{where}[{key}]")]
    if isinstance(expected, list):
        return [line for place, one in enumerate(expected) for line in differences(found[place], one, f"{where}{place}")]
    found = np.asarray(found)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return [f"{where}: {found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"]
    same = np.allclose(found, expected, 1e-4, 1e-5) if expected.dtype.kind == "f" else (found == expected).all()
    return [] if same else [f"{where}: {found}, expected {expected}"]


def serve_by_session(folder, inputs):
    """What the signature gives to a program that knows no objects, as those that serve."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], str(folder))
        signature = meta.signature_def["serving_default"]
        return session.run({key: one.name for key, one in signature.outputs.items()},
                           {signature.inputs[key].name: one for key, one in inputs.items()})


def check(folder):
    """Compares what TensorFlow makes of leat's SavedModels; the number of those that differ."""
    wrong = 0
    for path in sorted(pathlib.Path(folder).glob("*/cases.json")):
        lines, loaded = [], tf.saved_model.load(str(path.parent))
        for name, expected in custom_gradients.EXPECTED.items() if path.parent.name == "gradients" else ():
            if name != "branch":  # which TensorFlow cannot differentiate, not of its own files either
                found = custom_gradients.values(tf, loaded, name, False)
                lines += [f"{name}: {found}, expected {expected}"] if custom_gradients.differs(found, expected) else []
        for case in json.loads(path.read_text()):
            expected = read_json(case["outputs"])
            if isinstance(case["inputs"], dict):
                inputs = {key: read_json(one) for key, one in case["inputs"].items()}
                serve = loaded.signatures[case["call"]]
                lines += differences(numpy_of(serve(**{key: tf.constant(one) for key, one in inputs.items()})), expected,
                                     "signature")
                lines += differences(serve_by_session(path.parent, inputs), expected, "session")
            else:
                args = [tf.constant(one) if isinstance(one, np.ndarray) else one for one in map(read_json, case["inputs"])]
                function = loaded if case["call"] == "__call__" else getattr(loaded, case["call"])
                lines += differences(numpy_of(function(*args, **case.get("kwargs", {}))), expected, case["call"])
        wrong += bool(lines)
        print(path.parent.name, "\n  ".join(lines) if lines else "same")
    return wrong


def main():
    if sys.argv[1:2] == ["--check"]:
        sys.exit(check(sys.argv[2]) > 0)
    keras.utils.set_random_seed(5)
    for record, *args in [(record_module,), (record_gradients,), *((record_model, *one) for one in models())]:
        folder = tempfile.mkdtemp()
        record(folder, *args)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
