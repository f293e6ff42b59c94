/* psnr: how close pictures are to others, in decibels: the ratio of the range of values to the mean
 * squared error. ssim: the structural similarity of pictures to others: 1 where they are equal.
 * ssim_multiscale: the same on several scales, each half as large as the one before
 * (tf.image.psnr, ssim and ssim_multiscale).
 *
 * Pictures are converted to float32 as convert_image_dtype does it, and max_val with them. Equal
 * pictures have a psnr of infinity; its mean is kept in double. Means, deviations and covariance of
 * both pictures are those inside a Gaussian window, at every place where it fits; ssim is the mean
 * over places and channels, or with return_index_map a map of the places. On every scale contrast
 * and structure are compared, on the last one brightness too; ssim_multiscale is the product of
 * those means, each at least 0 and to the power of its factor, averaged over channels. Half a
 * picture is the means of 2 x 2 pixels, where the last row or column of an odd size counts twice.
 * Fails where sizes differ or the window does not fit, also into the smallest scale. No state, no
 * locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/math/compare.h"
#include <math.h>

#define MAX_VAL_ROW(STRUCT)                                                                        \
    {                                                                                              \
        .name = "max_val", .type = LEATI_ROW_FLOAT, .flags = LEATI_REQUIRED | LEATI_TENSOR,        \
        .offset = offsetof(struct STRUCT, max_val),                                                \
        .doc = "The range of the pictures' values, such as 255 or 1."                              \
    }
/* The rows of both similarities from max_val on. */
#define SSIM_ROWS                                                                                  \
    {.name = "filter_size",                                                                        \
     .type = LEATI_ROW_INT,                                                                        \
     .offset = offsetof(struct leati_ssim_args, filter_size),                                      \
     .default_number = 11,                                                                         \
     .minimum = 1,                                                                                 \
     .maximum = 65535,                                                                             \
     .doc = "Height and width of the Gaussian window, in pixels."},                                \
        {.name = "filter_sigma",                                                                   \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .offset = offsetof(struct leati_ssim_args, filter_sigma),                                 \
         .default_number = 1.5,                                                                    \
         .doc = "Deviation of the Gaussian window, in pixels."},                                   \
        {.name = "k1",                                                                             \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .offset = offsetof(struct leati_ssim_args, k1),                                           \
         .default_number = 0.01,                                                                   \
         .doc = "Part of max_val that steadies the comparison of brightness."},                    \
    {                                                                                              \
        .name = "k2", .type = LEATI_ROW_FLOAT, .offset = offsetof(struct leati_ssim_args, k2),     \
        .default_number = 0.03, .doc = "Part of max_val that steadies the comparison of contrast." \
    }

struct psnr_args {
    double max_val;
};

static const leati_row psnr_rows[] = {
    MAX_VAL_ROW(psnr_args),
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
    for (int64_t row = 0, done = 0; row < call->n; row++) {
        float *out = (float *)(void *)leati_support_row_of(&call->outputs[0], row);
        for (int64_t k = 0; k < c.count && !leati_stop_look_after(4 * values, &done); k++) {
            float error = (float)squared_error(leati_compare_row_a(&c, row, k),
                                               leati_compare_row_b(&c, row, k), values);
            /* 10 log10(range^2 / error); of equal pictures log(0) makes it infinite. */
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

static const leati_row ssim_rows[] = {
    MAX_VAL_ROW(leati_ssim_args),
    SSIM_ROWS,
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
        /* A window that does not fit is refused by the kernel, with its numbers. */
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
    /* Means and contrasts of the channels; the latter are not used here. */
    size_t bytes = 2 * (size_t)c.channels * sizeof(double);
    double *means = leati_arena_alloc(call->arena, bytes);
    if (means == NULL)
        return leati_no_memory(err);
    const int64_t work = 64 * c.height * c.width * c.channels;
    for (int64_t row = 0, done = 0; row < call->n; row++) {
        float *out = (float *)(void *)leati_support_row_of(&call->outputs[0], row);
        for (int64_t k = 0; k < c.count && !leati_stop_look_after(work, &done);
             k++, out += places) {
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
    /* Dimensions in front are folded into one: convolutions take rank 4. */
    LEATI_TRY(leati_compare_batches(sources, pictures, err));
    LEATI_TRY(leati_compare_ssim_compose(args, range, pictures, &likeness, &contrast, err));
    leat_value result = args->return_index_map ? leat_op_reduce_mean(likeness, channel, 1, false)
                                               : leat_op_reduce_mean(likeness, all, 3, false);
    result = leat_op_reshape_like(result, call->outputs[0]);
    return leati_support_gradient_through(call, sources, &result, err);
}

static const leati_row ssim_multiscale_rows[] = {
    MAX_VAL_ROW(leati_ssim_args),
    {.name = "power_factors",
     .type = LEATI_ROW_FLOATS,
     .offset = offsetof(struct leati_ssim_args, power_factors),
     .doc = "The weight of each scale; none: five weights for five scales."},
    SSIM_ROWS,
    {0},
};

enum { SCALES = 5, MOST_SCALES = 32 };

/* Of the paper: Wang, Simoncelli and Bovik, Multi-scale structural similarity, 2003. */
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
        /* Beyond an odd size the last row counts twice. */
        const float *below = y + 1 < height ? above + width * channels : above;
        for (int64_t x = 0; x < width; x += 2) {
            int64_t left = x * channels, right = x + 1 < width ? left + channels : left;
            for (int64_t c = 0; c < channels; c++)
                /* Never ahead of what is still to be read: in place is possible. */
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
    /* Rounded up, as odd sizes are. */
    size_t half = (size_t)((height + 1) / 2 * ((width + 1) / 2) * c->channels);
    size_t bytes = 2 * half * sizeof(float) + 3 * (size_t)c->channels * sizeof(double);
    s->count = factors_of(call->args, &s->factors);
    for (int32_t i = 0; i < s->count; i++) {
        /* All scales first: into the last one the window may not fit. */
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
        /* Brightness is compared on the last scale alone, contrast on all others. */
        const double *part = i + 1 < s->count ? contrast : means;
        for (int64_t c = 0; c < channels; c++)
            /* A negative base would give NaN with a power that is no integer. */
            s->products[c] *= pow(LEATI_MAX(part[c], 0), s->factors[i]);
        if (i + 1 == s->count)
            break;
        /* The first time out of the input, then in place. */
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
    const int64_t work = 64 * c.height * c.width * c.channels;
    for (int64_t row = 0, done = 0; row < call->n; row++)
        for (int64_t k = 0; k < c.count && !leati_stop_look_after(work, &done); k++)
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
    return leat_op_concat((leat_value[]){x, leat_op_slice(x, begin, 4, size, 4)}, 2, axis);
}

static leat_value half_of(leat_value x) {
    return leat_op_avg_pool2d(make_even(make_even(x, 1), 2), (int64_t[]){2, 2}, 2, NULL, 0, NULL);
}

static leat_value powered(leat_value mean, double factor) {
    /* relu is the bound at 0, with a gradient. */
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
        /* make_even must know whether a side is odd when the graph is built. */
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

/* The descriptor of one operation. */
#define SIMILARITY_OP(NAME, DOC, ...)                                                              \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .types = "T U",                                                                            \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = NAME##_rows,                                                                       \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
SIMILARITY_OP(psnr, "How close pictures are to others, in decibels", .inputs = "a b",
              .args_size = sizeof(struct psnr_args))
SIMILARITY_OP(ssim, "The structural similarity of pictures to others", .inputs = "img1 img2",
              .args_size = sizeof(struct leati_ssim_args), .flags = LEATI_COSTLY)
SIMILARITY_OP(ssim_multiscale, "The structural similarity of pictures to others on several scales",
              .inputs = "img1 img2",
              .signature = "img1 img2 max_val power_factors=[0.0448,0.2856,0.3001,0.2363,0.1333] "
                           "filter_size filter_sigma k1 k2",
              .args_size = sizeof(struct leati_ssim_args), .flags = LEATI_COSTLY)
