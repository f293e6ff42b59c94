"""``keras.applications.resnet_v2``: residual networks with activations before the convolutions (arXiv:1603.05027)."""

from leat.keras import layers
from leat.keras.applications._common import Given, finish, head, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("tf")


def _active(x, name):
    x = layers.BatchNormalization(axis=3, epsilon=1.001e-5, name=f"{name}_bn")(x)
    return layers.Activation("relu", name=f"{name}_relu")(x)


def _block(x, filters, stride, conv_shortcut, name):
    active = _active(x, f"{name}_preact")
    if conv_shortcut:
        shortcut = layers.Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(active)
    else:
        shortcut = layers.MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = layers.Conv2D(filters, 1, strides=1, use_bias=False, name=f"{name}_1_conv")(active)
    x = layers.ZeroPadding2D(((1, 1), (1, 1)), name=f"{name}_2_pad")(_active(x, f"{name}_1"))
    x = layers.Conv2D(filters, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = layers.Conv2D(4 * filters, 1, name=f"{name}_3_conv")(_active(x, f"{name}_2"))
    return layers.Add(name=f"{name}_out")([shortcut, x])


def _resnet(blocks, name, *given):
    """`blocks`: of each stage. The last of each but the last halves the size."""
    given = Given(*given)
    pictures = start(given, 224)
    x = layers.ZeroPadding2D(((3, 3), (3, 3)), name="conv1_pad")(pictures)
    x = layers.Conv2D(64, 7, strides=2, use_bias=True, name="conv1_conv")(x)
    x = layers.ZeroPadding2D(((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for stage, count in enumerate(blocks):
        for number in range(1, count + 1):
            halves = number == count and stage < len(blocks) - 1
            x = _block(x, 64 << stage, 2 if halves else 1, number == 1, f"conv{stage + 2}_block{number}")
    x = _active(x, "post")
    return finish(pictures, head(x, given), given, name)


@pretrained
def ResNet50V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
               classifier_activation="softmax", name="resnet50v2"):
    """ResNet-50 of the second form (``keras.applications.ResNet50V2``); arguments as ResNet50's."""
    return _resnet((3, 4, 6, 3), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation)


@pretrained
def ResNet101V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="resnet101v2"):
    """ResNet-101 of the second form (``keras.applications.ResNet101V2``); arguments as ResNet50's."""
    return _resnet((3, 4, 23, 3), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation)


@pretrained
def ResNet152V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="resnet152v2"):
    """ResNet-152 of the second form (``keras.applications.ResNet152V2``); arguments as ResNet50's."""
    return _resnet((3, 8, 36, 3), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                   classifier_activation)
