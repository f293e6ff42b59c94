"""Small pictures of ten sorts of things (``keras.datasets.cifar10``)."""

import os

import numpy as np

from leat.keras.datasets import _reading


def load_data():
    """((x_train, y_train), (x_test, y_test)): 50,000 and 10,000 pictures uint8 [32, 32, 3], and columns of classes."""
    folder = _reading.fetched("cifar-10-python.tar.gz", "cifar-10-batches-py-target", extract=True)
    folder = os.path.join(folder, "cifar-10-batches-py")
    parts = [_reading.batch(os.path.join(folder, f"data_batch_{number}"), "labels") for number in range(1, 6)]
    pictures, labels = (np.concatenate(those) for those in zip(*parts))
    return (_reading.as_keras_has_them(pictures, labels, "uint8"),
            _reading.as_keras_has_them(*_reading.batch(os.path.join(folder, "test_batch"), "labels"), "uint8"))
