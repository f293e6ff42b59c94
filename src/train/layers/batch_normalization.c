/* BatchNormalization: values of each channel with the mean and variance of the batch taken out,
 * and moving ones in inference (keras.layers.BatchNormalization). Happy path: in training the
 * moving statistics go a part of the way to those of the batch, whose variance is the biased one.
 * synchronized: the statistics are those of all replicas' batches together. Failures: a channel
 * count that is unknown. No state, no locks. */
#include "base/error.h"
#include "graph/ops/nn/batch_norm.h"
#include "train/support/normalize.h"

struct batch_normalization_args {
    char *name; /* first: struct leati_layer_args */
    int64_t axis;
    double momentum, epsilon;
    bool center, scale, synchronized, trainable;
    char *beta_initializer, *gamma_initializer;
    char *moving_mean_initializer, *moving_variance_initializer;
};

static const leati_row batch_normalization_rows[] = {
    LEATI_LAYER_ROW(batch_normalization_args, axis, INT, .default_number = -1,
                    .doc = "The dimension of the channels; negative: from the last."),
    LEATI_LAYER_ROW(batch_normalization_args, momentum, FLOAT, .default_number = 0.99,
                    .doc = "The part of the moving statistics that a step keeps."),
    LEATI_LAYER_ROW(batch_normalization_args, epsilon, FLOAT, .default_number = 0.001,
                    .doc = "Added to the variance."),
    LEATI_LAYER_ROW(batch_normalization_args, center, BOOL, .default_number = 1,
                    .doc = "Whether an offset beta is learnt."),
    LEATI_LAYER_ROW(batch_normalization_args, scale, BOOL, .default_number = 1,
                    .doc = "Whether a factor gamma is learnt."),
    LEATI_LAYER_ROW(batch_normalization_args, beta_initializer, STRING, .default_text = "zeros",
                    .doc = "Name of the offset's initialiser."),
    LEATI_LAYER_ROW(batch_normalization_args, gamma_initializer, STRING, .default_text = "ones",
                    .doc = "Name of the factor's initialiser."),
    LEATI_LAYER_ROW(batch_normalization_args, moving_mean_initializer, STRING,
                    .default_text = "zeros", .doc = "Name of the moving mean's initialiser."),
    LEATI_LAYER_ROW(batch_normalization_args, moving_variance_initializer, STRING,
                    .default_text = "ones", .doc = "Name of the moving variance's initialiser."),
    LEATI_LAYER_ROW(batch_normalization_args, synchronized, BOOL,
                    .doc = "Whether the statistics are those of all replicas together."),
    LEATI_LAYER_ROW(batch_normalization_args, trainable, BOOL, .default_number = 1,
                    .doc = "Whether training changes it; if not, it computes as in inference."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status batch_normalization_weights(const void *arguments, const leat_shape *input,
                                               leati_weights *out, leat_error *err) {
    const struct batch_normalization_args *args = arguments;
    leat_shape shape;
    /* A list of one number, borrowed; it is only read. */
    LEATI_TRY(leati_normalize_shape(&(leati_ints){(int64_t *)(uintptr_t)&args->axis, 1}, input,
                                    &shape, err));
    *out = (leati_weights){.count = 0};
    leati_normalize_weights(args->scale ? args->gamma_initializer : NULL,
                            args->center ? args->beta_initializer : NULL, &shape, out);
    for (int i = 0; i < out->count; i++)
        /* Frozen: gamma and beta are no trainable weights then. */
        out->list[i].fixed = !args->trainable;
    out->list[out->count++] = (leati_weight){.name = "moving_mean",
                                             .shape = shape,
                                             .initializer = args->moving_mean_initializer,
                                             .fixed = true};
    out->list[out->count++] = (leati_weight){.name = "moving_variance",
                                             .shape = shape,
                                             .initializer = args->moving_variance_initializer,
                                             .fixed = true};
    return LEAT_OK;
}

/* old * momentum + new * (1 - momentum). */
static leat_value moved(const struct batch_normalization_args *args, leat_value old,
                        leat_value next) {
    return leat_op_add(leati_support_times(old, args->momentum),
                       leati_support_times(next, 1 - args->momentum));
}

/* Can one operation do it: channels last, and the statistics this batch's own? */
static bool is_one_operation(const struct batch_normalization_args *args, leat_value x,
                             int32_t axis) {
    leat_dtype dtype = leat_value_dtype(x);
    /* The operation takes no other dtypes. */
    return !args->synchronized && axis == leat_value_shape(x).rank - 1 &&
           (dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64);
}

/* The result from the moments that go into the moving statistics. */
static leat_value by_one_operation(const leati_pass *pass, int first, leati_moments *found) {
    const struct batch_normalization_args *args = pass->args;
    leat_value like = pass->weights[first], out[3];
    leat_value gamma = args->scale ? pass->weights[0] : leat_op_ones_like(like);
    /* Beta stands behind gamma, if there is one. */
    leat_value beta = args->center ? pass->weights[args->scale] : leat_op_zeros_like(like);
    leati_batch_norm(pass->inputs[0], gamma, beta, args->epsilon, out);
    *found = (leati_moments){.mean = out[1], .variance = out[2]};
    return out[0];
}

/* The moments over all dimensions but `axis`. */
static leati_moments moments_of(const struct batch_normalization_args *args, leat_value x,
                                int32_t axis) {
    int64_t axes[LEAT_MAX_RANK];
    int count = 0;
    for (int32_t d = 0; d < leat_value_shape(x).rank; d++)
        if (d != axis)
            axes[count++] = d;
    return leati_normalize_moments(x, axes, count, false, args->synchronized);
}

static leat_value batch_normalization_call(const leati_pass *pass) {
    const struct batch_normalization_args *args = pass->args;
    leat_value x = pass->inputs[0], result = {.graph = x.graph, .id = -1};
    int first = args->scale + args->center; /* of the moving statistics */
    int32_t axis = 0;
    leat_error err = {0};
    if (leati_support_normal_axis(args->axis, leat_value_shape(x).rank, &axis, &err) != LEAT_OK)
        return leati_graph_error(x.graph, &err);
    leati_moments moments = {.mean = pass->weights[first], .variance = pass->weights[first + 1]};
    /* Frozen it uses the moving statistics even in training, as Keras does. */
    bool learns = pass->training && args->trainable;
    if (learns) {
        leati_moments found;
        if (is_one_operation(args, x, axis))
            result = by_one_operation(pass, first, &found);
        else
            found = moments_of(args, x, axis);
        /* The biased variance of the batch, which TensorFlow's fused kernel would correct by n / (n
         * - 1). */
        pass->updates[first] = moved(args, moments.mean, found.mean);
        pass->updates[first + 1] = moved(args, moments.variance, found.variance);
        moments = found;
    }
    if (learns && is_one_operation(args, x, axis))
        return result;
    const leati_affine affine = {.gamma = args->scale ? &pass->weights[0] : NULL,
                                 .beta = args->center ? &pass->weights[args->scale] : NULL,
                                 .axis = axis};
    return leati_normalize(x, moments, &affine, args->epsilon);
}

const leati_layer_kind leati_layer_batch_normalization = {
    .kind =
        {
            .name = "BatchNormalization",
            .doc = "Each channel without the mean and variance of the batch, and with moving ones"
                   " in inference (keras.layers.BatchNormalization).",
            .rows = batch_normalization_rows,
            .signature = "axis momentum epsilon center scale beta_initializer "
                         "gamma_initializer moving_mean_initializer "
                         "moving_variance_initializer beta_regularizer gamma_regularizer "
                         "beta_constraint gamma_constraint renorm=false "
                         "renorm_clipping=null renorm_momentum=0.99 synchronized",
            .config = "... renorm renorm_clipping renorm_momentum",
            .args_size = sizeof(struct batch_normalization_args),
        },
    .prefix = "batch_normalization",
    .min_rank = 2,
    .expects = "[batch, ..., channels]",
    .freezes = true,
    .weights = batch_normalization_weights,
    .masks = true,
    .call = batch_normalization_call,
};
