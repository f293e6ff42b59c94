/* batch_norm: each channel without the mean and the biased variance of the batch, then scaled and
 * moved (tf.raw_ops.FusedBatchNormV3 in training, but for its unbiased variance). Inputs: x [...,
 * C], gamma [C], beta [C]. Outputs: the result, the mean [C], the variance [C].
 *
 * Sums are of float64, so the order of summation does not show. Fails where the vectors do not
 * have as many values as the last dimension. No state, no locks. */
#include "graph/ops/nn/batch_norm.h"

#include <math.h>
#include <string.h>

const leati_row leati_batch_norm_rows[] = {
    {.name = "epsilon",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct leati_batch_norm_args, epsilon),
     .default_number = 0.001,
     .doc = "Added to the variance."},
    {0},
};

leat_status leati_batch_norm_want_channels(const leati_infer_call *call, int index,
                                           const leat_shape *x, const char *what, leat_error *err) {
    const leat_shape *vector = &call->inputs[index].shape;
    LEATI_TRY(leati_support_want_rank(call, index, 1, what, err));
    if (x->rank < 0 || vector->rank < 0)
        return LEAT_OK;
    if (x->rank == 0)
        return leati_refuse(err, SHAPE, "x is a scalar; expected a last dimension of channels");
    return leati_support_want_equal_dims(x->dims[x->rank - 1], vector->dims[0], what, err);
}

/* The vector of channels: as far as known, from x or from gamma. */
static leat_shape channels_of(const leati_infer_call *call) {
    const leat_shape *x = &call->inputs[0].shape, *gamma = &call->inputs[1].shape;
    leat_shape vector = {.rank = 1, .dims = {LEAT_UNKNOWN_DIM}};
    if (x->rank > 0)
        vector.dims[0] = x->dims[x->rank - 1];
    if (vector.dims[0] == LEAT_UNKNOWN_DIM && gamma->rank == 1)
        vector.dims[0] = gamma->dims[0];
    return vector;
}

static leat_status batch_norm_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *x = &call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    LEATI_TRY(leati_support_want_float(call, 0, "x", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_batch_norm_want_channels(call, 1, x, "the channels of x and gamma", err));
    LEATI_TRY(leati_batch_norm_want_channels(call, 2, x, "the channels of x and beta", err));
    leat_shape vector = channels_of(call);
    LEATI_TRY(leati_op_infer_output(call, dtype, x, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, dtype, &vector, NULL, err));
    return leati_op_infer_output(call, dtype, &vector, NULL, err);
}

/* Fills mean and variance, with two vectors of float64 as scratch, and the result. */
#define BATCH_NORM(TYPE)                                                                           \
    static void batch_norm_##TYPE(const TYPE *x, const TYPE *gamma, const TYPE *beta, TYPE *y,     \
                                  TYPE *mean, TYPE *variance, double epsilon, double *scratch,     \
                                  int64_t n, int64_t channels) {                                   \
        double *sums = scratch, *squares = scratch + channels;                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t c = 0; c < channels; c++)                                                 \
                sums[c] += (double)x[i * channels + c];                                            \
        for (int64_t c = 0; c < channels; c++)                                                     \
            sums[c] /= (double)n;                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t c = 0; c < channels; c++) {                                               \
                double apart = (double)x[i * channels + c] - sums[c];                              \
                squares[c] += apart * apart;                                                       \
            }                                                                                      \
        for (int64_t c = 0; c < channels; c++) {                                                   \
            mean[c] = (TYPE)sums[c];                                                               \
            variance[c] = (TYPE)(squares[c] / (double)n);                                          \
            TYPE factor = (TYPE)((double)gamma[c] / sqrt((double)variance[c] + epsilon));          \
            TYPE offset = beta[c] - mean[c] * factor;                                              \
            for (int64_t i = 0; i < n; i++)                                                        \
                y[i * channels + c] = x[i * channels + c] * factor + offset;                       \
        }                                                                                          \
    }
BATCH_NORM(float)
BATCH_NORM(double)

static leat_status batch_norm_rows(leati_kernel_call *call, int64_t channels, leat_error *err) {
    const struct leati_batch_norm_args *args = call->args;
    const leati_operand *x = &call->inputs[0];
    size_t bytes = 2 * (size_t)channels * sizeof(double);
    double *scratch = leati_arena_alloc(call->arena, bytes);
    if (scratch == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n; row++) {
        char *in[3], *out[3];
        for (int i = 0; i < 3; i++) {
            in[i] = leati_support_row_of(&call->inputs[i], row);
            out[i] = leati_support_row_of(&call->outputs[i], row);
        }
        memset(scratch, 0, bytes);
        if (x->dtype == LEAT_FLOAT32)
            batch_norm_float((const float *)in[0], (const float *)in[1], (const float *)in[2],
                             (float *)out[0], (float *)out[1], (float *)out[2], args->epsilon,
                             scratch, x->count / channels, channels);
        else
            batch_norm_double((const double *)in[0], (const double *)in[1], (const double *)in[2],
                              (double *)out[0], (double *)out[1], (double *)out[2], args->epsilon,
                              scratch, x->count / channels, channels);
    }
    return LEAT_OK;
}

static leat_status batch_norm_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape x = leati_support_operand_shape(&call->inputs[0]);
    leat_shape vector = {.rank = 1};
    if (x.rank < 1)
        return leati_refuse(err, SHAPE, "x is a scalar; expected a last dimension of channels");
    vector.dims[0] = x.dims[x.rank - 1];
    for (int i = 1; i < 3; i++) {
        if (call->inputs[i].rank != 1)
            return leati_refuse(err, SHAPE,
                                "input %d has rank %d; expected a vector of the channels", i,
                                (int)call->inputs[i].rank);
        LEATI_TRY(leati_support_want_equal_dims(
            vector.dims[0], call->inputs[i].dims[0],
            i == 1 ? "the channels of x and gamma" : "the channels of x and beta", err));
    }
    LEATI_TRY(leati_support_output_like(call, 0, &x, err));
    LEATI_TRY(leati_support_output_like(call, 1, &vector, err));
    LEATI_TRY(leati_support_output_like(call, 2, &vector, err));
    return vector.dims[0] > 0 ? batch_norm_rows(call, vector.dims[0], err) : LEAT_OK;
}

/* What flows into x through the mean and the variance: g_mean / n + g_variance * 2 (x - mean) / n.
 */
static leat_value through_moments(const leati_gradient_call *call) {
    leat_value x = call->inputs[0], total = {.graph = call->graph, .id = -1};
    leat_value of_mean = call->output_gradients[1], of_variance = call->output_gradients[2];
    if (of_mean.id < 0 && of_variance.id < 0)
        return total;
    leat_value count = leat_op_sum_like(leat_op_ones_like(x), call->inputs[1]);
    if (of_mean.id >= 0)
        total = leat_op_broadcast_like(leat_op_divide(of_mean, count), x);
    if (of_variance.id >= 0) {
        leat_value apart = leat_op_subtract(x, call->outputs[1]);
        leat_value part =
            leat_op_multiply(apart, leat_op_divide(leati_support_times(of_variance, 2), count));
        total = of_mean.id >= 0 ? leat_op_add(total, part) : part;
    }
    return total;
}

static leat_status batch_norm_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value flows = through_moments(call);
    call->input_gradients[0] = flows;
    if (call->output_gradients[0].id < 0)
        return LEAT_OK;
    const leat_value inputs[5] = {call->output_gradients[0], call->inputs[0], call->inputs[1],
                                  call->outputs[1], call->outputs[2]};
    leat_value first =
        leati_graph_node(call->graph, &leati_tensor_op_batch_norm_grad, call->args, inputs, 5);
    if (leati_support_value_failed(first))
        return LEAT_OK;
    for (int i = 0; i < 3; i++)
        call->input_gradients[i] = (leat_value){.graph = call->graph, .id = first.id + i};
    if (flows.id >= 0)
        call->input_gradients[0] = leat_op_add(call->input_gradients[0], flows);
    return LEAT_OK;
}

void leati_batch_norm(leat_value x, leat_value gamma, leat_value beta, double epsilon,
                      leat_value out[3]) {
    const struct leati_batch_norm_args args = {.epsilon = epsilon};
    leat_value first = leati_graph_build3(&leati_tensor_op_batch_norm, &args, x, gamma, beta);
    bool failed = leati_support_value_failed(first);
    for (int i = 0; i < 3; i++)
        out[i] = (leat_value){.graph = first.graph, .id = failed ? first.id : first.id + i};
}

const leati_tensor_op leati_tensor_op_batch_norm = {
    .name = "batch_norm",
    .version = 1,
    .doc = "Each channel without the mean and variance of the batch, scaled and moved; and both of "
           "them (tf.raw_ops.FusedBatchNormV3 in training, with the biased variance).",
    .types = "T T T",
    .outputs = "y batch_mean batch_variance",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_batch_norm_rows,
    .args_size = sizeof(struct leati_batch_norm_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = batch_norm_infer,
    .kernel = batch_norm_kernel,
    .gradient = batch_norm_gradient,
};
