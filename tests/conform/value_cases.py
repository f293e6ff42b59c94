#!/usr/bin/env python3
"""Record what TensorFlow makes of operations' cases with other dtypes, sizes and ranks: tests/conform/values.json.

    value_cases.py PATTERN        operations whose names match, "[a-l]*"; the lines of others stay

Takes the first cases of tests/conform/ops/<operation>.json, and their inputs in turn with another dtype, with one size
0, 1 or beyond a vector, and as stacks. What TensorFlow refuses is left out; tests/conform/types.json has that.
Needs TensorFlow 2.21.
"""
import fnmatch
import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tools/record"))

import input_types  # noqa: E402
import numpy as np  # noqa: E402
import op_recorder  # noqa: E402

tf = input_types.tf
PATH = os.path.join(HERE, "values.json")
DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
          "uint64", "bool"]
TOLERANCES = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-12}
CASES, LARGE, MOST, BYTES = 2, 19, 160, 8000


def backprop_input(x, w, g, **a):
    return tf.compat.v1.nn.conv2d_backprop_input(x.shape, w, g, use_cudnn_on_gpu=False, **nhwc(a))


def backprop_filter(x, w, g, **a):
    return tf.compat.v1.nn.conv2d_backprop_filter(x, w.shape, g, use_cudnn_on_gpu=False, **nhwc(a))


def nhwc(a):
    return {key: [1, *value, 1] if isinstance(value, list) else value for key, value in a.items()}


def crop_grad_boxes(g, image, boxes, indices, crop_size, method):
    return tf.raw_ops.CropAndResizeGradBoxes(grads=g, image=image, boxes=boxes, box_ind=indices, method=method)


def crop_grad_image(g, image, boxes, indices, crop_size, method):
    return tf.raw_ops.CropAndResizeGradImage(grads=g, boxes=boxes, box_ind=indices, image_size=image.shape,
                                             T=image.dtype, method=method)


def pool_grad(x, g, **a):
    return tf.raw_ops.AvgPoolGrad(orig_input_shape=x.shape, grad=g, **nhwc(a))


def patches_grad(g, images, **a):
    with tf.GradientTape() as tape:
        tape.watch(images)
        patches = tf.image.extract_patches(images, **a)
    return tape.gradient(patches, images, g)


FUNCTIONS = {
    "as_string": tf.strings.as_string, "einsum": lambda *all, equation: tf.einsum(equation, *all),
    "avg_pool2d_grad": pool_grad, "extract_patches_grad": patches_grad, "gather_nd": tf.gather_nd,
    "argmax": tf.argmax, "argmin": tf.argmin, "argsort": tf.argsort, "avg_pool2d": tf.nn.avg_pool2d,
    "boolean_mask": tf.boolean_mask,
    "cast": tf.cast, "clip_by_value": tf.clip_by_value, "conv2d": tf.nn.conv2d, "conv2d_backprop_input": backprop_input,
    "conv2d_backprop_filter": backprop_filter, "count_nonzero": tf.math.count_nonzero, "diag": tf.linalg.diag,
    "diag_part": tf.linalg.diag_part,
    "dynamic_stitch": lambda *all: tf.dynamic_stitch(list(all[:len(all) // 2]), list(all[len(all) // 2:])),
    "crop_and_resize_grad_boxes": crop_grad_boxes, "crop_and_resize_grad_image": crop_grad_image,
    "expand_dims": tf.expand_dims, "in_top_k": tf.math.in_top_k, "logical_xor": tf.math.logical_xor,
    "image_transpose": tf.image.transpose}
# Variants that are left out: what is computed in float32, what leat refuses (dtypes, windows without a place), and
# inputs that are not as the operation wants them, where anything may come out.
NOT = {"adjust_gamma": "* as *", "hsv_to_rgb": "* as float64", "cholesky": "*stacks", "lu": "*stacks",
       "dynamic_stitch": "*",
       "boolean_mask": "*bool as *", "avg_pool2d": "*[01] for *", "avg_pool2d_grad": "*[01] for *",
       "conv2d": "*[01] for *",
       "conv2d_backprop_filter": "*0 for *",
       "conv2d_backprop_input": "*0 for *", "extract_patches": "*[01] for *", "crop_and_resize_grad_boxes": "*1 for 3",
       "crop_and_resize_grad_image": "*1 for 3"}
# Their cases elsewhere are without gradients.
GRADIENTS = ("adjust_brightness", "avg_pool2d_grad", "boolean_mask", "ceil", "cumprod", "extract_patches_grad", "floor",
             "floormod", "gather_nd")
UNLIKE = {"float16": ("avg_pool2d", "conv2d", "conv2d_backprop_filter", "conv2d_backprop_input", "cumulative_logsumexp",
                      "einsum",
                      "log_softmax"),
          "int32": ("conv2d",), "int16": ("gather", "gather_nd")}

HALVES = np.array([0.5, -1.25, 1024, 0.1], "float16")
COUNTS = np.arange(-3, 9).reshape(2, 6)
# Further cases: operation, name, attributes and inputs.
EXTRA = [
    ("as_string", "long", {"width": 300, "precision": 2}, [np.array([1.5, -2], "float64")]),
    ("as_string", "long, filled", {"width": 700, "fill": "0"}, [np.array([7, -3], "int64")]),
    ("as_string", "halves", {}, [HALVES]),
    ("as_string", "halves, scientific", {"scientific": True, "precision": 3}, [HALVES]),
    ("as_string", "halves, shortest", {"shortest": True, "width": 8}, [HALVES]),
    ("as_string", "bfloat16", {"precision": 1}, [tf.constant([0.5, -1.25, 3e38], "bfloat16").numpy()]),
    ("einsum", "implied, upper", {"equation": "bA,aB"}, [np.ones((2, 3), "float32"), np.ones((4, 5), "float32")]),
    ("einsum", "blanks", {"equation": " ij , jk -> ki "}, [COUNTS.astype("int32"), COUNTS.T.astype("int32")]),
    ("einsum", "alone, int32", {"equation": "ij->j"}, [COUNTS.astype("int32")]),
    ("einsum", "alone, int64", {"equation": "ij->"}, [COUNTS.astype("int64")]),
    ("einsum", "alone, float64", {"equation": "ij->ji"}, [COUNTS.astype("float64")]),
    ("einsum", "three", {"equation": "ij,kj,k->i"}, [COUNTS / 4, COUNTS[:, ::-1] / 4, np.array([2.0, -1.0])]),
    ("einsum", "rests of two ranks", {"equation": "...ij,...jk->...ik"},
     [np.arange(24.0).reshape(2, 1, 3, 4), np.arange(24.0).reshape(3, 4, 2)]),
]


def function_of(op, attributes):
    """The call in TensorFlow, or None."""
    found = FUNCTIONS.get(op) or getattr(tf.image, op, None)
    if found:
        return lambda *inputs: found(*inputs, **attributes)
    name = input_types.raw_name(op)
    definition = name and input_types.op_def_registry.get(name)
    arguments = input_types.arguments
    return definition and (lambda *all: getattr(tf.raw_ops, name)(**arguments(definition, attributes, all)))


def array(value):
    def one(x):
        if isinstance(x, dict):
            return bytes.fromhex(x["hex"])
        return x.encode() if isinstance(x, str) and value["dtype"] == "string" else x

    data = [one(x) for x in value["data"]]
    dtype = object if value["dtype"] == "string" else value["dtype"]
    return np.array([float(x) if isinstance(x, str) else x for x in data], dtype).reshape(value["shape"])


def run(call, inputs):
    """The outputs as arrays; None where TensorFlow refuses or has no kernel."""
    try:
        found = call(*[tf.constant(value, tf.string if value.dtype == object else None) for value in inputs])
    except Exception:  # each operation has errors of its own
        return None
    return [np.asarray(one) for one in tf.nest.flatten(list(found) if isinstance(found, tuple) else found)]


def as_dtype(value, dtype):
    if value.dtype == "float32" and dtype == "float64":
        return np.array([float(str(x)) for x in value.reshape(-1)], "float64").reshape(value.shape)
    return (np.abs(value) if np.dtype(dtype).kind in "ub" and value.dtype.kind != "b" else value).astype(dtype)


def resized(value, size, other):
    for axis, found in enumerate(value.shape):
        if found == size:
            value = np.take(value, np.arange(other) % size, axis)
    return value


def variants(inputs, dtypes):
    """(name, inputs) of a case, of other dtypes if told."""
    for dtype in dict.fromkeys(value.dtype for value in inputs if value.dtype != object and dtypes):
        for other in DTYPES:
            if other != dtype:
                yield "%s as %s" % (dtype, other), [as_dtype(v, other) if v.dtype == dtype else v for v in inputs]
    for size in sorted({size for value in inputs for size in value.shape if size}):
        for other in (0, 1, LARGE):
            if other != size:
                yield "%d for %d" % (other, size), [resized(value, size, other) for value in inputs]
    if any(value.ndim for value in inputs):
        yield "stacks", [np.stack([value, np.roll(value, 1)]) if value.ndim else value for value in inputs]


def same(found, case):
    expected = [array(value) for value in case["outputs"]]
    return found is not None and len(found) == len(expected) and all(
        a.dtype == b.dtype and a.shape == b.shape and
        (a.dtype == object or np.allclose(a, b, 1e-4, 1e-4, equal_nan=True))
        for a, b in zip(found, expected))


def line_of(name, attributes, inputs, outputs):
    line = {"name": name, "inputs": [op_recorder.tensor(value) for value in inputs],
            "outputs": [op_recorder.tensor(value) for value in outputs]}
    if attributes:
        line["attributes"] = attributes
    kinds = [value.dtype.name for value in outputs + inputs if value.dtype.name in TOLERANCES]
    if any(value.dtype.kind == "f" for value in outputs):
        line["tolerance"] = max(TOLERANCES[kind] for kind in kinds)
    return line


def record(op, cases):
    lines = []
    for number, case in enumerate(case for case in cases if "outputs" in case):
        values = case.get("inputs", [])
        if number >= CASES or not values or not all("shape" in value for value in values):
            continue
        attributes = case.get("attributes") or {}
        call, inputs = function_of(op, attributes), [array(value) for value in values]
        if call is None or not same(run(call, inputs), case):
            continue
        for name, changed in variants(inputs, number == 0):
            found = run(call, changed)
            left_out = fnmatch.fnmatch(name, NOT.get(op, "")) or op in UNLIKE.get(name.split()[-1], ())
            if found is None or left_out or sum(value.size for value in found + changed) > MOST:
                continue
            line = line_of("%s, %s" % (case["name"], name), attributes, changed, found)
            if "tolerance" in line and "as" not in name:
                line["tolerance"] = max(line["tolerance"], case.get("tolerance", 0))
            kinds = [value.dtype.name for value in found + changed]
            if (case.get("gradient") or op in GRADIENTS) and name[:1] in "01s" and "float32" in kinds:
                line["gradient"] = True
            if len(json.dumps(line)) < BYTES:
                lines.append(line)
    for extra, name, attributes, inputs in EXTRA:
        found = run(function_of(op, attributes), inputs) if extra == op else None
        if found:
            lines.append(line_of("further: " + name, attributes, inputs, found))
        elif extra == op:
            sys.exit("TensorFlow refuses %s %s" % (op, name))
    return lines


def main():
    kept = json.load(open(PATH, encoding="utf-8")) if os.path.exists(PATH) else {}
    for file in sorted(glob.glob(os.path.join(HERE, "ops", "*.json"))):
        op = os.path.basename(file)[:-5]
        if fnmatch.fnmatch(op, sys.argv[1]):
            kept[op] = record(op, json.load(open(file, encoding="utf-8")).get("cases", []))
    text = ",\n".join('"%s": [\n%s]' % (op, ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines))
                      for op, lines in sorted(kept.items()) if lines)
    with open(PATH, "w", encoding="utf-8") as out:
        out.write("{\n" + text + "\n}\n")
    print("%d operations, %d cases" % (len([op for op in kept if kept[op]]), sum(map(len, kept.values()))))


if __name__ == "__main__":
    main()
