"""``keras.preprocessing.image.ImageDataGenerator``: random changes of pictures, and what makes batches of them."""

import math
import warnings

import numpy as np

from leat.keras import backend
from leat.keras._files import changes
from leat.keras._files.generators import DataFrameIterator, DirectoryIterator, NumpyArrayIterator


def _warn_unfitted(what):
    warnings.warn(f"This ImageDataGenerator specifies `{what}`, but it hasn't been fit on any training data. Fit it "
                  "first by calling `.fit(numpy_data)`.", stacklevel=4)


class ImageDataGenerator:
    """Batches of pictures that are turned, moved, sheared, zoomed, mirrored, lightened and normalized at random
    (``keras.preprocessing.image.ImageDataGenerator``).

    Numbers are drawn from numpy's own generator, as Keras draws them. `fit` computes what `featurewise_center`,
    `featurewise_std_normalization` and `zca_whitening` need.
    """

    def __init__(self, featurewise_center=False, samplewise_center=False, featurewise_std_normalization=False,
                 samplewise_std_normalization=False, zca_whitening=False, zca_epsilon=1e-6, rotation_range=0,
                 width_shift_range=0.0, height_shift_range=0.0, brightness_range=None, shear_range=0.0, zoom_range=0.0,
                 channel_shift_range=0.0, fill_mode="nearest", cval=0.0, horizontal_flip=False, vertical_flip=False,
                 rescale=None, preprocessing_function=None, data_format=None, validation_split=0.0,
                 interpolation_order=1, dtype=None):
        self.featurewise_center, self.samplewise_center = featurewise_center, samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening, self.zca_epsilon = zca_whitening, zca_epsilon
        self.rotation_range, self.shear_range, self.channel_shift_range = (
            rotation_range, shear_range, channel_shift_range)
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.fill_mode, self.cval, self.interpolation_order = fill_mode, cval, interpolation_order
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self.dtype, self.data_format = dtype or backend.floatx(), data_format or backend.image_data_format()
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError('`data_format` should be `"channels_last"` (channel after row and column) or '
                             f'`"channels_first"` (channel before row and column). Received: {data_format}')
        first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if first else (3, 1, 2)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}")
        self._validation_split = validation_split
        self.mean = self.std = self.zca_whitening_matrix = None
        self.zoom_range = self._range_of(zoom_range)
        self._imply()
        if brightness_range is not None and (not isinstance(brightness_range, (tuple, list))
                                             or len(brightness_range) != 2):
            raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
        self.brightness_range = brightness_range

    @staticmethod
    def _range_of(zoom):
        if isinstance(zoom, (float, int)):
            return [1 - zoom, 1 + zoom]
        if len(zoom) == 2 and all(isinstance(one, (float, int)) for one in zoom):
            return list(zoom)
        raise ValueError(f"`zoom_range` should be a float or a tuple or list of two floats. Received: {zoom}")

    def _imply(self):
        """What some normalizations need of others."""
        for wanted, name, other, value in (
                (self.zca_whitening, "zca_whitening", "featurewise_center", True),
                (self.zca_whitening, "zca_whitening", "featurewise_std_normalization", False),
                (self.featurewise_std_normalization, "featurewise_std_normalization", "featurewise_center", True),
                (self.samplewise_std_normalization, "samplewise_std_normalization", "samplewise_center", True)):
            if wanted and bool(getattr(self, other)) != value:
                setattr(self, other, value)
                if other != "samplewise_center":
                    warnings.warn(f"This ImageDataGenerator specifies `{name}`, which overrides setting of `{other}`.",
                                  stacklevel=3)

    # ---- batches ----

    def flow(self, x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None, save_to_dir=None,
             save_prefix="", save_format="png", ignore_class_split=False, subset=None):
        """Batches of an array of pictures, with labels and weights; a NumpyArrayIterator."""
        return NumpyArrayIterator(x, y, self, batch_size=batch_size, shuffle=shuffle, sample_weight=sample_weight,
                                  seed=seed, data_format=self.data_format, save_to_dir=save_to_dir,
                                  save_prefix=save_prefix, save_format=save_format,
                                  ignore_class_split=ignore_class_split, subset=subset, dtype=self.dtype)

    def flow_from_directory(self, directory, target_size=(256, 256), color_mode="rgb", classes=None,
                            class_mode="categorical", batch_size=32, shuffle=True, seed=None, save_to_dir=None,
                            save_prefix="", save_format="png", follow_links=False, subset=None,
                            interpolation="nearest", keep_aspect_ratio=False):
        """Batches of the pictures in the folders of a folder, one for each class; a DirectoryIterator."""
        return DirectoryIterator(directory, self, target_size=target_size, color_mode=color_mode,
                                 keep_aspect_ratio=keep_aspect_ratio, classes=classes, class_mode=class_mode,
                                 data_format=self.data_format, batch_size=batch_size, shuffle=shuffle, seed=seed,
                                 save_to_dir=save_to_dir, save_prefix=save_prefix, save_format=save_format,
                                 follow_links=follow_links, subset=subset, interpolation=interpolation,
                                 dtype=self.dtype)

    def flow_from_dataframe(self, dataframe, directory=None, x_col="filename", y_col="class", weight_col=None,
                            target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                            batch_size=32, shuffle=True, seed=None, save_to_dir=None, save_prefix="", save_format="png",
                            subset=None, interpolation="nearest", validate_filenames=True, **kwargs):
        """Batches of pictures that a table of pandas' names: paths in one column, classes or numbers in others."""
        for name in ("has_ext", "sort", "drop_duplicates"):
            if name in kwargs:
                warnings.warn(f"{name} is deprecated and changes nothing", DeprecationWarning, stacklevel=2)
        if class_mode == "other":
            warnings.warn('`class_mode="other"` is deprecated, please use `class_mode="raw"`.', DeprecationWarning,
                          stacklevel=2)
            class_mode = "raw"
        return DataFrameIterator(dataframe, directory, self, x_col=x_col, y_col=y_col, weight_col=weight_col,
                                 target_size=target_size, color_mode=color_mode, classes=classes,
                                 class_mode=class_mode, data_format=self.data_format, batch_size=batch_size,
                                 shuffle=shuffle, seed=seed, save_to_dir=save_to_dir, save_prefix=save_prefix,
                                 save_format=save_format, subset=subset, interpolation=interpolation,
                                 validate_filenames=validate_filenames, dtype=self.dtype)

    # ---- pictures ----

    def standardize(self, x):
        """A picture, or a batch, after `preprocessing_function`, `rescale` and what normalizes; floats change in
        place."""
        x = self.preprocessing_function(x) if self.preprocessing_function else x
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center and self.mean is not None:
            x -= self.mean
        if self.featurewise_std_normalization and self.std is not None:
            x /= self.std + 1e-6
        if self.zca_whitening and self.zca_whitening_matrix is not None:
            x = np.reshape(x.reshape(-1, math.prod(x.shape[-3:])) @ self.zca_whitening_matrix, x.shape)
        for name, value in (("featurewise_center", self.mean), ("featurewise_std_normalization", self.std),
                            ("zca_whitening", self.zca_whitening_matrix)):
            if getattr(self, name) and value is None:
                _warn_unfitted(name)
        return x

    @staticmethod
    def _shift(wanted, size):
        """How far a picture moves: one of a list's numbers, to either side, or a number up to one."""
        if not np.any(wanted):
            return 0
        try:
            drawn = np.random.choice(wanted)
            drawn *= np.random.choice([-1, 1])
        except ValueError:  # a number is no list
            drawn = np.random.uniform(-wanted, wanted)
        return drawn * size if np.max(wanted) < 1 else drawn

    def get_random_transform(self, img_shape, seed=None):
        """What `apply_transform` does to a picture of this shape, drawn: a dictionary."""
        if seed is not None:
            np.random.seed(seed)
        theta = np.random.uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = self._shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = self._shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = changes.zooms(self.zoom_range)
        across, down = (bool(np.random.random() < 0.5) and bool(wanted)
                        for wanted in (self.horizontal_flip, self.vertical_flip))
        channels = np.random.uniform(-self.channel_shift_range, self.channel_shift_range) if (
            self.channel_shift_range != 0) else None
        brightness = None if self.brightness_range is None else np.random.uniform(*self.brightness_range)
        return {"theta": theta, "tx": tx, "ty": ty, "shear": shear, "zx": zx, "zy": zy, "flip_horizontal": across,
                "flip_vertical": down, "channel_shift_intensity": channels, "brightness": brightness}

    def apply_transform(self, x, transform_parameters):
        """A picture changed as a dictionary says; what it does not name stays."""
        wanted = transform_parameters.get
        rows, columns, channels = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        x = changes.apply_affine_transform(
            x, wanted("theta", 0), wanted("tx", 0), wanted("ty", 0), wanted("shear", 0), wanted("zx", 1),
            wanted("zy", 1), row_axis=rows, col_axis=columns, channel_axis=channels, fill_mode=self.fill_mode,
            cval=self.cval, order=self.interpolation_order)
        if wanted("channel_shift_intensity") is not None:
            x = changes.apply_channel_shift(x, wanted("channel_shift_intensity"), channels)
        for name, axis in (("flip_horizontal", columns), ("flip_vertical", rows)):
            x = changes.flipped(x, axis) if wanted(name, False) else x
        return x if wanted("brightness") is None else changes.apply_brightness_shift(x, wanted("brightness"), False)

    def random_transform(self, x, seed=None):
        """A picture changed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Computes the means, deviations and the matrix of whitening of an array of pictures; with `augment` of as
        many `rounds` of them, changed at random. ValueError for another rank."""
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        if x.shape[self.channel_axis] not in (1, 3, 4):
            warnings.warn("Expected input to be images (as Numpy array) following the data format convention "
                          f'"{self.data_format}" (channels on axis {self.channel_axis}), i.e. expected either 1, 3 or '
                          f"4 channels on axis {self.channel_axis}. However, it was passed an array with shape "
                          f"{x.shape} ({x.shape[self.channel_axis]} channels).", stacklevel=2)
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = np.stack([self.random_transform(one) for _ in range(rounds) for one in x])
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = x.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = np.mean(x, axis=(0, self.row_axis, self.col_axis)).reshape(shape)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=(0, self.row_axis, self.col_axis)).reshape(shape)
            x /= self.std + 1e-6
        if self.zca_whitening:
            flat = x.reshape(len(x), -1)
            vectors, sizes, _ = np.linalg.svd(flat.T, full_matrices=False)
            self.zca_whitening_matrix = (vectors * (np.sqrt(len(x)) / (sizes + self.zca_epsilon))) @ vectors.T
