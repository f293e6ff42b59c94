/* Resizing to float, by TensorFlow's half-pixel rule, with all methods of tf.image.resize.
 *
 * Output sample i looks at c = (i + 0.5) * in / out. Bilinear without antialias is a blend of the
 * two nearest inputs; every other method is a weighted sum of a span of inputs, separable in y and
 * x: with antialias the method's kernel grows with the shrinking factor. Samples beyond the border
 * are left out, and the weights of the others made to sum up to 1. */
#ifndef LEATI_IMAGE_RESIZE_H
#define LEATI_IMAGE_RESIZE_H

#include <leat/base.h>

typedef enum leati_resize_method {
    LEATI_RESIZE_BILINEAR,
    LEATI_RESIZE_NEAREST, /* for leati_resize_pick and _spread alone */
    LEATI_RESIZE_BICUBIC, /* Keys, a = -0.5; without antialias from a table of 1024 steps */
    LEATI_RESIZE_AREA,    /* means of what an output covers; antialias has no effect */
    LEATI_RESIZE_LANCZOS3,
    LEATI_RESIZE_LANCZOS5,
    LEATI_RESIZE_GAUSSIAN, /* radius 1.5, sigma 0.5 */
    LEATI_RESIZE_MITCHELLCUBIC
} leati_resize_method;

/* Where one dimension takes its samples from. Output i is lower[i] + (upper[i] - lower[i]) *
 * lerp[i] (bilinear without antialias), or the sum of count[i] samples from lower[i] on by
 * weights[i * span ...]. */
typedef struct leati_resize_axis {
    int32_t in, out;
    int32_t span; /* most samples that an output looks at; 0: two neighbours */
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
    leati_resize_method method;
    bool antialias;
    bool plain;       /* set by a test: only the plain C path, which is the oracle of the others */
    float *rows;      /* owned: two blended rows, or one row of sums */
    size_t capacity;  /* floats in rows */
    size_t row_width; /* floats from one row to the next */
} leati_resize_plan;

/* Prepares the plan for pictures of in_height x in_width x channels (any number of channels from
 * 1). Costs nothing if the plan is for these sizes already; allocates only where tables must grow.
 * INVALID_ARGUMENT unless all sizes are positive and fit. */
LEAT_WARN_UNUSED leat_status leati_resize_prepare(leati_resize_plan *plan, int32_t in_height,
                                                  int32_t in_width, int32_t out_height,
                                                  int32_t out_width, int32_t channels,
                                                  leati_resize_method method, bool antialias,
                                                  leat_error *err);
void leati_resize_fini(leati_resize_plan *plan);

/* Resizes by a prepared plan. Strides count bytes from row to row (at least a row; those of floats
 * are multiples of 4); in and out do not overlap. Bit for bit the same on every machine and path.
 */
void leati_resize_u8(leati_resize_plan *plan, const uint8_t *in, size_t in_stride, float *out,
                     size_t out_stride);
void leati_resize_f32(leati_resize_plan *plan, const float *in, size_t in_stride, float *out,
                      size_t out_stride);

/* Picks the nearest pixels, of `pixel_size` bytes, by a plan of method NEAREST. */
void leati_resize_pick(const leati_resize_plan *plan, const void *in, size_t in_stride, void *out,
                       size_t out_stride, size_t pixel_size);

/* The transposed map, which is the gradient: `gradient`, dense and of the output's size, is spread
 * over `out`, dense and of the input's size. */
void leati_resize_spread(leati_resize_plan *plan, const float *gradient, float *out);

/* ---- between resize.c and resize_weights.c ---- */

/* The most samples that an output of the axis looks at. */
int32_t leati_resize_span(const leati_resize_axis *axis, leati_resize_method method,
                          bool antialias);
/* Fills lower, count and weights, for which there is room. */
void leati_resize_fill_weights(leati_resize_axis *axis, leati_resize_method method, bool antialias);

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
