"""Sparse tensors as three texts, and batches of them as rows of these (``tf.io.serialize_sparse`` and its kin)."""

from leat import dtypes
from leat._api.folds import map_fn
from leat._core.shapes import TensorShape
from leat._core.tensor import convert_to_tensor
from leat._graph.control import while_loop
from leat._graph.ops import FUNCTIONS as F
from leat._structures.sparse import SparseTensor
from leat.errors import InvalidArgumentError, UnimplementedError


def _checked(value, out_type):
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Argument `sp_input` must be a SparseTensor. Received: {value!r}")
    if dtypes.as_dtype(out_type) is not dtypes.string:
        raise UnimplementedError(None, None, f"sparse tensors are serialized as texts, found out_type={out_type!r}; "
                                 "leave it out")


def _texts(indices, values, shape):
    return F["stack"]([F["io.serialize_tensor"](one) for one in (indices, values, shape)])


def serialize_sparse(sp_input, out_type=dtypes.string, name=None):
    """A sparse tensor as three texts: places, values, shape (``tf.io.serialize_sparse``)."""
    _checked(sp_input, out_type)
    return _texts(sp_input.indices, sp_input.values, sp_input.dense_shape)


def serialize_many_sparse(sp_input, out_type=dtypes.string, name=None):
    """Each row of a sparse tensor as three texts, of a rank less: [N, 3] (``tf.io.serialize_many_sparse``)."""
    _checked(sp_input, out_type)
    places, values, shape = sp_input.indices, sp_input.values, sp_input.dense_shape
    if shape.shape[0] is not None and shape.shape[0] < 2:
        raise InvalidArgumentError(None, None, "Rank of input SparseTensor should be > 1, but saw rank: "
                                   f"{shape.shape[0]}; serialize_sparse takes one row")

    def row(number):
        chosen = F["equal"](places[:, 0], number)
        return _texts(F["boolean_mask"](places, chosen)[:, 1:], F["boolean_mask"](values, chosen), shape[1:])
    return map_fn(row, F["range"](shape[0]), fn_output_signature=dtypes.string)


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The sparse tensor whose rows are texts [N, 3] of ``serialize_sparse`` (``tf.io.deserialize_many_sparse``); its
    other dimensions are the largest of the rows'. `rank`: its rank, where that is known."""
    texts, dtype = convert_to_tensor(serialized_sparse, dtypes.string), dtypes.as_dtype(dtype)
    if texts.shape.rank is not None and (texts.shape.rank != 2 or texts.shape[1] not in (3, None)):
        raise InvalidArgumentError(None, None, "Serialized sparse should have non-zero dims and 3 columns, found the "
                                   f"shape {texts.shape}")
    int64 = dtypes.int64
    sizes = F["reshape"](F["io.parse_tensor"](texts[0, 2], int64), [-1])

    def add(number, places, values, shape):
        own, more, size = (F["io.parse_tensor"](texts[number, part], kind) for part, kind in (
            (0, int64), (1, dtype), (2, int64)))
        own, more, size = F["reshape"](own, F["stack"]([-1, F["size"](size)])), F["reshape"](more, [-1]), F["reshape"](
            size, [-1])
        head = F["fill"](F["stack"]([F["shape"](own)[0], 1]), F["cast"](number, int64))
        return (number + 1, F["concat"]([places, F["concat"]([head, own], 1)], 0), F["concat"]([values, more], 0),
                F["maximum"](shape, size))
    none = F["zeros"](F["stack"]([0, F["size"](sizes) + 1]), int64)
    start = (convert_to_tensor(0), none, F["zeros"]([0], dtype), sizes)
    count = F["shape"](texts)[0]
    _, places, values, shape = while_loop(lambda number, *_: number < count, add, start, shape_invariants=[
        TensorShape(dims) for dims in ([], [None, None], [None], [None])])
    shape = F["concat"]([F["cast"](F["reshape"](count, [1]), int64), shape], 0)
    if rank is not None:
        places, shape = F["ensure_shape"](places, [None, rank]), F["ensure_shape"](shape, [rank])
    return SparseTensor(places, values, shape)
