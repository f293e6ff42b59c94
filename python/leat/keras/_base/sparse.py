"""Sparse tensors on their way into layers, which compute with dense ones."""

from leat._core.shapes import TensorShape
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat.keras._base.state import shape_of


def as_sparse(tensor):
    """A tensor without its zeros, which knows its shape as well as that one."""
    from leat import sparse
    return sparse.from_dense(tensor)._known(TensorShape(shape_of(tensor)))


def dense(tensor):
    """A sparse tensor, or slices, with its zeros."""
    if len(tensor.indices.shape) == 1:
        return convert_to_tensor(tensor)
    made = ops.FUNCTIONS["scatter_nd"](tensor.indices, tensor.values, tensor.dense_shape)
    return ops.FUNCTIONS["ensure_shape"](made, tensor.shape)
