"""``tf.strings``: functions with ragged results. Operations of the library's table join them."""

from leat import dtypes, ops
from leat.ragged import RaggedTensor
from leat.tensor import Tensor, convert_to_tensor

__all__ = ["split"]


def split(input, sep=None, maxsplit=-1, name=None):
    """The parts of strings (``tf.strings.split``): of a scalar a vector, of more a RaggedTensor of one rank more.

    Without `sep` white space parts them; `maxsplit` of 0 or more bounds the cuts in each string.
    """
    if isinstance(input, RaggedTensor):
        return RaggedTensor.from_row_splits(split(input.values, sep, maxsplit), input.row_splits, validate=False)
    tensor = input if isinstance(input, Tensor) else convert_to_tensor(input, dtypes.string)
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError("strings.split needs an input of known rank; set it with ensure_shape")
    if rank > 1:
        return _split_rows(tensor, sep, maxsplit)
    sep = "" if sep is None else sep.decode() if isinstance(sep, bytes) else sep
    values, row_splits = ops.call("string_split", {"sep": sep, "maxsplit": maxsplit},
                                  [tensor if rank else ops.FUNCTIONS["reshape"](tensor, [1])])
    return RaggedTensor.from_row_splits(values, row_splits, validate=False) if rank else values


def _split_rows(tensor, sep, maxsplit):
    """Of rank 2 and more: the rows of the first dimension, all as long as the second."""
    shape = ops.FUNCTIONS["shape"](tensor, dtypes.int64)
    rows, columns = shape[0], shape[1]
    inner = ops.FUNCTIONS["reshape"](tensor, ops.FUNCTIONS["concat"]([[-1], shape[2:]], 0))
    row_splits = ops.FUNCTIONS["range"](rows + 1) * columns
    return RaggedTensor.from_row_splits(split(inner, sep, maxsplit), row_splits, validate=False)
