"""The same as ``writers`` of layers: lines of WRITERS there. leat's pictures have their channels last, ONNX' second."""

import numpy as np

import leat as tf
from leat import dtypes
from leat._onnx.graph import I64, refuse
from leat._saved_model import writers_layers as theirs
from leat._saved_model.translate import Value

_FIRST, _LAST = [0, 3, 1, 2], [0, 2, 3, 1]


def _padding(node, taps=None, dilations=(1, 1)):
    """The attribute of the padding. By taps with gaps, which ONNX Runtime's auto_pad does not take, as numbers."""
    if node["padding"] != "SAME" or list(dilations) == [1, 1]:
        return {"auto_pad": "SAME_UPPER" if node["padding"] == "SAME" else "VALID"}
    lacks = [(count - 1) * gap for count, gap in zip(taps, dilations)]  # with gaps the strides are 1
    return {"pads": [one // 2 for one in lacks] + [one - one // 2 for one in lacks]}


def _back(b, value, kinds):
    made = b.transpose(value, _LAST)
    return Value(made.ref, *kinds[0])


def _conv2d(b, node, x, kinds):
    image, filters = x
    if -1 in (filters.dims[2], image.dims[3]):
        refuse(node, "of an unknown number of channels")
    strides, dilations = node["strides"] or [1, 1], node["dilations"] or [1, 1]
    made = b.op("Conv", [b.transpose(image, _FIRST), b.transpose(filters, [3, 2, 0, 1])], kinds[0][0],
                strides=strides, dilations=dilations, group=image.dims[3] // filters.dims[2],
                **_padding(node, filters.dims, dilations))
    return _back(b, made, kinds)


def _conv2d_back(b, node, x, kinds):
    """The gradient of a convolution, as layers that widen have it: all that it gives, then the part that is wanted."""
    pictures, filters, gradient = x
    strides, dilations = node["strides"] or [1, 1], node["dilations"] or [1, 1]
    if -1 in (pictures.dims[3], *filters.dims):
        refuse(node, "of an unknown number of channels")
    whole = b.op("ConvTranspose", [b.transpose(gradient, _FIRST), b.transpose(filters, [3, 2, 0, 1])], kinds[0][0],
                 strides=strides, dilations=dilations, group=pictures.dims[3] // filters.dims[2])
    whole = Value(b.transpose(whole, _LAST).ref, kinds[0][0], [-1, -1, -1, pictures.dims[3]])

    def part(whole, size):
        lack = size - tf.shape(whole)[1:3]
        first = tf.maximum(-lack, 0) // 2 if node["padding"] == "SAME" else [0, 0]
        more = tf.maximum(lack, 0)
        whole = tf.pad(whole, tf.stack([[0, 0], [0, more[0]], [0, more[1]], [0, 0]]))
        return whole[:, first[0]:first[0] + size[0], first[1]:first[1] + size[1]]
    size = b.sliced(b.shape_of(pictures), 0, 1, 3, dims=[2])
    made = b.inline(part, [whole, b.cast(size, dtypes.int32)])[0]
    return Value(made.ref, *kinds[0])


def _pool(name):
    def write(b, node, x, kinds):
        made = b.op(name, [b.transpose(x[0], _FIRST)], kinds[0][0], kernel_shape=node["ksize"],
                    strides=node["strides"] or node["ksize"], **_padding(node))
        return _back(b, made, kinds)
    return write


def _patches(b, node, x, kinds):
    """Windows side by side, as a convolution by filters that each take one number of a window."""
    (_, height, width, _), channels = node["sizes"], x[0].dims[3]
    if channels < 0:
        refuse(node, "of an unknown number of channels")
    taps = np.eye(height * width * channels).reshape(-1, height, width, channels).transpose(0, 3, 1, 2)
    made = b.op("Conv", [b.transpose(x[0], _FIRST), b.constant(taps, x[0].dtype)], kinds[0][0],
                strides=node["strides"][1:3], dilations=node["rates"][1:3],
                **_padding(node, (height, width), node["rates"][1:3]))
    return _back(b, made, kinds)


_METHODS = {"nearest": {"mode": "nearest", "nearest_mode": "round_prefer_ceil"}, "bilinear": {"mode": "linear"}}


def _resize(b, node, x, kinds):
    (image,), method = x, node["method"]
    if node["preserve_aspect_ratio"] or image.rank not in (3, 4):
        refuse(node, "with preserve_aspect_ratio, or of an unknown rank")
    if method == "nearest" and image.dtype not in (dtypes.float32, dtypes.uint8, dtypes.int8, dtypes.int32):
        refuse(node, f"of {image.dtype.name}")
    if method not in _METHODS or node["antialias"] and method != "nearest":
        return _resize_by_matrices(b, node, image, kinds)
    value = b.transpose(b.cast(image, kinds[0][0]), _FIRST if image.rank == 4 else [2, 0, 1])
    # Not by the attribute `axes`, which ONNX Runtime's optimizer loses.
    before = b.sliced(b.shape_of(value), 0, 0, image.rank - 2, dims=[image.rank - 2])
    sizes = b.op("Concat", [before, b.ints(node["size"])], I64, [image.rank], axis=0)
    made = b.op("Resize", [value, None, None, sizes], kinds[0][0], coordinate_transformation_mode="half_pixel",
                **_METHODS[method])
    made = b.transpose(made, _LAST if image.rank == 4 else [1, 2, 0])
    return Value(made.ref, *kinds[0])


def _resize_by_matrices(b, node, image, kinds):
    """By a matrix for the rows and one for the columns, which say how much of each goes into each."""
    sizes = image.dims[-3:-1]
    if isinstance(node["size"], Value) or -1 in sizes:
        refuse(node, f"by the method {node['method']}, or with antialias, of pictures of an unknown size")
    matrices = []
    for before, after in zip(sizes, node["size"]):
        rows = tf.eye(before)[:, None]
        found = tf.image.resize(rows, [after, 1], node["method"], antialias=bool(node["antialias"]))
        matrices.append(b.constant(found.numpy()[:, 0], dtypes.float32))
    batch = "n" if image.rank == 4 else ""
    value = b.cast(image, dtypes.float32)
    return b.op("Einsum", [value, *matrices], *kinds[0], equation=f"{batch}hwc,ph,qw->{batch}pqc")


def _recurrent(cell, num_weights, num_states):
    """A recurrence as a Scan over the steps; ``cell(node, weights)`` gives the function of a step."""
    def write(b, node, x, kinds):
        value, rest = x[0], list(x[1:])
        weights, states, mask = rest[:num_weights], rest[num_weights:num_weights + num_states], rest[
            num_weights + num_states:]
        over = [b.transpose(value, [1, 0, 2]), *(b.transpose(one, [1, 0]) for one in mask)]
        carried = [(one.dtype, one.dims) for one in states]
        rows = [(one.dtype, one.dims and one.dims[1:]) for one in over]

        def step(inner, given):
            def compute(row, *others):
                weights, others = others[:num_weights], others[num_weights:]
                before, mask = others[:num_states], others[num_states:]
                after = cell(node, weights)(row, *before)
                if mask:
                    after = [tf.where(mask[0][:, None], new, old) for new, old in zip(after, before)]
                return tuple(after)
            before, parts = given[:num_states], given[num_states:]
            after = inner.inline(compute, [parts[0], *weights, *before, *parts[1:]])
            return [*after, *after]
        body = b.subgraph("steps", [*carried, *rows], step)
        found = b.op("Scan", [*states, *over], outputs=[*carried, *((dtype, None) for dtype, _ in carried)], body=body,
                     num_scan_inputs=len(over))
        made = [Value(b.transpose(Value(one.ref, one.dtype, None), [1, 0, 2]).ref, *kind)
                for one, kind in zip(found[num_states:], kinds)]
        # What only the gradient reads has no values here.
        return made + [Value("", dtype, dims) for dtype, dims in kinds[num_states:]]
    return write


LINES = {
    "avg_pool2d": _pool("AveragePool"), "batch_norm": theirs.LINES["batch_norm"], "conv2d": _conv2d,
    "conv2d_backprop_input": _conv2d_back, "dot_product_attention": theirs.LINES["dot_product_attention"],
    "gru": _recurrent(theirs._gru, 2, 1), "lstm": _recurrent(theirs._lstm, 1, 2), "extract_patches": _patches,
    "max_pool2d": _pool("MaxPool"),
    "resize": _resize, "simple_rnn": _recurrent(theirs._simple_rnn, 1, 1),
}
