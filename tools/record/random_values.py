#!/usr/bin/env python3
"""Record what TensorFlow's random functions give.

    random_values.py > python/tests/data/random_values.json

Runs the calls of python/tests/random_values.py under TensorFlow 2.21: a list of {"dtype", "shape", "data"} for each, or the class
of the exception.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python/tests"))

import tensorflow as tf  # noqa: E402

import random_values  # noqa: E402


def result(call):
    try:
        made = call()
    except Exception as error:
        return {"error": type(error).__name__}
    return [{"dtype": t.dtype.name, "shape": t.shape.as_list(), "data": t.numpy().reshape(-1).tolist()}
            for t in (made if isinstance(made, list) else [made])]


found = {name: result(call) for name, call in random_values.calls(tf).items()}
print("{" + ",\n".join(json.dumps(name) + ": " + json.dumps(value) for name, value in found.items()) + "}")
