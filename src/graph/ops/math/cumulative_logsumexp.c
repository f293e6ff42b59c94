/* cumulative_logsumexp: the running logarithm of a sum of exponentials along a dimension
 * (tf.math.cumulative_logsumexp).
 *
 * The largest value so far is taken out of the sum, so it does not overflow. Where a value's own
 * place is left out the first result is minus infinity. Fails where the axis is outside the
 * input. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/cumulate.h"

#include <float.h>
#include <math.h>

static leat_status logsumexp_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    return leati_cumulate_infer(call, err);
}

#define LOGSUMEXP_LINE(TYPE, EXP, LOG1P)                                                           \
    static TYPE add_##TYPE(TYPE a, TYPE b) {                                                       \
        TYPE high = LEATI_MAX(a, b), low = LEATI_MIN(b, a);                                        \
        if (isinf(high) || isnan(a) || isnan(b))                                                   \
            return isnan(a) || isnan(b) ? a + b : high;                                            \
        return high + LOG1P(EXP(low - high));                                                      \
    }                                                                                              \
    static void line_##TYPE(TYPE *to, const TYPE *from, int64_t n, int64_t step, bool exclusive) { \
        TYPE a = -INFINITY;                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            TYPE before = a;                                                                       \
            a = add_##TYPE(a, from[i * step]);                                                     \
            to[i * step] = exclusive ? before : a;                                                 \
        }                                                                                          \
    }
LOGSUMEXP_LINE(float, expf, log1pf)
LOGSUMEXP_LINE(double, exp, log1p)

static leat_status logsumexp_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_cumulate_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    int32_t axis = 0;
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, &axis, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t inner = 1, dim = shape.dims[axis];
    for (int32_t d = axis + 1; d < shape.rank; d++)
        inner *= shape.dims[d];
    int64_t step = args->reverse ? -inner : inner;
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        const char *from = leati_support_row_of(in, row);
        char *to = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < in->count / dim; i++) {
            int64_t at =
                i / inner * dim * inner + i % inner + (args->reverse ? dim - 1 : 0) * inner;
            if (in->dtype == LEAT_FLOAT32)
                line_float((float *)(void *)to + at, (const float *)(const void *)from + at, dim,
                           step, args->exclusive);
            else
                line_double((double *)(void *)to + at, (const double *)(const void *)from + at, dim,
                            step, args->exclusive);
        }
    }
    return LEAT_OK;
}

/* The sums behind each place of exp(log(g) - result + x), where g is positive. */
static leat_value half_gradient(const leati_gradient_call *call, leat_value g) {
    const struct leati_cumulate_args *args = call->args;
    leat_value x = call->inputs[0], zero = leat_op_zeros_like(x);
    leat_value lowest = leati_support_number(
        x.graph, leat_value_dtype(x), leat_value_dtype(x) == LEAT_FLOAT32 ? -FLT_MAX : -DBL_MAX);
    leat_value holds = leat_op_greater(g, zero);
    leat_value log = leat_op_log(leat_op_select(holds, g, leat_op_ones_like(x)));
    log = leat_op_select(holds, leat_op_subtract(log, call->outputs[0]),
                         leat_op_broadcast_like(lowest, x));
    leat_value sums =
        leat_op_cumulative_logsumexp(log, args->axis, args->exclusive, !args->reverse);
    return leat_op_exp(leat_op_add(sums, x));
}

static leat_status logsumexp_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0];
    (void)err;
    call->input_gradients[0] =
        leat_op_subtract(half_gradient(call, g), half_gradient(call, leat_op_negate(g)));
    return LEAT_OK;
}

leat_value leat_op_cumulative_logsumexp(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    return leati_cumulate_build(&leati_tensor_op_cumulative_logsumexp, x, axis, exclusive, reverse);
}

const leati_tensor_op leati_tensor_op_cumulative_logsumexp = {
    .name = "cumulative_logsumexp",
    .version = 1,
    .doc = "The running logarithm of a sum of exponentials along a dimension "
           "(tf.math.cumulative_logsumexp).",
    .names = "math.cumulative_logsumexp",
    .inputs = "x",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_cumulate_rows,
    .args_size = sizeof(struct leati_cumulate_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = logsumexp_infer,
    .kernel = logsumexp_kernel,
    .gradient = logsumexp_gradient,
};
