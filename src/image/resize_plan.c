/* Resizing: the tables of a plan; see resize.h. Positions are computed in float, in TensorFlow's
 * order of operations. Only this can fail, for sizes or memory. No locks. */
#include "image/resize.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Does an output blend two neighbours, or sum a span by weights? */
static bool blends(const leati_resize_plan *plan) {
    return leati_resize_streams(plan->method, plan->antialias);
}

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
        /* The middle of output pixel i, less half a pixel of the input. */
        float position = ((float)i + 0.5F) * scale - 0.5F + axis->start;
        float below = floorf(position);
        /* Neighbours beyond the border are the border's pixel; `lerp` stays, between two equal
         * ones. */
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
    /* Places that a last, shorter group lacks blend byte 0 by 0. */
    for (int32_t k = 0; k < 16; k++) {
        for (int32_t side = 0; side < 2; side++) {
            pick->pairs[4 * k + 2 * side] = (uint8_t)(k < count ? places[side][k] - low : 0);
            pick->pairs[4 * k + 2 * side + 1] = 0;
        }
        pick->lerp[k] = k < count ? pick->lerp[k] : 0;
    }
    *from = low;
    /* The widest of all groups decides which loop runs. */
    *reach = high - low + 1 > *reach ? high - low + 1 : *reach;
}

static leat_status reserve_picks(leati_resize_plan *plan, leat_error *err) {
    plan->num_picks = ((size_t)plan->x.out * (size_t)plan->channels + 15) / 16;
    if (plan->num_picks <= plan->pick_capacity)
        return LEAT_OK;
    leati_free(plan->picks);
    plan->pick_capacity = 0;
    size_t bytes = plan->num_picks * (sizeof *plan->picks + sizeof *plan->pick_from);
    /* Groups are loaded as whole vectors. */
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
    /* Two vectors of bytes are all that one permutation takes from. */
    for (size_t g = 0; g < plan->num_picks && plan->reach <= 128; g++) {
        int32_t first = (int32_t)g * 16, left = count - first;
        fill_pick(plan, first, LEATI_MIN(left, 16), &plan->picks[g], &plan->pick_from[g],
                  &plan->reach);
    }
}

bool leati_resize_streams(leati_resize_method method, bool antialias) {
    return method == LEATI_RESIZE_BILINEAR && !antialias;
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
        /* 0 fits no picture, so the tables are not taken for good ones. */
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
    /* In samples of a row, as the places are by now. */
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
    /* Both: tables hold places of the input, and picks count results. */
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

/* Where two neighbours are blended count and weights are swapped without effect. */
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
