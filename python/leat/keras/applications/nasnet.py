"""``keras.applications.nasnet``: two kinds of cells that a search has found (arXiv:1707.07012).

Each cell takes what the one before it gave, and what the one before that gave.
"""

from typing import NamedTuple

from leat.keras import layers
from leat.keras.applications._common import Given, finish, head, start, uneven_padding
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("tf")


def _norm(x, name):
    return layers.BatchNormalization(momentum=0.9997, epsilon=1e-3, name=name)(x)


def _active(x):
    return layers.Activation("relu")(x)


def _convolve(x, filters, name):
    return layers.Conv2D(filters, 1, strides=1, padding="same", use_bias=False, kernel_initializer="he_normal",
                         name=name)(x)


def _separable(x, filters, kernel, name, stride=1):
    """Twice an activation, a separable convolution and a normalisation."""
    for number in "12":
        x, padding = _active(x), "same"
        if stride == 2:
            x, padding = uneven_padding(x, kernel, f"separable_conv_{number}_pad_{name}"), "valid"
        x = layers.SeparableConv2D(filters, kernel, strides=stride, padding=padding, use_bias=False,
                                   name=f"separable_conv_{number}_{name}")(x)
        x, stride = _norm(x, f"separable_conv_{number}_bn_{name}"), 1
    return x


def _pooled(kind, x, name, stride=1):
    return kind(3, strides=stride, padding="same" if stride == 1 else "valid", name=name)(x)


def _add(one, other, name=None):
    return layers.Add(name=name)([one, other])


def _halved(x, filters, name):
    """Every other pixel, and every other one beside it, so that none is lost."""
    x = layers.Activation("relu", name=f"adjust_relu_1_{name}")(x)
    first = layers.AveragePooling2D(1, strides=2, padding="valid", name=f"adjust_avg_pool_1_{name}")(x)
    first = _convolve(first, filters // 2, f"adjust_conv_1_{name}")
    second = layers.ZeroPadding2D(((0, 1), (0, 1)))(x)
    second = layers.Cropping2D(((1, 0), (1, 0)))(second)
    second = layers.AveragePooling2D(1, strides=2, padding="valid", name=f"adjust_avg_pool_2_{name}")(second)
    second = _convolve(second, filters // 2, f"adjust_conv_2_{name}")
    return layers.Concatenate(axis=-1)([first, second])


def _adjusted(earlier, x, filters, name):
    """What came before the last cell, in the size of what the last one gave."""
    if earlier is None:
        return x
    if earlier.shape[1] != x.shape[1]:
        return _norm(_halved(earlier, filters, name), f"adjust_bn_{name}")
    if earlier.shape[-1] != filters:
        earlier = _convolve(_active(earlier), filters, f"adjust_conv_projection_{name}")
        return _norm(earlier, f"adjust_bn_{name}")
    return earlier


def _normal(x, earlier, filters, name):
    p = _adjusted(earlier, x, filters, name)
    h = _norm(_convolve(_active(x), filters, f"normal_conv_1_{name}"), f"normal_bn_1_{name}")
    average = layers.AveragePooling2D
    parts = [p,
             _add(_separable(h, filters, 5, f"normal_left1_{name}"), _separable(p, filters, 3, f"normal_right1_{name}"),
                  f"normal_add_1_{name}"),
             _add(_separable(p, filters, 5, f"normal_left2_{name}"), _separable(p, filters, 3, f"normal_right2_{name}"),
                  f"normal_add_2_{name}"),
             _add(_pooled(average, h, f"normal_left3_{name}"), p, f"normal_add_3_{name}"),
             _add(_pooled(average, p, f"normal_left4_{name}"), _pooled(average, p, f"normal_right4_{name}"),
                  f"normal_add_4_{name}"),
             _add(_separable(h, filters, 3, f"normal_left5_{name}"), h, f"normal_add_5_{name}")]
    return layers.Concatenate(axis=-1, name=f"normal_concat_{name}")(parts)


def _reduction(x, earlier, filters, name):
    p = _adjusted(earlier, x, filters, name)
    h = _norm(_convolve(_active(x), filters, f"reduction_conv_1_{name}"), f"reduction_bn_1_{name}")
    padded = uneven_padding(h, 3, f"reduction_pad_1_{name}")
    average, most = layers.AveragePooling2D, layers.MaxPooling2D
    first = _add(_separable(h, filters, 5, f"reduction_left1_{name}", 2),
                 _separable(p, filters, 7, f"reduction_right1_{name}", 2), f"reduction_add_1_{name}")
    second = _add(_pooled(most, padded, f"reduction_left2_{name}", 2),
                  _separable(p, filters, 7, f"reduction_right2_{name}", 2), f"reduction_add_2_{name}")
    third = _add(_pooled(average, padded, f"reduction_left3_{name}", 2),
                 _separable(p, filters, 5, f"reduction_right3_{name}", 2), f"reduction_add3_{name}")
    fourth = _add(second, _pooled(average, first, f"reduction_left4_{name}"))
    fifth = _add(_separable(first, filters, 3, f"reduction_left4_{name}"),
                 _pooled(most, padded, f"reduction_right5_{name}", 2), f"reduction_add4_{name}")
    return layers.Concatenate(axis=-1, name=f"reduction_concat_{name}")([second, third, fourth, fifth])


class _Size(NamedTuple):
    pixels: int
    cells: int        # between two that halve the size
    stem: int         # filters of the first convolution
    filters: int      # of the first cells; twice as many behind each that halves
    passes_by: bool   # does the cell behind one that halves see what came before that one?


def _nasnet(size, name, given):
    pictures = start(given, size.pixels, shape=(size.pixels, size.pixels, 3) if given.input_shape is None else None)
    x = layers.Conv2D(size.stem, 3, strides=2, padding="valid", use_bias=False, kernel_initializer="he_normal",
                      name="stem_conv1")(pictures)
    x, earlier = _norm(x, "stem_bn1"), None
    for number, share in ((1, 4), (2, 2)):
        x, earlier = _reduction(x, earlier, size.filters // share, f"stem_{number}"), x
    for stage in range(3):
        filters = size.filters << stage
        if stage:
            before = x
            x = _reduction(x, earlier, filters, f"reduce_{stage * size.cells}")
            earlier = earlier if size.passes_by else before
        for cell in range(size.cells):
            x, earlier = _normal(x, earlier, filters, str(stage * size.cells + cell + (stage > 0))), x
    return finish(pictures, head(_active(x), given, None, None, None), given, name)


@pretrained
def NASNetMobile(input_shape=None, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000,
                 classifier_activation="softmax", name="nasnet_mobile"):
    """The small NASNet (``keras.applications.NASNetMobile``); arguments as ResNet50's."""
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _nasnet(_Size(224, 4, 32, 44, False), name, given)


@pretrained
def NASNetLarge(input_shape=None, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="nasnet_large"):
    """The large NASNet (``keras.applications.NASNetLarge``); arguments as ResNet50's."""
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _nasnet(_Size(331, 6, 96, 168, True), name, given)
