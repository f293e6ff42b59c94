/* Lanes of floordiv and floormod. Integer division rounds down; a divisor of zero refuses the
 * value; the smallest integer divided by -1 wraps. A constant divisor that is a power of two
 * becomes a shift or a mask, which vectorises; others divide one by one. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_DIVISION_H
#define LEATI_GRAPH_SUPPORT_MATH_DIVISION_H

#include "graph/support/math/elementwise.h"

/* The number of the only bit of a positive power of two; -1 for other values. */
static inline int leati_division_power_of_two(int64_t value) {
    return value > 0 && (value & (value - 1)) == 0 ? __builtin_ctzll((uint64_t)value) : -1;
}

/* Dense operand over a constant power of two: FAST sees x and `shift`. */
#define LEATI_DIVISION_FAST(TYPE, FAST)                                                            \
    if (lane->in_step[1] == 0 && lane->in_step[0] == (int64_t)sizeof(TYPE) &&                      \
        lane->out_step == (int64_t)sizeof(TYPE)) {                                                 \
        int shift = leati_division_power_of_two((int64_t) * (const TYPE *)lane->in[1]);            \
        if (shift >= 0) {                                                                          \
            const TYPE *a = (const TYPE *)lane->in[0];                                             \
            TYPE *out = (TYPE *)lane->out;                                                         \
            for (int64_t i = 0; i < lane->n; i++) {                                                \
                TYPE x = a[i];                                                                     \
                out[i] = (TYPE)(FAST);                                                             \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
    }

/* RESULT sees x, y, the truncated quotient q and its remainder r. */
#define LEATI_DIVISION_LOOP(TYPE, QUOTIENT, RESULT)                                                \
    for (int64_t i = 0; i < lane->n; i++) {                                                        \
        TYPE x = *(const TYPE *)(lane->in[0] + i * lane->in_step[0]);                              \
        TYPE y = *(const TYPE *)(lane->in[1] + i * lane->in_step[1]);                              \
        if (y == 0) {                                                                              \
            lane->failed = i;                                                                      \
            return;                                                                                \
        }                                                                                          \
        TYPE q = (TYPE)(QUOTIENT);                                                                 \
        TYPE r LEATI_UNUSED = (TYPE)((U)x - (U)q * (U)y);                                          \
        *(TYPE *)(lane->out + i * lane->out_step) = (TYPE)(RESULT);                                \
    }

#define LEATI_DIVISION_LANE(NAME, TYPE, UTYPE, QUOTIENT, FAST, RESULT)                             \
    static void NAME(leati_lane *lane) {                                                           \
        typedef UTYPE U;                                                                           \
        LEATI_DIVISION_FAST(TYPE, FAST)                                                            \
        LEATI_DIVISION_LOOP(TYPE, QUOTIENT, RESULT)                                                \
    }

#define LEATI_SIGNED_QUOTIENT (y == -1 ? (U)0 - (U)x : (U)(x / y))

/* All integers of an operation: RESULT for signed ones, where q and r are truncated, and for
 * unsigned ones, where they are rounded down already. */
#define LEATI_DIVISION_LANES(OP, FAST, SIGNED, UNSIGNED)                                           \
    LEATI_DIVISION_LANE(OP##_int8, int8_t, uint32_t, LEATI_SIGNED_QUOTIENT, FAST, SIGNED)          \
    LEATI_DIVISION_LANE(OP##_int16, int16_t, uint32_t, LEATI_SIGNED_QUOTIENT, FAST, SIGNED)        \
    LEATI_DIVISION_LANE(OP##_int32, int32_t, uint32_t, LEATI_SIGNED_QUOTIENT, FAST, SIGNED)        \
    LEATI_DIVISION_LANE(OP##_int64, int64_t, uint64_t, LEATI_SIGNED_QUOTIENT, FAST, SIGNED)        \
    LEATI_DIVISION_LANE(OP##_uint8, uint8_t, uint32_t, x / y, FAST, UNSIGNED)                      \
    LEATI_DIVISION_LANE(OP##_uint16, uint16_t, uint32_t, x / y, FAST, UNSIGNED)                    \
    LEATI_DIVISION_LANE(OP##_uint32, uint32_t, uint32_t, x / y, FAST, UNSIGNED)                    \
    LEATI_DIVISION_LANE(OP##_uint64, uint64_t, uint64_t, x / y, FAST, UNSIGNED)

/* Whether a truncated division must be corrected to round down. */
#define LEATI_ROUNDED_UP (r != 0 && (r < 0) != (y < 0))

#endif
