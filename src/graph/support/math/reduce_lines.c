/* The loops of reductions; see reduce_lines.h. No failures, no state, no locks. */
#include "graph/support/math/reduce_lines.h"

#include "base/isa.h"
#include "base/minmax.h"
#include "core/half.h"

#include <math.h>

/* Values of a run: 1,024 of 8 bytes. Smaller accumulators have no sums that round, and their lanes,
 * more of them, are joined as seldom. */
#define RUN(A) (int64_t)(8192 / sizeof(A))

/* The accumulators A of values TYPE: LOAD makes one of a value, JOIN(a, v) of two, FIRST is that of
 * none. OUT: what a result is.
 * VERSIONS: for which instruction sets. */
#define REDUCE_LOOPS(VERSIONS, NAME, TYPE, ...)                                                    \
    REDUCE_LOOPS_TO(VERSIONS, NAME, TYPE, TYPE, __VA_ARGS__)
#define REDUCE_LOOPS_TO(VERSIONS, ...) REDUCE_LOOPS_IN(VERSIONS, , __VA_ARGS__)
/* UNROLL stands before the loop over lanes: gcc takes few lanes apart before it looks for vectors,
 * and does not put those with comparisons together again. */
#define REDUCE_LOOPS_IN(VERSIONS, UNROLL, NAME, TYPE, OUT, A, LOAD, FIRST, JOIN, FINISH)           \
    LEATI_ALWAYS_INLINE A NAME##_line(const TYPE *x, int64_t n) {                                  \
        enum { LANES = 128 / sizeof(A), FEW = 8 };                                                 \
        A total = FIRST;                                                                           \
        while (n >= LANES) {                                                                       \
            A lanes[LANES];                                                                        \
            int64_t run = LEATI_MIN(n, RUN(A)) / LANES * LANES;                                    \
            for (int k = 0; k < LANES; k++)                                                        \
                lanes[k] = (A)LOAD(x[k]);                                                          \
            for (int64_t i = LANES; i < run; i += LANES)                                           \
                UNROLL for (int k = 0; k < LANES; k++) lanes[k] =                                  \
                    JOIN(lanes[k], (A)LOAD(x[i + k]));                                             \
            for (int half = LANES / 2; half > 0; half /= 2)                                        \
                for (int k = 0; k < half; k++)                                                     \
                    lanes[k] = JOIN(lanes[k], lanes[k + half]);                                    \
            total = JOIN(total, lanes[0]);                                                         \
            x += run;                                                                              \
            n -= run;                                                                              \
        }                                                                                          \
        for (; n >= FEW; x += FEW, n -= FEW) {                                                     \
            A few[FEW];                                                                            \
            for (int k = 0; k < FEW; k++)                                                          \
                few[k] = (A)LOAD(x[k]);                                                            \
            for (int half = FEW / 2; half > 0; half /= 2)                                          \
                for (int k = 0; k < half; k++)                                                     \
                    few[k] = JOIN(few[k], few[k + half]);                                          \
            total = JOIN(total, few[0]);                                                           \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            total = JOIN(total, (A)LOAD(x[i]));                                                    \
        return total;                                                                              \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void NAME##_fold_loop(const leati_reduce_lines *lines) {                   \
        for (int64_t b = 0; b < lines->blocks; b++) {                                              \
            A *to = (A *)lines->to + b * lines->block_to;                                          \
            const TYPE *x = (const TYPE *)(const void *)lines->from + b * lines->block_step;       \
            for (int64_t k = 0; k < lines->count; k++, x += lines->step) {                         \
                A line = NAME##_line(x, lines->n);                                                 \
                to[k] = JOIN(to[k], line);                                                         \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    VERSIONS(NAME##_fold, NAME##_fold_loop, const leati_reduce_lines *)                            \
    LEATI_ALWAYS_INLINE void NAME##_add_loop(const leati_reduce_lines *lines) {                    \
        for (int64_t b = 0; b < lines->blocks; b++) {                                              \
            A *to = (A *)lines->to + b * lines->block_to;                                          \
            const TYPE *x = (const TYPE *)(const void *)lines->from + b * lines->block_step;       \
            for (int64_t r = 0; r < lines->count; r++, x += lines->step)                           \
                LEATI_INDEPENDENT                                                                  \
            for (int64_t i = 0; i < lines->n; i++)                                                 \
                to[i] = JOIN(to[i], (A)LOAD(x[i]));                                                \
        }                                                                                          \
    }                                                                                              \
    VERSIONS(NAME##_add, NAME##_add_loop, const leati_reduce_lines *)                              \
    static void NAME##_start(void *to, int64_t n) {                                                \
        for (int64_t i = 0; i < n; i++)                                                            \
            ((A *)to)[i] = FIRST;                                                                  \
    }                                                                                              \
    static void NAME##_merge(void *to, const void *from, int64_t n) {                              \
        A *a = to;                                                                                 \
        const A *b = from;                                                                         \
        for (int64_t i = 0; i < n; i++)                                                            \
            a[i] = JOIN(a[i], b[i]);                                                               \
    }                                                                                              \
    static void NAME##_finish(char *to, const void *from, int64_t n, int64_t among) {              \
        const A *a = from;                                                                         \
        OUT *out = (OUT *)(void *)to;                                                              \
        (void)among;                                                                               \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (OUT)FINISH(a[i], among);                                                     \
    }                                                                                              \
    static const leati_reduce_loops NAME = {sizeof(A),  NAME##_start, NAME##_fold,                 \
                                            NAME##_add, NAME##_merge, NAME##_finish};

#define OFTEN LEATI_ISA
#define RARE LEATI_ISA_PLAIN_ONLY /* for dtypes that few programs reduce */

#define PLAIN(x) (x)
#define ADD(a, v) ((a) + (v))
#define MULTIPLY(a, v) ((a) * (v))
/* A NaN wins, of whichever of the two. */
#define LARGER(a, v) ((v) > (a) || (v) != (v) ? (v) : (a))
#define SMALLER(a, v) ((v) < (a) || (v) != (v) ? (v) : (a))

#define AS_IT_IS(a, among) (a)
#define SHARE(a, among) ((a) / (double)(among))
#define SHARE_HALF(a, among) leati_half_of_float((float)((a) / (double)(among)))
#define SHARE_BFLOAT16(a, among) leati_bfloat16_of_float((float)((a) / (double)(among)))
#define SHARE_SIGNED(a, among) ((among) == 0 ? 0 : (int64_t)(a) / (among))
#define SHARE_UNSIGNED(a, among) ((among) == 0 ? 0 : (a) / (uint64_t)(among))
#define TO_HALF(a, among) leati_half_of_float((float)(a))
#define TO_BFLOAT16(a, among) leati_bfloat16_of_float((float)(a))

/* Sums and products of integers wrap, as unsigned ones may in C. */
#define REDUCE_WIDE(INTEGERS, FLOATS, KIND, FIRST, JOIN, HALF, BFLOAT16, FLOAT, SIGNED, UNSIGNED)  \
    REDUCE_LOOPS(INTEGERS, KIND##_int8, int8_t, uint64_t, (int64_t)PLAIN, FIRST, JOIN, SIGNED)     \
    REDUCE_LOOPS(RARE, KIND##_int16, int16_t, uint64_t, (int64_t)PLAIN, FIRST, JOIN, SIGNED)       \
    REDUCE_LOOPS(INTEGERS, KIND##_int32, int32_t, uint64_t, (int64_t)PLAIN, FIRST, JOIN, SIGNED)   \
    REDUCE_LOOPS(INTEGERS, KIND##_int64, int64_t, uint64_t, PLAIN, FIRST, JOIN, SIGNED)            \
    REDUCE_LOOPS(INTEGERS, KIND##_uint8, uint8_t, uint64_t, PLAIN, FIRST, JOIN, UNSIGNED)          \
    REDUCE_LOOPS(RARE, KIND##_uint16, uint16_t, uint64_t, PLAIN, FIRST, JOIN, UNSIGNED)            \
    REDUCE_LOOPS(RARE, KIND##_uint32, uint32_t, uint64_t, PLAIN, FIRST, JOIN, UNSIGNED)            \
    REDUCE_LOOPS(RARE, KIND##_uint64, uint64_t, uint64_t, PLAIN, FIRST, JOIN, UNSIGNED)            \
    REDUCE_LOOPS(FLOATS, KIND##_float16, uint16_t, double, leati_float_of_half, FIRST, JOIN, HALF) \
    REDUCE_LOOPS(FLOATS, KIND##_bfloat16, uint16_t, double, leati_float_of_bfloat16, FIRST, JOIN,  \
                 BFLOAT16)                                                                         \
    REDUCE_LOOPS(OFTEN, KIND##_float32, float, double, PLAIN, FIRST, JOIN, FLOAT)                  \
    REDUCE_LOOPS(FLOATS, KIND##_float64, double, double, PLAIN, FIRST, JOIN, FLOAT)

#define REDUCE_NARROW(KIND, JOIN, INTEGER, UNSIGNED, FLOAT)                                        \
    REDUCE_LOOPS(RARE, KIND##_int8, int8_t, int8_t, PLAIN, INTEGER(8), JOIN, AS_IT_IS)             \
    REDUCE_LOOPS(RARE, KIND##_int16, int16_t, int16_t, PLAIN, INTEGER(16), JOIN, AS_IT_IS)         \
    REDUCE_LOOPS(OFTEN, KIND##_int32, int32_t, int32_t, PLAIN, INTEGER(32), JOIN, AS_IT_IS)        \
    REDUCE_LOOPS(OFTEN, KIND##_int64, int64_t, int64_t, PLAIN, INTEGER(64), JOIN, AS_IT_IS)        \
    REDUCE_LOOPS(OFTEN, KIND##_uint8, uint8_t, uint8_t, PLAIN, UNSIGNED(8), JOIN, AS_IT_IS)        \
    REDUCE_LOOPS(RARE, KIND##_uint16, uint16_t, uint16_t, PLAIN, UNSIGNED(16), JOIN, AS_IT_IS)     \
    REDUCE_LOOPS(RARE, KIND##_uint32, uint32_t, uint32_t, PLAIN, UNSIGNED(32), JOIN, AS_IT_IS)     \
    REDUCE_LOOPS(RARE, KIND##_uint64, uint64_t, uint64_t, PLAIN, UNSIGNED(64), JOIN, AS_IT_IS)     \
    REDUCE_LOOPS(OFTEN, KIND##_float16, uint16_t, float, leati_float_of_half, FLOAT, JOIN,         \
                 TO_HALF)                                                                          \
    REDUCE_LOOPS(OFTEN, KIND##_bfloat16, uint16_t, float, leati_float_of_bfloat16, FLOAT, JOIN,    \
                 TO_BFLOAT16)                                                                      \
    REDUCE_LOOPS(OFTEN, KIND##_float32, float, float, PLAIN, FLOAT, JOIN, AS_IT_IS)                \
    REDUCE_LOOPS_IN(OFTEN, _Pragma("GCC unroll 1"), KIND##_float64, double, double, double, PLAIN, \
                    FLOAT, JOIN, AS_IT_IS)

#define LOWEST_INTEGER(BITS) INT##BITS##_MIN
#define HIGHEST_INTEGER(BITS) INT##BITS##_MAX
#define LOWEST_UNSIGNED(BITS) 0
#define HIGHEST_UNSIGNED(BITS) UINT##BITS##_MAX
REDUCE_WIDE(OFTEN, OFTEN, sum, 0, ADD, SHARE_HALF, SHARE_BFLOAT16, SHARE, SHARE_SIGNED,
            SHARE_UNSIGNED)
REDUCE_WIDE(RARE, RARE, prod, 1, MULTIPLY, TO_HALF, TO_BFLOAT16, AS_IT_IS, AS_IT_IS, AS_IT_IS)
REDUCE_NARROW(max, LARGER, LOWEST_INTEGER, LOWEST_UNSIGNED, -INFINITY)
REDUCE_NARROW(min, SMALLER, HIGHEST_INTEGER, HIGHEST_UNSIGNED, INFINITY)
#define SQUARE(x) ((double)(x) * (double)(x))
REDUCE_LOOPS(OFTEN, squares_float32, float, double, SQUARE, 0, ADD, AS_IT_IS)
REDUCE_LOOPS(OFTEN, squares_float64, double, double, SQUARE, 0, ADD, AS_IT_IS)
#define HOLDS(x) ((x) != 0)
REDUCE_LOOPS_TO(OFTEN, count_bool, uint8_t, int64_t, uint64_t, PLAIN, 0, ADD, AS_IT_IS)
REDUCE_LOOPS_TO(OFTEN, count_int32, int32_t, int64_t, uint64_t, HOLDS, 0, ADD, AS_IT_IS)
REDUCE_LOOPS_TO(OFTEN, count_float32, float, int64_t, uint64_t, HOLDS, 0, ADD, AS_IT_IS)
/* Booleans are bytes of 0 and 1. */
#define EITHER(a, v) ((a) | (v))
#define BOTH(a, v) ((a) & (v))
REDUCE_LOOPS(OFTEN, any_bool, uint8_t, uint8_t, PLAIN, 0, EITHER, AS_IT_IS)
REDUCE_LOOPS(OFTEN, all_bool, uint8_t, uint8_t, PLAIN, 1, BOTH, AS_IT_IS)

#define REDUCE_TABLE(KIND, BOOL)                                                                   \
    {                                                                                              \
        [LEAT_INT8] = &KIND##_int8, [LEAT_INT16] = &KIND##_int16, [LEAT_INT32] = &KIND##_int32,    \
        [LEAT_INT64] = &KIND##_int64, [LEAT_UINT8] = &KIND##_uint8,                                \
        [LEAT_UINT16] = &KIND##_uint16, [LEAT_UINT32] = &KIND##_uint32,                            \
        [LEAT_UINT64] = &KIND##_uint64, [LEAT_FLOAT16] = &KIND##_float16,                          \
        [LEAT_BFLOAT16] = &KIND##_bfloat16, [LEAT_FLOAT32] = &KIND##_float32,                      \
        [LEAT_FLOAT64] = &KIND##_float64, [LEAT_BOOL] = BOOL                                       \
    }

const leati_reduce_loops *leati_reduce_loops_of(leati_reduce_kind kind, leat_dtype dtype) {
    static const leati_reduce_loops *const all[][LEAT_NUM_DTYPES] = {
        [LEATI_REDUCE_SUM] = REDUCE_TABLE(sum, NULL),
        [LEATI_REDUCE_MEAN] = REDUCE_TABLE(sum, NULL),
        [LEATI_REDUCE_MAX] = REDUCE_TABLE(max, &any_bool),
        [LEATI_REDUCE_MIN] = REDUCE_TABLE(min, &all_bool),
        [LEATI_REDUCE_PROD] = REDUCE_TABLE(prod, NULL),
        [LEATI_REDUCE_SQUARES] =
            {[LEAT_FLOAT32] = &squares_float32, [LEAT_FLOAT64] = &squares_float64},
        [LEATI_REDUCE_COUNT] = {[LEAT_BOOL] = &count_bool,
                                [LEAT_INT32] = &count_int32,
                                [LEAT_FLOAT32] = &count_float32},
    };
    return all[kind][dtype];
}
