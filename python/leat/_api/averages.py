"""Losses of a global batch on replicas: ``tf.nn.compute_average_loss`` and ``tf.nn.scale_regularization_loss``, and
the number of rows that a batch really has.
"""

from leat._core.tensor import convert_to_tensor
from leat._graph import trace
from leat.errors import InvalidArgumentError


def _replicas(name):
    strategy = trace.strategy()
    if strategy is not None and trace.replica_context() is None:
        raise RuntimeError(f"You are calling `{name}` in cross replica context, while it was expected to be called in "
                           "replica context.")
    return 1 if strategy is None else strategy.num_replicas_in_sync


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of the examples' losses divided by the global batch size (``tf.nn.compute_average_loss``).

    `global_batch_size`: by default the number of examples here times the number of replicas. RuntimeError outside of
    replicas without it, TypeError where it is no integer.
    """
    from leat._graph import ops
    cast, total = ops.FUNCTIONS["cast"], ops.FUNCTIONS["reduce_sum"]
    losses = convert_to_tensor(per_example_loss)
    if sample_weight is not None:
        weights = convert_to_tensor(sample_weight, dtype_hint=losses.dtype)
        losses = losses * cast(weights, losses.dtype)
    if global_batch_size is None:
        size = ops.FUNCTIONS["shape"](losses)[0] * _replicas("compute_average_loss")
    else:
        size = _size(global_batch_size)
    return ops.call("divide_no_nan", {}, [total(losses), cast(size, losses.dtype)])[0]


def global_rows(rows):
    """How many rows all replicas have in this step: an int32 scalar, for exact means of uneven steps (leat's).

    `rows`: this replica's, a tensor whose first dimension counts them. Every replica calls it, also one without rows.
    ``tf.nn.compute_average_loss(losses, global_batch_size=global_rows(losses))`` is the mean of all rows of the step,
    however they are spread, and 0 where there are none; TensorFlow's rule divides the last, smaller batch of an epoch
    by a whole batch's size. RuntimeError outside of replicas.
    """
    from leat._graph import ops
    replicas = _replicas("global_rows")
    count = ops.FUNCTIONS["shape"](convert_to_tensor(rows))[0]
    return count if replicas == 1 else trace.replica_context().all_reduce("SUM", count)


def _size(value):
    size = convert_to_tensor(value)
    if not size.dtype.is_integer:
        raise TypeError('global_batch_size must be an integer..  Expected "x" to be integer type.  Found: tensor of '
                        f"dtype {size.dtype!r}")
    if size.shape.rank != 0:
        raise ValueError(f"global_batch_size must be a scalar.. static shape: {size.shape}")
    if size._has_values and int(size) < 0:
        raise InvalidArgumentError(None, None, "global_batch_size must be non-negative..  ")
    return size


def scale_regularization_loss(regularization_loss):
    """The sum of a regularization loss divided by the number of replicas (``tf.nn.scale_regularization_loss``)."""
    from leat._graph import ops
    replicas = _replicas("scale_regularization_loss")
    loss = ops.FUNCTIONS["reduce_sum"](convert_to_tensor(regularization_loss))
    return loss if replicas == 1 else loss / replicas
