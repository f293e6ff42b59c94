/* What the pooling layers share.
 *
 * Happy path: one direction is two, of which the first has one row. Three directions are two steps,
 * because a maximum of maxima is the maximum of the box, and a mean of means too, as every window
 * along the first direction counts the same pixels of a plane. Failures: INVALID_ARGUMENT for
 * windows that do not fit, and for three directions whose sizes are unknown. No state, no locks. */
#include "train/support/pooling.h"
#include "base/alloc.h"
#include "base/error.h"
#include "graph/support/support.h"
#include <string.h>

leat_status leati_pooling_check(const void *arguments, int directions, leat_error *err) {
    const struct leati_pooling_args *args = arguments;
    LEATI_TRY(leati_layer_check_numbers(&args->pool_size, "pool_size", directions, err));
    LEATI_TRY(leati_layer_check_numbers(&args->strides, "strides", directions, err));
    LEATI_TRY(leati_layer_check_padding(args->padding, err));
    return leati_layer_check_channels_last(args->data_format, err);
}

typedef leat_value (*pool_function)(leat_value, const leat_op_pool2d_options *);

/* Volumes [N, D, H, W, C]: planes first, then the first direction alone. */
static leat_value pool_space(leat_value x, const int64_t *size, const int64_t *strides,
                             leat_padding padding, pool_function pool) {
    leat_shape in = leat_value_shape(x);
    for (int d = 1; d < 5; d++)
        if (in.dims[d] < 1)
            return leati_support_build_error(
                x.graph, LEAT_INVALID_ARGUMENT,
                "the sizes of space are unknown; they must be known where a "
                "window has three directions");
    const leat_op_pool2d_options planes = {
        .ksize = {size[1], size[2]}, .strides = {strides[1], strides[2]}, .padding = padding};
    x = leat_op_reshape(x, (const int64_t[]){-1, in.dims[2], in.dims[3], in.dims[4]}, 4);
    x = pool(x, &planes);
    leat_shape plane = leat_value_shape(x);
    if (leati_support_value_failed(x))
        return x;
    const leat_op_pool2d_options columns = {
        .ksize = {size[0], 1}, .strides = {strides[0], 1}, .padding = padding};
    int64_t area = plane.dims[1] * plane.dims[2];
    x = leat_op_reshape(x, (const int64_t[]){-1, in.dims[1], area, in.dims[4]}, 4);
    x = pool(x, &columns);
    if (leati_support_value_failed(x))
        return x;
    int64_t depth = leat_value_shape(x).dims[1];
    return leat_op_reshape(
        x, (const int64_t[]){-1, depth, plane.dims[1], plane.dims[2], in.dims[4]}, 5);
}

leat_value leati_pooling_pool(const leati_pass *pass, int directions, pool_function pool) {
    const struct leati_pooling_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int64_t size[3] = {0}, strides[3] = {0};
    leati_layer_numbers_of(&args->pool_size, 2, directions, size);
    memcpy(strides, size, sizeof strides);
    if (args->strides.count > 0)
        leati_layer_numbers_of(&args->strides, 1, directions, strides);
    leat_op_pool2d_options options = {.padding = leati_layer_padding_of(args->padding)};
    if (directions == 3)
        return pool_space(x, size, strides, options.padding, pool);
    if (directions == 2) {
        memcpy(options.ksize, size, sizeof options.ksize);
        memcpy(options.strides, strides, sizeof options.strides);
        return pool(x, &options);
    }
    options = (leat_op_pool2d_options){
        .ksize = {1, size[0]}, .strides = {1, strides[0]}, .padding = options.padding};
    return leat_op_squeeze(pool(leat_op_expand_dims(x, 1), &options), (const int64_t[]){1}, 1);
}

/* ---- all of space ---- */

const leati_row leati_global_pooling_rows[] = {
    LEATI_LAYER_ROW(leati_global_pooling_args, data_format, STRING,
                    .doc = "\"channels_last\", the default, or \"channels_first\"."),
    LEATI_LAYER_ROW(leati_global_pooling_args, keepdims, BOOL,
                    .doc = "Whether the directions of space stay, with size 1."),
    LEATI_LAYER_NAME,
    {0},
};

leat_status leati_pooling_global_check(const void *args, leat_error *err) {
    const struct leati_global_pooling_args *own = args;
    return leati_layer_check_data_format(own->data_format, err);
}

leat_value leati_pooling_pool_all(const leati_pass *pass, int directions,
                                  leat_value (*reduce)(leat_value, const int64_t *, int, bool)) {
    const struct leati_global_pooling_args *args = pass->args;
    int64_t axes[3];
    for (int i = 0; i < directions; i++)
        axes[i] = i + (leati_layer_channels_first(args->data_format) ? 2 : 1);
    return reduce(pass->inputs[0], axes, directions, args->keepdims);
}

/* ---- as many windows as the result has places ---- */

const leati_row leati_adaptive_pooling_rows[] = {
    LEATI_LAYER_ROW(leati_adaptive_pooling_args, output_size, INTS, .flags = LEATI_REQUIRED,
                    .minimum = 1, .maximum = 4096,
                    .doc = "Sizes of the result in space, or one number for all directions."),
    LEATI_LAYER_ROW(leati_adaptive_pooling_args, data_format, STRING, .doc = "\"channels_last\"."),
    LEATI_LAYER_NAME,
    {0},
};

leat_status leati_pooling_adaptive_check(const void *arguments, int directions, leat_error *err) {
    const struct leati_adaptive_pooling_args *args = arguments;
    LEATI_TRY(leati_layer_check_numbers(&args->output_size, "output_size", directions, err));
    return leati_layer_check_channels_last(args->data_format, err);
}

/* The windows along one direction: place i looks at what its part of the size touches. */
static leat_value reduce_along(leat_value x, int64_t axis, int64_t places,
                               leat_value (*reduce)(leat_value, const int64_t *, int, bool)) {
    leat_shape shape = leat_value_shape(x);
    int64_t size = shape.dims[axis], begin[LEAT_MAX_RANK] = {0}, sizes[LEAT_MAX_RANK];
    leat_value *parts = leati_alloc((size_t)places, sizeof *parts);
    leat_error err = {0};
    if (parts == NULL) {
        leati_no_memory(&err);
        return leati_graph_error(x.graph, &err);
    }
    for (int32_t d = 0; d < shape.rank; d++)
        sizes[d] = -1;
    for (int64_t i = 0; i < places; i++) {
        begin[axis] = i * size / places;
        sizes[axis] = ((i + 1) * size + places - 1) / places - begin[axis];
        parts[i] = reduce(leat_op_slice(x, begin, sizes, shape.rank), &axis, 1, true);
    }
    leat_value out = leat_op_concat(parts, (int)places, axis);
    leati_free(parts);
    return out;
}

leat_value leati_pooling_pool_adaptive(const leati_pass *pass, int directions,
                                       leat_value (*reduce)(leat_value, const int64_t *, int,
                                                            bool)) {
    const struct leati_adaptive_pooling_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int64_t places[3];
    leati_layer_numbers_of(&args->output_size, 1, directions, places);
    for (int i = 0; i < directions && !leati_support_value_failed(x); i++) {
        if (leat_value_shape(x).dims[i + 1] < 1)
            return leati_support_build_error(
                x.graph, LEAT_INVALID_ARGUMENT,
                "the sizes of space are unknown or zero; they must be known "
                "for windows that follow from them");
        x = reduce_along(x, i + 1, places[i], reduce);
    }
    return x;
}
