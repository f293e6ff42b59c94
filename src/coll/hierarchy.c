/* Collectives of processes with several ranks each: first inside the process, then between the
 * processes by its first rank, then inside again.
 *
 * Values between the two levels are sums in rank order of each process, so that every rank gets the
 * same bits and every run the same. Failures: what one level reports aborts the other, so that no
 * rank of this process waits; locks: those of the levels. */
#include "base/alloc.h"
#include "base/error.h"
#include "coll/processes.h"
#include "coll/reducer.h"
#include <string.h>

typedef struct hierarchy {
    leati_collective base;
    leati_collective *inner; /* NULL: one rank */
    leati_collective *outer;
    int process, num_inner;
} hierarchy;

/* This rank's number inside the process. */
static int local_rank(const hierarchy *h, int rank) {
    return rank - h->process * h->num_inner;
}

/* A failure between processes, told to the ranks of this one. */
static leat_status told(hierarchy *h, leat_status status, leat_error *err) {
    if (status != LEAT_OK && h->inner != NULL) {
        /* The caller may have given no record. */
        leat_error unknown = {.code = status, .text = "the exchange between processes failed"};
        h->inner->ops->abort(h->inner, err->code != LEAT_OK ? err : &unknown);
    }
    return status;
}

/* The first rank's value for all ranks of this process. */
static leat_status spread(hierarchy *h, int local, void *data, int64_t count, leat_dtype dtype,
                          leat_error *err) {
    return h->inner == NULL ? LEAT_OK
                            : h->inner->ops->broadcast(h->inner, local, 0, data, count, dtype, err);
}

static leat_status hierarchy_all_reduce(leati_collective *collective, int rank, void *data,
                                        int64_t count, leat_dtype dtype, leati_reduction reduction,
                                        leat_error *err) {
    hierarchy *h = (hierarchy *)collective;
    int local = local_rank(h, rank);
    /* Means of means would round twice, so both levels add and the first rank divides once. */
    leati_reduction between = reduction == LEATI_REDUCTION_MAX ? reduction : LEATI_REDUCTION_SUM;
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status == LEAT_OK && h->inner != NULL)
        status = h->inner->ops->all_reduce(h->inner, local, data, count, dtype, between, err);
    if (status == LEAT_OK && local == 0) {
        status = told(
            h, h->outer->ops->all_reduce(h->outer, h->process, data, count, dtype, between, err),
            err);
        if (status == LEAT_OK && reduction == LEATI_REDUCTION_MEAN)
            leati_reducer_divide(data, count, dtype, h->base.num_ranks);
    }
    return status == LEAT_OK ? spread(h, local, data, count, dtype, err) : status;
}

static leat_status hierarchy_all_gather(leati_collective *collective, int rank, const void *data,
                                        int64_t count, leat_dtype dtype, void *out,
                                        leat_error *err) {
    hierarchy *h = (hierarchy *)collective;
    int local = local_rank(h, rank);
    int64_t own = count * h->num_inner;
    size_t bytes = (size_t)own * leat_dtype_size(dtype);
    /* The process gathers into its place of the result, so nothing is copied between the levels. */
    char *part = (char *)out + (size_t)h->process * bytes;
    leat_status status = LEAT_OK;
    if (h->inner == NULL)
        memcpy(part, data, bytes);
    else
        status = h->inner->ops->all_gather(h->inner, local, data, count, dtype, part, err);
    if (status == LEAT_OK && local == 0) {
        status = told(
            h, h->outer->ops->all_gather(h->outer, h->process, part, own, dtype, out, err), err);
    }
    int processes = h->base.num_ranks / h->num_inner;
    return status == LEAT_OK ? spread(h, local, out, own * processes, dtype, err) : status;
}

/* Inside the process all blocks are summed; between processes each gets those of its ranks. */
static leat_status hierarchy_reduce_scatter(leati_collective *collective, int rank,
                                            const void *data, int64_t count, leat_dtype dtype,
                                            leati_reduction reduction, void *out, leat_error *err) {
    hierarchy *h = (hierarchy *)collective;
    int local = local_rank(h, rank);
    /* As in all_reduce: sums on both levels, divided once. */
    leati_reduction between = reduction == LEATI_REDUCTION_MAX ? reduction : LEATI_REDUCTION_SUM;
    leat_status status = leati_reducer_check(dtype, reduction, err);
    size_t block = (size_t)count * leat_dtype_size(dtype);
    char *sums = status == LEAT_OK ? leati_alloc((size_t)h->base.num_ranks, block) : NULL;
    if (sums == NULL) {
        /* The others wait for this rank: the deadline ends that. */
        return status != LEAT_OK ? status : leati_no_memory(err);
    }
    /* A copy, since `data` stays as it is. */
    memcpy(sums, data, (size_t)h->base.num_ranks * block);
    if (h->inner != NULL) {
        status = h->inner->ops->all_reduce(h->inner, local, sums, count * h->base.num_ranks, dtype,
                                           between, err);
    }
    char *own = sums + (size_t)(h->process * h->num_inner) * block;
    if (status == LEAT_OK && local == 0) {
        status = told(h,
                      h->outer->ops->reduce_scatter(h->outer, h->process, sums,
                                                    count * h->num_inner, dtype, between, own, err),
                      err);
    }
    if (status == LEAT_OK)
        status = spread(h, local, own, count * h->num_inner, dtype, err);
    if (status == LEAT_OK) {
        memcpy(out, own + (size_t)local * block, block);
        if (reduction == LEATI_REDUCTION_MEAN)
            leati_reducer_divide(out, count, dtype, h->base.num_ranks);
    }
    leati_free(sums);
    return status;
}

static leat_status hierarchy_broadcast(leati_collective *collective, int rank, int root, void *data,
                                       int64_t count, leat_dtype dtype, leat_error *err) {
    hierarchy *h = (hierarchy *)collective;
    /* Ranks are numbered process by process. */
    int local = local_rank(h, rank), from = root / h->num_inner;
    leat_status status = leati_reducer_check_root(root, h->base.num_ranks, err);
    if (status != LEAT_OK)
        return status;
    if (h->inner != NULL && from == h->process) {
        status =
            h->inner->ops->broadcast(h->inner, local, root % h->num_inner, data, count, dtype, err);
    }
    if (status == LEAT_OK && local == 0) {
        status = told(
            h, h->outer->ops->broadcast(h->outer, h->process, from, data, count, dtype, err), err);
    }
    /* The ranks of the root's process had the value before the exchange. */
    if (from == h->process)
        return status;
    return status == LEAT_OK ? spread(h, local, data, count, dtype, err) : status;
}

static leat_status hierarchy_barrier(leati_collective *collective, int rank, leat_error *err) {
    hierarchy *h = (hierarchy *)collective;
    int local = local_rank(h, rank);
    /* Inside first: the process has come when all of its ranks have. Inside again: nobody goes on
     * before the others have come, too. */
    leat_status status = h->inner == NULL ? LEAT_OK : h->inner->ops->barrier(h->inner, local, err);
    if (status == LEAT_OK && local == 0)
        status = told(h, h->outer->ops->barrier(h->outer, h->process, err), err);
    return status != LEAT_OK || h->inner == NULL ? status
                                                 : h->inner->ops->barrier(h->inner, local, err);
}

static void hierarchy_abort(leati_collective *collective, const leat_error *reason) {
    hierarchy *h = (hierarchy *)collective;
    if (h->inner != NULL)
        h->inner->ops->abort(h->inner, reason);
    h->outer->ops->abort(h->outer, reason);
}

static void hierarchy_close(leati_collective *collective) {
    hierarchy *h = (hierarchy *)collective;
    if (h->inner != NULL)
        h->inner->ops->close(h->inner);
    h->outer->ops->close(h->outer);
    leati_free(h);
}

static const leati_collective_ops hierarchy_ops = {
    .name = "hierarchy",
    .all_reduce = hierarchy_all_reduce,
    .all_gather = hierarchy_all_gather,
    .reduce_scatter = hierarchy_reduce_scatter,
    .broadcast = hierarchy_broadcast,
    .barrier = hierarchy_barrier,
    .abort = hierarchy_abort,
    .close = hierarchy_close,
};

leati_collective *leati_coll_hierarchy_new(leati_collective *inner, leati_collective *outer,
                                           int process, leat_error *err) {
    hierarchy *h = leati_alloc_zero(1, sizeof *h);
    if (h == NULL) {
        /* Given, also on failure. */
        if (inner != NULL)
            inner->ops->close(inner);
        outer->ops->close(outer);
        leati_no_memory(err);
        return NULL;
    }
    h->inner = inner;
    h->outer = outer;
    h->process = process;
    h->num_inner = inner == NULL ? 1 : inner->num_ranks;
    h->base =
        (leati_collective){.ops = &hierarchy_ops, .num_ranks = h->num_inner * outer->num_ranks};
    return &h->base;
}
