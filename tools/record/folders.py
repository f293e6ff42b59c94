#!/usr/bin/env python3
"""Records what Keras' utilities make of folders, sequences and arrays.

    folders.py > python/tests/data/folders.json       with Python that has tensorflow
"""
import contextlib
import json
import os
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "tests"))

import folder_programs  # noqa: E402
import tensorflow as tf  # noqa: E402


def main():
    """Prints the JSON."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        folder_programs.make(folder)
        found = folder_programs.folders(tf.keras, folder)
        found = json.loads(json.dumps(found).replace(folder, "FOLDER"))
        parts = {"folders": found, "arrays": folder_programs.arrays(tf.keras), "splits": folder_programs.splits(tf)}
    print("{" + ",\n".join(json.dumps(part) + ": {\n" + ",\n".join(
        f"{json.dumps(name)}: {json.dumps(one)}" for name, one in cases.items()) + "}" for part, cases in parts.items())
        + "}")


main()
