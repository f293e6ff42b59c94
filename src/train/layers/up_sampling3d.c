/* UpSampling3D: volumes enlarged by whole factors (keras.layers.UpSampling3D). Failures: factors
 * below 1. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct up_sampling3d_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints size;
    char *data_format;
};

static const leati_row up_sampling3d_rows[] = {
    LEATI_LAYER_ROW(up_sampling3d_args, size, INTS, .minimum = 1, .maximum = INT32_MAX,
                    .doc = "The factor of each direction, or one number; 2 by default."),
    LEATI_LAYER_ROW(up_sampling3d_args, data_format, STRING,
                    .doc = "\"channels_last\" or \"channels_first\"."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status up_sampling3d_check(const void *arguments, leat_error *err) {
    const struct up_sampling3d_args *args = arguments;
    LEATI_TRY(leati_layer_check_numbers(&args->size, "size", 3, err));
    return leati_layer_check_data_format(args->data_format, err);
}

static leat_value up_sampling3d_call(const leati_pass *pass) {
    const struct up_sampling3d_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int64_t size[3];
    int first = leati_layer_channels_first(args->data_format) ? 2 : 1;
    leati_layer_numbers_of(&args->size, 2, 3, size);
    for (int i = 0; i < 3; i++)
        x = leat_op_repeat(x, leati_support_number(x.graph, LEAT_INT64, (double)size[i]),
                           first + i);
    return x;
}

const leati_layer_kind leati_layer_up_sampling3d = {
    .kind =
        {
            .name = "UpSampling3D",
            .doc = "Volumes enlarged by whole factors (keras.layers.UpSampling3D).",
            .rows = up_sampling3d_rows,
            .signature = "size=[2,2,2] data_format",
            .args_size = sizeof(struct up_sampling3d_args),
            .check = up_sampling3d_check,
        },
    .prefix = "up_sampling3d",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .call = up_sampling3d_call,
};
