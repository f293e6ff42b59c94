"""Records what Keras makes of whole models in HDF5 files: python/tests/data/keras_h5.json, and a file of its own.

    python keras_h5.py python/tests/data/keras_h5.json        (with TensorFlow and Keras installed)

`keras_models.h5` beside it is a functional model with one in it, trained for a step; the models of
python/tests/keras_old_files.py are written as Keras 2 did.
"""

import json
import os
import pathlib
import sys
import tempfile

import keras
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/tests"))
import keras_old_files as old  # noqa: E402


def own(path):
    keras.utils.set_random_seed(4)
    first, second = keras.Input((3,), name="first"), keras.Input((3,), name="second")
    shared = keras.layers.Dense(2, activation="tanh", name="shared")
    inner = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, name="in"),
                              keras.layers.BatchNormalization(name="norm")], name="inner")
    joined = inner(keras.layers.Add(name="add")([shared(first), shared(second)]))
    model = keras.Model([first, second], {"a": keras.layers.Dense(1, name="a")(joined),
                                          "b": keras.layers.Dropout(0.5, name="b")(joined)}, name="model")
    model.compile(keras.optimizers.Adam(0.01), {"a": "mean_squared_error", "b": keras.losses.Huber(0.5)},
                  metrics={"a": ["mae"]}, loss_weights={"a": 1.0, "b": 2.0})
    x = [np.linspace(0, 1, 12, dtype="float32").reshape(4, 3), np.linspace(1, -1, 12, dtype="float32").reshape(4, 3)]
    y = {"a": np.ones((4, 1), "float32"), "b": np.zeros((4, 2), "float32")}
    model.fit(x, y, batch_size=4, verbose=0)
    model.save(path)
    return {"outputs": {name: value.tolist() for name, value in model.predict(x, verbose=0).items()},
            "weights": [value.tolist() for value in model.get_weights()],
            "optimizer": [np.asarray(value).tolist() for value in model.optimizer.variables],
            "evaluated": model.evaluate(x, y, verbose=0, return_dict=True)}


def main(path):
    found = {"keras": own(os.path.join(os.path.dirname(path), "keras_models.h5"))}
    with tempfile.TemporaryDirectory() as folder:
        for name in old.CONFIGS:
            file = os.path.join(folder, f"{name}.h5")
            old.write(file, name)
            model = keras.models.load_model(file)
            found[name] = {"outputs": model.predict(old.INPUTS[name], verbose=0).tolist(), "loss": model.loss.__name__,
                           "learning_rate": float(model.optimizer.learning_rate)}
    with open(path, "w") as file:
        json.dump(found, file)
        file.write("\n")


main(sys.argv[1])
