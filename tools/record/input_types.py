#!/usr/bin/env python3
"""Record what TensorFlow's shape functions make of the types of operations' inputs.

    input_types.py tests/conform/ops tests/conform/types.json

Takes the first two cases of each operation that are no errors, and whose operation exists in tf.raw_ops with inputs and attributes of the
same names or in the same order. Each input in turn gets another rank, another dtype, a dimension that is larger by one, 0 or not known.
Writes [{"op", "attributes", "cases": [[inputs, outputs]...]}], where a type is [dtype, [sizes or null]], or null where the rank is not
known, and outputs are null where TensorFlow refuses. The lines with "deviation" are kept. Needs TensorFlow 2.21.
"""
import glob
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402

RAW = {name.lower(): name for name in dir(tf.raw_ops)}
RENAMED = {"subtract": "Sub", "multiply": "Mul", "negate": "Neg", "divide": "RealDiv", "divide_no_nan": "DivNoNan", "multiply_no_nan": "MulNoNan",
           "set_diag": "MatrixSetDiagV3", "band_part": "MatrixBandPart", "stateless_categorical": "StatelessMultinomial",
           "tensor_scatter_nd_add": "TensorScatterAdd", "tensor_scatter_nd_sub": "TensorScatterSub",
           "tensor_scatter_nd_update": "TensorScatterUpdate", "tensor_scatter_nd_max": "TensorScatterMax",
           "tensor_scatter_nd_min": "TensorScatterMin", "image_transpose": None, "random_crop": None, "clip_by_value": None,
           "diag": "MatrixDiagV3"}
DTYPES = ["float32", "int32", "int64", "uint8", "bool", "string"]
CASES = 2


class Unlike(Exception):
    """The raw operation has other inputs or attributes."""


def raw_name(op):
    if op in RENAMED:
        return RENAMED[op]
    plain = op.replace("_", "")
    return next((RAW[plain + end] for end in ("v4", "v3", "v2", "") if plain + end in RAW), None)


def arguments(definition, attributes, inputs):
    """The keyword arguments of a raw operation."""
    inputs, attributes, found = list(inputs), dict(attributes), {}
    for number, argument in enumerate(definition.input_arg):
        if argument.number_attr or argument.type_list_attr:
            behind = sum(other.name not in attributes for other in definition.input_arg[number + 1:])
            found[argument.name] = inputs[:len(inputs) - behind]
            inputs = inputs[len(inputs) - behind:]
        elif attributes.get(argument.name) is not None:
            number = argument.type_attr or argument.type == tf.int32.as_datatype_enum
            found[argument.name] = tf.constant(attributes.pop(argument.name), tf.int32 if number else None)
        elif inputs and argument.name not in attributes:
            found[argument.name] = inputs.pop(0)
        else:
            raise Unlike(argument.name)
    for attribute in definition.attr:
        if attribute.name in attributes:
            value = attributes.pop(attribute.name)
            found[attribute.name] = tf.as_dtype(value) if attribute.type == "type" else value
    if inputs or attributes:
        raise Unlike("%d inputs, %s" % (len(inputs), list(attributes)))
    return found


def infer(name, attributes, types):
    """The types of the outputs; None where the operation refuses."""
    with tf.Graph().as_default():
        inputs = [tf.compat.v1.placeholder(dtype, shape) for dtype, shape in types]
        try:
            given = arguments(op_def_registry.get(name), attributes, inputs)
        except (TypeError, ValueError) as e:
            raise Unlike(e) from e
        try:
            made = getattr(tf.raw_ops, name)(**given)
        except (TypeError, ValueError, tf.errors.OpError):
            return None
        outputs = tf.nest.flatten(list(made) if isinstance(made, tuple) else made)
        return [[output.dtype.name, output.shape.as_list() if output.shape.rank is not None else None] for output in outputs
                if isinstance(output, tf.Tensor)]


def variants(types):
    """The types of a case, and then with one change each."""
    yield types
    for number, (dtype, shape) in enumerate(types):
        others = [[dtype, [1] + shape], [dtype, shape + [1]]]
        others += [[dtype, shape[1:]], [dtype, shape[:-1]]] if shape else []
        others += [[other, shape] for other in DTYPES if other != dtype]
        for d, size in enumerate(shape):
            others += [[dtype, shape[:d] + [other] + shape[d + 1:]] for other in (size + 1, 0, None)]
        for other in others:
            yield types[:number] + [other] + types[number + 1:]


def record(op, name, cases):
    """The lines of an operation."""
    lines = []
    for case in cases:
        inputs = case.get("inputs")
        if len(lines) == CASES or "outputs" not in case or not inputs or not all("shape" in value for value in inputs):
            continue
        types = [[value["dtype"], value["shape"]] for value in inputs]
        attributes = case.get("attributes") or {}
        try:
            good = infer(name, attributes, types)
            if good is None or [dtype for dtype, _ in good] != [output["dtype"] for output in case["outputs"]]:
                continue
            different = []
            for one in variants(types):
                if one not in different:
                    different.append(one)
            lines.append({"op": op, "attributes": attributes, "cases": [[one, infer(name, attributes, one)] for one in different]})
        except Unlike:
            continue
    return lines


def main():
    folder, path = sys.argv[1:]
    lines = [line for line in json.load(open(path, encoding="utf-8")) if "deviation" in line] if os.path.exists(path) else []
    for file in sorted(glob.glob(os.path.join(folder, "*.json"))):
        op = os.path.basename(file)[:-5]
        name = raw_name(op)
        if name:
            cases = json.load(open(file, encoding="utf-8"))
            lines += record(op, name, cases if isinstance(cases, list) else cases.get("cases", []))
    with open(path, "w", encoding="utf-8") as out:
        out.write("[\n" + ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines) + "\n]\n")
    print("%d operations, %d cases" % (len({line["op"] for line in lines}), sum(len(line.get("cases", [])) for line in lines)))


if __name__ == "__main__":
    main()
