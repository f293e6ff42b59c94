/* Fourier transforms of lines whose lengths are powers of two, in double. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_FOURIER_TWO_H
#define LEATI_GRAPH_SUPPORT_MATH_FOURIER_TWO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEATI_FOURIER_SHORT = 1 << 14, /* numbers of a line that is transformed at once */
    LEATI_FOURIER_BESIDE = 4
};

typedef struct leati_fourier_two leati_fourier_two;

/* Where the numbers of a line lie, as pairs, before and after. */
typedef struct leati_fourier_ends {
    const void *from;
    void *to;
    int64_t step;                /* numbers from one to the next, at both ends */
    bool from_single, to_single; /* pairs of floats; else of doubles */
    double scale;                /* what results are multiplied by */
} leati_fourier_ends;

static inline bool leati_fourier_two_fits(int64_t n) {
    return n > 0 && (n & (n - 1)) == 0;
}

/* How many bytes a plan has for lines of n complex numbers, n a power of two; and a plan in such
 * memory, aligned to 8, which whoever gave it frees. A plan is of one thread. */
size_t leati_fourier_two_size(int64_t n);
leati_fourier_two *leati_fourier_two_init(void *memory, int64_t n);
/* out[k], numbers that begin at ends->to, is the sum over j of in[j] e^(-2 pi i jk / n), or of
 * e^(+2 pi i jk / n) where `inverse`, times ends->scale. The ends may be one and the same. `room`
 * is n pairs that are written over where n is above LEATI_FOURIER_SHORT; the end that is read may
 * be it. What a long line takes is shared by the crew, whose caller is heard meanwhile
 * (base/stop.h). False: there was no memory. */
bool leati_fourier_two_run(leati_fourier_two *plan, const leati_fourier_ends *ends, double *room,
                           bool inverse);
/* The same of LEATI_FOURIER_BESIDE lines, each of which begins one number behind the other; n is at
 * most LEATI_FOURIER_SHORT. */
bool leati_fourier_two_beside(const leati_fourier_two *plan, const leati_fourier_ends *ends,
                              bool inverse);

#endif
