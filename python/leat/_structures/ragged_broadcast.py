"""How ragged tensors and others come to have the same rows, for operations on what lies below these.

As in TensorFlow a dimension of size 1 goes with any other, a ragged one otherwise with one of equal lengths alone. What
has fewer dimensions gets some of size 1 in front; dimensions below all ragged ones are left to the operation.
"""

import numpy as np

from leat._core.specs import RaggedTensorSpec
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._structures.ragged_rows import is_ragged, splits_of_lengths

_ragged = RaggedTensorSpec.value_class


def aligned(values):
    """([each value below the ragged dimensions of all], a ragged tensor with these dimensions); others as they are."""
    ragged = [value for value in values if is_ragged(value)]
    values = [value if value is None or is_ragged(value) or np.isscalar(value) else convert_to_tensor(
        value, dtype_hint=ragged[0].dtype) for value in values]
    inner = min(value.flat_values.shape.rank or 0 for value in ragged)
    joining = [value for value in values if is_ragged(value) or getattr(getattr(
        value, "shape", None), "rank", None) not in (None, 0) and value.shape.rank >= inner]
    if len(joining) == len(ragged) and all(_same_rows(value, ragged[0]) for value in ragged):
        return [value.flat_values if is_ragged(value) else value for value in values], ragged[0]
    found = _Rows(joining)
    return [found.below(value) if any(value is one for one in joining) else value for value in values], found.ragged()


def _same_rows(a, b):
    one, other = a.nested_row_splits, b.nested_row_splits
    return len(one) == len(other) and all(x is y for x, y in zip(one, other))


class _Part:
    """One of the values: its slices in all dimensions down to the innermost ragged one, behind each other."""

    def __init__(self, value, rank, depth, dtype):
        self.value = value
        own, missing = value.shape.rank, rank - value.shape.rank
        outer = value.ragged_rank + 1 if is_ragged(value) else 0  # dimensions that its rows are made of
        flat = value.flat_values if is_ragged(value) else value
        shape = F["shape"](flat, dtype)
        first = 1 if outer else 0
        dims = [shape[axis] for axis in range(first, own - outer + first)]
        sizes = [convert_to_tensor(1, dtype)] * missing
        if outer:
            sizes += [value.nrows(), *value.nested_row_lengths()]
        self.sizes = [*sizes, *dims][:depth + 1]
        self.is_ragged = [size.shape.rank == 1 for size in self.sizes]
        merged = max(depth + 1 - missing - max(outer, 1), 0)  # inner dimensions that become rows
        self.flat = flat if merged == 0 and own > 0 else F["reshape"](flat, F["concat"]([
            [-1], F["cast"](shape[1 + merged:], "int32")], 0))
        self.places = None  # its slice for each of the result, None where they are the same

    def places_or_all(self, count):
        return F["range"](count) if self.places is None else self.places


class _Rows:
    """The rows that values have together."""

    def __init__(self, values):
        kinds = {value.row_splits.dtype for value in values if is_ragged(value)}
        if len(kinds) > 1:
            raise ValueError("Input RaggedTensors have mismatched row_splits dtypes; use "
                             "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes.")
        ranks = [value.shape.rank for value in values]
        if None in ranks:
            raise ValueError("Unable to broadcast: unknown rank")
        (self._dtype,) = kinds
        rank = max(ranks)
        depth = max(rank - value.shape.rank + value.ragged_rank for value in values if is_ragged(value))
        self._parts = [_Part(value, rank, depth, self._dtype) for value in values]
        self._count = self._first()
        self._sizes = []  # of the dimensions from the second on; None: it is ragged
        self._splits = [self._next(axis) for axis in range(1, depth + 1)]

    def below(self, value):
        """What the value has for each of the innermost rows' places."""
        part = next(part for part in self._parts if part.value is value)
        return part.flat if part.places is None else F["gather"](part.flat, part.places)

    def ragged(self):
        """A ragged tensor of these rows; what lies below is to be replaced."""
        for part in self._parts:
            if part.places is None and is_ragged(part.value) and part.value.ragged_rank == len(self._splits):
                return part.value
        made = self.below(self._parts[0].value)
        for splits, size in reversed(list(zip(self._splits, self._sizes))):
            made = _ragged.value(made, splits, size)
        return made

    def _uniform(self, axis):
        """The size of a dimension that is ragged nowhere: 1, or what all others have."""
        sizes = [part.sizes[axis] for part in self._parts]
        found = sizes[0]
        for size in sizes[1:]:
            _check(axis, (size, found), F["logical_or"](F["equal"](size, found), F["logical_or"](
                F["equal"](size, 1), F["equal"](found, 1))))
            found = F["where"](F["equal"](found, 1), size, found)
        return found

    def _first(self):
        """The size of the outermost dimension, and each part's slices there."""
        count = self._uniform(0)
        for part in self._parts:
            if not _equal(part.sizes[0], count):
                several = F["cast"](F["not_equal"](part.sizes[0], 1), self._dtype)
                part.places = F["multiply"](F["range"](count), several)
        return count

    def _next(self, axis):
        """The row splits of a further dimension, and each part's slices there."""
        ragged = next((part for part in self._parts if part.is_ragged[axis]), None)
        if ragged is None:
            size = self._uniform(axis)
            lengths = F["fill"](F["expand_dims"](self._count, 0), size)
        else:
            size, lengths = None, _taken(ragged.sizes[axis], ragged.places)
        self._sizes.append(size)
        splits = splits_of_lengths(lengths)
        total = splits[-1]
        offsets = F["subtract"](F["range"](total), F["repeat"](splits[:-1], lengths))
        for part in self._parts:
            own = part.sizes[axis]
            if part.is_ragged[axis]:
                if part is not ragged:
                    found = _taken(own, part.places)
                    same = F["equal"](F["size"](found, self._dtype), F["size"](lengths, self._dtype))
                    _check(axis, (found, lengths), same)
                    _check(axis, (found, lengths), F["reduce_all"](F["equal"](found, lengths)))
                if part.places is not None:
                    begins = F["gather"](splits_of_lengths(own), part.places)
                    part.places = F["add"](F["repeat"](begins, lengths), offsets)
                continue
            if size is None:
                _check(axis, (own, lengths), F["logical_or"](F["equal"](own, 1), F["reduce_all"](F["equal"](
                    lengths, own))))
            elif part.places is None and _equal(own, size):
                continue
            several = F["cast"](F["not_equal"](own, 1), self._dtype)
            begins = F["multiply"](part.places_or_all(self._count), own)
            part.places = F["add"](F["repeat"](begins, lengths), F["multiply"](offsets, several))
        self._count = total
        return splits


def _taken(lengths, places):
    return lengths if places is None else F["gather"](lengths, places)


def _equal(a, b):
    """Are two sizes known to be equal?"""
    return a is b or a._has_values and b._has_values and int(a) == int(b)


def _check(axis, sizes, condition):
    from leat._graph.control import Assert
    Assert(condition, [f"Unable to broadcast: dimension size mismatch in dimension {axis}", *sizes])
