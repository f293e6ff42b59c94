/* Fourier transforms of lines whose lengths are powers of two, in double. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_FOURIER_TWO_H
#define LEATI_GRAPH_SUPPORT_MATH_FOURIER_TWO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct leati_fourier_two leati_fourier_two;

static inline bool leati_fourier_two_fits(int64_t n) {
    return n > 0 && (n & (n - 1)) == 0;
}

/* How many bytes a plan has for lines of n complex numbers, n a power of two; and a plan in such
 * memory, aligned to 8, which whoever gave it frees. A plan is of one thread. */
size_t leati_fourier_two_size(int64_t n);
leati_fourier_two *leati_fourier_two_init(void *memory, int64_t n);
/* out[k] is the sum over j of in[j] e^(-2 pi i jk / n), or of e^(+2 pi i jk / n) where `inverse`.
 * Both are n pairs of doubles and do not overlap; `in` is left with other numbers. What a long line
 * takes is shared by the crew, whose caller is heard meanwhile (base/stop.h). False: there was no
 * memory. */
bool leati_fourier_two_run(leati_fourier_two *plan, double *in, double *out, bool inverse);

#endif
