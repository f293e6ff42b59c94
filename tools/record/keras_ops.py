"""Records what Keras' operations give: python/tests/data/keras_ops.json.

    python keras_ops.py python/tests/data/keras_ops.json         (with TensorFlow and Keras installed)
"""

import json
import pathlib
import sys

import keras
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/tests"))
import keras_ops_calls  # noqa: E402


def plain(value):
    """Tensors as [dtype, shape, numbers]; what holds them as lists."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    array = np.asarray(value)
    name = getattr(value, "dtype", array.dtype)
    numbers = array.astype("float64" if array.dtype.kind == "f" else array.dtype).reshape(-1).tolist()
    return {"dtype": getattr(name, "name", str(name)), "shape": list(array.shape),
            "values": [float(f"{x:.9g}") if isinstance(x, float) else x for x in numbers]}


def main(path):
    recorded = {}
    for call in keras_ops_calls.CALLS:
        if call in keras_ops_calls.OTHERWISE:
            continue
        try:
            recorded[call] = plain(eval(call, {**keras_ops_calls.NAMES, "ops": keras.ops}))
        except Exception as error:
            print(f"not recorded: {call}: {type(error).__name__}", file=sys.stderr)
    with open(path, "w") as file:
        file.write('{"keras": "%s", "calls": {\n' % keras.__version__)
        file.write(",\n".join(f"{json.dumps(call)}: {json.dumps(found)}" for call, found in recorded.items()))
        file.write("\n}}\n")


main(sys.argv[1])
