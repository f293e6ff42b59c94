"""Those of ``keras.backend`` that networks are made of: activations, losses, convolutions, recurrence, CTC."""

import numpy as np

import leat as tf
from leat import nest
from leat.keras import ops
from leat.keras._legacy.backend import format_of, temporal_padding
from leat.keras.backend import epsilon

# ---- activations ----


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """x above a threshold, `alpha` times what is missing to it below, at most `max_value` (``keras.backend.relu``)."""
    x = tf.convert_to_tensor(x)
    above = tf.where(x > threshold, x, tf.zeros_like(x)) if threshold else tf.nn.relu(x)
    if max_value is not None:
        above = tf.clip_by_value(above, tf.cast(0, x.dtype), tf.cast(max_value, x.dtype))
    return above - alpha * tf.nn.relu(threshold - x) if alpha else above


def elu(x, alpha=1.0):
    """x above 0, `alpha` (exp(x) - 1) below (``keras.backend.elu``)."""
    found = tf.nn.elu(x)
    return found if alpha == 1 else tf.where(x > 0, found, alpha * found)


def hard_sigmoid(x):
    """0.2 x + 0.5 within 0 and 1 (``keras.backend.hard_sigmoid``)."""
    return tf.clip_by_value(tf.convert_to_tensor(0.2, x.dtype) * x + tf.convert_to_tensor(0.5, x.dtype), 0.0, 1.0)


def softmax(x, axis=-1):
    """Probabilities along one dimension or several (``keras.backend.softmax``). ValueError for a vector."""
    if x.shape.rank <= 1:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    if isinstance(axis, int):
        return tf.nn.softmax(x, axis)
    powers = tf.exp(x - tf.reduce_max(x, axis, True))
    return powers / tf.reduce_sum(powers, axis, True)


def in_top_k(predictions, targets, k):
    """Is the class among the k most probable (``keras.backend.in_top_k``)?"""
    return tf.math.in_top_k(targets, predictions, k)


# ---- losses ----

def _probabilities(output, axis=None):
    """Kept away from 0 and 1; `axis`: with the sum 1 along it."""
    if axis is not None:
        output = output / tf.reduce_sum(output, axis, True)
    small = tf.convert_to_tensor(epsilon(), output.dtype)
    return tf.clip_by_value(output, small, 1 - small)


def binary_crossentropy(target, output, from_logits=False):
    """The cross-entropy of each value (``keras.backend.binary_crossentropy``)."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output = _probabilities(output)
    return -(target * tf.math.log(output + epsilon()) + (1 - target) * tf.math.log(1 - output + epsilon()))


def binary_focal_crossentropy(target, output, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False):
    """The same, less for what is easy (``keras.backend.binary_focal_crossentropy``)."""
    likely = tf.sigmoid(output) if from_logits else output
    right = target * likely + (1 - target) * (1 - likely)
    found = tf.pow(1 - right, gamma) * binary_crossentropy(target, output, from_logits)
    return (target * alpha + (1 - target) * (1 - alpha)) * found if apply_class_balancing else found


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross-entropy of classes as vectors (``keras.backend.categorical_crossentropy``)."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target.shape.assert_is_compatible_with(output.shape)
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(labels=target, logits=output, axis=axis)
    return -tf.reduce_sum(target * tf.math.log(_probabilities(output, axis)), axis)


def categorical_focal_crossentropy(target, output, alpha=0.25, gamma=2.0, from_logits=False, axis=-1):
    """The same, less for what is easy (``keras.backend.categorical_focal_crossentropy``)."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target.shape.assert_is_compatible_with(output.shape)
    output = _probabilities(tf.nn.softmax(output, axis) if from_logits else output, axis)
    return tf.reduce_sum(tf.pow(1 - output, gamma) * alpha * -target * tf.math.log(output), axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1, ignore_class=None):
    """The cross-entropy of class numbers (``keras.backend.sparse_categorical_crossentropy``)."""
    target, output = tf.cast(target, "int64"), tf.convert_to_tensor(output)
    logits = output if from_logits else tf.math.log(_probabilities(output))
    rank = logits.shape.rank
    if axis % rank != rank - 1:
        logits = tf.transpose(logits, [*(place for place in range(rank) if place != axis % rank), axis % rank])
    shape = tf.shape(logits)[:-1]
    is_flat = target.shape.rank != rank - 1
    if is_flat:
        target, logits = tf.reshape(target, [-1]), tf.reshape(logits, [-1, logits.shape[-1]])
    if ignore_class is None:
        found = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
        return tf.reshape(found, shape) if is_flat and rank >= 3 else found
    counts = target != tf.cast(ignore_class, "int64")
    found = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.where(counts, target, 0), logits=logits)
    return tf.reshape(tf.where(counts, found, tf.zeros_like(found)), shape)


# ---- convolutions and pooling ----

def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A convolution over sequences (``keras.backend.conv1d``); "causal" sees what was before alone."""
    if padding == "causal":
        x, padding = temporal_padding(x, (dilation_rate * (kernel.shape[0] - 1), 0)), "valid"
    return _conv(x, kernel, strides, padding, data_format, dilation_rate)


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution over pictures (``keras.backend.conv2d``)."""
    return _conv(x, kernel, strides, padding, data_format, dilation_rate)


def conv3d(x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)):
    """A convolution over volumes (``keras.backend.conv3d``)."""
    return _conv(x, kernel, strides, padding, data_format, dilation_rate)


def _conv(x, kernel, strides, padding, data_format, dilation_rate):
    return ops.conv(x, kernel, strides, _padding(padding), format_of(data_format), dilation_rate)


def _padding(padding):
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding


def conv2d_transpose(x, kernel, output_shape, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """The gradient of a convolution as a layer's (``keras.backend.conv2d_transpose``); `output_shape` says its size."""
    data_format = format_of(data_format)
    if dilation_rate[0] != dilation_rate[1]:
        raise ValueError("Expected the 2 dimensions of the `dilation_rate` argument to be equal to each other. "
                         f"Received: dilation_rate={dilation_rate}")
    first = 2 if data_format == "channels_first" else 1
    more = []
    for size, wanted, width, step, rate in zip(x.shape[first:first + 2], output_shape[first:first + 2], kernel.shape,
                                               strides, dilation_rate):
        width = (width - 1) * rate + 1
        least = (size - 1) * step + (width if _padding(padding) == "valid" else width - 2 * (width // 2))
        more.append(int(wanted) - least)
    return ops.conv_transpose(x, kernel, strides, padding, tuple(more), data_format, dilation_rate)


def depthwise_conv2d(x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution of each channel by itself (``keras.backend.depthwise_conv2d``)."""
    return ops.depthwise_conv(x, depthwise_kernel, strides, _padding(padding), format_of(data_format), dilation_rate)


def separable_conv2d(x, depthwise_kernel, pointwise_kernel, strides=(1, 1), padding="valid", data_format=None,
                     dilation_rate=(1, 1)):
    """One of each channel, then one of all at each place (``keras.backend.separable_conv2d``)."""
    if len(strides) != 2:
        raise ValueError("`strides` must be a tuple of 2 integers.")
    return ops.separable_conv(x, depthwise_kernel, pointwise_kernel, tuple(strides), _padding(padding),
                              format_of(data_format), dilation_rate)


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    """The largest or the mean of windows in pictures (``keras.backend.pool2d``)."""
    for name, value in (("pool_size", pool_size), ("strides", strides)):
        if len(value) != 2:
            raise ValueError(f"`{name}` must be a tuple of 2 integers.")
    return _pool(x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    """The same in volumes (``keras.backend.pool3d``)."""
    return _pool(x, pool_size, strides, padding, data_format, pool_mode)


def _pool(x, pool_size, strides, padding, data_format, pool_mode):
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    pool = ops.max_pool if pool_mode == "max" else ops.average_pool
    return pool(x, pool_size, strides, _padding(padding), format_of(data_format))


def bias_add(x, bias, data_format=None):
    """With a bias for each channel, or for each value of a row (``keras.backend.bias_add``)."""
    data_format = format_of(data_format)
    rank = len(bias.shape)
    if rank not in (1, x.shape.rank - 1):
        raise ValueError(f"Unexpected bias dimensions {rank}. Expected it to be 1 or {x.shape.rank - 1} dimensions")
    if rank == 1:
        return tf.nn.bias_add(x, bias, "NCHW" if data_format == "channels_first" else "NHWC")
    sizes = list(bias.shape)
    return x + tf.reshape(bias, [1, sizes[-1], *sizes[:-1]] if data_format == "channels_first" else [1, *sizes])


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """With another mean and variance (``keras.backend.batch_normalization``)."""
    return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


# ---- recurrence ----

def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False,
        input_length=None, time_major=False, zero_output_for_mask=False, return_all_outputs=True):
    """(last output, outputs, states) of ``step_function(input, states)`` along the second dimension
    (``keras.backend.rnn``).

    Where a step is masked its states, and its output, are those before it; `zero_output_for_mask`: the output is 0.
    """
    def turned(x):
        return x if time_major else tf.transpose(x, [1, 0, *range(2, x.shape.rank)])
    inputs = nest.map_structure(turned, inputs)
    leaves = nest.flatten(inputs)
    mask = None if mask is None else turned(tf.expand_dims(tf.cast(mask, "bool"), -1) if mask.shape.rank == 2 else (
        tf.cast(mask, "bool")))
    if unroll and leaves[0].shape[0] is None:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    others = list(constants or ())

    def advance(carried, part):
        states, before = carried
        parts, kept = (part, None) if mask is None else part
        output, new = step_function(parts, [*states, *others])
        if kept is None:
            return (list(new), output), output
        new = [_chosen(kept, a, b) for a, b in zip(new, states)]
        shown = nest.map_structure(lambda a, b: _chosen(kept, a, tf.zeros_like(b) if zero_output_for_mask else b),
                                   output, before)
        return (new, shown), shown
    first = nest.map_structure(lambda x: x[0], inputs)
    start = nest.map_structure(tf.zeros_like, step_function(first, [*initial_states, *others])[0])
    (states, last), outputs = ops.scan(advance, (list(initial_states), start),
                                       inputs if mask is None else (inputs, mask), reverse=go_backwards)
    if go_backwards:  # as they were computed
        outputs = nest.map_structure(lambda x: tf.reverse(x, [0]), outputs)
    if not return_all_outputs:
        outputs = nest.map_structure(lambda x: tf.expand_dims(x, 0), last)
    return last, nest.map_structure(turned, outputs), states


def _chosen(mask, first, second):
    """Rows of one where a mask [rows, 1] is true, else of the other."""
    return tf.where(tf.reshape(mask, [-1] + [1] * (first.shape.rank - 1)), first, second)


# ---- CTC ----

def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """The CTC loss of probabilities, one for each row (``keras.backend.ctc_batch_cost``); class 0 is an ordinary one,
    the last one the blank."""
    sizes = [tf.cast(tf.squeeze(one, [-1]), "int32") for one in (label_length, input_length)]
    logits = tf.math.log(tf.convert_to_tensor(y_pred) + epsilon())
    blank = logits.shape[-1] - 1
    return tf.expand_dims(ops.ctc_loss(tf.cast(y_true, "int32"), logits, *sizes, mask_index=blank), 1)


def ctc_label_dense_to_sparse(labels, label_lengths):
    """Labels of these lengths as a sparse tensor (``keras.backend.ctc_label_dense_to_sparse``)."""
    labels = tf.convert_to_tensor(labels)
    places = tf.where(tf.sequence_mask(label_lengths, tf.shape(labels)[1]))
    return tf.SparseTensor(places, tf.gather_nd(labels, places), tf.shape(labels, out_type=tf.int64))


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """(texts of classes, -1 behind each, logarithms of their probabilities) (``keras.backend.ctc_decode``)."""
    logits = tf.math.log(tf.convert_to_tensor(y_pred) + epsilon())
    decoded, scores = ops.ctc_decode(logits, tf.cast(input_length, "int32"), "greedy" if greedy else "beam_search",
                                     beam_width=beam_width, top_paths=top_paths, merge_repeated=True,
                                     mask_index=logits.shape[-1] - 1)
    width = int(np.shape(y_pred)[1])
    texts = [tf.pad(one, [[0, 0], [0, width - one.shape[1]]], constant_values=-1) for one in tf.unstack(decoded)]
    return [tf.cast(text, "int64") for text in texts], scores
