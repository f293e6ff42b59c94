/* UpSampling2D: pictures enlarged by whole factors (keras.layers.UpSampling2D). Failures: sizes
 * that are unknown where values are interpolated, an interpolation that is none. No state, no
 * locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include <leat/image.h>
#include <string.h>

struct up_sampling2d_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints size;
    char *data_format;
    char *interpolation;
};

static const leati_row up_sampling2d_rows[] = {
    LEATI_LAYER_ROW(up_sampling2d_args, size, INTS, .minimum = 1, .maximum = INT32_MAX,
                    .doc = "The factor of each direction, or one number; 2 by default."),
    LEATI_LAYER_ROW(up_sampling2d_args, data_format, STRING,
                    .doc = "\"channels_last\" or \"channels_first\"."),
    LEATI_LAYER_ROW(up_sampling2d_args, interpolation, STRING, .default_text = "nearest",
                    .doc = "\"nearest\", \"bilinear\", \"bicubic\", \"lanczos3\" or "
                           "\"lanczos5\"."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status up_sampling2d_check(const void *arguments, leat_error *err) {
    const struct up_sampling2d_args *args = arguments;
    static const char *const names[] = {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"};
    LEATI_TRY(leati_layer_check_numbers(&args->size, "size", 2, err));
    LEATI_TRY(leati_layer_check_data_format(args->data_format, err));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (args->interpolation != NULL && strcmp(args->interpolation, names[i]) == 0)
            return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "interpolation \"%.60s\"; expected nearest, bilinear, bicubic, lanczos3 or "
                        "lanczos5",
                        args->interpolation == NULL ? "" : args->interpolation);
}

/* The pictures by interpolated values; `first` is the dimension of their height. */
static leat_value interpolated(leat_value x, int first, const int64_t *size, const char *method) {
    const int64_t to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};
    leat_shape shape = leat_value_shape(x);
    if (shape.dims[first] < 0 || shape.dims[first + 1] < 0)
        return leati_support_build_error(
            x.graph, LEAT_INVALID_ARGUMENT,
            "height or width is unknown; they must be known where values are "
            "interpolated");
    int64_t height = shape.dims[first] * size[0], width = shape.dims[first + 1] * size[1];
    if (first == 1)
        return leat_op_resize(x, height, width, method);
    return leat_op_transpose(
        leat_op_resize(leat_op_transpose(x, to_last, 4), height, width, method), to_first, 4);
}

static leat_value up_sampling2d_call(const leati_pass *pass) {
    const struct up_sampling2d_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int first = leati_layer_channels_first(args->data_format) ? 2 : 1;
    int64_t size[2];
    leati_layer_numbers_of(&args->size, 2, 2, size);
    if (strcmp(args->interpolation, "nearest") != 0)
        return interpolated(x, first, size, args->interpolation);
    for (int i = 0; i < 2; i++)
        x = leat_op_repeat(x, leati_support_number(x.graph, LEAT_INT64, (double)size[i]),
                           first + i);
    return x;
}

const leati_layer_kind leati_layer_up_sampling2d = {
    .kind =
        {
            .name = "UpSampling2D",
            .doc = "Pictures enlarged by whole factors (keras.layers.UpSampling2D).",
            .rows = up_sampling2d_rows,
            .signature = "size=[2,2] data_format interpolation",
            .args_size = sizeof(struct up_sampling2d_args),
            .check = up_sampling2d_check,
        },
    .prefix = "up_sampling2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .call = up_sampling2d_call,
};
