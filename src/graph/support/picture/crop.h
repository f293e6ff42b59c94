/* What crop_and_resize and its gradients share. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_CROP_H
#define LEATI_GRAPH_SUPPORT_PICTURE_CROP_H

#include "graph/support/support.h"

struct leati_crop_args {
    leati_ints crop_size;
    char *method;
    double extrapolation_value;
};
extern const leati_row leati_crop_rows[];

LEAT_WARN_UNUSED leat_status leati_crop_check(const struct leati_crop_args *args, bool size_known,
                                              leat_error *err);

/* Where the samples of one dimension lie: sample i at first + i * step. */
typedef struct leati_crop_line {
    float first, step;
    int64_t last; /* the picture's last sample */
} leati_crop_line;

leati_crop_line leati_crop_line_of(float low, float high, int64_t size, int64_t samples);

/* ---- gradients: inputs are the result's gradient, the pictures, boxes and indices ---- */
enum { LEATI_CROP_GRADIENT, LEATI_CROP_IMAGES, LEATI_CROP_BOXES, LEATI_CROP_INDICES };

/* A pixel of a crop that lies within its picture. */
typedef struct leati_crop_sample {
    int64_t box, image, y, x; /* numbers of the box and its picture; the pixel in the crop */
    float from_y, from_x;     /* its place in the picture */
    const float *gradient;    /* of each channel */
} leati_crop_sample;

typedef void leati_crop_visit(const leati_kernel_call *call, const leati_crop_sample *sample,
                              void *context);

/* Calls `visit` for the samples of row `row` in order; the gradient is float32. */
LEAT_WARN_UNUSED leat_status leati_crop_walk(leati_kernel_call *call, int64_t row,
                                             leati_crop_visit *visit, void *context,
                                             leat_error *err);
LEAT_WARN_UNUSED leat_status leati_crop_back_infer(leati_infer_call *call, int like,
                                                   leat_error *err);

#endif
