"""``keras.ops.image``: pictures looked at from elsewhere: projections, distortions, values between pixels."""

import itertools
import math

import leat as tf
from leat._graph import ops
from leat.keras import random
from leat.keras.ops import arrays, formats, nn
from leat.keras.ops.promote import OPERATIONS, operation, same_specs, specified, tensor, together

_before = set(OPERATIONS)

_TURNED = "turned"  # of elastic_transform: place -1 is 1, as Keras' is there, and what lies behind the end is reflected
_FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


def _check(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"Invalid value for argument `{name}`. Expected of one {allowed}. Received: {name}={value}")


# ---- projections ----

def _projected(images, transforms, interpolation, fill_mode, fill_value):
    dtype = images.dtype
    if dtype in ("float16", "bfloat16"):
        images = tf.cast(images, "float32")
    attributes = {"interpolation": interpolation, "fill_mode": fill_mode, "fill_value": float(fill_value)}
    out = ops.call("projective_transform", attributes, [images, tf.cast(transforms, "float32")])[0]
    return tf.cast(out, dtype)


@operation
def affine_transform(images, transform, interpolation="bilinear", fill_mode="constant", fill_value=0,
                     data_format=None):
    """Pictures looked at through projections of eight numbers each (``keras.ops.image.affine_transform``): the result's
    (x, y) is the picture's ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1."""
    _check("interpolation", interpolation, ("nearest", "bilinear"))
    _check("fill_mode", fill_mode, ("constant", "nearest", "wrap", "reflect"))
    images, transform = tensor(images), tensor(transform)
    formats.check_pictures(images)
    if len(transform.shape) not in (1, 2):
        raise ValueError("Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of transforms). "
                         f"Received input with shape: transform.shape={tuple(transform.shape)}")
    transforms = tf.expand_dims(transform, 0) if len(transform.shape) == 1 else transform
    return formats.of_pictures(lambda pictures: _projected(pictures, transforms, interpolation, fill_mode, fill_value),
                               images, data_format)


def _projections(start, end):
    """The eight numbers of the projections that take four points to four others, [N, 4, 2] each."""
    x, y, u, v = end[..., 0], end[..., 1], start[..., 0], start[..., 1]
    one, zero = tf.ones_like(x), tf.zeros_like(x)
    rows = [tf.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1),
            tf.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1)]
    return tf.squeeze(tf.linalg.solve(tf.concat(rows, 1), tf.expand_dims(tf.concat([u, v], 1), -1)), [-1])


@operation
def perspective_transform(images, start_points, end_points, interpolation="bilinear", fill_value=0, data_format=None):
    """Pictures of which four points come to stand at four others (``keras.ops.image.perspective_transform``)."""
    _check("interpolation", interpolation, ("nearest", "bilinear"))
    images = tensor(images)
    formats.check_pictures(images)
    points = []
    for name, given in (("start_points", start_points), ("end_points", end_points)):
        given = tensor(given, "float32")
        if len(given.shape) not in (2, 3) or tuple(given.shape[-2:]) != (4, 2):
            raise ValueError(f"Invalid {name} shape: expected (4,2) for a single image or (N,4,2) for a batch. "
                             f"Received shape: {tuple(given.shape)}")
        points.append(tf.expand_dims(given, 0) if len(given.shape) == 2 else given)
    if tuple(points[0].shape) != tuple(points[1].shape):
        raise ValueError("start_points and end_points must have the same shape. Received start_points.shape="
                         f"{tuple(points[0].shape)}, end_points.shape={tuple(points[1].shape)}")
    transforms = _projections(*points)
    return formats.of_pictures(lambda pictures: _projected(pictures, transforms, interpolation, "constant", fill_value),
                               images, data_format)


# ---- values between pixels ----

def _inside(places, size, fill_mode):
    """Numbers of elements that exist for places that may not, and which places do; None: all count."""
    last = size - 1
    if fill_mode == "constant":
        return tf.clip_by_value(places, 0, last), tf.logical_and(places >= 0, places <= last)
    if fill_mode == "nearest":
        return tf.clip_by_value(places, 0, last), None
    if fill_mode == "wrap":
        return tf.math.floormod(places, size), None
    if fill_mode == _TURNED:
        places, fill_mode = tf.abs(places), "reflect"
    period = 2 * size if fill_mode == "reflect" else tf.maximum(2 * last, 1)
    turned = tf.math.floormod(places, period)
    return tf.where(turned < size, turned, period - turned - (1 if fill_mode == "reflect" else 0)), None


def _neighbours(place, order):
    """[(number of an element, its share)] for places of a dimension."""
    if order == 0:
        nearest = tf.round(place) if place.dtype.is_floating else place
        return [(tf.cast(nearest, "int32"), None)]
    lower = tf.floor(place)
    number, share = tf.cast(lower, "int32"), place - lower
    return [(number, 1 - share), (number + 1, share)]


@operation
def map_coordinates(inputs, coordinates, order, fill_mode="constant", fill_value=0):
    """The values of a tensor at places between its elements (``keras.ops.image.map_coordinates``).

    `coordinates`: the places, one tensor for each dimension; `order`: 0 the nearest element, 1 linear in between.
    """
    inputs, coordinates = tensor(inputs), tensor(coordinates)
    _check("fill_mode", fill_mode, _FILL_MODES)
    return _read(inputs, coordinates, order, fill_mode, fill_value)


def _read(inputs, coordinates, order, fill_mode, fill_value):
    if coordinates.shape[0] != len(inputs.shape):
        raise ValueError("First dim of `coordinates` must be the same as the rank of `inputs`. Received inputs with "
                         f"shape: {tuple(inputs.shape)} and coordinate leading dim of {coordinates.shape[0]}")
    if len(coordinates.shape) < 2:
        raise ValueError("Invalid coordinates rank: expected at least rank 2. Received input with shape: "
                         f"{tuple(coordinates.shape)}")
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates: expected order 0 or 1, found {order}")
    if order == 1 and not coordinates.dtype.is_floating:
        coordinates = tf.cast(coordinates, "float32")
    computed = coordinates.dtype if order == 1 else inputs.dtype
    total, shape = None, [tf.shape(inputs)[d] if size is None else size for d, size in enumerate(inputs.shape)]
    choices = [_neighbours(place, order) for place in tf.unstack(coordinates, num=len(inputs.shape))]
    for corner in itertools.product(*choices):
        places = [_inside(number, size, fill_mode) for (number, _), size in zip(corner, shape)]
        found = tf.cast(tf.gather_nd(inputs, tf.stack([place for place, _ in places], -1)), computed)
        for _, counts in places:
            if counts is not None:
                found = tf.where(counts, found, tf.cast(fill_value, computed))
        for _, share in corner:
            found = found if share is None else found * share
        total = found if total is None else total + found
    if inputs.dtype.is_integer and total.dtype.is_floating:
        total = tf.round(total)
    return tf.cast(total, inputs.dtype)


# ---- blurred and distorted ----

def _bell(size, sigma, dtype):
    """The weights of a Gaussian over `size` places, which add up to 1."""
    weights = [math.exp(-0.5 * ((place - (size - 1) / 2) / sigma) ** 2) for place in range(size)]
    return tf.constant([weight / sum(weights) for weight in weights], dtype)


def _spec_of_blur(images, kernel_size=None, sigma=None, data_format=None):
    formats.check_pictures(images)
    return same_specs(images)


@specified(_spec_of_blur)
@operation
def gaussian_blur(images, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None):
    """Pictures blurred by a Gaussian (``keras.ops.image.gaussian_blur``).

    `kernel_size`: its (rows, columns); `sigma`: its deviations along (columns, rows), the order that Keras computes in.
    """
    formats.check_pictures(images if hasattr(images, "shape") else tensor(images))
    rows = _bell(int(kernel_size[0]), float(sigma[1]), "float32")
    columns = _bell(int(kernel_size[1]), float(sigma[0]), "float32")

    def compute(images):
        kernel = tf.cast(rows[:, None] * columns[None, :], images.dtype)[:, :, None, None]
        return nn.depthwise_conv(images, tf.tile(kernel, [1, 1, images.shape[-1], 1]), 1, "same", "channels_last")
    return formats.of_pictures(compute, images, data_format)


@operation
def elastic_transform(images, alpha=20.0, sigma=5.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0,
                      seed=None, data_format=None):
    """Pictures distorted by smooth noise (``keras.ops.image.elastic_transform``)."""
    _check("interpolation", interpolation, ("nearest", "bilinear"))
    _check("fill_mode", fill_mode, ("constant", "nearest", "wrap", "mirror", "reflect"))
    alpha, sigma = float(alpha), float(sigma)
    side = 6 * int(sigma) | 1

    def compute(pictures):
        shape = tf.shape(pictures)
        count, height, width, channels = [shape[d] if size is None else size for d, size in enumerate(pictures.shape)]
        noise = tf.random.stateless_normal([count, height, width], random.draw_seed(seed), dtype=pictures.dtype) * sigma
        noise = gaussian_blur(noise[..., None], (side, side), (sigma, sigma), "channels_last")
        moved = alpha * tf.expand_dims(noise, 3)  # the same down and to the right
        places = tf.meshgrid(tf.range(height), tf.range(width), tf.range(channels), indexing="ij")
        rows, columns, channel = [tf.cast(place, pictures.dtype)[None] for place in places]
        numbers = tf.reshape(tf.range(count), [-1, 1, 1, 1])
        everywhere = tf.zeros([count, height, width, channels], pictures.dtype)
        moved = tf.squeeze(moved, [-1])
        places = [everywhere + tf.cast(numbers, pictures.dtype), rows + moved, columns + moved, everywhere + channel]
        places = [everywhere + place for place in places]
        order = ("nearest", "bilinear").index(interpolation)
        out = _read(pictures, tf.stack(places), order, _TURNED if fill_mode == "reflect" else fill_mode, fill_value)
        return tf.ensure_shape(out, pictures.shape)
    return formats.of_pictures(compute, images, data_format)


# ---- scaled and moved ----

def _cubic(x):
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = tf.where(x >= 1.0, ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0, near)
    return tf.where(x >= 2.0, tf.zeros_like(x), far)


def _lanczos(radius):
    def weigh(x):
        safe = tf.where(x > 1e-3, x, tf.ones_like(x))
        wave = radius * tf.sin(math.pi * safe) * tf.sin(math.pi * safe / radius) / (math.pi ** 2 * safe * safe)
        return tf.where(x > radius, tf.zeros_like(x), tf.where(x > 1e-3, wave, tf.ones_like(x)))
    return weigh


_METHODS = {**dict.fromkeys(("linear", "bilinear", "trilinear"), lambda x: tf.nn.relu(1 - x)),
            **dict.fromkeys(("cubic", "bicubic", "tricubic"), _cubic), "lanczos3": _lanczos(3.0),
            "lanczos5": _lanczos(5.0)}


def _shares(size, target, scale, translation, weigh, antialias):
    """How much each of `size` elements counts for each of `target` ones, [size, target]."""
    step = 1.0 / scale
    middle = (tf.cast(tf.range(target), scale.dtype) + 0.5) * step - translation * step - 0.5
    width = tf.maximum(step, tf.ones_like(step)) if antialias else tf.ones_like(step)
    weights = weigh(tf.abs(middle[None, :] - tf.cast(tf.range(size), scale.dtype)[:, None]) / width)
    total = tf.reduce_sum(weights, 0, True)
    weights = tf.where(tf.abs(total) > 1000 * 2.0 ** -23, tf.math.divide_no_nan(weights, total), tf.zeros_like(weights))
    seen = tf.logical_and(middle >= -0.5, middle <= tf.cast(size, scale.dtype) - 0.5)
    return tf.where(seen[None, :], weights, tf.zeros_like(weights))


@operation
def scale_and_translate(images, output_shape, scale, translation, spatial_dims, method, antialias=True):
    """Pictures scaled and moved in some dimensions (``keras.ops.image.scale_and_translate``)."""
    _check("method", method, tuple(_METHODS))
    images, (scale, translation) = tensor(images), together(scale, translation, floating=True)
    out = images if images.dtype.is_floating else tf.cast(images, "float32")
    for number, axis in enumerate(spatial_dims):
        axis %= len(images.shape)
        size = images.shape[axis] if images.shape[axis] is not None else tf.shape(images)[axis]
        shares = _shares(size, output_shape[axis], scale[number], translation[number], _METHODS[method], antialias)
        out = arrays.moveaxis(tf.tensordot(out, tf.cast(shares, out.dtype), [[axis], [0]]), -1, axis)
    scaled = {axis % len(images.shape) for axis in spatial_dims}
    out = tf.ensure_shape(out, [output_shape[axis] if axis in scaled else size
                                for axis, size in enumerate(images.shape)])
    if images.dtype.is_floating:
        return out
    lowest, highest = (tf.cast(fold(images), out.dtype) for fold in (tf.reduce_min, tf.reduce_max))
    return tf.cast(tf.clip_by_value(tf.round(out), lowest, highest), images.dtype)


__all__ = [name for name in OPERATIONS if name not in _before]
