"""Cases of elementwise mathematics, bits, reductions and running totals."""
import math

import numpy as np

from op_case_model import DTYPE, F32, F64, I32, I64, INTS, INVALID, SHAPE, U8, VALUE, Half, case, distinct, floats

SIGNED = [np.int8, np.int16, I32, I64]
some = np.array([-1.7, -0.3, 0.4, 1.1, 2.9, -2.2, 0.05], F32)
inside = np.array([-0.9, -0.3, 0.4, 0.05, 0.7, -0.55], F32)
positive = np.array([0.3, 1.0, 2.5, 9.0, 0.01, 100.0], F32)


def each(f):
    return np.vectorize(f, otypes=[F64])


def unary(op, f, x, gradient=True):
    case(op, "values", [x], np.asarray(f(x.astype(F64))).astype(F32), tolerance=1e-6, **({"gradient": True} if gradient else {}))
    case(op, "float64", [x.astype(F64)], np.asarray(f(x.astype(F64)), F64), tolerance=1e-12)
    case(op, "scalar", [x[0]], np.asarray(f(x[:1].astype(F64))).astype(F32)[0], tolerance=1e-6)
    case(op, "matrix", [x[:6].reshape(2, 3)], np.asarray(f(x[:6].astype(F64))).astype(F32).reshape(2, 3), tolerance=1e-6)
    case(op, "empty", [np.zeros((2, 0), F32)], np.zeros((2, 0), F32))
    half = Half("float16", [0.5, 0.25])
    case(op, "float16", [half], Half("float16", np.asarray(f(np.array([0.5, 0.25]))).astype(np.float16)), tolerance=1e-3)
    case(op, "string", [b"x"], error=(INVALID, DTYPE, "string"))
    if op not in ("round", "relu6"):
        case(op, "int32", [I32(1)], error=(INVALID, DTYPE, "int32"))


for op, f, x in (
    ("sin", np.sin, some), ("cos", np.cos, some), ("tan", np.tan, some), ("asin", np.arcsin, inside), ("acos", np.arccos, inside),
    ("atan", np.arctan, some), ("sinh", np.sinh, some), ("cosh", np.cosh, some), ("erf", each(math.erf), some), ("erfc", each(math.erfc), some),
    ("log1p", np.log1p, positive), ("expm1", np.expm1, some), ("reciprocal", lambda x: 1 / x, some), ("softplus", lambda x: np.log1p(np.exp(x)), some),
    ("elu", lambda x: np.where(x < 0, np.expm1(x), x), some), ("relu6", lambda x: np.clip(x, 0, 6), np.concatenate([some, F32([5, 7])])),
):
    unary(op, f, x)
for op, f in (("floor", np.floor), ("ceil", np.ceil), ("rint", np.rint), ("round", np.round)):
    unary(op, f, some, gradient=False)
    edges = np.array([0.5, 1.5, 2.5, -0.5, -1.5, np.inf], F32)
    case(op, "halves", [edges], f(edges))
for t in INTS:
    case("round", np.dtype(t).name, [np.array([np.iinfo(t).min, 5], t)], np.array([np.iinfo(t).min, 5], t))
case("softplus", "far", [np.array([100, -100], F32)], np.array([100, np.exp(-100.0)], F32), tolerance=1e-6)
case("relu6", "nan", [np.array([np.nan], F32)], np.array([np.nan], F32))
strange = np.array([0, np.nan, np.inf, -np.inf, 1e30], F32)
for op, f in (("is_nan", np.isnan), ("is_inf", np.isinf), ("is_finite", np.isfinite)):
    case(op, "float32", [strange], f(strange))
    case(op, "float64", [strange.astype(F64)], f(strange))
    case(op, "float16", [Half("float16", [1, math.nan, math.inf, -math.inf])], f(np.array([1, np.nan, np.inf, -np.inf])))
    case(op, "bfloat16", [Half("bfloat16", [1, math.nan, math.inf, -math.inf])], f(np.array([1, np.nan, np.inf, -np.inf])))
    case(op, "scalar", [F32(2)], f(F32(2)))
    case(op, "int32", [I32(1)], error=(INVALID, DTYPE, "int32"))

# ---- two operands ----


def binary(op, f, a, b, gradient=True, tolerance=1e-6, ints=()):
    more = {"gradient": True} if gradient else {}
    case(op, "same_shape", [a, b], f(a, b), tolerance=tolerance, **more)
    case(op, "broadcast", [a.reshape(-1, 1), b], f(a.reshape(-1, 1), b), tolerance=tolerance, **more)
    case(op, "scalar", [a, b[0]], f(a, b[0]), tolerance=tolerance)
    case(op, "empty", [np.zeros((0, 3), a.dtype), np.ones(3, a.dtype)], np.zeros((0, 3), a.dtype))
    for t in ints:
        p, q = np.array([7, 100, 3, 0], t), np.array([2, 1, 3, 5], t)
        case(op, np.dtype(t).name, [p, q], f(p, q).astype(t))
    case(op, "dtypes_differ", [a, I32(1) if a.dtype != I32 else I64(1)], error=(INVALID, DTYPE, "dtype"))
    case(op, "shapes_differ", [a[:2], b[:3]], error=(INVALID, SHAPE, "broadcast"))


u, w = floats(4), np.array([1.3, -0.7, 0.4, -2.0], F32)
with np.errstate(all="ignore"):
    binary("squared_difference", lambda x, y: (x - y) * (x - y), u, w, ints=SIGNED + [U8])
    binary("divide_no_nan", lambda x, y: np.where(y == 0, F32(0), x / y), u, w)
    case("divide_no_nan", "by_zero", [np.array([1, 0, np.inf], F32), np.zeros(3, F32)], np.zeros(3, F32))
    binary("multiply_no_nan", lambda x, y: np.where(y == 0, F32(0), x * y), u, w)
    case("multiply_no_nan", "by_zero", [np.array([1, np.nan, np.inf], F32), np.zeros(3, F32)], np.zeros(3, F32))
    binary("atan2", np.arctan2, u, w)
    case("atan2", "quadrants", [np.array([1, 1, -1, -1, 0], F32), np.array([1, -1, 1, -1, -1], F32)], np.arctan2(F32([1, 1, -1, -1, 0]), F32([1, -1, 1, -1, -1])), tolerance=1e-6)
    base = np.array([0.5, 1.5, 2.0, 3.0], F32)
    binary("pow", np.power, base, w, tolerance=2e-6)
    for t in SIGNED:
        p, q = np.array([2, -3, 7, 0, 5], t), np.array([5, 3, 0, 0, 1], t)
        case("pow", np.dtype(t).name, [p, q], np.power(p, q))
    case("pow", "wraps", [I32(3), I32(30)], np.power(np.array(3, I32), np.array(30, I32)))
    case("pow", "negative_base", [np.array([-2, -2, 0], F32), np.array([3, 2, 0], F32)], np.array([-8, 4, 1], F32))
    case("pow", "negative_integer", [np.array([2, 3], I32), np.array([1, -1], I32)], error=(INVALID, VALUE, "negative"))
    case("pow", "uint8", [U8(1), U8(1)], error=(INVALID, DTYPE, "uint8"))
for op, f in (("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor)):
    for t in INTS:
        p, q = np.array([np.iinfo(t).max, np.iinfo(t).min, 0x55, 12], t), np.array([0x0F, 0x33, 0x2A, 10], t)
        case(op, np.dtype(t).name, [p, q], f(p, q))
    case(op, "broadcast", [I32([[12], [5]]), I32([1, 4, 9])], f(I32([[12], [5]]), I32([1, 4, 9])))
    case(op, "float32", [F32(1), F32(1)], error=(INVALID, DTYPE, "float32"))
for t in INTS:
    bits = 8 * np.dtype(t).itemsize
    p, q = np.array([1, 3, np.iinfo(t).max, np.iinfo(t).min, 5, 6], t), np.array([0, 2, 1, 1, bits - 1, 100], t)
    clamped = np.clip(q.astype(object), 0, bits - 1)
    left = np.array([(int(x) << int(y)) & (2**bits - 1) for x, y in zip(p, clamped)], object)
    left = np.array([x - 2**bits if np.iinfo(t).min < 0 and x >= 2 ** (bits - 1) else x for x in left], object).astype(t)
    case("left_shift", np.dtype(t).name, [p, q], left)
    case("right_shift", np.dtype(t).name, [p, q], np.array([int(x) >> int(y) for x, y in zip(p, clamped)], object).astype(t))
    case("invert", np.dtype(t).name, [p], np.invert(p))
for op in ("left_shift", "right_shift"):
    case(op, "negative", [I32([8, 9]), I32([-1, -100])], I32([8, 9]))
    case(op, "float32", [F32(1), F32(1)], error=(INVALID, DTYPE, "float32"))
case("invert", "float32", [F32(1)], error=(INVALID, DTYPE, "float32"))
p, q = np.array([True, True, False, False]), np.array([True, False, True, False])
case("logical_xor", "table", [p, q], p ^ q)
case("logical_xor", "broadcast", [p[:, None], q], p[:, None] ^ q)
case("logical_xor", "numbers", [I32(1), I32(0)], error=(INVALID, DTYPE, "int32"))
a, b = np.array([7, -7, 7, -7, 6, 0], I64), np.array([3, 3, -3, -3, -3, 5], I64)
case("truncatediv", "signs", [a, b], np.array([2, -2, -2, 2, -2, 0], I64))
case("truncatemod", "signs", [a, b], np.array([1, -1, 1, -1, 0, 0], I64))
for t in INTS:
    p = np.array([np.iinfo(t).max, np.iinfo(t).min, 7, 100], t)
    for d in (3, 4):
        quotient = [abs(int(x)) // d * (-1 if x < 0 else 1) for x in p]
        case("truncatediv", "%s_by_%d" % (np.dtype(t).name, d), [p, t(d)], np.array(quotient, object).astype(t))
        case("truncatemod", "%s_by_%d" % (np.dtype(t).name, d), [p, t(d)], np.array([int(x) - y * d for x, y in zip(p, quotient)], object).astype(t))
case("truncatemod", "float32", [F32([7.5, -7.5, 7.5, -7.5]), F32([2, 2, -2, -2])], F32([1.5, -1.5, 1.5, -1.5]))
case("truncatemod", "float64", [F64([7.5, -7.5]), F64([2, 2])], F64([1.5, -1.5]))
case("truncatediv", "bool", [np.array([True]), np.array([True])], error=(INVALID, DTYPE, "bool"))
for op in ("truncatediv", "truncatemod"):
    case(op, "by_zero", [I64([7, 8, 9]), I64([3, 0, 1])], error=(INVALID, VALUE, "division"))

# ---- three operands, and many ----
t = F32([-3, -0.5, 0.2, 1.5, 4, np.nan])
case("clip_by_value", "scalars", [t, F32(-1), F32(2)], F32([-1, -0.5, 0.2, 1.5, 2, np.nan]))
x = distinct(2, 3)
case("clip_by_value", "broadcast", [x, F32([-1.1, -0.7, -0.3]), F32([[0.25], [0.45]])], np.clip(x, F32([-1.1, -0.7, -0.3]), F32([[0.25], [0.45]])), gradient=True)
for k in INTS:
    v = np.array([0, 5, 9, 100], k)
    case("clip_by_value", np.dtype(k).name, [v, k(3), k(9)], np.clip(v, k(3), k(9)))
case("clip_by_value", "float16", [Half("float16", [0, 1, 2]), Half("float16", [0.5], []), Half("float16", [1.5], [])], Half("float16", [0.5, 1, 1.5]))
case("clip_by_value", "float64", [F64([0, 1, 2]), F64(0.5), F64(1.5)], F64([0.5, 1, 1.5]))
case("clip_by_value", "dtypes_differ", [F32(1), I32(0), I32(2)], error=(INVALID, DTYPE, "dtype"))
a, b, c = floats(2, 3), floats(2, 3), floats(2, 3)
case("add_n", "three", [a, b, c], a + b + c, gradient=True, tolerance=1e-6)
case("add_n", "one", [a], a, gradient=True)
case("add_n", "int32", [I32([1, 2]), I32([3, 4]), I32([5, 6])], I32([9, 12]))
case("add_n", "scalars", [F64(1), F64(2)], F64(3))
case("add_n", "empty", [np.zeros((0, 2), F32)] * 2, np.zeros((0, 2), F32))
case("add_n", "shapes_differ", [a, floats(3, 2)], error=(INVALID, SHAPE, "shapes"))
case("add_n", "dtypes_differ", [a, I32(1)], error=(INVALID, DTYPE, "dtype"))
case("add_n", "string", [b"a", b"b"], error=(INVALID, DTYPE, "string"))

# ---- reductions ----
x = distinct(2, 3, 4)
AXES = ((None, "all"), ([0], "first"), ([1], "middle"), ([-1], "last"), ([0, 2], "outer"))
for op, f in (("reduce_min", np.min), ("reduce_prod", np.prod)):
    for axes, name in AXES:
        for keep in (False, True):
            attributes = {**({"axis": axes} if axes else {}), **({"keepdims": True} if keep else {})}
            expected = f(x.astype(F64), axis=tuple(axes) if axes else None, keepdims=keep)
            case(op, name + ("_kept" if keep else ""), [x], np.asarray(expected).astype(F32), attributes, tolerance=1e-6, **({"gradient": True} if op == "reduce_min" else {}))
    for k in INTS:
        v = np.array([[7, 2], [3, 4]], k)
        case(op, np.dtype(k).name, [v], f(v, axis=0).astype(k), {"axis": [0]})
    case(op, "float16", [Half("float16", [2, 0.5, 3])], Half("float16", [float(f(np.array([2, 0.5, 3])))], []))
    case(op, "string", [b"x"], error=(INVALID, DTYPE, "string"))
    case(op, "outside", [x], error=(INVALID, SHAPE, "3"), attributes={"axis": [3]})
case("reduce_min", "nan", [F32([1, np.nan, 2])], F32(np.nan))
case("reduce_min", "of_nothing", [np.zeros((0, 2), F32)], F32([np.inf, np.inf]), {"axis": [0]})
for k in INTS:
    case("reduce_min", "of_nothing_" + np.dtype(k).name, [np.zeros(0, k)], k(np.iinfo(k).max))
case("reduce_prod", "of_nothing", [np.zeros((0, 2), F32)], F32([1, 1]), {"axis": [0]})
m = np.array([[True, False, True], [False, False, True]])
for op, f in (("reduce_any", np.any), ("reduce_all", np.all)):
    for axes, name in ((None, "all"), ([0], "columns"), ([1], "rows")):
        case(op, name, [m], f(m, axis=tuple(axes) if axes else None), {"axis": axes} if axes else None)
        case(op, name + "_kept", [m], f(m, axis=tuple(axes) if axes else None, keepdims=True), {**({"axis": axes} if axes else {}), "keepdims": True})
    case(op, "of_nothing", [np.zeros(0, bool)], np.bool_(op == "reduce_all"))
    case(op, "numbers", [I32([1])], error=(INVALID, DTYPE, "int32"))
y = distinct(3, 4)
for axis in (0, 1, -1):
    case("argmin", "axis_%d" % axis, [y], np.argmin(y, axis).astype(I64), {"axis": axis})
case("argmin", "ties", [F32([2, 1, 1])], I64(1))
case("argmin", "int32_result", [y], np.argmin(y, 1).astype(I32), {"axis": 1, "output_type": "int32"})
for k in INTS + [F64]:
    case("argmin", np.dtype(k).name, [np.array([3, 1, 2], k)], I64(1))
case("argmin", "empty", [np.zeros((0, 2), F32)], error=(INVALID, SHAPE, "empty"))
case("argmin", "string", [[b"x"]], error=(INVALID, DTYPE, "string"))

# ---- running totals ----
x = floats(2, 3, 2)
for op, f, start in (("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1)):
    for axis in (0, 1, -1):
        for exclusive in (False, True):
            for reverse in (False, True):
                v = np.flip(x, axis) if reverse else x
                r = f(v, axis)
                if exclusive:
                    r = np.concatenate([np.full_like(r.take([0], axis), start), r.take(range(r.shape[axis] - 1), axis)], axis)
                r = np.flip(r, axis) if reverse else r
                name = "axis_%d%s%s" % (axis, "_exclusive" if exclusive else "", "_reverse" if reverse else "")
                case(op, name, [x], np.ascontiguousarray(r), {"axis": axis, "exclusive": exclusive, "reverse": reverse}, tolerance=1e-6, **({"gradient": True} if op == "cumsum" else {}))
    for k in INTS:
        with np.errstate(over="ignore"):
            case(op, np.dtype(k).name, [np.array([100, 50, 3], k)], f(np.array([100, 50, 3], k), dtype=k))
    case(op, "float64", [F64([1.5, 2])], f(F64([1.5, 2])))
    case(op, "float16", [Half("float16", [1.5, 2])], Half("float16", f(np.array([1.5, 2]))))
    case(op, "empty", [np.zeros((0, 2), F32)], np.zeros((0, 2), F32))
    case(op, "scalar", [F32(1)], error=(INVALID, SHAPE, "0"))
    case(op, "string", [[b"x"]], error=(INVALID, DTYPE, "string"))
