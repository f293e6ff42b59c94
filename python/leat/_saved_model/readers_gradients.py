"""Nodes with a gradient of their own, what ``tf.custom_gradient`` leaves in a graph, and those that TensorFlow's
gradients are made of, for ``readers``: lines of READERS there."""

import leat as tf
from leat import nest
from leat._files.wire import DecodeError
from leat._graph import tape, trace
from leat._saved_model.calling import op


def identity_n(run, node, *inputs):
    """The inputs; where the node is of a type whose gradient the file has, with that gradient. Where the file speaks of
    one that it does not have, taking a gradient is LookupError."""
    kind, inputs = node.s("_gradient_op_type"), list(inputs)
    if not kind:
        return inputs
    if not all(hasattr(one, "_has_values") for one in inputs):
        raise DecodeError(f"node {node.name}, a {node.op}, takes tensors alone")
    graph = trace.graph_for(inputs, frozenset())
    return inputs if graph is None else tape.attach(graph, inputs, inputs, _gradient_of(run, kind))


def _gradient_of(run, kind):
    """The function from the gradients of the node's outputs to those of its inputs, as a list with None."""
    try:
        name, taken, structure = run.library.gradient(kind)
    except LookupError as error:
        return _failing(error)
    held = [run.tensor(*one) if isinstance(one, tuple) else one for one in taken]
    resumed = run.resumed()

    def gradient(*upstream):
        made = resumed.call(name, [*upstream, *held])
        leaves = nest.flatten(structure)
        if sum(leaf is not None for leaf in leaves) != len(made):
            raise DecodeError(f"function {name}, a gradient, has {len(made)} results, its structure others")
        found = iter(made)
        return [None if leaf is None else next(found) for leaf in leaves]
    return gradient


def _failing(error):
    def gradient(*upstream):
        raise error
    return gradient


class _Broadcast:
    """Along which dimensions a gradient is summed for a tensor that was broadcast: it has that tensor's shape then."""

    def __init__(self, shape):
        self.shape = shape


def summed(plain):
    """A sum, along dimensions that are known or what BroadcastGradientArgs gives."""
    def read(run, node, x, axis):
        if isinstance(axis, _Broadcast):
            return op("sum_like", x, tf.zeros(axis.shape, x.dtype))
        return plain(run, node, x, axis)
    return read


def _bias_add_grad(run, node, upstream):
    axis = 1 if node.s("data_format") == "NCHW" else upstream.shape.rank - 1
    return tf.reduce_sum(upstream, [one for one in range(upstream.shape.rank) if one != axis])


def _leaky_relu_grad(run, node, upstream, x):
    return tf.where(x > 0, upstream, upstream * tf.cast(node.f("alpha", 0.2), x.dtype))


def _strided_slice_grad(run, node, shape, begin, end, strides, upstream):
    masks = {name: node.i(name) for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                             "shrink_axis_mask")}
    return op("strided_slice_grad", upstream, tf.zeros(shape, upstream.dtype), begin=begin, end=end, strides=strides,
              **masks)


_SELU_SCALE, _SELU_BELOW = 1.0507009873554805, 1.7580993408473768

LINES = {
    "BiasAddGrad": _bias_add_grad,
    "BroadcastGradientArgs": lambda run, node, x, y: [_Broadcast(x), _Broadcast(y)],
    "EluGrad": lambda run, node, upstream, y: tf.where(y < 0, (y + 1) * upstream, upstream),
    "InvGrad": lambda run, node, y, upstream: -upstream * y * y,
    "LeakyReluGrad": _leaky_relu_grad,
    "ReciprocalGrad": lambda run, node, y, upstream: -upstream * y * y,
    "Relu6Grad": lambda run, node, upstream, x: tf.where((x > 0) & (x < 6), upstream, tf.zeros_like(upstream)),
    "RsqrtGrad": lambda run, node, y, upstream: upstream * -0.5 * y * y * y,
    "SeluGrad": lambda run, node, upstream, y: tf.where(y < 0, upstream * (y + _SELU_BELOW), upstream * _SELU_SCALE),
    "SigmoidGrad": lambda run, node, y, upstream: upstream * y * (1 - y),
    "SoftplusGrad": lambda run, node, upstream, x: upstream * tf.sigmoid(x),
    "SoftsignGrad": lambda run, node, upstream, x: upstream / tf.square(1 + tf.abs(x)),
    "SqrtGrad": lambda run, node, y, upstream: upstream * 0.5 / y,
    "StridedSliceGrad": _strided_slice_grad,
    "TanhGrad": lambda run, node, y, upstream: upstream * (1 - y * y),
}
