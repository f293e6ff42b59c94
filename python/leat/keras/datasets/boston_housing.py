"""Prices of houses around Boston (``keras.datasets.boston_housing``)."""

from leat.keras.datasets import _reading


def load_data(path="boston_housing.npz", test_split=0.2, seed=113):
    """((x_train, y_train), (x_test, y_test)): 13 numbers of 506 places, and the price there.

    One of the numbers rests on a racist assumption of those who made the set; california_housing is a better one.
    """
    found = _reading.arrays(_reading.fetched("boston_housing.npz", path))
    return _reading.parted(found["x"], found["y"], test_split, seed)
