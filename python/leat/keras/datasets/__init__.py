"""``keras.datasets``: small sets of data, which are downloaded once and kept (``keras.utils.get_file``)."""

from leat.keras.datasets import (boston_housing, california_housing, cifar10, cifar100, fashion_mnist,  # noqa: F401
                                 imdb, mnist, reuters)
