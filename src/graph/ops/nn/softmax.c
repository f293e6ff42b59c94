/* softmax: exp(x) / sum(exp(x)) along the last dimension (tf.nn.softmax).
 *
 * The maximum is subtracted first, so nothing overflows. Fails in inference on scalars and other
 * dtypes. No state, no locks. */
#include "graph/ops/nn/softmax.h"
#include "base/minmax.h"

#include <math.h>

#define SHIFT_LOGITS(TYPE, EXP, LOG)                                                               \
    TYPE leati_softmax_shift_logits_##TYPE(const TYPE *logits, TYPE *shifted, int64_t n) {         \
        TYPE top = logits[0], sum = 0;                                                             \
        for (int64_t i = 1; i < n; i++)                                                            \
            top = LEATI_MAX(logits[i], top);                                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            shifted[i] = logits[i] - top;                                                          \
            sum += EXP(shifted[i]);                                                                \
        }                                                                                          \
        return sum > 0 ? LOG(sum) : sum; /* it is 1 or more, or NaN */                             \
    }
SHIFT_LOGITS(float, expf, logf)
SHIFT_LOGITS(double, exp, log)

leat_status leati_softmax_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    if (call->inputs[0].shape.rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected at least one dimension");
    return leati_op_infer_same(call, err);
}

leat_status leati_softmax_over_lines(leati_kernel_call *call, leati_line_function function,
                                     leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    if (shape.rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected at least one dimension");
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t n = shape.dims[shape.rank - 1], lines = n > 0 ? in->count / n : 0;
    size_t bytes = (size_t)n * leat_dtype_size(in->dtype);
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < lines; i++)
            function(in->dtype, leati_support_row_of(in, row) + (size_t)i * bytes,
                     leati_support_row_of(&call->outputs[0], row) + (size_t)i * bytes, n);
    return LEAT_OK;
}

#define SOFTMAX_LINE(TYPE, EXP)                                                                    \
    static void softmax_##TYPE(const TYPE *in, TYPE *out, int64_t n) {                             \
        TYPE top = in[0], sum = 0;                                                                 \
        for (int64_t i = 1; i < n; i++)                                                            \
            top = LEATI_MAX(in[i], top);                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            out[i] = EXP(in[i] - top);                                                             \
            sum += out[i];                                                                         \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] /= sum;                                                                         \
    }
SOFTMAX_LINE(float, expf)
SOFTMAX_LINE(double, exp)

static void softmax_line(leat_dtype dtype, const char *in, char *out, int64_t n) {
    if (dtype == LEAT_FLOAT32)
        softmax_float((const float *)in, (float *)out, n);
    else
        softmax_double((const double *)in, (double *)out, n);
}

static leat_status softmax_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_softmax_over_lines(call, softmax_line, err);
}

static leat_status softmax_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    leat_value sum = leat_op_reduce_sum(leat_op_multiply(g, y), (int64_t[]){-1}, 1, true);
    call->input_gradients[0] = leat_op_multiply(leat_op_subtract(g, sum), y);
    return LEAT_OK;
}

leat_value leat_op_softmax(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_softmax, NULL, x);
}

const leati_tensor_op leati_tensor_op_softmax = {
    .name = "softmax",
    .version = 1,
    .doc = "exp(x) / sum(exp(x)) along the last dimension (tf.nn.softmax).",
    .names = "nn.softmax",
    .inputs = "logits",
    .signature = "logits axis=null",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_softmax_infer,
    .kernel = softmax_kernel,
    .gradient = softmax_gradient,
};
