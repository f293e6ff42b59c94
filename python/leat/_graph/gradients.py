"""``tf.gradients`` and ``tf.hessians``: gradients of values of the function that is traced."""

from leat._core.tensor import convert_to_tensor
from leat._graph import ops, tape, trace

_EAGER = "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None,
              stop_gradients=None, unconnected_gradients=tape.UnconnectedGradients.NONE):
    """The gradients of the sum of `ys` with respect to each of `xs`, a list (``tf.gradients``); None, or zeros on
    request, where nothing depends on one. Inside of a ``tf.function`` alone: RuntimeError elsewhere."""
    graph = trace.current_graph()
    if graph is None:
        raise RuntimeError(_EAGER)
    zero = tape.UnconnectedGradients(unconnected_gradients) is tape.UnconnectedGradients.ZERO
    ys, xs = _listed(ys), _listed(xs)
    grads = [None] * len(ys) if grad_ys is None else _listed(grad_ys)
    if len(grads) != len(ys):
        raise ValueError(f"Passed {len(grads)} grad_ys for {len(ys)} ys")
    trace.check_told(graph, xs)
    pairs = []
    with trace.recorded():
        for y, grad in zip(ys, grads):
            found = trace.reach(graph, convert_to_tensor(y))
            if found._graph is not graph:  # a constant, whose number is that of another value here
                continue
            pairs.append((found, None if grad is None else trace.reach(graph, convert_to_tensor(
                grad, dtype_hint=found.dtype))))
        stops = {found._id for stop in _listed([] if stop_gradients is None else stop_gradients)
                 for found in _values(graph, stop)}
        return tape._gradients(graph, [pair for pair in pairs if pair[0].dtype._is_trainable], xs, zero, stops=stops)


def _values(graph, x):
    if hasattr(x, "_as_tensor"):
        return graph.reads_of(x)
    found = tape._in_graph(graph, x)
    return [] if found is None else [found]


def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """The second derivatives of the sum of `ys` by each of `xs`, a list of tensors of the shape of x twice
    (``tf.hessians``). Inside of a ``tf.function`` alone; the shapes have to be known."""
    xs = _listed(xs)
    out = []
    for x, first in zip(xs, gradients(ys, xs)):
        shape = convert_to_tensor(x).shape.as_list()
        if None in shape:
            raise trace.NotTraceable("the hessian by a tensor whose shape is not known")
        flat = ops.FUNCTIONS["reshape"](first, [-1])
        rows = [gradients(flat[i], x, unconnected_gradients=tape.UnconnectedGradients.ZERO)[0]
                for i in range(flat.shape[0])]
        out.append(ops.FUNCTIONS["reshape"](ops.FUNCTIONS["stack"](rows), [*shape, *shape]))
    return out
