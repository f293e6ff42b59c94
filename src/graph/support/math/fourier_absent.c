/* Fourier transforms where the build has no kissfft: those of powers of 2; others are refused. */
#include "graph/support/math/fourier.h"
#include "graph/support/math/fourier_two.h"

#include "base/alloc.h"

/* What a leati_fourier is here. */
typedef struct directed {
    leati_fourier_two *two;
    bool inverse;
} directed;

leati_fourier *leati_fourier_new(int64_t n, bool inverse, leat_error *err) {
    if (!leati_fourier_two_fits(n)) {
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "a Fourier transform of %lld numbers, no power of 2: this build of leat has no "
                   "kissfft; install libkissfft-dev and a C++ compiler, and build again",
                   (long long)n);
        return NULL;
    }
    directed *plan = leati_alloc(1, sizeof *plan + leati_fourier_two_size(n));
    if (plan == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    *plan = (directed){leati_fourier_two_init(plan + 1, n), inverse};
    return (leati_fourier *)(void *)plan;
}

bool leati_fourier_run(leati_fourier *plan, double *in, double *out) {
    const directed *of = (const directed *)(const void *)plan;
    const leati_fourier_ends ends = {in, out, 1, false, false, 1};
    return leati_fourier_two_run(of->two, &ends, in, of->inverse);
}

bool leati_fourier_between(leati_fourier *plan, const leati_fourier_ends *ends, bool beside,
                           double *room) {
    const directed *of = (const directed *)(const void *)plan;
    return beside ? leati_fourier_two_beside(of->two, ends, of->inverse)
                  : leati_fourier_two_run(of->two, ends, room, of->inverse);
}

void leati_fourier_free(leati_fourier *plan) {
    leati_free(plan);
}
