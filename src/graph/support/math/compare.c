/* Comparing pictures with others; see compare.h.
 *
 * Happy path: both become float32 as convert_image_dtype does it, and dimensions in front of the
 * last three broadcast. Structural similarity sums by a Gaussian window, first along columns, then
 * along rows, in double. Fails with INVALID_ARGUMENT where pictures are of other sizes or smaller
 * than the window. No state, no locks. */
#include "graph/support/math/compare.h"

#include "graph/support/picture/colour.h"

#include <math.h>
#include <string.h>

/* ---- inference ---- */

/* The dimensions in front of the last three. */
static leat_shape heads_of(const leat_shape *shape) {
    leat_shape heads = *shape;
    heads.rank = shape->rank < 0 ? -1 : shape->rank - 3;
    return heads;
}

static leat_status check_shapes(const leat_shape *a, const leat_shape *b, leat_shape *heads,
                                leat_error *err) {
    char texts[2][128];
    bool fits = (a->rank < 0 || a->rank >= 3) && (b->rank < 0 || b->rank >= 3);
    for (int d = 1; d <= 3 && fits && a->rank >= 0 && b->rank >= 0; d++) {
        int64_t x = a->dims[a->rank - d], y = b->dims[b->rank - d];
        fits = x == y || x == LEAT_UNKNOWN_DIM || y == LEAT_UNKNOWN_DIM;
    }
    if (!fits)
        return leati_refuse(
            err, SHAPE,
            "the pictures have shapes %s and %s; expected equal heights, widths and "
            "channels, the last three dimensions",
            leati_shape_text(a, texts[0]), leati_shape_text(b, texts[1]));
    leat_shape x = heads_of(a), y = heads_of(b);
    *heads = x;
    if (x.rank >= 0 && y.rank >= 0)
        return leati_op_infer_broadcast_shape(&x, &y, heads, err);
    heads->rank = -1;
    return LEAT_OK;
}

leat_status leati_compare_infer(const leati_infer_call *call, leat_shape *heads, leat_error *err) {
    for (int i = 0; i < 2; i++) {
        leat_dtype dtype = call->inputs[i].dtype;
        if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64)
            return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                                leat_dtype_name(dtype));
    }
    return check_shapes(&call->inputs[0].shape, &call->inputs[1].shape, heads, err);
}

/* ---- kernels ---- */

/* For each place of the result, row-major, which picture of `from` it reads. */
static void fill_places(const leat_shape *heads, const leat_shape *from, int64_t count,
                        int64_t *places) {
    /* Dimensions that `from` lacks in front are broadcast, as those of 1 are. */
    int32_t missing = heads->rank - from->rank;
    for (int64_t k = 0; k < count; k++) {
        int64_t rest = k, step = 1;
        places[k] = 0;
        for (int32_t d = heads->rank - 1; d >= missing; d--) {
            int64_t dim = from->dims[d - missing], at = rest % heads->dims[d];
            rest /= heads->dims[d];
            places[k] += dim == 1 ? 0 : at * step;
            step *= dim;
        }
    }
}

static leat_status range_of(leati_kernel_call *call, double max_val, float *range,
                            leat_error *err) {
    leati_operand number = {.data = (char *)&max_val, .dtype = LEAT_FLOAT64, .count = 1}, typed;
    leati_operand scaled;
    /* max_val goes the way of a pixel: cast to the dtype of the pictures and scaled with them. */
    LEATI_TRY(leati_support_inner_cast(call, &number, call->inputs[0].dtype, &typed, err));
    LEATI_TRY(leati_colour_floats(call, &typed, &scaled, err));
    memcpy(range, scaled.data, sizeof *range);
    return LEAT_OK;
}

leat_status leati_compare_begin(leati_kernel_call *call, double max_val, leati_compared *out,
                                leat_error *err) {
    leat_shape a = leati_support_operand_shape(&call->inputs[0]);
    leat_shape b = leati_support_operand_shape(&call->inputs[1]);
    size_t bytes = 0;
    *out = (leati_compared){0};
    LEATI_TRY(check_shapes(&a, &b, &out->heads, err));
    out->height = a.dims[a.rank - 3];
    out->width = a.dims[a.rank - 2];
    out->channels = a.dims[a.rank - 1];
    out->count = leati_shape_count(&out->heads);
    if (!leati_mul_size((size_t)out->count, 2 * sizeof(int64_t), &bytes))
        return leati_no_memory(err);
    out->a_at = leati_arena_alloc(call->arena, bytes > 0 ? bytes : 1);
    if (out->a_at == NULL)
        return leati_no_memory(err);
    out->b_at = out->a_at + out->count;
    leat_shape from = heads_of(&a);
    fill_places(&out->heads, &from, out->count, out->a_at);
    from = heads_of(&b);
    fill_places(&out->heads, &from, out->count, out->b_at);
    LEATI_TRY(range_of(call, max_val, &out->range, err));
    LEATI_TRY(leati_colour_floats(call, &call->inputs[0], &out->a, err));
    LEATI_TRY(leati_colour_floats(call, &call->inputs[1], &out->b, err));
    leati_operand *both[2] = {&out->a, &out->b};
    for (int i = 0; i < 2; i++)
        if (both[i]->data == NULL) /* pictures without pixels have places, too */
            both[i]->data = (char *)out->a_at;
    return LEAT_OK;
}

/* ---- structural similarity ---- */

enum { MAPS = 4 }; /* means of both, of the squares' sum, and of the product */

static void fill_weights(double *weights, int64_t size, double sigma) {
    double sum = 0;
    for (int64_t i = 0; i < size; i++) {
        double at = (double)i - (double)(size - 1) / 2;
        weights[i] = exp(-at * at / (2 * sigma * sigma));
        sum += weights[i];
    }
    for (int64_t i = 0; i < size; i++)
        weights[i] /= sum;
}

leat_status leati_compare_ssim_init(leati_ssim *ssim, leati_kernel_call *call,
                                    const struct leati_ssim_args *args, float range, int64_t height,
                                    int64_t width, int64_t channels, leat_error *err) {
    int64_t size = args->filter_size;
    if (height < size || width < size)
        return leati_refuse(err, SHAPE,
                            "a picture of %lld x %lld pixels is smaller than the window of %lld; "
                            "set filter_size",
                            (long long)height, (long long)width, (long long)size);
    double c1 = args->k1 * (double)range, c2 = args->k2 * (double)range;
    *ssim = (leati_ssim){.height = height,
                         .width = width,
                         .channels = channels,
                         .size = size,
                         .c1 = c1 * c1,
                         .c2 = c2 * c2};
    size_t line = 0, lines = 0;
    if (!leati_mul_size((size_t)width, (size_t)channels, &line) ||
        !leati_mul_size(line, MAPS * sizeof(double), &lines) ||
        !leati_add_size(lines, (size_t)size * sizeof(double), &lines))
        return leati_no_memory(err);
    ssim->weights = leati_arena_alloc(call->arena, lines);
    if (ssim->weights == NULL)
        return leati_no_memory(err);
    ssim->lines = ssim->weights + size;
    fill_weights(ssim->weights, size, args->filter_sigma);
    return LEAT_OK;
}

/* Sums along columns, of the rows from `a` and `b` on, by the weights. */
static void sum_columns(const leati_ssim *s, const float *a, const float *b) {
    int64_t line = s->width * s->channels;
    double *means_a = s->lines, *means_b = means_a + line, *squares = means_b + line,
           *products = squares + line;
    memset(s->lines, 0, (size_t)(MAPS * line) * sizeof(double));
    for (int64_t k = 0; k < s->size; k++, a += line, b += line) {
        double weight = s->weights[k];
        for (int64_t i = 0; i < line; i++) {
            double x = (double)a[i], y = (double)b[i];
            means_a[i] += weight * x;
            means_b[i] += weight * y;
            squares[i] += weight * (x * x + y * y);
            products[i] += weight * (x * y);
        }
    }
}

/* Of the window at place `at`: the structural similarity of Wang and others (2004), and its factor
 * of contrast and structure alone. */
static void compare_window(const leati_ssim *s, int64_t at, double *likeness, double *contrast) {
    int64_t line = s->width * s->channels;
    double sums[MAPS] = {0};
    for (int m = 0; m < MAPS; m++)
        for (int64_t k = 0; k < s->size; k++)
            sums[m] += s->weights[k] * s->lines[m * line + at + k * s->channels];
    /* Variances and covariance are means of products less products of means. */
    double product = 2 * sums[0] * sums[1], squares = sums[0] * sums[0] + sums[1] * sums[1];
    *contrast = (2 * sums[3] - product + s->c2) / (sums[2] - squares + s->c2);
    *likeness = (product + s->c1) / (squares + s->c1) * *contrast;
}

void leati_compare_ssim(const leati_ssim *s, const float *a, const float *b, float *map,
                        double *means, double *contrast) {
    int64_t rows = s->height - s->size + 1, columns = s->width - s->size + 1;
    int64_t line = s->width * s->channels;
    for (int64_t c = 0; c < s->channels; c++)
        means[c] = contrast[c] = 0;
    for (int64_t y = 0; y < rows; y++, a += line, b += line) {
        sum_columns(s, a, b);
        for (int64_t x = 0; x < columns; x++) {
            double sum = 0;
            for (int64_t c = 0; c < s->channels; c++) {
                double likeness, own;
                compare_window(s, x * s->channels + c, &likeness, &own);
                means[c] += likeness;
                contrast[c] += own;
                sum += likeness;
            }
            if (map != NULL)
                *map++ = (float)(sum / (double)s->channels);
        }
    }
    for (int64_t c = 0; c < s->channels; c++) {
        means[c] /= (double)(rows * columns);
        contrast[c] /= (double)(rows * columns);
    }
}

/* ---- gradients ---- */

leat_status leati_compare_batches(const leat_value sources[2], leat_value pictures[2],
                                  leat_error *err) {
    for (int i = 0; i < 2; i++) {
        int32_t rank = leat_value_shape(sources[i]).rank;
        if (rank != 3 && rank != 4)
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "the gradient takes pictures of rank 3 and 4, found %d; set it "
                              "with ensure_shape",
                              (int)rank);
        pictures[i] = leat_op_convert_image_dtype(sources[i], LEAT_FLOAT32, false);
        if (rank == 3)
            pictures[i] = leat_op_expand_dims(pictures[i], 0);
    }
    return LEAT_OK;
}

double leati_compare_range(double max_val, leat_dtype dtype) {
    /* Floats are not scaled. */
    if (leati_graph_dtype_is_floating(dtype))
        return max_val;
    /* Integers are scaled by their largest value, after the cast that truncates max_val. */
    int bits = (int)leat_dtype_size(dtype) * 8 - (dtype >= LEAT_INT8 && dtype <= LEAT_INT64);
    return trunc(max_val) / (ldexp(1, bits) - 1);
}

/* The window as a filter [size, size, 1, channels]. */
static leat_status window_filter(leat_graph *graph, const struct leati_ssim_args *args,
                                 int64_t channels, leat_value *filter, leat_error *err) {
    int64_t size = args->filter_size;
    leat_tensor tensor = {0};
    double *weights = leati_alloc((size_t)size, sizeof *weights);
    leat_status status =
        weights == NULL
            ? leati_no_memory(err)
            : leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(size, size, 1, channels), &tensor, err);
    if (status == LEAT_OK) {
        float *to = tensor.data;
        fill_weights(weights, size, args->filter_sigma);
        for (int64_t i = 0; i < size * size; i++)
            for (int64_t c = 0; c < channels; c++)
                *to++ = (float)(weights[i / size] * weights[i % size]);
        *filter = leat_graph_tensor(graph, &tensor);
        leat_tensor_unref(&tensor);
    }
    leati_free(weights);
    return status;
}

leat_status leati_compare_ssim_compose(const struct leati_ssim_args *args, double range,
                                       const leat_value pictures[2], leat_value *likeness,
                                       leat_value *contrast, leat_error *err) {
    leat_value a = pictures[0], b = pictures[1], filter;
    leat_shape shape = leat_value_shape(a);
    if (shape.rank != 4 || shape.dims[3] == LEAT_UNKNOWN_DIM)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient needs to know the number of channels; set it with "
                          "ensure_shape");
    LEATI_TRY(window_filter(a.graph, args, shape.dims[3], &filter, err));
    /* The same sums as above, by convolutions, whose gradients are known. */
    leat_value mean_a = leat_op_conv2d(a, filter, NULL, 0, NULL, NULL, 0),
               mean_b = leat_op_conv2d(b, filter, NULL, 0, NULL, NULL, 0);
    leat_value product = leati_support_times(leat_op_multiply(mean_a, mean_b), 2);
    leat_value squares = leat_op_add(leat_op_square(mean_a), leat_op_square(mean_b));
    leat_value products = leati_support_times(
        leat_op_conv2d(leat_op_multiply(a, b), filter, NULL, 0, NULL, NULL, 0), 2);
    leat_value sums = leat_op_conv2d(leat_op_add(leat_op_square(a), leat_op_square(b)), filter,
                                     NULL, 0, NULL, NULL, 0);
    leat_value c1 = leati_support_number(a.graph, LEAT_FLOAT32, pow(args->k1 * range, 2));
    leat_value c2 = leati_support_number(a.graph, LEAT_FLOAT32, pow(args->k2 * range, 2));
    *contrast = leat_op_divide(leat_op_add(leat_op_subtract(products, product), c2),
                               leat_op_add(leat_op_subtract(sums, squares), c2));
    *likeness = leat_op_multiply(leat_op_divide(leat_op_add(product, c1), leat_op_add(squares, c1)),
                                 *contrast);
    return LEAT_OK;
}
