"""``keras.applications.resnet``: residual networks of pictures, in their first form: activations behind the sums."""

from leat.keras import layers
from leat.keras.applications._common import Given, finish, head, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("caffe")
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


def _resnet(blocks, name, *given):
    given = Given(*given)
    pictures = start(given, 224)
    x = _features(pictures, blocks)
    return finish(pictures, head(x, given), given, name)


@pretrained
def ResNet50(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
             classifier_activation="softmax", name="resnet50"):
    """ResNet-50 (``keras.applications.ResNet50``).

    `weights`: None, or the path of a weights file; leat downloads nothing, so "imagenet" is a ValueError. `pooling`
    without a top: None, "avg" or "max".
    """
    return _resnet((3, 4, 6, 3), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation)


@pretrained
def ResNet101(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", name="resnet101"):
    """ResNet-101 (``keras.applications.ResNet101``); arguments as ResNet50's."""
    return _resnet((3, 4, 23, 3), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation)


@pretrained
def ResNet152(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", name="resnet152"):
    """ResNet-152 (``keras.applications.ResNet152``); arguments as ResNet50's."""
    return _resnet((3, 8, 36, 3), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation)
