#!/usr/bin/env python3
"""Record values of functions that the Python package makes of operations.

    composites.py python/tests/data/composites.json

Each line is an expression over `tf`, numpy's `np` and some tensors, and what TensorFlow 2.21 gives for it: nested lists, or the name of the
exception. The test evaluates them eagerly and, where they use x, in a traced function.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

X = np.array([[0.5, -1.25, 2.0], [3.0, 0.0, -0.75]], np.float32)
X_LINES = """
math.reduce_variance(x); math.reduce_variance(x, 0); math.reduce_variance(x, [1], True); math.reduce_variance(x, -1); math.reduce_variance([1, 2])
math.reduce_std(x); math.reduce_std(x, 0); math.reduce_std(x, [0, 1]); math.reduce_std(x, 1, True); math.reduce_std(tf.cast(x, tf.float64))
reduce_logsumexp(x); reduce_logsumexp(x, 0); reduce_logsumexp(x, 1, True); reduce_logsumexp(x * 1000); reduce_logsumexp([-np.inf, -np.inf])
math.reduce_euclidean_norm(x); math.reduce_euclidean_norm(x, 0); math.reduce_euclidean_norm(x, 1, True); math.reduce_euclidean_norm([3, 4]); math.reduce_euclidean_norm([1, 1])
math.zero_fraction(x); nn.zero_fraction([0, 0, 1]); math.zero_fraction([[0.0]]); nn.zero_fraction(tf.cast(x, tf.int32)); math.zero_fraction([1, 2])
math.log_sigmoid(x); math.log_sigmoid(x * 100); math.log_sigmoid(0.0); math.log_sigmoid([1.0, -1.0]); math.log_sigmoid(tf.cast(x, tf.float64))
math.softmax(x); math.softmax(x, 0); math.softmax(x, axis=-1); math.softmax([1.0]); math.softmax(x * 100)
math.reciprocal_no_nan(x); math.reciprocal_no_nan([0.0, 2.0]); math.reciprocal_no_nan(4.0); math.reciprocal_no_nan(-x); math.reciprocal_no_nan(x + 1)
scalar_mul(2.0, x); math.scalar_mul(3, tf.cast(x, tf.int32)); scalar_mul(0.5, x[0]); scalar_mul([1.0], x); math.scalar_mul(-1.0, x)
math.polyval([2.0, 1.0, 0.0], x); math.polyval([x, x], x); math.polyval([], x); math.polyval([3.0], x); math.polyval((1, 2), x)
math.accumulate_n([x, x, -x]); math.accumulate_n([x]); math.accumulate_n([x[0], x[1]]); math.accumulate_n([]); math.accumulate_n([[1], [2]])
math.real(x); math.imag(x); math.conj(x); math.angle(x); math.angle([-1.0, 0.0])
math.l2_normalize(x); math.l2_normalize(x, 0); nn.l2_normalize(x, [1]); linalg.l2_normalize(x * 0); nn.l2_normalize(x, 1, 100.0)
math.is_non_decreasing(x); math.is_non_decreasing([1, 1, 2]); math.is_strictly_increasing([1, 1, 2]); math.is_strictly_increasing([1, 2]); math.is_non_decreasing([])
math.invert_permutation([3, 4, 0, 2, 1]); math.invert_permutation([0]); math.invert_permutation(tf.constant([1, 0], tf.int64)); math.invert_permutation([2, 0, 1]); math.invert_permutation([1, 2, 0])
math.bincount([1, 1, 2, 5]); math.bincount([1, 1, 2], minlength=6); math.bincount([1, 7, 2], maxlength=3); math.bincount([0, 2, 2], weights=[0.5, 1.0, 2.0]); math.bincount(tf.constant([], tf.int32))
math.bincount([[1, 1], [0, 4]], axis=-1); math.bincount([[1, 1], [0, 4]], axis=-1, maxlength=3, minlength=3); math.bincount([1, 1, 4], binary_output=True); math.bincount([[1, 1], [0, 2]], axis=-1, binary_output=True); math.bincount([[1, 2], [2, 2]], weights=[[1, 2], [3, 4]])
math.bincount([1, 2], dtype=tf.int64); math.bincount([1, 2], axis=2); math.bincount([[3, 3]], axis=0); math.bincount([2], minlength=1, maxlength=2); math.bincount([0, 0], dtype=tf.float32)
math.confusion_matrix([1, 2, 4], [2, 2, 4]); math.confusion_matrix([0, 1], [1, 1], 3); math.confusion_matrix([0, 1], [1, 1], weights=[0.5, 2.0], dtype=tf.float32); math.confusion_matrix([0, 1], [1, 0], dtype=tf.int64); math.confusion_matrix([0, 3], [1, 1], 3)
math.unsorted_segment_mean(x, [0, 0], 2); math.unsorted_segment_mean(x, [1, -1], 2); math.unsorted_segment_sqrt_n(x, [0, 0], 2); math.unsorted_segment_sqrt_n(x, [1, 0], 2); math.unsorted_segment_mean([1.0, 2.0, 6.0], [2, 0, 2], 3)
linalg.matrix_transpose(x); linalg.adjoint(x); linalg.matrix_transpose([1.0]); linalg.matrix_transpose(tf.reshape(x, [1, 3, 2])); linalg.matrix_transpose(x[None])
linalg.trace(x); linalg.trace(tf.matmul(x, x, transpose_a=True)); linalg.trace([[1, 2], [3, 4]]); linalg.trace(x[None]); linalg.trace([1.0])
linalg.matvec(x, [1.0, 2.0, 3.0]); linalg.matvec(x, [1.0, 2.0], transpose_a=True); linalg.matvec(x[None], [[1.0, 0.0, 0.0]]); linalg.matvec(x, x[0]); linalg.matvec(x, x[:, 0], True)
linalg.tensor_diag([1, 2]); linalg.tensor_diag(x); linalg.tensor_diag_part([[1, 2], [3, 4]]); linalg.tensor_diag_part(tf.reshape(tf.range(16), [2, 2, 2, 2])); linalg.tensor_diag_part(tf.linalg.tensor_diag(x))
linalg.cross(x, x + 1); linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]); linalg.cross([1, 2, 3], [4, 5, 6]); linalg.cross(x, -x); linalg.cross(x[0], x[1])
tensordot(x, x, [[1], [1]]); tensordot(x, tf.transpose(x), 1); tensordot(x, x, 2); tensordot(x, [1.0, 2.0], 0); tensordot(x, x, [[0, 1], [0, 1]])
tensordot(x, x, [0, 0]); tensordot([1, 2], [3, 4], 1); tensordot(x, x, -1); tensordot(x, x, 3); tensordot(x, x, [[0], [0, 1]])
norm(x); norm(x, 1); norm(x, np.inf); norm(x, axis=1); norm(x, 'euclidean', 0, True)
norm(x, 'fro', [0, 1]); norm(x, 1, [0, 1]); norm(x, np.inf, [-2, -1]); norm(x, 3, 1); norm(x, 'fro', 0)
norm(x, 2, 0); norm(x, -1); norm(x, 1, [0, 1], True); norm(x, axis=[0, 1, 2]); linalg.norm(x, 1.5, 1)
norm(x, 2, [0, 1]); norm(x[None], 2, [-2, -1], True); linalg.einsum('ij,kj->ik', x, x); linalg.eigvalsh(tf.matmul(x, x, transpose_b=True)); linalg.logdet(tf.matmul(x, x, transpose_b=True))
linalg.cholesky_solve(tf.linalg.cholesky([[2.0, 1.0], [1.0, 3.0]]), x); linalg.lstsq(x, [[1.0], [2.0]]); linalg.lstsq(tf.transpose(x), x[0][:, None]); linalg.lstsq(x, [[1.0], [2.0]], 0.5); linalg.lstsq(x, [[1.0], [2.0]], fast=False)
linalg.lstsq(tf.transpose(x), x[1][:, None], fast=False); linalg.lstsq([x, x], [[[1.0], [2.0]], [[0.0], [1.0]]]); linalg.pinv(x); linalg.pinv(tf.cast([x, -x], tf.float64)); linalg.pinv([[1.0, 2.0], [2.0, 4.0]], 1e-3)
linalg.matrix_rank(x); linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]); linalg.matrix_rank([x, x * 0]); linalg.matrix_rank(x, 2.0); linalg.pinv([[1, 2], [3, 4]])
linalg.lu_reconstruct(*tf.linalg.lu([[0.0, 2.0], [3.0, 1.0]])); linalg.lu_solve(*tf.linalg.lu([[0.0, 2.0], [3.0, 1.0]]), x); linalg.lu_matrix_inverse(*tf.linalg.lu([[0.0, 2.0], [3.0, 1.0]])); linalg.lu_reconstruct(*tf.linalg.lu([[[0.0, 2.0], [3.0, 1.0]], [[4.0, 1.0], [1.0, 3.0]]])); linalg.lu_solve(*tf.linalg.lu([[[0.0, 2.0], [3.0, 1.0]], [[4.0, 1.0], [1.0, 3.0]]]), [x, x])
linalg.expm(tf.matmul(x, x, transpose_b=True) * 0.1); linalg.expm(tf.cast([[1.0, 2.0], [-3.0, 4.0]], tf.float64)); linalg.expm(tf.zeros([2, 2])); linalg.expm(tf.zeros([2, 0, 0])); linalg.expm(tf.cast([[[1.0, 2.0], [-3.0, 4.0]], [[0.1, 0.0], [0.0, 0.2]]], tf.float64))
math.softsign(x); math.erfcinv([0.1, 1.0, 1.7]); math.lbeta([0.5, 1.0, 2.5]); math.lbeta([[1.0, 2.0], [3.0, 0.25]]); dtypes.cast(x, tf.int32)
sparse.segment_sum(x, [0, 1, 0], [0, 0, 1]); sparse.segment_mean(x, [0, 1, 0], [0, 0, 1]); sparse.segment_sqrt_n(x, [0, 1, 0], [0, 0, 2]); sparse.segment_sum(x, [0, 1], [0, 2], 4); sparse.segment_mean(x, [0, 1, 1], [0, 1, 1], num_segments=3)
dtypes.cast([1, 2], tf.int64); dtypes.saturate_cast(x * 1000, tf.int8); convert_to_tensor(tf.IndexedSlices(x, [2, 2], [4, 3])); zeros_initializer()([2]); constant_initializer(2.5)([2, 2])
linalg.normalize(x); linalg.normalize(x, axis=1); linalg.normalize(x, 1, 0); linalg.normalize([3.0, 4.0]); linalg.normalize(x, np.inf)
linalg.global_norm([x, x]); linalg.global_norm([x, None]); linalg.global_norm([]); linalg.global_norm('no'); linalg.global_norm([[3.0], [4.0]])
clip_by_norm(x, 1.0); clip_by_norm(x, 100.0); clip_by_norm(x, 1.0, [1]); clip_by_norm(x * 0, 1.0); clip_by_norm([3.0, 4.0], 2)
clip_by_global_norm([x, x], 1.0); clip_by_global_norm([x], 100.0); clip_by_global_norm([x, -x], 1.0, tf.constant(2.0)); clip_by_global_norm('no', 1.0); clip_by_global_norm([[np.inf]], 1.0)
saturate_cast(x * 200, tf.uint8); saturate_cast(x, tf.float16); saturate_cast([300, -300], tf.int8); saturate_cast([1e10, -1e10], tf.int32); saturate_cast(x, tf.float32)
saturate_cast(tf.constant([1e300], tf.float64), tf.float32); saturate_cast([3000000000.0], tf.uint32); saturate_cast(tf.constant([255], tf.uint8), tf.int8); saturate_cast([-5], tf.uint64); saturate_cast([-7.5], tf.int64)
meshgrid([1, 2], [3, 4, 5]); meshgrid([1, 2], [3, 4, 5], indexing='ij'); meshgrid(x[0], x[1]); meshgrid([1], [2], [3, 4]); meshgrid([1], indexing='no')
broadcast_dynamic_shape([2, 1], [3]); broadcast_dynamic_shape([1, 2, 3], [5, 1, 3]); broadcast_dynamic_shape([], [3]); broadcast_dynamic_shape([2], [3]); broadcast_dynamic_shape(tf.constant([1], tf.int64), tf.constant([4, 1], tf.int64))
unravel_index([2, 5, 7], [3, 3]); unravel_index(22, (7, 6)); unravel_index([0], [1]); unravel_index([1, 5], [2, 3]); unravel_index([9], [3, 3])
histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5); histogram_fixed_width_bins(x, [-1.0, 1.0]); histogram_fixed_width_bins(x, [-1.0, 1.0], 3); histogram_fixed_width_bins([1.0, 5.0], [0.0, 10.0], 2, tf.int64); histogram_fixed_width_bins(x, [0.0, 1.0], 0)
identity_n([x, x]); identity_n([1, 2]); identity_n([x]); identity_n([x, -x]); identity_n([[1, 2], 3])
dynamic_stitch([[0, 2], [1]], [[1.0, 2.0], [3.0]]); dynamic_stitch([0, 1], [x, -x]); dynamic_stitch([[1, 0]], [x]); dynamic_stitch([[0], [0]], [[1], [2]]); dynamic_stitch([[[0, 1]]], [x[None]])
space_to_batch(tf.reshape(tf.range(16), [1, 4, 4, 1]), [2, 2], [[0, 0], [0, 0]]); space_to_batch(x[None, :, :, None], [2, 2], [[0, 0], [1, 0]]); space_to_batch_nd(tf.reshape(tf.range(8), [2, 4]), [2], [[1, 1]]); batch_to_space(tf.reshape(tf.range(8), [4, 1, 2, 1]), [2, 2], [[0, 0], [1, 0]]); batch_to_space(tf.reshape(tf.range(4), [4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]])
einsum('ij,ij->i', x, x); einsum('ij->ji', x); einsum('i j , k j -> i k', x, x); einsum('ij,jk', x, tf.transpose(x)); einsum('...j,j->...', x, x[0])
nn.leaky_relu(x); nn.leaky_relu(x, 0.5); nn.leaky_relu([-1, 2]); nn.leaky_relu(x, 2.0); nn.leaky_relu(-1.0)
nn.gelu(x); nn.gelu(x, True); nn.gelu([1.0]); nn.gelu([1]); nn.gelu(tf.cast(x, tf.float64))
nn.selu(x); nn.selu([-1.0, 1.0]); nn.selu(0.0); nn.selu(x * 10); nn.selu(tf.cast(x, tf.float64))
nn.silu(x); nn.swish(x); nn.silu(x, 0.5); nn.silu(x * 100); nn.swish([1.0, -1.0])
nn.softsign(x); nn.softsign(-x); nn.softsign(0.0); nn.softsign([9.0]); nn.softsign(tf.cast(x, tf.float64))
nn.crelu(x); nn.crelu(x, 0); nn.crelu([1.0, -2.0]); nn.crelu(-x); nn.crelu(x, axis=1)
nn.moments(x, [0]); nn.moments(x, [0, 1]); nn.moments(x, 1, keepdims=True); nn.moments(tf.cast(x, tf.float16), [0]); nn.moments(x, [-1])
nn.weighted_moments(x, [0], 1.0); nn.weighted_moments(x, [0], [[1.0], [3.0]]); nn.weighted_moments(x, [0, 1], x * x, True); nn.weighted_moments(x, [1], x * x); nn.normalize_moments(2.0, x, x * x, None)
nn.normalize_moments(4.0, x[0], x[1], 0.5); nn.batch_normalization(x, x[0], x[0] * x[0] + 1, None, None, 0.001); nn.batch_normalization(x, 0.5, 2.0, 1.0, 3.0, 1e-3); nn.batch_normalization(x, 0.0, 1.0, x[0], None, 0.1); nn.batch_normalization(x, 1.0, 1.0, None, x[1], 0.1)
nn.l2_loss(x); nn.l2_loss([3.0]); nn.l2_loss(x[0]); nn.l2_loss(x * 0); nn.l2_loss(tf.cast(x, tf.float64))
nn.sigmoid_cross_entropy_with_logits([[1.0, 0.0, 0.5], [0.0, 1.0, 1.0]], x); nn.sigmoid_cross_entropy_with_logits(x, x * 50); nn.sigmoid_cross_entropy_with_logits([1.0], x); nn.sigmoid_cross_entropy_with_logits(); nn.sigmoid_cross_entropy_with_logits(labels=x[0], logits=x[1])
nn.weighted_cross_entropy_with_logits([[1.0, 0.0, 0.5], [0.0, 1.0, 1.0]], x, 2.0); nn.weighted_cross_entropy_with_logits(x, x, 0.5); nn.weighted_cross_entropy_with_logits(x, x * 50, 3.0); nn.weighted_cross_entropy_with_logits([1.0], x, 1.0); nn.weighted_cross_entropy_with_logits([1.0], [0.0], 4.0)
nn.softmax_cross_entropy_with_logits([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], x); nn.softmax_cross_entropy_with_logits(x, x, axis=0); nn.softmax_cross_entropy_with_logits([[0, 1, 0], [1, 0, 0]], x * 50); nn.softmax_cross_entropy_with_logits([1.0, 0.0], [2.0, 1.0]); nn.softmax_cross_entropy_with_logits(tf.math.softmax(x), x)
nn.log_poisson_loss(x * x, x); nn.log_poisson_loss(x * x, x, True); nn.log_poisson_loss([1.0], [2.0]); nn.log_poisson_loss([5.0], [1.0], compute_full_loss=True); nn.log_poisson_loss([0.5, 2.0], [0.0, 0.0], True)
nn.embedding_lookup(x, [1, 0, 1]); nn.embedding_lookup(x, [[1]], max_norm=1.0); nn.embedding_lookup([x], 0); nn.embedding_lookup(x, [0]); nn.embedding_lookup(x, tf.constant([1], tf.int64), 0.5)
nn.space_to_depth(tf.reshape(tf.range(16), [1, 4, 4, 1]), 2); nn.space_to_depth(tf.reshape(tf.range(16), [1, 2, 4, 2]), 2); nn.depth_to_space(tf.reshape(tf.range(16), [1, 2, 2, 4]), 2); nn.depth_to_space(tf.reshape(tf.range(8), [1, 1, 1, 8]), 2); nn.space_to_depth(x, 1)
nn.dropout(x, 0); nn.dropout(x, 0.0); nn.dropout(x, 1.5); nn.dropout([1], 0.5); nn.dropout(x * 0, 0.5)
math.top_k(np.arange(40000.0), 1, index_type=tf.int16); math.top_k(np.arange(32767.0), 1, index_type=tf.int16); math.digamma(np.array([-1e-20, -1e-14, -2.5, -99999.75])); math.segment_mean(tf.constant([2**63, 2], tf.uint64), [0, 0]); math.segment_mean(tf.constant([250, 2], tf.uint8), [0, 0])
linalg.diag([[1, 2]], k=[-2**31, 2**31 - 1]); unique(tf.constant([0.0, -0.0, np.nan, np.nan], tf.float16))[1]; unique(tf.constant([0.0, -0.0, np.nan, np.nan]))[1]; range(tf.constant(2**53 + 1, tf.int64), tf.constant(2**53, tf.int64), tf.constant(2**62, tf.int64)); slice([1, 2], tf.constant([-2**63], tf.int64), tf.constant([-1], tf.int64)); one_hot(tf.constant([2**63 - 1, -2**63, 1], tf.int64), 3)
ones_like(x, tf.int32); zeros_like([1, 2], tf.float32); zeros_like(['a', 'b']); ones_like(['a'], tf.int32); zeros_like(x, dtype=tf.string)
"""

RAGGED_LINES = """
r.to_tensor(); r.to_tensor(-1, shape=[None, 2]); r.to_tensor(9, shape=[4, None]); rr.to_tensor(); rr.to_tensor(7); w.to_tensor('x')
r.row_lengths(); r.nrows(); r.value_rowids(); r.row_starts(); r.row_limits(); rr.row_lengths(2); r.bounding_shape(); rr.bounding_shape(); rr.bounding_shape(axis=1); r.bounding_shape(out_type=tf.int32)
rr.merge_dims(0, 1); rr.merge_dims(1, 2); rr.merge_dims(0, 2); rr.nested_row_lengths(); rr.nested_value_rowids(); r.with_values([1.0, 2, 3, 4, 5]); rr.with_flat_values(['a', 'b', 'c', 'd'])
r[0]; r[1:]; r[:, :2]; r[:, 1:]; r[:, :-1]; r[:, -1:]; r[0, 1]; rr[0, 1]; rr[:, 0:1]; rr[:, :, :1]; r[::2]; r[..., ]; r[:2, :1]
tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0); tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], lengths=[1, 0]); tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]); tf.RaggedTensor.from_tensor([[[1], [2]], [[3], [4]]], ragged_rank=2); tf.RaggedTensor.from_tensor([[1, 2]], ragged_rank=2)
tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2]); tf.RaggedTensor.from_value_rowids([1], [1], nrows=4); tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2); tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 1]); tf.RaggedTensor.from_row_limits([1, 2, 3], [0, 3]); tf.RaggedTensor.from_row_lengths([1, 2, 3], [0, 3]); tf.RaggedTensor.from_nested_row_lengths([1, 2], [[1, 1], [0, 2]]); tf.RaggedTensor.from_sparse(s)
r.to_sparse(); rr.to_sparse(); w.to_sparse(); tf.RaggedTensor.from_sparse(r.to_sparse()); r[:0].to_sparse()
tf.concat([r, r], 0); tf.concat([r, r], 1); tf.concat([r, [[7], [8], [9]]], axis=1); tf.concat([rr, rr], 2); tf.concat([r, r], -1)
tf.gather(r, [2, 0]); tf.gather(r, 1); tf.gather([10, 20, 30, 40, 50, 60], r); tf.gather(rr, [2, 2]); tf.gather(r, [[0], [2]]); tf.expand_dims(r, 0); tf.expand_dims(r, 1); tf.expand_dims(r, -1)
tf.reduce_sum(r); tf.reduce_sum(r, 1); tf.reduce_sum(r, 0); tf.reduce_max(r, 1); tf.reduce_mean(tf.cast(r, tf.float32), 1); tf.reduce_prod(r, -1); tf.reduce_sum(rr, 2); tf.reduce_any(r > 4, 1); tf.reduce_all(r > 0, axis=1); tf.reduce_min(r, 0)
tf.ragged.range([1, 2, 3]); tf.ragged.range([0, 5], [3, 1], [1, -2]); tf.ragged.range(3, [5, 1]); tf.ragged.range([0.0], [1.0], 0.25); tf.ragged.range([2, 0], row_splits_dtype=tf.int32)
tf.ragged.stack([[1, 2], [3]]); tf.ragged.stack([r, r]); tf.ragged.stack([[[1], [2]], [[3], [4]]]); tf.ragged.stack([1, 2]); tf.ragged.stack([[1]])
tf.ragged.boolean_mask([1, 2, 3], [True, False, True]); tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [False, False]]); tf.ragged.boolean_mask(r, [True, False, True]); tf.ragged.boolean_mask(r, r > 2); tf.ragged.boolean_mask(rr, rr > 1)
tf.ragged.map_flat_values(lambda v: v * 2, r); tf.ragged.map_flat_values(tf.add, r, 1); tf.ragged.map_flat_values(tf.strings.length, w); tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]); tf.ragged.segment_ids_to_row_splits([0, 0, 2]); tf.ragged.segment_ids_to_row_splits([0, 2], 5)
tf.ragged.stack_dynamic_partitions([1, 2, 3], [1, 0, 1], 3); tf.ragged.stack_dynamic_partitions(['a', 'b'], [0, 0], 1); tf.ragged.stack_dynamic_partitions([1], [2], 3); tf.strings.lower(w); tf.zeros_like(r); tf.size(r); tf.rank(r); r + 1; r * r; -r
tf.sparse.to_dense(s); tf.sparse.to_dense(s, -1); tf.sparse.to_dense(t); tf.sparse.to_dense(tf.sparse.reorder(t)); tf.sparse.to_dense(tf.SparseTensor([[0], [0]], [1, 2], [2])); tf.sparse.from_dense([[1, 0], [0, 2]]); tf.sparse.from_dense(['', 'a']); tf.sparse.from_dense([0.0])
tf.sparse.reorder(t); tf.sparse.concat(0, [s, s]); tf.sparse.concat(1, [s, s]); tf.sparse.concat(-1, [s, tf.sparse.from_dense([[5], [6]])]); tf.sparse.concat(0, [s, tf.sparse.from_dense([[5]])]); tf.sparse.slice(s, [0, 1], [2, 2]); tf.sparse.slice(s, [1, 0], [5, 5]); tf.sparse.slice(s, [0, 0], [1, 1])
tf.sparse.split(s, 2, 1); tf.sparse.split(s, 2, axis=0); tf.sparse.retain(s, [True, False, True]); tf.sparse.reset_shape(s); tf.sparse.reset_shape(s, [4, 4]); tf.sparse.reshape(s, [3, 2]); tf.sparse.reshape(s, [-1]); tf.sparse.transpose(s); tf.sparse.transpose(s, [1, 0]); tf.sparse.expand_dims(s, 0); tf.sparse.expand_dims(s)
tf.sparse.fill_empty_rows(tf.sparse.from_dense([[0, 1], [0, 0]]), 9); tf.sparse.map_values(tf.abs, s); tf.sparse.map_values(tf.add, s, 1); tf.sparse.add(s, s); tf.sparse.add(s, tf.sparse.from_dense([[5, 0, -2], [0, 0, 0]])); tf.sparse.add(s, [[1, 1, 1], [1, 1, 1]]); tf.sparse.add(s, s, 5)
tf.sparse.reduce_sum(s); tf.sparse.reduce_sum(s, 0); tf.sparse.reduce_sum(s, 1, keepdims=True); tf.sparse.reduce_max(s, 0); tf.sparse.reduce_max(s, [1]); tf.sparse.eye(2, 3); tf.sparse.to_indicator(s, 4); tf.sparse.sparse_dense_matmul(s, [[1, 2], [3, 4], [5, 6]]); tf.sparse.sparse_dense_matmul(s, [[1, 2]], adjoint_a=True, adjoint_b=True)
"""


def plain(value):
    if hasattr(value, "to_list"):
        return {"ragged": _json(value.to_list()), "dtype": value.dtype.name, "splits": value.row_splits.dtype.name}
    if isinstance(value, tf.SparseTensor):
        return {"sparse": [plain(value.indices), plain(value.values), plain(value.dense_shape)]}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    return {"dtype": tf.as_dtype(array.dtype).name, "value": _json(array.tolist())}


def _json(value):
    if isinstance(value, list):
        return [_json(one) for one in value]
    if isinstance(value, bytes):
        return value.decode()
    return repr(value) if isinstance(value, float) and (value != value or abs(value) == np.inf) else value


def evaluate(text, names):
    try:
        return {"expression": text, "result": plain(eval(text, {"tf": tf, "np": np, **names}))}
    except Exception as error:
        return {"expression": text, "error": type(error).__name__}


def main(path):
    lines = [evaluate("tf." + one.strip(), {"x": tf.constant(X)}) for line in X_LINES.strip().splitlines()
             for one in line.split("; ")]
    names = {"r": tf.ragged.constant([[1, 2, 3], [], [4, 5]]), "rr": tf.ragged.constant([[[1, 2], [3]], [], [[4]]]),
             "w": tf.ragged.constant([["A"], ["Bc", "D"]]), "s": tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 2, -3], [2, 3]),
             "t": tf.SparseTensor([[1, 1], [0, 2], [0, 0]], [1, 2, -3], [2, 3])}
    lines += [evaluate(one.strip(), names) for line in RAGGED_LINES.strip().splitlines() for one in line.split("; ")]
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n")
    print("%d expressions, %d errors" % (len(lines), sum("error" in line for line in lines)), file=sys.stderr)


main(sys.argv[1])
