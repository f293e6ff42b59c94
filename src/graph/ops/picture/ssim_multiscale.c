/* ssim_multiscale: the structural similarity of pictures to others on several scales, each half as
 * large as the one before (tf.image.ssim_multiscale).
 *
 * On every scale contrast and structure are compared, on the last one brightness too; the result is
 * the product of those means, each at least 0 and to the power of its factor, averaged over
 * channels. Half a picture is the means of 2 x 2 pixels, where the last row or column of an odd
 * size counts twice. Fails where sizes differ, or the window does not fit into the smallest scale.
 * No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/compare.h"

#include <math.h>

static const leati_row ssim_multiscale_rows[] = {
    {.name = "max_val",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_ssim_args, max_val),
     .doc = "The range of the pictures' values, such as 255 or 1."},
    {.name = "power_factors",
     .type = LEATI_ROW_FLOATS,
     .offset = offsetof(struct leati_ssim_args, power_factors),
     .doc = "The weight of each scale; none: five weights for five scales."},
    LEATI_SSIM_ROWS,
    {0},
};

enum { SCALES = 5, MOST_SCALES = 32 };

static const double standard_factors[SCALES] = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};

static int32_t factors_of(const struct leati_ssim_args *args, const double **factors) {
    *factors = args->power_factors.values != NULL ? args->power_factors.values : standard_factors;
    return args->power_factors.values != NULL ? args->power_factors.count : SCALES;
}

static leat_status ssim_multiscale_infer(leati_infer_call *call, leat_error *err) {
    const double *factors;
    int32_t scales = factors_of(call->args, &factors);
    leat_shape heads;
    if (scales < 1 || scales > MOST_SCALES)
        return leati_refuse(err, VALUE, "power_factors has %d numbers; expected 1 to %d",
                            (int)scales, MOST_SCALES);
    LEATI_TRY(leati_compare_infer(call, &heads, err));
    return leati_op_infer_output(call, LEAT_FLOAT32, &heads, NULL, err);
}

/* A picture half as large; `to` may be `from`. */
static void halve(const float *from, float *to, int64_t height, int64_t width, int64_t channels) {
    for (int64_t y = 0; y < height; y += 2) {
        const float *above = from + y * width * channels;
        const float *below = y + 1 < height ? above + width * channels : above;
        for (int64_t x = 0; x < width; x += 2) {
            int64_t left = x * channels, right = x + 1 < width ? left + channels : left;
            for (int64_t c = 0; c < channels; c++)
                *to++ =
                    (above[left + c] + above[right + c] + below[left + c] + below[right + c]) / 4;
        }
    }
}

/* Room for what one comparison needs. */
typedef struct scales {
    leati_ssim ssim[MOST_SCALES];
    int32_t count;
    const double *factors;
    float *a, *b;     /* half a picture each */
    double *products; /* for each channel; means and contrast behind */
} scales;

static leat_status prepare(leati_kernel_call *call, const leati_compared *c, scales *s,
                           leat_error *err) {
    int64_t height = c->height, width = c->width;
    size_t half = (size_t)((height + 1) / 2 * ((width + 1) / 2) * c->channels);
    size_t bytes = 2 * half * sizeof(float) + 3 * (size_t)c->channels * sizeof(double);
    s->count = factors_of(call->args, &s->factors);
    for (int32_t i = 0; i < s->count; i++) {
        LEATI_TRY(leati_compare_ssim_init(&s->ssim[i], call, call->args, c->range, height, width,
                                          c->channels, err));
        height = (height + 1) / 2;
        width = (width + 1) / 2;
    }
    s->products = leati_arena_alloc(call->arena, bytes);
    if (s->products == NULL)
        return leati_no_memory(err);
    s->a = (float *)(void *)(s->products + 3 * c->channels);
    s->b = s->a + half;
    return LEAT_OK;
}

static float compare_scales(const scales *s, const float *a, const float *b) {
    int64_t channels = s->ssim[0].channels;
    double *means = s->products + channels, *contrast = means + channels, sum = 0;
    for (int64_t c = 0; c < channels; c++)
        s->products[c] = 1;
    for (int32_t i = 0; i < s->count; i++) {
        const leati_ssim *ssim = &s->ssim[i];
        leati_compare_ssim(ssim, a, b, NULL, means, contrast);
        const double *part = i + 1 < s->count ? contrast : means;
        for (int64_t c = 0; c < channels; c++)
            s->products[c] *= pow(LEATI_MAX(part[c], 0), s->factors[i]);
        if (i + 1 == s->count)
            break;
        halve(a, s->a, ssim->height, ssim->width, channels);
        halve(b, s->b, ssim->height, ssim->width, channels);
        a = s->a;
        b = s->b;
    }
    for (int64_t c = 0; c < channels; c++)
        sum += s->products[c];
    return (float)(sum / (double)channels);
}

static leat_status ssim_multiscale_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_ssim_args *args = call->args;
    leati_compared c;
    scales s;
    LEATI_TRY(leati_compare_begin(call, args->max_val, &c, err));
    LEATI_TRY(prepare(call, &c, &s, err));
    LEATI_TRY(leati_support_output_like(call, 0, &c.heads, err));
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t k = 0; k < c.count; k++)
            ((float *)(void *)leati_support_row_of(&call->outputs[0], row))[k] = compare_scales(
                &s, leati_compare_row_a(&c, row, k), leati_compare_row_b(&c, row, k));
    return LEAT_OK;
}

/* ---- gradient ---- */

/* A picture of a batch with its last row or column twice, where there is an odd number. */
static leat_value make_even(leat_value x, int32_t axis) {
    leat_shape shape = leat_value_shape(x);
    if (shape.dims[axis] % 2 == 0)
        return x;
    int64_t begin[4] = {0}, size[4] = {-1, -1, -1, -1};
    begin[axis] = shape.dims[axis] - 1;
    return leat_op_concat((leat_value[]){x, leat_op_slice(x, begin, size, 4)}, 2, axis);
}

static leat_value half_of(leat_value x) {
    const leat_op_pool2d_options options = {.ksize = {2, 2}, .strides = {2, 2}};
    return leat_op_avg_pool2d(make_even(make_even(x, 1), 2), &options);
}

static leat_value powered(leat_value mean, double factor) {
    return leat_op_pow(leat_op_relu(mean), leati_support_number(mean.graph, LEAT_FLOAT32, factor));
}

static leat_status ssim_multiscale_gradient(leati_gradient_call *call, leat_error *err) {
    static const int64_t channel[1] = {-1}, places[2] = {-3, -2};
    const struct leati_ssim_args *args = call->args;
    const double *factors;
    int32_t count = factors_of(args, &factors);
    leat_value sources[2], pictures[2], result = {0};
    double range = leati_compare_range(args->max_val, leat_value_dtype(call->inputs[0]));
    leati_support_gradient_sources(call, sources);
    LEATI_TRY(leati_compare_batches(sources, pictures, err));
    for (int i = 0; i < 2; i++) {
        leat_shape shape = leat_value_shape(pictures[i]);
        if (shape.rank == 4 &&
            (shape.dims[1] == LEAT_UNKNOWN_DIM || shape.dims[2] == LEAT_UNKNOWN_DIM))
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "the gradient needs to know height and width; set them with "
                              "ensure_shape");
    }
    for (int32_t i = 0; i < count; i++) {
        leat_value likeness, contrast;
        if (leati_support_value_failed(pictures[0]) || leati_support_value_failed(pictures[1]))
            return LEAT_OK; /* the graph has the error */
        LEATI_TRY(leati_compare_ssim_compose(args, range, pictures, &likeness, &contrast, err));
        leat_value part =
            leat_op_reduce_mean(i + 1 < count ? contrast : likeness, places, 2, false);
        part = powered(part, factors[i]);
        result = i == 0 ? part : leat_op_multiply(result, part);
        for (int k = 0; k < 2 && i + 1 < count; k++)
            pictures[k] = half_of(pictures[k]);
    }
    result = leat_op_reduce_mean(result, channel, 1, false);
    result = leat_op_reshape_like(result, call->outputs[0]);
    return leati_support_gradient_through(call, sources, &result, err);
}

leat_value leat_op_ssim_multiscale(leat_value img1, leat_value img2, double max_val) {
    struct leati_ssim_args args = {
        .max_val = max_val, .filter_size = 11, .filter_sigma = 1.5, .k1 = 0.01, .k2 = 0.03};
    return leati_graph_build2(&leati_tensor_op_ssim_multiscale, &args, img1, img2);
}

const leati_tensor_op leati_tensor_op_ssim_multiscale = {
    .name = "ssim_multiscale",
    .version = 1,
    .doc = "The structural similarity of pictures to others on several scales "
           "(tf.image.ssim_multiscale).",
    .names = "image.ssim_multiscale",
    .inputs = "img1 img2",
    .signature = "img1 img2 max_val power_factors=[0.0448,0.2856,0.3001,0.2363,0.1333] "
                 "filter_size filter_sigma k1 k2",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = ssim_multiscale_rows,
    .args_size = sizeof(struct leati_ssim_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_COSTLY,
    .infer = ssim_multiscale_infer,
    .kernel = ssim_multiscale_kernel,
    .gradient = ssim_multiscale_gradient,
};
