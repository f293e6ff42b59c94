/* Numbers of a gamma distribution; see draw.h.
 *
 * Transformation and rejection of a normal and a uniform number (Marsaglia and Tsang), in double,
 * with TensorFlow's order of draws: value i begins 256 i blocks behind the stream's place, normals
 * and uniforms take a block for two numbers each, and the second one is used first. Below 1 the
 * number of alpha + 1 is scaled by u^(1 / alpha). No state, no failures. */
#include "base/stop.h"
#include "core/pairs.h"

#include <math.h>

double leati_draw_one_gamma(leati_philox stream, double alpha) {
    leati_pairs normals = {.distribution = LEATI_NORMAL},
                uniforms = {.distribution = LEATI_UNIFORM};
    /* The exponential distribution: -log(1 - u), where u may be 0 but not 1. */
    if (alpha == 1)
        return -log1p(-leati_pairs_next(&uniforms, &stream));
    bool small = alpha < 1;
    /* Marsaglia and Tsang's d = alpha - 1/3, of alpha + 1 where alpha is below 1. */
    double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / sqrt(d);
    for (;;) {
        double x = leati_pairs_next(&normals, &stream), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        double u = leati_pairs_next(&uniforms, &stream), squared = x * x;
        /* The first test decides most cases without a logarithm. */
        if (u < 1 - 0.0331 * squared * squared || log(u) < 0.5 * squared + d * (1 - v + log(v)))
            return d * v * (small ? pow(leati_pairs_next(&uniforms, &stream), 1 / alpha) : 1);
    }
}

void leati_draw_gamma(leati_philox stream, double alpha, int64_t count, float *to) {
    int64_t done = 0;
    for (int64_t i = 0; i < count && !leati_stop_look_after(16, &done); i++) {
        to[i] = (float)leati_draw_one_gamma(stream, alpha);
        /* From where this value began, not from where its draws ended. */
        leati_philox_skip(&stream, LEATI_BLOCKS_PER_VALUE);
    }
}
