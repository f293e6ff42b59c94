/* The discrete Fourier transform of one line of complex numbers, in double whatever the dtype. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_FOURIER_H
#define LEATI_GRAPH_SUPPORT_MATH_FOURIER_H

#include "base/error.h"
#include "graph/support/math/fourier_two.h"

typedef struct leati_fourier leati_fourier;

/* A plan for lines of n >= 1 numbers: out[k] is the sum over j of in[j] e^(-2 pi i jk / n), or of
 * e^(+2 pi i jk / n) where `inverse`; nothing is divided. Of one thread: a thread keeps the plans
 * that it used last, so that another call for them is quick. Owned; NULL with the error set without
 * memory, and UNIMPLEMENTED where the build has no kissfft. */
leati_fourier *leati_fourier_new(int64_t n, bool inverse, leat_error *err);
/* `in` and `out` are n pairs of doubles each, and do not overlap; `in` is left with other numbers.
 * False: there was no memory. */
bool leati_fourier_run(leati_fourier *plan, double *in, double *out);
/* The same between ends of any kind, of a plan whose n is a power of two; `beside`: of several
 * lines (fourier_two.h). `room` is n pairs of doubles, which are written over. */
bool leati_fourier_between(leati_fourier *plan, const leati_fourier_ends *ends, bool beside,
                           double *room);
void leati_fourier_free(leati_fourier *plan);

#endif
