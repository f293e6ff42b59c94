"""keras.preprocessing.image.ImageDataGenerator and its kin give what Keras gives (data/keras_generators.json)."""

import json
import os

import keras_generators as calls
import numpy as np
import pytest

import leat as tf

with open(os.path.join(os.path.dirname(__file__), "data", "keras_generators.json")) as file:
    RECORDED = json.load(file)
image = tf.keras.preprocessing.image


def near(found, wanted):
    """Numbers to a few parts in a million: scipy adds products in another order."""
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(near, found, wanted))
    if isinstance(wanted, float):
        return abs(found - wanted) <= 0.11 + 2e-6 * abs(wanted)
    return found == wanted


def compare(group, made):
    found = {name: json.loads(json.dumps(calls.called(function))) for name, function in made.items()}
    assert set(found) == set(RECORDED[group])
    assert {name: found[name] for name in found if not near(found[name], RECORDED[group][name])} == {}


@pytest.mark.filterwarnings("ignore")
def test_arrays():
    compare("arrays", calls.of_arrays(image))


def test_pictures():
    compare("pictures", calls.of_pictures(image))


def test_folders(tmp_path):
    compare("folders", calls.of_folders(image, str(tmp_path)))


@pytest.mark.filterwarnings("ignore")
def test_tables(tmp_path):
    pytest.importorskip("pandas")
    compare("tables", calls.of_tables(image, str(tmp_path)))


def test_in_models(tmp_path):
    calls._write(image, str(tmp_path))
    generator = image.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2, activation="softmax")])
    model.compile("sgd", "categorical_crossentropy")
    batches = generator.flow_from_directory(str(tmp_path), target_size=(5, 6), batch_size=3, seed=2)
    assert len(model.fit(batches, epochs=2, verbose=0).history["loss"]) == 2
    alone = generator.flow_from_directory(str(tmp_path), target_size=(5, 6), batch_size=3, class_mode=None,
                                          shuffle=False)
    assert model.predict(alone, verbose=0).shape == (7, 2)


def test_saved_pictures(tmp_path):
    batches = image.ImageDataGenerator().flow(calls.X, shuffle=False, seed=1, save_to_dir=str(tmp_path),
                                              save_prefix="p")
    next(batches)
    names = sorted(os.listdir(tmp_path))
    assert [name.split("_")[:2] for name in names] == [["p", str(row)] for row in range(5)]
    assert np.asarray(image.load_img(tmp_path / names[0])).shape == (7, 9, 3)


def test_refused():
    with pytest.raises(tf.errors.UnimplementedError, match="order"):
        image.apply_affine_transform(calls.X[0], theta=10, row_axis=0, col_axis=1, channel_axis=2, order=3)
    with pytest.warns(UserWarning, match="fit"):
        image.ImageDataGenerator(featurewise_center=True).standardize(calls.X[0].copy())
