"""Models by name, described and run under Keras and leat alike.

``python keras_applications.py data/keras_applications.json`` records them under Keras; test_keras_applications.py
compares.
"""

import hashlib
import json
import sys
import warnings

import numpy as np

NAMES = ("ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge DenseNet121 DenseNet169 DenseNet201 "
         "EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6 "
         "EfficientNetB7 EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L "
         "EfficientNetV2M EfficientNetV2S InceptionResNetV2 InceptionV3 MobileNet MobileNetV2 MobileNetV3Large "
         "MobileNetV3Small NASNetLarge NASNetMobile ResNet101 ResNet101V2 ResNet152 ResNet152V2 ResNet50 ResNet50V2 "
         "VGG16 VGG19 Xception").split()
OPTIONS = {"MobileNet": [{"alpha": 0.25, "depth_multiplier": 2, "input_shape": (128, 128, 3), "classes": 7}],
           "MobileNetV2": [{"alpha": 1.4, "input_shape": (96, 96, 3), "classes": 7},
                           {"alpha": 0.35, "input_shape": (97, 64, 3), "classes": 7}],
           "MobileNetV3Small": [{"minimalistic": True, "alpha": 0.75, "classes": 7},
                                {"alpha": 1.25, "classes": 7, "dropout_rate": 0, "include_preprocessing": False}],
           "EfficientNetV2B0": [{"include_preprocessing": False, "input_shape": (65, 70, 3), "classes": 3}],
           "ConvNeXtTiny": [{"include_preprocessing": False, "classes": 3, "input_shape": (64, 32, 3)}],
           "ResNet50V2": [{"classes": 3, "input_shape": (33, 40, 1), "classifier_activation": None}]}
SIZE = 96  # pixels that are run


def digest(lines):
    return hashlib.sha256("\n".join(map(str, lines)).encode()).hexdigest()[:16]


def describe(keras, name, **options):
    """Its name, how many parameters it has, its layers' names and its weights' shapes in order."""
    keras.backend.clear_session()
    model = getattr(keras.applications, name)(weights=None, **options)
    return {"name": model.name, "parameters": model.count_params(),
            "shapes": [list(shape) for shape in (model.input_shape, model.output_shape)],
            "layers": digest(layer.name for layer in model.layers),
            "weights": digest(tuple(weight.shape) for weight in model.weights)}


def run(keras, name):
    """What the model without its top makes of a picture, with weights that are known."""
    keras.backend.clear_session()
    model = getattr(keras.applications, name)(weights=None, include_top=False, input_shape=(SIZE, SIZE, 3),
                                              pooling="max")
    random, weights = np.random.default_rng(5), []
    for weight in model.weights:
        shape, last = tuple(weight.shape), weight.path.rsplit("/", 1)[-1]
        drawn = random.standard_normal(shape).astype(np.float32)
        if last in ("moving_variance", "variance", "gamma"):
            weights.append(1 + 0.2 * np.abs(drawn))
        else:
            weights.append(drawn / np.sqrt(max(np.prod(shape[:-1]), 1)).astype(np.float32))
    model.set_weights(weights)
    picture = random.integers(0, 256, (1, SIZE, SIZE, 3)).astype(np.float32)
    module = getattr(keras.applications, MODULES[name])
    found = np.asarray(model(module.preprocess_input(picture), training=False))[0]
    return found[:: len(found) // 8][:8].tolist()


MODULES = {"ConvNeXtTiny": "convnext", "DenseNet121": "densenet", "EfficientNetB0": "efficientnet",
           "EfficientNetV2B0": "efficientnet_v2", "EfficientNetV2S": "efficientnet_v2",
           "InceptionResNetV2": "inception_resnet_v2", "InceptionV3": "inception_v3", "MobileNet": "mobilenet",
           "MobileNetV2": "mobilenet_v2", "MobileNetV3Large": "mobilenet_v3", "MobileNetV3Small": "mobilenet_v3",
           "NASNetMobile": "nasnet", "ResNet50": "resnet50", "ResNet50V2": "resnet_v2", "VGG16": "vgg16",
           "Xception": "xception"}


def preprocessed(keras):
    """Two pixels in each mode and layout."""
    pixels = np.array([[[[0, 100, 255], [7, 8, 9]]]])
    found = {}
    for mode in ("caffe", "tf", "torch"):
        for dtype in ("uint8", "float64", "float16"):
            made = keras.applications.imagenet_utils.preprocess_input(pixels.astype(dtype), mode=mode)
            found[f"{mode} {dtype}"] = [str(made.dtype), np.asarray(made).tolist()]
        made = keras.applications.imagenet_utils.preprocess_input(
            np.moveaxis(pixels, -1, 1).astype("float32"), data_format="channels_first", mode=mode)
        found[f"{mode} first"] = [str(made.dtype), np.asarray(made).tolist()]
    return found


def main(path):
    import keras
    warnings.simplefilter("ignore")
    found = {"described": {}, "bare": {}, "options": {}, "run": {}, "preprocessed": preprocessed(keras)}
    for name in NAMES:
        found["described"][name] = describe(keras, name)
        found["bare"][name] = describe(keras, name, include_top=False)
        found["options"][name] = [describe(keras, name, **options) for options in OPTIONS.get(name, ())]
        if name in MODULES:
            found["run"][name] = run(keras, name)
        print(name, flush=True)
    with open(path, "w") as file:
        json.dump(found, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
