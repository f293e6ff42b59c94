"""Records what calls of Keras' functions give: keras_ops.json, and keras_kept.json of those of Keras 2.

    python keras_ops.py python/tests/data/keras_ops.json keras_ops_calls         (with TensorFlow and Keras installed)
"""

import importlib
import json
import pathlib
import sys

import keras
import numpy as np
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/tests"))


def plain(value):
    """Tensors as [dtype, shape, numbers]; what holds them as lists."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (str, type(None))):
        return value
    array = np.asarray(value)
    name = getattr(value, "dtype", array.dtype)
    numbers = array.astype("float64" if array.dtype.kind == "f" else array.dtype).reshape(-1).tolist()
    return {"dtype": getattr(name, "name", str(name)), "shape": list(array.shape),
            "values": [float(f"{x:.9g}") if isinstance(x, float) else x for x in numbers]}


def main(path, calls):
    calls, recorded = importlib.import_module(calls), {}
    for call in calls.CALLS:
        if call in calls.OTHERWISE:
            continue
        try:
            recorded[call] = plain(eval(call, {**calls.NAMES, "ops": keras.ops, "tf": tf, "keras": tf.keras}))
        except Exception as error:
            print(f"not recorded: {call}: {type(error).__name__}", file=sys.stderr)
    with open(path, "w") as file:
        file.write('{"keras": "%s", "calls": {\n' % keras.__version__)
        file.write(",\n".join(f"{json.dumps(call)}: {json.dumps(found)}" for call, found in recorded.items()))
        file.write("\n}}\n")


main(*sys.argv[1:])
