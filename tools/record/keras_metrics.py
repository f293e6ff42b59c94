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
MORE_METRICS = [  # metric, configurations, labels, predictions, shape of these
    ("IoU", [{"num_classes": 4, "target_class_ids": [0, 2]}, {"num_classes": 4, "target_class_ids": [1]},
             {"num_classes": 4, "target_class_ids": [0, 1, 2, 3], "ignore_class": 2},
             {"num_classes": 3, "target_class_ids": [0, 1]}, {"num_classes": 6, "target_class_ids": [5, 0]},
             {"num_classes": 4, "target_class_ids": [1, 3], "dtype": "float32"}], "classes", "classes", (5, 3)),
    ("IoU", [{"num_classes": 4, "target_class_ids": [0, 3], "sparse_y_pred": False}], "classes", "scores", (5, 3)),
    ("IoU", [{"num_classes": 4, "target_class_ids": [0, 3], "sparse_y_true": False, "sparse_y_pred": False}], "onehot",
     "scores", (5, 3)),
    ("MeanIoU", [{"num_classes": 4}, {"num_classes": 4, "ignore_class": 0}, {"num_classes": 2},
                 {"num_classes": 9, "ignore_class": -1}, {"num_classes": 4, "dtype": "float32"}], "classes", "classes",
     (12,)),
    ("MeanIoU", [{"num_classes": 4, "sparse_y_pred": False, "axis": -1}], "classes", "scores", (2, 3)),
    ("OneHotIoU", [{"num_classes": 4, "target_class_ids": [0, 2]}, {"num_classes": 4, "target_class_ids": [3]},
                   {"num_classes": 4, "target_class_ids": [0, 1], "ignore_class": 1}], "onehot", "scores", (4, 3)),
    ("OneHotIoU", [{"num_classes": 4, "target_class_ids": [0, 2], "sparse_y_pred": True},
                   {"num_classes": 4, "target_class_ids": [1], "dtype": "float32", "sparse_y_pred": True}], "onehot",
     "classes", (4, 3)),
    ("OneHotMeanIoU", [{"num_classes": 4}, {"num_classes": 4, "ignore_class": 1}, {"num_classes": 5},
                       {"num_classes": 4, "dtype": "float32"}], "onehot", "scores", (4, 3)),
    ("OneHotMeanIoU", [{"num_classes": 4, "sparse_y_pred": True}], "onehot", "classes", (4, 3)),
    ("BinaryIoU", [{}, {"target_class_ids": [0]}, {"target_class_ids": [1], "threshold": 0.3}, {"threshold": 0.9},
                   {"dtype": "float32"}], "bits", "shares", (4, 3)),
    ("F1Score", [{}, {"average": "micro"}, {"average": "macro"}, {"average": "weighted"}, {"threshold": 0.5},
                 {"average": "micro", "threshold": 0.3}], "bits", "shares", (6, 3)),
    ("FBetaScore", [{}, {"beta": 2.0}, {"beta": 0.5, "average": "macro"}, {"average": "weighted", "threshold": 0.6},
                    {"average": "micro", "beta": 3.0}], "bits", "shares", (6, 3)),
    ("FBetaScore", [{"beta": 2.0}], "onehot4", "zeros4", (5,)),
    ("R2Score", [{}, {"class_aggregation": None}, {"class_aggregation": "variance_weighted_average"},
                 {"num_regressors": 2}, {"num_regressors": 400}], "numbers", "numbers", (6, 3)),
    ("R2Score", [{}, {"class_aggregation": None}], "ones", "numbers", (4, 2)),
    ("R2Score", [{}], "numbers", "numbers", (6, 1)),
    ("CosineSimilarity", [{}, {"axis": 0}, {"axis": -2}], "numbers", "numbers", (4, 3)),
    ("CosineSimilarity", [{}], "zeros", "numbers", (4, 3)), ("CosineSimilarity", [{}], "numbers", "numbers", (2, 3, 4)),
    ("PearsonCorrelation", [{}, {"axis": 0}, {"axis": [0, 1]}], "numbers", "numbers", (4, 3)),
    ("PearsonCorrelation", [{}, {"axis": 1}], "numbers", "numbers", (2, 3, 4)),
    ("ConcordanceCorrelation", [{}, {"axis": 0}, {"axis": [0, 1]}], "numbers", "numbers", (4, 3)),
    ("ConcordanceCorrelation", [{}, {"axis": 1}], "numbers", "numbers", (2, 3, 4)),
    ("KLDivergence", [{}], "shares", "shares", (4, 3)), ("Poisson", [{}], "shares", "shares", (4, 3)),
    ("LogCoshError", [{}], "numbers", "numbers", (4, 3)), ("Hinge", [{}], "bits", "numbers", (4, 3)),
    ("SquaredHinge", [{}], "bits", "numbers", (4, 3)), ("CategoricalHinge", [{}], "bits", "numbers", (4, 3)),
    ("MeanAbsolutePercentageError", [{}], "shares", "numbers", (4, 3)),
    ("MeanSquaredLogarithmicError", [{}], "shares", "shares", (4, 3)),
]
OPTIMIZERS = [("Nadam", {"learning_rate": 0.01, "beta_1": 0.8}), ("Nadam", {"weight_decay": 0.01, "clipnorm": 0.5}),
              ("Lamb", {}), ("Lamb", {"learning_rate": 0.1, "beta_2": 0.9}), ("Ftrl", {}),
              ("Ftrl", {"learning_rate": 0.5, "l1_regularization_strength": 0.1, "l2_regularization_strength": 0.2,
                        "l2_shrinkage_regularization_strength": 0.05, "beta": 0.3, "learning_rate_power": -0.7})]
MORE_OPTIMIZERS = [
    ("Adafactor", [{}, {"learning_rate": 0.1}, {"clip_threshold": 0.5, "epsilon_2": 0.1, "learning_rate": 0.3},
                   {"beta_2_decay": -0.5, "epsilon_1": 1e-3}, {"relative_step": False, "learning_rate": 0.9}]),
    ("Muon", [{}, {"learning_rate": 0.1}, {"nesterov": False, "ns_steps": 3}, {"rms_rate": None, "learning_rate": 0.05},
              {"exclude_layers": ["1$", "^v[2]"], "adam_lr_ratio": 0.5, "learning_rate": 0.1},
              {"weight_decay": None, "adam_weight_decay": 0.1, "learning_rate": 0.1},
              {"momentum": 0.8, "muon_a": 3.0, "muon_b": -4.0, "muon_c": 1.8, "adam_beta_1": 0.7, "adam_beta_2": 0.9}]),
    ("ScheduleFreeAdamW", [{}, {"learning_rate": 0.1}, {"learning_rate": 0.1, "warmup_steps": 4},
                           {"beta_1": 0.5, "beta_2": 0.9, "learning_rate": 0.05}, {"epsilon": 1e-2}]),
]
EVERY = [{"clipnorm": 0.5, "weight_decay": 0.05},
         {"global_clipnorm": 0.5, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2},
         {"clipvalue": 0.1, "gradient_accumulation_steps": 2},
         {"use_ema": True, "ema_momentum": 0.7, "ema_overwrite_frequency": 2, "gradient_accumulation_steps": 2}]
OF_ALL = [("SGD", {"momentum": 0.9}), ("Adam", {"amsgrad": True}), ("AdamW", {}), ("RMSprop", {"momentum": 0.5}),
          ("Adagrad", {}), ("Adadelta", {}), ("Adamax", {}), ("Nadam", {}), ("Lion", {}), ("Ftrl", {}), ("Lamb", {}),
          ("Adafactor", {}), ("Muon", {}), ("ScheduleFreeAdamW", {})]


def array(value):
    found = np.asarray(value)
    kind = int if found.dtype.kind == "i" else float
    return {"dtype": str(found.dtype), "shape": list(found.shape), "data": [kind(str(x)) for x in found.ravel()]}


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


def values(kind, random, shape):
    if kind in ("classes", "onehot", "onehot4"):
        drawn = random.integers(0, 4, shape)
        return drawn.astype(np.int32) if kind == "classes" else np.eye(4, dtype=np.float32)[drawn]
    if kind in ("zeros", "ones", "zeros4"):
        return (np.ones if kind == "ones" else np.zeros)((*shape, 4) if kind == "zeros4" else shape, np.float32)
    drawn = random.normal(size=(*shape, 4) if kind == "scores" else shape)
    if kind == "bits":
        drawn = drawn > 0.3
    elif kind == "shares":
        drawn = random.uniform(0.05, 0.95, size=shape)
    return drawn.astype(np.float32)


def number(result):
    found = np.asarray(result)
    return float(str(found)) if found.ndim == 0 else [float(str(x)) for x in found]


def more_metric_case(name, config, kinds, shape, random, is_weighted):
    """One of other values. `before` is null where the metric has no result before its first update."""
    metric = getattr(keras.metrics, name)(**config)
    waits = name in ("F1Score", "FBetaScore", "R2Score")
    before, updates, results = None if waits else number(metric.result()), [], []
    for _ in range(2):
        given = [values(kind, random, shape) for kind in kinds]
        if is_weighted:
            integers = str(metric.dtype).startswith("int")
            size = shape if "IoU" in name else shape[:1]
            given.append(random.integers(0, 4, size).astype(np.int32) if integers else
                         random.uniform(size=size).astype(np.float32))
        metric.update_state(*given)
        updates.append([array(one) for one in given])
        results.append(number(metric.result()))
    metric.reset_state()
    return {"metric": name, "config": config, "updates": updates, "before": before, "results": results, "state": {},
            "after_reset": None if waits else number(metric.result())}


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


def more_optimizer_case(name, config, random):
    """Five steps of variables of four shapes, which are called v0, v1, ..."""
    optimizer = getattr(keras.optimizers, name)(**config)
    variables = [keras.Variable(random.normal(size=shape).astype(np.float32), name=f"v{i}")
                 for i, shape in enumerate(((3, 2), (2, 3), (4,), (2, 2, 2)))]
    case = {"optimizer": name, "config": config, "named": True, "variables": [array(one) for one in variables],
            "grads": [], "after_each_step": []}
    for step in range(5):
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
    random, random_more, folder = np.random.default_rng(3), np.random.default_rng(4), pathlib.Path(folder)
    write(folder / "more_metrics.json", [metric_case(name, config, random, is_weighted)
                                         for name, configs, _ in METRICS for config in configs
                                         for is_weighted in (False, True)] +
          [more_metric_case(name, config, kinds, shape, random_more, is_weighted)
           for name, configs, *kinds, shape in MORE_METRICS for config in configs for is_weighted in (False, True)
           if not (is_weighted and config.get("axis", -1) != -1)])
    more = [(name, config) for name, configs in MORE_OPTIMIZERS for config in configs]
    more += [(name, {"learning_rate": 0.1, **own, **shared}) for name, own in OF_ALL for shared in EVERY
             if len(shared) < 4 or name in ("SGD", "Adam")]
    write(folder / "more_optimizers.json", [optimizer_case(name, config, random) for name, config in OPTIMIZERS] +
          [more_optimizer_case(name, config, random_more) for name, config in more])


main(sys.argv[1])
