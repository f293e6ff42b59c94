/* What the operations share that compare pictures with others: psnr, ssim, ssim_multiscale. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_COMPARE_H
#define LEATI_GRAPH_SUPPORT_MATH_COMPARE_H

#include "graph/support/support.h"

/* Pictures [..., height, width, channels] of two inputs as float32, whose dimensions in front
 * broadcast: result k compares picture a_at[k] with picture b_at[k] of each row. */
typedef struct leati_compared {
    leati_operand a, b;
    leat_shape heads; /* of the results */
    int64_t height, width, channels;
    int64_t count; /* of results */
    int64_t *a_at, *b_at;
    float range; /* max_val as the pictures are scaled */
} leati_compared;

/* Checks the inputs; `heads` becomes the result's shape, of rank -1 where a rank is not known. */
LEAT_WARN_UNUSED leat_status leati_compare_infer(const leati_infer_call *call, leat_shape *heads,
                                                 leat_error *err);
/* The pictures of the inputs, converted, in the call's arena. */
LEAT_WARN_UNUSED leat_status leati_compare_begin(leati_kernel_call *call, double max_val,
                                                 leati_compared *out, leat_error *err);
/* Pictures `k` of row `row`. */
static inline const float *leati_compare_row_a(const leati_compared *c, int64_t row, int64_t k) {
    const float *data = (const float *)(const void *)leati_support_row_of(&c->a, row);
    return data + c->a_at[k] * c->height * c->width * c->channels;
}
static inline const float *leati_compare_row_b(const leati_compared *c, int64_t row, int64_t k) {
    const float *data = (const float *)(const void *)leati_support_row_of(&c->b, row);
    return data + c->b_at[k] * c->height * c->width * c->channels;
}

/* ---- structural similarity ---- */

struct leati_ssim_args {
    double max_val;
    int64_t filter_size;
    double filter_sigma, k1, k2;
    bool return_index_map;      /* of ssim */
    leati_floats power_factors; /* of ssim_multiscale */
};

/* Tables and memory for comparing pictures of one size by windows. */
typedef struct leati_ssim {
    int64_t height, width, channels, size;
    double c1, c2;
    double *weights; /* of a line of the window; they sum to 1 */
    double *lines;   /* sums along columns of both, both squares, and the product */
} leati_ssim;

/* Checks the size and gets memory from the call's arena. INVALID_ARGUMENT where a picture is
 * smaller than the window. */
LEAT_WARN_UNUSED leat_status leati_compare_ssim_init(leati_ssim *ssim, leati_kernel_call *call,
                                                     const struct leati_ssim_args *args,
                                                     float range, int64_t height, int64_t width,
                                                     int64_t channels, leat_error *err);
/* The likeness of two pictures at each place of the window, averaged over channels into `map`
 * (height - size + 1 rows; NULL: not wanted), and for each channel its mean and that of contrast
 * and structure alone into `means` and `contrast` (may be NULL). */
void leati_compare_ssim(const leati_ssim *ssim, const float *a, const float *b, float *map,
                        double *means, double *contrast);

/* ---- gradients ---- */

/* Inputs as float32 batches of rank 4. UNIMPLEMENTED where ranks are not known, or beyond 4. */
LEAT_WARN_UNUSED leat_status leati_compare_batches(const leat_value sources[2],
                                                   leat_value pictures[2], leat_error *err);
/* Of batches of rank 4: likeness and contrast at each place and channel, from other operations. */
LEAT_WARN_UNUSED leat_status leati_compare_ssim_compose(const struct leati_ssim_args *args,
                                                        double range, const leat_value pictures[2],
                                                        leat_value *likeness, leat_value *contrast,
                                                        leat_error *err);
/* max_val as pictures of that dtype are scaled. */
double leati_compare_range(double max_val, leat_dtype dtype);

#endif
