#!/usr/bin/env python3
"""Record the cases of the operations that compare and measure pictures, and choose boxes, from TensorFlow, into tests/conform/ops.

    picture_measures.py [FOLDER]

Each case is an operation under TensorFlow's name in tf.image, its arguments by name and what TensorFlow answered; failures have
the library's own text. Needs TensorFlow 2.21.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "conform"))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from op_case_model import DTYPE, F32, F64, I32, INVALID, SHAPE, U8, VALUE, Half, case, write  # noqa: E402

RNG = np.random.RandomState(815)
CLOSE = {"tolerance": 1e-5}
SUMS = {"tolerance": 3e-5}  # TensorFlow's windows sum in float32: numpy in float64 gives up to 1.5e-5 else


def plain(value):
    """A tensor as the case's writer takes it."""
    value = np.asarray(value)
    if value.dtype.name in ("float16", "bfloat16"):
        return Half(value.dtype.name, value.reshape(-1).tolist(), value.shape)
    return value


def record(op, name, inputs, attributes=None, function=None, given=None, **more):
    """A case with the answer of tf.image.`op`; `given`: what is not JSON, in place of attributes for TensorFlow."""
    function = function or getattr(tf.image, op)
    answer = function(*[tf.constant(v) for v in inputs], **(given or attributes or {}))
    answer = tuple(plain(a) for a in answer) if isinstance(answer, (tuple, list)) else plain(answer)
    case(op, name, [plain(v) for v in inputs], answer, attributes, **more)


def refuse(op, name, inputs, why, attributes=None):
    """A case that TensorFlow refuses, too; `why`: the library's reason and a keyword."""
    try:
        getattr(tf.image, op)(*[tf.constant(v) for v in inputs], **(attributes or {}))
    except Exception:  # pylint: disable=broad-except
        case(op, name, inputs, attributes=attributes, error=(INVALID, *why))
    else:
        sys.exit("%s %s: TensorFlow does not refuse it" % (op, name))


def smooth(*shape):
    """Pictures whose pixels resemble their neighbours, in [0, 1]."""
    value = RNG.rand(*shape)
    for axis in (-3, -2):
        value = (value + np.roll(value, 1, axis) + np.roll(value, 2, axis)) / 3
    return value.astype(F32)


def noisy(value, amount=0.1):
    return np.clip(value + (RNG.rand(*value.shape) - 0.5) * amount, 0, 1).astype(F32)


a = smooth(14, 13, 3)
b = noisy(a)
bytes_a, bytes_b = (a * 255).astype(U8), (b * 255).astype(U8)
batch = smooth(3, 12, 15, 2)
other = noisy(batch, 0.3)
five = smooth(2, 2, 12, 12, 1)
small = RNG.rand(2, 4, 3, 2).astype(F32)

# ---- comparing ----

for op, sizes in (("psnr", {}), ("ssim", {"filter_size": 5})):
    record(op, "picture", [a, b], {"max_val": 1.0}, **SUMS)
    record(op, "batch", [batch, other], {"max_val": 1.0}, **SUMS)
    record(op, "range", [batch, other], {"max_val": 1.3}, **SUMS)
    record(op, "uint8", [bytes_a, bytes_b], {"max_val": 255.0}, **SUMS)
    record(op, "uint16", [bytes_a.astype(np.uint16) * 200, bytes_b.astype(np.uint16) * 201], {"max_val": 65535.0}, **SUMS)
    record(op, "int16", [bytes_a.astype(np.int16) * 90, bytes_b.astype(np.int16) * 91], {"max_val": 32767.0}, **SUMS)
    record(op, "float64", [a.astype(F64), b.astype(F64)], {"max_val": 1.0}, **SUMS)
    record(op, "float16", [a.astype(np.float16), b.astype(np.float16)], {"max_val": 1.0}, **SUMS)
    record(op, "broadcast", [batch, other[:1]], {"max_val": 1.0}, **SUMS)
    record(op, "broadcast_rank", [batch[0], other], {"max_val": 1.0}, **SUMS)
    record(op, "five_dimensions", [five, noisy(five)], {"max_val": 1.0}, **SUMS)
    record(op, "five_dimensions_broadcast", [five[:, :1], noisy(five)[:1]], {"max_val": 1.0}, **SUMS)
    record(op, "equal", [a, a], {"max_val": 1.0}, **SUMS)
    record(op, "no_pictures", [batch[:0], other[:0]], {"max_val": 1.0})
    record(op, "gradient", [smooth(1, 4, 4, 2).astype(F64), smooth(1, 4, 4, 2).astype(F64)], dict(sizes, max_val=1.0) if op == "psnr" else
           {"max_val": 1.0, "filter_size": 3}, **SUMS)
    refuse(op, "other_size", [a, b[1:]], (SHAPE, "heights"), {"max_val": 1.0})
    refuse(op, "other_batch", [batch, other[:2]], (SHAPE, "broadcast"), {"max_val": 1.0})
    refuse(op, "matrix", [a[0], b[0]], (SHAPE, "heights"), {"max_val": 1.0})
record("psnr", "no_rows", [batch[:, :0], other[:, :0]], {"max_val": 1.0})
for name, given in (("window_of_4", {"filter_size": 4}), ("window_of_1", {"filter_size": 1}), ("wide_sigma", {"filter_sigma": 4.0}),
                    ("steady", {"k1": 0.05, "k2": 0.2}), ("map", {"return_index_map": True}),
                    ("map_of_small_windows", {"return_index_map": True, "filter_size": 3})):
    record("ssim", name, [batch, other], dict(given, max_val=1.0), **SUMS)
record("ssim", "map_of_picture", [a, b], {"max_val": 1.0, "return_index_map": True}, **SUMS)
refuse("ssim", "too_small", [a[:10], b[:10]], (SHAPE, "smaller"), {"max_val": 1.0})

op = "ssim_multiscale"
large = smooth(2, 37, 42, 3)
record(op, "two_scales", [large, noisy(large)], {"max_val": 1.0, "power_factors": [0.4, 0.6]}, **SUMS)
record(op, "small_windows", [large, noisy(large, 0.5)], {"max_val": 1.0, "filter_size": 3}, **SUMS)
record(op, "uint8", [(large * 255).astype(U8), (noisy(large) * 255).astype(U8)], {"max_val": 255.0, "filter_size": 3}, **SUMS)
record(op, "one_scale", [a, b], {"max_val": 1.0, "power_factors": [1.0]}, **SUMS)
record(op, "equal", [large, large], {"max_val": 1.0, "filter_size": 3}, **SUMS)
record(op, "negative", [large, 1 - large], {"max_val": 1.0, "filter_size": 3}, **SUMS)
record(op, "constants", [large, noisy(large)], {"max_val": 1.0, "filter_size": 3, "filter_sigma": 0.7, "k1": 0.1, "k2": 0.3}, **SUMS)
record(op, "broadcast", [large, noisy(large)[:1]], {"max_val": 1.0, "filter_size": 3}, **SUMS)
refuse(op, "too_small", [large, noisy(large)], (SHAPE, "smaller"), {"max_val": 1.0})
refuse(op, "other_size", [large, large[:, 1:]], (SHAPE, "heights"), {"max_val": 1.0})

# ---- neighbours ----

op = "total_variation"
for dtype in (F32, F64, I32, np.int64, np.int8, np.int16):
    record(op, np.dtype(dtype).name, [(small * 200).astype(dtype)], **CLOSE)
record(op, "picture", [small[0]], gradient=True, **CLOSE)
record(op, "batch", [small], gradient=True, **CLOSE)
record(op, "wrap", [RNG.randint(-128, 128, (3, 4, 1)).astype(np.int8)])
record(op, "one_pixel", [small[:, :1, :1]])
record(op, "one_row", [small[:, :1]], **CLOSE)
record(op, "no_pictures", [small[:0]])
record(op, "no_rows", [small[:, :0]])
record(op, "float16", [small.astype(np.float16)], tolerance=5e-3)
refuse(op, "uint8", [(small * 200).astype(U8)], (DTYPE, "signed"))
refuse(op, "matrix", [small[0, 0]], (SHAPE, "pictures"))
refuse(op, "five_dimensions", [five], (SHAPE, "pictures"))

op = "image_gradients"
for dtype in (F32, F64, I32, np.int64, U8, np.int16, np.uint16):
    record(op, np.dtype(dtype).name, [(small * 200).astype(dtype)], gradient=dtype == F32)
record(op, "wrap", [RNG.randint(0, 256, (1, 3, 4, 1)).astype(U8)])
record(op, "one_pixel", [small[:, :1, :1]])
record(op, "one_row", [small[:, :1]], gradient=True)
record(op, "no_pictures", [small[:0]])
record(op, "float16", [small.astype(np.float16)])
refuse(op, "picture", [small[0]], (SHAPE, "rank"))

op = "sobel_edges"
record(op, "batch", [small], gradient=True, **CLOSE)
record(op, "float64", [small.astype(F64)], **CLOSE)
record(op, "least", [small[:, :2, :2]], gradient=True, **CLOSE)
record(op, "wide", [smooth(1, 3, 40, 1)], **CLOSE)
record(op, "float16", [small.astype(np.float16)], tolerance=5e-3)
refuse(op, "one_row", [small[:, :1]], (SHAPE, "2"))
refuse(op, "picture", [small[0]], (SHAPE, "rank"))
refuse(op, "integers", [(small * 200).astype(I32)], (DTYPE, "floats"))

# ---- windows ----


def windows(size, stride, rate=(1, 1), padding="VALID"):
    return {"sizes": [1, *size, 1], "strides": [1, *stride, 1], "rates": [1, *rate, 1], "padding": padding}


SHAPES = {"plain": windows((2, 2), (1, 1)), "apart": windows((2, 3), (3, 2)), "spread": windows((2, 2), (1, 2), (2, 3)),
          "same": windows((3, 3), (2, 2), (1, 1), "SAME"), "same_spread": windows((2, 2), (3, 1), (2, 2), "SAME"), "whole": windows((5, 7), (1, 1))}


def back(gradient, images, **attributes):
    with tf.GradientTape() as tape:
        tape.watch(images)
        out = tf.reduce_sum(tf.image.extract_patches(images, **attributes) * gradient)
    return tape.gradient(out, images)


numbers = RNG.rand(2, 5, 7, 3).astype(F32)
for name, attributes in SHAPES.items():
    record("extract_patches", name, [numbers], attributes, gradient=True)
    shape = tf.image.extract_patches(numbers, **attributes).shape
    record("extract_patches_grad", name, [RNG.rand(*shape).astype(F32), numbers], attributes, back, **CLOSE)
record("extract_patches_grad", "float64", [RNG.rand(*shape), numbers.astype(F64)], attributes, back, **CLOSE)
for dtype in (U8, I32, F64, np.uint16):
    record("extract_patches", np.dtype(dtype).name, [(numbers * 3).astype(dtype)], SHAPES["same"])
record("extract_patches", "float16", [numbers.astype(np.float16)], SHAPES["plain"])
record("extract_patches", "no_pictures", [numbers[:0]], SHAPES["plain"])
refuse("extract_patches", "three_numbers", [numbers], (SHAPE, "sizes"), dict(SHAPES["plain"], sizes=[2, 2, 1]))
refuse("extract_patches", "batch_stride", [numbers], (SHAPE, "strides"), dict(SHAPES["plain"], strides=[2, 1, 1, 1]))
refuse("extract_patches", "no_rate", [numbers], (SHAPE, "rates"), dict(SHAPES["plain"], rates=[1, 0, 1, 1]))
refuse("extract_patches", "padding", [numbers], (VALUE, "padding"), dict(SHAPES["plain"], padding="FULL"))
refuse("extract_patches", "bool", [numbers > 0.5], (DTYPE, "bool"), SHAPES["plain"])
refuse("extract_patches", "picture", [numbers[0]], (SHAPE, "rank"), SHAPES["plain"])
case("extract_patches_grad", "other_shape", [RNG.rand(2, 4, 4, 12).astype(F32), numbers], attributes=SHAPES["plain"], error=(INVALID, SHAPE, "gradient"))
case("extract_patches_grad", "integers", [np.ones((2, 4, 6, 12), I32), np.ones((2, 5, 7, 3), I32)], attributes=SHAPES["plain"],
     error=(INVALID, DTYPE, "floats"))

# ---- boxes ----

boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]], F32)
scores = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], F32)
many = (RNG.rand(60, 2, 2) * 4).cumsum(1).reshape(60, 4).astype(F32)[:, [0, 1, 2, 3]]
ranks = RNG.rand(60).astype(F32)
WAYS = {"three": {"max_output_size": 3, "iou_threshold": 0.5}, "all": {"max_output_size": 30, "iou_threshold": 0.5}, "none": {"max_output_size": 0},
        "default": {"max_output_size": 4}, "strict": {"max_output_size": 10, "iou_threshold": 0.0}, "loose": {"max_output_size": 10, "iou_threshold": 1.0},
        "scores_above": {"max_output_size": 10, "iou_threshold": 0.5, "score_threshold": 0.4}}
for op in ("non_max_suppression", "non_max_suppression_with_scores"):
    for name, attributes in WAYS.items():
        record(op, name, [boxes, scores], attributes)
    record(op, "turned", [boxes[:, [2, 3, 0, 1]], scores], WAYS["three"])
    record(op, "half_turned", [boxes[:, [2, 1, 0, 3]], scores], WAYS["three"])
    record(op, "equal_scores", [many, np.full(60, 0.5, F32)], {"max_output_size": 20, "iou_threshold": 0.3})
    record(op, "equal_boxes", [np.tile(boxes[:1], (5, 1)), scores[:5]], {"max_output_size": 5, "iou_threshold": 0.99})
    record(op, "at_the_threshold", [np.array([[0, 0, 1, 2], [0, 0, 1, 1]], F32), scores[:2]], {"max_output_size": 5, "iou_threshold": 0.5})
    record(op, "no_area", [np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]], F32), scores[:3]], {"max_output_size": 5, "iou_threshold": 0.0})
    record(op, "many", [many, ranks], {"max_output_size": 40, "iou_threshold": 0.2})
    record(op, "no_boxes", [boxes[:0], scores[:0]], {"max_output_size": 3})
    refuse(op, "threshold", [boxes, scores], (VALUE, "[0, 1]"), {"max_output_size": 3, "iou_threshold": 1.1})
    refuse(op, "three_numbers", [boxes[:, :3], scores], (SHAPE, "4"), {"max_output_size": 3})
    refuse(op, "other_count", [boxes, scores[:3]], (SHAPE, "4"), {"max_output_size": 3})
    refuse(op, "negative_size", [boxes, scores], (VALUE, "max_output_size"), {"max_output_size": -1})
for sigma in (0.1, 0.5, 2.0):
    record("non_max_suppression_with_scores", "soft_%g" % sigma, [boxes, scores], {"max_output_size": 6, "soft_nms_sigma": sigma}, **CLOSE)
    record("non_max_suppression_with_scores", "soft_many_%g" % sigma, [many, ranks],
           {"max_output_size": 50, "soft_nms_sigma": sigma, "score_threshold": 0.05}, **CLOSE)

refuse("non_max_suppression_with_scores", "negative_sigma", [boxes, scores], (VALUE, "soft_nms_sigma"), {"max_output_size": 3, "soft_nms_sigma": -1.0})

op = "non_max_suppression_overlaps"
overlaps = RNG.rand(8, 8).astype(F32)
overlaps = ((overlaps + overlaps.T) / 2).astype(F32)
ranks = RNG.rand(8).astype(F32)
for name, threshold in (("half", 0.5), ("strict", 0.2), ("all", 2.0)):
    record(op, name, [overlaps, ranks], {"max_output_size": 8, "overlap_threshold": threshold})
record(op, "default", [overlaps, ranks], {"max_output_size": 3})
record(op, "scores_above", [overlaps, ranks], {"max_output_size": 8, "score_threshold": 0.5})
record(op, "one_sided", [np.triu(overlaps), ranks], {"max_output_size": 8, "overlap_threshold": 0.3})
record(op, "no_boxes", [overlaps[:0, :0], ranks[:0]], {"max_output_size": 3})
refuse(op, "no_square", [overlaps[:, :5], ranks], (SHAPE, "[8, 5]"), {"max_output_size": 3})
refuse(op, "other_count", [overlaps, ranks[:3]], (SHAPE, "[8, 8]"), {"max_output_size": 3})

op = "combined_non_max_suppression"
RNG = np.random.RandomState(816)  # apart, so that the cases above stay as they are
starts = RNG.rand(2, 12, 1, 2) * 1.3
corners = np.concatenate([starts, starts + RNG.rand(2, 12, 1, 2) * 0.6], -1).astype(F32)
ranks = RNG.rand(2, 12, 3).astype(F32)
own = np.tile(corners, (1, 1, 3, 1))
own[:, :, 1] *= 0.5
SIZES = {"max_output_size_per_class": 2, "max_total_size": 5}
for name, attributes in (("default", {}), ("strict", {"iou_threshold": 0.1}), ("scores_above", {"score_threshold": 0.8}), ("as_they_are", {"clip_boxes": False}),
                         ("padded", {"pad_per_class": True, "max_total_size": 50}), ("padded_and_cut", {"pad_per_class": True, "score_threshold": 0.9}),
                         ("many", {"max_output_size_per_class": 20, "max_total_size": 40})):
    record(op, name, [corners, ranks], {**SIZES, **attributes})
    record(op, "own_" + name, [own, ranks], {**SIZES, **attributes})
record(op, "turned", [corners[..., [2, 1, 0, 3]], ranks], {**SIZES, "iou_threshold": 0.1})
record(op, "no_pictures", [corners[:0], ranks[:0]], SIZES)
record(op, "no_boxes", [corners[:, :0], ranks[:, :0]], SIZES)
record(op, "no_classes", [corners, ranks[..., :0]], SIZES)
refuse(op, "threshold", [corners, ranks], (VALUE, "[0, 1]"), {**SIZES, "iou_threshold": 1.5})
refuse(op, "none_of_a_class", [corners, ranks], (VALUE, "max_output_size_per_class"), {**SIZES, "max_output_size_per_class": 0})
refuse(op, "none_at_all", [corners, ranks], (VALUE, "max_total_size"), {**SIZES, "max_total_size": 0})
refuse(op, "three_numbers", [corners[..., :3], ranks], (SHAPE, "4"), SIZES)
refuse(op, "rank", [corners[0], ranks], (SHAPE, "q"), SIZES)
refuse(op, "other_classes", [own[:, :, :2], ranks], (SHAPE, "classes"), SIZES)
refuse(op, "other_count", [corners, ranks[:, :5]], (SHAPE, "[2, 5, 3]"), SIZES)

write({})
