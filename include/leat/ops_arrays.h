/* Tensor operations on slices, segments, diagonals and lines; see ops.h for what all builders
 * share.
 */
#ifndef LEAT_OPS_ARRAYS_H
#define LEAT_OPS_ARRAYS_H

#include <leat/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scatters: rows of `indices` (int32 or int64) name slices by their leading dimensions. An
 * index outside fails the run with INVALID_ARGUMENT ---- */

/* Zeros of a shape of `rank` dimensions to which the slices of `updates` are added
 * (tf.scatter_nd). */
LEAT_API leat_value leat_op_scatter_nd(leat_value indices, leat_value updates, const int64_t *shape,
                                       int rank);
/* `tensor` with `updates`, of its dtype, in place of slices (tf.tensor_scatter_nd_update); added to
 * them (_add); subtracted from them (_sub); their minima and maxima with them (_min, _max). */
LEAT_API leat_value leat_op_tensor_scatter_nd_update(leat_value tensor, leat_value indices,
                                                     leat_value updates);
LEAT_API leat_value leat_op_tensor_scatter_nd_add(leat_value tensor, leat_value indices,
                                                  leat_value updates);
LEAT_API leat_value leat_op_tensor_scatter_nd_sub(leat_value tensor, leat_value indices,
                                                  leat_value updates);
LEAT_API leat_value leat_op_tensor_scatter_nd_min(leat_value tensor, leat_value indices,
                                                  leat_value updates);
LEAT_API leat_value leat_op_tensor_scatter_nd_max(leat_value tensor, leat_value indices,
                                                  leat_value updates);
/* Slices put at numbered places of one tensor: num_values / 2 lists of int32 numbers, and then as
 * many tensors, whose first dimensions are those of their numbers (tf.dynamic_stitch). */
LEAT_API leat_value leat_op_dynamic_stitch(const leat_value *indices_and_data, int num_values);

/* ---- segments: `segment_ids` (int32 or int64) gives each slice of the first dimensions a number
 * ---- */

/* The sums, means, products, minima and maxima of the slices with one number; the numbers are a
 * sorted vector, and the results are as many as the last says. Numbers that have no slices give 0,
 * or 1 for products (tf.math.segment_sum, segment_mean, segment_prod, segment_min,
 * segment_max). */
LEAT_API leat_value leat_op_segment_sum(leat_value data, leat_value segment_ids);
LEAT_API leat_value leat_op_segment_mean(leat_value data, leat_value segment_ids);
LEAT_API leat_value leat_op_segment_prod(leat_value data, leat_value segment_ids);
LEAT_API leat_value leat_op_segment_min(leat_value data, leat_value segment_ids);
LEAT_API leat_value leat_op_segment_max(leat_value data, leat_value segment_ids);
/* The same of numbers in any order and shape, for `num_segments` results. A negative number leaves
 * its slice out; numbers that have no slices give 0, 1, the highest or the lowest number
 * (tf.math.unsorted_segment_sum, unsorted_segment_prod, unsorted_segment_min,
 * unsorted_segment_max). */
LEAT_API leat_value leat_op_unsorted_segment_sum(leat_value data, leat_value segment_ids,
                                                 int64_t num_segments);
LEAT_API leat_value leat_op_unsorted_segment_prod(leat_value data, leat_value segment_ids,
                                                  int64_t num_segments);
LEAT_API leat_value leat_op_unsorted_segment_min(leat_value data, leat_value segment_ids,
                                                 int64_t num_segments);
LEAT_API leat_value leat_op_unsorted_segment_max(leat_value data, leat_value segment_ids,
                                                 int64_t num_segments);

/* ---- diagonals of the matrices of the last two dimensions; k counts from the main one, upwards
 * ---- */

/* Zeros outside a band of diagonals: that many below the main one and above it, negative: all
 * (tf.linalg.band_part). */
LEAT_API leat_value leat_op_band_part(leat_value input, int64_t num_lower, int64_t num_upper);
/* Matrices of zeros with `diagonal` on diagonal k (tf.linalg.diag). */
LEAT_API leat_value leat_op_diag(leat_value diagonal, int64_t k);
/* Diagonal k (tf.linalg.diag_part). */
LEAT_API leat_value leat_op_diag_part(leat_value input, int64_t k);
/* `input` with `diagonal` on diagonal k (tf.linalg.set_diag). */
LEAT_API leat_value leat_op_set_diag(leat_value input, leat_value diagonal, int64_t k);

/* ---- linear algebra on the matrices of the last two dimensions, of float32 or float64 ---- */

/* The inverses of square matrices, or of their transposes; InvalidArgument where one is singular
 * (tf.linalg.inv). */
LEAT_API leat_value leat_op_matrix_inverse(leat_value input, bool adjoint);
/* The determinants of square matrices (tf.linalg.det). */
LEAT_API leat_value leat_op_matrix_determinant(leat_value input);
/* The x of matrix x = rhs, or of the transposes; both have as many dimensions (tf.linalg.solve). */
LEAT_API leat_value leat_op_matrix_solve(leat_value matrix, leat_value rhs, bool adjoint);
/* The same with lower or upper triangles; dimensions before the matrices broadcast
 * (tf.linalg.triangular_solve). */
LEAT_API leat_value leat_op_matrix_triangular_solve(leat_value matrix, leat_value rhs, bool lower,
                                                    bool adjoint);

/* ---- lines ---- */

/* The places (int32 or int64 by `out_type`) where values would stand in sorted lines of the last
 * dimension, before those that are equal or behind them (tf.searchsorted). */
LEAT_API leat_value leat_op_searchsorted(leat_value sorted_sequence, leat_value values, bool right,
                                         leat_dtype out_type);
/* How many values lie in each of `nbins` equal parts of the range, a vector of two numbers; values
 * outside count for the ends (tf.histogram_fixed_width). */
LEAT_API leat_value leat_op_histogram_fixed_width(leat_value values, leat_value value_range,
                                                  int64_t nbins, leat_dtype dtype);
/* The running logarithm of a sum of exponentials along `axis` (tf.math.cumulative_logsumexp). */
LEAT_API leat_value leat_op_cumulative_logsumexp(leat_value x, int64_t axis, bool exclusive,
                                                 bool reverse);
/* Is each line's target, an int32 or int64, among its k largest float32 predictions
 * (tf.math.in_top_k)? */
LEAT_API leat_value leat_op_in_top_k(leat_value targets, leat_value predictions, int64_t k);
/* The first seq_lengths[b] values along `seq_axis` of each slice b along `batch_axis` in reverse
 * order (tf.reverse_sequence). */
LEAT_API leat_value leat_op_reverse_sequence(leat_value input, leat_value seq_lengths,
                                             int64_t seq_axis, int64_t batch_axis);
/* The next float after x1 in the direction of x2, elementwise (tf.math.nextafter). */
LEAT_API leat_value leat_op_nextafter(leat_value x1, leat_value x2);

/* ---- the rest ---- */

/* Sums of products of at most 8 tensors, by a text that names dimensions: "ij,jk->ik"
 * (tf.einsum). */
LEAT_API leat_value leat_op_einsum(const char *equation, const leat_value *inputs, int num_inputs);
/* Inverse hyperbolic functions (tf.math.acosh, asinh, atanh). */
LEAT_API leat_value leat_op_acosh(leat_value x);
LEAT_API leat_value leat_op_asinh(leat_value x);
LEAT_API leat_value leat_op_atanh(leat_value x);
/* The logarithm of |gamma(x)|, its derivative, the inverse of erf and that of
 * the normal distribution (tf.math.lgamma, digamma, erfinv, ndtri). */
LEAT_API leat_value leat_op_lgamma(leat_value x);
LEAT_API leat_value leat_op_digamma(leat_value x);
/* Derivative a of digamma, a an integer of at least 0, and the sum of (q + k)^-x over k = 0, 1,
 * ..., elementwise, of float32 or float64; gradients go to the second input (tf.math.polygamma,
 * zeta). */
LEAT_API leat_value leat_op_polygamma(leat_value a, leat_value x);
LEAT_API leat_value leat_op_zeta(leat_value x, leat_value q);
LEAT_API leat_value leat_op_erfinv(leat_value x);
LEAT_API leat_value leat_op_ndtri(leat_value x);
/* x / y, x * log(y) and x * log(1 + y), and 0 where x is 0 (tf.math.xdivy, xlogy, xlog1py). */
LEAT_API leat_value leat_op_xdivy(leat_value x, leat_value y);
LEAT_API leat_value leat_op_xlogy(leat_value x, leat_value y);
LEAT_API leat_value leat_op_xlog1py(leat_value x, leat_value y);
/* The means of windows of pictures NHWC; padding does not count (tf.nn.avg_pool2d). */
LEAT_API leat_value leat_op_avg_pool2d(leat_value input, const leat_op_pool2d_options *options);

#ifdef __cplusplus
}
#endif

#endif
