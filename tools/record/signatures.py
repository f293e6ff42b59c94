#!/usr/bin/env python3
"""Record the parameters of TensorFlow's functions that tensor operations stand for.

    leat ops --json | signatures.py > tests/conform/signatures.json

Reads the paths from the table and prints {path: [{"name", "default"}]}, without "name", which has no effect; "default" is absent
where there is none, a dtype is its name, and "many" marks *parameters. Functions that TensorFlow lacks are null. Needs TensorFlow 2.21.
"""
import inspect
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf  # noqa: E402

# What TensorFlow does not have.
OWN = {"image." + name for name in ("cutmix", "mixup", "normalize", "rand_augment", "random_resized_crop", "stateless_aug_mix", "stateless_cutmix", "stateless_mixup",
                                    "stateless_rand_augment", "stateless_random_resized_crop")}


def find(path):
    found = tf
    for part in path.split("."):
        found = getattr(found, part)
    return found


def parameters(function):
    lines = []
    for parameter in inspect.signature(function).parameters.values():
        line = {"name": parameter.name}
        if parameter.name == "name" or parameter.kind == parameter.VAR_KEYWORD:
            continue
        if parameter.kind == parameter.VAR_POSITIONAL:
            line["many"] = True
        if parameter.default is not parameter.empty:
            default = parameter.default
            line["default"] = default.name if isinstance(default, tf.DType) else default
            if default in (float("inf"), float("-inf")):
                line["default"] = str(default)  # as in plans
        lines.append(line)
    return lines


def main():
    table = json.load(sys.stdin)["tensor_operations"]
    paths = sorted({path for operation in table for path in operation["names"]})
    print("{")
    print(",\n".join("%s: %s" % (json.dumps(path), json.dumps(None if path in OWN else parameters(find(path)))) for path in paths))
    print("}")


main()
