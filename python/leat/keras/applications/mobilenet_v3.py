"""``keras.applications.mobilenet_v3``: blocks of MobileNetV2 that weigh their channels (arXiv:1905.02244)."""

from typing import NamedTuple

from leat.keras import layers
from leat.keras.applications._common import Given, divisible, finish, pool, start, uneven_padding
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input  # noqa: F401


class _Block(NamedTuple):
    """By how much it widens, filters, pixels of its kernel, stride, and whether it weighs channels and is smooth."""
    wider: float
    filters: int
    kernel: int
    stride: int
    weighs: bool
    smooth: bool


_SMALL = tuple(_Block(*row) for row in (
    (1, 16, 3, 2, True, False), (72 / 16, 24, 3, 2, False, False), (88 / 24, 24, 3, 1, False, False),
    (4, 40, 5, 2, True, True), (6, 40, 5, 1, True, True), (6, 40, 5, 1, True, True), (3, 48, 5, 1, True, True),
    (3, 48, 5, 1, True, True), (6, 96, 5, 2, True, True), (6, 96, 5, 1, True, True), (6, 96, 5, 1, True, True)))
_LARGE = tuple(_Block(*row) for row in (
    (1, 16, 3, 1, False, False), (4, 24, 3, 2, False, False), (3, 24, 3, 1, False, False), (3, 40, 5, 2, True, False),
    (3, 40, 5, 1, True, False), (3, 40, 5, 1, True, False), (6, 80, 3, 2, False, True), (2.5, 80, 3, 1, False, True),
    (2.3, 80, 3, 1, False, True), (2.3, 80, 3, 1, False, True), (6, 112, 3, 1, True, True), (6, 112, 3, 1, True, True),
    (6, 160, 5, 2, True, True), (6, 160, 5, 1, True, True), (6, 160, 5, 1, True, True)))


def _norm(x, name):
    return layers.BatchNormalization(epsilon=1e-3, momentum=0.999, name=name)(x)


def _active(x, smooth):
    return layers.Activation("hard_swish")(x) if smooth else layers.ReLU()(x)


def _weigh(x, name):
    """Each channel times a weight out of the means of all channels."""
    filters = x.shape[-1]
    weights = layers.GlobalAveragePooling2D(keepdims=True, name=f"{name}squeeze_excite_avg_pool")(x)
    weights = layers.Conv2D(divisible(filters * 0.25), 1, padding="same", name=f"{name}squeeze_excite_conv")(weights)
    weights = layers.ReLU(name=f"{name}squeeze_excite_relu")(weights)
    weights = layers.Conv2D(filters, 1, padding="same", name=f"{name}squeeze_excite_conv_1")(weights)
    weights = layers.ReLU(6.0)(weights + 3.0) * (1.0 / 6.0)
    return layers.Multiply(name=f"{name}squeeze_excite_mul")([x, weights])


def _block(x, block, alpha, number):
    name = f"expanded_conv_{number}_" if number else "expanded_conv_"
    before, channels, filters = x, x.shape[-1], divisible(block.filters * alpha)
    if number:
        x = layers.Conv2D(divisible(channels * block.wider), 1, padding="same", use_bias=False, name=f"{name}expand")(x)
        x = _active(_norm(x, f"{name}expand_bn"), block.smooth)
    if block.stride == 2:
        x = uneven_padding(x, block.kernel, f"{name}depthwise_pad")
    x = layers.DepthwiseConv2D(block.kernel, strides=block.stride, padding="same" if block.stride == 1 else "valid",
                               use_bias=False, name=f"{name}depthwise")(x)
    x = _active(_norm(x, f"{name}depthwise_bn"), block.smooth)
    if block.weighs:
        x = _weigh(x, name)
    x = layers.Conv2D(filters, 1, padding="same", use_bias=False, name=f"{name}project")(x)
    x = _norm(x, f"{name}project_bn")
    return layers.Add(name=f"{name}add")([before, x]) if block.stride == 1 and channels == filters else x


def _top(x, given, points, dropout_rate, smooth):
    x = layers.GlobalAveragePooling2D(keepdims=True)(x)
    x = _active(layers.Conv2D(points, 1, padding="same", use_bias=True, name="conv_2")(x), smooth)
    if dropout_rate > 0:
        x = layers.Dropout(dropout_rate)(x)
    x = layers.Conv2D(given.classes, 1, padding="same", name="logits")(x)
    return layers.Activation(given.classifier_activation, name="predictions")(layers.Flatten()(x))


def _mobilenet(blocks, points, alpha, minimalistic, dropout_rate, include_preprocessing, name, given):
    shape = (None, None, 3) if given.input_shape is None else None
    pictures = x = start(given, 224, shape=shape)
    if include_preprocessing:
        x = layers.Rescaling(scale=1.0 / 127.5, offset=-1.0)(x)
    x = layers.Conv2D(16, 3, strides=2, padding="same", use_bias=False, name="conv")(x)
    x = _active(_norm(x, "conv_bn"), not minimalistic)
    for number, block in enumerate(blocks):
        x = _block(x, block._replace(kernel=3, weighs=False, smooth=False) if minimalistic else block, alpha, number)
    x = layers.Conv2D(divisible(x.shape[-1] * 6), 1, padding="same", use_bias=False, name="conv_1")(x)
    x = _active(_norm(x, "conv_1_bn"), not minimalistic)
    if given.include_top:
        x = _top(x, given, divisible(points * alpha) if alpha > 1 else points, dropout_rate, not minimalistic)
    else:
        x = pool(x, given)
    return finish(pictures, x, given, name)


@pretrained
def MobileNetV3Small(input_shape=None, alpha=1.0, minimalistic=False, include_top=True, weights="imagenet",
                     input_tensor=None, classes=1000, pooling=None, dropout_rate=0.2, classifier_activation="softmax",
                     include_preprocessing=True, name="MobileNetV3Small"):
    """The small MobileNetV3 (``keras.applications.MobileNetV3Small``).

    `alpha`: the share of each layer's filters; `minimalistic`: 3x3 kernels, ReLU, and no weights of channels; the rest
    as ResNet50's.
    """
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _mobilenet(_SMALL, 1024, alpha, minimalistic, dropout_rate, include_preprocessing, name, given)


@pretrained
def MobileNetV3Large(input_shape=None, alpha=1.0, minimalistic=False, include_top=True, weights="imagenet",
                     input_tensor=None, classes=1000, pooling=None, dropout_rate=0.2, classifier_activation="softmax",
                     include_preprocessing=True, name="MobileNetV3Large"):
    """The large MobileNetV3 (``keras.applications.MobileNetV3Large``); arguments as MobileNetV3Small's."""
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _mobilenet(_LARGE, 1280, alpha, minimalistic, dropout_rate, include_preprocessing, name, given)
