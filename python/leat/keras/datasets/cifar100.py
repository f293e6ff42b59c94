"""Small pictures of a hundred sorts of things (``keras.datasets.cifar100``)."""

import os

from leat.keras.datasets import _reading


def load_data(label_mode="fine"):
    """((x_train, y_train), (x_test, y_test)): 50,000 and 10,000 pictures uint8 [32, 32, 3], and columns of classes:
    "fine", a hundred of them, or "coarse", twenty."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError(f'`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode={label_mode}.')
    folder = _reading.fetched("cifar-100-python.tar.gz", "cifar-100-python-target", extract=True)
    folder = os.path.join(folder, "cifar-100-python")
    return tuple(_reading.as_keras_has_them(*_reading.batch(os.path.join(folder, part), f"{label_mode}_labels"))
                 for part in ("train", "test"))
