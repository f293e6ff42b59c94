/* Arrays of random numbers from a Philox stream, bit for bit those of TensorFlow's kernels on a
 * CPU. The stream is a value: what is drawn does not move the caller's. Thread-safe. */
#ifndef LEATI_CORE_DRAW_H
#define LEATI_CORE_DRAW_H

#include "base/random.h"
#include <leat/core.h>

typedef enum leati_distribution {
    LEATI_UNIFORM,         /* [0, 1) */
    LEATI_NORMAL,          /* mean 0, deviation 1 */
    LEATI_TRUNCATED_NORMAL /* the same without what lies two or more from 0 */
} leati_distribution;

/* Blocks of the stream that a call of `count` values reserves in TensorFlow. */
#define LEATI_BLOCKS_PER_VALUE 256

/* Fills `count` values of `dtype` (float16, bfloat16, float32 or float64) and stretches them: times
 * `scale`, plus `offset`, both rounded to the dtype, as is each step. */
void leati_draw(leati_distribution distribution, leat_dtype dtype, leati_philox stream,
                double scale, double offset, int64_t count, void *to);
/* The stream of what such a call makes of its value number `begin`, a multiple of 4, and those
 * behind, so that parts can be drawn apart. */
leati_philox leati_draw_part(leati_distribution distribution, leat_dtype dtype, leati_philox stream,
                             int64_t begin);
/* The number of `dtype` next to a value. */
double leati_draw_rounded(leat_dtype dtype, double value);
/* Integers of all bits: int32, uint32 (a word each), int64 or uint64 (two, the lower first). Where
 * `width` is not 0 they are `low` and the remainder of the bits by it. */
/* A part begins at block begin / 4 of a stream of words, begin / 2 of pairs. */
void leati_draw_integers(leat_dtype dtype, leati_philox stream, int64_t low, uint64_t width,
                         int64_t count, void *to);

/* Numbers of the gamma distribution with shape `alpha` > 0 and scale 1, as TensorFlow's
 * stateless_gamma of float32. */
void leati_draw_gamma(leati_philox stream, double alpha, int64_t count, float *to);
/* One such number, from the stream's place on. */
double leati_draw_one_gamma(leati_philox stream, double alpha);
/* What was computed of a rate, for the next number of the same; zero at first. */
typedef struct leati_draw_rate {
    double rate, least, logarithm;
} leati_draw_rate;
/* How often something happens that does so `rate` times on average (Poisson). */
double leati_draw_one_poisson(leati_philox stream, double rate, leati_draw_rate *kept);
/* How often something of probability `share` happens in `count` tries (binomial), as value `index`
 * of a stream, not from its place on: how far values lie apart depends on what is expected. NaN
 * where a parameter is NaN. */
double leati_draw_one_binomial(leati_philox stream, uint64_t index, double count, double share);

#endif
