/* The loops of reductions over dense lines, for one kind of reduction and one dtype.
 *
 * Order is fixed by lengths alone, the same on every instruction set: a line is folded in runs of
 * 8 KiB of accumulators, whose lanes lie 128 bytes of accumulators side by side and are joined as a
 * tree; lines that are added to each other are added one after the other. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_REDUCE_LINES_H
#define LEATI_GRAPH_SUPPORT_MATH_REDUCE_LINES_H

#include "graph/support/math/reduce.h"

/* `blocks` times `count` lines of n values: lines begin `step` values apart, blocks `block_step`
 * values and, where their results are, `block_to` accumulators. */
typedef struct leati_reduce_lines {
    void *to; /* accumulators */
    const char *from;
    int64_t n, count, step;
    int64_t blocks, block_step, block_to;
} leati_reduce_lines;

typedef struct leati_reduce_loops {
    size_t size;                                   /* of an accumulator, in bytes */
    void (*start)(void *to, int64_t n);            /* what no values give */
    void (*fold)(const leati_reduce_lines *lines); /* line k of a block into accumulator k */
    void (*add)(const leati_reduce_lines *lines);  /* value i of its lines into accumulator i */
    void (*merge)(void *to, const void *from, int64_t n); /* accumulators into others */
    /* Stores n results; `among`: by what they are divided. */
    void (*finish)(char *to, const void *from, int64_t n, int64_t among);
} leati_reduce_loops;

/* NULL for dtypes that have no such reduction. */
const leati_reduce_loops *leati_reduce_loops_of(leati_reduce_kind kind, leat_dtype dtype);

#endif
