"""``keras.applications.imagenet_utils``: pictures as the weights of ImageNet want them, and names of its classes."""

import json

import numpy as np

from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat.keras import backend
from leat.keras.applications._pretrained import class_names

_BLUE_FIRST = np.array([103.939, 116.779, 123.68])
_MEAN, _DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def _whole(x, layout, mode, number):
    """`number` turns constants into what x reckons with."""
    channels = (-1, 1, 1) if layout == "channels_first" else (-1,)
    if mode == "tf":
        return x / number(127.5) - number(1.0)
    if mode == "torch":
        return (x / number(255.0) - number(_MEAN.reshape(channels))) / number(_DEVIATION.reshape(channels))
    return x - number(_BLUE_FIRST.reshape(channels))


def preprocess_input(x, data_format=None, mode="caffe"):
    """Pictures of RGB values up to 255, for weights that were trained with them prepared so.

    `mode`: "caffe", BGR less its mean colour; "tf", between -1 and 1; "torch", each channel less its mean, divided by
    its deviation. NumPy arrays stay arrays. ValueError for other modes and layouts.
    """
    if mode not in ("caffe", "tf", "torch"):
        raise ValueError(f"Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode={mode}")
    layout = backend.image_data_format() if data_format is None else data_format
    if layout not in ("channels_first", "channels_last"):
        raise ValueError("Expected data_format to be one of `channels_first` or `channels_last`. Received: "
                         f"data_format={data_format}")
    place = -3 if layout == "channels_first" else -1
    if isinstance(x, np.ndarray):
        dtype = x.dtype if np.issubdtype(x.dtype, np.floating) else backend.floatx()
        x = x.astype(dtype)
        if mode == "caffe":
            x = np.flip(x, place)
        return _whole(x, layout, mode, lambda value: np.asarray(value, dtype))
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        x = ops.FUNCTIONS["cast"](x, backend.floatx())
    if mode == "caffe":
        x = ops.FUNCTIONS["reverse"](x, [place % x.shape.rank])
    return _whole(x, layout, mode, lambda value: convert_to_tensor(np.asarray(value), x.dtype))


def decode_predictions(preds, top=5, class_index=None):
    """The `top` classes of each row as (identifier, name, score).

    `class_index`: the path of a JSON file {"0": [identifier, name], ...}, by default ImageNet's, which is fetched.
    """
    with open(class_names() if class_index is None else class_index) as file:
        names = json.load(file)
    rows = np.asarray(preds)
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ValueError(f"`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, "
                         f"{len(names)})). Found array with shape: {rows.shape}")
    return [[(*names[str(place)], row[place]) for place in row.argsort()[-top:][::-1]] for row in rows]


def of_mode(mode):
    """preprocess_input of models whose weights want `mode`."""
    def preprocess(x, data_format=None):
        return preprocess_input(x, data_format, mode)
    preprocess.__name__ = preprocess.__qualname__ = "preprocess_input"
    preprocess.__doc__ = f"Pictures as these models want them: imagenet_utils.preprocess_input of mode {mode!r}."
    return preprocess


def unchanged(x, data_format=None):  # pylint: disable=unused-argument
    """Pictures as they are: these models prepare them themselves."""
    return x
