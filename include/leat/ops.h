/* Tensor operations: one builder per operation, named after TensorFlow's.
 *
 * Every builder adds a node to the graph of its first value and returns the node's output; in an
 * eager graph the output is computed at once. A failed value passes through; the graph keeps the
 * first error with the operation's name in its text, and leat_graph_finish reports it. Builders
 * belong to the thread of their graph. Arrays and options are borrowed for the call.
 * leat_graph_call reaches the same operations by name, with their attributes as JSON.
 *
 * Shapes are numpy's: row-major, negative axes count from the end, operands broadcast where a
 * comment says so. Dtypes never convert by themselves. */
#ifndef LEAT_OPS_H
#define LEAT_OPS_H

#include <leat/graph.h>
#include <leat/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arithmetic, elementwise ---- */

/* x as another number type or bool (tf.cast): floats to integers truncate, narrower integers keep
 * the low bits, numbers become true where they are not 0. */
LEAT_API leat_value leat_op_cast(leat_value x, leat_dtype dtype);
/* The same, clipped to what the dtype, a number, holds (tf.saturate_cast). */
LEAT_API leat_value leat_op_saturate_cast(leat_value value, leat_dtype dtype);

/* x + y, x - y, x * y of equal number types, broadcast; integers wrap (tf.math.add, subtract,
 * multiply). */
LEAT_API leat_value leat_op_add(leat_value x, leat_value y);
LEAT_API leat_value leat_op_subtract(leat_value x, leat_value y);
LEAT_API leat_value leat_op_multiply(leat_value x, leat_value y);

/* x / y of floats, broadcast, by IEEE 754 (tf.math.divide). */
LEAT_API leat_value leat_op_divide(leat_value x, leat_value y);

/* The quotient rounded down and its remainder, which has the sign of y; broadcast. Integers divided
 * by zero fail the run with INVALID_ARGUMENT (tf.math.floordiv, floormod: Python's // and %). */
LEAT_API leat_value leat_op_floordiv(leat_value x, leat_value y);
LEAT_API leat_value leat_op_floormod(leat_value x, leat_value y);

/* The larger and the smaller of two, broadcast; a NaN wins (tf.math.maximum, minimum). */
LEAT_API leat_value leat_op_maximum(leat_value x, leat_value y);
LEAT_API leat_value leat_op_minimum(leat_value x, leat_value y);

/* x to the power of y, broadcast: floats, and signed integers that wrap, of which a negative power
 * fails the run with INVALID_ARGUMENT (tf.math.pow). */
LEAT_API leat_value leat_op_pow(leat_value x, leat_value y);

/* (x - y) squared; x / y and x * y of floats that are 0 where y is 0; all broadcast
 * (tf.math.squared_difference, divide_no_nan, multiply_no_nan). */
LEAT_API leat_value leat_op_squared_difference(leat_value x, leat_value y);
LEAT_API leat_value leat_op_divide_no_nan(leat_value x, leat_value y);
LEAT_API leat_value leat_op_multiply_no_nan(leat_value x, leat_value y);

/* The quotient of integers rounded towards zero, and the remainder that has the sign of x;
 * broadcast. Integers divided by zero fail the run with INVALID_ARGUMENT (tf.truncatediv,
 * tf.truncatemod). */
LEAT_API leat_value leat_op_truncatediv(leat_value x, leat_value y);
LEAT_API leat_value leat_op_truncatemod(leat_value x, leat_value y);

/* The angle of the point (x, y) from -pi to pi, broadcast (tf.math.atan2). */
LEAT_API leat_value leat_op_atan2(leat_value y, leat_value x);

/* Bits of integers, broadcast; shifts of less than 0 or more than the dtype's width are the nearest
 * inside (tf.bitwise.bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, invert). */
LEAT_API leat_value leat_op_bitwise_and(leat_value x, leat_value y);
LEAT_API leat_value leat_op_bitwise_or(leat_value x, leat_value y);
LEAT_API leat_value leat_op_bitwise_xor(leat_value x, leat_value y);
LEAT_API leat_value leat_op_left_shift(leat_value x, leat_value y);
LEAT_API leat_value leat_op_right_shift(leat_value x, leat_value y);
LEAT_API leat_value leat_op_invert(leat_value x);

/* t, but not below one bound nor above the other, broadcast (tf.clip_by_value). */
LEAT_API leat_value leat_op_clip_by_value(leat_value t, leat_value clip_value_min,
                                          leat_value clip_value_max);

/* The sum of tensors of one dtype and shape (tf.math.add_n). */
LEAT_API leat_value leat_op_add_n(const leat_value *values, int num_values);

/* -x, |x|, the sign of x as -1, 0 or 1, and x * x (tf.math.negative, abs, sign, square). */
LEAT_API leat_value leat_op_negate(leat_value x);
LEAT_API leat_value leat_op_abs(leat_value x);
LEAT_API leat_value leat_op_sign(leat_value x);
LEAT_API leat_value leat_op_square(leat_value x);

/* Functions of floats: square root, one over it, exponential, natural logarithm, hyperbolic
 * tangent, logistic function (tf.math.sqrt, rsqrt, exp, log, tanh, sigmoid). */
LEAT_API leat_value leat_op_sqrt(leat_value x);
LEAT_API leat_value leat_op_rsqrt(leat_value x);
LEAT_API leat_value leat_op_exp(leat_value x);
LEAT_API leat_value leat_op_log(leat_value x);
LEAT_API leat_value leat_op_tanh(leat_value x);
LEAT_API leat_value leat_op_sigmoid(leat_value x);

/* Angles are in radians (tf.math.sin, cos, tan, asin, acos, atan, sinh, cosh). */
LEAT_API leat_value leat_op_sin(leat_value x);
LEAT_API leat_value leat_op_cos(leat_value x);
LEAT_API leat_value leat_op_tan(leat_value x);
LEAT_API leat_value leat_op_asin(leat_value x);
LEAT_API leat_value leat_op_acos(leat_value x);
LEAT_API leat_value leat_op_atan(leat_value x);
LEAT_API leat_value leat_op_sinh(leat_value x);
LEAT_API leat_value leat_op_cosh(leat_value x);

/* The error function and one minus it, log(1 + x), exp(x) - 1, 1 / x (tf.math.erf, erfc, log1p,
 * expm1, reciprocal). */
LEAT_API leat_value leat_op_erf(leat_value x);
LEAT_API leat_value leat_op_erfc(leat_value x);
LEAT_API leat_value leat_op_log1p(leat_value x);
LEAT_API leat_value leat_op_expm1(leat_value x);
LEAT_API leat_value leat_op_reciprocal(leat_value x);

/* The integer below, above, and next to x, the even one of two; round takes integers too
 * (tf.math.floor, ceil, rint, round). */
LEAT_API leat_value leat_op_floor(leat_value x);
LEAT_API leat_value leat_op_ceil(leat_value x);
LEAT_API leat_value leat_op_rint(leat_value x);
LEAT_API leat_value leat_op_round(leat_value x);

/* Is x NaN, infinite, neither; as bool (tf.math.is_nan, is_inf, is_finite). */
LEAT_API leat_value leat_op_is_nan(leat_value x);
LEAT_API leat_value leat_op_is_inf(leat_value x);
LEAT_API leat_value leat_op_is_finite(leat_value x);

/* log(1 + exp(x)); x, or exp(x) - 1 where it is negative; x clipped to [0, 6] (tf.math.softplus,
 * tf.nn.elu, tf.nn.relu6). */
LEAT_API leat_value leat_op_softplus(leat_value features);
LEAT_API leat_value leat_op_elu(leat_value features);
LEAT_API leat_value leat_op_relu6(leat_value features);

/* x where it is positive, else 0 (tf.nn.relu), and its gradient: `gradient` where `features` is
 * positive, else 0 (tf.raw_ops.ReluGrad). */
LEAT_API leat_value leat_op_relu(leat_value x);
LEAT_API leat_value leat_op_relu_grad(leat_value gradient, leat_value features);

/* ---- comparisons and choices, elementwise ---- */

/* Comparisons of equal dtypes, broadcast, giving bool; equal and not_equal also take bool and
 * string (tf.math.equal, not_equal, less, less_equal, greater, greater_equal). */
LEAT_API leat_value leat_op_equal(leat_value x, leat_value y);
LEAT_API leat_value leat_op_not_equal(leat_value x, leat_value y);
LEAT_API leat_value leat_op_less(leat_value x, leat_value y);
LEAT_API leat_value leat_op_less_equal(leat_value x, leat_value y);
LEAT_API leat_value leat_op_greater(leat_value x, leat_value y);
LEAT_API leat_value leat_op_greater_equal(leat_value x, leat_value y);

/* Of booleans, broadcast (tf.math.logical_and, logical_or, logical_xor, logical_not). */
LEAT_API leat_value leat_op_logical_xor(leat_value x, leat_value y);
LEAT_API leat_value leat_op_logical_and(leat_value x, leat_value y);
LEAT_API leat_value leat_op_logical_or(leat_value x, leat_value y);
LEAT_API leat_value leat_op_logical_not(leat_value x);

/* x where `condition` (bool) holds, else y; all three broadcast (tf.where). */
LEAT_API leat_value leat_op_select(leat_value condition, leat_value x, leat_value y);

/* ---- shapes ---- */

/* The same values under another shape; one dimension may be -1 and is computed (tf.reshape). */
LEAT_API leat_value leat_op_reshape(leat_value x, const int64_t *shape, int rank);

/* The same values under the shape of `like`, as many values (for gradients). */
LEAT_API leat_value leat_op_reshape_like(leat_value x, leat_value like);

/* A dimension of 1 in front of place `axis` (tf.expand_dims), and dimensions of 1 taken away: those
 * named, or all (axes NULL) (tf.squeeze). */
LEAT_API leat_value leat_op_expand_dims(leat_value x, int64_t axis);
LEAT_API leat_value leat_op_squeeze(leat_value x, const int64_t *axes, int num_axes);

/* x unchanged with a shape that inference may rely on; a run where it is another one fails with
 * INVALID_ARGUMENT (tf.ensure_shape). */
LEAT_API leat_value leat_op_ensure_shape(leat_value x, leat_shape shape);

/* Dimension i of the result is dimension perm[i] of x; perm NULL: reversed (tf.transpose). */
LEAT_API leat_value leat_op_transpose(leat_value x, const int64_t *perm, int num_perm);

/* Tensors joined along an existing axis (tf.concat), or along a new one (tf.stack). All dtypes. */
LEAT_API leat_value leat_op_concat(const leat_value *values, int num_values, int64_t axis);
LEAT_API leat_value leat_op_stack(const leat_value *values, int num_values, int64_t axis);

/* Zeros before and behind each dimension; `paddings` has 2 * rank numbers of values (tf.pad).
 */
LEAT_API leat_value leat_op_pad(leat_value tensor, const int64_t *paddings, int rank);

/* The part of x that starts at `begin` and has `size` values along each dimension, -1 for all that
 * follow; `rank` entries each (tf.slice). */
LEAT_API leat_value leat_op_slice(leat_value x, const int64_t *begin, const int64_t *size,
                                  int rank);

/* Bit i of a mask is about entry i: no begin, no end, all dimensions that no other entry names, a
 * new dimension of 1, one index whose dimension goes. */
typedef struct leat_op_strided_slice_options {
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
} leat_op_strided_slice_options;

/* The part of `input` that numpy's x[begin:end:stride, index, None, ...] names: `count` entries
 * each, strides NULL for steps of 1, `masks` NULL for none. Indices are clamped, but for a single
 * one, which fails the run with INVALID_ARGUMENT where it is outside (tf.strided_slice). */
LEAT_API leat_value leat_op_strided_slice(leat_value input, const int64_t *begin,
                                          const int64_t *end, const int64_t *strides, int count,
                                          const leat_op_strided_slice_options *masks);

/* x repeated multiples[d] times along each dimension d (tf.tile), and to a shape by numpy's
 * broadcasting (tf.broadcast_to). */
LEAT_API leat_value leat_op_tile(leat_value input, const int64_t *multiples, int rank);
LEAT_API leat_value leat_op_broadcast_to(leat_value input, const int64_t *shape, int rank);

/* Values in the opposite order along the named dimensions (tf.reverse), and moved by shift[i]
 * places along axis[i], round the end (tf.roll). */
LEAT_API leat_value leat_op_reverse(leat_value tensor, const int64_t *axes, int num_axes);
LEAT_API leat_value leat_op_roll(leat_value input, const int64_t *shift, const int64_t *axes,
                                 int count);

/* The places of values that are not 0 or false, as int64 rows of indices in row-major order
 * (tf.where with a condition alone). */
LEAT_API leat_value leat_op_where(leat_value condition);

/* The slices of a tensor where a mask (bool), which covers dimensions from `axis` on, holds
 * (tf.boolean_mask). */
LEAT_API leat_value leat_op_boolean_mask(leat_value tensor, leat_value mask, int64_t axis);

/* x itself; no gradient flows through it (tf.stop_gradient). */
LEAT_API leat_value leat_op_stop_gradient(leat_value x);

/* The slices of `params` along `axis` that `indices` (int32 or int64) numbers. An index outside
 * fails the run with INVALID_ARGUMENT (tf.gather). */
LEAT_API leat_value leat_op_gather(leat_value params, leat_value indices, int64_t axis);

/* The number of dimensions of x, an int32 scalar (tf.rank). */
LEAT_API leat_value leat_op_rank(leat_value x);

/* The slices of `params` that the rows of `indices` (int32 or int64) name by their leading
 * dimensions. An index outside fails the run with INVALID_ARGUMENT (tf.gather_nd). */
LEAT_API leat_value leat_op_gather_nd(leat_value params, leat_value indices);

/* Values in order along an axis, and their places as int32; equal ones stay as they stand (tf.sort,
 * tf.argsort). */
LEAT_API leat_value leat_op_sort(leat_value values, int64_t axis, bool descending);
LEAT_API leat_value leat_op_argsort(leat_value values, int64_t axis, bool descending);

/* The shape and the number of values of x, as int32 or int64 (tf.shape, tf.size). */
LEAT_API leat_value leat_op_shape(leat_value x, leat_dtype dtype);
LEAT_API leat_value leat_op_size(leat_value x, leat_dtype dtype);

/* x repeated to the shape of `like`, by numpy's broadcasting, and the opposite: x summed down to it
 * (for gradients). */
LEAT_API leat_value leat_op_broadcast_like(leat_value x, leat_value like);
LEAT_API leat_value leat_op_sum_like(leat_value x, leat_value like);

/* ---- making tensors ---- */

/* A tensor of shape `dims` (vector of int32 or int64) filled with the scalar `value`: its shape
 * depends on data (tf.fill). */
LEAT_API leat_value leat_op_fill(leat_value dims, leat_value value);

/* The numbers start, start + delta, ... before `limit`; scalars of one dtype (tf.range). */
LEAT_API leat_value leat_op_range(leat_value start, leat_value limit, leat_value delta);

/* Zeros (false, empty strings) and ones (true) of a static shape (tf.zeros, tf.ones). */
LEAT_API leat_value leat_op_zeros(leat_graph *graph, leat_shape shape, leat_dtype dtype);
LEAT_API leat_value leat_op_ones(leat_graph *graph, leat_shape shape, leat_dtype dtype);

/* `num` numbers in equal steps from start to stop, both among them; scalars of floats
 * (tf.linspace). */
LEAT_API leat_value leat_op_linspace(leat_value start, leat_value stop, int64_t num);

/* Zeros and ones of x's shape and dtype (tf.zeros_like, tf.ones_like). */
LEAT_API leat_value leat_op_zeros_like(leat_value x);
LEAT_API leat_value leat_op_ones_like(leat_value x);

/* Along a new last axis of `depth`: 1 at the index, 0 elsewhere, all 0 for an index outside
 * (tf.one_hot). */
LEAT_API leat_value leat_op_one_hot(leat_value indices, int64_t depth, leat_dtype dtype);

/* Zero means default: a range of [0, 1), a mean of 0 and deviation of 1, no seed. */
typedef struct leat_op_random_options {
    double minval, maxval; /* uniform; both 0: [0, 1) */
    double mean, stddev;   /* normal; stddev 0: 1 */
    bool has_seed;
    int64_t seed; /* as the `seed` argument of TensorFlow */
} leat_op_random_options;

/* Random numbers of a static shape: floats of any width, uniform ones also int32 and int64. The
 * numbers depend on the seeds and on how many calls went before at this place of the program, never
 * on threads; they are TensorFlow's stream (tf.random.uniform, tf.random.normal,
 * tf.random.truncated_normal). */
LEAT_API leat_value leat_op_random_uniform(leat_graph *graph, leat_shape shape, leat_dtype dtype,
                                           const leat_op_random_options *options);
LEAT_API leat_value leat_op_random_normal(leat_graph *graph, leat_shape shape, leat_dtype dtype,
                                          const leat_op_random_options *options);
LEAT_API leat_value leat_op_random_truncated_normal(leat_graph *graph, leat_shape shape,
                                                    leat_dtype dtype,
                                                    const leat_op_random_options *options);

/* `x` with its rows, along the first dimension, in a random order (tf.random.shuffle). Draws as the
 * others do; of `options` (NULL: none) only the seed counts. */
LEAT_API leat_value leat_op_random_shuffle(leat_value x, const leat_op_random_options *options);
/* For each row of `logits` (float [batch, classes], unnormalised logarithms) `num_samples` classes
 * drawn by their probabilities, as int32 or int64 [batch, num_samples] (tf.random.categorical). */
LEAT_API leat_value leat_op_random_categorical(leat_value logits, int64_t num_samples,
                                               leat_dtype dtype,
                                               const leat_op_random_options *options);

/* The same for a seed that is a value: `seed` has two integers, and the numbers depend on nothing
 * else (tf.random.stateless_uniform, stateless_normal, stateless_truncated_normal,
 * stateless_categorical, tf.random.experimental.stateless_shuffle). The seed of `options` does not
 * count. */
LEAT_API leat_value leat_op_stateless_uniform(leat_value seed, leat_shape shape, leat_dtype dtype,
                                              const leat_op_random_options *options);
LEAT_API leat_value leat_op_stateless_normal(leat_value seed, leat_shape shape, leat_dtype dtype,
                                             const leat_op_random_options *options);
LEAT_API leat_value leat_op_stateless_truncated_normal(leat_value seed, leat_shape shape,
                                                       leat_dtype dtype,
                                                       const leat_op_random_options *options);
LEAT_API leat_value leat_op_stateless_shuffle(leat_value x, leat_value seed);
LEAT_API leat_value leat_op_stateless_categorical(leat_value logits, leat_value seed,
                                                  int64_t num_samples, leat_dtype dtype);
/* Integers of all bits: int32, int64, uint32 or uint64 (tf.random.stateless_uniform without
 * bounds). */
LEAT_API leat_value leat_op_stateless_integers(leat_value seed, leat_shape shape, leat_dtype dtype);
/* tf.random.split: `num` seeds of one, as [num, 2] of its dtype; and fold_in: one seed of another
 * and an integer, whose dtype it has. */
LEAT_API leat_value leat_op_seed_split(leat_value seed, int64_t num);
LEAT_API leat_value leat_op_seed_fold_in(leat_value seed, leat_value data);
/* The state of a tf.random.Generator, int64 [3] of a counter and a key, after `delta` (an integer
 * scalar) values more were drawn. */
LEAT_API leat_value leat_op_rng_skip(leat_value state, leat_value delta);

/* Where `index` goes in the pseudorandom permutation of 0 .. `max_index` that `seed` (two integers)
 * stands for: int32, int64, uint32 or uint64, index and max_index of one dtype. Scalars, or vectors
 * of one length beside scalars; a seed for each is an [n, 2] matrix. A negative number, or an index
 * beyond max_index, fails the run with INVALID_ARGUMENT (tf.random.experimental.index_shuffle). */
LEAT_API leat_value leat_op_index_shuffle(leat_value index, leat_value seed, leat_value max_index);

/* ---- reductions ---- */

/* Over the named axes, or all (axes NULL); `keepdims` leaves dimensions of 1. The mean of no values
 * is NaN, their maximum the lowest number (tf.math.reduce_sum, reduce_mean, reduce_max). */
LEAT_API leat_value leat_op_reduce_sum(leat_value x, const int64_t *axes, int num_axes,
                                       bool keepdims);
LEAT_API leat_value leat_op_reduce_mean(leat_value x, const int64_t *axes, int num_axes,
                                        bool keepdims);
LEAT_API leat_value leat_op_reduce_max(leat_value x, const int64_t *axes, int num_axes,
                                       bool keepdims);

/* The same; the minimum of no values is the highest number, their product 1 (tf.math.reduce_min,
 * reduce_prod). Of booleans: does any hold, do all (tf.math.reduce_any, reduce_all). */
LEAT_API leat_value leat_op_reduce_min(leat_value x, const int64_t *axes, int num_axes,
                                       bool keepdims);
LEAT_API leat_value leat_op_reduce_prod(leat_value x, const int64_t *axes, int num_axes,
                                        bool keepdims);
LEAT_API leat_value leat_op_reduce_any(leat_value x, const int64_t *axes, int num_axes,
                                       bool keepdims);
LEAT_API leat_value leat_op_reduce_all(leat_value x, const int64_t *axes, int num_axes,
                                       bool keepdims);

/* Running totals along an axis; `exclusive` leaves a value's own place out, `reverse` runs from the
 * end (tf.math.cumsum, cumprod). */
LEAT_API leat_value leat_op_cumsum(leat_value x, int64_t axis, bool exclusive, bool reverse);
LEAT_API leat_value leat_op_cumprod(leat_value x, int64_t axis, bool exclusive, bool reverse);

/* The index of the largest value along an axis, the first of equals, as int32 or int64
 * (tf.math.argmax), and of the smallest (tf.math.argmin). */
LEAT_API leat_value leat_op_argmin(leat_value x, int64_t axis, leat_dtype dtype);
LEAT_API leat_value leat_op_argmax(leat_value x, int64_t axis, leat_dtype dtype);

/* ---- neural networks: floats; pictures are NHWC, filters HWIO ---- */

/* a times b over the last two dimensions, each transposed first if asked; dimensions before them
 * are equal or those of a matrix b are absent (tf.linalg.matmul). */
LEAT_API leat_value leat_op_matmul(leat_value a, leat_value b, bool transpose_a, bool transpose_b);

/* x plus a vector along its last dimension (tf.nn.bias_add). */
LEAT_API leat_value leat_op_bias_add(leat_value x, leat_value bias);

/* How windows lie at the borders: only where they fit, or so that the output is ceil(n / stride)
 * wide, with padding split evenly and the odd one behind. */
typedef enum leat_padding { LEAT_VALID = 0, LEAT_SAME } leat_padding;

/* Height and width; zero means 1. */
typedef struct leat_op_conv2d_options {
    leat_padding padding;
    int64_t strides[2];
    int64_t dilations[2];
} leat_op_conv2d_options;

/* Convolution of input [N, H, W, C] with filter [h, w, C, K] (tf.nn.conv2d), and its gradients by
 * input and by filter; what the first operand of each is not used for but its shape
 * (tf.raw_ops.Conv2DBackpropInput, Conv2DBackpropFilter). */
LEAT_API leat_value leat_op_conv2d(leat_value input, leat_value filter,
                                   const leat_op_conv2d_options *options);
LEAT_API leat_value leat_op_conv2d_backprop_input(leat_value input, leat_value filter,
                                                  leat_value gradient,
                                                  const leat_op_conv2d_options *options);
LEAT_API leat_value leat_op_conv2d_backprop_filter(leat_value input, leat_value filter,
                                                   leat_value gradient,
                                                   const leat_op_conv2d_options *options);

/* Height and width of the window (required) and its steps (zero: the window's size). */
typedef struct leat_op_pool2d_options {
    leat_padding padding;
    int64_t ksize[2];
    int64_t strides[2];
} leat_op_pool2d_options;

/* The maximum of each window (tf.nn.max_pool2d), and its gradient, which goes to the first largest
 * value of a window in row-major order (tf.raw_ops.MaxPoolGrad). */
LEAT_API leat_value leat_op_max_pool2d(leat_value input, const leat_op_pool2d_options *options);
LEAT_API leat_value leat_op_max_pool2d_grad(leat_value input, leat_value output,
                                            leat_value gradient,
                                            const leat_op_pool2d_options *options);

/* exp(x) / sum(exp(x)) along the last axis, and its logarithm (tf.nn.softmax, log_softmax). */
LEAT_API leat_value leat_op_softmax(leat_value x);
LEAT_API leat_value leat_op_log_softmax(leat_value x);

/* The loss -log(softmax(logits))[label] of each row: labels [N] of int32 or int64, logits [N, C].
 * A label outside [0, C) fails the run with INVALID_ARGUMENT naming label and row
 * (tf.nn.sparse_softmax_cross_entropy_with_logits). */
LEAT_API leat_value leat_op_sparse_softmax_cross_entropy_with_logits(leat_value labels,
                                                                     leat_value logits);

/* ---- training steps: they update variables in trace order ---- */

/* variable -= learning_rate * gradient (tf.raw_ops.ResourceApplyGradientDescent). The variable is
 * borrowed for the call; learning rates are scalars of the variable's dtype. */
LEAT_API void leat_op_apply_gradient_descent(leat_variable *variable, leat_value gradient,
                                             leat_value learning_rate);

/* slot = momentum * slot - learning_rate * gradient; variable += slot, or with `nesterov`
 * momentum * slot - learning_rate * gradient (tf.raw_ops.ResourceApplyKerasMomentum). */
LEAT_API void leat_op_apply_keras_momentum(leat_variable *variable, leat_variable *slot,
                                           leat_value gradient, leat_value learning_rate,
                                           double momentum, bool nesterov);

/* Adam as Keras computes it, epsilon outside the bias correction; `step` is a scalar of int64, 1 at
 * the first update (tf.keras.optimizers.Adam). */
LEAT_API void leat_op_apply_adam(leat_variable *variable, leat_variable *momentum,
                                 leat_variable *velocity, leat_value gradient,
                                 leat_value learning_rate, leat_value step, double beta_1,
                                 double beta_2, double epsilon);

/* The number of the replica that computes, an int32 scalar; 0 outside a training step
 * (ReplicaContext.replica_id_in_sync_group). */
LEAT_API leat_value leat_op_replica_id(leat_graph *graph);

/* The sum or mean over all replicas of `count` values of one dtype, in one exchange; fills `out`.
 * Only inside a training step: eager graphs and pipelines refuse it
 * (ReplicaContext.all_reduce). */
LEAT_API void leat_op_all_reduce(const leat_value *values, int count, leat_aggregation aggregation,
                                 leat_value *out);

/* The values of all replicas, numbers or bools, one behind the other along `axis` (negative: from
 * the back) in the order of the replicas. Replica r has sizes[r] there (borrowed, `num_replicas` of
 * them, known before the step runs), and all have the same other dimensions. Only inside a training
 * step; differentiable (ReplicaContext.all_gather). */
LEAT_API leat_value leat_op_all_gather(leat_value value, int64_t axis, const int64_t *sizes,
                                       int num_replicas);

/* The bytes of numbers read as numbers of another dtype; a smaller one adds a last dimension, a
 * larger one takes it away (tf.bitcast). */
LEAT_API leat_value leat_op_bitcast(leat_value input, leat_dtype type);

/* The slices along an axis (INT64_MIN: all values as one vector), each as often as `repeats`, a
 * scalar or a vector of int32 or int64, says (tf.repeat). */
LEAT_API leat_value leat_op_repeat(leat_value input, leat_value repeats, int64_t axis);

/* For each length a vector of `maxlen` values (negative: as many as the largest length), true or 1
 * at as many places from the front (tf.sequence_mask). */
LEAT_API leat_value leat_op_sequence_mask(leat_value lengths, int64_t maxlen, leat_dtype dtype);

/* How many values along the axes (borrowed; NULL: all) are not 0, false or an empty string
 * (tf.math.count_nonzero). */
LEAT_API leat_value leat_op_count_nonzero(leat_value x, const int64_t *axes, int num_axes,
                                          bool keepdims, leat_dtype dtype);

/* ---- strings ---- */

/* Numbers as text, floats with six digits after the point; "true" or "false" of booleans, strings
 * as they are (tf.strings.as_string). */
LEAT_API leat_value leat_op_as_string(leat_value x);

/* How leat_op_as_string_formatted writes: precision and width of -1 and fill NULL are the defaults.
 */
typedef struct leat_op_as_string_options {
    int64_t precision; /* digits after the point of floats, or of `shortest` in all */
    bool scientific;   /* with an exponent */
    bool shortest;     /* with an exponent where that is shorter */
    int64_t width;     /* the least number of bytes */
    const char *fill;  /* "", or one of 0 - + # and a blank, as printf's; borrowed */
} leat_op_as_string_options;
LEAT_API leat_value leat_op_as_string_formatted(leat_value x,
                                                const leat_op_as_string_options *options);

/* The number that a string says, of int32, int64, uint32, uint64, float32 or float64; anything else
 * fails the run with INVALID_ARGUMENT (tf.strings.to_number). */
LEAT_API leat_value leat_op_string_to_number(leat_value x, leat_dtype dtype);

/* Strings joined with a separator between them (NULL: nothing), broadcast (tf.strings.join). */
LEAT_API leat_value leat_op_string_join(const leat_value *values, int num_values,
                                        const char *separator);

/* Strings joined along the axes (borrowed; NULL: all), with a separator between them (NULL:
 * nothing); of several axes the first moves fastest (tf.strings.reduce_join). */
LEAT_API leat_value leat_op_string_reduce_join(leat_value inputs, const int64_t *axes, int num_axes,
                                               bool keepdims, const char *separator);

/* The strings of each of num_segments segments joined, in their order, with a separator between
 * them (NULL: nothing). `segment_ids` (int32 or int64) gives each slice of the first dimensions its
 * segment (tf.strings.unsorted_segment_join). */
LEAT_API leat_value leat_op_unsorted_segment_join(leat_value inputs, leat_value segment_ids,
                                                  int64_t num_segments, const char *separator);

/* A number from 0 to num_buckets - 1 for each string as int64, the same everywhere
 * (tf.strings.to_hash_bucket_fast). */
LEAT_API leat_value leat_op_string_to_hash_bucket_fast(leat_value input, int64_t num_buckets);

/* The same by a hash under a key of two numbers, which nobody can aim at who does not know it, and
 * by an older hash (tf.strings.to_hash_bucket_strong, tf.strings.to_hash_bucket). */
LEAT_API leat_value leat_op_string_to_hash_bucket_strong(leat_value input, int64_t num_buckets,
                                                         const int64_t key[2]);
LEAT_API leat_value leat_op_string_to_hash_bucket(leat_value input, int64_t num_buckets);

/* ASCII letters in lower case, and strings without the white space at both ends (tf.strings.lower,
 * tf.strings.strip). */
LEAT_API leat_value leat_op_string_lower(leat_value x);
LEAT_API leat_value leat_op_string_strip(leat_value x);

/* A template whose placeholders ("{}") stand for tensors as text, of which an axis shows
 * `summarize` values at both ends (-1: all); at least one value (tf.strings.format). */
LEAT_API leat_value leat_op_string_format(const char *template_text, const leat_value *values,
                                          int num_values, const char *placeholder,
                                          int64_t summarize);

/* ICU's number of each int32 code point's script, -1 for what is none; a build without ICU fails
 * the graph with UNIMPLEMENTED (tf.strings.unicode_script). */
LEAT_API leat_value leat_op_unicode_script(leat_value input);

/* Strings with every match of a regular expression, or the first, replaced: \0 is the match, \1 to
 * \9 a group; and whether strings as a whole are what it describes, as bool. The syntax is RE2's; a
 * pattern that is none, or a build without PCRE2, fails the graph (tf.strings.regex_replace,
 * tf.strings.regex_full_match). */
LEAT_API leat_value leat_op_regex_replace(leat_value input, const char *pattern,
                                          const char *rewrite, bool replace_global);
LEAT_API leat_value leat_op_regex_full_match(leat_value input, const char *pattern);

/* The part of each string from byte `pos` on, of at most `len` bytes; int32 or int64, broadcast; a
 * negative place counts from the end, a negative length takes all. A place outside its string fails
 * the run with INVALID_ARGUMENT (tf.strings.substr). */
LEAT_API leat_value leat_op_substr(leat_value input, leat_value pos, leat_value len);
/* The same counted in characters of UTF-8 (unit="UTF8_CHAR"). */
LEAT_API leat_value leat_op_substr_utf8(leat_value input, leat_value pos, leat_value len);

/* Bytes as text of 64 letters that are safe in web addresses, `pad` fills it up with "=", and back;
 * text that is none fails the run with INVALID_ARGUMENT (tf.io.encode_base64, decode_base64). */
LEAT_API leat_value leat_op_encode_base64(leat_value input, bool pad);
LEAT_API leat_value leat_op_decode_base64(leat_value input);

/* A tensor as TensorFlow's message, a scalar string, and back; a message of another dtype, or bytes
 * that are none, fail the run with INVALID_ARGUMENT (tf.io.serialize_tensor, tf.io.parse_tensor).
 */
LEAT_API leat_value leat_op_serialize_tensor(leat_value tensor);
LEAT_API leat_value leat_op_parse_tensor(leat_value serialized, leat_dtype out_type);

/* ASCII letters in upper case, and the number of bytes as int32 (tf.strings.upper,
 * tf.strings.length). */
LEAT_API leat_value leat_op_string_upper(leat_value x);
LEAT_API leat_value leat_op_string_length(leat_value x);

/* The letters of Unicode in upper or lower case (encoding="utf-8"; UNIMPLEMENTED in a build without
 * ICU), and the number of characters of UTF-8 (unit="UTF8_CHAR"). */
LEAT_API leat_value leat_op_string_upper_utf8(leat_value x);
LEAT_API leat_value leat_op_string_lower_utf8(leat_value x);
LEAT_API leat_value leat_op_string_length_utf8(leat_value x);

/* The bytes of strings as little-endian numbers along a new last axis; strings of one length, a
 * multiple of the dtype's size (tf.io.decode_raw). */
LEAT_API leat_value leat_op_decode_raw(leat_value x, leat_dtype dtype);
/* The same with strings that are cut or filled up with zeros to `fixed_length` bytes, a multiple of
 * the dtype's size, and numbers whose highest byte comes first unless `little_endian`. */
LEAT_API leat_value leat_op_decode_padded_raw(leat_value x, leat_dtype dtype, int64_t fixed_length,
                                              bool little_endian);

/* The fields of records of comma-separated text as one output per column: of each default's dtype
 * (float32, float64, int32, int64 or string), which stands for an empty field; a vector of no
 * values is a field that must be there. Fills `outputs` and returns their number, or -1; a record
 * that has other fields fails the run with INVALID_ARGUMENT (tf.io.decode_csv). */
LEAT_API int leat_op_decode_csv(leat_value records, const leat_value *defaults, int num_defaults,
                                leat_value *outputs);

/* Strings that were packed as ZLIB, GZIP, ZSTD or "" (not at all), as they were before; bytes that
 * are no such stream fail the run with DATA_LOSS (tf.io.decode_compressed). */
LEAT_API leat_value leat_op_decode_compressed(leat_value bytes, const char *compression_type);

/* The samples of a WAV file of 16 bits, a scalar string, as float32 [samples, channels] from -1 to
 * below 1; channels and samples of -1 are those of the file. `sample_rate` (may be NULL) gets the
 * int32 scalar. And back, samples beyond cut (tf.audio.decode_wav, tf.audio.encode_wav). */
LEAT_API leat_value leat_op_decode_wav(leat_value contents, int64_t channels, int64_t samples,
                                       leat_value *sample_rate);
LEAT_API leat_value leat_op_encode_wav(leat_value audio, leat_value sample_rate);

/* Writes a scalar string into the file of that name, whole or not at all, and makes missing
 * folders; the result is the name (tf.io.write_file). */
LEAT_API leat_value leat_op_write_file(leat_value filename, leat_value contents);

/* The sorted names of the files that match a pattern, a scalar, or one of a vector
 * (tf.io.matching_files). */
LEAT_API leat_value leat_op_matching_files(leat_value pattern);

/* The contents of the file that a scalar string names (tf.io.read_file). */
LEAT_API leat_value leat_op_read_file(leat_value filename);

/* `value` where all of `condition` (bool) holds; elsewhere the run fails with `code` and `message`
 * (tf.debugging.Assert). A value that nothing uses is not checked. */
LEAT_API leat_value leat_op_assert(leat_value condition, leat_value value, leat_status code,
                                   const char *message);

/* x itself; a run where a value is NaN or infinite fails with INVALID_ARGUMENT and a text that
 * begins with the message (tf.debugging.check_numerics). */
LEAT_API leat_value leat_op_check_numerics(leat_value tensor, const char *message);

/* ---- records; pictures: leat/image.h ---- */

/* Parses serialised tf.train.Examples, a scalar or a vector of strings. `features` (borrowed) is a
 * dict of specs: a tensor of a static shape is a FixedLenFeature, one whose first dimension is -1
 * takes any number of values and fills up a batch (FixedLenSequenceFeature with allow_missing), a
 * sparse vector is a VarLenFeature and a ragged one a RaggedFeature. `defaults` (may be NULL) is a
 * dict of values for keys that an Example may lack, or that fill up. Fills `outputs`, room for
 * LEAT_MAX_OUTPUTS, with the components in the order of sorted keys and returns their number, or -1
 * (tf.io.parse_example, tf.io.parse_single_example). */
LEAT_API int leat_op_parse_example(leat_value serialized, const leat_spec *features,
                                   const leat_element *defaults, leat_value *outputs);

/* tf.train.Examples written as protobuf's JSON, as their serialised form; another text fails the
 * run with INVALID_ARGUMENT (tf.io.decode_json_example). */
LEAT_API leat_value leat_op_decode_json_example(leat_value json_examples);

/* Parses serialised tf.train.SequenceExamples, a scalar or a vector of strings. `context`
 * (borrowed) and `defaults` are as leat_op_parse_example has them; `sequence` (borrowed) says what
 * the feature lists are: a tensor [-1, ...] gives steps and the number of steps, filled up with 0
 * in a batch; a sparse [-1, -1] indices, values and dense shape; a ragged one values, row splits of
 * steps and of records. Fills `outputs` and returns their number, or -1
 * (tf.io.parse_sequence_example, tf.io.parse_single_sequence_example). */
LEAT_API int leat_op_parse_sequence_example(leat_value serialized, const leat_spec *context,
                                            const leat_spec *sequence, const leat_element *defaults,
                                            leat_value *outputs);

#ifdef __cplusplus
}
#endif
#endif
