"""Records losses of Keras that golden/nn lacks: tests/golden/data/nn/more_losses.json, in the form of losses.json.

    python keras_losses.py tests/golden/data/nn/more_losses.json         (with TensorFlow and Keras installed)
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf

FLOAT = "uniform"
CASES = [  # loss, configurations, labels, predictions
    ("MeanAbsolutePercentageError", [{}, {"reduction": "none"}], "positive", FLOAT),
    ("MeanSquaredLogarithmicError", [{}, {"reduction": "sum"}], "positive", "positive"),
    ("Hinge", [{}, {"reduction": "none"}], "bits", FLOAT),
    ("Hinge", [{}], "signs", FLOAT),
    ("Hinge", [{}], FLOAT, FLOAT),
    ("SquaredHinge", [{}, {"reduction": "none"}], "bits", FLOAT),
    ("CategoricalHinge", [{}, {"reduction": "none"}], "onehot", FLOAT),
    ("KLDivergence", [{}, {"reduction": "none"}], "probabilities", "probabilities"),
    ("Poisson", [{}, {"reduction": "none"}], "positive", "positive"),
    ("LogCosh", [{}, {"reduction": "none"}], FLOAT, FLOAT),
    ("CosineSimilarity", [{}, {"reduction": "none"}, {"axis": 1}], FLOAT, FLOAT),
    ("Huber", [{"delta": 0.5}, {"reduction": "none"}], FLOAT, FLOAT),
    ("MeanAbsoluteError", [{"reduction": "none"}], FLOAT, FLOAT),
]


def values(kind, random, shape):
    drawn = random.normal(size=shape)
    if kind == "positive":
        drawn = np.abs(drawn) + 0.1
    elif kind == "bits":
        drawn = drawn > 0
    elif kind == "signs":
        drawn = np.sign(drawn)
    elif kind == "onehot":
        drawn = np.eye(shape[-1])[random.integers(0, shape[-1], shape[:-1])]
    elif kind == "probabilities":
        drawn = np.exp(drawn) / np.exp(drawn).sum(-1, keepdims=True)
    return drawn.astype(np.float32)


def array(tensor):
    found = np.asarray(tensor)
    return {"dtype": str(found.dtype), "shape": list(found.shape),
            "data": [float(value) for value in found.ravel()]}


def main(path):
    random, lines = np.random.default_rng(8), []
    for name, configs, labels, predictions in CASES:
        for config in configs:
            for weighted in (False, True):
                y_true, y_pred = values(labels, random, (4, 3)), tf.constant(values(predictions, random, (4, 3)))
                weight = np.abs(random.normal(size=4)).astype(np.float32) if weighted else None
                if config.get("axis") == 1 and weighted:
                    continue
                with tf.GradientTape() as tape:
                    tape.watch(y_pred)
                    value = getattr(keras.losses, name)(**config)(y_true, y_pred, sample_weight=weight)
                lines.append(json.dumps({
                    "loss": name, "config": config, "y_true": array(y_true), "y_pred": array(y_pred),
                    "sample_weight": None if weight is None else array(weight), "value": array(value),
                    "grad": array(tape.gradient(value, y_pred))}))
    with open(path, "w") as file:
        file.write('{"keras": "%s", "cases": [\n%s\n]}\n' % (keras.__version__, ",\n".join(lines)))


main(sys.argv[1])
