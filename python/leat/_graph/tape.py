"""``tf.GradientTape``: gradients of what was computed from watched tensors and variables.

What a tape watches has a stand-in in a graph of the library that computes as it is built and remembers; operations on
stand-ins, and on what came of them, are nodes of that graph. Tapes inside of each other share a graph, so that
gradients of gradients are there too. In a function that is traced the function's graph takes that place.

A graph holds more than a tape saw: what was computed before its block, or of what it did not watch. So each tape knows
the values that it recorded, and no gradient flows through others. What is computed of these behind the block counts
until `gradient` is called: programs scale a loss there, for which TensorFlow has no gradient.
"""

import contextlib
import enum
import functools
import weakref

import numpy as np

from leat._core import specs
from leat._core.tensor import Tensor, constant, convert_to_tensor, operation
from leat._graph import trace


class UnconnectedGradients(enum.Enum):
    """What `gradient` gives for a source that did not influence the target (``tf.UnconnectedGradients``)."""

    NONE = "none"
    ZERO = "zero"


class GradientTape:
    """Records operations for `gradient` (``tf.GradientTape``).

    `persistent`: `gradient` may be called several times. `watch_accessed_variables`: trainable variables are watched
    when they are read.
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent = persistent
        self._accessed = watch_accessed_variables
        self._recording = None
        self.recorded = set()  # numbers of the graph's values that were watched, or computed of such in its block
        self._variables = {}  # id -> variable, those that were read or watched
        self._found = {}  # in functions within the one that records: what was asked for -> it and its gradients
        self._is_entered = False

    def __enter__(self):
        if self._is_entered:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        self._start()
        self._is_entered = True
        trace._state.tapes.append(self)
        return self

    def _start(self):
        if self._recording is not None and self._recording.is_open:
            return
        graph = trace.current_graph()
        if graph is None:
            around = trace._state.tapes[-1]._recording if trace._state.tapes else None
            graph = around if around is not None and around.is_eager else trace.Graph(eager=True)
        self._recording, self.recorded = graph, set()
        graph.join(self)

    def __exit__(self, *error):
        self._is_entered = False
        trace._state.tapes.remove(self)
        if self._recording is not None:
            self._recording.end_block(self)

    def __del__(self):
        if getattr(self, "_recording", None) is not None and self._recording.is_eager:
            self._recording.leave(self)

    def watch(self, tensor):
        """Makes tensors (or a structure of them, or variables) sources of gradients."""
        if self._recording is None:
            self._start()
        for leaf in _flatten(tensor):
            if hasattr(leaf, "_as_tensor"):
                self._variables[id(leaf)] = leaf
                continue
            if not isinstance(leaf, Tensor):
                raise ValueError(f"Passed in object {leaf!r} of type '{type(leaf).__name__}', not tf.Tensor or "
                                 "tf.Variable or ExtensionType.")
            if not leaf.dtype._is_trainable:
                continue
            if leaf._graph is not self._recording and leaf._has_values and id(leaf) not in self._recording.aliases:
                self._recording.aliases[id(leaf)] = (leaf, self._recording.constant(leaf))
            found = _in_graph(self._recording, leaf)
            if found is not None:
                self.recorded.add(found._id)

    def _watches(self, variable):
        """Is a read of the variable recorded? Remembers that it was read."""
        if id(variable) in self._variables:
            return True
        if self._accessed and variable.trainable:
            self._variables[id(variable)] = variable
            return True
        return False

    def watched_variables(self):
        """The variables that were watched, in the order of their first use."""
        return tuple(self._variables.values())

    def stop_recording(self):
        """A block whose operations are not recorded."""
        return trace.cut()

    def reset(self):
        """Forgets all that was recorded."""
        if not self._is_entered:
            raise ValueError("Tape is not recording. This can happen if you try to reset an inactive tape.")
        self._recording.leave(self)
        self._recording, self._variables, self._found = None, {}, {}
        self._start()

    @contextlib.contextmanager
    def _resumed(self):
        """In this block the tape records, as in its own."""
        trace._state.tapes.append(self)
        try:
            with trace.recorded():
                yield
        finally:
            trace._state.tapes.reverse()
            trace._state.tapes.remove(self)
            trace._state.tapes.reverse()

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """The gradient of the sum of `target` with respect to each of `sources`, in their structure.

        None, or zeros on request, where the target does not depend on a source. RuntimeError on a second call of a
        tape that is not persistent.
        """
        if self._recording is None or not self._recording.is_user(self):
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or "
                               "jacobians)")
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        graph, targets = self._recording, _flatten(target)
        weights = _flatten(output_gradients) if output_gradients is not None else [None] * len(targets)
        if trace.is_within(graph):
            return _pack(sources, self._gradients_once(targets, _flatten(sources), weights, zero))
        flat = self._computed(targets, _flatten(sources), weights, zero)
        slices = [_slices(graph, gradient) for gradient in flat] if graph.is_eager else []
        if not self._persistent:
            graph.leave(self)  # from here on `graph` knows nothing
            flat = [_detached(gradient, graph) for gradient in flat]
            slices = [[_detached(one, graph) for one in parts] for parts in slices]
        for gradient, parts in zip(flat, slices):
            if parts:
                _note_slices(gradient, parts)
        return _pack(sources, flat)

    def _computed(self, targets, sources, weights, zero):
        graph, own = self._recording, {}  # id of a variable that is a target -> its gradient for itself
        pairs = []
        with trace.recorded():
            for target, weight in zip(targets, weights):
                if hasattr(target, "_as_tensor"):
                    one = _ones(target) if weight is None else convert_to_tensor(weight, dtype_hint=target.dtype)
                    own[id(target)] = own[id(target)] + one if id(target) in own else one
                    continue
                found = _in_graph(graph, target)
                if found is not None and found.dtype._is_trainable:
                    pairs.append((found, None if weight is None else trace.reach(graph, _like(convert_to_tensor(
                        weight, dtype_hint=found.dtype), found))))
            flat = _gradients(graph, pairs, sources, zero and not own, self.recorded)
            flat = [found if id(source) not in own else own[id(source)] if found is None else found + own[id(source)]
                    for source, found in zip(sources, flat)]
            return [_zeros(source) if found is None and zero else found for source, found in zip(sources, flat)]

    def _gradients_once(self, targets, sources, weights, zero):
        """The gradients where a branch or a loop's body asks for them: values of the function around."""
        if self._is_entered and any(isinstance(leaf, Tensor) and trace.is_within(self._recording, leaf._graph)
                                    for leaf in targets):
            raise trace.NotTraceable("the gradient of a value of a branch or a loop, whose tape records outside of it")
        return self._once((*targets, *sources, *weights), (len(targets), len(sources), zero),
                          lambda: self._computed(targets, sources, weights, zero))

    def _once(self, asked, kind, compute):
        """``compute()`` in the function that records. What is traced within it is traced again for what it captures,
        and finds the same values again."""
        key = (*kind, *map(id, asked))
        if key not in self._found:
            with trace.back_in(self._recording):
                self._found[key] = asked, compute()
        return self._found[key][1]

    def jacobian(self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                 experimental_use_pfor=True):
        """The gradients of each value of `target`: shape of the target, then of the source."""
        if self._recording is not None and trace.is_within(self._recording):
            flat = self._once((target, *_flatten(sources)), ("jacobian", UnconnectedGradients(unconnected_gradients)),
                              lambda: self.jacobian(target, _flatten(sources), unconnected_gradients))
            return _pack(sources, flat)
        from leat._graph import ops
        target = self._read(target)
        count = target.shape.num_elements()
        if count is None:
            raise trace.NotTraceable("the jacobian of a target whose shape is not known")
        with self._resumed():
            flat = ops.FUNCTIONS["reshape"](target, [-1])
            parts = [flat[i] for i in range(count)]
        rows = self._rows(parts, sources, unconnected_gradients)
        out = []
        for row, source in zip(rows, _flatten(sources)):
            out.append(None if row is None else ops.FUNCTIONS["reshape"](row, [*target.shape, *source.shape]))
        return _pack(sources, out)

    def batch_jacobian(self, target, source, unconnected_gradients=UnconnectedGradients.NONE,
                       parallel_iterations=None, experimental_use_pfor=True):
        """The gradients of each row of `target` by the same row of `source`: [rows, rest of target, rest of source].

        Rows must not depend on other rows of `source`. Zeros where the target does not depend on it. ValueError
        unless both have two dimensions at least and equally many rows.
        """
        from leat._graph import ops
        target = self._read(target)
        to, by = target.shape, source.shape
        if to.rank is None or None in to.as_list() or by.rank is None or None in by.as_list():
            raise trace.NotTraceable("the batch_jacobian of tensors whose shapes are not known")
        if to.rank < 2 or by.rank < 2:
            raise ValueError(f"Shape {to if to.rank < 2 else by} must have rank at least 2")
        if to[0] != by[0]:
            raise ValueError(f"Need first dimension of target shape ({to}) and source shape ({by}) to match.")
        with self._resumed():
            rows = ops.FUNCTIONS["reshape"](target, [to[0], -1])
            columns = ops.FUNCTIONS["unstack"](rows, axis=1) if rows.shape[1] else []
            (found,) = self._rows(columns, [source], unconnected_gradients)
        shape = [*to, *by[1:]]
        if found is None:
            return ops.FUNCTIONS["cast"](ops.FUNCTIONS["fill"](shape, 0), target.dtype)
        found = ops.FUNCTIONS["reshape"](found, [len(columns), by[0], -1])
        return ops.FUNCTIONS["reshape"](ops.FUNCTIONS["transpose"](found, [1, 0, 2]), shape)

    def _read(self, target):
        """The target as a tensor; a variable as the tape reads it."""
        if self._recording is not None and hasattr(target, "_as_tensor") and self._watches(target):
            with self._resumed():
                return self._recording.read_variable(target)
        return convert_to_tensor(target)

    def _rows(self, targets, sources, unconnected_gradients):
        """For each source the gradients of all targets, stacked; None where no target depends on it."""
        from leat._graph import ops
        persistent, self._persistent = self._persistent, True
        try:
            rows = [_flatten(self.gradient(target, sources, unconnected_gradients=unconnected_gradients))
                    for target in targets]
        finally:
            self._persistent = persistent
        if not persistent:
            self._recording.leave(self)
        out = []
        for column in zip(*rows):
            known = next((row for row in column if row is not None), None)
            out.append(None if known is None else ops.FUNCTIONS["stack"](
                [ops.FUNCTIONS["zeros_like"](known) if row is None else row for row in column]))
        return out or [None] * len(_flatten(sources))


def _flatten(structure):
    from leat import nest
    return nest.flatten(structure)


def _pack(structure, flat):
    from leat import nest
    return nest.pack_sequence_as(structure, flat)


def _in_graph(graph, leaf):
    """A tensor as a value of the graph; None: it was not recorded."""
    leaf = leaf if isinstance(leaf, Tensor) else convert_to_tensor(leaf)
    if leaf._graph is graph:
        return leaf
    if not leaf._has_values and trace.is_within(leaf._graph, graph):
        return trace.reach(graph, leaf)
    return graph.aliases.get(id(leaf), (None, None))[1]


def _like(gradient, target):
    """An upstream gradient in the target's shape, for which a smaller one counts everywhere."""
    if gradient.shape.rank is not None and gradient.shape == target.shape:
        return gradient
    from leat._graph import ops
    return ops.FUNCTIONS["multiply"](ops.FUNCTIONS["ones_like"](target), gradient)


class _Everything:
    """What a tape recorded, where there is none: all values."""

    def __contains__(self, number):
        return True


def _gradients(graph, targets, sources, zero, recorded=_Everything(), stops=()):
    """For each source its gradient or None; all targets count. None flows through values that were not `recorded`, nor
    through those whose numbers are `stops`."""
    places = []
    for source in sources:
        found = graph.reads_of(source) if hasattr(source, "_as_tensor") else [_in_graph(graph, source)]
        places.append([one for one in found if one is not None and one.dtype._is_trainable and one._id in recorded])
    wanted = {tensor._id: tensor for place in places for tensor in place}
    found = {}
    limits = recorded, stops
    _add_gradients(graph, targets, wanted, found, limits)
    for inputs, outputs, grad_fn in reversed(graph.customs):
        upstream = [found.get(output._id) for output in outputs]
        if all(gradient is None for gradient in upstream):
            continue
        given = _counted(grad_fn(*[_zeros(o) if u is None else u for o, u in zip(outputs, upstream)]), inputs)
        pairs = [(tensor, trace.reach(graph, _like(convert_to_tensor(gradient), tensor)))
                 for tensor, gradient in zip(inputs, given) if gradient is not None and tensor._graph is graph]
        _add_gradients(graph, pairs, wanted, found, limits)
    out = []
    for source, place in zip(sources, places):
        parts = [found[tensor._id] for tensor in place if tensor._id in found]
        total = parts[0] if parts else _zeros(source) if zero else None
        for part in parts[1:]:
            total = total + part
        out.append(total)
    return out


def _add_gradients(graph, targets, wanted, found, limits):
    """Adds to `found`, by number, the gradients of targets, pairs of one and what is upstream of it or None, for
    `wanted` and for results of custom gradients. `limits`: what was recorded, and other stops."""
    recorded, stops = limits
    outputs = {output._id: output for _, outs, _ in graph.customs for output in outs if output._id in recorded}
    for target, upstream in targets:
        if target._id not in recorded:
            continue
        reached = graph.ancestors(target._id)
        ends = {number for number in reached if number not in recorded or number in stops}
        if ends:
            reached = graph.ancestors(target._id, ends)
        sources = [tensor for number, tensor in {**wanted, **outputs}.items() if number in reached]
        for tensor, gradient in zip(sources, graph.gradients(target, sources, upstream, list(ends)) if sources else ()):
            before = found.get(tensor._id)
            found[tensor._id] = gradient if before is None else before + gradient


def _ones(variable):
    return constant(np.ones(variable.shape, variable.dtype.as_numpy_dtype), variable.dtype)


def _zeros(source):
    from leat._graph import ops
    value = source._as_tensor() if hasattr(source, "_as_tensor") else convert_to_tensor(source)
    return ops.FUNCTIONS["zeros_like"](value)


def _detached(gradient, graph):
    """A gradient that no longer keeps a graph that nothing records into."""
    if gradient is None or graph.is_open or gradient._graph is not graph:
        return gradient
    return graph.eager("identity", None, [gradient])[0]


_noted = {}  # id of a gradient -> (a weak reference to it, the slices of a table that it is the sum of, and their rows)


def _note_slices(gradient, parts):
    number = id(gradient)
    _noted[number] = (weakref.ref(gradient, lambda _: _noted.pop(number, None)), parts)


def slices_of(gradient):
    """[slices, rows, ...] that a gradient is the sum of, which optimizers square one by one; [] of any other one."""
    if not gradient._has_values:
        return gradient._graph.slices(gradient) if gradient._graph.is_open else []
    found = _noted.get(id(gradient))
    return found[1] if found is not None and found[0]() is gradient else []


def sum_of_squares(tensor):
    """The sum of a tensor's squares, a scalar; of a table's gradient that of its slices' squares, as in TensorFlow."""
    from leat._graph.ops import FUNCTIONS
    if tensor.dtype.is_complex:
        raise TypeError(f"a global norm is of floats, found {tensor.dtype.name}; take the norm of its abs")
    sums = [operation("reduce_sum_squares", {}, [one])[0] if one.dtype.is_floating else
            FUNCTIONS["reduce_sum"](FUNCTIONS["square"](one)) for one in slices_of(tensor)[::2] or [tensor]]
    return functools.reduce(lambda one, other: one + other, sums)


def of_slices(gradient, parts, function):
    """The sum of what a function makes of the slices of a gradient, `parts`; they are its slices again."""
    made = [function(slices) for slices in parts[::2]]
    sums = [operation("gather_grad", {"axis": 0}, [slices, gradient, rows])[0]
            for slices, rows in zip(made, parts[1::2])]
    total = functools.reduce(lambda one, other: one + other, sums)
    if total._has_values:
        _note_slices(total, [one for pair in zip(made, parts[1::2]) for one in pair])
    return total


def _slices(graph, gradient):
    """The slices of a table's rows that a gradient is the sum of, and their rows; none of any other gradient."""
    return [] if gradient is None or gradient._graph is not graph else graph.slices(gradient)


def _cut(tensor):
    """The tensor, through which no gradient flows."""
    from leat._graph import ops
    return ops.FUNCTIONS["stop_gradient"](tensor)


def custom_gradient(f=None):
    """Gives a function its own gradient (``tf.custom_gradient``).

    `f` returns its result and a function from the gradients of the results to those of the positional arguments. Where
    `f` reads variables that are watched, that function takes them as `variables`, and returns a pair: those gradients,
    and a list of the variables'. TypeError where it does not.
    """
    @functools.wraps(f)
    def decorated(*args, **kwargs):
        inputs = [convert_to_tensor(value) for value in _flatten(args)]
        args = _pack(args, inputs)
        graph, tapes = trace.graph_for(inputs, frozenset()), trace._state.tapes
        if graph is None and not tapes:
            return f(*args, **kwargs)[0]
        with GradientTape() as reads:
            result, grad_fn = f(*args, **kwargs)
        variables = [one for one in reads.watched_variables() if not tapes or any(tape._watches(one) for tape in tapes)]
        if graph is None:
            if not variables:
                return result
            graph = tapes[-1]._recording
        read = [graph.read_variable(one) for one in variables]
        flat = attach(graph, [*inputs, *read], [convert_to_tensor(leaf) for leaf in _flatten(result)],
                      _of_variables(grad_fn, variables) if variables else grad_fn)
        return _pack(result, flat)
    return decorated


def attach(graph, inputs, outputs, grad_fn):
    """The outputs with a gradient of their own: `grad_fn` makes those of the inputs, None among them, of theirs.

    It is called when gradients are asked for. Within a branch or a loop, whose gradients the library makes, and in what
    is traced to be saved, it is traced at once and becomes a part of the graph.
    """
    inputs = [trace.reach(graph, tensor) for tensor in inputs]
    if trace.wants_nodes(graph) and not trace.is_cut():
        return _as_node(graph, inputs, [_held(graph, leaf) for leaf in outputs], grad_fn)
    outputs = [_held(graph, _cut(leaf)) for leaf in outputs]
    graph.add_custom(inputs, outputs, grad_fn)
    return outputs


def _held(graph, tensor):
    return tensor if tensor._graph is graph else graph.constant(tensor) if tensor._has_values else trace.reach(
        graph, tensor)


def _as_node(graph, inputs, outputs, grad_fn):
    """The same as a node of the graph, which has what `grad_fn` makes as a function."""
    sources, captures = [], trace.values_around(grad_fn)

    def reverse(unused, upstream):
        trace.current_graph().around = graph
        given = _gradients_given(grad_fn, upstream, inputs)
        pairs = [(tensor, _like(convert_to_tensor(gradient, dtype_hint=tensor.dtype), tensor))
                 for tensor, gradient in zip(inputs, given)
                 if gradient is not None and tensor.dtype._is_trainable and not tensor._has_values]
        sources[:] = [tensor for tensor, _ in pairs]
        return tuple(gradient for _, gradient in pairs)
    spec = tuple(specs.TensorSpec(leaf.shape, leaf.dtype) for leaf in outputs)
    made, _ = trace.trace_inside(_nothing, spec, captures, reverse)
    if not sources and trace.saves_gradients() is not False:
        return [_cut(leaf) for leaf in outputs]
    return graph.custom_gradient(outputs, sources, [trace.reach(graph, one) for one in captures], made)


def _nothing():
    """Stands for a function in whose place another one is called."""


def _gradients_given(grad_fn, upstream, inputs):
    """What `grad_fn` makes, a list. Where it fails, gradients of the inputs that fail when they are computed, for the
    function may never be asked for one; what is saved needs it now."""
    try:
        given = [None] * len(inputs) if trace.saves_gradients() is False else grad_fn(*upstream)
    except trace.NotTraceable:
        raise
    except Exception as error:
        text = f"the gradient of a tf.custom_gradient failed while it was traced: {type(error).__name__}: {error}"
        if trace.saves_gradients():
            raise ValueError(f"{text}; tf.saved_model.SaveOptions(experimental_custom_gradients=False) leaves "
                             "gradients out") from error
        graph = trace.current_graph()
        given = [trace.guard(graph, trace.reach(graph, _zeros(one)), constant(False), text)
                 if one.dtype._is_trainable else None for one in inputs]
    return _counted(given, inputs)


def _counted(given, inputs):
    """The gradients of custom_gradient's function as a list. ValueError where they are not as many as the inputs."""
    flat = _flatten(given)
    if len(flat) != len(inputs):
        raise ValueError(f"custom_gradient function expected to return {len(inputs)} gradients, but returned "
                         f"{len(flat)} instead.")
    return flat


def _of_variables(grad_fn, variables):
    """A function that gives the gradients of the arguments, then those of the variables."""
    import inspect
    parameters = inspect.signature(grad_fn).parameters.values()
    if not any(one.name == "variables" or one.kind is one.VAR_KEYWORD for one in parameters):
        raise TypeError("@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
                        f"variables: {variables}")

    def both(*gradients):
        found, others = grad_fn(*gradients, variables=variables)
        if len(others) != len(variables):
            raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        return [*_flatten(found), *others]
    return both


def grad_pass_through(f):
    """A function whose gradient is that of its argument itself (``tf.grad_pass_through``)."""
    @custom_gradient
    def passing(*args, **kwargs):
        def grad(*gradients):
            return gradients if len(gradients) > 1 else gradients[0]
        return f(*args, **kwargs), grad
    return passing


def recompute_grad(f):
    """The function itself (``tf.recompute_grad``): what gradients need is kept, not computed again."""
    return f
