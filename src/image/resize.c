/* Bilinear resizing: tables, the plain C path, and the choice of the faster ones.
 *
 * Without antialias every output row is a vertical blend of two rows that were blended
 * horizontally. Each blended row is computed once: two are held, and an output row that needs the
 * next one swaps them. The order of operations and the use of float for positions are TensorFlow's,
 * so results agree in every bit. With antialias rows are summed vertically first, then
 * horizontally, by precomputed weights, as ScaleAndTranslate does.
 *
 * Only preparing can fail, for sizes or memory. No locks. */
#include "image/resize.h"

#include "base/alloc.h"
#include "base/error.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- tables ---- */

/* One block of memory holds the five tables of an axis. */
static leat_status reserve_axis(leati_resize_axis *axis, leat_error *err) {
    size_t span = (size_t)axis->span, out = (size_t)axis->out, values, bytes;
    if (!leati_mul_size(out, 4 + span, &values) || !leati_mul_size(values, 4, &bytes))
        return leati_no_memory(err, SIZE_MAX);
    if (bytes > axis->capacity) {
        leati_free(axis->memory);
        axis->capacity = 0;
        axis->memory = leati_alloc(values, 4);
        if (axis->memory == NULL)
            return leati_no_memory(err, bytes);
        axis->capacity = bytes;
    }
    axis->lower = axis->memory;
    axis->upper = axis->lower + out;
    axis->count = axis->upper + out;
    axis->lerp = (float *)(void *)(axis->count + out);
    axis->weights = axis->lerp + out;
    return LEAT_OK;
}

static int32_t clamp(int64_t value, int32_t high) {
    return value < 0 ? 0 : value > high ? high : (int32_t)value;
}

static void fill_neighbours(leati_resize_axis *axis) {
    float scale = (float)axis->in / (float)axis->out;
    axis->interior = axis->out;
    for (int32_t i = 0; i < axis->out; i++) {
        float position = ((float)i + 0.5F) * scale - 0.5F;
        float below = floorf(position);
        axis->lower[i] = clamp((int64_t)below, axis->in - 1);
        axis->upper[i] = clamp((int64_t)ceilf(position), axis->in - 1);
        axis->lerp[i] = position - below;
        if (axis->upper[i] == axis->in - 1 && axis->interior > i)
            axis->interior = i;
    }
}

/* Input samples per output sample, rounded as ScaleAndTranslate gets it: by way of the inverse. */
static float inverse_scale(const leati_resize_axis *axis) {
    float scale = (float)axis->out / (float)axis->in;
    return 1.0F / scale;
}

/* The radius of the triangle in input samples. */
static float kernel_scale(const leati_resize_axis *axis) {
    float inverse = inverse_scale(axis);
    return inverse > 1.0F ? inverse : 1.0F;
}

static void fill_weights(leati_resize_axis *axis) {
    float inverse = inverse_scale(axis), radius = kernel_scale(axis);
    float narrow = 1.0F / radius;
    for (int32_t i = 0; i < axis->out; i++) {
        float centre = ((float)i + 0.5F) * inverse;
        int32_t first = clamp((int64_t)ceilf(centre - radius - 0.5F), axis->in - 1);
        int32_t last = clamp((int64_t)floorf(centre + radius - 0.5F), axis->in - 1);
        float *weights = axis->weights + (size_t)i * (size_t)axis->span;
        float total = 0.0F;
        if (last - first >= axis->span)
            last = first + axis->span - 1;
        for (int32_t source = first; source <= last; source++) {
            float distance = fabsf(((float)source + 0.5F - centre) * narrow);
            float weight = distance < 1.0F ? 1.0F - distance : 0.0F;
            weights[source - first] = weight;
            total += weight;
        }
        float normal = total > 0.0F ? 1.0F / total : 0.0F;
        for (int32_t k = 0; k <= last - first; k++)
            weights[k] *= normal;
        axis->lower[i] = first;
        axis->count[i] = last - first + 1;
    }
}

static leat_status prepare_axis(leati_resize_axis *axis, int32_t in, int32_t out, bool antialias,
                                leat_error *err) {
    axis->in = in;
    axis->out = out;
    axis->span = 0;
    if (antialias) {
        double span = 2.0 * ceil((double)kernel_scale(axis)) + 1.0;
        axis->span = span < (double)in ? (int32_t)span : in;
    }
    leat_status status = reserve_axis(axis, err);
    if (status != LEAT_OK) {
        axis->in = 0;
        return status;
    }
    if (antialias)
        fill_weights(axis);
    else
        fill_neighbours(axis);
    return LEAT_OK;
}

/* ---- plans ---- */

static leat_status reserve_rows(leati_resize_plan *plan, leat_error *err) {
    /* Antialias sums rows as wide as the input; a float of room behind each row serves the fast
     * path, and rows start on cache lines of their own. */
    int32_t pixels = plan->antialias ? plan->x.in : plan->x.out;
    plan->row_width = ((size_t)pixels * (size_t)plan->channels + 1 + 15) & ~(size_t)15;
    size_t needed = 2 * plan->row_width;
    if (needed <= plan->capacity)
        return LEAT_OK;
    leati_free(plan->rows);
    plan->capacity = 0;
    plan->rows = leati_alloc_aligned(needed * sizeof *plan->rows, 64);
    if (plan->rows == NULL)
        return leati_no_memory(err, needed * sizeof *plan->rows);
    plan->capacity = needed;
    return LEAT_OK;
}

leat_status leati_resize_prepare(leati_resize_plan *plan, int32_t in_height, int32_t in_width,
                                 int32_t out_height, int32_t out_width, int32_t channels,
                                 bool antialias, leat_error *err) {
    if (out_height < 1 || out_width < 1)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "resize: expected a positive size, found height %" PRId32
                          " and width %" PRId32 "; ask for at least one pixel",
                          out_height, out_width);
    /* The tables hold positions of samples in 32 bits. */
    int32_t widest = in_width > out_width ? in_width : out_width;
    if (in_height < 1 || in_width < 1 || channels < 1 || widest > INT32_MAX / channels)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "resize: expected a picture with pixels and rows below 2^31 samples, "
                          "found height %" PRId32 ", width %" PRId32 " and %" PRId32 " channels",
                          in_height, in_width, channels);
    if (plan->y.in == in_height && plan->x.in == in_width && plan->y.out == out_height &&
        plan->x.out == out_width && plan->channels == channels && plan->antialias == antialias)
        return LEAT_OK;
    plan->channels = channels;
    plan->antialias = antialias;
    leat_status status = prepare_axis(&plan->x, in_width, out_width, antialias, err);
    if (status == LEAT_OK)
        status = prepare_axis(&plan->y, in_height, out_height, antialias, err);
    if (status == LEAT_OK)
        status = reserve_rows(plan, err);
    if (status != LEAT_OK) {
        plan->channels = 0; /* The next call prepares anew. */
        return status;
    }
    for (int32_t i = 0; i < out_width && !antialias; i++) {
        plan->x.lower[i] *= channels;
        plan->x.upper[i] *= channels;
    }
    return LEAT_OK;
}

void leati_resize_fini(leati_resize_plan *plan) {
    leati_free(plan->x.memory);
    leati_free(plan->y.memory);
    leati_free(plan->rows);
    memset(plan, 0, sizeof *plan);
}

/* ---- two neighbours ---- */

/* Source rows of either type; exactly one pointer is set. */
typedef struct picture {
    const uint8_t *u8;
    const float *f32;
    size_t stride;
} picture;

static const uint8_t *u8_row(const picture *in, int32_t y) {
    return in->u8 + (size_t)y * in->stride;
}

static const float *f32_row(const picture *in, int32_t y) {
    return (const float *)(const void *)((const char *)in->f32 + (size_t)y * in->stride);
}

static void blend_u8(const leati_resize_axis *x, int32_t channels, const uint8_t *in, float *out) {
    for (int32_t i = 0; i < x->out; i++) {
        const uint8_t *left = in + x->lower[i], *right = in + x->upper[i];
        for (int32_t c = 0; c < channels; c++) {
            float a = left[c], b = right[c];
            *out++ = a + (b - a) * x->lerp[i];
        }
    }
}

static void blend_f32(const leati_resize_axis *x, int32_t channels, const float *in, float *out) {
    for (int32_t i = 0; i < x->out; i++) {
        const float *left = in + x->lower[i], *right = in + x->upper[i];
        for (int32_t c = 0; c < channels; c++)
            *out++ = left[c] + (right[c] - left[c]) * x->lerp[i];
    }
}

static void blend_rows(const float *a, const float *b, float lerp, float *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = a[i] + (b[i] - a[i]) * lerp;
}

static void blend_source_row(const leati_resize_plan *plan, const picture *in, int32_t y,
                             leati_resize_blend_x3 *x3, float *out) {
    if (in->f32 != NULL)
        blend_f32(&plan->x, plan->channels, f32_row(in, y), out);
    else if (x3 != NULL && plan->channels == 3)
        x3(&plan->x, u8_row(in, y), out);
    else
        blend_u8(&plan->x, plan->channels, u8_row(in, y), out);
}

static void resize_neighbours(leati_resize_plan *plan, const picture *in, float *out,
                              size_t out_stride) {
    leati_resize_blend_x3 *x3 = NULL;
    leati_resize_blend_rows *rows = blend_rows;
    if (!plan->plain && !leati_resize_fast(&x3, &rows)) {
        x3 = NULL;
        rows = blend_rows;
    }
    float *blended[2] = {plan->rows, plan->rows + plan->row_width};
    int32_t held[2] = {-1, -1}; /* which source row each holds */
    size_t count = (size_t)plan->x.out * (size_t)plan->channels;
    for (int32_t i = 0; i < plan->y.out; i++) {
        int32_t want[2] = {plan->y.lower[i], plan->y.upper[i]};
        if (held[1] == want[0]) {
            float *swap = blended[0];
            blended[0] = blended[1];
            blended[1] = swap;
            held[1] = held[0];
            held[0] = want[0];
        }
        for (int k = 0; k < 2; k++) {
            if (held[k] == want[k])
                continue;
            blend_source_row(plan, in, want[k], x3, blended[k]);
            held[k] = want[k];
        }
        rows(blended[0], blended[1], plan->y.lerp[i],
             (float *)(void *)((char *)out + (size_t)i * out_stride), count);
    }
}

/* ---- weighted sums ---- */

static void sum_rows(const leati_resize_plan *plan, const picture *in, int32_t i, float *sum) {
    size_t count = (size_t)plan->x.in * (size_t)plan->channels;
    const float *weights = plan->y.weights + (size_t)i * (size_t)plan->y.span;
    memset(sum, 0, count * sizeof *sum);
    for (int32_t k = 0; k < plan->y.count[i]; k++) {
        float weight = weights[k];
        int32_t y = plan->y.lower[i] + k;
        if (in->f32 != NULL) {
            const float *row = f32_row(in, y);
            for (size_t j = 0; j < count; j++)
                sum[j] += row[j] * weight;
        } else {
            const uint8_t *row = u8_row(in, y);
            for (size_t j = 0; j < count; j++)
                sum[j] += (float)row[j] * weight;
        }
    }
}

static void sum_columns(const leati_resize_plan *plan, const float *in, float *out) {
    int32_t channels = plan->channels;
    for (int32_t i = 0; i < plan->x.out; i++) {
        const float *weights = plan->x.weights + (size_t)i * (size_t)plan->x.span;
        const float *source = in + (size_t)plan->x.lower[i] * (size_t)channels;
        for (int32_t c = 0; c < channels; c++) {
            float sum = 0.0F;
            for (int32_t k = 0; k < plan->x.count[i]; k++)
                sum += source[(size_t)k * (size_t)channels + (size_t)c] * weights[k];
            *out++ = sum;
        }
    }
}

static void resize(leati_resize_plan *plan, const picture *in, float *out, size_t out_stride) {
    if (!plan->antialias) {
        resize_neighbours(plan, in, out, out_stride);
        return;
    }
    for (int32_t i = 0; i < plan->y.out; i++) {
        sum_rows(plan, in, i, plan->rows);
        sum_columns(plan, plan->rows, (float *)(void *)((char *)out + (size_t)i * out_stride));
    }
}

void leati_resize_u8(leati_resize_plan *plan, const uint8_t *in, size_t in_stride, float *out,
                     size_t out_stride) {
    resize(plan, &(picture){.u8 = in, .stride = in_stride}, out, out_stride);
}

void leati_resize_f32(leati_resize_plan *plan, const float *in, size_t in_stride, float *out,
                      size_t out_stride) {
    resize(plan, &(picture){.f32 = in, .stride = in_stride}, out, out_stride);
}
