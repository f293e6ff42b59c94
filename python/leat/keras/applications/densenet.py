"""``keras.applications.densenet``: networks whose layers see all before them (arXiv:1608.06993)."""

from leat.keras import layers
from leat.keras.applications._common import Given, finish, head, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("torch")
_GROWTH = 32


def _active(x, name):
    x = layers.BatchNormalization(axis=3, epsilon=1.001e-5, name=f"{name}bn")(x)
    return layers.Activation("relu", name=f"{name}relu")(x)


def _layer(x, name):
    more = _active(x, f"{name}_0_")
    more = layers.Conv2D(4 * _GROWTH, 1, use_bias=False, name=f"{name}_1_conv")(more)
    more = _active(more, f"{name}_1_")
    more = layers.Conv2D(_GROWTH, 3, padding="same", use_bias=False, name=f"{name}_2_conv")(more)
    return layers.Concatenate(axis=3, name=f"{name}_concat")([x, more])


def _halve(x, name):
    """Between two blocks: half the channels, half the size."""
    x = _active(x, f"{name}_")
    x = layers.Conv2D(x.shape[-1] // 2, 1, use_bias=False, name=f"{name}_conv")(x)
    return layers.AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _densenet(blocks, name, *given):
    given = Given(*given)
    pictures = start(given, 224)
    x = layers.ZeroPadding2D(((3, 3), (3, 3)))(pictures)
    x = layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(x)
    x = layers.ZeroPadding2D(((1, 1), (1, 1)))(_active(x, "conv1_"))
    x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
    for number, count in enumerate(blocks, 2):
        for place in range(1, count + 1):
            x = _layer(x, f"conv{number}_block{place}")
        if number < len(blocks) + 1:
            x = _halve(x, f"pool{number}")
    x = _active(x, "")
    return finish(pictures, head(x, given), given, name)


@pretrained
def DenseNet121(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="densenet121"):
    """DenseNet-121 (``keras.applications.DenseNet121``); arguments as ResNet50's."""
    return _densenet((6, 12, 24, 16), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                     classifier_activation)


@pretrained
def DenseNet169(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="densenet169"):
    """DenseNet-169 (``keras.applications.DenseNet169``); arguments as ResNet50's."""
    return _densenet((6, 12, 32, 32), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                     classifier_activation)


@pretrained
def DenseNet201(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="densenet201"):
    """DenseNet-201 (``keras.applications.DenseNet201``); arguments as ResNet50's."""
    return _densenet((6, 12, 48, 32), name, include_top, weights, input_tensor, input_shape, pooling, classes,
                     classifier_activation)
