"""Functions over the rows of tensors: ``tf.map_fn``, folds and scans.

The Python function is called for each row. In a function that is traced it is called once; its operations are copied
for each of a few rows, which a pipeline then computes for many elements at a time, or are the body of a loop.
"""

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import control, ops, trace
from leat._structures.tensor_array import TensorArray
from leat.errors import InvalidArgumentError


def _rows(elems):
    """(number of rows, or None, a function from a row's number to its structure, the structure of tensors)."""
    elems = nest.map_structure(lambda leaf: leaf if hasattr(leaf, "_is_leaf_value") else convert_to_tensor(leaf), elems)
    flat = nest.flatten(elems)
    if not flat:
        raise ValueError("elems must have at least one Tensor")
    parts = [part for leaf in flat for part in (leaf._parts_of_rows() if hasattr(leaf, "_parts_of_rows") else [leaf])]
    for leaf in parts:
        if isinstance(leaf, Tensor) and leaf.shape.rank == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    counts = [leaf.shape[0] for leaf in parts if leaf.shape.rank is not None]
    count = next((one for one in counts if one is not None), None)
    for other in counts:
        if other is not None and other != count:
            raise ValueError(f"Dimensions {count} and {other} are not compatible")
    return count, lambda i: nest.pack_sequence_as(elems, [_row(leaf, i) for leaf in flat]), elems


def _row(leaf, i):
    if hasattr(leaf, "_of_parts"):
        return leaf._of_parts([part[i] for part in leaf._parts_of_rows()])
    return leaf[i] if leaf.shape.rank is not None else ops.FUNCTIONS["gather"](leaf, i)


# ---- in functions that are traced ----

_SHORT = 64  # rows for which the operations are copied


class Traced:
    """A function of structures that is called once, while a function is traced: each call adds its operations.

    `likes`: structures of specs, of its arguments. `like`: that of its result. `repeats`: see ``trace.Inner``.
    """

    def __init__(self, fn, *likes):
        found = []

        def flat(*leaves):
            rest = iter(leaves)
            found[:] = [nest.map_structure(_tensor, fn(*(
                nest.pack_sequence_as(like, [next(rest) for _ in nest.flatten(like)]) for like in likes)))]
            return tuple(nest.flatten(found[0]))
        self._inner = trace.Inner(flat, tuple(leaf for like in likes for leaf in nest.flatten(like)))
        self.like = nest.pack_sequence_as(found[0], self._inner.spec)
        self.repeats = self._inner.repeats

    def __call__(self, *args):
        return nest.pack_sequence_as(self.like, self._inner(*(leaf for arg in args for leaf in nest.flatten(arg))))

    def is_copied(self, count):
        """Is it copied for each of `count` rows?"""
        return count is not None and count <= _SHORT and self.repeats


def specs_of(structure):
    """The structure of specs of a structure of tensors."""
    return nest.map_structure(nest.spec_of_leaf, structure)


def _row_specs(row):
    """The specs of a row."""
    return Traced(row, specs.TensorSpec([], dtypes.int32)).like


def _fits_arrays(like):
    """Are all results tensors, which loops keep in arrays?"""
    return not any(isinstance(leaf, (specs.RaggedTensorSpec, specs.SparseTensorSpec)) or hasattr(
        leaf, "_is_leaf_value") for leaf in nest.flatten(like))


def _count(elems):
    """The number of rows as an int32 scalar."""
    leaf = nest.flatten(elems)[0]
    return ops.FUNCTIONS["cast"](leaf.nrows(), dtypes.int32) if hasattr(leaf, "nrows") else (
        ops.FUNCTIONS["shape"](leaf)[0])


def _arrays(like, count):
    """A tensor array for each leaf of a structure of dtypes, specs or tensors."""
    out = []
    for leaf in nest.flatten(like):
        if isinstance(leaf, (specs.RaggedTensorSpec, specs.SparseTensorSpec)):
            raise trace.NotTraceable("ragged or sparse results of map_fn over rows whose number is not known yet")
        shape = leaf.shape if isinstance(leaf, specs.TensorSpec) else None
        dtype = leaf.dtype if hasattr(leaf, "dtype") else leaf
        out.append(TensorArray(dtype, count, element_shape=shape))
    return tuple(out)


def _write_all(arrays, index, result, like):
    nest.assert_same_structure(like, result, check_types=False)
    return tuple(array.write(index, leaf) for array, leaf in zip(arrays, nest.flatten(result)))


def _stacked(array, known):
    """The rows of an array, of which there are `known`, if that is not None."""
    rows = array.stack()
    if known is not None and rows.shape.rank is not None:
        rows.set_shape([known, *rows.shape[1:]])
    return rows


def _map_loop(body, row, elems, like, known):
    count = _count(elems)
    arrays = _arrays(like, count)

    def step(i, *arrays):
        return (i + 1, *_write_all(arrays, i, body(row(i)), like))
    state = control.loop(lambda i, *rest: i < count, step, (convert_to_tensor(0), *arrays), ["the row"] + [
        "a result of fn"] * len(arrays))
    return nest.pack_sequence_as(like, [_stacked(array, known) for array in state[1:]])


def over_rows(step, state, row, row_like, count, number, order=1, like=None, has_first=False):
    """(last state, outputs stacked) of ``state, output = step(state, row(i))`` in a function that is traced.

    `row_like`: the specs of a row. `count` rows, if that is known, which are `number`, an int32 scalar; from the last
    one if `order` is negative. `like`: the structure of an output, if not as the step gives it. With `has_first` the
    state is already that of the first row, and its output.
    """
    body = Traced(step, specs_of(state), row_like)
    like = body.like[1] if like is None else like
    if body.is_copied(count) and nest.flatten(body.like[0]) == nest.flatten(specs_of(state)):
        outputs = [state] if has_first and nest.flatten(like) else []
        for i in list(range(count))[::order][has_first:]:
            state, output = body(state, row(i))
            outputs.append(output)
        return state, _stack(outputs[::order], like)
    arrays = _arrays(like, number)
    if has_first and arrays:
        arrays = _write_all(arrays, 0 if order > 0 else number - 1, state, like)

    def advance(done, state, *arrays):
        i = done if order > 0 else number - 1 - done
        after, output = body(state, row(i))
        return (done + 1, after, *_write_all(arrays, i, output, like))
    found = control.loop(lambda done, *rest: done < number, advance,
                         nest.normalize((convert_to_tensor(int(has_first)), state, *arrays)),
                         ["the row", "the state"] + ["an output"] * len(arrays))
    return found[1], nest.pack_sequence_as(like, [_stacked(array, count) for array in found[2:]])


def _traced_fold(fn, elems, row, initializer, order, keeps, count):
    number = _count(elems)
    state = row(0 if order > 0 else number - 1) if initializer is None else nest.map_structure(_tensor, initializer)

    def step(state, part):
        after = nest.map_structure(_tensor, fn(state, part))
        nest.assert_same_structure(state, after, check_types=False)
        return after, after if keeps else ()
    last, states = over_rows(step, state, row, _row_specs(row), count, number, order, specs_of(state) if keeps else (),
                             initializer is None)
    return states if keeps else last


def _stack(rows, like):
    """Structures, one for each row, as one structure of tensors."""
    if not rows:
        return nest.map_structure(lambda one: _empty(one), like)
    columns = zip(*(nest.flatten(row) for row in rows))
    return nest.pack_sequence_as(rows[0], [_stack_column(list(column), one)
                                           for column, one in zip(columns, nest.flatten(like))])


def _stack_column(column, like):
    """The results of one leaf; ragged where `like` says so, or where they are."""
    if isinstance(like, specs.RaggedTensorSpec) or any(hasattr(one, "row_splits") for one in column):
        from leat._structures.ragged_rows import stack
        stacked = stack(column)
        return stacked.with_row_splits_dtype(like.row_splits_dtype) if hasattr(like, "row_splits_dtype") else stacked
    if hasattr(column[0], "_of_parts"):
        return column[0]._of_parts([_stack_column(list(parts), None)
                                    for parts in zip(*(one._parts_of_rows() for one in column))])
    return ops.FUNCTIONS["stack"](column)


def _empty(spec):
    dtype = spec.dtype if hasattr(spec, "dtype") else dtypes.as_dtype(spec)
    known = isinstance(spec, specs.TensorSpec) and spec.shape.rank
    shape = [0 if d is None else d for d in spec.shape] if known else []
    return convert_to_tensor(np.zeros([0, *shape], dtype.as_numpy_dtype))


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """fn of each row, stacked (``tf.map_fn``); `fn_output_signature`: the dtypes of its result where they differ."""
    signature = fn_output_signature if fn_output_signature is not None else dtype
    count, row, elems = _rows(elems)
    like = signature if signature is not None else nest.map_structure(
        lambda leaf: leaf.dtype if isinstance(leaf, Tensor) else _row_like(leaf), elems)
    rows = _mapped_rows(fn, row, count, like)
    if isinstance(rows, Traced):
        return _map_loop(rows, row, elems, like, count)
    if rows:
        nest.assert_same_structure(like, rows[0], check_types=False)
        for one, found in zip(nest.flatten(like), nest.flatten(rows[0])):
            if hasattr(found, "_of_parts"):
                continue
            wanted = one.dtype if hasattr(one, "dtype") else dtypes.as_dtype(one)
            if found.dtype is not wanted:
                raise InvalidArgumentError(None, None, f"TensorArray dtype is {wanted.name} but Op is trying to write "
                                           f"dtype {found.dtype.name} [Op:TensorListSetItem]")
    return _stack(rows, like if signature is not None else nest.map_structure(_row_like, elems))


def _row_like(leaf):
    """The spec of a row of a leaf."""
    if hasattr(leaf, "_of_parts"):
        return leaf._of_parts([part[0] for part in leaf._parts_of_rows()])._type_spec
    return specs.RaggedTensorSpec(leaf.shape[1:], leaf.dtype, leaf.ragged_rank - 1, leaf.row_splits.dtype) if hasattr(
        leaf, "row_splits") else specs.TensorSpec(leaf.shape[1:], leaf.dtype)


def _mapped_rows(fn, row, count, like=None):
    """fn of each row; where there is to be a loop, what it calls. `like`: the structure of its result."""
    call = fn
    if trace.is_tracing():
        made = Traced(fn, _row_specs(row))
        if count is None or _fits_arrays(made.like if like is None else like) and not made.is_copied(count):
            return made
        call = made if made.repeats else fn
    return [nest.map_structure(_tensor, call(row(i))) for i in range(count)]


def _tensor(leaf):
    return leaf if hasattr(leaf, "_is_leaf_value") else convert_to_tensor(leaf)


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """The same as map_fn, with the result's dtypes as they come (``tf.vectorized_map``)."""
    count, row, elems = _rows(elems)
    rows = _mapped_rows(fn, row, count)
    if isinstance(rows, Traced):
        return _map_loop(rows, row, elems, rows.like, count)
    return _stack(rows, rows[0] if rows else elems)


def _fold(fn, elems, initializer, order, keeps=False):
    if not callable(fn):
        raise TypeError(f"{fn} is not callable.")
    count, row, elems = _rows(elems)
    if trace.is_tracing() and (count != 0 or initializer is not None):
        return _traced_fold(fn, elems, row, initializer, order, keeps, count)
    numbers = list(range(count))[::order]
    if initializer is None:
        if not numbers:
            raise InvalidArgumentError(None, None, "a fold over no rows needs an initializer")
        state, numbers = row(numbers[0]), numbers[1:]
    else:
        state = nest.map_structure(_tensor, initializer)
    states = [state]
    for i in numbers:
        state = nest.map_structure(_tensor, fn(state, row(i)))
        nest.assert_same_structure(states[0], state, check_types=False)
        states.append(state)
    if not keeps:
        return state
    states = states if initializer is None else states[1:]
    return _stack(states[::order], initializer)


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(... fn(fn(initializer, row 0), row 1) ..., last row) (``tf.foldl``)."""
    return _fold(fn, elems, initializer, 1)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The same from the last row to the first (``tf.foldr``)."""
    return _fold(fn, elems, initializer, -1)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """All states of foldl, stacked (``tf.scan``)."""
    return _fold(fn, elems, initializer, -1 if reverse else 1, keeps=True)
