"""Cases of products, convolutions, pooling and softmax."""
import numpy as np

from op_case_model import *  # noqa: F403: the model is this script's vocabulary

for ta in (False, True):
    for tb in (False, True):
        a, b = floats(*((4, 3) if ta else (3, 4))), floats(*((5, 4) if tb else (4, 5)))
        out = (a.T if ta else a).astype(F64) @ (b.T if tb else b).astype(F64)
        attributes = {"transpose_a": ta, "transpose_b": tb}
        case("matmul", "matrix_%d%d" % (ta, tb), [a, b], out.astype(F32), attributes, tolerance=1e-6, gradient=True)
        a3, b3 = np.stack([a, a * 2]), np.stack([b, b - 1])
        out = np.matmul(a3.transpose(0, 2, 1) if ta else a3, b3.transpose(0, 2, 1) if tb else b3)
        case("matmul", "stack_%d%d" % (ta, tb), [a3, b3], out, attributes, tolerance=1e-5, gradient=True)
        if not ta:
            case("matmul", "stack_by_one_%d" % tb, [a3, b], np.matmul(a3, b.T if tb else b), attributes, tolerance=1e-5, gradient=True)
a, b = floats(2, 9, dtype=F64), floats(9, 3, dtype=F64)
case("matmul", "float64", [a, b], a @ b, tolerance=1e-12)
case("matmul", "no_rows", [np.zeros((0, 3), F32), floats(3, 2)], np.zeros((0, 2), F32))
case("matmul", "no_terms", [np.zeros((2, 0), F32), np.zeros((0, 3), F32)], np.zeros((2, 3), F32))
case("matmul", "inner", [floats(2, 3), floats(4, 5)], error=(INVALID, SHAPE, "inner"))
case("matmul", "vector", [floats(3), floats(3, 5)], error=(INVALID, SHAPE, "matrices"))
case("matmul", "integers", [np.ones((2, 2), I32), np.ones((2, 2), I32)], error=(INVALID, DTYPE, "int32"))
x, b = floats(2, 3, 4), floats(4)
case("bias_add", "rank_3", [x, b], x + b, gradient=True)
case("bias_add", "vector", [floats(4) * 0 + b, b], b + b, gradient=True)
case("bias_add", "int32", [np.array([[1, 2]], I32), np.array([3, 4], I32)], np.array([[4, 6]], I32))
case("bias_add", "length", [x, floats(3)], error=(INVALID, SHAPE, "length"))
case("bias_add", "matrix", [x, floats(1, 4)], error=(INVALID, SHAPE, "vector"))


def window_axis(n, k, stride, dilation, same):
    reach = (k - 1) * dilation + 1
    if same:
        out = -(-n // stride)
        return out, max((out - 1) * stride + reach - n, 0) // 2
    return (n - reach) // stride + 1, 0


def windows(x, ksize, strides, dilations, same):
    """Yields (output y, output x, [(ky, kx, input y, input x)])."""
    oh, py = window_axis(x.shape[1], ksize[0], strides[0], dilations[0], same)
    ow, px = window_axis(x.shape[2], ksize[1], strides[1], dilations[1], same)
    places = []
    for oy in range(oh):
        for ox in range(ow):
            reads = []
            for ky in range(ksize[0]):
                for kx in range(ksize[1]):
                    iy, ix = oy * strides[0] - py + ky * dilations[0], ox * strides[1] - px + kx * dilations[1]
                    if 0 <= iy < x.shape[1] and 0 <= ix < x.shape[2]:
                        reads.append((ky, kx, iy, ix))
            places.append((oy, ox, reads))
    return oh, ow, places


def conv(x, w, strides, dilations, same, g=None):
    """The convolution; with g the gradients by input and filter."""
    x, w = x.astype(F64), w.astype(F64)
    oh, ow, places = windows(x, w.shape[:2], strides, dilations, same)
    out = np.zeros((x.shape[0], oh, ow, w.shape[3]))
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for oy, ox, reads in places:
        for ky, kx, iy, ix in reads:
            out[:, oy, ox] += x[:, iy, ix] @ w[ky, kx]
            if g is not None:
                dx[:, iy, ix] += g[:, oy, ox] @ w[ky, kx].T
                dw[ky, kx] += x[:, iy, ix].T @ g[:, oy, ox]
    return out, dx, dw


CONVOLUTIONS = [
    ("plain", (2, 4, 5, 3), (3, 2, 3, 2), (1, 1), (1, 1), False),
    ("same", (1, 5, 4, 2), (3, 3, 2, 5), (1, 1), (1, 1), True),
    ("strides", (2, 7, 6, 1), (3, 3, 1, 2), (2, 3), (1, 1), False),
    ("same_strides", (1, 5, 6, 2), (2, 3, 2, 2), (2, 2), (1, 1), True),
    ("dilations", (1, 7, 6, 2), (2, 2, 2, 2), (1, 1), (3, 2), False),
    ("same_dilations", (1, 5, 5, 1), (3, 3, 1, 2), (1, 1), (2, 2), True),
    ("pointwise", (2, 2, 2, 5), (1, 1, 5, 3), (1, 1), (1, 1), False),
    ("even_same", (1, 4, 4, 1), (2, 2, 1, 1), (1, 1), (1, 1), True),
    ("no_pictures", (0, 4, 4, 2), (3, 3, 2, 2), (1, 1), (1, 1), False),
]
for name, xs, ws, strides, dilations, same in CONVOLUTIONS:
    x, w = floats(*xs), floats(*ws)
    attributes = {"strides": list(strides), "dilations": list(dilations), "padding": "SAME" if same else "VALID"}
    out = conv(x, w, strides, dilations, same)[0].astype(F32)
    g = floats(*out.shape)
    _, dx, dw = conv(x, w, strides, dilations, same, g.astype(F64))
    case("conv2d", name, [x, w], out, attributes, tolerance=1e-6, gradient=True)
    case("conv2d_backprop_input", name, [x, w, g], dx.astype(F32), attributes, tolerance=1e-6, gradient=True)
    case("conv2d_backprop_filter", name, [x, w, g], dw.astype(F32), attributes, tolerance=1e-6, gradient=True)
x, w = floats(1, 4, 4, 2), floats(3, 3, 2, 1)
case("conv2d", "defaults", [x, w], conv(x, w, (1, 1), (1, 1), False)[0].astype(F32), tolerance=1e-6)
case("conv2d", "channels", [x, floats(3, 3, 3, 1)], error=(INVALID, SHAPE, "channels"))
case("conv2d", "too_large", [x, floats(5, 3, 2, 1)], error=(INVALID, SHAPE, "5"))
case("conv2d", "rank", [floats(4, 4, 2), w], error=(INVALID, SHAPE, "4"))
case("conv2d", "padding", [x, w], error=(INVALID, VALUE, "VALID"), attributes={"padding": "valid"})
case("conv2d", "stride_zero", [x, w], error=(INVALID, VALUE, "0"), attributes={"strides": [0, 1]})
case("conv2d", "stride_count", [x, w], error=(INVALID, VALUE, "height"), attributes={"strides": [1]})
for op in ("conv2d_backprop_input", "conv2d_backprop_filter"):
    case(op, "gradient_shape", [x, w, floats(1, 3, 2, 1)], error=(INVALID, SHAPE, "gradient"))
POOLS = [
    ("two", (2, 4, 6, 3), (2, 2), None, False),
    ("overlapping", (1, 5, 5, 2), (3, 3), (1, 1), False),
    ("same", (1, 5, 4, 2), (2, 3), (2, 2), True),
    ("gaps", (1, 6, 6, 1), (1, 2), (3, 3), False),
    ("odd", (1, 5, 5, 1), (2, 2), (2, 2), False),
    ("no_pictures", (0, 4, 4, 2), (2, 2), None, False),
]


def pool(x, ksize, strides, same, g=None):
    oh, ow, places = windows(x, ksize, strides, (1, 1), same)
    out = np.zeros((x.shape[0], oh, ow, x.shape[3]), x.dtype)
    dx = np.zeros_like(x)
    for oy, ox, reads in places:
        values = np.stack([x[:, iy, ix] for _, _, iy, ix in reads])
        out[:, oy, ox] = values.max(0) if values.size else 0
        if g is not None and values.size:
            first = values.argmax(0)
            for n in range(x.shape[0]):
                for c in range(x.shape[3]):
                    _, _, iy, ix = reads[first[n, c]]
                    dx[n, iy, ix, c] += g[n, oy, ox, c]
    return out, dx


for name, xs, ksize, strides, same in POOLS:
    x = distinct(*xs)
    attributes = {"ksize": list(ksize), "padding": "SAME" if same else "VALID"}
    if strides:
        attributes["strides"] = list(strides)
    out = pool(x, ksize, strides or ksize, same)[0]
    g = floats(*out.shape)
    case("max_pool2d", name, [x], out, attributes, gradient=True)
    case("max_pool2d_grad", name, [x, out, g], pool(x, ksize, strides or ksize, same, g)[1], attributes, tolerance=1e-6)
x = np.zeros((1, 2, 4, 1), F32)
case("max_pool2d_grad", "ties_to_first", [x, np.zeros((1, 1, 2, 1), F32), np.array([5, 7], F32).reshape(1, 1, 2, 1)], np.array([5, 0, 7, 0, 0, 0, 0, 0], F32).reshape(1, 2, 4, 1), {"ksize": [2, 2]})
case("max_pool2d", "negative_same", [np.full((1, 3, 3, 1), -5, F32)], np.full((1, 2, 2, 1), -5, F32), {"ksize": [2, 2], "padding": "SAME"})
case("max_pool2d", "float64", [np.arange(4, dtype=F64).reshape(1, 2, 2, 1)], np.array([3], F64).reshape(1, 1, 1, 1), {"ksize": [2, 2]})
for dtype in (np.int8, np.int16, I32, I64, U8, np.uint16):
    whole = (np.arange(12).reshape(1, 3, 4, 1) * 7 % 11 - (0 if np.iinfo(dtype).min == 0 else 6)).astype(dtype)
    case("max_pool2d", np.dtype(dtype).name, [whole], pool(whole, (2, 2), (2, 2), True)[0], {"ksize": [2, 2], "padding": "SAME"})
case("max_pool2d", "uint32", [np.zeros((1, 2, 2, 1), np.uint32)], error=(INVALID, DTYPE, "uint32"), attributes={"ksize": [2, 2]})
case("max_pool2d", "too_large", [x], error=(INVALID, SHAPE, "3"), attributes={"ksize": [3, 3]})
case("max_pool2d", "ksize_zero", [x], error=(INVALID, VALUE, "ksize"), attributes={"ksize": [0, 2], "strides": [1, 1]})
case("max_pool2d", "no_ksize", [x], error=(INVALID, VALUE, "ksize"))
case("max_pool2d_grad", "gradient_shape", [x, np.zeros((1, 1, 2, 1), F32), np.zeros((1, 1, 1, 1), F32)], error=(INVALID, SHAPE, "gradient"), attributes={"ksize": [2, 2]})


def softmax(x):
    e = np.exp(x.astype(F64) - x.astype(F64).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


for name, x in (("matrix", floats(3, 5)), ("vector", floats(4)), ("rank_3", floats(2, 2, 3)), ("one_class", floats(2, 1)), ("large", np.array([[1000, 1001], [-1000, 0]], F32))):
    kw = {"gradient": True} if name != "large" else {}
    case("softmax", name, [x], softmax(x).astype(F32), tolerance=1e-6, **kw)
    shifted = x.astype(F64) - x.astype(F64).max(-1, keepdims=True)
    case("log_softmax", name, [x], (shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))).astype(F32), tolerance=1e-6, **kw)
for op in ("softmax", "log_softmax"):
    case(op, "float64", [np.zeros((1, 4), F64)], np.full((1, 4), 0.25 if op == "softmax" else -np.log(4)), tolerance=1e-12)
    case(op, "no_lines", [np.zeros((0, 4), F32)], np.zeros((0, 4), F32))
    case(op, "no_classes", [np.zeros((3, 0), F32)], np.zeros((3, 0), F32))
    case(op, "scalar", [F32(1)], error=(INVALID, SHAPE, "scalar"))
    case(op, "integers", [np.array([1, 2], I32)], error=(INVALID, DTYPE, "int32"))
op = "sparse_softmax_cross_entropy_with_logits"
for name, labels, logits in (("int64", np.array([1, 0, 4], I64), floats(3, 5)), ("int32", np.array([2, 1], I32), floats(2, 3)), ("scalar_label", I32(1), floats(4)), ("matrix_labels", np.array([[0, 1], [2, 0]], I32), floats(2, 2, 3))):
    p = softmax(logits)
    hot = np.eye(logits.shape[-1])[labels]
    case(op, name, [labels, logits], ((-np.log((p * hot).sum(-1))).astype(F32), (p - hot).astype(F32)), tolerance=1e-6, gradient=True, gradient_outputs=1)
case(op, "extreme", [np.array([0], I64), np.array([[-1000, 1000]], F32)], (np.array([2000], F32), np.array([[-1, 1]], F32)), tolerance=1e-6)
case(op, "no_rows", [np.zeros(0, I64), np.zeros((0, 3), F32)], (np.zeros(0, F32), np.zeros((0, 3), F32)))
case(op, "label_outside", [np.array([1, 11, 4], I64), floats(3, 5)], error=(INVALID, VALUE, "11"))
case(op, "label_negative", [np.array([1, 0, -1], I64), floats(3, 5)], error=(INVALID, VALUE, "-1"))
case(op, "shapes", [np.array([1, 0], I64), floats(3, 5)], error=(INVALID, SHAPE, "[2]"))
case(op, "float_labels", [np.array([1, 0], F32), floats(2, 5)], error=(INVALID, DTYPE, "label"))
