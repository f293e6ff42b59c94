/* ssim: the structural similarity of pictures to others: 1 where they are equal (tf.image.ssim).
 *
 * Means, deviations and covariance of both are those inside a Gaussian window, at every place where
 * it fits; the result is the mean over places and channels, or with return_index_map a map of the
 * places. Pictures are converted to float32 as convert_image_dtype does it, and max_val with them.
 * Fails where sizes differ or the window does not fit. No state, no locks. */
#include "graph/support/math/compare.h"

static const leati_row ssim_rows[] = {
    {.name = "max_val",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_ssim_args, max_val),
     .doc = "The range of the pictures' values, such as 255 or 1."},
    LEATI_SSIM_ROWS,
    {.name = "return_index_map",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_ssim_args, return_index_map),
     .doc = "Give the similarity at each place instead of the mean."},
    {0},
};

static leat_status ssim_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_ssim_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape;
    LEATI_TRY(leati_compare_infer(call, &shape, err));
    for (int32_t d = 0; args->return_index_map && shape.rank >= 0 && d < 2; d++) {
        int64_t dim = in->dims[in->rank - 3 + d];
        shape.dims[shape.rank++] = dim == LEAT_UNKNOWN_DIM || dim < args->filter_size
                                       ? LEAT_UNKNOWN_DIM
                                       : dim - args->filter_size + 1;
    }
    return leati_op_infer_output(call, LEAT_FLOAT32, &shape, NULL, err);
}

static leat_status ssim_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_ssim_args *args = call->args;
    leati_compared c;
    leati_ssim ssim;
    LEATI_TRY(leati_compare_begin(call, args->max_val, &c, err));
    LEATI_TRY(
        leati_compare_ssim_init(&ssim, call, args, c.range, c.height, c.width, c.channels, err));
    leat_shape shape = c.heads;
    int64_t places = 1;
    if (args->return_index_map) {
        shape.dims[shape.rank++] = c.height - args->filter_size + 1;
        shape.dims[shape.rank++] = c.width - args->filter_size + 1;
        places = shape.dims[shape.rank - 2] * shape.dims[shape.rank - 1];
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = 2 * (size_t)c.channels * sizeof(double);
    double *means = leati_arena_alloc(call->arena, bytes);
    if (means == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n; row++) {
        float *out = (float *)(void *)leati_support_row_of(&call->outputs[0], row);
        for (int64_t k = 0; k < c.count; k++, out += places) {
            double sum = 0;
            leati_compare_ssim(&ssim, leati_compare_row_a(&c, row, k),
                               leati_compare_row_b(&c, row, k), args->return_index_map ? out : NULL,
                               means, means + c.channels);
            for (int64_t i = 0; i < c.channels; i++)
                sum += means[i];
            if (!args->return_index_map)
                *out = (float)(sum / (double)c.channels);
        }
    }
    return LEAT_OK;
}

static leat_status ssim_gradient(leati_gradient_call *call, leat_error *err) {
    static const int64_t channel[1] = {-1}, all[3] = {-3, -2, -1};
    const struct leati_ssim_args *args = call->args;
    leat_value sources[2], pictures[2], likeness, contrast;
    double range = leati_compare_range(args->max_val, leat_value_dtype(call->inputs[0]));
    leati_support_gradient_sources(call, sources);
    LEATI_TRY(leati_compare_batches(sources, pictures, err));
    LEATI_TRY(leati_compare_ssim_compose(args, range, pictures, &likeness, &contrast, err));
    leat_value result = args->return_index_map ? leat_op_reduce_mean(likeness, channel, 1, false)
                                               : leat_op_reduce_mean(likeness, all, 3, false);
    result = leat_op_reshape_like(result, call->outputs[0]);
    return leati_support_gradient_through(call, sources, &result, err);
}

leat_value leat_op_ssim(leat_value img1, leat_value img2, double max_val) {
    struct leati_ssim_args args = {
        .max_val = max_val, .filter_size = 11, .filter_sigma = 1.5, .k1 = 0.01, .k2 = 0.03};
    return leati_graph_build2(&leati_tensor_op_ssim, &args, img1, img2);
}

const leati_tensor_op leati_tensor_op_ssim = {
    .name = "ssim",
    .version = 1,
    .doc = "The structural similarity of pictures to others (tf.image.ssim).",
    .names = "image.ssim",
    .inputs = "img1 img2",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = ssim_rows,
    .args_size = sizeof(struct leati_ssim_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_COSTLY,
    .infer = ssim_infer,
    .kernel = ssim_kernel,
    .gradient = ssim_gradient,
};
