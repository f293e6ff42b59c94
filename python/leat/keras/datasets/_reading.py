"""Where the sets of data are, and how their files are read: no code of a file runs."""

import io
import pickle
import zipfile

import numpy as np

from leat.errors import DataLossError
from leat.keras._files.downloads import get_file
from leat.keras.backend import image_data_format

_FOLDER = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/"
SOURCES = {  # a file: (its folder, its hash)
    "mnist.npz": (_FOLDER, "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"),
    "train-labels-idx1-ubyte.gz": (_FOLDER, None), "train-images-idx3-ubyte.gz": (_FOLDER, None),
    "t10k-labels-idx1-ubyte.gz": (_FOLDER, None), "t10k-images-idx3-ubyte.gz": (_FOLDER, None),
    "cifar-10-python.tar.gz": (_CIFAR, "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"),
    "cifar-100-python.tar.gz": (_CIFAR, "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"),
    "imdb.npz": (_FOLDER, "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"),
    "imdb_word_index.json": (_FOLDER, "bfafd718b763782e994055a2d397834f"),
    "reuters.npz": (_FOLDER, "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"),
    "reuters_word_index.json": (_FOLDER, "4d44cc38712099c9e383dc6e5f11a921"),
    "boston_housing.npz": (_FOLDER, "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"),
    "california_housing.npz": (_FOLDER, "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f"),
}


def fetched(name, path=None, **kwargs):
    """The path of a file, or of an archive's folder; `path`: its name in the cache."""
    folder, file_hash = SOURCES[name]
    return get_file(path or name, folder + name, file_hash=file_hash, **kwargs)


# ---- arrays ----

_NUMPYS = {("numpy", "ndarray"), ("numpy", "dtype"), ("numpy.core.multiarray", "_reconstruct"),
           ("numpy._core.multiarray", "_reconstruct")}


class _Unpickler(pickle.Unpickler):
    """Makes arrays, lists and numbers, and calls nothing else."""

    def find_class(self, module, name):
        if (module, name) not in _NUMPYS:
            raise pickle.UnpicklingError(f"Refusing to deserialize `{module}.{name}` while loading a Keras dataset. "
                                         "The file may be corrupted or malicious.")
        return super().find_class(module.replace("numpy.core", "numpy._core") if hasattr(np, "_core") else module, name)


def arrays(path):
    """{name: array} of an .npz file, also of lists of numbers."""
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): _array(io.BytesIO(archive.read(name)))
                for name in archive.namelist() if name.endswith(".npy")}


def _array(file):
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
    dtype = header(file)[2]
    if dtype.hasobject:
        return _Unpickler(file).load()
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def batch(path, labels):
    """(pictures [count, 3, 32, 32], labels) of a file of CIFAR."""
    with open(path, "rb") as file:
        found = _Unpickler(file, encoding="bytes").load()
    data, numbers = (found.get(key) if isinstance(found, dict) else None for key in (b"data", labels.encode()))
    if data is None or numbers is None or data.size % 3072:
        raise DataLossError(None, None, f"{path}: expected pictures of 3072 bytes and {labels}; fetch it again "
                            "(force_download=True)")
    return data.reshape(-1, 3, 32, 32), np.asarray(numbers)


def as_keras_has_them(pictures, labels, dtype=None):
    """Pictures with the channels where they are said to be, labels as a column."""
    pictures = pictures.transpose(0, 2, 3, 1) if image_data_format() == "channels_last" else pictures
    column = labels.reshape(-1, 1)
    return pictures, column if dtype is None else column.astype(dtype)


# ---- texts as numbers of words ----

def shuffled(random, *given):
    """Arrays of one length in another order."""
    order = np.arange(len(given[0]))
    random.shuffle(order)
    return [one[order] for one in given]


def started(texts, start_char, index_from):
    """Texts as lists that begin with a number, their words counted from another one on."""
    if start_char is not None:
        return [[start_char, *(word + index_from for word in text)] for text in texts]
    return [[word + (index_from or 0) for word in text] for text in texts]


def short(texts, labels, maxlen):
    """Those of fewer than so many words."""
    kept = [(text, label) for text, label in zip(texts, labels) if len(text) < maxlen]
    return [text for text, _ in kept], [label for _, label in kept]


def frequent(texts, num_words, skip_top, oov_char):
    """With `oov_char` in place of words that are too rare or too frequent; None: without them."""
    num_words = num_words or max(max(text) for text in texts)
    if oov_char is None:
        return [[word for word in text if skip_top <= word < num_words] for text in texts]
    return [[word if skip_top <= word < num_words else oov_char for word in text] for text in texts]


def lists(texts):
    """Lists as an array of them."""
    return np.array(texts, dtype="object")


def parted(x, y, test_split, seed):
    """((x_train, y_train), (x_test, y_test)) in another order. ValueError for a part that is none."""
    if not 0 <= test_split < 1:
        raise ValueError(f"Invalid `test_split` argument: {test_split}. It must be between 0 and 1 (exclusive of 1).")
    x, y = shuffled(np.random.RandomState(seed), x, y)
    count = int(len(x) * (1 - test_split))
    return (x[:count], y[:count]), (x[count:], y[count:])
