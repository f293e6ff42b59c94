"""Cases of operations that cut, repeat and move tensors."""
import numpy as np

from op_case_model import DTYPE, F32, F64, I32, I64, INVALID, SHAPE, U8, VALUE, case, distinct, floats
from op_computed_cases import computed, v

# ---- strided_slice ----
x = floats(4, 5, 3)


def entries(index):
    """The arguments that Python's x[index] stands for."""
    a = {"begin": [], "end": [], "strides": [], "begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
    for i, e in enumerate(index):
        begin, end, stride = 0, 0, 1
        if e is Ellipsis:
            a["ellipsis_mask"] |= 1 << i
        elif e is None:
            a["new_axis_mask"] |= 1 << i
        elif isinstance(e, slice):
            begin, end, stride = e.start or 0, e.stop or 0, e.step or 1
            a["begin_mask"] |= (e.start is None) << i
            a["end_mask"] |= (e.stop is None) << i
        else:
            begin, end = e, e + 1
            a["shrink_axis_mask"] |= 1 << i
        a["begin"].append(begin)
        a["end"].append(end)
        a["strides"].append(stride)
    return {k: m for k, m in a.items() if m or k in ("begin", "end")}


s = slice
for name, index in {
    "rows": (s(1, 3),), "index": (2,), "negative_index": (-1, s(None), -3), "all": (s(None),), "nothing": (), "reversed": (s(None, None, -1),),
    "reversed_part": (s(3, 0, -2), s(None), s(None, None, -1)), "steps": (s(0, 4, 3), s(1, None, 2)), "new_axis": (None, s(1, None), None, 0),
    "ellipsis": (Ellipsis, 1), "ellipsis_middle": (0, Ellipsis, s(0, 2)), "ellipsis_of_nothing": (0, 1, Ellipsis, 2), "clamped": (s(-100, 100), s(3, 99)),
    "empty": (s(3, 1),), "scalar": (1, 2, 0), "from_end": (s(-2, None), s(None, -2)), "backwards_to_end": (s(-1, -100, -1),), "mixed": (s(1, None), None, s(None, None, -1), 2),
}.items():
    case("strided_slice", name, [x], np.array(x[index]), entries(index), gradient=True)
case("strided_slice", "strings", [[b"a", b"bc", b"def"]], [b"def", b"a"], entries((s(None, None, -2),)))
case("strided_slice", "bool", [np.array([True, False, True])], np.array([False, True]), entries((s(1, None),)))
case("strided_slice", "of_nothing", [np.zeros((0, 3), F32)], np.zeros((0, 2), F32), entries((s(None), s(1, None))))
case("strided_slice", "outside", [x], error=(INVALID, SHAPE, "4"), attributes=entries((4,)))
case("strided_slice", "far_outside", [x], error=(INVALID, SHAPE, "bounds"), attributes=entries((0, -6)))
case("strided_slice", "no_step", [x], error=(INVALID, VALUE, "non-zero"), attributes={"begin": [0], "end": [2], "strides": [0]})
case("strided_slice", "too_many", [x], error=(INVALID, SHAPE, "4"), attributes=entries((0, 0, 0, 0)))
case("strided_slice", "unequal", [x], error=(INVALID, VALUE, "many"), attributes={"begin": [0], "end": [1, 2]})
case("strided_slice", "two_ellipses", [x], error=(INVALID, VALUE, "multiple"), attributes={"begin": [0, 0], "end": [0, 0], "ellipsis_mask": 3})
g = x[1:3, ::-2].copy()
expected = np.zeros_like(x)
expected[1:3, ::-2] = g
case("strided_slice_grad", "values", [g, x], expected, entries((s(1, 3), s(None, None, -2))), gradient=True)
case("strided_slice_grad", "another_shape", [floats(2), x], error=(INVALID, SHAPE, "[2, 3, 3]"), attributes=entries((s(1, 3), s(None, None, -2))))
computed("strided_slice", "strided_slice", [x], {"begin": v(1, 2), "end": v(3, 4)}, x[1:3, 2:4].copy(), {"begin": [0, 0], "end": [0, 0]})
computed("strided_slice_index", "strided_slice", [x], {"begin": v(-1)}, x[-1], {"begin": [0], "end": [0], "shrink_axis_mask": 1})
computed("strided_slice_outside", "strided_slice", [x], {"begin": v(7)}, error=(INVALID, SHAPE, "bounds"), arguments={"begin": [0], "end": [0], "shrink_axis_mask": 1})

# ---- tile, broadcast_to ----
x = floats(2, 3)
case("tile", "both", [x], np.tile(x, (2, 3)), {"multiples": [2, 3]}, gradient=True)
case("tile", "rows", [x], np.tile(x, (3, 1)), {"multiples": [3, 1]}, gradient=True)
case("tile", "vector", [np.arange(3, dtype=I64)], np.tile(np.arange(3, dtype=I64), 4), {"multiples": [4]})
cube = floats(2, 2, 2)
case("tile", "cube", [cube], np.tile(cube, (1, 3, 2)), {"multiples": [1, 3, 2]}, gradient=True)
case("tile", "none", [x], np.zeros((0, 3), F32), {"multiples": [0, 1]})
case("tile", "scalar", [F32(3)], F32(3), {"multiples": []})
case("tile", "strings", [[b"a", b"bc"]], [b"a", b"bc", b"a", b"bc"], {"multiples": [2]})
case("tile", "negative", [x], error=(INVALID, VALUE, "[0]"), attributes={"multiples": [-1, 1]})
case("tile", "short", [x], error=(INVALID, SHAPE, "dimension"), attributes={"multiples": [2]})
computed("tile", "tile", [x], {"multiples": v(2, 1)}, np.tile(x, (2, 1)), {"multiples": []})
computed("tile_negative", "tile", [x], {"multiples": v(2, -1)}, error=(INVALID, VALUE, "[1]"), arguments={"multiples": []})
case("broadcast_to", "rows", [x], np.broadcast_to(x, (4, 2, 3)).copy(), {"shape": [4, 2, 3]}, gradient=True)
case("broadcast_to", "ones", [floats(2, 1)[:, :1] * 0 + 1], np.ones((2, 3), F32), {"shape": [2, 3]}, gradient=True)
case("broadcast_to", "scalar", [I32(7)], np.full((2, 2), 7, I32), {"shape": [2, 2]})
case("broadcast_to", "strings", [b"ab"], [b"ab", b"ab"], {"shape": [2]})
case("broadcast_to", "to_nothing", [np.ones((1, 2), F32)], np.zeros((0, 2), F32), {"shape": [0, 2]})
case("broadcast_to", "same", [x], x, {"shape": [2, 3]})
case("broadcast_to", "unfit", [x], error=(INVALID, SHAPE, "broadcast"), attributes={"shape": [2, 4]})
case("broadcast_to", "smaller", [x], error=(INVALID, SHAPE, "broadcast"), attributes={"shape": [3]})
computed("broadcast_to", "broadcast_to", [F32([1, 2])], {"shape": v(2, 2)}, F32([[1, 2], [1, 2]]), {"shape": []})

# ---- reverse, roll ----
x = floats(2, 3, 4)
case("reverse", "last", [x], x[..., ::-1].copy(), {"axis": [-1]}, gradient=True)
case("reverse", "two", [x], x[::-1, :, ::-1].copy(), {"axis": [0, 2]}, gradient=True)
case("reverse", "none", [x], x, {"axis": []})
case("reverse", "strings", [[b"a", b"b", b"c"]], [b"c", b"b", b"a"], {"axis": [0]})
case("reverse", "uint8", [U8([[1, 2], [3, 4]])], U8([[3, 4], [1, 2]]), {"axis": [0]})
case("reverse", "outside", [x], error=(INVALID, SHAPE, "3"), attributes={"axis": [3]})
case("reverse", "twice", [x], error=(INVALID, VALUE, "twice"), attributes={"axis": [0, -3]})
for name, shift, axis in (("first", [1], [0]), ("last", [-3], [-1]), ("two", [1, 2], [0, 2]), ("repeated", [1, 1], [1, 1]), ("round", [9], [2]), ("far_back", [-9], [2])):
    case("roll", name, [x], np.roll(x, shift, axis), {"shift": shift, "axis": axis}, gradient=True)
case("roll", "strings", [[b"a", b"b", b"c"]], [b"c", b"a", b"b"], {"shift": 1, "axis": 0})
case("roll", "empty", [np.zeros((0, 2), F32)], np.zeros((0, 2), F32), {"shift": 1, "axis": 0})
case("roll", "scalar", [F32(1)], error=(INVALID, SHAPE, "scalar"), attributes={"shift": 1, "axis": 0})
case("roll", "unequal", [x], error=(INVALID, VALUE, "many"), attributes={"shift": [1, 2], "axis": [0]})
case("roll", "outside", [x], error=(INVALID, SHAPE, "5"), attributes={"shift": 1, "axis": 5})
computed("roll", "roll", [F32([1, 2, 3])], {"shift": I32(1)}, F32([3, 1, 2]), {"shift": [0], "axis": [0]})

# ---- cutting ----
for axis in (0, 1, -1):
    case("unstack", "axis_%d" % axis, [x], tuple(np.ascontiguousarray(x.take(i, axis)) for i in range(x.shape[axis])), {"axis": axis, "num": x.shape[axis]}, gradient=True)
case("unstack", "strings", [[b"a", b"bc"]], (np.array(b"a", object), np.array(b"bc", object)), {"num": 2})
case("unstack", "another_number", [x], error=(INVALID, SHAPE, "2"), attributes={"num": 3})
case("unstack", "scalar", [F32(1)], error=(INVALID, SHAPE, "0"), attributes={"num": 1})
case("split", "equal", [x], tuple(np.split(x, 2, 2)), {"num_or_size_splits": 2, "axis": 2}, gradient=True)
case("split", "rows", [floats(4, 2)[:, :] * 0 + F32([[1, 2]])], (np.tile(F32([[1, 2]]), (2, 1)),) * 2, {"num_or_size_splits": 2})
case("split", "sizes", [x], tuple(np.ascontiguousarray(p) for p in np.split(x, [1, 1], 1)), {"num_or_size_splits": [1, 0, 2], "axis": 1}, gradient=True)
case("split", "open", [np.arange(6, dtype=I32)], (I32([0]), I32([1, 2, 3]), I32([4, 5])), {"num_or_size_splits": [1, -1, 2]})
case("split", "strings", [[b"a", b"bc", b""]], (np.array([b"a"], object), np.array([b"bc", b""], object)), {"num_or_size_splits": [1, 2]})
case("split", "uneven", [np.arange(5, dtype=I32)], error=(INVALID, SHAPE, "parts"), attributes={"num_or_size_splits": 2})
case("split", "too_little", [np.arange(5, dtype=I32)], error=(INVALID, SHAPE, "2"), attributes={"num_or_size_splits": [1, 2]})
case("split", "too_much", [np.arange(5, dtype=I32)], error=(INVALID, SHAPE, "2"), attributes={"num_or_size_splits": [4, 2]})
case("split", "no_parts", [x], error=(INVALID, VALUE, "1"), attributes={"num_or_size_splits": 0})
case("split", "floats", [x], error=(INVALID, VALUE, "integer"), attributes={"num_or_size_splits": 1.5})

# ---- choosing ----
m = np.array([[True, False, True], [False, False, True]])
case("where", "matrix", [m], np.argwhere(m).astype(I64))
case("where", "vector", [m[0]], np.argwhere(m[0]).astype(I64))
case("where", "scalar", [np.bool_(True)], np.zeros((1, 0), I64))
case("where", "numbers", [I32([0, 3, -1])], I64([[1], [2]]))
case("where", "floats", [F32([[0.0, -0.0], [np.nan, 2]])], I64([[1, 0], [1, 1]]))
case("where", "none", [np.zeros((0, 2), bool)], np.zeros((0, 2), I64))
case("where", "strings", [[b"a"]], error=(INVALID, DTYPE, "string"))
y = floats(2, 3, 2)
case("boolean_mask", "vector", [y, np.array([False, True])], y[[False, True]])
case("boolean_mask", "matrix", [y, m], y[m])
case("boolean_mask", "axis_1", [y, m[0]], y[:, m[0]], {"axis": 1})
case("boolean_mask", "strings", [[b"a", b"b", b"cd"], m[0]], [b"a", b"cd"])
case("boolean_mask", "none", [y, np.zeros(2, bool)], np.zeros((0, 3, 2), F32))
case("boolean_mask", "scalar_mask", [y, np.bool_(True)], error=(INVALID, SHAPE, "scalar"))
case("boolean_mask", "another_size", [y, np.array([True, False, True])], error=(INVALID, SHAPE, "cover"))
case("boolean_mask", "numbers", [y, I32([1, 0])], y[[True, False]])
case("boolean_mask", "strings_as_mask", [y, [b"a", b"b"]], error=(INVALID, DTYPE, "string"))

# ---- made of nothing ----
case("zeros", "float32", [], np.zeros((2, 3), F32), {"shape": [2, 3]})
case("zeros", "scalar", [], I64(0), {"shape": [], "dtype": "int64"})
case("zeros", "bool", [], np.zeros(2, bool), {"shape": [2], "dtype": "bool"})
case("zeros", "strings", [], [b"", b""], {"shape": [2], "dtype": "string"})
case("zeros", "empty", [], np.zeros((0, 2), F64), {"shape": [0, 2], "dtype": "float64"})
case("zeros", "open", [], error=(INVALID, SHAPE, "dimensions"), attributes={"shape": [-1]})
case("ones", "float32", [], np.ones((2, 3), F32), {"shape": [2, 3]})
case("ones", "uint8", [], np.ones(3, U8), {"shape": [3], "dtype": "uint8"})
case("ones", "bool", [], np.ones(2, bool), {"shape": [2], "dtype": "bool"})
case("ones", "strings", [], error=(INVALID, VALUE, "string"), attributes={"shape": [2], "dtype": "string"})
computed("zeros", "zeros", [], {"shape": v(2, 1)}, np.zeros((2, 1), F32), {"shape": []})
case("rank", "cube", [x], I32(3))
case("rank", "scalar", [b"a"], I32(0))
case("stop_gradient", "values", [x], x)
case("stop_gradient", "strings", [[b"a"]], [b"a"])

# ---- pad ----
x = floats(2, 3)
for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
    kind = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}[mode]
    for name, pairs in (("both", [[1, 1], [2, 1]]), ("one_side", [[0, 1], [0, 0]]), ("none", [[0, 0], [0, 0]])):
        case("pad", "%s_%s" % (kind, name), [x], np.pad(x, pairs, kind), {"paddings": pairs, "mode": mode}, **({"gradient": True} if mode == "CONSTANT" else {}))
case("pad", "value", [I32([1, 2])], I32([7, 7, 1, 2, 7]), {"paddings": [[2, 1]], "constant_values": 7})
case("pad", "lower_case", [I32([1, 2])], I32([2, 1, 2]), {"paddings": [[1, 0]], "mode": "reflect"})
case("pad", "strings", [[b"a", b"bc"]], [b"", b"a", b"bc"], {"paddings": [[1, 0]]})
case("pad", "string_value", [[b"a", b"bc"]], [b"xy", b"a", b"bc"], {"paddings": [[1, 0]], "constant_values": "xy"})
case("pad", "string_zero", [[b"a"]], [b"a", b""], {"paddings": [[0, 1]], "constant_values": 0})
case("pad", "empty", [np.zeros((0, 2), F32)], np.zeros((1, 3), F32), {"paddings": [[1, 0], [0, 1]]})
case("pad", "scalar", [F32(2)], F32(2), {"paddings": {"dtype": "int32", "shape": [0, 2], "data": []}})
case("pad", "negative", [x], error=(INVALID, SHAPE, "0"), attributes={"paddings": [[-1, 0], [0, 0]]})
case("pad", "short", [x], error=(INVALID, SHAPE, "pair"), attributes={"paddings": [[1, 0]]})
case("pad", "mirrors_too_much", [x], error=(INVALID, SHAPE, "1"), attributes={"paddings": [[2, 0], [0, 0]], "mode": "REFLECT"})
case("pad", "no_mode", [x], error=(INVALID, VALUE, "wrap"), attributes={"paddings": [[0, 0], [0, 0]], "mode": "wrap"})
case("pad", "string_for_numbers", [x], error=(INVALID, DTYPE, "constant_values"), attributes={"paddings": [[0, 0], [0, 0]], "constant_values": "a"})
computed("pad", "pad", [I32([1, 2])], {"paddings": I32([[1, 2]])}, I32([0, 1, 2, 0, 0]), {"paddings": []})

# ---- order ----
y = distinct(3, 4)
for axis in (0, 1, -1):
    case("sort", "axis_%d" % axis, [y], np.sort(y, axis), {"axis": axis})
    case("argsort", "axis_%d" % axis, [y], np.argsort(y, axis, kind="stable").astype(I32), {"axis": axis})
    case("sort", "down_%d" % axis, [y], np.ascontiguousarray(np.flip(np.sort(y, axis), axis)), {"axis": axis, "direction": "DESCENDING"})
for k in (np.int8, np.int16, I32, I64, U8, np.uint16, np.uint32, np.uint64, F64):
    w = np.array([3, 1, 2, 1, 100], k)
    case("sort", np.dtype(k).name, [w], np.sort(w))
    case("argsort", np.dtype(k).name, [w], np.argsort(w, kind="stable").astype(I32))
case("argsort", "ties_down", [I32([2, 1, 2, 1, 2])], I32([0, 2, 4, 1, 3]), {"direction": "DESCENDING"})
case("argsort", "stable", [I32([2, 1, 2, 1])], I32([1, 3, 0, 2]), {"stable": True})
many = np.random.RandomState(3).randint(0, 50, 300).astype(I32)
case("sort", "many", [many], np.sort(many))
case("argsort", "many", [many], np.argsort(many, kind="stable").astype(I32))
case("sort", "empty", [np.zeros((0, 2), F32)], np.zeros((0, 2), F32), {"axis": 0})
for op in ("sort", "argsort"):
    case(op, "scalar", [F32(1)], error=(INVALID, SHAPE, "-1"))
    case(op, "string", [[b"a"]], error=(INVALID, DTYPE, "string"))
    case(op, "no_direction", [y], error=(INVALID, VALUE, "UP"), attributes={"direction": "UP"})
best = np.argsort(-y, 1, kind="stable")[:, :2]
case("top_k", "two", [y], (np.take_along_axis(y, best, 1), best.astype(I32)), {"k": 2})
case("top_k", "one", [y], (y.max(1, keepdims=True), y.argmax(1)[:, None].astype(I32)))
case("top_k", "ties", [I64([1, 5, 5, 2])], (I64([5, 5, 2]), I64([1, 2, 3])), {"k": 3, "index_type": "int64"})
case("top_k", "none", [y], (np.zeros((3, 0), F32), np.zeros((3, 0), I32)), {"k": 0})
case("top_k", "too_many", [y], error=(INVALID, SHAPE, "4"), attributes={"k": 5})
case("top_k", "scalar", [F32(1)], error=(INVALID, SHAPE, "scalar"))
case("top_k", "string", [[b"a"]], error=(INVALID, DTYPE, "string"))

# ---- gather_nd ----
z = floats(2, 3, 4)
case("gather_nd", "values", [z, I32([[0, 1, 2], [1, 2, 3]])], z[[0, 1], [1, 2], [2, 3]])
case("gather_nd", "rows", [z, I64([[[0, 1]], [[1, 0]]])], np.stack([z[0, 1], z[1, 0]])[:, None])
case("gather_nd", "slices", [z, I32([[1], [1], [0]])], z[[1, 1, 0]])
case("gather_nd", "one", [z, I32([1, 2])], z[1, 2])
case("gather_nd", "whole", [z, np.zeros((2, 0), I32)], np.stack([z, z]))
case("gather_nd", "strings", [[b"a", b"bc"], I32([[1], [0]])], [b"bc", b"a"])
case("gather_nd", "outside", [z, I32([[0, 3, 0]])], error=(INVALID, SHAPE, "index"))
case("gather_nd", "negative", [z, I32([[-1]])], error=(INVALID, SHAPE, "index"))
case("gather_nd", "too_deep", [z, np.zeros((1, 4), I32)], error=(INVALID, SHAPE, "rank"))
case("gather_nd", "float_indices", [z, F32([[0]])], error=(INVALID, DTYPE, "float32"))

# ---- gather with batches, one_hot with values ----
z = distinct(2, 3, 4)
i = I32([[0, 2], [3, 3]])
case("gather", "batch", [z[:, 0], i], np.take_along_axis(z[:, 0], i, 1), {"batch_dims": 1, "axis": 1}, gradient=True)
case("gather", "batch_default_axis", [z[:, 0], i], np.take_along_axis(z[:, 0], i, 1), {"batch_dims": 1}, gradient=True)
case("gather", "batch_inner", [z, I32([[2], [0]])], z[[[0], [1]], [[2], [0]]], {"batch_dims": 1}, gradient=True)
case("gather", "batch_outer", [z, i], np.stack([z[0][:, i[0]], z[1][:, i[1]]]), {"batch_dims": 1, "axis": 2}, gradient=True)
case("gather", "batch_all", [z[:, 0], I64([3, 1])], z[[0, 1], 0, [3, 1]], {"batch_dims": 1}, gradient=True)
case("gather", "batch_from_end", [z[:, 0], i], np.take_along_axis(z[:, 0], i, 1), {"batch_dims": -1})
case("gather", "no_axis", [z, I32(1)], z[1], {"axis": None})
case("gather", "batch_outside", [z[:, 0], i], error=(INVALID, SHAPE, "batch_dims"), attributes={"batch_dims": 3})
case("gather", "batch_unequal", [z, I32([[0], [0], [0]])], error=(INVALID, SHAPE, "batch"), attributes={"batch_dims": 1})
case("gather", "axis_in_batch", [z, i], error=(INVALID, SHAPE, "batch"), attributes={"batch_dims": 1, "axis": 0})
eye = np.eye(3, dtype=bool)
case("one_hot", "values", [I32([0, 2])], I32([[5, -1, -1], [-1, -1, 5]]), {"depth": 3, "on_value": 5, "off_value": -1})
case("one_hot", "values_as_dtype", [I32([0, 2])], F64([[5, 0, 0], [0, 0, 5]]), {"depth": 3, "on_value": 5, "dtype": "float64"})
case("one_hot", "truth", [I32([1])], np.array([[False, True]]), {"depth": 2, "on_value": True, "off_value": False})
case("one_hot", "first_axis", [I32([[0, 2]])], np.moveaxis(np.eye(3, dtype=F32)[[[0, 2]]], -1, 0), {"depth": 3, "axis": 0})
case("one_hot", "middle_axis", [I32([[0, 2], [1, 5]])], np.moveaxis(np.stack([np.eye(3, dtype=F32)[[0, 2]], F32([[0, 1, 0], [0, 0, 0]])]), -1, 1), {"depth": 3, "axis": 1})
case("one_hot", "vector_value", [I32([1])], error=(INVALID, SHAPE, "scalar"), attributes={"depth": 2, "on_value": [1, 2]})
case("one_hot", "string_value", [I32([1])], error=(INVALID, DTYPE, "string"), attributes={"depth": 2, "on_value": "a"})
case("one_hot", "axis_outside", [I32([1])], error=(INVALID, SHAPE, "2"), attributes={"depth": 2, "axis": 2})
