"""Writes SavedModels of leat into a folder, with what their functions give: `saved_models.py FOLDER [NAME...]`.
A Python with the real TensorFlow compares them: `tools/record/saved_models.py --check FOLDER`. Names may be those of
keras.applications, too."""

import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))
import custom_gradients  # noqa: E402
import leat as tf  # noqa: E402
from leat import keras  # noqa: E402

layers, draw = keras.layers, np.random.default_rng(4)


class Module(tf.Module):
    """Functions of several forms, over variables that they assign in branches and loops."""

    def __init__(self):
        super().__init__()
        self.weight = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="weight")
        self.count = tf.Variable(0, trainable=False, name="count")
        self.listed = [tf.Variable(1.0), {"a": tf.Variable(2.0)}]
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [5, 7]), -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def __call__(self, x):
        self.count.assign_add(1)
        return tf.matmul(x, self.weight) + self.listed[1]["a"]

    @tf.function
    def scale(self, x, by=2, *, plain=True):
        return x * tf.cast(by, x.dtype) if plain else {"a": x, "b": [x, x + 1]}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def loop(self, n):
        total, rows = tf.constant(0), tf.TensorArray(tf.int32, n)
        for i in tf.range(n):
            if i % 2 == 0:
                total += i
                self.count.assign_add(i)
            rows = rows.write(i, total)
        return total, rows.stack(), self.count.read_value()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def find(self, words):
        return self.table.lookup(tf.strings.lower(words))


def module():
    made = Module()
    calls = [("__call__", [np.ones((3, 2), np.float32)], {}), ("scale", [np.float32(4)], {}),
             ("scale", [np.array([3, 4], np.float32), 3], {}), ("scale", [np.int32(7)], {"plain": False}),
             ("loop", [np.int32(6)], {}), ("loop", [np.int32(0)], {}), ("find", [np.array(["A", "q", "b"])], {}),
             ("__call__", [np.zeros((0, 2), np.float32)], {})]
    for name, args, kwargs in calls[1:4]:
        getattr(made, name)(tf.constant(args[0]), *args[1:], **kwargs)
    return made, calls


def models():
    """{name: a function that makes (model, inputs by their names)}"""
    def dense():
        return keras.Sequential([keras.Input((4,), name="x"), layers.Dense(3, "relu"), layers.Dropout(0.5),
                                 layers.Dense(2)]), {"x": draw.random((3, 4), np.float32)}

    def pictures():
        return keras.Sequential([
            keras.Input((8, 8, 3), name="x"), layers.Rescaling(0.5), layers.Resizing(9, 7), layers.CenterCrop(7, 8),
            layers.Conv2D(4, 3, activation="relu", padding="same"), layers.BatchNormalization(),
            layers.MaxPooling2D(padding="same"), layers.DepthwiseConv2D(2), layers.Conv2DTranspose(3, 2, 2),
            layers.SeparableConv2D(3, 2), layers.AveragePooling2D(2, padding="same"), layers.UpSampling2D(),
            layers.ZeroPadding2D(1), layers.Cropping2D(1), layers.LayerNormalization(),
            layers.GlobalAveragePooling2D(), layers.Dense(2, "softmax")]), {"x": draw.random((2, 8, 8, 3), np.float32)}

    def recurrent():
        return keras.Sequential([
            keras.Input((None, 3), name="x"), layers.Masking(0.5), layers.LSTM(4, return_sequences=True),
            layers.GRU(3, return_sequences=True), layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
            layers.GRU(3, reset_after=False, return_sequences=True), layers.SimpleRNN(2), layers.Dense(2)]), {
                "x": np.where(draw.random((2, 5, 1)) < 0.3, 0.5, draw.random((2, 5, 3))).astype(np.float32)}

    def text():
        words = layers.TextVectorization(max_tokens=20, output_sequence_length=5, vocabulary=["a", "b", "cat"])
        return keras.Sequential([keras.Input((), dtype="string", name="x"), words,
                                 layers.Embedding(20, 4, mask_zero=True), layers.LSTM(3), layers.Dense(1)]), {
                                     "x": np.array(["a CAT!", "b c d e f g", ""])}

    def two():
        a, b = keras.Input((3,), name="a"), keras.Input((4,), name="b")
        joined = layers.Concatenate()([layers.Dense(3, "gelu")(a), b])
        return keras.Model([a, b], {"y": layers.Dense(1)(joined), "z": layers.Dense(2, "silu")(a)}), {
            "a": draw.random((2, 3), np.float32), "b": draw.random((2, 4), np.float32)}

    def attention():
        start = keras.Input((6, 8), name="x")
        rest = layers.MultiHeadAttention(2, 4)(start, start, use_causal_mask=True) + start
        rest = layers.Attention()([rest, layers.LayerNormalization()(rest)])
        rest = layers.GroupQueryAttention(4, 4, 2)(rest, rest)
        rest = layers.Conv1D(4, 3, padding="causal")(rest)
        return keras.Model(start, layers.Dense(2)(layers.GlobalMaxPooling1D()(rest))), {
            "x": draw.random((2, 6, 8), np.float32)}

    def table():
        words, number = keras.Input((1,), dtype="string", name="w"), keras.Input((1,), name="x")
        return keras.Model([words, number], [
            layers.StringLookup(vocabulary=["x", "y"], output_mode="one_hot")(words),
            layers.Normalization(mean=[1.0], variance=[2.0])(number), layers.Discretization([0.0, 1.0])(number),
            layers.Hashing(5)(words)]), {"w": np.array([["x"], ["q"]]), "x": np.array([[0.5], [2]], np.float32)}

    def activations():
        names = ("relu relu6 elu selu gelu silu tanh sigmoid softplus softsign hard_sigmoid leaky_relu mish "
                 "log_softmax softmax hard_silu celu tanh_shrink soft_shrink squareplus").split()
        return keras.Sequential([keras.Input((6,), name="x"), *(layers.Activation(name) for name in names),
                                 layers.PReLU(), layers.LeakyReLU(), layers.ELU(), layers.RepeatVector(3),
                                 layers.Permute((2, 1)), layers.Flatten(), layers.UnitNormalization(),
                                 layers.GroupNormalization(2)]), {"x": draw.random((2, 6), np.float32)}

    def volumes():
        return keras.Sequential([
            keras.Input((4, 4, 4, 2), name="x"), layers.Conv3D(2, 2), layers.MaxPooling3D(2, 1), layers.Flatten(),
            layers.Reshape((8, 2)), layers.Conv1D(2, 2), layers.MaxPooling1D(2), layers.AveragePooling1D(1),
            layers.UpSampling1D(2), layers.Conv1DTranspose(2, 2), layers.Dense(1)]), {
                "x": draw.random((2, 4, 4, 4, 2), np.float32)}

    def subclass():
        class Own(keras.Model):
            def __init__(self):
                super().__init__()
                self.first, self.last = layers.Dense(3), layers.Dense(1)

            def call(self, x):
                return self.last(tf.nn.relu(self.first(x)))
        made, x = Own(), draw.random((3, 5), np.float32)
        made(x)
        return made, {None: x}
    return {one.__name__: one for one in (dense, pictures, recurrent, text, two, attention, table, activations, volumes,
                                          subclass)}


def application(name):
    """One of Keras' models with weights of its own drawing."""
    side = 75 if "Inception" in name or name == "Xception" else 64
    made = getattr(keras.applications, name)(weights=None, input_shape=(side, side, 3), classes=10)
    return made, {made.inputs[0].name: draw.random((1, side, side, 3), np.float32)}


def as_json(value):
    """A structure of tensors as JSON, as tools/record/saved_models.py has it."""
    if isinstance(value, dict):
        return {"dict": {key: as_json(one) for key, one in sorted(value.items())}}
    if isinstance(value, (list, tuple)):
        return {"list": [as_json(one) for one in value]}
    if isinstance(value, (bool, int)):
        return {"plain": value}
    found = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    is_text = found.dtype.kind in "OSU"
    return {"dtype": "string" if is_text else found.dtype.name, "shape": list(found.shape),
            "data": [str(one) for one in found.reshape(-1)] if is_text else found.reshape(-1).tolist()}


def write_module(folder):
    made, calls = module()
    tf.saved_model.save(made, str(folder), signatures={"serving_default": made.__call__, "loop": made.loop})
    cases = []
    for name, args, kwargs in calls:
        given = [tf.constant(one) if isinstance(one, (np.ndarray, np.generic)) else one for one in args]
        cases.append({"call": name, "inputs": [as_json(one) for one in args], "kwargs": kwargs,
                      "outputs": as_json((made if name == "__call__" else getattr(made, name))(*given, **kwargs))})
    (folder / "cases.json").write_text(json.dumps(cases))


def write_model(folder, model, inputs):
    model.export(str(folder), verbose=False)
    names = list(tf.saved_model.load(str(folder)).signatures["serving_default"].structured_input_signature[1])
    given = [tf.constant(one) for one in inputs.values()]
    found = model(given if len(given) > 1 else given[0])
    found = found if isinstance(found, dict) else {f"output_{i}": one for i, one in enumerate(
        found if isinstance(found, (list, tuple)) else [found])}
    keys = [names[0] if key is None else key for key in inputs]
    cases = [{"call": "serving_default", "inputs": dict(zip(keys, map(as_json, inputs.values()))),
              "outputs": as_json(found)}]
    (folder / "cases.json").write_text(json.dumps(cases))


def main():
    """Writes those that were asked for, or all but the applications."""
    folder, *names = sys.argv[1:]
    made = models()
    keras.utils.set_random_seed(3)
    for name in names or ["module", "gradients", *made]:
        place = pathlib.Path(folder) / name
        place.mkdir(parents=True, exist_ok=True)
        if name == "module":
            write_module(place)
        elif name == "gradients":
            tf.saved_model.save(custom_gradients.module(tf), str(place))
            (place / "cases.json").write_text("[]")
        else:
            write_model(place, *(made[name]() if name in made else application(name)))
        print(name, flush=True)


if __name__ == "__main__":
    main()
