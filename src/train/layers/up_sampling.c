/* UpSampling: sequences, pictures or volumes enlarged by whole factors (keras.layers.UpSampling1D
 * and its like). Failures: factors below 1; of UpSampling2D an interpolation that is none, and
 * sizes that are unknown where values are interpolated. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include <leat/ops.h>
#include <string.h>

struct up_sampling_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints size;
    char *data_format;
    char *interpolation; /* NULL: the nearest, which is all that others than UpSampling2D have */
};

#define SIZE_ROW                                                                                   \
    LEATI_LAYER_ROW(up_sampling_args, size, INTS, .minimum = 1, .maximum = INT32_MAX,              \
                    .doc = "The factor of each direction, or one number; 2 by default.")
#define DATA_FORMAT_ROW                                                                            \
    LEATI_LAYER_ROW(up_sampling_args, data_format, STRING,                                         \
                    .doc = "\"channels_last\" or \"channels_first\".")

static const leati_row up_sampling1d_rows[] = {SIZE_ROW, LEATI_LAYER_NAME, {0}};
static const leati_row up_sampling2d_rows[] = {
    SIZE_ROW,
    DATA_FORMAT_ROW,
    LEATI_LAYER_ROW(up_sampling_args, interpolation, STRING, .default_text = "nearest",
                    .doc = "\"nearest\", \"bilinear\", \"bicubic\", \"lanczos3\" or "
                           "\"lanczos5\"."),
    LEATI_LAYER_NAME,
    {0},
};
static const leati_row up_sampling3d_rows[] = {SIZE_ROW, DATA_FORMAT_ROW, LEATI_LAYER_NAME, {0}};

static leat_status check_interpolation(const char *name, leat_error *err) {
    static const char *const names[] = {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (name != NULL && strcmp(name, names[i]) == 0)
            return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "interpolation \"%.60s\"; expected nearest, bilinear, bicubic, lanczos3 or "
                        "lanczos5",
                        name == NULL ? "" : name);
}

static leat_status check(const struct up_sampling_args *args, int directions, leat_error *err) {
    LEATI_TRY(leati_layer_check_numbers(&args->size, "size", directions, err));
    LEATI_TRY(leati_layer_check_data_format(args->data_format, err));
    return directions == 2 ? check_interpolation(args->interpolation, err) : LEAT_OK;
}

/* The pictures by interpolated values; `first` is the dimension of their height. */
static leat_value interpolated(leat_value x, int first, const int64_t *size, const char *method) {
    /* Resizing wants channels last: there and back. */
    const int64_t to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};
    leat_shape shape = leat_value_shape(x);
    if (shape.dims[first] < 0 || shape.dims[first + 1] < 0)
        return leati_support_build_error(
            x.graph, LEAT_REASON_SHAPE,
            "height or width is unknown; they must be known where values are "
            "interpolated");
    int64_t height = shape.dims[first] * size[0], width = shape.dims[first + 1] * size[1];
    if (first == 1)
        return leat_op_resize(x, (int64_t[]){height, width}, 2,
                              &(leat_op_resize_options){LEAT_OP_RESIZE_DEFAULTS, .method = method});
    return leat_op_transpose(
        leat_op_resize(leat_op_transpose(x, to_last, 4), (int64_t[]){height, width}, 2,
                       &(leat_op_resize_options){LEAT_OP_RESIZE_DEFAULTS, .method = method}),
        to_first, 4);
}

static leat_value enlarge(const leati_pass *pass, int directions) {
    const struct up_sampling_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int first = leati_layer_channels_first(args->data_format) ? 2 : 1;
    int64_t size[3];
    leati_layer_numbers_of(&args->size, 2, directions, size);
    /* The nearest pixel of a whole factor is a repetition, which also takes unknown sizes. */
    if (args->interpolation != NULL && strcmp(args->interpolation, "nearest") != 0)
        return interpolated(x, first, size, args->interpolation);
    for (int i = 0; i < directions; i++)
        x = leat_op_repeat(x, leati_support_number(x.graph, LEAT_INT64, (double)size[i]),
                           first + i);
    return x;
}

/* The descriptor of one layer, along N directions of space. */
#define UP_SAMPLING(N, INPUTS, SIGNATURE)                                                          \
    static leat_status up_sampling##N##d_check(const void *args, leat_error *err) {                \
        return check(args, N, err);                                                                \
    }                                                                                              \
    static leat_value up_sampling##N##d_call(const leati_pass *pass) {                             \
        return enlarge(pass, N);                                                                   \
    }                                                                                              \
    const leati_layer_kind leati_layer_up_sampling##N##d = {                                       \
        .kind =                                                                                    \
            {                                                                                      \
                .name = "UpSampling" #N "D",                                                       \
                .doc = INPUTS " enlarged by whole factors (keras.layers.UpSampling" #N "D).",      \
                .rows = up_sampling##N##d_rows,                                                    \
                .signature = SIGNATURE,                                                            \
                .args_size = sizeof(struct up_sampling_args),                                      \
                .check = up_sampling##N##d_check,                                                  \
            },                                                                                     \
        .prefix = "up_sampling" #N "d",                                                            \
        LEATI_SPACE_##N,                                                                           \
        .call = up_sampling##N##d_call,                                                            \
    };
UP_SAMPLING(1, "Sequences", "size=2")
UP_SAMPLING(2, "Pictures", "size=[2,2] data_format interpolation")
UP_SAMPLING(3, "Volumes", "size=[2,2,2] data_format")
