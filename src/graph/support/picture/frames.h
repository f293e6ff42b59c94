/* What the operations on pictures share: their shapes, and moving whole pixels. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_FRAMES_H
#define LEATI_GRAPH_SUPPORT_PICTURE_FRAMES_H

#include "graph/support/support.h"

/* The pictures of one row of an operand: [height, width, channels], or `count` of them. */
typedef struct leati_frames {
    int64_t count, height, width, channels;
} leati_frames;

enum { LEATI_KEEP = -2 /* the input's own dimension */ };

/* Infer for pictures in, pictures out: numbers or bools [H, W, C] or [N, H, W, C]; dimensions of
 * the result that are not LEATI_KEEP. */
LEAT_WARN_UNUSED leat_status leati_frames_infer(leati_infer_call *call, int64_t height,
                                                int64_t width, leat_dtype dtype, leat_error *err);
/* The pictures of a shape of rank 3 or 4 (INVALID_ARGUMENT else). */
LEAT_WARN_UNUSED leat_status leati_frames_of(const leat_shape *shape, leati_frames *out,
                                             leat_error *err);
/* The pictures of input 0, and memory for output 0, of that height and width. */
LEAT_WARN_UNUSED leat_status leati_frames_begin(leati_kernel_call *call, int64_t height,
                                                int64_t width, leati_frames *in, leat_error *err);
/* Output 0 becomes the window of input 0's pictures; what lies outside of them is zero. */
LEAT_WARN_UNUSED leat_status leati_frames_window(leati_kernel_call *call,
                                                 const leati_window *window, leat_error *err);
/* Copies pictures pixel by pixel: pixel (y, x) of the result comes from pixel y * y_step + x *
 * x_step, counted from `first`, of the picture. */
LEAT_WARN_UNUSED leat_status leati_frames_walk(leati_kernel_call *call, int64_t height,
                                               int64_t width, int64_t first, int64_t y_step,
                                               int64_t x_step, leat_error *err);
/* Dimension `place` (0: height, 1: width) of a value's pictures where inference knows it, else -1.
 */
int64_t leati_frames_known(leat_value value, int place);

/* The four numbers of crop_to_bounding_box and pad_to_bounding_box. */
struct leati_box_args {
    int64_t offset_height, offset_width, target_height, target_width;
};

/* INVALID_ARGUMENT where a result without pixels is wanted. */
LEAT_WARN_UNUSED leat_status leati_frames_target_check(int64_t height, int64_t width,
                                                       leat_error *err);

#endif
