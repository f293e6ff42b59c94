#!/usr/bin/env python3
"""Record cases of what few programs use: fake quantisation, sets, sampled classes, places of sparse values, morphology.

    rare_cases.py tests/conform/ops

Writes one file for each operation. Needs TensorFlow 2.21.
"""
import sys

from op_recorder import DTYPE, F32, F64, I32, I64, NONE, SHAPE, VALUE, distinct, floats, np, record, tf, write

# ---- fake quantisation ----
q = tf.quantization
x, g, lines, upstream = floats(40, low=-9, high=9), floats(40), floats(7, 3, low=-4, high=4), floats(7, 3)
low, high = F32([-1.0, 0.0, -2.5]), F32([4.0, 1.0, 0.5])
EDGES = F32([np.nan, np.inf, -np.inf, 0.0, -0.0, 5.976470, -6.023529])
ARGS, ARGS_GRADIENT = q.fake_quant_with_min_max_args, q.fake_quant_with_min_max_args_gradient
for name, attributes in (("defaults", {}), ("narrow", {"min": -3.0, "max": 3.0, "narrow_range": True}), ("few", {"min": 0.0, "max": 3.0, "num_bits": 2}),
                         ("many", {"min": -1.5, "max": 0.25, "num_bits": 16}), ("above", {"min": 1.0, "max": 3.0}), ("below", {"min": -3.0, "max": -1.0})):
    record("fake_quant_with_min_max_args", name, ARGS, [x], attributes)
    record("fake_quant_with_min_max_args_gradient", name, ARGS_GRADIENT, [g, x], attributes)
record("fake_quant_with_min_max_args", "edges", ARGS, [EDGES])
record("fake_quant_with_min_max_args", "empty", ARGS, [np.zeros((0, 2), F32)])
record("fake_quant_with_min_max_args", "scalar", ARGS, [F32(1.3)])
record("fake_quant_with_min_max_args", "crossed", ARGS, [x], {"min": 3.0, "max": 1.0}, fails=(VALUE, "min"))
record("fake_quant_with_min_max_args", "integers", ARGS, [I32([1])], fails=(DTYPE, "int32"))
record("fake_quant_with_min_max_args_gradient", "edges", ARGS_GRADIENT, [F32(range(1, 8)), EDGES])
record("fake_quant_with_min_max_args_gradient", "shapes", ARGS_GRADIENT, [g[:3], x[:2]], fails=(SHAPE, "shape"))
VARS, VARS_GRADIENT = q.fake_quant_with_min_max_vars, q.fake_quant_with_min_max_vars_gradient
for name, bounds, attributes in (("defaults", (-1.0, 4.0), {}), ("narrow", (-3.0, 3.0), {"narrow_range": True}), ("few", (-2.0, 7.0), {"num_bits": 3}),
                                 ("above", (0.5, 3.0), {}), ("below", (-3.0, -0.5), {"num_bits": 4})):
    record("fake_quant_with_min_max_vars", name, VARS, [x, *F32(bounds)], attributes)
    record("fake_quant_with_min_max_vars_gradient", name, VARS_GRADIENT, [g, x, *F32(bounds)], attributes, tolerance=1e-5)
record("fake_quant_with_min_max_vars", "no_range", VARS, [x, *F32([0, 0])])
record("fake_quant_with_min_max_vars_gradient", "no_range", VARS_GRADIENT, [g, x, *F32([0, 0])])
record("fake_quant_with_min_max_vars", "matrix", VARS, [lines, *F32([-2, 2])])
record("fake_quant_with_min_max_vars", "empty", VARS, [np.zeros(0, F32), *F32([-2, 2])])
record("fake_quant_with_min_max_vars", "vector", VARS, [x, low, high], fails=(SHAPE, "min"))
record("fake_quant_with_min_max_vars_gradient", "empty", VARS_GRADIENT, [np.zeros(0, F32), np.zeros(0, F32), *F32([-2, 2])])
CHANNELS, CHANNELS_GRADIENT = q.fake_quant_with_min_max_vars_per_channel, q.fake_quant_with_min_max_vars_per_channel_gradient
for name, attributes in (("defaults", {}), ("narrow", {"narrow_range": True}), ("few", {"num_bits": 4})):
    record("fake_quant_with_min_max_vars_per_channel", name, CHANNELS, [lines, low, high], attributes)
    record("fake_quant_with_min_max_vars_per_channel_gradient", name, CHANNELS_GRADIENT, [upstream, lines, low, high], attributes, tolerance=1e-6)
none = F32([0, 0, -1]), F32([0, 2, 1])
record("fake_quant_with_min_max_vars_per_channel", "no_range", CHANNELS, [lines, *none])
record("fake_quant_with_min_max_vars_per_channel_gradient", "no_range", CHANNELS_GRADIENT, [upstream, lines, *none], tolerance=1e-6)
record("fake_quant_with_min_max_vars_per_channel", "vector", CHANNELS, [lines[0], low, high])
record("fake_quant_with_min_max_vars_per_channel", "pictures", CHANNELS, [floats(2, 2, 2, 3), low, high])
record("fake_quant_with_min_max_vars_per_channel", "length", CHANNELS, [lines, low[:2], high], fails=(SHAPE, "channel"))
record("fake_quant_with_min_max_vars_per_channel_gradient", "pictures", CHANNELS_GRADIENT, [floats(2, 2, 2, 3), floats(2, 2, 2, 3), low, high],
       tolerance=1e-6)


# ---- sets and distances ----
def sparse(array, missing=-1):
    array = np.asarray(array)
    places = np.argwhere(array != missing).astype(I64)
    return [places, array[tuple(places.T)], I64(array.shape)]


KINDS = ("intersection", "union", "a-b", "b-a")
a, b = [[3, 1, 2, 2], [-1, -1, -1, -1], [9, 7, -1, 8]], [[2, 5, -1, -1], [4, 4, -1, -1], [7, 7, 9, -1]]


def combined(*inputs, kind=0):
    return tf.raw_ops.SparseToSparseSetOperation(
        set1_indices=inputs[0], set1_values=inputs[1], set1_shape=inputs[2], set2_indices=inputs[3], set2_values=inputs[4],
        set2_shape=inputs[5], set_operation=KINDS[kind])


texts = [[b"b", b"a", b"ab"], [b"", b"zz", b"a"]], [[b"a", b"c", b"b"], [b"zz", b"", b"zza"]]
for kind, name in enumerate(("intersection", "union", "first", "second")):
    for dtype in ("int32", "int64", "int8", "uint16"):
        at, bt = (np.array(one, "int64") for one in (a, b))
        at, bt = ([places, values.astype(dtype), shape] for places, values, shape in (sparse(at), sparse(bt)))
        record("set_operation", f"{name}_{dtype}", combined, [*at, *bt], {"kind": kind})
    record("set_operation", f"{name}_texts", combined, [*sparse(np.array(texts[0], object), b"?"), *sparse(np.array(texts[1], object), b"?")],
           {"kind": kind})
deep = np.arange(24).reshape(2, 3, 4) % 5, np.arange(24).reshape(2, 3, 4)[::-1] % 7
record("set_operation", "deep", combined, [*sparse(deep[0]), *sparse(deep[1])], {"kind": 1})
record("set_operation", "nothing", combined, [np.zeros((0, 2), I64), np.zeros(0, I32), I64([2, 3])] * 2, {"kind": 1})
record("set_operation", "groups", combined, [*sparse(a), *sparse(b[:2])], fails=(SHAPE, "group"))


def size(indices, values, shape):
    return tf.raw_ops.SetSize(set_indices=indices, set_values=values, set_shape=shape)


record("set_size", "int64", size, sparse(a))
record("set_size", "texts", size, sparse(np.array(texts[0], object), b"?"))
record("set_size", "deep", size, sparse(deep[0]))
record("set_size", "nothing", size, [np.zeros((0, 2), I64), np.zeros(0, I32), I64([2, 3])])
record("set_size", "outside", size, [I64([[0, 0], [5, 0]]), I64([1, 2]), I64([2, 3])], fails=(VALUE, "bounds"))


def distance(*inputs, normalize=True):
    return tf.raw_ops.EditDistance(hypothesis_indices=inputs[0], hypothesis_values=inputs[1], hypothesis_shape=inputs[2],
                                   truth_indices=inputs[3], truth_values=inputs[4], truth_shape=inputs[5], normalize=normalize)


words = [np.array([list(map(ord, "kitten")), list(map(ord, "abc---")), list(map(ord, "flaw--"))]),
         np.array([list(map(ord, "sitting")), list(map(ord, "acb----")), list(map(ord, "lawn---"))])]
for normalize in (True, False):
    name = "share" if normalize else "steps"
    record("edit_distance", name, distance, [*sparse(words[0], 45), *sparse(words[1], 45)], {"normalize": normalize})
    record("edit_distance", name + "_texts", distance,
           [*sparse(np.array(texts[0], object), b"?"), *sparse(np.array(texts[1], object), b"?")], {"normalize": normalize})
    record("edit_distance", name + "_deep", distance, [*sparse(deep[0] * 0.5), *sparse(deep[1] * 0.5)], {"normalize": normalize})
    record("edit_distance", name + "_one_side", distance,
           [*sparse(words[0], 45), np.zeros((0, 2), I64), np.zeros(0, I64), I64([3, 7])], {"normalize": normalize})
record("edit_distance", "ranks", distance, [*sparse(words[0], 45), *sparse(deep[1])], fails=(SHAPE, "rank"))

# ---- sampled classes ----
BLOCKS = {"count": 5, "range": 9, "unique": True}


def sampler(kind):
    name = ("UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler", "FixedUnigramCandidateSampler",
            "AllCandidateSampler")[kind]

    def call(true, stream, table, kind, count, range, unique):
        more = {} if kind == 4 else {"range_max": range}
        if kind == 3:
            more["unigrams"] = table.numpy()[0].tolist()
        return getattr(tf.raw_ops, name)(true_classes=true, num_true=true.shape[1], num_sampled=count, unique=unique, seed=int(stream[0]),
                                         seed2=int(stream[1]), **more)
    return call


WEIGHTS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]


def walker(weights):
    """Weights, shares and other classes by Walker's method, in the order of TensorFlow's kernel."""
    shares, others = list(np.asarray(weights, F32) / F32(sum(weights)) * F32(len(weights))), [-1.0] * len(weights)
    low, high = [i for i, one in enumerate(shares) if one < 1], [i for i, one in enumerate(shares) if one > 1]
    while low and high:
        light, heavy = low.pop(), high.pop()
        others[light] = heavy
        shares[heavy] = float(shares[heavy]) - (1 - float(shares[light]))
        (low if shares[heavy] < 1 else high).append(heavy) if shares[heavy] != 1 else None
    for place in (*low, *high):
        shares[place] = 1.0
    return F64([weights, shares, others])


NO_TABLE, ONES = np.zeros((0, 0)), np.ones((1, 9))
for kind, table in enumerate((NO_TABLE, NO_TABLE, ONES, walker(WEIGHTS), NO_TABLE)):
    for unique in (True, False):
        for seed in ((4, 0), (87654321, 5)):
            count = 9 if kind == 4 else 5
            record("candidate_sample", f"kind_{kind}_{'unique' if unique else 'any'}_{seed[1]}", sampler(kind),
                   [I64([[1], [8], [0]]), I64([*seed, 0]), table], {"kind": kind, "count": count, "range": 9, "unique": unique}, tolerance=1e-6)
record("candidate_sample", "pairs", sampler(0), [I64([[1, 2], [8, 3]]), I64([7, 8, 0]), NO_TABLE],
       {"kind": 0, "count": 40, "range": 1000, "unique": True}, tolerance=1e-6)
record("candidate_sample", "too_few", sampler(0), [I64([[1]]), I64([7, 8, 0]), NO_TABLE],
       {"kind": 0, "count": 10, "range": 9, "unique": True}, fails=(VALUE, "range"))


def hits(true, sampled):
    return tf.raw_ops.ComputeAccidentalHits(true_classes=true, sampled_candidates=sampled, num_true=true.shape[1])


record("compute_accidental_hits", "pairs", hits, [I64([[1, 5], [3, 3], [7, 2]]), I64([3, 9, 1, 7, 4])])
record("compute_accidental_hits", "repeated", hits, [I64([[1], [3]]), I64([3, 3, 1, 3])])
record("compute_accidental_hits", "none", hits, [I64([[1], [3]]), I64([8, 9])])
record("compute_accidental_hits", "empty", hits, [np.zeros((0, 2), I64), I64([8, 9])])
record("compute_accidental_hits", "rank", hits, [I64([[1], [3]]), I64([[8, 9]])], fails=(SHAPE, "rank"))


# ---- isotonic regression ----
def isotonic(x, decreasing=True):
    found, blocks = tf.nn.isotonic_regression(x, decreasing=decreasing)
    return found, blocks


for dtype in (F32, F64):
    name = np.dtype(dtype).name
    record("isotonic_regression", name, isotonic, [floats(4, 9, dtype=dtype)], tolerance=1e-6)
    record("isotonic_regression", name + "_rising", isotonic, [floats(4, 9, dtype=dtype)], {"decreasing": False}, tolerance=1e-6)
record("isotonic_regression", "vector", isotonic, [F32([1, 3, 2, 4, 0, 0, 5])], tolerance=1e-6)
record("isotonic_regression", "equal", isotonic, [F32([[2, 2, 2], [1, 1, 0], [0, 1, 1]])])

# ---- windows ----
for padding in ("SAME", "VALID"):
    for name, steps, rates in (("plain", [1, 1], [1, 1]), ("steps", [2, 3], [1, 1]), ("rates", [1, 1], [2, 1])):
        attributes = {"strides": steps, "padding": padding, "rates": rates}

        def raw(function, names):
            def call(*inputs, strides, padding, rates):
                return function(strides=[1, *strides, 1], rates=[1, *rates, 1], padding=padding, **dict(zip(names, inputs)))
            return call
        image, weights = distinct(2, 6, 7, 3) * F32(0.1), floats(2, 3, 3, low=-0.01, high=0.01)
        dilate = raw(tf.raw_ops.Dilation2D, ["input", "filter"])
        record("dilation2d", f"{name}_{padding}", dilate, [image, weights], attributes, gradient=True)
        out = dilate(tf.constant(image), tf.constant(weights), **attributes)
        upstream = floats(*out.shape)
        for op, function in (("dilation2d_backprop_input", tf.raw_ops.Dilation2DBackpropInput),
                             ("dilation2d_backprop_filter", tf.raw_ops.Dilation2DBackpropFilter)):
            record(op, f"{name}_{padding}", raw(function, ["input", "filter", "out_backprop"]), [image, weights, upstream], attributes, tolerance=1e-6)
plain = {"strides": [1, 1], "padding": "VALID", "rates": [1, 1]}
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64"):
    record("dilation2d", dtype, raw(tf.raw_ops.Dilation2D, ["input", "filter"]),
           [np.arange(40).reshape(1, 4, 5, 2).astype(dtype) * 7 % 11, np.arange(12).reshape(2, 3, 2).astype(dtype) % 4], plain)
record("dilation2d", "channels", raw(tf.raw_ops.Dilation2D, ["input", "filter"]), [floats(1, 4, 4, 2), floats(2, 2, 3)], plain, fails=(SHAPE, "channels"))
record("dilation2d_backprop_input", "shape", raw(tf.raw_ops.Dilation2DBackpropInput, ["input", "filter", "out_backprop"]),
       [floats(1, 4, 4, 2), floats(2, 2, 2), floats(1, 2, 2, 2)], plain, fails=(SHAPE, "gradient"))


def argmax(x, ksize, strides, padding, include_batch_in_index=False):
    return tf.nn.max_pool_with_argmax(x, ksize, strides, padding, include_batch_in_index=include_batch_in_index)


for padding in ("SAME", "VALID"):
    for batch in (True, False):
        record("max_pool_with_argmax", f"{padding}_{batch}", argmax, [distinct(2, 5, 6, 3)],
               {"ksize": [2, 3], "strides": [2, 1], "padding": padding, "include_batch_in_index": batch})
record("max_pool_with_argmax", "equal", argmax, [np.ones((1, 4, 4, 1), F32)], {"ksize": [2, 2], "strides": [2, 2], "padding": "VALID"})
for dtype in ("int32", "uint8", "float64", "int64"):
    record("max_pool_with_argmax", dtype, argmax, [(np.arange(32).reshape(1, 4, 4, 2) * 7 % 23).astype(dtype)],
           {"ksize": [3, 3], "strides": [1, 1], "padding": "SAME"})
record("max_pool_with_argmax", "rank", argmax, [floats(4, 4)], {"ksize": [2, 2], "strides": [2, 2], "padding": "VALID"}, fails=(SHAPE, "rank"))

# ---- places of sparse values ----
RAGGED = I64([[2, 1], [0, 3], [2, 0], [0, 0]])


def order(indices, shape):
    found = tf.raw_ops.SparseReorder(input_indices=indices, input_values=tf.range(len(indices), dtype=tf.int64), input_shape=shape)
    return found.output_indices, found.output_values


record("sparse_order", "matrix", order, [RAGGED, I64([3, 4])])
record("sparse_order", "ordered", order, [I64([[0, 1], [1, 0], [2, 3]]), I64([3, 4])])
record("sparse_order", "deep", order, [I64([[1, 0, 2], [0, 1, 1], [0, 1, 0]]), I64([2, 2, 3])])
record("sparse_order", "nothing", order, [np.zeros((0, 2), I64), I64([3, 4])])


def union(first, second, shape):
    """The places of the sum of ones and, for values that say their own number, where they went."""
    def places(indices, other):
        numbers = tf.range(1, len(indices) + 1, dtype=tf.float64)
        joined = tf.raw_ops.SparseAdd(a_indices=indices, a_values=numbers, a_shape=shape, b_indices=other,
                                      b_values=tf.zeros(len(other), tf.float64), b_shape=shape, thresh=tf.constant(-1.0, tf.float64))
        return joined.sum_indices, [joined.sum_values.numpy().tolist().index(one) for one in numbers.numpy()]
    indices, at_first = places(first, second)
    _, at_second = places(second, first)
    return indices, tf.constant(at_first, tf.int64), tf.constant(at_second, tf.int64)


record("sparse_union", "matrix", union, [I64([[0, 0], [0, 3], [2, 1]]), I64([[0, 1], [0, 3], [1, 2], [2, 3]]), I64([3, 4])])
record("sparse_union", "deep", union, [I64([[0, 0, 1], [1, 1, 0]]), I64([[0, 0, 0], [1, 1, 0]]), I64([2, 2, 2])])
record("sparse_union", "one_side", union, [I64([[0, 0], [0, 3]]), np.zeros((0, 2), I64), I64([3, 4])])


def reshape(indices, shape, new_shape):
    return tf.raw_ops.SparseReshape(input_indices=indices, input_shape=shape, new_shape=new_shape).output_indices


record("sparse_reshape", "matrix", reshape, [RAGGED, I64([3, 4]), I64([2, 6])])
record("sparse_reshape", "flat", reshape, [RAGGED, I64([3, 4]), I64([12])])
record("sparse_reshape", "deep", reshape, [RAGGED, I64([3, 4]), I64([2, 3, 2])])
record("sparse_reshape", "nothing", reshape, [np.zeros((0, 2), I64), I64([3, 4]), I64([12])])
record("sparse_reshape", "fewer", reshape, [RAGGED, I64([3, 4]), I64([5])], fails=(SHAPE, "shape"))


def fill(indices, shape):
    found = tf.raw_ops.SparseFillEmptyRows(indices=indices, values=tf.range(len(indices), dtype=tf.int64), dense_shape=shape,
                                           default_value=tf.constant(len(indices), tf.int64))
    return found.output_indices, found.output_values, found.empty_row_indicator


record("sparse_fill_empty_rows", "matrix", fill, [I64([[0, 3], [2, 0], [2, 1]]), I64([5, 4])])
record("sparse_fill_empty_rows", "disordered", fill, [RAGGED, I64([4, 4])])
record("sparse_fill_empty_rows", "full", fill, [I64([[0, 3], [1, 0]]), I64([2, 4])])
record("sparse_fill_empty_rows", "nothing", fill, [np.zeros((0, 2), I64), I64([3, 4])])
record("sparse_fill_empty_rows", "outside", fill, [I64([[7, 0]]), I64([3, 4])], fails=(VALUE, "invalid"))


def product(indices, values, shape, dense, adjoint_a=False):
    return tf.raw_ops.SparseTensorDenseMatMul(a_indices=indices, a_values=values, a_shape=shape, b=dense, adjoint_a=adjoint_a)


for dtype in (F32, F64):
    name = np.dtype(dtype).name
    record("sparse_dense_matmul", name, product, [RAGGED, floats(4, dtype=dtype), I64([3, 4]), floats(4, 5, dtype=dtype)], tolerance=1e-6)
    record("sparse_dense_matmul", name + "_turned", product, [RAGGED, floats(4, dtype=dtype), I64([3, 4]), floats(3, 5, dtype=dtype)],
           {"adjoint_a": True}, tolerance=1e-6)
record("sparse_dense_matmul", "nothing", product, [np.zeros((0, 2), I64), np.zeros(0, F32), I64([3, 4]), floats(4, 2)])
record("sparse_dense_matmul", "inner", product, [RAGGED, floats(4), I64([3, 4]), floats(3, 5)], fails=(SHAPE, "inner"))


# ---- beams ----
def beams(logits, lengths, beam_width, top_paths=1):
    decoded, scores = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width, top_paths)
    shape = [logits.shape[1], max(int(one.dense_shape[1]) for one in decoded)]
    rows = [tf.sparse.to_dense(tf.sparse.reset_shape(one, shape), -1) for one in decoded]
    return tf.cast(tf.stack(rows), tf.int32), scores


for name, (steps, batch, classes), lengths, attributes in (
        ("one", (6, 1, 4), [6], {"beam_width": 3}), ("rows", (9, 3, 5), [9, 4, 0], {"beam_width": 4}),
        ("paths", (12, 2, 6), [12, 7], {"beam_width": 10, "top_paths": 4}), ("wide", (7, 2, 3), [7, 7], {"beam_width": 100, "top_paths": 5}),
        ("narrow", (15, 2, 8), [15, 15], {"beam_width": 1}), ("blanks", (4, 1, 1), [4], {"beam_width": 2})):
    record("ctc_beam_search", name, beams, [floats(steps, batch, classes, low=-3, high=3), I32(lengths)], attributes, tolerance=1e-5)
record("ctc_beam_search", "repeats", beams, [F32([[[4, 0, 0]], [[4, 0, 1]], [[0, 0, 4]], [[4, 0, 0]], [[4, 1, 0]]]), I32([5])],
       {"beam_width": 8, "top_paths": 3}, tolerance=1e-5)
record("ctc_beam_search", "never", beams, [F32([[[0, -np.inf, 0]], [[0, -np.inf, -np.inf]]]), I32([2])], {"beam_width": 4, "top_paths": 2}, tolerance=1e-5)
record("ctc_beam_search", "float64", beams, [floats(8, 2, 5, dtype=F64), I32([8, 3])], {"beam_width": 6, "top_paths": 2}, tolerance=1e-5)
record("ctc_beam_search", "too_few", beams, [floats(1, 1, 3), I32([1])], {"beam_width": 9, "top_paths": 9}, fails=(VALUE, "leaves"))
record("ctc_beam_search", "too_long", beams, [floats(3, 2, 3), I32([3, 4])], {"beam_width": 2}, fails=(NONE, "sequence_length"))
record("ctc_beam_search", "paths_above_width", beams, [floats(3, 1, 3), I32([3])], {"beam_width": 2, "top_paths": 3}, fails=(VALUE, "top_paths"))
record("ctc_beam_search", "lengths", beams, [floats(3, 2, 3), I32([3])], {"beam_width": 2}, fails=(NONE, "lengths"))
record("ctc_beam_search", "matrix", beams, [floats(3, 2), I32([3, 3])], {"beam_width": 2}, fails=(SHAPE, "logits"))


def likely(logits, lengths, merge_repeated=True, blank_index=-1):
    (decoded,), scores = tf.nn.ctc_greedy_decoder(logits, lengths, merge_repeated, blank_index)
    return decoded.indices, decoded.values, decoded.dense_shape, scores


SAID = F32([[[4, 0, 0]], [[4, 0, 1]], [[0, 0, 4]], [[4, 0, 0]], [[4, 4, 0]], [[0, 5, 0]]])
for name, attributes in (("repeats", {}), ("kept", {"merge_repeated": False}), ("first_blank", {"blank_index": 0}), ("second_blank", {"blank_index": -2})):
    record("ctc_greedy", name, likely, [SAID, I32([6])], attributes)
record("ctc_greedy", "rows", likely, [floats(9, 4, 5), I32([9, 4, 0, 1])], tolerance=1e-6)
record("ctc_greedy", "float64", likely, [floats(7, 2, 4, dtype=F64), I32([7, 5])])
record("ctc_greedy", "blanks", likely, [floats(3, 2, 1), I32([3, 3])], tolerance=1e-6)
record("ctc_greedy", "too_long", likely, [floats(3, 2, 3), I32([3, 4])], fails=(NONE, "sequence_length"))
record("ctc_greedy", "blank", likely, [floats(3, 1, 3), I32([3])], {"blank_index": 3}, fails=(VALUE, "blank_index"))
record("ctc_greedy", "lengths", likely, [floats(3, 2, 3), I32([3])], fails=(NONE, "lengths"))
record("ctc_greedy", "matrix", likely, [floats(3, 2), I32([3, 3])], fails=(SHAPE, "logits"))
# Sequences that are left out and come back within a step.
for width in (2, 3, 4, 5):
    record("ctc_beam_search", "many_%d" % width, beams, [floats(6, 24, 4, low=-3, high=3), I32([6] * 12 + [4] * 12)],
           {"beam_width": width, "top_paths": 2}, tolerance=1e-5)

write(sys.argv[1])
