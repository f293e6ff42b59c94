"""``keras.preprocessing.image``: pictures as arrays and files, and random changes of them.

ImageDataGenerator and its iterators are not there: ``keras.utils.image_dataset_from_directory`` and layers
(RandomRotation and their like) do their work.
"""

import numpy as np

import leat as tf
from leat.keras._files.pictures import array_to_img, img_to_array, load_img, save_img  # noqa: F401

_GONE = ("DirectoryIterator", "ImageDataGenerator", "Iterator", "NumpyArrayIterator", "apply_affine_transform",
         "random_rotation", "random_shear", "random_shift", "random_zoom")


def __getattr__(name):
    if name in _GONE:
        raise AttributeError(f"keras.preprocessing.image.{name} is UNIMPLEMENTED: use "
                             "keras.utils.image_dataset_from_directory for pictures of a folder, and layers such as "
                             "keras.layers.RandomRotation, RandomTranslation, RandomZoom, RandomShear to change them")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def smart_resize(x, size, interpolation="bilinear", data_format="channels_last", **kwargs):
    """Pictures in another size, of which what lies in the middle with its proportions is taken
    (``keras.preprocessing.image.smart_resize``): [height, width, channels], or a batch. An array gives an array."""
    if kwargs.pop("backend_module", None) is not None or kwargs:
        raise TypeError(f"smart_resize() got unexpected keyword arguments: {list(kwargs)}")
    if len(size) != 2:
        raise ValueError(f"Expected `size` to be a tuple of 2 integers, but got: {size}.")
    picture = tf.convert_to_tensor(x)
    if len(picture.shape) not in (3, 4):
        raise ValueError("Expected an image array with shape `(height, width, channels)`, or `(batch_size, height, "
                         f"width, channels)`, but got input with incorrect rank, of shape {picture.shape}.")
    first = data_format == "channels_first"
    found = tf.keras.ops.image.resize(picture, tuple(size), interpolation=interpolation, crop_to_aspect_ratio=True,
                                      data_format="channels_first" if first else "channels_last")
    return np.array(found) if isinstance(x, np.ndarray) else found


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
