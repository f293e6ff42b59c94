"""TextVectorization: texts as the numbers of their words, or as vectors of what they have."""

from leat import strings
from leat._core.tensor import Tensor, convert_to_tensor
from leat.keras._base import loading, registry
from leat.keras._base.named import op as _op
from leat.keras.layers.lookups import StringLookup, Vocabulary, _checked

_MARKS = r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']"


class TextVectorization(Vocabulary):
    """The numbers of a text's words in a vocabulary (``keras.layers.TextVectorization``).

    `standardize`: "lower_and_strip_punctuation", "lower", "strip_punctuation", a function of texts, or None. `split`:
    "whitespace", "character", a function, or None: texts are words. `ngrams`: also as many words in a row, a tuple: as
    many alone. `output_mode`: "int", filled with 0 or cut to `output_sequence_length`, or as in StringLookup.
    """

    def __init__(self, max_tokens=None, standardize="lower_and_strip_punctuation", split="whitespace", ngrams=None,
                 output_mode="int", output_sequence_length=None, pad_to_max_tokens=False, vocabulary=None,
                 idf_weights=None, sparse=False, ragged=False, encoding="utf-8", name=None, vocabulary_size=None,
                 has_input_vocabulary=None, **kwargs):
        super().__init__(name=name, **kwargs)
        if standardize is not None and not callable(standardize):
            _checked(self, "standardize", standardize, ("lower_and_strip_punctuation", "lower", "strip_punctuation"))
        if split is not None and not callable(split):
            _checked(self, "split", split, ("whitespace", "character"))
        ngrams = tuple(ngrams) if isinstance(ngrams, list) else ngrams
        if not (ngrams is None or isinstance(ngrams, int) or (
                isinstance(ngrams, tuple) and all(isinstance(n, int) for n in ngrams))):
            raise ValueError(f"`ngrams` must be None, an integer, or a tuple of integers. Received: ngrams={ngrams}")
        self._lookup = StringLookup(max_tokens=max_tokens, vocabulary=vocabulary, idf_weights=idf_weights,
                                    pad_to_max_tokens=pad_to_max_tokens, mask_token="", output_mode=output_mode,
                                    sparse=sparse, encoding=encoding, vocabulary_size=vocabulary_size)
        self.output_mode = self._lookup.output_mode
        if self.output_mode == "int" and not isinstance(output_sequence_length, (int, type(None))):
            raise ValueError("`output_sequence_length` must be either None or an integer when `output_mode` is 'int'. "
                             f"Received: output_sequence_length={output_sequence_length}")
        if self.output_mode != "int" and output_sequence_length is not None:
            raise ValueError("`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                             f"output_sequence_length={output_sequence_length}.")
        if ragged and self.output_mode != "int":
            raise ValueError("`ragged` must not be true if `output_mode` is not `'int'`. Received: ragged=True and "
                             f"output_mode={output_mode}")
        self._standardize, self._split, self._ngrams = standardize, split, ngrams
        self._length, self._ragged, self.built = output_sequence_length, ragged, True

    def _parts_in_files(self):
        """The layer inside, which Keras' files have as well."""
        return [("_lookup_layer", self._lookup)]

    # ---- the vocabulary ----

    def adapt(self, data, batch_size=None, steps=None):
        """Makes the vocabulary of the words of an array, a list or a dataset, the most frequent first."""
        if isinstance(data, (list, tuple, Tensor)) or hasattr(data, "dtype"):
            self._lookup.adapt(self._words(convert_to_tensor(data, "string")))
        else:
            self._lookup.adapt((self._words(convert_to_tensor(batch, "string")) for batch in data), steps)

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Takes the words of a list, an array, a tensor, or the lines of a file."""
        self._lookup.set_vocabulary(vocabulary, idf_weights)

    def save_own_variables(self, store):
        """Puts the weights of the vocabulary into `store`, where Keras looks for them."""
        self._lookup.save_own_variables(store)

    def load_own_variables(self, store):
        """Takes the weights of the vocabulary, which `load_assets` is to set."""
        self._lookup.load_own_variables(store)

    def load_assets(self, dir_path):
        """Takes the vocabulary that a folder of a `.keras` file has, unless the configuration had one."""
        self._lookup.load_assets(dir_path)

    def get_vocabulary(self, include_special_tokens=True):
        """The words in the order of their numbers."""
        return self._lookup.get_vocabulary(include_special_tokens)

    def _has_size(self):
        return self._lookup._has_size()

    def vocabulary_size(self):
        """How many numbers there are, 0 for what fills up and 1 for unknown words included."""
        return self._lookup.vocabulary_size()

    # ---- calls ----

    def _given_dtype(self, inputs):
        return "string"

    def _words(self, texts):
        """The words of texts, ragged where they are split."""
        if callable(self._standardize):
            texts = self._standardize(texts)
        elif self._standardize is not None:
            if self._standardize.startswith("lower"):
                texts = _op("strings.lower", texts)
            if self._standardize.endswith("punctuation"):
                texts = _op("strings.regex_replace", texts, _MARKS, "")
        if self._split is not None:
            texts = self._split_up(texts)
        if self._ngrams is not None:
            widths = tuple(range(1, self._ngrams + 1)) if isinstance(self._ngrams, int) else self._ngrams
            texts = strings.ngrams(texts, widths, separator=" ")
        return texts

    def _split_up(self, texts):
        if texts.shape.rank > 1:
            if texts.shape[-1] != 1:
                raise ValueError("When using `TextVectorization` to tokenize strings, the input rank must be 1 or the "
                                 f"last shape dimension must be 1. Received: inputs.shape={texts.shape} with "
                                 f"rank={texts.shape.rank}")
            texts = _op("squeeze", texts, [-1])
        if callable(self._split):
            return self._split(texts)
        return strings.split(texts) if self._split == "whitespace" else strings.unicode_split(texts, "UTF-8")

    def call(self, inputs):
        """The numbers, or what output_mode makes of them."""
        found = self._lookup(self._words(inputs))
        if self.output_mode != "int":
            return found
        if self._ragged:
            return found if self._length is None else found[:, :self._length]
        if hasattr(found, "to_tensor"):
            shape = [*found.shape.as_list()[:-1], self._length]
            return _op("ensure_shape", found.to_tensor(0, shape=shape), shape)
        return found if self._length is None else self._filled(found)

    def compute_output_shape(self, input_shape):
        """The shape of the output as Keras says it: of texts that are split with a dimension for the words."""
        shape = tuple(input_shape)
        if self.output_mode == "int":
            return shape[0], self._length
        if self._split is not None or len(shape) <= 1:
            shape = (*shape, None)
        size = self._lookup.max_tokens if self._lookup.pad_to_max_tokens else self.vocabulary_size()
        return (*shape[:-1], size if self._has_size() else None)

    def _filled(self, numbers):
        """Numbers of whole texts, cut or filled to the length."""
        numbers = numbers[..., :self._length]
        missing = self._length - _op("shape", numbers)[-1]
        before = numbers.shape.rank - 1
        filled = _op("pad", numbers, _op("concat", [_op("zeros", [before, 2], "int32"), [[0, missing]]], 0))
        return _op("ensure_shape", filled, [*numbers.shape.as_list()[:-1], self._length])

    def get_config(self):
        """The arguments that make another one like it."""
        own = self._lookup.get_config()
        own.update(standardize=self._standardize, split=self._split, ngrams=self._ngrams, ragged=self._ragged,
                   output_sequence_length=self._length, vocabulary_size=self._lookup.vocabulary_size())
        return {**super().get_config(), **{name: own[name] for name in (
            "max_tokens", "standardize", "split", "ngrams", "output_mode", "output_sequence_length",
            "pad_to_max_tokens", "sparse", "ragged", "vocabulary", "idf_weights", "encoding", "vocabulary_size")}}

    @classmethod
    def from_config(cls, config):
        """One of these arguments. ValueError where they name a file, as `safe_mode` of what reads them forbids."""
        config = dict(config)
        with loading.configuration(True):
            for name in ("standardize", "split"):
                if isinstance(config.get(name), dict):
                    config[name] = registry.deserialize_keras_object(config[name])
            return cls(**config)
