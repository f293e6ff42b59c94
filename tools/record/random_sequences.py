#!/usr/bin/env python3
"""Record what TensorFlow's random operations give from call to call.

    random_sequences.py > python/tests/data/random_sequences.json

Runs python/tests/random_sequences.py under TensorFlow 2.21: numbers by the name of the program, one list for each call.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python/tests"))

import tensorflow as tf  # noqa: E402

import random_sequences  # noqa: E402

json.dump(random_sequences.sequences(tf), sys.stdout, indent=1)
print()
