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
#include "graph/support/nn/softmax_lines.h"
#include "run/crew.h"

#include <math.h>
#include <stdatomic.h>

enum { PIECE = 1 << 14, AT_ONCE = 256 }; /* values, lines */

static leat_status softmax_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    if (call->inputs[0].shape.rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected at least one dimension");
    return leati_op_infer_same(call, err);
}

/* Lines of all rows, one behind the other, and how many of them are a piece. */
typedef struct lines_run {
    leati_kernel_call *call;
    const leati_operand *in, *out; /* the logits; where their softmax goes, or its logarithm */
    bool log;
    int64_t n, each, lines, part; /* `each`: lines of a row, `lines`: of all */
    atomic_int_fast64_t failed;   /* the first line whose label is none */
} lines_run;

static void lines_begin(lines_run *run, leati_kernel_call *call, const leati_operand *in,
                        const leati_operand *out) {
    *run = (lines_run){.call = call, .in = in, .out = out, .n = in->dims[in->rank - 1]};
    atomic_init(&run->failed, INT64_MAX);
    /* Lines without values are none. */
    run->each = run->n > 0 ? in->count / run->n : 0;
    run->lines = run->each * call->n;
    run->part = run->n > 0 ? LEATI_MAX(PIECE / run->n, 1) : 1;
}

static void lines_share(lines_run *run, leati_crew_piece *piece) {
    double ns = leati_softmax_ns(run->in->dtype, (double)run->lines * (double)run->n);
    leati_crew_share(ns, (run->lines + run->part - 1) / run->part, piece, run);
}

/* The next lines from `at` on that one call takes: of one row. */
static leati_softmax_lines lines_next(const lines_run *run, int64_t at, int64_t end) {
    int64_t row = at / run->each, first = at % run->each;
    int64_t most = LEATI_MIN(leati_softmax_most(run->n), AT_ONCE);
    size_t offset = (size_t)(first * run->n) * leat_dtype_size(run->in->dtype);
    return (leati_softmax_lines){
        .dtype = run->in->dtype,
        .log = run->log,
        .in = leati_support_row_of(run->in, row) + offset,
        .out = leati_support_row_of(run->out, row) + offset,
        .n = run->n,
        .lines = LEATI_MIN(LEATI_MIN(run->each - first, end - at), most),
    };
}

static void softmax_piece(void *data, int64_t piece) {
    const lines_run *run = data;
    int64_t at = piece * run->part, end = LEATI_MIN(at + run->part, run->lines);
    double tops[AT_ONCE], sums[AT_ONCE];
    while (at < end) {
        leati_softmax_lines lines = lines_next(run, at, end);
        lines.tops = tops;
        lines.sums = sums;
        leati_softmax_run(&lines);
        at += lines.lines;
    }
}

static leat_status over_lines(leati_kernel_call *call, bool log, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    lines_run run;
    if (shape.rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected at least one dimension");
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    lines_begin(&run, call, in, &call->outputs[0]);
    run.log = log;
    lines_share(&run, softmax_piece);
    return LEAT_OK;
}

static leat_status softmax_kernel(leati_kernel_call *call, leat_error *err) {
    return over_lines(call, false, err);
}

static leat_status softmax_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    /* dy_i/dx_j = y_i (1[i = j] - y_j), so x_j gets y_j (g_j - sum_i g_i y_i). */
    leat_value sum = leat_op_reduce_sum(leat_op_multiply(g, y), (int64_t[]){-1}, 1, true);
    call->input_gradients[0] = leat_op_multiply(leat_op_subtract(g, sum), y);
    return LEAT_OK;
}

static leat_status log_softmax_kernel(leati_kernel_call *call, leat_error *err) {
    return over_lines(call, true, err);
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

static void refuse_line(lines_run *run, int64_t line) {
    int64_t first = atomic_load(&run->failed);
    while (line < first && !atomic_compare_exchange_weak(&run->failed, &first, line)) {
    }
}

/* The losses of some lines, and in the gradient's place, where softmax is, minus 1 at the label. */
static void take_labels(lines_run *run, const leati_softmax_lines *lines, int64_t at) {
    int64_t row = at / run->each, first = at % run->each;
    char *losses = leati_support_row_of(&run->call->outputs[0], row);
    for (int64_t k = 0; k < lines->lines; k++) {
        int64_t label = leati_support_index_at(&run->call->inputs[0], row, first + k);
        if (label < 0 || label >= run->n) {
            refuse_line(run, at + k);
            continue;
        }
        int64_t place = k * run->n + label;
        if (lines->dtype == LEAT_FLOAT32) {
            float below = ((const float *)(const void *)lines->in)[place] - (float)lines->tops[k];
            ((float *)(void *)losses)[first + k] = (float)log(lines->sums[k]) - below;
            ((float *)(void *)lines->out)[place] -= 1;
        } else {
            double below = ((const double *)(const void *)lines->in)[place] - lines->tops[k];
            ((double *)(void *)losses)[first + k] = log(lines->sums[k]) - below;
            ((double *)(void *)lines->out)[place] -= 1;
        }
    }
}

static void sparse_piece(void *data, int64_t piece) {
    lines_run *run = data;
    int64_t at = piece * run->part, end = LEATI_MIN(at + run->part, run->lines);
    double tops[AT_ONCE], sums[AT_ONCE];
    while (at < end) {
        leati_softmax_lines lines = lines_next(run, at, end);
        lines.tops = tops;
        lines.sums = sums;
        leati_softmax_run(&lines);
        take_labels(run, &lines, at);
        at += lines.lines;
    }
}

static leat_status sparse_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape labels = leati_support_operand_shape(&call->inputs[0]);
    leat_shape logits = leati_support_operand_shape(&call->inputs[1]), shape;
    LEATI_TRY(label_shape(&labels, &logits, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 1, &logits, err));
    lines_run run;
    lines_begin(&run, call, &call->inputs[1], &call->outputs[1]);
    lines_share(&run, sparse_piece);
    if (run.n == 0 && call->n > 0 && call->inputs[0].count > 0) {
        run.each = call->inputs[0].count;
        refuse_line(&run, 0); /* there is no class that it could name */
    }
    int64_t failed = atomic_load(&run.failed);
    if (failed == INT64_MAX)
        return LEAT_OK;
    /* What was written is thrown away. */
    call->failed_row = failed / run.each;
    return leati_refuse(
        err, VALUE, "label %lld of row %lld is outside [0, %lld), the classes of the logits",
        (long long)leati_support_index_at(&call->inputs[0], call->failed_row, failed % run.each),
        (long long)(failed % run.each), (long long)run.n);
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
