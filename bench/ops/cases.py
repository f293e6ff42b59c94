"""The table of bench-ops: which operations are measured on what.

A line of TABLE is `[K, K, K] inputs | call | names`. Inputs are made by numpy, of these words: `n` values in all (100; 65,536, which are in
the second cache; 4,194,304, beyond the last), `r` rows of `c`, `b` pictures of `h` times `h`, and `k`, one of the line's own three numbers.
They are fed as tensors; the same words in the call are constants. `names` are the operations that stand for `{}` in the call; without names
the case is called after the first function of the call, or, where it begins with a colon, that and the word. `~` is a case whose values are
drawn or not unique: only dtypes and shapes are compared.
"""
import functools
import re
import struct
import zlib

import numpy as np

SIZES = ("small", "middle", "large")
WORDS = {"n": (100, 1 << 16, 1 << 22), "r": (10, 256, 2048), "c": (10, 256, 2048), "b": (1, 1, 8), "h": (6, 148, 418)}
MODULES = ("", "math", "nn", "linalg", "image", "random", "strings", "sparse", "ragged", "bitwise", "audio", "io", "quantization", "sets")

# Public functions that make, run or describe programs, or touch files: not operations on tensors.
NOT_OPERATIONS = set("""
Assert as_dtype assert_equal assert_greater assert_less assert_rank case cond control_dependencies custom_gradient device executing_eagerly
foldl foldr function get_current_name_scope get_logger get_static_value grad_pass_through gradients group hessians init_scope inside_function
is_symbolic_tensor is_tensor make_ndarray make_tensor_proto map_fn no_gradient no_op numpy_function print py_function recompute_grad scan
switch_case timestamp tuple type_spec_from_value vectorized_map while_loop broadcast_dynamic_shape broadcast_static_shape
required_space_to_batch_paddings random.create_rng_state random.get_global_generator random.set_global_generator random.set_seed
io.matching_files io.read_file io.write_file quantization.custom_gradient sets.numpy_function sparse.map_values ragged.map_flat_values
nn.scale_regularization_loss convert_to_tensor get_logger
""".split())

TABLE = """
# elementwise
x = normal(n) | tf.{}(x) | math.abs math.atan math.asinh math.ceil math.cos math.cosh math.erf math.erfc math.exp math.expm1 math.floor math.is_finite
x = normal(n) | tf.{}(x) | math.is_inf math.is_nan math.log_sigmoid math.negative math.reciprocal_no_nan math.rint math.round math.sigmoid math.sign math.sin math.sinh
x = normal(n) | tf.{}(x) | math.square math.tan math.tanh math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e nn.elu nn.gelu nn.leaky_relu nn.relu nn.relu6
x = normal(n) | tf.{}(x) | nn.selu nn.silu nn.softplus nn.softsign nn.crelu identity zeros_like ones_like stop_gradient math.conj math.real nn.l2_loss nn.zero_fraction
x = normal(n) | tf.nn.gelu(x, approximate=True) | :tanh
x = between(.1, 9, n) | tf.{}(x) | math.log math.log1p math.sqrt math.rsqrt math.reciprocal math.lgamma math.digamma
x = between(-.99, .99, n) | tf.{}(x) | math.acos math.asin math.atanh math.erfinv
x = between(1.1, 9, n) | tf.math.acosh(x) |
x = between(.01, .99, n) | tf.{}(x) | math.ndtri
x = between(.01, 1.99, n) | tf.math.erfcinv(x) |
x = complexes(n) | tf.{}(x) | math.angle math.imag
x = complexes(n) | tf.math.abs(x) | :complex
x = doubles(n) | tf.{}(x) | math.atan:double math.erf:double math.exp:double
x = normal(n).astype("float16") | tf.{}(x) | nn.relu:half math.abs:half math.sigmoid:half math.tanh:half
x = bools(n) | tf.math.logical_not(x) |
x = ints(n, high=1000) | tf.bitwise.invert(x) |
x = normal(n) | tf.cast(x, tf.int32) |
x = ints(n, high=1000) | tf.cast(x, tf.float32) | :from_int
x = normal(n) | tf.cast(x, tf.float64) | :double
x = normal(n) | tf.cast(x, tf.bfloat16) | :bfloat16
x = normal(n) * 300 | tf.saturate_cast(x, tf.uint8) |
x = normal(n) | tf.bitcast(x, tf.int32) |
x = normal(n) | tf.clip_by_value(x, -.5, .5) |
x = normal(n) | tf.clip_by_norm(x, 1.) |
x = normal(n); y = normal(100) | tf.clip_by_global_norm([x, y], 1.) |
x = normal(n); y = normal(100) | tf.linalg.global_norm([x, y]) |
x = normal(n) | tf.quantization.fake_quant_with_min_max_args(x, -3., 3.) |
x = normal(n); y = normal(n) | tf.quantization.fake_quant_with_min_max_args_gradient(x, y, -3., 3.) |
x = normal(n); a = number(-3.); z = number(3.) | tf.quantization.fake_quant_with_min_max_vars(x, a, z) |
x = normal(n); y = normal(n); a = number(-3.); z = number(3.) | tf.quantization.fake_quant_with_min_max_vars_gradient(x, y, a, z) |
x = normal(r, c); a = -2 - uniform(c); z = 2 + uniform(c) | tf.quantization.fake_quant_with_min_max_vars_per_channel(x, a, z) |
x = normal(r, c); y = normal(r, c); a = -2 - uniform(c); z = 2 + uniform(c) | tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(x, y, a, z) |
# of two
x = normal(n); y = normal(n) | tf.{}(x, y) | math.add math.subtract math.multiply math.divide math.maximum math.minimum math.equal math.not_equal math.greater math.greater_equal
x = normal(n); y = normal(n) | tf.{}(x, y) | math.less math.less_equal math.squared_difference math.atan2 math.divide_no_nan math.multiply_no_nan math.floordiv math.floormod math.mod math.truediv math.nextafter realdiv truncatemod
x = between(.1, 2, n); y = between(.1, 2, n) | tf.{}(x, y) | math.pow math.xdivy math.xlogy math.xlog1py math.igamma math.igammac
x = between(1.5, 4, n); y = between(.1, 2, n) | tf.math.zeta(x, y) |
x = doubles(n); y = doubles(n) | tf.{}(x, y) | math.atan2:double math.maximum:double
x = complexes(n); y = complexes(n) | tf.{}(x, y) | math.multiply:complex math.divide:complex
x = normal(n) | x ** 2 | math.pow:square
x = normal(n) | x ** 3. | math.pow:cube
x = ints(n, high=1000) | x ** 2 | math.pow:int
[100, 4096, 262144] x = between(.5, 2, k); y = between(.5, 2, k); z = uniform(k) | tf.math.betainc(x, y, z) |
[100, 4096, 262144] x = between(.5, 2, k) | tf.math.polygamma(tf.ones_like(x), x) |
x = uniform(r, c) | tf.math.lbeta(x) |
x = normal(r, c); y = normal(c) | tf.math.add(x, y) | :row
x = normal(r, c); y = normal(r, 1) | tf.math.multiply(x, y) | :column
x = normal(n); y = number(2.5) | tf.math.scalar_mul(y, x) |
x = normal(n); y = normal(n); z = normal(n) | tf.{}([x, y, z]) | math.add_n math.accumulate_n
x = normal(n); a = number(1.); b = number(2.); d = number(3.) | tf.math.polyval([a, b, d], x) |
x = ints(n, high=1000); y = ints(n, high=999) + 1 | tf.{}(x, y) | bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor truncatediv
x = ints(n, high=1000); y = ints(n, high=999) + 1 | tf.math.floormod(x, y) | :int
x = ints(n, high=1000); y = ints(n, high=1000) | tf.math.add(x, y) | :int
x = ints(n, high=1000); y = ints(n, high=9) | tf.{}(x, y) | bitwise.left_shift bitwise.right_shift
x = bools(n); y = bools(n) | tf.{}(x, y) | math.logical_and math.logical_or math.logical_xor
x = bools(n); y = normal(n); z = normal(n) | tf.where(x, y, z) |
x = bools(n) | tf.where(x) | :places
# reductions
x = normal(n) | tf.{}(x) | math.reduce_sum math.reduce_mean math.reduce_max math.reduce_min math.reduce_logsumexp math.reduce_std math.reduce_variance math.reduce_euclidean_norm math.count_nonzero
x = normal(r, c) | tf.{}(x, axis=-1) | math.reduce_sum:rows math.reduce_max:rows math.reduce_logsumexp:rows math.reduce_variance:rows math.argmax math.argmin linalg.norm math.cumulative_logsumexp
x = normal(r, c) | tf.{}(x, axis=0) | math.reduce_sum:columns math.reduce_mean:columns math.reduce_max:columns math.argmax:columns
x = between(.999, 1.001, n) | tf.math.reduce_prod(x) |
x = bools(n) | tf.{}(x) | math.reduce_all math.reduce_any
x = bools(r, c) | tf.{}(x, axis=-1) | math.reduce_all:rows math.reduce_any:rows
x = complexes(n) | tf.math.reduce_sum(x) | :complex
x = doubles(r, c) | tf.{}(x, axis=-1) | math.reduce_max:double math.reduce_sum:double math.argmax:double
x = normal(r, c).astype("float16") | tf.{}(x, axis=-1) | math.reduce_max:half math.argmax:half
x = pixels(r, c) | tf.{}(x, axis=-1) | math.argmax:uint8 math.reduce_sum:uint8
x = normal(r, c) | tf.{}(x, axis=-1) | math.cumsum nn.softmax nn.log_softmax nn.l2_normalize
x = between(.9, 1.1, r, c) | tf.math.cumprod(x, axis=-1) |
x = normal(n) | tf.math.cumsum(x) | :flat
x = normal(r, c) | tf.nn.softmax(x, axis=0) | :columns
[1, 8, 64] x = normal(k, 21, 32, 32) | tf.nn.softmax(x, axis=1) | :channels
x = normal(r, c) | tf.linalg.normalize(x, axis=-1) |
x = normal(r, c) | tf.nn.moments(x, [0]) |
x = normal(r, c) | tf.nn.weighted_moments(x, [0], 1.) |
x = normal(r, c) | tf.nn.sufficient_statistics(x, [0]) |
a = number(9.); x = normal(c); y = uniform(c) | tf.nn.normalize_moments(a, x, y, None) |
x = sorted(normal(n)) | tf.{}(x) | math.is_non_decreasing math.is_strictly_increasing
# losses
x = normal(r, c); y = shares(r, c) | tf.nn.softmax_cross_entropy_with_logits(y, x) |
x = normal(r, c); y = ints(r, high=c) | tf.nn.sparse_softmax_cross_entropy_with_logits(y, x) |
x = normal(n); y = uniform(n) | tf.nn.sigmoid_cross_entropy_with_logits(y, x) |
x = normal(n); y = uniform(n) | tf.nn.weighted_cross_entropy_with_logits(y, x, 2.) |
x = normal(n); y = uniform(n) | tf.nn.log_poisson_loss(y, x) |
x = normal(n) | tf.nn.compute_average_loss(x, global_batch_size=8) |
[4, 16, 64] x = normal(20, k, 30); y = ints(k, 5, high=28) + 1; a = full(k, 5); z = full(k, 20) | tf.nn.ctc_loss(y, x, a, z, blank_index=0) |
[4, 16, 64] x = normal(20, k, 30); z = full(k, 20) | tf.nn.ctc_greedy_decoder(x, z) |
[1, 4, 16] x = normal(20, k, 30); z = full(k, 20) | tf.nn.ctc_beam_search_decoder(x, z, beam_width=10) | ~
[4, 64, 1024] x = ints(k, 9, high=28) + 1 | tf.nn.ctc_unique_labels(x) |
# normalisation and activations of rows and pictures
x = normal(r, c); m = normal(c); v = between(.5, 2, c); o = normal(c); s = normal(c) | tf.nn.batch_normalization(x, m, v, o, s, .001) |
x = normal(b, h, h, 3); m = normal(3); v = between(.5, 2, 3); o = normal(3); s = normal(3) | tf.nn.batch_norm_with_global_normalization(x, m, v, o, s, .001, True) |
x = normal(r, c); o = normal(c) | tf.nn.bias_add(x, o) |
x = normal(r, c) | (x - tf.math.reduce_mean(x, -1, keepdims=True)) * tf.math.rsqrt(tf.math.reduce_variance(x, -1, keepdims=True) + .001) | layer_norm
x = normal(b, h, h, 3) | tf.nn.local_response_normalization(x) |
x = normal(n) | tf.nn.dropout(x, .3) | ~
x = normal(r, c) | tf.nn.isotonic_regression(x) | ~
x = normal(r, c) | tf.nn.top_k(x, 10) |
x = normal(r, c) | tf.nn.top_k(x, 1) | :one
x = normal(r, c) | tf.nn.top_k(x, c // 2) | :half
x = normal(r, c); y = ints(r, high=c) | tf.math.in_top_k(y, x, 5) |
# products
[10, 128, 1024] x = normal(k, k); y = normal(k, k) | tf.linalg.matmul(x, y) |
[10, 128, 1024] x = normal(k, k); y = normal(k, k) | tf.linalg.matmul(x, y, transpose_b=True) | :transposed
[10, 128, 512] x = normal(8, k, k); y = normal(8, k, k) | tf.linalg.matmul(x, y) | :batch
[10, 128, 512] x = doubles(k, k); y = doubles(k, k) | tf.linalg.matmul(x, y) | :double
[10, 128, 512] x = complexes(k, k); y = complexes(k, k) | tf.linalg.matmul(x, y) | :complex
[10, 128, 512] x = ints(k, k, high=99); y = ints(k, k, high=99) | tf.linalg.matmul(x, y) | :int
x = normal(n); y = normal(n) | tf.linalg.tensordot(x, y, 1) | :vectors
x = normal(r, c); y = normal(r, c) | tf.linalg.einsum("ij,ij->", x, y) | :all
[10, 128, 1024] x = normal(k, k).astype("float16"); y = normal(k, k).astype("float16") | tf.linalg.matmul(tf.cast(x, tf.bfloat16), tf.cast(y, tf.bfloat16)) | :bfloat16
x = normal(r, c); y = normal(c) | tf.linalg.matvec(x, y) |
[10, 128, 1024] x = normal(k, 4, k // 2); y = normal(4, k // 2, k) | tf.linalg.tensordot(x, y, 2) |
[10, 128, 1024] x = normal(k, k); y = normal(k, k) | tf.linalg.einsum("ij,kj->ik", x, y) |
[4, 32, 256] x = normal(4, k, 4, 32); y = normal(4, k, 4, 32) | tf.linalg.einsum("bqhd,bkhd->bhqk", x, y) | :attention
[4, 32, 256] x = normal(4, k, 4, 32); y = normal(4, k, 4, 32); z = normal(4, k, 4, 32) | tf.linalg.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(tf.linalg.einsum("bqhd,bkhd->bhqk", x, y)), z) | attention
[33, 21845, 1398101] x = normal(k, 3); y = normal(k, 3) | tf.linalg.cross(x, y) |
# matrices
[10, 64, 256] x = square(k) | tf.{}(x) | linalg.det linalg.inv linalg.slogdet linalg.expm linalg.pinv linalg.matrix_rank
[10, 64, 256] x = square(k) | tf.{}(x) | linalg.lu ~
[10, 64, 256] x = square(k) | tf.{}(x) | linalg.qr linalg.svd linalg.eigh ~
[10, 64, 256] x = positive(k) | tf.{}(x) | linalg.cholesky linalg.eigvalsh linalg.logdet linalg.sqrtm
[10, 64, 256] x = square(k) | tf.linalg.svd(x, compute_uv=False) | :values
[2, 100, 10000] x = square(k, 8) | tf.{}(x) | linalg.inv:batch linalg.det:batch
[10, 64, 256] x = positive(k); y = normal(k, 8) | tf.linalg.cholesky_solve(tf.linalg.cholesky(x), y) |
[10, 64, 256] x = square(k); y = normal(k, 8) | tf.{}(x, y) | linalg.solve linalg.triangular_solve
[10, 64, 256] x = normal(2 * k, k); y = normal(2 * k, 8) | tf.linalg.lstsq(x, y) |
[10, 64, 256] x = square(k); y = normal(k, 8) | tf.linalg.lu_solve(*tf.linalg.lu(x), y) |
[10, 64, 256] x = square(k); y = normal(k, 8) | tf.{}(*tf.linalg.lu(x)) | linalg.lu_matrix_inverse linalg.lu_reconstruct
[10, 64, 256] x = 3 + uniform(3, k); y = normal(k, 8) | tf.linalg.tridiagonal_solve(x, y) |
[10, 64, 256] x = 3 + uniform(3, k); y = normal(k, 8) | tf.linalg.tridiagonal_matmul(x, y) |
[10, 64, 256] x = 3 + uniform(3, k); y = normal(k, 8) | tf.linalg.banded_triangular_solve(x, y) |
[10, 64, 256] x = 3 + uniform(k); y = uniform(k - 1) | tf.linalg.eigh_tridiagonal(x, y) |
x = normal(r, c) | tf.linalg.band_part(x, 1, 1) |
x = normal(r) | tf.{}(x) | linalg.diag linalg.tensor_diag
x = normal(r, c) | tf.{}(x) | linalg.diag_part linalg.tensor_diag_part linalg.trace linalg.adjoint linalg.matrix_transpose
x = normal(r, c); y = normal(r) | tf.linalg.set_diag(x, y) |
x = whole(c) | tf.linalg.eye(x) |
# shapes and places
x = normal(r, c) | tf.transpose(x) |
[1, 16, 1024] x = normal(k, 4, 32, 32) | tf.transpose(x, [0, 2, 3, 1]) | :pictures
[1, 16, 1024] x = normal(k, 4, 32, 32) | tf.transpose(x, [0, 2, 1, 3]) | :heads
x = normal(r, c) | tf.reshape(x, [-1]) |
x = normal(r, c) | tf.expand_dims(x, 0) |
x = normal(1, r, c) | tf.squeeze(x, 0) |
x = normal(r, c); y = normal(r, c) | tf.concat([x, y], 0) |
x = normal(r, c); y = normal(r, c) | tf.concat([x, y], 1) | :columns
x = normal(r, c); y = normal(r, c) | tf.stack([x, y]) |
x = normal(r, c); y = normal(r, c) | tf.stack([x, y], -1) | :last
x = normal(r, c) | tf.split(x, 2, 1) |
x = normal(r, c) | tf.unstack(x[:8]) |
x = normal(r, c) | tf.pad(x, [[1, 1], [2, 2]]) |
x = normal(r, c) | tf.pad(x, [[1, 1], [2, 2]], "REFLECT") | :reflect
x = normal(r, c // 2) | tf.tile(x, [1, 2]) |
x = normal(r, c // 2) | tf.repeat(x, 2, 1) |
x = normal(c) | tf.broadcast_to(x, [r, c]) |
x = normal(r, c) | tf.reverse(x, [1]) |
x = normal(r, c); y = ints(r, high=c) | tf.reverse_sequence(x, y, 1, 0) |
x = normal(r, c) | tf.roll(x, 3, 1) |
x = normal(r, c) | tf.slice(x, [1, 1], [r - 2, c - 2]) |
x = normal(r, c) | tf.strided_slice(x, [1, 1], [r, c], [2, 2]) |
x = normal(r, c) | x[1:, ::2] | slicing
x = normal(r, c) | tf.{}(x) | shape size rank
x = normal(r, c); y = normal(c) | tf.shape_n([x, y]) |
x = normal(r, c); y = normal(c) | tf.identity_n([x, y]) |
x = normal(r, c) | tf.guarantee_const(x) |
x = normal(r, c) | tf.ensure_shape(x, [None, c]) |
x = whole(r); y = whole(c) | tf.{}([x, y]) | ones zeros
x = whole(r); y = whole(c); z = number(1.5) | tf.fill([x, y], z) |
x = whole(n) | tf.range(x) |
x = number(0.); y = number(9.); z = whole(n) | tf.linspace(x, y, z) |
x = normal(c); y = normal(r) | tf.meshgrid(x, y) |
x = ints(r, high=c) | tf.one_hot(x, c) |
x = ints(r, high=c) | tf.sequence_mask(x, c) |
x = normal(r, c); i = ints(r, high=r) | tf.gather(x, i) |
x = normal(r, c); i = ints(c, high=c) | tf.gather(x, i, axis=1) | :columns
x = normal(n); i = ints(n, high=n) | tf.gather(x, i) | :numbers
x = normal(r, c); i = ints(r, c, high=c) | tf.gather(x, i, batch_dims=1, axis=1) | :batch
x = normal(r, c); i = ints(n // 2, 2, high=r) | tf.gather_nd(x, i) |
x = normal(r, c); i = ints(r, high=r) | tf.nn.embedding_lookup(x, i) |
x = normal(r, c); i = bools(r) | tf.boolean_mask(x, i) |
x = normal(r, c); i = bools(r, c) | tf.boolean_mask(x, i) | :numbers
x = normal(r, c); i = ints(r, 1, high=r) | tf.scatter_nd(i, x, [r, c]) |
x = normal(r, c); y = normal(r, c); i = ints(r, 1, high=r) | tf.{}(x, i, y) | tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_max tensor_scatter_nd_min
x = normal(r, c); y = normal(r, c); i = order(r)[:, None] | tf.tensor_scatter_nd_update(x, i, y) |
x = normal(n); i = ints(n, high=4) | tf.dynamic_partition(x, i, 4) |
x = normal(r, c); i = order(r) | tf.dynamic_stitch([i], [x]) |
x = order(n) | tf.math.invert_permutation(x) |
x = ints(n, high=100) | tf.unravel_index(x, [10, 10]) |
# order
x = normal(n) | tf.{}(x) | sort argsort
x = normal(r, c) | tf.{}(x, direction="DESCENDING") | sort:rows argsort:rows
x = ints(n, high=1 << 30) | tf.sort(x) | :int
x = ints(n, high=1000) | tf.{}(x) | unique unique_with_counts
x = sorted(normal(r)); y = normal(n) | tf.searchsorted(x, y) |
x = sorted(ints(r, high=9999)); y = ints(n, high=9999) | tf.searchsorted(x, y, side="right") | :int
x = ints(n, high=1000) | tf.math.bincount(x) |
x = normal(n) | tf.{}(x, [-3., 3.]) | histogram_fixed_width histogram_fixed_width_bins
x = ints(n, high=10); y = ints(n, high=10) | tf.math.confusion_matrix(x, y, 10) |
x = normal(n) | tf.math.zero_fraction(x) | :zero
# segments
x = normal(r, c); i = sorted(ints(r, high=r // 4 + 1)) | tf.{}(x, i) | math.segment_sum math.segment_mean math.segment_max math.segment_min math.segment_prod
x = normal(r, c); i = ints(r, high=r // 4) | tf.{}(x, i, r // 4) | math.unsorted_segment_sum math.unsorted_segment_mean math.unsorted_segment_max math.unsorted_segment_min math.unsorted_segment_prod math.unsorted_segment_sqrt_n
x = normal(n); i = ints(n, high=1000) | tf.{}(x, i, 1000) | math.unsorted_segment_sum:numbers math.unsorted_segment_max:numbers
x = normal(r, c); i = ints(r, high=r); s = sorted(ints(r, high=r // 4 + 1)) | tf.{}(x, i, s) | sparse.segment_sum sparse.segment_mean sparse.segment_sqrt_n
# convolutions and pooling
[4, 16, 64] x = normal(4, k, k, 8); w = normal(3, 3, 8, 16) | tf.nn.conv2d(x, w, 1, "SAME") |
[2, 14, 56] x = normal(8, k, k, 64); w = normal(3, 3, 64, 64) | tf.nn.conv2d(x, w, 1, "SAME") | :64
[2, 14, 56] x = normal(8, k, k, 64); w = normal(1, 1, 64, 128) | tf.nn.conv2d(x, w, 1, "SAME") | :1x1
[8, 32, 112] x = normal(4, k, k, 3); w = normal(7, 7, 3, 32) | tf.nn.conv2d(x, w, 2, "SAME") | :stem
[4, 16, 64] x = normal(4, k, k, 8); w = normal(3, 3, 8, 16) | tf.{}(x, w, strides=1, padding="SAME", dilations=2) | nn.convolution
[4, 16, 64] x = normal(4, k, k, 8); w = normal(3, 3, 8, 16) | tf.nn.atrous_conv2d(x, w, 2, "SAME") |
[4, 16, 64] x = normal(4, k, k, 8); w = normal(3, 3, 8, 16) | slopes(tf, lambda w: tf.nn.conv2d(x, w, 1, "SAME", dilations=2), w) | nn.conv2d:dilated_to_filter
[4, 16, 64] x = normal(4, k, k, 8); w = normal(3, 3, 8, 16) | slopes(tf, lambda x: tf.nn.conv2d(x, w, 1, "SAME", dilations=2), x) | nn.conv2d:dilated_to_input
[4, 16, 64] x = normal(4, k, k, 16); w = normal(3, 3, 8, 16) | tf.nn.conv2d_transpose(x, w, [4, 2 * k, 2 * k, 8], 2) |
[4, 16, 64] x = normal(4, k, k, 16); w = normal(3, 3, 8, 16) | tf.nn.conv_transpose(x, w, [4, 2 * k, 2 * k, 8], 2) |
[4, 16, 64] x = normal(4, k, k, 16); w = normal(3, 3, 8, 16) | tf.nn.atrous_conv2d_transpose(x, w, [4, k, k, 8], 1, "SAME") |
[4, 16, 64] x = normal(4, k, k, 32); w = normal(3, 3, 32, 1) | tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME") |
[4, 16, 64] x = normal(4, k, k, 32); w = normal(3, 3, 32, 4) | tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME") | :multiplied
[4, 16, 64] x = normal(4, k, k, 32); y = normal(4, k, k, 32) | tf.nn.depthwise_conv2d_backprop_filter(x, [3, 3, 32, 1], y, [1, 1, 1, 1], "SAME") |
[4, 16, 64] w = normal(3, 3, 32, 1); y = normal(4, k, k, 32) | tf.nn.depthwise_conv2d_backprop_input([4, k, k, 32], w, y, [1, 1, 1, 1], "SAME") |
[4, 16, 64] x = normal(4, k, k, 8); w = normal(3, 3, 8, 1); p = normal(1, 1, 8, 16) | tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], "SAME") |
[16, 256, 4096] x = normal(4, k, 8); w = normal(5, 8, 16) | tf.nn.conv1d(x, w, 1, "SAME") |
[4096, 65536, 1048576] x = normal(1, k, 1); w = normal(31, 1, 4) | tf.nn.conv1d(x, w, 1, "SAME") | :long
[16, 256, 4096] x = normal(4, k, 16); w = normal(5, 8, 16) | tf.nn.conv1d_transpose(x, w, [4, 2 * k, 8], 2) |
[4, 8, 24] x = normal(2, k, k, k, 8); w = normal(3, 3, 3, 8, 8) | tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME") |
[4, 8, 24] x = normal(2, k, k, k, 8); w = normal(3, 3, 3, 8, 8) | slopes(tf, lambda w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME"), w) | nn.conv3d:to_filter
[4, 8, 24] x = normal(2, k, k, k, 8); w = normal(3, 3, 3, 8, 8) | tf.nn.conv3d_transpose(x, w, [2, 2 * k, 2 * k, 2 * k, 8], 2) |
[4, 16, 64] x = normal(4, k, k, 8); w = normal(3, 3, 8) | tf.{}(x, w, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]) | nn.dilation2d nn.erosion2d
[2, 32, 128] x = normal(4, k, k, 16) | tf.{}(x, 2, 2, "VALID") | nn.max_pool2d nn.avg_pool2d nn.max_pool nn.avg_pool nn.max_pool_with_argmax
[2, 32, 128] x = normal(4, k, k, 16) | tf.nn.max_pool2d(x, 3, 1, "SAME") | :3x3
[2, 32, 128] x = normal(4, k, k, 16) | tf.nn.avg_pool2d(x, 3, 1, "SAME") | :3x3
[2, 32, 128] x = normal(4, k, k, 16) | slopes(tf, lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID"), x) | nn.avg_pool2d:slopes
[2, 32, 128] x = normal(4, k, k, 16) | slopes(tf, lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), x) | nn.max_pool2d:slopes
[2, 32, 128] x = normal(4, k, k, 16) | tf.nn.pool(x, [2, 2], "AVG") |
[4, 1024, 65536] x = normal(4, k, 16) | tf.{}(x, 2, 2, "VALID") | nn.max_pool1d nn.avg_pool1d
[2, 8, 32] x = normal(4, k, k, k, 16) | tf.{}(x, 2, 2, "VALID") | nn.max_pool3d nn.avg_pool3d
[2, 8, 32] x = normal(4, k, k, k, 16) | tf.{}(x, 3, 2, "SAME") | nn.max_pool3d:3x3 nn.avg_pool3d:3x3
[4, 32, 128] x = normal(4, k, k, 16) | tf.{}(x, [1., 1.44, 1.44, 1.]) | nn.fractional_max_pool nn.fractional_avg_pool ~
[2, 32, 128] x = normal(4, k, k, 16) | tf.{}(x, 2) | nn.space_to_depth nn.depth_to_space
[2, 32, 128] x = normal(4, k, k, 16) | tf.{}(x, [2, 2], [[0, 0], [0, 0]]) | space_to_batch nn.space_to_batch space_to_batch_nd batch_to_space
[4, 8, 24] x = normal(1, k, k, k, 4) | tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID") |
# pictures
x = uniform(b, h, h, 3) | tf.{}(x) | image.rgb_to_grayscale image.rgb_to_hsv image.hsv_to_rgb image.rgb_to_yiq image.rgb_to_yuv image.yiq_to_rgb image.yuv_to_rgb image.per_image_standardization
x = uniform(b, h, h, 3) | tf.{}(x) | image.flip_left_right image.flip_up_down image.rot90 image.transpose image.sobel_edges image.image_gradients image.total_variation
x = uniform(b, h, h, 3) | tf.{}(x, .3) | image.adjust_brightness image.adjust_contrast image.adjust_gamma image.adjust_hue image.adjust_saturation image.central_crop
x = pixels(b, h, h, 3) | tf.{}(x, .3) | image.adjust_brightness:uint8 image.adjust_contrast:uint8 image.adjust_saturation:uint8
x = uniform(b, h, h, 1) | tf.image.grayscale_to_rgb(x) |
x = pixels(b, h, h, 3) | tf.image.convert_image_dtype(x, tf.float32) |
x = uniform(b, h, h, 3) | tf.image.resize(x, [h // 2, h // 2]) |
x = uniform(b, h, h, 3) | tf.image.resize(x, [h + 9, h + 9], "bicubic") | :bicubic
x = uniform(b, h, h, 3) | tf.image.resize(x, [h // 2, h // 2], "nearest") | :nearest
x = uniform(b, h, h, 3) | tf.image.resize(x, [h // 2, h // 2], "area") | :area
x = uniform(b, h, h, 3) | tf.image.resize(x, [h // 2, h // 2], antialias=True) | :antialias
x = uniform(b, h, h, 3) | tf.{}(x, h - 2, h + 2) | image.resize_with_crop_or_pad image.resize_with_pad
x = uniform(b, h, h, 3) | tf.image.crop_to_bounding_box(x, 1, 1, h - 2, h - 2) |
x = uniform(b, h, h, 3) | tf.image.pad_to_bounding_box(x, 1, 1, h + 2, h + 2) |
x = uniform(b, h, h, 3); y = boxes(8); i = ints(8, high=b) | tf.image.crop_and_resize(x, y, i, [h // 2, h // 2]) |
x = uniform(b, h, h, 3); y = boxes(8 * b).reshape(b, 8, 4); z = uniform(2, 3) | tf.image.draw_bounding_boxes(x, y, z) |
x = uniform(b, h, h, 3) | tf.image.extract_patches(x, [1, 3, 3, 1], [1, 3, 3, 1], [1, 1, 1, 1], "VALID") |
x = uniform(b, h, h, 3) | tf.image.extract_patches(x, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME") | :dense
[16, 64, 256] x = uniform(2, k, k, 3); y = uniform(2, k, k, 3) | tf.image.ssim(x, y, 1.) |
[176, 192, 256] x = uniform(1, k, k, 3); y = uniform(1, k, k, 3) | tf.image.ssim_multiscale(x, y, 1.) |
x = uniform(b, h, h, 3); y = uniform(b, h, h, 3) | tf.image.psnr(x, y, 1.) |
[100, 1000, 5000] x = boxes(k); y = uniform(k) | tf.image.non_max_suppression(x, y, 50, .5) |
[100, 2000, 20000] x = boxes(k); y = uniform(k) | tf.image.non_max_suppression(x, y, 2000, .7) | :many
[100, 1000, 5000] x = boxes(k); y = uniform(k) | tf.image.non_max_suppression_with_scores(x, y, 500, 1., soft_nms_sigma=.5) | :many
[100, 1000, 5000] x = boxes(k); y = uniform(k) | tf.image.non_max_suppression_with_scores(x, y, 50, .5, soft_nms_sigma=.5) |
[10, 100, 1000] x = uniform(k, k); y = uniform(k) | tf.image.non_max_suppression_overlaps(x, y, 50, .5) |
x = uniform(b, h, h, 3) | tf.{}(x, .3) | image.random_brightness ~
x = uniform(b, h, h, 3) | tf.image.random_flip_left_right(x) | ~
x = uniform(b, h, h, 3) | tf.image.random_flip_up_down(x) | ~
x = uniform(b, h, h, 3) | tf.{}(x, .1, .9) | image.random_contrast image.random_saturation ~
x = uniform(b, h, h, 3) | tf.image.random_hue(x, .3) | ~
x = uniform(b, h, h, 3) | tf.image.random_crop(x, [b, h - 2, h - 2, 3]) | ~
x = uniform(b, h, h, 3); s = ints(2, high=99) | tf.image.stateless_random_brightness(x, .3, s) | ~
x = uniform(b, h, h, 3); s = ints(2, high=99) | tf.{}(x, .1, .9, s) | image.stateless_random_contrast image.stateless_random_saturation ~
x = uniform(b, h, h, 3); s = ints(2, high=99) | tf.image.stateless_random_hue(x, .3, s) | ~
x = uniform(b, h, h, 3); s = ints(2, high=99) | tf.{}(x, s) | image.stateless_random_flip_left_right image.stateless_random_flip_up_down ~
x = uniform(b, h, h, 3); s = ints(2, high=99) | tf.image.stateless_random_crop(x, [b, h - 2, h - 2, 3], s) | ~
s = ints(2, high=99); x = full(3, 9); y = boxes(1)[None] | tf.image.stateless_sample_distorted_bounding_box(x, y, s) | ~
x = full(3, 9); y = boxes(1)[None] | tf.image.sample_distorted_bounding_box(x, y) | ~
[8, 148, 1000] x = pixels(k, k, 3) | tf.{}(x) | io.encode_jpeg io.encode_png ~
[8, 148, 1000] x = tf.io.encode_jpeg(pixels(k, k, 3)) | tf.{}(x) | io.decode_jpeg io.decode_image io.extract_jpeg_shape io.is_jpeg
[8, 148, 1000] x = tf.io.encode_jpeg(pixels(k, k, 3)) | tf.io.decode_and_crop_jpeg(x, [1, 1, k - 2, k - 2]) |
[8, 148, 1000] x = tf.io.encode_png(pixels(k, k, 3)) | tf.io.decode_png(x) |
[8, 148, 1000] x = bmp(k) | tf.io.decode_bmp(x) |
[8, 148, 1000] x = pixels(k, k, 3) | tf.image.random_jpeg_quality(x, 40, 60) | ~
[8, 148, 1000] x = pixels(k, k, 3); s = ints(2, high=99) | tf.image.stateless_random_jpeg_quality(x, 40, 60, s) | ~
[8, 148, 1000] x = pixels(k, k, 3) | tf.image.adjust_jpeg_quality(x, 50) | ~
# signals
[100, 8192, 1048576] x = complexes(k) | tf.{}(x) | signal.fft signal.ifft
[100, 8192, 1048576] x = normal(k) | tf.signal.rfft(x) |
[101, 8191, 1000003] x = complexes(k) | tf.signal.fft(x) | :prime
[4, 64, 1024] x = complexes(k, 1024) | tf.signal.fft(x) | :lines
[10, 128, 1024] x = complexes(k, k) | tf.signal.fft2d(x) |
[1000, 16000, 960000] x = normal(k) | tf.signal.stft(x, 400, 160) |
# drawn
x = whole(n) | tf.{}([x]) | random.normal random.uniform random.truncated_normal ~
x = whole(n) | tf.random.uniform([x], 0, 1000, tf.int32) | :int ~
x = whole(n // 8); y = number(2.) | tf.random.gamma([x], y) | ~
x = whole(n // 8); y = number(2.) | tf.random.poisson([x], y) | ~
x = whole(n); s = ints(2, high=99) | tf.{}([x], s) | random.stateless_normal random.stateless_uniform random.stateless_truncated_normal ~
x = whole(n // 8); s = ints(2, high=99) | tf.random.stateless_gamma([x], s, 2.) | ~
x = whole(n // 8); s = ints(2, high=99) | tf.random.stateless_poisson([x], s, 2.) | ~
x = whole(n // 8); s = ints(2, high=99) | tf.random.stateless_binomial([x], s, 9., .3) | ~
x = normal(r, 10) | tf.random.categorical(x, c) | ~
x = normal(r, 10); s = ints(2, high=99) | tf.random.stateless_categorical(x, c, s) | ~
x = normal(r, c) | tf.random.shuffle(x) | ~
s = ints(2, high=99) | tf.random.split(s, n) | ~
s = ints(2, high=99); x = whole(n) | tf.random.fold_in(s, x) | ~
[10, 1000, 50000] x = ints(8, 1, high=k).astype('int64') | tf.{}(x, 1, min(k, 100), True, k) | random.uniform_candidate_sampler random.log_uniform_candidate_sampler nn.learned_unigram_candidate_sampler ~
[10, 1000, 50000] x = ints(8, 1, high=k).astype('int64') | tf.nn.fixed_unigram_candidate_sampler(x, 1, min(k, 100), True, k, unigrams=[1.] * k) | ~
[10, 1000, 50000] x = ints(8, 1, high=k).astype('int64') | tf.nn.all_candidate_sampler(x, 1, k, True) | ~
[10, 1000, 50000] x = ints(8, 1, high=k).astype('int64'); y = order(k).astype('int64') | tf.nn.compute_accidental_hits(x, y, 1) |
[4, 64, 1024] x = ints(k, 9, high=3); i = full(k, 9) | tf.nn.collapse_repeated(x, i) |
# text
[100, 6000, 200000] x = words(k) | tf.{}(x) | strings.length strings.lower strings.upper strings.strip strings.bytes_split strings.split
[100, 6000, 200000] x = words(k) | tf.{}(x, "UTF-8") | strings.unicode_decode strings.unicode_split strings.unicode_decode_with_offsets strings.unicode_split_with_offsets
[100, 6000, 200000] x = words(k) | tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE") |
[100, 6000, 200000] x = ints(k, 5, high=99) + 32 | tf.strings.unicode_encode(x, "UTF-8") |
[100, 6000, 200000] x = ints(k, high=999) + 32 | tf.strings.unicode_script(x) |
[100, 6000, 200000] x = words(k); y = words(k) | tf.strings.join([x, y], "-") |
[100, 6000, 200000] x = words(k) | tf.strings.reduce_join(x, separator=" ") |
[100, 6000, 200000] x = words(k); i = ints(k, high=9) | tf.strings.unsorted_segment_join(x, i, 9, " ") |
[100, 6000, 200000] x = words(k) | tf.strings.ngrams(x, 2) |
[100, 6000, 200000] x = words(k) | tf.strings.substr(x, 0, 3) |
[100, 6000, 200000] x = words(k) | tf.strings.regex_replace(x, "[aeiou]+", "_") |
[100, 6000, 200000] x = words(k) | tf.strings.regex_full_match(x, ".*a.*") |
[100, 6000, 200000] x = words(k) | tf.{}(x, 1000) | strings.to_hash_bucket strings.to_hash_bucket_fast
[100, 6000, 200000] x = words(k) | tf.strings.to_hash_bucket_strong(x, 1000, [1, 2]) |
[100, 6000, 200000] x = digits(k) | tf.strings.to_number(x) |
[100, 6000, 200000] x = ints(k, high=9999) | tf.strings.as_string(x) |
[100, 6000, 200000] x = normal(k) | tf.strings.as_string(x) | :float
[100, 6000, 200000] x = ints(k, high=9999) | tf.strings.format("{}", x) |
[100, 6000, 200000] x = words(k) | tf.{}(x) | io.encode_base64
[100, 6000, 200000] x = words(k) | tf.io.decode_base64(tf.io.encode_base64(x)) |
[100, 6000, 200000] x = normal(k, 4).tobytes() | tf.io.decode_raw(x, tf.float32) |
[100, 6000, 200000] x = normal(k) | tf.io.serialize_tensor(x) | ~
[100, 6000, 200000] x = normal(k) | tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.float32) |
[100, 6000, 200000] x = digits(k) + b",7,a" | tf.io.decode_csv(x, [0., 0, ""]) |
[10, 1000, 20000] x = examples(k) | tf.io.parse_example(x, dict(a=tf.io.FixedLenFeature([4], tf.float32))) |
[10, 1000, 20000] x = tf.sparse.from_dense(ints(k, 6, high=5)); y = tf.sparse.from_dense(ints(k, 6, high=5)) | tf.edit_distance(tf.sparse.reset_shape(x, [k, 6]), tf.sparse.reset_shape(y, [k, 6]), False) |
[100, 10000, 1000000] x = between(-1., 1., k, 2) | tf.audio.encode_wav(x, 8000) | ~
[100, 10000, 1000000] x = tf.audio.encode_wav(between(-1., 1., k, 2), 8000) | tf.audio.decode_wav(x) |
[100, 10000, 1000000] x = packed(k) | tf.io.decode_compressed(x, "ZLIB") |
[1, 1, 1] x = examples(1)[0] | tf.io.parse_single_example(x, dict(a=tf.io.FixedLenFeature([4], tf.float32))) |
# sparse, ragged and sets
s = tf.sparse.from_dense(thin(r, c)) | tf.{}(s) | sparse.to_dense sparse.reorder sparse.transpose sparse.reduce_sum sparse.reduce_max sparse.softmax
x = thin(r, c) | tf.sparse.from_dense(x) |
s = tf.sparse.from_dense(thin(r, c)); y = normal(c, 16) | tf.sparse.sparse_dense_matmul(s, y) |
s = tf.sparse.from_dense(thin(r, c)); t = tf.sparse.from_dense(thin(r, c)) | tf.{}(s, t) | sparse.add sparse.maximum sparse.minimum
s = tf.sparse.from_dense(thin(r, c)); t = tf.sparse.from_dense(thin(r, c)) | tf.sparse.concat(0, [s, t]) |
s = tf.sparse.from_dense(thin(r, c)) | tf.sparse.reshape(s, [c, r]) |
s = tf.sparse.from_dense(thin(r, c)) | tf.sparse.slice(s, [0, 0], [r // 2, c // 2]) |
s = tf.sparse.from_dense(thin(r, c)) | tf.sparse.split(s, 2, 1) |
s = tf.sparse.from_dense(thin(r, c)) | tf.sparse.fill_empty_rows(s, 1.) |
s = tf.sparse.from_dense(thin(r, c)) | tf.sparse.expand_dims(s, 0) |
s = tf.sparse.from_dense(thin(r, c)) | tf.sparse.reset_shape(s, [r + 1, c]) |
s = tf.sparse.from_dense(thin(r, c)) | tf.sparse.retain(s, s.values > 0) |
s = tf.sparse.from_dense(ints(r, 4, high=r)) | tf.sparse.to_indicator(s, r) |
[10, 256, 2048] s = tf.sparse.from_dense(ints(k, 8, high=5)) | tf.sparse.bincount(s) |
s = tf.sparse.from_dense(ints(r, 4, high=r)); x = normal(r, c) | tf.{}(x, s, None, combiner="sum") | nn.embedding_lookup_sparse
s = tf.sparse.from_dense(ints(r, 4, high=r)); x = normal(r, c) | tf.nn.safe_embedding_lookup_sparse(x, s, combiner="sum") |
[10, 1000, 50000] x = tf.sparse.from_dense(np.sort(ints(k, 6, high=50))); y = tf.sparse.from_dense(np.sort(ints(k, 6, high=50))) | tf.sets.size(x) |
[10, 1000, 50000] x = ints(k, 6, high=50); y = ints(k, 6, high=50) | tf.{}(x, y) | sets.intersection sets.union sets.difference
x = ints(r, high=9) | tf.ragged.range(x) |
x = sorted(ints(n, high=r)) | tf.ragged.segment_ids_to_row_splits(x) |
x = splits(r) | tf.ragged.row_splits_to_segment_ids(x) |
x = normal(r, c); y = bools(r, c) | tf.ragged.boolean_mask(x, y) |
x = normal(r, c); y = normal(r, c) | tf.ragged.stack([x, y]) |
x = normal(n); i = ints(n, high=4) | tf.ragged.stack_dynamic_partitions(x, i, 4) |
# losses by sampling
[100, 1000, 10000] w = normal(k, 64); o = normal(k); y = ints(32, 1, high=k).astype('int64'); x = normal(32, 64) | tf.{}(w, o, y, x, 20, k) | nn.sampled_softmax_loss nn.nce_loss ~
"""

# Numpy's word for the same, where it is another one than the operation's last.
NUMPY = {"math.acos": "arccos", "math.asin": "arcsin", "math.atan": "arctan", "math.acosh": "arccosh", "math.asinh": "arcsinh", "math.atanh": "arctanh",
         "math.atan2": "arctan2", "math.pow": "power", "math.is_finite": "isfinite", "math.is_nan": "isnan", "math.is_inf": "isinf",
         "math.reduce_sum": "sum", "math.reduce_mean": "mean", "math.reduce_max": "max", "math.reduce_min": "min", "math.reduce_prod": "prod",
         "math.reduce_all": "all", "math.reduce_any": "any", "math.reduce_std": "std", "math.reduce_variance": "var",
         "math.reduce_sum:rows": "sum", "math.reduce_max:rows": "max", "math.reduce_sum:columns": "sum", "math.reduce_mean:columns": "mean",
         "linalg.matmul:batch": "matmul", "linalg.matmul:double": "matmul", "math.floormod": "mod", "math.floordiv": "floor_divide"}
SAME = set("""abs ceil cos cosh exp expm1 floor negative rint sign sin sinh square tan tanh log log1p sqrt reciprocal add subtract multiply divide maximum
minimum equal not_equal greater greater_equal less less_equal nextafter logical_and logical_or logical_xor logical_not bitwise_and bitwise_or
bitwise_xor left_shift right_shift matmul trace argmax argmin cumsum cumprod sort argsort where bincount count_nonzero""".split())


def slopes(tf, function, x):
    """The gradient of the sum of what a function makes of x."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = function(x)
    return tape.gradient(found, x)


class Makers:
    """What inputs are made by, from a seed."""

    def __init__(self, seed):
        self.drawn = np.random.Generator(np.random.PCG64(seed))

    def doubles(self, *shape):
        return self.drawn.standard_normal(shape)

    def normal(self, *shape):
        return self.drawn.standard_normal(shape, "float32")

    def uniform(self, *shape):
        return self.drawn.random(shape, "float32")

    def between(self, low, high, *shape):
        return np.float32(low) + np.float32(high - low) * self.uniform(*shape)

    def complexes(self, *shape):
        return (self.doubles(*shape) + 1j * self.doubles(*shape)).astype("complex64")

    def ints(self, *shape, high):
        return self.drawn.integers(0, high, shape, "int32")

    def bools(self, *shape):
        return self.ints(*shape, high=2) > 0

    def pixels(self, *shape):
        return self.ints(*shape, high=256).astype("uint8")

    def order(self, count):
        return self.drawn.permutation(count).astype("int32")

    def shares(self, *shape):
        found = self.uniform(*shape)
        return found / found.sum(-1, keepdims=True)

    def thin(self, *shape):
        return self.normal(*shape) * (self.uniform(*shape) < .05)

    def square(self, *shape):
        """A matrix, or many of them, far from singular."""
        return self.normal(*shape, shape[-1]) + 3 * np.sqrt(shape[-1]).astype("float32") * np.eye(shape[-1], dtype="float32")

    def positive(self, side):
        found = self.normal(side, side)
        return found @ found.T / side + np.eye(side, dtype="float32")

    def boxes(self, count):
        corner, size = self.between(0, .7, count, 2), self.between(.05, .3, count, 2)
        return np.concatenate([corner, corner + size], 1)

    def words(self, count):
        return np.array([b" ".join(b"lorem ipsum dolor sit amet consectetur".split()[i:i + 2]) + b" %d" % j
                         for i, j in zip(self.ints(count, high=5), self.ints(count, high=999))], object)

    def digits(self, count):
        return np.array([b"%.3f" % one for one in self.normal(count)], object)

    def examples(self, count):
        """Serialized Examples with four floats, a."""
        def field(number, data):
            return b"%c%c%s" % (number << 3 | 2, len(data), data)
        return np.array([field(1, field(1, field(1, b"a") + field(2, field(2, field(1, row.tobytes()))))) for row in self.normal(count, 4)], object)

    def bmp(self, side):
        """A picture of three bytes a pixel; rows are filled to four bytes."""
        rows = b"".join(row.tobytes().ljust((3 * side + 3) // 4 * 4, b"\0") for row in self.pixels(side, side, 3))
        return b"BM" + struct.pack("<IIIIiiHHIIiiII", 54 + len(rows), 0, 54, 40, side, side, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows

    def packed(self, count):
        return zlib.compress(self.ints(count, high=9).tobytes())

    def splits(self, count):
        return np.concatenate([[0], np.cumsum(self.ints(count, high=9))]).astype("int64")

    def __getitem__(self, name):
        """The words of an input's expression."""
        made = {"np": np, "sorted": np.sort, "number": np.float32, "whole": np.int32, "full": lambda count, value: np.full(count, value, "int32")}
        return made[name] if name in made else getattr(self, name)


class Case:
    """A line of the table for one operation."""

    def __init__(self, name, operation, call, inputs, own, comparable):
        self.name, self.operation, self.call, self.made, self.own, self.comparable = name, operation, call, inputs, own, comparable
        self.family = operation.split(".")[0] if "." in operation else "array"
        short = operation.split(".")[-1]
        self.numpy = NUMPY.get(name) or (short if name == operation and short in SAME and not re.match("sparse|nn", operation) else None)

    def words(self, size):
        at = SIZES.index(size)
        return {**{word: values[at] for word, values in WORDS.items()}, **({"k": self.own[at]} if self.own else {})}

    def inputs(self, tf, size):
        """Tensors of the case, the same on all sides."""
        makers, words = Makers(zlib.crc32(self.name.encode()) & 0xffff), {**self.words(size), "tf": tf}

        class Names(dict):
            def __missing__(self, name):
                return makers[name]
        made = [eval(text, {}, Names(words)) for _, text in self.made]
        return [tf.constant(one) if isinstance(one, (np.ndarray, np.generic, bytes)) else one for one in made]

    def function(self, tf, size, numpy=False):
        """A function of the inputs."""
        names = [name for name, _ in self.made]
        call = self.call
        if numpy:
            call = re.sub(r"tf\.[\w.]+\(", "np.%s(" % self.numpy, call, count=1)
        return eval("lambda %s: %s" % (", ".join(names), call), {**self.words(size), "tf": tf, "np": np, "slopes": slopes})


def line_cases(line):
    """The cases of one line."""
    own = re.match(r"\[([\d, ]+)\] ", line)
    inputs, call, names = (part.strip() for part in line[own.end() if own else 0:].split(" |"))
    made = [one.split(" = ", 1) for one in inputs.split("; ")]
    first = re.search(r"tf\.([\w.]+)\(", call)
    words = names.split()
    comparable = "~" not in words
    words = [word for word in words if word != "~"] or [""]
    for word in words:
        many = "{}(" in call
        operation = word.split(":")[0] if many else first[1] if first else ""
        name = word if many or word and not word.startswith(":") else operation + word
        yield Case(name, operation, call.replace("{}(", operation + "(", 1) if many else call, made,
                   [int(one) for one in own[1].split(",")] if own else None, comparable)


@functools.cache
def table():
    """All cases by name."""
    found = [case for line in TABLE.strip().split("\n") if not line.startswith("#") for case in line_cases(line)]
    twice = {case.name for case in found if [one.name for one in found].count(case.name) > 1}
    if twice:
        raise ValueError("two cases are called %s: give one of them a word behind a colon" % ", ".join(sorted(twice)))
    return {case.name: case for case in found}
