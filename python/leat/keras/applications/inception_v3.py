"""``keras.applications.inception_v3``: blocks of branches of several kernels (arXiv:1512.00567)."""

from leat.keras import layers
from leat.keras.applications._common import Given, finish, head, start
from leat.keras.applications._pretrained import pretrained
from leat.keras.applications._inception import averaged, branch, join, shrunk, stem
from leat.keras.applications.imagenet_utils import decode_predictions, of_mode  # noqa: F401

preprocess_input = of_mode("tf")


def _square(x, averages, name):
    return join([branch(x, (64, 1)), branch(x, (48, 1), (64, 5)), branch(x, (64, 1), (96, 3), (96, 3)),
                 averaged(x, averages)], name)


def _rows_and_columns(x, filters, name):
    """Kernels of 7x7 pixels as those of a column and of a row."""
    return join([branch(x, (192, 1)), branch(x, (filters, 1), (filters, (1, 7)), (192, (7, 1))),
                 branch(x, (filters, 1), (filters, (7, 1)), (filters, (1, 7)), (filters, (7, 1)), (192, (1, 7))),
                 averaged(x, 192)], name)


def _spread(x, number, name):
    straight, once = branch(x, (320, 1)), branch(x, (384, 1))
    once = join([branch(once, (384, (1, 3))), branch(once, (384, (3, 1)))], f"mixed9_{number}")
    twice = branch(x, (448, 1), (384, 3))
    twice = join([branch(twice, (384, (1, 3))), branch(twice, (384, (3, 1)))])
    return join([straight, once, twice, averaged(x, 192)], name)


@pretrained
def InceptionV3(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="inception_v3"):
    """Inception v3 (``keras.applications.InceptionV3``); arguments as ResNet50's, 75 pixels square at least."""
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    pictures = start(given, 299, 75)
    x = stem(pictures)
    for number, averages in enumerate((32, 64, 64)):
        x = _square(x, averages, f"mixed{number}")
    x = join([branch(x, (384, 3, 2)), branch(x, (64, 1), (96, 3), (96, 3, 2)), shrunk(x)], "mixed3")
    for number, filters in enumerate((128, 160, 160, 192), 4):
        x = _rows_and_columns(x, filters, f"mixed{number}")
    x = join([branch(x, (192, 1), (320, 3, 2)), branch(x, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2)),
              shrunk(x)], "mixed8")
    for number in range(2):
        x = _spread(x, number, f"mixed{9 + number}")
    return finish(pictures, head(x, given, average=None, most=None), given, name)
