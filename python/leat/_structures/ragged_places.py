"""Parts of tensors that ragged indices name, in other dimensions than the first."""

from leat._core.specs import RaggedTensorSpec
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F

_ragged = RaggedTensorSpec.value_class  # whose methods are made of what stands in ragged_rows


def take_inside(params, indices, axis):
    """Parts of a later dimension of a tensor, by ragged indices: they are the same for each of those in front."""
    params = convert_to_tensor(params)
    axis += params.shape.rank if axis < 0 else 0
    if axis == 0:
        return indices.with_flat_values(F["gather"](params, indices.flat_values))
    splits, shape = indices.row_splits.dtype, F["shape"](params, indices.row_splits.dtype)
    if not 0 < axis < params.shape.rank:
        raise ValueError(f"gather: axis is {axis}; expected one of {params.shape.rank} dimensions")
    before = F["reduce_prod"](shape[:axis])
    taken = F["gather"](params, indices.flat_values, axis=axis)
    merged = F["reshape"](taken, F["concat"]([[-1], shape[axis + 1:]], 0))
    merged = F["ensure_shape"](merged, [None, *params.shape.as_list()[axis + 1:]])
    lengths = [F["tile"](one, F["reshape"](before, [1])) for one in indices.nested_row_lengths()]
    found = _ragged.value.from_nested_row_lengths(merged, [F["cast"](one, splits) for one in lengths])
    known = [*params.shape.as_list()[1:axis], indices.shape[0]]
    sizes = [shape[d + 1] for d, _ in enumerate(known[:-1])] + [F["cast"](indices.nrows(), splits)]
    for size, number in zip(sizes[::-1], known[::-1]):
        found = _ragged.value.from_uniform_row_length(found, size if number is None else number)
    return found
