"""Layers that number words and integers: StringLookup, IntegerLookup and Hashing.

A vocabulary is a table of the library (tf.lookup.StaticHashTable), so the layers stand in datasets, traced functions
and models. Numbers begin with the mask's, where there is one, and those of what the vocabulary lacks.
"""

import collections
import io
import os

import numpy as np

from leat import debugging, dtypes, errors
from leat._core.paths import anywhere, local
from leat._files import places
from leat._core.tensor import Tensor, convert_to_tensor
from leat.keras._base import loading
from leat.keras._base.layer import Layer, _context
from leat.keras._base.named import op as _op
from leat.keras._base.sparse import as_sparse
from leat.keras._base.symbolic import KerasTensor

_MODES = ("int", "one_hot", "multi_hot", "count")


def encode(numbers, output_mode, depth, dtype, weights=None):
    """Numbers of categories, or vectors of `depth` as CategoryEncoding makes them. `weights`: what each counts."""
    if output_mode == "int":
        return _op("cast", numbers, dtype)
    rank = numbers.shape.rank
    if rank == 0:
        numbers, rank = _op("expand_dims", numbers, -1), 1
    if output_mode == "one_hot":
        if rank > 1 and numbers.shape[-1] == 1:
            numbers = _op("squeeze", numbers, [-1])
        return _op("one_hot", numbers, depth, dtype=dtype)
    vectors = _op("one_hot", numbers, depth, dtype=dtype)
    if output_mode == "multi_hot":
        return _op("reduce_max", vectors, -2)
    if weights is not None:
        vectors = vectors * _op("expand_dims", _op("cast", weights, dtype), -1)
    return _op("reduce_sum", vectors, -2)


def checked_sparse(sparse, output_mode):
    """Are the vectors given without their zeros? ValueError where there are no vectors."""
    if sparse and output_mode == "int":
        raise ValueError("`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, `'count'` or "
                         f"`'tf_idf'`. Received: sparse={sparse} and output_mode={output_mode}")
    return bool(sparse)


def _checked(layer, name, value, allowed):
    if value not in allowed:
        raise ValueError(f"Unknown value for `{name}` argument of layer {type(layer).__name__}. Expected one of: "
                         f"{allowed}. Received: {name}={value}")
    return value


def _salt(layer, salt):
    """A key of two numbers; None: none."""
    if salt is None:
        return None
    if isinstance(salt, (tuple, list)) and len(salt) == 2:
        return list(salt)
    if isinstance(salt, int):
        return [salt, salt]
    raise ValueError(f"The `salt` argument for `{type(layer).__name__}` can only be a tuple of size 2 integers, or a "
                     f"single integer. Received: salt={salt}.")


def _hashed(texts, bins, salt):
    if salt is None:
        return _op("strings.to_hash_bucket_fast", texts, bins)
    return _op("strings.to_hash_bucket_strong", texts, bins, salt)


class Numbering(Layer):
    """What is called with a list, an array or any tensor."""

    sparse = False

    def __call__(self, inputs, *args, **kwargs):
        found = self._numbered(inputs, *args, **kwargs)
        return as_sparse(found) if self.sparse and isinstance(found, Tensor) else found

    def _numbered(self, inputs, *args, **kwargs):
        if isinstance(inputs, KerasTensor):
            return super().__call__(inputs, *args, **kwargs)
        if hasattr(inputs, "with_flat_values") and self.output_mode != "int":
            return self._of_rows(inputs)
        if hasattr(inputs, "with_flat_values"):
            return inputs.with_flat_values(self(inputs.flat_values))
        if hasattr(inputs, "dense_shape"):
            return type(inputs)(inputs.indices, self(inputs.values), inputs.dense_shape)
        if not isinstance(inputs, Tensor):
            inputs = convert_to_tensor(inputs, self._given_dtype(inputs))
        return super().__call__(inputs, *args, **kwargs)

    def _of_rows(self, inputs):
        """The vectors of a ragged tensor's rows."""
        numbers = inputs.with_flat_values(self._numbers(inputs.flat_values))
        return self._encoded(numbers.to_tensor(-1))  # which is in no vector

    def _given_dtype(self, inputs):
        return None


class Vocabulary(Numbering):
    """One that has a vocabulary."""

    vocabulary_dtype = "string"
    compute_dtype = property(lambda self: self.vocabulary_dtype)  # what it takes

    def _as_said(self, outputs):
        """Of vectors Keras says floats, also where it gives integers, of a length that the vocabulary alone says."""
        if self.output_mode == "int" or not isinstance(outputs, KerasTensor):
            return outputs
        shape = outputs.shape if self._has_size() else (*outputs.shape[:-1], None)
        return KerasTensor(shape, "float32", name=outputs.name)


class _Lookup(Vocabulary):
    """The number of each token in a vocabulary, or (`invert`) the token of each number."""

    def __init__(self, token_dtype, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token=None,
                 vocabulary=None, idf_weights=None, invert=False, output_mode="int", sparse=False,
                 pad_to_max_tokens=False, oov_method="floormod", salt=None, name=None, vocabulary_size=None,
                 has_input_vocabulary=None, trainable=True, dtype=None):
        super().__init__(name=name, trainable=trainable)
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(f"If set, `max_tokens` must be greater than 1. Received: max_tokens={max_tokens}")
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError("If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens=None")
        if num_oov_indices < 0:
            raise ValueError("`num_oov_indices` must be greater than or equal to 0. Received: "
                             f"num_oov_indices={num_oov_indices}")
        output_mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(output_mode, output_mode)
        self.output_mode = _checked(self, "output_mode", output_mode, (*_MODES, "tf_idf"))
        self.oov_method = _checked(self, "oov_method", oov_method, ("floormod", "farmhash"))
        if invert and output_mode != "int":
            raise ValueError("`output_mode` must be `'int'` when `invert` is true. Received: "
                             f"output_mode={output_mode}")
        if idf_weights is not None and output_mode != "tf_idf":
            raise ValueError("`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: "
                             f"output_mode={output_mode}")
        if salt is not None and token_dtype.is_integer and oov_method != "farmhash":
            raise ValueError(f"`salt` can only be used when `oov_method='farmhash'`. Received: oov_method={oov_method}")
        self.salt = _salt(self, salt)
        self.max_tokens, self.num_oov_indices, self.invert = max_tokens, num_oov_indices, invert
        self.mask_token, self.oov_token, self.pad_to_max_tokens = mask_token, oov_token, pad_to_max_tokens
        self._token_dtype, self.built = token_dtype, True
        self.sparse = checked_sparse(sparse, self.output_mode)
        self.idf_weights, self._tokens, self._table = None, [], None
        self.input_vocabulary = None if isinstance(vocabulary, (str, bytes, os.PathLike)) else _listed(vocabulary)
        self.input_idf_weights = _listed(idf_weights)
        self._stored_weights = None  # out of a file of Keras', where a vocabulary is to follow
        self._is_static = vocabulary is not None
        self._size_said = vocabulary_size  # by the configuration of one whose vocabulary is kept elsewhere
        if vocabulary is not None:
            if output_mode == "tf_idf" and idf_weights is None:
                raise ValueError("When specifying the `vocabulary` argument, in TF-IDF output mode, the `idf_weights` "
                                 "argument must also be provided.")
            self.set_vocabulary(vocabulary, idf_weights)

    vocabulary_dtype = property(lambda self: self._token_dtype.name)

    # ---- the vocabulary ----

    def _oov_start(self):
        return 1 if self.mask_token is not None and self.output_mode == "int" else 0

    def _start(self):
        return self._oov_start() + self.num_oov_indices

    def _special(self):
        """The tokens in front of the vocabulary."""
        return [self.mask_token] * self._oov_start() + [self.oov_token] * self.num_oov_indices

    def _has_size(self):
        """Is it known how many numbers there are?"""
        return self.pad_to_max_tokens or self._table is not None or self._size_said is not None

    def vocabulary_size(self):
        """How many numbers there are, those of the mask and of what the vocabulary lacks included."""
        if self._table is None and self._size_said is not None:
            return self._size_said
        return self._start() + len(self._tokens)

    def get_vocabulary(self, include_special_tokens=True):
        """The tokens in the order of their numbers, those of the table as numpy's scalars."""
        tokens = map(np.str_ if self.vocabulary_dtype == "string" else np.int64, self._tokens)
        return [*(self._special() if include_special_tokens else ()), *tokens]

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Takes the tokens of a list, an array, a tensor, or the lines of a file. ValueError where one stands twice, or
        a configuration in safe mode names the file."""
        if (self.output_mode == "tf_idf") != (idf_weights is not None):
            raise ValueError("`idf_weights` must be set if output_mode is 'tf_idf'." if idf_weights is None else
                             "`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: "
                             f"output_mode={self.output_mode} and idf_weights={idf_weights}")
        is_file = isinstance(vocabulary, (str, bytes, os.PathLike))
        if is_file:
            # No configuration, whoever vouches for it, has other machines asked.
            vocabulary = (anywhere if loading.is_idle() else local)(vocabulary)
            loading.refuse_path(f"{type(self).__name__} '{self.name}'", vocabulary)
            if not places.exists(vocabulary):
                raise ValueError(f"Vocabulary file {vocabulary} does not exist.")
            with places.opened(vocabulary) as file:
                vocabulary = io.TextIOWrapper(file, self._encoding()).read().splitlines()
        given = [self._token(token) for token in _listed(vocabulary)]
        if not given:
            raise ValueError(f"Cannot set an empty vocabulary. Received: vocabulary={vocabulary}")
        special = self._special()
        has_special = bool(special) and given[:len(special)] == special
        tokens = given[len(special):] if has_special else given
        self._check_tokens(tokens, special)
        self._set_tokens(tokens)
        if idf_weights is not None:
            self._set_weights(_listed(idf_weights), len(given), has_special)

    def _check_tokens(self, tokens, special):
        repeated = [token for token, count in collections.Counter(tokens).items() if count > 1]
        if repeated:
            raise ValueError("The passed vocabulary has at least one repeated term. Please uniquify your dataset. The "
                             f"repeated terms are: {repeated}")
        for what, token, matters in (("mask", self.mask_token, True), ("OOV", self.oov_token, self.invert)):
            if matters and token is not None and token in tokens:
                raise ValueError(f"Found reserved {what} token at unexpected location in `vocabulary`: {token!r} is "
                                 f"number {tokens.index(token)}. Leave special tokens out, or put them in front in "
                                 f"this order: {special}")
        size = len(special) + len(tokens)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError("Attempted to set a vocabulary larger than the maximum vocab size. Received vocabulary "
                             f"size is {size}; `max_tokens` is {self.max_tokens}.")

    def _set_tokens(self, tokens):
        from leat import lookup
        numbers = np.arange(self._start(), self._start() + len(tokens), dtype=np.int64)
        keys, values = convert_to_tensor(tokens, self._token_dtype), convert_to_tensor(numbers)
        default = convert_to_tensor(np.int64(-1))
        if self.invert:
            keys, values, default = values, keys, convert_to_tensor(self.oov_token, self._token_dtype)
        self._tokens = tokens
        self._table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(keys, values), default)
        self._compiled = None

    def _set_weights(self, weights, count, has_special):
        weights = np.asarray(weights, np.float32)
        if weights.shape != (count,):
            raise ValueError("`idf_weights` must be the same length as vocabulary. len(idf_weights) is "
                             f"{len(weights)}; len(vocabulary) is {count}")
        front = 0 if has_special else self._start()
        back = self.max_tokens - front - count if self.pad_to_max_tokens else 0
        self.idf_weights = np.concatenate([np.full(front, weights.mean(), np.float32), weights,
                                           np.zeros(back, np.float32)])

    # ---- in files of Keras', which keep vocabularies that were found beside the configuration ----

    def save_own_variables(self, store):
        """Puts the weights of the vocabulary into `store`, where Keras looks for them."""
        if self.idf_weights is not None:
            store["idf_weights"] = self.idf_weights

    def load_own_variables(self, store):
        """Takes the weights of the vocabulary, which `load_assets` is to set."""
        self._stored_weights = store.get("idf_weights", self._stored_weights)

    def load_assets(self, dir_path):
        """Takes the vocabulary that a folder of a `.keras` file has, unless the configuration had one."""
        if self.input_vocabulary is not None or self._table is not None:
            return
        with open(os.path.join(dir_path, "vocabulary.txt"), encoding="utf-8") as file:
            tokens = file.read().split("\n")
        while tokens and not tokens[-1]:
            tokens.pop()
        weights = self._stored_weights
        if weights is not None:
            weights = np.asarray(weights)[:len(tokens)]
        self.set_vocabulary(tokens, weights)

    def _token(self, value):
        """A token of a list as it is kept: text, or an integer."""
        if self._token_dtype.is_integer:
            return int(value)
        return value.decode(self._encoding()) if isinstance(value, bytes) else str(value)

    def _encoding(self):
        return "utf-8"

    # ---- finding the vocabulary in data ----

    def adapt(self, data, steps=None):
        """Makes the vocabulary of the tokens of an array, a list or a dataset, the most frequent first."""
        if self._is_static:
            raise ValueError(f"Cannot adapt layer '{self.name}' after setting a static vocabulary via `vocabulary` "
                             "argument or `set_vocabulary()` method.")
        counts, documents, total = collections.Counter(), collections.Counter(), 0
        whole = isinstance(data, (list, tuple, np.ndarray, Tensor)) or hasattr(data, "flat_values")
        for step, batch in enumerate([data] if whole else data):
            if steps is not None and step >= steps:
                break
            for row in self._rows(batch, whole):
                counts.update(row)
                documents.update(set(row))
                total += 1
        for special in (self.mask_token, self.oov_token):
            counts.pop(special, None)
        if not counts:
            return
        tokens = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        if self.max_tokens is not None:
            tokens = tokens[:self.max_tokens - self._start()]
        self._set_tokens(tokens)
        if self.output_mode == "tf_idf":
            weights = [np.log(1 + total / (1 + documents[token])) for token in tokens]
            self._set_weights(weights, len(tokens), False)

    def _rows(self, batch, whole):
        """The tokens of each document of a batch: a row of a matrix; of a vector all, or, in data as a whole, each."""
        if hasattr(batch, "to_list"):
            batch = batch.to_list()
        elif isinstance(batch, Tensor):
            batch = batch.numpy()
        if isinstance(batch, np.ndarray):
            batch = batch.tolist()
        if not isinstance(batch, (list, tuple)):
            batch = [batch]
        if not any(isinstance(row, (list, tuple)) for row in batch):
            batch = [[token] for token in batch] if whole else [batch]
        return [[self._token(token) for token in _flat(row)] for row in batch]

    # ---- calls ----

    def call(self, inputs):
        """The numbers, or what output_mode makes of them; the tokens where the layer inverts."""
        return self._encoded(self._numbers(inputs))

    def _numbers(self, inputs):
        if self._table is None and _context.is_symbolic:  # of a model whose vocabularies are to come
            places = _op("cast", _op("equal", inputs, inputs), dtypes.int64)
            return _op("strings.as_string", places) if self.invert and self._token_dtype is dtypes.string else places
        if not self._has_size() and self.output_mode != "int":
            raise RuntimeError(f"layer '{self.name}' has no vocabulary, which says how long vectors are with "
                               f"`output_mode={self.output_mode}`; pass `vocabulary`, or call `adapt()` first")
        if self._table is None:
            raise errors.FailedPreconditionError(
                None, None, f"Table not initialized: layer '{self.name}' has no vocabulary; pass `vocabulary`, or call "
                "`adapt()` or `set_vocabulary()` first")
        wanted = dtypes.int64 if self.invert else self._token_dtype
        if inputs.dtype is not wanted:
            inputs = _op("cast", inputs, wanted)
        found = self._table.lookup(inputs)
        if not self.invert:
            return self._with_others(inputs, found)
        if self.mask_token is not None:
            mask = convert_to_tensor(self.mask_token, self._token_dtype)
            found = _op("where", _op("equal", inputs, convert_to_tensor(np.int64(0))), mask, found)
        return found

    def _encoded(self, numbers):
        if self.output_mode == "int":
            return numbers
        depth = self.max_tokens if self.pad_to_max_tokens else self.vocabulary_size()
        if self.output_mode == "tf_idf":
            counts = encode(numbers, "count", depth, "float32")
            return counts if self.idf_weights is None and _context.is_symbolic else counts * self.idf_weights
        return encode(numbers, self.output_mode, depth, "int64")

    def _with_others(self, inputs, found):
        """The numbers with those of masks and of tokens that the vocabulary lacks."""
        lacks = _op("equal", found, convert_to_tensor(np.int64(-1)))
        if self.mask_token is not None:
            mask = _op("equal", inputs, convert_to_tensor(self.mask_token, self._token_dtype))
            number = 0 if self.output_mode == "int" else np.iinfo(np.int64).max  # in no vector
            found = _op("where", mask, convert_to_tensor(np.int64(number)), found)
            lacks = _op("math.logical_and", lacks, _op("math.logical_not", mask))
        if self.num_oov_indices == 0:
            count = _op("reduce_sum", _op("cast", lacks, "int32"))
            debugging.assert_equal(count, 0, message="When `num_oov_indices=0` all inputs should be in "
                                   "vocabulary, found OOV values, consider setting `num_oov_indices=1`.")
            return found
        others = convert_to_tensor(np.int64(0))
        if self.num_oov_indices > 1 and self._token_dtype.is_integer and self.oov_method == "floormod":
            others = _op("math.floormod", inputs, convert_to_tensor(np.int64(self.num_oov_indices)))
        elif self.num_oov_indices > 1:
            texts = _op("strings.as_string", inputs) if self._token_dtype.is_integer else inputs
            others = _hashed(texts, self.num_oov_indices, self.salt)
        return _op("where", lacks, others + self._oov_start(), found)

    @classmethod
    def from_config(cls, config):
        """One of these arguments. ValueError where they name a file, as `safe_mode` of what reads them forbids."""
        with loading.configuration(True):
            return super().from_config(config)

    def get_config(self):
        """The arguments that make another one like it."""
        config = {name: getattr(self, name) for name in (
            "invert", "max_tokens", "num_oov_indices", "oov_token", "mask_token", "output_mode", "sparse",
            "pad_to_max_tokens", "vocabulary_dtype")}
        config["idf_weights"], config["vocabulary"] = self.input_idf_weights, self.input_vocabulary
        if self.input_vocabulary is None and self._table is not None:  # of a file or found: Keras keeps it elsewhere
            config["vocabulary"] = list(self._tokens)
            if self.idf_weights is not None:
                config["idf_weights"] = self.idf_weights[self._start():self.vocabulary_size()].tolist()
        config["vocabulary_size"] = self.vocabulary_size() if self._table is not None else None
        return {**super().get_config(), **config, "oov_method": self.oov_method, "salt": self.salt}


def _listed(values):
    """A list of the values of an array or tensor; None of none."""
    if isinstance(values, Tensor):
        values = values.numpy()
    return values.tolist() if isinstance(values, np.ndarray) else values if values is None else list(values)


def _flat(value):
    return [leaf for item in value for leaf in _flat(item)] if isinstance(value, (list, tuple)) else [value]


class StringLookup(_Lookup):
    """The number of each word in a vocabulary, or the word of each number (``keras.layers.StringLookup``)."""

    def __init__(self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", vocabulary=None,
                 idf_weights=None, invert=False, output_mode="int", pad_to_max_tokens=False, sparse=False,
                 encoding="utf-8", name=None, salt=None, **kwargs):
        object.__setattr__(self, "encoding", encoding)
        super().__init__(dtypes.string, max_tokens=max_tokens, num_oov_indices=num_oov_indices, mask_token=mask_token,
                         oov_token=oov_token, vocabulary=vocabulary, idf_weights=idf_weights, invert=invert,
                         output_mode=output_mode, pad_to_max_tokens=pad_to_max_tokens, sparse=sparse, name=name,
                         salt=salt, **kwargs)

    def _encoding(self):
        return self.encoding

    def get_config(self):
        """The arguments that make another one like it."""
        config = {**super().get_config(), "encoding": self.encoding}
        del config["vocabulary_dtype"]
        return config


class IntegerLookup(_Lookup):
    """The number of each integer in a vocabulary, or the integer of each number (``keras.layers.IntegerLookup``)."""

    def __init__(self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token=-1, vocabulary=None,
                 vocabulary_dtype="int64", idf_weights=None, invert=False, output_mode="int", sparse=False,
                 pad_to_max_tokens=False, oov_method="floormod", salt=None, name=None, **kwargs):
        if vocabulary_dtype != "int64":
            raise ValueError("Only `vocabulary_dtype='int64'` is supported at this time. Received: "
                             f"vocabulary_dtype={vocabulary_dtype}")
        super().__init__(dtypes.int64, max_tokens=max_tokens, num_oov_indices=num_oov_indices, mask_token=mask_token,
                         oov_token=oov_token, vocabulary=vocabulary, idf_weights=idf_weights, invert=invert,
                         output_mode=output_mode, sparse=sparse, pad_to_max_tokens=pad_to_max_tokens,
                         oov_method=oov_method, salt=salt, name=name, **kwargs)


class Hashing(Numbering):
    """A number below `num_bins` for each word or integer, by a hash (``keras.layers.Hashing``).

    `mask_value`: what gets number 0, which nothing else gets then. `salt`: a key of two integers, or of one twice.
    """

    def __init__(self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, dtype=None, **kwargs):
        super().__init__(dtype=dtype or ("int64" if output_mode == "int" else "float32"), **kwargs)
        if num_bins is None or num_bins <= 0:
            raise ValueError(f"The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: "
                             f"num_bins={num_bins}.")
        if output_mode not in _MODES:
            raise ValueError(f"Invalid value for argument `output_mode`. Expected one of {_MODES}. Received: "
                             f"output_mode={output_mode}")
        if output_mode == "int" and self.dtype not in ("int32", "int64"):
            raise ValueError("When `output_mode=\"int\"`, `dtype` should be an integer type, 'int32' or 'int64'. "
                             f"Received: dtype={dtype}")
        self.num_bins, self.mask_value, self.salt = num_bins, mask_value, _salt(self, salt)
        self.output_mode, self.sparse, self.built = output_mode, checked_sparse(sparse, output_mode), True

    def call(self, inputs):
        """The numbers, or what output_mode makes of them."""
        return self._encoded(self._numbers(inputs))

    def _numbers(self, inputs):
        if inputs.dtype.is_floating:
            inputs = _op("cast", inputs, "int64")
        masked = self.mask_value is not None and self.num_bins > 1
        texts = inputs if inputs.dtype is dtypes.string else _op("strings.as_string", inputs)
        numbers = _hashed(texts, self.num_bins - 1 if masked else self.num_bins, self.salt)
        if masked:
            is_mask = _op("equal", inputs, convert_to_tensor(self.mask_value, inputs.dtype))
            numbers = _op("where", is_mask, convert_to_tensor(np.int64(0)), numbers + 1)
        return numbers

    def _encoded(self, numbers):
        return encode(numbers, self.output_mode, self.num_bins, self.dtype)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "num_bins": self.num_bins, "salt": self.salt, "mask_value": self.mask_value,
                "output_mode": self.output_mode, "sparse": self.sparse}
