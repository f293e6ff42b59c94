#!/usr/bin/env python3
"""Record what TensorFlow computes of float16 and bfloat16, and the gradients.

    halves.py > python/tests/data/halves.json

Runs python/tests/halves.py under TensorFlow 2.21, on a processor. What it refuses is left out.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python/tests"))

import tensorflow as tf  # noqa: E402

import halves  # noqa: E402

found = [(f"{name} {dtype}", halves.outcome(tf, function, inputs, dtype)) for name, function, inputs in halves.cases(tf)
         for dtype in halves.DTYPES]
print("{" + ",\n".join(json.dumps(name) + ": " + json.dumps(value) for name, value in found if value != "refused") + "}")
