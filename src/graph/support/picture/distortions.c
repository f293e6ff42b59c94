/* The distortions of RandAugment on float32 pictures; see policy.h. They compute what Keras' layers
 * do, step by step in float32. Pixels outside of a picture are its mirror image. No failures, no
 * state. */
#include "base/minmax.h"
#include "graph/support/picture/policy.h"

#include <math.h>
#include <string.h>

static float clip(float x, float low, float high) {
    return x < low ? low : LEATI_MIN(high, x);
}

static int64_t picture_size(const leati_canvas *c) {
    return c->height * c->width * c->channels;
}

/* ---- shapes ---- */

/* A place within [0, length - 1] that a coordinate outside of it mirrors. */
static float reflect(float at, int64_t length) {
    float doubled = (float)(2 * length);
    if (at < 0 && length > 1) {
        at = doubled * truncf(-at / doubled) + at;
        at = at < -(float)length ? at + doubled : -at - 1;
    } else if (at > (float)(length - 1) && length > 1) {
        at -= doubled * truncf(at / doubled);
        at = at >= (float)length ? doubled - at - 1 : at;
    }
    return length > 1 ? clip(at, 0, (float)(length - 1)) : 0;
}

/* The pixel at a place of a picture, blended from its four neighbours. */
static void read_between(const leati_canvas *c, const float *picture, float y, float x,
                         float *pixel) {
    float top = floorf(y), left = floorf(x);
    float below = y - top, beside = x - left, above = top + 1 - y, before = left + 1 - x;
    int64_t right = left + 1 < (float)c->width ? c->channels : 0;
    int64_t down = top + 1 < (float)c->height ? c->width * c->channels : 0;
    const float *at = picture + ((int64_t)top * c->width + (int64_t)left) * c->channels;
    for (int64_t k = 0; k < c->channels; k++, at++) {
        /* Beyond the last one there is nothing, and it weighs nothing. */
        float upper = before * at[0] + beside * (right > 0 ? at[right] : 0);
        float lower =
            down == 0 ? 0 : before * at[down] + beside * (right > 0 ? at[down + right] : 0);
        pixel[k] = above * upper + below * lower;
    }
}

/* Pixel (x, y) of the result lies at (a0 x + a1 y + a2, b0 x + b1 y + b2). */
static void transform(leati_canvas *c, float *picture, const float a[3], const float b[3]) {
    float *to = c->scratch;
    for (int64_t y = 0; y < c->height; y++) {
        for (int64_t x = 0; x < c->width; x++, to += c->channels) {
            float from_x = reflect(a[0] * (float)x + a[1] * (float)y + a[2], c->width);
            float from_y = reflect(b[0] * (float)x + b[1] * (float)y + b[2], c->height);
            if (!c->nearest) {
                read_between(c, picture, from_y, from_x, to);
                continue;
            }
            int64_t at = (int64_t)roundf(from_y) * c->width + (int64_t)roundf(from_x);
            memcpy(to, picture + at * c->channels, (size_t)c->channels * sizeof *to);
        }
    }
    memcpy(picture, c->scratch, (size_t)picture_size(c) * sizeof *picture);
}

static void shear(leati_canvas *c, float *picture, leati_strength s) {
    transform(c, picture, (const float[]){1, s.a, 0}, (const float[]){s.b, 1, 0});
}

static void translate(leati_canvas *c, float *picture, leati_strength s) {
    transform(c, picture, (const float[]){1, 0, -(s.a * (float)c->width)},
              (const float[]){0, 1, -(s.b * (float)c->height)});
}

static void rotate(leati_canvas *c, float *picture, leati_strength s) {
    float angle = s.a * (float)0.017453292519943295;
    float x = 0.5F * (float)(c->width - 1), y = 0.5F * (float)(c->height - 1);
    float cosine = cosf(angle), sine = sinf(angle);
    transform(c, picture, (const float[]){cosine, -sine, x - x * cosine - y * -sine},
              (const float[]){sine, cosine, y - x * sine - y * cosine});
}

/* ---- colours ---- */

static void brighten(leati_canvas *c, float *picture, leati_strength s) {
    float delta = s.a * (c->high - c->low);
    for (int64_t i = 0; i < picture_size(c); i++)
        picture[i] = clip(picture[i] + delta, c->low, c->high);
}

static void degenerate(leati_canvas *c, float *picture, leati_strength s) {
    for (int64_t i = 0; i < picture_size(c); i += c->channels) {
        float *p = picture + i, grey = p[0];
        if (c->channels == 3)
            grey = p[0] * 0.2989F + p[1] * 0.587F + p[2] * 0.114F;
        for (int64_t k = 0; k < c->channels; k++)
            p[k] = clip(p[k] + s.a * (grey - p[k]), c->low, c->high);
    }
}

/* The mean over rows of the means over columns. */
static float mean_of(const leati_canvas *c, const float *picture, int64_t channel) {
    float sum = 0;
    for (int64_t x = 0; x < c->width; x++) {
        float column = 0;
        for (int64_t y = 0; y < c->height; y++)
            column += picture[(y * c->width + x) * c->channels + channel];
        sum += column / (float)c->height;
    }
    return sum / (float)c->width;
}

static void contrast(leati_canvas *c, float *picture, leati_strength s) {
    for (int64_t k = 0; k < c->channels; k++) {
        float mean = mean_of(c, picture, k);
        for (int64_t i = k; i < picture_size(c); i += c->channels)
            picture[i] = clip((picture[i] - mean) * s.a + mean, c->low, c->high);
    }
}

/* The weighted sum of a pixel (5 / 13) and its neighbours (1 / 13); there are none outside. */
static float smoothed(const leati_canvas *c, const float *picture, int64_t y, int64_t x,
                      int64_t channel) {
    float sum = 0;
    for (int64_t v = y - 1; v <= y + 1; v++)
        for (int64_t u = x - 1; u <= x + 1; u++)
            if (v >= 0 && v < c->height && u >= 0 && u < c->width)
                sum += picture[(v * c->width + u) * c->channels + channel] *
                       (v == y && u == x ? (float)(5.0 / 13) : (float)(1.0 / 13));
    return sum;
}

static void sharpen(leati_canvas *c, float *picture, leati_strength s) {
    float part = 1 - s.a * 2, *to = c->scratch;
    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++)
            for (int64_t k = 0; k < c->channels; k++, to++) {
                float own = picture[(y * c->width + x) * c->channels + k];
                *to = clip(own + part * (smoothed(c, picture, y, x, k) - own), c->low, c->high);
            }
    memcpy(picture, c->scratch, (size_t)picture_size(c) * sizeof *picture);
}

/* ---- values of [0, 255] ---- */

/* From one range of values to another. */
static float to_range(float x, float low, float high, float new_low, float new_high) {
    if (low == new_low && high == new_high)
        return x;
    return (x - low) / (high - low) * (new_high - new_low) + new_low;
}

static float to_bytes(const leati_canvas *c, float x) {
    return to_range(x, c->low, c->high, 0, 255);
}

static float from_bytes(const leati_canvas *c, float x) {
    return to_range(x, 0, 255, c->low, c->high);
}

static void posterize(leati_canvas *c, float *picture, leati_strength s) {
    int bits = (int)s.a;
    for (int64_t i = 0; i < picture_size(c); i++) {
        float x = to_bytes(c, picture[i]);
        uint8_t byte = x > -2147483648.0F && x < 2147483648.0F ? (uint8_t)(int32_t)x : 0;
        picture[i] = from_bytes(c, (float)(byte >> bits << bits));
    }
}

static void solarize(leati_canvas *c, float *picture, leati_strength s) {
    for (int64_t i = 0; i < picture_size(c); i++) {
        float x = clip(to_bytes(c, picture[i]) + s.a, 0, 255);
        picture[i] = from_bytes(c, x < s.b ? x : 255 - x);
    }
}

/* A channel of one value stays as it is: its scale is infinite, and its results no numbers. */
static void stretch(leati_canvas *c, float *picture, leati_strength s) {
    (void)s;
    for (int64_t k = 0; k < c->channels; k++) {
        float low = HUGE_VALF, high = -HUGE_VALF;
        for (int64_t i = k; i < picture_size(c); i += c->channels) {
            float x = to_bytes(c, picture[i]);
            low = LEATI_MIN(x, low);
            high = LEATI_MAX(x, high);
        }
        float scale = 255.0F / (high - low), offset = -low * scale;
        for (int64_t i = k; i < picture_size(c) && high > low; i += c->channels) {
            float x = to_bytes(c, picture[i]) * scale + offset;
            picture[i] = isnan(x) ? picture[i] : from_bytes(c, clip(x, 0, 255));
        }
    }
}

/* A linear map between two ranges, as the layer for equalization has it. */
static float scaled(float x, float low, float high, float new_low, float new_high) {
    double scale = ((double)new_high - (double)new_low) / ((double)high - (double)low);
    return x * (float)scale + (float)((double)new_low - (double)low * scale);
}

enum { BINS = 256 };

static int bin_of(float x) {
    return (int)clip(x, 0, BINS - 1);
}

/* A table that makes all values of a channel, of all pictures together, equally frequent; false
 * where there is one value alone. */
static bool equal_table(const leati_canvas *c, int64_t channel, float table[BINS]) {
    int64_t counts[BINS] = {0}, total = 0, least = 0, used = 0;
    for (int64_t i = channel; i < c->count * picture_size(c); i += c->channels)
        counts[bin_of(scaled(c->pixels[i], c->low, c->high, 0, 255) * 255 / 255)]++;
    for (int i = 0; i < BINS; i++) {
        used += counts[i] > 0;
        least = least == 0 ? counts[i] : least;
        total += counts[i];
    }
    int64_t below = 0, most = total - least > 0 ? total - least : 1;
    for (int i = 0; i < BINS; i++) {
        below += counts[i];
        double share = rint((double)(below - least) * 255 / (double)most);
        table[i] = (float)fmin(fmax(share, 0), 255);
    }
    return used > 1;
}

static void equalize(leati_canvas *c) {
    float table[BINS];
    for (int64_t k = 0; k < c->channels; k++) {
        bool changes = equal_table(c, k, table);
        for (int64_t i = k; i < c->count * picture_size(c); i += c->channels) {
            float x = scaled(c->pixels[i], c->low, c->high, 0, 255);
            x = changes ? table[bin_of(x / 255.0F * (BINS - 1))] : x;
            c->pixels[i] = scaled(x, 0, 255, c->low, c->high);
        }
    }
}

void leati_policy_distort(leati_canvas *canvas, leati_distortion which,
                          const leati_strength *strengths) {
    static void (*const functions[])(leati_canvas *, float *, leati_strength) = {
        [LEATI_SHEAR] = shear,
        [LEATI_TRANSLATION] = translate,
        [LEATI_ROTATION] = rotate,
        [LEATI_BRIGHTNESS] = brighten,
        [LEATI_DEGENERATION] = degenerate,
        [LEATI_CONTRAST] = contrast,
        [LEATI_SHARPNESS] = sharpen,
        [LEATI_POSTERIZATION] = posterize,
        [LEATI_SOLARIZATION] = solarize,
        [LEATI_AUTO_CONTRAST] = stretch,
    };
    if (canvas->masks && which > LEATI_ROTATION)
        return;
    if (which == LEATI_EQUALIZATION) {
        equalize(canvas);
        return;
    }
    for (int64_t i = 0; i < canvas->count; i++)
        functions[which](canvas, canvas->pixels + i * picture_size(canvas), strengths[i]);
}
