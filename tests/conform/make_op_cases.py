#!/usr/bin/env python3
"""Write tests/conform/ops/<operation>.json from a model in numpy.

    make_op_cases.py [FOLDER]

The model knows numpy and TensorFlow's documentation, not the library: expected values must not come from the code under test. A
case is {"name", "attributes", "inputs", "outputs"} or, for a failure, "error": {"code", "reason", "keyword"}; "gradient" asks for a numerical
check of the gradients (inputs of float32 become float64), "gradient_outputs" limits it to the first outputs, "no_gradient" is the
text with which it is refused, "tolerance" is relative to an output's largest magnitude. Operations whose cases need more than values name the C file that has them:
{"tested_by": path}.
"""
import numpy as np

from op_case_model import *  # noqa: F403: the model is this script's vocabulary
from op_case_recurrent import recurrent_cases

# ---- arithmetic ----


def binary(op, f, integers=True, gradient=True, tolerance=0, away_from_zero=False):
    def y_of(*shape):
        y = floats(*shape)
        return np.where(y < 0, y - 0.5, y + 0.5).astype(F32) if away_from_zero else y

    kw = {"gradient": True} if gradient else {}
    if tolerance:
        kw["tolerance"] = tolerance
    a, b = floats(2, 3), y_of(2, 3)
    case(op, "same_shape", [a, b], f(a, b), **kw)
    a, b = floats(2, 1, 3), y_of(4, 1)
    case(op, "broadcast_both", [a, b], f(a, b), **kw)
    a, b = floats(5), y_of()
    case(op, "scalar_right", [a, F32(b)], f(a, F32(b)), **kw)
    a, b = floats(), y_of(5)
    case(op, "scalar_left", [F32(a), b], f(F32(a), b), **kw)
    a, b = floats(0, 3), y_of(3)
    case(op, "empty", [a, b], f(a, b))
    a, b = floats(3, dtype=F64), y_of(3).astype(F64)
    case(op, "float64", [a, b], f(a, b))
    if integers:
        for t in INTS:
            info = np.iinfo(t)
            a = np.array([info.max, info.min, 7, 100, 5, 1], dtype=t)
            b = np.array([1, 1, 3, 100, 3, 0 if not away_from_zero else 2], dtype=t)
            with np.errstate(over="ignore"):
                case(op, np.dtype(t).name, [a, b], f(a, b).astype(t) if f(a, b).dtype != bool else f(a, b))
    case(op, "dtypes_differ", [F32(1), F64(1)], error=(INVALID, DTYPE, "dtype"))
    case(op, "shapes_differ", [floats(2), floats(3)], error=(INVALID, SHAPE, "broadcast"))


def ordered(x, y, pick):
    return np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), pick(x, y)) if x.dtype.kind == "f" else pick(x, y)


with np.errstate(all="ignore"):
    binary("add", lambda x, y: x + y)
    binary("subtract", lambda x, y: x - y)
    binary("multiply", lambda x, y: x * y)
    binary("divide", lambda x, y: x / y, integers=False, away_from_zero=True)
    case("divide", "by_zero", [np.array([1, -1, 0], F32), np.zeros(3, F32)], np.array([np.inf, -np.inf, np.nan], F32))
    case("divide", "integers", [I32(1), I32(2)], np.float64(0.5))
    binary("maximum", np.maximum)
    binary("minimum", np.minimum)
    for op in ("maximum", "minimum"):
        case(op, "nan", [np.array([np.nan, 1], F32), np.array([1, np.nan], F32)], np.array([np.nan, np.nan], F32))
    for op, f in (("floordiv", np.floor_divide), ("floormod", np.mod)):
        a = np.array([7, -7, 7, -7, 6, 0], I64)
        b = np.array([3, 3, -3, -3, -3, 5], I64)
        case(op, "signs", [a, b], f(a, b))
        for y in (1, 2, 3, 8, -1, -4):
            a = np.array([-9, -8, -1, 0, 1, 7, 8, 2**62], I64)
            case(op, "int64_by_%d" % y, [a, I64(y)], f(a, I64(y)))
        for t in INTS:
            info = np.iinfo(t)
            a = np.array([info.max, info.min, 7, 100], t)
            case(op, np.dtype(t).name, [a, np.array([3, 2, 2, 7], t)], f(a, np.array([3, 2, 2, 7], t)))
            case(op, np.dtype(t).name + "_by_4", [a, t(4)], f(a, t(4)))
        for t in (np.int8, np.int16, I32, I64):
            low = np.iinfo(t).min
            case(op, "lowest_by_minus_one_" + np.dtype(t).name, [t(low), t(-1)], t(low) if op == "floordiv" else t(0))
        a = np.array([7.5, -7.5, 7.5, -7.5, 0.0], F32)
        b = np.array([2, 2, -2, -2, 2], F32)
        case(op, "float32", [a, b], np.floor(a / b) if op == "floordiv" else np.array([1.5, 0.5, -0.5, -1.5, 0], F32))
        case(op, "float64", [a.astype(F64), b.astype(F64)], np.floor(a / b).astype(F64) if op == "floordiv" else np.array([1.5, 0.5, -0.5, -1.5, 0], F64))
        case(op, "broadcast", [np.array([[7], [9]], I32), np.array([2, 3, 4], I32)], f(np.array([[7], [9]], I32), np.array([2, 3, 4], I32)))
        case(op, "by_zero", [np.array([7, 8, 9, 1, 2, 3], I64), np.array([3, 0, 1, 1, 1, 1], I64)], error=(INVALID, VALUE, "division"))
        case(op, "by_constant_zero", [np.array([7, 8], I32), I32(0)], error=(INVALID, VALUE, "division"))

# ---- comparisons ----
COMPARE = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal}
for op, f in COMPARE.items():
    a, b = np.array([1, 2, 3, np.nan], F32), np.array([2, 2, 2, np.nan], F32)
    case(op, "float32", [a, b], f(a, b))
    case(op, "float64_scalar", [a.astype(F64), F64(2)], f(a, 2))
    case(op, "broadcast", [np.array([[1], [2]], I64), np.array([1, 2, 3], I64)], f(np.array([[1], [2]]), np.array([1, 2, 3])))
    for t in INTS:
        info = np.iinfo(t)
        a, b = np.array([info.min, info.max, 5], t), np.array([info.max, info.max, 4], t)
        case(op, np.dtype(t).name, [a, b], f(a, b))
    case(op, "bfloat16", [Half("bfloat16", [1, 2, 3]), Half("bfloat16", [2, 2, 2])], f(np.array([1, 2, 3]), np.array([2, 2, 2])))
    case(op, "empty", [np.zeros((0, 2), F32), np.zeros((1, 2), F32)], np.zeros((0, 2), bool))
    case(op, "dtypes_differ", [F32(1), I32(1)], error=(INVALID, DTYPE, "dtype"))
for op, sign in (("equal", True), ("not_equal", False)):
    case(op, "bool", [np.array([True, False]), np.array([True, True])], np.array([sign, not sign]))
    case(op, "string", [[b"a", b"ab", b"", b"\x00x"], [b"a", b"ac", b"", b"\x00y"]], np.array([sign, not sign, sign, not sign]))
    case(op, "string_scalar", [[b"a", b"bb"], b"bb"], np.array([not sign, sign]))
case("less", "string", [b"a", b"b"], error=(INVALID, DTYPE, "string"))
for op, f in (("logical_and", np.logical_and), ("logical_or", np.logical_or)):
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    case(op, "table", [a, b], f(a, b))
    case(op, "broadcast", [a[:, None], b], f(a[:, None], b))
    case(op, "numbers", [I32(1), I32(0)], error=(INVALID, DTYPE, "int32"))
case("logical_not", "table", [np.array([True, False, True])], np.array([False, True, False]))
case("logical_not", "scalar", [np.bool_(False)], np.bool_(True))
case("logical_not", "numbers", [I32(1)], error=(INVALID, DTYPE, "int32"))

# ---- one operand ----


def unary(op, f, x, gradient=True, tolerance=1e-6, ints=(), name="values"):
    kw = {"gradient": True} if gradient else {}
    case(op, name, [x], f(x).astype(x.dtype), tolerance=tolerance, **kw)
    case(op, name + "_float64", [x.astype(F64)], f(x.astype(F64)), tolerance=1e-12)
    case(op, name + "_scalar", [x.reshape(-1)[0]], f(x.reshape(-1)[:1])[0], tolerance=tolerance)
    case(op, name + "_matrix", [x[:6].reshape(2, 3)], f(x[:6].reshape(2, 3)), tolerance=tolerance)
    case(op, name + "_empty", [np.zeros((2, 0), F32)], np.zeros((2, 0), F32))
    for t in ints:
        info = np.iinfo(t)
        a = np.array([info.min, info.max, 0, 1, 9], t)
        with np.errstate(over="ignore"):
            case(op, np.dtype(t).name, [a], f(a).astype(t))
    case(op, name + "_string", [b"x"], error=(INVALID, DTYPE, "string"))


SIGNED = [np.int8, np.int16, I32, I64]
some = np.array([-1.7, -0.3, 0.4, 1.1, 2.9, -2.2, 0.05], F32)
positive = np.array([0.3, 1.0, 2.5, 9.0, 0.01, 100.0], F32)
with np.errstate(all="ignore"):
    unary("negate", lambda x: -x, some, ints=SIGNED)
    unary("abs", np.abs, some, ints=SIGNED)
    unary("sign", np.sign, some, ints=SIGNED)
    case("sign", "edges", [np.array([0.0, np.nan, np.inf], F32)], np.array([0.0, np.nan, 1], F32))
    unary("square", lambda x: x * x, some, ints=INTS)
    unary("sqrt", np.sqrt, positive)
    unary("rsqrt", lambda x: (1 / np.sqrt(x)).astype(x.dtype), positive)
    unary("exp", np.exp, some)
    unary("log", np.log, positive)
    case("log", "edges", [np.array([0.0, -1.0, np.inf], F32)], np.array([-np.inf, np.nan, np.inf], F32))
    unary("tanh", np.tanh, some)
    unary("sigmoid", lambda x: (1 / (1 + np.exp(-x))).astype(x.dtype), some)
    case("sigmoid", "edges", [np.array([100, -100, np.inf, -np.inf], F32)], np.array([1, 0, 1, 0], F32), tolerance=1e-6)
    unary("relu", lambda x: np.maximum(x, 0), some, ints=SIGNED)
    case("relu", "nan", [np.array([np.nan, -0.0], F32)], np.array([np.nan, 0], F32))
g = floats(7)
case("relu_grad", "values", [g, some], np.where(some > 0, g, 0).astype(F32))
case("relu_grad", "at_zero", [np.ones(3, F32), np.array([0.0, -0.0, 1e-30], F32)], np.array([0, 0, 1], F32))
case("relu_grad", "float64", [g.astype(F64), some.astype(F64)], np.where(some > 0, g, 0).astype(F64), gradient=True)

# ---- cast ----
f = np.array([-1.9, -0.5, 0.0, 0.5, 1.9, 100.7], F32)
for t in (np.int8, np.int16, I32, I64):
    case("cast", "float32_to_" + np.dtype(t).name, [f], f.astype(t), {"dtype": np.dtype(t).name})
    case("cast", "float64_to_" + np.dtype(t).name, [f.astype(F64)], f.astype(t), {"dtype": np.dtype(t).name})
for t in (U8, np.uint16, np.uint32, np.uint64):
    case("cast", "float32_to_" + np.dtype(t).name, [f[2:]], f[2:].astype(t), {"dtype": np.dtype(t).name})
a = np.array([0, 1, -1, 127, 128, 255, 256, 65535, 2**31, -(2**31) - 1, 2**40 + 3], I64)
for t in INTS + [F32, F64, bool]:
    case("cast", "int64_to_" + np.dtype(t).name, [a], a.astype(t), {"dtype": np.dtype(t).name})
for t in INTS + [F32, F64, bool]:
    b = np.array([0, 1, 100], U8).astype(t)
    case("cast", "small_%s_to_int64" % np.dtype(t).name, [b], b.astype(I64), {"dtype": "int64"})
    case("cast", "small_%s_to_float32" % np.dtype(t).name, [b], b.astype(F32), {"dtype": "float32"})
    case("cast", "small_%s_to_float16" % np.dtype(t).name, [b], Half("float16", b.astype(F32)), {"dtype": "float16"})
case("cast", "uint64_to_float64", [np.array([2**63 + 2**20, 2**64 - 1], np.uint64)], np.array([2**63 + 2**20, 2**64], F64), {"dtype": "float64"})
case("cast", "float_to_bool", [np.array([0.0, -0.0, 0.1, np.nan], F32)], np.array([False, False, True, True]), {"dtype": "bool"})
case("cast", "to_bfloat16", [np.array([1.0, 1.00390625, 1.01171875, 3.14159], F32)], Half("bfloat16", [1.0, 1.0, 1.015625, 3.140625]), {"dtype": "bfloat16"})
case("cast", "to_float16", [np.array([65504, 65520, 1e-8, 6e-8, 0.1], F32)], Half("float16", [65504, np.inf, 0, 2.0**-24, 0.0999755859375]), {"dtype": "float16"})
case("cast", "of_float16", [Half("float16", [0.5, -2.75, 1000])], np.array([0, -2, 1000], I32), {"dtype": "int32"})
x = floats(2, 3)
case("cast", "float_width", [x], x.astype(F64), {"dtype": "float64"}, gradient=True)
case("cast", "scalar", [F32(3.7)], I32(3), {"dtype": "int32"})
case("cast", "empty", [np.zeros((0, 2), F32)], np.zeros((0, 2), I32), {"dtype": "int32"})
case("cast", "string", [b"1"], error=(INVALID, DTYPE, "string_to_number"), attributes={"dtype": "int32"})
case("cast", "no_dtype", [F32(1)], error=(INVALID, VALUE, "dtype"))

# ---- select ----
c = np.array([[True], [False]])
x, y = floats(2, 3), floats(3)
case("select", "broadcast", [c, x, y], np.where(c, x, y), gradient=True)
case("select", "same_shape", [x > 0, x, x * 2], np.where(x > 0, x, x * 2), gradient=True)
case("select", "scalar_condition", [np.bool_(True), x, y], np.broadcast_to(x, (2, 3)).copy())
for t in INTS + [F64, bool]:
    p, q = np.array([1, 0, 1], t), np.array([0, 0, 0], t)
    case("select", np.dtype(t).name, [np.array([True, True, False]), p, q], np.where([True, True, False], p, q))
case("select", "string", [np.array([True, False]), [b"yes", b"no"], b"other"], [b"yes", b"other"])
case("select", "dtypes_differ", [np.bool_(True), F32(1), I32(1)], error=(INVALID, DTYPE, "dtype"))
case("select", "no_bool", [I32(1), F32(1), F32(1)], error=(INVALID, DTYPE, "condition"))

# ---- shapes ----
x = floats(2, 3, 4)
case("reshape", "known", [x], x.reshape(6, 4), {"shape": [6, 4]}, gradient=True)
case("reshape", "computed", [x], x.reshape(4, 6), {"shape": [4, -1]}, gradient=True)
one = floats(1, 1)
case("reshape", "to_scalar", [one], one.reshape(()), {"shape": []})
case("reshape", "empty", [np.zeros((0, 3), F32)], np.zeros((3, 0), F32), {"shape": [3, 0]})
case("reshape", "empty_computed", [np.zeros((0, 3), F32)], np.zeros((0, 3), F32), {"shape": [-1, 3]})
case("reshape", "strings", [[b"a", b"b"]], np.array([[b"a"], [b"b"]], object), {"shape": [2, 1]})
case("reshape", "wrong_count", [x], error=(INVALID, SHAPE, "24"), attributes={"shape": [5, -1]})
case("reshape", "two_open", [x], error=(INVALID, VALUE, "once"), attributes={"shape": [-1, -1]})
case("reshape_like", "values", [x, floats(8, 3)], x.reshape(8, 3), gradient=True)
case("reshape_like", "scalar", [one, F32(3)], one.reshape(()))
case("reshape_like", "wrong_count", [x, floats(5)], error=(INVALID, VALUE, "24"))
for axis in (0, 1, 3, -1, -4):
    case("expand_dims", "axis_%d" % axis, [x], np.expand_dims(x, axis), {"axis": axis}, gradient=True)
case("expand_dims", "scalar", [F32(2)], np.array([2], F32), {"axis": 0})
case("expand_dims", "string", [b"x"], [b"x"], {"axis": 0})
case("expand_dims", "outside", [x], error=(INVALID, SHAPE, "4"), attributes={"axis": 4})
y = floats(1, 3, 1, 2)
case("squeeze", "all", [y], y.reshape(3, 2), gradient=True)
case("squeeze", "one", [y], y.reshape(3, 1, 2), {"axis": [0]}, gradient=True)
case("squeeze", "negative", [y], y.reshape(1, 3, 2), {"axis": [-2]})
case("squeeze", "not_one", [y], error=(INVALID, SHAPE, "1"), attributes={"axis": [1]})
y = floats(2, 3)
case("ensure_shape", "fits", [y], y, {"shape": [-1, 3]}, gradient=True)
case("ensure_shape", "unknown_rank", [y], y, {"shape": None})
case("ensure_shape", "another", [y], error=(INVALID, SHAPE, "[2, 3]"), attributes={"shape": [-1, 4]})
case("transpose", "reversed", [x], x.transpose(), gradient=True)
case("transpose", "permutation", [x], x.transpose(1, 2, 0), {"perm": [1, 2, 0]}, gradient=True)
case("transpose", "same", [x], x, {"perm": [0, 1, 2]})
case("transpose", "matrix_int8", [np.arange(6, dtype=np.int8).reshape(2, 3)], np.arange(6, dtype=np.int8).reshape(2, 3).T.copy(), {"perm": [1, 0]})
case("transpose", "matrix_float64", [np.arange(6, dtype=F64).reshape(2, 3)], np.arange(6, dtype=F64).reshape(2, 3).T.copy(), {"perm": [-1, 0]})
case("transpose", "scalar", [F32(1)], F32(1))
case("transpose", "strings", [[[b"a", b"b"], [b"c", b"d"]]], [[b"a", b"c"], [b"b", b"d"]])
case("transpose", "empty", [np.zeros((0, 2), F32)], np.zeros((2, 0), F32))
case("transpose", "twice", [x], error=(INVALID, SHAPE, "twice"), attributes={"perm": [0, 0, 1]})
case("transpose", "short", [x], error=(INVALID, SHAPE, "3"), attributes={"perm": [0, 1]})
a, b, c = floats(2, 3), floats(2, 1), floats(2, 2)
case("concat", "axis_1", [a, b, c], np.concatenate([a, b, c], 1), {"axis": 1}, gradient=True)
case("concat", "axis_0", [a, a * 2], np.concatenate([a, a * 2], 0), gradient=True)
case("concat", "negative", [a, c], np.concatenate([a, c], -1), {"axis": -1}, gradient=True)
case("concat", "one", [a], a)
case("concat", "vectors_int64", [np.array([1, 2], I64), np.array([3], I64)], np.array([1, 2, 3], I64))
case("concat", "with_empty", [np.zeros(0, I64), np.array([3], I64)], np.array([3], I64))
case("concat", "strings", [[b"a"], [b"b", b"c"]], [b"a", b"b", b"c"])
case("concat", "other_dimension", [a, floats(3, 3)], error=(INVALID, SHAPE, "dimensions"), attributes={"axis": 1})
case("concat", "scalars", [F32(1), F32(2)], error=(INVALID, SHAPE, "0"))
case("concat", "dtypes", [a, a.astype(F64)], error=(INVALID, DTYPE, "dtype"))
a, b = floats(2, 3), floats(2, 3)
for axis in (0, 1, 2, -1):
    case("stack", "axis_%d" % axis, [a, b], np.stack([a, b], axis), {"axis": axis}, gradient=True)
case("stack", "scalars", [I64(1), I64(2), I64(3)], np.array([1, 2, 3], I64))
case("stack", "scalars_int32", [I32(1), I32(2)], np.array([1, 2], I32))
case("stack", "scalars_uint8", [U8(1), U8(2)], np.array([1, 2], U8))
case("stack", "strings", [b"a", b"b"], [b"a", b"b"])
case("stack", "shapes_differ", [floats(2), floats(3)], error=(INVALID, SHAPE, "shapes"))
x = floats(3, 4, 2)
for name, begin, size in (("inside", [1, 1, 0], [1, 2, 2]), ("rest", [1, 0, 1], [-1, -1, -1]), ("rows", [1, 0, 0], [2, 4, 2]), ("nothing", [3, 0, 0], [0, 4, 2])):
    stop = [b + s if s >= 0 else d for b, s, d in zip(begin, size, x.shape)]
    part = x[begin[0]:stop[0], begin[1]:stop[1], begin[2]:stop[2]]
    case("slice", name, [x], part, {"begin": begin, "size": size}, gradient=True)
    if part.size:
        whole = np.zeros_like(x)
        whole[begin[0]:stop[0], begin[1]:stop[1], begin[2]:stop[2]] = part
        case("slice_grad", name, [part, x], whole, {"begin": begin, "size": size}, gradient=True)
case("slice", "strings", [[b"a", b"b", b"c"]], [b"b", b"c"], {"begin": [1], "size": [2]})
case("slice", "scalar", [F32(1)], F32(1), {"begin": [], "size": []})
case("slice", "beyond", [x], error=(INVALID, SHAPE, "1"), attributes={"begin": [0, 3, 0], "size": [1, 2, 1]})
case("slice", "rank", [x], error=(INVALID, SHAPE, "dimension"), attributes={"begin": [0], "size": [1]})
case("slice_grad", "wrong_shape", [floats(2, 2, 2), x], error=(INVALID, SHAPE, "[2, 2, 2]"), attributes={"begin": [0, 0, 0], "size": [1, 1, 1]})
i = np.array([[2, 0], [1, 2]], I32)
case("gather", "axis_0", [x, i], x[i], gradient=True)
case("gather", "axis_1", [x, i.astype(I64)], np.take(x, i, 1), {"axis": 1}, gradient=True)
case("gather", "axis_last", [x, np.array([1, 1, 0], I32)], np.take(x, [1, 1, 0], -1), {"axis": -1}, gradient=True)
case("gather", "scalar_index", [x, I32(1)], x[1], gradient=True)
case("gather", "strings", [[b"a", b"b"], np.array([1, 0, 1], I64)], [b"b", b"a", b"b"])
case("gather", "no_index", [x, np.zeros(0, I32)], np.zeros((0, 4, 2), F32))
case("gather", "outside", [floats(3), np.array([0, 3], I32)], error=(INVALID, VALUE, "3"))
case("gather", "negative", [floats(3), np.array([0, -1], I32)], error=(INVALID, VALUE, "-1"))
case("gather", "float_index", [floats(3), F32(0)], error=(INVALID, DTYPE, "indices"))
g = floats(2, 2, 4, 2)
whole = np.zeros_like(x)
np.add.at(whole, i, g)
case("gather_grad", "axis_0", [g, x, i], whole, tolerance=1e-6, gradient=True)
g = floats(3, 4, 3)
whole = np.zeros_like(x)
for place, index in enumerate([1, 1, 0]):
    whole[:, :, index] += g[:, :, place]
case("gather_grad", "axis_last", [g, x, np.array([1, 1, 0], I32)], whole, {"axis": -1}, tolerance=1e-6, gradient=True)
case("gather_grad", "outside", [floats(2), floats(3), np.array([0, 5], I32)], error=(INVALID, VALUE, "5"))

# The places are TensorFlow's, recorded; the last of a range of 65537 stays, where TensorFlow gives the place of the first again.
U32, U64, pair = np.uint32, np.uint64, np.array([1, 2], I32)
case("index_shuffle", "scalars", [I32(3), pair, I32(9)], I32(4))
case("index_shuffle", "many", [np.arange(10), np.array([5, 9], I32), I64(9)], np.array([8, 0, 6, 3, 1, 5, 4, 7, 2, 9]))
case("index_shuffle", "own_seeds", [I64([3, 4]), I64([[1, 2], [3, 4]]), I64(9)], I64([4, 7]))
case("index_shuffle", "own_ranges", [U32(2), I64([7, -3]), U32([2, 70000, 3000000000])], U32([0, 42062, 1972213021]))
case("index_shuffle", "all_own", [U64([3, 4]), U32([[1, 2], [3, 4]]), U64([9, 2**63])], U64([4, 5205634604416827522]))
case("index_shuffle", "wide_seeds", [np.arange(5), I64([2**33 + 5, -3]), I64(4)], I64([1, 3, 2, 0, 4]))
case("index_shuffle", "one", [I32([0, 0]), pair, I32([0, 0])], I32([0, 0]))
case("index_shuffle", "lossy_range", [I64([65536, 0, 65535]), pair, I64(65536)], I64([65536, 55891, 15003]))
case("index_shuffle", "beyond", [I32([4, 12]), pair, I32(9)], error=(INVALID, VALUE, "max_index"))
case("index_shuffle", "negative", [I64(-1), pair, I64(9)], error=(INVALID, VALUE, "-1"))
case("index_shuffle", "negative_range", [I64(0), pair, I64(-1)], error=(INVALID, VALUE, "max_index"))
case("index_shuffle", "three_seeds", [I32(1), I32([1, 2, 3]), I32(9)], error=(INVALID, SHAPE, "[3]"))
case("index_shuffle", "matrix", [I32([[3, 4]]), pair, I32(9)], error=(INVALID, SHAPE, "index"))
case("index_shuffle", "nothing", [np.zeros(0, I32), pair, I32(9)], error=(INVALID, SHAPE, "[0]"))
case("index_shuffle", "lengths_differ", [I32([3, 4]), pair, I32([9, 9, 9])], error=(INVALID, SHAPE, "max_index"))
case("index_shuffle", "dtypes_differ", [I32(1), pair, I64(9)], error=(INVALID, DTYPE, "dtype"))
case("index_shuffle", "int16", [np.int16(1), pair, np.int16(9)], error=(INVALID, DTYPE, "int16"))
case("index_shuffle", "float_seed", [I32(1), np.ones(2, F32), I32(9)], error=(INVALID, DTYPE, "float32"))
case("shape", "int32", [x], np.array([3, 4, 2], I32))
case("shape", "int64", [x], np.array([3, 4, 2], I64), {"out_type": "int64"})
case("shape", "scalar", [b"x"], np.zeros(0, I32))
case("shape", "float", [x], error=(INVALID, DTYPE, "out_type"), attributes={"out_type": "float32"})
case("size", "int32", [x], I32(24))
case("size", "int64", [[b"a", b"b"]], I64(2), {"out_type": "int64"})
case("size", "empty", [np.zeros((0, 4), F32)], I32(0))
case("size", "float", [x], error=(INVALID, DTYPE, "out_type"), attributes={"out_type": "float32"})
for t in INTS + [F32, F64, bool]:
    case("zeros_like", np.dtype(t).name, [np.ones((2, 2), t)], np.zeros((2, 2), t))
    case("ones_like", np.dtype(t).name, [np.zeros((2, 2), t)], np.ones((2, 2), t))
case("zeros_like", "string", [[b"a", b"b"]], [b"", b""])
case("zeros_like", "scalar", [F32(4)], F32(0))
case("ones_like", "float16", [Half("float16", [4, 5])], Half("float16", [1, 1]))
case("ones_like", "string", [b"a"], error=(INVALID, DTYPE, "string"))
b = floats(3)
case("broadcast_like", "vector", [b, floats(2, 3)], np.broadcast_to(b, (2, 3)).copy(), gradient=True)
b = floats(2, 1)
case("broadcast_like", "column", [b, floats(4, 2, 3)], np.broadcast_to(b, (4, 2, 3)).copy(), gradient=True)
case("broadcast_like", "scalar_string", [b"a", [b"x", b"y"]], [b"a", b"a"])
case("broadcast_like", "no_fit", [floats(3), floats(2)], error=(INVALID, SHAPE, "broadcast"))
b = floats(4, 2, 3)
case("sum_like", "column", [b, floats(2, 1)], b.sum(0).sum(-1, keepdims=True), tolerance=1e-6, gradient=True)
case("sum_like", "vector", [b, floats(3)], b.sum((0, 1)), tolerance=1e-6, gradient=True)
case("sum_like", "scalar", [b, F32(0)], b.sum(), tolerance=1e-6, gradient=True)
case("sum_like", "same", [b, b], b)
case("sum_like", "int64", [np.arange(6, dtype=I64).reshape(2, 3), np.zeros(3, I64)], np.array([3, 5, 7], I64))
case("sum_like", "no_fit", [floats(3), floats(2, 3)], error=(INVALID, SHAPE, "down"))

# ---- making tensors ----
case("fill", "matrix", [np.array([2, 3], I32), F32(1.5)], np.full((2, 3), 1.5, F32), gradient=True)
case("fill", "vector_int64", [np.array([4], I64), I64(7)], np.full(4, 7, I64))
case("fill", "scalar", [np.zeros(0, I32), F32(2)], F32(2))
case("fill", "empty", [np.array([0, 3], I32), F32(2)], np.zeros((0, 3), F32))
case("fill", "string", [np.array([3], I32), b"ab"], [b"ab", b"ab", b"ab"])
case("fill", "bool", [np.array([3], I32), np.bool_(True)], np.array([True, True, True]))
case("fill", "negative", [np.array([-1], I32), F32(2)], error=(INVALID, SHAPE, "0"))
case("fill", "huge", [np.array([2**62, 2**62], I64), F32(2)], error=(INVALID, SHAPE, "memory"))
case("fill", "float_shape", [np.array([1], F32), F32(2)], error=(INVALID, DTYPE, "shape"))
for t in (I32, I64, F32, F64):
    case("range", "up_" + np.dtype(t).name, [t(2), t(11), t(3)], np.array([2, 5, 8], t))
    case("range", "down_" + np.dtype(t).name, [t(5), t(0), t(-2)], np.array([5, 3, 1], t))
    case("range", "none_" + np.dtype(t).name, [t(5), t(5), t(1)], np.zeros(0, t))
case("range", "fractions", [F32(0), F32(1), F32(0.25)], np.array([0, 0.25, 0.5, 0.75], F32))
case("range", "end_kept_out", [I64(0), I64(6), I64(3)], np.array([0, 3], I64))
case("range", "widest", [I64(-(2**63)), I64(2**63 - 1), I64(2**62)], np.array([-(2**63), -(2**62), 0, 2**62], I64))
case("range", "away", [I32(5), I32(0), I32(1)], error=(INVALID, VALUE, "never"))
case("range", "no_step", [I32(0), I32(3), I32(0)], error=(INVALID, VALUE, "delta"))
case("range", "too_long", [I64(0), I64(2**62), I64(1)], error=("RESOURCE_EXHAUSTED", NONE, "long"))
case("range", "dtypes", [I32(0), I64(3), I32(1)], error=(INVALID, DTYPE, "dtype"))
case("one_hot", "vector", [np.array([0, 2, 1, 3, -1], I64)], np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 0]], F32), {"depth": 3})
case("one_hot", "scalar", [I32(1)], np.array([0, 1], F32), {"depth": 2})
for t in INTS + [F64, bool]:
    case("one_hot", np.dtype(t).name, [U8(1)], np.array([0, 1, 0], t), {"depth": 3, "dtype": np.dtype(t).name})
case("one_hot", "float16", [I32(0)], Half("float16", [1, 0]), {"depth": 2, "dtype": "float16"})
case("one_hot", "bfloat16", [I32(0)], Half("bfloat16", [1, 0]), {"depth": 2, "dtype": "bfloat16"})
case("one_hot", "matrix", [np.array([[0], [1]], I32)], np.array([[[1, 0]], [[0, 1]]], F32), {"depth": 2})
case("one_hot", "no_depth", [np.array([0], I32)], np.zeros((1, 0), F32), {"depth": 0})
case("one_hot", "float_index", [F32(0)], error=(INVALID, DTYPE, "index"), attributes={"depth": 2})
case("one_hot", "negative_depth", [I32(0)], error=(INVALID, VALUE, "depth"), attributes={"depth": -2})

# ---- reductions ----
x, d = floats(2, 3, 4), distinct(2, 3, 4)
for op, f, data in (("reduce_sum", np.sum, x), ("reduce_mean", np.mean, x), ("reduce_max", np.max, d)):
    for name, axis in (("all", None), ("first", 0), ("middle", 1), ("last", 2), ("two", (0, 2)), ("inner", (1, 2)), ("outer", (0, 1))):
        for keep in (False, True):
            attributes = {"keepdims": True} if keep else {}
            if axis is not None:
                attributes["axis"] = [axis] if isinstance(axis, int) else list(axis)
            out = np.asarray(f(data.astype(F64), axis=axis, keepdims=keep)).astype(F32)
            case(op, name + ("_keep" if keep else ""), [data], out, attributes or None, tolerance=1e-6, gradient=True)
    case(op, "negative_axis", [data], f(data.astype(F64), axis=-1).astype(F32), {"axis": [-1]}, tolerance=1e-6)
    case(op, "scalar", [F32(3)], F32(3), gradient=True)
    case(op, "ones_between", [data.reshape(2, 1, 3, 1, 4)], f(data.astype(F64).reshape(2, 1, 3, 1, 4), axis=(1, 4)).astype(F32), {"axis": [1, 4]}, tolerance=1e-6, gradient=True)
    for t in INTS:
        a = np.array([[1, 2, 3], [4, 6, 9]], t)
        out = f(a.astype(I64), axis=1)
        case(op, np.dtype(t).name, [a], np.trunc(out).astype(t), {"axis": [1]})
    case(op, "float16", [Half("float16", [1, 2, 4.5])], Half("float16", [f(np.array([1, 2, 4.5]))], []), tolerance=1e-3)
    case(op, "float64", [data.astype(F64)], np.asarray(f(data.astype(F64))), tolerance=1e-12)
    case(op, "axis_outside", [data], error=(INVALID, SHAPE, "3"), attributes={"axis": [3]})
    case(op, "axis_twice", [data], error=(INVALID, VALUE, "twice"), attributes={"axis": [0, -3]})
    case(op, "string", [b"x"], error=(INVALID, DTYPE, "string"))
sum_of_squares_cases(x)
case("reduce_sum", "wraps", [np.array([2**31 - 1, 1], I32)], I32(-(2**31)))
case("reduce_sum", "wraps_int64", [np.array([2**63 - 1, 1], I64)], I64(-(2**63)))
case("reduce_sum", "empty", [np.zeros((0, 3), F32)], np.zeros(3, F32), {"axis": [0]})
case("reduce_sum", "long", [np.full(3000, 0.1, F32)], F32(np.sum(np.full(3000, F32(0.1), F64))), tolerance=1e-7)
case("reduce_mean", "empty", [np.zeros((0, 2), F32)], np.array([np.nan, np.nan], F32), {"axis": [0]})
case("reduce_mean", "negative_ints", [np.array([-3, -4], I64)], I64(-3))
case("reduce_max", "empty", [np.zeros((0, 2), F32)], np.array([-np.inf, -np.inf], F32), {"axis": [0]})
case("reduce_max", "nan", [np.array([1, np.nan, 3], F32)], F32(np.nan))
case("reduce_max", "extremes_uint64", [np.array([2**64 - 1, 5], np.uint64)], np.uint64(2**64 - 1))
case("reduce_max", "extremes_int64", [np.array([-(2**63), -(2**63)], I64)], I64(-(2**63)))
for axis in (0, 1, 2, -1):
    case("argmax", "axis_%d" % axis, [d], np.argmax(d, axis), {"axis": axis})
case("argmax", "ties", [np.array([[1, 3, 3], [2, 2, 1]], F32)], np.array([1, 0], I32), {"axis": 1, "output_type": "int32"})
for t in INTS + [F64]:
    case("argmax", np.dtype(t).name, [np.array([3, 9, 4], t)], I64(1))
case("argmax", "empty", [np.zeros((0, 2), F32)], error=(INVALID, SHAPE, "empty"))
case("argmax", "scalar", [F32(1)], error=(INVALID, SHAPE, "0"))
case("argmax", "bool", [np.array([False, True])], I64(1))

from op_nn_cases import conv  # noqa: E402: in this place, as cases follow each other in the stream of random numbers

# ---- random: Philox4x32-10 as the paper and TensorFlow have it ----


w = words(87654321, 7, 2)
case("random_uniform", "float32", [], np.array([unit(x) for x in w[:6]], F32).reshape(2, 3), {"shape": [2, 3], "seed": 7})
case("random_uniform", "range", [], np.array([unit(x) * F32(4) + F32(-1) for x in w[:3]], F32), {"shape": [3], "seed": 7, "minval": -1.0, "maxval": 3.0}, tolerance=1e-7)
case("random_uniform", "wide", [], np.array([unit64(w[0], w[1]), unit64(w[2], w[3]), unit64(w[4], w[5])], F64), {"shape": [3], "seed": 7, "dtype": "float64"})
case("random_uniform", "scalar", [], unit(words(87654321, 3, 1)[0]), {"shape": [], "seed": 3})
case("random_uniform", "empty", [], np.zeros((0, 2), F32), {"shape": [0, 2], "seed": 3})
case("random_normal", "float32", [], np.array(normals(w[:6]), F32)[:5], {"shape": [5], "seed": 7}, tolerance=3e-7)
case("random_normal", "moved", [], np.array(normals(w[:4]), F32) * F32(2) + F32(5), {"shape": [4], "seed": 7, "mean": 5.0, "stddev": 2.0}, tolerance=3e-7)
for op in ("random_uniform", "random_normal"):
    case(op, "open_shape", [], error=(INVALID, SHAPE, "dimensions"), attributes={"shape": [-1]})
    case(op, "integers", [], error=(INVALID, DTYPE, "float32"), attributes={"shape": [2], "dtype": "uint8"})

# ---- strings ----
case("as_string", "values", [np.array([0, -5, 2**63 - 1, -(2**63)], I64)], [b"0", b"-5", b"9223372036854775807", b"-9223372036854775808"])
for t in INTS:
    info = np.iinfo(t)
    case("as_string", np.dtype(t).name, [np.array([info.min, info.max], t)], [str(info.min).encode(), str(info.max).encode()])
case("as_string", "float32", [np.array([3.14159274, -0.5, np.nan, np.inf], F32)], [b"3.141593", b"-0.500000", b"nan", b"inf"])
case("as_string", "large", [F64(1e20)], b"100000000000000000000.000000")
case("as_string", "bool", [np.array([True, False])], [b"true", b"false"])
case("as_string", "empty", [np.zeros(0, I64)], np.zeros(0, object))
case("as_string", "string", [b"x"], b"x")
case("string_join", "two", [[b"a", b"b"], [b"x", b""]], [b"ax", b"b"])
case("string_join", "separator", [[b"a", b"b"], b"-", [b"c", b"d"]], [b"a, -, c", b"b, -, d"], {"separator": ", "})
case("string_join", "scalars", [b"a", b"b\x00c"], b"ab\x00c")
case("string_join", "one", [[b"a"]], [b"a"])
case("string_join", "shapes", [[b"a", b"b"], [b"c", b"d", b"e"]], error=(INVALID, SHAPE, "shape"))
case("string_join", "numbers", [b"a", I32(1)], error=(INVALID, DTYPE, "string"))
case("string_upper", "values", [[b"abcXYZ 019", b"", b"\xc3\xa4z"]], [b"ABCXYZ 019", b"", b"\xc3\xa4Z"])
case("string_upper", "scalar", [b"az{`"], b"AZ{`")
case("string_upper", "numbers", [I32(1)], error=(INVALID, DTYPE, "string"))
case("string_length", "values", [[b"abc", b"", b"\x00\x01"]], np.array([3, 0, 2], I32))
case("string_length", "scalar", [b"four"], I32(4))
case("string_length", "numbers", [I32(1)], error=(INVALID, DTYPE, "string"))
case("string_to_number", "int64", [[b"12", b" -7 ", b"+3", b"9223372036854775807", b"-9223372036854775808"]], np.array([12, -7, 3, 2**63 - 1, -(2**63)], I64), {"out_type": "int64"})
case("string_to_number", "int32", [b"-2147483648"], I32(-(2**31)), {"out_type": "int32"})
case("string_to_number", "float32", [[b"1.5", b"-2e3", b"nan", b"inf", b"0.1"]], np.array([1.5, -2000, np.nan, np.inf, 0.1], F32))
case("string_to_number", "float64", [b"0.1"], F64(0.1), {"out_type": "float64"})
for name, data in (("empty", b""), ("words", b"seven"), ("behind", b"7x"), ("sign", b"-"), ("large", b"2147483648"), ("fraction", b"1.5")):
    case("string_to_number", name, [data], error=(INVALID, VALUE, "int32"), attributes={"out_type": "int32"})
case("string_to_number", "too_large", [b"9223372036854775808"], error=(INVALID, VALUE, "int64"), attributes={"out_type": "int64"})
case("string_to_number", "hexadecimal", [b"0x10"], F32(16))
case("decode_raw", "int32", [np.array([1, -2, 3], "<i4").tobytes()], np.array([1, -2, 3], I32), {"out_type": "int32"})
case("decode_raw", "rows", [[b"\x01\x02", b"\x03\x04"]], np.array([[1, 2], [3, 4]], U8), {"out_type": "uint8"})
case("decode_raw", "nothing", [b""], np.zeros(0, F32), {"out_type": "float32"})
case("decode_raw", "odd", [b"abc"], error=(INVALID, VALUE, "2"), attributes={"out_type": "int16"})
case("decode_raw", "lengths", [[b"ab", b"abcd"]], error=(INVALID, VALUE, "length"), attributes={"out_type": "int16"})
for t in (F32, I64, bool):
    v = np.array([1, 0, 1]).astype(t)
    case("assert", np.dtype(t).name, [np.bool_(True), v], v, gradient=True)
case("assert", "strings", [np.array([True, True]), [b"a", b"b"]], [b"a", b"b"])
case("assert", "two_values", [np.bool_(True), F32(1), I32(2)], (F32(1), I32(2)))
case("assert", "fails", [np.bool_(False), F32(1)], error=(INVALID, NONE, "small"), attributes={"message": "too small"})
case("assert", "other_code", [np.array([True, False]), F32(1)], error=("OUT_OF_RANGE", NONE, "stop"), attributes={"message": "stop", "code": "OUT_OF_RANGE"})
case("assert", "unknown_code", [np.bool_(True), F32(1)], error=(INVALID, VALUE, "NO_SUCH"), attributes={"code": "NO_SUCH"})
case("assert", "no_bool", [F32(1), F32(1)], error=(INVALID, DTYPE, "condition"))

# ---- tf.train.Example ----


full = example(label=("int64", [-3]), image=("bytes", [b"\x89PNG"]), weights=("float", [1.5, -2, 0.25, 8]))
attributes = {"features": specs(label=("int64", []), image=("string", []), weights=("float32", [2, 2]))}
case("parse_example", "all", [full], (b"\x89PNG", I64(-3), np.array([[1.5, -2], [0.25, 8]], F32)), attributes)
case("parse_example", "one", [full], I64(-3), {"features": specs(label=("int64", []))})
attributes = {"features": specs(label=("int64", []), name=("string", [2])), "defaults": {"dict": {"label": {"dtype": "int64", "shape": [], "data": [9]}, "name": {"dtype": "string", "shape": [], "data": ["none"]}}}}
case("parse_example", "defaults", [example()], (I64(9), [b"none", b"none"]), attributes)
case("parse_example", "no_default_used", [example(label=("int64", [4]), name=("bytes", [b"a", b"b"]))], (I64(4), [b"a", b"b"]), attributes)
attributes = {"features": specs(ids=("int64", [-1]), pairs=("float32", [-1, 2]))}
case("parse_example", "sequences", [example(ids=("int64", [5, 6, 7]), pairs=("float", [1, 2, 3, 4]))], (np.array([5, 6, 7], I64), np.array([[1, 2], [3, 4]], F32)), attributes)
case("parse_example", "missing_sequences", [example()], (np.zeros(0, I64), np.zeros((0, 2), F32)), attributes)
attributes = {"features": specs(label=("int64", []))}
case("parse_example", "missing", [example()], error=(INVALID, VALUE, "label"), attributes=attributes)
case("parse_example", "other_dtype", [example(label=("float", [1]))], error=(INVALID, DTYPE, "label"), attributes=attributes)
case("parse_example", "other_count", [example(label=("int64", [1, 2]))], error=(INVALID, SHAPE, "label"), attributes=attributes)
case("parse_example", "no_example", [b"\xff\xff\xff"], error=(INVALID, VALUE, "0"), attributes=attributes)
case("parse_example", "bad_spec", [full], error=(INVALID, STRUCTURE, "label"), attributes={"features": specs(label=("int32", []))})

# ---- pictures ----
x = np.arange(2 * 3 * 2, dtype=U8).reshape(2, 3, 2)
case("flip_left_right", "picture", [x], x[:, ::-1].copy())
x4 = floats(2, 2, 3, 1)
case("flip_left_right", "batch", [x4], x4[:, :, ::-1].copy(), gradient=True)
case("flip_left_right", "nothing", [np.zeros((0, 3, 1), U8)], np.zeros((0, 3, 1), U8))
case("flip_left_right", "matrix", [floats(2, 2)], error=(INVALID, SHAPE, "2"))

RNG.randint(0, 256, (5, 4, 3)), floats(2, 3, 5, 1), floats(3, 3)  # what follows keeps its numbers
a = np.array([0, 1, 100, 255], U8)
case("convert_image_dtype", "uint8_to_float32", [a], a.astype(F32) * F32(1 / 255), {"dtype": "float32"}, tolerance=1e-7)
case("convert_image_dtype", "uint8_to_uint16", [a], a.astype(np.uint16) * 256, {"dtype": "uint16"})
case("convert_image_dtype", "uint16_to_uint8", [np.array([0, 255, 256, 65535], np.uint16)], np.array([0, 0, 1, 255], U8), {"dtype": "uint8"})
f = np.array([0, 0.5, 0.999, 1.0], F32)
case("convert_image_dtype", "float32_to_uint8", [f], (f * F32(255.5)).astype(U8), {"dtype": "uint8"})
case("convert_image_dtype", "saturate", [np.array([-1, 0.5, 2], F32)], np.array([0, 127, 255], U8), {"dtype": "uint8", "saturate": True})
case("convert_image_dtype", "same", [a], a, {"dtype": "uint8"})
case("convert_image_dtype", "float_width", [f], f.astype(F64), {"dtype": "float64"}, gradient=True)
case("convert_image_dtype", "string", [b"x"], error=(INVALID, DTYPE, "string"), attributes={"dtype": "uint8"})

# ---- values passed on ----
y = floats(2, 2)
case("identity", "float32", [y], y, gradient=True)
case("identity", "string", [[b"a", b"b"]], [b"a", b"b"])
case("constant", "float32", [], y, {"value": tensor(y)})
case("constant", "string", [], [b"a", b"b"], {"value": tensor([b"a", b"b"])})
case("constant", "spec", [], y, {"value": tensor(y), "spec": {"dtype": "float32", "shape": [None, None]}})
case("constant", "other_spec", [], error=(INVALID, SHAPE, "float32"), attributes={"value": tensor(y), "spec": {"dtype": "int32", "shape": None}})
case("constant", "no_value", [], error=(INVALID, VALUE, "argument"))

import op_computed_cases  # noqa: E402,F401: families with a file of their own add to the list
import op_math_cases  # noqa: E402,F401
import op_array_cases  # noqa: E402,F401
import op_text_cases  # noqa: E402,F401

# Groups of channels are filters with zeros between the groups.
for name, xs, ws, strides, same in (("groups", (2, 5, 4, 6), (3, 2, 3, 4), (2, 1), True), ("depthwise", (1, 5, 5, 3), (3, 3, 1, 6), (1, 1), False),
                                    ("group_strides", (2, 7, 5, 4), (2, 3, 2, 6), (2, 2), True)):
    x, w = floats(*xs), floats(*ws)
    size, made = ws[2], ws[3] * ws[2] // xs[3]
    whole = np.zeros((*ws[:2], xs[3], ws[3]), F32)
    parts = [(slice(g * size, (g + 1) * size), slice(g * made, (g + 1) * made)) for g in range(xs[3] // size)]
    for channels, filters in parts:
        whole[:, :, channels, filters] = w[:, :, :, filters]
    attributes = {"strides": list(strides), "dilations": [1, 1], "padding": "SAME" if same else "VALID"}
    out = conv(x, whole, strides, (1, 1), same)[0].astype(F32)
    g = floats(*out.shape)
    _, dx, dwhole = conv(x, whole, strides, (1, 1), same, g.astype(F64))
    dw = np.concatenate([dwhole[:, :, channels, filters] for channels, filters in parts], 3)
    case("conv2d", name, [x, w], out, attributes, tolerance=1e-6, gradient=True)
    case("conv2d_backprop_input", name, [x, w, g], dx.astype(F32), attributes, tolerance=1e-6, gradient=True)
    case("conv2d_backprop_filter", name, [x, w, g], dw.astype(F32), attributes, tolerance=1e-6, gradient=True)
case("conv2d", "uneven_groups", [floats(1, 3, 3, 4), floats(2, 2, 2, 3)], error=(INVALID, VALUE, "2"))


# ---- batch normalisation ----

def batch_norm(x, gamma, beta, epsilon):
    wide = x.astype(F64)
    axes = tuple(range(x.ndim - 1))
    mean, variance = wide.mean(axes), wide.var(axes)
    y = (wide - mean) / np.sqrt(variance + epsilon) * gamma + beta
    return y.astype(x.dtype), mean.astype(x.dtype), variance.astype(x.dtype)


def batch_norm_grad(g, x, gamma, mean, variance, epsilon):
    g, x, gamma, mean, variance = (np.asarray(v, F64) for v in (g, x, gamma, mean, variance))
    axes = tuple(range(x.ndim - 1))
    root = 1 / np.sqrt(variance + epsilon)
    h = (x - mean) * root
    dx = gamma * root * (g - g.mean(axes) - h * (g * h).mean(axes))
    return dx.astype(F32), (g * h).sum(axes).astype(F32), g.sum(axes).astype(F32)


for name, shape, epsilon in (("pictures", (2, 3, 4, 5), 0.001), ("rows", (7, 3), 0.5), ("lines", (3, 4, 2), 1.001e-5), ("one_channel", (6, 1), 0.001)):
    x, gamma, beta, g = floats(*shape), floats(shape[-1]), floats(shape[-1]), floats(*shape)
    attributes = {"epsilon": epsilon}
    y, mean, variance = batch_norm(x, gamma, beta, epsilon)
    case("batch_norm", name, [x, gamma, beta], (y, mean, variance), attributes, tolerance=2e-6, gradient=True)
    case("batch_norm_grad", name, [g, x, gamma, mean, variance], batch_norm_grad(g, x, gamma, mean, variance, epsilon), attributes, tolerance=2e-6,
         gradient=True)
x, gamma, beta = floats(5, 2) + F32(100), np.ones(2, F32), np.zeros(2, F32)
case("batch_norm", "far_from_zero", [x, gamma, beta], batch_norm(x, gamma, beta, 0.001), tolerance=2e-5)
case("batch_norm", "no_channels", [np.zeros((3, 0), F32), np.zeros(0, F32), np.zeros(0, F32)], (np.zeros((3, 0), F32), np.zeros(0, F32), np.zeros(0, F32)))
case("batch_norm", "gamma_length", [floats(2, 3), floats(2), floats(3)], error=(INVALID, SHAPE, "gamma"))
case("batch_norm", "gamma_rank", [floats(2, 3), floats(1, 3), floats(3)], error=(INVALID, SHAPE, "rank"))
case("batch_norm", "beta_length", [floats(2, 3), floats(3), floats(2)], error=(INVALID, SHAPE, "beta"))
case("batch_norm", "scalar", [floats(), floats(1), floats(1)], error=(INVALID, SHAPE, "scalar"))
case("batch_norm", "integers", [np.array([[1, 2]], I32), np.array([1, 2], I32), np.array([1, 2], I32)], error=(INVALID, DTYPE, "int32"))
case("batch_norm_grad", "gradient_shape", [floats(3, 2), floats(2, 2), floats(2), floats(2), floats(2)], error=(INVALID, SHAPE, "shapes"))
case("batch_norm_grad", "mean_length", [floats(2, 2), floats(2, 2), floats(2), floats(3), floats(2)], error=(INVALID, SHAPE, "mean"))

recurrent_cases()
TESTED_BY = {
    "tests/conform/ops_state.c": ["all_reduce", "collective_broadcast", "replica_id", "apply_adam", "apply_gradient_descent", "apply_keras_momentum", "read_file"],
    "tests/conform/ops_pictures.c": ["decode_jpeg", "decode_png", "encode_png"],
    "src/graph/ops/replica/all_gather_test.c": ["all_gather", "all_gather_grad"],
    "src/graph/ops/control/computed_test.c": ["computed_gradient"],
    "src/graph/ops/control/cond_test.c": ["cond"], "src/graph/ops/control/custom_gradient_test.c": ["custom_gradient"],
    "src/graph/ops/control/while_test.c": ["while", "while_gradient"],
    "src/graph/callback_test.c": ["call"], "src/graph/ops/parse/files_test.c": ["matching_files", "write_file"],
    "src/graph/function_test.c": ["assign_add_variable", "assign_variable", "read_variable"],
}

write(TESTED_BY)
