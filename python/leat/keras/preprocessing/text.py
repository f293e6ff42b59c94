"""``keras.preprocessing.text``: texts as numbers of words. TextVectorization does it in models."""

import collections
import hashlib
import json
import warnings

import numpy as np

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(input_text, filters=_FILTERS, lower=True, split=" "):
    """The words of a text, without the signs of `filters`."""
    text = input_text.lower() if lower else input_text
    return [word for word in text.translate(str.maketrans(dict.fromkeys(filters, split))).split(split) if word]


def one_hot(input_text, n, filters=_FILTERS, lower=True, split=" ", analyzer=None):
    """Its words as numbers of [1, n), by Python's hashes, which differ from run to run."""
    return hashing_trick(input_text, n, hash, filters, lower, split, analyzer)


def hashing_trick(text, n, hash_function=None, filters=_FILTERS, lower=True, split=" ", analyzer=None):
    """The same by a function of a word; "md5": the same in every run; None: Python's hash."""
    def md5(word):
        return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)
    number = md5 if hash_function == "md5" else hash_function or hash
    words = text_to_word_sequence(text, filters, lower, split) if analyzer is None else analyzer(text)
    return [number(word) % (n - 1) + 1 for word in words]


class Tokenizer:
    """Numbers words by how frequent they are, from 1 on (``keras.preprocessing.text.Tokenizer``).

    `num_words`: only numbers below it are given. `oov_token` stands for all other words, as number 1. `char_level`:
    letters are words. `analyzer`: gives the words of a text.
    """

    def __init__(self, num_words=None, filters=_FILTERS, lower=True, split=" ", char_level=False, oov_token=None,
                 analyzer=None, **kwargs):
        if "nb_words" in kwargs:
            warnings.warn("The `nb_words` argument in `Tokenizer` has been renamed `num_words`.", stacklevel=2)
            num_words = kwargs.pop("nb_words")
        self.document_count = kwargs.pop("document_count", 0)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.analyzer = char_level, oov_token, analyzer
        self.word_counts = collections.OrderedDict()
        self.word_docs, self.index_docs = collections.defaultdict(int), collections.defaultdict(int)
        self.word_index, self.index_word = {}, {}

    def _words(self, text):
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return text
            return [word.lower() for word in text] if isinstance(text, list) else text.lower()
        if self.analyzer is not None:
            return self.analyzer(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts):
        """Counts the words of texts and numbers them."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        known = sorted(self.word_counts, key=self.word_counts.get, reverse=True)
        known = known if self.oov_token is None else [self.oov_token, *known]
        self.word_index = {word: number for number, word in enumerate(known, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        """Counts in how many lists of numbers each stands."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for number in set(sequence):
                self.index_docs[number] += 1

    def _known(self, number):
        """The number of a word, that of `oov_token` in place of one that is unknown or too rare; None."""
        if number is None or self.num_words and number >= self.num_words:
            return self.word_index.get(self.oov_token)
        return number

    def texts_to_sequences(self, texts):
        """Texts as lists of numbers."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        """The same one by one."""
        for text in texts:
            numbers = [self._known(self.word_index.get(word)) for word in self._words(text)]
            yield [number for number in numbers if number is not None]

    def sequences_to_texts(self, sequences):
        """Lists of numbers as texts, words with a blank between them."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences):
        """The same one by one."""
        for sequence in sequences:
            numbers = [self._known(number if number in self.index_word else None) for number in sequence]
            yield " ".join(self.index_word[number] for number in numbers if number is not None)

    def texts_to_matrix(self, texts, mode="binary"):
        """A row for each text, a column for each number: "binary", "count", "freq" or "tfidf"."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """The same of lists of numbers. ValueError for another mode, and where nothing was fitted."""
        width = self.num_words or (len(self.word_index) + 1 if self.word_index else None)
        if not width:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        values = {"binary": lambda count, *_: 1, "count": lambda count, *_: count,
                  "freq": lambda count, sequence, _: count / len(sequence),
                  "tfidf": lambda count, _, number: (1 + np.log(count)) * np.log(
                      1 + self.document_count / (1 + self.index_docs.get(number, 0)))}
        if mode not in values:
            raise ValueError("Unknown vectorization mode:", mode)
        found = np.zeros((len(sequences), width))
        for row, sequence in zip(found, sequences):
            for number, count in collections.Counter(sequence).items():
                if number < width:
                    row[number] = values[mode](count, sequence, number)
        return found

    def get_config(self):
        """The arguments and what was counted, as JSON."""
        return {**{name: getattr(self, name) for name in (
            "num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count")},
            **{name: json.dumps(getattr(self, name)) for name in (
                "word_counts", "word_docs", "index_docs", "index_word", "word_index")}}

    def to_json(self, **kwargs):
        """The configuration as JSON (``tokenizer_from_json``)."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string):
    """The Tokenizer of a configuration (``Tokenizer.to_json``)."""
    config = json.loads(json_string)["config"]
    counted = {name: json.loads(config.pop(name)) for name in (
        "word_counts", "word_docs", "index_docs", "index_word", "word_index")}
    made = Tokenizer(**config)
    for name, found in counted.items():
        is_numbered = name.startswith("index")
        setattr(made, name, {int(number): item for number, item in found.items()} if is_numbered else found)
    return made
