"""The same as ``writers`` of arrays: lines of WRITERS there."""

import leat as tf
from leat import dtypes
from leat._onnx.graph import BOOL, END, I64, Fixed, refuse
from leat._saved_model import writers_pictures as pictures
from leat._saved_model.translate import Value, literal, repeated

I32 = dtypes.int32
# What ONNX Runtime's Where takes; others go through one of these.
_CHOSEN = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.string)


def _shape(b, shape):
    """A shape as an int64 vector."""
    return b.ints(shape) if isinstance(shape, Value) else b.constant(list(shape), I64)


# ---- of shapes ----

def _shape_as(b, node, x, kinds):
    return b.cast(b.op("Shape", x, I64, kinds[0][1]), kinds[0][0])


def _size(b, node, x, kinds):
    return b.cast(b.op("Size", x, I64, []), kinds[0][0])


def _rank(b, node, x, kinds):
    if x[0].rank is not None:
        return b.constant(x[0].rank, kinds[0][0])
    return b.cast(b.reshape(b.op("Shape", [b.op("Shape", x, I64, [-1])], I64, [1]), [], []), kinds[0][0])


def _reshape(b, node, x, kinds):
    shape = node["shape"]
    return b.reshape(x[0], shape if isinstance(shape, Value) else list(shape), kinds[0][1])


def _transpose(b, node, x, kinds):
    perm = node.fixed("perm")
    if perm is None and x[0].rank is None:
        refuse(node, "of an unknown rank")
    return b.transpose(x[0], perm if perm is not None else list(range(x[0].rank))[::-1])


def _squeeze(b, node, x, kinds):
    axes = list(node["axis"] or [])
    return b.op("Squeeze", [x[0], b.constant(axes, I64) if axes else None], *kinds[0])


def _expand(b, value, shape, kinds):
    if value.dtype is BOOL:
        return b.cast(b.op("Expand", [b.cast(value, I32), shape], I32, kinds[0][1]), BOOL)
    return b.op("Expand", [value, shape], *kinds[0])


def _broadcast(b, node, x, kinds):
    return _expand(b, x[0], _shape(b, node["shape"]), kinds)


def _filled(number):
    def write(b, node, x, kinds):
        value = b.constant(b"" if kinds[0][0] is dtypes.string else number, kinds[0][0])
        return _expand(b, value, _shape(b, node["shape"]), kinds)
    return write


def _filled_like(number):
    def write(b, node, x, kinds):
        value = b.constant(b"" if kinds[0][0] is dtypes.string else number, kinds[0][0])
        return _expand(b, value, b.shape_of(x[0]), kinds)
    return write


# ---- joined and cut ----

def _concat(b, node, x, kinds):
    return b.op("Concat", x, *kinds[0], axis=node.fixed("axis"))


def _stack(b, node, x, kinds):
    axis = node.fixed("axis")
    rank = len(kinds[0][1]) if kinds[0][1] is not None else None
    if rank is None:
        refuse(node, "of an unknown rank")
    axis = axis % rank
    rows = [b.op("Unsqueeze", [one, b.constant([axis], I64)], one.dtype, None if one.dims is None else [
        *one.dims[:axis], 1, *one.dims[axis:]]) for one in x]
    return b.op("Concat", rows, *kinds[0], axis=axis)


def _split(b, node, x, kinds):
    sizes, axis = node["num_or_size_splits"], node.fixed("axis")
    if not isinstance(sizes, Value):
        sizes = literal(sizes)[0]
        if not sizes.shape:
            return b.op("Split", x, outputs=kinds, axis=axis, num_outputs=int(sizes))
        if -1 in sizes:
            sizes = [one[1][axis] for one in kinds]
            if -1 in sizes:
                refuse(node, "into a part whose size is not known")
    return b.op("Split", [x[0], b.ints(sizes)], outputs=kinds, axis=axis)


def _unstack(b, node, x, kinds):
    axis, rank = node.fixed("axis"), x[0].rank
    axis = axis % rank
    if len(kinds) == 1:
        rows = [x[0]]
    else:
        rows = b.op("Split", x, outputs=[(dtype, [*dims[:axis], 1, *dims[axis:]]) for dtype, dims in kinds], axis=axis,
                    num_outputs=len(kinds))
    return [b.op("Squeeze", [row, b.constant([axis], I64)], *kind) for row, kind in zip(rows, kinds)]


def _slice(b, node, x, kinds):
    begin, size = node["begin"], node["size"]
    count = len(begin) if isinstance(begin, list) else len(size) if isinstance(size, list) else x[0].rank
    if count is None:
        refuse(node, "of an unknown rank")
    starts = b.ints(begin)
    if isinstance(begin, list) and isinstance(size, list):
        ends = b.constant([END if one < 0 else start + one for start, one in zip(begin, size)], I64)
    else:
        sizes = b.ints(size)
        ends = b.op("Add", [starts, sizes], I64, [count])
        rest = b.op("Less", [sizes, b.constant(0, I64)], BOOL, [count])
        ends = b.op("Where", [rest, b.constant([END], I64), ends], I64, [count])
    return b.op("Slice", [x[0], starts, ends, b.constant(list(range(count)), I64)], *kinds[0])


def _bound(b, bounds, place, default):
    """One number of a slice's bounds: `default` where it is None."""
    if default is not None:
        return default
    if isinstance(bounds, list):
        return bounds[place]
    return b.sliced(bounds, 0, place, place + 1, dims=[1])


def _joined(b, numbers):
    if all(isinstance(one, int) for one in numbers):
        return b.constant(numbers, I64)
    return b.op("Concat", [b.vector([one] if isinstance(one, int) else one) for one in numbers], I64, [len(numbers)],
                axis=0)


def _plain_slice(b, node, value):
    """(begin, end, strides, {axis: their places}, places of new axes, places of single ones) of a strided slice."""
    begin, end, strides = (node[name] for name in ("begin", "end", "strides"))
    begin, end = (b.ints(one) if isinstance(one, Value) else list(one) for one in (begin, end))
    count = len(begin) if isinstance(begin, list) else begin.dims[0]
    strides = [1] * count if strides is None else node.fixed("strides")
    masks = {name: node[f"{name}_mask"] or 0 for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    has = lambda name, place: bool(masks[name] >> place & 1)  # noqa: E731
    taken = sum(not has("new_axis", place) and not has("ellipsis", place) for place in range(count))
    if masks["ellipsis"] and value.rank is None:
        refuse(node, "with ... of an unknown rank")
    axis, made = 0, []
    for place in range(count):
        if has("ellipsis", place):
            made += [("all", None, None, None)] * (value.rank - taken)
            axis += value.rank - taken
        elif has("new_axis", place):
            made.append(("new", None, None, None))
        elif has("shrink_axis", place):
            made.append(("one", _bound(b, begin, place, None), None, None))
        else:
            step = strides[place]
            made.append(("part", _bound(b, begin, place, (0 if step > 0 else END) if has("begin", place) else None),
                         _bound(b, end, place, (END if step > 0 else -END) if has("end", place) else None), step))
    return made


def _strided_slice(b, node, x, kinds):
    value, parts = x[0], _plain_slice(b, node, x[0])
    old = [part for part in parts if part[0] != "new"]
    cut = [(axis, *part[1:]) for axis, part in enumerate(old) if part[0] == "part" and part[1:] != (0, END, 1)]
    if cut:
        axes, starts, ends, steps = ([one[place] for one in cut] for place in range(4))
        value = b.op("Slice", [value, _joined(b, starts), _joined(b, ends), b.constant(axes, I64),
                               b.constant(steps, I64)], value.dtype, None)
    single = [(axis, part[1]) for axis, part in enumerate(old) if part[0] == "one"]
    for axis, place in reversed(single):
        place = b.reshape(place, [], []) if isinstance(place, Value) else b.constant(place, I64)
        value = b.op("Gather", [value, place], value.dtype, None, axis=axis)
    shown = [part for part in parts if part[0] != "one"]
    new = [axis for axis, part in enumerate(shown) if part[0] == "new"]
    if new:
        value = b.op("Unsqueeze", [value, b.constant(new, I64)], value.dtype, None)
    return b.op("Identity", [value], *kinds[0]) if value is x[0] else Value(value.ref, *kinds[0])


def _reverse(b, node, x, kinds):
    axes = node.fixed("axis")
    if not axes:
        return b.like("Identity", x[0])
    return _backwards(b, x[0], axes)


def _backwards(b, value, axes):
    bounds = [b.constant([one] * len(axes), I64) for one in (-1, -END, -1)]
    return b.op("Slice", [value, *bounds[:2], b.constant(axes, I64), bounds[2]], value.dtype, value.dims)


def _roll(b, node, x, kinds):
    shifts, axes = node.fixed("shift"), node.fixed("axis")

    def compute(value):
        for shift, axis in zip(shifts, axes):
            size = tf.shape(value)[axis]
            places = tf.math.floormod(tf.range(size) - shift, size)
            value = tf.gather(value, places, axis=axis)
        return value
    return b.inline(compute, x)


def _tile(b, node, x, kinds):
    return b.op("Tile", [x[0], b.ints(node["multiples"])], *kinds[0])


def _repeat(b, node, x, kinds):
    axis, times = node["axis"], x[1]
    if isinstance(times, Fixed) and times.array.size == 1 and axis is not None and x[0].rank is not None:
        return _repeat_each(b, x[0], int(times.array.ravel()[0]), axis % x[0].rank, kinds)
    return b.inline(lambda value, repeats: repeated(value, repeats, axis), x)


def _repeat_each(b, value, times, axis, kinds):
    """Every row as often: a new axis behind, tiled, and one with it again."""
    rank = value.rank
    wide = b.op("Unsqueeze", [value, b.constant([axis + 1], I64)], value.dtype, None)
    wide = b.op("Tile", [wide, b.constant([times if one == axis + 1 else 1 for one in range(rank + 1)], I64)],
                value.dtype, None)
    factors = b.constant([times if one == axis else 1 for one in range(rank)], I64)
    return b.reshape(wide, b.op("Mul", [b.shape_of(value), factors], I64, [rank]), kinds[0][1])


def _pad(b, node, x, kinds):
    places, mode, fill = node["paddings"], node["mode"].lower(), node["constant_values"]
    if mode == "symmetric":
        refuse(node, "with mode=SYMMETRIC")
    if isinstance(places, Value):
        pads = b.reshape(b.transpose(b.ints(places), [1, 0]), [-1])
    else:
        pads = b.constant(literal(places)[0].T.ravel(), I64)
    if mode == "constant":
        fill = b.constant(0, x[0].dtype) if fill is None else b.cast(
            fill if isinstance(fill, Value) else b.constant(*literal(fill)), x[0].dtype)
        fill = b.reshape(fill, [])
    return b.op("Pad", [x[0], pads, *([fill] if mode == "constant" else [])], *kinds[0], mode=mode)


def _range(b, node, x, kinds):
    return b.op("Range", [b.cast(one, kinds[0][0]) for one in x], *kinds[0])


def _linspace(b, node, x, kinds):
    count, dtype = node.fixed("num"), kinds[0][0]
    if count == 1:
        return b.inline(lambda start, stop: start[None], x)
    return b.inline(lambda start, stop: tf.concat([
        start + tf.cast(tf.range(count - 1), dtype) * ((stop - start) / (count - 1)), stop[None]], 0), x)


def _one_hot(b, node, x, kinds):
    dtype, depth, axis = kinds[0][0], node["depth"], node["axis"]
    on, off = (b.constant(default, dtype) if node[name] is None else b.cast(
        node[name] if isinstance(node[name], Value) else b.constant(*literal(node[name])), dtype)
        for name, default in (("on_value", 1), ("off_value", 0)))
    indices = x[0] if x[0].dtype in (I32, I64) else b.cast(x[0], I64)

    def compute(places, on, off, *computed):
        rows = tf.range(tf.cast(computed[0] if computed else depth, places.dtype))
        last = axis if axis >= 0 else places.shape.rank
        rows = tf.reshape(rows, [-1] + [1] * (places.shape.rank - last))
        return tf.where(tf.equal(tf.expand_dims(places, last), rows), on, off)
    return b.inline(compute, [indices, on, off, *([depth] if isinstance(depth, Value) else [])])


# ---- places ----

def _gather(b, node, x, kinds):
    batch, axis = node.fixed("batch_dims"), node.fixed("axis")
    axis = batch if axis is None else axis
    if not batch:
        return b.op("Gather", x, *kinds[0], axis=axis)
    if x[1].rank is None or x[0].rank is None:
        refuse(node, "with batch_dims of an unknown rank")
    axis, batch = axis % x[0].rank, batch % x[1].rank
    if axis != batch:
        refuse(node, "along another axis than the one behind batch_dims")
    places = b.op("Unsqueeze", [b.ints(x[1]), b.constant([-1], I64)], I64, None)
    return b.op("GatherND", [x[0], places], *kinds[0], batch_dims=batch)


def _gather_nd(b, node, x, kinds):
    return b.op("GatherND", [x[0], b.ints(x[1])], *kinds[0])


def _select(b, node, x, kinds):
    condition, *pair = x
    dtype = kinds[0][0]
    if dtype in _CHOSEN:
        return b.op("Where", x, *kinds[0])
    wide = dtypes.float32 if dtype.is_floating else I32 if dtype.size < 4 else I64
    return b.cast(b.op("Where", [condition, *(b.cast(one, wide) for one in pair)], wide, kinds[0][1]), dtype)


def _where(b, node, x, kinds):
    found = b.op("NonZero", x, I64, [-1, -1])
    return b.cast(b.op("Transpose", [found], I64, kinds[0][1], perm=[1, 0]), kinds[0][0])


def _scatter(reduction):
    def write(b, node, x, kinds):
        return b.op("ScatterND", [x[0], b.ints(x[1]), x[2]], *kinds[0], reduction=reduction)
    return write


def _scatter_sub(b, node, x, kinds):
    return _scatter("add")(b, node, [x[0], x[1], b.like("Neg", x[2])], kinds)


def _scatter_nd(b, node, x, kinds):
    zeros = b.op("Expand", [b.constant(0, kinds[0][0]), _shape(b, node["shape"])], *kinds[0])
    return _scatter("add")(b, node, [zeros, *x], kinds)


def _segment_sum(b, node, x, kinds):
    count, ids = node["num_segments"], x[1]

    def compute(value, ids, *computed):
        # Rows of negative segments are left out: they go into one more, which is cut off.
        most = tf.cast(computed[0] if computed else count, tf.int64)
        ids = tf.where(ids < 0, most, ids)
        shape = tf.concat([[most + 1], tf.shape(value, tf.int64)[ids.shape.rank:]], 0)
        return tf.scatter_nd(ids[..., None], value, shape)[:-1]
    return b.inline(compute, [x[0], b.ints(ids), *([count] if isinstance(count, Value) else [])])


# ---- orders ----

def _top_k(b, node, x, kinds):
    found, places = b.op("TopK", [x[0], b.vector(node["k"] if isinstance(node["k"], Value) else [node["k"]])],
                         outputs=[kinds[0], (I64, kinds[1][1])], axis=-1, sorted=bool(node["sorted"]))
    return [found, b.cast(places, kinds[1][0])]


def _ordered(place):
    def write(b, node, x, kinds):
        axis, value = node.fixed("axis"), x[0]
        size = b.op("Gather", [b.op("Shape", [value], I64, [-1]), b.constant([axis], I64)], I64, [1])
        found, places = b.op("TopK", [value, size], outputs=[(value.dtype, value.dims), (I64, value.dims)], axis=axis,
                             largest=int(node["direction"] != "ASCENDING"))
        return b.cast((found, places)[place], kinds[0][0])
    return write


def _unique(b, node, x, kinds):
    found, _, places, counts = b.op("Unique", x, outputs=[
        kinds[0], (I64, [-1]), (I64, kinds[1][1]), (I64, [-1])], sorted=0)
    return [found, *(b.cast(one, kind[0]) for one, kind in zip((places, counts), kinds[1:]))]


LINES = {
    "argsort": _ordered(1), "boolean_mask": pictures.LINES["boolean_mask"],
    "broadcast_like": lambda b, node, x, kinds: _expand(b, x[0], b.shape_of(x[1]), kinds),
    "broadcast_to": _broadcast, "concat": _concat,
    "expand_dims": lambda b, node, x, kinds: b.op("Unsqueeze", [x[0], b.vector([node.fixed("axis")])], *kinds[0]),
    "eye": pictures.LINES["eye"],
    "fill": lambda b, node, x, kinds: _expand(b, x[1], b.ints(x[0]), kinds),
    "flip_left_right": lambda b, node, x, kinds: _backwards(b, x[0], [-2]),
    "flip_up_down": lambda b, node, x, kinds: _backwards(b, x[0], [-3]),
    "gather": _gather, "gather_nd": _gather_nd, "linspace": _linspace, "one_hot": _one_hot, "ones": _filled(1),
    "ones_like": _filled_like(1), "pad": _pad, "range": _range, "rank": _rank, "repeat": _repeat, "reshape": _reshape,
    "reshape_like": lambda b, node, x, kinds: b.reshape(x[0], b.shape_of(x[1]), kinds[0][1]),
    "resize_with_crop_or_pad": pictures.LINES["resize_with_crop_or_pad"], "reverse": _reverse,
    "reverse_sequence": lambda b, node, x, kinds: b.op(
        "ReverseSequence", [x[0], b.ints(x[1])], *kinds[0], time_axis=node["seq_axis"], batch_axis=node["batch_axis"]),
    "rgb_to_grayscale": pictures.LINES["rgb_to_grayscale"], "roll": _roll, "scatter_nd": _scatter_nd,
    "select": _select, "sequence_mask": pictures.LINES["sequence_mask"], "shape": _shape_as, "size": _size,
    "slice": _slice, "sort": _ordered(0), "split": _split, "squeeze": _squeeze, "stack": _stack,
    "strided_slice": _strided_slice, "tensor_scatter_nd_add": _scatter("add"),
    "tensor_scatter_nd_max": _scatter("max"), "tensor_scatter_nd_min": _scatter("min"),
    "tensor_scatter_nd_sub": _scatter_sub, "tensor_scatter_nd_update": _scatter(None), "tile": _tile,
    "top_k": _top_k, "transpose": _transpose, "unique": _unique, "unique_with_counts": _unique,
    "unsorted_segment_sum": _segment_sum, "unstack": _unstack, "where": _where, "zeros": _filled(0),
    "zeros_like": _filled_like(0),
}
