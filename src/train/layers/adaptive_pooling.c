/* AdaptiveMaxPooling and AdaptiveAveragePooling: the largest value or the mean of windows of
 * sequences, pictures or volumes, as many windows as the result has places
 * (keras.layers.AdaptiveMaxPooling1D and its like). Failures: sizes of space that are unknown. No
 * state, no locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct adaptive_pooling_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints output_size;
    char *data_format;
};

typedef leat_value (*reduction)(leat_value, const int64_t *, int, bool);

static const leati_row adaptive_pooling_rows[] = {
    LEATI_LAYER_ROW(adaptive_pooling_args, output_size, INTS, .flags = LEATI_REQUIRED, .minimum = 1,
                    /* Each place is an operation of the graph. */
                    .maximum = 4096,
                    .doc = "Sizes of the result in space, or one number for all directions."),
    LEATI_LAYER_ROW(adaptive_pooling_args, data_format, STRING, .doc = "\"channels_last\"."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status check(const struct adaptive_pooling_args *args, int directions,
                         leat_error *err) {
    LEATI_TRY(leati_layer_check_numbers(&args->output_size, "output_size", directions, err));
    return leati_layer_check_channels_last(args->data_format, err);
}

/* The windows along one direction: place i looks at what its part of the size touches. */
static leat_value reduce_along(leat_value x, int64_t axis, int64_t places, reduction reduce) {
    leat_shape shape = leat_value_shape(x);
    int64_t size = shape.dims[axis], begin[LEAT_MAX_RANK] = {0}, sizes[LEAT_MAX_RANK];
    /* On the heap: there may be thousands of them. */
    leat_value *parts = leati_alloc((size_t)places, sizeof *parts);
    leat_error err = {0};
    if (parts == NULL) {
        leati_no_memory(&err);
        return leati_graph_error(x.graph, &err);
    }
    for (int32_t d = 0; d < shape.rank; d++)
        sizes[d] = -1;
    for (int64_t i = 0; i < places; i++) {
        /* From floor(i size / places) to ceil((i + 1) size / places): windows overlap where sizes
         * do not divide. */
        begin[axis] = i * size / places;
        sizes[axis] = ((i + 1) * size + places - 1) / places - begin[axis];
        parts[i] = reduce(leat_op_slice(x, begin, shape.rank, sizes, shape.rank), &axis, 1, true);
    }
    leat_value out = leat_op_concat(parts, (int)places, axis);
    leati_free(parts);
    return out;
}

static leat_value pool_adaptively(const leati_pass *pass, int directions, reduction reduce) {
    const struct adaptive_pooling_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int64_t places[3];
    leati_layer_numbers_of(&args->output_size, 1, directions, places);
    /* One direction after the other: maxima and means over a box are those of its lines, of one
     * size each. */
    for (int i = 0; i < directions && !leati_support_value_failed(x); i++) {
        if (leat_value_shape(x).dims[i + 1] < 1)
            return leati_support_build_error(
                x.graph, LEAT_REASON_SHAPE,
                "the sizes of space are unknown or zero; they must be known "
                "for windows that follow from them");
        x = reduce_along(x, i + 1, places[i], reduce);
    }
    return x;
}

/* The descriptor of one layer: what it computes by which reduction, along N directions of space. */
#define ADAPTIVE_POOLING(ID, CLASS, WHAT, REDUCTION, N)                                            \
    static leat_status ID##N##d_check(const void *args, leat_error *err) {                         \
        return check(args, N, err);                                                                \
    }                                                                                              \
    static leat_value ID##N##d_call(const leati_pass *pass) {                                      \
        return pool_adaptively(pass, N, REDUCTION);                                                \
    }                                                                                              \
    const leati_layer_kind leati_layer_##ID##N##d = {                                              \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS #N "D",                                                              \
                .doc =                                                                             \
                    "The " WHAT                                                                    \
                    " of as many windows as the result has places (keras.layers." CLASS #N "D).",  \
                .rows = adaptive_pooling_rows,                                                     \
                .signature = "output_size data_format",                                            \
                .args_size = sizeof(struct adaptive_pooling_args),                                 \
                .check = ID##N##d_check,                                                           \
            },                                                                                     \
        .prefix = #ID #N "d",                                                                      \
        LEATI_SPACE_##N,                                                                           \
        .call = ID##N##d_call,                                                                     \
    };
ADAPTIVE_POOLING(adaptive_max_pooling, "AdaptiveMaxPooling", "largest value", leat_op_reduce_max, 1)
ADAPTIVE_POOLING(adaptive_max_pooling, "AdaptiveMaxPooling", "largest value", leat_op_reduce_max, 2)
ADAPTIVE_POOLING(adaptive_max_pooling, "AdaptiveMaxPooling", "largest value", leat_op_reduce_max, 3)
ADAPTIVE_POOLING(adaptive_average_pooling, "AdaptiveAveragePooling", "mean", leat_op_reduce_mean, 1)
ADAPTIVE_POOLING(adaptive_average_pooling, "AdaptiveAveragePooling", "mean", leat_op_reduce_mean, 2)
ADAPTIVE_POOLING(adaptive_average_pooling, "AdaptiveAveragePooling", "mean", leat_op_reduce_mean, 3)
