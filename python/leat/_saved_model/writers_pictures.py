"""The same as ``writers`` of pictures, files' parts and masks: lines of WRITERS there."""

import numpy as np

import leat as tf
from leat import dtypes
from leat._saved_model.translate import output_of as _of
from leat.errors import UnimplementedError

I32 = dtypes.int32


def _unlike(node, what):
    raise UnimplementedError(None, None, f"{node.op} {what} cannot be written into a SavedModel, as TensorFlow has no "
                             "operation for it; do without")


def _same(name, *attributes):
    """An operation of TensorFlow's whose attributes have the names of leat's."""
    def write(b, node, x, kinds):
        return b.op(name, x, **{own: node.fixed(own) for own in attributes}, **_of(kinds))
    return write


def _numbered(name, attribute):
    """One that takes leat's attribute as a further input, a float32."""
    def write(b, node, x, kinds):
        found = node[attribute]
        number = b.cast(found, dtypes.float32) if hasattr(found, "ref") else b.constant(found, dtypes.float32)
        return b.op(name, [*x, number], **_of(kinds))
    return write


# ---- sizes ----

_RESIZED = {"bilinear": "ResizeBilinear", "bicubic": "ResizeBicubic", "nearest": "ResizeNearestNeighbor",
            "area": "ResizeArea"}
_KERNELS = {"bilinear": "triangle", "bicubic": "keyscubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5",
            "gaussian": "gaussian", "mitchellcubic": "mitchellcubic"}


def _resize(b, node, x, kinds):
    (image,), size, method = x, b.ints(node["size"]), node["method"]
    if node["preserve_aspect_ratio"]:
        _unlike(node, "with preserve_aspect_ratio")
    if image.rank not in (3, 4):
        _unlike(node, "of pictures of an unknown rank")
    dtype, dims = kinds[0]
    whole = dims if image.rank == 4 else [1, *dims]
    if image.rank == 3:
        image = b.op("ExpandDims", [image, b.constant(0, I32)], image.dtype, [1, *image.dims])
    smooth = node["antialias"] and method in _KERNELS
    if method in _RESIZED and not smooth:
        half = {} if method == "area" else {"half_pixel_centers": True}
        found = b.op(_RESIZED[method], [image, size], dtype, whole, **half)
    elif method in _KERNELS:
        found = _scaled(b, image, size, _KERNELS[method], smooth, dtype, whole)
    else:
        _unlike(node, f"by the method {method}")
    return found if image.dims is x[0].dims else b.op("Squeeze", [found], dtype, dims, squeeze_dims=[0])


def _scaled(b, image, size, kernel, smooth, dtype, dims):
    before = b.op("StridedSlice", [b.op("Shape", [image], I32, [4], out_type=I32),
                                   *(b.constant([one], I32) for one in (1, 3, 1))], I32, [2])
    scale = b.op("RealDiv", [b.cast(size, dtypes.float32), b.cast(before, dtypes.float32)], dtypes.float32, [2])
    return b.op("ScaleAndTranslate", [image, size, scale, b.constant([0.0, 0.0], dtypes.float32)], dtype, dims,
                kernel_type=kernel, antialias=bool(smooth))


def _crop_and_resize(b, node, x, kinds):
    boxes = [b.cast(x[1], dtypes.float32), b.cast(x[2], I32)]
    return b.op("CropAndResize", [x[0], *boxes, b.ints(node["crop_size"])], method=node["method"],
                extrapolation_value=float(node["extrapolation_value"]), **_of(kinds))


def _crop_or_pad(b, node, x, kinds):
    """As many pixels as are wanted around the middle: cut on both sides, then zeros on both."""
    wanted = node.fixed("target_height"), node.fixed("target_width")

    def compute(image):
        first = image.shape.rank - 3
        have = tf.shape(image)[first:first + 2]
        cut, add = tf.maximum(have - wanted, 0) // 2, tf.maximum(wanted - have, 0)
        kept, zero, one = tf.minimum(have, wanted), tf.zeros([first], tf.int32), tf.zeros([1], tf.int32)
        size = tf.concat([tf.shape(image)[:first], kept, tf.shape(image)[-1:]], 0)
        found = tf.slice(image, tf.concat([zero, cut, one], 0), size)
        before = tf.concat([zero, add // 2, one], 0)
        after = tf.concat([zero, add - add // 2, one], 0)
        return tf.pad(found, tf.stack([before, after], 1))
    return b.inline(compute, x)


def _flip(axis):
    return lambda b, node, x, kinds: b.op("ReverseV2", [x[0], b.constant([axis], I32)], **_of(kinds))


def _image_transpose(b, node, x, kinds):
    perm = [1, 0, 2] if x[0].rank == 3 else [0, 2, 1, 3]
    return b.op("Transpose", [x[0], b.constant(perm, I32)], **_of(kinds))


def _patches(b, node, x, kinds):
    return b.op("ExtractImagePatches", x, ksizes=list(node["sizes"]), strides=list(node["strides"]),
                rates=list(node["rates"]), padding=node["padding"], **_of(kinds))


def _patches_back(b, node, x, kinds):
    (_, kernel, *sides), step, gap = node["sizes"], node["strides"][1], node["rates"][1]
    if [*sides, node["strides"][2], node["rates"][2]] != [1, 1, 1, 1]:
        _unlike(node, "of more than one column")

    def compute(patches, pictures):
        shape, parts = tf.shape(pictures), tf.split(patches, kernel, 3)
        count, reach = tf.shape(patches)[1], (kernel - 1) * gap + 1
        lack = tf.maximum((count - 1) * step + reach - shape[1], 0) if node["padding"] == "SAME" else 0
        whole, total = tf.maximum((count - 1) * step + reach, shape[1] + lack), None
        for k, part in enumerate(parts):
            spread = tf.pad(part[:, :, None], [[0, 0], [0, 0], [0, step - 1], [0, 0], [0, 0]])
            spread = tf.reshape(spread, tf.stack([shape[0], count * step, shape[2], shape[3]]))
            spread = spread[:, :(count - 1) * step + 1]
            ends = whole - (count - 1) * step - 1 - k * gap
            spread = tf.pad(spread, tf.stack([[0, 0], tf.stack([k * gap, ends]), [0, 0], [0, 0]]))
            total = spread if total is None else total + spread
        return total[:, lack // 2:lack // 2 + shape[1]]
    return b.inline(compute, x)


def _projective(b, node, x, kinds):
    image, turn = x
    size = b.op("StridedSlice", [b.shape_of(image), *(b.constant([one], I32) for one in (-3, -1, 1))], I32, [2])
    return b.op("ImageProjectiveTransformV3", [image, turn, size, b.constant(node["fill_value"], dtypes.float32)],
                dtype_=image.dtype, interpolation=node["interpolation"].upper(), fill_mode=node["fill_mode"].upper(),
                **_of(kinds))


# ---- colours ----

def _convert(b, node, x, kinds):
    before, after = x[0].dtype, kinds[0][0]
    if before is after:
        return x[0]
    if after.is_floating and before.is_floating:
        return b.cast(x[0], after)
    if after.is_floating:
        return b.op("Mul", [b.cast(x[0], after), b.constant(1.0 / before.max, after)], **_of(kinds))
    _unlike(node, f"from {before.name} to {after.name}")


def _grayscale(b, node, x, kinds):
    if not x[0].dtype.is_floating:
        _unlike(node, f"of {x[0].dtype.name}")
    shares = [0.2989, 0.587, 0.114]
    return b.inline(lambda image: tf.tensordot(image, tf.constant(shares, image.dtype), 1)[..., None], x)


def _brightness(b, node, x, kinds):
    if not x[0].dtype.is_floating:
        _unlike(node, f"of {x[0].dtype.name}")
    return b.op("AddV2", [x[0], b.constant(node.fixed("delta"), x[0].dtype)], **_of(kinds))


# ---- masks and the like ----

def _boolean_mask(b, node, x, kinds):
    axis = node.fixed("axis")

    def compute(value, mask):
        if mask.shape.rank == 1:
            return tf.gather(value, tf.where(mask)[:, 0], axis=axis)
        if axis:
            _unlike(node, "along an axis by a mask of more than one dimension")
        return tf.gather_nd(value, tf.where(mask))
    return b.inline(compute, x)


def _eye(b, node, x, kinds):
    rows, columns = node.fixed("num_rows"), node.fixed("num_columns")
    found = np.eye(rows, rows if columns is None else columns)
    return b.constant(np.broadcast_to(found, [*(node.fixed("batch_shape") or []), *found.shape]), kinds[0][0])


def _sequence_mask(b, node, x, kinds):
    most, dtype = node.fixed("maxlen"), kinds[0][0]

    def compute(lengths):
        limit = tf.reduce_max(lengths) if most is None else tf.constant(most, lengths.dtype)
        return tf.cast(tf.range(tf.zeros([], lengths.dtype), limit) < lengths[..., None], dtype)
    return b.inline(compute, x)


def _drawn(name, *attributes):
    def write(b, node, x, kinds):
        return b.op(name, x, effect=True, seed=0, seed2=0, **_of(kinds))
    return write


LINES = {
    "adjust_brightness": _brightness, "adjust_contrast": _numbered("AdjustContrastv2", "contrast_factor"),
    "adjust_hue": _numbered("AdjustHue", "delta"), "adjust_saturation": _numbered("AdjustSaturation",
                                                                                  "saturation_factor"),
    "boolean_mask": _boolean_mask, "convert_image_dtype": _convert, "crop_and_resize": _crop_and_resize,
    "decode_base64": _same("DecodeBase64"), "decode_image": lambda b, node, x, kinds: b.op(
        "DecodeImage", x, channels=node["channels"], dtype_=kinds[0][0], expand_animations=node["expand_animations"],
        **_of(kinds)),
    "decode_jpeg": _same("DecodeJpeg", "channels", "ratio", "fancy_upscaling", "try_recover_truncated", "dct_method"),
    "decode_png": lambda b, node, x, kinds: b.op("DecodePng", x, channels=node["channels"], dtype_=kinds[0][0],
                                                 **_of(kinds)),
    "decode_raw": lambda b, node, x, kinds: b.op("DecodeRaw", x, out_type=kinds[0][0], little_endian=node[
        "little_endian"], **_of(kinds)),
    "encode_base64": _same("EncodeBase64", "pad"), "encode_png": _same("EncodePng", "compression"),
    "extract_patches": _patches, "extract_patches_grad": _patches_back,
    "eye": _eye, "flip_left_right": _flip(-2), "flip_up_down": _flip(-3),
    "hsv_to_rgb": _same("HSVToRGB"), "image_transpose": _image_transpose,
    "parse_tensor": lambda b, node, x, kinds: b.op("ParseTensor", x, out_type=kinds[0][0], **_of(kinds)),
    "projective_transform": _projective, "random_shuffle": _drawn("RandomShuffle"), "resize": _resize,
    "resize_with_crop_or_pad": _crop_or_pad,
    "rgb_to_grayscale": _grayscale, "rgb_to_hsv": _same("RGBToHSV"), "sequence_mask": _sequence_mask,
}
