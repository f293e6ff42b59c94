/* Loops over lines of scores; see attention_lines.h. No failures, no locks. */
#include "graph/support/nn/attention_lines.h"

#include "base/isa.h"
#include "graph/support/math/functions.h"

enum { LANES = 16 };

#define LINES(TYPE, EXP)                                                                           \
    typedef struct raised_##TYPE {                                                                 \
        TYPE *scores;                                                                              \
        int64_t n;                                                                                 \
        TYPE top, sum;                                                                             \
    } raised_##TYPE;                                                                               \
    LEATI_ALWAYS_INLINE void raise_##TYPE##_loop(raised_##TYPE *line) {                            \
        TYPE *scores = line->scores, sums[LANES] = {0};                                            \
        const int64_t n = line->n, whole = n / LANES * LANES;                                      \
        const TYPE top = line->top;                                                                \
        for (int64_t j = 0; j < n; j++)                                                            \
            scores[j] = EXP(scores[j] - top);                                                      \
        for (int64_t i = 0; i < whole; i += LANES)                                                 \
            for (int j = 0; j < LANES; j++)                                                        \
                sums[j] += scores[i + j];                                                          \
        for (int64_t i = whole; i < n; i++)                                                        \
            sums[i - whole] += scores[i];                                                          \
        for (int half = LANES / 2; half > 0; half /= 2)                                            \
            for (int j = 0; j < half; j++)                                                         \
                sums[j] += sums[j + half];                                                         \
        line->sum = sums[0];                                                                       \
    }                                                                                              \
    LEATI_ISA(raise_##TYPE, raise_##TYPE##_loop, raised_##TYPE *)                                  \
    TYPE leati_attention_raise_##TYPE(TYPE *scores, int64_t n, TYPE top) {                         \
        raised_##TYPE line = {scores, n, top, 0};                                                  \
        raise_##TYPE(&line);                                                                       \
        return line.sum;                                                                           \
    }                                                                                              \
    typedef struct sloped_##TYPE {                                                                 \
        TYPE *scores, *others;                                                                     \
        int64_t n;                                                                                 \
        TYPE top, sum, dot;                                                                        \
    } sloped_##TYPE;                                                                               \
    LEATI_ALWAYS_INLINE void slope_##TYPE##_loop(const sloped_##TYPE *line) {                      \
        TYPE *scores = line->scores, *others = line->others;                                       \
        const TYPE top = line->top, sum = line->sum, dot = line->dot;                              \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t j = 0; j < line->n; j++) {                                                    \
            TYPE p = EXP(scores[j] - top) / sum;                                                   \
            scores[j] = p;                                                                         \
            others[j] = p * (others[j] - dot);                                                     \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(slope_##TYPE, slope_##TYPE##_loop, const sloped_##TYPE *)                            \
    void leati_attention_slopes_##TYPE(TYPE *scores, TYPE *others, int64_t n,                      \
                                       const TYPE moments[2], TYPE dot) {                          \
        sloped_##TYPE line = {scores, others, n, moments[0], moments[1], dot};                     \
        slope_##TYPE(&line);                                                                       \
    }

LINES(float, leati_math_exp)
LINES(double, exp)
