"""What leat's operations are in TensorFlow's graphs, where that is more than a line of ``table``.

A line of WRITERS is one: a function of the Body that is written, leat's Node, the Values of its inputs, and the dtypes
and dimensions of its outputs; it gives the outputs' Values.
"""

import leat as tf
from leat import dtypes
from leat._saved_model import (writers_control as control, writers_layers as layers, writers_pictures as pictures,
                               writers_rare as rare)
from leat._saved_model.translate import Value, literal, output_of as _of, repeated as _repeated
from leat._saved_model.values import Shape
from leat.errors import UnimplementedError

I32, I64 = dtypes.int32, dtypes.int64


def _axis(b, node, name="axis"):
    return b.ints(node[name])


# ---- numbers ----

def _reduction(name):
    def write(b, node, x, kinds):
        axis = node["axis"]
        if axis is None:
            axis = list(range(x[0].rank)) if x[0].rank is not None else b.op(
                "Range", [b.constant(0, I32), b.op("Rank", [x[0]], I32, []), b.constant(1, I32)], I32, [-1])
        return b.op(name, [x[0], b.ints(axis)], keep_dims=bool(node["keepdims"]), **_of(kinds))
    return write


def _cumulative(name):
    def write(b, node, x, kinds):
        return b.op(name, [x[0], _axis(b, node)], exclusive=bool(node["exclusive"]), reverse=bool(node["reverse"]),
                    **_of(kinds))
    return write


def _unsorted(name):
    return lambda b, node, x, kinds: b.op(name, [x[0], x[1], b.ints(node["num_segments"])], **_of(kinds))


def _arg(name):
    def write(b, node, x, kinds):
        return b.op(name, [x[0], _axis(b, node)], output_type=kinds[0][0], Tidx=I32, **_of(kinds))
    return write


def _clip(b, node, x, kinds):
    return b.op("Maximum", [b.op("Minimum", [x[0], x[2]], **_of(kinds)), x[1]], **_of(kinds))


def _count_nonzero(b, node, x, kinds):
    zero = b.constant(b"" if x[0].dtype is dtypes.string else 0, x[0].dtype)
    found = b.op("NotEqual", x + [zero], dtypes.bool, x[0].dims)
    return _reduction("Sum")(b, node, [b.cast(found, kinds[0][0])], kinds)


def _logical_xor(b, node, x, kinds):
    return b.op("NotEqual", x, **_of(kinds))


def _in_top_k(b, node, x, kinds):
    k = b.ints(node["k"])
    return b.op("InTopKV2", [x[1], x[0], b.cast(k, x[0].dtype)], **_of(kinds))


def _saturate_cast(b, node, x, kinds):
    return b.inline(lambda value: tf.saturate_cast(value, kinds[0][0]), x)


# ---- arrays ----

def _concat(b, node, x, kinds):
    if len(x) == 1:
        return x[0]
    return b.op("ConcatV2", [*x, _axis(b, node)], T=x[0].dtype, Tidx=I32, N=len(x), **_of(kinds))


def _constant(b, node, x, kinds):
    return b.constant(*literal(node.attrs["value"]))


def _broadcast_like(b, node, x, kinds):
    return b.op("BroadcastTo", [x[0], b.shape_of(x[1])], **_of(kinds))


def _gather(b, node, x, kinds):
    axis, batch = node["axis"], node["batch_dims"]
    return b.op("GatherV2", [x[0], x[1], b.ints(batch if axis is None else axis)], batch_dims=batch, **_of(kinds))


def _one_hot(b, node, x, kinds):
    dtype = kinds[0][0]
    on, off = (b.constant(default, dtype) if node[name] is None else node[name] if isinstance(node[name], Value) else
               b.cast(b.constant(*literal(node[name])), dtype) for name, default in (("on_value", 1), ("off_value", 0)))
    return b.op("OneHot", [x[0], b.ints(node["depth"]), on, off], axis=node["axis"], **_of(kinds))


def _filled(value):
    def write(b, node, x, kinds):
        word = b"" if kinds[0][0] is dtypes.string else value
        return b.op("Fill", [b.ints(node["shape"]), b.constant(word, kinds[0][0])], **_of(kinds))
    return write


def _pad(b, node, x, kinds):
    places = node["paddings"]
    places = places if isinstance(places, Value) else b.constant(*literal(places))
    mode, fill = node["mode"].upper(), node["constant_values"]
    if mode != "CONSTANT":
        return b.op("MirrorPad", [x[0], places], mode=mode, **_of(kinds))
    if fill is None:
        fill = b.constant(b"" if x[0].dtype is dtypes.string else 0, x[0].dtype)
    elif not isinstance(fill, Value):
        fill = b.cast(b.constant(*literal(fill)), x[0].dtype)
    return b.op("PadV2", [x[0], places, fill], **_of(kinds))


def _range(b, node, x, kinds):
    return b.op("Range", [b.cast(one, kinds[0][0]) for one in x], **_of(kinds))


def _repeat(b, node, x, kinds):
    # The library's operation, as a gather of the places that it makes of 0, 1, 2, ...
    return b.inline(lambda value, repeats: _repeated(value, repeats, node["axis"]), x)


def _reshape_like(b, node, x, kinds):
    return b.op("Reshape", [x[0], b.shape_of(x[1])], **_of(kinds))


def _shape(b, node, x, kinds):
    return b.op("Shape", x, out_type=kinds[0][0], **_of(kinds))


def _size(b, node, x, kinds):
    return b.op("Size", x, out_type=kinds[0][0], **_of(kinds))


def _split(b, node, x, kinds):
    sizes = node["num_or_size_splits"]
    sizes = sizes if isinstance(sizes, Value) else literal(sizes)
    axis = _axis(b, node)
    if not isinstance(sizes, Value) and not sizes[0].shape:
        return b.op("Split", [axis, x[0]], outputs=kinds, num_split=int(sizes[0]))
    sizes = sizes if isinstance(sizes, Value) else b.constant(*sizes)
    return b.op("SplitV", [x[0], sizes, axis], outputs=kinds, num_split=len(kinds))


def _strided_slice(b, node, x, kinds):
    begin, end, strides = node["begin"], node["end"], node["strides"]
    given = [one for one in (begin, end, strides) if isinstance(one, Value)]
    dtype = given[0].dtype if given else I32
    if not given and any(abs(one) >= 1 << 31 for one in (*begin, *end, *(strides or ()))):
        dtype = I64
    if strides is None:
        strides = [1] * (len(begin) if isinstance(begin, list) else begin.dims[0])
    bounds = [b.cast(one, dtype) if isinstance(one, Value) else b.constant(one, dtype) for one in (begin, end, strides)]
    masks = {name: node[name] for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                           "shrink_axis_mask")}
    return b.op("StridedSlice", [x[0], *bounds], **masks, **_of(kinds))


def _slice(b, node, x, kinds):
    begin, size = node["begin"], node["size"]
    wide = any(isinstance(one, Value) and one.dtype is I64 for one in (begin, size))
    begin, size = (b.cast(b.ints(one), I64 if wide else I32) for one in (begin, size))
    return b.op("Slice", [x[0], begin, size], **_of(kinds))


def _roll(b, node, x, kinds):
    return b.op("Roll", [x[0], b.ints(node["shift"]), b.ints(node["axis"])], **_of(kinds))


def _squeeze(b, node, x, kinds):
    return b.op("Squeeze", x, squeeze_dims=list(node["axis"] or []), **_of(kinds))


def _transpose(b, node, x, kinds):
    perm = node["perm"]
    if perm is None:
        rank = x[0].rank
        perm = list(range(rank))[::-1] if rank is not None else b.inline(
            lambda value: tf.range(tf.rank(value) - 1, -1, -1), x)[0]
    return b.op("Transpose", [x[0], b.ints(perm)], **_of(kinds))


def _top_k(b, node, x, kinds):
    return b.op("TopKV2", [x[0], b.ints(node["k"])], outputs=kinds, sorted=bool(node["sorted"]),
                index_type=kinds[1][0])


def _sort(b, node, x, kinds):
    return _ordered(b, node, x, kinds)[0]


def _argsort(b, node, x, kinds):
    return _ordered(b, node, x, kinds)[1]


def _ordered(b, node, x, kinds):
    """Values and places in order along the last axis: all of them as the largest, turned where they rise."""
    axis, rank = node.fixed("axis"), x[0].rank
    if rank is None or axis not in (-1, rank - 1):
        raise UnimplementedError(None, None, f"{node.op} along another axis than the last cannot be written into a "
                                 "SavedModel; transpose before")
    value, rises = x[0], node["direction"] == "ASCENDING"
    if rises and not value.dtype.is_floating and not value.dtype in (dtypes.int32, dtypes.int64, dtypes.int8,
                                                                     dtypes.int16):
        raise UnimplementedError(None, None, f"{node.op} of {value.dtype.name} cannot be written into a SavedModel; "
                                 "cast to int64 before")
    name = "Neg" if value.dtype.is_floating else "Invert"
    turned = b.op(name, [value], value.dtype, value.dims) if rises else value
    size = b.op("StridedSlice", [b.shape_of(value), *(b.constant([one], I32) for one in (-1, 0, 1))], I32, [],
                shrink_axis_mask=1, end_mask=1)
    found, places = b.op("TopKV2", [turned, size], outputs=[(value.dtype, value.dims), (I32, value.dims)])
    return [b.op(name, [found], value.dtype, value.dims) if rises else found, places]


def _tensor_array_write(b, node, x, kinds):
    grows = bool(node["grows"])

    def write(rows, index, value):
        zeros = tf.zeros(tf.concat([tf.shape(rows)[:1], tf.shape(value)], 0), value.dtype)
        if rows.shape.rank not in (None, value.shape.rank + 1):
            rows = zeros
        elif rows.shape.rank is None or None in rows.shape or 0 in rows.shape:  # before the first write
            rows = tf.cond(tf.equal(tf.size(rows), 0), lambda: zeros, lambda: rows)
        if grows:
            more = tf.maximum(index + 1 - tf.shape(rows)[0], 0)
            zeros = tf.zeros(tf.concat([[more], tf.shape(rows)[1:]], 0), value.dtype)
            rows = tf.concat([rows, zeros], 0)
        return tf.tensor_scatter_nd_update(rows, [[index]], value[None])
    return b.inline(write, x)


def _unique(name):
    return lambda b, node, x, kinds: b.op(name, x, outputs=kinds, out_idx=kinds[1][0])


def _eigen(b, node, x, kinds):
    """Eig, with the vectors where they are asked for: else the second output has no values."""
    return b.op("Eig", x, outputs=[*kinds, kinds[0]][:2], compute_v=len(kinds) > 1, Tout=kinds[0][0])[:len(kinds)]


def _self_adjoint_eigen(b, node, x, kinds):
    return b.op("SelfAdjointEigV2", x, outputs=[*kinds, kinds[0]][:2], compute_v=len(kinds) > 1)[:len(kinds)]


def _unstack(b, node, x, kinds):
    return b.op("Unpack", x, outputs=kinds, num=len(kinds), axis=node["axis"])


def _searchsorted(b, node, x, kinds):
    return b.inline(lambda row, wanted: _searched(row, wanted, node["side"], kinds[0][0]), x)


def _searched(row, wanted, side, dtype):
    before = row[..., None, :] < wanted[..., :, None] if side == "left" else row[..., None, :] <= wanted[..., :, None]
    return tf.reduce_sum(tf.cast(before, dtype), axis=-1)


# ---- matrices ----

def _matmul(b, node, x, kinds):
    adjoint = [bool(node["transpose_a"]), bool(node["transpose_b"])]
    if x[0].rank == 2 and x[1].rank == 2:
        return b.op("MatMul", x, transpose_a=adjoint[0], transpose_b=adjoint[1], **_of(kinds))
    return b.op("BatchMatMulV2", x, adj_x=adjoint[0], adj_y=adjoint[1], **_of(kinds))


def _diagonal(name, inputs):
    """Operations over diagonals; `inputs(b, node, x, dtype)` gives what stands behind the first ones."""
    def write(b, node, x, kinds):
        k = b.ints(node["k"] or [0])
        return b.op(name, inputs(b, node, x, k), align=node["align"], **_of(kinds))
    return write


_diag = _diagonal("MatrixDiagV3", lambda b, node, x, k: [
    x[0], k, b.ints(node["num_rows"]), b.ints(node["num_cols"]), b.constant(node["padding_value"], x[0].dtype)])
_diag_part = _diagonal("MatrixDiagPartV3", lambda b, node, x, k: [
    x[0], k, b.constant(node["padding_value"], x[0].dtype)])
_set_diag = _diagonal("MatrixSetDiagV3", lambda b, node, x, k: [x[0], x[1], k])


# ---- text and tables ----

def _text(name, *attributes):
    """An operation of strings whose attributes have TensorFlow's names."""
    def write(b, node, x, kinds):
        return b.op(name, x, outputs=kinds, **{own: node.fixed(own) for own in attributes})
    return write


def _string_split(b, node, x, kinds):
    splits = kinds[1][0]
    places, parts, shape = b.op("StringSplitV2", [x[0], b.constant(node["sep"].encode() if isinstance(
        node["sep"], str) else node["sep"], dtypes.string)], outputs=[(I64, [-1, 2]), kinds[0], (I64, [2])],
        maxsplit=node["maxsplit"])

    def rows(places, shape):
        counts = tf.math.unsorted_segment_sum(tf.ones_like(places[:, 0]), places[:, 0], shape[0])
        return tf.cast(tf.concat([[0], tf.cumsum(counts)], 0), splits)
    return [parts, *b.inline(rows, [places, shape])]


def _reduce_join(b, node, x, kinds):
    axis = node["axis"] if node["axis"] is not None else list(range(x[0].rank))
    return b.op("ReduceJoin", [x[0], b.ints(axis)], keep_dims=bool(node["keepdims"]), separator=node["separator"],
                **_of(kinds))


def _ngrams(b, node, x, kinds):
    words = {own: node[own] for own in ("separator", "left_pad", "right_pad", "pad_width")}
    return b.op("StringNGrams", x, outputs=kinds, ngram_widths=list(node["ngram_widths"]),
                preserve_short_sequences=bool(node["preserve_short_sequences"]), **words)


def _table_find(b, node, x, kinds):
    (keys, key_dtype), (found, dtype) = literal(node.attrs["keys"]), literal(node.attrs["values"])
    table = b.op("AnonymousHashTable", [], dtypes.string, [], key_dtype=key_dtype, value_dtype=dtype)
    filled = b.op("InitializeTableV2", [table, b.constant(keys, key_dtype), b.constant(found, dtype)])
    return b.op("LookupTableFindV2", [table, x[0], b.cast(x[1], dtype)], after=[filled], **_of(kinds))


# ---- random numbers that follow from seeds ----

_ALGORITHMS = {"philox": 1, "threefry": 2, "auto_select": 3}


def _key_counter(b, node, seed):
    key, counter = b.op("StatelessRandomGetKeyCounter", [seed], outputs=[(dtypes.uint64, [1]), (dtypes.uint64, [2])])
    return [key, counter, b.constant(_ALGORITHMS[node["alg"]], I32)]


def _uniform(b, node, x, kinds):
    dtype = kinds[0][0]
    drawn = b.op("StatelessRandomUniformV2", [b.ints(node["shape"]), *_key_counter(b, node, x[0])], dtype_=dtype,
                 **_of(kinds))
    low, high = node["minval"], node["maxval"]
    return b.op("AddV2", [b.op("Mul", [drawn, b.constant(high - low, dtype)], **_of(kinds)), b.constant(low, dtype)],
                **_of(kinds)) if (low, high) != (0, 1) else drawn


def _normal(name):
    def write(b, node, x, kinds):
        dtype = kinds[0][0]
        drawn = b.op(name, [b.ints(node["shape"]), *_key_counter(b, node, x[0])], dtype_=dtype, **_of(kinds))
        scaled = b.op("Mul", [drawn, b.constant(node["stddev"], dtype)], **_of(kinds))
        return b.op("AddV2", [scaled, b.constant(node["mean"], dtype)], **_of(kinds))
    return write


def _seeded(name):
    """A random operation with a state, of which no run is like another."""
    def write(b, node, x, kinds):
        dtype, seeds = kinds[0][0], {"seed": 0, "seed2": 0}
        drawn = b.op(name, [b.ints(node["shape"])], T=I32, dtype_=dtype, effect=True, **seeds, **_of(kinds))
        low, width = (node["minval"], node["maxval"] - node["minval"]) if name == "RandomUniform" else (
            node["mean"], node["stddev"])
        return b.op("AddV2", [b.op("Mul", [drawn, b.constant(width, dtype)], **_of(kinds)), b.constant(low, dtype)],
                    **_of(kinds))
    return write


def _summed_like(value, like):
    missing = value.shape.rank - like.shape.rank
    axes = list(range(missing)) + [place + missing for place, size in enumerate(like.shape)
                                   if size == 1 and value.shape[place + missing] != 1]
    return tf.reshape(tf.reduce_sum(value, axes), tf.shape(like))


WRITERS = {
    "argmax": _arg("ArgMax"), "argmin": _arg("ArgMin"), "argsort": _argsort,
    "as_string": _text("AsString", "precision", "scientific", "shortest", "width", "fill"),
    "band_part": lambda b, node, x, kinds: b.op("MatrixBandPart", [
        x[0], b.ints(node["num_lower"], I64), b.ints(node["num_upper"], I64)], **_of(kinds)),
    "bitcast": lambda b, node, x, kinds: b.op("Bitcast", x, type=kinds[0][0], **_of(kinds)),
    "broadcast_like": _broadcast_like,
    "broadcast_to": lambda b, node, x, kinds: b.op("BroadcastTo", [x[0], b.ints(node["shape"])], **_of(kinds)),
    "cast": lambda b, node, x, kinds: b.op("Cast", x, DstT=kinds[0][0], **_of(kinds)),
    "check_numerics": lambda b, node, x, kinds: b.op("CheckNumerics", x, message=node["message"], **_of(kinds)),
    "clip_by_value": _clip, "concat": _concat, "constant": _constant,
    "count_nonzero": _count_nonzero, "cumprod": _cumulative("Cumprod"),
    "cumsum": _cumulative("Cumsum"), "cumulative_logsumexp": _cumulative("CumulativeLogsumexp"), "diag": _diag,
    "diag_part": _diag_part,
    "dynamic_partition": lambda b, node, x, kinds: b.op("DynamicPartition", x, outputs=kinds,
                                                        num_partitions=node["num_partitions"]),
    "einsum": lambda b, node, x, kinds: b.op("Einsum", x, equation=node["equation"].replace(" ", ""), **_of(kinds)),
    "ensure_shape": lambda b, node, x, kinds: b.op("EnsureShape", x, shape=Shape(node["shape"]), **_of(kinds)),
    "eig": _eigen, "eigvals": _eigen,
    "expand_dims": lambda b, node, x, kinds: b.op("ExpandDims", [x[0], _axis(b, node)], **_of(kinds)),
    "gather": _gather, "in_top_k": _in_top_k,
    "linspace": lambda b, node, x, kinds: b.op("LinSpace", [*x, b.ints(node["num"])], **_of(kinds)),
    "logical_xor": _logical_xor, "matmul": _matmul,
    "banded_triangular_solve": lambda b, node, x, kinds: b.op(
        "BandedTriangularSolve", x, lower=node["lower"], adjoint=node["adjoint"], **_of(kinds)),
    "tridiagonal_solve": lambda b, node, x, kinds: b.op("TridiagonalSolve", x, partial_pivoting=True, **_of(kinds)),
    "lu": lambda b, node, x, kinds: b.op("Lu", x, outputs=kinds, output_idx_type=kinds[1][0]),
    "matrix_inverse": lambda b, node, x, kinds: b.op("MatrixInverse", x, adjoint=node["adjoint"], **_of(kinds)),
    "matrix_solve": lambda b, node, x, kinds: b.op("MatrixSolve", x, adjoint=node["adjoint"], **_of(kinds)),
    "matrix_triangular_solve": lambda b, node, x, kinds: b.op(
        "MatrixTriangularSolve", x, lower=node["lower"], adjoint=node["adjoint"], **_of(kinds)),
    "one_hot": _one_hot, "ones": _filled(1), "pad": _pad,
    "qr": lambda b, node, x, kinds: b.op("Qr", x, outputs=kinds, full_matrices=node["full_matrices"]),
    "random_normal": _seeded("RandomStandardNormal"), "random_truncated_normal": _seeded("TruncatedNormal"),
    "random_uniform": _seeded("RandomUniform"),
    "range": _range, "reduce_all": _reduction("All"),
    "reduce_any": _reduction("Any"), "reduce_max": _reduction("Max"), "reduce_mean": _reduction("Mean"),
    "reduce_min": _reduction("Min"), "reduce_prod": _reduction("Prod"), "reduce_sum": _reduction("Sum"),
    "reduce_sum_squares": lambda b, node, x, kinds: _reduction("Sum")(
        b, node, [b.op("Square", x, kinds[0][0], x[0].dims)], kinds),
    "regex_full_match": _text("StaticRegexFullMatch", "pattern"),
    "regex_replace": _text("StaticRegexReplace", "pattern", "rewrite", "replace_global"), "repeat": _repeat,
    "replica_id": lambda b, node, x, kinds: b.constant(0, kinds[0][0]),  # what serves is one
    "reshape": lambda b, node, x, kinds: b.op("Reshape", [x[0], b.ints(node["shape"])], **_of(kinds)),
    "reshape_like": _reshape_like,
    "reverse": lambda b, node, x, kinds: b.op("ReverseV2", [x[0], _axis(b, node)], **_of(kinds)),
    "reverse_sequence": lambda b, node, x, kinds: b.op("ReverseSequence", x, seq_dim=node["seq_axis"],
                                                       batch_dim=node["batch_axis"], **_of(kinds)),
    "roll": _roll, "saturate_cast": _saturate_cast,
    "scatter_nd": lambda b, node, x, kinds: b.op("ScatterNd", [x[0], x[1], b.cast(b.ints(node["shape"]), x[0].dtype)],
                                                 **_of(kinds)),
    "searchsorted": _searchsorted,
    "self_adjoint_eig": _self_adjoint_eigen, "self_adjoint_eigvals": _self_adjoint_eigen,
    "set_diag": _set_diag, "shape": _shape, "size": _size,
    "slice": _slice, "sort": _sort, "split": _split,
    "squeeze": _squeeze,
    "stack": lambda b, node, x, kinds: b.op("Pack", x, axis=node["axis"], **_of(kinds)),
    "stateless_normal": _normal("StatelessRandomNormalV2"),
    "stateless_truncated_normal": _normal("StatelessTruncatedNormalV2"), "stateless_uniform": _uniform,
    "strided_slice": _strided_slice, "string_join": _text("StringJoin", "separator"),
    "string_length": _text("StringLength", "unit"), "string_lower": _text("StringLower", "encoding"),
    "string_ngrams": _ngrams, "string_reduce_join": _reduce_join, "string_split": _string_split,
    "string_to_hash_bucket": _text("StringToHashBucket", "num_buckets"),
    "string_to_hash_bucket_fast": _text("StringToHashBucketFast", "num_buckets"),
    "string_to_hash_bucket_strong": _text("StringToHashBucketStrong", "num_buckets", "key"),
    "string_to_number": lambda b, node, x, kinds: b.op("StringToNumber", x, out_type=kinds[0][0], **_of(kinds)),
    "string_upper": _text("StringUpper", "encoding"), "substr": _text("Substr", "unit"),
    "sum_like": lambda b, node, x, kinds: b.inline(_summed_like, x),
    "svd": lambda b, node, x, kinds: b.op("Svd", x, outputs=kinds, full_matrices=node["full_matrices"],
                                          compute_uv=node["compute_uv"]),
    "table_find": _table_find, "tensor_array_write": _tensor_array_write,
    "tile": lambda b, node, x, kinds: b.op("Tile", [x[0], b.ints(node["multiples"])], **_of(kinds)),
    "top_k": _top_k, "transpose": _transpose, "unique": _unique("Unique"),
    "unique_with_counts": _unique("UniqueWithCounts"), "unsorted_segment_max": _unsorted("UnsortedSegmentMax"),
    "unsorted_segment_min": _unsorted("UnsortedSegmentMin"), "unsorted_segment_prod": _unsorted("UnsortedSegmentProd"),
    "unsorted_segment_sum": _unsorted("UnsortedSegmentSum"), "unstack": _unstack,
    "zeros": _filled(0), **control.LINES, **layers.LINES, **pictures.LINES, **rare.LINES,
}
