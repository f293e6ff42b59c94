"""A program about recurrent layers that runs under Keras and leat alike: outputs, gradients, training, states, masks.

``python keras_recurrent.py data/keras_recurrent.json`` records what it gives under Keras; test_keras_recurrent.py
compares.
"""

import json
import sys

import numpy as np

X = np.sin(np.arange(2 * 4 * 3, dtype="f").reshape(2, 4, 3) * 1.7)
MASK = np.array([[True, True, False, True], [False, True, True, False]])
LATE = np.array([[False, False, True, True], [True, True, True, True]])
STATE = np.cos(np.arange(6, dtype="f").reshape(2, 3))
CARRY = np.sin(np.arange(6, dtype="f").reshape(2, 3) + 2)
KINDS = ("SimpleRNN", "GRU", "LSTM")
ACTIVATIONS = ("relu", "sigmoid", "hard_sigmoid", "elu", "softsign", "softplus", "linear", "exponential", "gelu",
               "silu")


def listed(value):
    """Tensors of a structure as lists of numbers of six digits."""
    if isinstance(value, (list, tuple)):
        return [listed(one) for one in value]
    return [float(f"{one:.7g}") for one in np.asarray(value, np.float64).reshape(-1)]


def fixed(layer):
    """The layer with weights that are all different."""
    layer.set_weights([np.sin(np.arange(int(np.prod(w.shape))) * (1.3 + n)).reshape(w.shape).astype("f") * 0.7
                       for n, w in enumerate(layer.weights)])
    return layer


def seen(tf, layer, x=X, **call):
    """What a layer gives, and the gradients of the input, of given states and of the weights."""
    x = tf.constant(x)
    states = call.get("initial_state")
    if states is not None:
        states = call["initial_state"] = [tf.constant(one) for one in states]
    layer(x, **call)
    fixed(layer)
    with tf.GradientTape() as tape:
        tape.watch(x)
        for one in states or ():
            tape.watch(one)
        outputs = layer(x, **call)
        flat = tf.nest.flatten(outputs)
        loss = sum(tf.reduce_sum(one * one * (n + 1)) for n, one in enumerate(flat))
    wanted = [x, *(states or ()), *layer.trainable_variables]
    return {"outputs": listed(list(flat)), "gradients": listed(tape.gradient(loss, wanted)),
            "shapes": [list(one.shape) for one in flat]}


def options(keras):
    """Named layers and what they are called with."""
    found = {}
    for kind in KINDS:
        make = getattr(keras.layers, kind)
        states = [STATE, CARRY] if kind == "LSTM" else [STATE]
        for name, given, call in (
                ("plain", {}, {}), ("sequences", {"return_sequences": True}, {}),
                ("states", {"return_sequences": True, "return_state": True}, {}),
                ("backwards", {"return_sequences": True, "return_state": True, "go_backwards": True}, {}),
                ("unrolled", {"return_state": True, "unroll": True}, {}),
                ("no_bias", {"use_bias": False, "return_state": True}, {}),
                ("from_states", {"return_sequences": True, "return_state": True}, {"initial_state": states}),
                ("masked", {"return_sequences": True, "return_state": True}, {"mask": MASK}),
                ("masked_late", {"return_sequences": True, "return_state": True},
                 {"mask": LATE, "initial_state": states}),
                ("masked_unrolled", {"return_sequences": True, "return_state": True, "unroll": True},
                 {"mask": LATE, "initial_state": states}),
                ("masked_zeros", {"return_sequences": True, "return_state": True, "zero_output_for_mask": True},
                 {"mask": MASK}),
                ("masked_last_zeros", {"return_state": True, "zero_output_for_mask": True}, {"mask": MASK}),
                ("masked_backwards", {"return_sequences": True, "return_state": True, "go_backwards": True},
                 {"mask": MASK}),
                ("dropout", {"dropout": 0.4, "seed": 7, "return_sequences": True}, {"training": True}),
                ("dropout_unused", {"dropout": 0.4, "recurrent_dropout": 0.2, "seed": 7}, {}),
                ("recurrent_dropout", {"recurrent_dropout": 0.4, "seed": 7, "return_sequences": True},
                 {"training": True}),
                ("both_dropouts", {"dropout": 0.3, "recurrent_dropout": 0.4, "seed": 5}, {"training": True}),
                *((activation, {"activation": activation}, {}) for activation in ACTIVATIONS)):
            if not (kind == "LSTM" and name == "exponential"):
                found[f"{kind}/{name}"] = (make(3, **given), call)
        if kind != "SimpleRNN":
            for gate in ("hard_sigmoid", "relu6", "tanh", "silu"):
                found[f"{kind}/gate_{gate}"] = (make(3, recurrent_activation=gate, return_state=True), {})
            found[f"{kind}/implementation_1"] = (make(3, implementation=1, return_sequences=True), {})
    for name, given, call in (("plain", {}, {}), ("no_bias", {"use_bias": False}, {}),
                              ("masked", {"return_sequences": True, "return_state": True}, {"mask": MASK}),
                              ("relu", {"activation": "relu", "recurrent_activation": "hard_sigmoid"}, {}),
                              ("recurrent_dropout", {"recurrent_dropout": 0.4, "seed": 7}, {"training": True})):
        found[f"GRU/reset_before_{name}"] = (keras.layers.GRU(3, reset_after=False, **given), call)
    found["LSTM/no_forget_bias"] = (keras.layers.LSTM(3, unit_forget_bias=False), {})
    return found


def cells(tf, keras):
    """Cells alone, in RNN, stacked, and a program's own."""
    layers = keras.layers

    class Mine(layers.Layer):
        state_size = 3

        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], 3), name="kernel")
            self.recurrent = self.add_weight(shape=(3, 3), name="recurrent")

        def call(self, inputs, states):
            output = tf.tanh(tf.matmul(inputs, self.kernel) + tf.matmul(states[0], self.recurrent))
            return output * 2.0, [output]
    found = {}
    for name, given, call in (("plain", {}, {}), ("all", {"return_sequences": True, "return_state": True}, {}),
                              ("masked", {"return_sequences": True, "return_state": True}, {"mask": LATE}),
                              ("zeros", {"return_sequences": True, "zero_output_for_mask": True}, {"mask": MASK}),
                              ("backwards", {"return_sequences": True, "go_backwards": True}, {"mask": MASK}),
                              ("unrolled", {"return_sequences": True, "unroll": True}, {"mask": LATE})):
        found[f"mine_{name}"] = seen(tf, layers.RNN(Mine(), **given), **dict(call))
        stack = [layers.LSTMCell(3), layers.GRUCell(2), layers.SimpleRNNCell(2)]
        if name != "all":
            found[f"stack_{name}"] = seen(tf, layers.RNN(stack, **given), **dict(call))
    for kind in ("SimpleRNNCell", "GRUCell", "LSTMCell"):
        for name, given in (("plain", {}), ("dropout", {"dropout": 0.4, "seed": 3}),
                            ("both", {"dropout": 0.4, "recurrent_dropout": 0.3, "seed": 3})):
            cell = getattr(layers, kind)(3, **given)
            states = [tf.constant(STATE), tf.constant(CARRY)][:2 if kind == "LSTMCell" else 1]
            cell(tf.constant(X[:, 0]), states)
            output, after = fixed(cell)(tf.constant(X[:, 0]), states, training=True)
            found[f"{kind}_{name}"] = listed([output, *after])
    stacked = layers.RNN([layers.LSTMCell(3, dropout=0.3, seed=1), layers.LSTMCell(2, dropout=0.2, seed=2)])
    found["stack_dropout"] = seen(tf, stacked, training=True)
    return found


def trained(keras):
    """Ten steps of training, with masks, regularizers and constraints."""
    layers, found = keras.layers, {}
    y = np.array([[1.0], [-0.5]], "f")
    for kind in KINDS:
        for name, optimizer in (("sgd", keras.optimizers.SGD(0.1)), ("adam", keras.optimizers.Adam(0.05))):
            model = fixed(keras.Sequential([
                keras.Input((None, 3)), layers.Masking(float(X[0, 0, 0])),
                getattr(layers, kind)(4, kernel_regularizer="l2", recurrent_constraint="max_norm",
                                      return_sequences=True),
                getattr(layers, kind)(3), layers.Dense(1)]))
            model.compile(optimizer, "mse")
            history = model.fit(X, y, epochs=10, batch_size=2, verbose=0, shuffle=False).history["loss"]
            found[f"{kind}/{name}"] = {"loss": listed(history), "weights": listed(model.get_weights()),
                                       "evaluate": listed([model.evaluate(X, y, verbose=0)]),
                                       "predict": listed([model.predict(X, verbose=0)])}
    return found


def kept(keras):
    """States from batch to batch, and functional models with states."""
    layers, found = keras.layers, {}
    for kind in KINDS:
        layer = getattr(layers, kind)(3, stateful=True, return_state=True)
        model = fixed(keras.Sequential([keras.Input(batch_shape=(2, 4, 3)), layer]))
        outputs = [listed(list(model.predict(X, batch_size=2, verbose=0))) for _ in range(2)]
        layer.reset_state()
        found[f"{kind}/stateful"] = [*outputs, listed(list(model(X))), listed(list(layer.states))]
        start = keras.Input((4, 3))
        first = getattr(layers, kind)(3, return_sequences=True, return_state=True)(start)
        second = getattr(layers, kind)(3)(first[0], initial_state=list(first[1:]))
        model = fixed(keras.Model(start, second))
        found[f"{kind}/states"] = listed([model(X)])
        found[f"{kind}/names"] = [w.path.split("/", 1)[1] for w in model.weights]
        found[f"{kind}/shape"] = [list(getattr(layers, kind)(5, return_sequences=True).compute_output_shape((2, 7, 3))),
                                  [list(s) for s in getattr(layers, kind)(5, return_state=True).compute_output_shape(
                                      (2, 7, 3))]]
        config = getattr(layers, kind)(3, dropout=0.1, name="mine").get_config()
        found[f"{kind}/config"] = {key: value if isinstance(value, (int, float, str)) else None
                                   for key, value in config.items()}
    return found


def wrapped(tf, keras):
    """Layers around layers of sequences."""
    keras.backend.clear_session()  # names are numbered anew
    layers, found = keras.layers, {}
    for merge in ("concat", "sum", "ave", "mul", None):
        for name, given, call in (("last", {}, {}), ("sequences", {"return_sequences": True}, {"mask": MASK}),
                                  ("states", {"return_sequences": True, "return_state": True}, {})):
            layer = layers.Bidirectional(layers.LSTM(3, **given), merge_mode=merge)
            found[f"{merge}_{name}"] = seen(tf, layer, **dict(call))
            shapes = layer.compute_output_shape((2, 4, 3))
            found[f"{merge}_{name}_shape"] = [list(one) if isinstance(one, (list, tuple)) else [one] for one in shapes]
    two = layers.Bidirectional(layers.GRU(3, return_sequences=True, name="a"), backward_layer=layers.SimpleRNN(
        3, return_sequences=True, go_backwards=True, name="b"))
    found["two"] = seen(tf, two)
    found["two_states"] = seen(tf, layers.Bidirectional(layers.GRU(3, return_state=True)),
                               initial_state=[STATE, CARRY])
    model = fixed(keras.Sequential([keras.Input((4, 3)), layers.Bidirectional(layers.LSTM(3, name="inner"),
                                                                           name="both"), layers.Dense(1)]))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    found["fit"] = listed(model.fit(X, np.array([[1.0], [-0.5]], "f"), epochs=10, verbose=0, shuffle=False).history[
        "loss"])
    found["names"] = [w.path.split("/", 1)[1] for w in model.weights]
    again = type(model).from_config(model.get_config())
    again.set_weights(model.get_weights())
    found["again"] = listed([again(X)])
    for name, layer in (("dense", layers.Dense(2, activation="tanh")), ("softmax", layers.Softmax()),
                        ("lstm", layers.Bidirectional(layers.LSTM(2)))):
        x = X if name != "lstm" else np.stack([X, X * 0.5], 1)
        found[f"each_{name}"] = seen(tf, layers.TimeDistributed(layer), x)
        model = fixed(keras.Sequential([keras.Input((None, *x.shape[2:])), layers.TimeDistributed(layer)]))
        found[f"each_{name}_any"] = listed([model.predict(x, verbose=0)])
    return found


def program(tf, keras):
    """Everything."""
    return {"layers": {name: seen(tf, layer, **dict(call)) for name, (layer, call) in options(keras).items()},
            "cells": cells(tf, keras), "trained": trained(keras), "kept": kept(keras),
            "wrapped": wrapped(tf, keras)}


if __name__ == "__main__":
    import keras
    import tensorflow
    with open(sys.argv[1], "w") as file:
        json.dump(program(tensorflow, keras), file)
        file.write("\n")
