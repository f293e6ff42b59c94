/* Numbers of the Poisson and binomial distributions; see draw.h.
 *
 * Where few are expected, the waiting times between events are added up (Knuth; Devroye); else
 * uniform numbers are transformed and rejected (Hormann 1993: PTRS and BTRS). In double, with
 * TensorFlow's order of draws. No state, no failures. */
#include "core/pairs.h"

#include <math.h>

enum { FEW = 10 };

/* Blocks from one binomial number to the next where few are expected. */
enum { BLOCKS_OF_FEW = 42 };

static double lgamma_of(double x) {
    int sign = 0;
    return lgamma_r(x, &sign); /* lgamma writes a global */
}

/* ---- Poisson ---- */

static double poisson_few(leati_philox stream, double least) {
    leati_pairs uniforms = {.distribution = LEATI_UNIFORM};
    double product = 1;
    for (double count = 0;; count++) {
        product *= leati_pairs_next(&uniforms, &stream);
        if (product <= least)
            return count;
    }
}

static double poisson_many(leati_philox stream, double rate, double log_rate) {
    leati_pairs uniforms = {.distribution = LEATI_UNIFORM};
    /* The constants of Hormann's dominating distribution. */
    double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    for (;;) {
        double u = leati_pairs_next(&uniforms, &stream) - 0.5;
        double v = leati_pairs_next(&uniforms, &stream), shifted = 0.5 - fabs(u);
        double k = floor((2 * a / shifted + b) * u + rate + 0.43);
        /* Below this all is inside, so no logarithm is needed. */
        if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2))
            return k;
        if (k < 0 || (shifted < 0.013 && v > shifted))
            continue;
        double s = log(v * inverse_alpha / (a / (shifted * shifted) + b));
        if (s <= -rate + k * log_rate - lgamma_of(k + 1))
            return k;
    }
}

double leati_draw_one_poisson(leati_philox stream, double rate, leati_draw_rate *kept) {
    if (isnan(rate) || rate < 0)
        return NAN;
    if (isinf(rate))
        return INFINITY;
    if (rate != kept->rate || kept->least == 0)
        *kept = (leati_draw_rate){rate, rate < FEW ? exp(-rate) : 1, log(rate)};
    return rate < FEW ? poisson_few(stream, kept->least)
                      : poisson_many(stream, rate, kept->logarithm);
}

/* ---- binomial ---- */

static double binomial_few(leati_philox stream, double count, double share) {
    leati_pairs uniforms = {.distribution = LEATI_UNIFORM};
    double sum = 0, log_other = log1p(-share);
    for (double found = 0;; found++) {
        /* How many tries it takes until the next one. */
        sum += ceil(log(leati_pairs_next(&uniforms, &stream)) / log_other);
        if (sum > count)
            return found;
    }
}

/* What Stirling's formula for log(k!) leaves out. */
static double stirling_tail(double k) {
    static const double tails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                   0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                   0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                   0.00833056343336287};
    if (k <= 9)
        return tails[(int)k];
    double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

static double binomial_many(leati_philox stream, double count, double share) {
    leati_pairs uniforms = {.distribution = LEATI_UNIFORM};
    double deviation = sqrt(count * share * (1 - share));
    /* Hormann's constants. */
    double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * share;
    double c = count * share + 0.5, v_r = 0.92 - 4.2 / b, r = share / (1 - share);
    double alpha = (2.83 + 5.1 / b) * deviation, m = floor((count + 1) * share);
    for (;;) {
        double u = leati_pairs_next(&uniforms, &stream) - 0.5;
        double v = leati_pairs_next(&uniforms, &stream), shifted = 0.5 - fabs(u);
        double k = floor((2 * a / shifted + b) * u + c);
        if (shifted >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || k > count)
            continue;
        v = log(v * alpha / (a / (shifted * shifted) + b));
        double bound = (m + 0.5) * log((m + 1) / (r * (count - m + 1))) +
                       (count + 1) * log((count - m + 1) / (count - k + 1)) +
                       (k + 0.5) * log(r * (count - k + 1) / (k + 1)) + stirling_tail(m) +
                       stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k);
        if (v <= bound)
            return k;
    }
}

double leati_draw_one_binomial(leati_philox stream, uint64_t index, double count, double share) {
    if (isnan(count) || isnan(share))
        return NAN;
    if (count <= 0 || share <= 0)
        return 0;
    if (share >= 1)
        return count;
    double rarer = share <= 0.5 ? share : 1 - share;
    bool many = count * rarer >= FEW;
    leati_philox_skip(&stream, index * (many ? LEATI_BLOCKS_PER_VALUE : BLOCKS_OF_FEW));
    double found = many ? binomial_many(stream, count, rarer) : binomial_few(stream, count, rarer);
    return share <= 0.5 ? found : count - found;
}
