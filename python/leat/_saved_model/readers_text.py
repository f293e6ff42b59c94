"""The same as ``readers`` of text, tables and random numbers: lines of READERS there."""

import os

import leat as tf
from leat import dtypes, lookup
from leat._files import places
from leat._files.wire import DecodeError
from leat._graph import ops
from leat._saved_model.calling import number as _number, op
from leat.errors import UnimplementedError

# ---- text and tables ----

class Table:
    """A table of a SavedModel: keys and values come when it is initialised."""

    def __init__(self, node):
        self.key_dtype, self.value_dtype = node.type("key_dtype"), node.type("value_dtype")
        self._pairs, self._tables = None, {}

    def fill(self, keys, found):
        """Sets what is in it."""
        if not keys._has_values or not found._has_values:
            raise UnimplementedError(None, None, "a table of a SavedModel is filled with what a function computes")
        self._pairs, self._tables = (keys, found), {}

    def pairs(self):
        """(keys, values)"""
        if self._pairs is None:
            raise DecodeError("a table is used before it is filled")
        return self._pairs

    def find(self, node, keys, default):
        """The value of each key."""
        number = _number(node, default)
        if number not in self._tables:
            self._tables[number] = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(
                *self.pairs()), default)
        return self._tables[number].lookup(keys)


def _fill(run, node, held, keys, found):
    held.fill(keys, found)
    return []


def _fill_from_file(run, node, held, filename):
    path = os.fsdecode(filename.numpy())
    if not places.is_within(path, os.path.join(run.library.folder, "assets")):
        raise DecodeError(f"a table is read from {path}, outside of the SavedModel's assets")
    read = lookup.TextFileInitializer(path, held.key_dtype, node.i("key_index", -2), held.value_dtype,
                                      node.i("value_index", -1), delimiter=node.s("delimiter", "\t"))
    held.fill(*read._pairs())
    return []


def _find(run, node, held, keys, default):
    return held.find(node, keys, default)


def _table_size(run, node, held):
    return tf.constant(len(held.pairs()[0]), dtypes.int64)


def _regex(name, *attributes):
    def read(run, node, value, *others):
        given = {own: node.s(own) for own in attributes}
        for own, tensor in zip(("pattern", "rewrite"), others):
            given[own] = _number(node, tensor).decode() if tensor._has_values else tensor
        if name == "regex_replace":
            given["replace_global"] = node.b("replace_global", True)
        return op(name, value, **given)
    return read


def _ngrams(run, node, data, splits):
    texts = {own: node.s(own) for own in ("separator", "left_pad", "right_pad")}
    return ops.call("string_ngrams", dict(
        texts, ngram_widths=node.ints("ngram_widths", []), pad_width=node.i("pad_width"),
        preserve_short_sequences=node.b("preserve_short_sequences")), [data, splits])


def _string_join(run, node, *inputs):
    return op("string_join", list(inputs), separator=node.s("separator"))


def _string_split(run, node, value, sep):
    parts = tf.strings.split(value, sep=_number(node, sep).decode(), maxsplit=node.i("maxsplit", -1))
    rows = parts.value_rowids()
    places = tf.range(tf.shape(rows, dtypes.int64)[0]) - tf.gather(parts.row_splits, rows)
    longest = tf.reduce_max(tf.concat([parts.row_lengths(), tf.zeros([1], dtypes.int64)], 0))
    return [tf.stack([rows, places], axis=1), parts.flat_values, tf.stack([parts.nrows(), longest])]


def _ragged_to_tensor(run, node, shape, flat, default, *partitions):
    found = node._get("row_partition_types", "list", None)
    kinds = [] if found is None else [one.decode() for one in found.s]
    if len(kinds) != len(partitions) or not set(kinds) <= {"ROW_SPLITS", "FIRST_DIM_SIZE", "VALUE_ROWIDS"}:
        raise DecodeError(f"node {node.name} has partitions of the kinds {kinds}")
    parts = list(zip(kinds, partitions))
    rows = parts.pop(0)[1] if kinds[0] == "FIRST_DIM_SIZE" else None
    ragged = flat
    for kind, partition in reversed(parts):
        ragged = tf.RaggedTensor.from_row_splits(ragged, partition) if kind == "ROW_SPLITS" else (
            tf.RaggedTensor.from_value_rowids(ragged, partition, rows if kind is parts[0][0] and rows is not None
                                              else None))
    size = None if shape._has_values and shape.shape.rank == 0 else (
        [None if one < 0 else one for one in shape.numpy().tolist()] if shape._has_values else shape)
    return ragged.to_tensor(default_value=default, shape=size)


def _text(name, *attributes, **kinds):
    def read(run, node, *inputs):
        return op(name, *inputs, **{own: node.s(own) or TABLE_DEFAULTS.get(own, "") for own in attributes},
                  **{own: getattr(node, kind)(own) for own, kind in kinds.items()})
    return read


TABLE_DEFAULTS = {"unit": "BYTE"}


# ---- random numbers ----

_NAMES = {1: "philox", 2: "threefry", 3: "auto_select"}


class _Key:
    """The key and counter of a seed, which what draws by them takes."""

    def __init__(self, seed):
        self.seed = seed


def _key_counter(run, node, seed):
    key = _Key(seed)
    return [key, key]


def _stateless(name):
    def read(run, node, shape, key, counter, algorithm):
        if not isinstance(key, _Key):
            raise UnimplementedError(None, None, f"node {node.name}: {node.op} by a key that is no seed's")
        return op(name, key.seed, shape=shape, dtype=node.type("dtype", dtypes.float32),
                  alg=_NAMES.get(_number(node, algorithm), "auto_select"))
    return read


def _stateful(function):
    def read(run, node, shape):
        seeds = node.i("seed"), node.i("seed2")
        return function(shape, dtype=node.type("dtype"), seed=seeds[1] or None)
    return read


def _unicode_encode(run, node, points, splits):
    return op("unicode_encode", points, splits, output_encoding=node.s("output_encoding"),
              errors=node.s("errors", "replace"), replacement_char=node.i("replacement_char", 65533))


def _unicode_read(name):
    """What reads texts, and may replace their control characters."""
    def read(run, node, texts):
        given = {own: node.s(own) for own in ("input_encoding", "output_encoding") if own in node._attrs}
        return op(name, texts, errors=node.s("errors", "replace"), replacement_char=node.i("replacement_char", 65533),
                  replace_control_characters=node.b("replace_control_characters"), **given)
    return read


def _decoded(run, node, texts):
    points, splits, starts = _unicode_read("unicode_decode")(run, node, texts)
    return [tf.cast(splits, node.type("Tsplits", dtypes.int64)), points, starts]


LINES = {
    "AnonymousHashTable": lambda run, node: Table(node), "HashTableV2": lambda run, node: Table(node),
    "InitializeTableV2": _fill, "InitializeTableFromTextFileV2": _fill_from_file, "LookupTableFindV2": _find,
    "LookupTableImportV2": _fill, "LookupTableSizeV2": _table_size,
    "MutableHashTableV2": lambda run, node: Table(node), "RaggedTensorToTensor": _ragged_to_tensor,
    "RandomStandardNormal": _stateful(tf.random.normal), "RandomUniform": _stateful(tf.random.uniform),
    "TruncatedNormal": _stateful(tf.random.truncated_normal), "RegexFullMatch": _regex("regex_full_match"),
    "RegexReplace": _regex("regex_replace"), "StatelessRandomGetKeyCounter": _key_counter,
    "StatelessRandomNormalV2": _stateless("stateless_normal"),
    "StatelessRandomUniformV2": _stateless("stateless_uniform"),
    "StatelessTruncatedNormalV2": _stateless("stateless_truncated_normal"),
    "StaticRegexFullMatch": _regex("regex_full_match", "pattern"),
    "StaticRegexReplace": _regex("regex_replace", "pattern", "rewrite"), "StringJoin": _string_join,
    "StringNGrams": _ngrams, "StringLength": _text("string_length", "unit"),
    "StringLower": _text("string_lower", "encoding"),
    "StringSplitV2": _string_split, "StringToHashBucket": _text("string_to_hash_bucket", num_buckets="i"),
    "StringToHashBucketFast": _text("string_to_hash_bucket_fast", num_buckets="i"),
    "StringToHashBucketStrong": _text("string_to_hash_bucket_strong", num_buckets="i", key="ints"),
    "StringUpper": _text("string_upper", "encoding"), "Substr": _text("substr", "unit"),
    "UnicodeDecode": _decoded, "UnicodeDecodeWithOffsets": _decoded, "UnicodeEncode": _unicode_encode,
    "UnicodeScript": lambda run, node, points: op("unicode_script", points),
    "UnicodeTranscode": _unicode_read("unicode_transcode"),
}
