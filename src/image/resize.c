/* Resizing: the plain C path, and the choice of the faster ones; resize_plan.c makes the tables.
 *
 * Bilinear without antialias: every output row is a vertical blend of two rows that were blended
 * horizontally. Each blended row is computed once: two are held, and an output row that needs the
 * next one swaps them. The order of operations and the use of float for positions are TensorFlow's,
 * so results agree in every bit. Otherwise rows are summed vertically first, then horizontally, by
 * the weights of resize_weights.c, as ScaleAndTranslate does. Only a sink can fail. No locks. */
#include "image/resize.h"

#include "base/error.h"
#include "base/minmax.h"
#include "base/stop.h"
#include <string.h>

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
        /* Counts only what runs here: index 0 is the best of these, the plain one the last. */
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
        /* Asked once and not for each row. */
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
    /* Slot 1 if 0 holds the row above, which the output rows in between still need. */
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
    /* What goes past the caches must begin at a vector's border. */
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
    /* At the upper border, and on a row itself, both neighbours are this row. */
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
        /* The lower neighbour is still to come: hold this row. */
        if (axis->upper[i] > y) {
            blended_row(stream, u8, f32, y);
            return LEAT_OK;
        }
        float *out = stream->sink.row(stream->sink.context, i);
        if (!blend_below(stream, u8, y, i, out))
            blend_rows(stream, blended_row(stream, u8, f32, y), y, i, out);
        stream->next++;
        /* Settled once, before the last row is reported: others may read the result then. */
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

/* Rows above the first neighbour of the next output are skipped. */
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
    /* Of a row; the wider of both is the dearer. */
    int64_t work = (int64_t)LEATI_MAX(plan->x.in, plan->x.out) * plan->channels * 8, done = 0;
    if (leati_resize_streams(plan->method, plan->antialias)) {
        leati_resize_stream stream;
        leati_resize_begin(&stream, plan, sink);
        for (int32_t y = 0; y < plan->y.in && status == LEAT_OK; y++) {
            if (leati_stop_look_after(work, &done))
                return leati_stop_check(err);
            status = push(&stream, u8_row(in, y), f32_row(in, y), y, err);
        }
        return status;
    }
    const leati_resize_kernels *kernels = kernels_of(plan);
    for (int32_t i = 0; i < plan->y.out && status == LEAT_OK; i++) {
        /* The working row is as wide as the input here, since columns are summed last. */
        if (leati_stop_look_after(work, &done))
            return leati_stop_check(err);
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
        /* The whole picture decides, not a row: it is what caches would have to hold. */
        .far = leati_resize_is_far((size_t)plan->y.out * (size_t)plan->x.out *
                                   (size_t)plan->channels * sizeof *out)};
    leat_status status = resize(plan, in, &sink, &(leat_error){0});
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
    int64_t done = 0;
    for (int32_t i = 0; i < plan->y.out && !leati_stop_look_after(plan->x.out, &done); i++) {
        const char *from = (const char *)in + (size_t)plan->y.lower[i] * in_stride;
        char *to = (char *)out + (size_t)i * out_stride;
        /* The same source row: copied from the result, which lies in a cache. */
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
        /* Places along a row are those of samples; divided they are pixels. */
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
        /* Two places of a blend may be one pixel, at a border; each adds its share. */
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
    int64_t done = 0;
    memset(out, 0, (size_t)plan->y.in * width * sizeof *out);
    for (int32_t i = 0; i < plan->y.out && !leati_stop_look_after((int64_t)width * 4, &done); i++) {
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
