"""The same as ``writers`` of layers: lines of WRITERS there."""

import leat as tf
from leat import dtypes
from leat._saved_model.translate import Value, output_of as _of, repeated as _repeated
from leat.errors import UnimplementedError

I32 = dtypes.int32


# ---- layers ----

def _windows(node):
    """The strides of a picture's operation, and its padding."""
    strides = node["strides"] or (node["ksize"] if "ksize" in node._defaults else [1, 1])
    return {"strides": [1, *strides, 1], "padding": node["padding"]}


def _is_depthwise(x, filters):
    return filters.dims is not None and x.dims is not None and filters.dims[2] == 1 and x.dims[3] not in (-1, 1)


def _conv2d(b, node, x, kinds):
    dilations, strides = node["dilations"] or [1, 1], node["strides"] or [1, 1]
    window = dict(_windows(node), dilations=[1, *dilations, 1])
    image, filters = x
    if not _is_depthwise(image, filters) or strides[0] != strides[1] or dilations != [1, 1]:
        return b.op("Conv2D", x, **window, **_of(kinds))
    height, width, _, out = filters.dims
    channels = image.dims[3]
    dims = [height, width, channels, out // channels]
    turned = b.op("Reshape", [filters, b.constant(dims, I32)], filters.dtype, dims)
    return b.op("DepthwiseConv2dNative", [image, turned], **window, **_of(kinds))


def _conv2d_back(b, node, x, kinds):
    window = dict(_windows(node), dilations=[1, *(node["dilations"] or [1, 1]), 1])
    return b.op("Conv2DBackpropInput", [b.shape_of(x[0]), x[1], x[2]], **window, **_of(kinds))


def _pool(name):
    def write(b, node, x, kinds):
        return b.op(name, x, ksize=[1, *node["ksize"], 1], **_windows(node), **_of(kinds))
    return write


def _batch_norm(b, node, x, kinds):
    def compute(value, gamma, beta):
        epsilon = node["epsilon"]
        axes = list(range(value.shape.rank - 1))
        mean = tf.reduce_mean(value, axes)
        variance = tf.reduce_mean(tf.math.squared_difference(value, mean), axes)
        return (value - mean) * (tf.math.rsqrt(variance + epsilon) * gamma) + beta, mean, variance
    return b.inline(compute, x)


def _loss(b, node, x, kinds):
    (labels, logits) = x
    dims = logits.dims
    if len(dims) != 2:
        def flat(labels, logits):
            found = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(labels, [-1]), tf.reshape(
                logits, [-1, logits.shape[-1]]))
            return tf.reshape(found, tf.shape(labels))
        return b.inline(flat, x)
    return b.op("SparseSoftmaxCrossEntropyWithLogits", [logits, labels], outputs=[*kinds, (logits.dtype, dims)])[:1]


def _activation(name):
    known = {"tanh": tf.tanh, "sigmoid": tf.sigmoid, "relu": tf.nn.relu, "linear": lambda x: x, "exp": tf.exp,
             "hard_sigmoid": lambda x: tf.nn.relu6(x + 3.) / 6., "softplus": tf.math.softplus, "elu": tf.nn.elu,
             "relu6": tf.nn.relu6, "softsign": tf.math.softsign, "selu": getattr(tf.nn, "selu", None)}
    if known.get(name) is None:
        raise UnimplementedError(None, None, f"a recurrent layer's activation {name!r} cannot be written into a "
                                 f"SavedModel; one of {', '.join(known)} can")
    return known[name]


def _over_steps(x, mask, states, step):
    """The sequences of the states of a recurrence, and of further results: ``step(x(t), *states)`` gives both."""
    count, number = tf.shape(x)[1], len(states)
    rows = [tf.zeros(tf.concat([[count], tf.shape(state)], 0), state.dtype) for state in states]
    x = tf.transpose(x, [1, 0, 2])
    mask = None if mask is None else tf.transpose(mask, [1, 0])[:, :, None]

    def body(place, *values):
        before = values[number:]
        after = step(x[place], *before)
        if mask is not None:
            after = [tf.where(mask[place], new, old) for new, old in zip(after, before)]
        written = [tf.tensor_scatter_nd_update(one, [[place]], state[None]) for one, state in zip(values, after)]
        return (place + 1, *written, *after)
    rows = tf.while_loop(lambda place, *rest: place < count, body, (tf.constant(0), *rows, *states))[1:number + 1]
    return [tf.transpose(one, [1, 0, 2]) for one in rows]


def _recurrent(cell, num_weights, num_states):
    """A recurrence; ``cell(node, weights)`` gives the function of a step."""
    def write(b, node, x, kinds):
        def compute(value, *rest):
            weights, states, mask = rest[:num_weights], rest[num_weights:num_weights + num_states], rest[
                num_weights + num_states:]
            return tuple(_over_steps(value, mask[0] if mask else None, states, cell(node, weights)))
        made = b.inline(compute, x)
        # What only the gradient reads has no values here.
        return made + [Value("", dtype, dims) for dtype, dims in kinds[num_states:]]
    return write


def _lstm(node, weights):
    activation, gate = _activation(node["activation"]), _activation(node["recurrent_activation"])

    def step(value, h, c):
        i, f, k, o = tf.split(value + tf.matmul(h, weights[0]), 4, axis=-1)
        c = gate(f) * c + gate(i) * activation(k)
        return gate(o) * activation(c), c
    return step


def _gru(node, weights):
    activation, gate = _activation(node["activation"]), _activation(node["recurrent_activation"])
    kernel, bias = weights

    def step(value, h):
        units = h.shape[-1]
        xz, xr, xk = tf.split(value, 3, axis=-1)
        if node["reset_after"]:
            pz, pr, pk = tf.split(tf.matmul(h, kernel) + bias, 3, axis=-1)
            z, r = gate(xz + pz), gate(xr + pr)
            k = activation(xk + r * pk)
        else:
            pz, pr = tf.split(tf.matmul(h, kernel[:, :2 * units]) + bias[:2 * units], 2, axis=-1)
            z, r = gate(xz + pz), gate(xr + pr)
            k = activation(xk + tf.matmul(r * h, kernel[:, 2 * units:]) + bias[2 * units:])
        return (z * h + (1 - z) * k,)
    return step


def _simple_rnn(node, weights):
    activation = _activation(node["activation"])
    return lambda value, state: (activation(value + tf.matmul(state, weights[0])),)


def _attention(b, node, x, kinds):
    def compute(query, key, value, *others):
        heads, groups = query.shape[2], key.shape[2]
        if heads != groups:
            key, value = (_repeated(one, tf.constant(heads // groups), 2) for one in (key, value))
        scores = tf.einsum("bqhd,bkhd->bhqk", query * tf.cast(node["scale"], query.dtype), key)
        seen = None
        for other in others:
            if other.dtype == tf.bool:
                seen = other
            else:
                scores = scores + other
        if node["is_causal"]:
            size = tf.shape(scores)
            causal = tf.range(size[2])[:, None] >= tf.range(size[3])[None]
            seen = causal if seen is None else tf.logical_and(seen, causal)
        if seen is not None:
            scores = tf.where(seen, scores, tf.cast(scores.dtype.min, scores.dtype))
        return tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores), value)
    return b.inline(compute, x) + [Value("", dtype, dims) for dtype, dims in kinds[1:]]


LINES = {
    "avg_pool2d": _pool("AvgPool"), "batch_norm": _batch_norm, "conv2d": _conv2d,
    "conv2d_backprop_input": _conv2d_back, "dot_product_attention": _attention, "gru": _recurrent(_gru, 2, 1),
    "lstm": _recurrent(_lstm, 1, 2), "max_pool2d": _pool("MaxPool"), "simple_rnn": _recurrent(_simple_rnn, 1, 1),
    "sparse_softmax_cross_entropy_with_logits": _loss,
}
