"""``keras.applications.mobilenet``: convolutions in two, of each channel and over channels (arXiv:1704.04861)."""

from leat.keras import layers
from leat.keras.applications._common import Given, finish, pool, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("tf")
# Filters and stride of each block.
_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))


def _active(x, name):
    x = layers.BatchNormalization(name=f"{name}_bn")(x)
    return layers.ReLU(6.0, name=f"{name}_relu")(x)


def _block(x, filters, stride, depth_multiplier, number):
    if stride == 2:
        x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
    x = layers.DepthwiseConv2D(3, padding="same" if stride == 1 else "valid", depth_multiplier=depth_multiplier,
                               strides=stride, use_bias=False, name=f"conv_dw_{number}")(x)
    x = layers.Conv2D(filters, 1, padding="same", use_bias=False, name=f"conv_pw_{number}")(
        _active(x, f"conv_dw_{number}"))
    return _active(x, f"conv_pw_{number}")


@pretrained
def MobileNet(input_shape=None, alpha=1.0, depth_multiplier=1, dropout=1e-3, include_top=True, weights="imagenet",
              input_tensor=None, pooling=None, classes=1000, classifier_activation="softmax", name=None):
    """MobileNet (``keras.applications.MobileNet``).

    `alpha`: the share of each layer's filters; `depth_multiplier`: filters of each channel; the rest as ResNet50's.
    """
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    pictures = start(given, 224)
    x = layers.Conv2D(int(32 * alpha), 3, strides=2, padding="same", use_bias=False, name="conv1")(pictures)
    x = _active(x, "conv1")
    for number, (filters, stride) in enumerate(_BLOCKS, 1):
        x = _block(x, int(filters * alpha), stride, depth_multiplier, number)
    if include_top:
        x = layers.GlobalAveragePooling2D(keepdims=True)(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = layers.Conv2D(classes, 1, padding="same", name="conv_preds")(x)
        x = layers.Reshape((classes,), name="reshape_2")(x)
        x = layers.Activation(classifier_activation, name="predictions")(x)
    else:
        x = pool(x, given, None, None)
    return finish(pictures, x, given, name or f"mobilenet_{alpha:.2f}_{pictures.shape[1]}")
