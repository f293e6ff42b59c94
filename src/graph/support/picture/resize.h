/* What the operations that scale pictures share, and the idle resize plans of the process: tables
 * and working rows that are made once, not per picture. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_RESIZE_H
#define LEATI_GRAPH_SUPPORT_PICTURE_RESIZE_H

#include "graph/support/picture/frames.h"
#include "image/resize.h"

/* How pictures are scaled, and onto what: pictures of height x width whose corner is at (top, left)
 * of a canvas, which is zero elsewhere. */
typedef struct leati_scaling {
    leati_resize_method method;
    bool antialias;
    int64_t height, width;
    int64_t canvas_height, canvas_width, top, left;
} leati_scaling;

/* The method of that name; INVALID_ARGUMENT lists them. */
LEAT_WARN_UNUSED leat_status leati_resize_method_of(const char *name, leati_resize_method *out,
                                                    leat_error *err);
/* The result's dtype: float32, but nearest keeps its input's. INVALID_ARGUMENT unless numbers. */
LEAT_WARN_UNUSED leat_status leati_resize_dtype(leati_resize_method method, leat_dtype in,
                                                leat_dtype *out, leat_error *err);
/* Scales the pictures of input 0 into output 0. */
LEAT_WARN_UNUSED leat_status leati_resize_scale(leati_kernel_call *call,
                                                const leati_scaling *scaling, leat_error *err);

/* Scales part `window` of picture `index` of row 0 of input 0 into that picture of output 0, which
 * has its memory. The part is not empty and inside of the picture. */
LEAT_WARN_UNUSED leat_status leati_resize_scale_part(const leati_kernel_call *call, int64_t index,
                                                     const leati_window *window,
                                                     leati_resize_method method, bool antialias,
                                                     leat_error *err);
/* Input 0 as something that the method reads: as it is, or cast into the arena. */
LEAT_WARN_UNUSED leat_status leati_resize_scale_readable(leati_kernel_call *call,
                                                         leati_resize_method method,
                                                         leati_operand *in, leat_error *err);

/* The attributes of resize and resize_grad. */
struct leati_resize_args {
    leati_ints size;
    char *method;
    bool preserve_aspect_ratio, antialias;
};

/* The attributes of resize_with_pad. */
struct leati_resize_with_pad_args {
    int64_t target_height, target_width;
    char *method;
    bool antialias;
};
/* How it scales such pictures, and where they lie in the target. */
LEAT_WARN_UNUSED leat_status leati_resize_fitting(const struct leati_resize_with_pad_args *args,
                                                  const leati_frames *in, leati_scaling *out,
                                                  leat_error *err);

/* A plan from the store, or an empty one, and back. */
leati_resize_plan leati_resize_plan_take(int32_t height, int32_t width);
void leati_resize_plan_give(leati_resize_plan *plan);

/* Frees the idle ones: before a change of the allocator, and in tests that count memory.
 * Thread-safe. */
void leati_resize_plans_trim(void);

#endif
