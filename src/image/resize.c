/* Resizing: tables, the plain C path, and the choice of the faster ones.
 *
 * Bilinear without antialias: every output row is a vertical blend of two rows that were blended
 * horizontally. Each blended row is computed once: two are held, and an output row that needs the
 * next one swaps them. The order of operations and the use of float for positions are TensorFlow's,
 * so results agree in every bit. Otherwise rows are summed vertically first, then horizontally, by
 * the weights of resize_weights.c, as ScaleAndTranslate does.
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

/* Does an output blend two neighbours, or sum a span by weights? */
static bool blends(const leati_resize_plan *plan) {
    return plan->method == LEATI_RESIZE_BILINEAR && !plan->antialias;
}

static leat_status prepare_axis(const leati_resize_plan *plan, leati_resize_axis *axis, int32_t in,
                                int32_t out, leat_error *err) {
    axis->in = in;
    axis->out = out;
    axis->span = blends(plan) ? 0 : leati_resize_span(axis, plan->method, plan->antialias);
    leat_status status = reserve_axis(axis, err);
    if (status != LEAT_OK) {
        axis->in = 0;
        return status;
    }
    if (blends(plan))
        fill_neighbours(axis);
    else
        leati_resize_fill_weights(axis, plan->method, plan->antialias);
    return LEAT_OK;
}

/* ---- plans ---- */

static leat_status reserve_rows(leati_resize_plan *plan, leat_error *err) {
    /* Weights sum rows as wide as the input, and so does spreading; a float of room behind each row
     * serves the fast path, and rows start on cache lines of their own. */
    int32_t pixels = plan->x.in > plan->x.out ? plan->x.in : plan->x.out;
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
                                 leati_resize_method method, bool antialias, leat_error *err) {
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
        plan->x.out == out_width && plan->channels == channels && plan->method == method &&
        plan->antialias == antialias)
        return LEAT_OK;
    plan->channels = channels;
    plan->method = method;
    plan->antialias = antialias;
    leat_status status = prepare_axis(plan, &plan->x, in_width, out_width, err);
    if (status == LEAT_OK)
        status = prepare_axis(plan, &plan->y, in_height, out_height, err);
    if (status == LEAT_OK)
        status = reserve_rows(plan, err);
    if (status != LEAT_OK) {
        plan->channels = 0; /* The next call prepares anew. */
        return status;
    }
    for (int32_t i = 0; i < out_width && blends(plan); i++) {
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

/* With a constant number of channels, which the usual cases have, the sums stay in registers. */
static inline void sum_pixels(const leati_resize_axis *x, const float *in, float *out,
                              int32_t channels) {
    for (int32_t i = 0; i < x->out; i++) {
        const float *weights = x->weights + (size_t)i * (size_t)x->span;
        const float *source = in + (size_t)x->lower[i] * (size_t)channels;
        for (int32_t c = 0; c < channels; c++)
            out[c] = 0.0F;
        for (int32_t k = 0; k < x->count[i]; k++, source += channels)
            for (int32_t c = 0; c < channels; c++)
                out[c] += source[c] * weights[k];
        out += channels;
    }
}

static void sum_columns(const leati_resize_plan *plan, const float *in, float *out) {
    switch (plan->channels) {
    case 1: sum_pixels(&plan->x, in, out, 1); break;
    case 3: sum_pixels(&plan->x, in, out, 3); break;
    case 4: sum_pixels(&plan->x, in, out, 4); break;
    default: sum_pixels(&plan->x, in, out, plan->channels); break;
    }
}

static void resize(leati_resize_plan *plan, const picture *in, float *out, size_t out_stride) {
    if (blends(plan)) {
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

/* ---- nearest pixels ---- */

static inline void pick_row(const leati_resize_axis *x, const char *in, char *out, size_t pixel) {
    for (int32_t i = 0; i < x->out; i++)
        memcpy(out + (size_t)i * pixel, in + (size_t)x->lower[i] * pixel, pixel);
}

void leati_resize_pick(const leati_resize_plan *plan, const void *in, size_t in_stride, void *out,
                       size_t out_stride, size_t pixel_size) {
    for (int32_t i = 0; i < plan->y.out; i++) {
        const char *from = (const char *)in + (size_t)plan->y.lower[i] * in_stride;
        char *to = (char *)out + (size_t)i * out_stride;
        if (i > 0 && plan->y.lower[i] == plan->y.lower[i - 1])
            memcpy(to, to - out_stride, (size_t)plan->x.out * pixel_size);
        else if (pixel_size == 3)
            pick_row(&plan->x, from, to, 3);
        else if (pixel_size == 12)
            pick_row(&plan->x, from, to, 12);
        else
            pick_row(&plan->x, from, to, pixel_size);
    }
}

/* ---- the transposed map ---- */

/* Output i's samples: their number, the first one, and the weight of the k-th. */
static int32_t taps(const leati_resize_axis *axis, int32_t i, int32_t channels, int32_t *places,
                    float *weights) {
    if (axis->span == 0) {
        places[0] = axis->lower[i] / channels;
        places[1] = axis->upper[i] / channels;
        weights[0] = 1.0F - axis->lerp[i];
        weights[1] = axis->lerp[i];
        return 2;
    }
    places[0] = axis->lower[i];
    return axis->count[i];
}

static void spread_row(const leati_resize_plan *plan, const float *gradient, float *row) {
    int32_t channels = plan->channels, places[2];
    float blend[2];
    for (int32_t i = 0; i < plan->x.out; i++, gradient += channels) {
        int32_t count = taps(&plan->x, i, channels, places, blend);
        const float *weights =
            plan->x.span == 0 ? blend : plan->x.weights + (size_t)i * (size_t)plan->x.span;
        for (int32_t k = 0; k < count; k++) {
            int32_t place = plan->x.span == 0 ? places[k] : places[0] + k;
            float *to = row + (size_t)place * (size_t)channels;
            for (int32_t c = 0; c < channels; c++)
                to[c] += gradient[c] * weights[k];
        }
    }
}

void leati_resize_spread(leati_resize_plan *plan, const float *gradient, float *out) {
    size_t width = (size_t)plan->x.in * (size_t)plan->channels;
    size_t step = (size_t)plan->x.out * (size_t)plan->channels;
    int32_t places[2];
    float blend[2];
    memset(out, 0, (size_t)plan->y.in * width * sizeof *out);
    for (int32_t i = 0; i < plan->y.out; i++) {
        memset(plan->rows, 0, width * sizeof *plan->rows);
        spread_row(plan, gradient + (size_t)i * step, plan->rows);
        int32_t count = taps(&plan->y, i, 1, places, blend);
        const float *weights =
            plan->y.span == 0 ? blend : plan->y.weights + (size_t)i * (size_t)plan->y.span;
        for (int32_t k = 0; k < count; k++) {
            int32_t place = plan->y.span == 0 ? places[k] : places[0] + k;
            float *to = out + (size_t)place * width, weight = weights[k];
            for (size_t j = 0; j < width; j++)
                to[j] += plan->rows[j] * weight;
        }
    }
}
