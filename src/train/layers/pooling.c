/* MaxPooling and AveragePooling: the maximum or the mean of each window of sequences, pictures or
 * volumes (keras.layers.MaxPooling1D and its like).
 *
 * Happy path: one direction is two, of which the first has one row. Three directions are two steps,
 * because a maximum of maxima is the maximum of the box, and a mean of means too, as every window
 * along the first direction counts the same pixels of a plane. Failures: INVALID_ARGUMENT for
 * windows that do not fit, and for three directions whose sizes are unknown. No state, no locks. */
#include "base/options.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include <string.h>

struct pooling_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints pool_size, strides;
    char *padding, *data_format;
};

/* `FLAGS` are those of pool_size, which is 2 where it may be left out. */
#define POOLING_ROWS(FLAGS)                                                                        \
    LEATI_LAYER_ROW(pooling_args, pool_size, INTS, .flags = (FLAGS), .minimum = 1,                 \
                    .maximum = INT32_MAX,                                                          \
                    .doc = "Size of the window along each direction, or one number."),             \
        LEATI_LAYER_ROW(pooling_args, strides, INTS, .minimum = 1, .maximum = INT32_MAX,           \
                        .doc = "Steps of the window along each direction; by default its size."),  \
        LEATI_LAYER_ROW(pooling_args, padding, STRING, .default_text = "valid",                    \
                        .doc = "\"valid\" or \"same\"."),                                          \
        LEATI_LAYER_ROW(pooling_args, data_format, STRING, .doc = "\"channels_last\"."),           \
        LEATI_LAYER_NAME

static const leati_row max_pooling_rows[] = {POOLING_ROWS(0), {0}};
static const leati_row average_pooling_rows[] = {POOLING_ROWS(LEATI_REQUIRED), {0}};

typedef leat_value (*pool_function)(leat_value, const int64_t *, int, const int64_t *, int,
                                    const char *);

static leat_status check(const struct pooling_args *args, int directions, leat_error *err) {
    LEATI_TRY(leati_layer_check_numbers(&args->pool_size, "pool_size", directions, err));
    LEATI_TRY(leati_layer_check_numbers(&args->strides, "strides", directions, err));
    LEATI_TRY(leati_layer_check_padding(args->padding, err));
    return leati_layer_check_channels_last(args->data_format, err);
}

/* Volumes [N, D, H, W, C]: planes first, then the first direction alone. */
static leat_value pool_space(leat_value x, const int64_t *size, const int64_t *strides,
                             const char *padding, pool_function pool) {
    leat_shape in = leat_value_shape(x);
    for (int d = 1; d < 5; d++)
        if (in.dims[d] < 1)
            return leati_support_build_error(
                x.graph, LEAT_REASON_SHAPE,
                "the sizes of space are unknown; they must be known where a "
                "window has three directions");
    x = leat_op_reshape(x, (const int64_t[]){-1, in.dims[2], in.dims[3], in.dims[4]}, 4);
    x = pool(x, size + 1, 2, strides + 1, 2, padding);
    leat_shape plane = leat_value_shape(x);
    if (leati_support_value_failed(x))
        return x;
    int64_t area = plane.dims[1] * plane.dims[2];
    /* A plane becomes one dimension: windows along depth see each of its places apart. */
    x = leat_op_reshape(x, (const int64_t[]){-1, in.dims[1], area, in.dims[4]}, 4);
    x = pool(x, (int64_t[]){size[0], 1}, 2, (int64_t[]){strides[0], 1}, 2, padding);
    if (leati_support_value_failed(x))
        return x;
    int64_t depth = leat_value_shape(x).dims[1];
    return leat_op_reshape(
        x, (const int64_t[]){-1, depth, plane.dims[1], plane.dims[2], in.dims[4]}, 5);
}

static leat_value pool_windows(const leati_pass *pass, int directions, pool_function pool) {
    const struct pooling_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int64_t size[3] = {0}, strides[3] = {0};
    leati_layer_numbers_of(&args->pool_size, 2, directions, size);
    memcpy(strides, size, sizeof strides);
    /* Not numbers_of with the size as default: one stride given counts for all directions. */
    if (args->strides.count > 0)
        leati_layer_numbers_of(&args->strides, 1, directions, strides);
    bool same = leati_layer_padding_of(args->padding) == LEAT_SAME;
    const char *padding = same ? "SAME" : "VALID";
    if (directions == 3)
        return pool_space(x, size, strides, padding, pool);
    if (directions == 2)
        return pool(x, size, 2, strides, 2, padding);
    x = pool(leat_op_expand_dims(x, 1), (int64_t[]){1, size[0]}, 2, (int64_t[]){1, strides[0]}, 2,
             padding);
    return leat_op_squeeze(x, (const int64_t[]){1}, 1);
}

leat_layer *leat_layer_max_pooling2d(const leat_layer_max_pooling2d_options *options,
                                     leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_layer_max_pooling2d_options o = {LEAT_LAYER_MAX_POOLING2D_DEFAULTS};
    if (LEATI_OPTIONS(leat_layer_max_pooling2d_options, &o, options, err) != LEAT_OK)
        return NULL;
    for (int i = 0; i < 2; i++)
        /* A stride that is not set is the size of the window. */
        o.strides[i] = o.strides[i] == LEAT_UNSET ? o.pool_size[i] : o.strides[i];
    const struct pooling_args args = {
        .name = leati_kind_borrow_text(o.name),
        .pool_size = {o.pool_size, 2},
        .strides = {o.strides, 2},
        .padding = leati_kind_borrow_text(leati_layer_padding_name(o.padding))};
    return leati_layer_new(&leati_layer_max_pooling2d, &args, err);
}

/* The descriptor of one layer: what it computes by which operation, along N directions of space;
 * SIZE is pool_size in its signature. */
#define POOLING(ID, CLASS, WHAT, OPERATION, N, SIZE)                                               \
    static leat_status ID##N##d_check(const void *args, leat_error *err) {                         \
        return check(args, N, err);                                                                \
    }                                                                                              \
    static leat_value ID##N##d_call(const leati_pass *pass) {                                      \
        return pool_windows(pass, N, OPERATION);                                                   \
    }                                                                                              \
    const leati_layer_kind leati_layer_##ID##N##d = {                                              \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS #N "D",                                                              \
                .doc = "The " WHAT " of each window of " LEATI_INPUTS_##N                          \
                " (keras.layers." CLASS #N "D).",                                                  \
                .rows = ID##_rows,                                                                 \
                .signature = SIZE " strides padding data_format name",                             \
                .config = "pool_size padding",                                                     \
                .args_size = sizeof(struct pooling_args),                                          \
                .check = ID##N##d_check,                                                           \
            },                                                                                     \
        .prefix = #ID #N "d",                                                                      \
        LEATI_SPACE_##N,                                                                           \
        .call = ID##N##d_call,                                                                     \
    };
POOLING(max_pooling, "MaxPooling", "maximum", leat_op_max_pool2d, 1, "pool_size=2")
POOLING(max_pooling, "MaxPooling", "maximum", leat_op_max_pool2d, 2, "pool_size=[2,2]")
POOLING(max_pooling, "MaxPooling", "maximum", leat_op_max_pool2d, 3, "pool_size=[2,2,2]")
POOLING(average_pooling, "AveragePooling", "mean", leat_op_avg_pool2d, 1, "pool_size")
POOLING(average_pooling, "AveragePooling", "mean", leat_op_avg_pool2d, 2, "pool_size")
POOLING(average_pooling, "AveragePooling", "mean", leat_op_avg_pool2d, 3, "pool_size")
