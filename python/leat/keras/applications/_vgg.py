"""VGG (arXiv:1409.1556): 3x3 convolutions in five blocks, and three dense layers."""

from leat.keras import layers
from leat.keras.applications._common import Given, classify, finish, pool, start


def vgg(blocks, name, *given):
    """`blocks`: how many convolutions each block has."""
    given = Given(*given)
    pictures = x = start(given, 224)
    for number, (count, filters) in enumerate(zip(blocks, (64, 128, 256, 512, 512)), 1):
        for place in range(1, count + 1):
            x = layers.Conv2D(filters, 3, padding="same", activation="relu", name=f"block{number}_conv{place}")(x)
        x = layers.MaxPooling2D(2, strides=2, name=f"block{number}_pool")(x)
    if not given.include_top:
        return finish(pictures, pool(x, given, None, None), given, name)
    x = layers.Flatten(name="flatten")(x)
    for place in "12":
        x = layers.Dense(4096, activation="relu", name=f"fc{place}")(x)
    return finish(pictures, classify(x, given), given, name)
