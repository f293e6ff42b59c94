"""Slices by indices, with the arguments that the library's operations lack: batches, and what wrong indices do."""

from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat.errors import InvalidArgumentError

__all__ = ["gather_nd", "scatter_nd", "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min",
           "tensor_scatter_nd_sub"]


def _ignores(policy):
    """Does a policy pass over indices that are outside, instead of failing?"""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise InvalidArgumentError(None, None, f"bad_indices_policy is {policy!r}; expected DEFAULT, ERROR or IGNORE")
    return policy == "IGNORE"


def _as_indices(indices):
    indices = convert_to_tensor(indices)
    return F["cast"](indices, "int32") if indices.dtype.name == "int16" else indices


def _inside(indices, shape):
    """Which rows of indices lie within the leading dimensions of `shape`, a tensor; and those dimensions."""
    sizes = F["cast"](shape, indices.dtype)[:F["shape"](indices)[-1]]
    good = F["logical_and"](F["greater_equal"](indices, 0), F["less"](indices, sizes))
    return F["reduce_all"](good, -1), sizes


def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """The slices of a tensor that rows of indices name (``tf.gather_nd``).

    `batch_dims`: so many leading dimensions belong together. With the policy IGNORE slices that are not there are 0.
    """
    params, indices = convert_to_tensor(params), _as_indices(indices)
    ignores = _ignores(bad_indices_policy)
    if isinstance(batch_dims, bool) or int(batch_dims) < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims.")
    if int(batch_dims) > 0:
        indices = _with_batches(params, indices, int(batch_dims))
    if not ignores:
        return F["gather_nd"](params, indices)
    inside, sizes = _inside(indices, F["shape"](params))
    kept = F["minimum"](F["maximum"](indices, 0), F["maximum"](sizes - 1, 0))
    found = F["gather_nd"](params, kept)
    more = F["ones_like"](F["shape"](params)[F["shape"](indices)[-1]:])
    mask = F["reshape"](inside, F["concat"]([F["shape"](inside), more], 0))
    return F["where"](mask, found, F["zeros_like"](found))


def _with_batches(params, indices, count):
    """Indices that name their place in the first `count` dimensions, too."""
    for what, tensor in (("params", params), ("indices", indices)):
        rank = tensor.shape.rank
        if rank is None:
            raise ValueError(f"gather_nd with batch_dims needs {what} of known rank; set it with ensure_shape")
        if count >= rank:
            raise ValueError(f"Argument `batch_dims` = {count} must be less than rank(`{what}`) = {rank}")
    shape = F["shape"](indices)
    parts = []
    for axis in range(count):
        size = F["shape"](params, indices.dtype)[axis]
        ones = [1] * (indices.shape.rank - 1)
        place = F["reshape"](F["range"](size), [*ones[:axis], -1, *ones[axis + 1:], 1])
        parts.append(F["broadcast_to"](place, F["concat"]([shape[:-1], [1]], 0)))
    return F["concat"]([*parts, indices], -1)


def _scattered(name, first, indices, updates, shape, policy):
    """Calls an operation with those indices and updates that a policy lets through."""
    indices, updates = _as_indices(indices), convert_to_tensor(updates, dtype_hint=getattr(first, "dtype", None))
    if _ignores(policy):
        inside, _ = _inside(indices, shape)
        indices, updates = F["boolean_mask"](indices, inside), F["boolean_mask"](updates, inside)
    given = (indices, updates, first) if name == "scatter_nd" else (first, indices, updates)
    return F[name](*given)


def scatter_nd(indices, updates, shape, name=None, bad_indices_policy=""):
    """Zeros of a shape with slices added at places that rows of indices name (``tf.scatter_nd``)."""
    if not _ignores(bad_indices_policy):
        return F["scatter_nd"](_as_indices(indices), updates, shape)
    return _scattered("scatter_nd", shape, indices, updates, convert_to_tensor(shape), bad_indices_policy)


def _onto(name, doc):
    def scatter(tensor, indices, updates, name=None, bad_indices_policy=""):
        tensor = convert_to_tensor(tensor)
        return _scattered(operation, tensor, indices, updates, F["shape"](tensor), bad_indices_policy)
    operation = scatter.__name__ = scatter.__qualname__ = f"tensor_scatter_nd_{name}"
    scatter.__doc__ = (f"A tensor with slices {doc} at places that rows of indices name (``tf.{operation}``).\n\n"
                       "With the policy IGNORE indices outside of it are passed over, else they fail.")
    return scatter


tensor_scatter_nd_add = _onto("add", "added")
tensor_scatter_nd_max = _onto("max", "of the larger values")
tensor_scatter_nd_min = _onto("min", "of the smaller values")
tensor_scatter_nd_sub = _onto("sub", "subtracted")
