"""Functions over the rows of tensors: ``tf.map_fn``, folds and scans.

The Python function is called for each row. In a function that is traced it is called once, as the body of a loop, and
the results are tensor arrays; where they are ragged or sparse, of a number of rows that is known, for each row.
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
    for leaf in flat:
        if isinstance(leaf, Tensor) and leaf.shape.rank == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    counts = [leaf.shape[0] for leaf in flat if leaf.shape.rank is not None]
    count = next((one for one in counts if one is not None), None)
    for other in counts:
        if other is not None and other != count:
            raise ValueError(f"Dimensions {count} and {other} are not compatible")
    return count, lambda i: nest.pack_sequence_as(elems, [_row(leaf, i) for leaf in flat]), elems


def _row(leaf, i):
    return leaf[i] if leaf.shape.rank is not None else ops.FUNCTIONS["gather"](leaf, i)


# ---- loops, in functions that are traced ----

def _is_loop(count, *structures):
    """Does a loop run over the rows? A ragged or sparse result of one of them fits into no array."""
    return count is None or trace.is_tracing() and not any(
        isinstance(leaf, (specs.RaggedTensorSpec, specs.SparseTensorSpec)) or hasattr(leaf, "_is_leaf_value")
        for structure in structures for leaf in nest.flatten(structure))


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


def _map_loop(fn, row, elems, like, known):
    count = _count(elems)
    arrays = _arrays(like, count)

    def body(i, *arrays):
        return (i + 1, *_write_all(arrays, i, nest.map_structure(_tensor, fn(row(i))), like))
    state = control.loop(lambda i, *rest: i < count, body, (convert_to_tensor(0), *arrays), ["the row"] + [
        "a result of fn"] * len(arrays))
    return nest.pack_sequence_as(like, [_stacked(array, known) for array in state[1:]])


def _fold_loop(fn, elems, row, initializer, order, keeps, known):
    """The last state, and with `keeps` all of them, stacked."""
    count = _count(elems)
    state = row(0 if order > 0 else count - 1) if initializer is None else nest.map_structure(_tensor, initializer)

    def step(state, part):
        after = nest.map_structure(_tensor, fn(state, part))
        nest.assert_same_structure(state, after, check_types=False)
        return after, after if keeps else ()
    last, states = loop_over(step, state, row, count, order, state if keeps else (), known, initializer is None)
    return states if keeps else last


def loop_over(step, state, row, count, order, like, known=None, has_first=False):
    """(the last state, outputs stacked) of ``state, output = step(state, row(i))`` in a function that is traced.

    `count` rows, an int32 scalar, from the last one if `order` is negative; `known`: how many they are, if that is
    known. `like`: a structure of dtypes, specs or tensors as of an output. With `has_first` the state is already that
    of the first row, and its output.
    """
    arrays = _arrays(like, count)
    if has_first and arrays:
        arrays = _write_all(arrays, 0 if order > 0 else count - 1, state, like)

    def body(done, state, *arrays):
        i = done if order > 0 else count - 1 - done
        after, output = step(state, row(i))
        return (done + 1, after, *_write_all(arrays, i, output, like))
    found = control.loop(lambda done, *rest: done < count, body,
                         nest.normalize((convert_to_tensor(int(has_first)), state, *arrays)),
                         ["the row", "the state"] + ["an output"] * len(arrays))
    return found[1], nest.pack_sequence_as(like, [_stacked(array, known) for array in found[2:]])


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
    if _is_loop(count, elems if signature is None else signature):
        return _map_loop(fn, row, elems, signature if signature is not None else nest.map_structure(
            lambda leaf: leaf.dtype, elems), count)
    rows = [nest.map_structure(_tensor, fn(row(i))) for i in range(count)]
    like = signature if signature is not None else nest.map_structure(
        lambda leaf: specs.RaggedTensorSpec(leaf.shape[1:], leaf.dtype, leaf.ragged_rank - 1, leaf.row_splits.dtype)
        if hasattr(leaf, "row_splits") else specs.TensorSpec(leaf.shape[1:], leaf.dtype), elems)
    if rows:
        nest.assert_same_structure(like, rows[0], check_types=False)
        for one, found in zip(nest.flatten(like), nest.flatten(rows[0])):
            wanted = one.dtype if hasattr(one, "dtype") else dtypes.as_dtype(one)
            if found.dtype is not wanted:
                raise InvalidArgumentError(None, None, f"TensorArray dtype is {wanted.name} but Op is trying to write "
                                           f"dtype {found.dtype.name} [Op:TensorListSetItem]")
    return _stack(rows, like)


def _tensor(leaf):
    return leaf if hasattr(leaf, "_is_leaf_value") else convert_to_tensor(leaf)


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """The same as map_fn, with the result's dtypes as they come (``tf.vectorized_map``)."""
    count, row, elems = _rows(elems)
    if count is None or trace.is_tracing():
        like = result_spec(lambda i: fn(row(i)), (specs.TensorSpec([], dtypes.int32),))
        if _is_loop(count, like):
            return _map_loop(fn, row, elems, like, count)
    rows = [nest.map_structure(_tensor, fn(row(i))) for i in range(count)]
    return _stack(rows, rows[0] if rows else elems)


def result_spec(fn, spec):
    """The structure of specs that a function gives of values of `spec`, where it is called in a loop that is traced."""
    found = []

    def flat(*values):
        found[:] = [nest.map_structure(_tensor, fn(*values))]
        return tuple(nest.flatten(found[0]))
    leaves = trace.spec_inside(flat, spec)
    return nest.pack_sequence_as(found[0], list(leaves) if type(leaves) is tuple else [leaves])


def _fold(fn, elems, initializer, order, keeps=False):
    if not callable(fn):
        raise TypeError(f"{fn} is not callable.")
    count, row, elems = _rows(elems)
    if (count != 0 or initializer is not None) and _is_loop(count, elems if initializer is None else initializer):
        return _fold_loop(fn, elems, row, initializer, order, keeps, count)
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
