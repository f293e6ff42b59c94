"""``tf.nn``: rows of embeddings that sparse numbers name, and losses over sampled classes."""

import collections

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.ops import call
from leat._nn.losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits

__all__ = ["compute_accidental_hits", "embedding_lookup", "embedding_lookup_sparse", "nce_loss",
           "safe_embedding_lookup_sparse", "sampled_softmax_loss"]


# ---- rows ----

def _table(params):
    if params is None or isinstance(params, (list, tuple)) and not params:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and len(params) > 1:  # its rows in several parts
        return F["concat"]([_table(one) for one in params], 0)
    params = params[0] if isinstance(params, (list, tuple)) else params
    return params._as_tensor() if hasattr(params, "_as_tensor") else convert_to_tensor(params)


def rows_of_parts(parts, ids):
    """The rows that `ids` number of a table in several parts, each of which is asked for its own alone."""
    ids, first, total = convert_to_tensor(ids), 0, None
    for place, part in enumerate(parts):
        own, size = ids - first, part.shape[0]
        own = own if place == 0 else F["maximum"](own, 0)  # the first and the last part refuse what is out of range
        own = own if place == len(parts) - 1 else F["minimum"](own, size - 1)
        is_here = F["reshape"](F["equal"](own, ids - first), [-1] + [1] * (part.shape.rank - 1))
        rows = F["gather"](part._as_tensor(), F["reshape"](own, [-1]))
        rows = F["where"](is_here, rows, F["zeros_like"](rows))
        total, first = rows if total is None else total + rows, first + size
    return F["reshape"](total, F["concat"]([F["shape"](ids), parts[0].shape[1:].as_list()], 0))


def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of `params` that `ids` number; their norms are at most `max_norm` (``tf.nn.embedding_lookup``).

    `params`: a table, or its rows in several parts, the first ones first.
    """
    parts = getattr(params, "variables", params) if getattr(params, "is_sharded_variable", False) else params
    if hasattr(ids, "with_flat_values"):
        return ids.with_flat_values(embedding_lookup(params, ids.flat_values, max_norm))
    if isinstance(parts, (list, tuple)) and len(parts) > 1 and all(getattr(one, "_is_remote", False) for one in parts):
        found = rows_of_parts(parts, ids)
    else:
        found = F["gather"](_table(params), ids)
    if max_norm is None:
        return found
    from leat._api.arrays import clip_by_norm
    first = convert_to_tensor(ids).shape.rank
    return clip_by_norm(found, max_norm, list(range(first, found.shape.rank)))


_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None,
                            allow_fast_lookup=False):
    """The rows of `params` that each row of `sp_ids` names, joined to their "mean", "sum" or "sqrtn", the sum over the
    root of the sum of squared weights (``tf.nn.embedding_lookup_sparse``); sparse or ragged numbers and weights."""
    combiner = "mean" if combiner is None else combiner
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    ids, rows = _numbers(sp_ids)
    embeddings = embedding_lookup(params, ids, max_norm)
    if embeddings.dtype in (dtypes.float16, dtypes.bfloat16):
        wide = F["cast"](_table(params), dtypes.float32)
        return F["cast"](embedding_lookup_sparse(wide, sp_ids, sp_weights, combiner, max_norm), embeddings.dtype)
    if sp_weights is None:
        total = F["math.segment_sum"](embeddings, rows)
        count = F["math.segment_sum"](F["ones_like"](F["cast"](rows, embeddings.dtype)), rows)
        weights = None
    else:
        weights = F["cast"](_numbers(sp_weights)[0], embeddings.dtype)
        shape = F["concat"]([F["shape"](weights), F["ones_like"](F["shape"](embeddings)[1:])], 0)
        total = F["math.segment_sum"](F["multiply"](embeddings, F["reshape"](weights, shape)), rows)
    if combiner == "sum":
        return total
    if weights is not None:
        count = F["math.segment_sum"](weights if combiner == "mean" else F["square"](weights), rows)
    divisor = count if combiner == "mean" else F["sqrt"](count)
    divisor = F["reshape"](divisor, F["concat"]([[-1], F["ones_like"](F["shape"](total)[1:])], 0))
    return F["math.divide_no_nan"](total, divisor) if weights is None else F["divide"](total, divisor)


def _numbers(value):
    """(the values, the row of each) of a sparse or ragged value."""
    if hasattr(value, "value_rowids"):
        return value.values, value.value_rowids()
    if not hasattr(value, "indices"):
        raise TypeError(f"sp_ids must be SparseTensor or RaggedTensor, got {type(value)}")
    return value.values, value.indices[:, 0]


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 max_norm=None, name=None, allow_fast_lookup=False):
    """``embedding_lookup_sparse`` without numbers below 0, and weights of 0 and less except for "sum"
    (``tf.nn.safe_embedding_lookup_sparse``); rows without any are those of `default_id`, or zeros."""
    from leat._structures import sparse_rows
    from leat._structures.sparse import SparseTensor
    if hasattr(sparse_ids, "value_rowids"):
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = None if sparse_weights is None else sparse_weights.to_sparse()
    shape = convert_to_tensor(sparse_ids.dense_shape, dtypes.int64)
    rank = sparse_ids.shape.rank
    flat = F["stack"]([F["reduce_prod"](shape[:-1]), shape[-1]])
    ids = sparse_rows.reshape(sparse_ids, flat)
    weights = None if sparse_weights is None else SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
    kept = F["greater_equal"](ids.values, 0)
    if weights is not None and combiner != "sum":
        kept = F["logical_and"](kept, F["greater"](weights.values, 0))
    ids = sparse_rows.retain(ids, kept)
    ids, is_empty = sparse_rows.fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = sparse_rows.fill_empty_rows(sparse_rows.retain(weights, kept), 1.0)
    found = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        found = F["where"](F["expand_dims"](is_empty, 1), F["zeros_like"](found), found)
    whole = F["reshape"](found, F["concat"]([F["cast"](shape[:-1], dtypes.int32), F["shape"](found)[1:]], 0))
    return whole if rank is None else F["ensure_shape"](whole, [*sparse_ids.shape.as_list()[:-1], found.shape[1]])


# ---- losses over samples ----

AccidentalHits = collections.namedtuple("AccidentalHits", "indices ids weights")


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """(rows, places among the sampled, the lowest float32) of sampled classes that are true ones of a row
    (``tf.nn.compute_accidental_hits``)."""
    true, sampled = (F["cast"](convert_to_tensor(one), dtypes.int64) for one in (true_classes, sampled_candidates))
    if true.shape.rank is not None and (true.shape.rank != 2 or true.shape[1] not in (None, num_true)):
        from leat.errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, "true_candidates must be a batch_size * num_true matrix")
    return AccidentalHits(*call("compute_accidental_hits", None, [true, sampled]))


def _sampled_logits(weights, biases, labels, inputs, sampled_values, num_true, num_sampled, num_classes,
                    remove_accidental_hits, seed):
    """(logits, labels) of the true and the sampled classes, [batch, num_true + num_sampled]."""
    from leat.linalg import matmul
    from leat.random.candidates import log_uniform_candidate_sampler
    labels = F["cast"](convert_to_tensor(labels), dtypes.int64)
    flat, inputs = F["reshape"](labels, [-1]), convert_to_tensor(inputs)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
    sampled, true_counts, sampled_counts = (F["stop_gradient"](convert_to_tensor(one)) for one in sampled_values)
    sampled = F["cast"](sampled, dtypes.int64)
    ids = F["concat"]([flat, sampled], 0)
    count = F["shape"](flat)[0]
    rows, own = embedding_lookup(weights, ids), embedding_lookup(biases, ids)
    true_rows = F["reshape"](rows[:count], F["stack"]([-1, num_true, F["shape"](rows)[1]]))
    true = F["reduce_sum"](F["multiply"](F["expand_dims"](inputs, 1), true_rows), 2)
    true = true + F["reshape"](own[:count], [-1, num_true])
    others = matmul(inputs, rows[count:], transpose_b=True) + own[count:]
    if remove_accidental_hits:
        at, place, lowest = compute_accidental_hits(labels, sampled, num_true)
        places = F["stack"]([F["cast"](at, dtypes.int64), place], 1)
        others = F["tensor_scatter_nd_add"](others, places, F["cast"](lowest, others.dtype))
    true = true - F["math.log"](F["cast"](true_counts, true.dtype))
    others = others - F["math.log"](F["cast"](sampled_counts, others.dtype))
    answers = F["concat"]([F["ones_like"](true) / num_true, F["zeros_like"](others)], 1)
    return F["concat"]([true, others], 1), answers


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, name="nce_loss"):
    """Noise-contrastive estimation: the cross entropy of each true class and of sampled others, by row
    (``tf.nn.nce_loss``)."""
    logits, answers = _sampled_logits(weights, biases, labels, inputs, sampled_values, num_true, num_sampled,
                                      num_classes, remove_accidental_hits, None)
    return F["reduce_sum"](sigmoid_cross_entropy_with_logits(answers, logits), 1)


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, seed=None, name="sampled_softmax_loss"):
    """The cross entropy of the true classes among these and sampled others (``tf.nn.sampled_softmax_loss``)."""
    logits, answers = _sampled_logits(weights, biases, labels, inputs, sampled_values, num_true, num_sampled,
                                      num_classes, remove_accidental_hits, seed)
    return softmax_cross_entropy_with_logits(F["stop_gradient"](answers), logits)
