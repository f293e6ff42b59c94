#!/usr/bin/env python3
"""Record the cases of the operations on pictures from TensorFlow, into tests/conform/ops.

    image_cases.py [FOLDER]

Each case is an operation under TensorFlow's name in tf.image, its arguments by name and what TensorFlow answered; failures have
the library's reason and a keyword. Gradients are checked numerically where the operation keeps float64, and recorded elsewhere (resize_grad).
Needs TensorFlow 2.21.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "conform"))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from op_case_model import DTYPE, F32, F64, I32, INVALID, SHAPE, U8, VALUE, case, write  # noqa: E402

RNG = np.random.RandomState(4711)
MORE = np.random.RandomState(4712)
x = RNG.randint(0, 256, (5, 4, 3)).astype(U8)
f = RNG.rand(4, 5, 3).astype(F32)
batch = RNG.rand(2, 3, 4, 3).astype(F32)
wide = (RNG.rand(4, 3, 3) * 3 - 1).astype(F32)
grey = RNG.randint(0, 256, (3, 4, 1)).astype(U8)
nothing = np.zeros((0, 3, 3), U8)
matrix = np.zeros((3, 3), F32)
CLOSE = {"tolerance": 1e-6}


def record(op, name, inputs, attributes=None, function=None, **more):
    """A case with the answer of tf.image.`op`."""
    function = function or getattr(tf.image, op)
    answer = function(*[tf.constant(v) for v in inputs], **(attributes or {}))
    answer = tuple(np.asarray(a) for a in answer) if isinstance(answer, tuple) else np.asarray(answer)
    case(op, name, inputs, answer, attributes, **more)


def refuse(op, name, inputs, why, attributes=None):
    """`why`: reason and keyword of the library's failure."""
    case(op, name, inputs, attributes=attributes, error=(INVALID, *why))


# ---- size and place ----

METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
resize = tf.image.resize
for method in METHODS:
    for size in ([3, 2], [7, 9]):
        for antialias in (False, True):
            record("resize", "%s_%d_%d%s" % (method, *size, "_antialias" if antialias else ""), [x],
                   {"size": size, "method": method, "antialias": antialias}, **CLOSE)
record("resize", "batch", [batch], {"size": [4, 3]}, **CLOSE)
record("resize", "one", [x], {"size": [1, 1]}, **CLOSE)
record("resize", "proportions", [x], {"size": [3, 3], "preserve_aspect_ratio": True}, **CLOSE)
record("resize", "larger_proportions", [f], {"size": [9, 30], "preserve_aspect_ratio": True, "method": "bicubic"}, **CLOSE)
for dtype in (np.int16, I32, F64):
    record("resize", np.dtype(dtype).name, [x.astype(dtype)], {"size": [2, 6]}, **CLOSE)
record("resize", "nearest_float64", [f.astype(F64)], {"size": [2, 6], "method": "nearest"})
refuse("resize", "size_zero", [x], (VALUE, "1"), {"size": [0, 3]})
refuse("resize", "no_method", [x], (VALUE, "sharp"), {"size": [2, 3], "method": "sharp"})
refuse("resize", "matrix", [matrix], (SHAPE, "pictures"), {"size": [2, 3]})
refuse("resize", "nothing", [nothing], (SHAPE, "resized"), {"size": [2, 3]})
refuse("resize", "no_pixel_left", [np.zeros((1, 9, 1), U8)], (VALUE, "pixel"), {"size": [9, 4], "preserve_aspect_ratio": True})


def resize_grad(dy, images, **attributes):
    with tf.GradientTape() as tape:
        tape.watch(images)
        out = tf.reduce_sum(tf.image.resize(images, **attributes) * dy)
    return tape.gradient(out, images)


for method in METHODS:
    if method == "area":
        continue
    for size in ([2, 3], [6, 8]):
        for antialias in (False, True):
            dy = RNG.rand(*size, 3).astype(F32)
            record("resize_grad", "%s_%d_%d%s" % (method, *size, "_antialias" if antialias else ""), [dy, f],
                   {"size": size, "method": method, "antialias": antialias}, resize_grad, **CLOSE)
record("resize_grad", "batch", [RNG.rand(2, 5, 2, 3).astype(F32), batch], {"size": [5, 2]}, resize_grad, **CLOSE)
refuse("resize_grad", "another_shape", [f, f], (SHAPE, "gradient"), {"size": [2, 3]})
refuse("resize_grad", "integers", [x, x], (DTYPE, "floats"), {"size": [5, 4]})

for method in ("bilinear", "nearest", "area", "lanczos3"):
    record("resize_with_pad", method, [x], {"target_height": 4, "target_width": 7, "method": method}, **CLOSE)
record("resize_with_pad", "larger", [f], {"target_height": 9, "target_width": 6, "antialias": True}, **CLOSE)
record("resize_with_pad", "batch", [batch], {"target_height": 2, "target_width": 5}, **CLOSE)
refuse("resize_with_pad", "no_target", [x], (VALUE, "target_height"), {"target_height": 0, "target_width": 3})
refuse("resize_with_pad", "matrix", [matrix], (SHAPE, "pictures"), {"target_height": 2, "target_width": 3})
refuse("resize_with_pad", "no_pixel_left", [np.zeros((1, 9, 1), U8)], (VALUE, "pixel"), {"target_height": 9, "target_width": 4})

for height, width in ((3, 3), (7, 6), (3, 7), (6, 2), (5, 4)):
    record("resize_with_crop_or_pad", "%d_%d" % (height, width), [x], {"target_height": height, "target_width": width})
record("resize_with_crop_or_pad", "batch", [batch], {"target_height": 4, "target_width": 3}, gradient=True)
refuse("resize_with_crop_or_pad", "no_target", [x], (VALUE, "target_height"), {"target_height": 3, "target_width": 0})
refuse("resize_with_crop_or_pad", "matrix", [matrix], (SHAPE, "pictures"), {"target_height": 3, "target_width": 1})



def padded_grad(dy, images, **attributes):
    with tf.GradientTape() as tape:
        tape.watch(images)
        out = tf.reduce_sum(tf.image.resize_with_pad(images, **attributes) * dy)
    return tape.gradient(out, images)


for method in ("bilinear", "nearest", "lanczos3", "bicubic"):
    for size in ([6, 9], [3, 3]):
        dy = MORE.rand(*size, 3).astype(F32)
        record("resize_with_pad_grad", "%s_%d_%d" % (method, *size), [dy, f], dict(zip(("target_height", "target_width"), size), method=method),
               padded_grad, **CLOSE)
record("resize_with_pad_grad", "batch", [MORE.rand(2, 4, 7, 3).astype(F32), batch], {"target_height": 4, "target_width": 7}, padded_grad, **CLOSE)
refuse("resize_with_pad_grad", "another_shape", [f, f], (SHAPE, "gradient"), {"target_height": 2, "target_width": 3})
refuse("resize_with_pad_grad", "integers", [x, x], (DTYPE, "floats"), {"target_height": 5, "target_width": 4})

boxes = np.array([[0.1, 0.2, 0.8, 0.9], [-0.2, 0, 1.1, 1], [0.9, 0.9, 0.1, 0.1], [0, 0, 1, 1]], F32)
which = np.array([0, 1, 1, 0], I32)
for method in ("bilinear", "nearest"):
    record("crop_and_resize", method, [batch, boxes, which], {"crop_size": [3, 4], "method": method}, **CLOSE)
record("crop_and_resize", "one_pixel", [batch, boxes, which], {"crop_size": [1, 1], "extrapolation_value": 0.5}, **CLOSE)
record("crop_and_resize", "uint8", [x[None], boxes[:2], which[:1].repeat(2)], {"crop_size": [2, 3]}, **CLOSE)
record("crop_and_resize", "no_boxes", [batch, boxes[:0], which[:0]], {"crop_size": [2, 3]})
refuse("crop_and_resize", "no_picture", [batch, boxes[:1], np.array([2], I32)], (VALUE, "2"), {"crop_size": [2, 3]})
refuse("crop_and_resize", "one_picture", [f, boxes, which], (SHAPE, "rank"), {"crop_size": [2, 3]})
refuse("crop_and_resize", "bicubic", [batch, boxes, which], (VALUE, "bicubic"), {"crop_size": [2, 3], "method": "bicubic"})
refuse("crop_and_resize", "size_zero", [batch, boxes, which], (VALUE, "crop_size"), {"crop_size": [0, 3]})


def cropped_grad(which_input):
    def grad(dy, images, boxes, indices, **attributes):
        with tf.GradientTape() as tape:
            tape.watch([images, boxes])
            out = tf.reduce_sum(tf.image.crop_and_resize(images, boxes, indices, **attributes) * dy)
        return tf.convert_to_tensor(tape.gradient(out, [images, boxes])[which_input])
    return grad


for i, op in enumerate(("crop_and_resize_grad_image", "crop_and_resize_grad_boxes")):
    for method in ("bilinear", "nearest"):
        for size in ([3, 4], [1, 1], [5, 2]):
            dy = MORE.rand(4, *size, 3).astype(F32)
            record(op, "%s_%d_%d" % (method, *size), [dy, batch, boxes, which], {"crop_size": size, "method": method}, cropped_grad(i), tolerance=2e-6)
    record(op, "float64", [dy, batch.astype(F64), boxes, which], {"crop_size": size}, cropped_grad(i), tolerance=2e-6)
    refuse(op, "another_shape", [dy[:, :2], batch, boxes, which], (SHAPE, "boxes"), {"crop_size": size})
    refuse(op, "no_picture", [dy[:1], batch, boxes[:1], np.array([2], I32)], (VALUE, "2"), {"crop_size": size})
    refuse(op, "float64_gradient", [dy.astype(F64), batch, boxes, which], (DTYPE, "float32"), {"crop_size": size})
refuse("crop_and_resize_grad_image", "integers", [dy, batch.astype(I32), boxes, which], (DTYPE, "floats"), {"crop_size": size})


def projective(images, transforms, interpolation="bilinear", fill_mode="constant", fill_value=0.0):
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images, transforms=transforms, output_shape=tf.shape(images)[1:3], fill_value=fill_value,
        interpolation=interpolation.upper(), fill_mode=fill_mode.upper())


SPACE = np.random.RandomState(4713)
pictures = SPACE.rand(2, 5, 4, 2).astype(F32)
turns = np.array([[0.8, -0.6, 1.3, 0.6, 0.8, -0.7, 0, 0], [1.5, 0.2, -9.25, -0.3, 0.4, 13.5, 0.02, -0.01]], F32)
shift = np.array([[1, 0, -0.5, 0, 1, 2, 0, 0]], F32)
vanishing = np.array([[1, 0, 0, 0, 1, 0, -0.5, 0]], F32)
for way in ("bilinear", "nearest"):
    for mode in ("constant", "nearest", "reflect", "wrap"):
        attributes = {"interpolation": way, "fill_mode": mode, "fill_value": 0.25}
        record("projective_transform", "%s_%s" % (way, mode), [pictures, turns], attributes, projective, **CLOSE)
        record("projective_transform", "%s_%s_shift" % (way, mode), [pictures, shift], attributes, projective)
record("projective_transform", "defaults", [pictures, turns[1:]], {}, projective, **CLOSE)
record("projective_transform", "far_away", [pictures, turns * 1000], {"fill_mode": "reflect"}, projective, **CLOSE)
record("projective_transform", "vanishing_line", [pictures, vanishing], {"fill_value": 3.0}, projective, **CLOSE)
record("projective_transform", "one_pixel", [pictures[:, :1, :1], turns], {"fill_mode": "wrap"}, projective, **CLOSE)
record("projective_transform", "no_pictures", [pictures[:0], turns[:0]], {}, projective)
refuse("projective_transform", "one_picture", [pictures[0], turns], (SHAPE, "rank"))
refuse("projective_transform", "six_numbers", [pictures, turns[:, :6]], (SHAPE, "projection"))
refuse("projective_transform", "three_projections", [pictures, np.concatenate([turns, shift])], (SHAPE, "projections"))
refuse("projective_transform", "mode", [pictures, turns], (VALUE, "mirror"), {"fill_mode": "mirror"})
refuse("projective_transform", "bicubic", [pictures, turns], (VALUE, "bicubic"), {"interpolation": "bicubic"})

for fraction in (0.5, 0.33, 1.0, 0.01):
    record("central_crop", "of_%g" % fraction, [x], {"central_fraction": fraction})
record("central_crop", "batch", [batch], {"central_fraction": 0.6}, gradient=True)
refuse("central_crop", "zero", [x], (VALUE, "0"), {"central_fraction": 0.0})
refuse("central_crop", "matrix", [matrix], (SHAPE, "pictures"), {"central_fraction": 0.5})


def box(*numbers):
    return dict(zip(("offset_height", "offset_width", "target_height", "target_width"), numbers))


for op, good, bad in (("crop_to_bounding_box", [(0, 0, 5, 4), (1, 2, 3, 2), (4, 3, 1, 1)], [((3, 0, 3, 1), "3"), ((0, -1, 2, 2), "offset_height"), ((0, 0, 0, 1), "target_height")]),
                      ("pad_to_bounding_box", [(0, 0, 5, 4), (1, 2, 7, 6), (0, 3, 5, 8)], [((3, 0, 7, 4), "5"), ((0, -1, 9, 9), "offset_height"), ((0, 0, 4, 4), "5")])):
    for numbers in good:
        record(op, "box_%d_%d_%d_%d" % numbers, [x], box(*numbers))
    record(op, "batch", [batch], box(1, 0, 2, 3) if op[0] == "c" else box(1, 0, 5, 5), gradient=True)
    record(op, "float32", [f], box(0, 1, 4, 4) if op[0] == "c" else box(2, 2, 7, 7), gradient=True)
    for i, (numbers, keyword) in enumerate(bad):
        refuse(op, "outside_%d" % i, [x], (VALUE, keyword), box(*numbers))
    refuse(op, "matrix", [matrix], (SHAPE, "pictures"), box(0, 0, 3, 3))

for op in ("flip_up_down", "transpose"):
    name = "image_" + op if op == "transpose" else op
    function = getattr(tf.image, op)
    record(name, "picture", [x], None, function)
    record(name, "batch", [batch], None, function, gradient=True)
    record(name, "one_row", [x[:1]], None, function)
    record(name, "int16", [x.astype(np.int16)], None, function)
    refuse(name, "matrix", [matrix], (SHAPE, "pictures"))
for k in (-1, 0, 1, 2, 3, 5):
    record("rot90", "by_%d" % k, [x], {"k": k})
record("rot90", "batch", [batch], {"k": 1}, gradient=True)
record("rot90", "batch_back", [batch], {"k": 3}, gradient=True)
record("rot90", "default", [f])
refuse("rot90", "matrix", [matrix], (SHAPE, "pictures"), {"k": 1})

# ---- colours ----

PICTURES = {"uint8": x, "float32": f, "wide": wide, "batch": batch, "int16": (x.astype(np.int16) * 120), "uint16": x.astype(np.uint16) * 257}
for op, argument, numbers, bad in (
        ("adjust_brightness", "delta", (0.0, 0.25, -0.4), None), ("adjust_contrast", "contrast_factor", (0.0, 0.6, 2.5), None),
        ("adjust_saturation", "saturation_factor", (0.0, 0.5, 3.0), None), ("adjust_hue", "delta", (0.0, 0.13, -0.7), 1.5)):
    for name, value in PICTURES.items():
        for i, number in enumerate(numbers):
            record(op, "%s_%d" % (name, i), [value], {argument: number}, **CLOSE)
    refuse(op, "text", [b"x"], (DTYPE, "string"), {argument: 0.5})
    if op != "adjust_brightness":
        refuse(op, "matrix", [matrix], (SHAPE, "dimensions"), {argument: 0.5})
    else:
        record(op, "matrix", [matrix], {argument: 0.5})
    if bad is not None:
        refuse(op, "too_far", [f], (VALUE, argument), {argument: bad})
for op in ("adjust_saturation", "adjust_hue"):
    refuse(op, "grey", [grey], (SHAPE, "3"), {"delta" if op == "adjust_hue" else "saturation_factor": 0.5})
record("adjust_contrast", "grey", [grey], {"contrast_factor": 1.5})
record("adjust_contrast", "five_channels", [RNG.rand(3, 3, 5).astype(F32)], {"contrast_factor": 1.5}, **CLOSE)
for name, value in PICTURES.items():
    if name != "wide":
        record("adjust_gamma", name, [value], {"gamma": 0.7, "gain": 0.9}, tolerance=2e-6)
record("adjust_gamma", "default", [x])
record("adjust_gamma", "scalar", [F32(0.5)], {"gamma": 2.0}, **CLOSE)
refuse("adjust_gamma", "negative", [f], (VALUE, "gamma"), {"gamma": -0.1})
for name in ("uint8", "float32", "uint16"):
    record("adjust_jpeg_quality", name, [PICTURES[name]], {"jpeg_quality": 30}, **CLOSE)
record("adjust_jpeg_quality", "grey", [grey], {"jpeg_quality": 70})
record("adjust_jpeg_quality", "accurate", [x], {"jpeg_quality": 50, "dct_method": "INTEGER_ACCURATE"})
refuse("adjust_jpeg_quality", "beyond", [x], (VALUE, "jpeg_quality"), {"jpeg_quality": 101})
refuse("adjust_jpeg_quality", "batch", [batch], (SHAPE, "3"), {"jpeg_quality": 50})
refuse("adjust_jpeg_quality", "method", [x], (VALUE, "dct_method"), {"jpeg_quality": 50, "dct_method": "FLOAT"})
for name, value in PICTURES.items():
    record("per_image_standardization", name, [value], tolerance=2e-6)
    record("rgb_to_grayscale", name, [value], **CLOSE)
record("per_image_standardization", "constant", [np.full((2, 2, 3), 7, U8)])
refuse("per_image_standardization", "matrix", [matrix], (SHAPE, "dimensions"))
record("rgb_to_grayscale", "pixel", [f[0, 0]], **CLOSE)
refuse("rgb_to_grayscale", "grey", [grey], (SHAPE, "3"))
record("grayscale_to_rgb", "uint8", [grey])
record("grayscale_to_rgb", "float32", [batch[..., :1]], gradient=True)
record("grayscale_to_rgb", "int64", [grey.astype(np.int64)])
record("grayscale_to_rgb", "matrix", [grey[0]])
refuse("grayscale_to_rgb", "colours", [x], (SHAPE, "1"))
for op in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "rgb_to_yiq", "yiq_to_rgb"):
    record(op, "picture", [f], **CLOSE)
    record(op, "batch", [batch], **CLOSE)
    record(op, "pixels", [f[0]], **CLOSE)
    if op != "hsv_to_rgb":
        record(op, "wide", [wide], **CLOSE)
    edges = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0.5, 0.5, 1]], F32)
    record(op, "edges", [edges], **CLOSE)
    refuse(op, "integers", [x], (DTYPE, "floats"))
    refuse(op, "two_channels", [f[..., :2]], (SHAPE, "3"))



def hsv_grad(colours, dy):
    with tf.GradientTape() as tape:
        tape.watch(colours)
        out = tf.reduce_sum(tf.image.rgb_to_hsv(colours) * dy)
    return tape.gradient(out, colours)


edges = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [0.5, 0.5, 1], [0.2, 0.7, 0.7]], F32)
for name, value in (("picture", f), ("batch", batch), ("pixels", f[0]), ("wide", wide), ("edges", edges)):
    record("rgb_to_hsv_grad", name, [value, MORE.rand(*value.shape).astype(F32)], None, hsv_grad, tolerance=2e-6)
refuse("rgb_to_hsv_grad", "integers", [x, x], (DTYPE, "floats"))
refuse("rgb_to_hsv_grad", "two_channels", [f[..., :2], f[..., :2]], (SHAPE, "3"))
refuse("rgb_to_hsv_grad", "other_shape", [f, f[:1]], (SHAPE, "shapes"))

# ---- windows ----


def pool_grad_grad(value, out, given, ksize, strides, padding):
    return tf.raw_ops.MaxPoolGradGrad(orig_input=value, orig_output=out, grad=given, ksize=[1, *ksize, 1], strides=[1, *strides, 1], padding=padding)


for name, ksize, strides, padding in (("valid", [2, 2], [2, 2], "VALID"), ("same", [2, 2], [2, 2], "SAME"), ("overlap", [2, 2], [1, 1], "VALID"),
                                      ("wide", [3, 2], [1, 2], "SAME"), ("one", [1, 1], [1, 1], "VALID")):
    value = MORE.randn(2, 4, 5, 3).astype(F32)
    out = tf.nn.max_pool2d(value, ksize, strides, padding).numpy()
    record("max_pool2d_grad_grad", name, [value, out, MORE.rand(*value.shape).astype(F32)],
           {"ksize": ksize, "strides": strides, "padding": padding}, pool_grad_grad)
refuse("max_pool2d_grad_grad", "other_shape", [value, out, out[:, :2]], (SHAPE, "gradient"), {"ksize": [1, 1], "strides": [1, 1], "padding": "VALID"})

# ---- random distortions ----

SEEDS = [np.array(s, I32) for s in ([0, 0], [1, 2], [-7, 123456789])]
RANDOM = {"brightness": ({"max_delta": 0.3}, [({"max_delta": -0.1}, (VALUE, "max_delta"))]),
          "contrast": ({"lower": 0.5, "upper": 1.5}, [({"lower": 1.5, "upper": 0.5}, (VALUE, "lower"))]),
          "saturation": ({"lower": 0.5, "upper": 1.5}, [({"lower": -1.0, "upper": 0.5}, (VALUE, "lower"))]),
          "hue": ({"max_delta": 0.2}, [({"max_delta": 0.6}, (VALUE, "0"))]),
          "jpeg_quality": ({"min_jpeg_quality": 20, "max_jpeg_quality": 80}, [({"min_jpeg_quality": 50, "max_jpeg_quality": 50}, (VALUE, "min_jpeg_quality"))]),
          "flip_left_right": ({}, []), "flip_up_down": ({}, []), "crop": ({"size": [2, 3, 3]}, [({"size": [9, 3, 3]}, (SHAPE, "0")), ({"size": [2]}, (SHAPE, "1"))])}
for what, (attributes, bad) in RANDOM.items():
    op = "stateless_random_" + what

    def distort(value, seed, **arguments):
        return getattr(tf.image, op)(value, seed=seed, **arguments)

    for i, seed in enumerate(SEEDS):
        record(op, "uint8_%d" % i, [x, seed], attributes, distort, **CLOSE)
        record(op, "float32_%d" % i, [f, seed], attributes, distort, **CLOSE)
    if what not in ("jpeg_quality", "crop"):
        record(op, "batch", [np.tile(batch, (3, 1, 1, 1)), np.array([3, 4], np.int64)], attributes, distort, **CLOSE)
    if what == "crop":
        record(op, "vector", [np.arange(20, dtype=np.int64), SEEDS[1]], {"size": [4]}, distort)
        record(op, "five_dimensions", [np.arange(2 * 3 * 4 * 3 * 5, dtype=F32).reshape(2, 3, 4, 3, 5), SEEDS[2]], {"size": [1, 2, 2, 1, 2]}, distort)
    for i, (arguments, why) in enumerate(bad):
        refuse(op, "refused_%d" % i, [x, SEEDS[0]], why, arguments)
    refuse(op, "one_number", [x, np.array([1], I32)], (SHAPE, "seed"), attributes)
    refuse(op, "float_seed", [x, np.array([1, 2], F32)], (SHAPE, "int32"), attributes)

# The stateful forms: the first numbers of a stream, under a seed of the operation and no global one. TensorFlow's eager kernels are
# kept from call to call, so each case has a seed of its own.
for k, (what, (attributes, bad)) in enumerate(RANDOM.items()):
    op = "random_" + what
    for i, (name, value) in enumerate((("uint8", x), ("float32", f), ("another", x), ("more", f), ("batch", np.tile(batch, (3, 1, 1, 1))))):
        if what in ("jpeg_quality", "crop") and name == "batch":
            continue
        record(op, name, [value], dict(attributes, seed=100 * k + i + 1), **CLOSE)
    for i, (arguments, why) in enumerate(bad):
        refuse(op, "refused_%d" % i, [x], why, arguments)
    refuse(op, "text", [b"x"], (DTYPE, "string"), attributes)

# ---- boxes ----

some = np.array([[[0.1, 0.2, 0.7, 0.9], [0.3, 0.3, 0.8, 0.6]]], F32)
none = np.zeros((1, 0, 4), F32)
op = "stateless_sample_distorted_bounding_box"


def sample(image_size, bounding_boxes, seed, **arguments):
    return tuple(tf.image.stateless_sample_distorted_bounding_box(image_size, bounding_boxes, seed, **arguments))


for i, seed in enumerate(SEEDS):
    record(op, "boxes_%d" % i, [np.array([40, 50, 3], I32), some, seed], {"min_object_covered": 0.3}, sample)
    record(op, "picture_%d" % i, [np.array([40, 50, 3], np.int64), none, seed],
           {"use_image_if_no_bounding_boxes": True, "area_range": [0.08, 1.0], "aspect_ratio_range": [0.75, 1.3333333], "max_attempts": 10}, sample)
record(op, "never", [np.array([40, 50, 3], np.uint8), some, SEEDS[0]], {"min_object_covered": 2.0, "max_attempts": 3}, sample)
refuse(op, "no_box", [np.array([40, 50, 3], I32), none, SEEDS[0]], (VALUE, "bounding_boxes"))
refuse(op, "beyond", [np.array([40, 50, 3], I32), some * 2, SEEDS[0]], (VALUE, "[0, 1]"))
refuse(op, "range", [np.array([40, 50, 3], I32), some, SEEDS[0]], (VALUE, "area_range"), {"area_range": [0.1, 1.5]})
refuse(op, "two_numbers", [np.array([40, 50], I32), some, SEEDS[0]], (SHAPE, "image_size"))

op = "sample_distorted_bounding_box"


def sample_on(image_size, bounding_boxes, **arguments):
    return tuple(tf.image.sample_distorted_bounding_box(image_size, bounding_boxes, **arguments))


for seed in (11, 12, 13):
    record(op, "boxes_%d" % seed, [np.array([40, 50, 3], I32), some], {"seed": seed, "min_object_covered": 0.3}, sample_on)
    record(op, "picture_%d" % seed, [np.array([40, 50, 3], np.int64), none],
           {"seed": seed + 10, "use_image_if_no_bounding_boxes": True, "area_range": [0.08, 1.0], "aspect_ratio_range": [0.75, 1.3333333],
            "max_attempts": 10}, sample_on)
record(op, "never", [np.array([40, 50, 3], np.uint8), some], {"seed": 3, "min_object_covered": 2.0, "max_attempts": 3}, sample_on)
refuse(op, "no_box", [np.array([40, 50, 3], I32), none], (VALUE, "bounding_boxes"))
refuse(op, "two_numbers", [np.array([40, 50], I32), some], (SHAPE, "image_size"))

pictures = RNG.rand(2, 8, 9, 3).astype(F32)
frames = np.array([[[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1]], [[-0.5, 0.3, 0.5, 1.7], [0.9, 0.1, 0.2, 0.3]]], F32)


def draw(images, bounding_boxes, colors=None):
    return tf.image.draw_bounding_boxes(images, bounding_boxes, colors)


record("draw_bounding_boxes", "table", [pictures, frames], None, draw)
record("draw_bounding_boxes", "colours", [pictures, frames, RNG.rand(1, 3).astype(F32)], None, draw)
record("draw_bounding_boxes", "two_colours", [pictures, frames, RNG.rand(2, 4).astype(F32)], None, draw)
record("draw_bounding_boxes", "grey", [pictures[..., :1], frames], None, draw)
record("draw_bounding_boxes", "four_channels", [RNG.rand(2, 4, 4, 4).astype(F32), frames], None, draw)
record("draw_bounding_boxes", "no_boxes", [pictures, frames[:, :0]], None, draw)
refuse("draw_bounding_boxes", "one_picture", [f, frames], (SHAPE, "4"))
refuse("draw_bounding_boxes", "integers", [pictures.astype(U8), frames], (DTYPE, "floats"))
refuse("draw_bounding_boxes", "other_batch", [pictures, frames[:1]], (SHAPE, "[2, 8, 9, 3]"))

write({})
