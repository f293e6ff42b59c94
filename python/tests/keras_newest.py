"""A program about layers without lines in the tables that runs under Keras and leat alike: outputs, gradients, shapes,
configurations.

``python keras_newest.py data/keras_newest.json`` records what it gives under Keras; test_keras_newest.py compares.
"""

import json
import sys

import numpy as np
from keras_configs import plain
from keras_recurrent import fixed, listed, seen


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
    found["ThresholdedReLU"] = (lambda: layers.ThresholdedReLU(0.3), x1, {})
    for kind in ("RandomHeight", "RandomWidth"):
        make = getattr(layers, kind)
        found[kind] = (lambda make=make: make((-0.5, 0.4), seed=3), wave(2, 9, 8, 1), {"training": True})
        found[f"{kind} nearest"] = (lambda make=make: make(0.4, "nearest", seed=5), wave(9, 8, 1), {"training": True})
        found[f"{kind} inference"] = (lambda make=make: make(0.4), wave(2, 3, 2, 1), {"training": False})
    found["ConvLSTM3D plain"] = (lambda: layers.ConvLSTM3D(2, 2, return_sequences=True), x3, {})
    return found


def sounds(keras):
    """What MelSpectrogram gives."""
    sound, found = wave(2, 700, step=0.3), {}
    for name, given in (("plain", {}), ("others", {"mag_exp": 1.0, "min_freq": 50.0, "max_freq": 3000, "top_db": 20.0,
                                                   "sampling_rate": 8000, "ref_power": 2.0}),
                        ("linear", {"power_to_db": False, "window": "hamming", "sequence_length": 100})):
        layer = keras.layers.MelSpectrogram(256, 128, num_mel_bins=8, **given)
        found[name] = [np.asarray(layer(sound)).tolist(), np.asarray(layer(sound[0])).tolist()]
    return found


def adapted(tf, keras):
    """Layers with `enable_lora`: weights' names, outputs, gradients, training, what is saved and loaded."""
    layers, found = keras.layers, {}
    numbers = np.array([[1, 2], [3, 0]])
    for name, layer, x in (
            ("Dense", layers.Dense(3, activation="relu"), wave(2, 4)),
            ("no bias", layers.Dense(3, use_bias=False), wave(2, 4)),
            ("EinsumDense", layers.EinsumDense("ab,bcd->acd", (3, 2), bias_axes="d"), wave(2, 4)),
            ("Embedding", layers.Embedding(4, 3), numbers), ("Conv1D", layers.Conv1D(3, 2), wave(2, 5, 2)),
            ("Conv2D", layers.Conv2D(3, 2, padding="same"), wave(2, 4, 3, 2)),
            ("Conv3D", layers.Conv3D(2, 2), wave(1, 3, 4, 3, 2)),
            ("given", layers.Dense(3, lora_rank=2, lora_alpha=6), wave(2, 4)),
            ("given Conv2D", layers.Conv2D(3, 2, lora_rank=2, lora_alpha=6), wave(2, 4, 3, 2)),
            ("given Embedding", layers.Embedding(4, 3, lora_rank=2, lora_alpha=6), numbers)):
        x = tf.constant(x)
        model = keras.Sequential([layer])
        model.build(x.shape)
        before = np.asarray(fixed(layer)(x))
        if "given" not in name:
            layer.enable_lora(2, lora_alpha=None if name == "Dense" else 3.0)
        names = [[v.path.rsplit("/", 1)[1], list(v.shape), v.trainable] for v in layer.weights]
        fixed(layer)
        with tf.GradientTape() as tape:
            outputs = layer(x)
            loss = tf.reduce_sum(outputs * outputs)
        gradients = tape.gradient(loss, layer.trainable_variables)
        store = {}
        layer.save_own_variables(store)
        saved = listed([np.asarray(store[str(n)]) for n in range(len(store))])
        layer.load_own_variables({key: np.asarray(value) for key, value in store.items()})
        merged = layer.embeddings if "Embedding" in name else layer.kernel
        found[name] = {"before": listed(before), "names": names, "outputs": listed(outputs),
                       "gradients": listed([tf.convert_to_tensor(one) for one in gradients]), "saved": saved,
                       "loaded": listed(layer(x)), "kernel": listed(merged), "alpha": float(layer.lora_alpha),
                       "config": plain(layer.get_config())[-2:]}
    return found


def configurations(keras):
    """The configurations of layers."""
    layers = keras.layers
    made = [layers.ConvLSTM1D(3, 2), layers.ConvLSTM2D(3, 2, activity_regularizer="l2", seed=3, stateful=True),
            layers.ConvLSTM3D(3, (1, 2, 3), padding="SAME", kernel_constraint="max_norm", return_state=True)]
    made += [layers.HashedCrossing(4), layers.HashedCrossing(4, "one_hot", name="h"), layers.MelSpectrogram(),
             layers.MelSpectrogram(512, sequence_length=300, max_freq=3000.0), layers.ThresholdedReLU(2),
             layers.RandomHeight((0.1, 0.2), seed=3), layers.RandomWidth(0.3, "nearest")]
    return [[type(one).__name__, plain(one.get_config())] for one in made]


CROSSED = {
    "texts": (["a", "bb", "ccc", ""], ["x", "", "long " * 20, "yy"]), "numbers": ([1, -2, 3], [4, 5, 2 ** 40]),
    "both": ([[1], [2]], [["a"], ["some more of it " * 9]]), "three": (["a"], [3], ["b"]), "alone": ("a", "b"),
    "same": (["a", "b"], ["b", "a"])}


def crossed(tf, keras):
    """What HashedCrossing gives, with few and with very many bins, and as vectors."""
    found = {}
    for name, values in CROSSED.items():
        for bins, mode in ((5, "int"), (2 ** 62 + 3, "int"), (4, "one_hot")):
            layer = keras.layers.HashedCrossing(bins, mode)
            made = layer([tf.constant(np.array(one) if "'" not in repr(one) else one) for one in values])
            found[f"{name} {bins} {mode}"] = [made.dtype.name, list(made.shape), np.asarray(made).tolist()]
    return found


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
             "configurations": configurations(keras), "crossed": crossed(tf, keras), "sounds": sounds(keras),
             "adapted": adapted(tf, keras), "shapes": shapes(keras), "trained": trained(keras)}
    with open(path, "w") as file:
        file.write("{" + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items()) + "}\n")


if __name__ == "__main__":
    main(sys.argv[1])
