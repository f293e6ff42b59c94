"""A program about layers without lines in the tables that runs under Keras and leat alike: outputs, gradients, shapes,
configurations.

``python keras_newest.py data/keras_newest.json`` records what it gives under Keras; test_keras_newest.py compares.
"""

import json
import sys

import numpy as np
from keras_configs import plain
from keras_recurrent import seen


def wave(*shape, step=1.7):
    """Numbers that are all different."""
    return np.sin(np.arange(int(np.prod(shape)), dtype="f") * step).reshape(shape)


MASK = np.array([[True, False, True], [False, True, True]])


def differentiable(keras):
    """{name: (make, input, arguments of the call)} of layers with gradients."""
    layers, found = keras.layers, {}
    x1, x2, x3 = wave(2, 3, 5, 2), wave(2, 3, 5, 4, 2), wave(1, 2, 3, 4, 3, 2)
    for name, given, call in (
            ("plain", {}, {}), ("sequences", {"return_sequences": True, "return_state": True}, {}),
            ("same", {"padding": "same", "strides": 2, "return_sequences": True}, {}),
            ("dilated", {"dilation_rate": 2, "padding": "same"}, {}),
            ("backwards", {"go_backwards": True, "use_bias": False, "return_sequences": True}, {}),
            ("masked", {"return_sequences": True, "return_state": True}, {"mask": MASK}),
            ("dropout", {"dropout": 0.3, "recurrent_dropout": 0.2, "seed": 4}, {"training": True}),
            ("others", {"activation": "relu", "recurrent_activation": "hard_sigmoid", "unit_forget_bias": False}, {})):
        found[f"ConvLSTM1D {name}"] = (lambda given=given: layers.ConvLSTM1D(3, 2, **given), x1, call)
        found[f"ConvLSTM2D {name}"] = (lambda given=given: layers.ConvLSTM2D(2, (3, 2), **given), x2, call)
    found["ConvLSTM3D plain"] = (lambda: layers.ConvLSTM3D(2, 2, return_sequences=True), x3, {})
    return found


def configurations(keras):
    """The configurations of layers."""
    layers = keras.layers
    made = [layers.ConvLSTM1D(3, 2), layers.ConvLSTM2D(3, 2, activity_regularizer="l2", seed=3, stateful=True),
            layers.ConvLSTM3D(3, (1, 2, 3), padding="SAME", kernel_constraint="max_norm", return_state=True)]
    return [[type(one).__name__, plain(one.get_config())] for one in made]


def shapes(keras):
    """The shapes that layers say."""
    layers = keras.layers
    given = [(layers.ConvLSTM2D(3, 2, strides=2, return_sequences=True), (None, 3, 8, 9, 2)),
             (layers.ConvLSTM2D(3, 2, return_state=True, data_format="channels_first"), (2, 3, 1, 9, 2)),
             (layers.ConvLSTM1D(3, 2, dilation_rate=2), (2, None, 8, 2))]
    return [json.loads(json.dumps(layer.compute_output_shape(shape))) for layer, shape in given]


def trained(keras):
    """The losses of a few steps, what the model then predicts, and a stateful layer's outputs."""
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.Input((3, 4, 4, 1)), keras.layers.ConvLSTM2D(2, 2), keras.layers.Flatten(),
                              keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = wave(8, 3, 4, 4, 1)
    losses = model.fit(x, x[:, 0, 0, 0], epochs=3, batch_size=4, shuffle=False, verbose=0).history["loss"]
    layer = keras.layers.ConvLSTM1D(2, 2, stateful=True, kernel_initializer="ones", recurrent_initializer="ones")
    first = np.asarray(layer(x[:2, :, :, :, 0]))
    second = np.asarray(layer(x[:2, :, :, :, 0]))
    layer.reset_state()
    return [list(map(float, losses)), model.predict(x[:2], verbose=0).tolist(), first.tolist(), second.tolist(),
            np.asarray(layer(x[:2, :, :, :, 0])).tolist()]


def main(path):
    """Records what Keras gives."""
    import tensorflow as tf
    keras = tf.keras
    found = {"layers": {name: seen(tf, make(), x, **dict(call)) for name, (make, x, call) in
                        differentiable(keras).items()},
             "configurations": configurations(keras), "shapes": shapes(keras), "trained": trained(keras)}
    with open(path, "w") as file:
        file.write("{" + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items()) + "}\n")


if __name__ == "__main__":
    main(sys.argv[1])
