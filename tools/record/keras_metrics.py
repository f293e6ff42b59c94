"""Records metrics and optimizers of Keras that golden/nn lacks, in the form of metrics.json and optimizers.json.

    python keras_metrics.py tests/golden/data/nn         (with TensorFlow and Keras installed)

writes more_metrics.json and more_optimizers.json.
"""

import json
import pathlib
import sys

import keras
import numpy as np
import tensorflow as tf

METRICS = [  # metric, configurations, kind of labels
    ("AUC", [{"summation_method": "minoring"}, {"summation_method": "majoring", "num_thresholds": 7},
             {"curve": "PR", "summation_method": "minoring"}, {"curve": "PRGAIN"}, {"thresholds": [0.1, 0.5, 0.7]}], "bits"),
    ("Precision", [{}, {"thresholds": 0.3}, {"class_id": 1}, {"top_k": 2}], "bits"),
    ("Recall", [{}, {"thresholds": 0.3}, {"class_id": 1}, {"top_k": 2}], "bits"),
    ("TruePositives", [{}, {"thresholds": 0.2}], "bits"), ("TrueNegatives", [{}], "bits"),
    ("FalsePositives", [{}], "bits"), ("FalseNegatives", [{}], "bits"),
    ("SensitivityAtSpecificity", [{"specificity": 0.5}, {"specificity": 0.4, "num_thresholds": 5}], "bits"),
    ("SpecificityAtSensitivity", [{"sensitivity": 0.6}], "bits"), ("PrecisionAtRecall", [{"recall": 0.5}], "bits"),
    ("RecallAtPrecision", [{"precision": 0.4}, {"precision": 0.99}], "bits"),
]
OPTIMIZERS = [("Nadam", {"learning_rate": 0.01, "beta_1": 0.8}), ("Nadam", {"weight_decay": 0.01, "clipnorm": 0.5}),
              ("Lamb", {}), ("Lamb", {"learning_rate": 0.1, "beta_2": 0.9}), ("Ftrl", {}),
              ("Ftrl", {"learning_rate": 0.5, "l1_regularization_strength": 0.1, "l2_regularization_strength": 0.2,
                        "l2_shrinkage_regularization_strength": 0.05, "beta": 0.3, "learning_rate_power": -0.7})]


def array(value):
    found = np.asarray(value)
    return {"dtype": str(found.dtype), "shape": list(found.shape), "data": [float(str(x)) for x in found.ravel()]}


def metric_case(name, config, random, is_weighted):
    metric = getattr(keras.metrics, name)(**config)
    before, updates, results = float(metric.result()), [], []
    for _ in range(2):
        labels = (random.uniform(size=(6, 3)) > 0.6).astype(np.float32)
        given = [labels, random.uniform(size=(6, 3)).astype(np.float32)]
        if is_weighted:
            given.append(random.uniform(size=6).astype(np.float32))
        metric.update_state(*given)
        updates.append([array(one) for one in given])
        results.append(float(metric.result()))
    metric.reset_state()
    return {"metric": name, "config": config, "updates": updates, "before": before, "results": results, "state": {},
            "after_reset": float(metric.result())}


def optimizer_case(name, config, random):
    optimizer = getattr(keras.optimizers, name)(**config)
    variables = [tf.Variable(random.normal(size=shape).astype(np.float32)) for shape in ((3, 2), (4,))]
    case = {"optimizer": name, "config": config, "variables": [array(one) for one in variables], "grads": [],
            "after_each_step": []}
    for step in range(10):
        grads = [np.zeros(one.shape, np.float32) if step == 3 else random.normal(size=one.shape).astype(np.float32)
                 for one in variables]
        optimizer.apply_gradients(zip([tf.constant(one) for one in grads], variables))
        case["grads"].append([array(one) for one in grads])
        case["after_each_step"].append([array(one) for one in variables])
    case["slots"] = [one.name for one in optimizer.variables]
    return case


def write(path, cases):
    lines = ",\n".join(json.dumps(case) for case in cases)
    path.write_text('{"keras": "%s", "cases": [\n%s\n]}\n' % (keras.__version__, lines))


def main(folder):
    random, folder = np.random.default_rng(3), pathlib.Path(folder)
    write(folder / "more_metrics.json", [metric_case(name, config, random, is_weighted)
                                         for name, configs, _ in METRICS for config in configs
                                         for is_weighted in (False, True)])
    write(folder / "more_optimizers.json", [optimizer_case(name, config, random) for name, config in OPTIMIZERS])


main(sys.argv[1])
