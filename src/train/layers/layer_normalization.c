/* LayerNormalization: each row with its own mean and variance along some axes taken out
 * (keras.layers.LayerNormalization). Failures: axes that are not there or whose sizes are unknown.
 * No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/normalize.h"

struct layer_normalization_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints axis;
    double epsilon;
    bool center, scale;
    char *beta_initializer, *gamma_initializer;
};

static const leati_row layer_normalization_rows[] = {
    LEATI_LAYER_ROW(layer_normalization_args, axis, INTS,
                    .doc = "The dimensions over which each row is normalised; the last by "
                           "default."),
    LEATI_LAYER_ROW(layer_normalization_args, epsilon, FLOAT, .default_number = 0.001,
                    .doc = "Added to the variance."),
    LEATI_LAYER_ROW(layer_normalization_args, center, BOOL, .default_number = 1,
                    .doc = "Whether an offset beta is learnt."),
    LEATI_LAYER_ROW(layer_normalization_args, scale, BOOL, .default_number = 1,
                    .doc = "Whether a factor gamma is learnt."),
    LEATI_LAYER_ROW(layer_normalization_args, beta_initializer, STRING, .default_text = "zeros",
                    .doc = "Name of the offset's initialiser."),
    LEATI_LAYER_ROW(layer_normalization_args, gamma_initializer, STRING, .default_text = "ones",
                    .doc = "Name of the factor's initialiser."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status layer_normalization_weights(const void *arguments, const leat_shape *input,
                                               leati_weights *out, leat_error *err) {
    const struct layer_normalization_args *args = arguments;
    leat_shape shape;
    LEATI_TRY(leati_normalize_shape(&args->axis, input, &shape, err));
    leati_normalize_weights(args->scale ? args->gamma_initializer : NULL,
                            args->center ? args->beta_initializer : NULL, &shape, out);
    return LEAT_OK;
}

static leat_value layer_normalization_call(const leati_pass *pass) {
    const struct layer_normalization_args *args = pass->args;
    leat_value x = pass->inputs[0];
    leat_shape in = leat_value_shape(x), whole = {.rank = in.rank};
    int64_t axes[LEAT_MAX_RANK];
    bool mask[LEAT_MAX_RANK];
    leat_error err = {0};
    if (leati_normalize_axes(&args->axis, in.rank, mask, &err) != LEAT_OK)
        return leati_graph_error(x.graph, &err);
    int count = 0;
    for (int32_t d = 0; d < in.rank; d++) {
        /* gamma and beta have the sizes of the axes; 1 elsewhere broadcasts. */
        whole.dims[d] = mask[d] ? in.dims[d] : 1;
        if (mask[d])
            axes[count++] = d;
    }
    leati_moments moments = leati_normalize_moments(x, axes, count, true, false);
    leat_value gamma = {0}, beta = {0};
    if (args->scale)
        gamma = leat_op_reshape(pass->weights[0], whole.dims, whole.rank);
    if (args->center)
        beta = leat_op_reshape(pass->weights[args->scale], whole.dims, whole.rank);
    const leati_affine affine = {
        .gamma = args->scale ? &gamma : NULL, .beta = args->center ? &beta : NULL, .axis = -1};
    return leati_normalize(x, moments, &affine, args->epsilon);
}

const leati_layer_kind leati_layer_layer_normalization = {
    .kind =
        {
            .name = "LayerNormalization",
            .doc = "Each row without its own mean and variance (keras.layers.LayerNormalization).",
            .rows = layer_normalization_rows,
            .signature = "axis=-1 epsilon center scale beta_initializer gamma_initializer "
                         "beta_regularizer gamma_regularizer beta_constraint "
                         "gamma_constraint",
            .config = "axis epsilon center scale rms_scaling=false",
            .args_size = sizeof(struct layer_normalization_args),
        },
    .prefix = "layer_normalization",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .weights = layer_normalization_weights,
    .masks = true,
    .call = layer_normalization_call,
};
