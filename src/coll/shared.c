/* Collectives between processes of one host by shared memory (coll/processes.h).
 *
 * A segment has a head and rows of slots, a slot per rank and row. A call begins with a barrier, at
 * which calls are compared, and moves its values in pieces through the rows: a rank puts a piece
 * into its slot, combines its part of it when all have put theirs, and takes the parts that others
 * combined when all have done so. Each rank goes on with whatever can be done, up to a row's length
 * ahead of the slowest, so that one that the scheduler sets aside for a moment does not stop the
 * others. Rank r combines the r-th part, in rank order, from its own memory and the others' slots,
 * into its own memory and its own slot; nobody copies more than the others need. A piece that is
 * small is combined by every rank for itself. All ranks hold the same bits.
 *
 * Failures: a deadline, unequal calls and abort set the first reason in the head; the
 * present and later calls of all ranks return it. A process that dies is noticed by the store,
 * whose callback aborts. Waiting spins briefly and then sleeps on a futex. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "coll/calls.h"
#include "coll/failure.h"
#include "coll/processes.h"
#include "coll/reducer.h"
#include "coll/shared_segment.h"
#include "run/pool.h"
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SMALL_BYTES = 1 << 13, SPINS = 2000, SLICE_MS = 50 };

typedef struct shared_head {
    atomic_uint sleepers;
    char padding_a[60];
    atomic_uint changes; /* the futex: counts while somebody sleeps */
    char padding_b[60];
    atomic_uint failed; /* 1: somebody writes the reason; 2: it is there */
    int32_t code;
    char text[sizeof((leat_error *)NULL)->text];
    char padding_c[56];
    leati_rank_call calls[];
} shared_head;

typedef struct shared_collective {
    leati_collective base;
    leati_store *store;
    int rank, spins;
    uint64_t num_rows;
    size_t slot_bytes;
    int64_t timeout_ms;
    uint64_t calls, pieces; /* so far */
    const void **inputs;    /* scratch: an address per rank */
    shared_head *head;
    size_t head_bytes, size;
} shared_collective;

// ---- failure and barriers ----

static void wake_all(shared_collective *c) {
    atomic_fetch_add(&c->head->changes, 1);
    /* Not the private kind: the sleepers are other processes. */
    (void)syscall(SYS_futex, &c->head->changes, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* The first reason stays; the caller's own error is this one in any case. */
static leat_status fail_all(shared_collective *c, const leat_error *reason, leat_error *err) {
    unsigned none = 0;
    if (atomic_compare_exchange_strong(&c->head->failed, &none, 1)) {
        /* Written before 2 is stored: readers wait for it. */
        c->head->code = (int32_t)reason->code;
        snprintf(c->head->text, sizeof c->head->text, "%s", reason->text);
        atomic_store(&c->head->failed, 2);
    }
    wake_all(c);
    *err = *reason;
    return reason->code;
}

static leat_status failure(shared_collective *c, leat_error *err) {
    /* Whoever writes the reason needs a moment, or has died. */
    for (int i = 0; i < 1000 && atomic_load(&c->head->failed) == 1; i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return leati_failure_refuse_after(
        atomic_load(&c->head->failed) == 2 ? c->head->text : "another process ended it", err);
}

static leat_status report_late(shared_collective *c, leati_call_stage stage, uint64_t count,
                               leat_error *err) {
    char missing[128] = "rank ";
    leat_error reason = {0};
    leati_calls_missing_ranks(c->head->calls, c->base.num_ranks, stage, count,
                              missing + strlen(missing), sizeof missing - strlen(missing));
    leati_failure_late(c->store, c->rank, c->timeout_ms,
                       leati_call_kind_name(leati_call_present(&c->head->calls[c->rank])->kind),
                       missing, &reason);
    return fail_all(c, &reason, err);
}

/* This rank has reached `count` of a stage; whoever sleeps looks again. */
static void reach(shared_collective *c, leati_call_stage stage, uint64_t count) {
    atomic_store(&c->head->calls[c->rank].reached[stage], count);
    /* No system call where everybody is awake. A sleeper counts itself before it looks a last time,
     * so it sees the count above or is seen here. */
    if (atomic_load(&c->head->sleepers) > 0)
        wake_all(c);
}

static bool all_reached(const shared_collective *c, leati_call_stage stage, uint64_t count) {
    for (int r = 0; r < c->base.num_ranks; r++)
        if (atomic_load(&c->head->calls[r].reached[stage]) < count)
            return false;
    return true;
}

/* One sleep, if there still is a reason to; ends when somebody reaches something. */
static void sleep_until(shared_collective *c, leati_call_stage stage, uint64_t count) {
    /* Short, so that the deadline and a failure are noticed even if the one who should wake has
     * died. */
    struct timespec slice = {.tv_nsec = SLICE_MS * 1000000L};
    atomic_fetch_add(&c->head->sleepers, 1);
    /* Read before looking: if somebody reaches something in between, the futex does not sleep. */
    unsigned seen = atomic_load(&c->head->changes);
    if (!all_reached(c, stage, count) && atomic_load(&c->head->failed) == 0)
        (void)syscall(SYS_futex, &c->head->changes, FUTEX_WAIT, seen, &slice, NULL, 0);
    atomic_fetch_sub(&c->head->sleepers, 1);
}

/* Waits until all ranks have reached `count` of a stage. */
static leat_status await(shared_collective *c, leati_call_stage stage, uint64_t count,
                         leat_error *err) {
    for (int i = 0, spins = leati_coll_spins(c->spins); i < spins; i++) {
        if (all_reached(c, stage, count))
            return LEAT_OK;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    /* Only here: most waits end while spinning and never ask for the time. */
    int64_t deadline = leati_clock_deadline_ns(c->timeout_ms);
    while (!all_reached(c, stage, count)) {
        if (atomic_load(&c->head->failed) != 0)
            return failure(c, err);
        if (leati_now_ns() >= deadline)
            return report_late(c, stage, count, err);
        sleep_until(c, stage, count);
    }
    return LEAT_OK;
}

// ---- pieces ----

/* A call under way: `in` and `out` in this process's memory, in pieces of `most` values. */
typedef struct transfer {
    leati_collective_call call;
    leati_combination how;
    const char *in;
    char *out;
    int64_t most, num_pieces;
    size_t item;
    uint64_t first; /* number of its first piece, which says the row */
} transfer;

typedef struct piece {
    int64_t count;
    size_t at;   /* its first byte in a block of values */
    bool small;  /* every rank combines all of it */
    char *slots; /* of rank 0 in its row */
    size_t slot_bytes;
} piece;

static piece piece_of(const shared_collective *c, const transfer *t, int64_t i) {
    int64_t begin = i * t->most, left = t->call.count - begin;
    /* Pieces are numbered over all calls, so the next call goes on in the next row without a
     * barrier. */
    size_t row = (size_t)((t->first + (uint64_t)i) % c->num_rows);
    piece p = {.count = LEATI_MIN(left, t->most),
               .at = (size_t)begin * t->item,
               .slots = (char *)c->head + c->head_bytes +
                        row * (size_t)c->base.num_ranks * c->slot_bytes,
               .slot_bytes = c->slot_bytes};
    p.small = (size_t)p.count * t->item <= SMALL_BYTES;
    return p;
}

static char *slot(piece p, int rank) {
    return p.slots + (size_t)rank * p.slot_bytes;
}

/* Into this rank's slot: what the others read of it. */
static void put_piece(shared_collective *c, const transfer *t, int64_t i) {
    piece p = piece_of(c, t, i);
    char *to = slot(p, c->rank);
    size_t bytes = (size_t)p.count * t->item, block = (size_t)t->call.count * t->item;
    leati_part own = {0};
    switch (t->call.kind) {
    case LEATI_CALL_ALL_REDUCE:
        /* Its own part nobody else reads; the result will lie there. */
        if (!p.small)
            own = leati_coll_part_of(p.count, c->base.num_ranks, c->rank);
        memcpy(to, t->in + p.at, (size_t)own.begin * t->item);
        memcpy(to + (size_t)own.end * t->item, t->in + p.at + (size_t)own.end * t->item,
               (size_t)(p.count - own.end) * t->item);
        return;
    case LEATI_CALL_REDUCE_SCATTER:
        for (int r = 0; r < c->base.num_ranks; r++)
            if (r != c->rank)
                memcpy(to + (size_t)r * bytes, t->in + (size_t)r * block + p.at, bytes);
        return;
    case LEATI_CALL_BROADCAST:
        if (c->rank == t->call.parameter)
            memcpy(to, t->in + p.at, bytes);
        return;
    default: memcpy(to, t->in + p.at, bytes); return;
    }
}

/* Combines `count` values that lie `from` bytes into every rank's slot, but for this rank's, which
 * it takes from its own memory. */
static void combine(shared_collective *c, const transfer *t, piece p, size_t from, const char *own,
                    void *const *outputs, int num_outputs, int64_t count) {
    for (int r = 0; r < c->base.num_ranks; r++)
        c->inputs[r] = r == c->rank ? own : slot(p, r) + from;
    leati_reducer_combine(t->how, c->inputs, c->base.num_ranks, 0, outputs, num_outputs, 0, count);
}

/* This rank's part of a large piece of a sum, for itself and for the others. */
static void work_on_piece(shared_collective *c, const transfer *t, int64_t i) {
    piece p = piece_of(c, t, i);
    leati_part part = leati_coll_part_of(p.count, c->base.num_ranks, c->rank);
    size_t from = (size_t)part.begin * t->item;
    void *outputs[2] = {t->out + p.at + from, slot(p, c->rank) + from};
    if (!p.small)
        combine(c, t, p, from, t->in + p.at + from, outputs, 2, part.end - part.begin);
}

/* Out of the slots: what this rank asked for. */
static void take_piece(shared_collective *c, const transfer *t, int64_t i) {
    piece p = piece_of(c, t, i);
    size_t bytes = (size_t)p.count * t->item, block = (size_t)t->call.count * t->item;
    void *to = t->out + p.at;
    switch (t->call.kind) {
    case LEATI_CALL_ALL_REDUCE:
        if (p.small) {
            combine(c, t, p, 0, t->in + p.at, &to, 1, p.count);
            return;
        }
        for (int r = 0; r < c->base.num_ranks; r++) {
            leati_part part = leati_coll_part_of(p.count, c->base.num_ranks, r);
            size_t from = (size_t)part.begin * t->item;
            if (r != c->rank) {
                memcpy((char *)to + from, slot(p, r) + from,
                       (size_t)(part.end - part.begin) * t->item);
            }
        }
        return;
    case LEATI_CALL_REDUCE_SCATTER:
        combine(c, t, p, (size_t)c->rank * bytes, t->in + (size_t)c->rank * block + p.at, &to, 1,
                p.count);
        return;
    case LEATI_CALL_ALL_GATHER:
        for (int r = 0; r < c->base.num_ranks; r++)
            memcpy((char *)to + (size_t)r * block, slot(p, r), bytes);
        return;
    default:
        if (c->rank != t->call.parameter)
            memcpy(to, slot(p, t->call.parameter), bytes);
        return;
    }
}

/* Do all ranks make the same call? Asked after the first barrier. */
static leat_status compare(shared_collective *c, leat_error *err) {
    leat_error reason = {0};
    leat_status status = leati_calls_compare(c->head->calls, c->base.num_ranks, c->rank, &reason);
    return status == LEAT_OK ? LEAT_OK : fail_all(c, &reason, err);
}

/* How the values go through the rows, and whether parts are combined for others. */
static bool plan(shared_collective *c, transfer *t) {
    t->item = leat_dtype_size((leat_dtype)t->call.dtype);
    t->how = (leati_combination){.dtype = (leat_dtype)t->call.dtype,
                                 .reduction = (leati_reduction)t->call.parameter};
    if (t->item > 0) {
        /* A slot takes the same piece of each rank's block. */
        size_t room = t->call.kind == LEATI_CALL_REDUCE_SCATTER
                          ? c->slot_bytes / (size_t)c->base.num_ranks
                          : c->slot_bytes;
        t->most = (int64_t)(room / t->item);
        t->num_pieces = (t->call.count + t->most - 1) / t->most;
    }
    t->first = c->pieces;
    /* The same on all ranks, which make the same calls; where they do not, the job ends. */
    c->pieces += (uint64_t)t->num_pieces;
    return t->call.kind == LEATI_CALL_ALL_REDUCE &&
           (t->num_pieces > 1 || (size_t)t->call.count * t->item > SMALL_BYTES);
}

/* All pieces of a call: whatever can be done next, what others wait for first. */
static leat_status move(shared_collective *c, const transfer *t, bool works, leat_error *err) {
    /* Pieces that this rank has put, combined (where it `works`) and taken: each goes this way. */
    int64_t n = t->num_pieces, puts = 0, works_done = 0, takes = 0;
    /* Without parts that ranks combine for others a piece can be taken as soon as all have put
     * it. */
    leati_call_stage before_take = works ? LEATI_STAGE_WORKED : LEATI_STAGE_PUT;
    leat_status status = LEAT_OK;
    while (takes < n && status == LEAT_OK) {
        /* Piece i lies in the row of the one `num_rows` before it, which all must have taken. */
        uint64_t put = t->first + (uint64_t)puts + 1;
        if (puts < n &&
            (put <= c->num_rows || all_reached(c, LEATI_STAGE_TAKEN, put - c->num_rows))) {
            put_piece(c, t, puts++);
            reach(c, LEATI_STAGE_PUT, put);
        } else if (works && works_done < n &&
                   all_reached(c, LEATI_STAGE_PUT, t->first + (uint64_t)works_done + 1)) {
            work_on_piece(c, t, works_done++);
            reach(c, LEATI_STAGE_WORKED, t->first + (uint64_t)works_done);
        } else if (all_reached(c, before_take, t->first + (uint64_t)takes + 1)) {
            take_piece(c, t, takes++);
            reach(c, LEATI_STAGE_TAKEN, t->first + (uint64_t)takes);
            /* Nothing can be done: wait for what the oldest piece under way lacks. */
        } else if (takes < (works ? works_done : puts)) {
            status = await(c, before_take, t->first + (uint64_t)takes + 1, err);
        } else if (works_done < puts && works) {
            status = await(c, LEATI_STAGE_PUT, t->first + (uint64_t)works_done + 1, err);
        } else {
            status = await(c, LEATI_STAGE_TAKEN, put - c->num_rows, err);
        }
    }
    return status;
}

static leat_status run_transfer(shared_collective *c, transfer *t, leat_error *err) {
    if (atomic_load(&c->head->failed) != 0)
        return failure(c, err); /* others may still look at the record of the call before */
    bool works = plan(c, t);
    leati_store_note(c->store, ++c->calls, LEATI_PHASE_COLLECTIVE);
    leati_call_record(&c->head->calls[c->rank], t->call);
    /* The record is written before this is stored, and others read it after they have seen it. */
    reach(c, LEATI_STAGE_MET, c->calls);
    leat_status status = await(c, LEATI_STAGE_MET, c->calls, err);
    if (status == LEAT_OK)
        status = compare(c, err);
    if (status == LEAT_OK)
        status = move(c, t, works, err);
    leati_store_note(c->store, c->calls, LEATI_PHASE_COMPUTE);
    return status;
}

// ---- calls ----

static leat_status shared_all_reduce(leati_collective *collective, int rank, void *data,
                                     int64_t count, leat_dtype dtype, leati_reduction reduction,
                                     leat_error *err) {
    (void)rank;
    leat_status status = leati_reducer_check(dtype, reduction, err);
    transfer t = {.call = {.count = count,
                           .kind = LEATI_CALL_ALL_REDUCE,
                           .dtype = (int32_t)dtype,
                           .parameter = (int32_t)reduction},
                  .in = data,
                  .out = data};
    return status == LEAT_OK ? run_transfer((shared_collective *)collective, &t, err) : status;
}

static leat_status shared_all_gather(leati_collective *collective, int rank, const void *data,
                                     int64_t count, leat_dtype dtype, void *out, leat_error *err) {
    (void)rank;
    transfer t = {.call = {.count = count, .kind = LEATI_CALL_ALL_GATHER, .dtype = (int32_t)dtype},
                  .in = data,
                  .out = out};
    return run_transfer((shared_collective *)collective, &t, err);
}

static leat_status shared_reduce_scatter(leati_collective *collective, int rank, const void *data,
                                         int64_t count, leat_dtype dtype, leati_reduction reduction,
                                         void *out, leat_error *err) {
    (void)rank;
    leat_status status = leati_reducer_check(dtype, reduction, err);
    transfer t = {.call = {.count = count,
                           .kind = LEATI_CALL_REDUCE_SCATTER,
                           .dtype = (int32_t)dtype,
                           .parameter = (int32_t)reduction},
                  .in = data,
                  .out = out};
    return status == LEAT_OK ? run_transfer((shared_collective *)collective, &t, err) : status;
}

static leat_status shared_broadcast(leati_collective *collective, int rank, int root, void *data,
                                    int64_t count, leat_dtype dtype, leat_error *err) {
    (void)rank;
    leat_status status = leati_reducer_check_root(root, collective->num_ranks, err);
    transfer t = {.call = {.count = count,
                           .kind = LEATI_CALL_BROADCAST,
                           .dtype = (int32_t)dtype,
                           .parameter = root},
                  .in = data,
                  .out = data};
    return status == LEAT_OK ? run_transfer((shared_collective *)collective, &t, err) : status;
}

static leat_status shared_barrier(leati_collective *collective, int rank, leat_error *err) {
    (void)rank;
    transfer t = {.call = {.kind = LEATI_CALL_BARRIER}};
    return run_transfer((shared_collective *)collective, &t, err);
}

static void shared_abort(leati_collective *collective, const leat_error *reason) {
    fail_all((shared_collective *)collective, reason, &(leat_error){0});
}

static void shared_close(leati_collective *collective) {
    shared_collective *c = (shared_collective *)collective;
    if (c->head != NULL)
        (void)munmap(c->head, c->size);
    leati_free(c->inputs);
    leati_free(c);
}

static const leati_collective_ops shared_ops = {
    .name = "shared memory",
    .all_reduce = shared_all_reduce,
    .all_gather = shared_all_gather,
    .reduce_scatter = shared_reduce_scatter,
    .broadcast = shared_broadcast,
    .barrier = shared_barrier,
    .abort = shared_abort,
    .close = shared_close,
};

// ---- life ----

leati_collective *leati_coll_shared_new(leati_store *store, int rank, int num_ranks,
                                        int64_t timeout_ms, leat_error *err) {
    shared_collective *c = leati_alloc_zero(1, sizeof *c);
    if (c == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_error local = {0};
    c->base = (leati_collective){.ops = &shared_ops, .num_ranks = num_ranks};
    c->store = store;
    c->rank = rank;
    c->timeout_ms = timeout_ms;
    /* With fewer cores than ranks a spinning one takes the core of the one that it waits for. */
    c->spins = leati_pool_num_cores() >= num_ranks ? SPINS : 0;
    leati_shared_segment_layout layout = leati_shared_segment_lay_out(
        num_ranks, sizeof(shared_head) + (size_t)num_ranks * sizeof(leati_rank_call),
        (size_t)sysconf(_SC_PAGESIZE));
    c->head_bytes = layout.head_bytes;
    c->slot_bytes = layout.slot_bytes;
    c->num_rows = layout.num_rows;
    c->size = layout.size;
    c->inputs = leati_alloc((size_t)num_ranks, sizeof *c->inputs);
    if (c->inputs == NULL)
        leati_no_memory(&local);
    else
        c->head = leati_shared_segment_open(store, rank, num_ranks, c->size, timeout_ms, &local);
    if (c->head == NULL) {
        shared_close(&c->base);
        *err = local;
        return NULL;
    }
    return &c->base;
}
