#!/usr/bin/env python3
"""Add to tests/conform/ops/<operation>.json what concerns many operations at once; runs after the scripts that write the files.

    more_op_cases.py [FOLDER]

The gradients of all cases of an operation that has one are checked, but for those where central differences say nothing (ties, matrices
without an inverse, numbers that are cut off). Cases that TensorFlow 2.21 computes are called more_* and marked "recorded".
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "record"))

import op_recorder  # noqa: E402
from op_recorder import F32, F64, I32, I64, distinct, floats, np, tf  # noqa: E402

PLACE = os.path.dirname(os.path.abspath(__file__))
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(PLACE, "ops")
MOST_VALUES = 420  # of a case whose gradients are computed by differences
BAD = {"matrix_determinant": ["singular"], "matrix_triangular_solve": ["singular"], "max_pool2d": ["negative_same"],
       "max_pool2d_grad": ["ties_to_first"], "pow": ["negative_base"], "projective_transform": None, "psnr": None, "qr": ["zeros", "triangle", "triangle_full", "tall_full", "stack_full", "zeros_full"],
       "pad": ["reflect_both", "reflect_one_side", "reflect_none", "symmetric_both", "symmetric_one_side", "symmetric_none"],
       "relu": ["nan"], "relu_grad": ["at_zero"], "resize": ["float64"], "saturate_cast": None, "ssim": None, "sort": ["float64"],
       "sparse_softmax_cross_entropy_with_logits": ["extreme"], "stop_gradient": None, "tensor_array_write": ["grows", "first"],
       "tensor_scatter_nd_update": ["twice"], "unsorted_segment_max": ["empty_of_float64"], "unsorted_segment_min": ["empty_of_float64"],
       "svd": ["zeros", "rank_one"], "self_adjoint_eig": ["diagonal"], "matrix_square_root": ["negative"], "xdivy": ["zeros"], "xlog1py": ["zeros"],
       "xlogy": ["zeros"],
       "rgb_to_hsv": ["picture", "batch", "wide", "edges"], "zeta": ["values", "near_one", "broadcast"], "round": None, "rint": None}
GRADIENTS = """matmul matrix_determinant matrix_inverse matrix_solve matrix_square_root matrix_triangular_solve max_pool2d max_pool2d_grad maximum minimum
max_pool2d_grad_grad multiply multiply_no_nan ndtri negate pad polygamma pow qr reciprocal reduce_max reduce_mean reduce_min reduce_prod reduce_sum relu relu6
relu_grad repeat reshape reshape_like reverse rot90 rsqrt segment_max segment_mean segment_min segment_prod segment_sum select
self_adjoint_eig self_adjoint_eigvals sigmoid sign sin sinh slice sobel_edges softmax softplus sort split sqrt square squared_difference squeeze subtract
sum_like svd tan tanh tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update
tile top_k total_variation transpose unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sum xdivy xlog1py
xlogy zeta""".split()
SINGLE = "per_image_standardization resize resize_grad resize_with_pad resize_with_pad_grad rgb_to_grayscale rgb_to_hsv".split()
REFUSED = {"pad": {"reflect_both": "mode REFLECT has no gradient", "symmetric_one_side": "mode SYMMETRIC has no gradient"},
           "qr": {"tall_full": "no gradient of 4 x 2 matrices with full_matrices=True"}}


def flagged(op, line):
    """Whether the case's gradients are checked, and how."""
    values = [value for value in line["inputs"] if value["dtype"] in ("float32", "float64")]
    count = sum(len(value["data"]) for value in line["inputs"])
    wanted = (op in GRADIENTS or op in SINGLE) and not line["name"].startswith("more_")
    if not wanted or "outputs" not in line or line["name"] in BAD.get(op, []) or not values or not 0 < count <= MOST_VALUES:
        return None
    return "float32" if op in SINGLE else True


def write():
    for file in sorted(os.listdir(FOLDER)):
        op, path = file[:-len(".json")], os.path.join(FOLDER, file)
        with open(path) as text:
            content = json.load(text)
        if "cases" not in content:
            continue
        lines = [line for line in content["cases"] if not line["name"].startswith("more_")] + CASES.get(op, [])
        changed = lines != content["cases"]
        for line in lines:
            refused = REFUSED.get(op, {}).get(line["name"])
            if refused:
                changed |= line.get("no_gradient") != refused
                line["no_gradient"] = refused
            elif not line.get("gradient") and flagged(op, line):
                line["gradient"] = flagged(op, line)
                changed = True
        if changed:
            with open(path, "w") as out:
                out.write('{"op": "%s", "cases": [\n' % op)
                out.write(",\n".join(json.dumps(line) for line in lines))
                out.write("\n]}\n")


def more(op, name, call, inputs, attributes=None, **how):
    """Records a case, where TensorFlow has a kernel for it."""
    op_recorder.record(op, "more_" + name, call, inputs, attributes, recorded=True, **how)


BF16 = tf.bfloat16.as_numpy_dtype
NUMBERS = [np.int8, np.int16, I32, I64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, BF16, F32, F64]
cube = np.arange(1, 49).reshape(2, 3, 2, 4) % 11

# ---- reductions over other axes, and of other dtypes ----
for op in ("sum", "mean", "prod", "max", "min"):
    call = getattr(tf, "reduce_" + op)
    for axis in ([0, 2], [1, 3], [-1], [1, 2], [0, 1, 3]):
        more("reduce_" + op, "axes_" + "_".join(map(str, axis)), call, [(cube % 4 + 1).astype(F32)], {"axis": axis}, tolerance=1e-6)
    for dtype in NUMBERS:
        values = np.array([[1, 3, 2], [2, 1, 1]]).astype(dtype)
        more("reduce_" + op, np.dtype(dtype).name, call, [values], {"axis": [1], "keepdims": True})
        if op != "mean" and np.dtype(dtype).kind in "iuf":
            more("reduce_" + op, "nothing_" + np.dtype(dtype).name, call, [np.zeros((2, 0), dtype)], {"axis": [1]})
for op in ("all", "any"):
    for axis in ([0, 2], [1], [-1, 0]):
        more("reduce_" + op, "axes_" + "_".join(map(str, axis)), getattr(tf, "reduce_" + op), [cube[:, :, 0] % 3 > 0], {"axis": axis})

# ---- order ----
for dtype in NUMBERS:
    name, values = np.dtype(dtype).name, np.array([[3, 1, 2, 5, 4], [7, 9, 8, 0, 6]]).astype(dtype)
    more("sort", name, tf.sort, [values], {"axis": 0, "direction": "DESCENDING"})
    more("sort", name + "_last", tf.sort, [values], {"axis": -1})
    more("top_k", name, tf.math.top_k, [values], {"k": 3})
    for side in ("left", "right"):
        more("searchsorted", name + "_" + side, tf.searchsorted, [np.sort(values), np.array([[0, 3, 9], [8, 7, 1]]).astype(dtype)], {"side": side})
    more("string_format", name, lambda *x, template: tf.strings.format(template, x), [values, values[0, 0]], {"template": "a {} b {}"})
    more("unique", name, tf.unique, [values[0].repeat(2)])
    more("unique_with_counts", name, tf.unique_with_counts, [np.concatenate([values[0], values[0, 1:4]])], {"out_idx": "int64"})
more("sort", "cube", tf.sort, [distinct(2, 3, 4)], {"axis": 1}, gradient=True)
more("sort", "cube_down", tf.sort, [distinct(2, 3, 4)], {"axis": 0, "direction": "DESCENDING"}, gradient=True)
more("top_k", "cube", tf.math.top_k, [distinct(2, 3, 5)], {"k": 2}, gradient=True, gradient_outputs=1)
more("top_k", "int16", tf.math.top_k, [distinct(3, 5)], {"k": 2, "index_type": "int16"}, gradient=True, gradient_outputs=1)

# ---- places ----
x = floats(2, 3, 2, 4)
more("tile", "cube", tf.tile, [x], {"multiples": [1, 2, 3, 1]}, gradient=True)
more("transpose", "cube", tf.transpose, [x], {"perm": [2, 0, 3, 1]}, gradient=True)
more("reverse", "cube", tf.reverse, [x], {"axis": [0, -2]}, gradient=True)
more("roll", "cube", tf.roll, [x], {"shift": [1, -3, 2], "axis": [1, 3, 1]}, gradient=True)
more("rot90", "batch", tf.image.rot90, [x], {"k": 3}, gradient=True)
for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
    more("pad", "cube_" + mode.lower(), tf.pad, [x], {"paddings": [[0, 1], [2, 0], [1, 1], [0, 3]], "mode": mode}, gradient=mode == "CONSTANT")
for axis in (0, 1, -1):
    for dtype in (np.uint8, I32, I64):
        more("one_hot", "axis_%d_%s" % (axis, np.dtype(dtype).name), tf.one_hot, [np.array([[0, 2], [1, 3]], dtype)],
             {"depth": 3, "axis": axis, "dtype": "float32"})
more("reverse_sequence", "cube", tf.reverse_sequence, [x, I32([2, 1, 0])], {"seq_axis": 2, "batch_axis": 1}, gradient=True)
more("reverse_sequence", "last", tf.reverse_sequence, [x, I64([4, 3])], {"seq_axis": 3, "batch_axis": 0}, gradient=True)
for op in ("add", "sub", "max", "min", "update"):
    call = getattr(tf, "tensor_scatter_nd_" + op)
    more("tensor_scatter_nd_" + op, "rows", call, [distinct(3, 2, 2), I32([[2, 0], [0, 1]]), distinct(2, 2) + F32(0.1)], gradient=True)
    for dtype in (np.int8, I32, I64, np.uint8, np.float16, F64):
        more("tensor_scatter_nd_" + op, np.dtype(dtype).name, call, [np.array([5, 2, 7]).astype(dtype), I64([[1], [2]]), np.array([4, 3]).astype(dtype)])
more("scatter_nd", "rows", tf.scatter_nd, [I32([[[2], [0]], [[2], [1]]]), floats(2, 2, 3)], {"shape": [4, 3]}, gradient=True)
for op in ("sum", "prod", "max", "min"):
    call = getattr(tf.math, "unsorted_segment_" + op)
    more("unsorted_segment_" + op, "matrix_of_ids", call, [distinct(2, 3, 2), I32([[0, 2, 0], [2, 2, 3]])], {"num_segments": 4}, gradient=op in ("sum", "prod"))
    more("segment_" + op, "cube", getattr(tf.math, "segment_" + op), [distinct(4, 2, 2), I64([0, 0, 1, 3])], gradient=True)
    for dtype in (np.int8, I64, np.uint16, np.float16, F64):
        values = np.array([3, 1, 2, 2]).astype(dtype)
        more("unsorted_segment_" + op, np.dtype(dtype).name, call, [values, I64([1, -1, 1, 0])], {"num_segments": 3})
        more("segment_" + op, np.dtype(dtype).name, getattr(tf.math, "segment_" + op), [values, I32([0, 0, 2, 2])])
for op, call in (("matrix_determinant", tf.linalg.det), ("matrix_inverse", tf.linalg.inv)):
    more(op, "stack", call, [floats(2, 2, 2) + 3 * np.eye(2, dtype=F32)], tolerance=1e-5, gradient=True)
more("matmul", "stack_of_stacks", tf.matmul, [floats(2, 3, 2, 4), floats(2, 3, 4, 2)], tolerance=1e-5, gradient=True)
for seed in (I32([3, 4]), I64([3, -4])):
    more("stateless_uniform", "seed_" + seed.dtype.name, lambda seed, shape: tf.random.stateless_uniform(shape, seed), [seed], {"shape": [5]})
more("substr", "matrix_by_row", tf.strings.substr, [np.array([[b"abcd", b"efgh"]], object), I32([[1, 2]]), I32([[2, 1]])])
more("string_join", "cube", lambda *x, separator: tf.strings.join(x, separator), [np.array([[b"a", b"b"]], object), np.array([[b"c", b"d"]], object)],
     {"separator": "--"})
more("string_reduce_join", "two_axes", tf.strings.reduce_join, [np.array([[[b"a", b"b"], [b"c", b"d"]]], object)], {"axis": [1, 2], "separator": "."})
more("string_reduce_join", "other_order", tf.strings.reduce_join, [np.array([[[b"a", b"b"], [b"c", b"d"]]], object)],
     {"axis": [2, 0], "separator": ".", "keepdims": True})
more("where", "cube", tf.where, [cube % 5 == 0])
more("unstack", "middle", tf.unstack, [floats(2, 3, 2)], {"num": 3, "axis": 1}, gradient=True)
more("split", "middle", lambda x, num_or_size_splits, axis: tf.split(x, num_or_size_splits, axis), [floats(2, 6, 2)],
     {"num_or_size_splits": 3, "axis": -2}, gradient=True)
more("stack", "last", lambda *x, axis: tf.stack(x, axis), [floats(2, 3), floats(2, 3)], {"axis": -1}, gradient=True)
more("sequence_mask", "matrix", lambda x, maxlen, dtype: tf.sequence_mask(x, maxlen, tf.as_dtype(dtype)), [I32([[1, 3], [0, 2]])], {"maxlen": 3, "dtype": "int8"})
more("set_diag", "stack", tf.linalg.set_diag, [floats(2, 3, 4), floats(2, 2, 3)], {"k": [-1, 0]}, gradient=True)
more("xlogy", "broadcast", tf.math.xlogy, [floats(2, 1), floats(3, low=0.5)], tolerance=1e-6, gradient=True)


# ---- complex numbers ----
pairs = np.array([1 + 2j, 0, -0.0, complex(0, 0.5), complex(np.nan, 0), 3 - 1j], np.complex64)
for dtype in (np.complex64, np.complex128):
    name = np.dtype(dtype).name
    more("where", name, tf.where, [pairs.astype(dtype).reshape(2, 3)])
    more("segment_mean", name, tf.math.segment_mean, [pairs.astype(dtype)[[0, 1, 2, 3, 5]], I32([0, 0, 2, 2, 2])])
    more("one_hot", name, tf.one_hot, [I32([0, 2, 3])], {"depth": 3, "dtype": name})
    more("bitcast", name + "_to_bytes", tf.bitcast, [pairs.astype(dtype)], {"type": "uint8"})
more("one_hot", "complex_values", lambda x, **how: tf.one_hot(x, how["depth"], 1 + 2j, -1j), [I32([0, 2])], {
    "depth": 3, "on_value": {"dtype": "complex128", "shape": [], "data": [[1, 2]]}, "off_value": {"dtype": "complex128", "shape": [], "data": [[0, -1]]}})
more("bitcast", "complex64_to_int64", tf.bitcast, [pairs[:2]], {"type": "int64"})
more("bitcast", "complex64_to_complex128", tf.bitcast, [pairs.reshape(3, 2)], {"type": "complex128"})
more("bitcast", "float32_to_complex64", tf.bitcast, [F32([[1, 2], [3, 4]])], {"type": "complex64"})


# ---- pictures ----
left, right = floats(2, 6, 7, 2, low=0.1, high=0.9), floats(2, 6, 7, 2, low=0.1, high=0.9)
more("psnr", "small", tf.image.psnr, [left[:, :3, :3], right[:, :3, :3]], {"max_val": 1.5}, tolerance=1e-5, gradient="float32")
for size in (2, 3):
    for sigma in (0.7, 1.5):
        more("ssim", "small_%d_%.1f" % (size, sigma), tf.image.ssim, [left[0], right[0]],
             {"max_val": 1.0, "filter_size": size, "filter_sigma": sigma, "k1": 0.2, "k2": 0.3}, tolerance=1e-4, gradient="float32")
    more("ssim_multiscale", "small_%d" % size, tf.image.ssim_multiscale, [left, right],
         {"max_val": 1.0, "filter_size": size, "k1": 0.2, "k2": 0.3, "power_factors": [0.4, 0.6]}, tolerance=1e-4)
more("ssim_multiscale", "gradient", tf.image.ssim_multiscale, [left[0], right[0]],
     {"max_val": 1.0, "filter_size": 2, "k1": 0.5, "k2": 0.5, "power_factors": [0.4, 0.6]}, tolerance=1e-4, gradient="float32")
for op in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"):
    more(op, "pixels", getattr(tf.image, op), [floats(3, 2, 3, low=0.1, high=0.9)], tolerance=1e-5)
more("total_variation", "batch", tf.image.total_variation, [distinct(2, 3, 4, 2)], tolerance=1e-5, gradient=True)
more("sobel_edges", "batch", tf.image.sobel_edges, [floats(2, 3, 4, 2)], tolerance=1e-5, gradient=True)

CASES = op_recorder.CASES  # of an operation: what is recorded

if __name__ == "__main__":
    for failed in op_recorder.WRONG:
        print("left out:", failed[:150].split("\n")[0], file=sys.stderr)
    write()
