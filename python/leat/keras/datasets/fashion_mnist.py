"""Pictures of clothes (``keras.datasets.fashion_mnist``)."""

import gzip
import os

import numpy as np

from leat.keras.datasets import _reading


def load_data():
    """((x_train, y_train), (x_test, y_test)): 60,000 and 10,000 pictures uint8 [28, 28] of ten sorts of clothes."""
    def read(name, offset):
        path = _reading.fetched(name, cache_subdir=os.path.join("datasets", "fashion-mnist"))
        with gzip.open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)
    labels = [read(f"{part}-labels-idx1-ubyte.gz", 8) for part in ("train", "t10k")]
    pictures = [read(f"{part}-images-idx3-ubyte.gz", 16).reshape(len(own), 28, 28)
                for part, own in zip(("train", "t10k"), labels)]
    return (pictures[0], labels[0]), (pictures[1], labels[1])
