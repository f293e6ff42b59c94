"""``keras.utils``' pictures in files, without Pillow; what is expected is numpy's arithmetic."""

import io
import sys

import numpy as np
import pytest

import leat as tf
from leat import errors
from leat.keras import utils


@pytest.fixture(autouse=True)
def without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)


PICTURE = np.random.RandomState(0).randint(0, 256, (6, 8, 3), "uint8")


def test_there_and_back(tmp_path):
    path = tmp_path / "a.png"
    utils.save_img(path, PICTURE, scale=False)
    picture = utils.load_img(path)
    assert picture.size == (8, 6) and picture.mode == "RGB" and (picture.width, picture.height) == (8, 6)
    array = utils.img_to_array(picture)
    assert array.dtype == "float32"
    np.testing.assert_array_equal(array, PICTURE)
    np.testing.assert_array_equal(utils.load_img(io.BytesIO(path.read_bytes())), PICTURE)
    opaque = np.full((6, 8, 1), 255, "uint8")
    np.testing.assert_array_equal(utils.load_img(str(path), color_mode="rgba"), np.dstack([PICTURE, opaque]))
    gray = np.asarray(utils.load_img(path, color_mode="grayscale"))
    np.testing.assert_allclose(gray, PICTURE @ [0.299, 0.587, 0.114], atol=0.51)
    assert utils.img_to_array(gray).shape == (6, 8, 1)
    assert utils.img_to_array(gray, "channels_first").shape == (1, 6, 8)
    assert utils.img_to_array(picture, "channels_first").shape == (3, 6, 8)
    assert picture._repr_png_() == path.read_bytes()


def test_other_sizes(tmp_path):
    path = tmp_path / "a.png"
    utils.save_img(path, PICTURE, scale=False)
    np.testing.assert_array_equal(utils.load_img(path, target_size=(3, 4)), PICTURE[1::2, 1::2])
    middle = utils.load_img(path, target_size=(3, 3), keep_aspect_ratio=True)
    np.testing.assert_array_equal(middle, PICTURE[1::2, 2:7:2])
    np.testing.assert_array_equal(utils.load_img(path, target_size=(12, 8)), PICTURE.repeat(2, 0))
    halves = tf.image.resize(PICTURE, (3, 4), "bilinear", antialias=True)
    np.testing.assert_allclose(utils.load_img(path, target_size=(3, 4), interpolation="bilinear"), halves, atol=0.51)
    with pytest.raises(errors.UnimplementedError, match="Pillow"):
        utils.load_img(path, target_size=(3, 4), interpolation="hamming")
    with pytest.raises(ValueError, match="some"):
        utils.load_img(path, target_size=(3, 4), interpolation="some")


def test_arrays_as_pictures(tmp_path):
    x = np.array([[[-1.0], [0.0]], [[0.5], [3.0]]])
    np.testing.assert_array_equal(utils.array_to_img(x), [[0, 63], [95, 255]])
    np.testing.assert_array_equal(utils.array_to_img(x + 1, scale=False), [[0, 1], [1, 4]])
    assert utils.array_to_img(x * 1000, scale=False).mode == "I"
    assert utils.array_to_img(PICTURE.transpose(2, 0, 1), "channels_first").size == (8, 6)
    assert (np.asarray(utils.array_to_img(np.zeros((2, 2, 3)))) == 0).all()
    for shape in ((2, 2), (2, 2, 2)):
        with pytest.raises(ValueError):
            utils.array_to_img(np.zeros(shape))
    with pytest.warns(UserWarning, match="RGBA"):
        utils.save_img(tmp_path / "a.jpg", np.dstack([PICTURE, PICTURE[..., 0]]))
    assert utils.load_img(tmp_path / "a.jpg").mode == "RGB"
    with pytest.raises(errors.UnimplementedError, match="tiff"):
        utils.save_img(tmp_path / "a.tiff", PICTURE)
    with pytest.raises(ValueError, match="color_mode"):
        utils.load_img(tmp_path / "a.jpg", color_mode="cmyk")
    with pytest.raises(TypeError, match="path"):
        utils.load_img(3)


def test_inputs_of_a_tensor():
    keras = tf.keras
    a, b = keras.Input((2,)), keras.Input((3,))
    joined = keras.layers.Concatenate()([keras.layers.Dense(2)(a), b, a])
    found = keras.utils.get_source_inputs(joined)
    assert len(found) == 2 and found[0] is a and found[1] is b and keras.utils.get_source_inputs(b) == [b]
