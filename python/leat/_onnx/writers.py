"""What leat's operations are in ONNX's graphs, where that is more than a line of ``table``.

A line of WRITERS is one: a function of the Graph that is written, leat's Node, the Values of its inputs, and the dtypes
and dimensions of its outputs; it gives the outputs' Values. `inline` writes an operation as others of leat's.
"""

import math

import leat as tf
from leat import dtypes
from leat._onnx import writers_arrays as arrays, writers_control as control, writers_layers as layers
from leat._onnx.graph import BOOL, I64, refuse
from leat._saved_model import writers as theirs

I32 = dtypes.int32


def _inline(function):
    """An operation as others of leat's: ``function(*inputs)``."""
    return lambda b, node, x, kinds: b.inline(function, x)


# ---- reductions ----

def _axes(b, node, value):
    axis = node["axis"]
    if axis is None:
        return None
    return b.vector(axis)


def _reduction(name):
    def write(b, node, x, kinds):
        if node["axis"] == []:
            return b.like("Identity", x[0])
        return b.op(name, [x[0], _axes(b, node, x[0])], *kinds[0], keepdims=bool(node["keepdims"]))
    return write


def _of_bools(name):
    write = _reduction(name)
    return lambda b, node, x, kinds: b.cast(write(b, node, [b.cast(x[0], I32)], [(I32, kinds[0][1])]), BOOL)


def _count_nonzero(b, node, x, kinds):
    if x[0].dtype is BOOL:
        found = x[0]
    else:
        found = b.op("Not", [b.op("Equal", [x[0], b.constant(0, x[0].dtype)], BOOL, x[0].dims)], BOOL, x[0].dims)
    return _reduction("ReduceSum")(b, node, [b.cast(found, kinds[0][0])], kinds)


def _arg(name):
    def write(b, node, x, kinds):
        found = b.op(name, x, I64, kinds[0][1], axis=node.fixed("axis"), keepdims=0)
        return b.cast(found, kinds[0][0])
    return write


def _cumsum(b, node, x, kinds):
    return b.op("CumSum", [x[0], b.ints(node["axis"])], *kinds[0], exclusive=bool(node["exclusive"]),
                reverse=bool(node["reverse"]))


# ---- numbers ----

def _not_equal(b, node, x, kinds):
    return b.op("Not", [b.op("Equal", x, *kinds[0])], *kinds[0])


def _clip(b, node, x, kinds):
    return b.op("Max", [b.op("Min", [x[0], x[2]], *kinds[0]), x[1]], *kinds[0])


def _floordiv(b, node, x, kinds):
    if kinds[0][0].is_floating:
        return b.op("Floor", [b.op("Div", x, *kinds[0])], *kinds[0])
    return b.op("Div", [b.op("Sub", [x[0], b.op("Mod", x, *kinds[0])], *kinds[0]), x[1]], *kinds[0])


def _floormod(b, node, x, kinds):
    if not kinds[0][0].is_floating:
        return b.op("Mod", x, *kinds[0])
    rest = b.op("Mod", x, *kinds[0], fmod=1)
    return b.inline(lambda rest, by: tf.where(tf.not_equal(rest, 0) & ((rest < 0) != (by < 0)), rest + by, rest),
                    [rest, x[1]])


def _by_zero(compute, safe):
    """0 where the second input is 0."""
    def write(b, node, x, kinds):
        zero, one = b.constant(0, kinds[0][0]), b.constant(1, kinds[0][0])
        no = b.op("Equal", [x[1], zero], BOOL, x[1].dims)
        by = b.op("Where", [no, one, x[1]], *kinds[0]) if safe else x[1]
        return b.op("Where", [no, zero, b.op(compute, [x[0], by], *kinds[0])], *kinds[0])
    return write


def _xlogy(value, of):
    return tf.where(tf.equal(value, 0), tf.zeros_like(value), value * tf.math.log(of))


def _log1p(value):
    up = 1 + value
    exact = tf.math.log(up) * (value / (up - 1))
    return tf.where(tf.equal(up, 1), value, tf.where(tf.equal(up, up + 1), tf.math.log(up), exact))


def _erfc(value):
    return 1 - tf.math.erf(value)


def _is_infinite(b, node, x, kinds):
    return b.op("IsInf", [_float32(b, x[0])], *kinds[0])


def _float32(b, value):
    return value if value.dtype in (dtypes.float32, dtypes.float64) else b.cast(value, dtypes.float32)


def _is_finite(b, node, x, kinds):
    either = b.op("Or", [_is_infinite(b, node, x, kinds), b.op("IsNaN", x, *kinds[0])], *kinds[0])
    return b.op("Not", [either], *kinds[0])


def _shift(direction):
    return lambda b, node, x, kinds: b.op("BitShift", x, *kinds[0], direction=direction)


# ---- matrices ----

def _turned(b, node, value):
    if value.rank is None:
        refuse(node, "of an unknown rank with transpose_a or transpose_b")
    return b.transpose(value, [*range(value.rank - 2), value.rank - 1, value.rank - 2])


def _matmul(b, node, x, kinds):
    pair = [_turned(b, node, one) if node[flag] else one for one, flag in zip(x, ("transpose_a", "transpose_b"))]
    return b.op("MatMul", pair, *kinds[0])


def _einsum(b, node, x, kinds):
    return b.op("Einsum", x, *kinds[0], equation=node["equation"].replace(" ", ""))


def _band_part(b, node, x, kinds):
    below, above = node.fixed("num_lower"), node.fixed("num_upper")

    def compute(value):
        rows = tf.range(tf.shape(value)[-2])[:, None]
        columns = tf.range(tf.shape(value)[-1])[None]
        kept = (rows - columns <= (below if below >= 0 else 1 << 30)) & (
            columns - rows <= (above if above >= 0 else 1 << 30))
        return tf.where(kept, value, tf.zeros([], value.dtype))
    return b.inline(compute, x)


# ---- numbers and texts by tables ----

_LABELS = {"int64": ("keys_int64s", "values_int64s", "default_int64", int),
           "float32": ("keys_floats", "values_floats", "default_float", float),
           "string": ("keys_strings", "values_strings", "default_string", bytes)}


def _table_find(b, node, x, kinds):
    keys, found = (b.constant(*theirs.literal(node.attrs[name])) for name in ("keys", "values"))
    if not hasattr(x[1], "array") or x[1].array.size != 1:
        refuse(node, "with a default that is computed")
    wide = {dtypes.int32: I64}
    keys, value, default, found = (
        b.cast(one, wide.get(one.dtype, one.dtype)) for one in (keys, x[0], x[1], found))
    for one in (keys, found):
        if one.dtype.name not in _LABELS:
            refuse(node, f"of {one.dtype.name}")
    key_name, _, _, key_kind = _LABELS[keys.dtype.name]
    _, value_name, default_name, value_kind = _LABELS[found.dtype.name]
    made = b.op("LabelEncoder", [value], found.dtype, kinds[0][1], domain="ai.onnx.ml", **{
        key_name: [key_kind(one) for one in keys.array.ravel()],
        value_name: [value_kind(one) for one in found.array.ravel()],
        default_name: value_kind(default.array.ravel()[0])})
    return b.cast(made, kinds[0][0])


def _scaled(b, node, x, kinds):
    return b.op("Mul", [b.cast(x[0], kinds[0][0]), b.constant(1.0 / x[0].dtype.max, kinds[0][0])], *kinds[0])


def _convert(b, node, x, kinds):
    before, after = x[0].dtype, kinds[0][0]
    if not after.is_floating:
        refuse(node, f"from {before.name} to {after.name}")
    return b.cast(x[0], after) if before.is_floating else _scaled(b, node, x, kinds)


WRITERS = {
    "argmax": _arg("ArgMax"), "argmin": _arg("ArgMin"), "band_part": _band_part,
    "cast": lambda b, node, x, kinds: b.cast(x[0], kinds[0][0]), "clip_by_value": _clip,
    "constant": lambda b, node, x, kinds: b.constant(*theirs.literal(node.attrs["value"])),
    "convert_image_dtype": _convert, "count_nonzero": _count_nonzero, "cumsum": _cumsum,
    "divide_no_nan": _by_zero("Div", True), "einsum": _einsum, "erfc": _inline(_erfc),
    "expm1": _inline(lambda value: tf.tanh(value / 2) * (tf.exp(value) + 1)), "floordiv": _floordiv,
    "floormod": _floormod, "is_finite": _is_finite, "is_inf": _is_infinite, "left_shift": _shift("LEFT"),
    "log1p": _inline(_log1p),
    "log_softmax": lambda b, node, x, kinds: b.op("LogSoftmax", x, *kinds[0], axis=-1),
    "matmul": _matmul, "multiply_no_nan": _by_zero("Mul", False),
    "ndtri": _inline(lambda value: math.sqrt(2.0) * tf.math.erfinv(2 * value - 1)),
    "not_equal": _not_equal, "reduce_all": _of_bools("ReduceMin"), "reduce_any": _of_bools("ReduceMax"),
    "reduce_max": _reduction("ReduceMax"), "reduce_mean": _reduction("ReduceMean"),
    "reduce_min": _reduction("ReduceMin"), "reduce_prod": _reduction("ReduceProd"),
    "reduce_sum": _reduction("ReduceSum"), "reduce_sum_squares": _reduction("ReduceSumSquare"),
    "relu6": lambda b, node, x, kinds: b.op("Clip", [x[0], *(b.constant(one, kinds[0][0]) for one in (0, 6))],
                                            *kinds[0]),
    "replica_id": lambda b, node, x, kinds: b.constant(0, kinds[0][0]),  # what serves is one
    "right_shift": _shift("RIGHT"),
    "rsqrt": lambda b, node, x, kinds: b.op("Reciprocal", [b.op("Sqrt", x, *kinds[0])], *kinds[0]),
    "saturate_cast": theirs.WRITERS["saturate_cast"], "searchsorted": theirs.WRITERS["searchsorted"],
    "softmax": lambda b, node, x, kinds: b.op("Softmax", x, *kinds[0], axis=-1),
    "square": lambda b, node, x, kinds: b.op("Mul", [x[0], x[0]], *kinds[0]),
    "squared_difference": _inline(lambda one, other: tf.square(one - other)), "table_find": _table_find,
    "tensor_array_write": theirs.WRITERS["tensor_array_write"],
    "truncatemod": lambda b, node, x, kinds: b.op("Mod", x, *kinds[0], fmod=1),
    "xdivy": _inline(lambda value, by: tf.where(tf.equal(value, 0), tf.zeros_like(value), value / by)),
    "xlogy": _inline(_xlogy), **arrays.LINES, **control.LINES, **layers.LINES,
}
