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
#include "base/minmax.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- tables ---- */

/* One block of memory holds the five tables of an axis. */
static leat_status reserve_axis(leati_resize_axis *axis, leat_error *err) {
    size_t span = (size_t)axis->span, out = (size_t)axis->out, values, bytes;
    if (!leati_mul_size(out, 4 + span, &values) || !leati_mul_size(values, 4, &bytes))
        return leati_no_memory(err);
    if (bytes > axis->capacity) {
        leati_free(axis->memory);
        axis->capacity = 0;
        axis->memory = leati_alloc(values, 4);
        if (axis->memory == NULL)
            return leati_no_memory(err);
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
    float scale = axis->extent / (float)axis->out;
    for (int32_t i = 0; i < axis->out; i++) {
        float position = ((float)i + 0.5F) * scale - 0.5F + axis->start;
        float below = floorf(position);
        axis->lower[i] = clamp((int64_t)below, axis->in - 1);
        axis->upper[i] = clamp((int64_t)ceilf(position), axis->in - 1);
        axis->lerp[i] = position - below;
    }
}

/* Outputs whose neighbours are both before the last sample are one run: places grow, or shrink in a
 * mirrored axis. */
static void find_interior(leati_resize_axis *axis, int32_t last) {
    axis->inside = 0;
    while (axis->inside < axis->out && axis->upper[axis->inside] >= last)
        axis->inside++;
    axis->interior = axis->inside;
    while (axis->interior < axis->out && axis->upper[axis->interior] < last)
        axis->interior++;
}

/* ---- picks ---- */

/* The bytes that results [16 g, 16 g + 16) of a row blend. */
static void fill_pick(const leati_resize_plan *plan, int32_t first, int32_t count,
                      leati_resize_pick_group *pick, int32_t *from, int32_t *reach) {
    const leati_resize_axis *x = &plan->x;
    int32_t channels = plan->channels, low = INT32_MAX, high = 0;
    int32_t i = first / channels, c = first % channels, places[2][16];
    for (int32_t k = 0; k < count; k++) {
        places[0][k] = x->lower[i] + c;
        places[1][k] = x->upper[i] + c;
        low = LEATI_MIN(places[0][k], low);
        high = LEATI_MAX(places[1][k], high);
        pick->lerp[k] = x->lerp[i];
        if (++c == channels) {
            c = 0;
            i++;
        }
    }
    for (int32_t k = 0; k < 16; k++) {
        for (int32_t side = 0; side < 2; side++) {
            pick->pairs[4 * k + 2 * side] = (uint8_t)(k < count ? places[side][k] - low : 0);
            pick->pairs[4 * k + 2 * side + 1] = 0;
        }
        pick->lerp[k] = k < count ? pick->lerp[k] : 0;
    }
    *from = low;
    *reach = high - low + 1 > *reach ? high - low + 1 : *reach;
}

static leat_status reserve_picks(leati_resize_plan *plan, leat_error *err) {
    plan->num_picks = ((size_t)plan->x.out * (size_t)plan->channels + 15) / 16;
    if (plan->num_picks <= plan->pick_capacity)
        return LEAT_OK;
    leati_free(plan->picks);
    plan->pick_capacity = 0;
    size_t bytes = plan->num_picks * (sizeof *plan->picks + sizeof *plan->pick_from);
    plan->picks = leati_alloc_aligned(bytes, 64);
    if (plan->picks == NULL)
        return leati_no_memory(err);
    plan->pick_from = (int32_t *)(void *)(plan->picks + plan->num_picks);
    plan->pick_capacity = plan->num_picks;
    return LEAT_OK;
}

/* Where a group's bytes span more than a pick holds, `reach` says so and nobody uses the picks. */
static void fill_picks(leati_resize_plan *plan) {
    int32_t count = plan->x.out * plan->channels;
    plan->reach = 0;
    for (size_t g = 0; g < plan->num_picks && plan->reach <= 128; g++) {
        int32_t first = (int32_t)g * 16, left = count - first;
        fill_pick(plan, first, LEATI_MIN(left, 16), &plan->picks[g], &plan->pick_from[g],
                  &plan->reach);
    }
}

bool leati_resize_streams(leati_resize_method method, bool antialias) {
    return method == LEATI_RESIZE_BILINEAR && !antialias;
}

/* Does an output blend two neighbours, or sum a span by weights? */
static bool blends(const leati_resize_plan *plan) {
    return leati_resize_streams(plan->method, plan->antialias);
}

static leat_status prepare_axis(const leati_resize_plan *plan, leati_resize_axis *axis, int32_t in,
                                int32_t out, float start, float extent, leat_error *err) {
    axis->in = in;
    axis->out = out;
    axis->start = start;
    axis->extent = extent;
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
    int32_t pixels = LEATI_MAX(plan->x.in, plan->x.out);
    plan->row_width = ((size_t)pixels * (size_t)plan->channels + 1 + 15) & ~(size_t)15;
    size_t needed = 2 * plan->row_width;
    if (needed <= plan->capacity)
        return LEAT_OK;
    leati_free(plan->rows);
    plan->capacity = 0;
    plan->rows = leati_alloc_aligned(needed * sizeof *plan->rows, 64);
    if (plan->rows == NULL)
        return leati_no_memory(err);
    plan->capacity = needed;
    return LEAT_OK;
}

/* Places become those of bytes, and the faster loops get their tables. */
static void finish_neighbours(leati_resize_plan *plan) {
    for (int32_t i = 0; i < plan->x.out; i++) {
        plan->x.lower[i] *= plan->channels;
        plan->x.upper[i] *= plan->channels;
    }
    find_interior(&plan->x, (plan->x.in - 1) * plan->channels);
    fill_picks(plan);
}

static bool same_axis(const leati_resize_axis *axis, int32_t in, int32_t out, float start,
                      float extent) {
    return axis->in == in && axis->out == out && axis->start == start && axis->extent == extent;
}

leat_status leati_resize_prepare(leati_resize_plan *plan, int32_t in_height, int32_t in_width,
                                 int32_t out_height, int32_t out_width, int32_t channels,
                                 leati_resize_method method, bool antialias, leat_error *err) {
    const leati_resize_view all = {.height = (float)in_height, .width = (float)in_width};
    return leati_resize_prepare_view(plan, in_height, in_width, out_height, out_width, channels,
                                     method, antialias, &all, err);
}

leat_status leati_resize_prepare_view(leati_resize_plan *plan, int32_t in_height, int32_t in_width,
                                      int32_t out_height, int32_t out_width, int32_t channels,
                                      leati_resize_method method, bool antialias,
                                      const leati_resize_view *view, leat_error *err) {
    if (out_height < 1 || out_width < 1)
        return leati_refuse(err, SHAPE,
                            "resize: expected a positive size, found height %" PRId32
                            " and width %" PRId32 "; ask for at least one pixel",
                            out_height, out_width);
    /* The tables hold positions of samples in 32 bits. */
    int32_t widest = LEATI_MAX(in_width, out_width);
    if (in_height < 1 || in_width < 1 || channels < 1 || widest > INT32_MAX / channels)
        return leati_refuse(err, SHAPE,
                            "resize: expected a picture with pixels and rows below 2^31 samples, "
                            "found height %" PRId32 ", width %" PRId32 " and %" PRId32 " channels",
                            in_height, in_width, channels);
    if (same_axis(&plan->y, in_height, out_height, view->y, view->height) &&
        same_axis(&plan->x, in_width, out_width, view->x, view->width) &&
        plan->channels == channels && plan->method == method && plan->antialias == antialias) {
        leati_resize_mirror(plan, false);
        return LEAT_OK;
    }
    plan->channels = channels;
    plan->method = method;
    plan->antialias = antialias;
    plan->mirrored = false;
    leat_status status =
        prepare_axis(plan, &plan->x, in_width, out_width, view->x, view->width, err);
    if (status == LEAT_OK)
        status = prepare_axis(plan, &plan->y, in_height, out_height, view->y, view->height, err);
    if (status == LEAT_OK)
        status = reserve_rows(plan, err);
    if (status == LEAT_OK && blends(plan))
        status = reserve_picks(plan, err);
    if (status != LEAT_OK) {
        plan->channels = 0; /* The next call prepares anew. */
        return status;
    }
    if (blends(plan))
        finish_neighbours(plan);
    return LEAT_OK;
}

static void swap_outputs(leati_resize_axis *x, int32_t i, int32_t k) {
    int32_t lower = x->lower[i], upper = x->upper[i], count = x->count[i];
    float lerp = x->lerp[i];
    x->lower[i] = x->lower[k], x->upper[i] = x->upper[k];
    x->count[i] = x->count[k], x->lerp[i] = x->lerp[k];
    x->lower[k] = lower, x->upper[k] = upper, x->count[k] = count, x->lerp[k] = lerp;
    float *weights[2] = {x->weights + (size_t)i * (size_t)x->span,
                         x->weights + (size_t)k * (size_t)x->span};
    for (int32_t t = 0; t < x->span; t++) {
        float weight = weights[0][t];
        weights[0][t] = weights[1][t];
        weights[1][t] = weight;
    }
}

void leati_resize_mirror(leati_resize_plan *plan, bool mirrored) {
    leati_resize_axis *x = &plan->x;
    if (plan->mirrored == mirrored)
        return;
    plan->mirrored = mirrored;
    for (int32_t i = 0, k = x->out - 1; i < k; i++, k--)
        swap_outputs(x, i, k);
    if (!blends(plan))
        return;
    find_interior(x, (x->in - 1) * plan->channels);
    fill_picks(plan);
}

void leati_resize_fini(leati_resize_plan *plan) {
    leati_free(plan->x.memory);
    leati_free(plan->y.memory);
    leati_free(plan->rows);
    leati_free(plan->picks);
    memset(plan, 0, sizeof *plan);
}

/* ---- plain kernels ---- */

static bool plain_runs(void) {
    return true;
}

static bool plain_takes(const leati_resize_plan *plan) {
    (void)plan;
    return true;
}

static void plain_blend(const leati_resize_plan *plan, const uint8_t *in, float *out) {
    const leati_resize_axis *x = &plan->x;
    for (int32_t i = 0; i < x->out; i++) {
        const uint8_t *left = in + x->lower[i], *right = in + x->upper[i];
        for (int32_t c = 0; c < plan->channels; c++) {
            float a = left[c], b = right[c];
            *out++ = a + (b - a) * x->lerp[i];
        }
    }
}

static void plain_rows(const float *a, const float *b, float lerp, float *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = a[i] + (b[i] - a[i]) * lerp;
}

static void plain_add_u8(float *sum, const uint8_t *in, float weight, size_t count) {
    for (size_t i = 0; i < count; i++)
        sum[i] += (float)in[i] * weight;
}

static void plain_add_f32(float *sum, const float *in, float weight, size_t count) {
    for (size_t i = 0; i < count; i++)
        sum[i] += in[i] * weight;
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

static void plain_sum_x3(const leati_resize_axis *x, const float *in, float *out) {
    sum_pixels(x, in, out, 3);
}

const leati_resize_kernels leati_resize_plain = {.name = "plain",
                                                 .runs_here = plain_runs,
                                                 .takes = plain_takes,
                                                 .blend = plain_blend,
                                                 .rows = plain_rows,
                                                 .add_u8 = plain_add_u8,
                                                 .add_f32 = plain_add_f32,
                                                 .sum_x3 = plain_sum_x3};

const leati_resize_kernels *leati_resize_kernels_at(int index) {
    int found = 0;
    for (int i = 0; leati_resize_fast[i] != NULL; i++)
        if (leati_resize_fast[i]->runs_here() && found++ == index)
            return leati_resize_fast[i];
    return found == index ? &leati_resize_plain : NULL;
}

static const leati_resize_kernels *kernels_of(const leati_resize_plan *plan) {
    return plan->kernels != NULL ? plan->kernels : leati_resize_kernels_at(0);
}

/* ---- two neighbours ---- */

static void blend_f32(const leati_resize_axis *x, int32_t channels, const float *in, float *out) {
    for (int32_t i = 0; i < x->out; i++) {
        const float *left = in + x->lower[i], *right = in + x->upper[i];
        for (int32_t c = 0; c < channels; c++)
            *out++ = left[c] + (right[c] - left[c]) * x->lerp[i];
    }
}

void leati_resize_begin(leati_resize_stream *stream, leati_resize_plan *plan,
                        const leati_resize_sink *sink) {
    const leati_resize_kernels *kernels = kernels_of(plan);
    *stream = (leati_resize_stream){
        .plan = plan,
        .sink = *sink,
        .kernels = kernels,
        .rows = sink->far && kernels->rows_far != NULL ? kernels->rows_far : kernels->rows,
        .fast = kernels->takes(plan),
        .blended = {plan->rows, plan->rows + plan->row_width},
        .held = {-1, -1}};
}

/* Row y blended horizontally; it takes the place of the row that is not the one above. */
static const float *blended_row(leati_resize_stream *stream, const uint8_t *u8, const float *f32,
                                int32_t y) {
    const leati_resize_plan *plan = stream->plan;
    for (int k = 0; k < 2; k++)
        if (stream->held[k] == y)
            return stream->blended[k];
    int slot = stream->held[0] == y - 1 && y > 0;
    float *row = stream->blended[slot];
    stream->held[slot] = y;
    if (f32 != NULL && plan->channels == 3 && stream->kernels->blend_f32_x3 != NULL)
        stream->kernels->blend_f32_x3(&plan->x, f32, row);
    else if (f32 != NULL)
        blend_f32(&plan->x, plan->channels, f32, row);
    else if (stream->fast)
        stream->kernels->blend(plan, u8, row);
    else
        plain_blend(plan, u8, row);
    return row;
}

/* Blends row y and makes output row i of it at once, where it lies between the row held and y. */
static bool blend_below(leati_resize_stream *stream, const uint8_t *u8, int32_t y, int32_t i,
                        float *out) {
    const leati_resize_axis *axis = &stream->plan->y;
    bool far = stream->rows == stream->kernels->rows_far;
    if (!stream->fast || u8 == NULL || stream->kernels->blend_below == NULL ||
        axis->lower[i] != y - 1 || axis->upper[i] != y || (far && (uintptr_t)out % 64 != 0))
        return false;
    for (int k = 0; k < 2; k++)
        if (stream->held[k] == y - 1 && stream->held[1 - k] != y) {
            stream->held[1 - k] = y;
            stream->kernels->blend_below(stream->plan, u8, stream->blended[k], axis->lerp[i],
                                         stream->blended[1 - k], out, far);
            return true;
        }
    return false;
}

/* Output row i from rows that are held or come. */
static void blend_rows(leati_resize_stream *stream, const float *below, int32_t y, int32_t i,
                       float *out) {
    const leati_resize_plan *plan = stream->plan;
    const float *above = below;
    if (plan->y.lower[i] != y)
        above = stream->blended[below == stream->blended[0]];
    stream->rows(above, below, plan->y.lerp[i], out, (size_t)plan->x.out * (size_t)plan->channels);
}

/* Makes the output rows that the picture's rows up to y complete. */
static leat_status push(leati_resize_stream *stream, const uint8_t *u8, const float *f32, int32_t y,
                        leat_error *err) {
    const leati_resize_axis *axis = &stream->plan->y;
    while (stream->next < axis->out && axis->lower[stream->next] <= y) {
        int32_t i = stream->next;
        if (axis->upper[i] > y) {
            blended_row(stream, u8, f32, y);
            return LEAT_OK;
        }
        float *out = stream->sink.row(stream->sink.context, i);
        if (!blend_below(stream, u8, y, i, out))
            blend_rows(stream, blended_row(stream, u8, f32, y), y, i, out);
        stream->next++;
        if (stream->next == axis->out && stream->rows == stream->kernels->rows_far)
            stream->kernels->settle();
        leat_status status =
            stream->sink.done != NULL ? stream->sink.done(stream->sink.context, i, err) : LEAT_OK;
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

leat_status leati_resize_push(leati_resize_stream *stream, const uint8_t *row, int32_t y,
                              leat_error *err) {
    return push(stream, row, NULL, y, err);
}

leat_status leati_resize_push_f32(leati_resize_stream *stream, const float *row, int32_t y,
                                  leat_error *err) {
    return push(stream, NULL, row, y, err);
}

bool leati_resize_wants(const leati_resize_stream *stream, int32_t y) {
    const leati_resize_axis *axis = &stream->plan->y;
    return stream->next < axis->out && axis->lower[stream->next] <= y;
}

/* ---- weighted sums ---- */

/* Source rows of either type; exactly one pointer is set. */
typedef struct picture {
    const uint8_t *u8;
    const float *f32;
    size_t stride;
} picture;

static const uint8_t *u8_row(const picture *in, int32_t y) {
    return in->u8 == NULL ? NULL : in->u8 + (size_t)y * in->stride;
}

static const float *f32_row(const picture *in, int32_t y) {
    return in->f32 == NULL
               ? NULL
               : (const float *)(const void *)((const char *)in->f32 + (size_t)y * in->stride);
}

static void sum_rows(const leati_resize_plan *plan, const leati_resize_kernels *kernels,
                     const picture *in, int32_t i, float *sum) {
    size_t count = (size_t)plan->x.in * (size_t)plan->channels;
    const float *weights = plan->y.weights + (size_t)i * (size_t)plan->y.span;
    memset(sum, 0, count * sizeof *sum);
    for (int32_t k = 0; k < plan->y.count[i]; k++) {
        int32_t y = plan->y.lower[i] + k;
        if (in->f32 != NULL)
            kernels->add_f32(sum, f32_row(in, y), weights[k], count);
        else
            kernels->add_u8(sum, u8_row(in, y), weights[k], count);
    }
}

static void sum_columns(const leati_resize_plan *plan, const leati_resize_kernels *kernels,
                        const float *in, float *out) {
    switch (plan->channels) {
    case 1: sum_pixels(&plan->x, in, out, 1); break;
    case 3: kernels->sum_x3(&plan->x, in, out); break;
    case 4: sum_pixels(&plan->x, in, out, 4); break;
    default: sum_pixels(&plan->x, in, out, plan->channels); break;
    }
}

static leat_status resize(leati_resize_plan *plan, const picture *in, const leati_resize_sink *sink,
                          leat_error *err) {
    leat_status status = LEAT_OK;
    if (blends(plan)) {
        leati_resize_stream stream;
        leati_resize_begin(&stream, plan, sink);
        for (int32_t y = 0; y < plan->y.in && status == LEAT_OK; y++)
            status = push(&stream, u8_row(in, y), f32_row(in, y), y, err);
        return status;
    }
    const leati_resize_kernels *kernels = kernels_of(plan);
    for (int32_t i = 0; i < plan->y.out && status == LEAT_OK; i++) {
        sum_rows(plan, kernels, in, i, plan->rows);
        sum_columns(plan, kernels, plan->rows, sink->row(sink->context, i));
        if (sink->done != NULL)
            status = sink->done(sink->context, i, err);
    }
    return status;
}

/* ---- whole pictures ---- */

typedef struct rows_at {
    char *data;
    size_t stride;
} rows_at;

static float *row_at(void *context, int32_t y) {
    const rows_at *rows = context;
    return (float *)(void *)(rows->data + (size_t)y * rows->stride);
}

/* A sink that has no `done` cannot fail. */
static void resize_into(leati_resize_plan *plan, const picture *in, float *out, size_t out_stride) {
    rows_at rows = {.data = (char *)out, .stride = out_stride};
    const leati_resize_sink sink = {
        .row = row_at,
        .context = &rows,
        .far = leati_resize_is_far((size_t)plan->y.out * (size_t)plan->x.out *
                                   (size_t)plan->channels * sizeof *out)};
    leat_status status = resize(plan, in, &sink, NULL);
    (void)status;
}

void leati_resize_u8(leati_resize_plan *plan, const uint8_t *in, size_t in_stride, float *out,
                     size_t out_stride) {
    resize_into(plan, &(picture){.u8 = in, .stride = in_stride}, out, out_stride);
}

void leati_resize_f32(leati_resize_plan *plan, const float *in, size_t in_stride, float *out,
                      size_t out_stride) {
    resize_into(plan, &(picture){.f32 = in, .stride = in_stride}, out, out_stride);
}

leat_status leati_resize_u8_to(leati_resize_plan *plan, const uint8_t *in, size_t in_stride,
                               const leati_resize_sink *sink, leat_error *err) {
    return resize(plan, &(picture){.u8 = in, .stride = in_stride}, sink, err);
}

leat_status leati_resize_f32_to(leati_resize_plan *plan, const float *in, size_t in_stride,
                                const leati_resize_sink *sink, leat_error *err) {
    return resize(plan, &(picture){.f32 = in, .stride = in_stride}, sink, err);
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
