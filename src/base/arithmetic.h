/* How a thread computes with denormal numbers: threads that work for another one take over its
 * mode, so that their bits are the same. Only where the processor has such a mode that is leat's
 * matter (x86); elsewhere nothing happens. */
#ifndef LEATI_BASE_ARITHMETIC_H
#define LEATI_BASE_ARITHMETIC_H

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/* The calling thread's mode. */
static inline unsigned int leati_arithmetic_mode(void) {
#ifdef __SSE2__
    return _mm_getcsr();
#else
    return 0;
#endif
}

/* Sets the calling thread's mode; returns the one before. */
static inline unsigned int leati_arithmetic_enter(unsigned int mode) {
    unsigned int before = leati_arithmetic_mode();
#ifdef __SSE2__
    _mm_setcsr(mode);
#else
    (void)mode;
#endif
    return before;
}

/* The mode in which denormal results and arguments are zero. */
static inline unsigned int leati_arithmetic_flushing(unsigned int mode) {
#ifdef __SSE2__
    return mode | 0x8040; /* flush to zero, denormals are zero */
#else
    return mode;
#endif
}

#endif
