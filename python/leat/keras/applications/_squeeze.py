"""What both kinds of EfficientNet are made of."""

from leat.keras import layers

CONVOLVED = {"class_name": "VarianceScaling",
             "config": {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"}}
DENSE = {"class_name": "VarianceScaling", "config": {"scale": 1.0 / 3.0, "mode": "fan_out", "distribution": "uniform"}}


def activate(x, name):
    """Swish, which both use throughout."""
    return layers.Activation("swish", name=name)(x)


def squeeze(x, fewer, name):
    """Each channel times a weight out of the means of all channels, by way of `fewer` numbers."""
    filters = x.shape[-1]
    weights = layers.GlobalAveragePooling2D(name=f"{name}se_squeeze")(x)
    weights = layers.Reshape((1, 1, filters), name=f"{name}se_reshape")(weights)
    weights = layers.Conv2D(fewer, 1, padding="same", activation="swish", kernel_initializer=CONVOLVED,
                            name=f"{name}se_reduce")(weights)
    weights = layers.Conv2D(filters, 1, padding="same", activation="sigmoid", kernel_initializer=CONVOLVED,
                            name=f"{name}se_expand")(weights)
    return layers.Multiply(name=f"{name}se_excite")([x, weights])


def drop_and_add(x, before, dropped, name):
    """What a block adds to what came in; in training a share of the pictures passes it by."""
    if dropped > 0:
        x = layers.Dropout(dropped, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(x)
    return layers.Add(name=f"{name}add")([x, before])
