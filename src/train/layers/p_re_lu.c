/* PReLU: the input, below 0 times a slope that is learnt for each place (keras.layers.PReLU).
 * Failures: sizes that are unknown where slopes are not shared. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct p_re_lu_args {
    char *name; /* first: struct leati_layer_args */
    char *alpha_initializer;
    leati_ints shared_axes;
    leati_seed_argument seed;
};

static const leati_row p_re_lu_rows[] = {
    LEATI_LAYER_ROW(p_re_lu_args, alpha_initializer, STRING, .default_text = "Zeros",
                    .doc = "Name of the slopes' initialiser."),
    LEATI_LAYER_ROW(p_re_lu_args, shared_axes, INTS, .minimum = 1, .maximum = LEAT_MAX_RANK,
                    .doc = "Dimensions along which the slopes are the same, counted from 1."),
    LEATI_LAYER_ROW(p_re_lu_args, seed, SEED,
                    .doc = "Seed of the initialiser; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

static leati_seed_argument p_re_lu_seed(const void *args) {
    return ((const struct p_re_lu_args *)args)->seed;
}

static leat_status p_re_lu_weights(const void *arguments, const leat_shape *input,
                                   leati_weights *out, leat_error *err) {
    const struct p_re_lu_args *args = arguments;
    /* The batch has no slopes. */
    leat_shape shape = {.rank = input->rank - 1};
    for (int32_t d = 1; d < input->rank; d++)
        shape.dims[d - 1] = input->dims[d];
    for (int32_t i = 0; i < args->shared_axes.count; i++)
        /* An axis beyond the input's is left out of account. */
        if (args->shared_axes.values[i] < input->rank)
            shape.dims[args->shared_axes.values[i] - 1] = 1;
    for (int32_t d = 0; d < shape.rank; d++)
        if (shape.dims[d] < 0)
            return leati_refuse(err, SHAPE,
                                "dimension %d of the input is unknown and not among shared_axes",
                                (int)d + 1);
    out->list[0] =
        (leati_weight){.name = "alpha", .shape = shape, .initializer = args->alpha_initializer};
    out->count = 1;
    return LEAT_OK;
}

static leat_value p_re_lu_call(const leati_pass *pass) {
    leat_value x = pass->inputs[0], below = leat_op_relu(leat_op_negate(x));
    /* relu(x) - alpha relu(-x): the gradient by alpha is that of the places below 0. */
    return leat_op_subtract(leat_op_relu(x), leat_op_multiply(pass->weights[0], below));
}

const leati_layer_kind leati_layer_p_re_lu = {
    .kind =
        {
            .name = "PReLU",
            .doc = "The input, below 0 times a slope that is learnt (keras.layers.PReLU).",
            .rows = p_re_lu_rows,
            .signature = "alpha_initializer alpha_regularizer alpha_constraint "
                         "shared_axes=null",
            .args_size = sizeof(struct p_re_lu_args),
        },
    .prefix = "p_re_lu",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .seed = p_re_lu_seed,
    .weights = p_re_lu_weights,
    .masks = true,
    .call = p_re_lu_call,
};
