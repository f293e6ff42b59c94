"""What operations of sets, sparse values, windows and fake quantisation are in TensorFlow's graphs."""

import leat as tf
from leat import dtypes
from leat._saved_model.translate import Value
from leat._saved_model.translate import output_of as _of

I64 = dtypes.int64


def _many(name, *attributes, **given):
    """An operation of several outputs whose attributes have the names of leat's."""
    return lambda b, node, x, kinds: b.op(name, x, outputs=kinds, **{own: node[own] for own in attributes}, **given)


def _one(name, *attributes):
    return lambda b, node, x, kinds: b.op(name, x, **{own: node[own] for own in attributes}, **_of(kinds))


def _windows(name, **own):
    """Strides and the like of all four dimensions."""
    def write(b, node, x, kinds):
        sizes = {theirs: [1, *node[ours], 1] for theirs, ours in own.items()}
        return b.op(name, x, outputs=kinds, padding=node["padding"], **sizes)
    return write


def _max_pool(b, node, x, kinds):
    sizes = {own: [1, *node[own], 1] for own in ("ksize", "strides")}
    return b.op("MaxPoolWithArgmax", x, outputs=kinds, padding=node["padding"], Targmax=I64,
                include_batch_in_index=node["include_batch_in_index"], **sizes)


def _set_operation(b, node, x, kinds):
    kind = ("intersection", "union", "a-b", "b-a")[node["kind"]]
    return b.op("SparseToSparseSetOperation", x, outputs=kinds, set_operation=kind)


def _hits(b, node, x, kinds):
    return b.op("ComputeAccidentalHits", x, outputs=kinds, num_true=x[0].dims[1])


def _reshape(b, node, x, kinds):
    return b.op("SparseReshape", x, outputs=[*kinds, (I64, x[2].dims)])[:1]


def _places(indices, shape):
    return tf.reduce_sum(indices * tf.math.cumprod(shape, exclusive=True, reverse=True)[None], 1)


def _order(b, node, x, kinds):
    def compute(indices, shape):
        order = tf.argsort(_places(indices, shape), stable=True)
        return tf.gather(indices, order), tf.cast(order, I64)
    return b.inline(compute, x)


def _union(b, node, x, kinds):
    def compute(first, second, shape):
        flat = [_places(one, shape) for one in (first, second)]
        places, _ = tf.unique(tf.sort(tf.concat(flat, 0)))
        steps = tf.math.cumprod(shape, exclusive=True, reverse=True)
        indices = tf.math.floormod(tf.math.floordiv(places[:, None], steps[None]), shape[None])
        return indices, *[tf.searchsorted(places, one, out_type=I64) for one in flat]
    return b.inline(compute, x)


def _fill_empty_rows(b, node, x, kinds):
    values = b.inline(lambda indices, shape: tf.range(tf.shape(indices, I64)[0]), x)
    default = b.inline(lambda indices, shape: tf.shape(indices, I64)[0], x)
    values, default = (one[0] if isinstance(one, list) else one for one in (values, default))
    outputs = [*kinds, (I64, [-1])]
    return b.op("SparseFillEmptyRows", [x[0], values, x[1], default], outputs=outputs)[:3]


def _beams(b, node, x, kinds):
    count = node["top_paths"]
    made = b.op("CTCBeamSearchDecoder", x, beam_width=node["beam_width"], top_paths=count, merge_repeated=False)
    found = [Value(f"{made}:decoded_{own}:{place}", I64, dims) for own, dims in (
        ("indices", [-1, 2]), ("values", [-1]), ("shape", [2])) for place in range(count)]
    scores = Value(f"{made}:log_probability:0", *kinds[1])

    def compute(*parts):
        shape = tf.reduce_max(tf.stack(parts[2 * count:]), 0)
        rows = [tf.tensor_scatter_nd_update(tf.fill(shape, -1), places, tf.cast(classes, dtypes.int32))
                for places, classes in zip(parts[:count], parts[count:2 * count])]
        return tf.stack(rows)
    paths = b.inline(compute, found)
    return [paths[0] if isinstance(paths, list) else paths, scores]


_READING = ("input_encoding", "errors", "replacement_char", "replace_control_characters")


def _unicode_decode(b, node, x, kinds):
    splits, points, starts = b.op("UnicodeDecodeWithOffsets", x, outputs=[kinds[1], kinds[0], kinds[2]],
                                  Tsplits=kinds[1][0], **{own: node.fixed(own) for own in _READING})
    return [points, splits, starts]


LINES = {
    "compute_accidental_hits": _hits, "ctc_beam_search": _beams,
    "ctc_greedy": _many("CTCGreedyDecoder", "merge_repeated", "blank_index"),
    "dilation2d": _windows("Dilation2D", strides="strides", rates="rates"),
    "edit_distance": _one("EditDistance", "normalize"),
    "fake_quant_with_min_max_args": _one("FakeQuantWithMinMaxArgs", "min", "max", "num_bits", "narrow_range"),
    "fake_quant_with_min_max_vars": _one("FakeQuantWithMinMaxVars", "num_bits", "narrow_range"),
    "fake_quant_with_min_max_vars_per_channel": _one("FakeQuantWithMinMaxVarsPerChannel", "num_bits", "narrow_range"),
    "max_pool_with_argmax": _max_pool, "set_operation": _set_operation, "set_size": _one("SetSize"),
    "sparse_dense_matmul": _one("SparseTensorDenseMatMul", "adjoint_a"), "sparse_fill_empty_rows": _fill_empty_rows,
    "sparse_order": _order, "sparse_reshape": _reshape, "sparse_union": _union,
    "unicode_decode": _unicode_decode, "unicode_script": _one("UnicodeScript"),
    "unicode_encode": _one("UnicodeEncode", "output_encoding", "errors", "replacement_char"),
    "unicode_transcode": _one("UnicodeTranscode", *_READING, "output_encoding"),
}
