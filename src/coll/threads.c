/* In-process collectives over shared memory.
 *
 * Happy path of a large all_reduce: every rank publishes its buffer and meets the others at a
 * barrier; then rank r combines the r-th part of all buffers, in rank order, and writes the result
 * into every buffer, which moves what a ring would; a second barrier ends the call. What is small
 * is done for all ranks by the last one to arrive, before it lets them go: a tree of depth one and
 * one barrier. Each value is computed once and by a fixed order of additions, so all ranks hold the
 * same bits and every run gives the same. Ranks spin briefly at a barrier, because replicas run on
 * cores of their own, and then sleep at a gate with the deadline.
 *
 * Failures: a deadline, unequal calls (another operation, count or dtype) and abort set the first
 * reason; every rank's present and later calls return it, but a call that all have begun ends well
 * on all of them: nobody goes on alone with sums that the others do not have. Locks: the gate where
 * ranks sleep and that of the reason, both leaves. */
#include "coll/threads.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "coll/calls.h"
#include "coll/failure.h"
#include "coll/reducer.h"
#include "run/pool.h"
#include "run/queue.h"
#include <sched.h>
#include <string.h>

enum { SPINS = 4000, SMALL_BYTES = 1 << 15, RANK_BITS = 16 };

typedef struct threads_collective {
    leati_collective base;
    int64_t timeout_ns;
    int spins;
    leati_gate *gate;
    leati_failure *failure;
    leati_rank_call *calls; /* one per rank */
    /* Of the running call, one per rank; written before it arrives at the first barrier. */
    void **data, **out;
    char padding_a[64];
    _Atomic uint64_t arrived; /* ranks at the present barrier, with its generation above them */
    atomic_int sleepers;
    char padding_b[64];
    _Atomic uint64_t generation; /* barriers passed */
} threads_collective;

static void wake_all(threads_collective *c) {
    /* The gate is taken although nothing is written: who has looked and not yet gone to sleep holds
     * it. */
    leati_queue_gate_lock(c->gate);
    leati_queue_gate_wake(c->gate);
    leati_queue_gate_unlock(c->gate);
}

/* Sets the first reason and wakes who sleeps. */
static leat_status fail_all(threads_collective *c, const leat_error *reason, leat_error *err) {
    leat_status status = leati_failure_report(c->failure, reason, err);
    wake_all(c);
    return status;
}

static leat_status report_missing(threads_collective *c, int rank, uint64_t generation,
                                  leat_error *err) {
    char missing[128];
    leati_calls_missing_ranks(c->calls, c->base.num_ranks, LEATI_STAGE_MET, generation + 1, missing,
                              sizeof missing);
    return leati_fail(err, LEAT_DEADLINE_EXCEEDED,
                      "rank %d waited %lld ms in %s for rank %s; every replica must make the same "
                      "calls in the same order",
                      rank, (long long)(c->timeout_ns / 1000000),
                      leati_call_kind_name(leati_call_present(&c->calls[rank])->kind), missing);
}

/* `arrived` before anybody is there. The generation is part of it, so that who gives up at one
 * barrier takes nobody away from the next. */
static uint64_t nobody_at(uint64_t generation) {
    return generation << RANK_BITS;
}

/* Takes a rank's arrival back, once it gives up. False: all have arrived, so the call is complete
 * for everybody, and the last one is about to say so or has done so. */
static bool withdraw(threads_collective *c, uint64_t generation) {
    uint64_t arrived = atomic_load(&c->arrived);
    uint64_t all = nobody_at(generation) + (uint64_t)c->base.num_ranks;
    while (arrived >> RANK_BITS == nobody_at(generation) >> RANK_BITS && arrived != all)
        if (atomic_compare_exchange_weak(&c->arrived, &arrived, arrived - 1))
            return true;
    return false;
}

/* Sleeps until the barrier is passed or, where there is a deadline, a failure comes. False: the
 * deadline came before both. */
static bool sleep_at(threads_collective *c, uint64_t generation, int64_t until) {
    leat_status status = LEAT_OK;
    leat_error ignored = {0};
    leati_queue_gate_lock(c->gate);
    /* Before looking: the last rank to arrive counts up the generation and then asks for
     * sleepers. */
    atomic_fetch_add(&c->sleepers, 1);
    while (atomic_load(&c->generation) == generation && status == LEAT_OK &&
           (until == LEATI_NO_DEADLINE || !leati_failure_happened(c->failure)))
        status = leati_queue_gate_wait(c->gate, LEATI_WAIT_PEER, until, NULL, &ignored);
    atomic_fetch_sub(&c->sleepers, 1);
    leati_queue_gate_unlock(c->gate);
    return status == LEAT_OK;
}

/* The rank has waited at the barrier until that was passed, a failure or the deadline came. */
static leat_status leave_barrier(threads_collective *c, int rank, uint64_t generation, bool in_time,
                                 leat_error *err) {
    /* Passed while the deadline or a failure came: this call is complete, the next one fails. */
    if (atomic_load(&c->generation) != generation)
        return LEAT_OK;
    /* Else one that has looked for failures, and arrives only now, would be the only one to pass.
     */
    if (!withdraw(c, generation)) {
        while (atomic_load(&c->generation) == generation)
            (void)sched_yield();
        return LEAT_OK;
    }
    if (!in_time && !leati_failure_happened(c->failure)) {
        leat_error reason = {0};
        report_missing(c, rank, generation, &reason);
        return fail_all(c, &reason, err);
    }
    return leati_failure_refuse(c->failure, err);
}

// ---- what a call does ----

/* Rank's share of the running call, once all have published. */
static void act(const threads_collective *c, int rank) {
    const leati_collective_call *call = leati_call_present(&c->calls[rank]);
    const void *const *data = (const void *const *)c->data;
    int ranks = c->base.num_ranks;
    size_t item = leat_dtype_size((leat_dtype)call->dtype), bytes = (size_t)call->count * item;
    leati_combination how = {.dtype = (leat_dtype)call->dtype,
                             .reduction = (leati_reduction)call->parameter};
    switch (call->kind) {
    case LEATI_CALL_ALL_REDUCE: {
        leati_part part = leati_coll_part_of(call->count, ranks, rank);
        size_t at = (size_t)part.begin * item;
        leati_reducer_combine(how, data, ranks, at, c->data, ranks, at, part.end - part.begin);
        return;
    }
    case LEATI_CALL_REDUCE_SCATTER:
        leati_reducer_combine(how, data, ranks, (size_t)rank * bytes, &c->out[rank], 1, 0,
                              call->count);
        return;
    case LEATI_CALL_ALL_GATHER:
        for (int r = 0; r < ranks && bytes > 0; r++)
            memmove((char *)c->out[rank] + (size_t)r * bytes, c->data[r], bytes);
        return;
    case LEATI_CALL_BROADCAST:
        if (rank != call->parameter && bytes > 0)
            memcpy(c->data[rank], c->data[call->parameter], bytes);
        return;
    default: return;
    }
}

/* The last rank to arrive does small calls for all, if they are equal; they look for themselves. */
static void act_for_all(const threads_collective *c, int rank) {
    /* Unequal calls have buffers of other sizes, which must not be touched. */
    if (leati_calls_compare(c->calls, c->base.num_ranks, rank, &(leat_error){0}) == LEAT_OK)
        for (int r = 0; r < c->base.num_ranks; r++)
            act(c, r);
}

/* Arrives at barrier `generation`. False: others are still to come. */
static bool arrive(threads_collective *c, int rank, uint64_t generation, bool small) {
    uint64_t all = nobody_at(generation) + (uint64_t)c->base.num_ranks;
    if (atomic_fetch_add(&c->arrived, 1) + 1 != all)
        return false;
    if (small)
        act_for_all(c, rank);
    /* Before the generation: whoever sees the new one may arrive at the next barrier at once. */
    atomic_store(&c->arrived, nobody_at(generation + 1));
    atomic_store(&c->generation, generation + 1);
    if (atomic_load(&c->sleepers) > 0)
        wake_all(c);
    return true;
}

/* Spins for a while. True: all have arrived. Who is not patient ends it when a failure comes. */
static bool spin_at(const threads_collective *c, uint64_t generation, bool patient) {
    for (int i = 0, spins = leati_coll_spins(c->spins); i < spins; i++) {
        if (atomic_load_explicit(&c->generation, memory_order_acquire) != generation)
            return true;
        if (!patient && leati_failure_happened(c->failure))
            return false;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return false;
}

/* Meets all ranks that make the same call, unless the collective fails before all are there. */
static leat_status meet(threads_collective *c, int rank, bool small, leat_error *err) {
    if (leati_failure_happened(c->failure))
        return leati_failure_refuse(c->failure, err);
    uint64_t generation = atomic_load(&c->generation);
    atomic_store(&c->calls[rank].reached[LEATI_STAGE_MET], generation + 1);
    if (arrive(c, rank, generation, small) || spin_at(c, generation, false))
        return LEAT_OK;
    bool in_time = sleep_at(c, generation, leati_now_ns() + c->timeout_ns);
    return leave_barrier(c, rank, generation, in_time, err);
}

/* Meets all ranks once each has done its part: nobody may change or free its buffer while others
 * use it. Nothing ends that before its time, as all of them are computing. */
static void part(threads_collective *c, int rank) {
    uint64_t generation = atomic_load(&c->generation);
    if (!arrive(c, rank, generation, false) && !spin_at(c, generation, true))
        (void)sleep_at(c, generation, LEATI_NO_DEADLINE);
}

/* One call of a rank: `data` is what it brings, `out` where the result goes if not there. */
static leat_status run_call(threads_collective *c, int rank, leati_collective_call call, void *data,
                            void *out, leat_error *err) {
    size_t bytes = (size_t)call.count * leat_dtype_size((leat_dtype)call.dtype);
    /* So little that a second barrier costs more than doing all of it on one core. */
    bool small = bytes * (size_t)c->base.num_ranks <= SMALL_BYTES;
    if (leati_failure_happened(c->failure)) {
        return leati_failure_refuse(
            c->failure, err); /* others may still look at the record of the call before */
    }
    leati_call_record(&c->calls[rank], call);
    c->data[rank] = data;
    c->out[rank] = out;
    leat_error unequal = {0};
    leat_status status = meet(c, rank, small, err);
    if (status != LEAT_OK)
        return status;
    status = leati_calls_compare(c->calls, c->base.num_ranks, rank, &unequal);
    if (status != LEAT_OK)
        return fail_all(c, &unequal, err);
    if (small)
        return LEAT_OK;
    act(c, rank);
    part(c, rank);
    return LEAT_OK;
}

// ---- calls ----

static leat_status threads_all_reduce(leati_collective *collective, int rank, void *data,
                                      int64_t count, leat_dtype dtype, leati_reduction reduction,
                                      leat_error *err) {
    leat_status status = leati_reducer_check(dtype, reduction, err);
    leati_collective_call call = {.count = count,
                                  .kind = LEATI_CALL_ALL_REDUCE,
                                  .dtype = (int32_t)dtype,
                                  .parameter = (int32_t)reduction};
    return status == LEAT_OK
               ? run_call((threads_collective *)collective, rank, call, data, NULL, err)
               : status;
}

static leat_status threads_all_gather(leati_collective *collective, int rank, const void *data,
                                      int64_t count, leat_dtype dtype, void *out, leat_error *err) {
    leati_collective_call call = {
        .count = count, .kind = LEATI_CALL_ALL_GATHER, .dtype = (int32_t)dtype};
    return run_call((threads_collective *)collective, rank, call, (void *)data, out, err);
}

static leat_status threads_reduce_scatter(leati_collective *collective, int rank, const void *data,
                                          int64_t count, leat_dtype dtype,
                                          leati_reduction reduction, void *out, leat_error *err) {
    leat_status status = leati_reducer_check(dtype, reduction, err);
    leati_collective_call call = {.count = count,
                                  .kind = LEATI_CALL_REDUCE_SCATTER,
                                  .dtype = (int32_t)dtype,
                                  .parameter = (int32_t)reduction};
    return status == LEAT_OK
               ? run_call((threads_collective *)collective, rank, call, (void *)data, out, err)
               : status;
}

static leat_status threads_broadcast(leati_collective *collective, int rank, int root, void *data,
                                     int64_t count, leat_dtype dtype, leat_error *err) {
    leat_status status = leati_reducer_check_root(root, collective->num_ranks, err);
    leati_collective_call call = {
        .count = count, .kind = LEATI_CALL_BROADCAST, .dtype = (int32_t)dtype, .parameter = root};
    return status == LEAT_OK
               ? run_call((threads_collective *)collective, rank, call, data, NULL, err)
               : status;
}

static leat_status threads_barrier(leati_collective *collective, int rank, leat_error *err) {
    return run_call((threads_collective *)collective, rank,
                    (leati_collective_call){.kind = LEATI_CALL_BARRIER}, NULL, NULL, err);
}

static void threads_abort(leati_collective *collective, const leat_error *reason) {
    fail_all((threads_collective *)collective, reason, &(leat_error){0});
}

static void threads_close(leati_collective *collective) {
    threads_collective *c = (threads_collective *)collective;
    leati_queue_gate_free(c->gate);
    leati_failure_free(c->failure);
    leati_free(c->calls);
    leati_free(c->data);
    leati_free(c->out);
    leati_free(c);
}

static const leati_collective_ops threads_ops = {
    .name = "threads",
    .all_reduce = threads_all_reduce,
    .all_gather = threads_all_gather,
    .reduce_scatter = threads_reduce_scatter,
    .broadcast = threads_broadcast,
    .barrier = threads_barrier,
    .abort = threads_abort,
    .close = threads_close,
};

leati_collective *leati_threads_collective_new(int num_ranks, int64_t timeout_ms, leat_error *err) {
    if (num_ranks < 1 || num_ranks >= 1 << RANK_BITS || timeout_ms < 1) {
        leati_refuse(
            err, VALUE,
            "a collective of %d ranks with a timeout of %lld ms; both must be positive, and "
            "ranks fewer than %d",
            num_ranks, (long long)timeout_ms, 1 << RANK_BITS);
        return NULL;
    }
    threads_collective *c = leati_alloc_zero(1, sizeof(*c));
    if (c == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    c->base.ops = &threads_ops;
    c->base.num_ranks = num_ranks;
    c->timeout_ns = timeout_ms * 1000000;
    c->spins = leati_pool_num_cores() >= num_ranks ? SPINS : 0;
    c->gate = leati_queue_gate_new("collective \"threads\"", NULL, err);
    c->failure = c->gate == NULL ? NULL : leati_failure_new("threads", err);
    size_t ranks = (size_t)num_ranks;
    /* Ranks spin on each other's words: none shares a cache line with another's. */
    c->calls = leati_alloc_aligned(ranks * sizeof(*c->calls), 64);
    c->data = leati_alloc_zero(ranks, sizeof(*c->data));
    c->out = leati_alloc_zero(ranks, sizeof(*c->out));
    if (c->calls != NULL)
        memset(c->calls, 0, ranks * sizeof(*c->calls));
    if (c->failure == NULL || c->calls == NULL || c->data == NULL || c->out == NULL) {
        if (c->failure != NULL)
            leati_no_memory(err);
        threads_close(&c->base);
        return NULL;
    }
    return &c->base;
}
