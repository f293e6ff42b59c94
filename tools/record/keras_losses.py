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
    ("BinaryFocalCrossentropy", [{}, {"gamma": 0.5, "label_smoothing": 0.2}, {"reduction": "none", "axis": 0},
                                 {"apply_class_balancing": True, "alpha": 0.7}], "bits", "shares"),
    ("BinaryFocalCrossentropy", [{"from_logits": True}, {"from_logits": True, "apply_class_balancing": True}], "bits",
     FLOAT),
    ("BinaryFocalCrossentropy", [{}, {"reduction": "none"}], "bits", "edges"),
    ("CategoricalFocalCrossentropy", [{}, {"alpha": 0.6, "gamma": 3.0}, {"alpha": [0.1, 0.5, 2.0], "reduction": "none"},
                                      {"label_smoothing": 0.3, "reduction": "sum"}], "onehot", "probabilities"),
    ("CategoricalFocalCrossentropy", [{"from_logits": True}, {"reduction": "mean_with_sample_weight",
                                                              "from_logits": True}], "onehot", FLOAT),
    ("CategoricalFocalCrossentropy", [{}], "onehot", "shares"),
    ("CategoricalGeneralizedCrossEntropy", [{}, {"q": 0.9}, {"q": 0.1, "reduction": "none"}, {"reduction": "sum"},
                                            {"reduction": "mean_with_sample_weight"}], "classes", "probabilities"),
    ("Dice", [{}, {"axis": 1}, {"axis": [0, 1], "reduction": "none"}, {"axis": [1], "reduction": "none"},
              {"axis": 1, "reduction": "sum"}], "bits", "shares"),
    ("Tversky", [{}, {"alpha": 0.3, "beta": 0.7}, {"axis": 1, "reduction": "none"}, {"axis": [1], "alpha": 0.9},
                 {"axis": 1, "beta": 0.1, "reduction": "mean_with_sample_weight"}], "bits", "shares"),
    ("Circle", [{}, {"gamma": 10.0, "margin": 0.25}, {"gamma": 2.0, "remove_diagonal": False},
                {"gamma": 4.0, "reduction": "none"}, {"gamma": 4.0, "reduction": "sum"},
                {"gamma": 4.0, "reduction": "mean_with_sample_weight"}], "pairs", "embeddings"),
    ("CategoricalCrossentropy", [{"axis": 0}, {"axis": 0, "from_logits": True, "reduction": "none"},
                                 {"axis": 0, "label_smoothing": 0.2}], "onehot", "probabilities"),
    ("BinaryCrossentropy", [{"axis": 0, "reduction": "none"}, {"axis": 0, "from_logits": True}], "bits", "shares"),
    ("CTC", [{}, {"reduction": "none"}, {"reduction": "sum"}, {"reduction": "mean_with_sample_weight"}], "sequence",
     "steps"),
]
UNWEIGHTED = ("Dice", "Tversky")  # of several axes: a loss that is no row's


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
    elif kind == "classes":
        return random.integers(0, shape[-1], shape[:-1]).astype(np.int32)
    elif kind == "sequence":  # 0 behind the labels, repeated ones among them
        return np.array([[1, 2, 2], [3, 3, 0], [random.integers(1, 4), 0, 0], [0, 0, 0]], np.int32)
    elif kind == "steps":
        drawn = random.normal(size=(shape[0], 7, 4))
    elif kind == "pairs":  # each label is that of two rows
        return (random.permutation(shape[0]) // 2).astype(np.int32)
    elif kind == "shares":
        drawn = random.uniform(0.02, 0.98, size=shape)
    elif kind == "edges":
        drawn = random.choice([0.0, 1.0, 0.5, 1e-8, 1 - 1e-7], size=shape)
    elif kind == "embeddings":
        drawn = drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)
    elif kind == "probabilities":
        drawn = np.exp(drawn) / np.exp(drawn).sum(-1, keepdims=True)
    return drawn.astype(np.float32)


def array(tensor):
    found = np.asarray(tensor)
    return {"dtype": str(found.dtype), "shape": list(found.shape),
            "data": found.ravel().tolist()}


def main(path):
    random, lines = np.random.default_rng(8), []
    for name, configs, labels, predictions in CASES:
        for config in configs:
            for weighted in (False, True):
                y_true, y_pred = values(labels, random, (4, 3)), tf.constant(values(predictions, random, (4, 3)))
                weight = np.abs(random.normal(size=4)).astype(np.float32) if weighted else None
                if weighted and (config.get("axis") in (0, 1) and name not in UNWEIGHTED
                                 or name in UNWEIGHTED and config.get("axis") in (None, [0, 1])):
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
