"""Programs of compile and fit that run under Keras and leat alike: each gives numbers, and prints.

tools/record/keras_fits.py records what they give and print under Keras; test_keras_fit.py compares.
"""

import os

import numpy as np


def rows(count, width, seed=0):
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def fixed(model, seed=1):
    """The model with weights of a generator."""
    random = np.random.default_rng(seed)
    model.set_weights([random.uniform(-0.5, 0.5, size=w.shape).astype(np.float32) for w in model.get_weights()])
    return model


def regression(keras, **kwargs):
    layers = keras.layers
    return fixed(keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="tanh", **kwargs), layers.Dense(1)]))


def classifier(keras, classes=3):
    layers = keras.layers
    return fixed(keras.Sequential([keras.Input((4,)), layers.Dense(6, activation="relu"),
                                   layers.Dense(classes, activation="softmax" if classes > 1 else "sigmoid")]))


def numbers(history):
    return {name: [float(value) for value in values] for name, values in history.history.items()}


def plain(tf, keras, folder):
    model, x = regression(keras), rows(40, 3)
    y = x[:, :1] * 2 - x[:, 1:2]
    model.compile("sgd", "mse", metrics=["mae", keras.metrics.MeanSquaredError(name="squares")])
    history = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=2, validation_data=(x[:12], y[:12]))
    return {**numbers(history), "evaluate": model.evaluate(x, y, batch_size=16, verbose=2),
            "dictionary": model.evaluate(x, y, batch_size=16, verbose=0, return_dict=True),
            "predict": model.predict(x[:5], verbose=0).ravel().tolist()}


def plateau(tf, keras, folder):
    model, x = regression(keras), rows(24, 3)
    y = np.sin(3 * x[:, :1])
    model.compile(keras.optimizers.SGD(1.2), "mse")
    history = model.fit(x, y, batch_size=24, epochs=12, shuffle=False, verbose=2, callbacks=[
        keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, verbose=1, min_lr=0.1, cooldown=1),
        keras.callbacks.EarlyStopping(monitor="loss", patience=3, verbose=1, restore_best_weights=True)])
    return {**numbers(history), "evaluate": model.evaluate(x, y, verbose=0), "epochs": len(history.epoch)}


def early(tf, keras, folder):
    model, x = regression(keras), rows(24, 3)
    y = x[:, :1]
    model.compile(keras.optimizers.Adam(0.05), "mse", metrics=["mae"])
    history = model.fit(x, y, batch_size=8, epochs=30, shuffle=False, verbose=0, validation_split=0.25, callbacks=[
        keras.callbacks.EarlyStopping(monitor="val_mae", min_delta=0.01, patience=2, verbose=1, start_from_epoch=2)])
    return {**numbers(history), "epochs": len(history.epoch)}


def schedule(tf, keras, folder):
    model, x = regression(keras), rows(16, 3)
    y = x[:, :1]
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    path = os.path.join(folder, "log.csv")
    history = model.fit(x, y, batch_size=8, epochs=4, initial_epoch=1, shuffle=False, verbose=2, callbacks=[
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5, verbose=1),
        keras.callbacks.CSVLogger(path, separator=";")])
    with open(path, newline="") as file:
        lines = [line.split(";") for line in file.read().split("\r\n")]
    values = [[float(x) if x not in ("NA", "") else x for x in line] for line in lines[1:]]
    return {**numbers(history), "header": lines[0], "lines": values}


def weights(tf, keras, folder):
    model, x = classifier(keras), rows(30, 4)
    y = np.argmax(x[:, :3], axis=1)
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"],
                  weighted_metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(k=2)])
    history = model.fit(x, y, batch_size=10, epochs=3, shuffle=False, verbose=2, class_weight={0: 1.0, 1: 0.2, 2: 3.0})
    other = model.fit(x, y, batch_size=7, epochs=2, shuffle=False, verbose=0,
                      sample_weight=np.linspace(0, 2, 30).astype(np.float32))
    return {**numbers(history), "sample": numbers(other)}


def binary(tf, keras, folder):
    model, x = classifier(keras, 1), rows(32, 4)
    y = (x[:, 0] > x[:, 1]).astype(np.float32)
    model.compile("rmsprop", "binary_crossentropy", metrics=["acc", "mse", keras.metrics.BinaryAccuracy(threshold=0.4)])
    return numbers(model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=2))


def vectors(tf, keras, folder):
    model, x = classifier(keras), rows(32, 4)
    y = np.eye(3, dtype=np.float32)[np.argmax(x[:, :3], axis=1)]
    model.compile("adagrad", keras.losses.CategoricalCrossentropy(label_smoothing=0.1),
                  metrics=["accuracy", "categorical_crossentropy"])
    return numbers(model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=2, class_weight={1: 2.0}))


def outputs(tf, keras, folder):
    layers = keras.layers
    first, second = keras.Input((3,), name="first"), keras.Input((2,), name="second")
    x = layers.Dense(4, activation="relu")(layers.Concatenate()([first, second]))
    model = fixed(keras.Model([first, second], {"a": layers.Dense(1, name="a")(x),
                                                "b": layers.Dense(3, activation="softmax", name="b")(x)}))
    model.compile("sgd", loss={"a": "mse", "b": "sparse_categorical_crossentropy"}, loss_weights={"a": 0.5, "b": 2.0},
                  metrics={"a": ["mae"], "b": ["accuracy"]})
    p, q = rows(20, 3), rows(20, 2, 5)
    y = {"a": p[:, :1], "b": np.argmax(p, axis=1)}
    history = model.fit([p, q], y, batch_size=8, epochs=2, shuffle=False, verbose=2)
    found = model.predict([p, q], verbose=0)
    return {**numbers(history), "a": found["a"].ravel().tolist(), "b": found["b"].ravel().tolist()}


def datasets(tf, keras, folder):
    model, x = regression(keras), rows(24, 3)
    y = x[:, :1]
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    model.compile("sgd", "mae")
    history = model.fit(data.repeat(), epochs=3, steps_per_epoch=5, verbose=2, validation_data=data, validation_steps=2,
                        validation_freq=2)
    generated = model.fit(((x[i:i + 6], y[i:i + 6]) for i in range(0, 24, 6)), epochs=1, verbose=0)
    return {**numbers(history), "generated": numbers(generated)}


def penalties(tf, keras, folder):
    model = regression(keras, kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), kernel_constraint="max_norm",
                       activity_regularizer="l2")
    x = rows(24, 3)
    y = x[:, :1]
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9, clipnorm=0.5, weight_decay=0.01), "huber")
    history = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0)
    return {**numbers(history), "weights": [w.ravel().tolist() for w in model.get_weights()]}


def averages(tf, keras, folder):
    model, x = regression(keras), rows(24, 3)
    model.compile(keras.optimizers.Adam(0.05, use_ema=True, ema_momentum=0.9), "mse")
    history = model.fit(x, x[:, :1], batch_size=8, epochs=2, shuffle=False, verbose=0)
    return {**numbers(history), "weights": [w.ravel().tolist() for w in model.get_weights()]}


def batches(tf, keras, folder):
    model, x = classifier(keras), rows(30, 4)
    y = np.argmax(x[:, :3], axis=1)
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    found = [model.train_on_batch(x[i:i + 10], y[i:i + 10]) for i in range(0, 30, 10)]
    found.append(model.train_on_batch(x, y, class_weight={0: 2.0}))
    return {"train": [[float(one) for one in pair] for pair in found],
            "test": [float(one) for one in model.test_on_batch(x, y)],
            "predict": model.predict_on_batch(x[:3]).ravel().tolist()}


def own_step(tf, keras, folder):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)
            self.seen = keras.metrics.Mean(name="seen")

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            self.seen.update_state(loss)
            return {"seen": self.seen.result()}

    model, x = Own(), rows(16, 3)
    model(x)
    fixed(model)
    model.compile("sgd")
    return numbers(model.fit(x, x[:, :1], batch_size=4, epochs=2, shuffle=False, verbose=2))


def stops(tf, keras, folder):
    model, x = regression(keras), rows(16, 3)
    seen = []
    x[9] = np.nan
    model.compile("sgd", "mse")
    history = model.fit(x, x[:, :1], batch_size=4, epochs=3, shuffle=False, verbose=0, callbacks=[
        keras.callbacks.TerminateOnNaN(), keras.callbacks.LambdaCallback(
            on_train_batch_end=lambda batch, logs: seen.append([batch, sorted(logs)]),
            on_epoch_end=lambda epoch, logs: seen.append(["epoch", epoch]))])
    return {"epochs": len(history.epoch), "seen": seen}


PROGRAMS = [plain, plateau, early, schedule, weights, binary, vectors, outputs, datasets, penalties, averages, batches,
            own_step, stops]
