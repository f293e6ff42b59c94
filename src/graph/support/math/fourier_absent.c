/* Fourier transforms where the build has no kissfft: each is refused. */
#include "graph/support/math/fourier.h"

leati_fourier *leati_fourier_new(int64_t n, bool inverse, leat_error *err) {
    (void)inverse;
    leati_fail(err, LEAT_UNIMPLEMENTED,
               "a Fourier transform of %lld numbers: this build of leat has no kissfft; install "
               "libkissfft-dev and a C++ compiler, and build again",
               (long long)n);
    return NULL;
}

void leati_fourier_run(leati_fourier *plan, const double *in, double *out) {
    (void)plan, (void)in, (void)out;
}

void leati_fourier_free(leati_fourier *plan) {
    (void)plan;
}
