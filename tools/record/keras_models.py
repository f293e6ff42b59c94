"""Records models of Keras: configurations, summaries and what they compute, as python/tests/data/keras_models.json.

    COLUMNS=200 python keras_models.py python/tests/data/keras_models.json         (with TensorFlow and Keras installed)
"""

import json
import sys

import keras
import numpy as np
from keras import layers


def branching():
    picture = keras.Input((8, 8, 3), name="picture")
    left = layers.Conv2D(4, 3, padding="same", activation="relu")(picture)
    right = layers.Conv2D(4, 1, kernel_regularizer=keras.regularizers.L2(0.1))(picture)
    x = layers.Add()([left, right])
    x = layers.BatchNormalization()(x)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.5)(x)
    return keras.Model(picture, layers.Dense(3, name="out", activation="softmax")(x), name="branching")


def shared():
    first, second = keras.Input((4,), name="first"), keras.Input((4,), name="second")
    dense = layers.Dense(3, kernel_constraint="max_norm", bias_initializer="ones")
    x = layers.Concatenate()([dense(first), dense(second)])
    return keras.Model([first, second], [layers.Dense(2)(x), layers.LayerNormalization()(x)], name="shared")


def nested():
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(5, activation="tanh"), layers.Dense(4)], name="inner")
    start = keras.Input((4,), name="start")
    x = inner(start)
    return keras.Model({"start": start}, layers.Add(name="sum")([x, start]), name="nested")


def straight():
    return keras.Sequential([keras.Input((6, 6, 2)), layers.SeparableConv2D(3, 3), layers.MaxPooling2D(), layers.Flatten(),
                             layers.Dense(2)], name="straight")


def numbers(array):
    return {"shape": list(np.shape(array)), "data": [float(str(x)) for x in np.asarray(array, np.float32).ravel()]}


def main(path):
    random, lines = np.random.default_rng(5), []
    for build in (branching, shared, nested, straight):
        keras.backend.clear_session()
        model = build()
        weights = [random.uniform(0.1, 1, size=w.shape) for w in model.weights]
        model.set_weights(weights)
        given = [random.normal(size=(2, *one.shape[1:])) for one in model.inputs]
        names = [one.name for one in model.inputs]
        outputs = model(dict(zip(names, given)) if build is nested else given if len(given) > 1 else given[0])
        summaries = {}
        for name, arguments in (("plain", {}), ("wide", {"line_length": 120, "show_trainable": True}),
                                ("narrow", {"line_length": 72, "expand_nested": True})):
            text = []
            model.summary(print_fn=lambda line, **_: text.append(line), **arguments)
            summaries[name] = {"arguments": arguments, "text": "\n".join(text)}
        lines.append(json.dumps({
            "name": model.name, "json": model.to_json(), "paths": [w.path for w in model.weights],
            "weights": [numbers(w) for w in weights], "inputs": [numbers(one) for one in given],
            "outputs": [numbers(one) for one in keras.tree.flatten(outputs)], "summaries": summaries,
            "layers": [layer.name for layer in model.layers]}))
        if build is branching:
            model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
            model.fit(given[0], np.array([0, 2]), verbose=0)
            model.save(path.replace(".json", ".keras"))
            lines[-1] = lines[-1][:-1] + ', "after": %s}' % json.dumps([numbers(w) for w in model.get_weights()])
    with open(path, "w") as file:
        file.write('{"keras": "%s", "models": [\n%s\n]}\n' % (keras.__version__, ",\n".join(lines)))


main(sys.argv[1])
