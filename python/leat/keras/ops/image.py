"""``keras.ops.image``: operations on pictures of (height, width, channels), or on batches of them."""

import functools

import leat as tf
from leat.keras.ops import formats, nn, projections
from leat.keras.ops.projections import (affine_transform, elastic_transform, gaussian_blur,  # noqa: F401
                                        map_coordinates, perspective_transform, scale_and_translate)
from leat.keras.ops.promote import OPERATIONS, dtype_name, operation, result_type, tensor

_before = set(OPERATIONS)


def _floats(images):
    images = tensor(images)
    if not images.dtype.is_floating:
        raise ValueError(f"Invalid images dtype: expected float dtype. Received: images.dtype={images.dtype.name}")
    return images


# ---- sizes ----

def _sized(value, factor, divisor):
    """value * factor / divisor cut to an integer; `value` may be a tensor."""
    if isinstance(value, int):
        return int(float(value * factor) / divisor)
    return tf.cast(tf.cast(value * factor, "float32") / divisor, "int32")


def _half(value):
    return value // 2 if isinstance(value, int) else tf.cast(tf.cast(value, "float32") / 2, "int32")


def _extreme(choose, other, a, b):
    return choose(a, b) if isinstance(a, int) and isinstance(b, int) else other(a, b)


_least = functools.partial(_extreme, min, tf.minimum)
_most = functools.partial(_extreme, max, tf.maximum)


def _size_of(images):
    shape = None
    sizes = []
    for axis in (-3, -2):
        known = images.shape[axis]
        if known is None and shape is None:
            shape = tf.shape(images)
        sizes.append(shape[axis] if known is None else known)
    return sizes


def _cropped_to_ratio(images, size):
    height, width = _size_of(images)
    rows = _most(_least(height, _sized(width, size[0], size[1])), 1)
    columns = _most(_least(width, _sized(height, size[1], size[0])), 1)
    top, left = _half(height - rows), _half(width - columns)
    return images[:, top:top + rows, left:left + columns]


def _padded_to_ratio(images, size, fill_value):
    height, width = _size_of(images)
    rows = _half(_most(height, _sized(width, size[0], size[1])) - height)
    columns = _half(_most(width, _sized(height, size[1], size[0])) - width)
    borders = tf.stack([[0, 0], tf.stack([rows, rows]), tf.stack([columns, columns]), [0, 0]])
    return tf.pad(images, borders, constant_values=tf.cast(fill_value, images.dtype))


@operation
def resize(images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False,
           pad_to_aspect_ratio=False, fill_mode="constant", fill_value=0.0, data_format=None):
    """Pictures in another size (``keras.ops.image.resize``); integers stay integers, rounded."""
    if len(size) != 2:
        raise ValueError(f"Expected `size` to be a tuple of 2 integers. Received: size={size}")
    if any(isinstance(side, int) and side <= 0 for side in size):
        raise ValueError(f"`size` must have positive height and width. Received: size={size}")
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.")
    if interpolation not in ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic"):
        raise ValueError("Invalid value for argument `interpolation`. Expected of one ('bilinear', 'nearest', "
                         f"'lanczos3', 'lanczos5', 'bicubic'). Received: interpolation={interpolation}")
    if fill_mode != "constant":
        raise ValueError(f"Invalid value for argument `fill_mode`. Only `'constant'` is supported. Received: "
                         f"fill_mode={fill_mode}")

    def compute(images):
        channels = images.shape[-1]
        if crop_to_aspect_ratio:
            images = _cropped_to_ratio(images, size)
        elif pad_to_aspect_ratio:
            images = _padded_to_ratio(images, size, fill_value)
        images = tf.ensure_shape(images, [*images.shape[:-1], channels])
        out = tf.image.resize(images, list(size), method=interpolation, antialias=antialias)
        if out.dtype == images.dtype:
            return out
        if images.dtype.is_integer:
            out = tf.saturate_cast(tf.round(out), images.dtype)
        return tf.cast(out, images.dtype)
    return formats.of_pictures(compute, images, data_format)


# ---- colours ----

@operation
def rgb_to_grayscale(images, data_format=None):
    """One channel of brightness (``keras.ops.image.rgb_to_grayscale``); integers are cut."""
    def compute(images):
        if images.shape[-1] not in (1, 3, None):
            raise ValueError("Invalid channel size: expected 3 (RGB) or 1 (Grayscale). Received input with shape: "
                             f"images.shape={tuple(images.shape)}")
        if images.shape[-1] == 1:
            return images
        whole = images if images.dtype.is_floating else tf.cast(images, "float32")
        grey = tf.tensordot(whole, tf.constant([[0.2989], [0.5870], [0.1140]], whole.dtype), [[-1], [0]])
        return tf.cast(grey, images.dtype)
    return formats.of_pictures(compute, images, data_format)


def _of_three(function, images, data_format):
    def compute(images):
        if images.shape[-1] not in (3, None):
            raise ValueError(f"Input images must have 3 channels, but received images with {images.shape[-1]} "
                             "channels.")
        return function(images)
    return formats.of_pictures(compute, _floats(images), data_format)


@operation
def rgb_to_hsv(images, data_format=None):
    """Hue, saturation and value of floats (``keras.ops.image.rgb_to_hsv``)."""
    return _of_three(tf.image.rgb_to_hsv, images, data_format)


@operation
def hsv_to_rgb(images, data_format=None):
    """Red, green and blue of floats (``keras.ops.image.hsv_to_rgb``)."""
    return _of_three(tf.image.hsv_to_rgb, images, data_format)


# ---- borders ----

def _check_counts(**counts):
    for name, count in counts.items():
        if isinstance(count, int) and count < 0:
            raise ValueError(f"{name} must be >= 0. Received: {name}={count}")


def _sides(names, values, total):
    """The two sides of a direction; of both and what they add up to (`total` of a number) one is left out."""
    first, last, target = values
    if sum(value is not None for value in values) != 2:
        raise ValueError(f"Must specify exactly two of {', '.join(names)}. Received: "
                         + ", ".join(f"{name}={value}" for name, value in zip(names, values)))
    _check_counts(**dict(zip(names, values)))
    if first is None:
        first = total(target) - last
    if last is None:
        last = total(target) - first
    _check_counts(**dict(zip(names, (first, last))))
    return first, last


_DIRECTIONS = (("top", "bottom", "height"), ("left", "right", "width"))


@operation
def pad_images(images, top_padding=None, left_padding=None, bottom_padding=None, right_padding=None,
               target_height=None, target_width=None, data_format=None):
    """Zeros around pictures (``keras.ops.image.pad_images``); two of the three numbers of each direction."""
    given = (top_padding, bottom_padding, target_height), (left_padding, right_padding, target_width)

    def compute(images):
        sizes = _size_of(images)
        sides = [_sides((f"{first}_padding", f"{last}_padding", f"target_{what}"), values,
                        lambda target, size=size: target - size)
                 for (first, last, what), values, size in zip(_DIRECTIONS, given, sizes)]
        padded = tf.pad(images, tf.stack([[0, 0], *[tf.stack(side) for side in sides], [0, 0]]) if any(
            not isinstance(one, int) for side in sides for one in side) else [[0, 0], *map(list, sides), [0, 0]])
        return tf.ensure_shape(padded, [images.shape[0], target_height or padded.shape[1],
                                        target_width or padded.shape[2], images.shape[3]])
    return formats.of_pictures(compute, images, data_format)


@operation
def crop_images(images, top_cropping=None, left_cropping=None, bottom_cropping=None, right_cropping=None,
                target_height=None, target_width=None, data_format=None):
    """A part of pictures (``keras.ops.image.crop_images``); two of the three numbers of each direction."""
    given = (top_cropping, bottom_cropping, target_height), (left_cropping, right_cropping, target_width)

    def compute(images):
        sizes, begins, counts = _size_of(images), [], []
        for (first, last, what), values, size in zip(_DIRECTIONS, given, sizes):
            if not isinstance(size, int) and values[2] is None:
                raise ValueError(f"When the {what} of the images is unknown, `target_{what}` must be specified. "
                                 f"Received: images.shape={tuple(images.shape)} and target_{what}=None")
            before, after = _sides((f"{first}_cropping", f"{last}_cropping", f"target_{what}"), values,
                                   lambda target, size=size: size - target)
            begins.append(before)
            counts.append(values[2] if values[2] is not None else size - before - after)
        (top, left), (rows, columns) = begins, counts
        out = images[:, top:top + rows, left:left + columns]
        return tf.ensure_shape(out, [images.shape[0], rows, columns, images.shape[3]])
    return formats.of_pictures(compute, images, data_format)


# ---- windows ----

def _windows(images, size, strides, dilation_rate, padding, data_format, directions):
    images = tensor(images)
    if len(images.shape) not in (directions + 1, directions + 2):
        raise ValueError(f"Invalid images rank: expected {directions + 1} or {directions + 2} dimensions. Received: "
                         f"images.shape={tuple(images.shape)}")
    strides = size if not strides else (strides,) * directions if isinstance(strides, int) else tuple(strides)
    if len(strides) != directions:
        raise ValueError(f"Invalid `strides` argument. Expected {directions} numbers. Got: {strides}")
    dilations = (dilation_rate,) if isinstance(dilation_rate, int) else tuple(dilation_rate)
    if max(strides) > 1 and max(dilations) > 1:
        raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                         f"strides={strides} and dilation_rate={dilation_rate}")
    channels = images.shape[-1 - directions if formats.is_first(data_format) else -1]
    width = channels
    for side in size:
        width *= side
    kernel = tf.reshape(tf.eye(width, dtype=images.dtype), [*size, channels, width])
    alone = len(images.shape) == directions + 1
    out = nn.conv(tf.expand_dims(images, 0) if alone else images, kernel, strides, padding, data_format, dilation_rate)
    out = tf.cast(out, images.dtype)
    return tf.squeeze(out, [0]) if alone else out


@operation
def extract_patches(images, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    """The windows of pictures, or of volumes, as channels (``keras.ops.image.extract_patches``)."""
    if not isinstance(size, (int, tuple, list)):
        raise TypeError("Invalid `size` argument. Expected an int or a tuple of length 2 or 3. Received: "
                        f"size={size} of type {type(size).__name__}")
    if not isinstance(size, int) and len(size) not in (2, 3):
        raise ValueError("Invalid `size` argument. Expected a tuple of length 2 or 3. Received: "
                         f"size={size} with length {len(size)}")
    size = (size, size) if isinstance(size, int) else tuple(size)
    return _windows(images, size, strides, dilation_rate, padding, data_format, len(size))


@operation
def extract_patches_3d(volumes, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    """The windows of volumes as channels (``keras.ops.image.extract_patches_3d``)."""
    if not isinstance(size, int) and len(size) != 3:
        raise TypeError(f"Invalid `size` argument. Expected an int or a tuple of length 3. Received: size={size}")
    size = (size,) * 3 if isinstance(size, int) else tuple(size)
    return _windows(volumes, size, strides, dilation_rate, padding, data_format, 3)


# ---- edges and likeness ----

@operation
def sobel_edges(images, data_format=None):
    """How steep batches of pictures are downwards and to the right (``keras.ops.image.sobel_edges``)."""
    images = tensor(images)
    if len(images.shape) != 4:
        raise ValueError("Invalid images rank: expected rank 4 (batch of images). Received: images.shape="
                         f"{tuple(images.shape)}")
    first = formats.is_first(data_format)
    edges = tf.image.sobel_edges(tf.transpose(images, [0, 2, 3, 1]) if first else images)
    return tf.transpose(edges, [0, 3, 1, 2, 4]) if first else edges


@operation
def ssim(image1, image2, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, data_format=None):
    """How alike pictures are in structure, of [-1, 1] (``keras.ops.image.ssim``)."""
    image1, image2 = tensor(image1), tensor(image2)
    met = dtype_name(result_type(image1.dtype, image2.dtype, float))
    pair = []
    for image, name in ((image1, "image1"), (image2, "image2")):
        formats.check_pictures(image, name)
        image = tf.cast(image, met)
        pair.append(_last(image) if formats.is_first(data_format) else image)
    return tf.image.ssim(*pair, max_val=max_val, filter_size=filter_size, filter_sigma=filter_sigma, k1=k1, k2=k2)


def _last(image):
    rank = len(image.shape)
    return tf.transpose(image, [*range(rank - 3), rank - 2, rank - 1, rank - 3])


__all__ = [name for name in OPERATIONS if name not in _before] + projections.__all__
