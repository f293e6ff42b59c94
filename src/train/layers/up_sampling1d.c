/* UpSampling1D: sequences enlarged by whole factors (keras.layers.UpSampling1D). Failures: factors
 * below 1. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct up_sampling1d_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints size;
};

static const leati_row up_sampling1d_rows[] = {
    LEATI_LAYER_ROW(up_sampling1d_args, size, INTS, .minimum = 1, .maximum = INT32_MAX,
                    .doc = "The factor of each direction, or one number; 2 by default."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status up_sampling1d_check(const void *arguments, leat_error *err) {
    const struct up_sampling1d_args *args = arguments;
    return leati_layer_check_numbers(&args->size, "size", 1, err);
}

static leat_value up_sampling1d_call(const leati_pass *pass) {
    const struct up_sampling1d_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int64_t size[1];
    leati_layer_numbers_of(&args->size, 2, 1, size);
    for (int i = 0; i < 1; i++)
        x = leat_op_repeat(x, leati_support_number(x.graph, LEAT_INT64, (double)size[i]), i + 1);
    return x;
}

const leati_layer_kind leati_layer_up_sampling1d = {
    .kind =
        {
            .name = "UpSampling1D",
            .doc = "Sequences enlarged by whole factors (keras.layers.UpSampling1D).",
            .rows = up_sampling1d_rows,
            .signature = "size=2",
            .args_size = sizeof(struct up_sampling1d_args),
            .check = up_sampling1d_check,
        },
    .prefix = "up_sampling1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .call = up_sampling1d_call,
};
