"""``keras.applications.efficientnet_v2``: EfficientNet whose first blocks are plain convolutions (arXiv:2104.00298)."""

import math
from typing import NamedTuple

from leat.keras import layers
from leat.keras.applications._common import Given, classify, divisible, finish, pool, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications._squeeze import CONVOLVED, DENSE, activate, drop_and_add, squeeze
from leat.keras.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input  # noqa: F401

_DROPPED = 0.2  # of the last block's shortcuts; of the others less, by their place


class _Stage(NamedTuple):
    """Blocks that are alike but for the stride of the first; all kernels have 3 pixels."""
    count: int
    filters: int
    wider: int
    stride: int
    fused: bool  # one convolution that widens and looks around; else one of each channel, and weights of channels


class _Kind(NamedTuple):
    stem: int  # filters of the first convolution
    stages: tuple


def _kind(stem, *rows):
    return _Kind(stem, tuple(_Stage(*row) for row in rows))


_BASE = _kind(32, (1, 16, 1, 1, True), (2, 32, 4, 2, True), (2, 48, 4, 2, True), (3, 96, 4, 2, False),
              (5, 112, 6, 1, False), (8, 192, 6, 2, False))
_SMALL = _kind(24, (2, 24, 1, 1, True), (4, 48, 4, 2, True), (4, 64, 4, 2, True), (6, 128, 4, 2, False),
               (9, 160, 6, 1, False), (15, 256, 6, 2, False))
_MEDIUM = _kind(24, (3, 24, 1, 1, True), (5, 48, 4, 2, True), (5, 80, 4, 2, True), (7, 160, 4, 2, False),
                (14, 176, 6, 1, False), (18, 304, 6, 2, False), (5, 512, 6, 1, False))
_LARGE = _kind(32, (4, 32, 1, 1, True), (7, 64, 4, 2, True), (7, 96, 4, 2, True), (10, 192, 4, 2, False),
               (19, 224, 6, 1, False), (25, 384, 6, 2, False), (7, 640, 6, 1, False))


def _norm(x, name):
    return layers.BatchNormalization(axis=3, momentum=0.9, name=name)(x)


def _convolve(x, filters, kernel, stride, name):
    return layers.Conv2D(filters, kernel, strides=stride, padding="same", use_bias=False, kernel_initializer=CONVOLVED,
                         name=name)(x)


def _block(x, stage, filters, stride, dropped, name):
    before, channels = x, x.shape[-1]
    if stage.wider != 1:
        x = _convolve(x, channels * stage.wider, 3 if stage.fused else 1, stride if stage.fused else 1,
                      f"{name}expand_conv")
        x = activate(_norm(x, f"{name}expand_bn"), f"{name}expand_activation")
    if not stage.fused:
        x = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False, depthwise_initializer=CONVOLVED,
                                   name=f"{name}dwconv2")(x)
        x = squeeze(activate(_norm(x, f"{name}bn"), f"{name}activation"), max(1, channels // 4), name)
    alone = stage.fused and stage.wider == 1
    x = _convolve(x, filters, 3 if alone else 1, stride if alone else 1, f"{name}project_conv")
    x = _norm(x, f"{name}project_bn")
    if alone:
        x = activate(x, f"{name}project_activation")
    return drop_and_add(x, before, dropped, name) if stride == 1 and channels == filters else x


def _prepare(x, base):
    if not base:
        return layers.Rescaling(scale=1.0 / 128.0, offset=-1.0)(x)
    deviation = (0.229, 0.224, 0.225)
    return layers.Normalization(mean=[0.485, 0.456, 0.406], variance=[one**2 for one in deviation], axis=3)(
        layers.Rescaling(scale=1.0 / 255.0)(x))


def _efficientnet(kind, width, depth, size, include_preprocessing, name, *given):
    given = Given(*given)
    pictures = x = start(given, size)
    if include_preprocessing:
        x = _prepare(x, kind is _BASE)

    def scaled(filters):
        return divisible(filters * width, keeps_most=False)
    x = _convolve(x, scaled(kind.stem), 3, 2, "stem_conv")
    x = activate(_norm(x, "stem_bn"), "stem_activation")
    counts = [math.ceil(depth * stage.count) for stage in kind.stages]
    done = 0
    for number, (stage, count) in enumerate(zip(kind.stages, counts), 1):
        for place in range(count):
            x = _block(x, stage, scaled(stage.filters), stage.stride if place == 0 else 1,
                       _DROPPED * done / sum(counts), f"block{number}{chr(ord('a') + place)}_")
            done += 1
    x = _convolve(x, scaled(1280), 1, 1, "top_conv")
    x = activate(_norm(x, "top_bn"), "top_activation")
    if not given.include_top:
        return finish(pictures, pool(x, given), given, name)
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    x = layers.Dropout(0.2, name="top_dropout")(x)
    return finish(pictures, classify(x, given, kernel_initializer=DENSE, bias_initializer="zeros"), given, name)


@pretrained
def EfficientNetV2B0(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                     classes=1000, classifier_activation="softmax", include_preprocessing=True,
                     name="efficientnetv2-b0"):
    """EfficientNetV2-B0, of pictures of 224 pixels square (``keras.applications.EfficientNetV2B0``)."""
    return _efficientnet(_BASE, 1.0, 1.0, 224, include_preprocessing, name, include_top, weights, input_tensor,
                         input_shape, pooling, classes, classifier_activation)


@pretrained
def EfficientNetV2B1(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                     classes=1000, classifier_activation="softmax", include_preprocessing=True,
                     name="efficientnetv2-b1"):
    """EfficientNetV2-B1, of pictures of 240 pixels square (``keras.applications.EfficientNetV2B1``)."""
    return _efficientnet(_BASE, 1.0, 1.1, 240, include_preprocessing, name, include_top, weights, input_tensor,
                         input_shape, pooling, classes, classifier_activation)


@pretrained
def EfficientNetV2B2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                     classes=1000, classifier_activation="softmax", include_preprocessing=True,
                     name="efficientnetv2-b2"):
    """EfficientNetV2-B2, of pictures of 260 pixels square (``keras.applications.EfficientNetV2B2``)."""
    return _efficientnet(_BASE, 1.1, 1.2, 260, include_preprocessing, name, include_top, weights, input_tensor,
                         input_shape, pooling, classes, classifier_activation)


@pretrained
def EfficientNetV2B3(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                     classes=1000, classifier_activation="softmax", include_preprocessing=True,
                     name="efficientnetv2-b3"):
    """EfficientNetV2-B3, of pictures of 300 pixels square (``keras.applications.EfficientNetV2B3``)."""
    return _efficientnet(_BASE, 1.2, 1.4, 300, include_preprocessing, name, include_top, weights, input_tensor,
                         input_shape, pooling, classes, classifier_activation)


@pretrained
def EfficientNetV2S(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                    classes=1000, classifier_activation="softmax", include_preprocessing=True,
                    name="efficientnetv2-s"):
    """EfficientNetV2-S, of pictures of 384 pixels square (``keras.applications.EfficientNetV2S``)."""
    return _efficientnet(_SMALL, 1.0, 1.0, 384, include_preprocessing, name, include_top, weights, input_tensor,
                         input_shape, pooling, classes, classifier_activation)


@pretrained
def EfficientNetV2M(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                    classes=1000, classifier_activation="softmax", include_preprocessing=True,
                    name="efficientnetv2-m"):
    """EfficientNetV2-M, of pictures of 480 pixels square (``keras.applications.EfficientNetV2M``)."""
    return _efficientnet(_MEDIUM, 1.0, 1.0, 480, include_preprocessing, name, include_top, weights, input_tensor,
                         input_shape, pooling, classes, classifier_activation)


@pretrained
def EfficientNetV2L(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                    classes=1000, classifier_activation="softmax", include_preprocessing=True,
                    name="efficientnetv2-l"):
    """EfficientNetV2-L, of pictures of 480 pixels square (``keras.applications.EfficientNetV2L``)."""
    return _efficientnet(_LARGE, 1.0, 1.0, 480, include_preprocessing, name, include_top, weights, input_tensor,
                         input_shape, pooling, classes, classifier_activation)
