/* The weights of the resize methods, one axis at a time; see resize.h.
 *
 * Positions and weights are computed in float, in TensorFlow's order of operations. The kernels
 * are even functions of the distance in (grown) samples. Bicubic without antialias reads them from
 * a table of 1024 steps, and area's weights are what an output covers of each sample. Cannot fail;
 * no locks. */
#include "image/resize.h"

#include <float.h>
#include <math.h>

static const float pi = 3.14159265358979323846F;

/* Steps between two samples in bicubic's table. */
enum { STEPS = 1024 };

/* Input samples per output sample, rounded as ScaleAndTranslate gets it: by way of the inverse. */
static float inverse_scale(const leati_resize_axis *axis) {
    float scale = (float)axis->out / axis->extent;
    return 1.0F / scale;
}

static float radius_of(leati_resize_method method) {
    switch (method) {
    case LEATI_RESIZE_LANCZOS3: return 3.0F;
    case LEATI_RESIZE_LANCZOS5: return 5.0F;
    case LEATI_RESIZE_GAUSSIAN: return 1.5F;
    case LEATI_RESIZE_BILINEAR: return 1.0F;
    default: return 2.0F; /* the cubic ones */
    }
}

/* By how much the kernel is widened. */
static float kernel_scale(const leati_resize_axis *axis, bool antialias) {
    float inverse = inverse_scale(axis);
    return antialias && inverse > 1.0F ? inverse : 1.0F;
}

static float lanczos(float radius, float x) {
    if (x > radius)
        return 0.0F;
    /* sin(x) / x near 0, where both are small; TensorFlow has this bound. */
    if (x <= 1e-3F)
        return 1.0F;
    return radius * sinf(pi * x) * sinf(pi * x / radius) / (pi * pi * x * x);
}

static float gaussian(float radius, float x) {
    /* exp of doubles, as TensorFlow's kernel computes it. */
    float sigma = radius / 3.0F;
    return x >= radius ? 0.0F : (float)exp((double)(-x * x) / (2.0 * (double)(sigma * sigma)));
}

/* Keys' cubic with a = -1/2. */
static float keys(float x) {
    if (x >= 2.0F)
        return 0.0F;
    return x >= 1.0F ? ((-0.5F * x + 2.5F) * x - 4.0F) * x + 2.0F
                     : ((1.5F * x - 2.5F) * x) * x + 1.0F;
}

/* Mitchell and Netravali's, B = C = 1/3. */
static float mitchell(float x) {
    if (x >= 2.0F)
        return 0.0F;
    return x >= 1.0F ? (((-7.0F / 18.0F) * x + 2.0F) * x - 10.0F / 3.0F) * x + 16.0F / 9.0F
                     : (((7.0F / 6.0F) * x - 2.0F) * x) * x + 8.0F / 9.0F;
}

static float kernel(leati_resize_method method, float x) {
    switch (method) {
    case LEATI_RESIZE_LANCZOS3:
    case LEATI_RESIZE_LANCZOS5: return lanczos(radius_of(method), x);
    case LEATI_RESIZE_GAUSSIAN: return gaussian(radius_of(method), x);
    case LEATI_RESIZE_MITCHELLCUBIC: return mitchell(x);
    case LEATI_RESIZE_BICUBIC: return keys(x);
    default: return x < 1.0F ? 1.0F - x : 0.0F;
    }
}

static int32_t clamp(int64_t value, int32_t high) {
    return value < 0 ? 0 : value > high ? high : (int32_t)value;
}

int32_t leati_resize_span(const leati_resize_axis *axis, leati_resize_method method,
                          bool antialias) {
    double span;
    if (method == LEATI_RESIZE_NEAREST)
        span = 1;
    else if (method == LEATI_RESIZE_AREA)
        /* A sample more on each side: borders fall between samples. */
        span = ceil((double)axis->extent / axis->out) + 2;
    else if (method == LEATI_RESIZE_BICUBIC && !antialias)
        span = 4;
    else
        span = 2 * ceil((double)(radius_of(method) * kernel_scale(axis, antialias))) + 1;
    /* Never more weights than there are samples. */
    return span < (double)axis->in ? (int32_t)span : axis->in;
}

/* Makes the weights sum up to 1, unless they vanish. */
static void normalise(float *weights, int32_t count, float total) {
    /* Dividing by so little would give infinities. */
    if (fabsf(total) < 1000.0F * FLT_MIN)
        return;
    float normal = 1.0F / total;
    for (int32_t k = 0; k < count; k++)
        weights[k] *= normal;
}

static void fill_kernel(leati_resize_axis *axis, leati_resize_method method, bool antialias) {
    float inverse = inverse_scale(axis), widened = kernel_scale(axis, antialias);
    float radius = radius_of(method) * widened, narrow = 1.0F / widened;
    for (int32_t i = 0; i < axis->out; i++) {
        float centre = ((float)i + 0.5F) * inverse + axis->start, total = 0.0F;
        int32_t first = clamp((int64_t)ceilf(centre - radius - 0.5F), axis->in - 1);
        int32_t last = clamp((int64_t)floorf(centre + radius - 0.5F), axis->in - 1);
        float *weights = axis->weights + (size_t)i * (size_t)axis->span;
        /* Rounding may find one sample more than the span has room for. */
        if (last - first >= axis->span)
            last = first + axis->span - 1;
        for (int32_t source = first; source <= last; source++) {
            float distance = fabsf(((float)source + 0.5F - centre) * narrow);
            weights[source - first] = kernel(method, distance);
            total += weights[source - first];
        }
        normalise(weights, last - first + 1, total);
        axis->lower[i] = first;
        axis->count[i] = last - first + 1;
    }
}

/* Keys' kernel as its table has it: computed in double. */
static float table_keys(float distance) {
    double x = (double)distance;
    return (float)(x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1);
}

/* Bicubic's four samples; those beyond the border are left out. */
static void fill_bicubic(leati_resize_axis *axis) {
    float scale = axis->extent / (float)axis->out;
    for (int32_t i = 0; i < axis->out; i++) {
        float position = ((float)i + 0.5F) * scale - 0.5F + axis->start, below = floorf(position);
        int64_t start = (int64_t)below - 1;
        /* To the nearest of the table's steps, as TensorFlow looks it up. */
        float step = (float)lrintf((position - below) * STEPS) / STEPS, total = 0.0F;
        const float distances[4] = {1.0F + step, step, 1.0F - step, 2.0F - step};
        float *weights = axis->weights + (size_t)i * (size_t)axis->span;
        int32_t first = clamp(start, axis->in - 1), last = clamp(start + 3, axis->in - 1);
        for (int32_t source = first; source <= last; source++) {
            weights[source - first] = table_keys(distances[source - start]);
            total += weights[source - first];
        }
        normalise(weights, last - first + 1, total);
        axis->lower[i] = first;
        axis->count[i] = last - first + 1;
    }
}

/* The part of sample `source` that [from, to) covers. */
static float covered(int64_t source, float from, float to, float scale) {
    float at = (float)source;
    if (at < from)
        return at + 1.0F > to ? scale : at + 1.0F - from;
    return at + 1.0F > to ? to - at : 1.0F;
}

static void fill_area(leati_resize_axis *axis) {
    float scale = axis->extent / (float)axis->out, normal = 1.0F / scale;
    for (int32_t i = 0; i < axis->out; i++) {
        float from = (float)i * scale + axis->start, to = (float)(i + 1) * scale + axis->start;
        int64_t start = (int64_t)floorf(from), end = (int64_t)ceilf(to);
        float *weights = axis->weights + (size_t)i * (size_t)axis->span;
        int32_t first = clamp(start, axis->in - 1);
        for (int32_t k = 0; k < axis->span; k++)
            weights[k] = 0.0F;
        axis->lower[i] = first;
        axis->count[i] = 1;
        /* Rounding may end behind the last sample; what is covered there counts for that one. */
        for (int64_t source = start; source < end; source++) {
            int32_t place = clamp(source, axis->in - 1) - first;
            place = place < axis->span ? place : axis->span - 1;
            weights[place] += covered(source, from, to, scale) * normal;
            axis->count[i] = place + 1;
        }
    }
}

static void fill_nearest(leati_resize_axis *axis) {
    float scale = axis->extent / (float)axis->out;
    for (int32_t i = 0; i < axis->out; i++) {
        float position = ((float)i + 0.5F) * scale + axis->start;
        axis->lower[i] = clamp((int64_t)floorf(position), axis->in - 1);
        axis->count[i] = 1;
        axis->weights[i] = 1.0F;
    }
}

void leati_resize_fill_weights(leati_resize_axis *axis, leati_resize_method method,
                               bool antialias) {
    if (method == LEATI_RESIZE_NEAREST)
        fill_nearest(axis);
    else if (method == LEATI_RESIZE_AREA)
        fill_area(axis);
    else if (method == LEATI_RESIZE_BICUBIC && !antialias)
        fill_bicubic(axis);
    else
        fill_kernel(axis, method, antialias);
}
