/* What the pooling layers share: windows along one to three directions of space, all of them by the
 * operations for pictures, and reductions of all of space. */
#ifndef LEATI_TRAIN_SUPPORT_POOLING_H
#define LEATI_TRAIN_SUPPORT_POOLING_H

#include "train/frame/layer.h"

struct leati_pooling_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints pool_size, strides;
    char *padding, *data_format;
};

/* `FLAGS` are those of pool_size, which is 2 where it may be left out. */
#define LEATI_POOLING_ROWS(FLAGS)                                                                  \
    LEATI_LAYER_ROW(leati_pooling_args, pool_size, INTS, .flags = (FLAGS), .minimum = 1,           \
                    .maximum = INT32_MAX,                                                          \
                    .doc = "Size of the window along each direction, or one number."),             \
        LEATI_LAYER_ROW(leati_pooling_args, strides, INTS, .minimum = 1, .maximum = INT32_MAX,     \
                        .doc = "Steps of the window along each direction; by default its size."),  \
        LEATI_LAYER_ROW(leati_pooling_args, padding, STRING, .default_text = "valid",              \
                        .doc = "\"valid\" or \"same\"."),                                          \
        LEATI_LAYER_ROW(leati_pooling_args, data_format, STRING, .doc = "\"channels_last\"."),     \
        LEATI_LAYER_NAME

LEAT_WARN_UNUSED leat_status leati_pooling_check(const void *args, int directions, leat_error *err);
/* The call: `pool` is the operation for pictures. */
leat_value leati_pooling_pool(const leati_pass *pass, int directions,
                              leat_value (*pool)(leat_value, const leat_op_pool2d_options *));

struct leati_global_pooling_args {
    char *name; /* first: struct leati_layer_args */
    char *data_format;
    bool keepdims;
};
extern const leati_row leati_global_pooling_rows[];

leat_status leati_pooling_global_check(const void *args, leat_error *err);
/* The call: `reduce` is a reduction over axes. */
leat_value leati_pooling_pool_all(const leati_pass *pass, int directions,
                                  leat_value (*reduce)(leat_value, const int64_t *, int, bool));

/* As many windows as the result has places along each direction. */
struct leati_adaptive_pooling_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints output_size;
    char *data_format;
};
extern const leati_row leati_adaptive_pooling_rows[];

LEAT_WARN_UNUSED leat_status leati_pooling_adaptive_check(const void *args, int directions,
                                                          leat_error *err);
/* The call: `reduce` is a reduction over axes. */
leat_value leati_pooling_pool_adaptive(const leati_pass *pass, int directions,
                                       leat_value (*reduce)(leat_value, const int64_t *, int,
                                                            bool));

#endif
