#!/usr/bin/env python3
"""Record the gradients that TensorFlow's tape gives.

    gradient_values.py > python/tests/data/gradient_values.json

Runs python/tests/gradient_values.py under TensorFlow 2.21: for each case the gradients of its inputs, null where none flows.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python/tests"))

import tensorflow as tf  # noqa: E402

import gradient_values  # noqa: E402

lines = [json.dumps(name) + ": " + json.dumps(gradient_values.gradients(tf, function, inputs))
         for name, function, inputs in gradient_values.cases(tf)]
print("{" + ",\n".join(lines) + "}")
