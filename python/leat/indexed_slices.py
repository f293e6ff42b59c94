"""``tf.IndexedSlices``: some slices of a larger tensor, by their numbers along its first dimension."""

from leat import dtypes
from leat.shapes import TensorShape
from leat.tensor import convert_to_tensor


class IndexedSlices:
    """Slices `values` [n, ...] at places `indices` [n] of a tensor of `dense_shape` (``tf.IndexedSlices``).

    Gradients are ordinary tensors here; this is what the scatter methods of Variable take. As a tensor it has the sum
    of the slices at each place, and zeros elsewhere.
    """

    def __init__(self, values, indices, dense_shape=None):
        self._values, self._indices = convert_to_tensor(values), convert_to_tensor(indices)
        self._dense_shape = None if dense_shape is None else convert_to_tensor(dense_shape)

    values = property(lambda self: self._values)
    indices = property(lambda self: self._indices)
    dense_shape = property(lambda self: self._dense_shape)
    dtype = property(lambda self: self._values.dtype)

    @property
    def shape(self):
        """The static shape of the whole tensor."""
        known = self._dense_shape is not None and self._dense_shape._has_values
        return TensorShape(self._dense_shape._values() if known else None)

    def _as_tensor(self):
        from leat.ops import FUNCTIONS
        if self._dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: give one")
        count = FUNCTIONS["cast"](self._dense_shape[0], dtypes.int64)
        return FUNCTIONS["math.unsorted_segment_sum"](self._values, self._indices, count)

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __repr__(self):
        return (f"IndexedSlices(indices={self._indices!s}, values={self._values!s}, "
                f"dense_shape={None if self._dense_shape is None else str(self._dense_shape)})")
