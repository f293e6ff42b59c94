"""Where the channels of pictures and volumes stand: operations compute with channels last, others are transposed."""

import leat as tf
from leat.keras import backend
from leat.keras.ops.promote import tensor


def is_first(data_format):
    """Do the channels stand before the directions of space? None: as ``keras.config.image_data_format`` says."""
    data_format = backend.image_data_format() if data_format is None else str(data_format).lower()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. Received: "
                         f"data_format={data_format}")
    return data_format == "channels_first"


def with_channels_last(compute, inputs, data_format):
    """``compute(inputs)`` of [batch, space, channels] and the result in the format of the inputs."""
    inputs = tensor(inputs)
    rank = len(inputs.shape)
    if not is_first(data_format) or rank < 3:
        return compute(inputs)
    out = compute(tf.transpose(inputs, [0, *range(2, rank), 1]))
    return tf.transpose(out, [0, len(out.shape) - 1, *range(1, len(out.shape) - 1)])


def check_pictures(images, name="images"):
    """ValueError unless it is one picture or a batch of them."""
    if len(images.shape) not in (3, 4):
        raise ValueError(f"Invalid {name} rank: expected rank 3 (single image) or rank 4 (batch of images). Received "
                         f"input with shape: {name}.shape={tuple(images.shape)}")


def of_pictures(compute, images, data_format):
    """The same for one picture or a batch of them; ``compute`` gets [batch, height, width, channels]."""
    images = tensor(images)
    check_pictures(images)
    alone = len(images.shape) == 3
    out = with_channels_last(compute, tf.expand_dims(images, 0) if alone else images, data_format)
    return tf.squeeze(out, [0]) if alone else out
