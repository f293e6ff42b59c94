"""Batches of pictures of arrays, folders and tables, which an ImageDataGenerator changes and normalizes. Orders and
names of files are drawn from numpy's own generator, as Keras draws them."""

import os
import threading
import warnings

import numpy as np

from leat.keras import backend
from leat.keras._files.pictures import array_to_img, img_to_array, load_img
from leat.keras._training.sequences import PyDataset

_SUBSETS = ("training", "validation")
_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


class Iterator(PyDataset):
    """Batches by number or one after the other, without end (``keras.preprocessing.image.Iterator``): of `n` rows, in
    an order that `shuffle` draws anew for each epoch, from `seed` and the number of batches so far where there is one.

    A subclass makes the batch of some rows: ``_get_batches_of_transformed_samples(index_array)``.
    """

    white_list_formats = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    def __init__(self, n, batch_size, shuffle, seed, **kwargs):
        super().__init__(**kwargs)
        self.n, self.batch_size, self.seed, self.shuffle = n, batch_size, seed, shuffle
        self.batch_index = self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array = None

    def _set_index_array(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _draw_from_seed(self):
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)

    def __len__(self):
        return -(-self.n // self.batch_size)

    def __getitem__(self, idx):
        if idx >= len(self):
            raise ValueError(f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}")
        self._draw_from_seed()
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        return self._get_batches_of_transformed_samples(self.index_array[self.batch_size * idx:][:self.batch_size])

    def on_epoch_end(self):
        """Draws the next epoch's order."""
        self._set_index_array()

    def reset(self):
        """Begins with the first batch again."""
        self.batch_index = 0

    def __iter__(self):
        return self

    def _next_rows(self):
        self._draw_from_seed()
        if self.batch_index == 0:
            self._set_index_array()
        begin = self.batch_index * self.batch_size % self.n if self.n else 0
        self.batch_index = self.batch_index + 1 if self.n > begin + self.batch_size else 0
        self.total_batches_seen += 1
        return self.index_array[begin:begin + self.batch_size]

    def __next__(self):
        with self.lock:
            rows = self._next_rows()
        return self._get_batches_of_transformed_samples(rows)

    def _get_batches_of_transformed_samples(self, index_array):
        raise NotImplementedError

    def _changed(self, x):
        """A picture as the generator changes and normalizes it."""
        generator = self.image_data_generator
        if generator is None:
            return x
        return generator.standardize(generator.apply_transform(x, generator.get_random_transform(x.shape)))

    def _save(self, batch, rows, most):
        """Writes a batch's pictures into `save_to_dir`, if there is one."""
        for picture, row in zip(batch, rows) if self.save_to_dir else ():
            name = f"{self.save_prefix}_{row}_{np.random.randint(most)}.{self.save_format}"
            array_to_img(picture, self.data_format, scale=True).save(os.path.join(self.save_to_dir, name))


# ---- arrays ----

def _part(subset, rows, share):
    """Where a subset's rows begin and end: those for validation come first."""
    cut = int(rows * share)
    return slice(0, cut) if subset == "validation" else slice(cut, None)


def _same_length(x, others, text):
    for other in others:
        if other is not None and len(x) != len(other):
            raise ValueError(text.format(np.shape(x), np.shape(other)))


class NumpyArrayIterator(Iterator):
    """Batches of an array of pictures, of other arrays beside it, labels and weights
    (``keras.preprocessing.image.NumpyArrayIterator``); see `ImageDataGenerator.flow`."""

    def __init__(self, x, y, image_data_generator, batch_size=32, shuffle=False, sample_weight=None, seed=None,
                 data_format=None, save_to_dir=None, save_prefix="", save_format="png", subset=None,
                 ignore_class_split=False, dtype=None):
        self.data_format, self.dtype = data_format or backend.image_data_format(), dtype or backend.floatx()
        others = []
        if isinstance(x, (tuple, list)):
            others = [np.asarray(one) for one in (x[1] if isinstance(x[1], list) else [x[1]])]
            x = x[0]
        _same_length(x, others, "All of the arrays in `x` should have the same length. Found shapes {} and {}")
        _same_length(x, [y], "`x` (images tensor) and `y` (labels) should have the same length. Found: x.shape = {}, "
                     "y.shape = {}")
        _same_length(x, [sample_weight], "`x` (images tensor) and `sample_weight` should have the same length. Found: "
                     "x.shape = {}, sample_weight.shape = {}")
        if subset is not None:
            rows = self._rows_of(subset, len(x), image_data_generator._validation_split, y, ignore_class_split)
            x, others, y = x[rows], [one[rows] for one in others], None if y is None else y[rows]
        self.x, self.x_misc = np.asarray(x, dtype=self.dtype), others
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self._check_pictures()
        self.image_data_generator = image_data_generator
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    @staticmethod
    def _rows_of(subset, count, share, y, ignore_class_split):
        if subset not in _SUBSETS:
            raise ValueError(f'Invalid subset name: {subset}; expected "training" or "validation".')
        cut = int(count * share)
        if y is not None and not ignore_class_split and not np.array_equal(np.unique(y[:cut]), np.unique(y[cut:])):
            raise ValueError("Training and validation subsets have different number of classes after the split. If "
                             "your numpy arrays are sorted by the label, you might want to shuffle them.")
        return _part(subset, count, share)

    def _check_pictures(self):
        if self.x.ndim != 4:
            raise ValueError("Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape "
                             f"{self.x.shape}")
        axis = 3 if self.data_format == "channels_last" else 1
        if self.x.shape[axis] not in (1, 3, 4):
            warnings.warn(f'NumpyArrayIterator is set to use the data format convention "{self.data_format}" (channels '
                          f"on axis {axis}), i.e. expected either 1, 3, or 4 channels on axis {axis}. However, it was "
                          f"passed an array with shape {self.x.shape} ({self.x.shape[axis]} channels).", stacklevel=4)

    def _get_batches_of_transformed_samples(self, index_array):
        batch = np.zeros((len(index_array), *self.x.shape[1:]), self.dtype)
        for place, row in enumerate(index_array):
            batch[place] = self._changed(self.x[row].astype(self.dtype))
        self._save(batch, index_array, 10 ** 4)
        x = [batch, *(one[index_array] for one in self.x_misc)] if self.x_misc else batch
        if self.y is None:
            return x
        return (x, self.y[index_array], *([] if self.sample_weight is None else [self.sample_weight[index_array]]))


# ---- files ----

class _FilesIterator(Iterator):
    """Batches of pictures of files: a subclass has `filenames`, `_filepaths`, `classes` or `_targets`."""

    _sample_weight = None

    def _set_up(self, generator, target_size, color_mode, data_format, subset, interpolation, keep_aspect_ratio, dtype):
        if color_mode not in _CHANNELS:
            raise ValueError(f'Invalid color mode: {color_mode}; expected "rgb", "rgba", or "grayscale".')
        if subset is not None and subset not in _SUBSETS:
            raise ValueError(f'Invalid subset name: {subset};expected "training" or "validation"')
        self.image_data_generator, self.target_size, self.color_mode = generator, tuple(target_size), color_mode
        self.data_format, self.dtype = data_format or backend.image_data_format(), dtype or backend.floatx()
        self.subset, self.interpolation, self.keep_aspect_ratio = subset, interpolation, keep_aspect_ratio
        channels = (_CHANNELS[color_mode],)
        self.image_shape = self.target_size + channels if self.data_format == "channels_last" else (
            channels + self.target_size)
        share = generator._validation_split if subset is not None else 0
        self.split = None if subset is None else (0, share) if subset == "validation" else (share, 1)

    def _cut(self, rows):
        """The part of a list, or of a table's rows, that belongs to the subset."""
        return rows if self.split is None else rows[int(self.split[0] * len(rows)):int(self.split[1] * len(rows))]

    filepaths = property(lambda self: self._filepaths, doc="The paths of all files.")
    sample_weight = property(lambda self: self._sample_weight, doc="The weights of all files; None.")

    @property
    def labels(self):
        """The labels of all files."""
        return self._targets if self.class_mode in ("multi_output", "raw") else self.classes

    def _labels_of(self, batch, rows):
        """The labels of a batch; None: it has none."""
        kind = self.class_mode
        if kind == "input":
            return batch.copy()
        if kind in ("binary", "sparse"):
            return np.array([self.classes[row] for row in rows], self.dtype)
        if kind == "categorical":
            found = np.zeros((len(batch), len(self.class_indices)), self.dtype)
            for place, row in enumerate(rows):
                found[place, self.classes[row]] = 1
            return found
        if kind == "multi_output":
            return [one[rows] for one in self._targets]
        return self._targets[rows] if kind == "raw" else None

    def _get_batches_of_transformed_samples(self, index_array):
        batch = np.zeros((len(index_array), *self.image_shape), self.dtype)
        for place, row in enumerate(index_array):
            picture = load_img(self._filepaths[row], color_mode=self.color_mode, target_size=self.target_size,
                               interpolation=self.interpolation, keep_aspect_ratio=self.keep_aspect_ratio)
            batch[place] = self._changed(img_to_array(picture, data_format=self.data_format))
        self._save(batch, index_array, 10 ** 7)
        y = self._labels_of(batch, index_array)
        if y is None:
            return batch
        return (batch, y) if self._sample_weight is None else (batch, y, self._sample_weight[index_array])


def _want_class_mode(class_mode, allowed):
    if class_mode not in allowed:
        raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {allowed}")


class DirectoryIterator(_FilesIterator):
    """Batches of the pictures in the folders of a folder, one for each class
    (``keras.preprocessing.image.DirectoryIterator``); see `ImageDataGenerator.flow_from_directory`."""

    allowed_class_modes = {"categorical", "binary", "sparse", "input", None}

    def __init__(self, directory, image_data_generator, target_size=(256, 256), color_mode="rgb", classes=None,
                 class_mode="categorical", batch_size=32, shuffle=True, seed=None, data_format=None, save_to_dir=None,
                 save_prefix="", save_format="png", follow_links=False, subset=None, interpolation="nearest",
                 keep_aspect_ratio=False, dtype=None):
        self._set_up(image_data_generator, target_size, color_mode, data_format, subset, interpolation,
                     keep_aspect_ratio, dtype)
        _want_class_mode(class_mode, self.allowed_class_modes)
        self.directory, self.class_mode = directory, class_mode
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        if not classes:
            classes = [one for one in sorted(os.listdir(directory)) if os.path.isdir(os.path.join(directory, one))]
        self.num_classes, self.class_indices = len(classes), {one: number for number, one in enumerate(classes)}
        self.filenames, numbers = [], []
        for one in classes:
            found = self._cut(self._files_of(os.path.join(directory, one), follow_links))
            base = os.path.basename(os.path.join(directory, one))
            self.filenames += [os.path.join(base, name) for name in found]
            numbers += [self.class_indices[base]] * len(found)
        self.samples, self.classes = len(self.filenames), np.array(numbers, "int32")
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self._filepaths = [os.path.join(directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _files_of(self, folder, follow_links):
        """The pictures in a folder and those in it, by their paths from there."""
        found = []
        for place, _, names in sorted(os.walk(folder, followlinks=follow_links), key=lambda one: one[0]):
            for name in sorted(names):
                if name.lower().endswith(".tiff"):
                    warnings.warn('Using ".tiff" files with multiple bands will cause distortion. Please verify your '
                                  "output.", stacklevel=4)
                if name.lower().endswith(self.white_list_formats):
                    found.append(os.path.relpath(os.path.join(place, name), folder))
        return found


class DataFrameIterator(_FilesIterator):
    """Batches of pictures that a table of pandas' names; see `ImageDataGenerator.flow_from_dataframe`."""

    allowed_class_modes = {"binary", "categorical", "input", "multi_output", "raw", "sparse", None}

    def __init__(self, dataframe, directory=None, image_data_generator=None, x_col="filename", y_col="class",
                 weight_col=None, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                 batch_size=32, shuffle=True, seed=None, data_format="channels_last", save_to_dir=None, save_prefix="",
                 save_format="png", subset=None, interpolation="nearest", keep_aspect_ratio=False, dtype="float32",
                 validate_filenames=True):
        self._set_up(image_data_generator, target_size, color_mode, data_format, subset, interpolation,
                     keep_aspect_ratio, dtype)
        table, self.directory, self.class_mode = dataframe.copy(), directory or "", class_mode
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        self._check_columns(table, x_col, y_col, weight_col, classes)
        if validate_filenames:
            table = self._of_files(table, x_col)
        has_classes = class_mode not in ("input", "multi_output", "raw", None)
        if has_classes:
            table, classes = self._of_classes(table, y_col, classes)
            self.class_indices = {one: number for number, one in enumerate(classes)}
        table = table.iloc[self._cut(range(len(table)))]
        if has_classes:
            self.classes = [[self.class_indices[one] for one in label] if isinstance(label, (list, tuple)) else
                            self.class_indices[label] for label in table[y_col]]
        elif class_mode is not None and class_mode != "input":
            self._targets = table[y_col].values if class_mode == "raw" else [
                np.array(table[one].tolist()) for one in y_col]
        self.filenames = table[x_col].tolist()
        self._sample_weight = table[weight_col].values if weight_col else None
        self.samples = len(self.filenames)
        print(f"Found {self.samples} {'validated' if validate_filenames else 'non-validated'} image filenames"
              f"{f' belonging to {len(classes)} classes' if has_classes else ''}.")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _check_columns(self, table, x_col, y_col, weight_col, classes):
        kind = self.class_mode
        _want_class_mode(kind, self.allowed_class_modes)
        if kind == "multi_output" and not isinstance(y_col, list):
            raise TypeError(f'If class_mode="{kind}", y_col must be a list. Received {type(y_col).__name__}.')
        if not all(isinstance(one, str) for one in table[x_col]):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        wanted = {"binary": str, "sparse": str, "categorical": (str, list, tuple)}.get(kind)
        if wanted is not None and not all(isinstance(one, wanted) for one in table[y_col]):
            raise TypeError(f'If class_mode="{kind}", y_col="{y_col}" column values must be '
                            f"{'strings' if wanted is str else 'type string, list or tuple'}.")
        if kind == "binary" and len(set(classes) if classes else set(table[y_col])) != 2:
            raise ValueError('If class_mode="binary" there must be 2 classes. Found '
                             f"{len(set(classes) if classes else set(table[y_col]))} classes.")
        if classes and kind in ("input", "multi_output", "raw", None):
            warnings.warn(f'`classes` will be ignored given the class_mode="{kind}"', stacklevel=4)
        if weight_col and not issubclass(table[weight_col].dtype.type, np.number):
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _of_files(self, table, x_col):
        """The rows whose files are pictures that are there."""
        there = [name.lower().endswith(self.white_list_formats) and os.path.isfile(os.path.join(self.directory, name))
                 for name in table[x_col]]
        if not all(there):
            warnings.warn(f'Found {there.count(False)} invalid image filename(s) in x_col="{x_col}". These filename(s) '
                          "will be ignored.", stacklevel=4)
        return table[np.array(there, bool)]

    @staticmethod
    def _of_classes(table, y_col, classes):
        """(the rows with a class of `classes`, these); without them all that occur, in order."""
        labels = [list(label) if isinstance(label, (list, tuple)) else label for label in table[y_col]]
        if not classes:
            return table, sorted({one for label in labels for one in (label if isinstance(label, list) else [label])})
        classes = list(dict.fromkeys(classes))
        kept = [[one for one in label if one in classes] if isinstance(label, list) else label if label in classes
                else [] for label in labels]
        table = table[np.array([label != [] for label in kept], bool)].copy()
        table[y_col] = [label for label in kept if label != []]
        return table, classes
