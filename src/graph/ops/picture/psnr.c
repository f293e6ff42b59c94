/* psnr: how close pictures are to others, in decibels: the ratio of the range of values to the mean
 * squared error (tf.image.psnr).
 *
 * Pictures are converted to float32 as convert_image_dtype does it, and max_val with them. Equal
 * pictures give infinity. Fails where sizes differ. The mean is kept in double. No state, no locks.
 */
#include "graph/support/math/compare.h"

#include <math.h>

struct psnr_args {
    double max_val;
};

static const leati_row psnr_rows[] = {
    {.name = "max_val",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct psnr_args, max_val),
     .doc = "The range of the pictures' values, such as 255 or 1."},
    {0},
};

static const float tenth = 4.342944819F; /* 10 / log(10) */

static leat_status psnr_infer(leati_infer_call *call, leat_error *err) {
    leat_shape heads;
    LEATI_TRY(leati_compare_infer(call, &heads, err));
    return leati_op_infer_output(call, LEAT_FLOAT32, &heads, NULL, err);
}

static double squared_error(const float *a, const float *b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double difference = (double)(a[i] - b[i]);
        sum += difference * difference;
    }
    return sum / (double)count;
}

static leat_status psnr_kernel(leati_kernel_call *call, leat_error *err) {
    const struct psnr_args *args = call->args;
    leati_compared c;
    LEATI_TRY(leati_compare_begin(call, args->max_val, &c, err));
    LEATI_TRY(leati_support_output_like(call, 0, &c.heads, err));
    int64_t values = c.height * c.width * c.channels;
    for (int64_t row = 0; row < call->n; row++) {
        float *out = (float *)(void *)leati_support_row_of(&call->outputs[0], row);
        for (int64_t k = 0; k < c.count; k++) {
            float error = (float)squared_error(leati_compare_row_a(&c, row, k),
                                               leati_compare_row_b(&c, row, k), values);
            out[k] = 20 * logf(c.range) / logf(10) - tenth * logf(error);
        }
    }
    return LEAT_OK;
}

/* Composed of the error alone: the range has no part in it. */
static leat_status psnr_gradient(leati_gradient_call *call, leat_error *err) {
    static const int64_t axes[3] = {-3, -2, -1};
    leat_value sources[2], floats[2];
    leati_support_gradient_sources(call, sources);
    for (int i = 0; i < 2; i++)
        floats[i] = leat_op_convert_image_dtype(sources[i], LEAT_FLOAT32, false);
    leat_value error =
        leat_op_reduce_mean(leat_op_squared_difference(floats[0], floats[1]), axes, 3, false);
    leat_value result = leati_support_times(leat_op_log(error), (double)-tenth);
    return leati_support_gradient_through(call, sources, &result, err);
}

leat_value leat_op_psnr(leat_value a, leat_value b, double max_val) {
    struct psnr_args args = {.max_val = max_val};
    return leati_graph_build2(&leati_tensor_op_psnr, &args, a, b);
}

const leati_tensor_op leati_tensor_op_psnr = {
    .name = "psnr",
    .version = 1,
    .doc = "How close pictures are to others, in decibels (tf.image.psnr).",
    .names = "image.psnr",
    .inputs = "a b",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = psnr_rows,
    .args_size = sizeof(struct psnr_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = psnr_infer,
    .kernel = psnr_kernel,
    .gradient = psnr_gradient,
};
