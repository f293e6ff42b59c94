/* GroupNormalization: groups of each row's channels with their mean and variance taken out
 * (keras.layers.GroupNormalization). Failures: channels that the groups do not divide or whose
 * number is unknown, other sizes that are unknown. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/normalize.h"

struct group_normalization_args {
    char *name; /* first: struct leati_layer_args */
    int64_t groups, axis;
    double epsilon;
    bool center, scale;
    char *beta_initializer, *gamma_initializer;
};

static const leati_row group_normalization_rows[] = {
    LEATI_LAYER_ROW(group_normalization_args, groups, INT, .default_number = 32, .minimum = -1,
                    .maximum = INT32_MAX, .doc = "How many groups; -1: one for each channel."),
    LEATI_LAYER_ROW(group_normalization_args, axis, INT, .default_number = -1,
                    .doc = "The dimension of the channels; negative: from the last."),
    LEATI_LAYER_ROW(group_normalization_args, epsilon, FLOAT, .default_number = 0.001,
                    .doc = "Added to the variance."),
    LEATI_LAYER_ROW(group_normalization_args, center, BOOL, .default_number = 1,
                    .doc = "Whether an offset beta is learnt."),
    LEATI_LAYER_ROW(group_normalization_args, scale, BOOL, .default_number = 1,
                    .doc = "Whether a factor gamma is learnt."),
    LEATI_LAYER_ROW(group_normalization_args, beta_initializer, STRING, .default_text = "zeros",
                    .doc = "Name of the offset's initialiser."),
    LEATI_LAYER_ROW(group_normalization_args, gamma_initializer, STRING, .default_text = "ones",
                    .doc = "Name of the factor's initialiser."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status group_normalization_check(const void *arguments, leat_error *err) {
    const struct group_normalization_args *args = arguments;
    if (args->groups >= 1 || args->groups == -1)
        return LEAT_OK;
    return leati_refuse(
        err, VALUE, "Invalid value received for argument `groups`: %lld; expected 1 or more, or -1",
        (long long)args->groups);
}

static leat_status group_normalization_weights(const void *arguments, const leat_shape *input,
                                               leati_weights *out, leat_error *err) {
    const struct group_normalization_args *args = arguments;
    leat_shape shape;
    LEATI_TRY(leati_normalize_shape(&(leati_ints){(int64_t *)(uintptr_t)&args->axis, 1}, input,
                                    &shape, err));
    if (args->groups > shape.dims[0])
        return leati_refuse(
            err, VALUE, "Number of groups (%lld) cannot be more than the number of channels (%lld)",
            (long long)args->groups, (long long)shape.dims[0]);
    /* -1 divides any number of channels. */
    if (args->groups > 0 && shape.dims[0] % args->groups != 0)
        return leati_refuse(err, VALUE,
                            "Number of groups (%lld) must be a multiple of the number of channels "
                            "(%lld), that is, divide it evenly",
                            (long long)args->groups, (long long)shape.dims[0]);
    leati_normalize_weights(args->scale ? args->gamma_initializer : NULL,
                            args->center ? args->beta_initializer : NULL, &shape, out);
    return LEAT_OK;
}

/* A weight of the channels as [1, ..., groups, channels of a group, ..., 1]. */
static leat_value spread(leat_value weight, int32_t axis, int32_t rank, int64_t groups) {
    leat_shape shape = {.rank = rank + 1};
    for (int32_t d = 0; d <= rank; d++)
        shape.dims[d] = 1;
    shape.dims[axis] = groups;
    shape.dims[axis + 1] = leat_value_shape(weight).dims[0] / groups;
    return leat_op_reshape(weight, shape.dims, shape.rank);
}

static leat_value group_normalization_call(const leati_pass *pass) {
    const struct group_normalization_args *args = pass->args;
    leat_value x = pass->inputs[0];
    leat_shape in = leat_value_shape(x), apart = {.rank = in.rank + 1};
    int64_t axes[LEAT_MAX_RANK];
    int32_t axis = 0, count = 0;
    leat_error err = {0};
    if (apart.rank > LEAT_MAX_RANK)
        leati_refuse(&err, SHAPE, "the input has rank %d; expected at most %d", (int)in.rank,
                     LEAT_MAX_RANK - 1);
    if (err.code != LEAT_OK ||
        leati_support_normal_axis(args->axis, in.rank, &axis, &err) != LEAT_OK)
        return leati_graph_error(x.graph, &err);
    int64_t groups = args->groups < 0 ? in.dims[axis] : args->groups;
    for (int32_t d = 0; d <= in.rank; d++) {
        /* One dimension more: the channels' becomes groups and channels of a group. */
        apart.dims[d] = d <= axis ? in.dims[d] : in.dims[d - 1];
        /* Over all but the batch and the groups. */
        if (d > 0 && d != axis)
            axes[count++] = d;
        if (d > 0 && apart.dims[d] < 0)
            return leati_support_build_error(x.graph, LEAT_REASON_SHAPE,
                                             "only the batch's dimension may be unknown");
    }
    apart.dims[axis] = groups;
    apart.dims[axis + 1] = in.dims[axis] / groups;
    leat_value y = leat_op_reshape(x, apart.dims, apart.rank);
    leati_moments moments = leati_normalize_moments(y, axes, count, true, false);
    leat_value gamma = {0}, beta = {0};
    if (args->scale)
        gamma = spread(pass->weights[0], axis, in.rank, groups);
    if (args->center)
        beta = spread(pass->weights[args->scale], axis, in.rank, groups);
    /* Weights and moments have all dimensions by now and broadcast as they are. */
    const leati_affine affine = {
        .gamma = args->scale ? &gamma : NULL, .beta = args->center ? &beta : NULL, .axis = -1};
    return leat_op_reshape(leati_normalize(y, moments, &affine, args->epsilon), in.dims, in.rank);
}

const leati_layer_kind leati_layer_group_normalization = {
    .kind =
        {
            .name = "GroupNormalization",
            .doc = "Groups of each row's channels without their mean and variance "
                   "(keras.layers.GroupNormalization).",
            .rows = group_normalization_rows,
            .signature = "groups axis epsilon center scale beta_initializer "
                         "gamma_initializer beta_regularizer gamma_regularizer "
                         "beta_constraint gamma_constraint",
            .args_size = sizeof(struct group_normalization_args),
            .check = group_normalization_check,
        },
    .prefix = "group_normalization",
    .min_rank = 2,
    .expects = "[batch, ..., channels]",
    .weights = group_normalization_weights,
    .masks = true,
    .call = group_normalization_call,
};
