/* LeakyReLU: the input, below 0 times a slope (keras.layers.LeakyReLU). Failures: a negative
 * number. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct leaky_re_lu_args {
    char *name; /* first: struct leati_layer_args */
    double negative_slope;
};

static const leati_row leaky_re_lu_rows[] = {
    LEATI_LAYER_ROW(leaky_re_lu_args, negative_slope, FLOAT, .default_number = 0.3,
                    .doc = "What values below 0 are multiplied by."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status leaky_re_lu_check(const void *arguments, leat_error *err) {
    const struct leaky_re_lu_args *args = arguments;
    if (args->negative_slope >= 0)
        return LEAT_OK;
    return leati_refuse(
        err, VALUE,
        "The negative_slope value of a Leaky ReLU layer cannot be None or a negative "
        "value; found %g",
        args->negative_slope);
}

static leat_value leaky_re_lu_call(const leati_pass *pass) {
    const struct leaky_re_lu_args *args = pass->args;
    return leati_activation_leaky_relu(pass->inputs[0], args->negative_slope);
}

const leati_layer_kind leati_layer_leaky_re_lu = {
    .kind =
        {
            .name = "LeakyReLU",
            .doc = "The input, below 0 times a slope (keras.layers.LeakyReLU).",
            .rows = leaky_re_lu_rows,
            .signature = "negative_slope",
            .args_size = sizeof(struct leaky_re_lu_args),
            .check = leaky_re_lu_check,
        },
    .prefix = "leaky_re_lu",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .masks = true,
    .call = leaky_re_lu_call,
};
