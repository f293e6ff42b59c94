/* softmax: exp(x) / sum(exp(x)) along the last dimension; log_softmax: its logarithm, without the
 * exponentials' quotient, so small probabilities keep their digits (tf.nn.softmax and log_softmax).
 * sparse_softmax_cross_entropy_with_logits: the loss -log(softmax(logits))[label] of each line
 * (tf.nn.sparse_softmax_cross_entropy_with_logits). Inputs of that: labels [...], logits [..., C].
 *
 * The maximum is subtracted first, so nothing overflows. The loss's second output, softmax minus
 * the one-hot label, is its gradient, computed on the way. Fails in inference on scalars and other
 * dtypes, and in a run where a label is outside [0, C), naming label and row. No state, no locks.
 */
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/support.h"
#include <math.h>

/* Writes logits - max(logits) to `shifted` and returns log(sum(exp(shifted))); n > 0. */
#define SHIFT_LOGITS(TYPE, EXP, LOG)                                                               \
    static TYPE shift_logits_##TYPE(const TYPE *logits, TYPE *shifted, int64_t n) {                \
        TYPE top = logits[0], sum = 0;                                                             \
        for (int64_t i = 1; i < n; i++)                                                            \
            top = LEATI_MAX(logits[i], top);                                                       \
        for (int64_t i = 0; i < n && !leati_stop_look_at(i); i++) {                                \
            shifted[i] = logits[i] - top;                                                          \
            sum += EXP(shifted[i]);                                                                \
        }                                                                                          \
        return sum > 0 ? LOG(sum) : sum; /* it is 1 or more, or NaN */                             \
    }
/* LEATI_MAX passes over a NaN that is not the first, but the sum of exponentials is NaN then. */
SHIFT_LOGITS(float, expf, logf)
SHIFT_LOGITS(double, exp, log)

static leat_status softmax_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    if (call->inputs[0].shape.rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected at least one dimension");
    return leati_op_infer_same(call, err);
}

/* Runs a line function over the last dimension of every row of input 0 into output 0. */
typedef void (*line_function)(leat_dtype dtype, const char *in, char *out, int64_t n);
static leat_status over_lines(leati_kernel_call *call, line_function function, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    if (shape.rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected at least one dimension");
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Lines without values are none: the functions read in[0]. */
    int64_t n = shape.dims[shape.rank - 1], lines = n > 0 ? in->count / n : 0;
    size_t bytes = (size_t)n * leat_dtype_size(in->dtype);
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < lines && !leati_stop_look_after(n, &done); i++)
            function(in->dtype, leati_support_row_of(in, row) + (size_t)i * bytes,
                     leati_support_row_of(&call->outputs[0], row) + (size_t)i * bytes, n);
    return LEAT_OK;
}

#define SOFTMAX_LINE(TYPE, EXP)                                                                    \
    static void softmax_##TYPE(const TYPE *in, TYPE *out, int64_t n) {                             \
        TYPE top = in[0], sum = 0;                                                                 \
        for (int64_t i = 1; i < n; i++)                                                            \
            top = LEATI_MAX(in[i], top);                                                           \
        for (int64_t i = 0; i < n && !leati_stop_look_at(i); i++) {                                \
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
    return over_lines(call, softmax_line, err);
}

static leat_status softmax_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    /* dy_i/dx_j = y_i (1[i = j] - y_j), so x_j gets y_j (g_j - sum_i g_i y_i). */
    leat_value sum = leat_op_reduce_sum(leat_op_multiply(g, y), (int64_t[]){-1}, 1, true);
    call->input_gradients[0] = leat_op_multiply(leat_op_subtract(g, sum), y);
    return LEAT_OK;
}

/* The output holds the shifted logits between the two passes, so no scratch is needed. */
static void log_softmax_line(leat_dtype dtype, const char *in, char *out, int64_t n) {
    if (dtype == LEAT_FLOAT32) {
        float *to = (float *)out, log_sum = shift_logits_float((const float *)in, to, n);
        for (int64_t i = 0; i < n; i++)
            to[i] -= log_sum;
    } else {
        double *to = (double *)out, log_sum = shift_logits_double((const double *)in, to, n);
        for (int64_t i = 0; i < n; i++)
            to[i] -= log_sum;
    }
}

static leat_status log_softmax_kernel(leati_kernel_call *call, leat_error *err) {
    return over_lines(call, log_softmax_line, err);
}

static leat_status log_softmax_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    /* dy_i/dx_j = 1[i = j] - softmax_j, and softmax is exp(y). */
    leat_value sum = leat_op_reduce_sum(g, (int64_t[]){-1}, 1, true);
    call->input_gradients[0] = leat_op_subtract(g, leat_op_multiply(sum, leat_op_exp(y)));
    return LEAT_OK;
}

/* The shape of the labels that fit the logits; unknown where those are. */
static leat_status label_shape(const leat_shape *labels, const leat_shape *logits, leat_shape *out,
                               leat_error *err) {
    char texts[2][128];
    *out = *logits;
    if (logits->rank >= 0)
        out->rank = logits->rank - 1;
    /* rank 0 is asked for by itself: one less is -1, which stands for an unknown rank. */
    if (logits->rank == 0 || !leati_shape_compatible(out, labels))
        return leati_refuse(
            err, SHAPE,
            "the labels have shape %s and the logits %s; expected the labels' shape "
            "and one more dimension",
            leati_shape_text(labels, texts[0]), leati_shape_text(logits, texts[1]));
    if (out->rank < 0)
        *out = *labels;
    /* What one of the two does not know the other may. */
    for (int32_t d = 0; d < out->rank && labels->rank >= 0; d++)
        if (out->dims[d] == LEAT_UNKNOWN_DIM)
            out->dims[d] = labels->dims[d];
    return LEAT_OK;
}

static leat_status sparse_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(leati_support_want_index(call, 0, "the label", err));
    LEATI_TRY(leati_support_want_float(call, 1, "logits", err));
    LEATI_TRY(label_shape(&call->inputs[0].shape, &call->inputs[1].shape, &shape, err));
    LEATI_TRY(leati_op_infer_output(call, call->inputs[1].dtype, &shape, NULL, err));
    return leati_op_infer_output(call, call->inputs[1].dtype, &call->inputs[1].shape, NULL, err);
}

#define CROSS_ENTROPY(TYPE, EXP)                                                                   \
    static TYPE cross_entropy_##TYPE(const TYPE *logits, int64_t label, TYPE *gradient,            \
                                     int64_t n) {                                                  \
        TYPE log_sum = shift_logits_##TYPE(logits, gradient, n);                                   \
        TYPE loss = log_sum - gradient[label];                                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            gradient[i] = EXP(gradient[i] - log_sum);                                              \
        gradient[label] -= 1;                                                                      \
        return loss;                                                                               \
    }
/* The gradient's memory holds the shifted logits until the loss is read from them. */
CROSS_ENTROPY(float, expf)
CROSS_ENTROPY(double, exp)

static leat_status sparse_row(leati_kernel_call *call, int64_t row, int64_t classes,
                              leat_error *err) {
    const leati_operand *labels = &call->inputs[0], *logits = &call->inputs[1];
    char *loss = leati_support_row_of(&call->outputs[0], row),
         *gradient = leati_support_row_of(&call->outputs[1], row);
    int64_t done = 0;
    for (int64_t i = 0; i < labels->count && !leati_stop_look_after(classes, &done); i++) {
        int64_t label = leati_support_index_at(labels, row, i);
        if (label < 0 || label >= classes) {
            /* Lines before it are written already; the output is thrown away. */
            call->failed_row = row;
            return leati_refuse(err, VALUE,
                                "label %lld of row %lld is outside [0, %lld), the classes of the "
                                "logits",
                                (long long)label, (long long)i, (long long)classes);
        }
        int64_t at = i * classes;
        if (logits->dtype == LEAT_FLOAT32)
            ((float *)loss)[i] =
                cross_entropy_float((const float *)leati_support_row_of(logits, row) + at, label,
                                    (float *)gradient + at, classes);
        else
            ((double *)loss)[i] =
                cross_entropy_double((const double *)leati_support_row_of(logits, row) + at, label,
                                     (double *)gradient + at, classes);
    }
    return LEAT_OK;
}

static leat_status sparse_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape labels = leati_support_operand_shape(&call->inputs[0]);
    leat_shape logits = leati_support_operand_shape(&call->inputs[1]), shape;
    LEATI_TRY(label_shape(&labels, &logits, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 1, &logits, err));
    for (int64_t row = 0; row < call->n; row++)
        LEATI_TRY(sparse_row(call, row, logits.dims[logits.rank - 1], err));
    return LEAT_OK;
}

static leat_status sparse_gradient(leati_gradient_call *call, leat_error *err) {
    if (call->output_gradients[1].id >= 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no second derivative; build it from log_softmax and gather");
    if (call->output_gradients[0].id >= 0)
        /* One gradient for each line's loss: it scales that line of softmax minus one-hot. */
        call->input_gradients[1] =
            leat_op_multiply(leat_op_expand_dims(call->output_gradients[0], -1), call->outputs[1]);
    return LEAT_OK;
}

/* The descriptor of one operation. */
#define SOFTMAX_OP(NAME, DOC, ...)                                                                 \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.nn." #NAME ").",                                                          \
        .inputs = "logits",                                                                        \
        .signature = "logits axis=null",                                                           \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_FLOAT,                                                              \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
SOFTMAX_OP(softmax, "exp(x) / sum(exp(x)) along the last dimension", .names = "nn.softmax",
           .infer = softmax_infer)
SOFTMAX_OP(log_softmax, "The logarithm of softmax along the last dimension",
           .names = "nn.log_softmax math.log_softmax", .infer = softmax_infer)

const leati_tensor_op leati_tensor_op_sparse_softmax_cross_entropy_with_logits = {
    .name = "sparse_softmax_cross_entropy_with_logits",
    .version = 1,
    .doc = "The loss of each line of logits against its label, and the loss's gradient "
           "(tf.nn.sparse_softmax_cross_entropy_with_logits).",
    .names = "nn.sparse_softmax_cross_entropy_with_logits",
    .inputs = "labels logits",
    .types = "Tlabels T",
    .outputs = "loss [backprop]",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = sparse_infer,
    .kernel = sparse_kernel,
    .gradient = sparse_gradient,
};
