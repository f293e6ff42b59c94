"""Functions over the rows of tensors: ``tf.map_fn``, folds and scans.

The Python function is called for each row. In a traced function whose number of rows is not known it becomes the body
of a loop, and the results are tensor arrays.
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
    count = None if flat[0].shape.rank is None else flat[0].shape[0]
    return count, lambda i: nest.pack_sequence_as(elems, [_row(leaf, i) for leaf in flat]), elems


def _row(leaf, i):
    return leaf[i] if leaf.shape.rank is not None else ops.FUNCTIONS["gather"](leaf, i)


# ---- loops, where the number of rows is not known ----

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


def _map_loop(fn, row, elems, like):
    count = _count(elems)
    arrays = _arrays(like, count)

    def body(i, *arrays):
        return (i + 1, *_write_all(arrays, i, nest.map_structure(_tensor, fn(row(i))), like))
    state = control.loop(lambda i, *rest: i < count, body, (convert_to_tensor(0), *arrays), ["the row"] + [
        "a result of fn"] * len(arrays))
    return nest.pack_sequence_as(like, [array.stack() for array in state[1:]])


def _fold_loop(fn, elems, row, initializer, order, keeps):
    """The last state, and with `keeps` all of them, stacked."""
    count = _count(elems)
    state = row(0 if order > 0 else count - 1) if initializer is None else nest.map_structure(_tensor, initializer)
    done = convert_to_tensor(0 if initializer is not None else 1)
    arrays = _arrays(state, count) if keeps else ()
    if keeps and initializer is None:
        arrays = _write_all(arrays, 0 if order > 0 else count - 1, state, state)

    def body(done, state, *arrays):
        i = done if order > 0 else count - 1 - done
        after = nest.map_structure(_tensor, fn(state, row(i)))
        nest.assert_same_structure(state, after, check_types=False)
        return (done + 1, after, *(_write_all(arrays, i, after, after) if keeps else ()))
    found = control.loop(lambda done, *rest: done < count, body, nest.normalize((done, state, *arrays)), [
        "the row", "the state"] + ["a state"] * len(arrays))
    return found[1] if not keeps else nest.pack_sequence_as(state, [array.stack() for array in found[2:]])


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
    if count is None:
        return _map_loop(fn, row, elems, signature if signature is not None else nest.map_structure(
            lambda leaf: leaf.dtype, elems))
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
    if count is None:
        first = nest.map_structure(_tensor, fn(row(0)))  # for its dtypes; nothing uses the values
        return _map_loop(fn, row, elems, nest.map_structure(lambda leaf: leaf.dtype, first))
    rows = [nest.map_structure(_tensor, fn(row(i))) for i in range(count)]
    return _stack(rows, rows[0] if rows else elems)


def _fold(fn, elems, initializer, order, keeps=False):
    if not callable(fn):
        raise TypeError(f"{fn} is not callable.")
    count, row, elems = _rows(elems)
    if count is None:
        return _fold_loop(fn, elems, row, initializer, order, keeps)
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
