"""Programs about whole models: made of a few layers, compiled, trained, looked at, saved; group "models"."""
import math

from programs import call, method, py, ref

LAYERS = "tf.keras.layers."


def layer(word, *args, **more):
    return call(LAYERS + word, *args, **more)


def inputs(draw):
    """The expression of the data, its layers up to features, and how many examples."""
    count = draw.rng.randint(4, 7)
    kind = draw.choice(["table", "table", "picture", "words", "series"])
    if kind == "words":
        x = ["array", "int32", [count, 4], [draw.rng.randint(0, 5) for _ in range(4 * count)]]
        body = [layer("Embedding", py(6), py(3), **draw.choice([{}, {"mask_zero": py(True)}])), layer(draw.choice(["GlobalAveragePooling1D",
            "Flatten"]))]
        return x, body, count
    shape = {"table": [count, 3], "picture": [count, 5, 4, 2], "series": [count, 5, 2]}[kind]
    x = ["array", "float32", shape, [round(draw.rng.uniform(-2, 2), 2) for _ in range(math.prod(shape))]]
    if kind == "table":
        return x, [middle(draw) for _ in range(draw.rng.randint(0, 3))], count
    end = "2D" if kind == "picture" else "1D"
    body = [layer("Conv" + end, py(2), py(2), activation=py("relu"))]
    body += draw.choice([[], [layer("MaxPooling" + end, py(2))], [layer("BatchNormalization")], [layer("SpatialDropout" + end, py(0.3))]])
    return x, body + [layer(draw.choice(["Flatten", "GlobalAveragePooling" + end, "GlobalMaxPooling" + end]))], count


def middle(draw):
    return draw.choice([
        layer("Dense", py(3), activation=py(draw.choice(["relu", "tanh", "gelu", "softmax"]))),
        layer("Dense", py(2), kernel_regularizer=py("l2"), kernel_initializer=py(draw.choice(["he_normal", "orthogonal", "zeros"]))),
        layer("Dropout", py(0.4)), layer("BatchNormalization"), layer("LayerNormalization"), layer("GaussianNoise", py(0.2)),
        layer("Dense", py(3), kernel_constraint=py("max_norm"), bias_initializer=py("ones")), layer("UnitNormalization"), layer("PReLU")])


def task(draw, count):
    """The last layer, the loss, metrics that suit it, and the targets."""
    kind = draw.choice(["number", "binary", "classes", "one hot"])
    if kind == "number":
        y = ["array", "float32", [count, 1], [round(draw.rng.uniform(-1, 1), 2) for _ in range(count)]]
        return layer("Dense", py(1)), py(draw.choice(["mse", "mae", "huber", "log_cosh"])), draw.choice([[], ["mae"], ["mse",
            "root_mean_squared_error"]]), y
    labels = [draw.rng.randint(0, 1 if kind == "binary" else 2) for _ in range(count)]
    if kind == "binary":
        y = ["array", "float32", [count, 1], [float(one) for one in labels]]
        return layer("Dense", py(1), activation=py("sigmoid")), py("binary_crossentropy"), draw.choice([[], ["accuracy"], ["AUC"]]), y
    if kind == "classes":
        head, loss = draw.choice([(layer("Dense", py(3), activation=py("softmax")), py("sparse_categorical_crossentropy")), (
            layer("Dense", py(3)), call("tf.keras.losses.SparseCategoricalCrossentropy", from_logits=py(True)))])
        return head, loss, draw.choice([[], ["accuracy"]]), ["array", "int32", [count], labels]
    y = ["array", "float32", [count, 3], [float(at == one) for one in labels for at in range(3)]]
    return layer("Dense", py(3), activation=py("softmax")), py("categorical_crossentropy"), draw.choice([[], ["accuracy"],
        ["categorical_accuracy"]]), y


def optimizer(draw):
    word = draw.choice(["SGD", "Adam", "RMSprop", "AdamW", "Adagrad", "Nadam"])    # Lion steps by the signs of rounding errors
    rate = draw.choice([py(0.1), py(0.01), call("tf.keras.optimizers.schedules.ExponentialDecay", py(0.1), py(2), py(0.5))])
    more = draw.choice([{}, {}, {"clipnorm": py(0.5)}, {"weight_decay": py(0.01)}, {"momentum": py(0.9)} if word == "SGD" else {},
        {"use_ema": py(True)}])
    return call("tf.keras.optimizers." + word, rate, **more)


def callbacks(draw):
    given = draw.choice([[], [], [call("tf.keras.callbacks.EarlyStopping", py("loss"), patience=py(0))],
                         [call("tf.keras.callbacks.LearningRateScheduler", ["lambda", "epoch, rate", ["binary", "*", ref("rate"), py(0.5)]])],
                         [call("tf.keras.callbacks.ReduceLROnPlateau", py("loss"), patience=py(0))], [call("tf.keras.callbacks.TerminateOnNaN")]])
    return ["list", given]


def fitting(draw, x, y, count):
    """The arguments of fit: arrays, tensors or a dataset, with what may come beside them."""
    more = {"epochs": py(draw.rng.randint(1, 3)), "verbose": py(0), "callbacks": callbacks(draw)}
    size = py(draw.choice([1, 2, 3, 32]))
    if draw.chance(0.35):
        data = call("tf.data.Dataset.from_tensor_slices", ["tuple", [x, y]])
        if draw.chance(0.4):
            data = method(data, "shuffle", py(draw.choice([2, 10])), seed=py(3))
        data = method(data, "batch", size)
        if draw.chance(0.2):
            data, more["steps_per_epoch"] = method(data, "repeat"), py(2)
        return [data], more
    more.update(batch_size=size, shuffle=py(draw.chance(0.3)))
    extra = draw.choice(["", "", "split", "data", "weights", "classes"])
    if extra == "split":
        more["validation_split"] = py(0.3)
    elif extra == "data":
        more["validation_data"] = ["tuple", [x, y]]
    elif extra == "weights":
        more["sample_weight"] = ["array", "float32", [count], [round(draw.rng.uniform(0.1, 2), 2) for _ in range(count)]]
    elif extra == "classes":
        more["class_weight"] = ["dict", [[py(0), py(0.5)], [py(1), py(2.0)], [py(2), py(1.0)]]]
    return [x, y], more


def model(draw, row):
    """A model that is trained, and what is seen of it afterwards."""
    data, body, count = inputs(draw)
    head, loss, metrics, truth = task(draw, count)
    x, y = draw.keep("data", data), draw.keep("truth", truth)
    draw.keep("model", call("tf.keras.Sequential", ["list", body + [head]]))
    more = {"metrics": py(metrics)} if metrics else {}
    if draw.chance(0.15):
        more["run_eagerly"] = py(True)
    steps = [[None, method("model", "compile", optimizer=optimizer(draw), loss=loss, **more)]]
    given, named = fitting(draw, x, y, count)
    fit = ["history", ["attr", method("model", "fit", *given, **named), "history"]]
    size = py(draw.choice([2, 32]))
    mode = row["name"].rpartition(".")[2]
    draws = any(word in repr(body) for word in ("Dropout", "GaussianNoise"))
    body = {"fit": [fit, ["weights", method("model", "get_weights")]],
            "evaluate": [fit, ["y", method("model", "evaluate", x, y, batch_size=size, verbose=py(0), return_dict=py(draw.chance(0.5)))]],
            "predict": [fit, ["y", method("model", "predict", x, batch_size=size, verbose=py(0))]],
            "train_on_batch": [["y", method("model", "train_on_batch", x, y)], ["z", method("model", "test_on_batch", x, y, return_dict=py(True))]],
            "save": [fit, [None, method("model", "save", py("m.keras"))], ["again", call("tf.keras.models.load_model", py("m.keras"))],
                     ["y", method("again", "predict", x, verbose=py(0))], ["further", ["attr", method("again", "fit", x, y, shuffle=py(False),
                         verbose=py(0)), "history"]]],
            "get_config": [[None, call(ref("model"), x)], ["config", method("model", "get_config")], ["again",
                call("tf.keras.Sequential.from_config", ref("config"))],
                           ["y", method("again", "predict", x, verbose=py(0))], ["total", method("model", "count_params")]]}[mode]
    if mode == "save" and draws:    # whose generators a saved model goes on from: docs/COMPATIBILITY.md, Configurations
        body.pop()
    shown = [name for name, _ in body if name and name != "again"]
    return {"name": row["name"], "group": "models", "mode": mode, "values": draw.values, "body": steps + body, "show": shown}


def rows(table):
    return [("models", {"name": "tf.keras.Model." + word}, model) for word in ("fit", "evaluate", "predict", "train_on_batch", "save", "get_config")]
