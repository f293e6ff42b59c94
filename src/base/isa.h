/* Hot loops compiled for several instruction sets of one processor family, the best chosen where
 * they run.
 *
 * A loop is written once, as a function LOOP that is always inlined; LEATI_ISA(NAME, LOOP, TYPE)
 * makes NAME(TYPE argument) of it, which calls the version for the best set that runs here. Each
 * value must be computed by the same operations in all of them (-ffp-contract=off; fused
 * multiply-adds are written down), so results are the same bits. NEON is part of plain 64-bit ARM.
 */
#ifndef LEATI_BASE_ISA_H
#define LEATI_BASE_ISA_H

#include <stdatomic.h>

typedef enum leati_isa {
    LEATI_ISA_PLAIN = 0,
    LEATI_ISA_AVX2,   /* with fused multiply-adds and conversions of halves */
    LEATI_ISA_AVX512, /* F, BW, DQ, VL */
    LEATI_NUM_ISAS
} leati_isa;

extern atomic_int leati_isa_chosen; /* -1: not looked for yet */
leati_isa leati_isa_look(void);

/* The best that runs here and is allowed. */
static inline leati_isa leati_isa_here(void) {
    int chosen = atomic_load_explicit(&leati_isa_chosen, memory_order_relaxed);
    return chosen >= 0 ? (leati_isa)chosen : leati_isa_look();
}

/* For tests: nothing above this is used. Also by the environment, LEAT_ISA=plain|avx2|avx512. */
void leati_isa_allow(leati_isa most);

/* In front of a loop whose iterations read and write nothing of each other's, though its arrays may
 * be the same one. */
#if defined(__clang__)
#define LEATI_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LEATI_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define LEATI_ALWAYS_INLINE static inline __attribute__((always_inline))

/* Sanitizers' builds do not vectorise, so one version does. */
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(LEATI_DEBUG)
#define LEATI_FOR_AVX2 __attribute__((target("avx2,fma,f16c")))
#define LEATI_FOR_AVX512 __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#define LEATI_ISA(NAME, LOOP, TYPE)                                                                \
    LEATI_FOR_AVX512 static void NAME##_avx512(TYPE argument) {                                    \
        LOOP(argument);                                                                            \
    }                                                                                              \
    LEATI_FOR_AVX2 static void NAME##_avx2(TYPE argument) {                                        \
        LOOP(argument);                                                                            \
    }                                                                                              \
    static void NAME(TYPE argument) {                                                              \
        switch (leati_isa_here()) {                                                                \
        case LEATI_ISA_AVX512: NAME##_avx512(argument); break;                                     \
        case LEATI_ISA_AVX2: NAME##_avx2(argument); break;                                         \
        default: LOOP(argument);                                                                   \
        }                                                                                          \
    }
#else
#define LEATI_ISA(NAME, LOOP, TYPE) LEATI_ISA_PLAIN_ONLY(NAME, LOOP, TYPE)
#endif

/* The same in one version, for loops that few programs run. */
#define LEATI_ISA_PLAIN_ONLY(NAME, LOOP, TYPE)                                                     \
    static void NAME(TYPE argument) {                                                              \
        LOOP(argument);                                                                            \
    }

#endif
