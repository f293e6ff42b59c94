/* Exponentials along lines, divided by their sum or taken the logarithm of.
 *
 * The maximum is subtracted first, so nothing overflows. Sums are made of runs of 128 values with
 * sixteen lanes, those of runs in double, 16 runs at a time: the same on every instruction set. A
 * NaN, an infinity that is the largest and a line of nothing but minus infinities make a line NaN.
 */
#ifndef LEATI_GRAPH_SUPPORT_NN_SOFTMAX_LINES_H
#define LEATI_GRAPH_SUPPORT_NN_SOFTMAX_LINES_H

#include "graph/support/support.h"

/* Some lines of n values, n > 0, one behind the other. `in` may be `out`. */
typedef struct leati_softmax_lines {
    leat_dtype dtype; /* float32 or float64 */
    bool log;         /* the logarithm of the quotient */
    const char *in;
    char *out;
    int64_t n, lines;
    double *tops, *sums; /* of each line: the maximum, and the sum of exp(value - maximum) */
} leati_softmax_lines;

/* How many lines one call may have: such that they fit a near cache. */
enum { LEATI_SOFTMAX_MOST = 2048 };
static inline int64_t leati_softmax_most(int64_t n) {
    return n < LEATI_SOFTMAX_MOST ? LEATI_SOFTMAX_MOST / n : 1;
}
/* Once asked to stop (base/stop.h) it leaves the rest out. */
void leati_softmax_run(const leati_softmax_lines *lines);
/* Nanoseconds for so many values, roughly, on one thread. */
double leati_softmax_ns(leat_dtype dtype, double values);

#endif
