"""A program about masks that runs under Keras and leat alike: what layers, losses and metrics make of them.

``python keras_masks.py data/keras_masks.json`` records what it gives under Keras; test_keras_masks.py compares.
"""

import json
import sys
import warnings

import numpy as np

IDS = np.array([[1, 2, 0, 0], [3, 0, 2, 1], [0, 0, 0, 4]])
X = np.array([[[1, 2], [0, 0], [3, -1]], [[0, 0], [0, 0], [2, 1]]], np.float32)
Y = np.array([[[1], [2], [0]], [[1], [1], [3]]], np.float32)
WEIGHTS = np.array([[1, 3, 2], [4, 1, 0.5]])


def fixed(model):
    """The model with weights in equal steps from -1 to 1."""
    model.set_weights([np.linspace(-1, 1, int(np.prod(w.shape))).reshape(w.shape).astype("f") for w in model.weights])
    return model


def mask_of(tensor):
    found = getattr(tensor, "_keras_mask", None)
    return None if found is None else np.asarray(found).tolist()


def models(keras):
    """What models with masks compute, and how they are evaluated and trained."""
    layers = keras.layers
    pooled = fixed(keras.Sequential([
        keras.Input((4,), dtype="int32"), layers.Embedding(5, 3, mask_zero=True), layers.Dense(2, activation="tanh"),
        layers.GlobalAveragePooling1D(), layers.Dense(1)]))
    start = keras.Input((3, 2))
    middle = layers.Dropout(0.5)(layers.Masking()(start))
    model = fixed(keras.Model(start, layers.Dense(1)(layers.Activation("tanh")(middle))))
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    trained = fixed(keras.Model(start, layers.Dense(1)(layers.Masking()(start))))
    trained.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    history = trained.fit(X, Y, epochs=3, batch_size=2, verbose=0, shuffle=False).history
    return {"pooled": np.asarray(pooled(IDS)).tolist(), "evaluate": model.evaluate(X, Y, verbose=0),
            "weighted": model.evaluate(X, Y, sample_weight=WEIGHTS, verbose=0), "fit": history["loss"]}


def masks(tf, keras):
    """The masks behind layers, and what layers make of them."""
    layers, x = keras.layers, tf.constant(X)
    a, b = layers.Masking()(x), layers.Masking(mask_value=2.0)(x)

    class Mine(layers.Layer):
        def call(self, inputs, mask=None):
            return inputs if mask is None else inputs + tf.cast(mask, "float32")[..., None]
    kinds = (layers.Dense(1), layers.LayerNormalization(), layers.ReLU(), layers.Rescaling(2.0),
             layers.UnitNormalization(), layers.Identity(), layers.ActivityRegularization(0.1))
    penalty = layers.ActivityRegularization(0.1, 0.2)
    penalty(x)
    kept = tf.constant([[True, False, True], [False] * 3])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        lost, mine = mask_of(layers.Conv1D(1, 1)(a)), np.asarray(Mine()(a)).tolist()
    return {"add": mask_of(layers.Add()([a, b])), "one": mask_of(layers.Add()([a, x])),
            "joined": mask_of(layers.Concatenate(axis=1)([a, x])), "beside": mask_of(layers.Concatenate()([a, b])),
            "function": mask_of(layers.Lambda(lambda v: v * 2)(a)),
            "function_of_masks": mask_of(layers.Lambda(lambda v: v * 2, mask=lambda v, mask: mask)(a)),
            "handed_on": [mask_of(kind(a)) for kind in kinds], "lost": lost, "mine": mine,
            "warnings": [str(one.message)[:110] for one in found if "mask" in str(one.message)],
            "softmax": np.asarray(layers.Softmax()(x[:, :, 0], mask=kept)).tolist(),
            "penalty": [float(loss) for loss in penalty.losses]}


if __name__ == "__main__":
    import keras
    import tensorflow
    with open(sys.argv[1], "w") as file:
        json.dump({**models(keras), **masks(tensorflow, keras)}, file)
