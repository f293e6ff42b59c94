"""TensorFlow's operations as leat's, where that is more than a line of ``table``.

A line of READERS is one: a function of the Run, the Node and its inputs; it gives its output, or a list of them.
"""

import leat as tf
from leat import dtypes
from leat._files.wire import DecodeError
from leat._saved_model import readers_gradients as gradients, readers_text as text
from leat._saved_model.calling import as_list as _list, number as _number, op
from leat.errors import UnimplementedError


def _with(name, *arguments):
    """An operation some of whose last inputs are leat's arguments, of these names."""
    def read(run, node, *inputs):
        count = len(inputs) - len(arguments)
        return op(name, *inputs[:count], **dict(zip(arguments, inputs[count:])))
    return read


def _reduction(name):
    def read(run, node, value, axis):
        return op(name, value, axis=_list(axis), keepdims=node.b("keep_dims"))
    return read


# ---- numbers and arrays ----

def _arg(name):
    def read(run, node, value, axis):
        return op(name, value, axis=_number(node, axis), output_type=node.type("output_type", dtypes.int64))
    return read


def _cumulative(name):
    def read(run, node, value, axis):
        return op(name, value, axis=_number(node, axis), exclusive=node.b("exclusive"), reverse=node.b("reverse"))
    return read


def _concat(run, node, *inputs):
    return op("concat", list(inputs[:-1]), axis=_number(node, inputs[-1]))


def _pack(run, node, *inputs):
    return op("stack", list(inputs), axis=node.i("axis"))


def _unpack(run, node, value):
    return op("unstack", value, num=node.i("num"), axis=node.i("axis"))


def _split(run, node, axis, value):
    return op("split", value, num_or_size_splits=node.i("num_split"), axis=_number(node, axis))


def _split_sizes(run, node, value, sizes, axis):
    return op("split", value, num_or_size_splits=sizes, axis=_number(node, axis), num=node.i("num_split"))


def _gather(run, node, params, indices, axis):
    return op("gather", params, indices, axis=_number(node, axis), batch_dims=node.i("batch_dims"))


def _strided_slice(run, node, value, begin, end, strides):
    masks = {name: node.i(name) for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                             "shrink_axis_mask")}
    return op("strided_slice", value, begin=begin, end=end, strides=strides, **masks)


def _squeeze(run, node, value):
    return op("squeeze", value, axis=node.ints("squeeze_dims", []) or None)


def _one_hot(run, node, indices, depth, on_value, off_value):
    return op("one_hot", indices, depth=depth, on_value=on_value, off_value=off_value, axis=node.i("axis", -1),
              dtype=on_value.dtype)


def _range(run, node, start, limit, delta):
    return op("range", start, limit, delta)


def _pad(run, node, value, paddings, fill=None):
    return op("pad", value, paddings=paddings, mode="CONSTANT", constant_values=fill)


def _mirror_pad(run, node, value, paddings):
    return op("pad", value, paddings=paddings, mode=node.s("mode"))


def _shape_n(run, node, *inputs):
    return [op("shape", value, out_type=node.type("out_type", dtypes.int32)) for value in inputs]


def _eigen(with_vectors, without):
    """Eigenvalues: their vectors are computed where the node asks for them."""
    return lambda run, node, x: op(with_vectors, x) if node.b("compute_v", True) else [op(without, x), None]


def _select(run, node, condition, x, y):
    """TensorFlow's first form: a condition of one value, or of one for each row."""
    if condition.shape.rank == 1 and x.shape.rank not in (0, 1, None):
        condition = op("reshape", condition, shape=[-1] + [1] * (x.shape.rank - 1))
    return op("select", condition, x, y)


def _broadcast_shapes(run, node, x, y):
    return tf.broadcast_dynamic_shape(x, y)


def _cast(run, node, value):
    return op("cast", value, dtype=node.type("DstT"))


def _top_k(run, node, value, k):
    return op("top_k", value, k=_number(node, k) if k._has_values else k, sorted=node.b("sorted", True),
              index_type=node.type("index_type", dtypes.int32))


def _unique(name):
    return lambda run, node, value, *axis: op(name, value, out_idx=node.type("out_idx", dtypes.int32))


def _bincount(run, node, value, size, weights):
    if value.shape.rank != 1 or weights.shape.num_elements() != 0:
        rows = op("one_hot", value, depth=size, on_value=None, off_value=None, axis=-1, dtype=weights.dtype)
        if weights.shape.num_elements() != 0:
            rows = rows * weights[..., None]
        found = op("reduce_sum", rows, axis=[value.shape.rank - 1])
        return op("cast", found > 0, dtype=weights.dtype) if node.b("binary_output") else found
    kept = op("select", value < op("cast", size, dtype=value.dtype), op("ones_like", value), op("zeros_like", value))
    places = value * kept
    found = op("unsorted_segment_sum", op("cast", kept, dtype=weights.dtype), places, num_segments=size)
    return op("minimum", found, tf.ones([], weights.dtype)) if node.b("binary_output") else found


def _ragged_bincount(run, node, splits, values, size, weights):
    if weights.shape.num_elements() != 0:
        raise UnimplementedError(None, None, f"node {node.name}: {node.op} with weights; count without them")
    ragged = tf.RaggedTensor.from_row_splits(values, splits, validate=False)
    count, number = (op("cast", one, dtype=values.dtype) for one in (size, ragged.nrows()))
    is_in, rows = values < count, op("cast", ragged.value_rowids(), dtype=values.dtype)
    places = op("select", is_in, rows * count + values, op("zeros_like", values))
    found = op("unsorted_segment_sum", op("cast", is_in, dtype=weights.dtype), places, num_segments=number * count)
    found = op("reshape", found, shape=op("stack", [number, count], axis=0))
    return op("minimum", found, tf.ones([], weights.dtype)) if node.b("binary_output") else found


def _bucketize(run, node, value):
    found = node._get("boundaries", "list", None)
    bounds = tf.constant([] if found is None else list(found.f), dtypes.float32)
    row = op("cast", op("reshape", value, shape=[-1]), dtype=dtypes.float32)
    return op("reshape_like", tf.searchsorted(bounds, row, side="right"), value)


def _space_to_batch(run, node, value, block, paddings):
    return tf.space_to_batch(value, _list(block), paddings)


def _batch_to_space(run, node, value, block, crops):
    return tf.batch_to_space(value, _list(block), crops)


def _einsum(run, node, *inputs):
    return op("einsum", list(inputs), equation=node.s("equation"))


def _leaky_relu(run, node, value):
    return tf.nn.leaky_relu(value, node.f("alpha", 0.2))


def _dynamic_stitch(run, node, *inputs):
    half = len(inputs) // 2
    return tf.dynamic_stitch(list(inputs[:half]), list(inputs[half:]))


def _matmul(run, node, a, b):
    return op("matmul", a, b, transpose_a=node.b("transpose_a"), transpose_b=node.b("transpose_b"))


def _batch_matmul(run, node, a, b):
    return op("matmul", a, b, transpose_a=node.b("adj_x"), transpose_b=node.b("adj_y"))


# ---- layers ----

def _only_last(node):
    if node.s("data_format", "NHWC") != "NHWC":
        raise UnimplementedError(None, None, f"node {node.name}, a {node.op} of a SavedModel, has its channels in "
                                 "front; export the model with channels_last")


def _window(node, name, default=(1, 1, 1, 1)):
    found = node.ints(name, list(default))
    if len(found) != 4:
        raise DecodeError(f"node {node.name}: {name} has {len(found)} numbers")
    return found[1:3]


def _padded(node, value):
    """The picture, with explicit paddings in it, and the padding that is left to do."""
    padding = node.s("padding")
    if padding != "EXPLICIT":
        return value, padding
    found = node.ints("explicit_paddings", [0] * 8)
    if len(found) != 8:
        raise DecodeError(f"node {node.name}: explicit_paddings has {len(found)} numbers")
    return tf.pad(value, [found[i:i + 2] for i in range(0, 8, 2)]), "VALID"


def _conv2d(run, node, value, filters):
    _only_last(node)
    value, padding = _padded(node, value)
    return op("conv2d", value, filters, strides=_window(node, "strides"), padding=padding,
              dilations=_window(node, "dilations"))


def _depthwise(run, node, value, filters):
    height, width, channels, each = filters.shape
    return _conv2d(run, node, value, op("reshape", filters, shape=[height, width, 1, channels * each]))


def _conv2d_back(run, node, sizes, filters, gradient):
    _only_last(node)
    like = op("zeros", shape=sizes, dtype=gradient.dtype) if sizes._has_values else tf.zeros(sizes, gradient.dtype)
    return op("conv2d_backprop_input", like, filters, gradient, strides=_window(node, "strides"),
              padding=node.s("padding"), dilations=_window(node, "dilations"))


def _pool(name):
    def read(run, node, value):
        _only_last(node)
        return op(name, value, ksize=_window(node, "ksize"), strides=_window(node, "strides"),
                  padding=node.s("padding"))
    return read


def _batch_norm(run, node, x, scale, offset, mean, variance):
    _only_last(node)
    epsilon = node.f("epsilon", 1e-4)
    if node.b("is_training", True):
        axes = list(range(x.shape.rank - 1))
        mean, variance = tf.nn.moments(x, axes)
    factor = tf.math.rsqrt(variance + epsilon) * scale
    y = op("cast", op("cast", x, dtype=factor.dtype) * factor + (offset - mean * factor), dtype=x.dtype)
    return [y, mean, variance, mean, variance, variance]


def _cross_entropy(run, node, logits, labels):
    loss = op("sparse_softmax_cross_entropy_with_logits", labels, logits)
    return [loss, op("softmax", logits) - op("one_hot", labels, depth=logits.shape[-1], on_value=None, off_value=None,
                                             axis=-1, dtype=logits.dtype)]


def _resize(method):
    def read(run, node, value, size):
        if node.b("align_corners") or not node.b("half_pixel_centers"):
            raise UnimplementedError(None, None, f"node {node.name}, a {node.op} of a SavedModel, is TensorFlow 1's "
                                     "way of resizing (half_pixel_centers=False); export the model by tf.image.resize")
        return tf.image.resize(value, size, method=method)
    return read


# ---- variables ----

def _read(run, node, variable):
    return variable.read_value()


def _assign(run, node, variable, value):
    variable.assign(value)
    return []


def _assign_add(run, node, variable, value):
    variable.assign_add(value)
    return []


def _assign_sub(run, node, variable, value):
    variable.assign_sub(value)
    return []


def _resource_gather(run, node, variable, indices):
    return op("gather", variable.read_value(), indices, axis=None, batch_dims=node.i("batch_dims"))


def _scatter(name):
    def read(run, node, variable, indices, updates):
        getattr(variable, name)(tf.expand_dims(indices, -1), updates)
        return []
    return read


# ---- functions ----

def _call(run, node, *inputs):
    return run.call(node.function("f"), list(inputs))


def _is_true(value):
    if value.dtype is dtypes.bool:
        return value
    return op("not_equal", value, tf.zeros([], value.dtype)) if value.dtype is not dtypes.string else (
        op("string_length", value) > 0)


def _if(run, node, predicate, *inputs):
    sides = [node.function("then_branch"), node.function("else_branch")]
    predicate = _is_true(predicate)
    if predicate._has_values:
        return run.call(sides[0 if bool(predicate.numpy()) else 1], list(inputs))
    return list(tf.cond(predicate, lambda: tuple(run.call(sides[0], list(inputs))),
                        lambda: tuple(run.call(sides[1], list(inputs)))))


def _case(run, node, number, *inputs):
    names = node.functions("branches")
    return list(tf.switch_case(number, [lambda name=name: tuple(run.call(name, list(inputs))) for name in names]))


def _is_value(value):
    return hasattr(value, "_has_values") or isinstance(value, tf.TensorArray)


def _while(run, node, *inputs):
    test, body = node.function("cond"), node.function("body")
    graph, shapes = run.graph(body), node.shapes("output_shapes")
    if len(graph.returns) != len(inputs):
        raise DecodeError(f"node {node.name}: the loop's body gives {len(graph.returns)} values of {len(inputs)}")
    moving = [place for place, value in enumerate(inputs) if _is_value(value) and not graph.is_kept(place)]

    def whole(values):
        found = list(inputs)
        for place, value in zip(moving, values):
            found[place] = value
        return found

    def step(*values):
        after = run.call(body, whole(values))
        return tuple(after[place] for place in moving)
    invariants = tuple(None if isinstance(inputs[place], tf.TensorArray) else
                       shapes[place] if place < len(shapes) else inputs[place].shape for place in moving)
    found = tf.while_loop(lambda *values: _is_true(run.call(test, whole(values))[0]), step,
                          tuple(inputs[place] for place in moving), shape_invariants=invariants)
    return whole(found)


# ---- lists of tensors ----

def _element_shape(tensor):
    if not tensor._has_values or tensor.shape.rank == 0:
        return None
    return [None if size < 0 else size for size in tensor.numpy().tolist()]


def _reserve(run, node, shape, count):
    return tf.TensorArray(node.type("element_dtype"), count, element_shape=_element_shape(shape))


def _empty_list(run, node, shape, most):
    return tf.TensorArray(node.type("element_dtype"), 0, dynamic_size=True, element_shape=_element_shape(shape))


def _from_tensor(run, node, tensor, shape):
    count = tensor.shape[0] if tensor.shape.rank else None
    count = tf.shape(tensor)[0] if count is None else count
    array = tf.TensorArray(tensor.dtype, count, element_shape=tensor.shape[1:])
    return array.unstack(tensor)


def _get_item(run, node, array, place, shape):
    return array.read(place)


def _set_item(run, node, array, place, value):
    return array.write(place, value)


def _stack(run, node, array, shape):
    return array.stack()


def _push_back(run, node, array, value):
    return array.write(array.size(), value)


def _assert(run, node, condition, *data):
    tf.debugging.Assert(condition, list(data))
    return []


def _absent(node):
    raise DecodeError(f"node {node.name} of a function is a placeholder")


READERS = {
    "All": _reduction("reduce_all"), "Any": _reduction("reduce_any"), "ArgMax": _arg("argmax"),
    "ArgMin": _arg("argmin"), "Add": lambda run, node, x, y: op("add", x, y),
    "Assert": _assert,
    "AsString": lambda run, node, x: op("as_string", x, precision=node.i("precision", -1),
                                        scientific=node.b("scientific"), shortest=node.b("shortest"),
                                        width=node.i("width", -1), fill=node.s("fill")),
    "AssignAddVariableOp": _assign_add, "AssignSubVariableOp": _assign_sub, "AssignVariableOp": _assign,
    "AvgPool": _pool("avg_pool2d"), "BatchToSpaceND": _batch_to_space, "Bucketize": _bucketize,
    "BatchMatMulV2": _batch_matmul, "BatchMatMulV3": _batch_matmul,
    "BatchMatMul": _batch_matmul, "BiasAddV1": lambda run, node, x, y: op("bias_add", x, y),
    "Bitcast": lambda run, node, x: op("bitcast", x, type=node.type("type")), "BroadcastArgs": _broadcast_shapes,
    "BroadcastTo": _with("broadcast_to", "shape"), "Case": _case, "Cast": _cast,
    "CheckNumerics": lambda run, node, x: op("check_numerics", x, message=node.s("message")),
    "ClipByValue": lambda run, node, *x: op("clip_by_value", *x), "ConcatV2": _concat,
    "Const": lambda run, node: node.tensor("value"), "Conv2D": _conv2d, "Conv2DBackpropInput": _conv2d_back,
    "Cumprod": _cumulative("cumprod"), "Cumsum": _cumulative("cumsum"),
    "CumulativeLogsumexp": _cumulative("cumulative_logsumexp"), "DenseBincount": _bincount,
    "DepthwiseConv2dNative": _depthwise, "DisableCopyOnRead": lambda run, node, variable: [],
    "Div": lambda run, node, x, y: op("divide", x, y), "DynamicStitch": _dynamic_stitch,
    "ParallelDynamicStitch": _dynamic_stitch, "Einsum": _einsum, "EmptyTensorList": _empty_list,
    "EnsureShape": lambda run, node, x: tf.ensure_shape(x, node.shape("shape")),
    "ExpandDims": lambda run, node, x, axis: op("expand_dims", x, axis=_number(node, axis)),
    "FusedBatchNormV3": _batch_norm, "FusedBatchNormV2": _batch_norm, "GatherV2": _gather,
    "Gather": lambda run, node, x, y: op("gather", x, y, axis=0),
    "IdentityN": gradients.identity_n, "If": _if, "Identity": lambda run, node, value: value,
    "InTopKV2": lambda run, node, x, y, k: op("in_top_k", y, x, k=_number(node, k)),
    "L2Loss": lambda run, node, x: tf.nn.l2_loss(x), "LeakyRelu": _leaky_relu,
    "LinSpace": lambda run, node, x, y, n: op("linspace", x, y, num=_number(node, n)),
    "LookupTableExportV2": lambda run, node, held: list(held.pairs()),
    "MatMul": _matmul,
    "MatrixBandPart": lambda run, node, x, low, high: op("band_part", x, num_lower=_number(node, low),
                                                         num_upper=_number(node, high)),
    "MatrixDiagPartV3": lambda run, node, x, k, fill: op(
        "diag_part", x, k=_list(k), padding_value=float(_number(node, fill)), align=node.s("align", "RIGHT_LEFT")),
    "MatrixDiagV3": lambda run, node, x, k, rows, columns, fill: op(
        "diag", x, k=_list(k), num_rows=_number(node, rows), num_cols=_number(node, columns),
        padding_value=float(_number(node, fill)), align=node.s("align", "RIGHT_LEFT")),
    "BandedTriangularSolve": lambda run, node, x, y: op("banded_triangular_solve", x, y, lower=node.b("lower", True),
                                                        adjoint=node.b("adjoint")),
    "Eig": _eigen("eig", "eigvals"), "TridiagonalSolve": lambda run, node, x, y: op("tridiagonal_solve", x, y),
    "MatrixInverse": lambda run, node, x: op("matrix_inverse", x, adjoint=node.b("adjoint")),
    "MatrixSetDiagV3": lambda run, node, x, y, k: op("set_diag", x, y, k=_list(k), align=node.s("align", "RIGHT_LEFT")),
    "MatrixSolve": lambda run, node, x, y: op("matrix_solve", x, y, adjoint=node.b("adjoint")),
    "MatrixTriangularSolve": lambda run, node, x, y: op("matrix_triangular_solve", x, y, lower=node.b("lower", True),
                                                        adjoint=node.b("adjoint")),
    "Max": _reduction("reduce_max"), "MaxPool": _pool("max_pool2d"), "Mean": _reduction("reduce_mean"),
    "Min": _reduction("reduce_min"), "MirrorPad": _mirror_pad, "Mod": lambda run, node, x, y: op("floormod", x, y),
    "NoOp": lambda run, node: [], "OneHot": _one_hot,
    "Pack": _pack, "RaggedBincount": _ragged_bincount, "Pad": _pad, "PadV2": _pad, "PartitionedCall": _call,
    "PreventGradient": lambda run, node, x: x, "Prod": _reduction("reduce_prod"),
    "Placeholder": lambda run, node: _absent(node), "PlaceholderWithDefault": lambda run, node, x: x,
    "Qr": lambda run, node, x: op("qr", x, full_matrices=node.b("full_matrices")),
    "Range": _range, "ReadVariableOp": _read,
    "ReduceJoin": lambda run, node, x, axis: op("string_reduce_join", x, axis=_list(axis), keepdims=node.b("keep_dims"),
                                                separator=node.s("separator")),
    "Reshape": _with("reshape", "shape"), "ResizeBilinear": _resize("bilinear"), "ResizeBicubic": _resize("bicubic"),
    "ResizeNearestNeighbor": _resize("nearest"), "ResourceGather": _resource_gather,
    "ResourceScatterAdd": _scatter("scatter_nd_add"), "ResourceScatterUpdate": _scatter("scatter_nd_update"),
    "ReverseSequence": lambda run, node, x, n: op("reverse_sequence", x, n, seq_axis=node.i("seq_dim"),
                                                  batch_axis=node.i("batch_dim")),
    "ReverseV2": lambda run, node, x, axis: op("reverse", x, axis=_list(axis)),
    "Roll": lambda run, node, x, shift, axis: op("roll", x, shift=_list(shift), axis=_list(axis)),
    "ScatterNd": lambda run, node, x, y, shape: op("scatter_nd", x, y, shape=shape),
    "Select": _select, "SelfAdjointEigV2": _eigen("self_adjoint_eig", "self_adjoint_eigvals"),
    "Selu": lambda run, node, x: tf.nn.selu(x),
    "Shape": lambda run, node, x: op("shape", x, out_type=node.type("out_type", dtypes.int32)), "ShapeN": _shape_n,
    "Size": lambda run, node, x: op("size", x, out_type=node.type("out_type", dtypes.int32)),
    "Slice": _with("slice", "begin", "size"), "Snapshot": lambda run, node, x: x,
    "SpaceToBatchND": _space_to_batch, "Softsign": lambda run, node, x: tf.math.softsign(x),
    "SparseSoftmaxCrossEntropyWithLogits": _cross_entropy, "Split": _split, "SplitV": _split_sizes,
    "Squeeze": _squeeze, "StatefulPartitionedCall": _call, "StatelessCase": _case, "StatelessIf": _if,
    "StatelessRandomGetAlg": lambda run, node: tf.constant(3),
    "StatelessWhile": _while,
    "StridedSlice": _strided_slice,
    "StringToNumber": lambda run, node, x: op("string_to_number", x, out_type=node.type("out_type", dtypes.float32)),
    "Sum": gradients.summed(_reduction("reduce_sum")),
    "Svd": lambda run, node, x: op("svd", x, full_matrices=node.b("full_matrices"), compute_uv=node.b(
        "compute_uv", True)),
    "TensorListFromTensor": _from_tensor, "TensorListGetItem": _get_item,
    "TensorListLength": lambda run, node, array: array.size(), "TensorListPushBack": _push_back,
    "TensorListReserve": _reserve, "TensorListSetItem": _set_item, "TensorListStack": _stack,
    "Tile": _with("tile", "multiples"), "TopKV2": _top_k, "Transpose": _with("transpose", "perm"),
    "Unique": _unique("unique"), "UniqueWithCounts": _unique("unique_with_counts"), "Unpack": _unpack,
    "UnsortedSegmentMax": _with("unsorted_segment_max", "num_segments"),
    "UnsortedSegmentMin": _with("unsorted_segment_min", "num_segments"),
    "UnsortedSegmentProd": _with("unsorted_segment_prod", "num_segments"),
    "UnsortedSegmentSum": _with("unsorted_segment_sum", "num_segments"),
    "VariableShape": lambda run, node, variable: tf.shape(variable, node.type("out_type", dtypes.int32)),
    "While": _while, **gradients.LINES, **text.LINES,
}
