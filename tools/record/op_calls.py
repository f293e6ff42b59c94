#!/usr/bin/env python3
"""Record what the calls of python/tests/op_calls.py give in TensorFlow.

    op_calls.py python/tests/data/op_calls.json

What fails is recorded by its class. Needs TensorFlow 2.21.
"""
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/tests"))

import op_calls  # noqa: E402
import tensorflow as tf  # noqa: E402


def main(path):
    recorded = {}
    for call in op_calls.CALLS:
        try:
            recorded[call] = op_calls.plain(tf, op_calls.evaluate(tf, call))
        except Exception as error:
            recorded[call] = {"error": type(error).__name__}
            print(call, recorded[call], file=sys.stderr)
    with open(path, "w") as file:
        file.write('{"tensorflow": "%s", "calls": {\n' % tf.__version__)
        file.write(",\n".join(f"{json.dumps(call)}: {json.dumps(found)}" for call, found in recorded.items()))
        file.write("\n}}\n")


main(sys.argv[1])
