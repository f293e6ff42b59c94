"""``tf.nn``: connectionist temporal classification, its loss and its decoders.

A sequence of classes is told in steps, each of which says a class or a blank; classes that follow each other alike are
one, unless a blank lies between them.
"""

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.ops import call
from leat._nn import windows
from leat.errors import InvalidArgumentError

__all__ = ["collapse_repeated", "ctc_beam_search_decoder", "ctc_greedy_decoder", "ctc_loss", "ctc_unique_labels"]

_NEVER = -1e30  # the logarithm of a probability of 0, finite so that differences are


# ---- the loss ----

def _moved(x, by):
    """Columns moved to the right; probabilities of 0 come in."""
    return F["pad"](x, [[0, 0], [by, 0]], "CONSTANT", _NEVER)[:, :-by]


def _added(*logarithms):
    from leat.math import reduce_logsumexp
    return reduce_logsumexp(F["stack"](list(logarithms)), 0)


def losses(labels, logarithms, label_length, steps, blank):
    """Minus the logarithm of the probability of each row of `labels`, of logarithms [steps, batch, classes]."""
    from leat._graph.control import while_loop
    blanks = F["fill"](F["shape"](labels), convert_to_tensor(blank, labels.dtype))
    pairs = F["reshape"](F["stack"]([blanks, labels], -1), [F["shape"](labels)[0], -1])
    states = F["pad"](pairs, [[0, 0], [0, 1]], "CONSTANT", blank)
    before = F["pad"](states, [[0, 0], [2, 0]], "CONSTANT", blank)[:, :-2]
    skips = F["logical_and"](F["not_equal"](states, blank), F["not_equal"](states, before))
    places = F["expand_dims"](F["range"](F["shape"](states)[1]), 0)
    never = convert_to_tensor(_NEVER, logarithms.dtype)

    def said(step):
        return F["gather"](logarithms[step], states, batch_dims=1, axis=1)

    def further(step, ways):
        told = _added(ways, _moved(ways, 1), F["where"](skips, _moved(ways, 2), never))
        is_step = F["expand_dims"](F["less"](step, steps), 1)
        return step + 1, F["where"](is_step, F["maximum"](told + said(step), never), ways)
    ways = F["where"](F["less"](places, 2), said(0), never)
    count = F["shape"](logarithms)[0]
    ways = while_loop(lambda step, _: step < count, further, (convert_to_tensor(1), ways))[1]
    end = F["expand_dims"](2 * label_length, 1)
    is_end = F["logical_or"](F["equal"](places, end), F["equal"](places, end - 1))
    from leat.math import reduce_logsumexp
    loss = -reduce_logsumexp(F["where"](is_end, ways, never), 1)
    return F["where"](loss < -0.1 * _NEVER, loss, convert_to_tensor(np.inf, loss.dtype))


def ctc_loss(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None,
             name=None):
    """Minus the logarithm of the probability that logits say each row of labels (``tf.nn.ctc_loss``).

    `labels`: a dense matrix with `label_length` of each row, or a SparseTensor. Logits are [steps, batch, classes],
    or [batch, steps, classes]. `unique` changes nothing.
    """
    is_sparse = hasattr(labels, "indices")
    if is_sparse and blank_index is None:
        raise ValueError("Argument `blank_index` must be provided when labels is a SparseTensor.")
    logits = convert_to_tensor(logits)
    logits = logits if logits_time_major else F["transpose"](logits, [1, 0, 2])
    blank = 0 if blank_index is None else int(blank_index)
    classes = windows.dims(logits)[2]
    blank = blank + classes if blank < 0 else blank
    steps = F["cast"](convert_to_tensor(logit_length), dtypes.int32)
    if is_sparse:
        labels, label_length = _dense(labels, F["shape"](logits)[1])
        _want_steps(labels, label_length, steps)
    labels = F["cast"](convert_to_tensor(labels), dtypes.int32)
    label_length = F["cast"](convert_to_tensor(label_length), dtypes.int32)
    wide = F["cast"](logits, dtypes.float32) if logits.dtype in (dtypes.float16, dtypes.bfloat16) else logits
    return F["cast"](losses(labels, F["nn.log_softmax"](wide), label_length, steps, blank), logits.dtype)


def _dense(labels, batch):
    """(a dense matrix, the length of each row)."""
    from leat._structures.sparse_rows import to_dense
    rows = F["cast"](labels.indices[:, 0], dtypes.int32)
    return to_dense(labels), F["math.unsorted_segment_sum"](F["ones_like"](rows), rows, batch)


def _want_steps(labels, lengths, steps):
    """Each row needs a step for each class, and one more between two that are alike."""
    from leat._graph.control import Assert
    inside = F["sequence_mask"](lengths - 1, F["shape"](labels)[1] - 1)
    alike = F["logical_and"](F["equal"](labels[:, 1:], labels[:, :-1]), inside)
    needed = lengths + F["reduce_sum"](F["cast"](alike, dtypes.int32), 1)
    Assert(F["reduce_all"](needed <= steps), ["Not enough time for target transition sequence: required", needed,
                                              "available", steps])


def collapse_repeated(labels, seq_length, name=None):
    """(each row without classes that repeat the one before, moved together, zeros behind; their numbers)
    (``tf.nn.collapse_repeated``)."""
    labels, seq_length = convert_to_tensor(labels), convert_to_tensor(seq_length)
    count = F["shape"](labels)[1]
    new = F["concat"]([F["fill"](F["stack"]([F["shape"](labels)[0], 1]), True),
                       F["not_equal"](labels[:, 1:], labels[:, :-1])], 1)
    kept = F["logical_and"](new, F["sequence_mask"](seq_length, count))
    lengths = F["reduce_sum"](F["cast"](kept, seq_length.dtype), 1)
    moved, longest = _together(labels, kept), F["reduce_max"](lengths)
    return F["where"](F["sequence_mask"](lengths, count), moved, F["zeros_like"](moved))[:, :longest], lengths


def _together(values, kept):
    """The values of each row that are kept, before the others."""
    order = F["argsort"](F["cast"](F["logical_not"](kept), dtypes.int32), axis=1, stable=True)
    return F["gather"](values, order, batch_dims=1, axis=1)


def ctc_unique_labels(labels, name=None):
    """(the different classes of each row, zeros behind; for each class its place among them)
    (``tf.nn.ctc_unique_labels``)."""
    labels = convert_to_tensor(labels)
    same = F["equal"](F["expand_dims"](labels, 2), F["expand_dims"](labels, 1))
    first = F["cast"](F["argmax"](F["cast"](same, dtypes.int32), 2), dtypes.int32)
    places = F["range"](F["shape"](labels)[1])
    is_first = F["equal"](first, places)
    number = F["math.cumsum"](F["cast"](is_first, dtypes.int32), 1) - 1
    numbers = F["gather"](number, first, batch_dims=1, axis=1)
    together = _together(labels, is_first)
    counts = F["reduce_sum"](F["cast"](is_first, dtypes.int32), 1)
    kept = F["sequence_mask"](counts, F["shape"](labels)[1])
    return [F["where"](kept, F["cast"](together, dtypes.int64), convert_to_tensor(0, dtypes.int64)), numbers]


# ---- decoders ----

def _sparse(values, kept):
    """The kept values of each row, one behind the other, as a SparseTensor."""
    from leat._structures.sparse import SparseTensor
    counts = F["cast"](kept, dtypes.int64)
    column = F["math.cumsum"](counts, 1) - 1
    places = F["where"](kept)
    indices = F["stack"]([places[:, 0], F["boolean_mask"](column, kept)], 1)
    longest = F["reduce_max"](F["concat"]([F["reduce_sum"](counts, 1), convert_to_tensor([0], dtypes.int64)], 0))
    shape = F["stack"]([F["cast"](F["shape"](values)[0], dtypes.int64), longest])
    return SparseTensor(indices, F["boolean_mask"](F["cast"](values, dtypes.int64), kept), shape)


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """([the most likely class of each step, without blanks, as a SparseTensor], minus the sum of their logits [batch,
    1]) (``tf.nn.ctc_greedy_decoder``); logits are [steps, batch, classes], the last class is the blank by default."""
    from leat._structures.sparse import SparseTensor
    lengths = F["cast"](convert_to_tensor(sequence_length), dtypes.int32)
    blank = -1 if blank_index is None else int(blank_index)
    attributes = {"merge_repeated": bool(merge_repeated), "blank_index": blank}
    *decoded, scores = call("ctc_greedy", attributes, [convert_to_tensor(inputs), lengths])
    return [SparseTensor(*decoded)], scores


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """([the `top_paths` most likely sequences of classes, as SparseTensors], the logarithms of their probabilities
    [batch, top_paths]) (``tf.nn.ctc_beam_search_decoder``), of `beam_width` sequences at each step."""
    if top_paths > beam_width:
        raise InvalidArgumentError(None, None, "too many paths; top_paths must be at most beam_width")
    lengths = F["cast"](convert_to_tensor(sequence_length), dtypes.int32)
    classes, scores = call("ctc_beam_search", {"beam_width": int(beam_width), "top_paths": int(top_paths)},
                           [convert_to_tensor(inputs), lengths])
    return [_sparse(classes[place], classes[place] >= 0) for place in range(top_paths)], scores
