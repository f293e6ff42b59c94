"""Pictures as arrays that are turned, moved, sheared, zoomed, lightened and mirrored, as ``keras.preprocessing.image``
does it: numbers that are drawn come from numpy's own generator."""

import numpy as np

from leat.errors import UnimplementedError
from leat.keras._files.pictures import array_to_img, img_to_array

_MODES = ("nearest", "constant", "reflect", "wrap")


# ---- one value for each pixel of another place ----

def _neighbours(places, count, mode):
    """[(numbers of pixels, weights)] of places along one side, between two pixels each; and which lie inside."""
    inside = (places >= 0) & (places <= count - 1)
    if mode == "wrap" and count > 1:  # with the period of the distances, as scipy has it
        period = count - 1
        places = np.where(places < 0, places + period * (np.trunc(-places / period) + 1), places)
        places = np.where(places > count - 1, places - period * np.trunc(places / period), places)
    begin = np.floor(places)
    part, found = places - begin, []
    for number, weight in ((begin, 1 - part), (begin + 1, part)):
        number = np.clip(number, -2.0 ** 53, 2.0 ** 53).astype(np.int64)
        if mode == "reflect":
            number = number % (2 * count)
            number = np.where(number >= count, 2 * count - 1 - number, number)
        found.append((np.clip(number, 0, count - 1), weight))
    return found, inside


def _seen_from(channel, rows, columns, order, mode, cval):
    """The values of one channel at places between its pixels, which outside are `cval` or continued by `mode`."""
    if order == 0:
        rows, columns = np.floor(rows + 0.5), np.floor(columns + 0.5)
    (up, in_rows), (across, in_columns) = (_neighbours(one, count, mode)
                                           for one, count in zip((rows, columns), channel.shape))
    values = sum(channel[row, column] * (by_row * by_column) for row, by_row in up for column, by_column in across)
    return np.where(in_rows & in_columns, values, cval) if mode == "constant" else values


def _matrix(theta, tx, ty, shear, zx, zy):
    """Where a pixel of the result comes from, [3, 3]; None: from where it is."""
    found, theta, shear = None, np.deg2rad(theta), np.deg2rad(shear)
    for is_wanted, rows in ((theta != 0, [[np.cos(theta), -np.sin(theta), 0], [np.sin(theta), np.cos(theta), 0]]),
                            (tx != 0 or ty != 0, [[1, 0, tx], [0, 1, ty]]),
                            (shear != 0, [[1, -np.sin(shear), 0], [0, np.cos(shear), 0]]),
                            (zx != 1 or zy != 1, [[zx, 0, 0], [0, zy, 0]])):
        if is_wanted:
            step = np.array([*rows, [0, 0, 1]])
            found = step if found is None else found @ step
    return found


def apply_affine_transform(x, theta=0, tx=0, ty=0, shear=0, zx=1, zy=1, row_axis=1, col_axis=2, channel_axis=0,
                           fill_mode="nearest", cval=0.0, order=1):
    """A picture turned by `theta` degrees, moved by (tx, ty) pixels, sheared and zoomed around its middle
    (``keras.preprocessing.image.apply_affine_transform``).

    `fill_mode`: what lies outside is "nearest", "constant" (`cval`), "reflect" or "wrap". `order`: 1 to blend four
    pixels, 0 for the nearest one. ValueError for axes that are not those of a picture.
    """
    axes = {row_axis, col_axis, channel_axis}
    if len(axes) != 3:
        raise ValueError("'row_axis', 'col_axis', and 'channel_axis' must be distinct")
    if axes != {0, 1, 2}:
        raise ValueError(f"Invalid axis' indices: {axes - {0, 1, 2}}")
    if x.ndim != 3:
        raise ValueError("Input arrays must be multi-channel 2D images.")
    if channel_axis not in (0, 2):
        raise ValueError("Channels are allowed and the first and last dimensions.")
    matrix = _matrix(theta, tx, ty, shear, zx, zy)
    if matrix is None:
        return x
    if fill_mode not in _MODES or order not in (0, 1):
        raise UnimplementedError(None, None, f"fill_mode={fill_mode!r} of order {order}: expected one of {_MODES} and "
                                 "order 0 or 1")
    middle, back = np.eye(3), np.eye(3)
    middle[:2, 2] = [x.shape[row_axis] / 2 - 0.5, x.shape[col_axis] / 2 - 0.5]
    back[:2, 2] = -middle[:2, 2]
    matrix = middle @ matrix @ back
    if col_axis > row_axis:  # its first number is the column's
        matrix[:2] = matrix[[1, 0]][:, [1, 0, 2]]
    channels = np.moveaxis(x, channel_axis, 0)
    row, column = np.mgrid[:channels.shape[1], :channels.shape[2]].astype(float)
    rows, columns = ((line[2] + line[0] * row) + line[1] * column for line in matrix[:2])
    found = [_seen_from(one.astype(float), rows, columns, order, fill_mode, cval).astype(x.dtype) for one in channels]
    return np.moveaxis(np.stack(found), 0, channel_axis)


def flipped(x, axis):
    """The other way round along one axis."""
    return np.flip(x, axis)


# ---- by numbers that are drawn ----

def random_rotation(x, rg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                    interpolation_order=1):
    """A picture turned by up to `rg` degrees (``keras.preprocessing.image.random_rotation``)."""
    theta = np.random.uniform(-rg, rg)
    return apply_affine_transform(x, theta=theta, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shift(x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                 interpolation_order=1):
    """A picture moved by parts of its size up to `wrg` and `hrg` (``keras.preprocessing.image.random_shift``)."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(x, tx=tx, ty=ty, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shear(x, intensity, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                 interpolation_order=1):
    """A picture sheared by up to `intensity` degrees (``keras.preprocessing.image.random_shear``)."""
    shear = np.random.uniform(-intensity, intensity)
    return apply_affine_transform(x, shear=shear, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def zooms(zoom_range):
    """Two numbers of a range, (1, 1) of (1, 1)."""
    low, high = zoom_range
    return (1, 1) if low == 1 and high == 1 else np.random.uniform(low, high, 2)


def random_zoom(x, zoom_range, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                interpolation_order=1):
    """A picture zoomed by two numbers of a range (``keras.preprocessing.image.random_zoom``). ValueError for none."""
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = zooms(zoom_range)
    return apply_affine_transform(x, zx=zx, zy=zy, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


# ---- values ----

def apply_channel_shift(x, intensity, channel_axis=0):
    """Channels with one number added, kept within the smallest and the largest value."""
    x = np.rollaxis(x, channel_axis, 0)
    low, high = np.min(x), np.max(x)
    return np.rollaxis(np.stack([np.clip(one + intensity, low, high) for one in x], 0), 0, channel_axis + 1)


def random_channel_shift(x, intensity_range, channel_axis=0):
    """The same by a number of numpy's generator within +-`intensity_range`."""
    return apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis)


def apply_brightness_shift(x, brightness, scale=True):
    """A picture `brightness` times as bright, whose smallest value was first made 0 and its largest 255 where `scale`
    says so, or where they lie outside; without `scale` these are made back."""
    low, high = np.min(x), np.max(x)
    is_outside = bool(low < 0 or high > 255)
    values = np.asarray(array_to_img(x, scale=is_outside or scale), "float32")
    found = img_to_array(np.clip(values * np.float32(brightness), 0, 255).astype("uint8"))
    return found / 255 * (high - low) + low if is_outside and not scale else found


def random_brightness(x, brightness_range, scale=True):
    """The same by a number of numpy's generator within (low, high). ValueError for no two numbers."""
    if len(brightness_range) != 2:
        raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
    return apply_brightness_shift(x, np.random.uniform(*brightness_range), scale)
