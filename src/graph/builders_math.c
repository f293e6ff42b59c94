/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/math.h>

leat_value leat_op_add_n(const leat_value *inputs, int num_inputs) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_add_n, NULL);
    leati_build_inputs(&build, inputs, num_inputs);
    return leati_build_end(&build);
}

leat_value leat_op_argmax(leat_value input, int64_t axis, leat_dtype output_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_argmax, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "axis", axis);
    leati_build_dtype(&build, "output_type", output_type);
    return leati_build_end(&build);
}

leat_value leat_op_argmin(leat_value input, int64_t axis, leat_dtype output_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_argmin, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "axis", axis);
    leati_build_dtype(&build, "output_type", output_type);
    return leati_build_end(&build);
}

leat_value leat_op_cast(leat_value x, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cast, NULL);
    leati_build_input(&build, x);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_check_numerics(leat_value tensor, const char *message) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_check_numerics, NULL);
    leati_build_input(&build, tensor);
    leati_build_text(&build, "message", message);
    return leati_build_end(&build);
}

leat_value leat_op_count_nonzero(leat_value input, const int64_t *axis, int num_axis, bool keepdims,
                                 leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_count_nonzero, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_cumprod(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cumprod, NULL);
    leati_build_input(&build, x);
    leati_build_int(&build, "axis", axis);
    leati_build_bool(&build, "exclusive", exclusive);
    leati_build_bool(&build, "reverse", reverse);
    return leati_build_end(&build);
}

leat_value leat_op_cumsum(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cumsum, NULL);
    leati_build_input(&build, x);
    leati_build_int(&build, "axis", axis);
    leati_build_bool(&build, "exclusive", exclusive);
    leati_build_bool(&build, "reverse", reverse);
    return leati_build_end(&build);
}

leat_value leat_op_cumulative_logsumexp(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cumulative_logsumexp, NULL);
    leati_build_input(&build, x);
    leati_build_int(&build, "axis", axis);
    leati_build_bool(&build, "exclusive", exclusive);
    leati_build_bool(&build, "reverse", reverse);
    return leati_build_end(&build);
}

leat_value
leat_op_fake_quant_with_min_max_args(leat_value inputs,
                                     const leat_op_fake_quant_with_min_max_args_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_fake_quant_with_min_max_args, NULL);
    leati_build_input(&build, inputs);
    leat_op_fake_quant_with_min_max_args_options own = {
        LEAT_OP_FAKE_QUANT_WITH_MIN_MAX_ARGS_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_fake_quant_with_min_max_args_options");
    leati_build_float(&build, "min", own.min);
    leati_build_float(&build, "max", own.max);
    leati_build_int(&build, "num_bits", own.num_bits);
    leati_build_bool(&build, "narrow_range", own.narrow_range);
    return leati_build_end(&build);
}

leat_value leat_op_fake_quant_with_min_max_args_gradient(
    leat_value gradients, leat_value inputs,
    const leat_op_fake_quant_with_min_max_args_gradient_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_fake_quant_with_min_max_args_gradient, NULL);
    leati_build_input(&build, gradients);
    leati_build_input(&build, inputs);
    leat_op_fake_quant_with_min_max_args_gradient_options own = {
        LEAT_OP_FAKE_QUANT_WITH_MIN_MAX_ARGS_GRADIENT_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_fake_quant_with_min_max_args_gradient_options");
    leati_build_float(&build, "min", own.min);
    leati_build_float(&build, "max", own.max);
    leati_build_int(&build, "num_bits", own.num_bits);
    leati_build_bool(&build, "narrow_range", own.narrow_range);
    return leati_build_end(&build);
}

leat_value leat_op_fake_quant_with_min_max_vars(leat_value inputs, leat_value min, leat_value max,
                                                int64_t num_bits, bool narrow_range) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_fake_quant_with_min_max_vars, NULL);
    leati_build_input(&build, inputs);
    leati_build_input(&build, min);
    leati_build_input(&build, max);
    leati_build_int(&build, "num_bits", num_bits);
    leati_build_bool(&build, "narrow_range", narrow_range);
    return leati_build_end(&build);
}

leat_value leat_op_fake_quant_with_min_max_vars_gradient(leat_value gradients, leat_value inputs,
                                                         leat_value min, leat_value max,
                                                         int64_t num_bits, bool narrow_range,
                                                         leat_value *backprop_wrt_min,
                                                         leat_value *backprop_wrt_max) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_fake_quant_with_min_max_vars_gradient, NULL);
    leati_build_input(&build, gradients);
    leati_build_input(&build, inputs);
    leati_build_input(&build, min);
    leati_build_input(&build, max);
    leati_build_int(&build, "num_bits", num_bits);
    leati_build_bool(&build, "narrow_range", narrow_range);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, backprop_wrt_min);
    leati_build_output(&build, 2, backprop_wrt_max);
    return first;
}

leat_value leat_op_fake_quant_with_min_max_vars_per_channel(leat_value inputs, leat_value min,
                                                            leat_value max, int64_t num_bits,
                                                            bool narrow_range) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_fake_quant_with_min_max_vars_per_channel, NULL);
    leati_build_input(&build, inputs);
    leati_build_input(&build, min);
    leati_build_input(&build, max);
    leati_build_int(&build, "num_bits", num_bits);
    leati_build_bool(&build, "narrow_range", narrow_range);
    return leati_build_end(&build);
}

leat_value leat_op_fake_quant_with_min_max_vars_per_channel_gradient(
    leat_value gradients, leat_value inputs, leat_value min, leat_value max, int64_t num_bits,
    bool narrow_range, leat_value *backprop_wrt_min, leat_value *backprop_wrt_max) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_fake_quant_with_min_max_vars_per_channel_gradient,
                      NULL);
    leati_build_input(&build, gradients);
    leati_build_input(&build, inputs);
    leati_build_input(&build, min);
    leati_build_input(&build, max);
    leati_build_int(&build, "num_bits", num_bits);
    leati_build_bool(&build, "narrow_range", narrow_range);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, backprop_wrt_min);
    leati_build_output(&build, 2, backprop_wrt_max);
    return first;
}

leat_value leat_op_fft(leat_value input, const int64_t *axes, int num_axes, bool inverse) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_fft, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "axes", axes, num_axes);
    leati_build_bool(&build, "inverse", inverse);
    return leati_build_end(&build);
}

leat_value leat_op_histogram_fixed_width(leat_value values, leat_value value_range, int64_t nbins,
                                         leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_histogram_fixed_width, NULL);
    leati_build_input(&build, values);
    leati_build_input(&build, value_range);
    leati_build_int(&build, "nbins", nbins);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_irfft(leat_value input, int64_t length) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_irfft, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "length", length);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_all(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_all, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_any(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_any, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_max(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_max, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_mean(leat_value input_tensor, const int64_t *axis, int num_axis,
                               bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_mean, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_min(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_min, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_prod(leat_value input_tensor, const int64_t *axis, int num_axis,
                               bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_prod, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_sum(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_sum, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_rfft(leat_value input, int64_t length) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_rfft, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "length", length);
    return leati_build_end(&build);
}

leat_value leat_op_saturate_cast(leat_value value, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_saturate_cast, NULL);
    leati_build_input(&build, value);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_join(leat_value inputs, leat_value segment_ids,
                                         int64_t num_segments, const char *separator) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_join, NULL);
    leati_build_input(&build, inputs);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    leati_build_text(&build, "separator", separator);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_max(leat_value data, leat_value segment_ids,
                                        int64_t num_segments) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_max, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_min(leat_value data, leat_value segment_ids,
                                        int64_t num_segments) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_min, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_prod(leat_value data, leat_value segment_ids,
                                         int64_t num_segments) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_prod, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_sum(leat_value data, leat_value segment_ids,
                                        int64_t num_segments) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_sum, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    return leati_build_end(&build);
}

/* clang-format off */
LEATI_BUILDER_1(abs)
LEATI_BUILDER_1(acos)
LEATI_BUILDER_1(acosh)
LEATI_BUILDER_2(add)
LEATI_BUILDER_1(angle)
LEATI_BUILDER_1(asin)
LEATI_BUILDER_1(asinh)
LEATI_BUILDER_1(atan)
LEATI_BUILDER_2(atan2)
LEATI_BUILDER_1(atanh)
LEATI_BUILDER_1(bessel_i0)
LEATI_BUILDER_1(bessel_i0e)
LEATI_BUILDER_1(bessel_i1)
LEATI_BUILDER_1(bessel_i1e)
LEATI_BUILDER_1(bessel_j0)
LEATI_BUILDER_1(bessel_j1)
LEATI_BUILDER_1(bessel_k0)
LEATI_BUILDER_1(bessel_k0e)
LEATI_BUILDER_1(bessel_k1)
LEATI_BUILDER_1(bessel_k1e)
LEATI_BUILDER_1(bessel_y0)
LEATI_BUILDER_1(bessel_y1)
LEATI_BUILDER_3(betainc)
LEATI_BUILDER_2(bitwise_and)
LEATI_BUILDER_2(bitwise_or)
LEATI_BUILDER_2(bitwise_xor)
LEATI_BUILDER_1(ceil)
LEATI_BUILDER_3(clip_by_value)
LEATI_BUILDER_2(complex)
LEATI_BUILDER_1(conj)
LEATI_BUILDER_1(cos)
LEATI_BUILDER_1(cosh)
LEATI_BUILDER_1(dawsn)
LEATI_BUILDER_1(digamma)
LEATI_BUILDER_2(divide)
LEATI_BUILDER_2(divide_no_nan)
LEATI_BUILDER_2(equal)
LEATI_BUILDER_1(erf)
LEATI_BUILDER_1(erfc)
LEATI_BUILDER_1(erfinv)
LEATI_BUILDER_1(exp)
LEATI_BUILDER_1(expint)
LEATI_BUILDER_1(expm1)
LEATI_BUILDER_1(floor)
LEATI_BUILDER_2(floordiv)
LEATI_BUILDER_2(floormod)
LEATI_BUILDER_1(fresnel_cos)
LEATI_BUILDER_1(fresnel_sin)
LEATI_BUILDER_2(greater)
LEATI_BUILDER_2(greater_equal)
LEATI_BUILDER_2(igamma)
LEATI_BUILDER_2(igamma_grad_a)
LEATI_BUILDER_2(igammac)
LEATI_BUILDER_1(imag)
LEATI_BUILDER_3(index_shuffle)
LEATI_BUILDER_1(invert)
LEATI_BUILDER_1(is_finite)
LEATI_BUILDER_1(is_inf)
LEATI_BUILDER_1(is_nan)
LEATI_BUILDER_2(left_shift)
LEATI_BUILDER_2(less)
LEATI_BUILDER_2(less_equal)
LEATI_BUILDER_1(lgamma)
LEATI_BUILDER_1(log)
LEATI_BUILDER_1(log1p)
LEATI_BUILDER_2(logical_and)
LEATI_BUILDER_1(logical_not)
LEATI_BUILDER_2(logical_or)
LEATI_BUILDER_2(logical_xor)
LEATI_BUILDER_2(maximum)
LEATI_BUILDER_2(minimum)
LEATI_BUILDER_2(multiply)
LEATI_BUILDER_2(multiply_no_nan)
LEATI_BUILDER_1(ndtri)
LEATI_BUILDER_1(negate)
LEATI_BUILDER_2(nextafter)
LEATI_BUILDER_2(not_equal)
LEATI_BUILDER_2(polygamma)
LEATI_BUILDER_2(pow)
LEATI_BUILDER_1(real)
LEATI_BUILDER_1(reciprocal)
LEATI_BUILDER_2(right_shift)
LEATI_BUILDER_1(rint)
LEATI_BUILDER_1(round)
LEATI_BUILDER_1(rsqrt)
LEATI_BUILDER_2(segment_max)
LEATI_BUILDER_2(segment_mean)
LEATI_BUILDER_2(segment_min)
LEATI_BUILDER_2(segment_prod)
LEATI_BUILDER_2(segment_sum)
LEATI_BUILDER_1(sign)
LEATI_BUILDER_1(sin)
LEATI_BUILDER_1(sinh)
LEATI_BUILDER_1(spence)
LEATI_BUILDER_1(sqrt)
LEATI_BUILDER_1(square)
LEATI_BUILDER_2(squared_difference)
LEATI_BUILDER_2(subtract)
LEATI_BUILDER_2(sum_like)
LEATI_BUILDER_1(tan)
LEATI_BUILDER_1(tanh)
LEATI_BUILDER_2(truncatediv)
LEATI_BUILDER_2(truncatemod)
LEATI_BUILDER_2(xdivy)
LEATI_BUILDER_2(xlog1py)
LEATI_BUILDER_2(xlogy)
LEATI_BUILDER_2(zeta)
/* clang-format on */
