/* Collectives behind one vtable: what replicas do together.
 *
 * Each rank calls the same functions in the same order, each from a thread of its own; a call
 * blocks until every rank has made it. Every wait has a deadline, which the implementation owns:
 * beyond it the call fails with DEADLINE_EXCEEDED naming the ranks that are missing. After a
 * failure or an abort every further call fails with ABORTED and the first reason. */
#ifndef LEATI_COLL_COLL_H
#define LEATI_COLL_COLL_H

#include <leat/core.h>

typedef struct leati_collective leati_collective;

/* How values combine. MEAN is SUM divided by the number of ranks; of integers it is refused. */
typedef enum leati_reduction {
    LEATI_REDUCTION_SUM = 0,
    LEATI_REDUCTION_MEAN,
    LEATI_REDUCTION_MAX
} leati_reduction;

/* The ticket of all sums that the rank has begun. */
#define LEATI_EVERY_SUM UINT64_MAX

typedef struct leati_collective_ops {
    const char *name; /* "threads" */
    /* `data` (count values of `dtype`) becomes the combination over all ranks: the same bits on
     * every rank, and the same from run to run. */
    leat_status (*all_reduce)(leati_collective *collective, int rank, void *data, int64_t count,
                              leat_dtype dtype, leati_reduction reduction, leat_error *err);
    /* `out` (num_ranks * count values) gets every rank's `data` in rank order. */
    leat_status (*all_gather)(leati_collective *collective, int rank, const void *data,
                              int64_t count, leat_dtype dtype, void *out, leat_error *err);
    /* `out` (count values) gets block `rank` of the combination of every rank's `data` (num_ranks *
     * count values, which stay). `out` may be that block of the rank's own data. */
    leat_status (*reduce_scatter)(leati_collective *collective, int rank, const void *data,
                                  int64_t count, leat_dtype dtype, leati_reduction reduction,
                                  void *out, leat_error *err);
    /* `data` becomes that of `root`. */
    leat_status (*broadcast)(leati_collective *collective, int rank, int root, void *data,
                             int64_t count, leat_dtype dtype, leat_error *err);
    /* Returns when every rank is here. */
    leat_status (*barrier)(leati_collective *collective, int rank, leat_error *err);
    /* Begins an all_reduce of `data` (borrowed until it was waited for) and returns; NULL where a
     * collective cannot (coll/overlap.h can for any). Sums that were begun are done in their order,
     * and before every later call of the rank: one order on all ranks. Fails at once only for bad
     * arguments, without memory and after a failure. */
    leat_status (*start)(leati_collective *collective, int rank, void *data, int64_t count,
                         leat_dtype dtype, leati_reduction reduction, uint64_t *ticket,
                         leat_error *err);
    /* Waits until the sum of this ticket, and all before it, are done; NULL with `start`. After a
     * failure nothing of the rank's is in progress when LEATI_EVERY_SUM has been waited for. */
    leat_status (*wait)(leati_collective *collective, int rank, uint64_t ticket, leat_error *err);
    /* Wakes all waiting ranks with `reason` (borrowed, copied). Never blocks; any thread may call
     * it. */
    void (*abort)(leati_collective *collective, const leat_error *reason);
    /* Releases it; no call may be in progress. */
    void (*close)(leati_collective *collective);
} leati_collective_ops;

/* The first member of every implementation. */
struct leati_collective {
    const leati_collective_ops *ops;
    int num_ranks;
};

#endif
