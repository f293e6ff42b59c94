/* Collectives between processes by MPI (coll/processes.h), where MPI started the job.
 *
 * Values go through memory of the collective's own in pieces, because a call that failed stays in
 * MPI's hands and must not touch its caller's memory any more. MPI moves bytes alone: each rank
 * gets its part of all ranks' values, adds it in rank order, and an all-gather hands the sums out,
 * so that all hold the same bits, those of other collectives. Calls do not block inside MPI: they
 * are tested until they are done, the deadline has passed or somebody aborted.
 *
 * Failures: what MPI reports, a deadline and abort set the first reason; the present and later
 * calls return it, and MPI is not finalized then, so that the launcher ends the others. Locks:
 * those of the reason. Calls of all collectives come from one thread at a time. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "coll/calls.h"
#include "coll/failure.h"
#include "coll/processes.h"
#include "coll/reducer.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* TESTS come without a pause between them; who waits longer waits for a slow rank. */
enum { SCRATCH_BYTES = 4 << 20, TESTS = 2000, PAUSE_NS = 50000 };

typedef struct mpi_collective {
    leati_collective base;
    leati_store *store;
    int rank;
    int64_t timeout_ms;
    uint64_t calls;
    MPI_Comm comm;
    char *in, *out; /* SCRATCH_BYTES each, of one allocation at `in` */
    int *counts, *offsets, *own_counts, *own_offsets; /* of one allocation at `counts` */
    const void **parts;                               /* owned */
    leati_failure *failure;
} mpi_collective;

/* A call under way. */
typedef struct transfer {
    mpi_collective *c;
    leati_collective_kind kind;
    int64_t deadline_ns;
    leat_error *err;
} transfer;

static atomic_bool any_failed;
static pid_t initialized_by; /* 0: MPI was running already */

// ---- failure ----

static void fail(mpi_collective *c, const leat_error *reason) {
    atomic_store(&any_failed, true);
    leati_failure_set(c->failure, reason);
}

static leat_status report(const transfer *t, const leat_error *reason) {
    atomic_store(&any_failed, true);
    return leati_failure_report(t->c->failure, reason, t->err);
}

static leat_status report_late(const transfer *t) {
    leat_error reason = {0};
    leati_failure_late(t->c->store, t->c->rank, t->c->timeout_ms, leati_call_kind_name(t->kind),
                       "another process", &reason);
    return report(t, &reason);
}

static leat_status report_code(const transfer *t, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int size = 0;
    leat_error reason = {0};
    (void)MPI_Error_string(code, text, &size);
    leati_fail(&reason, LEAT_ABORTED, "%s between processes: MPI: %.200s",
               leati_call_kind_name(t->kind), text);
    return report(t, &reason);
}

/* Until a request is done that MPI has accepted by `code`. */
static leat_status finish(const transfer *t, int code, MPI_Request *request) {
    for (int64_t tests = 1; code == MPI_SUCCESS; tests++) {
        int done = 0;
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && done)
            return LEAT_OK;
        if (leati_failure_happened(t->c->failure))
            return leati_failure_refuse(t->c->failure, t->err);
        /* Asking the clock and sleeping cost more than a test, so a fast exchange does neither. */
        if (tests > TESTS) {
            if (leati_now_ns() >= t->deadline_ns)
                return report_late(t);
            (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        }
    }
    return report_code(t, code);
}

static leat_status begin(transfer *t, leat_error *err) {
    t->err = err;
    t->deadline_ns = leati_clock_deadline_ns(t->c->timeout_ms);
    if (leati_failure_happened(t->c->failure))
        return leati_failure_refuse(t->c->failure, err);
    /* For stall reports: whoever made the fewest calls holds the others up. */
    leati_store_note(t->c->store, ++t->c->calls, LEATI_PHASE_COLLECTIVE);
    return LEAT_OK;
}

static leat_status end(const transfer *t, leat_status status) {
    leati_store_note(t->c->store, t->c->calls, LEATI_PHASE_COMPUTE);
    return status;
}

// ---- calls ----

/* Every rank's `bytes` bytes that are this rank's, which lie one after the other in `out`, as one
 * buffer of `count` values at `to`: in rank order, which MPI's own sums need not keep. */
static void combine(const mpi_collective *c, leati_combination how, size_t bytes, int64_t count,
                    char *to) {
    for (int r = 0; r < c->base.num_ranks; r++)
        c->parts[r] = c->out + (size_t)r * bytes;
    void *outputs[] = {to};
    leati_reducer_combine(how, c->parts, c->base.num_ranks, 0, outputs, 1, 0, count);
}

/* A piece of a sum that lies in `in`; the result goes there too. */
static leat_status reduce_piece(const transfer *t, int64_t count, leati_combination how) {
    mpi_collective *c = t->c;
    MPI_Request request;
    int item = (int)leat_dtype_size(how.dtype), ranks = c->base.num_ranks;
    int64_t size = (count + ranks - 1) / ranks;
    for (int r = 0; r < ranks; r++) {
        /* MPI wants the counts of all ranks on every rank. */
        int64_t begin = LEATI_MIN(size * r, count), end = LEATI_MIN(begin + size, count);
        c->counts[r] = (int)(end - begin) * item;
        c->offsets[r] = (int)begin * item;
    }
    int own = c->counts[c->rank];
    for (int r = 0; r < ranks; r++) {
        c->own_counts[r] = own;
        c->own_offsets[r] = own * r;
    }
    int code = MPI_Ialltoallv(c->in, c->counts, c->offsets, MPI_BYTE, c->out, c->own_counts,
                              c->own_offsets, MPI_BYTE, c->comm, &request);
    /* `in` is written again by the second exchange, so the first must be over. */
    LEATI_TRY(finish(t, code, &request));
    combine(c, how, (size_t)own, own / item, c->out);
    code = MPI_Iallgatherv(c->out, own, MPI_BYTE, c->in, c->counts, c->offsets, MPI_BYTE, c->comm,
                           &request);
    return finish(t, code, &request);
}

static leat_status mpi_all_reduce(leati_collective *collective, int rank, void *data, int64_t count,
                                  leat_dtype dtype, leati_reduction reduction, leat_error *err) {
    (void)rank;
    transfer t = {.c = (mpi_collective *)collective, .kind = LEATI_CALL_ALL_REDUCE};
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status != LEAT_OK || (status = begin(&t, err)) != LEAT_OK)
        return status;
    size_t item = leat_dtype_size(dtype);
    /* Parts are rounded up, so all ranks' contributions to one may be a little more than a piece.
     */
    int64_t most = SCRATCH_BYTES / (int64_t)item - collective->num_ranks;
    for (int64_t at = 0; at < count && status == LEAT_OK; at += most) {
        int64_t n = LEATI_MIN(count - at, most);
        char *piece = (char *)data + (size_t)at * item;
        /* The caller's memory is never MPI's: after a deadline the request goes on without the
         * caller. */
        memcpy(t.c->in, piece, (size_t)n * item);
        status = reduce_piece(&t, n, (leati_combination){dtype, reduction});
        if (status == LEAT_OK)
            memcpy(piece, t.c->in, (size_t)n * item);
    }
    return end(&t, status);
}

static leat_status mpi_all_gather(leati_collective *collective, int rank, const void *data,
                                  int64_t count, leat_dtype dtype, void *out, leat_error *err) {
    (void)rank;
    transfer t = {.c = (mpi_collective *)collective, .kind = LEATI_CALL_ALL_GATHER};
    size_t bytes = (size_t)count * leat_dtype_size(dtype), ranks = (size_t)collective->num_ranks;
    /* `out` holds the piece of every rank. */
    size_t most = SCRATCH_BYTES / ranks;
    leat_status status = begin(&t, err);
    for (size_t at = 0; at < bytes && status == LEAT_OK; at += most) {
        size_t n = LEATI_MIN(bytes - at, most);
        MPI_Request request;
        memcpy(t.c->in, (const char *)data + at, n);
        int code = MPI_Iallgather(t.c->in, (int)n, MPI_BYTE, t.c->out, (int)n, MPI_BYTE, t.c->comm,
                                  &request);
        status = finish(&t, code, &request);
        /* MPI put pieces of n bytes side by side; in the result they are parts of blocks. */
        for (size_t r = 0; r < ranks && status == LEAT_OK; r++)
            memcpy((char *)out + r * bytes + at, t.c->out + r * n, n);
    }
    return end(&t, status);
}

static leat_status mpi_reduce_scatter(leati_collective *collective, int rank, const void *data,
                                      int64_t count, leat_dtype dtype, leati_reduction reduction,
                                      void *out, leat_error *err) {
    (void)rank;
    transfer t = {.c = (mpi_collective *)collective, .kind = LEATI_CALL_REDUCE_SCATTER};
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status != LEAT_OK || (status = begin(&t, err)) != LEAT_OK)
        return status;
    size_t item = leat_dtype_size(dtype), ranks = (size_t)collective->num_ranks;
    int64_t most = (int64_t)(SCRATCH_BYTES / ranks / item);
    for (int64_t at = 0; at < count && status == LEAT_OK; at += most) {
        int64_t n = LEATI_MIN(count - at, most);
        size_t bytes = (size_t)n * item;
        MPI_Request request;
        for (size_t r = 0; r < ranks; r++) {
            /* The same piece of every rank's block, side by side as MPI expects them. */
            memcpy(t.c->in + r * bytes,
                   (const char *)data + (r * (size_t)count + (size_t)at) * item, bytes);
        }
        int code = MPI_Ialltoall(t.c->in, (int)bytes, MPI_BYTE, t.c->out, (int)bytes, MPI_BYTE,
                                 t.c->comm, &request);
        status = finish(&t, code, &request);
        if (status == LEAT_OK) {
            combine(t.c, (leati_combination){dtype, reduction}, bytes, n,
                    (char *)out + (size_t)at * item);
        }
    }
    return end(&t, status);
}

static leat_status mpi_broadcast(leati_collective *collective, int rank, int root, void *data,
                                 int64_t count, leat_dtype dtype, leat_error *err) {
    transfer t = {.c = (mpi_collective *)collective, .kind = LEATI_CALL_BROADCAST};
    leat_status status = leati_reducer_check_root(root, collective->num_ranks, err);
    if (status != LEAT_OK || (status = begin(&t, err)) != LEAT_OK)
        return status;
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    for (size_t at = 0; at < bytes && status == LEAT_OK; at += SCRATCH_BYTES) {
        size_t n = LEATI_MIN(bytes - at, SCRATCH_BYTES);
        MPI_Request request;
        if (rank == root)
            memcpy(t.c->in, (const char *)data + at, n);
        int code = MPI_Ibcast(t.c->in, (int)n, MPI_BYTE, root, t.c->comm, &request);
        status = finish(&t, code, &request);
        if (status == LEAT_OK && rank != root)
            memcpy((char *)data + at, t.c->in, n);
    }
    return end(&t, status);
}

static leat_status mpi_barrier(leati_collective *collective, int rank, leat_error *err) {
    (void)rank;
    transfer t = {.c = (mpi_collective *)collective, .kind = LEATI_CALL_BARRIER};
    leat_status status = begin(&t, err);
    if (status == LEAT_OK) {
        MPI_Request request;
        status = finish(&t, MPI_Ibarrier(t.c->comm, &request), &request);
    }
    return end(&t, status);
}

static void mpi_abort(leati_collective *collective, const leat_error *reason) {
    fail((mpi_collective *)collective, reason);
}

/* After a failure MPI may still use the memory of the running call, so it stays. */
static void mpi_close(leati_collective *collective) {
    mpi_collective *c = (mpi_collective *)collective;
    bool failed = c->failure != NULL && leati_failure_happened(c->failure);
    /* Freeing a communicator is collective: after a failure the others may never come. */
    if (c->comm != MPI_COMM_NULL && !failed)
        (void)MPI_Comm_free(&c->comm);
    leati_failure_free(c->failure);
    if (!failed) {
        leati_free(c->in);
        leati_free(c->counts);
        leati_free(c->parts);
    }
    leati_free(c);
}

static const leati_collective_ops mpi_ops = {
    .name = "MPI",
    .all_reduce = mpi_all_reduce,
    .all_gather = mpi_all_gather,
    .reduce_scatter = mpi_reduce_scatter,
    .broadcast = mpi_broadcast,
    .barrier = mpi_barrier,
    .abort = mpi_abort,
    .close = mpi_close,
};

// ---- life ----

/* At the end of the process that started MPI, unless something failed: then the launcher is to
 * notice, and waiting for the others would be in vain. */
static void finalize(void) {
    int done = 0;
    /* A child that was forked has the handler, too, but not MPI. */
    if (initialized_by == getpid() && !atomic_load(&any_failed) &&
        MPI_Finalized(&done) == MPI_SUCCESS && !done)
        (void)MPI_Finalize();
}

static leat_status start_mpi(leat_error *err) {
    int running = 0, level = 0;
    if (MPI_Initialized(&running) != MPI_SUCCESS)
        return leati_fail(err, LEAT_UNAVAILABLE, "MPI does not say whether it runs");
    if (running) {
        /* The program started MPI itself, at a level that is only found out. */
        (void)MPI_Query_thread(&level);
    } else if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
        return leati_fail(err, LEAT_UNAVAILABLE,
                          "MPI does not start; is this process one of "
                          "mpirun's?");
    } else {
        initialized_by = getpid();
        (void)atexit(finalize);
    }
    return level >= MPI_THREAD_SERIALIZED
               ? LEAT_OK
               : leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "MPI allows calls from one thread alone (level %d); start it with "
                            "MPI_THREAD_SERIALIZED",
                            level);
}

/* All are ranks of one MPI job, with the numbers that the store has; and all are here. */
static leat_status check_ranks(mpi_collective *c, leat_error *err) {
    int rank = -1, size = 0;
    char mine[64], theirs[64];
    leati_store_values all;
    /* Compared through the store, which works whatever MPI thinks of the job. */
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(mine, sizeof mine, "%d of %d", rank, size);
    leat_status status =
        leati_store_barrier(c->store, "MPI", mine, strlen(mine), c->timeout_ms, &all, err);
    for (int r = 0; r < c->base.num_ranks && status == LEAT_OK; r++) {
        size_t found = all.offset[r + 1] - all.offset[r];
        snprintf(theirs, sizeof theirs, "%d of %d", r, c->base.num_ranks);
        if (found != strlen(theirs) || memcmp(all.bytes + all.offset[r], theirs, found) != 0) {
            status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                                "rank %d of %d processes is rank %.*s of MPI; let mpirun start all "
                                "processes, and take the cluster from its variables",
                                r, c->base.num_ranks, (int)found, all.bytes + all.offset[r]);
        }
    }
    leati_store_values_fini(&all);
    return status;
}

static leat_status open_mpi(mpi_collective *c, leat_error *err) {
    size_t ranks = (size_t)c->base.num_ranks;
    c->failure = leati_failure_new("MPI", err);
    if (c->failure == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    c->in = leati_alloc(2, SCRATCH_BYTES);
    c->counts = leati_alloc(ranks, 4 * sizeof *c->counts);
    c->parts = leati_alloc(ranks, sizeof *c->parts);
    if (c->in == NULL || c->counts == NULL || c->parts == NULL)
        return leati_no_memory(err);
    c->offsets = c->counts + ranks;
    c->own_counts = c->offsets + ranks;
    c->own_offsets = c->own_counts + ranks;
    c->out = c->in + SCRATCH_BYTES;
    leat_status status = start_mpi(err);
    if (status == LEAT_OK)
        status = check_ranks(c, err);
    if (status == LEAT_OK && (MPI_Comm_dup(MPI_COMM_WORLD, &c->comm) != MPI_SUCCESS ||
                              MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN) != MPI_SUCCESS))
        status = leati_fail(err, LEAT_UNAVAILABLE, "MPI gives no communicator");
    return status;
}

leati_collective *leati_coll_mpi_new(leati_store *store, int rank, int num_ranks,
                                     int64_t timeout_ms, leat_error *err) {
    if (leati_processes_check_clear(store, "MPI", err) != LEAT_OK)
        return NULL;
    mpi_collective *c = leati_alloc_zero(1, sizeof *c);
    if (c == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_error local = {0};
    c->base = (leati_collective){.ops = &mpi_ops, .num_ranks = num_ranks};
    c->store = store;
    c->rank = rank;
    c->timeout_ms = timeout_ms;
    c->comm = MPI_COMM_NULL;
    /* A record of its own, because closing follows and `err` may be NULL. */
    if (open_mpi(c, &local) != LEAT_OK) {
        mpi_close(&c->base);
        *err = local;
        return NULL;
    }
    return &c->base;
}
