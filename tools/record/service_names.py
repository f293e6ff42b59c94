#!/usr/bin/env python3
"""Record the names of TensorFlow's data service: functions with their parameters, classes with their members.

    service_names.py > python/tests/data/service_names.json

What is recorded of each is in python/tests/signatures.py, which its test asks of leat. Needs TensorFlow 2.21.
"""
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "tests"))

import tensorflow as tf  # noqa: E402

import signatures  # noqa: E402


def main():
    found = signatures.described(tf)
    lines = ["%s: %s" % (json.dumps(path), json.dumps(found[path])) for path in sorted(found)]
    print("{\n" + ",\n".join(lines) + "\n}")


main()
