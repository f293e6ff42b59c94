"""Handwritten digits (``keras.datasets.mnist``)."""

from leat.keras.datasets import _reading


def load_data(path="mnist.npz"):
    """((x_train, y_train), (x_test, y_test)): 60,000 and 10,000 pictures uint8 [28, 28] of digits, and which."""
    found = _reading.arrays(_reading.fetched("mnist.npz", path))
    return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])
