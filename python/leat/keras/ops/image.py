"""``keras.ops.image``: operations on pictures of (height, width, channels), or on batches of them."""

import leat as tf
from leat.keras.ops.promote import OPERATIONS, floats, operation, tensor

_before = set(OPERATIONS)


def _channels_last(data_format, name):
    if data_format not in (None, "channels_last"):
        raise NotImplementedError(f"image.{name}: data_format {data_format!r} is not supported; transpose before")


@operation
def resize(images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False,
           pad_to_aspect_ratio=False, fill_mode="constant", fill_value=0.0, data_format=None):
    """Pictures in another size (``keras.ops.image.resize``); integers stay integers, rounded."""
    _channels_last(data_format, "resize")
    images = tensor(images)
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.")
    if pad_to_aspect_ratio:
        raise NotImplementedError("image.resize: pad_to_aspect_ratio is not supported; use tf.image.resize_with_pad")
    if crop_to_aspect_ratio:
        height, width = images.shape[-3], images.shape[-2]
        cropped_height = min(height, int(float(width * size[0]) / size[1]))
        cropped_width = min(width, int(float(height * size[1]) / size[0]))
        images = tf.image.crop_to_bounding_box(images, (height - cropped_height) // 2, (width - cropped_width) // 2,
                                               cropped_height, cropped_width)
    out = tf.image.resize(images, list(size), method=interpolation, antialias=antialias)
    if out.dtype == images.dtype:
        return out
    if images.dtype.is_integer:
        out = tf.saturate_cast(tf.round(out), images.dtype)
    return tf.cast(out, images.dtype)


@operation
def rgb_to_grayscale(images, data_format=None):
    """One channel of brightness (``keras.ops.image.rgb_to_grayscale``)."""
    _channels_last(data_format, "rgb_to_grayscale")
    return tf.image.rgb_to_grayscale(tensor(images))


@operation
def rgb_to_hsv(images, data_format=None):
    """Hue, saturation and value of floats (``keras.ops.image.rgb_to_hsv``)."""
    _channels_last(data_format, "rgb_to_hsv")
    return tf.image.rgb_to_hsv(floats(images))


@operation
def hsv_to_rgb(images, data_format=None):
    """Red, green and blue of floats (``keras.ops.image.hsv_to_rgb``)."""
    _channels_last(data_format, "hsv_to_rgb")
    return tf.image.hsv_to_rgb(floats(images))


def _sides(first, last, target, size, what):
    given = [value for value in (first, last, target) if value is not None]
    if len(given) != 2:
        raise ValueError(f"Must specify exactly two of {what}. Received: {first}, {last}, {target}")
    if first is None:
        first = target - size - last
    if last is None:
        last = target - size - first
    return first, last


@operation
def pad_images(images, top_padding=None, left_padding=None, bottom_padding=None, right_padding=None,
               target_height=None, target_width=None, data_format=None):
    """Zeros around pictures (``keras.ops.image.pad_images``); two of the three numbers of each direction."""
    _channels_last(data_format, "pad_images")
    images = tensor(images)
    rows = _sides(top_padding, bottom_padding, target_height, images.shape[-3],
                  "top_padding, bottom_padding, target_height")
    columns = _sides(left_padding, right_padding, target_width, images.shape[-2],
                     "left_padding, right_padding, target_width")
    if min(*rows, *columns) < 0:
        raise ValueError(f"Paddings must be >= 0. Received: {rows}, {columns}")
    return tf.pad(images, [[0, 0]] * (len(images.shape) - 3) + [list(rows), list(columns), [0, 0]])


@operation
def crop_images(images, top_cropping=None, left_cropping=None, bottom_cropping=None, right_cropping=None,
                target_height=None, target_width=None, data_format=None):
    """A part of pictures (``keras.ops.image.crop_images``); two of the three numbers of each direction."""
    _channels_last(data_format, "crop_images")
    images = tensor(images)
    height, width = images.shape[-3], images.shape[-2]
    top, bottom = _sides(top_cropping, bottom_cropping, None if target_height is None else 2 * height - target_height,
                         height, "top_cropping, bottom_cropping, target_height")
    left, right = _sides(left_cropping, right_cropping, None if target_width is None else 2 * width - target_width,
                         width, "left_cropping, right_cropping, target_width")
    if min(top, bottom, left, right) < 0:
        raise ValueError(f"Croppings must be >= 0. Received: {(top, bottom)}, {(left, right)}")
    return tf.image.crop_to_bounding_box(images, top, left, height - top - bottom, width - left - right)


__all__ = [name for name in OPERATIONS if name not in _before]
