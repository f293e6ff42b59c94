"""Programs about Keras: layers, losses, metrics, optimizers, schedules, initializers, regularizers, constraints, random functions."""
import math

import calls
import programs
from hints import one_of
from programs import call, method, py, ref

RANKS = {"1D": ([2, 6, 3], [1, 5, 2], [2, 4, 1]), "2D": ([2, 5, 5, 2], [1, 4, 6, 3], [2, 3, 3, 1]), "3D": ([1, 3, 4, 4, 2], [2, 3, 3, 3, 1])}
DENSE = ([2, 3], [4, 5], [1, 1], [2, 3, 4], [3, 2, 2, 2])
SEQUENCE = ([2, 3, 4], [1, 4, 2], [3, 1, 1])
PICTURES = ([2, 5, 6, 3], [4, 4, 3], [1, 6, 6, 1])
MERGING = {"Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate", "Dot"}
SEQUENTIAL = {"LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "TimeDistributed"}
# Bases and what takes no array of numbers alone; Lambda's functions have no form as data.
NO_LAYER = {"Layer", "InputLayer", "InputSpec", "Wrapper", "Lambda", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "TFSMLayer", "Pipeline", "Input",
            "AbstractRNNCell", "StackedRNNCells", "RandomAugmentation", "MaxNumBoundingBoxes", "ReversibleEmbedding"}

ACTIVATION = one_of("relu", "tanh", "sigmoid", "softmax", "elu", "gelu", "selu", "softplus", "linear", None)
INITIALIZER = one_of("glorot_uniform", "zeros", "ones", "he_normal", "orthogonal", "lecun_uniform", "random_normal")
# Arguments of constructors by name; those that are not here keep their defaults, but for bools, which are drawn.
ARGUMENTS = {
    "units": one_of(1, 2, 4), "filters": one_of(1, 2, 4), "kernel_size": one_of(1, 2, 3), "strides": one_of(1, 2),
    "padding": one_of("valid", "same"), "pool_size": one_of(1, 2, 3), "activation": ACTIVATION,
    "recurrent_activation": one_of("sigmoid", "hard_sigmoid"), "kernel_initializer": INITIALIZER, "bias_initializer": INITIALIZER,
    "recurrent_initializer": one_of("orthogonal", "glorot_uniform"), "kernel_regularizer": one_of("l1", "l2", None),
    "activity_regularizer": one_of("l2", None), "kernel_constraint": one_of("max_norm", "non_neg", None), "depth_multiplier": one_of(1, 2),
    "dilation_rate": one_of(1, 2), "groups": one_of(1, 1, 2), "rate": one_of(0.0, 0.2, 0.5), "stddev": one_of(0.1, 1.0), "seed": one_of(3, 11),
    "axis": one_of(-1, 1), "axes": one_of(1, -1), "epsilon": one_of(1e-3, 1e-5), "momentum": one_of(0.0, 0.5, 0.9), "n": one_of(1, 2, 3),
    "target_shape": one_of([-1], [1, -1], [-1, 1]), "dims": one_of([2, 1], [1, 2], [1, 2, 3], [3, 1, 2]), "size": one_of(1, 2),
    "cropping": one_of(0, 1), "input_dim": one_of(4, 6), "output_dim": one_of(1, 3), "num_heads": one_of(1, 2), "key_dim": one_of(1, 2, 3),
    "value_dim": one_of(None, 2), "head_dim": one_of(2), "num_query_heads": one_of(2), "num_key_value_heads": one_of(1, 2),
    "height": one_of(2, 4, 7), "width": one_of(2, 3, 6), "factor": one_of(0.2, 0.5), "scale": one_of(0.5, 2.0), "offset": one_of(0.0, 1.0),
    "num_bins": one_of(3, 5), "num_tokens": one_of(6), "output_mode": one_of("int", "one_hot", "multi_hot", "count"),
    "bin_boundaries": one_of([0.0, 1.0], [-1.0, 0.5, 2.0]), "mean": one_of(0.0, 1.5), "variance": one_of(1.0, 4.0),
    "invert": one_of(True, False), "negative_slope": one_of(0.1, 0.3), "alpha": one_of(0.5, 1.0), "max_value": one_of(None, 1.0),
    "threshold": one_of(0.0, 0.5), "mask_value": one_of(0.0, 1.0), "data_format": one_of("channels_last", None),
    "interpolation": one_of("nearest", "bilinear"), "fill_mode": one_of("constant", "nearest", "reflect", "wrap"),
    "value_range": one_of([0, 1], [0, 255]), "dropout": one_of(0.0, 0.0, 0.3), "height_factor": one_of(0.2), "width_factor": one_of(0.2),
    "mode": one_of("horizontal", "vertical"), "l1": one_of(0.0, 0.1), "l2": one_of(0.0, 0.1),
    "dtype": one_of(None, None, None, "float64", "float16", "mixed_float16", "mixed_bfloat16", "bfloat16"), "power_iterations": one_of(1, 2),
    "vocabulary": one_of(["a", "b", "c"]), "num_oov_indices": one_of(0, 1), "max_tokens": one_of(None, 5), "salt": one_of(None, 7),
    "merge_mode": one_of("concat", "sum", "ave", None), "layer": lambda draw: call("tf.keras.layers.Dense", py(2)),
    "cell": lambda draw: call("tf.keras.layers.%sCell" % draw.choice(["LSTM", "GRU", "SimpleRNN"]), py(2)), "label_smoothing": one_of(0.0, 0.1),
    "from_logits": one_of(True, False), "delta": one_of(0.5, 1.0), "gamma": one_of(2.0, 1.0),
    "reduction": one_of("sum_over_batch_size", "sum", "mean", None), "num_classes": one_of(3), "thresholds": one_of(None, 0.3, [0.2, 0.7]),
    "k": one_of(1, 2), "num_thresholds": one_of(5, 20), "curve": one_of("ROC", "PR"), "summation_method": one_of("interpolation", "minoring"),
    "average": one_of(None, "micro", "macro", "weighted"), "target_class_ids": one_of([0], [0, 2]), "class_id": one_of(None, 1),
    "top_k": one_of(None, 1), "ignore_class": one_of(None, 0), "sensitivity": one_of(0.5), "specificity": one_of(0.5), "recall": one_of(0.5),
    "precision": one_of(0.5), "beta": one_of(0.5, 1.0, 2.0), "normalizer": one_of([1.0, 2.0]), "order": one_of(2),
    "learning_rate": one_of(0.1, 0.01, 0.001), "weight_decay": one_of(None, 0.01), "clipnorm": one_of(None, 0.5),
    "clipvalue": one_of(None, 0.3), "global_clipnorm": one_of(None, 0.5), "use_ema": one_of(True, False),
    "ema_overwrite_frequency": one_of(None, 2), "gradient_accumulation_steps": one_of(None, 2), "beta_1": one_of(0.9, 0.5),
    "beta_2": one_of(0.999, 0.9), "rho": one_of(0.9, 0.5), "initial_accumulator_value": one_of(0.1, 0.5),
    "initial_learning_rate": one_of(0.1, 1.0), "decay_steps": one_of(3, 10), "decay_rate": one_of(0.5, 0.9),
    "end_learning_rate": one_of(0.0, 0.01), "power": one_of(1.0, 2.0), "boundaries": one_of([2, 5]), "values": one_of([1.0, 0.5, 0.1]),
    "first_decay_steps": one_of(3), "t_mul": one_of(1.0, 2.0), "m_mul": one_of(1.0, 0.5), "warmup_target": one_of(None, 0.5),
    "warmup_steps": one_of(0, 2), "minval": one_of(-0.1), "maxval": one_of(0.2), "distribution": one_of("uniform", "truncated_normal"),
    "gain": one_of(1.0, 0.5), "value": one_of(0.0, 2.0), "max_norm": one_of(None, 1.0), "min_value": one_of(0.0, 0.5), "rank": one_of(2),
    "num_groups": one_of(2), "sequence_stride": one_of(1, 2), "sequence_length": one_of(3), "fft_length": one_of(4),
    "split": one_of("whitespace", "character"), "standardize": one_of("lower_and_strip_punctuation", None),
    "output_sequence_length": one_of(None, 3), "ngrams": one_of(None, 2), "num_spatial_dims": one_of(None), "shared_axes": one_of(None, [1]),
    "name": None,
}


def constructor(draw, row, often=0.3):
    """The call of a class, with what it needs and some of the rest."""
    named = []
    for word, kind, default in row.get("parameters") or []:
        needed = default[0] == "none" and kind != "rest"
        if kind == "rest" and word == "kwargs" and draw.chance(0.15):
            word, kind, default = "dtype", "keyword", ["py", None]
        elif kind == "rest" or not needed and not draw.chance(often):
            continue
        hint = ARGUMENTS.get(word)
        if isinstance(default[-1], bool):
            named.append([word, py(draw.chance(0.5))])
        elif hint is not None:
            named.append([word, hint(draw)])
        elif needed:
            named.append([word, py(2)])
    return ["call", ["name", row["name"]], [], named]


def layer_input(draw, word):
    """What a layer is called with; chance finds the ranks that it takes."""
    if word == "Embedding":
        return draw.ints("x", 4, draw.choice([[2, 3], [4]]))
    if word in ("StringLookup", "TextVectorization", "HashedCrossing"):
        return draw.keep("x", ["tensor", "string", [3], ["a", "b c", "zz"]])
    if word in ("IntegerLookup", "CategoryEncoding", "Hashing"):
        return draw.ints("x", 4, draw.choice([[2, 3], [4]]))
    if word in MERGING:
        shape = draw.choice(DENSE)
        return ["list", [draw.tensor("x", draw.dtype, shape), draw.tensor("x", draw.dtype, shape)]]
    if word in ("Attention", "AdditiveAttention"):
        return ["list", [draw.tensor("x", draw.dtype, [2, 3, 4]), draw.tensor("x", draw.dtype, [2, 3, 4])]]
    end = word.replace("Transpose", "")[-2:]
    shapes = RANKS.get(end) or (SEQUENCE if word in SEQUENTIAL else PICTURES if word.startswith("Random") or word in ("Resizing",
        "CenterCrop") else DENSE + SEQUENCE)
    if word.startswith("ConvLSTM"):
        shapes = [[1, 2] + list(shape)[1:] for shape in shapes]
    return draw.tensor("x", draw.dtype, draw.choice(shapes))


def invoked(layer, x, more=()):
    args = [x, x] if layer == "attention" else [x]
    return ["call", ref("layer"), args, list(more)]


def layer(draw, row):
    word = row["name"].split(".")[-1]
    draw.theme(["float32"] * 8 + ["float64", "int32", "float16", "uint8", "bfloat16"], style=draw.choice(["plain", "plain", "unit", "positive",
        "special"]
                                                                                         if draw.chance(0.3) else ["plain"]))
    draw.keep("layer", constructor(draw, row))
    x = layer_input(draw, word)
    more = [["training", py(True)]] if draw.chance(0.25) else []
    kind = "attention" if word in ("MultiHeadAttention", "GroupQueryAttention") else "layer"
    y, values = ["y", invoked(kind, x, more)], draw.values
    weights = ["weights", method("layer", "get_weights")]
    mode = draw.choice(["eager"] * 5 + ["config"] * 2 + ["tape"] * 3 + ["function"] * 2 + ["map", "functional", "saved", "weights", "fit", "fit",
        "shape"])
    program = {"name": row["name"], "group": "layers", "mode": mode, "values": values, "body": [y], "show": ["y"]}
    if mode == "eager":
        return {**program, "body": [y, weights], "show": ["y", "weights"]}
    if mode == "config":
        again = ["layer", ["call", ["attr", ["name", row["name"]], "from_config"], [ref("config")], []]]
        return {**program, "body": [["config", method("layer", "get_config")], again, y, ["second", method("layer", "get_config")]],
            "show": ["config", "second", "y"]}
    if mode == "tape":
        by = [["attr", ref("layer"), "trainable_variables"]] + [ref(name) for name in programs.floating(program)]
        watch = [[None, call("tape.watch", ref(name))] for name in programs.floating(program)]
        return {**program, "body": watch + [y], "wrt": ["list", by]}
    if mode in ("function", "map"):
        return {**program, "values": values + [[None, y[1]]]}
    if mode == "shape":
        shape = ["y", method("layer", "compute_output_shape", call(["name", "tuple"], ["attr", x, "shape"]))]
        return {**program, "body": [shape if x[0] == "ref" else y]}
    return model(draw, program, x, y)


def model(draw, program, x, y):
    """A layer in a model that is saved and loaded, or trained."""
    if x[0] != "ref" or program["name"].endswith("Attention"):
        return {**program, "mode": "eager"}
    if program["mode"] == "functional":
        body = [["given", call("tf.keras.Input", ["index", ["attr", x, "shape"], [["slice", py(1), py(None), py(None)]]], dtype=["attr", ["attr",
            x, "dtype"], "name"])],
                ["out", call(ref("layer"), ref("given"))], ["model", call("tf.keras.Model", ref("given"), ref("out"))], ["y", call(ref("model"), x)],
                ["parameters", method("model", "count_params")]]
        return {**program, "body": body, "show": ["out", "y", "parameters"]}
    start = [["model", call("tf.keras.Sequential", ["list", [ref("layer")]])], ["y", call(ref("model"), x)]]
    if program["mode"] == "saved":
        body = start + [[None, method("model", "save", py("m.keras"))], ["again", call("tf.keras.models.load_model", py("m.keras"))], ["z",
            call(ref("again"), x)]]
        return {**program, "body": body, "show": ["y", "z"]}
    if program["mode"] == "weights":
        zeros = ["list", []]
        body = start + [[None, method("model", "save_weights", py("m.weights.h5"))], [None, method("model", "load_weights", py("m.weights.h5"))],
                        ["z", call(ref("model"), x)], ["shapes", ["call", ["name", "list"], [["call", ["name", "map"], [["name", "np.shape"],
                            method("model", "get_weights")], []]], []]]]
        return {**program, "body": body, "show": ["y", "z", "shapes"], "wrt": zeros[1] or None}
    layers = ["list", [ref("layer"), call("tf.keras.layers.Flatten"), call("tf.keras.layers.Dense", py(1))]]
    loss = draw.choice(["mse", "mae", "huber"])
    body = [["model", call("tf.keras.Sequential", layers)],
            [None, method("model", "compile", optimizer=py(draw.choice(["sgd", "adam", "rmsprop"])), loss=py(loss), metrics=py(draw.choice([[],
                ["mae"]])))],
            ["history", ["attr", method("model", "fit", x, call("tf.ones", ["list", [["index", ["attr", x, "shape"], [py(0)]], py(1)]]),
                epochs=py(2), verbose=py(0),
                                        batch_size=py(draw.choice([1, 2, 32])), shuffle=py(False)), "history"]],
            ["y", method("model", "predict", x, verbose=py(0))]]
    return {**program, "body": body, "show": ["history", "y"]}


def targets(draw, word):
    """y_true and y_pred for a loss or a metric."""
    shape = draw.choice([[4, 3], [2, 3], [3, 1], [2, 4, 3]])
    if word.startswith("Sparse"):
        return draw.ints("t", shape[-1], shape[:-1]), draw.tensor("p", None, shape, "unit")
    if word in ("MeanIoU", "IoU", "BinaryIoU"):
        return draw.ints("t", 3, [5]), draw.ints("p", 3, [5])
    truth = draw.choice(["whole", "unit"])
    if truth == "whole":
        return draw.keep("t", ["tensor", draw.choice([draw.dtype, "int32", "float32"]), shape, [draw.rng.randint(0,
            1) for _ in range(math.prod(shape))]]), \
            draw.tensor("p", None, shape, draw.choice(["unit", "plain"]))
    return draw.tensor("t", None, shape, "unit"), draw.tensor("p", None, shape, draw.choice(["unit", "plain", "special"]))


def weighted(draw, pred):
    shape = dict((name, expr[2]) for name, expr in draw.values)[pred[1]]
    return draw.tensor("w", "float32", shape[:1] if len(shape) > 1 else shape, "positive") if draw.chance(0.3) else None


def loss(draw, row):
    draw.theme(["float32"] * 6 + ["float64", "float16", "bfloat16"], style="unit")
    draw.keep("loss", constructor(draw, row))
    truth, pred = targets(draw, row["name"].split(".")[-1])
    weight = weighted(draw, pred)
    y = ["y", ["call", ref("loss"), [truth, pred], [["sample_weight", weight]] if weight else []]]
    mode = draw.choice(["eager", "eager", "tape", "tape", "function", "config"])
    program = {"name": row["name"], "group": "losses", "mode": mode, "values": draw.values, "body": [y], "show": ["y"]}
    if mode == "config":
        program = {**program, "body": [["config", method("loss", "get_config")], y], "show": ["config", "y"]}
    return {**program, "wrt": pred, "body": [[None, call("tape.watch", pred)], y]} if mode == "tape" else program


def metric(draw, row):
    draw.theme(["float32"] * 6 + ["float64", "float16"], style="unit")
    word = row["name"].split(".")[-1]
    draw.keep("metric", constructor(draw, row))
    if word in ("Mean", "Sum"):
        given = [draw.tensor("p", None, [4])]
    elif word == "MeanMetricWrapper":
        given = list(targets(draw, word))
    else:
        given = list(targets(draw, word))
    weight = weighted(draw, given[-1]) if draw.chance(0.4) else None
    more = [["sample_weight", weight]] if weight else []
    update = [None, ["call", ["attr", ref("metric"), "update_state"], given, more]]
    mode = draw.choice(["eager", "eager", "config", "reset"])
    program = {"name": row["name"], "group": "metrics", "mode": mode, "values": draw.values, "body": [update] * draw.rng.randint(1, 3) + [
        ["y", method("metric", "result")]], "show": ["y"]}
    if mode == "config":
        return {**program, "body": program["body"] + [["config", method("metric", "get_config")], ["kept", ["attr", ref("metric"),
            "variables"]]], "show": ["y", "config", "kept"]}
    if mode == "reset":
        return {**program, "body": program["body"] + [[None, method("metric", "reset_state")], ["z", method("metric", "result")], update, ["u",
            method("metric", "result")]],
                "show": ["y", "z", "u"]}
    return program


def optimizer(draw, row):
    draw.theme(["float32"] * 8 + ["float64", "float16"], ranks=(1, 2), style="plain")
    if row["name"].endswith("LossScaleOptimizer"):
        draw.keep("opt", call(row["name"], call("tf.keras.optimizers.SGD", py(0.1))))
    else:
        draw.keep("opt", constructor(draw, row))
    x = draw.tensor("x")
    draw.keep("v", call("tf.Variable", x))
    if draw.chance(0.2):
        gradients = [call("tf.IndexedSlices", draw.tensor("g", None, [2] + draw.shape[1:]), draw.keep("at", ["tensor", "int32", [2], [0,
            draw.choice([0, max(0, draw.shape[0] - 1)])]]),
                          py(draw.shape))]
        gradients *= 2
    else:
        gradients = [draw.tensor("g"), draw.tensor("g")]
    steps = [[None, method("opt", "apply_gradients", ["list", [["tuple", [each, ref("v")]]]])] for each in gradients * draw.rng.randint(1, 2)]
    mode = draw.choice(["eager", "eager", "config"])
    program = {"name": row["name"], "group": "optimizers", "mode": mode, "values": draw.values, "body": steps + [
        ["y", call("tf.identity", ref("v"))], ["kept", ["attr", ref("opt"), "variables"]]], "show": ["y", "kept"]}
    if mode == "config":
        program = {**program, "body": steps + [["config", method("opt", "get_config")]], "show": ["config"]}
    return program


def schedule(draw, row):
    draw.keep("schedule", constructor(draw, row))
    x = draw.keep("step", ["tensor", draw.choice(["int32", "int64", "float32"]), [], [draw.choice([0, 1, 3, 5, 12])]])
    return {"name": row["name"], "group": "schedules", "mode": "eager", "values": draw.values, "show": ["y", "config"],
            "body": [["y", call(ref("schedule"), x)], ["config", method("schedule", "get_config")]]}


def simple(group):
    """Initializers, regularizers and constraints: made, called, and asked for their config."""
    def make(draw, row):
        draw.theme(["float32"] * 5 + ["float64", "float16", "bfloat16"], ranks=(1, 4), style="plain")
        thing = constructor(draw, row, 0.5)
        if group == "initializers":
            shape = py(draw.choice([[3, 4], [2], [2, 3, 4], [1, 2, 2, 3], [0, 2], [4, 4]]))
            given, more = [shape], [["dtype", py(draw.dtype)]] if draw.chance(0.4) else []
        else:
            given, more = [draw.tensor("x")], []
        draw.keep("made", thing)
        return {"name": row["name"], "group": group, "mode": "eager", "values": draw.values, "show": ["y", "config"],
                "body": [["y", ["call", ref("made"), given, more]], ["config", method("made", "get_config")]]}
    return make


def random_function(draw, row):
    """keras.random's functions: of one seed, and of a generator twice."""
    draw.theme(["float32"], style="unit")
    own = {"shape": lambda one: py(one.choice([[3], [2, 2], []])), "inputs": lambda one: one.tensor("x", "float32", [3, 4]),
        "logits": lambda one: one.tensor("x", "float32", [2, 3]),
           "x": lambda one: one.tensor("x", "float32", [4, 2]), "num_samples": one_of(3), "rate": one_of(0.5), "alpha": one_of(0.5, 2.0),
               "beta": one_of(1.5), "counts": one_of(5.0),
           "probabilities": one_of(0.4), "minval": one_of(0), "maxval": one_of(10), "seed": lambda one: one.choice([py(3), ref("seeds")]),
           "dtype": one_of("float32", "float64", "int32", "float16")}
    draw.keep("seeds", call("tf.keras.random.SeedGenerator", py(5)))
    positional, named = calls.arguments(draw, row, own)
    if not any(word == "seed" for word, _ in named):
        named.append(["seed", ref("seeds")])
    made = ["call", ["name", row["name"]], positional, named]
    return {"name": row["name"], "group": "random", "mode": "eager", "values": draw.values, "body": [["y", made], ["z", made]], "show": ["y", "z"]}


NAMESPACES = [("tf.keras.layers", "layers", layer), ("tf.keras.losses", "losses", loss), ("tf.keras.metrics", "metrics", metric),
              ("tf.keras.optimizers.schedules", "schedules", schedule), ("tf.keras.optimizers", "optimizers", optimizer),
              ("tf.keras.initializers", "initializers", simple("initializers")), ("tf.keras.regularizers", "regularizers", simple("regularizers")),
              ("tf.keras.constraints", "constraints", simple("constraints"))]
NO_PROGRAM = NO_LAYER | {"Loss", "Metric", "MeanMetricWrapper", "Optimizer", "LearningRateSchedule", "Initializer", "Regularizer", "Constraint",
    "MultiOptimizer", "LossScaleOptimizer"}


def rows(table):
    found = []
    for row in table:
        space, _, word = row["name"].rpartition(".")
        if row["what"] == "class" and word not in NO_PROGRAM:
            found += [(group, row, make) for start, group, make in NAMESPACES if space == start]
        if row["what"] == "function" and space == "tf.keras.random" and row.get("parameters"):
            found.append(("random", row, random_function))
    return found
