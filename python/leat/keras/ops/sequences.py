"""``keras.ops``: the CTC loss and its decoding, and dimensions rearranged by a pattern."""

import re

import numpy as np

import leat as tf
from leat.keras.ops import nn
from leat.keras.ops.promote import OPERATIONS, floats, operation, tensor

_before = set(OPERATIONS)

_NEVER = -1e30  # the logarithm of a probability of 0, finite so that differences are


# ---- CTC ----

def _moved(x, by, filler):
    """Columns moved to the right; `filler` comes in."""
    return tf.pad(x, [[0, 0], [by, 0]], constant_values=tf.constant(filler, x.dtype))[:, :x.shape[1]]


def _added(*logarithms):
    return tf.reduce_logsumexp(tf.stack(logarithms), 0)


@operation
def ctc_loss(target, output, target_length, output_length, mask_index=0):
    """Minus the logarithm of the probability that logits [batch, steps, classes] say a sequence of classes, with blanks
    (`mask_index`) between them (``keras.ops.ctc_loss``). The number of steps must be known."""
    target, output = tensor(target, "int32"), floats(output)
    if output.dtype != "float64":
        output = tf.cast(output, "float32")
    target_length, output_length = tensor(target_length, "int32"), tensor(output_length, "int32")
    for name, one, other in (("target", target, output), ("target_length", target_length, target),
                             ("output_length", output_length, output)):
        if None not in (one.shape[0], other.shape[0]) and one.shape[0] != other.shape[0]:
            raise ValueError(f"Arguments `{name}` and what it belongs to must have the same first dimension. Received "
                             f"shapes: `{tuple(one.shape)}` and `{tuple(other.shape)}`.")
    if len(target.shape) != 2 or len(output.shape) != 3:
        raise ValueError("ctc_loss: expected target [batch, length] and output [batch, steps, classes], found shapes "
                         f"`{tuple(target.shape)}` and `{tuple(output.shape)}`")
    length, steps = target.shape[1], output.shape[1]
    if length is None or steps is None:
        raise ValueError("ctc_loss: expected known lengths, found target.shape="
                         f"{tuple(target.shape)} and output.shape={tuple(output.shape)}; pad to a fixed length")
    blank = tf.fill(tf.shape(target), mask_index)
    states = tf.concat([tf.reshape(tf.stack([blank, target], -1), [-1, 2 * length]), blank[:, :1]], 1)
    skips = tf.logical_and(states != mask_index, states != _moved(states, 2, mask_index))
    said = tf.gather(nn.log_softmax(output), tf.tile(states[:, None, :], [1, steps, 1]), batch_dims=2, axis=2)
    never = tf.constant(_NEVER, said.dtype)
    ways = tf.where(tf.range(2 * length + 1)[None, :] < 2, said[:, 0], never)
    for step in range(1, steps):
        further = _added(ways, _moved(ways, 1, _NEVER), tf.where(skips, _moved(ways, 2, _NEVER), never))
        ways = tf.where(step < output_length[:, None], tf.maximum(further + said[:, step], never), ways)
    end = 2 * target_length[:, None]
    places = tf.range(2 * length + 1)[None, :]
    loss = -tf.reduce_logsumexp(tf.where(tf.logical_or(places == end, places == end - 1), ways, never), 1)
    return tf.where(loss < -0.1 * _NEVER, loss, tf.constant(np.inf, loss.dtype))


@operation
def ctc_decode(inputs, sequence_lengths, strategy="greedy", beam_width=100, top_paths=1, merge_repeated=True,
               mask_index=0):
    """Class numbers without blanks (`mask_index`; None: the last class), -1 behind them, and their scores
    (``keras.ops.ctc_decode``).

    The strategy "greedy" takes the most likely class of each step: [1, batch, steps], and [batch, 1] minus the sum of
    their logits. "beam_search" follows `beam_width` sequences and gives the `top_paths` most likely ones: [top_paths,
    batch, steps], and [batch, top_paths] the logarithms of their probabilities.
    """
    if strategy not in ("greedy", "beam_search"):
        raise ValueError(f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'.")
    inputs = floats(inputs)
    lengths = tensor(sequence_lengths, "int32")
    mask_index = (inputs.shape[-1] - 1 if mask_index is None else mask_index) % inputs.shape[-1]
    if strategy == "beam_search":
        return _beams(inputs, lengths, beam_width, top_paths, mask_index)
    steps = tf.range(tf.shape(inputs)[1])[None, :]
    best = tf.argmax(inputs, -1, output_type="int32")
    counts = steps < lengths[:, None]
    kept = tf.logical_and(counts, best != mask_index)
    if merge_repeated:
        before = tf.pad(best, [[0, 0], [1, 0]], constant_values=-1)[:, :-1]
        kept = tf.logical_and(kept, best != before)
    order = tf.argsort(tf.cast(tf.logical_not(kept), "int32"), axis=1, stable=True)
    decoded = tf.gather(tf.where(kept, best, tf.fill(tf.shape(best), -1)), order, batch_dims=1, axis=1)
    if inputs.dtype != "float64":
        inputs = tf.cast(inputs, "float32")
    scores = tf.where(counts, tf.reduce_max(inputs, -1), tf.zeros_like(inputs[:, :, 0]))
    return decoded[None], -tf.reduce_sum(scores, 1, True)


def _beams(inputs, lengths, beam_width, top_paths, blank):
    """The sequences that a beam search finds; the search wants the blank as the last class."""
    logits = inputs if inputs.dtype == "float64" else tf.cast(inputs, "float32")
    logits = tf.concat([logits[..., :blank], logits[..., blank + 1:], logits[..., blank:blank + 1]], -1)
    found, scores = tf.nn.ctc_beam_search_decoder(tf.transpose(logits, [1, 0, 2]), lengths, beam_width, top_paths)
    shape = tf.cast(tf.shape(inputs)[:2], "int64")
    dense = [tf.sparse.to_dense(tf.SparseTensor(one.indices, one.values, shape), default_value=-1) for one in found]
    classes = tf.cast(tf.stack([tf.ensure_shape(one, inputs.shape[:2]) for one in dense]), "int32")
    return tf.where(classes >= blank, classes + 1, classes), scores


# ---- patterns ----

def _axes_of(text):
    """Names of axes, those in brackets as lists."""
    found = []
    for brackets, name in re.findall(r"\(([^)]*)\)|(\S+)", text):
        found.append(brackets.split() if not name else name)
    return found


def _flat(axes):
    return [name for axis in axes for name in (axis if isinstance(axis, list) else [axis])]


def _sizes(x, axes, given):
    """{name: size} of the axes of a pattern's left side; one of each bracket may be left out."""
    if len(axes) != len(x.shape):
        raise ValueError(f"rearrange: expected {len(axes)} dimensions, found shape {tuple(x.shape)}")
    shape, known = tf.shape(x), dict(given)
    for place, axis in enumerate(axes):
        size = x.shape[place] if x.shape[place] is not None else shape[place]
        if not isinstance(axis, list):
            known[axis] = size
            continue
        open_ones = [name for name in axis if name not in known]
        if len(open_ones) > 1:
            raise ValueError(f"rearrange: the sizes of {open_ones} do not follow from the shape; give all but one")
        product = 1
        for name in axis:
            product *= known.get(name, 1)
        if isinstance(size, int) and size % product:
            raise ValueError(f"rearrange: dimension {place} has size {size}, expected a multiple of {product}")
        if open_ones:
            known[open_ones[0]] = size // product
    return known


@operation
def rearrange(tensor, pattern, **axes_lengths):
    """Dimensions split, moved and joined by a pattern: ``"b (h p) c -> b c h p"`` (``keras.ops.rearrange``).

    Brackets join dimensions; the sizes of those that they split are arguments, all but one.
    """
    x = tf.convert_to_tensor(tensor)
    left, arrow, right = pattern.partition("->")
    source, target = _axes_of(left), _axes_of(right)
    if not arrow or sorted(_flat(source)) != sorted(_flat(target)):
        raise ValueError(f"rearrange: expected the same names on both sides of '->', found {pattern!r}")
    known = _sizes(x, source, axes_lengths)
    names = _flat(source)

    def shape_of(axes):
        sizes = []
        for axis in axes:
            size = 1
            for name in axis if isinstance(axis, list) else [axis]:
                size = size * known[name]
            sizes.append(size)
        return sizes if all(isinstance(size, int) for size in sizes) else tf.stack(sizes)
    x = tf.reshape(x, shape_of(names))
    x = tf.transpose(x, [names.index(name) for name in _flat(target)])
    return tf.reshape(x, shape_of(target))


__all__ = [name for name in OPERATIONS if name not in _before]
