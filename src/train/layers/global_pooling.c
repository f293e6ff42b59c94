/* GlobalMaxPooling and GlobalAveragePooling: the maximum or the mean of each channel of sequences,
 * pictures or volumes (keras.layers.GlobalMaxPooling1D and its like). Failures: an order of
 * dimensions that is none. No state, no locks. */
#include "train/frame/layer.h"

struct global_pooling_args {
    char *name; /* first: struct leati_layer_args */
    char *data_format;
    bool keepdims;
};

typedef leat_value (*reduction)(leat_value, const int64_t *, int, bool);

static const leati_row global_pooling_rows[] = {
    LEATI_LAYER_ROW(global_pooling_args, data_format, STRING,
                    .doc = "\"channels_last\", the default, or \"channels_first\"."),
    LEATI_LAYER_ROW(global_pooling_args, keepdims, BOOL,
                    .doc = "Whether the directions of space stay, with size 1."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status global_pooling_check(const void *args, leat_error *err) {
    const struct global_pooling_args *own = args;
    return leati_layer_check_data_format(own->data_format, err);
}

static leat_value pool_all(const leati_pass *pass, int directions, reduction reduce) {
    const struct global_pooling_args *args = pass->args;
    int64_t axes[3];
    for (int i = 0; i < directions; i++)
        axes[i] = i + (leati_layer_channels_first(args->data_format) ? 2 : 1);
    return reduce(pass->inputs[0], axes, directions, args->keepdims);
}

/* The descriptor of one layer: what it computes by which reduction, along N directions of space. */
#define GLOBAL_POOLING(ID, CLASS, WHAT, REDUCTION, N)                                              \
    static leat_value ID##N##d_call(const leati_pass *pass) {                                      \
        return pool_all(pass, N, REDUCTION);                                                       \
    }                                                                                              \
    const leati_layer_kind leati_layer_##ID##N##d = {                                              \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS #N "D",                                                              \
                .doc = "The " WHAT " of each channel of " LEATI_INPUTS_##N                         \
                " (keras.layers." CLASS #N "D).",                                                  \
                .rows = global_pooling_rows,                                                       \
                .signature = "data_format keepdims",                                               \
                .args_size = sizeof(struct global_pooling_args),                                   \
                .check = global_pooling_check,                                                     \
            },                                                                                     \
        .prefix = #ID #N "d",                                                                      \
        LEATI_SPACE_##N,                                                                           \
        .call = ID##N##d_call,                                                                     \
    };
GLOBAL_POOLING(global_max_pooling, "GlobalMaxPooling", "maximum", leat_op_reduce_max, 1)
GLOBAL_POOLING(global_max_pooling, "GlobalMaxPooling", "maximum", leat_op_reduce_max, 2)
GLOBAL_POOLING(global_max_pooling, "GlobalMaxPooling", "maximum", leat_op_reduce_max, 3)
GLOBAL_POOLING(global_average_pooling, "GlobalAveragePooling", "mean", leat_op_reduce_mean, 1)
GLOBAL_POOLING(global_average_pooling, "GlobalAveragePooling", "mean", leat_op_reduce_mean, 2)
GLOBAL_POOLING(global_average_pooling, "GlobalAveragePooling", "mean", leat_op_reduce_mean, 3)
