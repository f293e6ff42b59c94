"""What converted functions call in the place of statements and operators.

Over Python values and tensors with values these do what Python does. Over tensors without values they make conditions
and loops of the function that is traced. Each gets functions to read and set the variables that the statement assigns.
"""

import threading

from leat import nest
from leat._core.later import Hook
from leat._core.tensor import NotTraceable, Tensor, convert_to_tensor
from leat._graph import control, trace
from leat._graph.control import is_symbolic
from leat.autograph.experimental import _loop_options
from leat.autograph.values import Undefined, _Kept, _Unbound, _Values, _is_undefined, _put_together, _same_kept

_RETURN = "ag__value"
convert_callee = Hook()  # (function): the same with its control flow as operations; leat.autograph.convert


class _Inside(threading.local):
    depth = 0  # of branches and loops that are traced


_inside = _Inside()


def part(text, read):
    """The value of an attribute or item, Undefined where there is none."""
    try:
        return read()
    except (AttributeError, KeyError, IndexError, TypeError, NameError):
        return Undefined(text)


def is_defined(value):
    """Was it assigned?"""
    return type(value) is not Undefined


def forget(owner, key, is_attribute):
    """Takes an attribute or item away that was not there before."""
    try:
        if is_attribute:
            delattr(owner, key)
        else:
            del owner[key]
    except (AttributeError, KeyError, IndexError, TypeError):
        pass


def ld(value):
    """The value of a variable that may be unbound."""
    if type(value) is Undefined:
        value.fail()
    return value


# ---- if ----

def if_(test, body, orelse, get, set_, names, merged):
    """An `if` statement; the first `merged` names matter afterwards, the others only inside."""
    if not is_symbolic(test):
        return body() if test else orelse()
    before = get()
    fills = {}

    def run(branch, which):
        def call():
            set_(before)
            branch()
            values = list(get()[:merged])
            for number, spec in fills.items():
                if _is_undefined(values[number]):
                    values[number] = _zeros_of(spec)
            found[which] = _Values(values)
            return found[which].tensors()
        return call
    found = [None, None]
    calls = run(body, 0), run(orelse, 1)
    _inside.depth += 1
    try:
        outputs = control.branch(test, *calls, mismatch=lambda a, b: _merge(found, names, a[1], b[1]))
    except _Fill as fill:
        fills[fill.number] = fill.spec
        outputs = control.branch(test, *calls, mismatch=lambda a, b: _merge(found, names, a[1], b[1]))
    finally:
        _inside.depth -= 1
        set_(before)
    set_(found[0].with_tensors(outputs) + tuple(before[merged:]))


class _Fill(BaseException):
    """What a function returns is missing on a path that does not return yet: anything will do."""

    def __init__(self, number, spec):
        super().__init__()
        self.number, self.spec = number, spec


def _zeros_of(specs):
    import numpy as np
    from leat import dtypes
    shape, leaves = specs
    return _put_together(shape, iter([
        convert_to_tensor(np.full([1 if d is None else d for d in leaf.shape],
                                  b"" if leaf.dtype is dtypes.string else 0, leaf.dtype.as_numpy_dtype))
        for leaf in leaves]))


def _merge(found, names, a_specs, b_specs):
    """Errors, by name, where the branches leave a variable in different states."""
    specs = [iter(a_specs), iter(b_specs)]
    for number, name in enumerate(names[:len(found[0].shapes)]):
        shapes = [one.shapes[number] for one in found]
        leaves = [one.leaves[number] for one in found]
        own = [[None if isinstance(leaf, _Kept) else next(source) for leaf in side]
               for side, source in zip(leaves, specs)]
        missing = [any(isinstance(leaf, _Kept) and _is_undefined(leaf.value) for leaf in side) for side in leaves]
        if missing[0] != missing[1]:
            if name == _RETURN:
                present = missing.index(False)
                if all(spec is not None for spec in own[present]):
                    raise _Fill(number, (shapes[present], own[present]))
        nothing = [len(side) == 1 and isinstance(side[0], _Kept) and side[0].value is None for side in leaves]
        if nothing[0] != nothing[1] and True not in missing:
            branch = "main" if nothing[0] else "else"
            raise ValueError("the else branch must also have a return statement." if name == _RETURN else
                             f"'{name}' is None at the end of the {branch} branch.")
        if missing[0] != missing[1]:
            raise ValueError(f"'{name}' must also be initialized in the {'main' if missing[0] else 'else'} branch")
        if shapes[0] != shapes[1] or len(leaves[0]) != len(leaves[1]) or any(
                (x is None) != (y is None) for x, y in zip(*own)):
            if name == _RETURN:
                raise ValueError("A value must also be returned from the else branch. If a value is returned from one "
                                 "branch of a conditional a value must be returned from all branches.")
            raise TypeError(f"'{name}' does not have the same nested structure in the main and else branches.")
        for x, y, a, b in zip(*own, *leaves):
            if x is None and not _same_kept(a.value, b.value):
                raise TypeError(f"'{name}' is {a.value!r} in the main branch, but {b.value!r} in the else branch")
            if x is not None and (type(x) is not type(y) or getattr(x, "dtype", None) != getattr(y, "dtype", None)):
                shown = "'retval_'" if name == _RETURN else f"'{name}'"
                raise TypeError(f"{shown} has dtype {control._kind(x)} in the main branch, but dtype "
                                f"{control._kind(y)} in the else branch")


# ---- loops ----

def _is_staged(value):
    """Does a loop over it, or as long as it holds, become one of the function that is traced? Any tensor's, as in
    TensorFlow: a loop whose length is known would else be traced that many times."""
    return isinstance(value, Tensor) and trace.is_tracing()


def while_(test, body, get, set_, names, _):
    """A `while` statement."""
    while True:
        holds = test()
        if _is_staged(holds):
            return _loop(test, body, get, set_, names)
        if not holds:
            return None
        body()


def for_(values, body, goes_on, get, set_, names, _):
    """A `for` statement; `goes_on()` is false after a `break`."""
    if isinstance(values, Range):
        return _count(values, lambda i: i, body, goes_on, get, set_, names)
    if _is_staged(values) and not _is_short(values):
        return _rows(values, body, goes_on, get, set_, names)
    if trace.is_tracing() and hasattr(values, "_inside"):
        values = values._inside()._rest()
    if trace.is_tracing() and hasattr(values, "flat_values"):
        from leat.data import Dataset
        values = Dataset.from_tensor_slices(values)
    if trace.is_tracing() and hasattr(values, "_as_value"):
        return _loop(goes_on, body, get, set_, names, values)
    for item in values:
        holds = True if goes_on is None else goes_on()
        if is_symbolic(holds):
            if_(holds, _with_item(body, item), _nothing, get, set_, names, len(names))
        elif not holds:
            break
        else:
            body(item)


def _nothing():
    pass


def _with_item(body, item):
    return lambda: body(item)


def _rows(tensor, body, goes_on, get, set_, names):
    if tensor.shape.rank == 0:
        raise TypeError("Cannot iterate over a scalar tensor.")
    from leat._graph import ops
    known = None if tensor.shape.rank is None else tensor.shape[0]
    count = known if known is not None else ops.FUNCTIONS["shape"](tensor)[0]
    return _count(Range(0, count, 1), lambda i: ops.FUNCTIONS["gather"](tensor, i), body, goes_on, get, set_, names)


def _count(numbers, item_of, body, goes_on, get, set_, names):
    """A loop over a range some of whose bounds are tensors."""
    place = [convert_to_tensor(numbers.start, dtype_hint=numbers.dtype)]
    step = numbers.step

    def test():
        inside = place[0] < numbers.stop if not is_symbolic(step) and step > 0 else (
            place[0] > numbers.stop if not is_symbolic(step) else _either_way(place[0], numbers))
        return inside if goes_on is None else and_(lambda: inside, goes_on)

    def advance():
        item = place[0]
        place[0] = item + step
        body(item_of(item))

    def read():
        return (place[0], *get())

    def write(values):
        place[0] = values[0]
        set_(values[1:])
    return _loop(test, advance, read, write, ("the loop's counter", *names))


def _either_way(at, numbers):
    from leat._graph import ops
    up = ops.FUNCTIONS["logical_and"](numbers.step > 0, at < numbers.stop)
    return ops.FUNCTIONS["logical_or"](up, ops.FUNCTIONS["logical_and"](numbers.step < 0, at > numbers.stop))


_SHORT = 16  # iterations


def _is_short(tensor):
    """Is the loop better written out? In pipelines a few known iterations run over whole blocks, a loop row by row."""
    return tensor._has_values and bool(tensor._shape) and tensor._shape[0] <= _SHORT and not trace.is_called()


class _Again(BaseException):
    """The loop is to be traced again, with what is known now."""


def _loop(test, body, get, set_, names, dataset=None):
    """A loop in the graph that is traced; over a dataset `body` takes its elements, and `test` may be None."""
    before = get()
    options = {}
    start, invariants = before, None
    _inside.depth += 1
    try:
        for _ in range(8):
            try:
                after = _try_loop(test, body, get, set_, names, start, options, invariants, dataset)
                break
            except _Fill as fill:
                start = tuple(_zeros_of(fill.spec) if i == fill.number else v for i, v in enumerate(start))
            except _Again:
                invariants = options["invariants"]
    finally:
        _inside.depth -= 1
        set_(before)
    set_(after)


def _try_loop(test, body, get, set_, names, start, options, invariants, dataset):
    state = _Values(start)
    tensors = nest.normalize(state.tensors())
    current = []

    def note(maximum_iterations, shape_invariants):
        _note_options(maximum_iterations, shape_invariants, current, options)
    _loop_options.append(note)

    def check(*leaves):
        set_(state.with_tensors(leaves))
        return test()

    def step(*values):
        leaves = values[:len(tensors)]
        set_(state.with_tensors(leaves))
        current[:] = leaves
        _run_body(body, values[len(tensors):])
        found = _Values(get())
        _check_iteration(state, found, names)
        more = () if dataset is None or test is None else (control.as_predicate(test()),)
        return (*more, *found.tensors())
    if not tensors and dataset is None:
        raise ValueError("The loop changes no variable that its condition, or what follows it, uses.")
    try:
        if dataset is not None:
            out = control.over_dataset(dataset, step, tensors, control.loop_spec(tensors, invariants),
                                       lambda spec, found: _relax(spec, found, state.names(names), options),
                                       test is not None)
        else:
            out = control.loop(check, step, tensors, state.names(names), invariants,
                               options.get("maximum_iterations"))
    finally:
        _loop_options.pop()
    return state.with_tensors(out)


def _run_body(body, values):
    try:
        body(*values)
    except _Unbound as error:
        raise ValueError(f"'{error.variable}' must be defined before the loop.") from error


def _relax(spec, found, names, options):
    """As TensorFlow: dimensions that change in a loop over a dataset become unknown, unless an invariant says more."""
    def join(before, after):
        if hasattr(before, "_with_element_shape") or type(before) is not type(after) or not hasattr(before, "shape"):
            return None
        return before.shape.most_specific_compatible_shape(after.shape)
    joined = [join(before, after) for before, after in zip(spec, found)] if len(spec) == len(found) else []
    known = options.get("known") and options.get("invariants") is not None and not options.get("relaxed")
    if not known and any(shape is not None and str(shape) != str(before.shape) for shape, before in zip(joined, spec)):
        options.update(known=True, relaxed=True, invariants=tuple(joined))
        raise _Again()
    control._check_step(spec, found, names)


def _note_options(maximum_iterations, shape_invariants, leaves, options):
    """What set_loop_options says, which stands first in the body: the loop begins again, if that is new."""
    if options.get("known"):
        return
    options.update(known=True, maximum_iterations=maximum_iterations, invariants=None)
    shapes = [None] * len(leaves)
    for value, shape in shape_invariants:
        for number, leaf in enumerate(leaves):
            if leaf is value:
                shapes[number] = shape
    if any(shape is not None for shape in shapes):
        options["invariants"] = tuple(shapes)
    raise _Again()


def _is_missing(before, after):
    """Has a variable no value before the loop, or None, which then counts for none?"""
    if len(before) != 1 or not isinstance(before[0], _Kept):
        return False
    return _is_undefined(before[0].value) or before[0].value is None and not any(
        isinstance(leaf, _Kept) for leaf in after)


def _check_iteration(state, found, names):
    for number, name in enumerate(names):
        before, after = state.leaves[number], found.leaves[number]
        if _is_missing(before, after):
            if any(isinstance(leaf, _Kept) for leaf in after):
                if _same_kept(before[0].value, after[0].value if isinstance(after[0], _Kept) else None):
                    continue
                raise ValueError(f"'{name}' must be defined before the loop.")
            raise _Fill(number, (found.shapes[number], [nest.spec_of_leaf(leaf) for leaf in after]))
        if state.shapes[number] != found.shapes[number] or any(
                isinstance(a, _Kept) != isinstance(b, _Kept) for a, b in zip(before, after)):
            raise TypeError(f"'{name}' does not have the same nested structure after one iteration.")
        for a, b in zip(before, after):
            if isinstance(a, _Kept) and not _same_kept(a.value, b.value):
                raise TypeError(f"'{name}' is {a.value!r} before the loop, but {b.value!r} after one iteration")


# ---- expressions ----

def and_(*parts):
    """`a and b and ...`; each part is a function."""
    value = parts[0]()
    if len(parts) == 1:
        return value
    if is_symbolic(value):
        return control.branch(value, lambda: control.as_predicate(and_(*parts[1:])),
                              lambda: control.as_predicate(value))
    return and_(*parts[1:]) if value else value


def or_(*parts):
    """`a or b or ...`; each part is a function."""
    value = parts[0]()
    if len(parts) == 1:
        return value
    if is_symbolic(value):
        return control.branch(value, lambda: control.as_predicate(value),
                              lambda: control.as_predicate(or_(*parts[1:])))
    return value if value else or_(*parts[1:])


def not_(value):
    """``not value``."""
    if is_symbolic(value):
        from leat._graph import ops
        return ops.FUNCTIONS["logical_not"](control.as_predicate(value))
    return not value


def if_exp(test, body, orelse):
    """``body if test else orelse``."""
    if not is_symbolic(test):
        return body() if test else orelse()
    return control.branch(test, body, orelse)


def chain(steps, first, *others):
    """``a < b < c``."""
    second = others[0]()
    value = steps[0](first, second)
    if len(steps) == 1:
        return value
    return and_(lambda: value, lambda: chain(steps[1:], second, *others[1:]))


def in_(value, container):
    """``value in container``."""
    if isinstance(container, Tensor):
        if is_symbolic(value) or is_symbolic(container):
            from leat import dtypes
            from leat._graph import ops
            found = ops.FUNCTIONS["cast"](ops.FUNCTIONS["equal"](container, value), dtypes.int32)
            return ops.FUNCTIONS["reduce_max"](found) > 0
    elif isinstance(container, (list, tuple, set, frozenset, range)):
        items = list(container)
        if is_symbolic(value) or any(map(is_symbolic, items)):
            if not items:
                return False
            return or_(*[_equal_to(value, item) for item in items])
    return value in container


def _equal_to(value, item):
    return lambda: value == item


def raising():
    """Stands before a `raise`."""
    if _inside.depth:
        raise NotTraceable("it raises an exception where the value of a tensor decides")


def assert_(test, message):
    """An `assert` statement."""
    if is_symbolic(test):
        control.Assert(control.as_predicate(test), [] if message is None else [message()])
    elif not test:
        raise AssertionError(*([] if message is None else [message()]))


# ---- calls ----

class Range:
    """``range(...)`` with tensors among its bounds."""

    def __init__(self, start, stop, step):
        self.start, self.stop, self.step = start, stop, step
        self.dtype = next(v.dtype for v in (start, stop, step, convert_to_tensor(0)) if isinstance(v, Tensor))

    def __iter__(self):
        numbers = (self.start, self.stop, self.step)
        if not all(getattr(number, "_has_values", True) for number in numbers):
            raise NotTraceable("a range whose length is not known yet, outside of a `for` statement")
        return iter(range(*map(int, numbers)))


def _range(*args):
    if not any(map(_is_staged, args)):
        return range(*args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return Range(start, stop, step)


def _len(value):
    if is_symbolic(value) and value.shape.rank != 0 and (value.shape.rank is None or value.shape[0] is None):
        from leat._graph import ops
        return ops.FUNCTIONS["shape"](value)[0]
    return len(value)


def _cast(python, name):
    def convert(*args, **kwargs):
        if args and is_symbolic(args[0]):
            from leat import dtypes
            from leat._graph import ops
            return ops.FUNCTIONS["cast"](args[0], getattr(dtypes, name))
        return python(*args, **kwargs)
    return convert


def _extreme(python, name):
    def choose(*args, **kwargs):
        if len(args) > 1 and not kwargs and any(map(is_symbolic, args)):
            from leat._graph import ops
            out = args[0]
            for value in args[1:]:
                out = ops.FUNCTIONS[name](out, value)
            return out
        return python(*args, **kwargs)
    return choose


def _any_all(python, operator):
    def ask(values):
        values = list(values)
        return operator(*[_given(value) for value in values]) if any(map(is_symbolic, values)) else python(values)
    return ask


def _given(value):
    return lambda: value


def _next(*args):
    if trace.is_tracing() and len(args) == 1 and hasattr(args[0], "_inside"):
        return args[0]._inside().get_next()
    return next(*args)


def _is_dataset(value):
    return trace.is_tracing() and hasattr(value, "_as_value")


def _enumerate(iterable, start=0):
    return iterable.enumerate(start) if _is_dataset(iterable) else enumerate(iterable, start)


def _zip(*iterables, **kwargs):
    if iterables and all(map(_is_dataset, iterables)):
        return type(iterables[0]).zip(tuple(iterables))
    return zip(*iterables, **kwargs)


_BUILTINS = {range: _range, next: _next, enumerate: _enumerate, zip: _zip, len: _len, int: _cast(int, "int32"),
             float: _cast(float, "float32"), max: _extreme(max, "maximum"), min: _extreme(min, "minimum"),
             any: _any_all(any, or_), all: _any_all(all, and_)}


def call(function):
    """The function to call: a user's is converted, a built-in one knows tensors."""
    try:
        known = _BUILTINS.get(function)
    except TypeError:  # not hashable
        known = None
    if known is not None:
        return known
    return convert_callee(function)
