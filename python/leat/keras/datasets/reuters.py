"""News of an agency by topic, as numbers of words (``keras.datasets.reuters``)."""

import json

import numpy as np

from leat.keras.datasets import _reading


def load_data(path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113, start_char=1,
              oov_char=2, index_from=3):
    """((x_train, y_train), (x_test, y_test)): 11,228 lists of words in all, and their topics (`get_label_names`).

    The other arguments are those of ``imdb.load_data``.
    """
    found = _reading.arrays(_reading.fetched("reuters.npz", path))
    texts, labels = _reading.shuffled(np.random.RandomState(seed), found["x"], found["y"])
    texts = _reading.started(texts, start_char, index_from)
    if maxlen:
        texts, labels = _reading.short(texts, labels, maxlen)
    texts = _reading.frequent(texts, num_words, skip_top, oov_char)
    count = int(len(texts) * (1 - test_split))
    return ((_reading.lists(texts[:count]), np.array(labels[:count])),
            (_reading.lists(texts[count:]), np.array(labels[count:])))


def get_word_index(path="reuters_word_index.json"):
    """{word: its number, without what `load_data` adds}."""
    with open(_reading.fetched("reuters_word_index.json", path), encoding="utf-8") as file:
        return json.load(file)


def get_label_names():
    """The topics in the order of their numbers."""
    return tuple("""cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship
        cotton carcass crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin strategic-metal livestock
        retail ipi iron-steel rubber heat jobs lei bop zinc orange pet-chem dlr gas silver wpi hog lead""".split())
