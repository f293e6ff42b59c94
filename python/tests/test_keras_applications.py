"""Models by name as Keras 3 has them: keras_applications.py recorded their parts, and what some make of a picture.

All of them: LEAT_APPLICATIONS=all. Else one of each family.
"""

import json
import os
import pathlib

import keras_applications
import numpy as np
import pytest

from leat import keras

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_applications.json").read_text())
SMALL = ["ConvNeXtTiny", "DenseNet121", "EfficientNetB0", "EfficientNetV2B1", "InceptionV3", "MobileNet", "MobileNetV2",
         "MobileNetV3Large", "MobileNetV3Small", "ResNet50V2", "Xception"]
ALL = os.environ.get("LEAT_APPLICATIONS") == "all"


@pytest.mark.parametrize("name", keras_applications.NAMES if ALL else SMALL)
def test_parts(name):
    assert keras_applications.describe(keras, name) == RECORDED["described"][name]
    if ALL and name != "NASNetLarge":  # whose pictures have no size in Keras, so that its cells fit no picture
        assert keras_applications.describe(keras, name, include_top=False) == RECORDED["bare"][name]


@pytest.mark.parametrize("name", ["MobileNetV2", "NASNetMobile", "VGG16"])
def test_parts_without_a_top(name):
    assert keras_applications.describe(keras, name, include_top=False) == RECORDED["bare"][name]


@pytest.mark.parametrize("name, place", [(name, place) for name, cases in keras_applications.OPTIONS.items()
                                         for place in range(len(cases))])
def test_options(name, place):
    assert keras_applications.describe(keras, name, **keras_applications.OPTIONS[name][place]) == \
        RECORDED["options"][name][place]


@pytest.mark.parametrize("name", list(RECORDED["run"]) if ALL else
                         ["MobileNet", "MobileNetV2", "MobileNetV3Small", "EfficientNetB0", "EfficientNetV2B0"])
def test_values(name):
    np.testing.assert_allclose(keras_applications.run(keras, name), RECORDED["run"][name], rtol=2e-4, atol=2e-5)


def test_pictures_are_prepared():
    found = keras_applications.preprocessed(keras)
    for name, (dtype, values) in RECORDED["preprocessed"].items():
        assert found[name][0] == dtype
        np.testing.assert_allclose(found[name][1], values, rtol=1e-3 if "float16" in name else 1e-6)


def test_what_is_refused():
    make = keras.applications.MobileNetV2
    with pytest.raises(ValueError, match="downloads"):
        make()
    with pytest.raises(ValueError, match="weights"):
        make(weights="/no/such/file")
    with pytest.raises(ValueError, match="75x75"):
        keras.applications.InceptionV3(weights=None, input_shape=(74, 80, 3))
    with pytest.raises(ValueError, match="static"):
        make(weights=None, input_shape=(None, 32, 3))
    with pytest.raises(ValueError, match="three"):
        make(weights=None, input_shape=(32, 3))
    with pytest.warns(UserWarning, match="channels"):
        make(weights=None, input_shape=(32, 32, 2), include_top=False)
    with pytest.raises(ValueError, match="mode"):
        keras.applications.imagenet_utils.preprocess_input(np.zeros((1, 1, 1, 3)), mode="other")


def test_weights_are_kept_and_trained(tmp_path):
    make = keras.applications.MobileNetV3Small
    options = {"input_shape": (32, 32, 3), "classes": 4, "minimalistic": True}
    model = make(weights=None, **options)
    model.compile("sgd", "sparse_categorical_crossentropy")
    model.fit(np.random.default_rng(1).random((4, 32, 32, 3), np.float32), np.arange(4), verbose=0)
    model.save_weights(tmp_path / "some.weights.h5")
    again = make(weights=str(tmp_path / "some.weights.h5"), **options)
    for one, other in zip(model.get_weights(), again.get_weights()):
        np.testing.assert_array_equal(one, other)
