"""``keras.applications.efficientnet``: blocks of MobileNetV2 that weigh their channels, scaled together in depth, width
and size of the pictures (arXiv:1905.11946)."""

import math

from leat.keras import layers
from leat.keras.applications._common import Given, classify, divisible, finish, pool, start, uneven_padding
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications._squeeze import CONVOLVED, DENSE, activate, drop_and_add, squeeze
from leat.keras.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input  # noqa: F401

# Pixels of the kernel, blocks, filters, by how much they widen, and stride of the first block of each stage.
_STAGES = ((3, 1, 16, 1, 1), (3, 2, 24, 6, 2), (5, 2, 40, 6, 2), (3, 3, 80, 6, 2), (5, 3, 112, 6, 1), (5, 4, 192, 6, 2),
           (3, 1, 320, 6, 1))
_DROPPED = 0.2  # of the last block's shortcuts; of the others less, by their place


def _norm(x, name):
    return layers.BatchNormalization(axis=3, name=name)(x)


def _block(x, filters, kernel, stride, wider, dropped, name):
    before, channels = x, x.shape[-1]
    if wider != 1:
        x = layers.Conv2D(channels * wider, 1, padding="same", use_bias=False, kernel_initializer=CONVOLVED,
                          name=f"{name}expand_conv")(x)
        x = activate(_norm(x, f"{name}expand_bn"), f"{name}expand_activation")
    if stride == 2:
        x = uneven_padding(x, kernel, f"{name}dwconv_pad")
    x = layers.DepthwiseConv2D(kernel, strides=stride, padding="valid" if stride == 2 else "same", use_bias=False,
                               depthwise_initializer=CONVOLVED, name=f"{name}dwconv")(x)
    x = squeeze(activate(_norm(x, f"{name}bn"), f"{name}activation"), max(1, channels // 4), name)
    x = layers.Conv2D(filters, 1, padding="same", use_bias=False, kernel_initializer=CONVOLVED,
                      name=f"{name}project_conv")(x)
    x = _norm(x, f"{name}project_bn")
    return drop_and_add(x, before, dropped, name) if stride == 1 and channels == filters else x


def _efficientnet(width, depth, size, dropout_rate, name, *given):
    given = Given(*given)
    pictures = start(given, size)
    x = layers.Normalization(axis=3)(layers.Rescaling(1.0 / 255.0)(pictures))
    x = uneven_padding(x, 3, "stem_conv_pad")
    x = layers.Conv2D(divisible(32 * width), 3, strides=2, use_bias=False, kernel_initializer=CONVOLVED,
                      name="stem_conv")(x)
    x = activate(_norm(x, "stem_bn"), "stem_activation")
    stages = [(kernel, math.ceil(depth * count), divisible(filters * width), wider, stride)
              for kernel, count, filters, wider, stride in _STAGES]
    done, blocks = 0, sum(stage[1] for stage in stages)
    for number, (kernel, count, filters, wider, stride) in enumerate(stages, 1):
        for place in range(count):
            x = _block(x, filters, kernel, stride if place == 0 else 1, wider, _DROPPED * done / blocks,
                       f"block{number}{chr(ord('a') + place)}_")
            done += 1
    x = layers.Conv2D(divisible(1280 * width), 1, padding="same", use_bias=False, kernel_initializer=CONVOLVED,
                      name="top_conv")(x)
    x = activate(_norm(x, "top_bn"), "top_activation")
    if not given.include_top:
        return finish(pictures, pool(x, given), given, name)
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    x = layers.Dropout(dropout_rate, name="top_dropout")(x)
    return finish(pictures, classify(x, given, kernel_initializer=DENSE), given, name)


@pretrained
def EfficientNetB0(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb0"):
    """EfficientNet-B0, of pictures of 224 pixels square (``keras.applications.EfficientNetB0``)."""
    return _efficientnet(1.0, 1.0, 224, 0.2, name, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation)


@pretrained
def EfficientNetB1(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb1"):
    """EfficientNet-B1, of pictures of 240 pixels square (``keras.applications.EfficientNetB1``)."""
    return _efficientnet(1.0, 1.1, 240, 0.2, name, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation)


@pretrained
def EfficientNetB2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb2"):
    """EfficientNet-B2, of pictures of 260 pixels square (``keras.applications.EfficientNetB2``)."""
    return _efficientnet(1.1, 1.2, 260, 0.3, name, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation)


@pretrained
def EfficientNetB3(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb3"):
    """EfficientNet-B3, of pictures of 300 pixels square (``keras.applications.EfficientNetB3``)."""
    return _efficientnet(1.2, 1.4, 300, 0.3, name, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation)


@pretrained
def EfficientNetB4(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb4"):
    """EfficientNet-B4, of pictures of 380 pixels square (``keras.applications.EfficientNetB4``)."""
    return _efficientnet(1.4, 1.8, 380, 0.4, name, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation)


@pretrained
def EfficientNetB5(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb5"):
    """EfficientNet-B5, of pictures of 456 pixels square (``keras.applications.EfficientNetB5``)."""
    return _efficientnet(1.6, 2.2, 456, 0.4, name, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation)


@pretrained
def EfficientNetB6(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb6"):
    """EfficientNet-B6, of pictures of 528 pixels square (``keras.applications.EfficientNetB6``)."""
    return _efficientnet(1.8, 2.6, 528, 0.5, name, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation)


@pretrained
def EfficientNetB7(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb7"):
    """EfficientNet-B7, of pictures of 600 pixels square (``keras.applications.EfficientNetB7``)."""
    return _efficientnet(2.0, 3.1, 600, 0.5, name, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation)
