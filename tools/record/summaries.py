#!/usr/bin/env python3
"""Records what TensorFlow's tf.summary and Keras' TensorBoard callback write.

    summaries.py > python/tests/data/summaries.json     with Python that has tensorflow and tensorboard

Of pictures the decoded PNGs are recorded, because compression differs.
"""
import json
import os
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "tests"))

import event_files  # noqa: E402
import summary_programs  # noqa: E402
import tensorflow as tf  # noqa: E402


def plain(one):
    """A value as JSON."""
    value = one["value"]
    if isinstance(value, dict):
        strings = [tf.io.decode_png(text).numpy().tolist() if text.startswith(b"\x89PNG") else text.hex()
                   for text in value["strings"]]
        value = {"shape": value["shape"], "strings": strings}
    else:
        value = {"dtype": str(value.dtype), "shape": list(value.shape), "data": value.reshape(-1).tolist()}
    if one["tag"] == "keras":
        value = None  # versions of configurations differ
    return {"tag": one["tag"], "step": one["step"], "metadata": one["metadata"].hex(), "value": value}


def main():
    """Prints the JSON."""
    with tempfile.TemporaryDirectory() as folder:
        told = summary_programs.kinds(tf, os.path.join(folder, "kinds"))
        summary_programs.board(tf, os.path.join(folder, "board"))
        values = {name: [plain(one) for one in event_files.read(os.path.join(folder, name))[0]]
                  for name in ("kinds", "board/train", "board/validation")}
    lines = ",\n".join(json.dumps(name) + ": [\n" + ",\n".join(json.dumps(one) for one in found) + "]"
                       for name, found in values.items())
    print(f'{{"told": {json.dumps(told)},\n{lines}}}')


main()
