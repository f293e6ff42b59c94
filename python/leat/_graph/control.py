"""Control flow over tensors: ``tf.cond``, ``tf.while_loop``, ``tf.debugging.Assert``, ``tf.control_dependencies``.

While a function is traced both branches, or the loop's condition and body, become functions of their own within it;
what they use of the function around becomes their arguments. Everywhere else these are Python's own.
"""

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._core.element_specs import DatasetSpec
from leat._core.tensor import Tensor, constant, convert_to_tensor
from leat._graph import trace
from leat.errors import InvalidArgumentError


def is_symbolic(value):
    """Is it a tensor whose value is not known while a function is traced?"""
    return isinstance(value, Tensor) and not value._has_values


def as_predicate(value):
    """A bool scalar of what decides about a branch; a number is true unless it is 0."""
    tensor = convert_to_tensor(value)
    if tensor.dtype is not dtypes.bool:
        from leat._graph import ops
        if tensor.dtype is dtypes.string:
            raise TypeError("Expected a bool tensor as the condition, found a string")
        tensor = ops.call("not_equal", {}, [tensor, convert_to_tensor(0, dtype_hint=tensor.dtype)])[0]
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"The condition of a branch or loop must be a scalar; its shape is {tensor.shape}.")
    return tensor


# ---- branches ----

def cond(pred, true_fn=None, false_fn=None, name=None):
    """What `true_fn()` gives where the bool scalar `pred` holds, else what `false_fn()` gives (``tf.cond``).

    Both give the same structure of the same dtypes. TypeError or ValueError where they do not.
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError(f"'{'true' if not callable(true_fn) else 'false'}_fn' must be callable.")
    if not is_symbolic(pred):
        return true_fn() if bool(pred) else false_fn()
    return branch(pred, true_fn, false_fn)


def branch(pred, true_fn, false_fn, mismatch=None):
    """`cond` of a tensor without a value; `mismatch(true spec, false spec)` raises where the results differ."""
    graph = trace.current_graph()
    captures = trace.values_around(true_fn)
    _add(captures, trace.values_around(false_fn))
    then, otherwise = (trace.begin_inside(function, (), captures, _no_arguments, _results)
                       for function in (true_fn, false_fn))
    (mismatch or _mismatch)(then.spec, otherwise.spec)
    inputs = [trace.reach(graph, tensor) for tensor in captures]
    outputs = graph.cond(trace.reach(graph, as_predicate(pred)), then.complete(), otherwise.complete(), inputs)
    joined = nest.map_structure(_wider, then.spec, otherwise.spec)
    return nest.assemble(joined, iter(outputs))[1]


def _no_arguments(function, value):
    return function()


def _results(result):
    """The results with a true tensor before them, which keeps checks alive where there are no results."""
    return nest.normalize((constant(True), result))


def _add(captures, more):
    known = {trace.key_of(tensor) for tensor in captures}
    captures.extend(tensor for tensor in more if trace.key_of(tensor) not in known)


def _wider(a, b):
    """The spec that both branches' values have; dtype and kind are equal already."""
    return a if isinstance(a, DatasetSpec) else a.most_specific_compatible_type(b)


def same_structure(a, b):
    """Are containers of specs alike, whatever their leaves are?"""
    x, y = nest._kind_of(a), nest._kind_of(b)
    if x is None or y is None:
        return x is y
    return x[2] == y[2] and len(x[1]) == len(y[1]) and all(map(same_structure, x[1], y[1]))


def _mismatch(a, b):
    a, b = a[1], b[1]
    if not same_structure(a, b):
        raise TypeError("true_fn and false_fn arguments to tf.cond must have the same number, type, and overall "
                        f"structure of return values.\n\ntrue_fn output:  {a}\nfalse_fn output: {b}")
    for i, (x, y) in enumerate(zip(nest.leaves(a), nest.leaves(b))):
        if type(x) is not type(y) or getattr(x, "dtype", None) != getattr(y, "dtype", None):
            raise TypeError("true_fn and false_fn arguments to tf.cond must have the same number, type, and overall "
                            f"structure of return values: output {i} is {x} in true_fn and {y} in false_fn.")


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The result of the first function whose condition holds (``tf.case``)."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not pairs:
        raise ValueError("When using tf.case, the list of pairs must not be empty.")
    if default is None:
        *pairs, (_, default) = pairs
    for pred, function in reversed(pairs):
        default = _Choice(pred, function, default)
    return default()


class _Choice:
    def __init__(self, pred, function, otherwise):
        self._parts = pred, function, otherwise

    def __call__(self):
        return cond(*self._parts)


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The result of the function that a tensor numbers (``tf.switch_case``); of the last one where there is none."""
    if not isinstance(branch_index, Tensor) or not branch_index.dtype.is_integer:
        raise TypeError("'branch_index' must be an integer Tensor, got "
                        f"{getattr(branch_index, 'dtype', None) or type(branch_index)}")
    if isinstance(branch_fns, dict):
        pairs = sorted(branch_fns.items())
    else:
        pairs = [item if isinstance(item, tuple) else (i, item) for i, item in enumerate(branch_fns)]
    if default is None:
        *pairs, (_, default) = pairs
    index = convert_to_tensor(branch_index)
    return case([(index == number, function) for number, function in pairs], default) if pairs else default()


# ---- loops ----

def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               maximum_iterations=None, name=None):
    """The loop variables after ``while cond(*vars): vars = body(*vars)`` (``tf.while_loop``).

    The body keeps structure, dtypes and shapes; `shape_invariants` says which shapes may change, and into what.
    """
    if not callable(cond) or not callable(body):
        raise TypeError(f"'{'cond' if not callable(cond) else 'body'}' must be callable.")
    as_list = isinstance(loop_vars, list)
    state = nest.normalize(tuple(loop_vars))
    if not state:
        raise ValueError("'loop_vars' must be provided.")

    def next_state(*values):
        out = body(*values)
        out = tuple(out) if isinstance(out, (list, tuple)) and not hasattr(out, "_fields") else (out,)
        return out if len(out) == len(state) or len(state) != 1 else (out,)
    if not trace.is_tracing():
        count = 0
        while (maximum_iterations is None or count < int(maximum_iterations)) and bool(cond(*state)):
            state, count = nest.normalize(next_state(*state)), count + 1
    else:
        invariants = None if shape_invariants is None else tuple(shape_invariants)
        state = loop(cond, next_state, state, [f"loop variable {i}" for i in range(len(state))], invariants,
                     None if maximum_iterations is None else int(maximum_iterations))
    return list(state) if as_list else state


def loop(condition, body, state, names, invariants=None, maximum=None):
    """`while_loop` in the graph that is traced: `state` is a tuple of structures, `names` what to call each of them."""
    graph = trace.current_graph()
    spec = loop_spec(state, invariants)
    captures = trace.values_around(condition)
    _add(captures, trace.values_around(body))
    test = trace.begin_inside(condition, spec, captures, None, as_predicate)
    step = trace.begin_inside(body, spec, captures, None, nest.normalize)
    while invariants is None and any(map(_learns, nest.leaves(spec), nest.leaves(step.spec))):
        # Arrays begin with elements of the shape that is written, so that their own does not change.
        state = nest._map(lambda value, after: value._begun(after) if hasattr(value, "_begun") else value, state,
                          step.spec)
        spec = loop_spec(state, None)
        test, step = test.over(spec), step.over(spec)
    _check_step(spec, step.spec, names)
    inputs = [trace.reach(graph, tensor) for tensor in nest.components(state, spec)]
    around = [trace.reach(graph, tensor) for tensor in captures]
    has_arrays = any(hasattr(leaf, "_with_element_shape") for leaf in nest.leaves(spec))
    changes = any(leaf._changes for leaf in nest.leaves(spec) if hasattr(leaf, "_with_element_shape"))
    shapes = None if invariants is None and not changes else nest.to_text(spec)
    outputs = graph.while_loop(test.complete(), step.complete(), inputs, around, maximum, shapes)
    return nest.assemble(nest._map(_learned, spec, step.spec) if has_arrays else spec, iter(outputs))


def loop_spec(state, invariants):
    """The spec of loop variables with the shapes that they may have."""
    spec = nest.spec_of(state)
    return spec if invariants is None else tuple(map(_with_shapes, spec, invariants))


def over_dataset(dataset, body, state, spec, check, stops=False, shapes=None):
    """A loop over a dataset in the graph that is traced: the tuple `state`, of the spec `spec`, after the last element.

    ``body(*state, element)`` gives the next state, and with `stops` a bool before it, whether to go on. `check(spec,
    found)` raises where the spec of the next state is not as it must be. `shapes`: the spec of what the state's shapes
    may become.
    """
    graph = trace.current_graph()
    if not nest.components(state, spec):  # a loop for its effects alone
        return over_dataset(dataset, _idle(body, stops), (constant(True),), nest.spec_of((constant(True),)),
                            lambda before, found: None, stops)[:0]
    over = trace.reach(graph, dataset._as_value())
    captures = trace.values_around(body)
    made, found = trace.trace_inside(body, (*spec, dataset.element_spec), captures, None, nest.normalize)
    check(spec, found[1:] if stops else found)
    inputs = [trace.reach(graph, tensor) for tensor in nest.components(state, spec)]
    around = [trace.reach(graph, tensor) for tensor in captures]
    is_shared = graph.is_called or trace.is_captured(graph, over)
    outputs = graph.reduce_dataset(over, made, inputs, around, stops, is_shared,
                                   None if shapes is None else nest.to_text(shapes))
    return nest.assemble(spec if shapes is None else shapes, iter(outputs))


def _idle(body, stops):
    """The same over a state that nobody uses."""
    def step(unused, element):
        return (*(body(element) if stops else (body(element), ())[1]), unused)
    return step


def _learns(before, after):
    """Is an array without the shape of its elements given one by the body?"""
    return hasattr(before, "_with_element_shape") and hasattr(after, "_with_element_shape") and (
        not before._element_shape.is_fully_defined() and after._element_shape.is_fully_defined())


def _learned(spec, found):
    """The spec of a loop variable; of an array with the shape that the body's writes say."""
    return found if hasattr(found, "_with_element_shape") else spec


def _with_shapes(spec, shape):
    """The spec of one loop variable with its invariant: a shape, a spec, or a structure of these."""
    if shape is None:
        return spec
    if isinstance(spec, specs.TypeSpec):
        return shape if isinstance(shape, specs.TypeSpec) else spec._with_shape(specs.as_shape(shape))
    return nest.map_structure(_with_shapes, spec, shape)


def _check_step(spec, found, names):
    """The body's results are loop variables again; errors as TensorFlow's, by name."""
    if len(spec) != len(found):
        raise ValueError(f"The body of the loop returns {len(found)} values; the loop has {len(spec)} variables.")
    for name, before, after in zip(names, spec, found):
        if not same_structure(before, after):
            raise TypeError(f"'{name}' does not have the same nested structure after one iteration: {before} before "
                            f"the loop, {after} after it.")
        for a, b in zip(nest.leaves(before), nest.leaves(after)):
            if type(a) is not type(b) or getattr(a, "dtype", None) != getattr(b, "dtype", None):
                raise TypeError(f"'{name}' has dtype {_kind(a)} before the loop, but dtype {_kind(b)} after one "
                                "iteration")
            if hasattr(a, "shape") and not _holds(a.shape, b.shape):
                raise ValueError(f"'{name}' has shape {a.shape} before the loop, but shape {b.shape} after one "
                                 "iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants.")


def _holds(shape, other):
    """Is every tensor of shape `other` one of `shape`?"""
    return shape.rank is None or shape.rank == other.rank and all(
        a is None or a == b for a, b in zip(shape, other))


def _kind(spec):
    dtype = getattr(spec, "dtype", None)
    return dtype.name if dtype is not None else repr(spec)


# ---- assertions ----

def first_values(tensor, count):
    """So many values of a tensor as a vector; all of them where `count` is negative."""
    values = np.reshape(np.asarray(tensor.numpy(), object if tensor.dtype is dtypes.string else None), [-1])
    return values if count < 0 else values[:count]


def summary(tensor, summarize):
    """The first values in one line."""
    count = 3 if summarize is None else summarize
    values = first_values(convert_to_tensor(tensor), -1)
    shown = ", ".join(str(value) for value in (values if count < 0 else values[:count]))
    return shown + (", ..." if 0 <= count < len(values) else "")


def Assert(condition, data, summarize=None, name=None):
    """Fails with InvalidArgumentError where a value of `condition` is false (``tf.debugging.Assert``).

    In a function that is traced every result of the function waits for it, or where what it returns stands in
    `control_dependencies`, the operations there.
    """
    given, condition = condition, convert_to_tensor(condition)
    if condition._has_values:
        if not np.all(condition.numpy()):
            shown = "\n".join(f"b'{part}'" if isinstance(part, str) else summary(part, summarize) for part in data)
            raise InvalidArgumentError(None, None, f"Expected '{given!s}' to be true. Summarized data: {shown}")
        return None
    texts = [str(part) for part in data if not isinstance(part, Tensor)]
    return trace.add_check(condition, "assertion failed: " + " ".join(f"[{text}]" for text in texts))


def guarded_by(condition, message, value):
    """A structure of values without values yet that fails with `message` where `condition` does not hold."""
    graph, spec = trace.current_graph(), nest.spec_of(value)
    return nest.assemble(spec, iter([trace.guard(graph, trace.reach(graph, tensor), condition, message)
                                     for tensor in nest.components(value, spec)]))


class control_dependencies:
    """Operations of the block wait for what `Assert` returned (``tf.control_dependencies``); others have no effect."""

    def __init__(self, control_inputs):
        inputs = control_inputs if isinstance(control_inputs, (list, tuple)) else ()
        self._checks = [check for check in inputs if isinstance(check, tuple)]

    def __enter__(self):
        self._before = trace._state.guards
        trace._state.guards = self._before + self._checks

    def __exit__(self, *error):
        trace._state.guards = self._before
