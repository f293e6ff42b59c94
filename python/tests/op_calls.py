"""Calls of functions of ``tf`` whose results are recorded from TensorFlow (tools/record/op_calls.py): expressions of
these names, of ``tf`` and ``np``, and of ``grad(function, *values)``, the gradients of a function's weighted sum."""

import numpy as np

_random = np.random.RandomState(11)


def _floats(*shape):
    return _random.randn(*shape).astype("float32")


NAMES = {
    "x1": _floats(2, 9, 4), "w1": _floats(3, 4, 6), "b1": _floats(3, 6, 4),
    "x2": _floats(2, 7, 8, 4), "w2": _floats(3, 2, 4, 6), "b2": _floats(3, 2, 6, 4), "g2": _floats(3, 3, 2, 4),
    "d2": _floats(3, 2, 4, 2), "p2": _floats(1, 1, 8, 3), "e2": _floats(2, 3, 4),
    "x3": _floats(1, 5, 6, 5, 2), "w3": _floats(2, 3, 2, 2, 3), "b3": _floats(2, 3, 2, 3, 2),
    "i2": _random.randint(-9, 9, (1, 6, 5, 4)).astype("int32"),
    "iw": _random.randint(-2**20, 2**20, (2, 2, 4, 3)).astype("int32"),
    "u2": _random.randint(0, 256, (1, 6, 5, 4)).astype("uint8"),
    "a": _floats(4, 6), "v": _floats(7), "table": _floats(8, 3), "rows": _floats(5, 3), "bias": _floats(8),
    "labels": np.array([[1], [4], [7], [1], [2]], "int64"),
    "pairs": np.array([[1, 2], [4, 1], [7, 0], [1, 5], [2, 2]], "int64"),
    "v4": _floats(4), "square": _floats(4, 4) + 2 * np.eye(4, dtype="float32"), "lines": _floats(3, 4) + 2,
    "positive": np.array([[4, 1, .5, 0], [1, 3, .2, 1], [.5, .2, 2, 0], [0, 1, 0, 5]], "float32"),
    "logits": _floats(7, 3, 5), "said": np.array([[1, 2, 2, 0], [1, 3, 0, 0], [3, 3, 1, 0]], "int32"),
    "lengths": np.array([3, 2, 3], "int32"), "steps": np.array([7, 4, 6], "int32"),
}

CALLS = """
tf.nn.conv1d(x1, w1, 1, 'SAME')
tf.nn.conv1d(x1, w1, [1, 2, 1], 'VALID')
tf.nn.conv1d(x1, w1, stride=1, padding='SAME', dilations=2)
tf.nn.conv1d(x1, w1[:, :2], 2, 'SAME')
tf.nn.conv1d(x1[None], w1, 2, 'SAME')
grad(lambda x, w: tf.nn.conv1d(x, w, 2, 'SAME'), x1, w1)
tf.nn.conv2d(x2, w2, 1, 'SAME')
tf.nn.conv2d(x2, w2, [2, 1], 'VALID', dilations=[1, 2, 3, 1])
tf.nn.conv2d(x2, w2, [1, 2, 3, 1], [[0, 0], [2, 1], [0, 3], [0, 0]])
tf.nn.conv2d(x2[None], w2, 2, 'SAME')
tf.nn.conv2d(x2, w2[:, :, :2], 1, 'VALID')
tf.nn.conv2d(i2, iw, 1, 'SAME')
tf.nn.conv2d(tf.cast(x2, 'float64'), tf.cast(w2, 'float64'), 1, 'SAME')
tf.nn.conv2d(tf.cast(x2, 'float16'), tf.cast(w2, 'float16'), 1, 'SAME')
grad(lambda x, w: tf.nn.conv2d(x, w, 2, [[0, 0], [2, 1], [0, 3], [0, 0]]), x2, w2)
tf.nn.conv2d(x2, w2, [1, 2, 1], 'SAME')
tf.nn.conv2d(x2, w2, [2, 1, 1, 1], 'SAME')
tf.nn.conv2d(x2, w2, 1, 'CAUSAL')
tf.nn.conv2d(x1, w2, 1, 'SAME')
tf.nn.conv2d(x2, w2[:, :, :3], 1, 'SAME')
tf.nn.conv2d(x2, w2, 1, [[0, 0], [-1, 1], [0, 3], [0, 0]])
tf.nn.conv3d(x3, w3, [1, 1, 1, 1, 1], 'SAME')
tf.nn.conv3d(x3, w3, [1, 2, 1, 2, 1], 'VALID')
tf.nn.conv3d(x3, w3, [1, 2, 3, 2, 1], 'SAME')
grad(lambda x, w: tf.nn.conv3d(x, w, [1, 2, 1, 2, 1], 'SAME'), x3, w3)
grad(lambda x, w: tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], 'VALID'), x3, w3)
tf.nn.conv3d(x3, w3, 1, 'SAME')
tf.nn.conv3d(x3, w3[:, :, :, :1], [1, 1, 1, 1, 1], 'SAME')
tf.nn.convolution(x2, w2)
tf.nn.convolution(x2, w2, dilations=[2, 3], padding='SAME')
tf.nn.convolution(x2, w2, strides=[2, 3], padding='SAME')
tf.nn.convolution(x1, w1, dilations=2)
tf.nn.convolution(x3, w3, strides=2, padding='SAME')
tf.nn.convolution(x2, w2, strides=2, dilations=2)
tf.nn.atrous_conv2d(x2, w2, 2, 'SAME')
tf.nn.atrous_conv2d(x2, w2, 2, 'VALID')
tf.nn.atrous_conv2d_transpose(x2, b2[..., :4], [2, 7, 8, 6], 2, 'SAME')
tf.nn.conv1d_transpose(x1, b1, [2, 18, 6], 2)
tf.nn.conv1d_transpose(x1, b1, [2, 19, 6], 2, 'VALID')
grad(lambda x, w: tf.nn.conv1d_transpose(x, w, [2, 17, 6], 2), x1, b1)
tf.nn.conv2d_transpose(x2, b2, [2, 14, 24, 6], [2, 3])
tf.nn.conv2d_transpose(x2, b2, [2, 13, 15, 6], 2)
tf.nn.conv2d_transpose(x2, b2, [2, 15, 16, 6], 2, 'VALID')
tf.nn.conv2d_transpose(x2, b2, [2, 11, 13, 6], 2, [[0, 0], [2, 2], [1, 2], [0, 0]])
grad(lambda x, w: tf.nn.conv2d_transpose(x, w, [2, 14, 16, 6], 2), x2, b2)
tf.nn.conv2d_transpose(x2, b2, [2, 17, 16, 6], 2)
tf.nn.conv2d_transpose(x2, b2[..., :3], [2, 14, 16, 6], 2)
tf.nn.conv3d_transpose(x3, b3, [1, 10, 12, 10, 3], 2)
tf.nn.conv3d_transpose(x3, b3, [1, 6, 8, 6, 3], 1, 'VALID')
tf.nn.conv3d_transpose(x3, b3, [1, 9, 18, 10, 3], [2, 3, 2])
grad(lambda x, w: tf.nn.conv3d_transpose(x, w, [1, 10, 11, 10, 3], 2), x3, b3)
tf.nn.conv_transpose(x2, b2, [2, 14, 16, 6], 2)
tf.nn.conv_transpose(x1, b1, [2, 18, 6], 2)
tf.nn.conv_transpose(x3, b3, [1, 10, 12, 10, 3], 2)
tf.nn.depthwise_conv2d(x2, d2, [1, 1, 1, 1], 'SAME')
tf.nn.depthwise_conv2d(x2, d2, [1, 2, 2, 1], 'VALID')
tf.nn.depthwise_conv2d(x2, d2, [1, 1, 1, 1], 'SAME', dilations=[2, 3])
tf.nn.depthwise_conv2d(x2, d2, [1, 2, 2, 1], 'VALID', dilations=[2, 2])
tf.nn.depthwise_conv2d(x2, d2, [1, 1, 1, 1], [[0, 0], [1, 1], [0, 2], [0, 0]])
tf.nn.depthwise_conv2d(x2, d2, [1, 2, 1, 1], 'SAME')
tf.nn.depthwise_conv2d(x2, d2[:, :, :3], [1, 1, 1, 1], 'SAME')
grad(lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], 'SAME'), x2, d2)
tf.nn.depthwise_conv2d_backprop_input([2, 14, 16, 4], d2, tf.concat([x2, x2], 3), [1, 2, 2, 1], 'SAME')
tf.nn.depthwise_conv2d_backprop_filter(x2, [3, 2, 4, 2], tf.concat([x2, x2], 3), [1, 1, 1, 1], 'SAME')
tf.nn.separable_conv2d(x2, d2, p2, [1, 1, 1, 1], 'SAME')
tf.nn.separable_conv2d(x2, d2, p2, [1, 2, 2, 1], 'VALID')
tf.nn.separable_conv2d(x2, d2, p2, [1, 1, 1, 1], 'SAME', dilations=[2, 2])
tf.nn.separable_conv2d(x2, d2, p2[:, :, :5], [1, 1, 1, 1], 'SAME')
tf.nn.max_pool(x1, 3, 2, 'SAME')
tf.nn.max_pool(x2, [2, 3], [2, 1], 'VALID')
tf.nn.max_pool(x3, 2, 2, 'SAME')
tf.nn.max_pool(x2, 3, 2, [[0, 0], [1, 0], [0, 2], [0, 0]])
tf.nn.max_pool(v, 2, 2, 'SAME')
tf.nn.max_pool1d(x1, 2, 1, 'VALID')
tf.nn.max_pool2d(x2, [1, 1, 1, 2], [1, 1, 1, 2], 'VALID')
tf.nn.max_pool2d(x2, [1, 1, 1, 2], [1, 1, 1, 1], 'VALID')
tf.nn.max_pool2d(x2, [1, 3, 2, 1], [1, 2, 3, 1], 'SAME')
tf.nn.max_pool2d(tf.constant(i2), 2, 2, 'SAME')
tf.nn.max_pool2d(tf.constant(u2), 3, 1, 'SAME')
tf.nn.max_pool2d(tf.cast(i2, 'int64'), 3, 1, 'VALID')
tf.nn.max_pool2d(tf.cast(i2, 'int8'), 2, 2, [[0, 0], [1, 1], [1, 1], [0, 0]])
tf.nn.max_pool2d(tf.cast(i2, 'uint32'), 2, 2, 'SAME')
tf.nn.max_pool2d(tf.cast(x2, 'bfloat16'), 2, 2, 'SAME')
tf.nn.max_pool3d(x3, [2, 1, 3], [1, 2, 2], 'SAME')
tf.nn.max_pool3d(x3, [1, 2, 3, 2, 1], [1, 2, 2, 1, 1], 'VALID')
grad(lambda x: tf.nn.max_pool3d(x, [2, 3, 2], 1, 'SAME'), x3)
grad(lambda x: tf.nn.max_pool(x, 3, 2, [[0, 0], [1, 0], [0, 2], [0, 0]]), x2)
grad(lambda x: tf.nn.max_pool1d(x, 3, 2, 'SAME'), x1)
tf.nn.avg_pool(x1, 3, 2, 'SAME')
tf.nn.avg_pool(x2, [2, 3], [2, 1], 'SAME')
tf.nn.avg_pool(x3, 3, 2, 'SAME')
tf.nn.avg_pool1d(x1, 2, 1, 'VALID')
tf.nn.avg_pool2d(x2, [1, 1, 1, 2], [1, 1, 1, 2], 'VALID')
tf.nn.avg_pool2d(tf.constant(i2), 2, 2, 'SAME')
tf.nn.avg_pool3d(x3, [2, 1, 3], [1, 2, 2], 'SAME')
grad(lambda x: tf.nn.avg_pool3d(x, [2, 3, 2], 2, 'SAME'), x3)
grad(lambda x: tf.nn.avg_pool1d(x, 3, 2, 'SAME'), x1)
tf.nn.avg_pool(x2, 2, 2, [[0, 0], [1, 0], [0, 2], [0, 0]])
tf.nn.pool(x2, [2, 3], 'MAX')
tf.nn.pool(x2, [2, 3], 'AVG', strides=[2, 2], padding='SAME')
tf.nn.pool(x2, [2, 2], 'MAX', dilations=[2, 3])
tf.nn.pool(x1, [3], 'AVG', dilations=[2])
tf.nn.pool(x3, [2, 2, 2], 'AVG', dilations=[2, 1, 1])
tf.nn.pool(x2, [2, 2], 'MIN')
tf.nn.pool(x2, [2, 2], 'MAX', padding='SAME', dilations=[2, 2])
tf.nn.max_pool_with_argmax(x2, 2, 2, 'SAME')
tf.nn.max_pool_with_argmax(x2, [3, 2], [1, 2], 'VALID', output_dtype='int32', include_batch_in_index=True)
grad(lambda x: tf.nn.max_pool_with_argmax(x, 3, 2, 'SAME')[0], x2)
tf.nn.dilation2d(x2, e2, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])
tf.nn.dilation2d(x2, e2, [1, 2, 1, 1], 'VALID', 'NHWC', [1, 2, 2, 1])
tf.nn.dilation2d(i2, i2[0, :2, :2], [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])
tf.nn.erosion2d(x2, e2, [1, 2, 2, 1], 'SAME', 'NHWC', [1, 1, 2, 1])
grad(lambda x, w: tf.nn.dilation2d(x, w, [1, 1, 2, 1], 'SAME', 'NHWC', [1, 1, 1, 1]), x2, e2)
tf.nn.dilation2d(x2, e2, [1, 1, 1, 1], 'SAME', 'NCHW', [1, 1, 1, 1])
tf.nn.lrn(x2)
tf.nn.local_response_normalization(x2, depth_radius=1, bias=2., alpha=.5, beta=.75)
grad(lambda x: tf.nn.lrn(x, 2, 1., .1, .75), x2)
tf.nn.lrn(x2, depth_radius=1, bias=2., alpha=.5, beta=1.)
tf.nn.lrn(x2, depth_radius=9, bias=2., alpha=.5, beta=.5)
grad(lambda x: tf.nn.lrn(x, 9, 1., .1, 1.), x2)
tf.nn.lrn(x1)
tf.nn.lrn(tf.cast(x2, 'float64'))
tf.nn.batch_norm_with_global_normalization(x2, x2[0, 0, 0], tf.square(x2[0, 0, 1]), x2[0, 0, 2], x2[0, 0, 3], .001,
    True)
tf.nn.batch_norm_with_global_normalization(x2, x2[0, 0, 0], tf.square(x2[0, 0, 1]), x2[0, 0, 2], x2[0, 0, 3], .001,
    False)
tf.nn.sufficient_statistics(x2, [0, 2])
tf.nn.sufficient_statistics(x2, [0, 1, 2], shift=1.5, keepdims=True)
tf.nn.approx_max_k(a, 3)
tf.nn.isotonic_regression(a)
tf.nn.isotonic_regression(a, decreasing=False, axis=0)
tf.nn.isotonic_regression(i2)
grad(lambda x: tf.nn.isotonic_regression(x)[0], a)
tf.nn.space_to_batch(x2, [2, 2], [[0, 1], [0, 0]])
tf.nn.fractional_max_pool(x2, 1.4, seed=5)
tf.nn.fractional_max_pool(x2, [1.0, 1.4, 1.9, 1.0], True, True, seed=3)
tf.nn.fractional_avg_pool(x2, [1.0, 1.3, 2.0, 1.0], seed=7)
tf.nn.fractional_avg_pool(x2, [1.0, 1.7, 1.7, 1.0], True, True, seed=9)
grad(lambda x: tf.nn.fractional_max_pool(x, 1.4, overlapping=True, seed=5)[0], x2)
grad(lambda x: tf.nn.fractional_avg_pool(x, [1.0, 1.4, 1.2, 1.0], overlapping=True, seed=5)[0], x2)
tf.nn.fractional_avg_pool(i2, [1.0, 1.4, 1.2, 1.0], seed=5)
grad(lambda x: tf.nn.fractional_max_pool(x, 1.4, overlapping=True, seed=5)[0], np.round(x2))
tf.nn.fractional_max_pool(x2, .5)
tf.nn.ctc_loss(said, logits, lengths, steps)
tf.nn.ctc_loss(said, logits, lengths, steps, blank_index=-1)
tf.nn.ctc_loss(said, tf.transpose(logits, [1, 0, 2]), lengths, steps, logits_time_major=False, blank_index=0)
tf.nn.ctc_loss(tf.sparse.from_dense(said), logits, None, steps, blank_index=-1)
tf.nn.ctc_loss(tf.sparse.from_dense(said), logits, None, steps)
grad(lambda x: tf.nn.ctc_loss(said, x, lengths, steps, blank_index=-1), logits)
tf.nn.ctc_greedy_decoder(logits, steps)
tf.nn.ctc_greedy_decoder(logits, steps, merge_repeated=False, blank_index=1)
tf.nn.ctc_greedy_decoder(logits, [8, 1, 1])
tf.nn.ctc_beam_search_decoder(logits, steps, beam_width=6, top_paths=3)
tf.nn.ctc_greedy_decoder(logits, [0, 0, 0])
tf.nn.ctc_greedy_decoder(logits, steps, blank_index=5)
tf.nn.ctc_beam_search_decoder(logits, steps)
tf.nn.ctc_beam_search_decoder(logits, [0, 7, 1], beam_width=3)
tf.nn.ctc_beam_search_decoder(logits, [8, 1, 1], beam_width=3)
tf.nn.ctc_beam_search_decoder(logits[:1], [1, 1, 1], beam_width=9, top_paths=9)
tf.nn.ctc_unique_labels(said)
tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 3, 3]], [5, 3])
tf.nn.compute_accidental_hits(pairs, [1, 2, 9, 1], 2)
tf.nn.embedding_lookup([table[:4], table[4:]], [0, 5, 7, 3])
tf.nn.embedding_lookup_sparse(table, tf.sparse.from_dense([[1, 2, 0], [3, 0, 0], [7, 5, 1]]), None)
tf.nn.embedding_lookup_sparse(table, tf.sparse.from_dense([[1, 2, 0], [3, 0, 0], [7, 5, 1]]), None, combiner='sum')
tf.nn.embedding_lookup_sparse(table, tf.sparse.from_dense([[1, 2, 0], [3, 0, 0], [7, 5, 1]]),
    tf.sparse.from_dense([[1., 2, 0], [3, 0, 0], [.5, 5, 1]]), combiner='sqrtn')
tf.nn.embedding_lookup_sparse(table, tf.sparse.from_dense([[1, 2, 0], [0, 0, 0], [7, 5, 1]]), None, max_norm=1.)
tf.nn.embedding_lookup_sparse(table, tf.ragged.constant([[1, 2], [3], [7, 5, 1]]), None)
tf.nn.embedding_lookup_sparse(table, tf.sparse.from_dense([[1]]), None, combiner='max')
grad(lambda t: tf.nn.embedding_lookup_sparse(t, tf.sparse.from_dense([[1, 2, 0], [3, 0, 0], [7, 5, 1]]), None,
    'sqrtn'), table)
tf.nn.safe_embedding_lookup_sparse(table, tf.sparse.from_dense([[1, -2, 0], [0, 0, 0], [7, 5, 1]]))
tf.nn.safe_embedding_lookup_sparse(table, tf.sparse.from_dense([[1, -2, 0], [0, 0, 0], [7, 5, 1]]), default_id=3)
tf.nn.safe_embedding_lookup_sparse(table, tf.sparse.from_dense([[1, 2, 0], [3, 0, 0]]), tf.sparse.from_dense([[1., -2,
    0], [-3, 0, 0]]), combiner='mean')
tf.nn.sampled_softmax_loss(table, bias, labels, rows, 4, 8, seed=3)
tf.nn.sampled_softmax_loss(table, bias, pairs, rows, 4, 8, num_true=2, seed=3, remove_accidental_hits=False)
tf.nn.nce_loss(table, bias, labels, rows, 4, 8, sampled_values=tf.random.uniform_candidate_sampler(labels, 1, 4, True,
    8, seed=1))
tf.nn.nce_loss(table, bias, labels, rows, 4, 8, sampled_values=tf.random.uniform_candidate_sampler(labels, 1, 4, False,
    8, seed=1), remove_accidental_hits=True)
grad(lambda t, r: tf.nn.sampled_softmax_loss(t, bias, labels, r, 4, 8, seed=3), table, rows)
tf.random.uniform_candidate_sampler(labels, 1, 5, True, 9, seed=4)
tf.random.uniform_candidate_sampler(labels, 1, 5, False, 8, seed=4)
tf.random.log_uniform_candidate_sampler(pairs, 2, 6, True, 50, seed=-7)
tf.random.log_uniform_candidate_sampler(labels, 1, 6, False, 50, seed=2**40 + 1)
tf.random.learned_unigram_candidate_sampler(labels, 1, 5, True, 9, seed=4)
tf.nn.fixed_unigram_candidate_sampler(labels, 1, 5, True, 9, unigrams=[1., 2, 3, 4, 5, 6, 7, 8, 9], seed=4)
tf.nn.fixed_unigram_candidate_sampler(labels, 1, 5, False, 9, unigrams=[1., 2, 3, 4, 5, 6, 7, 8], num_reserved_ids=1,
    distortion=.7, seed=4)
tf.nn.all_candidate_sampler(labels, 1, 8, True, seed=4)
tf.random.uniform_candidate_sampler(labels, 1, 5, True, 4, seed=4)
tf.random.uniform_candidate_sampler(labels, 2, 5, True, 9, seed=4)
tf.random.gamma([3], [.5, 2.], seed=4)
tf.random.gamma([2], [[.5], [2.]], [1., 3.], seed=-3)
tf.random.gamma([], 3., dtype='float64', seed=9)
tf.random.gamma(3, 3., seed=9)
grad(lambda a, b: tf.random.gamma([2], a, b, seed=4), np.float32([.5, 2., 9.]), np.float32([1., 2., 3.]))
tf.random.poisson([3], [.5, 20.], seed=4)
tf.random.poisson([2, 2], 30., dtype='int64', seed=5)
tf.random.poisson([2], 3., dtype='int8', seed=5)
tf.random.stateless_gamma([3, 2], [1, 2], [.5, 3.], 2.)
tf.random.stateless_gamma([3], [1, 2], [[1.], [.5]], 3.)
tf.random.stateless_poisson([3, 2], [1, 2], [.5, 33.])
tf.random.stateless_poisson([4], [7, 2], 6., dtype='float16')
tf.random.stateless_binomial([3, 2], [1, 2], [100., 7.], [.5, .9])
tf.random.stateless_binomial([3], [1, 2], 12, [.5, .9, .1], output_dtype='float32')
tf.random.stateless_binomial([4], [1, 2], [1., 2.], .5)
tf.random.Generator.from_seed(5).binomial([4, 2], [100., 7.], [.5, .2])
tf.linalg.LinearOperatorFullMatrix(square).solvevec(v4)
tf.linalg.LinearOperatorFullMatrix(square).matmul(a, adjoint=True)
tf.linalg.LinearOperatorFullMatrix(square).log_abs_determinant()
tf.linalg.LinearOperatorFullMatrix(square).inverse().matvec(v4)
tf.linalg.LinearOperatorFullMatrix(square).adjoint().to_dense()
tf.linalg.LinearOperatorFullMatrix(square).matmul([[1., 2.]])
tf.linalg.LinearOperatorFullMatrix(square).eigvals()
tf.linalg.LinearOperatorFullMatrix(square).cholesky()
tf.linalg.LinearOperatorFullMatrix(square).cond()
tf.linalg.LinearOperatorFullMatrix(positive, is_self_adjoint=True, is_positive_definite=True).cholesky().to_dense()
tf.linalg.LinearOperatorFullMatrix(positive, is_self_adjoint=True, is_positive_definite=True).eigvals()
tf.linalg.LinearOperatorFullMatrix([[1, 2], [3, 4]])
tf.linalg.LinearOperatorDiag(v4).matmul(tf.linalg.LinearOperatorDiag(v4)).diag_part()
tf.linalg.LinearOperatorDiag(v4).determinant()
tf.linalg.LinearOperatorDiag(v4).add_to_tensor(square)
tf.linalg.LinearOperatorDiag(v4).cond()
tf.linalg.LinearOperatorDiag(v4).matmul(tf.linalg.LinearOperatorFullMatrix(square)).to_dense()
tf.linalg.LinearOperatorLowerTriangular(square).solve(a)
tf.linalg.LinearOperatorLowerTriangular(square).solve(a, adjoint=True)
tf.linalg.LinearOperatorLowerTriangular(square).determinant()
tf.linalg.LinearOperatorIdentity(3, batch_shape=[2]).to_dense()
tf.linalg.LinearOperatorScaledIdentity(4, [2., 3.]).matvec(v4)
tf.linalg.LinearOperatorScaledIdentity(4, 3.).log_abs_determinant()
tf.linalg.LinearOperatorZeros(2, 3).to_dense()
tf.linalg.LinearOperatorZeros(2, 3, is_self_adjoint=False, is_square=False).to_dense()
tf.linalg.LinearOperatorHouseholder(v4).to_dense()
tf.linalg.LinearOperatorPermutation([2, 0, 3, 1]).matvec(v4)
tf.linalg.LinearOperatorPermutation([2, 0, 3, 1]).solvevec(v4)
tf.linalg.LinearOperatorPermutation([2, 0, 3, 1]).to_dense()
tf.linalg.LinearOperatorToeplitz(v4, tf.reverse(v4, [0]) + v4[0] - v4[3]).to_dense()
tf.linalg.LinearOperatorTridiag(lines).to_dense()
tf.linalg.LinearOperatorTridiag(lines).solvevec(v4)
tf.linalg.LinearOperatorTridiag(lines).matvec(v4, adjoint=True)
tf.linalg.LinearOperatorTridiag(square, diagonals_format='matrix').to_dense()
tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorFullMatrix(square[:2, :2]),
    tf.linalg.LinearOperatorFullMatrix(square[2:, 2:])]).to_dense()
tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorFullMatrix(square[:2, :2]),
    tf.linalg.LinearOperatorFullMatrix(square[2:, 2:])]).solvevec(v4)
tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorFullMatrix(square[:2, :2]),
    tf.linalg.LinearOperatorFullMatrix(square[1:, 1:])]).log_abs_determinant()
tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorFullMatrix(square[:2, :2]),
    tf.linalg.LinearOperatorDiag(v4[:2])]).solvevec(v4)
tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorFullMatrix(square[:2, :2]),
    tf.linalg.LinearOperatorDiag(v4[:2])]).to_dense()
tf.linalg.LinearOperatorBlockLowerTriangular([[tf.linalg.LinearOperatorFullMatrix(square[:2, :2])],
    [tf.linalg.LinearOperatorDiag(v4[:2]), tf.linalg.LinearOperatorFullMatrix(square[2:, 2:])]]).to_dense()
tf.linalg.LinearOperatorBlockLowerTriangular([[tf.linalg.LinearOperatorFullMatrix(square[:2, :2])],
    [tf.linalg.LinearOperatorDiag(v4[:2]), tf.linalg.LinearOperatorFullMatrix(square[2:, 2:])]]).solvevec(v4)
tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(tf.abs(v4) + 1.), square[:, :2]).solvevec(v4)
tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(v4), square[:, :2], [2., 3.],
    square[:, 2:]).log_abs_determinant()
tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(v4), square[:, :2], [2., 3.],
    square[:, 2:]).to_dense()
tf.linalg.LinearOperatorComposition([tf.linalg.LinearOperatorFullMatrix(square),
    tf.linalg.LinearOperatorDiag(v4)]).solvevec(v4)
grad(lambda m, x: tf.linalg.LinearOperatorFullMatrix(m).solvevec(x), square, v4)
tf.linalg.sqrtm(positive)
tf.linalg.tridiagonal_matmul(lines, a)
tf.linalg.tridiagonal_solve(tf.convert_to_tensor(lines), tf.convert_to_tensor(a))
tf.linalg.tridiagonal_solve(tf.convert_to_tensor(lines), tf.convert_to_tensor(v4))
tf.linalg.banded_triangular_solve(lines[:2], a)
tf.linalg.banded_triangular_solve(lines[:2], a, lower=False, adjoint=True)
tf.linalg.eigh_tridiagonal(lines[1], lines[0, :3])
tf.linalg.eigh_tridiagonal(lines[1], lines[0, :3], select='i', select_range=(1, 2))
tf.linalg.experimental.conjugate_gradient(tf.linalg.LinearOperatorFullMatrix(positive, is_self_adjoint=True,
    is_positive_definite=True), tf.convert_to_tensor(v4), max_iter=3)[1]
tf.edit_distance(tf.sparse.from_dense([[1, 2, 3], [4, 0, 0]]), tf.sparse.from_dense([[1, 3, 0], [4, 5, 6]]))
tf.edit_distance(tf.sparse.from_dense([[1, 2, 3], [4, 0, 0]]), tf.sparse.from_dense([[1, 3, 0], [0, 0, 0]]))
tf.edit_distance(tf.sparse.from_dense(['a', 'b']), tf.sparse.from_dense(['b', 'c']), normalize=False)
tf.sets.intersection([[1, 2, 2, 5]], [[2, 5, 7, 7]])
tf.sets.difference([[1, 2, 2, 5], [3, 3, 3, 3]], [[2, 7, 7, 7], [4, 4, 4, 4]])
tf.sets.difference([[1, 2, 2, 5]], [[2, 7, 7, 7]], aminusb=False)
tf.sets.union([['b', 'a'], ['c', 'c']], [['a', 'z'], ['c', 'b']])
tf.sets.union(tf.sparse.from_dense([[1, 2], [0, 0]]), tf.sparse.from_dense([[0, 5], [4, 0]]))
tf.sets.union([1., 2.], [3., 4.])
tf.sets.size(tf.sparse.from_dense([[1, 2, 2, 0], [9, 9, 9, 9]]))
tf.sparse.softmax(tf.sparse.from_dense([[1., 2, 0], [3, 0, 4]]))
tf.sparse.softmax(tf.sparse.from_dense(x1[:, :3]))
tf.sparse.maximum(tf.sparse.from_dense([[1., -2, 0], [3, 0, 4]]), tf.sparse.from_dense([[0., -1, -5], [3, 7, 0]]))
tf.sparse.minimum(tf.sparse.from_dense([[1., -2, 0], [3, 0, 4]]), tf.sparse.from_dense([[0., -1, -5], [3, 7, 0]]))
tf.sparse.bincount([[1, 2, 1], [5, 0, 5]], axis=-1)
tf.sparse.bincount([1, 2, 1])
tf.sparse.bincount([[1, 2, 1], [5, 0, 5]], axis=-1, weights=[[1., 2, 3], [4, 5, 6]], minlength=8)
tf.sparse.bincount(tf.sparse.from_dense([[1, 2, 1], [5, 0, 5]]), axis=-1, binary_output=True, maxlength=4)
tf.histogram_fixed_width_bins(v, [-1., 1.], 7)
tf.histogram_fixed_width_bins(tf.cast(a, 'float64'), tf.constant([-2., 1.], 'float64'))
tf.convert_to_tensor(v) ** 2
tf.convert_to_tensor(v) ** 3
tf.pow(tf.convert_to_tensor(iw), 2)
tf.pow(tf.cast(a, 'float64'), 2.)
tf.pow(tf.cast(a, 'float16'), 3.)
grad(lambda x: x ** 3, v)
tf.extract_volume_patches(x3, [1, 2, 3, 2, 1], [1, 2, 2, 1, 1], 'VALID')
tf.extract_volume_patches(x3, [1, 2, 3, 2, 1], [1, 2, 2, 1, 1], 'SAME')
tf.extract_volume_patches(x3, [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], 'VALID')
tf.extract_volume_patches(x3, [1, 5, 6, 5, 1], [1, 3, 3, 3, 1], 'SAME')
tf.extract_volume_patches(tf.cast(x3, tf.float64), [1, 3, 1, 2, 1], [1, 1, 2, 3, 1], 'VALID')
tf.extract_volume_patches(x3, [1, 9, 1, 1, 1], [1, 1, 1, 1, 1], 'VALID')
grad(lambda x: tf.extract_volume_patches(x, [1, 2, 3, 2, 1], [1, 1, 2, 1, 1], 'SAME'), x3)
tf.nn.leaky_relu(tf.constant([-1., -.5, 0., 2.], tf.float64), .3)
grad(lambda x: tf.nn.leaky_relu(x, .1), np.array([-1, 0, np.inf, -np.inf, 3], 'float32'))
tf.math.invert_permutation([3, 0, 2, 1])
tf.math.invert_permutation(tf.constant([1, 0], tf.int64))
tf.math.invert_permutation([0, 3, 1])
tf.math.invert_permutation([0, 1, 1])
tf.math.zero_fraction(np.array([0, 1, 0, np.nan, -0.0], 'float32'))
tf.math.in_top_k(np.array([0, 3, 2, 9, -1]), np.concatenate([a, a[:1]]), 2)
tf.sparse.to_dense(tf.sparse.from_dense(tf.constant([[True, False], [False, True]])))
tf.sparse.to_dense(tf.SparseTensor([[0, 1], [2, 0]], [-0., 2.], [3, 2]))
tf.sparse.to_dense(tf.SparseTensor([[0, 1], [0, 2]], [1., 2.], [3, 2]))
tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [3, 2]))
tf.sparse.reduce_sum(tf.SparseTensor([[0, 1], [2, 0]], [-3., 2.], [3, 2]))
tf.sparse.reduce_max(tf.SparseTensor([[0, 1], [2, 0]], [-3., -2.], [3, 2]), keepdims=True)
tf.sparse.reduce_max(tf.SparseTensor(np.zeros([0, 2], 'int64'), np.zeros([0], 'float32'), [3, 2]))
tf.linalg.cross(np.array([[1, 2, 3], [4, 5, 6]], 'float32'), np.array([[-1, 0, 2], [3, 1, 7]], 'float32'))
tf.repeat(tf.constant([3, 4], tf.int8), tf.constant([2, 1], tf.uint8))
tf.repeat(tf.constant([[3], [4]]), tf.constant([1, 2], tf.uint32), axis=0)
tf.sequence_mask(tf.constant([1.5, 2.0, -1.0]), 3)
tf.sequence_mask(tf.constant([1.5, 2.0], tf.float16))
tf.sequence_mask(tf.constant([1.5, 2.0]), 2.5)
tf.sequence_mask([1, 2], tf.constant(3.0), tf.int8)
tf.sequence_mask(tf.constant([True, False]), 2)
tf.sequence_mask([[1], [3]])
tf.linspace(tf.constant(1, tf.int16), tf.constant(5, tf.int16), 4)
tf.linspace(tf.constant(1, tf.int32), tf.constant(5, tf.int32), 4)
tf.linspace(True, False, 2)
tf.add_n([tf.constant([True]), tf.constant([False])])
tf.linalg.matvec(tf.constant([[1, 2], [3, 4]]), tf.constant([5, 6]))
tf.linalg.matvec(tf.constant([[1, 2], [3, 4]], tf.int64), tf.constant([5, 6], tf.int64), transpose_a=True)
tf.matmul(tf.constant([[100, 2]], tf.int8), tf.constant([[2], [1]], tf.int8), output_type=tf.int32)
tf.reverse(tf.constant(3), [1])
grad(tf.truncatediv, np.array([5, -7], "float32"), np.array([2, 2], "float32"))
grad(tf.range, np.array(1, "float32"), np.array(5, "float32"))
grad(tf.image.hsv_to_rgb, p2)
tf.experimental.numpy.add(np.array([True, False]), np.array([True, True]))
tf.experimental.numpy.multiply(np.array([True, False]), np.array([True, True]))
tf.experimental.numpy.maximum(np.array([True, False]), np.array([False, False]))
tf.experimental.numpy.bitwise_and(np.array([True, False]), np.array([True, True]))
tf.experimental.numpy.bitwise_xor(np.array([True, False]), np.array([True, True]))
tf.experimental.numpy.greater_equal(np.array([True, False]), np.array([True, True]))
tf.experimental.numpy.less(np.array([True, False]), np.array([True, True]))
tf.experimental.numpy.clip(np.array([1.0, -5.0], "float32"), np.array([2.0, -1.0], "float32"), np.array(0.5, "float32"))
tf.experimental.numpy.mean(np.array([1.5, 2.5], "float32"), dtype="int8")
tf.experimental.numpy.lcm(np.array(1.5, "float32"), np.array(2.0, "float32"))
tf.experimental.numpy.gcd(np.array([6, 4]), np.array([4, 10]))
[tf.bitcast(one, tf.int8) if one.dtype == tf.qint8 else one for one in tf.quantization.quantize(v, -1.0, 2.0,
    tf.qint8, 'MIN_COMBINED')]
tf.quantization.dequantize(tf.quantization.quantize(v, -1.0, 2.0, tf.qint8, 'MIN_COMBINED')[0], -1.0, 2.0,
    'MIN_COMBINED')
[tf.bitcast(one, tf.int8) if one.dtype == tf.qint8 else one for one in tf.quantization.quantize(v, -1.0, 2.0,
    tf.qint8, 'MIN_FIRST')]
tf.quantization.dequantize(tf.quantization.quantize(v, -1.0, 2.0, tf.qint8, 'MIN_FIRST')[0], -1.0, 2.0, 'MIN_FIRST')
[tf.bitcast(one, tf.int8) if one.dtype == tf.qint8 else one for one in tf.quantization.quantize(v, -1.0, 2.0,
    tf.qint8, 'SCALED')]
tf.quantization.dequantize(tf.quantization.quantize(v, -1.0, 2.0, tf.qint8, 'SCALED')[0], -1.0, 2.0, 'SCALED')
[tf.bitcast(one, tf.uint8) if one.dtype == tf.quint8 else one for one in tf.quantization.quantize(v, -1.0, 2.0,
    tf.quint8, 'MIN_COMBINED')]
tf.quantization.dequantize(tf.quantization.quantize(v, -1.0, 2.0, tf.quint8, 'MIN_COMBINED')[0], -1.0, 2.0,
    'MIN_COMBINED')
[tf.bitcast(one, tf.uint8) if one.dtype == tf.quint8 else one for one in tf.quantization.quantize(v, -1.0, 2.0,
    tf.quint8, 'MIN_FIRST')]
tf.quantization.dequantize(tf.quantization.quantize(v, -1.0, 2.0, tf.quint8, 'MIN_FIRST')[0], -1.0, 2.0,
    'MIN_FIRST')
[tf.bitcast(one, tf.uint8) if one.dtype == tf.quint8 else one for one in tf.quantization.quantize(v, -1.0, 2.0,
    tf.quint8, 'SCALED')]
tf.quantization.dequantize(tf.quantization.quantize(v, -1.0, 2.0, tf.quint8, 'SCALED')[0], -1.0, 2.0, 'SCALED')
tf.bitcast(tf.quantization.quantize(v, -1.0, 2.0, tf.qint16, 'MIN_COMBINED')[0], tf.int16)
tf.bitcast(tf.quantization.quantize(v, -1.0, 2.0, tf.quint16, 'MIN_COMBINED')[0], tf.uint16)
tf.bitcast(tf.quantization.quantize(v, -1.0, 2.0, tf.qint32, 'MIN_COMBINED')[0], tf.int32)
[tf.bitcast(one, tf.int8) if one.dtype == tf.qint8 else one for one in tf.quantization.quantize(a, [-1.0, -0.5,
    0.0, -2.0, -1.0, 0.1], [1.0, 2.0, 3.0, 1.0, 1.0, 2.0], tf.qint8, 'SCALED', axis=1)]
tf.bitcast(tf.quantization.quantize(np.array([-1, -0.5, 0.5, 1.5, 2.5], 'float32'), -127.0, 127.0, tf.qint8,
    'SCALED', 'HALF_TO_EVEN', narrow_range=True)[0], tf.int8)
tf.bitcast(tf.quantization.quantize(np.array([-1, -0.5, 0.5, 1.5, 2.5], 'float32'), -127.0, 127.0, tf.qint8,
    'SCALED', narrow_range=True)[0], tf.int8)
[tf.bitcast(one, tf.int8) if one.dtype == tf.qint8 else one for one in tf.quantization.quantize(v, 1.0, 1.0,
    tf.qint8)]
[tf.bitcast(one, tf.int8) if one.dtype == tf.qint8 else one for one in tf.quantization.quantize(v, 1.0, 2.0,
    tf.qint8, ensure_minimum_range=5.0)]
tf.quantization.quantize(v, 2.0, 1.0, tf.qint8)
tf.quantization.quantize(v, 1.0, 2.0, tf.float32)
tf.quantization.quantize(v, 1.0, 2.0, tf.qint8, 'OTHER')
tf.quantization.quantize(v, 1.0, 2.0, tf.qint8, round_mode='HALF_TO_EVEN')
tf.quantization.dequantize(tf.quantization.quantize(a, [-1.0, -0.5, 0.0, -2.0, -1.0, 0.1], [1.0, 2.0, 3.0, 1.0,
    1.0, 2.0], tf.qint8, 'SCALED', axis=1)[0], [-1.0, -0.5, 0.0, -2.0, -1.0, 0.1], [1.0, 2.0, 3.0, 1.0, 1.0, 2.0],
    'SCALED', axis=1, narrow_range=True)
tf.quantization.dequantize(tf.quantization.quantize(v, -1.0, 2.0, tf.qint8)[0], -1.0, 2.0, dtype=tf.bfloat16)
tf.quantization.quantize_and_dequantize(v, -1.0, 1.0, range_given=True)
tf.quantization.quantize_and_dequantize(v, 0.0, 0.0)
tf.quantization.quantize_and_dequantize_v2(v, -1.0, 1.0, range_given=True)
tf.quantization.quantize_and_dequantize_v2(v, -1.0, 1.5, signed_input=False, num_bits=4, range_given=True)
tf.quantization.quantize_and_dequantize_v2(a, 0.0, 0.0, num_bits=3, round_mode='HALF_UP', narrow_range=True)
tf.quantization.quantize_and_dequantize_v2(tf.cast(a, tf.float64), 0.0, 0.0, num_bits=12)
tf.quantization.quantize_and_dequantize_v2(a, [0.0] * 6, [0.0] * 6, axis=1)
tf.quantization.quantize_and_dequantize_v2(v, 0.0, 0.0, round_mode='OTHER')
grad(lambda x: tf.quantization.quantize_and_dequantize_v2(x, -0.5, 0.5, range_given=True), v)
grad(lambda x: tf.quantization.quantize_and_dequantize(x, -0.5, 0.5, range_given=True), v)
tf.math.sobol_sample(1, 5)
tf.math.sobol_sample(40, 9, skip=3)
tf.math.sobol_sample(7, 20, 1000, tf.float64)
tf.math.sobol_sample(3, 2, 16777000)
tf.math.sobol_sample(0, 5)
tf.math.sobol_sample(2, 0)
tf.math.sobol_sample(2, 2, -1)
tf.conv(x2, w2, [1, 2, 1, 1], 'SAME')
tf.conv(x2, w2, [1, 1, 1, 1], 'VALID', dilations=[1, 2, 2, 1])
tf.conv(x3, w3, [1, 1, 2, 1, 1], 'VALID')
tf.io.decode_raw(tf.io.serialize_sparse(tf.sparse.from_dense([[0, 1.5], [2, 0]]))[0], tf.uint8)
tf.io.decode_raw(tf.io.serialize_sparse(tf.sparse.from_dense([[0, 1.5], [2, 0]]))[1], tf.uint8)
tf.shape(tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]])))
tf.io.decode_raw(tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 1], [2, 0], [0, 3]]))[2, 1], tf.uint8)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0], [4,
    5]])), tf.int32)
tf.io.deserialize_many_sparse(tf.stack([tf.io.serialize_sparse(tf.sparse.from_dense([1, 0, 3])),
    tf.io.serialize_sparse(tf.sparse.from_dense([0, 7, 0, 0, 9]))]), tf.int32)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(tf.sparse.from_dense([[[0, 1]], [[2, 0]]])),
    tf.int32, rank=3)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(tf.sparse.from_dense([['', 'a'], ['bc', '']])), tf.string)
tf.io.serialize_many_sparse(tf.sparse.from_dense([1, 2]))
tf.parallel_stack([v, v])
tf.function(lambda: tf.parallel_stack([v, v]))()
tf.nn.isotonic_regression(a, axis=0)
tf.nn.max_pool_with_argmax(x2, 2, 2, 'SAME')
tf.quantization.fake_quant_with_min_max_vars_gradient(v, v * 2, -1.0, 0.5)
""".strip().replace("\n    ", " ").splitlines()


def evaluate(tf, call, names=NAMES):
    """The call's result in `tf`, which is TensorFlow or leat; where it fails the name of the error's class."""
    def grad(function, *values):
        values = [tf.convert_to_tensor(value) for value in values]
        with tf.GradientTape() as tape:
            tape.watch(values)
            out = function(*values)
            weights = tf.reshape(tf.cast(tf.range(tf.size(out)) % 7 - 2, out.dtype), tf.shape(out))
            total = tf.reduce_sum(out * weights)
        return tape.gradient(total, values)
    tf.random.set_seed(None)  # kernels begin anew
    return eval(call, {**names, "tf": tf, "np": np, "grad": grad})


def plain(tf, value):
    """Tensors as {dtype, shape, values}; what holds them as lists."""
    if isinstance(value, tf.SparseTensor):
        value = [value.indices, value.values, value.dense_shape]
    if isinstance(value, tf.RaggedTensor):
        value = [value.flat_values, *value.nested_row_splits]
    if isinstance(value, tf.IndexedSlices):
        value = tf.convert_to_tensor(value)
    if isinstance(value, (list, tuple)):
        return [plain(tf, one) for one in value]
    if value is None:
        return None
    dtype = getattr(value, "dtype", None)
    array = np.asarray(value)
    if array.dtype.kind == "O" or array.dtype.kind == "S":
        return {"dtype": "string", "shape": list(array.shape),
                "values": [one if isinstance(one, str) else one.decode() for one in array.reshape(-1)]}
    numbers = array.astype("float64" if dtype in ("float16", "bfloat16", tf.bfloat16) else array.dtype)
    return {"dtype": getattr(dtype, "name", None) or str(array.dtype), "shape": list(array.shape),
            "values": [float(f"{one:.8g}") if isinstance(one, float) else one for one in numbers.reshape(-1).tolist()]}
