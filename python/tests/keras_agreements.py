"""A program about what differs without a word where it differs at all; it runs under Keras and leat alike.

``python keras_agreements.py data/keras_agreements.json`` records what it gives under Keras; test_keras_agreements.py
compares. Each function of `CASES` gives lists of numbers, truth values and texts.
"""

import json
import os
import sys
import tempfile
import warnings

import numpy as np

CASES = {}


def case(function):
    """Notes a function by its name."""
    CASES[function.__name__] = function
    return function


def plain(value):
    """A tensor's dtype, shape and values as JSON, floats to six digits; "error" of what fails."""
    if callable(value) and not hasattr(value, "dtype"):
        try:
            value = value()
        except Exception:
            return "error"
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "to_tensor"):
        value = value.to_tensor()
    if not hasattr(value, "dtype"):
        return float(f"{value:.6g}") if isinstance(value, float) else value
    array = np.asarray(value)
    return [getattr(value.dtype, "name", str(value.dtype)), list(array.shape),
            [float(f"{one:.6g}") if array.dtype.kind == "f" else one for one in array.reshape(-1).tolist()]]


@case
def seeds(tf, keras):
    """Random numbers without a seed of their own, from a global seed on."""
    random, found = keras.random, []
    for seed in (42, 42, 7):
        keras.utils.set_random_seed(seed)
        found += [random.randint((4,), 0, 1000), random.normal((3,)), random.uniform((2,)),
                  random.truncated_normal((2,)), random.categorical(np.zeros((1, 5), "float32"), 4),
                  random.dropout(np.ones(6, "float32"), 0.5),
                  random.shuffle(np.arange(6)), random.shuffle(np.arange(12).reshape(3, 4), axis=1),
                  random.shuffle(np.arange(6), seed=3),
                  keras.layers.Dropout(0.5)(np.ones((2, 6), "float32"), training=True)]
    keras.utils.set_random_seed(1)
    generator = random.SeedGenerator()
    found += [generator.next(), random.uniform((2,), seed=generator)]
    traced = tf.function(lambda: random.uniform((2,)))
    keras.utils.set_random_seed(5)
    return plain([*found, traced(), traced()])


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    warnings.simplefilter("ignore")
    if sys.argv[1] == "leat":  # only those that are named, to the terminal
        import leat
        for name in sys.argv[2:] or CASES:
            print(json.dumps({name: CASES[name](leat, leat.keras)}))
    else:
        import tensorflow

        import keras as keras_
        with open(sys.argv[1], "w") as file:
            file.write("{" + ",\n".join(f"{json.dumps(name)}: {json.dumps(CASES[name](tensorflow, keras_))}"
                                        for name in (sys.argv[2:] or CASES)) + "}\n")
