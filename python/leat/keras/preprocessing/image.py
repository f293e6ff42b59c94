"""``keras.preprocessing.image``: pictures as arrays and files, and random changes of them.

Keras keeps these for old programs: ``keras.utils.image_dataset_from_directory`` and layers (RandomRotation and their
like) do the same faster.
"""

import numpy as np

import leat as tf
from leat.keras._files.changes import (apply_affine_transform, apply_brightness_shift,  # noqa: F401
                                       apply_channel_shift, random_brightness, random_channel_shift, random_rotation,
                                       random_shear, random_shift, random_zoom)
from leat.keras._files.generators import DirectoryIterator, Iterator, NumpyArrayIterator  # noqa: F401
from leat.keras._files.image_data_generator import ImageDataGenerator  # noqa: F401
from leat.keras._files.pictures import array_to_img, img_to_array, load_img, save_img  # noqa: F401


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
