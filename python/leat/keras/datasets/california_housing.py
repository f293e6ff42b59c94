"""Prices of houses in California (``keras.datasets.california_housing``)."""

from leat.keras.datasets import _reading


def load_data(version="large", path="california_housing.npz", test_split=0.2, seed=113):
    """((x_train, y_train), (x_test, y_test)): 8 numbers of 20,640 places, and the price there; "small": of 600."""
    found = _reading.arrays(_reading.fetched("california_housing.npz", path))
    if version not in ("small", "large"):
        raise ValueError(f"Argument `version` must be one of 'small', 'large'. Received: version={version}")
    count = 600 if version == "small" else None
    return _reading.parted(found["x"][:count], found["y"][:count], test_split, seed)
