/* Exponentials along lines; see softmax_lines.h. No failures, no state, no locks. */
#include "graph/support/nn/softmax_lines.h"

#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/math/functions.h"

#include <math.h>
#include <string.h>

enum { LANES = 16, RUN = 128, LOOK = 1 << 16, LONG = 256 };

/* exp(x), x <= 0, as a polynomial, so that a loop over many values vectorises: about 1 ULP. The
 * terms are those of the series up to the thirteenth. */
static inline double exp_below(double x) {
    const double shift = 0x1.8p52;
    double at = x < -746 ? -746 : x;
    double shifted = __builtin_fma(at, 0x1.71547652b82fep0, shift), n = shifted - shift;
    double r = __builtin_fma(n, -0x1.62e42fefa39efp-1, at);
    r = __builtin_fma(n, -0x1.abc9e3b39803fp-56, r);
    double p = 0x1.6124613a86d09p-33;
    p = __builtin_fma(p, r, 0x1.1eed8eff8d898p-29);
    p = __builtin_fma(p, r, 0x1.ae64567f544e4p-26);
    p = __builtin_fma(p, r, 0x1.27e4fb7789f5cp-22);
    p = __builtin_fma(p, r, 0x1.71de3a556c734p-19);
    p = __builtin_fma(p, r, 0x1.a01a01a01a01ap-16);
    p = __builtin_fma(p, r, 0x1.a01a01a01a01ap-13);
    p = __builtin_fma(p, r, 0x1.6c16c16c16c17p-10);
    p = __builtin_fma(p, r, 0x1.1111111111111p-7);
    p = __builtin_fma(p, r, 0x1.5555555555555p-5);
    p = __builtin_fma(p, r, 0x1.5555555555555p-3);
    p = __builtin_fma(p, r, 0.5);
    double y = 1 + (r + p * (r * r));
    /* The last bits of the shifted number are n. In two steps, as 2^n alone may be too small. */
    int64_t bits, base;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&base, &shift, sizeof base);
    uint64_t scale_bits = (uint64_t)(bits - base + 1023 + 100) << 52;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    return y * scale * 0x1p-100;
}

/* LEATI_MAX passes over a NaN that is not the first of a lane, but the sum of exponentials is NaN
 * then. */
#define SOFTMAX_TYPE(TYPE, EXP)                                                                    \
    LEATI_ALWAYS_INLINE TYPE top_of_##TYPE(const TYPE *x, int64_t n) {                             \
        TYPE top = x[0];                                                                           \
        int64_t i = 0;                                                                             \
        if (n >= 2 * LANES) {                                                                      \
            TYPE lanes[2 * LANES];                                                                 \
            for (int k = 0; k < 2 * LANES; k++)                                                    \
                lanes[k] = x[k];                                                                   \
            for (i = 2 * LANES; i + 2 * LANES <= n; i += 2 * LANES)                                \
                for (int k = 0; k < 2 * LANES; k++)                                                \
                    lanes[k] = LEATI_MAX(x[i + k], lanes[k]);                                      \
            for (int half = LANES; half > 0; half /= 2)                                            \
                for (int k = 0; k < half; k++)                                                     \
                    lanes[k] = LEATI_MAX(lanes[k + half], lanes[k]);                               \
            top = lanes[0];                                                                        \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            top = LEATI_MAX(x[i], top);                                                            \
        return top;                                                                                \
    }                                                                                              \
    LEATI_ALWAYS_INLINE double sum_of_##TYPE(const TYPE *x, int64_t n) {                           \
        double total = 0;                                                                          \
        while (n >= LANES) {                                                                       \
            TYPE lanes[LANES];                                                                     \
            int64_t run = LEATI_MIN(n, RUN) / LANES * LANES;                                       \
            for (int k = 0; k < LANES; k++)                                                        \
                lanes[k] = x[k];                                                                   \
            for (int64_t i = LANES; i < run; i += LANES)                                           \
                for (int k = 0; k < LANES; k++)                                                    \
                    lanes[k] += x[i + k];                                                          \
            for (int half = LANES / 2; half > 0; half /= 2)                                        \
                for (int k = 0; k < half; k++)                                                     \
                    lanes[k] += lanes[k + half];                                                   \
            total += (double)lanes[0];                                                             \
            x += run;                                                                              \
            n -= run;                                                                              \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            total += (double)x[i];                                                                 \
        return total;                                                                              \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void exp_of_##TYPE(const TYPE *x, TYPE top, TYPE *out, int64_t n) {        \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = EXP(x[i] - top);                                                              \
    }                                                                                              \
    /* Lines without their maximum. */                                                             \
    LEATI_ALWAYS_INLINE void shift_##TYPE(const leati_softmax_lines *s) {                          \
        for (int64_t k = 0; k < s->lines && !(k > 0 && leati_stop_stopped()); k++) {               \
            const TYPE *x = (const TYPE *)(const void *)s->in + k * s->n;                          \
            TYPE *out = (TYPE *)(void *)s->out + k * s->n, top = x[0];                             \
            for (int64_t i = 0; i < s->n && !(i > 0 && leati_stop_look()); i += LOOK) {            \
                TYPE found = top_of_##TYPE(x + i, LEATI_MIN(s->n - i, LOOK));                      \
                top = LEATI_MAX(found, top);                                                       \
            }                                                                                      \
            s->tops[k] = (double)top;                                                              \
            /* Exponentials of long lines are made of the input. */                                \
            if (s->n >= LONG && !s->log)                                                           \
                continue;                                                                          \
            LEATI_INDEPENDENT                                                                      \
            for (int64_t i = 0; i < s->n; i++)                                                     \
                out[i] = x[i] - top;                                                               \
        }                                                                                          \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void quotients_##TYPE(const leati_softmax_lines *s) {                      \
        TYPE *out = (TYPE *)(void *)s->out;                                                        \
        int64_t all = s->lines * s->n;                                                             \
        for (int64_t i = 0; s->n < LONG && i < all; i += LOOK)                                     \
            exp_of_##TYPE(out + i, 0, out + i, LEATI_MIN(all - i, LOOK));                          \
        for (int64_t k = 0; s->n >= LONG && k < s->lines && !leati_stop_stopped(); k++) {          \
            const TYPE *x = (const TYPE *)(const void *)s->in + k * s->n;                          \
            for (int64_t i = 0; i < s->n && !(i > 0 && leati_stop_look()); i += LOOK)              \
                exp_of_##TYPE(x + i, (TYPE)s->tops[k], out + k * s->n + i,                         \
                              LEATI_MIN(s->n - i, LOOK));                                          \
        }                                                                                          \
        for (int64_t k = 0; k < s->lines && !leati_stop_stopped(); k++, out += s->n) {             \
            s->sums[k] = 0;                                                                        \
            for (int64_t i = 0; i < s->n; i += LEATI_SOFTMAX_MOST)                                 \
                s->sums[k] += sum_of_##TYPE(out + i, LEATI_MIN(s->n - i, LEATI_SOFTMAX_MOST));     \
            TYPE scale = (TYPE)(1 / s->sums[k]);                                                   \
            for (int64_t i = 0; i < s->n; i++)                                                     \
                out[i] *= scale;                                                                   \
        }                                                                                          \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void logarithms_##TYPE(const leati_softmax_lines *s) {                     \
        TYPE *out = (TYPE *)(void *)s->out, room[LEATI_SOFTMAX_MOST];                              \
        int64_t each = LEATI_MIN(s->n, LEATI_SOFTMAX_MOST);                                        \
        for (int64_t k = 0; k < s->lines; k++)                                                     \
            s->sums[k] = 0;                                                                        \
        for (int64_t i = 0; i < s->n; i += each) {                                                 \
            /* All lines, or a part of the one that is. */                                         \
            int64_t wide = LEATI_MIN(s->n - i, each);                                              \
            exp_of_##TYPE(out + i, 0, room, s->lines * wide);                                      \
            for (int64_t k = 0; k < s->lines; k++)                                                 \
                s->sums[k] += sum_of_##TYPE(room + k * wide, wide);                                \
            if ((i / each & 31) == 31 && leati_stop_look())                                        \
                return;                                                                            \
        }                                                                                          \
        for (int64_t k = 0; k < s->lines; k++, out += s->n) {                                      \
            /* The sum is 1 or more, or NaN. */                                                    \
            TYPE size = s->sums[k] > 0 ? (TYPE)log(s->sums[k]) : (TYPE)s->sums[k];                 \
            for (int64_t i = 0; i < s->n; i++)                                                     \
                out[i] -= size;                                                                    \
        }                                                                                          \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void softmax_loop_##TYPE(const leati_softmax_lines *s) {                   \
        shift_##TYPE(s);                                                                           \
        if (s->log)                                                                                \
            logarithms_##TYPE(s);                                                                  \
        else                                                                                       \
            quotients_##TYPE(s);                                                                   \
    }                                                                                              \
    LEATI_ISA(softmax_##TYPE, softmax_loop_##TYPE, const leati_softmax_lines *)

SOFTMAX_TYPE(float, leati_math_exp)
SOFTMAX_TYPE(double, exp_below)

void leati_softmax_run(const leati_softmax_lines *lines) {
    if (lines->dtype == LEAT_FLOAT32)
        softmax_float(lines);
    else
        softmax_double(lines);
}

double leati_softmax_ns(leat_dtype dtype, double values) {
    return values * (dtype == LEAT_FLOAT32 ? 1.2 : 3);
}
