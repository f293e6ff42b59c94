"""``tf.nn``: losses of logits."""

from leat._core.tensor import convert_to_tensor, operation
from leat._graph.ops import FUNCTIONS as F
from leat.math import log_softmax, reduce_logsumexp

__all__ = ["l2_loss", "log_poisson_loss", "sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
           "weighted_cross_entropy_with_logits"]


def l2_loss(t, name=None):
    """Half the sum of squares (``tf.nn.l2_loss``)."""
    t = convert_to_tensor(t)
    if t.dtype.is_complex:
        raise TypeError(f"l2_loss takes floats, found {t.dtype.name}; take the loss of its abs")
    if not t.dtype.is_floating:
        return F["multiply"](F["reduce_sum"](F["square"](t)), convert_to_tensor(0.5, t.dtype))
    return F["multiply"](operation("reduce_sum_squares", {}, [t])[0], convert_to_tensor(0.5, t.dtype))


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))
    (``tf.nn.sigmoid_cross_entropy_with_logits``)."""
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels, dtype_hint=logits.dtype)
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({logits.shape} vs "
                         f"{labels.shape}).")
    above = F["subtract"](F["nn.relu"](logits), F["multiply"](logits, labels))
    return F["add"](above, F["math.log1p"](F["exp"](F["negative"](F["abs"](logits)))))


def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """The same with positive labels weighted by `pos_weight` (``tf.nn.weighted_cross_entropy_with_logits``)."""
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels, dtype_hint=logits.dtype)
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({logits.shape} vs "
                         f"{labels.shape}).")
    weight = F["add"](1.0, F["multiply"](F["subtract"](pos_weight, 1.0), labels))
    tail = F["add"](F["math.log1p"](F["exp"](F["negative"](F["abs"](logits)))), F["nn.relu"](F["negative"](logits)))
    return F["add"](F["multiply"](F["subtract"](1.0, labels), logits), F["multiply"](weight, tail))


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross entropy of distributions along `axis` (``tf.nn.softmax_cross_entropy_with_logits``).

    The gradient by the logits is softmax(logits) - labels, as TensorFlow's, also where labels do not add up to 1.
    """
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels, dtype_hint=logits.dtype)
    labels = F["cast"](labels, logits.dtype) if labels.dtype is not logits.dtype else labels
    found = F["negative"](F["reduce_sum"](F["multiply"](labels, log_softmax(logits, axis)), axis))
    missing = F["subtract"](1.0, F["stop_gradient"](F["reduce_sum"](labels, axis)))
    level = reduce_logsumexp(logits, axis)
    # 0, but with a gradient: what the softmax lacks of weight 1.
    return F["add"](found, F["multiply"](missing, F["subtract"](level, F["stop_gradient"](level))))


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(log_input) - log_input * targets (``tf.nn.log_poisson_loss``); the full loss adds Stirling's
    approximation where targets exceed 1."""
    log_input = convert_to_tensor(log_input)
    targets = convert_to_tensor(targets, dtype_hint=log_input.dtype)
    loss = F["subtract"](F["exp"](log_input), F["multiply"](log_input, targets))
    if not compute_full_loss:
        return loss
    stirling = F["add"](F["subtract"](F["multiply"](targets, F["math.log"](targets)), targets),
                        F["multiply"](0.5, F["math.log"](F["multiply"](6.283185307179586, targets))))
    is_small = F["logical_and"](F["greater_equal"](targets, 0.0), F["less_equal"](targets, 1.0))
    return F["add"](loss, F["where"](is_small, F["zeros_like"](targets), stirling))
