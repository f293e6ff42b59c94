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


ROOT = "https://storage.googleapis.com/tensorflow/keras-applications/"


@pytest.mark.parametrize("name, options, address, file_hash", [
    ("ResNet50", {}, ROOT + "resnet/resnet50_weights_tf_dim_ordering_tf_kernels.h5",
     "2cb95161c43110f7111970584f804107"),
    ("VGG16", {"include_top": False}, ROOT + "vgg16/vgg16_weights_tf_dim_ordering_tf_kernels_notop.h5",
     "6d6bbae143d832006294945121d1f1fc"),
    ("NASNetMobile", {"include_top": False}, ROOT + "nasnet/NASNet-mobile-no-top.h5",
     "1ed92395b5b598bdda52abe5c0dbfd63"),
    ("EfficientNetB0", {"name": "mine"}, "https://storage.googleapis.com/keras-applications/efficientnetb0.h5",
     "902e53a9f72be733fc0bcb005b3ebbac"),
    ("EfficientNetV2S", {"include_top": False}, ROOT + "efficientnet_v2/efficientnetv2-s_notop.h5",
     "af0682fb74e8c54910f2d4393339c070"),
    ("ConvNeXtTiny", {}, ROOT + "convnext/convnext_tiny.h5",
     "8ae6e78ce2933352b1ef4008e6dd2f17bc40771563877d156bc6426c7cf503ff"),
    ("MobileNet", {"alpha": 0.25, "input_shape": (128, 128, 3)}, ROOT + "mobilenet/mobilenet_2_5_128_tf.h5", None),
    ("MobileNetV2", {"alpha": 1.4, "include_top": False},
     ROOT + "mobilenet_v2/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.4_224_no_top.h5", None),
    ("MobileNetV3Small", {"minimalistic": True},
     ROOT + "mobilenet_v3/weights_mobilenet_v3_small_minimalistic_224_1.0_float.h5",
     "99cd97fb2fcdad2bf028eb838de69e37"),
])
def test_where_weights_are_fetched(monkeypatch, name, options, address, file_hash):
    def refuse(fname, origin, **others):
        asked.append((origin, others["file_hash"]))
        raise OSError("no route")
    asked = []
    monkeypatch.setattr("leat.keras.applications._pretrained.get_file", refuse)
    with pytest.raises(OSError, match="weights=None"):
        getattr(keras.applications, name)(**options)
    assert asked == [(address, file_hash)]


def test_fetched_weights_are_loaded(monkeypatch, tmp_path):
    made = keras.applications.MobileNetV3Small(weights=None, include_top=False)
    made.save_weights(tmp_path / "some.weights.h5")
    monkeypatch.setattr("leat.keras.applications._pretrained.get_file",
                        lambda *_, **others: str(tmp_path / "some.weights.h5"))
    model = keras.applications.MobileNetV3Small(include_top=False)
    for one, other in zip(model.get_weights(), made.get_weights()):
        np.testing.assert_array_equal(one, other)


def test_names_of_classes_are_fetched(monkeypatch, tmp_path):
    (tmp_path / "names.json").write_text(json.dumps({"0": ["n0", "cat"], "1": ["n1", "dog"]}))
    monkeypatch.setattr("leat.keras.applications._pretrained.get_file", lambda *_, **others: tmp_path / "names.json")
    found = keras.applications.resnet.decode_predictions(np.array([[0.25, 0.75]]), top=1)
    assert found == [[("n1", "dog", 0.75)]]


@pytest.mark.parametrize("name, options, word", [
    ("ResNet50", {"classes": 10}, "classes=10"), ("MobileNet", {"alpha": 0.3}, "alpha=0.3"),
    ("MobileNet", {"depth_multiplier": 2}, "depth_multiplier=2"), ("MobileNetV3Large", {"alpha": 0.5}, "alpha=0.5")])
def test_weights_that_there_are_none_of(name, options, word):
    with pytest.raises(ValueError, match=word):
        getattr(keras.applications, name)(**options)


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
