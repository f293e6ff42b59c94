"""What all models that are known by name share: their input, their top, and where their weights come from."""

import os
import warnings
from typing import NamedTuple

from leat.keras import backend, layers
from leat.keras._base.symbolic import KerasTensor
from leat.keras.models.functional import Functional


class Given(NamedTuple):
    """The arguments that Keras' models by name have in common."""
    include_top: bool
    weights: str
    input_tensor: object
    input_shape: tuple
    pooling: str
    classes: int
    classifier_activation: object


def _check_weights(given):
    if given.weights is not None and not os.path.exists(given.weights):
        raise ValueError("The `weights` argument should be either `None` (random initialization), 'imagenet' "
                         "(pre-training on ImageNet), or the path to the weights file to be loaded.  Received: "
                         f"weights={given.weights}")


def _shape(given, size, smallest):
    """The shape of a picture: `size` pixels square with a top, else any. ValueError where it is none, or too small."""
    shape = given.input_shape
    if shape is None:
        return (size, size, 3) if given.include_top else (None, None, 3)
    if len(shape) != 3:
        raise ValueError("`input_shape` must be a tuple of three integers.")
    if shape[-1] not in (1, 3):
        warnings.warn("This model usually expects 1 or 3 input channels. However, it was passed an input_shape with "
                      f"{shape[-1]} input channels.", stacklevel=4)
    if any(length is not None and length < smallest for length in shape[:2]):
        raise ValueError(f"Input size must be at least {smallest}x{smallest}; Received: input_shape={shape}")
    if given.include_top and None in shape:
        raise ValueError("If `include_top` is True, you should specify a static `input_shape`. Received: "
                         f"input_shape={shape}")
    return tuple(shape)


def start(given, size, smallest=32, shape=None):
    """The pictures that go in. `shape`: where it is decided already."""
    if backend.image_data_format() != "channels_last":
        raise NotImplementedError("keras.applications has models with channels last alone; call "
                                  "keras.config.set_image_data_format('channels_last') before")
    _check_weights(given)
    shape = shape or _shape(given, size, smallest)
    if isinstance(given.input_tensor, KerasTensor):
        return given.input_tensor
    return layers.Input(shape=shape)


def pool(x, given, average="avg_pool", most="max_pool"):
    """What stands for a top that is left out, under these names."""
    if given.pooling == "avg":
        return layers.GlobalAveragePooling2D(name=average)(x)
    if given.pooling == "max":
        return layers.GlobalMaxPooling2D(name=most)(x)
    return x


def classify(x, given, name="predictions", **options):
    """The layer that gives a number for each class."""
    return layers.Dense(given.classes, activation=given.classifier_activation, name=name, **options)(x)


def head(x, given, above="avg_pool", average="avg_pool", most="max_pool"):
    """The top, behind means under the name `above`; or what stands for it, under the two other names."""
    if given.include_top:
        return classify(layers.GlobalAveragePooling2D(name=above)(x), given)
    return pool(x, given, average, most)


def finish(pictures, x, given, name):
    """The model, with its weights where a file of them is given."""
    model = Functional(pictures, x, name=name)
    if given.weights is not None:
        model.load_weights(given.weights)
    return model


def divisible(number, by=8, keeps_most=True):
    """The multiple of `by` next to a number of filters, one at least; with `keeps_most` not below 0.9 of it."""
    rounded = max(by, int(number + by / 2) // by * by)
    return int(rounded + by if keeps_most and rounded < 0.9 * number else rounded)


def uneven_padding(x, kernel, name):
    """Zeros around pictures for a convolution of stride 2, one more behind than before where sizes are even."""
    half = kernel // 2
    before = [half - (1 if size is None else 1 - size % 2) for size in x.shape[1:3]]
    return layers.ZeroPadding2D(padding=tuple((begin, half) for begin in before), name=name)(x)
