"""``keras.applications.resnet``: residual networks of pictures, in their first form: activations behind the sums."""

import json
import os

import numpy as np

from leat.keras import layers
from leat.keras._base.symbolic import KerasTensor
from leat.keras.models.functional import Functional

_EPSILON = 1.001e-5


def _normal(x, name):
    return layers.BatchNormalization(axis=3, epsilon=_EPSILON, name=name)(x)


def _block(x, filters, stride, conv_shortcut, name):
    """1x1, 3x3 and 1x1 convolutions beside a shortcut."""
    shortcut = x
    if conv_shortcut:
        shortcut = layers.Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(x)
        shortcut = _normal(shortcut, f"{name}_0_bn")
    x = layers.Conv2D(filters, 1, strides=stride, name=f"{name}_1_conv")(x)
    x = layers.Activation("relu", name=f"{name}_1_relu")(_normal(x, f"{name}_1_bn"))
    x = layers.Conv2D(filters, 3, padding="SAME", name=f"{name}_2_conv")(x)
    x = layers.Activation("relu", name=f"{name}_2_relu")(_normal(x, f"{name}_2_bn"))
    x = layers.Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x)
    x = layers.Add(name=f"{name}_add")([shortcut, _normal(x, f"{name}_3_bn")])
    return layers.Activation("relu", name=f"{name}_out")(x)


def _stack(x, filters, blocks, stride, name):
    for number in range(1, blocks + 1):
        x = _block(x, filters, stride if number == 1 else 1, number == 1, f"{name}_block{number}")
    return x


def _features(x, blocks, width=64):
    """What comes before the top: four stages of `blocks` blocks, of `width` filters and twice as many each time."""
    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(x)
    x = layers.Conv2D(width, 7, strides=2, use_bias=True, name="conv1_conv")(x)
    x = layers.Activation("relu", name="conv1_relu")(_normal(x, "conv1_bn"))
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for number, count in enumerate(blocks):
        x = _stack(x, width << number, count, 1 if number == 0 else 2, f"conv{number + 2}")
    return x


def _shape(input_shape, include_top, weights):
    """The shape of a picture. ValueError where it is none, or too small."""
    standard = (224, 224, 3)
    if weights == "imagenet" and include_top and input_shape is not None and tuple(input_shape) != standard:
        raise ValueError("When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be "
                         f"{standard}.  Received: input_shape={input_shape}")
    if input_shape is None:
        return standard if include_top else (None, None, 3)
    if len(input_shape) != 3:
        raise ValueError("`input_shape` must be a tuple of three integers.")
    if any(size is not None and size < 32 for size in input_shape[:2]):
        raise ValueError(f"Input size must be at least 32x32; Received: input_shape={input_shape}")
    if include_top and None in input_shape:
        raise ValueError("If `include_top` is True, you should specify a static `input_shape`. Received: "
                         f"input_shape={input_shape}")
    return tuple(input_shape)


def _resnet(blocks, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name):
    if weights == "imagenet":
        raise ValueError("weights='imagenet' would be downloaded; leat downloads nothing: give the path of a weights "
                         "file, or None for new weights")
    if weights is not None and not os.path.exists(weights):
        raise ValueError("The `weights` argument should be either `None` (random initialization), 'imagenet' "
                         "(pre-training on ImageNet), or the path to the weights file to be loaded.  Received: "
                         f"weights={weights}")
    shape = _shape(input_shape, include_top, weights)
    start = input_tensor if isinstance(input_tensor, KerasTensor) else layers.Input(shape=shape)
    x = _features(start, blocks)
    if include_top:
        x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
        x = layers.Dense(classes, activation=classifier_activation, name="predictions")(x)
    elif pooling == "avg":
        x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    elif pooling == "max":
        x = layers.GlobalMaxPooling2D(name="max_pool")(x)
    model = Functional(start, x, name=name)
    if weights is not None:
        model.load_weights(weights)
    return model


def ResNet50(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
             classifier_activation="softmax", name="resnet50"):
    """ResNet-50 (``keras.applications.ResNet50``).

    `weights`: None, or the path of a weights file; leat downloads nothing, so "imagenet" is a ValueError. `pooling`
    without a top: None, "avg" or "max".
    """
    return _resnet((3, 4, 6, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation, name)


def ResNet101(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", name="resnet101"):
    """ResNet-101 (``keras.applications.ResNet101``); arguments as ResNet50's."""
    return _resnet((3, 4, 23, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation, name)


def ResNet152(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", name="resnet152"):
    """ResNet-152 (``keras.applications.ResNet152``); arguments as ResNet50's."""
    return _resnet((3, 8, 36, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation, name)


def preprocess_input(x, data_format=None):
    """Pictures of RGB values up to 255 as the weights of ImageNet want them: BGR less its mean colour."""
    from leat._graph import ops
    from leat._core.tensor import convert_to_tensor
    mean = np.array([103.939, 116.779, 123.68], np.float32)
    if isinstance(x, np.ndarray):
        return x[..., ::-1].astype("float32") - mean
    return ops.FUNCTIONS["cast"](ops.FUNCTIONS["reverse"](convert_to_tensor(x), [-1]), "float32") - mean


def decode_predictions(preds, top=5, class_index=None):
    """The `top` classes of each row as (identifier, name, score).

    `class_index`: the path of a JSON file {"0": [identifier, name], ...}; leat downloads none. ValueError without it.
    """
    if class_index is None:
        raise ValueError("decode_predictions: the list of classes would be downloaded; leat downloads nothing: give "
                         "the path of imagenet_class_index.json as class_index")
    with open(class_index) as file:
        names = json.load(file)
    rows = np.asarray(preds)
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ValueError(f"`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, "
                         f"{len(names)})). Found array with shape: {rows.shape}")
    return [[(*names[str(place)], row[place]) for place in row.argsort()[-top:][::-1]] for row in rows]
