/* cumsum, cumprod, cumulative_logsumexp: running totals along a dimension, of sums, of products,
 * and of the logarithm of a sum of exponentials (tf.math.cumsum and so on).
 *
 * Integers wrap; floats narrower than float32 add up in float. Of logarithms, the largest value so
 * far is taken out of the sum, so it does not overflow; where a value's own place is left out the
 * first result is minus infinity. They fail where the axis is outside the input. No state, no
 * locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/math/elementwise.h"

#include <float.h>

struct cumulate_args {
    int64_t axis;
    bool exclusive, reverse;
};

static const leati_row cumulate_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct cumulate_args, axis),
     .doc = "The dimension along which totals run; negative counts from the end."},
    {.name = "exclusive",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct cumulate_args, exclusive),
     .doc = "Leave a value's own place out of its total."},
    {.name = "reverse",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct cumulate_args, reverse),
     .doc = "Run from the end."},
    {0},
};

/* Totals over n values, `step` values apart, which may be negative. */
#define CUMULATE_LINE(NAME, TYPE, NUMBER, LOAD, STORE, START, UPDATE)                              \
    static void NAME(char *to, const char *from, int64_t n, int64_t step, bool exclusive) {        \
        NUMBER a = START;                                                                          \
        for (int64_t i = 0; i < n && !leati_stop_look_at(i); i++) {                                \
            NUMBER v = (NUMBER)LOAD(((const TYPE *)(const void *)from)[i * step]);                 \
            if (exclusive)                                                                         \
                ((TYPE *)(void *)to)[i * step] = (TYPE)STORE(a);                                   \
            UPDATE;                                                                                \
            if (!exclusive)                                                                        \
                ((TYPE *)(void *)to)[i * step] = (TYPE)STORE(a);                                   \
        }                                                                                          \
    }
#define PLAIN(x) (x)
#define CUMULATE_TYPES(KIND, START, UPDATE)                                                        \
    CUMULATE_LINE(KIND##_int8, int8_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                      \
    CUMULATE_LINE(KIND##_int16, int16_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_int32, int32_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_int64, int64_t, uint64_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_uint8, uint8_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_uint16, uint16_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_uint32, uint32_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_uint64, uint64_t, uint64_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_float16, uint16_t, float, leati_float_of_half, leati_half_of_float,       \
                  START, UPDATE)                                                                   \
    CUMULATE_LINE(KIND##_bfloat16, uint16_t, float, leati_float_of_bfloat16,                       \
                  leati_bfloat16_of_float, START, UPDATE)                                          \
    CUMULATE_LINE(KIND##_float32, float, float, PLAIN, PLAIN, START, UPDATE)                       \
    CUMULATE_LINE(KIND##_float64, double, double, PLAIN, PLAIN, START, UPDATE)

/* Integers add up unsigned and so wrap; those narrower than 32 bits keep their low ones. */
CUMULATE_TYPES(sum, 0, a += v)
CUMULATE_TYPES(prod, 1, a *= v)

typedef void (*line_function)(char *to, const char *from, int64_t n, int64_t step, bool exclusive);
static const line_function lines[2][LEAT_NUM_DTYPES] = {{LEATI_TABLE_NUMBER(sum)},
                                                        {LEATI_TABLE_NUMBER(prod)}};

static leat_status cumulate_infer(leati_infer_call *call, leat_error *err) {
    const struct cumulate_args *args = call->args;
    const leati_type *in = &call->inputs[0];
    int32_t axis = 0;
    if (lines[0][in->dtype] == NULL)
        return leati_refuse(err, DTYPE, "the input is %s; expected numbers",
                            leat_dtype_name(in->dtype));
    if (in->shape.rank >= 0 && call->unknown == 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, in->shape.rank, &axis, err));
    return leati_op_infer_same(call, err);
}

static leat_status cumulate_kernel(leati_kernel_call *call, bool product, leat_error *err) {
    const struct cumulate_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    line_function line = lines[product][in->dtype];
    int32_t axis = 0;
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, &axis, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t inner = 1, dim = shape.dims[axis], size = (int64_t)leat_dtype_size(in->dtype);
    for (int32_t d = axis + 1; d < shape.rank; d++)
        inner *= shape.dims[d];
    int64_t done = 0;
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        for (int64_t i = 0; i < in->count / dim && !leati_stop_look_after(dim, &done); i++) {
            /* Lines along the axis stand side by side, `inner` of them; a reversed one starts at
             * its end and steps back. */
            int64_t first = (i / inner * dim * inner + i % inner) * size;
            int64_t start = args->reverse ? first + (dim - 1) * inner * size : first;
            line(leati_support_row_of(out, row) + start, leati_support_row_of(in, row) + start, dim,
                 args->reverse ? -inner : inner, args->exclusive);
        }
    }
    return LEAT_OK;
}

static leat_status cumsum_kernel(leati_kernel_call *call, leat_error *err) {
    return cumulate_kernel(call, false, err);
}

static leat_status cumprod_kernel(leati_kernel_call *call, leat_error *err) {
    return cumulate_kernel(call, true, err);
}

/* ---- cumulative_logsumexp ---- */
static leat_status logsumexp_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    return cumulate_infer(call, err);
}

/* log(e^a + e^b) is high + log(1 + e^(low - high)), which cannot overflow. An infinity is its own
 * sum, but a difference of two would be NaN. */
#define LOGSUMEXP_LINE(TYPE, EXP, LOG1P)                                                           \
    static TYPE add_##TYPE(TYPE a, TYPE b) {                                                       \
        TYPE high = LEATI_MAX(a, b), low = LEATI_MIN(b, a);                                        \
        if (isinf(high) || isnan(a) || isnan(b))                                                   \
            return isnan(a) || isnan(b) ? a + b : high;                                            \
        return high + LOG1P(EXP(low - high));                                                      \
    }                                                                                              \
    static void line_##TYPE(TYPE *to, const TYPE *from, int64_t n, int64_t step, bool exclusive) { \
        TYPE a = -INFINITY;                                                                        \
        for (int64_t i = 0; i < n && !leati_stop_look_at(i); i++) {                                \
            TYPE before = a;                                                                       \
            a = add_##TYPE(a, from[i * step]);                                                     \
            to[i * step] = exclusive ? before : a;                                                 \
        }                                                                                          \
    }
LOGSUMEXP_LINE(float, expf, log1pf)
LOGSUMEXP_LINE(double, exp, log1p)

static leat_status logsumexp_kernel(leati_kernel_call *call, leat_error *err) {
    const struct cumulate_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    int32_t axis = 0;
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, &axis, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t inner = 1, dim = shape.dims[axis];
    for (int32_t d = axis + 1; d < shape.rank; d++)
        inner *= shape.dims[d];
    int64_t step = args->reverse ? -inner : inner, done = 0;
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        const char *from = leati_support_row_of(in, row);
        char *to = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < in->count / dim && !leati_stop_look_after(dim, &done); i++) {
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

/* ---- gradients ---- */
static leat_status cumsum_gradient(leati_gradient_call *call, leat_error *err) {
    const struct cumulate_args *args = call->args;
    (void)err;
    call->input_gradients[0] =
        leat_op_cumsum(call->output_gradients[0], args->axis, args->exclusive, !args->reverse);
    return LEAT_OK;
}

/* As TensorFlow's: NaN where the input is 0. */
static leat_status cumprod_gradient(leati_gradient_call *call, leat_error *err) {
    const struct cumulate_args *args = call->args;
    leat_value x = call->inputs[0];
    (void)err;
    leat_value weighted = leat_op_multiply(call->outputs[0], call->output_gradients[0]);
    leat_value sum = leat_op_cumsum(weighted, args->axis, args->exclusive, !args->reverse);
    call->input_gradients[0] = leat_op_divide(sum, x);
    return LEAT_OK;
}

/* The sums behind each place of exp(log(g) - result + x), where g is positive. */
static leat_value half_gradient(const leati_gradient_call *call, leat_value g) {
    const struct cumulate_args *args = call->args;
    leat_value x = call->inputs[0], zero = leat_op_zeros_like(x);
    /* Logarithms of nothing are the lowest number, not minus infinity, of which a difference could
     * be NaN. */
    leat_value lowest = leati_support_number(
        x.graph, leat_value_dtype(x), leat_value_dtype(x) == LEAT_FLOAT32 ? -FLT_MAX : -DBL_MAX);
    leat_value holds = leat_op_greater(g, zero);
    /* 1 stands where g is not positive, so that no NaN comes up even where it is not chosen. */
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
    /* A logarithm has no sign, so what is positive and what is negative are summed apart. */
    call->input_gradients[0] =
        leat_op_subtract(half_gradient(call, g), half_gradient(call, leat_op_negate(g)));
    return LEAT_OK;
}

/* ---- builder and descriptor of each ---- */
#define CUMULATIVE(OP, ...)                                                                        \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "x",                                                                             \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = cumulate_rows,                                                                     \
        .args_size = sizeof(struct cumulate_args),                                                 \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        __VA_ARGS__,                                                                               \
    };
CUMULATIVE(cumprod, .doc = "The running product along a dimension (tf.math.cumprod).",
           .names = "math.cumprod", .halves = LEATI_HALVES_OWN, .infer = cumulate_infer,
           .kernel = cumprod_kernel, .gradient = cumprod_gradient)
CUMULATIVE(cumsum, .doc = "The running total along a dimension (tf.math.cumsum).",
           .names = "math.cumsum cumsum", .halves = LEATI_HALVES_OWN, .infer = cumulate_infer,
           .kernel = cumsum_kernel, .gradient = cumsum_gradient)
CUMULATIVE(cumulative_logsumexp,
           .doc = "The running logarithm of a sum of exponentials along a dimension "
                  "(tf.math.cumulative_logsumexp).",
           .names = "math.cumulative_logsumexp", .halves = LEATI_HALVES_FLOAT,
           .infer = logsumexp_infer, .kernel = logsumexp_kernel, .gradient = logsumexp_gradient)
