/* ZeroPadding and Cropping: sequences, pictures or volumes with a border of zeros, or without what
 * lies at their borders (keras.layers.ZeroPadding1D and its like).
 *
 * Failures: INVALID_ARGUMENT for other than one size, one for each direction or two for each, and
 * where more is taken away than there is. No state, no locks. */
#include "base/error.h"
#include "core/spec.h"
#include "graph/graph.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct border_args {
    char *name;       /* first: struct leati_layer_args */
    leati_ints sizes; /* one for all sides, one for each direction, or two for each */
    char *data_format;
};

#define BORDER_ROWS(NAME, DOC)                                                                     \
    {.name = NAME,                                                                                 \
     .type = LEATI_ROW_INTS,                                                                       \
     .offset = offsetof(struct border_args, sizes),                                                \
     .minimum = 0,                                                                                 \
     .maximum = INT32_MAX,                                                                         \
     .doc = DOC " at all sides, for each direction, or before and behind for each direction."},    \
        LEATI_LAYER_ROW(border_args, data_format, STRING,                                          \
                        .doc = "\"channels_last\" or \"channels_first\"."),                        \
        LEATI_LAYER_NAME

static const leati_row zero_padding_rows[] = {
    BORDER_ROWS("padding", "Zeros"),
    {0},
};

static const leati_row cropping_rows[] = {
    BORDER_ROWS("cropping", "What is taken away"),
    {0},
};

static leat_status check(const struct border_args *args, int directions, leat_error *err) {
    LEATI_TRY(leati_layer_check_data_format(args->data_format, err));
    if (args->sizes.count <= 1 || args->sizes.count == directions ||
        args->sizes.count == 2 * directions)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "%d sizes of borders; expected one, %d, or two for each of %d directions",
                        (int)args->sizes.count, directions, directions);
}

/* The dimension of the first direction. */
static int first_of(const struct border_args *args) {
    return leati_layer_channels_first(args->data_format) ? 2 : 1;
}

/* Before and behind each direction. */
static void sides_of(const struct border_args *args, int directions, int64_t standard,
                     int64_t *out) {
    const leati_ints *sizes = &args->sizes;
    for (int i = 0; i < 2 * directions; i++)
        if (sizes->count == 2 * directions)
            out[i] = sizes->values[i];
        else if (sizes->count > 1)
            out[i] = sizes->values[i / 2];
        else
            out[i] = sizes->count == 1 ? sizes->values[0] : standard;
}

static leat_value zero_padding(const leati_pass *pass, int directions) {
    int64_t pairs[10] = {0};
    /* Two numbers per dimension, from the first direction on; the others stay 0. */
    sides_of(pass->args, directions, 1, pairs + (ptrdiff_t)2 * first_of(pass->args));
    return leat_op_pad(pass->inputs[0], pairs, directions + 2);
}

/* The borders leave nothing of the input. */
static leat_value too_much(leat_value x, int directions) {
    leat_error err = {0};
    char text[128];
    leat_shape shape = leat_value_shape(x);
    leati_shape_text(&shape, text);
    leati_refuse(&err, SHAPE,
                 directions == 1
                     ? "`cropping` parameter of `Cropping1D` layer must be smaller than the "
                       "number of steps: nothing is left of an input of shape %s"
                     : "Values in `cropping` argument should be smaller than the "
                       "corresponding spatial dimension of the input. Nothing is left of "
                       "an input of shape %s",
                 text);
    return leati_graph_error(x.graph, &err);
}

static leat_value cropping(const leati_pass *pass, int directions) {
    leat_value x = pass->inputs[0];
    leat_shape shape = leat_value_shape(x);
    int64_t sides[6], begin[5] = {0}, end[5] = {0};
    int first = first_of(pass->args);
    /* The batch, and channels before space, up to their ends. */
    leat_op_strided_slice_options masks = {LEAT_OP_STRIDED_SLICE_DEFAULTS,
                                           .end_mask = (1 << first) - 1};
    /* Keras takes nothing from pictures unless it is told to, but from the others 1. */
    sides_of(pass->args, directions, directions != 2, sides);
    for (int i = 0; i < directions; i++) {
        int64_t size = shape.dims[first + i];
        /* An unknown size is left to the run. */
        if (size >= 0 && sides[2 * i] + sides[2 * i + 1] >= size)
            return too_much(x, directions);
        begin[first + i] = sides[2 * i];
        end[first + i] = -sides[2 * i + 1];
        /* An end of -0 would be the beginning: nothing behind means up to the end. */
        masks.end_mask |= end[first + i] == 0 ? 1 << (first + i) : 0;
    }
    return leat_op_strided_slice(x, begin, directions + first, end, directions + first, &masks);
}

/* The descriptor of one layer, along N directions of space; ID is its call too. */
#define BORDER(ID, CLASS, N, DOC, SIGNATURE)                                                       \
    static leat_status ID##N##d_check(const void *args, leat_error *err) {                         \
        return check(args, N, err);                                                                \
    }                                                                                              \
    static leat_value ID##N##d_call(const leati_pass *pass) {                                      \
        return ID(pass, N);                                                                        \
    }                                                                                              \
    const leati_layer_kind leati_layer_##ID##N##d = {                                              \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS #N "D",                                                              \
                .doc = DOC " (keras.layers." CLASS #N "D).",                                       \
                .rows = ID##_rows,                                                                 \
                .signature = SIGNATURE,                                                            \
                .args_size = sizeof(struct border_args),                                           \
                .check = ID##N##d_check,                                                           \
            },                                                                                     \
        .prefix = #ID #N "d",                                                                      \
        LEATI_SPACE_##N,                                                                           \
        .call = ID##N##d_call,                                                                     \
    };
#define WITHOUT " without what lies at their borders"
BORDER(cropping, "Cropping", 1, "Sequences" WITHOUT, "cropping=[1,1]")
BORDER(cropping, "Cropping", 2, "Pictures" WITHOUT, "cropping=[[0,0],[0,0]] data_format")
BORDER(cropping, "Cropping", 3, "Volumes" WITHOUT, "cropping=[[1,1],[1,1],[1,1]] data_format")
BORDER(zero_padding, "ZeroPadding", 1, "Zeros around sequences", "padding=1 data_format")
BORDER(zero_padding, "ZeroPadding", 2, "Zeros around pictures", "padding=[1,1] data_format")
BORDER(zero_padding, "ZeroPadding", 3, "Zeros around volumes",
       "padding=[[1,1],[1,1],[1,1]] data_format")
