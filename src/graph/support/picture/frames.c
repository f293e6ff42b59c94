/* What the operations on pictures share; see frames.h. No state, no locks. */
#include "graph/support/picture/frames.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/array/moving.h"

#include <string.h>

static leat_status check_rank(const leat_shape *shape, leat_error *err) {
    char text[128];
    if (shape->rank < 0 || shape->rank == 3 || shape->rank == 4)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "the pictures have shape %s; expected [H, W, C] or [N, H, W, C]",
                        leati_shape_text(shape, text));
}

leat_status leati_frames_infer(leati_infer_call *call, int64_t height, int64_t width,
                               leat_dtype dtype, leat_error *err) {
    leat_shape shape = call->inputs[0].shape;
    if (call->inputs[0].dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    LEATI_TRY(check_rank(&shape, err));
    if (shape.rank > 0 && height != LEATI_KEEP)
        shape.dims[shape.rank - 3] = height;
    if (shape.rank > 0 && width != LEATI_KEEP)
        shape.dims[shape.rank - 2] = width;
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

leat_status leati_frames_of(const leat_shape *shape, leati_frames *out, leat_error *err) {
    LEATI_TRY(check_rank(shape, err));
    /* The last three dimensions are a picture; one in front is a batch. */
    const int64_t *dims = &shape->dims[shape->rank - 3];
    *out = (leati_frames){.count = shape->rank == 4 ? shape->dims[0] : 1,
                          .height = dims[0],
                          .width = dims[1],
                          .channels = dims[2]};
    return LEAT_OK;
}

leat_status leati_frames_begin(leati_kernel_call *call, int64_t height, int64_t width,
                               leati_frames *in, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_frames_of(&shape, in, err));
    shape.dims[shape.rank - 3] = height == LEATI_KEEP ? in->height : height;
    shape.dims[shape.rank - 2] = width == LEATI_KEEP ? in->width : width;
    return leati_support_output_like(call, 0, &shape, err);
}

static void copy_window(const leati_window *w, size_t pixel, const leati_frames *in,
                        const char *from, char *to) {
    int64_t first = w->left < 0 ? -w->left : 0; /* the columns that the picture has */
    int64_t end = LEATI_MIN(in->width - w->left, w->width);
    size_t line = (size_t)w->width * pixel;
    for (int64_t y = 0; y < w->height; y++, to += line) {
        int64_t source = y + w->top;
        /* A row above or below the picture, or a window that is beside it altogether. */
        if (source < 0 || source >= in->height || end <= first) {
            memset(to, 0, line);
            continue;
        }
        size_t before = (size_t)first * pixel, until = (size_t)end * pixel;
        memset(to, 0, before);
        memcpy(to + before, from + (size_t)(source * in->width + first + w->left) * pixel,
               until - before);
        memset(to + until, 0, line - until);
    }
}

leat_status leati_frames_window(leati_kernel_call *call, const leati_window *window,
                                leat_error *err) {
    leati_frames in;
    LEATI_TRY(leati_frames_begin(call, window->height, window->width, &in, err));
    size_t pixel = (size_t)in.channels * leat_dtype_size(call->inputs[0].dtype);
    size_t step = (size_t)(in.height * in.width) * pixel;
    size_t out_step = (size_t)(window->height * window->width) * pixel;
    for (int64_t row = 0, done = 0; row < call->n && call->outputs[0].count > 0; row++) {
        const char *from = leati_support_row_of(&call->inputs[0], row);
        char *to = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < in.count && !leati_stop_look_after((int64_t)out_step / 4, &done);
             i++)
            copy_window(window, pixel, &in, from + (size_t)i * step, to + (size_t)i * out_step);
    }
    return LEAT_OK;
}

leat_status leati_frames_walk(leati_kernel_call *call, int64_t height, int64_t width, int64_t first,
                              int64_t y_step, int64_t x_step, leat_error *err) {
    leati_frames in;
    LEATI_TRY(leati_frames_begin(call, height, width, &in, err));
    int64_t pixel = in.channels * (int64_t)leat_dtype_size(call->inputs[0].dtype);
    int64_t picture = in.height * in.width * pixel;
    const int64_t dims[3] = {in.count, height, width};
    /* Of the result, dense; a pixel with all channels is moved as one value. */
    const int64_t steps[3] = {picture, width * pixel, pixel};
    const int64_t from_steps[3] = {picture, y_step * pixel, x_step * pixel};
    leati_moving_rows(call, &call->outputs[0], 0, steps, &call->inputs[0], first * pixel,
                      from_steps, dims, 3, (size_t)pixel);
    return LEAT_OK;
}

int64_t leati_frames_known(leat_value value, int place) {
    leat_shape shape = leat_value_shape(value);
    return shape.rank < 3 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 3 + place];
}

leat_status leati_frames_target_check(int64_t height, int64_t width, leat_error *err) {
    if (height > 0 && width > 0 && height <= INT32_MAX && width <= INT32_MAX)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "target_height is %lld and target_width %lld; expected 1 to %ld",
                        (long long)height, (long long)width, (long)INT32_MAX);
}
