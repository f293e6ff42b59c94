"""``keras.backend``: the constants and the state that layers share."""

from leat.keras import tables


def floatx():
    """The dtype of floats: "float32"."""
    return "float32"


def epsilon():
    """The small number that probabilities are kept away from 0 and 1 by: 1e-7."""
    return 1e-7


def image_data_format():
    """Pictures have their channels last."""
    return "channels_last"


def clear_session(free_memory=True):
    """Numbers in names of layers start anew (``keras.backend.clear_session``)."""
    from leat.keras import random
    tables.forget_names()
    random.forget_seed()
