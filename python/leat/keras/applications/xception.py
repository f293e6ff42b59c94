"""``keras.applications.xception``: separable convolutions beside shortcuts (arXiv:1610.02357)."""

from leat.keras import layers
from leat.keras.applications._common import Given, finish, head, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("tf")


def _norm(x, name=None):
    return layers.BatchNormalization(axis=-1, name=name)(x)


def _active(x, name):
    return layers.Activation("relu", name=f"{name}_act")(x)


def _separable(x, filters, name):
    x = layers.SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    return _norm(x, f"{name}_bn")


def _shrink(x, filters, number):
    """A block of two separable convolutions that halves the size, beside a 1x1 convolution that does, too."""
    beside = layers.Conv2D(filters[1], 1, strides=2, padding="same", use_bias=False)(x)
    beside = _norm(beside)
    for place, count in enumerate(filters, 1):
        name = f"block{number}_sepconv{place}"
        x = _separable(x if number == 2 and place == 1 else _active(x, name), count, name)
    x = layers.MaxPooling2D(3, strides=2, padding="same", name=f"block{number}_pool")(x)
    return layers.Add()([x, beside])


@pretrained
def Xception(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
             classifier_activation="softmax", name="xception"):
    """Xception (``keras.applications.Xception``); arguments as ResNet50's, pictures of 71 pixels square at least."""
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    pictures = start(given, 299, 71)
    x = layers.Conv2D(32, 3, strides=2, use_bias=False, name="block1_conv1")(pictures)
    x = _active(_norm(x, "block1_conv1_bn"), "block1_conv1")
    x = layers.Conv2D(64, 3, use_bias=False, name="block1_conv2")(x)
    x = _active(_norm(x, "block1_conv2_bn"), "block1_conv2")
    for number, filters in ((2, 128), (3, 256), (4, 728)):
        x = _shrink(x, (filters, filters), number)
    for number in range(5, 13):
        before = x
        for place in range(1, 4):
            part = f"block{number}_sepconv{place}"
            x = _separable(_active(x, part), 728, part)
        x = layers.Add()([x, before])
    x = _shrink(x, (728, 1024), 13)
    for place, filters in ((1, 1536), (2, 2048)):
        part = f"block14_sepconv{place}"
        x = _active(_separable(x, filters, part), part)
    return finish(pictures, head(x, given, average=None, most=None), given, name)
