/* RMSNormalization: the input divided by the root of its mean square, times a weight
 * (keras.layers.RMSNormalization). Failures: axes that are not there, or whose sizes are unknown.
 * No state, no locks. */
#include "graph/support/support.h"
#include "train/support/normalize.h"

struct rms_normalization_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints axis;
    double epsilon;
};

static const leati_row rms_normalization_rows[] = {
    LEATI_LAYER_ROW(rms_normalization_args, axis, INTS,
                    .doc = "The dimensions that have one mean; the last by default."),
    LEATI_LAYER_ROW(rms_normalization_args, epsilon, FLOAT, .default_number = 1e-6,
                    .doc = "Added to the mean square."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status rms_normalization_weights(const void *arguments, const leat_shape *input,
                                             leati_weights *out, leat_error *err) {
    const struct rms_normalization_args *args = arguments;
    leat_shape shape;
    LEATI_TRY(leati_normalize_shape(&args->axis, input, &shape, err));
    out->list[out->count++] =
        (leati_weight){.name = "scale", .shape = shape, .initializer = "ones"};
    return LEAT_OK;
}

static leat_value rms_normalization_call(const leati_pass *pass) {
    const struct rms_normalization_args *args = pass->args;
    leat_value x = pass->inputs[0];
    leat_shape in = leat_value_shape(x), along = {.rank = in.rank};
    bool mask[LEAT_MAX_RANK] = {false};
    int64_t axes[LEAT_MAX_RANK];
    int count = 0;
    leat_error err = {0};
    if (leati_normalize_axes(&args->axis, in.rank, mask, &err) != LEAT_OK)
        return leati_graph_error(x.graph, &err);
    for (int32_t d = 0; d < in.rank; d++) {
        /* scale has the sizes of the axes; 1 elsewhere broadcasts. */
        along.dims[d] = mask[d] ? in.dims[d] : 1;
        if (mask[d])
            axes[count++] = d;
    }
    leat_value mean = leat_op_reduce_mean(leat_op_square(x), axes, count, true);
    if (leati_support_value_failed(mean))
        return mean;
    leat_value least = leati_support_number(x.graph, leat_value_dtype(x), args->epsilon);
    leat_value scale = leat_op_reshape(pass->weights[0], along.dims, along.rank);
    return leat_op_multiply(leat_op_multiply(x, leat_op_rsqrt(leat_op_add(mean, least))), scale);
}

const leati_layer_kind leati_layer_rms_normalization = {
    .kind =
        {
            .name = "RMSNormalization",
            .doc = "The input divided by the root of its mean square "
                   "(keras.layers.RMSNormalization).",
            .rows = rms_normalization_rows,
            .signature = "axis=-1 epsilon",
            .args_size = sizeof(struct rms_normalization_args),
        },
    .prefix = "rms_normalization",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .weights = rms_normalization_weights,
    .call = rms_normalization_call,
};
