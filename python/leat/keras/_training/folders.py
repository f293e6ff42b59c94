"""Datasets of the files in a folder, whose sub-folders are the classes: pictures, texts and sounds."""

import os

import numpy as np

from leat import audio, image, io, strings
from leat._core.paths import anywhere
from leat._files import places
from leat._graph import ops
from leat._structures.ragged import RaggedTensor
from leat.data import AUTOTUNE, Dataset
from leat.errors import UnimplementedError

_PICTURES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
_METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


# ---- which files there are ----

def _files(folder, formats, follow_links):
    """The files below a folder, folder by folder, in the order of their names."""
    for root, _, names in sorted(places.walk(folder, follow_links), key=lambda found: found[0]):
        for name in sorted(names):
            if name.lower().endswith(formats):
                yield os.path.join(root, name)


def _classes(directory, labels, class_names):
    """The sub-folders that are looked into: those that are classes, or [""]."""
    if labels != "inferred":
        if class_names is not None:
            raise ValueError("When `labels=None` (no labels), argument `class_names` cannot be specified."
                             if labels is None else
                             "When argument `labels` is specified, argument `class_names` cannot be specified (the "
                             "`class_names` will be the sorted list of labels).")
        return [""]
    found = [name for name in sorted(places.names(directory))
             if places.is_folder(os.path.join(directory, name)) and not name.startswith(".")]
    if class_names is None:
        return found
    if not set(class_names) <= set(found):
        raise ValueError("The `class_names` passed did not match the names of the subdirectories of the target "
                         f"directory. Expected: {found} (or a subset of it), but received: class_names={class_names}")
    return list(class_names)


def _index(directory, labels, formats, class_names, shuffle, seed, follow_links, verbose):
    """(paths, labels or None, names of the classes or None), in numpy's order for the seed."""
    names = _classes(directory, labels, class_names)
    paths, numbers = [], []
    for number, name in enumerate(names):
        found = list(_files(os.path.join(directory, name), formats, follow_links))
        paths += found
        numbers += [number] * len(found)
    if labels == "inferred":
        labels = np.array(numbers, np.int32)
    elif labels is None:
        names = None
    else:
        if len(labels) != len(paths):
            raise ValueError("Expected the lengths of `labels` to match the number of files in the target directory. "
                             f"len(labels) is {len(labels)} while we found {len(paths)} files in directory "
                             f"{directory}.")
        labels = list(labels)
        names = [str(label) for label in sorted(set(labels))]
    if verbose:
        print(f"Found {len(paths)} files" + ("." if labels is None else f" belonging to {len(names)} classes."))
    if shuffle:
        np.random.RandomState(seed).shuffle(paths)
        if labels is not None:
            np.random.RandomState(seed).shuffle(labels)
    return paths, labels, names


def _part(paths, labels, validation_split, subset):
    """The first files for training, or the last for validation."""
    if not validation_split:
        return paths, labels
    count = int(validation_split * len(paths))
    cut = slice(None, -count) if subset == "training" else slice(-count, None)
    print(f"Using {len(paths) - count} files for training." if subset == "training" else
          f"Using {count} files for validation.")
    return paths[cut], None if labels is None else labels[cut]


# ---- what is asked for ----

def _check(labels, label_mode, class_names, validation_split, subset, shuffle, seed, what, format_):
    if labels not in ("inferred", None) if not isinstance(labels, np.ndarray) else True:
        if not isinstance(labels, (list, tuple)):
            raise ValueError(f"`labels` argument should be a list/tuple of integer labels, of the same size as the "
                             f"number of {what} files in the target directory. If you wish to infer the labels from "
                             'the subdirectory names in the target directory, pass `labels="inferred"`. If you wish '
                             f"to get a dataset that only contains {what + ' samples' if what != 'image' else 'images'}"
                             f" (no labels), pass `labels=None`. Received: labels={labels}")
        if class_names:
            raise ValueError(f'You can only pass `class_names` if `labels="inferred"`. Received: labels={labels}, and '
                             f"class_names={class_names}")
    if label_mode not in ("int", "categorical", "binary", None):
        raise ValueError('`label_mode` argument must be one of "int", "categorical", "binary", or None. Received: '
                         f"label_mode={label_mode}")
    if format_ not in ("tf", "grain"):
        raise ValueError(f'`format` should be either "tf" or "grain". Received: format={format_}')
    if format_ == "grain":
        raise UnimplementedError(None, None, 'leat makes datasets of its own alone; use format="tf"')
    if validation_split and not 0 < validation_split < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {validation_split}")
    if bool(validation_split) != bool(subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
    if subset not in ("training", "validation", "both", None):
        raise ValueError(f'`subset` must be either "training", "validation" or "both", received: {subset}')
    if validation_split and shuffle and seed is None:
        raise ValueError("If using `validation_split` and shuffling the data, you must provide a `seed` argument, to "
                         "make sure that there is no overlap between the training and validation subset.")


def _labels_of(labels, mode, count):
    """The labels as a dataset in the form that is wanted."""
    dataset = Dataset.from_tensor_slices(labels)
    if mode == "binary":
        return dataset.map(lambda x: ops.FUNCTIONS["expand_dims"](ops.FUNCTIONS["cast"](x, "float32"), -1))
    return dataset.map(lambda x: ops.FUNCTIONS["one_hot"](x, count)) if mode == "categorical" else dataset


def _dataset(paths, labels, label_mode, num_classes, load, shuffle, batch_size, seed, pads):
    dataset = Dataset.from_tensor_slices(list(paths))
    if label_mode:
        dataset = Dataset.zip((dataset, _labels_of(labels, label_mode, num_classes)))
    if shuffle:
        dataset = dataset.shuffle(batch_size * 8 if batch_size is not None else 1024, seed=seed)
    if label_mode:
        dataset = dataset.map(lambda path, label: (load(path), label), num_parallel_calls=AUTOTUNE)
    else:
        dataset = dataset.map(load, num_parallel_calls=AUTOTUNE)
    if batch_size is not None:
        dataset = dataset.padded_batch(batch_size) if pads else dataset.batch(batch_size)
    return dataset.prefetch(AUTOTUNE)


def _of_folder(directory, labels, label_mode, class_names, formats, batch_size, shuffle, seed, validation_split, subset,
               follow_links, verbose, load, missing, pads=False):
    """The dataset, or with subset "both" a list of two. `missing`: the words of the error where there is no file."""
    if labels is None or label_mode is None:
        labels = label_mode = None
    if seed is None:
        seed = np.random.randint(1e6)
    directory = anywhere(directory)
    paths, labels, names = _index(directory, labels, formats, class_names, shuffle, seed, follow_links, verbose)
    if label_mode == "binary" and len(names) != 2:
        raise ValueError('When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: '
                         f"class_names={names}")
    made = []
    for one in ("training", "validation") if subset == "both" else (subset,):
        own_paths, own_labels = _part(paths, labels, validation_split, one)
        if not own_paths:
            kind = f"{one} " if subset == "both" else ""
            raise ValueError(missing.format(kind=kind, directory=directory))
        made.append(_dataset(own_paths, own_labels, label_mode, len(names or ()), load,
                             shuffle and not (subset == "both" and one == "validation"), batch_size, seed, pads))
        made[-1].class_names, made[-1].file_paths = names, own_paths
    return made if subset == "both" else made[0]


# ---- pictures ----

def _cropped(picture, size):
    """The largest part in the middle that has the proportions of `size`."""
    op = ops.FUNCTIONS
    shape = op["shape"](picture)
    height, width = shape[0], shape[1]

    def at_most(side, other, wanted, per):
        found = op["cast"](op["cast"](other * wanted, "float32") / float(per), "int32")
        return op["math.maximum"](op["math.minimum"](side, found), 1)
    tall, wide = at_most(height, width, size[0], size[1]), at_most(width, height, size[1], size[0])
    top, left = (op["cast"](op["cast"](a - b, "float32") / 2.0, "int32") for a, b in ((height, tall), (width, wide)))
    return op["slice"](picture, [top, left, 0], [tall, wide, -1])


def image_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, color_mode="rgb",
                                 batch_size=32, image_size=(256, 256), shuffle=True, seed=None, validation_split=None,
                                 subset=None, interpolation="bilinear", follow_links=False, crop_to_aspect_ratio=False,
                                 pad_to_aspect_ratio=False, data_format=None, format="tf", verbose=True):
    """Batches of pictures, float32 from 0 to 255 of `image_size`, with labels (``keras.utils``' function of that name).

    `labels`: "inferred" takes the sub-folders of `directory` as classes, in the order of their names or of
    `class_names`; None: pictures alone; or a number for each file in the order of their paths. `label_mode`: "int",
    "categorical" (vectors), "binary" (float32 [1]), None. `validation_split` and `subset`: the last part of the files
    is for validation; "both" gives a list of two datasets. The order for a seed is Keras'. The dataset has the
    attributes `class_names` and `file_paths`. ValueError for what does not fit, and where there is no picture.
    """
    _check(labels, label_mode, class_names, validation_split, subset, shuffle, seed, "image", format)
    if color_mode not in _CHANNELS:
        raise ValueError('`color_mode` must be one of {"rgb", "rgba", "grayscale"}. Received: color_mode='
                         f"{color_mode}")
    if isinstance(image_size, int):
        image_size = (image_size, image_size)
    if not isinstance(image_size, (list, tuple)) or len(image_size) != 2:
        raise ValueError(f"Invalid `image_size` value. Expected a tuple of 2 integers. Received: "
                         f"image_size={image_size}")
    size, method, channels = tuple(map(int, image_size)), interpolation.lower(), _CHANNELS[color_mode]
    if method not in _METHODS:
        raise ValueError(f"Argument `interpolation` should be one of {_METHODS}. Received: interpolation={method}")
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`.")

    def load(path):
        picture = io.decode_image(io.read_file(path), channels=channels, expand_animations=False)
        if pad_to_aspect_ratio:
            picture = image.resize_with_pad(picture, size[0], size[1], method=method)
        else:
            picture = image.resize(_cropped(picture, size) if crop_to_aspect_ratio else picture, size, method=method)
        picture = ops.FUNCTIONS["ensure_shape"](picture, [*size, channels])
        return ops.FUNCTIONS["transpose"](picture, [2, 0, 1]) if data_format == "channels_first" else picture
    return _of_folder(directory, labels, label_mode, class_names, _PICTURES, batch_size, shuffle, seed,
                      validation_split, subset, follow_links, verbose, load,
                      "No {kind}images found in directory {directory}. Allowed formats: " + str(_PICTURES))


# ---- texts ----

def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                max_length=None, shuffle=True, seed=None, validation_split=None, subset=None,
                                follow_links=False, format="tf", verbose=True):
    """Batches of the texts in the ".txt" files of a folder, with labels (``keras.utils.text_dataset_from_directory``).

    `max_length`: so many bytes of each at most. The other arguments are those of `image_dataset_from_directory`.
    """
    _check(labels, label_mode, class_names, validation_split, subset, shuffle, seed, "text", format)

    def load(path):
        text = io.read_file(path)
        return text if max_length is None else strings.substr(text, 0, max_length)
    return _of_folder(directory, labels, label_mode, class_names, (".txt",), batch_size, shuffle, seed,
                      validation_split, subset, follow_links, verbose, load,
                      "No {kind}text files found in directory {directory}. Allowed format: .txt")


# ---- sounds ----

def audio_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                 sampling_rate=None, output_sequence_length=None, ragged=False, shuffle=True, seed=None,
                                 validation_split=None, subset=None, follow_links=False, verbose=True):
    """Batches of the sounds in the ".wav" files of a folder, float32 [samples, channels] from -1 to 1, with labels
    (``keras.utils.audio_dataset_from_directory``).

    `output_sequence_length`: so many samples of each, cut or filled with zeros; without it the sounds of a batch are
    filled to the longest, with `ragged` they keep their lengths. The other arguments are those of
    `image_dataset_from_directory`; subset "both" gives a tuple. Other rates (`sampling_rate`) are UNIMPLEMENTED.
    """
    _check(labels, label_mode, class_names, None, None, shuffle, seed, "audio", "tf")
    if ragged and output_sequence_length is not None:
        raise ValueError("Cannot set both `ragged` and `output_sequence_length`")
    if sampling_rate is not None:
        if not isinstance(sampling_rate, int) or sampling_rate <= 0:
            wanted = "be higher than 0" if isinstance(sampling_rate, int) else "have an integer value"
            raise ValueError(f"`sampling_rate` should {wanted}. Received: sampling_rate={sampling_rate}")
        raise UnimplementedError(None, None, f"audio_dataset_from_directory: sampling_rate={sampling_rate} is not "
                                 "supported, sounds keep their rate; leave it at None and convert the files before")
    _check(labels, label_mode, class_names, validation_split, subset, shuffle, seed, "audio", "tf")
    length = -1 if output_sequence_length is None else output_sequence_length

    def load(path):
        sound = audio.decode_wav(io.read_file(path), desired_samples=length).audio
        return RaggedTensor.from_tensor(sound) if ragged else sound
    made = _of_folder(directory, labels, label_mode, class_names, (".wav",), batch_size, shuffle, seed,
                      validation_split, subset, follow_links, verbose, load,
                      "No {kind}audio files found in directory {directory}. Allowed format(s): ('.wav',)",
                      output_sequence_length is None and not ragged)
    return tuple(made) if subset == "both" else made
