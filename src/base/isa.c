/* Which instruction set hot loops use: asked once, kept in an atomic. No failures, no locks. */
#include "base/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

atomic_int leati_isa_chosen = -1;

#if defined(__x86_64__)
static bool has_f16c(void) {
    unsigned a, b, c, d; /* clang's __builtin_cpu_supports does not know it */
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static leati_isa best_here(void) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c())
        return LEATI_ISA_PLAIN;
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wide ? LEATI_ISA_AVX512 : LEATI_ISA_AVX2;
#else
    return LEATI_ISA_PLAIN;
#endif
}

static leati_isa allowed_by_environment(void) {
    static const char *const names[LEATI_NUM_ISAS] = {"plain", "avx2", "avx512"};
    const char *wanted = getenv("LEAT_ISA");
    for (int isa = 0; wanted != NULL && isa < LEATI_NUM_ISAS; isa++)
        if (strcmp(wanted, names[isa]) == 0)
            return (leati_isa)isa;
    return LEATI_ISA_AVX512;
}

void leati_isa_allow(leati_isa most) {
    leati_isa best = best_here();
    atomic_store(&leati_isa_chosen, (int)(best < most ? best : most));
}

leati_isa leati_isa_look(void) {
    leati_isa_allow(allowed_by_environment());
    return (leati_isa)atomic_load(&leati_isa_chosen);
}
