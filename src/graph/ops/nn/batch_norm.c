/* batch_norm: each channel without the mean and the biased variance of the batch, then scaled and
 * moved (tf.raw_ops.FusedBatchNormV3 in training, but for its unbiased variance). Inputs: x [...,
 * C], gamma [C], beta [C]. Outputs: the result, the mean [C], the variance [C]. batch_norm_grad:
 * its gradient (tf.raw_ops.FusedBatchNormGradV3 in training). Inputs: the gradient of the result,
 * x, gamma, and the mean and biased variance that batch_norm found. Outputs: the gradients of x,
 * gamma and beta.
 *
 * With r = 1 / sqrt(variance + epsilon) and h = (x - mean) r: beta's is sum g, gamma's sum g h, and
 * x's gamma r (g - sum g / n - h sum (g h) / n). Sums are of float64, so the order of summation
 * does not show. The gradient's own gradient is built of elementary operations. Fails where the
 * vectors do not have as many values as the last dimension, and where shapes do not fit. No state,
 * no locks. */
#include "graph/ops/nn/batch_norm.h"
#include <math.h>
#include <string.h>

struct batch_norm_args {
    double epsilon;
};

static const leati_row epsilon_rows[] = {
    {.name = "epsilon",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct batch_norm_args, epsilon),
     .default_number = 0.001,
     .doc = "Added to the variance."},
    {0},
};

/* For infer: input `index` is a vector of as many values as the last dimension of `x`. */
static leat_status want_channels(const leati_infer_call *call, int index, const leat_shape *x,
                                 const char *what, leat_error *err) {
    const leat_shape *vector = &call->inputs[index].shape;
    LEATI_TRY(leati_support_want_rank(call, index, 1, what, err));
    /* Nothing to compare yet: the kernel asks again, with the shapes of the run. */
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
    LEATI_TRY(want_channels(call, 1, x, "the channels of x and gamma", err));
    LEATI_TRY(want_channels(call, 2, x, "the channels of x and beta", err));
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
/* Two passes, as sum x^2 - (sum x)^2 / n cancels where the mean is large beside the deviation. The
 * factor is made of the rounded variance, which is all that the gradient will know of it. */
BATCH_NORM(float)
BATCH_NORM(double)

static leat_status batch_norm_rows(leati_kernel_call *call, int64_t channels, leat_error *err) {
    const struct batch_norm_args *args = call->args;
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
    /* Without channels there are no values, and no x->count / channels. */
    return vector.dims[0] > 0 ? batch_norm_rows(call, vector.dims[0], err) : LEAT_OK;
}

/* What flows into x through the mean and the variance: g_mean / n + g_variance * 2 (x - mean) / n.
 */
static leat_value through_moments(const leati_gradient_call *call) {
    leat_value x = call->inputs[0], total = {.graph = call->graph, .id = -1};
    leat_value of_mean = call->output_gradients[1], of_variance = call->output_gradients[2];
    if (of_mean.id < 0 && of_variance.id < 0)
        return total;
    /* The number of pixels as a value, because dimensions may be unknown until the run. */
    leat_value count = leat_op_sum_like(leat_op_ones_like(x), call->inputs[1]);
    if (of_mean.id >= 0)
        total = leat_op_broadcast_like(leat_op_divide(of_mean, count), x);
    if (of_variance.id >= 0) {
        /* The mean moves with x too, but by sum (x - mean) = 0 that adds nothing. */
        leat_value apart = leat_op_subtract(x, call->outputs[1]);
        leat_value part =
            leat_op_multiply(apart, leat_op_divide(leati_support_times(of_variance, 2), count));
        total = of_mean.id >= 0 ? leat_op_add(total, part) : part;
    }
    return total;
}

static leat_status batch_norm_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Most models do not read the moments' gradients; flows is then no value (id -1). */
    leat_value flows = through_moments(call);
    call->input_gradients[0] = flows;
    if (call->output_gradients[0].id < 0)
        return LEAT_OK;
    const leat_value inputs[5] = {call->output_gradients[0], call->inputs[0], call->inputs[1],
                                  call->outputs[1], call->outputs[2]};
    leat_value first =
        leati_graph_node(call->graph, &leati_tensor_op_batch_norm_grad, call->args, inputs, 5);
    /* The graph keeps the error of a node that could not be added, and refuses to be finished. */
    if (leati_support_value_failed(first))
        return LEAT_OK;
    /* Outputs of a node are values in a row, so ids follow from the first one's. */
    for (int i = 0; i < 3; i++)
        call->input_gradients[i] = (leat_value){.graph = call->graph, .id = first.id + i};
    if (flows.id >= 0)
        call->input_gradients[0] = leat_op_add(call->input_gradients[0], flows);
    return LEAT_OK;
}

void leati_batch_norm(leat_value x, leat_value gamma, leat_value beta, double epsilon,
                      leat_value out[3]) {
    const struct batch_norm_args args = {.epsilon = epsilon};
    leat_value first = leati_graph_build3(&leati_tensor_op_batch_norm, &args, x, gamma, beta);
    bool failed = leati_support_value_failed(first);
    for (int i = 0; i < 3; i++)
        out[i] = (leat_value){.graph = first.graph, .id = failed ? first.id : first.id + i};
}

static const char *const names[5] = {"the gradient", "x", "gamma", "the mean", "the variance"};

static leat_status batch_norm_grad_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *gradient = &call->inputs[0].shape, *x = &call->inputs[1].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape vector = {.rank = 1, .dims = {LEAT_UNKNOWN_DIM}};
    LEATI_TRY(leati_support_want_float(call, 0, names[0], err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (!leati_shape_compatible(gradient, x)) {
        char texts[2][128];
        return leati_refuse(err, SHAPE, "the gradient has shape %s and x %s; expected equal shapes",
                            leati_shape_text(gradient, texts[0]), leati_shape_text(x, texts[1]));
    }
    for (int i = 2; i < 5; i++) {
        LEATI_TRY(want_channels(call, i, x, names[i], err));
        if (call->inputs[i].shape.rank == 1 && vector.dims[0] == LEAT_UNKNOWN_DIM)
            /* Whichever vector is known first says how many channels there are. */
            vector = call->inputs[i].shape;
    }
    if (x->rank > 0 && vector.dims[0] == LEAT_UNKNOWN_DIM)
        vector.dims[0] = x->dims[x->rank - 1];
    /* x and its gradient have one shape; whichever is known says which. */
    LEATI_TRY(leati_op_infer_output(call, dtype, x->rank < 0 ? gradient : x, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, dtype, &vector, NULL, err));
    return leati_op_infer_output(call, dtype, &vector, NULL, err);
}

/* `in` in the order of the inputs, `out` of the outputs; two vectors of float64 as scratch. */
#define BATCH_NORM_GRAD(TYPE)                                                                      \
    static void batch_norm_grad_##TYPE(const TYPE *const *in, TYPE *const *out, double epsilon,    \
                                       double *scratch, int64_t n, int64_t channels) {             \
        double *sums = scratch, *products = scratch + channels;                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t c = 0; c < channels; c++) {                                               \
                double g = (double)in[0][i * channels + c];                                        \
                sums[c] += g;                                                                      \
                products[c] += g * ((double)in[1][i * channels + c] - (double)in[3][c]);           \
            }                                                                                      \
        for (int64_t c = 0; c < channels; c++) {                                                   \
            double root = 1 / sqrt((double)in[4][c] + epsilon);                                    \
            double factor = (double)in[2][c] * root;                                               \
            double mean = sums[c] / (double)n, slope = products[c] * root * root / (double)n;      \
            out[1][c] = (TYPE)(products[c] * root);                                                \
            out[2][c] = (TYPE)sums[c];                                                             \
            for (int64_t i = 0; i < n; i++) {                                                      \
                int64_t at = i * channels + c;                                                     \
                double apart = (double)in[1][at] - (double)in[3][c];                               \
                out[0][at] = (TYPE)(factor * ((double)in[0][at] - mean - apart * slope));          \
            }                                                                                      \
        }                                                                                          \
    }
/* products holds sum g (x - mean), that is sum (g h) / r: one factor of r makes gamma's gradient of
 * it, two and the (x - mean) outside make x's. */
BATCH_NORM_GRAD(float)
BATCH_NORM_GRAD(double)

static leat_status batch_norm_grad_rows_of(leati_kernel_call *call, int64_t channels,
                                           leat_error *err) {
    const struct batch_norm_args *args = call->args;
    int64_t n = call->inputs[1].count / channels;
    size_t bytes = 2 * (size_t)channels * sizeof(double);
    double *scratch = leati_arena_alloc(call->arena, bytes);
    if (scratch == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n; row++) {
        const void *in[5];
        void *out[3];
        for (int i = 0; i < 5; i++)
            in[i] = leati_support_row_of(&call->inputs[i], row);
        for (int i = 0; i < 3; i++)
            out[i] = leati_support_row_of(&call->outputs[i], row);
        memset(scratch, 0, bytes);
        if (call->inputs[0].dtype == LEAT_FLOAT32)
            batch_norm_grad_float((const float *const[]){in[0], in[1], in[2], in[3], in[4]},
                                  (float *const[]){out[0], out[1], out[2]}, args->epsilon, scratch,
                                  n, channels);
        else
            batch_norm_grad_double((const double *const[]){in[0], in[1], in[2], in[3], in[4]},
                                   (double *const[]){out[0], out[1], out[2]}, args->epsilon,
                                   scratch, n, channels);
    }
    return LEAT_OK;
}

static leat_status batch_norm_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape gradient = leati_support_operand_shape(&call->inputs[0]);
    leat_shape x = leati_support_operand_shape(&call->inputs[1]), vector = {.rank = 1};
    char texts[2][128];
    if (x.rank < 1 || !leati_shape_equal(&gradient, &x))
        return leati_refuse(err, SHAPE, "the gradient has shape %s and x %s; expected equal shapes",
                            leati_shape_text(&gradient, texts[0]), leati_shape_text(&x, texts[1]));
    vector.dims[0] = x.dims[x.rank - 1];
    for (int i = 2; i < 5; i++) {
        leat_shape found = leati_support_operand_shape(&call->inputs[i]);
        if (!leati_shape_equal(&found, &vector))
            return leati_refuse(err, SHAPE, "%s has shape %s; expected %s, the channels of x",
                                names[i], leati_shape_text(&found, texts[0]),
                                leati_shape_text(&vector, texts[1]));
    }
    /* Both vectors are as long as x has channels, as gamma and beta are. */
    LEATI_TRY(leati_support_output_like(call, 0, &x, err));
    LEATI_TRY(leati_support_output_like(call, 1, &vector, err));
    LEATI_TRY(leati_support_output_like(call, 2, &vector, err));
    return vector.dims[0] > 0 ? batch_norm_grad_rows_of(call, vector.dims[0], err) : LEAT_OK;
}

/* ---- the second derivative ---- */

/* Values that it is made of; vectors of the channels but for g, x, h and a. */
struct second {
    leat_value g, x, gamma, root;         /* root: 1 / sqrt(variance + epsilon) */
    leat_value apart, h;                  /* x - mean, and that times root */
    leat_value count, sum, product;       /* sum, product: means, over the pixels, of g and g h */
    leat_value a, sum_a, product_a, both; /* a: what flows into x's gradient; both: sum a g */
};

static leat_value sum_of(const struct second *s, leat_value x) {
    return leat_op_sum_like(x, s->gamma);
}

static void find_parts(const leati_gradient_call *call, struct second *s) {
    const struct batch_norm_args *args = call->args;
    s->g = call->inputs[0];
    s->x = call->inputs[1];
    s->gamma = call->inputs[2];
    leat_value least = leati_support_number(call->graph, leat_value_dtype(s->x), args->epsilon);
    s->root = leat_op_rsqrt(leat_op_add(call->inputs[4], least));
    s->apart = leat_op_subtract(s->x, call->inputs[3]);
    s->h = leat_op_multiply(s->apart, s->root);
    s->count = sum_of(s, leat_op_ones_like(s->x));
    s->sum = leat_op_divide(sum_of(s, s->g), s->count);
    s->product = leat_op_divide(sum_of(s, leat_op_multiply(s->g, s->h)), s->count);
    s->a = call->output_gradients[0];
    /* Only gamma's or beta's gradient is differentiated: a zero keeps one set of formulas. */
    if (s->a.id < 0)
        s->a = leat_op_zeros_like(s->x);
    s->sum_a = leat_op_divide(sum_of(s, s->a), s->count);
    s->product_a = leat_op_divide(sum_of(s, leat_op_multiply(s->a, s->h)), s->count);
    s->both = sum_of(s, leat_op_multiply(s->a, s->g));
}

/* Of the sum of a times x's gradient, by gamma * root: both - n sum_a sum - n product_a product. */
static leat_value reach_of(const struct second *s) {
    leat_value lost =
        leat_op_add(leat_op_multiply(s->sum_a, s->sum), leat_op_multiply(s->product_a, s->product));
    return leat_op_subtract(s->both, leat_op_multiply(s->count, lost));
}

/* With q = gamma root, x's gradient is q (g - sum - h product); mean and variance are inputs of
 * their own here, so h and root lead back to x, the mean and the variance. */
static leat_status batch_norm_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    struct second s;
    find_parts(call, &s);
    leat_value factor = leat_op_multiply(s.gamma, s.root), reach = reach_of(&s);
    leat_value to_g =
        leat_op_subtract(leat_op_subtract(s.a, s.sum_a), leat_op_multiply(s.h, s.product_a));
    leat_value to_h = leat_op_negate(
        leat_op_add(leat_op_multiply(s.a, s.product), leat_op_multiply(s.g, s.product_a)));
    to_g = leat_op_multiply(to_g, factor);
    to_h = leat_op_multiply(to_h, factor);
    leat_value of_gamma = call->output_gradients[1], of_beta = call->output_gradients[2];
    /* gamma's gradient is sum g h, beta's sum g. */
    if (of_gamma.id >= 0) {
        to_g = leat_op_add(to_g, leat_op_multiply(s.h, of_gamma));
        to_h = leat_op_add(to_h, leat_op_multiply(s.g, of_gamma));
    }
    if (of_beta.id >= 0)
        to_g = leat_op_add(to_g, of_beta);
    /* root stands in h = apart root, and as a factor of x's whole gradient. */
    leat_value to_root =
        leat_op_add(sum_of(&s, leat_op_multiply(to_h, s.apart)), leat_op_multiply(s.gamma, reach));
    /* root = (variance + epsilon)^(-1/2) has the slope -1/2 root^3. */
    leat_value cube = leat_op_multiply(leat_op_square(s.root), s.root);
    call->input_gradients[0] = to_g;
    call->input_gradients[1] = leat_op_multiply(to_h, s.root);
    call->input_gradients[2] = leat_op_multiply(s.root, reach);
    call->input_gradients[3] = leat_op_negate(sum_of(&s, call->input_gradients[1]));
    call->input_gradients[4] = leati_support_times(leat_op_multiply(to_root, cube), -0.5);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_batch_norm = {
    .name = "batch_norm",
    .version = 1,
    .doc = "Each channel without the mean and variance of the batch, scaled and moved; and both of "
           "them (tf.raw_ops.FusedBatchNormV3 in training, with the biased variance).",
    .types = "T T T",
    .outputs = "y batch_mean batch_variance",
    .halves = LEATI_HALVES_FLOAT,
    .rows = epsilon_rows,
    .args_size = sizeof(struct batch_norm_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = batch_norm_infer,
    .kernel = batch_norm_kernel,
    .gradient = batch_norm_gradient,
};

const leati_tensor_op leati_tensor_op_batch_norm_grad = {
    .name = "batch_norm_grad",
    .version = 1,
    .doc = "The gradients of batch_norm for x, gamma and beta (tf.raw_ops.FusedBatchNormGradV3 in "
           "training, with the biased variance).",
    .types = "T T T T T",
    .outputs = "x_backprop scale_backprop offset_backprop",
    .halves = LEATI_HALVES_FLOAT,
    .rows = epsilon_rows,
    .args_size = sizeof(struct batch_norm_args),
    .min_inputs = 5,
    .max_inputs = 5,
    .infer = batch_norm_grad_infer,
    .kernel = batch_norm_grad_kernel,
    .gradient = batch_norm_grad_gradient,
};
