"""What people wrote about films, as numbers of words (``keras.datasets.imdb``)."""

import json

import numpy as np

from leat.keras.datasets import _reading


def load_data(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2,
              index_from=3, **kwargs):
    """((x_train, y_train), (x_test, y_test)): 25,000 lists of words each, 1 where somebody liked the film.

    Words are numbered by how frequent they are, from `index_from` on; those from `num_words` on and before `skip_top`
    become `oov_char`. `maxlen`: longer texts are left out.
    """
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}.")
    found = _reading.arrays(_reading.fetched("imdb.npz", path))
    random, parts = np.random.RandomState(seed), []
    for part in ("train", "test"):
        texts, labels = _reading.shuffled(random, found[f"x_{part}"], found[f"y_{part}"])
        parts.append((_reading.started(texts, start_char, index_from), labels))
    if maxlen:
        parts = [_reading.short(*part, maxlen) for part in parts]
        if not all(texts for texts, _ in parts):
            raise ValueError(f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. "
                             "Increase maxlen.")
    texts = _reading.frequent(parts[0][0] + parts[1][0], num_words, skip_top, oov_char)
    count = len(parts[0][0])
    return ((_reading.lists(texts[:count]), np.asarray(parts[0][1])),
            (_reading.lists(texts[count:]), np.asarray(parts[1][1])))


def get_word_index(path="imdb_word_index.json"):
    """{word: its number, without what `load_data` adds}."""
    with open(_reading.fetched("imdb_word_index.json", path), encoding="utf-8") as file:
        return json.load(file)
