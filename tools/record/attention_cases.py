"""Records tests/conform/ops/dot_product_attention.json and dot_product_attention_grad.json from Keras on TensorFlow.

    python attention_cases.py tests/conform/ops         (with TensorFlow and Keras installed)

The moments, which Keras does not give, are the largest score of each query and the sum of exponentials below it.
"""
import sys

import keras
import numpy as np
import tensorflow as tf
from op_recorder import F64, SHAPE, floats, record, write

MASKED = -0.7 * 3.38953e38


def parts(rest):
    bias = next((one for one in rest if one.dtype != tf.bool), None)
    return bias, next((one for one in rest if one.dtype == tf.bool), None)


def forward(query, key, value, *rest, scale=1.0, is_causal=False):
    bias, mask = parts(rest)
    if key.shape[2] == 1 and query.shape[2] > 1:  # which Keras documents, and TensorFlow's einsum then refuses
        key, value = [tf.repeat(one, query.shape[2], axis=2) for one in (key, value)]
    result = keras.ops.dot_product_attention(query, key, value, bias=bias, mask=mask, scale=scale, is_causal=is_causal)
    scores = tf.einsum("BTNH,BSNH->BNTS", query, tf.repeat(key, query.shape[2] // key.shape[2], axis=2)) * scale
    scores = scores if bias is None else scores + bias
    scores = scores if mask is None else tf.where(mask, scores, MASKED)
    if is_causal:
        scores = tf.where(tf.linalg.band_part(tf.ones(scores.shape[2:], tf.bool), -1, 0), scores, MASKED)
    top = tf.reduce_max(scores, -1)
    return [result, tf.stack([top, tf.reduce_sum(tf.exp(scores - top[..., None]), -1)], -1)]


def backward(gradient, query, key, value, result, moments, *rest, **attributes):
    bias, _ = parts(rest)
    with tf.GradientTape() as tape:
        sources = [query, key, value] + ([] if bias is None else [bias])
        tape.watch(sources)
        made = forward(query, key, value, *rest, **attributes)[0]
    return tape.gradient(made, sources, gradient)


def both(name, shapes, rest=(), dtype=np.float32, tolerance=2e-6, **attributes):
    given = [floats(*shape, dtype=dtype) for shape in shapes] + list(rest)
    record("dot_product_attention", name, forward, given, attributes, tolerance=tolerance)
    made = [one.numpy() for one in forward(*[tf.constant(one) for one in given], **attributes)]
    upstream = floats(*made[0].shape, dtype=dtype)
    record("dot_product_attention_grad", name, backward, [upstream, *given[:3], *made, *given[3:]], attributes,
           tolerance=2 * tolerance)


SMALL = [(2, 3, 2, 4), (2, 5, 2, 4), (2, 5, 2, 3)]
SEEN = np.array([[1, 0, 1, 1, 0], [1, 1, 1, 0, 1], [0, 1, 0, 1, 1]], bool)
NONE = SEEN.copy()
NONE[1] = False  # a query that sees nothing
both("plain", SMALL, scale=0.5)
both("float64", SMALL, dtype=F64, tolerance=1e-12, scale=0.5)
both("causal", SMALL, scale=0.5, is_causal=True)
both("more_queries_causal", [(1, 5, 1, 2), (1, 3, 1, 2), (1, 3, 1, 2)], is_causal=True)
both("bias", SMALL, [floats(2, 2, 3, 5)], scale=0.5)
both("bias_of_heads", SMALL, [floats(2, 1, 5)], scale=0.5)
record("dot_product_attention", "bias_scalar", forward, [floats(*shape) for shape in SMALL] + [floats()], {"scale": 0.5},
       tolerance=2e-6)  # its gradient is what rounding leaves of 0
both("mask", SMALL, [SEEN], scale=0.5)
both("mask_of_batch", SMALL, [np.stack([SEEN, ~SEEN])[:, None]], scale=0.5)
both("nothing_seen", SMALL, [NONE], scale=0.5)
both("bias_and_mask", SMALL, [floats(5), SEEN[:1]], scale=0.5)
both("groups", [(2, 3, 4, 2), (2, 5, 2, 2), (2, 5, 2, 3)], [SEEN], scale=0.7)
both("one_key_head", [(1, 3, 4, 2), (1, 5, 1, 2), (1, 5, 1, 3)], [floats(4, 1, 5)], scale=0.7)
both("tiles", [(1, 66, 1, 1), (1, 67, 1, 1), (1, 67, 1, 1)], is_causal=True, tolerance=1e-5)
both("one_of_all", [(1, 1, 1, 1)] * 3)
both("large", [(1, 2, 1, 2), (1, 3, 1, 2), (1, 3, 1, 2)], scale=500.0, tolerance=1e-5)
Q, K, V = [np.zeros(shape, np.float32) for shape in SMALL]
for name, given, fails in (
        ("rank", [Q[0], K, V], (SHAPE, "rank")),
        ("depths", [Q, K[..., :3], V], (SHAPE, "depths")),
        ("lengths", [Q, K[:, :4], V], (SHAPE, "lengths")),
        ("batches", [Q[:1], np.zeros((3, 5, 2, 4), np.float32), V], (SHAPE, "batches")),
        ("bias_shape", [Q, K, V, floats(4, 5)], (SHAPE, "bias")),
        ("mask_shape", [Q, K, V, SEEN[:, :4]], (SHAPE, "mask"))):
    record("dot_product_attention", name, forward, given, None, fails)
write(sys.argv[1])
