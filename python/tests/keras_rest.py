"""Calls that run under Keras and leat alike: random numbers, renormalization, masks, paths of CTC.

``python keras_rest.py data/keras_rest.json`` records what they give under Keras; test_keras_rest.py compares.
"""

import json
import re
import sys

import numpy as np

X = np.sin(np.arange(120, dtype="f") * 1.7).reshape(6, 4, 5) * 3 + 1
MASK = np.arange(24).reshape(6, 4) % 3 > 0


def plain(value):
    """[dtype, shape, values] of tensors and arrays, at every depth; words for an error."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    value = np.asarray(value)
    if value.dtype.kind in "OSU":
        return ["text", list(value.shape), [one.decode() if isinstance(one, bytes) else one for one in value.ravel()]]
    return [value.dtype.name, list(value.shape), [round(float(one), 6) for one in value.ravel()]]


def called(function, *given):
    """What a call gives, or the name of the exception that it raises."""
    try:
        return plain(function(*given))
    except Exception as error:
        return type(error).__name__


def random(k):
    """Draws of distributions."""
    draw, seeds = k.random, k.random.SeedGenerator
    found = {f"gamma {dtype}": lambda dtype=dtype: k.ops.cast(draw.gamma((2, 3), 0.7, dtype, seed=3), "float32")
             for dtype in ("float16", "bfloat16", "float32", "float64")}
    found |= {f"beta {dtype}": lambda dtype=dtype: k.ops.cast(draw.beta((2, 3), 0.7, 2.0, dtype, seed=3), "float32")
              for dtype in ("float16", "bfloat16", "float32", "float64")}
    found |= {f"binomial {dtype}": lambda dtype=dtype: k.ops.cast(draw.binomial((5,), 20, 0.3, dtype, 3), "float32")
              for dtype in ("float16", "bfloat16", "float32", "float64", "int32")}

    def in_turns(function):
        seed = seeds(5)
        return [function(seed) for _ in range(3)]
    return found | {
        "gamma of several": lambda: draw.gamma((2, 3), [0.5, 2.0, 9.0], seed=3),
        "gamma of integers": lambda: draw.gamma((3,), 2, seed=1),
        "beta of several": lambda: draw.beta((2, 3), [[0.5, 1, 2]], [[1.0], [2.0]], seed=3),
        "beta of other shapes": lambda: draw.beta((2, 3), [1.0, 2.0], 2.0, seed=3),
        "binomial of several": lambda: draw.binomial((2, 3), [10.0, 100.0, 1000.0], [[0.1], [0.9]], seed=3),
        "binomial of none": lambda: draw.binomial((0, 3), 10.0, 0.3, seed=3),
        "gamma in turns": lambda: in_turns(lambda seed: draw.gamma((2,), 2.0, seed=seed)),
        "beta in turns": lambda: in_turns(lambda seed: draw.beta((2,), 2.0, 1.0, seed=seed)),
        "binomial in turns": lambda: in_turns(lambda seed: draw.binomial((2,), 9, 0.5, seed=seed)),
        "a seed that is a text": lambda: draw.binomial((2, 3), 10.0, 0.3, seed="x"),
    }


def renormalized(k):
    """BatchNormalization with `renorm`: three steps, inference, weights."""
    def ran(masked=False, **given):
        layer = k.layers.BatchNormalization(renorm=True, **given)
        call = {"mask": k.ops.convert_to_tensor(MASK)} if masked else {}
        steps = [layer(k.ops.convert_to_tensor(X * (step + 1)), training=True, **call) for step in range(3)]
        return [k.ops.cast(steps[-1], "float32"), layer(X), list(layer.weights)]

    def fitted():
        start = k.Input((5,))
        out = k.layers.Dense(2, kernel_initializer="ones")(k.layers.BatchNormalization(
            renorm=True, renorm_clipping={"rmax": 2.0, "rmin": 0.5, "dmax": 1.0})(start))
        model = k.Model(start, out)
        model.compile(k.optimizers.SGD(0.01), "mean_squared_error")
        x = X.reshape(24, 5)
        model.fit(x, x[:, :2], epochs=3, batch_size=8, verbose=0, shuffle=False)
        return list(model.weights)
    return {
        "plain": ran, "masked": lambda: ran(masked=True), "axis": lambda: ran(axis=1, momentum=0.8),
        "clipped": lambda: ran(renorm_clipping={"rmax": 1.5, "rmin": 0.7, "dmax": 0.3}, renorm_momentum=0.5),
        "without gamma and beta": lambda: ran(center=False, scale=False), "without beta": lambda: ran(center=False),
        "without gamma": lambda: ran(scale=False, moving_variance_initializer=k.initializers.Constant(4.0)),
        "fitted": fitted, "other names": lambda: ran(renorm_clipping={"x": 1}),
        "bounds": lambda: ran(renorm_clipping={"rmax": 0.1, "rmin": 1}),
        "negative": lambda: ran(renorm_clipping={"dmax": -1.0}),
        "configuration": lambda: {name: value for name, value in k.layers.BatchNormalization(
            renorm=True, renorm_clipping={"rmax": 2.0}).get_config().items() if "renorm" in name},
    }


LOGITS = np.sin(np.arange(2 * 6 * 4, dtype="f") * 2.3).reshape(2, 6, 4) * 2
LENGTHS = np.array([6, 4], "int32")


def ctc(k):
    """Paths of CTC."""
    def decode(*args, **kwargs):
        return k.ops.ctc_decode(LOGITS, LENGTHS, *args, **kwargs)

    def in_model():
        start = k.Input((6, 4), batch_size=2)
        found, scores = k.ops.ctc_decode(start, LENGTHS, "beam_search", top_paths=2)
        model = k.Model(start, [found, scores])
        return [list(found.shape), *model(LOGITS)]
    return {
        "beams": lambda: decode("beam_search", top_paths=3), "narrow": lambda: decode("beam_search", 2, 2),
        "last": lambda: decode("beam_search", mask_index=3, top_paths=2),
        "negative": lambda: decode("beam_search", mask_index=-2, top_paths=2),
        "none": lambda: decode("beam_search", mask_index=None, top_paths=2),
        "doubles": lambda: k.ops.ctc_decode(LOGITS.astype("float64"), LENGTHS, "beam_search"),
        "too many": lambda: decode("beam_search", beam_width=2, top_paths=3),
        "greedy": decode, "greedy negative": lambda: decode(mask_index=-1), "greedy none": lambda: decode(
            mask_index=None), "other": lambda: decode("other"), "in a model": in_model,
    }


WORDS = np.array([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0], [1, 1, 1, 1, 1]])
OTHERS = np.array([[1, 2, 0, 0], [3, 0, 0, 0], [5, 5, 5, 0]])


def masks(k):
    """Masks behind layers of attention, in functional models: [the masks' shapes while it is built, output, mask]."""
    layers = k.layers

    def ran(attend, *after):
        k.utils.set_random_seed(1)
        starts = [k.Input((5,)), k.Input((4,))]
        first, second = [layers.Embedding(6, 4, mask_zero=True)(start) for start in starts]
        found = [attend(first, second)]
        for one in after:
            found.append(one(found[-1], first))
        output = k.Model(starts, found[-1])([WORDS, OTHERS])
        shapes = [getattr(one, "_keras_mask", None) for one in found]
        return [[None if mask is None else str(tuple(mask.shape)) for mask in shapes], output,
                getattr(output, "_keras_mask", None)]

    def heads(**given):
        return lambda one, other: layers.MultiHeadAttention(2, 3)(one, one, **given)

    def groups(**given):
        return lambda one, other: layers.GroupQueryAttention(3, 4, 2)(one, one, **given)

    def added(output, first):
        return layers.Add()([output, first])

    def pooled(output, first):
        return layers.GlobalAveragePooling1D()(output)

    def normed(output, first):
        return layers.LayerNormalization()(output)
    found = {}
    for name, attend in (("heads", heads()), ("groups", groups()), ("causal", heads(use_causal_mask=True)),
                         ("groups causal", groups(use_causal_mask=True)),
                         ("across", lambda one, other: layers.MultiHeadAttention(2, 3)(one, other)),
                         ("groups across", lambda one, other: layers.GroupQueryAttention(3, 4, 2)(one, other)),
                         ("given", heads(attention_mask=np.ones((1, 5, 5), bool))),
                         ("weights", lambda one, other: heads(return_attention_scores=True)(one, other)[0]),
                         ("dot", lambda one, other: layers.Dot(axes=2)([one, other])),
                         ("plain", lambda one, other: layers.Attention()([one, other]))):
        found[name] = lambda attend=attend: ran(attend)
        found[f"{name}, pooled"] = lambda attend=attend: ran(attend, pooled)
        if name != "dot":
            found[f"{name}, added"] = lambda attend=attend: ran(attend, added)
            found[f"{name}, added, normed, pooled"] = lambda attend=attend: ran(attend, added, normed, pooled)
    found["multiplied"] = lambda: ran(heads(), lambda output, first: layers.Multiply()([output, first]), pooled)
    found["joined"] = lambda: ran(heads(), lambda output, first: layers.Concatenate()([output, first]), pooled)
    found["twice"] = lambda: ran(heads(), lambda output, first: layers.MultiHeadAttention(2, 3)(output, first), pooled)
    found["recurrent"] = lambda: ran(heads(), added, lambda output, first: layers.LSTM(3)(output))
    return found


COLUMNS = {"a": [1.0, 2.0, 4.0, 3.0], "b": ["x", "y", "x", "z"], "c": [1, 2, 3, 2], "d": [0.1, 0.5, 0.9, 0.3],
           "e": [1.0, 2.0, 3.0, 4.0], "f": [3, 3, 7, 1], "g": [5.0, 6.0, 7.0, 8.0]}


def kinds(space):
    """A feature of each kind."""
    return {"a": "float_normalized", "b": "string_categorical", "c": space.integer_hashed(num_bins=4),
            "d": space.float_discretized(3), "e": space.float_rescaled(2.0, 1.0), "f": "integer_categorical",
            "g": "float"}


def spaces(k):
    """FeatureSpaces of all kinds of features."""
    space = k.utils.FeatureSpace

    def columns(names):
        return {name: COLUMNS[name] for name in names}

    def adapted(features, **given):
        made = space(features, **given)
        made.adapt(columns(features))
        return made

    def crossed(mode="concat"):
        return adapted(kinds(space), crosses=[("b", "c")], crossing_dim=5, output_mode=mode)

    def of_row(mode):
        return crossed(mode)({name: values[1] for name, values in COLUMNS.items()})

    def in_model():
        made = crossed()
        output = k.layers.Dense(1, kernel_initializer="ones")(made.get_encoded_features())
        return k.Model(made.get_inputs(), output)({name: k.ops.convert_to_tensor(values)[:, None]
                                                   for name, values in COLUMNS.items()})
    whole, texts = space.integer_categorical, space.string_categorical
    return {
        "all": lambda: crossed()(COLUMNS), "apart": lambda: crossed("dict")(COLUMNS),
        "a row": lambda: of_row("concat"), "a row apart": lambda: of_row("dict"), "in a model": in_model,
        "by default": lambda: adapted({"b": "string_hashed", "c": "integer_hashed", "d": "float_discretized",
                                       "e": "float_rescaled"})(columns("bcde")),
        "numbers": lambda: adapted({"b": texts(output_mode="int"),
                                    "c": whole(output_mode="int", num_oov_indices=2, max_tokens=4)},
                                   output_mode="dict")(columns("bc")),
        "crosses": lambda: adapted({"b": texts(), "c": whole(), "f": whole()}, crosses=[
            ("c", "f"), space.cross(("b", "c"), 7, output_mode="int")], output_mode="dict")(columns("bcf")),
        "numbers joined": lambda: adapted({"b": texts(output_mode="int")})(columns("b")),
        "without adapt": lambda: space({"c": space.integer_hashed(3), "g": "float"})(columns("cg")),
        "not adapted": lambda: space({"a": "float_normalized"})(columns("a")),
        "no inputs": lambda: space({"a": "float_normalized"}).get_inputs(),
        "unknown cross": lambda: space({"g": "float"}, crosses=[("g", "z")]),
        "no size": lambda: space({"g": "float"}, crosses=[("g", "g")], crossing_dim=None),
        "empty": lambda: space({}), "unknown kind": lambda: space({"a": "x"}),
        "mode": lambda: space({"g": "float"}, output_mode="x"), "a list": lambda: space({"g": "float"})([1.0]),
        "mode of a feature": lambda: space.feature("float32", k.layers.Rescaling(2.0), "x"),
        "vectors of floats": lambda: space({"g": space.feature("float32", k.layers.Rescaling(2.0), "one_hot")})(
            columns("g")),
        "own layers": lambda: space({"c": space.feature("int32", k.layers.CategoryEncoding(4, "one_hot"), "float"),
                                     "g": space.feature("float32", k.layers.Rescaling(2.0), "float")})(columns("cg")),
        "adapted to a list": lambda: space({"a": "float_normalized"}).adapt([1.0]),
        "configuration": lambda: re.sub(r', "shared_object_id": \d+', "", json.dumps(k.saving.serialize_keras_object(
            space({name: kind for name, kind in kinds(space).items() if name not in "bf"},
                  crosses=[("c", "d")]))["config"], sort_keys=True)),
    }


PICTURES = (np.arange(3 * 10 * 14 * 3, dtype="f") % 97 / 97).reshape(3, 10, 14, 3)
BOXES = np.array([[[1, 2, 6, 7], [0, 0, 14, 10]], [[3, 1, 9, 9], [-1, -1, -1, -1]], [[0, 0, 0, 0], [8, 4, 13, 8]]], "f")
BOX_LABELS = np.array([[1, 2], [3, -1], [-1, 4]])


def boxes(k):
    """Boxes in pictures that layers move; what Keras moves otherwise than the pictures is left out."""
    layers = k.layers
    kinds = {
        "flip": ("xyxy", lambda form: layers.RandomFlip("horizontal", seed=3, bounding_box_format=form)),
        "both flips": ("rel_yxyx", lambda form: layers.RandomFlip(seed=3, bounding_box_format=form)),
        "translation": ("xywh", lambda form: layers.RandomTranslation(0.3, (-0.2, 0.4), seed=3,
                                                                     bounding_box_format=form)),
        "rotation": ("xyxy", lambda form: layers.RandomRotation(0.2, seed=3, bounding_box_format=form)),
        "zoom": ("center_xywh", lambda form: layers.RandomZoom(0.3, seed=3, bounding_box_format=form)),
        "two zooms": ("xyxy", lambda form: layers.RandomZoom((-0.5, -0.1), (0.1, 0.3), seed=3,
                                                             bounding_box_format=form)),
        "shear": ("rel_xyxy", lambda form: layers.RandomShear(0.3, (0.1, 0.4), seed=3, bounding_box_format=form)),
        "perspective": ("xyxy", lambda form: layers.RandomPerspective(seed=3, bounding_box_format=form)),
        "near perspective": ("xyxy", lambda form: layers.RandomPerspective((0.4, 0.9), 0.3, seed=3,
                                                                           bounding_box_format=form)),
        "middle": ("yxyx", lambda form: layers.CenterCrop(6, 8, bounding_box_format=form)),
        "large middle": ("rel_xywh", lambda form: layers.CenterCrop(20, 8, bounding_box_format=form)),
        "size": ("xyxy", lambda form: layers.Resizing(20, 8, bounding_box_format=form)),
        "size with borders": ("rel_xyxy", lambda form: layers.Resizing(20, 8, pad_to_aspect_ratio=True,
                                                                       bounding_box_format=form)),
        "size of the middle": ("xyxy", lambda form: layers.Resizing(20, 8, crop_to_aspect_ratio=True,
                                                                    bounding_box_format=form)),
        "erasing": ("xyxy", lambda form: layers.RandomErasing(seed=3, bounding_box_format=form)),
    }

    def ran(form, make, training=True, number=None):
        found = np.asarray(k.utils.bounding_boxes.convert_format(BOXES.copy(), "xyxy", form, height=10, width=14))
        given = {"boxes": found, "labels": BOX_LABELS.copy()}
        pictures = PICTURES.copy()
        if number is not None:
            given, pictures = {name: one[number] for name, one in given.items()}, pictures[number]
        out = make(form)({"images": pictures, "bounding_boxes": given}, training=training)["bounding_boxes"]
        return [out["boxes"], out["labels"]]
    found = {name: lambda kind=kind: ran(*kind) for name, kind in kinds.items()}
    found |= {f"{name} of one": lambda kind=kind: ran(*kind, number=0) for name, kind in kinds.items()}
    found |= {f"{name} without training": lambda kind=kind: ran(*kind, training=False) for name, kind in kinds.items()}
    return {**found, "mixed": lambda: ran("xyxy", lambda form: layers.MixUp(seed=3, bounding_box_format=form))[0],
            "cut": lambda: ran("xyxy", lambda form: layers.CutMix(seed=3, bounding_box_format=form))}


def ragged(k):
    """What layers and models make of ragged tensors."""
    import importlib
    tf = importlib.import_module("tensorflow" if k.__name__ == "keras" else "leat")
    layers = k.layers

    def words():
        return tf.ragged.constant([[1, 2, 3], [4], [5, 2]])

    def numbers():
        return tf.ragged.constant([[1.0, -2.0, 3.0], [4.0], [5.0, 2.0]])

    def vectors():
        return tf.RaggedTensor.from_row_splits(tf.constant(X.reshape(-1, 2)[:6]), [0, 3, 4, 6])

    def shown(value):
        return value.to_tensor(-7) if hasattr(value, "to_tensor") else value

    def of(make, *given):
        k.utils.set_random_seed(1)
        return [hasattr(make(*given), "to_tensor"), shown(make(*given))]

    def fitted(*parts, data=None, start=None):
        k.utils.set_random_seed(1)
        model = k.Sequential([*([] if start is None else [start]), *parts])
        model.compile("sgd", "mean_squared_error")
        x = words() if data is None else data()
        y = {} if data is not None else {"y": np.ones((3, 1), "f")}
        model.fit(x, **y, epochs=2, verbose=0, shuffle=False)
        return [shown(model.predict(x, verbose=0)), model.evaluate(x, **y, verbose=0)]

    def averaged():
        return layers.Embedding(6, 2), layers.GlobalAveragePooling1D(), layers.Dense(1)

    def rows():
        return tf.data.Dataset.from_tensor_slices((words(), np.ones((3, 1), "f"))).batch(2)

    class Sums(layers.Layer):
        def call(self, x):
            return tf.reduce_sum(tf.cast(x, "float32"), axis=1)[:, None]
    return {
        "embedding": lambda: of(layers.Embedding(6, 2), words()),
        "masked embedding": lambda: of(layers.Embedding(6, 2, mask_zero=True), words()),
        "activation": lambda: of(layers.Activation("relu"), numbers()), "relu": lambda: of(layers.ReLU(), numbers()),
        "rescaling": lambda: of(layers.Rescaling(2.0), numbers()),
        "dropout": lambda: of(layers.Dropout(0.5), numbers()),
        "normalized": lambda: of(layers.LayerNormalization(), vectors()),
        "pooled": lambda: of(layers.GlobalAveragePooling1D(), vectors()),
        "most": lambda: of(layers.GlobalMaxPooling1D(), vectors()),
        "categories": lambda: of(layers.CategoryEncoding(6), words()),
        "lookup": lambda: of(layers.IntegerLookup(vocabulary=[1, 2, 3]), words()),
        "function": lambda: of(layers.Lambda(lambda x: x * 2), numbers()),
        "fitted": lambda: fitted(*averaged()), "fitted to a dataset": lambda: fitted(*averaged(), data=rows),
        "with an input": lambda: fitted(*averaged(), start=k.Input((None,), ragged=True, dtype="int32")),
        "with a plain input": lambda: fitted(*averaged(), start=k.Input((None,), dtype="int32")),
        "made dense": lambda: fitted(layers.Lambda(lambda x: x.to_tensor(shape=(None, 3))), layers.Embedding(6, 2),
                                     layers.Flatten(), layers.Dense(1)),
        "own": lambda: fitted(Sums(), layers.Dense(1)), "own to a dataset": lambda: fitted(
            Sums(), layers.Dense(1), data=rows),
        "sparse and ragged": lambda: k.Input((None,), sparse=True, ragged=True),
        "input": lambda: [k.Input((None,), ragged=True).ragged],
        "recurrent": lambda: "refused" if isinstance(called(lambda: layers.LSTM(2)(vectors())), str) else "taken",
    }


SORTS = {"random": random, "renormalized": renormalized, "ctc": ctc, "masks": masks, "spaces": spaces, "boxes": boxes,
         "ragged": ragged}


def main(path):
    import keras
    found = {}
    for sort, calls in SORTS.items():
        found[sort] = {}
        for name, function in calls(keras).items():
            keras.backend.clear_session()
            found[sort][name] = called(function)
    with open(path, "w") as file:
        json.dump(found, file)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
