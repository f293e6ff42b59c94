/* In-process collectives over shared memory.
 *
 * Happy path of all_reduce: every rank publishes its buffer and meets the others at a barrier; then
 * rank r combines the r-th part of all buffers, in rank order, and writes the result into every
 * buffer; a second barrier ends the call. Each value is computed once and by a fixed order of
 * additions, so all ranks hold the same bits and every run gives the same. Ranks spin briefly at a
 * barrier, because replicas run on cores of their own, and then sleep at a gate with the deadline.
 *
 * Failures: a deadline, unequal calls (another operation, count or dtype) and abort set the first
 * reason under the gate's lock; every rank's present and later calls return it. Locks: one gate, a
 * leaf. */
#include "coll/threads.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "coll/reducer.h"
#include "core/half.h"
#include "run/pool.h"
#include "run/queue.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SPINS = 4000 };

typedef enum call_kind {
    CALL_BARRIER = 0,
    CALL_ALL_REDUCE,
    CALL_ALL_GATHER,
    CALL_BROADCAST
} call_kind;

static const char *const call_names[] = {"barrier", "all_reduce", "all_gather", "broadcast"};

/* What a rank published for the running call; written before it arrives at the first barrier, read
 * between the barriers. */
typedef struct rank_call {
    call_kind kind;
    void *data;
    const void *source;
    int64_t count;
    leat_dtype dtype;
    int parameter;        /* the reduction or the root */
    atomic_uint arrivals; /* barriers that this rank has reached */
    char padding[64];     /* ranks do not share cache lines */
} rank_call;

typedef struct threads_collective {
    leati_collective base;
    int64_t timeout_ns;
    int spins;
    leati_gate *gate;
    atomic_int arrived;     /* at the present barrier */
    atomic_uint generation; /* barriers passed */
    atomic_int sleepers;
    atomic_bool failed;
    leat_error reason; /* gate's lock; written once before `failed` is set */
    rank_call *calls;
} threads_collective;

static leat_status failure(threads_collective *c, leat_error *err) {
    leati_gate_lock(c->gate);
    leat_error reason = c->reason;
    leati_gate_unlock(c->gate);
    return leati_fail(err, LEAT_ABORTED, "the collective has failed: %s", reason.text);
}

static void fail_all(threads_collective *c, const leat_error *reason) {
    leati_gate_lock(c->gate);
    if (!atomic_load(&c->failed)) {
        c->reason = *reason;
        atomic_store(&c->failed, true);
    }
    leati_gate_wake(c->gate);
    leati_gate_unlock(c->gate);
}

/* Names the ranks that have not reached barrier number `generation` + 1. */
static leat_status report_missing(threads_collective *c, int rank, unsigned generation,
                                  leat_error *err) {
    char missing[128] = "";
    size_t used = 0;
    for (int r = 0; r < c->base.num_ranks && used + 16 < sizeof(missing); r++) {
        if (atomic_load(&c->calls[r].arrivals) - generation - 1 > UINT32_MAX / 2) {
            used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%d",
                                     used > 0 ? ", " : "", r);
        }
    }
    return leati_fail(err, LEAT_DEADLINE_EXCEEDED,
                      "rank %d waited %lld ms in %s for rank %s; every replica must make the same "
                      "calls in the same order",
                      rank, (long long)(c->timeout_ns / 1000000), call_names[c->calls[rank].kind],
                      missing);
}

static leat_status sleep_at(threads_collective *c, int rank, unsigned generation, leat_error *err) {
    leat_status status = LEAT_OK;
    int64_t deadline = leati_now_ns() + c->timeout_ns;
    leat_error local = {0};
    leati_gate_lock(c->gate);
    atomic_fetch_add(&c->sleepers, 1);
    while (atomic_load(&c->generation) == generation && !atomic_load(&c->failed) &&
           status == LEAT_OK) {
        status = leati_gate_wait(c->gate, LEATI_WAIT_PEER, deadline, NULL, &local);
    }
    atomic_fetch_sub(&c->sleepers, 1);
    leati_gate_unlock(c->gate);
    if (atomic_load(&c->generation) != generation) {
        return LEAT_OK;
    }
    if (status != LEAT_OK && !atomic_load(&c->failed)) {
        leat_error reason = {0};
        status = report_missing(c, rank, generation, &reason);
        fail_all(c, &reason);
        if (err != NULL) {
            *err = reason;
        }
        return status;
    }
    return failure(c, err);
}

static leat_status meet(threads_collective *c, int rank, leat_error *err) {
    if (atomic_load(&c->failed)) {
        return failure(c, err);
    }
    unsigned generation = atomic_load(&c->generation);
    atomic_store(&c->calls[rank].arrivals, generation + 1);
    if (atomic_fetch_add(&c->arrived, 1) + 1 == c->base.num_ranks) {
        atomic_store(&c->arrived, 0);
        atomic_store(&c->generation, generation + 1);
        if (atomic_load(&c->sleepers) > 0) {
            leati_gate_lock(c->gate);
            leati_gate_wake(c->gate);
            leati_gate_unlock(c->gate);
        }
        return LEAT_OK;
    }
    for (int i = 0; i < c->spins; i++) {
        if (atomic_load_explicit(&c->generation, memory_order_acquire) != generation) {
            return LEAT_OK;
        }
        if (atomic_load_explicit(&c->failed, memory_order_relaxed)) {
            break;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return sleep_at(c, rank, generation, err);
}

/* ---- arithmetic ---- */

#define COMBINE(type)                                                                              \
    for (int64_t i = begin; i < end; i++) {                                                        \
        type value = ((const type *)c->calls[0].data)[i];                                          \
        for (int r = 1; r < ranks; r++) {                                                          \
            type other = ((const type *)c->calls[r].data)[i];                                      \
            value = reduction == LEATI_REDUCTION_MAX ? (other > value ? other : value)             \
                                                     : (type)(value + other);                      \
        }                                                                                          \
        if (reduction == LEATI_REDUCTION_MEAN) {                                                   \
            value = (type)(value / (type)ranks);                                                   \
        }                                                                                          \
        for (int r = 0; r < ranks; r++) {                                                          \
            ((type *)c->calls[r].data)[i] = value;                                                 \
        }                                                                                          \
    }                                                                                              \
    return

#define COMBINE_HALF(to_float, of_float)                                                           \
    for (int64_t i = begin; i < end; i++) {                                                        \
        float value = to_float(((const uint16_t *)c->calls[0].data)[i]);                           \
        for (int r = 1; r < ranks; r++) {                                                          \
            float other = to_float(((const uint16_t *)c->calls[r].data)[i]);                       \
            value = reduction == LEATI_REDUCTION_MAX ? (other > value ? other : value)             \
                                                     : value + other;                              \
        }                                                                                          \
        uint16_t result =                                                                          \
            of_float(reduction == LEATI_REDUCTION_MEAN ? value / (float)ranks : value);            \
        for (int r = 0; r < ranks; r++) {                                                          \
            ((uint16_t *)c->calls[r].data)[i] = result;                                            \
        }                                                                                          \
    }                                                                                              \
    return

/* The common case, float sums of two ranks, in a loop that vectorises. */
static void sum_of_two(float *restrict a, float *restrict b, int64_t begin, int64_t end,
                       float scale) {
    for (int64_t i = begin; i < end; i++) {
        float value = (a[i] + b[i]) * scale;
        a[i] = value;
        b[i] = value;
    }
}

/* Values [begin, end) of every rank's buffer become their combination. */
static void combine(threads_collective *c, int64_t begin, int64_t end, leat_dtype dtype,
                    leati_reduction reduction) {
    int ranks = c->base.num_ranks;
    switch (dtype) {
    case LEAT_FLOAT32:
        if (ranks == 2 && reduction != LEATI_REDUCTION_MAX) {
            sum_of_two(c->calls[0].data, c->calls[1].data, begin, end,
                       reduction == LEATI_REDUCTION_MEAN ? 0.5f : 1.0f);
            return;
        }
        COMBINE(float);
    case LEAT_FLOAT64: COMBINE(double);
    case LEAT_INT8: COMBINE(int8_t);
    case LEAT_INT16: COMBINE(int16_t);
    case LEAT_INT32: COMBINE(int32_t);
    case LEAT_INT64: COMBINE(int64_t);
    case LEAT_UINT8: COMBINE(uint8_t);
    case LEAT_UINT16: COMBINE(uint16_t);
    case LEAT_UINT32: COMBINE(uint32_t);
    case LEAT_UINT64: COMBINE(uint64_t);
    case LEAT_FLOAT16: COMBINE_HALF(leati_float_of_half, leati_half_of_float);
    case LEAT_BFLOAT16: COMBINE_HALF(leati_float_of_bfloat16, leati_bfloat16_of_float);
    default: return;
    }
}

/* ---- calls ---- */

static void publish(threads_collective *c, int rank, rank_call call) {
    rank_call *own = &c->calls[rank];
    own->kind = call.kind;
    own->data = call.data;
    own->source = call.source;
    own->count = call.count;
    own->dtype = call.dtype;
    own->parameter = call.parameter;
}

/* After the first barrier: do all ranks make the same call? Every rank finds the same answer. */
static leat_status check_equal(threads_collective *c, leat_error *err) {
    const rank_call *first = &c->calls[0];
    for (int r = 1; r < c->base.num_ranks; r++) {
        const rank_call *other = &c->calls[r];
        if (other->kind != first->kind || other->count != first->count ||
            other->dtype != first->dtype || other->parameter != first->parameter) {
            return leati_fail(err, LEAT_INTERNAL,
                              "rank %d called %s of %lld %s values, rank 0 %s of %lld %s values; "
                              "replicas must make the same "
                              "calls in the same order",
                              r, call_names[other->kind], (long long)other->count,
                              leat_dtype_name(other->dtype), call_names[first->kind],
                              (long long)first->count, leat_dtype_name(first->dtype));
        }
    }
    return LEAT_OK;
}

static leat_status begin_call(threads_collective *c, int rank, rank_call call, leat_error *err) {
    publish(c, rank, call);
    leat_status status = meet(c, rank, err);
    return status == LEAT_OK ? check_equal(c, err) : status;
}

static leat_status threads_all_reduce(leati_collective *collective, int rank, void *data,
                                      int64_t count, leat_dtype dtype, leati_reduction reduction,
                                      leat_error *err) {
    threads_collective *c = (threads_collective *)collective;
    leat_status status = leati_check_reduction(dtype, reduction, err);
    if (status != LEAT_OK) {
        return status;
    }
    rank_call call = {.kind = CALL_ALL_REDUCE,
                      .data = data,
                      .count = count,
                      .dtype = dtype,
                      .parameter = (int)reduction};
    status = begin_call(c, rank, call, err);
    if (status != LEAT_OK) {
        return status;
    }
    /* Parts end at multiples of 64 values, so that ranks write to cache lines of their own. */
    int64_t part = (count / c->base.num_ranks + 63) / 64 * 64;
    int64_t begin = part * rank < count ? part * rank : count;
    int64_t end = rank == c->base.num_ranks - 1 || begin + part > count ? count : begin + part;
    combine(c, begin, end, dtype, reduction);
    return meet(c, rank, err);
}

static leat_status threads_all_gather(leati_collective *collective, int rank, const void *data,
                                      int64_t count, leat_dtype dtype, void *out, leat_error *err) {
    threads_collective *c = (threads_collective *)collective;
    rank_call call = {.kind = CALL_ALL_GATHER, .source = data, .count = count, .dtype = dtype};
    leat_status status = begin_call(c, rank, call, err);
    if (status != LEAT_OK) {
        return status;
    }
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    for (int r = 0; r < c->base.num_ranks && bytes > 0; r++) {
        memcpy((char *)out + (size_t)r * bytes, c->calls[r].source, bytes);
    }
    return meet(c, rank, err);
}

static leat_status threads_broadcast(leati_collective *collective, int rank, int root, void *data,
                                     int64_t count, leat_dtype dtype, leat_error *err) {
    threads_collective *c = (threads_collective *)collective;
    leat_status status = leati_check_root(root, c->base.num_ranks, err);
    if (status != LEAT_OK) {
        return status;
    }
    rank_call call = {
        .kind = CALL_BROADCAST, .data = data, .count = count, .dtype = dtype, .parameter = root};
    status = begin_call(c, rank, call, err);
    if (status != LEAT_OK) {
        return status;
    }
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    if (rank != root && bytes > 0) {
        memcpy(data, c->calls[root].data, bytes);
    }
    return meet(c, rank, err);
}

static leat_status threads_barrier(leati_collective *collective, int rank, leat_error *err) {
    threads_collective *c = (threads_collective *)collective;
    leat_status status = begin_call(c, rank, (rank_call){.kind = CALL_BARRIER}, err);
    return status == LEAT_OK ? meet(c, rank, err) : status;
}

static void threads_abort(leati_collective *collective, const leat_error *reason) {
    fail_all((threads_collective *)collective, reason);
}

static void threads_close(leati_collective *collective) {
    threads_collective *c = (threads_collective *)collective;
    leati_gate_free(c->gate);
    leati_free(c->calls);
    leati_free(c);
}

static const leati_collective_ops threads_ops = {
    .name = "threads",
    .all_reduce = threads_all_reduce,
    .all_gather = threads_all_gather,
    .broadcast = threads_broadcast,
    .barrier = threads_barrier,
    .abort = threads_abort,
    .close = threads_close,
};

leati_collective *leati_threads_collective_new(int num_ranks, int64_t timeout_ms, leat_error *err) {
    if (num_ranks < 1 || timeout_ms < 1) {
        leati_fail(err, LEAT_INVALID_ARGUMENT,
                   "a collective of %d ranks with a timeout of %lld ms; both must be positive",
                   num_ranks, (long long)timeout_ms);
        return NULL;
    }
    threads_collective *c = leati_alloc_zero(1, sizeof(*c));
    if (c == NULL) {
        leati_no_memory(err, sizeof(*c));
        return NULL;
    }
    c->base.ops = &threads_ops;
    c->base.num_ranks = num_ranks;
    c->timeout_ns = timeout_ms * 1000000;
    c->spins = leati_num_cores() >= num_ranks ? SPINS : 0;
    c->gate = leati_gate_new("collective \"threads\"", NULL, err);
    c->calls = leati_alloc_zero((size_t)num_ranks, sizeof(*c->calls));
    if (c->gate == NULL || c->calls == NULL) {
        if (c->gate != NULL) {
            leati_no_memory(err, (size_t)num_ranks * sizeof(*c->calls));
        }
        threads_close(&c->base);
        return NULL;
    }
    return &c->base;
}
