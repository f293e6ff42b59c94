#!/usr/bin/env python3
"""Record cases of scatters, segments, diagonals and lines from TensorFlow.

    array_cases.py tests/conform/ops

Writes one file for each operation. Needs TensorFlow 2.21.
"""
import sys

from op_recorder import F32, F64, I32, I64, SHAPE, VALUE, distinct, floats, np, record, tf, write

# ---- scatters ----
x, grid = distinct(4, 3), [[0], [2]]
for name in ("update", "add", "sub", "min", "max"):
    op = "tensor_scatter_nd_" + name
    call = getattr(tf, op)
    record(op, "rows", call, [x, I32(grid), floats(2, 3)], gradient=True)
    record(op, "values", call, [x, I64([[0, 1], [3, 2], [1, 1]]), floats(3)], gradient=True)
    record(op, "twice", call, [x, I32([[1], [1], [0]]), distinct(3, 3)], **({} if name == "update" else {"gradient": True}))
    record(op, "integers", call, [I64([1, 2, 3, 4]), I32([[3], [0]]), I64([9, -9])])
    record(op, "uint8", call, [np.uint8([250, 2, 3]), I32([[0], [1]]), np.uint8([10, 1])])
    record(op, "float64", call, [F64([1, 2]), I32([[1]]), F64([0.5])])
    record(op, "float16", call, [np.float16([1, 2]), I32([[1]]), np.float16([0.5])])
    record(op, "none", call, [x, np.zeros((0, 1), I32), np.zeros((0, 3), F32)])
    record(op, "outside", call, [x, I32([[4]]), floats(1, 3)], fails=(SHAPE, "index"))
    record(op, "negative", call, [x, I32([[-1]]), floats(1, 3)], fails=(SHAPE, "index"))
    record(op, "updates_too_long", call, [x, I32([[1]]), floats(1, 4)], fails=(SHAPE, "[1, 1]"))
record("tensor_scatter_nd_update", "strings", tf.tensor_scatter_nd_update, [[b"a", b"b", b"c"], I32([[1]]), [b"xyz"]])
record("tensor_scatter_nd_update", "bool", tf.tensor_scatter_nd_update, [np.array([True, True]), I32([[1]]), np.array([False])])
call = tf.scatter_nd
record("scatter_nd", "rows", call, [I32(grid), floats(2, 3)], {"shape": [4, 3]}, gradient=True)
record("scatter_nd", "values", call, [I32([[4], [3], [1], [7]]), I32([9, 10, 11, 12])], {"shape": [8]})
record("scatter_nd", "twice", call, [I32([[1], [1]]), floats(2)], {"shape": [3]}, gradient=True)
record("scatter_nd", "deep", call, [I64([[[0, 1]], [[1, 0]]]), floats(2, 1, 2)], {"shape": [2, 2, 2]}, gradient=True)
record("scatter_nd", "none", call, [np.zeros((0, 1), I32), np.zeros((0, 2), F32)], {"shape": [2, 2]})
record("scatter_nd", "outside", call, [I32([[4]]), floats(1)], {"shape": [4]}, fails=(SHAPE, "index"))
record("scatter_nd", "unfit", call, [I32([[1]]), floats(1, 2)], {"shape": [4]}, fails=(SHAPE, "[1, 1]"))

# ---- segments ----
y = distinct(5, 2)
for name in ("sum", "mean", "prod", "min", "max"):
    op, call = "segment_" + name, getattr(tf.math, "segment_" + name)
    kw = {} if name == "prod" else {"gradient": True}
    record(op, "rows", call, [y, I32([0, 0, 1, 1, 1])], **kw)
    record(op, "gap", call, [y, I64([0, 2, 2, 5, 5])], **kw)
    record(op, "vector", call, [I32([3, 4, -9, 1]), I32([0, 0, 1, 1])])
    record(op, "float64", call, [distinct(4, dtype=F64), I32([0, 1, 1, 1])])
    record(op, "ties", call, [F32([1, 1, 2]), I32([0, 0, 1])])
    record(op, "empty", call, [np.zeros((0, 2), F32), np.zeros(0, I32)])
    record(op, "falling", call, [y, I32([0, 1, 0, 1, 1])], fails=(VALUE, "increasing"))
    record(op, "too_short", call, [y, I32([0, 1])], fails=(SHAPE, "dimensions"))
for name in ("sum", "prod", "min", "max"):
    op, call = "unsorted_segment_" + name, getattr(tf.math, "unsorted_segment_" + name)
    record(op, "rows", call, [y, I32([2, 0, 2, 0, 0])], {"num_segments": 3}, gradient=True)
    record(op, "left_out", call, [y, I64([-1, 0, 1, 1, -1])], {"num_segments": 2}, gradient=True)
    record(op, "grid", call, [y, I32([[0, 1], [1, 1], [2, 0], [0, 0], [2, 2]])], {"num_segments": 3}, gradient=True)
    for dtype in (I32, I64, np.uint8, F64, np.float16):
        record(op, "empty_of_" + np.dtype(dtype).name, call, [np.array([3, 4], dtype), I32([0, 0])], {"num_segments": 2})
    record(op, "no_segments", call, [y, I32([-1, -1, -1, -1, -1])], {"num_segments": 0})
    record(op, "outside", call, [y, I32([0, 1, 2, 3, 4])], {"num_segments": 3}, fails=(VALUE, "0"))
    record(op, "too_long", call, [y, I32([0, 1, 2, 0, 0, 0])], {"num_segments": 3}, fails=(SHAPE, "dimensions"))
record("unsorted_segment_prod", "zeros", tf.math.unsorted_segment_prod, [F32([2, 0, 3, 0, 0, 5]), I32([0, 0, 1, 2, 2, 1])], {"num_segments": 3}, gradient=True)

call = tf.strings.unsorted_segment_join
words = np.array([b"a", b"bc", b"", b"d", b"xyz"], object)
record("unsorted_segment_join", "words", call, [words, I32([1, 0, 1, 1, 0])], {"num_segments": 3, "separator": ":"})
record("unsorted_segment_join", "no_separator", call, [words, I64([1, 0, 1, 1, 0])], {"num_segments": 2})
record("unsorted_segment_join", "slices", call, [words[:4].reshape(2, 2), I32([1, 1])], {"num_segments": 2, "separator": "--"})
record("unsorted_segment_join", "grid", call, [words[:4].reshape(2, 2), I32([[0, 1], [0, 0]])], {"num_segments": 2, "separator": "-"})
record("unsorted_segment_join", "empty_strings", call, [np.array([b"", b"", b""], object), I32([1, 1, 1])], {"num_segments": 2, "separator": ","})
record("unsorted_segment_join", "outside", call, [words, I32([0, 1, 2, 0, 3])], {"num_segments": 3}, fails=(VALUE, "0"))
record("unsorted_segment_join", "negative", call, [words, I32([0, 1, -1, 0, 0])], {"num_segments": 3}, fails=(VALUE, "0"))
record("unsorted_segment_join", "too_few", call, [words, I32([0, 1])], {"num_segments": 3}, fails=(SHAPE, "dimensions"))
record("unsorted_segment_join", "scalar", call, [words[0], I32(0)], {"num_segments": 3}, fails=(SHAPE, "scalar"))
record("unsorted_segment_join", "no_segments", call, [words, I32([0, 0, 0, 0, 0])], {"num_segments": 0}, fails=(VALUE, "0"))


def spread(values, ids, data):
    zeros = tf.zeros_like(data)
    slices = tf.gather(values, tf.maximum(ids, 0))
    return tf.where(tf.reshape(ids >= 0, [-1] + [1] * (len(data.shape) - 1)), slices, zeros)


record("segment_spread", "rows", spread, [floats(3, 2), I32([2, 0, 2, 0, 1]), y])
record("segment_spread", "left_out", spread, [floats(2, 2), I64([-1, 0, 1, 1, -1]), y])
record("segment_spread", "vector", spread, [I32([5, 6]), I32([1, 0, 1]), I32([0, 0, 0])])
record("segment_spread", "empty", spread, [np.ones((1, 2), F32), np.zeros(0, I32), np.zeros((0, 2), F32)])
record("segment_spread", "unfit", spread, [floats(2, 3), I32([0, 1, 1, 0, 0]), y], fails=(SHAPE, "6"))

# ---- dealing out and stitching ----
call = tf.dynamic_partition
record("dynamic_partition", "two", call, [y, I32([0, 1, 1, 0, 0])], {"num_partitions": 2}, gradient=True)
record("dynamic_partition", "one_empty", call, [I64([1, 2, 3]), I32([2, 0, 2])], {"num_partitions": 3})
record("dynamic_partition", "grid", call, [distinct(2, 2, 2), I32([[0, 1], [1, 1]])], {"num_partitions": 2}, gradient=True)
record("dynamic_partition", "strings", call, [[b"a", b"bc", b"d"], I32([1, 0, 1])], {"num_partitions": 2})
record("dynamic_partition", "scalar", call, [F32(3), I32(1)], {"num_partitions": 2})
record("dynamic_partition", "outside", call, [y, I32([0, 1, 2, 0, 0])], {"num_partitions": 2}, fails=(VALUE, "0"))
record("dynamic_partition", "unfit", call, [y, I32([0, 1])], {"num_partitions": 2}, fails=(SHAPE, "dimensions"))


def stitch(both):
    return tf.dynamic_stitch(both[:len(both) // 2], both[len(both) // 2:])


record("dynamic_stitch", "two", stitch, [I32([0, 2]), I32([1]), floats(2, 3), floats(1, 3)], lists=True, gradient=True)
record("dynamic_stitch", "last_stays", stitch, [I32([0, 1]), I32([1, 2]), I64([1, 2]), I64([3, 4])], lists=True)
record("dynamic_stitch", "shapes", stitch, [I32(1), I32([[0, 2]]), floats(2), floats(1, 2, 2)], lists=True, gradient=True)
record("dynamic_stitch", "strings", stitch, [I32([1, 0]), [b"abc", b"d"]], lists=True)
record("dynamic_stitch", "none", stitch, [np.zeros(0, I32), np.zeros((0, 2), F32)], lists=True)
record("dynamic_stitch", "unfit", stitch, [I32([0, 1]), floats(3, 2)], lists=True, fails=(SHAPE, "indices"))

# ---- diagonals ----
m = distinct(3, 4)
call = tf.linalg.band_part
record("band_part", "triangle", call, [m], {"num_lower": -1, "num_upper": 0}, gradient=True)
record("band_part", "band", call, [distinct(2, 4, 4)], {"num_lower": 1, "num_upper": 2}, gradient=True)
record("band_part", "upper", call, [np.arange(12, dtype=I64).reshape(4, 3)], {"num_lower": 0, "num_upper": -1})
record("band_part", "bool", call, [np.ones((3, 3), bool)], {"num_lower": 0, "num_upper": 0})
record("band_part", "empty", call, [np.zeros((0, 3), F32)], {"num_lower": 0, "num_upper": 0})
record("band_part", "vector", call, [F32([1, 2])], {"num_lower": 0, "num_upper": 0}, fails=(SHAPE, "2"))
record("band_part", "too_large", call, [m], {"num_lower": 4, "num_upper": 0}, fails=(VALUE, "num_lower"))
call = tf.linalg.diag
record("diag", "vector", call, [floats(3)], gradient=True)
record("diag", "batch", call, [floats(2, 3)], gradient=True)
record("diag", "above", call, [floats(2, 2)], {"k": [1]}, gradient=True)
record("diag", "below_padded", call, [I32([1, 2])], {"k": [-1], "padding_value": 9})
record("diag", "sizes", call, [floats(3)], {"k": [1], "num_rows": 3, "num_cols": 5}, gradient=True)
for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
    record("diag", "band_" + align.lower(), call, [floats(2, 3, 4)], {"k": [-1, 1], "align": align}, gradient=True)
    record("diag_part", "band_" + align.lower(), tf.linalg.diag_part, [distinct(2, 3, 4)], {"k": [-2, 3], "align": align, "padding_value": 7}, gradient=True)
    record("set_diag", "band_" + align.lower(), tf.linalg.set_diag, [distinct(2, 3, 4), floats(2, 4, 3)], {"k": [-1, 2], "align": align}, gradient=True)
record("diag", "one_size", call, [F64([1, 2])], {"k": [-2], "num_rows": 4})
record("diag", "empty", call, [np.zeros((2, 0), F32)])
record("diag", "scalar", call, [F32(1)], fails=(SHAPE, "1"))
record("diag", "too_small", call, [floats(3)], {"num_rows": 2, "num_cols": 3}, fails=(SHAPE, "consistent"))
record("diag", "no_band", call, [floats(2, 3)], {"k": [0, 2]}, fails=(SHAPE, "match"))
record("diag", "falling", call, [floats(2, 3)], {"k": [1, 0]}, fails=(VALUE, "larger"))
call = tf.linalg.diag_part
record("diag_part", "main", call, [m], gradient=True)
record("diag_part", "batch", call, [distinct(2, 3, 3)], gradient=True)
record("diag_part", "above", call, [m], {"k": [2]}, gradient=True)
record("diag_part", "below", call, [np.arange(12, dtype=I32).reshape(4, 3)], {"k": [-3]})
record("diag_part", "outside", call, [m], {"k": [4]}, fails=(VALUE, "bound"))
record("diag_part", "vector", call, [F32([1])], fails=(SHAPE, "2"))
call = tf.linalg.set_diag
record("set_diag", "main", call, [m, floats(3)], gradient=True)
record("set_diag", "batch", call, [distinct(2, 3, 3), floats(2, 3)], gradient=True)
record("set_diag", "above", call, [m, floats(2)], {"k": [2]}, gradient=True)
record("set_diag", "integers", call, [np.zeros((2, 2), I64), I64([5, 6])])
record("set_diag", "unfit", call, [m, floats(4)], fails=(SHAPE, "[3]"))

# ---- lines ----
call = tf.searchsorted
line = F32([[1, 3, 9, 10], [1, 2, 3, 10]])
for side in ("left", "right"):
    record("searchsorted", side, call, [line, F32([[3, 0, 10.5], [2, 3, 10]])], {"side": side})
    record("searchsorted", side + "_ties", call, [I64([1, 1, 2, 2, 2, 7]), I64([2, 1, 7, 8, 0])], {"side": side, "out_type": "int64"})
for dtype in (np.int8, np.int16, I32, np.uint8, np.uint16, F64, np.float16):
    record("searchsorted", np.dtype(dtype).name, call, [np.array([1, 3, 5], dtype), np.array([3, 0, 9], dtype)])
record("searchsorted", "none", call, [np.zeros((2, 0), F32), floats(2, 2)])
record("searchsorted", "unequal", call, [line, floats(1, 2)], fails=(SHAPE, "dimensions"))
record("searchsorted", "no_side", call, [F32([1]), F32([1])], {"side": "middle"}, fails=(VALUE, "side"))
call = tf.histogram_fixed_width
record("histogram_fixed_width", "five", call, [F32([-1, 0, 1.5, 2, 5, 15]), F32([0, 5])], {"nbins": 5})
record("histogram_fixed_width", "grid", call, [floats(3, 4), F32([-1, 1])], {"nbins": 4, "dtype": "int64"})
record("histogram_fixed_width", "default", call, [I32([1, 50, 99, 100]), I32([0, 100])])
record("histogram_fixed_width", "float64", call, [floats(9, dtype=F64), F64([-2, 2])], {"nbins": 3})
record("histogram_fixed_width", "none", call, [np.zeros(0, F32), F32([0, 1])], {"nbins": 2})
record("histogram_fixed_width", "falling", call, [F32([1]), F32([1, 0])], {"nbins": 2}, fails=(VALUE, "value_range"))
record("histogram_fixed_width", "no_bins", call, [F32([1]), F32([0, 1])], {"nbins": 0}, fails=(VALUE, "nbins"))
call = tf.math.in_top_k
p = F32([[0.1, 0.3, 0.2], [0.9, 0.9, 0.1], [0.1, np.inf, 0], [1, 2, 3]])
record("in_top_k", "one", call, [I32([1, 0, 1, 0]), p], {"k": 1})
record("in_top_k", "two", call, [I64([2, 1, 0, 1]), p], {"k": 2})
record("in_top_k", "outside", call, [I32([3, -1, 0, 2]), p], {"k": 3})
record("in_top_k", "nan", call, [I32([0]), F32([[1, np.nan]])], {"k": 2})
record("in_top_k", "none", call, [np.zeros(0, I32), np.zeros((0, 3), F32)], {"k": 1})
record("in_top_k", "unequal", call, [I32([0, 1]), p], {"k": 1}, fails=(SHAPE, "lines"))
call = tf.math.nextafter
record("nextafter", "up", call, [F32([1, 0, -1]), F32([2, 1, 0])])
record("nextafter", "down", call, [F64([1, 0, -1]), F64([0, -1, -2])])
record("nextafter", "equal", call, [F32([1]), F32([1])])
record("nextafter", "broadcast", call, [F32([[1], [2]]), F32([0, 9])])
record("nextafter", "special", call, [F32([np.inf, np.nan, 3.4028235e38]), F32([0, 1, np.inf])])
call = tf.reverse_sequence
record("reverse_sequence", "lines", call, [floats(3, 4), I32([2, 4, 0])], {"seq_axis": 1, "batch_axis": 0}, gradient=True)
record("reverse_sequence", "columns", call, [floats(4, 2, 2), I64([3, 1])], {"seq_axis": 0, "batch_axis": 1}, gradient=True)
record("reverse_sequence", "inner", call, [np.arange(24, dtype=I32).reshape(2, 3, 4), I32([1, 2, 4])], {"seq_axis": 2, "batch_axis": 1})
record("reverse_sequence", "strings", call, [[[b"a", b"b", b"c"]], I32([2])], {"seq_axis": 1})
record("reverse_sequence", "too_long", call, [floats(1, 2), I32([3])], {"seq_axis": 1}, fails=(VALUE, "seq_lens(0)"))
record("reverse_sequence", "one_axis", call, [floats(2, 2), I32([1, 1])], {"seq_axis": 0, "batch_axis": 0}, fails=(SHAPE, "batch_dim"))
record("reverse_sequence", "unequal", call, [floats(2, 2), I32([1])], {"seq_axis": 1}, fails=(SHAPE, "seq_lengths"))
call = tf.unique_with_counts
record("unique_with_counts", "integers", call, [I32([1, 1, 2, 4, 4, 4, 7, 8, 8])])
record("unique_with_counts", "strings", call, [[b"b", b"a", b"b", b"", b""]], {"out_idx": "int64"})
record("unique_with_counts", "floats", call, [F32([0.5, -1, 0.5])])
record("unique_with_counts", "none", call, [np.zeros(0, I64)])
record("unique_with_counts", "one", call, [F64([3])])
record("unique_with_counts", "matrix", call, [I32([[1]])], fails=(SHAPE, "rank"))
call = tf.math.cumulative_logsumexp
for axis in (0, 1, -1):
    for exclusive in (False, True):
        for reverse in (False, True):
            record("cumulative_logsumexp", "axis_%d_%d_%d" % (axis, exclusive, reverse), call, [floats(3, 4)], {"axis": axis, "exclusive": exclusive, "reverse": reverse}, tolerance=1e-5,
                   **({} if exclusive else {"gradient": True}))
record("cumulative_logsumexp", "large", call, [F64([1000, 1000, -1000])], tolerance=1e-12)
record("cumulative_logsumexp", "infinite", call, [F32([-np.inf, 1, np.inf, 2])], tolerance=1e-6)
record("cumulative_logsumexp", "empty", call, [np.zeros((0, 2), F32)])
record("cumulative_logsumexp", "outside", call, [floats(2)], {"axis": 1}, fails=(SHAPE, "1"))

write(sys.argv[1])
