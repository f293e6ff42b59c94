#!/usr/bin/env python3
"""Add to tests/conform/ops/<operation>.json what concerns many operations at once; runs after the scripts that write the files.

    more_op_cases.py [FOLDER]

The gradients of all cases of an operation that has one are checked, but for those where central differences say nothing (ties, matrices
without an inverse, numbers that are cut off). Cases that TensorFlow 2.21 computes are called more_* and marked "recorded".
"""
import json
import os
import sys

PLACE = os.path.dirname(os.path.abspath(__file__))
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(PLACE, "ops")
MOST_VALUES = 160  # of a case whose gradients are computed by differences
BAD = {"matrix_determinant": ["singular"], "matrix_triangular_solve": ["singular"], "max_pool2d": ["negative_same"],
       "max_pool2d_grad": ["ties_to_first"], "pow": ["negative_base"], "projective_transform": None, "psnr": None, "qr": ["zeros", "triangle", "triangle_full", "wide", "wide_full", "tall_full", "stack_full", "zeros_full"],
       "pad": ["reflect_both", "reflect_one_side", "reflect_none", "symmetric_both", "symmetric_one_side", "symmetric_none"],
       "relu": ["nan"], "relu_grad": ["at_zero"], "resize": ["float64"], "saturate_cast": None, "ssim": None, "sort": ["float64"],
       "sparse_softmax_cross_entropy_with_logits": ["extreme"], "stop_gradient": None, "tensor_array_write": ["grows", "first"],
       "tensor_scatter_nd_update": ["twice"], "unsorted_segment_max": ["empty_of_float64"], "unsorted_segment_min": ["empty_of_float64"],
       "svd": ["zeros", "rank_one"], "self_adjoint_eig": ["diagonal"], "xdivy": ["zeros"], "xlog1py": ["zeros"],
       "xlogy": ["zeros"],
       "rgb_to_hsv": ["picture", "batch", "wide", "edges"], "zeta": ["values", "near_one", "broadcast"], "round": None, "rint": None}
GRADIENTS = """matmul matrix_determinant matrix_inverse matrix_solve matrix_triangular_solve max_pool2d max_pool2d_grad maximum minimum
multiply multiply_no_nan ndtri negate pad polygamma pow qr reciprocal reduce_max reduce_mean reduce_min reduce_prod reduce_sum relu relu6
relu_grad repeat reshape reshape_like reverse rot90 rsqrt segment_max segment_mean segment_min segment_prod segment_sum select
self_adjoint_eig sigmoid sign sin sinh slice sobel_edges softmax softplus sort split sqrt square squared_difference squeeze subtract
sum_like svd tan tanh tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update
tile top_k total_variation transpose unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sum xdivy xlog1py
xlogy zeta""".split()
SINGLE = "per_image_standardization resize resize_grad resize_with_pad resize_with_pad_grad rgb_to_grayscale rgb_to_hsv".split()
REFUSED = {"pad": {"reflect_both": "mode REFLECT has no gradient", "symmetric_one_side": "mode SYMMETRIC has no gradient"},
           "qr": {"wide": "no gradient of 2 x 4 matrices; those with at least", "tall_full": "no gradient of 4 x 2 matrices with full_matrices=True"}}


def flagged(op, line):
    """Whether the case's gradients are checked, and how."""
    values = [value for value in line["inputs"] if value["dtype"] in ("float32", "float64")]
    count = sum(len(value["data"]) for value in line["inputs"])
    wanted = op in GRADIENTS or op in SINGLE
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


CASES = {}  # of an operation: what is recorded

if __name__ == "__main__":
    write()
