/* Loops compiled for processors with AVX2 and AVX-512, and plainly (which is NEON on 64-bit ARM);
 * see wide.h. The best that runs here is found once. No failures, no locks. */
#include "graph/support/math/wide.h"

/* One set of loops. Operands may be the result itself, so the compiler checks where they lie. */
#define LOOP(ISA, TARGET, NAME, OPERATOR)                                                          \
    TARGET static void ISA##_##NAME(const float *a, int64_t a_step, const float *b,                \
                                    int64_t b_step, float *out, int64_t n) {                       \
        if (a_step != 0 && b_step != 0) {                                                          \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = a[i] OPERATOR b[i];                                                       \
        } else if (a_step != 0) {                                                                  \
            const float y = *b;                                                                    \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = a[i] OPERATOR y;                                                          \
        } else {                                                                                   \
            const float x = *a;                                                                    \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = x OPERATOR b[i * b_step];                                                 \
        }                                                                                          \
    }

#define LOOPS(ISA, TARGET)                                                                         \
    LOOP(ISA, TARGET, add, +)                                                                      \
    LOOP(ISA, TARGET, subtract, -)                                                                 \
    LOOP(ISA, TARGET, multiply, *)                                                                 \
    LOOP(ISA, TARGET, divide, /)                                                                   \
    TARGET static void ISA##_cast_u8(const uint8_t *in, float *out, int64_t n) {                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (float)in[i];                                                                 \
    }                                                                                              \
    static const leati_wide ISA = {#ISA,                                                           \
                                   ISA##_runs,                                                     \
                                   {ISA##_add, ISA##_subtract, ISA##_multiply, ISA##_divide},      \
                                   ISA##_cast_u8}

static bool plain_runs(void) {
    return true;
}

LOOPS(plain, );

#if defined(__x86_64__)

static bool avx2_runs(void) {
    return __builtin_cpu_supports("avx2");
}

static bool avx512_runs(void) {
    return __builtin_cpu_supports("avx512f");
}

LOOPS(avx2, __attribute__((target("avx2"))));
LOOPS(avx512, __attribute__((target("avx512f"))));

static const leati_wide *const all[] = {&avx512, &avx2, &plain};

#else

static const leati_wide *const all[] = {&plain};

#endif

const leati_wide *leati_wide_at(int index) {
    int found = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->runs_here() && found++ == index)
            return all[i];
    return NULL;
}

static bool dense_or_shared(int64_t step, int64_t size) {
    return step == 0 || step == size;
}

bool leati_wide_run(leati_wide_op op, leati_lane *lane) {
    const int64_t size = sizeof(float);
    if (lane->out_step != size || !dense_or_shared(lane->in_step[0], size) ||
        !dense_or_shared(lane->in_step[1], size))
        return false;
    /* A step of 0 stays 0, a dense one becomes 1. */
    leati_wide_at(0)->loops[op]((const float *)(const void *)lane->in[0], lane->in_step[0] / size,
                                (const float *)(const void *)lane->in[1], lane->in_step[1] / size,
                                (float *)(void *)lane->out, lane->n);
    return true;
}

bool leati_wide_cast(leati_lane *lane) {
    if (lane->in_step[0] != 1 || lane->out_step != (int64_t)sizeof(float))
        return false;
    leati_wide_at(0)->cast_u8((const uint8_t *)lane->in[0], (float *)(void *)lane->out, lane->n);
    return true;
}
