"""Pictures as ``keras.utils`` loads, makes and saves them: those of the package Pillow where it is installed, else
`Picture`s, which leat's own decoders fill."""

import io
import os
import warnings

import numpy as np

import leat as tf
from leat._core.paths import anywhere
from leat._files import places
from leat._files import replacing
from leat.errors import UnimplementedError

_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_METHODS = {"bilinear": "bilinear", "bicubic": "bicubic", "lanczos": "lanczos3"}
_NAMES = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def _pillow():
    """Pillow's module of pictures; None where it is not installed."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        return None
    return Image


class Picture:
    """A picture without Pillow: uint8 [height, width] or [height, width, channels] to ``numpy.asarray``.

    It has Pillow's `size` (width, height), `mode`, `resize` (nearest), `convert` and `save`.
    """

    def __init__(self, array):
        self._array = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array

    height = property(lambda self: self._array.shape[0])
    width = property(lambda self: self._array.shape[1])
    size = property(lambda self: (self.width, self.height))

    @property
    def mode(self):
        """"L" (or "I" of int32), "RGB" or "RGBA"."""
        if self._array.dtype != np.uint8:
            return "I"
        return "L" if self._array.ndim == 2 else _MODES[self._array.shape[2]]

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype=dtype)

    def __repr__(self):
        return f"<Picture mode={self.mode} size={self.width}x{self.height}>"

    def resize(self, size):
        """In another size, (width, height), each pixel the nearest one's."""
        return Picture(_nearest(self._array, (size[1], size[0]), (0, 0, self.height, self.width)))

    def convert(self, mode):
        """In another mode: "L" by Pillow's weights, "RGB" or "RGBA"."""
        rgb = np.repeat(self._array[..., None], 3, 2) if self._array.ndim == 2 else self._array[..., :3]
        if mode == "L":
            weighed = rgb.astype(np.int64) @ [19595, 38470, 7471] + 0x8000
            return Picture((weighed >> 16).astype(np.uint8))
        if mode == "RGBA":
            opaque = np.full((*rgb.shape[:2], 1), 255, np.uint8)
            alpha = self._array[..., 3:] if self.mode == "RGBA" else opaque
            return Picture(np.concatenate([rgb, alpha], 2))
        if mode != "RGB":
            raise UnimplementedError(None, None, f"mode {mode!r}: expected one of L, RGB, RGBA; install Pillow")
        return Picture(np.ascontiguousarray(rgb))

    def save(self, path, format=None, **options):
        """Into a file, or an open one, as "png" or "jpeg" (`quality`)."""
        kind = (format or os.path.splitext(anywhere(path))[1][1:]).lower()
        if kind not in ("png", "jpeg", "jpg") or self.mode == "I" or set(options) - {"quality"}:
            raise UnimplementedError(None, None, f"a picture of mode {self.mode} as {kind!r} with {sorted(options)}: "
                                     "leat writes png and jpeg of uint8, with quality; install Pillow for more")
        array = self._array if self._array.ndim == 3 else self._array[..., None]
        if kind == "png":
            content = tf.io.encode_png(array).numpy()
        else:
            content = tf.io.encode_jpeg(array, quality=options.get("quality", 75)).numpy()
        if hasattr(path, "write"):
            path.write(content)
        else:
            replacing.replace(anywhere(path), content)

    def _repr_png_(self):
        made = io.BytesIO()
        self.save(made, "png")
        return made.getvalue()


def _format_of(data_format):
    if data_format not in (None, "channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. Received: "
                         f"data_format={data_format}")
    return data_format or tf.keras.backend.image_data_format()


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """A picture of an array [height, width, channels] (``keras.utils.array_to_img``): Pillow's, or a `Picture`.

    `scale`: its smallest number becomes 0, its largest 255. ValueError for other ranks and numbers of channels.
    """
    first = _format_of(data_format) == "channels_first"
    x = np.asarray(x, dtype=dtype or "float32")
    if x.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}")
    x = x.transpose(1, 2, 0) if first else x
    if scale:
        x = x - np.min(x)
        most = np.max(x)
        x = (x / most if most != 0 else x) * 255
    if x.shape[2] not in _MODES:
        raise ValueError(f"Unsupported channel number: {x.shape[2]}")
    kind = "int32" if x.shape[2] == 1 and np.max(x) > 255 else "uint8"
    with np.errstate(invalid="ignore"):
        x = x.astype(kind)
    pillow = _pillow()
    if pillow is None:
        return Picture(x)
    return pillow.fromarray(x[:, :, 0] if x.shape[2] == 1 else x)


def img_to_array(img, data_format=None, dtype=None):
    """A picture as an array [height, width, channels] of float32 (``keras.utils.img_to_array``): an array, a tensor or
    a picture of Pillow's or `load_img`'s. ValueError for other ranks."""
    first = _format_of(data_format) == "channels_first"
    array = np.asarray(img, dtype=dtype or "float32")
    if array.ndim == 2:
        return array[None] if first else array[..., None]
    if array.ndim != 3:
        raise ValueError(f"Unsupported image shape: {array.shape}")
    return array.transpose(2, 0, 1) if first else array


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Writes an array as a picture (``keras.utils.save_img``); the format is the name's ending, or `file_format`."""
    if file_format is None and isinstance(path, (str, os.PathLike)):
        file_format = os.path.splitext(os.fspath(path))[1][1:].lower()
    file_format = "jpeg" if str(file_format).lower() == "jpg" else file_format
    picture = array_to_img(x, data_format=data_format, scale=scale)
    if picture.mode == "RGBA" and file_format == "jpeg":
        warnings.warn("The JPEG format does not support RGBA images, converting to RGB.", stacklevel=2)
        picture = picture.convert("RGB")
    picture.save(path, format=file_format, **kwargs)


def load_img(path, color_mode="rgb", target_size=None, interpolation="nearest", keep_aspect_ratio=False):
    """A picture of a file, or of bytes in a BytesIO (``keras.utils.load_img``): Pillow's, or a `Picture`.

    `target_size`: (height, width). `keep_aspect_ratio`: only what lies in the middle with its proportions is taken.
    """
    if isinstance(path, io.BytesIO):
        content = path.getvalue()
    elif isinstance(path, (str, bytes, os.PathLike)):
        content = places.content(anywhere(path))
    else:
        raise TypeError(f"path should be path-like or io.BytesIO, not {type(path)}")
    if color_mode not in _CHANNELS:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    pillow = _pillow()
    picture = _decoded(content, color_mode) if pillow is None else _opened(pillow, content, color_mode)
    if target_size is None or picture.size == (target_size[1], target_size[0]):
        return picture
    if interpolation not in _NAMES:
        raise ValueError(f"Invalid interpolation method {interpolation} specified. Supported methods are "
                         f"{', '.join(_NAMES)}")
    box = (0, 0, picture.height, picture.width)
    if keep_aspect_ratio:
        box = _middle(picture.height, picture.width, *target_size)
    if pillow is not None:
        return picture.resize((target_size[1], target_size[0]), getattr(pillow.Resampling, interpolation.upper()),
                              box=(box[1], box[0], box[3], box[2]))
    return Picture(_resized(np.asarray(picture), target_size, interpolation, box))


def _opened(pillow, content, color_mode):
    picture = pillow.open(io.BytesIO(content))
    if color_mode == "grayscale":
        return picture if picture.mode in ("L", "I;16", "I") else picture.convert("L")
    mode = color_mode.upper()
    return picture if picture.mode == mode else picture.convert(mode)


def _decoded(content, color_mode):
    array = tf.io.decode_image(content, expand_animations=False).numpy()
    if array.shape[2] == 2:  # gray with alpha
        array = np.concatenate([np.repeat(array[..., :1], 3, 2), array[..., 1:]], 2)
    return Picture(array).convert({"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}[color_mode])


def _middle(height, width, wanted_height, wanted_width):
    """(top, left, bottom, right) of the largest part in the middle that has these proportions."""
    tall = min(height, width * wanted_height // wanted_width)
    wide = min(width, height * wanted_width // wanted_height)
    top, left = (height - tall) // 2, (width - wide) // 2
    return top, left, top + tall, left + wide


def _nearest(array, size, box):
    def places(wanted, begin, end):
        step = (end - begin) / wanted  # added up as Pillow does it, whose roundings decide between two pixels
        found = np.add.accumulate(np.concatenate([[begin + step * 0.5], np.full(wanted - 1, step)]))
        return np.minimum(found.astype(int), end - 1)
    return array[places(size[0], box[0], box[2])][:, places(size[1], box[1], box[3])]


def _resized(array, size, interpolation, box):
    if interpolation == "nearest":
        return _nearest(array, size, box)
    if interpolation not in _METHODS:
        raise UnimplementedError(None, None, f"load_img: interpolation {interpolation!r} needs Pillow; expected "
                                 "nearest, bilinear, bicubic or lanczos")
    array = array if array.ndim == 3 else array[..., None]
    found = tf.image.resize(array[box[0]:box[2], box[1]:box[3]], size, _METHODS[interpolation], antialias=True)
    return np.clip(np.floor(np.asarray(found) + 0.5), 0, 255).astype(np.uint8)
