#!/usr/bin/env python3
"""Record what TensorFlow makes of complex numbers.

    complex_values.py > python/tests/data/complex_values.json

Runs python/tests/complex_values.py under TensorFlow 2.21: for each case its value and its gradients.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python/tests"))

import tensorflow as tf  # noqa: E402

import complex_values  # noqa: E402

lines = []
for name, *case in complex_values.cases(tf):
    try:
        lines.append(json.dumps(name) + ": " + json.dumps(complex_values.results(tf, *case)))
    except Exception as failure:
        sys.exit(f"{name}: {failure}")
print("{" + ",\n".join(lines) + "}")
