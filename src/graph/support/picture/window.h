/* Windows that slide over height and width: the geometry of convolutions and pooling. Pictures are
 * [N, H, W, C]. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_WINDOW_H
#define LEATI_GRAPH_SUPPORT_PICTURE_WINDOW_H

#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/support.h"

/* One direction. Output i reads inputs i * stride - before + k * dilation for k < kernel. */
typedef struct leati_window_axis {
    int64_t in, out, kernel, stride, dilation, before;
} leati_window_axis;

/* in and kernel may be unknown: then out is. INVALID_ARGUMENT where no window fits. */
LEAT_WARN_UNUSED leat_status leati_window_axis_init(leati_window_axis *axis, int64_t in,
                                                    int64_t kernel, int64_t stride,
                                                    int64_t dilation, bool same, const char *name,
                                                    leat_error *err);
/* The k of which output i reads an input that exists: [*first, *last). */
void leati_window_range(const leati_window_axis *axis, int64_t i, int64_t *first, int64_t *last);

/* Attributes of windows, as rows name them; used by pooling. */
struct leati_pool_args {
    leati_ints ksize, strides;
    char *padding;
};

/* Attributes of convolutions. */
struct leati_conv_args {
    leati_ints strides, dilations;
    char *padding;
};

/* Of a convolution in groups, each group of channels / groups channels has filters / groups filters
 * of its own; a depthwise one has a group for each channel. */
typedef struct leati_conv_plan {
    leati_window_axis y, x;
    int64_t batch, channels, filters;
    int64_t groups; /* 1 for pooling, and while channels are unknown */
} leati_conv_plan;

/* A look at whether to stop, for loops over windows; `done` counts from 0 (base/stop.h). */
static inline bool leati_window_stops(const leati_conv_plan *plan, int64_t *done) {
    int64_t products = plan->channels * LEATI_MAX(plan->filters / plan->groups, 1);
    /* A group is a product of its own, which takes as long as some 64. */
    return leati_stop_look_after(
        plan->y.kernel * plan->x.kernel * (products + 64 * (plan->groups - 1)), done);
}

/* The plan for shapes of rank 4, and the shape of the convolution's result. Dimensions may be
 * unknown. */
LEAT_WARN_UNUSED leat_status leati_window_conv_plan_init(leati_conv_plan *plan,
                                                         const struct leati_conv_args *args,
                                                         const leat_shape *input,
                                                         const leat_shape *filter, leat_shape *out,
                                                         leat_error *err);
LEAT_WARN_UNUSED leat_status leati_window_pool_plan_init(leati_conv_plan *plan,
                                                         const struct leati_pool_args *args,
                                                         const leat_shape *input, leat_shape *out,
                                                         leat_error *err);
/* For infer: makes an unknown rank four unknown dimensions; another rank is an error. */
LEAT_WARN_UNUSED leat_status leati_window_want_rank4(const leati_infer_call *call, int index,
                                                     const char *what, leat_shape *out,
                                                     leat_error *err);
/* The gradient that flows into a window operation has the shape of its result. */
LEAT_WARN_UNUSED leat_status leati_window_want_result_shape(const leat_shape *gradient,
                                                            const leat_shape *result,
                                                            leat_error *err);

#endif
