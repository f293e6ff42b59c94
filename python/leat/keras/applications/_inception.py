"""What networks of branches (arXiv:1512.00567) are made of: a list of convolutions for each branch."""

from leat.keras import layers


def convolve(x, filters, kernel, stride=1, padding="same", name=None):
    """A convolution, a normalisation, and an activation."""
    x = layers.Conv2D(filters, kernel, strides=stride, padding=padding, use_bias=False, name=name)(x)
    x = layers.BatchNormalization(axis=3, scale=False, name=name and f"{name}_bn")(x)
    return layers.Activation("relu", name=name and f"{name}_ac")(x)


def branch(x, *convolutions):
    """One convolution after the other, each (filters, kernel) or, without a border, (filters, kernel, stride)."""
    for filters, kernel, *stride in convolutions:
        x = convolve(x, filters, kernel, *stride, *(("valid",) if stride else ()))
    return x


def averaged(x, filters):
    """The branch of means of 3x3 pixels."""
    return convolve(layers.AveragePooling2D(3, strides=1, padding="same")(x), filters, 1)


def shrunk(x):
    """The largest of 3x3 pixels, in half the size."""
    return layers.MaxPooling2D(3, strides=2)(x)


def join(branches, name=None):
    """All channels of the branches."""
    return layers.Concatenate(axis=3, name=name)(branches)


def stem(x):
    """What comes before the blocks: an eighth of the size."""
    x = shrunk(convolve(branch(x, (32, 3, 2), (32, 3, 1)), 64, 3))
    return shrunk(branch(x, (80, 1, 1), (192, 3, 1)))
