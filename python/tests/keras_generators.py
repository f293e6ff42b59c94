"""Calls of keras.preprocessing.image that run under Keras and leat alike.

``python keras_generators.py data/keras_generators.json`` records what they give under Keras, with scipy, Pillow and
pandas; test_keras_generators.py compares.
"""

import json
import os
import sys
import tempfile

import numpy as np

_rng = np.random.RandomState(0)
X, Y = (_rng.rand(5, 7, 9, 3) * 255).astype("f"), np.arange(5)
FILES = {"cats/0.png": 6, "cats/sub/1.png": 7, "cats/2.png": 8, "dogs/0.png": 6, "dogs/1.png": 9, "dogs/2.png": 7,
         "dogs/3.png": 5}
WAYS = [
    {}, {"rotation_range": 30}, {"width_shift_range": .2, "height_shift_range": .3}, {"width_shift_range": [1, 2]},
    {"height_shift_range": 3}, {"shear_range": 20}, {"zoom_range": .3}, {"zoom_range": (.5, .8)},
    {"horizontal_flip": True, "vertical_flip": True}, {"channel_shift_range": 50}, {"brightness_range": (.3, 1.7)},
    {"rescale": 1 / 255}, {"samplewise_center": True}, {"samplewise_std_normalization": True},
    {"rotation_range": 40, "zoom_range": .2, "shear_range": 10, "width_shift_range": .1, "horizontal_flip": True,
     "rescale": 1 / 255}, {"rotation_range": 30, "fill_mode": "constant", "cval": 7.0},
    {"rotation_range": 60, "fill_mode": "reflect"}, {"rotation_range": 60, "fill_mode": "wrap"},
    {"width_shift_range": .8, "fill_mode": "wrap"}, {"height_shift_range": 15, "fill_mode": "reflect"},
    {"rotation_range": 30, "interpolation_order": 0}, {"data_format": "channels_first", "rotation_range": 20}]
FOLDERS = [{}, {"class_mode": "binary"}, {"class_mode": "sparse", "color_mode": "grayscale"},
           {"class_mode": None, "color_mode": "rgba"}, {"class_mode": "input"}, {"classes": ["dogs", "cats"]},
           {"subset": "training"}, {"subset": "validation"}, {"keep_aspect_ratio": True}, {"class_mode": "q"},
           {"color_mode": "q"}, {"subset": "q"}]
TABLES = [{}, {"class_mode": "sparse"}, {"class_mode": "binary"}, {"class_mode": "binary", "classes": ["a", "b"]},
          {"class_mode": "raw", "y_col": "n"}, {"class_mode": "raw", "y_col": ["n", "m"]},
          {"class_mode": "multi_output", "y_col": ["n", "m"]}, {"class_mode": "multi_output", "y_col": "n"},
          {"y_col": "multi"}, {"y_col": "multi", "classes": ["a", "c"]}, {"class_mode": "input"}, {"class_mode": None},
          {"weight_col": "w"}, {"weight_col": "class"}, {"classes": ["b", "a"]}, {"subset": "training"},
          {"subset": "validation"}, {"class_mode": "other", "y_col": "n"}, {"class_mode": "q"},
          {"class_mode": "sparse", "y_col": "n"}, {"y_col": "n"}, {"x_col": "n"},
          {"validate_filenames": False, "subset": "validation"},
          {"color_mode": "grayscale", "class_mode": "raw", "y_col": "m"}]


def plain(value):
    """Sums of pictures, which tell their places; other arrays as lists."""
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray) and value.ndim > 2:
        places = np.arange(value.size).reshape(value.shape) % 97
        return [list(value.shape), round(float(value.sum(dtype=float)), 1), round(float((value * places).sum()), 1)]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def called(function):
    """What a call gives, or the name of the exception that it raises."""
    try:
        return plain(function())
    except Exception as error:
        return type(error).__name__


def of_arrays(image):
    """Batches of an array, changed at random."""
    def flow(way):
        generator = image.ImageDataGenerator(**way)
        x = X.transpose(0, 3, 1, 2) if "data_format" in way else X
        iterator = generator.flow(x, Y, batch_size=2, seed=3)
        return [list(next(iterator)) for _ in range(4)] + [generator.flow(x, Y, batch_size=2, seed=3)[i][0]
                                                          for i in range(3)]
    def fitted(way, **arguments):
        generator = image.ImageDataGenerator(**way)
        generator.fit(X, **arguments)
        found = np.abs(next(generator.flow(X, shuffle=False)))
        return [found] + [np.round(one.ravel(), 2) for one in (generator.mean, generator.std) if one is not None]
    split = image.ImageDataGenerator(validation_split=.4)
    return {
        **{f"flow {way}": lambda way=way: flow(way) for way in WAYS},
        "fit": lambda: fitted({"featurewise_center": True, "featurewise_std_normalization": True}),
        "whitened": lambda: fitted({"zca_whitening": True}),
        "augmented": lambda: fitted({"featurewise_center": True, "rotation_range": 10}, augment=True, rounds=2, seed=1),
        "subsets": lambda: [len(split.flow(X, Y * 0, subset=one, batch_size=2)) for one in ("training", "validation")],
        "classes of subsets": lambda: split.flow(X, Y, subset="training"),
        "another subset": lambda: split.flow(X, Y, subset="other"),
        "several inputs": lambda: [one.shape[1:] for one in next(split.flow((X, Y), Y))[0]],
        "weights": lambda: list(next(split.flow(X, Y, sample_weight=Y, seed=1))),
        "no labels": lambda: next(split.flow(X, seed=1)),
        "one picture": lambda: split.flow(X[0]), "lengths": lambda: split.flow(X, Y[:2]),
        "zoom": lambda: image.ImageDataGenerator(zoom_range=(1, 2, 3)),
        "share": lambda: image.ImageDataGenerator(validation_split=2),
        "format": lambda: image.ImageDataGenerator(data_format="x"),
        "brightness": lambda: image.ImageDataGenerator(brightness_range=1),
        "behind the end": lambda: split.flow(X, Y)[9], "fit one picture": lambda: split.fit(X[0])}


def of_pictures(image):
    """Single pictures."""
    def drawn(name, *arguments, **keywords):
        np.random.seed(5)
        return getattr(image, name)(X[0], *arguments, **keywords)
    places = {"row_axis": 0, "col_axis": 1, "channel_axis": 2}
    affine = image.apply_affine_transform
    return {
        "rotation": lambda: drawn("random_rotation", 40, **places),
        "shift": lambda: drawn("random_shift", .3, .2, **places),
        "shear": lambda: drawn("random_shear", 20, **places),
        "zoom": lambda: drawn("random_zoom", (.5, .9), **places), "bad zoom": lambda: drawn("random_zoom", (1, 2, 3)),
        "channels": lambda: drawn("random_channel_shift", 30, channel_axis=2),
        "brightness": lambda: drawn("random_brightness", (.5, 1.5)),
        "all": lambda: affine(X[0], theta=33, tx=1.5, ty=-.5, shear=5, zx=.8, zy=1.2, **places),
        "other axes": lambda: affine(X[0].transpose(2, 1, 0), theta=33, tx=1.5, row_axis=2, col_axis=1),
        "nothing": lambda: affine(X[0], **places), "axes": lambda: affine(X[0], theta=33, row_axis=0, col_axis=0),
        "channels between": lambda: affine(X[0], theta=33, row_axis=0, col_axis=2, channel_axis=1),
        "batch": lambda: affine(X, theta=33, **places)}


def _write(image, folder):
    rng = np.random.RandomState(1)
    for name, height in FILES.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        image.save_img(os.path.join(folder, name), (rng.rand(height, 8, 3) * 255).astype("uint8"), scale=False)
    with open(os.path.join(folder, "cats", "none.txt"), "w") as file:
        file.write("no picture")


def of_folders(image, folder):
    """Batches of the pictures of a folder."""
    _write(image, folder)
    generator = image.ImageDataGenerator(rescale=1 / 255, rotation_range=20, validation_split=.34)

    def flow(way):
        iterator = generator.flow_from_directory(folder, target_size=(5, 6), batch_size=3, seed=2, **way)
        batch = next(iterator)
        return [iterator.samples, sorted(iterator.class_indices.items()), iterator.filenames, iterator.classes,
                list(iterator.image_shape), len(iterator), iterator.num_classes,
                list(batch) if isinstance(batch, tuple) else batch]
    return {str(way): lambda way=way: flow(way) for way in FOLDERS}


def of_tables(image, folder):
    """Batches of pictures that a table names."""
    import pandas
    _write(image, folder)
    names = [*sorted(FILES)[:2], "gone.png", *sorted(FILES)[2:5]]
    table = pandas.DataFrame({"filename": names, "class": list("ababac"), "n": [1, 2, 3, 4, 5, 6],
                              "m": [.1, .2, .3, .4, .5, .6],
                              "multi": [["a"], ["a", "b"], ["b"], ["c"], ["b", "c"], ["a"]],
                              "w": [1.0, 2, 3, 4, 5, 6]})
    generator = image.ImageDataGenerator(rotation_range=10, validation_split=.4)

    def flow(way):
        iterator = generator.flow_from_dataframe(table, folder, target_size=(5, 6), batch_size=3, seed=2, **way)
        batch = next(iterator)
        return [iterator.samples, iterator.filenames, sorted(getattr(iterator, "class_indices", {}).items()),
                list(batch) if isinstance(batch, tuple) else batch]
    return {str(way): lambda way=way: flow(way) for way in TABLES}


if __name__ == "__main__":
    from tensorflow.keras.preprocessing import image as keras_image
    with tempfile.TemporaryDirectory() as place:
        groups = {"arrays": of_arrays(keras_image), "pictures": of_pictures(keras_image),
                  "folders": of_folders(keras_image, place), "tables": of_tables(keras_image, place)}
        recorded = {group: {name: called(function) for name, function in calls.items()}
                    for group, calls in groups.items()}
    with open(sys.argv[1], "w") as out:
        json.dump(recorded, out)
