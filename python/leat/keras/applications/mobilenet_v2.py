"""``keras.applications.mobilenet_v2``: blocks that widen, filter each channel, and narrow (arXiv:1801.04381)."""

from leat.keras import layers
from leat.keras.applications._common import Given, divisible, finish, head, start, uneven_padding
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("tf")
# Filters, stride of the first, and number of the blocks of each stage.
_STAGES = ((16, 1, 1), (24, 2, 2), (32, 2, 3), (64, 2, 4), (96, 1, 3), (160, 2, 3), (320, 1, 1))


def _norm(x, name):
    return layers.BatchNormalization(epsilon=1e-3, momentum=0.999, name=name)(x)


def _block(x, filters, stride, number):
    name = f"block_{number}_" if number else "expanded_conv_"
    before, channels = x, x.shape[-1]
    if number:
        x = layers.Conv2D(6 * channels, 1, padding="same", use_bias=False, name=f"{name}expand")(x)
        x = layers.ReLU(6.0, name=f"{name}expand_relu")(_norm(x, f"{name}expand_BN"))
    if stride == 2:
        x = uneven_padding(x, 3, f"{name}pad")
    x = layers.DepthwiseConv2D(3, strides=stride, use_bias=False, padding="same" if stride == 1 else "valid",
                               name=f"{name}depthwise")(x)
    x = layers.ReLU(6.0, name=f"{name}depthwise_relu")(_norm(x, f"{name}depthwise_BN"))
    x = layers.Conv2D(filters, 1, padding="same", use_bias=False, name=f"{name}project")(x)
    x = _norm(x, f"{name}project_BN")
    return layers.Add(name=f"{name}add")([before, x]) if channels == filters and stride == 1 else x


@pretrained
def MobileNetV2(input_shape=None, alpha=1.0, include_top=True, weights="imagenet", input_tensor=None, pooling=None,
                classes=1000, classifier_activation="softmax", name=None):
    """MobileNetV2 (``keras.applications.MobileNetV2``); `alpha`: the share of each layer's filters."""
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    pictures = start(given, 224)
    x = layers.Conv2D(divisible(32 * alpha), 3, strides=2, padding="same", use_bias=False, name="Conv1")(pictures)
    x = layers.ReLU(6.0, name="Conv1_relu")(_norm(x, "bn_Conv1"))
    number = 0
    for filters, stride, count in _STAGES:
        for place in range(count):
            x = _block(x, divisible(int(filters * alpha)), stride if place == 0 else 1, number)
            number += 1
    x = layers.Conv2D(divisible(1280 * max(alpha, 1.0)), 1, use_bias=False, name="Conv_1")(x)
    x = layers.ReLU(6.0, name="out_relu")(_norm(x, "Conv_1_bn"))
    x = head(x, given, None, None, None)
    return finish(pictures, x, given, name or f"mobilenetv2_{alpha:.2f}_{pictures.shape[1]}")
