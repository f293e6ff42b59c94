"""``tf.nn``: connectionist temporal classification, its loss and its decoders.

A sequence of classes is told in steps, each of which says a class or a blank; classes that follow each other alike are
one, unless a blank lies between them.
"""

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._nn import windows
from leat.errors import FailedPreconditionError, InvalidArgumentError

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
    x = convert_to_tensor(inputs)
    steps, batch, classes = windows.dims(x)
    lengths = F["cast"](convert_to_tensor(sequence_length), dtypes.int32)
    if getattr(lengths, "_has_values", False) and isinstance(steps, int) and (lengths.numpy() > steps).any():
        raise FailedPreconditionError(None, None, f"sequence_length(b) <= {steps}")
    blank = -1 if blank_index is None else blank_index
    if isinstance(classes, int) and not -classes <= blank < classes:
        raise InvalidArgumentError(None, None, f"blank_index expected to be between {-classes} and {classes}")
    blank = blank + classes if blank < 0 else blank
    x = F["transpose"](x, [1, 0, 2])
    best = F["argmax"](x, 2, output_type=dtypes.int32)
    inside = F["sequence_mask"](lengths, steps)
    kept = F["logical_and"](inside, F["not_equal"](best, blank))
    if merge_repeated:
        before = F["pad"](best, [[0, 0], [1, 0]], "CONSTANT", -1)[:, :-1]
        kept = F["logical_and"](kept, F["not_equal"](best, before))
    scores = F["where"](inside, F["reduce_max"](x, 2), F["zeros_like"](x[:, :, 0]))
    return [_sparse(best, kept)], -F["reduce_sum"](scores, 1, True)


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """([the `top_paths` most likely sequences of classes, as SparseTensors], the logarithms of their probabilities
    [batch, top_paths]) (``tf.nn.ctc_beam_search_decoder``). Python searches, `beam_width` sequences at each step."""
    from leat._graph.creation import numpy_function
    if top_paths > beam_width:
        raise InvalidArgumentError(None, None, "too many paths; top_paths must be at most beam_width")
    x = convert_to_tensor(inputs)

    def search(logits, lengths):
        found = [_search(logits[:length, row], beam_width, top_paths) for row, length in enumerate(lengths)]
        longest = max([len(path) for paths in found for path, _ in paths] + [0])
        classes = np.full((top_paths, len(found), longest), -1, np.int32)
        for row, paths in enumerate(found):
            for place, (path, _) in enumerate(paths):
                classes[place, row, :len(path)] = path
        scores = np.array([[score for _, score in paths] for paths in found], logits.dtype).reshape(-1, top_paths)
        return classes, scores
    classes, scores = numpy_function(search, [x, convert_to_tensor(sequence_length)], [dtypes.int32, x.dtype])
    classes = F["ensure_shape"](classes, [top_paths, x.shape[1], None])
    return ([_sparse(classes[place], classes[place] >= 0) for place in range(top_paths)],
            F["ensure_shape"](scores, [x.shape[1], top_paths]))


class _Beam:
    """A sequence of classes: logarithms of the probability that it ends in its class, in a blank, or in any."""

    __slots__ = ("parent", "label", "children", "old", "new")

    def __init__(self, parent, label):
        self.parent, self.label, self.children = parent, label, {}
        self.old = self.new = _NONE

    def path(self):
        """The classes."""
        found, node = [], self
        while node.parent is not None:
            found.append(node.label)
            node = node.parent
        return found[::-1]


_NONE = (np.float32(-np.inf),) * 3  # (all, blank, label)


def _log_sum(a, b):
    return a if b == -np.inf else b if a == -np.inf else max(a, b) + np.log1p(np.exp(-abs(a - b)))


def _search(logits, width, count):
    """[(classes, score)] of one sequence of logits."""
    root = _Beam(None, -1)
    root.new = (np.float32(0), np.float32(0), np.float32(-np.inf))
    leaves, blank = [root], logits.shape[1] - 1
    for row in logits:
        scores = row - (row.max() + np.log(np.exp(row - row.max()).sum()))
        leaves = _step(leaves, scores, blank, width)
    leaves = sorted(leaves, key=lambda beam: -beam.new[0])[:count]
    if len(leaves) < count:
        raise InvalidArgumentError(None, None, "Less leaves in the beam search than requested.")
    return [(beam.path(), beam.new[0]) for beam in leaves]


def _step(branches, scores, blank, width):
    branches = sorted(branches, key=lambda beam: -beam.new[0])
    for beam in branches:
        beam.old = beam.new
    for beam in branches:
        label = beam.new[2]
        if beam.parent is not None:
            if beam.parent.new[0] != -np.inf:
                label = _log_sum(label, beam.parent.old[1 if beam.label == beam.parent.label else 0])
            label = label + scores[beam.label]
        ends = beam.old[0] + scores[blank]
        beam.new = (_log_sum(ends, label), ends, label)
    leaves = list(branches)
    for beam in branches:
        if _fits(leaves, beam.old[0], width):
            _grow(beam, leaves, scores, blank, width)
    return leaves


def _fits(leaves, total, width):
    return total > -np.inf and (len(leaves) < width or total > min(leaf.new[0] for leaf in leaves))


def _grow(beam, leaves, scores, blank, width):
    for label in range(blank):
        child = beam.children.setdefault(label, _Beam(beam, label))
        if child.new[0] != -np.inf:
            continue
        total = scores[label] + beam.old[1 if label == beam.label else 0]
        if not _fits(leaves, total, width):
            child.old = child.new = _NONE
            continue
        if len(leaves) == width:
            bottom = min(leaves, key=lambda leaf: leaf.new[0])
            bottom.new = _NONE
            leaves.remove(bottom)
        child.new = (total, np.float32(-np.inf), total)
        leaves.append(child)
