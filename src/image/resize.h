/* Bilinear resizing to float, by TensorFlow's half-pixel rule.
 *
 * Output sample i looks at c = (i + 0.5) * in / out. Without antialias it is a blend of the two
 * nearest inputs (tf.image.resize, method bilinear); with antialias a triangle that grows with the
 * shrinking factor (ScaleAndTranslate). Samples beyond the border are left out. */
#ifndef LEATI_IMAGE_RESIZE_H
#define LEATI_IMAGE_RESIZE_H

#include <leat/base.h>

/* Where one dimension takes its samples from. Output i is lower[i] + (upper[i] - lower[i]) *
 * lerp[i], or, with antialias, the sum of count[i] samples from lower[i] on by weights[i * span
 * ...]. */
typedef struct leati_resize_axis {
    int32_t in, out;
    int32_t span; /* most samples that an output looks at; antialias only */
    int32_t
        interior; /* outputs [0, interior) have an upper neighbour that is not the last sample */
    int32_t *lower, *upper, *count;
    float *lerp, *weights;
    void *memory; /* of all five; owned */
    size_t capacity;
} leati_resize_axis;

/* Tables and working rows, kept from picture to picture: {0} is valid and empty. For one thread at
 * a time. */
typedef struct leati_resize_plan {
    leati_resize_axis y, x;
    int32_t channels;
    bool antialias;
    bool plain;       /* set by a test: only the plain C path, which is the oracle of the others */
    float *rows;      /* owned: two blended rows, or one column-summed row */
    size_t capacity;  /* floats in rows */
    size_t row_width; /* floats from one row to the next */
} leati_resize_plan;

/* Prepares the plan for pictures of in_height x in_width x channels (any number of channels from
 * 1). Costs nothing if the plan is for these sizes already; allocates only where tables must grow.
 * INVALID_ARGUMENT unless all sizes are positive and fit. */
LEAT_WARN_UNUSED leat_status leati_resize_prepare(leati_resize_plan *plan, int32_t in_height,
                                                  int32_t in_width, int32_t out_height,
                                                  int32_t out_width, int32_t channels,
                                                  bool antialias, leat_error *err);
void leati_resize_fini(leati_resize_plan *plan);

/* Resizes by a prepared plan. Strides count bytes from row to row (at least a row; those of floats
 * are multiples of 4); in and out do not overlap. Bit for bit the same on every machine and path.
 */
void leati_resize_u8(leati_resize_plan *plan, const uint8_t *in, size_t in_stride, float *out,
                     size_t out_stride);
void leati_resize_f32(leati_resize_plan *plan, const float *in, size_t in_stride, float *out,
                      size_t out_stride);

/* ---- between resize.c and its faster paths ---- */

/* Blends one row of 3 channels horizontally into `out`, which has room for one more float behind
 * the row. */
typedef void leati_resize_blend_x3(const leati_resize_axis *x, const uint8_t *in, float *out);
/* out[i] = a[i] + (b[i] - a[i]) * lerp. */
typedef void leati_resize_blend_rows(const float *a, const float *b, float lerp, float *out,
                                     size_t count);

/* The fast functions for this processor, or false: use the plain ones. */
bool leati_resize_fast(leati_resize_blend_x3 **blend_x3, leati_resize_blend_rows **blend_rows);

#endif
