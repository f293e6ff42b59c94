#!/usr/bin/env python3
"""Record cases of einsum, special functions, tables and pooling from TensorFlow.

    function_cases.py tests/conform/ops

Writes one file for each operation. Needs TensorFlow 2.21.
"""
import sys

from op_recorder import F32, F64, I32, I64, NONE, SHAPE, STRUCTURE, VALUE, distinct, floats, np, record, tensor, tf, write

# ---- einsum ----
A, B, C = floats(2, 3), floats(3, 4), floats(4, 2)


def einsum(name, equation, inputs, **more):
    more.setdefault("tolerance", 1e-5)
    if more.get("fails"):
        del more["tolerance"]
    record("einsum", name, lambda *given, equation: tf.einsum(equation, *given), inputs, {"equation": equation}, **more)


einsum("matmul", "ij,jk->ik", [A, B], gradient=True)
einsum("implied", "ij,jk", [A, B])
einsum("implied_order", "ba", [A])
einsum("transpose", "ij->ji", [A], gradient=True)
einsum("sum", "ij->j", [A], gradient=True)
einsum("sum_all", "ij->", [A], gradient=True)
einsum("dot", "i,i->", [floats(4), floats(4)], gradient=True)
einsum("outer", "i,jk->kij", [floats(2), A], gradient=True)
einsum("batch", "bij,bjk->bik", [floats(2, 2, 3), floats(2, 3, 4)], gradient=True)
einsum("turned", "bij,bkj->kbi", [floats(2, 2, 3), floats(2, 4, 3)], gradient=True)
einsum("three", "ij,jk,ki->i", [A, B, C], gradient=True)
einsum("sum_one_side", "ij,k->k", [A, floats(3)], gradient=True)
einsum("diagonal", "ii->i", [floats(3, 3)], gradient=True)
einsum("trace", "ii", [floats(3, 3)], gradient=True)
einsum("rest", "...ij,...jk->...ik", [floats(2, 2, 3), floats(2, 3, 4)], gradient=True)
einsum("rest_broadcast", "...ij,jk->...ik", [floats(2, 2, 3), B], gradient=True)
einsum("rest_both", "a...,b...->...ab", [floats(2, 1, 3), floats(3, 4, 1)], gradient=True)
einsum("elementwise", "ij,ij->ij", [A, floats(2, 3)], gradient=True)
einsum("attention", "bqhd,bkhd->bhqk", [floats(2, 3, 2, 4), floats(2, 5, 2, 4)], gradient=True)
einsum("integers", "ij,jk->ik", [np.arange(6, dtype=I32).reshape(2, 3), np.arange(6, dtype=I32).reshape(3, 2)])
einsum("int64", "i,i->", [I64([2**40, 3]), I64([3, -1])])
einsum("float64", "ij,jk->ik", [A.astype(F64), B.astype(F64)], tolerance=1e-12)
einsum("empty", "ij,jk->ik", [np.zeros((0, 3), F32), B])
einsum("empty_inner", "ij,jk->ik", [np.zeros((2, 0), F32), np.zeros((0, 2), F32)])
einsum("sizes_differ", "ij,jk->ik", [A, floats(2, 2)], fails=(SHAPE, "Expected"))
einsum("too_few", "ij,jk->ik", [A], fails=(STRUCTURE, "2"))
einsum("rank", "ijk->i", [A], fails=(SHAPE, "dimensions"))
einsum("unknown_label", "ij->k", [A], fails=(VALUE, "operand"))
CUBE = (np.arange(27, dtype=F32).reshape(3, 3, 3) % 7 - 3) / 4
einsum("cube_diagonal", "iii->i", [CUBE], gradient=True)
einsum("diagonal_of_pairs", "jij,ik->kj", [CUBE, B], gradient=True)
einsum("diagonal_and_rest", "i...i->...", [CUBE], gradient=True)

# ---- special functions ----
for name, x in (("acosh", floats(5, low=1.1, high=9)), ("asinh", floats(5, low=-9, high=9)), ("atanh", floats(5, low=-0.95, high=0.95)),
                ("lgamma", F32([0.5, 1.5, 3, 10, -1.5])), ("digamma", F32([0.1, 1.5, 3, 25, -1.5])),
                ("erfinv", F32([-0.9, -0.3, 0, 0.4, 0.75, 0.9])), ("ndtri", F32([0.05, 0.2, 0.5, 0.7, 0.9]))):
    call = getattr(tf.math, name)
    record(name, "values", call, [x], tolerance=2e-6, gradient=True)
    record(name, "float64", call, [x.astype(F64)], tolerance=1e-9 if name in ("erfinv", "ndtri") else 1e-12)
    record(name, "special", call, [F32([np.nan, 0, 1, -1, 2])], tolerance=2e-6)
    record(name, "empty", call, [np.zeros((0, 2), F32)])
    record(name, "scalar", call, [F32(0.25) if name != "acosh" else F32(2)], tolerance=2e-6)
orders, places = F32([0, 1, 2, 3, 6]), F32([0.3, 1.7, 2.5, 13, 31])
record("polygamma", "values", tf.math.polygamma, [orders, places], tolerance=2e-6)
record("polygamma", "negative", tf.math.polygamma, [F32([1, 2, 3]), F32([-0.5, -1.3, -2.25])], tolerance=2e-6)
record("polygamma", "float64", tf.math.polygamma, [F64([1, 2, 5]), F64([0.25, 3.5, 11])], tolerance=1e-11)
record("polygamma", "special", tf.math.polygamma, [F32([0.5, -1, 1, 2, np.nan]), F32([1, 1, 0, 0, 1])])
record("polygamma", "infinite", tf.math.polygamma, [F64([1, 2, 3, 0]), F64([np.inf, np.inf, np.inf, np.inf])])
record("polygamma", "broadcast", tf.math.polygamma, [F32([[1], [2]]), F32([0.5, 2, 9])], tolerance=2e-6)
record("polygamma", "unequal", tf.math.polygamma, [F32([1, 2]), F32([1, 2, 3])], fails=(SHAPE, "broadcast"))
record("zeta", "values", tf.math.zeta, [F32([1.5, 2, 3.3, 9, 30]), F32([0.3, 1, 2.5, 13, 1.5])], tolerance=2e-6)
record("zeta", "near_one", tf.math.zeta, [F64([1.0625, 1.25, 8]), F64([0.5, 40, 2])], tolerance=1e-12)
record("zeta", "negative", tf.math.zeta, [F32([2, 3, 4]), F32([-0.5, -1.25, -2.75])], tolerance=2e-6)
record("zeta", "special", tf.math.zeta, [F32([1, 0.5, 2, 3, 2.5, np.nan]), F32([1, 1, -1, -1, -0.5, 1])])
record("zeta", "infinite", tf.math.zeta, [F64([2, np.inf, np.inf, np.inf, 3.5]), F64([np.inf, 2, 0.5, 1, np.inf])])
record("zeta", "broadcast", tf.math.zeta, [F32([[2], [3]]), F32([0.5, 2, 9])], tolerance=2e-6)
record("zeta", "unequal", tf.math.zeta, [F32([2, 2]), F32([1, 2, 3])], fails=(SHAPE, "broadcast"))
for name in ("xdivy", "xlogy", "xlog1py"):
    call = getattr(tf.math, name)
    record(name, "values", call, [floats(5), floats(5, low=0.5, high=3)], tolerance=1e-6, gradient=True)
    record(name, "zeros", call, [F32([0, 0, 0, 1, 0]), F32([0, 1, -3, 2, np.inf])], tolerance=1e-6)
    record(name, "broadcast", call, [floats(2, 1), floats(3, low=0.5, high=3)], tolerance=1e-6, gradient=True)
    record(name, "float64", call, [floats(3, dtype=F64), floats(3, low=0.5, high=3, dtype=F64)], tolerance=1e-12)
    record(name, "unequal", call, [floats(2), floats(3)], fails=(SHAPE, "broadcast"))

# ---- pooling ----
x = distinct(2, 5, 4, 2)


def pooled(input, ksize, strides, padding):
    return tf.nn.avg_pool2d(input, ksize, strides, padding)


def spread(input, gradient, ksize, strides, padding):
    window = [1, *ksize, 1], [1, *strides, 1]
    return tf.raw_ops.AvgPoolGrad(orig_input_shape=tf.shape(input), grad=gradient, ksize=window[0], strides=window[1], padding=padding)


for name, ksize, strides, padding in (("valid", [2, 2], [2, 2], "VALID"), ("same", [3, 2], [2, 1], "SAME"), ("overlap", [3, 3], [1, 1], "VALID"),
                                      ("one", [1, 1], [1, 1], "SAME"), ("same_large", [4, 4], [3, 3], "SAME")):
    attributes = {"ksize": ksize, "strides": strides, "padding": padding}
    record("avg_pool2d", name, pooled, [x], attributes, tolerance=1e-6, gradient=True)
    y = pooled(x, ksize, strides, padding).numpy()
    record("avg_pool2d_grad", name, spread, [x, floats(*y.shape)], attributes, tolerance=1e-6)
attributes = {"ksize": [2, 2], "strides": [2, 2], "padding": "VALID"}
record("avg_pool2d", "float64", pooled, [x.astype(F64)], attributes, tolerance=1e-12)
record("avg_pool2d", "rank", pooled, [F32([1])], attributes, fails=(SHAPE, "rank"))


# ---- tables ----
def find(query, default, keys, values):
    made = [tf.constant(one["data"], one["dtype"]) for one in (keys, values)]
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(*made), default).lookup(query)


def table(keys, values):
    return {"keys": tensor(keys), "values": tensor(values)}


record("table_find", "texts", find, [[b"b", b"x", b"a", b""], I64(-1)], table([b"a", b"b", b""], I64([1, 2, 3])))
record("table_find", "numbers", find, [I64([[5, 7], [9, 5]]), b"none"], table(I64([5, 9]), [b"five", b"nine"]))
record("table_find", "int32", find, [I32([3, 1]), I32(0)], table(I32([1, 2]), I32([10, 20])))
record("table_find", "floats", find, [b"x", F32(0.5)], table([b"x"], F32([1.5])))
record("table_find", "texts_to_texts", find, [[b"de", b"fr"], b"?"], table([b"de", b"en"], [b"", b"english"]))
record("table_find", "twice_equal", find, [I64([1, 2]), I64(0)], table(I64([1, 1, 2]), I64([7, 7, 8])))
record("table_find", "none", find, [np.zeros(0, I64), I64(0)], table(I64([1]), I64([7])))


def write_array(rows, index, value, grows=False):
    array = tf.TensorArray(rows.dtype, size=rows.shape[0], dynamic_size=grows, element_shape=value.shape)
    if not (len(rows.shape) == 2 and rows.shape[1] == 0):
        array = array.unstack(rows)
    return array.write(index, value).stack()


record("tensor_array_write", "row", write_array, [floats(3, 2), I32(1), floats(2)], gradient=True)
record("tensor_array_write", "number", write_array, [I64([1, 2, 3]), I64(2), I64(9)])
record("tensor_array_write", "grows", write_array, [floats(2, 2), I32(2), floats(2)], {"grows": True})
record("tensor_array_write", "gap", write_array, [I32([4]), I32(3), I32(7)], {"grows": True})
record("tensor_array_write", "first", write_array, [np.zeros((3, 0), F32), I32(1), floats(2, 2)])
record("tensor_array_write", "texts", write_array, [[b"a", b"b"], I32(0), b"long text"])
record("tensor_array_write", "behind", write_array, [floats(2, 2), I32(2), floats(2)], fails=(NONE, "resizeable"))
record("tensor_array_write", "negative", write_array, [floats(2, 2), I32(-1), floats(2)], {"grows": True}, fails=(NONE, "-1"))

write(sys.argv[1])
