"""Functions over the rows of tensors: ``tf.map_fn``, folds and scans.

The Python function is called for each row, so in a traced function the number of rows must be known.
"""

import numpy as np

from leat import dtypes, nest, ops, specs, trace
from leat.errors import InvalidArgumentError
from leat.tensor import Tensor, convert_to_tensor


def _rows(elems):
    """(number of rows, function from a row's number to its structure); NotTraceable where that is not known."""
    elems = nest.map_structure(lambda leaf: leaf if hasattr(leaf, "_is_leaf_value") else convert_to_tensor(leaf), elems)
    flat = nest.flatten(elems)
    if not flat:
        raise ValueError("elems must have at least one Tensor")
    for leaf in flat:
        if isinstance(leaf, Tensor) and leaf.shape.rank == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    count = flat[0].shape[0]
    if count is None:
        raise trace.NotTraceable("map_fn and folds over a tensor whose first dimension is not known yet")
    return count, lambda i: nest.pack_sequence_as(elems, [leaf[i] for leaf in flat])


def _stack(rows, like):
    """Structures, one for each row, as one structure of tensors."""
    if not rows:
        return nest.map_structure(lambda one: _empty(one), like)
    columns = zip(*(nest.flatten(row) for row in rows))
    return nest.pack_sequence_as(rows[0], [ops.FUNCTIONS["stack"](list(column)) for column in columns])


def _empty(spec):
    dtype = spec.dtype if hasattr(spec, "dtype") else dtypes.as_dtype(spec)
    known = isinstance(spec, specs.TensorSpec) and spec.shape.rank
    shape = [0 if d is None else d for d in spec.shape] if known else []
    return convert_to_tensor(np.zeros([0, *shape], dtype.as_numpy_dtype))


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """fn of each row, stacked (``tf.map_fn``); `fn_output_signature`: the dtypes of its result where they differ."""
    signature = fn_output_signature if fn_output_signature is not None else dtype
    count, row = _rows(elems)
    rows = [nest.map_structure(_tensor, fn(row(i))) for i in range(count)]
    like = signature if signature is not None else nest.map_structure(
        lambda leaf: specs.TensorSpec(convert_to_tensor(leaf).shape[1:], convert_to_tensor(leaf).dtype), elems)
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
    count, row = _rows(elems)
    return _stack([nest.map_structure(_tensor, fn(row(i))) for i in range(count)], elems)


def _fold(fn, elems, initializer, order):
    if not callable(fn):
        raise TypeError(f"{fn} is not callable.")
    count, row = _rows(elems)
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
    return states


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(... fn(fn(initializer, row 0), row 1) ..., last row) (``tf.foldl``)."""
    return _fold(fn, elems, initializer, 1)[-1]


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The same from the last row to the first (``tf.foldr``)."""
    return _fold(fn, elems, initializer, -1)[-1]


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """All states of foldl, stacked (``tf.scan``)."""
    states = _fold(fn, elems, initializer, -1 if reverse else 1)
    states = states if initializer is None else states[1:]
    return _stack(states[::-1] if reverse else states, initializer)
