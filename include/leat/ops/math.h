/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: arithmetic, comparisons, reductions, segments; see leat/ops.h. */
#ifndef LEAT_OPS_MATH_H
#define LEAT_OPS_MATH_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The magnitude of x (tf.math.abs). */
LEAT_API leat_value leat_op_abs(leat_value x);

/* The inverse cosine, in radians (tf.math.acos). */
LEAT_API leat_value leat_op_acos(leat_value x);

/* The inverse hyperbolic cosine (tf.math.acosh). */
LEAT_API leat_value leat_op_acosh(leat_value x);

/* x + y of equal dtypes, broadcast; integers wrap (tf.math.add). */
LEAT_API leat_value leat_op_add(leat_value x, leat_value y);

/* The sum of tensors of one shape (tf.math.add_n). */
LEAT_API leat_value leat_op_add_n(const leat_value *inputs, int num_inputs);

/* The angle of a complex number, in radians (tf.math.angle). */
LEAT_API leat_value leat_op_angle(leat_value input);

/* The index of the largest value along a dimension, the first of equals (tf.math.argmax).
 * `axis`: the dimension to search; negative counts from the end; by default 0.
 * `output_type`: int32 or int64; of argmax also int16 or uint16; by default "int64". */
LEAT_API leat_value leat_op_argmax(leat_value input, int64_t axis, leat_dtype output_type);

/* The index of the smallest value along a dimension, the first of equals (tf.math.argmin).
 * `axis`: the dimension to search; negative counts from the end; by default 0.
 * `output_type`: int32 or int64; of argmax also int16 or uint16; by default "int64". */
LEAT_API leat_value leat_op_argmin(leat_value input, int64_t axis, leat_dtype output_type);

/* The inverse sine, in radians (tf.math.asin). */
LEAT_API leat_value leat_op_asin(leat_value x);

/* The inverse hyperbolic sine (tf.math.asinh). */
LEAT_API leat_value leat_op_asinh(leat_value x);

/* The inverse tangent, in radians (tf.math.atan). */
LEAT_API leat_value leat_op_atan(leat_value x);

/* The angle of the point (x, y), in radians from -pi to pi, broadcast (tf.math.atan2). */
LEAT_API leat_value leat_op_atan2(leat_value y, leat_value x);

/* The inverse hyperbolic tangent (tf.math.atanh). */
LEAT_API leat_value leat_op_atanh(leat_value x);

/* The Bessel function I of order 0 (tf.math.special). */
LEAT_API leat_value leat_op_bessel_i0(leat_value x);

/* The Bessel function I of order 0, times e^-|x| (tf.math.special). */
LEAT_API leat_value leat_op_bessel_i0e(leat_value x);

/* The Bessel function I of order 1 (tf.math.special). */
LEAT_API leat_value leat_op_bessel_i1(leat_value x);

/* The Bessel function I of order 1, times e^-|x| (tf.math.special). */
LEAT_API leat_value leat_op_bessel_i1e(leat_value x);

/* The Bessel function J of order 0 (tf.math.special). */
LEAT_API leat_value leat_op_bessel_j0(leat_value x);

/* The Bessel function J of order 1 (tf.math.special). */
LEAT_API leat_value leat_op_bessel_j1(leat_value x);

/* The Bessel function K of order 0 (tf.math.special). */
LEAT_API leat_value leat_op_bessel_k0(leat_value x);

/* The Bessel function K of order 0, times e^x (tf.math.special). */
LEAT_API leat_value leat_op_bessel_k0e(leat_value x);

/* The Bessel function K of order 1 (tf.math.special). */
LEAT_API leat_value leat_op_bessel_k1(leat_value x);

/* The Bessel function K of order 1, times e^x (tf.math.special). */
LEAT_API leat_value leat_op_bessel_k1e(leat_value x);

/* The Bessel function Y of order 0 (tf.math.special). */
LEAT_API leat_value leat_op_bessel_y0(leat_value x);

/* The Bessel function Y of order 1 (tf.math.special). */
LEAT_API leat_value leat_op_bessel_y1(leat_value x);

/* The regularised incomplete beta function (tf.math.betainc). */
LEAT_API leat_value leat_op_betainc(leat_value a, leat_value b, leat_value x);

/* The bits that both integers have, broadcast (tf.bitwise.bitwise_and). */
LEAT_API leat_value leat_op_bitwise_and(leat_value x, leat_value y);

/* The bits that either integer has, broadcast (tf.bitwise.bitwise_or). */
LEAT_API leat_value leat_op_bitwise_or(leat_value x, leat_value y);

/* The bits that one of two integers has, broadcast (tf.bitwise.bitwise_xor). */
LEAT_API leat_value leat_op_bitwise_xor(leat_value x, leat_value y);

/* x as another dtype: floats truncate, integers keep their low bits, complex numbers become
 * their real part (tf.cast).
 * `dtype`: the dtype of the result. */
LEAT_API leat_value leat_op_cast(leat_value x, leat_dtype dtype);

/* The smallest integer not below x (tf.math.ceil). */
LEAT_API leat_value leat_op_ceil(leat_value x);

/* The input unchanged; NaN and infinities fail the run with the message
 * (tf.debugging.check_numerics).
 * `message`: the beginning of the failure's text. */
LEAT_API leat_value leat_op_check_numerics(leat_value tensor, const char *message);

/* t, but not below one bound nor above another, broadcast (tf.clip_by_value). */
LEAT_API leat_value leat_op_clip_by_value(leat_value t, leat_value clip_value_min,
                                          leat_value clip_value_max);

/* The complex numbers of two parts, float32 or float64, broadcast (tf.complex). */
LEAT_API leat_value leat_op_complex(leat_value real, leat_value imag);

/* The conjugate of a complex number (tf.math.conj). */
LEAT_API leat_value leat_op_conj(leat_value input);

/* The cosine of x in radians (tf.math.cos). */
LEAT_API leat_value leat_op_cos(leat_value x);

/* The hyperbolic cosine (tf.math.cosh). */
LEAT_API leat_value leat_op_cosh(leat_value x);

/* How many values are not 0, false or an empty string, over the named dimensions or all
 * (tf.math.count_nonzero).
 * `axis`: the dimensions to count over; none named: all; NULL: not given.
 * `keepdims`: leave counted dimensions as 1; by default false.
 * `dtype`: the dtype of the result, a number; by default "int64". */
LEAT_API leat_value leat_op_count_nonzero(leat_value input, const int64_t *axis, int num_axis,
                                          bool keepdims, leat_dtype dtype);

/* The running product along a dimension (tf.math.cumprod).
 * `axis`: the dimension along which totals run; negative counts from the end; by default 0.
 * `exclusive`: leave a value's own place out of its total; by default false.
 * `reverse`: run from the end; by default false. */
LEAT_API leat_value leat_op_cumprod(leat_value x, int64_t axis, bool exclusive, bool reverse);

/* The running total along a dimension (tf.math.cumsum).
 * `axis`: the dimension along which totals run; negative counts from the end; by default 0.
 * `exclusive`: leave a value's own place out of its total; by default false.
 * `reverse`: run from the end; by default false. */
LEAT_API leat_value leat_op_cumsum(leat_value x, int64_t axis, bool exclusive, bool reverse);

/* The running logarithm of a sum of exponentials along a dimension
 * (tf.math.cumulative_logsumexp).
 * `axis`: the dimension along which totals run; negative counts from the end; by default 0.
 * `exclusive`: leave a value's own place out of its total; by default false.
 * `reverse`: run from the end; by default false. */
LEAT_API leat_value leat_op_cumulative_logsumexp(leat_value x, int64_t axis, bool exclusive,
                                                 bool reverse);

/* e^(-x * x) times the integral of e^(t * t) up to x (tf.math.special.dawsn). */
LEAT_API leat_value leat_op_dawsn(leat_value x);

/* The derivative of lgamma (tf.math.digamma). */
LEAT_API leat_value leat_op_digamma(leat_value x);

/* x / y of equal float dtypes, broadcast, by IEEE 754 (tf.math.divide). */
LEAT_API leat_value leat_op_divide(leat_value x, leat_value y);

/* X / y of floats, 0 where y is 0, broadcast (tf.math.divide_no_nan). */
LEAT_API leat_value leat_op_divide_no_nan(leat_value x, leat_value y);

/* x == y of numbers, booleans or strings, broadcast, as bool (tf.math.equal). */
LEAT_API leat_value leat_op_equal(leat_value x, leat_value y);

/* The error function (tf.math.erf). */
LEAT_API leat_value leat_op_erf(leat_value x);

/* One minus the error function (tf.math.erfc). */
LEAT_API leat_value leat_op_erfc(leat_value x);

/* The inverse of erf (tf.math.erfinv). */
LEAT_API leat_value leat_op_erfinv(leat_value x);

/* e to the power of x (tf.math.exp). */
LEAT_API leat_value leat_op_exp(leat_value x);

/* The integral of e^t / t up to x (tf.math.special.expint). */
LEAT_API leat_value leat_op_expint(leat_value x);

/* E to the power of x, minus 1 (tf.math.expm1). */
LEAT_API leat_value leat_op_expm1(leat_value x);

typedef struct leat_op_fake_quant_with_min_max_args_options {
    size_t size; /* set by the macro below */
    /* The lower bound; by default -6.0. */
    double min;
    /* The upper bound; by default 6.0. */
    double max;
    /* How many bits a number would have; by default 8. */
    int64_t num_bits;
    /* Without the lowest of the numbers that the bits can tell apart; by default false. */
    bool narrow_range;
} leat_op_fake_quant_with_min_max_args_options;
#define LEAT_OP_FAKE_QUANT_WITH_MIN_MAX_ARGS_DEFAULTS                                              \
    .size = sizeof(leat_op_fake_quant_with_min_max_args_options), .min = -6.0, .max = 6.0,         \
    .num_bits = 8
/* Numbers as a few bits hold them (tf.quantization.fake_quant_with_min_max_args).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_fake_quant_with_min_max_args(
    leat_value inputs, const leat_op_fake_quant_with_min_max_args_options *options);

typedef struct leat_op_fake_quant_with_min_max_args_gradient_options {
    size_t size; /* set by the macro below */
    /* The lower bound; by default -6.0. */
    double min;
    /* The upper bound; by default 6.0. */
    double max;
    /* How many bits a number would have; by default 8. */
    int64_t num_bits;
    /* Without the lowest of the numbers that the bits can tell apart; by default false. */
    bool narrow_range;
} leat_op_fake_quant_with_min_max_args_gradient_options;
#define LEAT_OP_FAKE_QUANT_WITH_MIN_MAX_ARGS_GRADIENT_DEFAULTS                                     \
    .size = sizeof(leat_op_fake_quant_with_min_max_args_gradient_options), .min = -6.0,            \
    .max = 6.0, .num_bits = 8
/* The gradient of fake_quant_with_min_max_args
 * (tf.quantization.fake_quant_with_min_max_args_gradient).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_fake_quant_with_min_max_args_gradient(
    leat_value gradients, leat_value inputs,
    const leat_op_fake_quant_with_min_max_args_gradient_options *options);

/* The same, of bounds that are scalars and have gradients
 * (tf.quantization.fake_quant_with_min_max_vars).
 * `num_bits`: how many bits a number would have; by default 8.
 * `narrow_range`: without the lowest of the numbers that the bits can tell apart; by default
 * false. */
LEAT_API leat_value leat_op_fake_quant_with_min_max_vars(leat_value inputs, leat_value min,
                                                         leat_value max, int64_t num_bits,
                                                         bool narrow_range);

/* The gradient of fake_quant_with_min_max_vars
 * (tf.quantization.fake_quant_with_min_max_vars_gradient).
 * `num_bits`: how many bits a number would have; by default 8.
 * `narrow_range`: without the lowest of the numbers that the bits can tell apart; by default
 * false.
 * Returns `backprops_wrt_input`; `backprop_wrt_min` and `backprop_wrt_max` may be NULL. */
LEAT_API leat_value leat_op_fake_quant_with_min_max_vars_gradient(
    leat_value gradients, leat_value inputs, leat_value min, leat_value max, int64_t num_bits,
    bool narrow_range, leat_value *backprop_wrt_min, leat_value *backprop_wrt_max);

/* The same, of bounds for each place of the last dimension
 * (tf.quantization.fake_quant_with_min_max_vars_per_channel).
 * `num_bits`: how many bits a number would have; by default 8.
 * `narrow_range`: without the lowest of the numbers that the bits can tell apart; by default
 * false. */
LEAT_API leat_value leat_op_fake_quant_with_min_max_vars_per_channel(leat_value inputs,
                                                                     leat_value min, leat_value max,
                                                                     int64_t num_bits,
                                                                     bool narrow_range);

/* The gradient of fake_quant_with_min_max_vars_per_channel
 * (tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient).
 * `num_bits`: how many bits a number would have; by default 8.
 * `narrow_range`: without the lowest of the numbers that the bits can tell apart; by default
 * false.
 * Returns `backprops_wrt_input`; `backprop_wrt_min` and `backprop_wrt_max` may be NULL. */
LEAT_API leat_value leat_op_fake_quant_with_min_max_vars_per_channel_gradient(
    leat_value gradients, leat_value inputs, leat_value min, leat_value max, int64_t num_bits,
    bool narrow_range, leat_value *backprop_wrt_min, leat_value *backprop_wrt_max);

/* The Fourier transform of complex numbers along dimensions (tf.signal.fftnd).
 * `axes`: the dimensions to transform, one after the other; negative ones count from the end.
 * `inverse`: transform back: turn the other way, and divide by the length; by default false. */
LEAT_API leat_value leat_op_fft(leat_value input, const int64_t *axes, int num_axes, bool inverse);

/* The largest integer not above x (tf.math.floor). */
LEAT_API leat_value leat_op_floor(leat_value x);

/* x / y rounded down, broadcast; Python's // (tf.math.floordiv). */
LEAT_API leat_value leat_op_floordiv(leat_value x, leat_value y);

/* The remainder of floordiv, with the sign of y, broadcast; Python's % (tf.math.floormod). */
LEAT_API leat_value leat_op_floormod(leat_value x, leat_value y);

/* The integral of cos(pi t^2 / 2) up to x (tf.math.special.fresnel_cos). */
LEAT_API leat_value leat_op_fresnel_cos(leat_value x);

/* The integral of sin(pi t^2 / 2) up to x (tf.math.special.fresnel_sin). */
LEAT_API leat_value leat_op_fresnel_sin(leat_value x);

/* x > y of numbers, broadcast, as bool (tf.math.greater). */
LEAT_API leat_value leat_op_greater(leat_value x, leat_value y);

/* x >= y of numbers, broadcast, as bool (tf.math.greater_equal). */
LEAT_API leat_value leat_op_greater_equal(leat_value x, leat_value y);

/* How many values lie in each of nbins equal parts of a range (tf.histogram_fixed_width).
 * `nbins`: how many parts the range has; by default 100.
 * `dtype`: the dtype of the counts: int32 or int64; by default "int32". */
LEAT_API leat_value leat_op_histogram_fixed_width(leat_value values, leat_value value_range,
                                                  int64_t nbins, leat_dtype dtype);

/* The lower regularised incomplete gamma function (tf.math.igamma). */
LEAT_API leat_value leat_op_igamma(leat_value a, leat_value x);

/* The derivative of igamma by a (tf.raw_ops.IgammaGradA). */
LEAT_API leat_value leat_op_igamma_grad_a(leat_value a, leat_value x);

/* The upper regularised incomplete gamma function (tf.math.igammac). */
LEAT_API leat_value leat_op_igammac(leat_value a, leat_value x);

/* The imaginary part of a complex number (tf.math.imag). */
LEAT_API leat_value leat_op_imag(leat_value input);

/* Where an index goes in a pseudorandom permutation of 0 .. max_index
 * (tf.random.experimental.index_shuffle). */
LEAT_API leat_value leat_op_index_shuffle(leat_value index, leat_value seed, leat_value max_index);

/* All bits of integers turned (tf.bitwise.invert). */
LEAT_API leat_value leat_op_invert(leat_value x);

/* The real numbers whose Fourier transform begins with lines of the last dimension
 * (tf.signal.irfft).
 * `length`: how many real numbers a line has; -1: as the input says; by default -1. */
LEAT_API leat_value leat_op_irfft(leat_value input, int64_t length);

/* Whether x is neither infinite nor NaN, as bool (tf.math.is_finite). */
LEAT_API leat_value leat_op_is_finite(leat_value x);

/* Whether x is infinite, as bool (tf.math.is_inf). */
LEAT_API leat_value leat_op_is_inf(leat_value x);

/* Whether x is not a number, as bool (tf.math.is_nan). */
LEAT_API leat_value leat_op_is_nan(leat_value x);

/* X shifted left by y bits, broadcast (tf.bitwise.left_shift). */
LEAT_API leat_value leat_op_left_shift(leat_value x, leat_value y);

/* x < y of numbers, broadcast, as bool (tf.math.less). */
LEAT_API leat_value leat_op_less(leat_value x, leat_value y);

/* x <= y of numbers, broadcast, as bool (tf.math.less_equal). */
LEAT_API leat_value leat_op_less_equal(leat_value x, leat_value y);

/* The logarithm of the absolute value of gamma (tf.math.lgamma). */
LEAT_API leat_value leat_op_lgamma(leat_value x);

/* The natural logarithm of x (tf.math.log). */
LEAT_API leat_value leat_op_log(leat_value x);

/* The natural logarithm of 1 + x (tf.math.log1p). */
LEAT_API leat_value leat_op_log1p(leat_value x);

/* x && y of booleans, broadcast (tf.math.logical_and). */
LEAT_API leat_value leat_op_logical_and(leat_value x, leat_value y);

/* !x of booleans (tf.math.logical_not). */
LEAT_API leat_value leat_op_logical_not(leat_value x);

/* x || y of booleans, broadcast (tf.math.logical_or). */
LEAT_API leat_value leat_op_logical_or(leat_value x, leat_value y);

/* Whether one of two booleans holds, broadcast (tf.math.logical_xor). */
LEAT_API leat_value leat_op_logical_xor(leat_value x, leat_value y);

/* The larger of x and y, broadcast; a NaN wins (tf.math.maximum). */
LEAT_API leat_value leat_op_maximum(leat_value x, leat_value y);

/* The smaller of x and y, broadcast; a NaN wins (tf.math.minimum). */
LEAT_API leat_value leat_op_minimum(leat_value x, leat_value y);

/* x * y of equal dtypes, broadcast; integers wrap (tf.math.multiply). */
LEAT_API leat_value leat_op_multiply(leat_value x, leat_value y);

/* X * y of floats, 0 where y is 0 whatever x is, broadcast (tf.math.multiply_no_nan). */
LEAT_API leat_value leat_op_multiply_no_nan(leat_value x, leat_value y);

/* The inverse of the normal distribution's share (tf.math.ndtri). */
LEAT_API leat_value leat_op_ndtri(leat_value x);

/* -x of signed numbers (tf.math.negative). */
LEAT_API leat_value leat_op_negate(leat_value x);

/* The next number after x1 in the direction of x2 (tf.math.nextafter). */
LEAT_API leat_value leat_op_nextafter(leat_value x1, leat_value x2);

/* x != y of numbers, booleans or strings, broadcast, as bool (tf.math.not_equal). */
LEAT_API leat_value leat_op_not_equal(leat_value x, leat_value y);

/* Derivative a of digamma at x (tf.math.polygamma). */
LEAT_API leat_value leat_op_polygamma(leat_value a, leat_value x);

/* x to the power of y, broadcast (tf.math.pow). */
LEAT_API leat_value leat_op_pow(leat_value x, leat_value y);

/* The real part of a complex number (tf.math.real). */
LEAT_API leat_value leat_op_real(leat_value input);

/* 1 / x (tf.math.reciprocal). */
LEAT_API leat_value leat_op_reciprocal(leat_value x);

/* Whether all booleans hold over the named dimensions, or all (tf.math.reduce_all).
 * `axis`: the dimensions to reduce; NULL: all; an empty list: no dimension.
 * `keepdims`: leave reduced dimensions as 1; by default false. */
LEAT_API leat_value leat_op_reduce_all(leat_value input_tensor, const int64_t *axis, int num_axis,
                                       bool keepdims);

/* Whether any boolean holds over the named dimensions, or all (tf.math.reduce_any).
 * `axis`: the dimensions to reduce; NULL: all; an empty list: no dimension.
 * `keepdims`: leave reduced dimensions as 1; by default false. */
LEAT_API leat_value leat_op_reduce_any(leat_value input_tensor, const int64_t *axis, int num_axis,
                                       bool keepdims);

/* The maximum over the named dimensions, or all (tf.math.reduce_max).
 * `axis`: the dimensions to reduce; NULL: all; an empty list: no dimension.
 * `keepdims`: leave reduced dimensions as 1; by default false. */
LEAT_API leat_value leat_op_reduce_max(leat_value input_tensor, const int64_t *axis, int num_axis,
                                       bool keepdims);

/* The mean over the named dimensions, or all (tf.math.reduce_mean).
 * `axis`: the dimensions to reduce; NULL: all; an empty list: no dimension.
 * `keepdims`: leave reduced dimensions as 1; by default false. */
LEAT_API leat_value leat_op_reduce_mean(leat_value input_tensor, const int64_t *axis, int num_axis,
                                        bool keepdims);

/* The minimum over the named dimensions, or all (tf.math.reduce_min).
 * `axis`: the dimensions to reduce; NULL: all; an empty list: no dimension.
 * `keepdims`: leave reduced dimensions as 1; by default false. */
LEAT_API leat_value leat_op_reduce_min(leat_value input_tensor, const int64_t *axis, int num_axis,
                                       bool keepdims);

/* The product over the named dimensions, or all (tf.math.reduce_prod).
 * `axis`: the dimensions to reduce; NULL: all; an empty list: no dimension.
 * `keepdims`: leave reduced dimensions as 1; by default false. */
LEAT_API leat_value leat_op_reduce_prod(leat_value input_tensor, const int64_t *axis, int num_axis,
                                        bool keepdims);

/* The sum over the named dimensions, or all (tf.math.reduce_sum).
 * `axis`: the dimensions to reduce; NULL: all; an empty list: no dimension.
 * `keepdims`: leave reduced dimensions as 1; by default false. */
LEAT_API leat_value leat_op_reduce_sum(leat_value input_tensor, const int64_t *axis, int num_axis,
                                       bool keepdims);

/* The first half of the Fourier transform of real numbers along the last dimension
 * (tf.signal.rfft).
 * `length`: how many real numbers a line has; -1: as the input says; by default -1. */
LEAT_API leat_value leat_op_rfft(leat_value input, int64_t length);

/* X shifted right by y bits, with its sign, broadcast (tf.bitwise.right_shift). */
LEAT_API leat_value leat_op_right_shift(leat_value x, leat_value y);

/* The nearest integer, the even one of two (tf.math.rint). */
LEAT_API leat_value leat_op_rint(leat_value x);

/* The nearest integer, the even one of two (tf.math.round). */
LEAT_API leat_value leat_op_round(leat_value x);

/* 1 / sqrt(x) (tf.math.rsqrt). */
LEAT_API leat_value leat_op_rsqrt(leat_value x);

/* x as another dtype, clipped to what that holds (tf.saturate_cast).
 * `dtype`: the dtype of the result, a number. */
LEAT_API leat_value leat_op_saturate_cast(leat_value value, leat_dtype dtype);

/* The maxima of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_max). */
LEAT_API leat_value leat_op_segment_max(leat_value data, leat_value segment_ids);

/* The means of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_mean). */
LEAT_API leat_value leat_op_segment_mean(leat_value data, leat_value segment_ids);

/* The minima of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_min). */
LEAT_API leat_value leat_op_segment_min(leat_value data, leat_value segment_ids);

/* The products of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_prod). */
LEAT_API leat_value leat_op_segment_prod(leat_value data, leat_value segment_ids);

/* The sums of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_sum). */
LEAT_API leat_value leat_op_segment_sum(leat_value data, leat_value segment_ids);

/* -1, 0 or 1 as x is negative, zero or positive (tf.math.sign). */
LEAT_API leat_value leat_op_sign(leat_value x);

/* The sine of x in radians (tf.math.sin). */
LEAT_API leat_value leat_op_sin(leat_value x);

/* The hyperbolic sine (tf.math.sinh). */
LEAT_API leat_value leat_op_sinh(leat_value x);

/* Minus the integral of log t / (t - 1) from 1 to x (tf.math.special.spence). */
LEAT_API leat_value leat_op_spence(leat_value x);

/* The square root of x; NaN below zero (tf.math.sqrt). */
LEAT_API leat_value leat_op_sqrt(leat_value x);

/* x * x; integers wrap (tf.math.square). */
LEAT_API leat_value leat_op_square(leat_value x);

/* (x - y) squared, broadcast (tf.math.squared_difference). */
LEAT_API leat_value leat_op_squared_difference(leat_value x, leat_value y);

/* x - y of equal dtypes, broadcast; integers wrap (tf.math.subtract). */
LEAT_API leat_value leat_op_subtract(leat_value x, leat_value y);

/* The first input summed down to the second's shape (for gradients). */
LEAT_API leat_value leat_op_sum_like(leat_value x, leat_value like);

/* The tangent of x in radians (tf.math.tan). */
LEAT_API leat_value leat_op_tan(leat_value x);

/* The hyperbolic tangent of x (tf.math.tanh). */
LEAT_API leat_value leat_op_tanh(leat_value x);

/* The quotient rounded towards zero, broadcast (tf.truncatediv). */
LEAT_API leat_value leat_op_truncatediv(leat_value x, leat_value y);

/* The remainder that has the sign of x, broadcast (tf.truncatemod). */
LEAT_API leat_value leat_op_truncatemod(leat_value x, leat_value y);

/* The strings of each of num_segments segments joined, in their order
 * (tf.strings.unsorted_segment_join).
 * `num_segments`: how many segments there are.
 * `separator`: what stands between two strings; by default "". */
LEAT_API leat_value leat_op_unsorted_segment_join(leat_value inputs, leat_value segment_ids,
                                                  int64_t num_segments, const char *separator);

/* The maxima of the slices of each of num_segments segments of a tensor
 * (tf.math.unsorted_segment_max).
 * `num_segments`: how many segments there are. */
LEAT_API leat_value leat_op_unsorted_segment_max(leat_value data, leat_value segment_ids,
                                                 int64_t num_segments);

/* The minima of the slices of each of num_segments segments of a tensor
 * (tf.math.unsorted_segment_min).
 * `num_segments`: how many segments there are. */
LEAT_API leat_value leat_op_unsorted_segment_min(leat_value data, leat_value segment_ids,
                                                 int64_t num_segments);

/* The products of the slices of each of num_segments segments of a tensor
 * (tf.math.unsorted_segment_prod).
 * `num_segments`: how many segments there are. */
LEAT_API leat_value leat_op_unsorted_segment_prod(leat_value data, leat_value segment_ids,
                                                  int64_t num_segments);

/* The sums of the slices of each of num_segments segments of a tensor
 * (tf.math.unsorted_segment_sum).
 * `num_segments`: how many segments there are. */
LEAT_API leat_value leat_op_unsorted_segment_sum(leat_value data, leat_value segment_ids,
                                                 int64_t num_segments);

/* x / y, and 0 where x is 0 (tf.math.xdivy). */
LEAT_API leat_value leat_op_xdivy(leat_value x, leat_value y);

/* x * log(1 + y), and 0 where x is 0 (tf.math.xlog1py). */
LEAT_API leat_value leat_op_xlog1py(leat_value x, leat_value y);

/* x * log(y), and 0 where x is 0 (tf.math.xlogy). */
LEAT_API leat_value leat_op_xlogy(leat_value x, leat_value y);

/* The sum of (q + k)^-x over k = 0, 1, ... (tf.math.zeta). */
LEAT_API leat_value leat_op_zeta(leat_value x, leat_value q);

#ifdef __cplusplus
}
#endif
#endif
