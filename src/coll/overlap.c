/* Sums beside computing (coll/overlap.h).
 *
 * Happy path: a rank's `start` queues a sum and returns; the rank's thread takes sums from the
 * queue in order and does them with the inner collective, so that no rank has two calls at a time;
 * `wait` sleeps until the thread has come as far. An all_reduce goes behind what is queued; every
 * other call waits for the queue first. Where nothing is queued they run on the caller's thread:
 * all ranks make the same calls in the same order, whichever thread makes them, and a sum has the
 * caller's rules for tiny numbers on either.
 *
 * Failures: a sum that fails ends the rank's queue; what was queued behind it is not done, and
 * `start`, `wait` and all other calls return the reason, until closed. abort reaches the inner
 * collective, which ends the running sum. Locks: one gate per rank, a leaf; none is held during a
 * sum. */
#include "coll/overlap.h"
#include "base/alloc.h"
#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/error.h"
#include "coll/calls.h"
#include "coll/reducer.h"
#include "run/driver.h"
#include "run/queue.h"
#include "run/trace.h"
#include <stdio.h>

typedef struct sum {
    void *data;
    int64_t count;
    leat_dtype dtype;
    leati_reduction reduction;
    unsigned int mode; /* of the caller's arithmetic: do denormal numbers count as zero? */
} sum;

/* One rank's queue; its fields belong to the gate. */
typedef struct lane {
    leati_collective *inner;
    int rank;
    leati_gate *gate;
    leati_driver *driver;
    sum *sums; /* a ring of `capacity` */
    size_t capacity;
    uint64_t begun, done; /* sums so far */
    bool stop, failed;
    leat_error reason;
} lane;

typedef struct overlap {
    leati_collective base;
    leati_collective *inner;
    int first_rank, num_lanes;
    lane *lanes;
} overlap;

static lane *lane_of(leati_collective *collective, int rank) {
    overlap *o = (overlap *)collective;
    return &o->lanes[rank - o->first_rank];
}

/* With the gate held, after a failure: what the failed sum said, with its own code. It is the
 * result of a call, which the caller learns late, and no refusal of the collective's
 * (coll/failure): a caller that begins another sum first learns it there, else it would never be
 * told. */
static leat_status late_result(const lane *l, leat_error *err) {
    *err = l->reason;
    return l->reason.code;
}

// ---- the thread ----

static leat_status do_sum(const lane *l, const sum *s, leat_error *err) {
    leati_span span = leati_trace_begin();
    /* Sums of denormal numbers must not depend on which thread adds them. */
    (void)leati_arithmetic_enter(s->mode);
    leat_status status = l->inner->ops->all_reduce(l->inner, l->rank, s->data, s->count, s->dtype,
                                                   s->reduction, err);
    if (span.start_ns != 0) {
        char name[48];
        snprintf(name, sizeof name, "all_reduce of %lld bytes",
                 (long long)s->count * (long long)leat_dtype_size(s->dtype));
        leati_trace_end(span, "reduce", name);
    }
    return status;
}

static void lane_main(void *context) {
    lane *l = context;
    /* This thread runs beside the computing ones and would take their cores. */
    leati_coll_never_spin();
    leati_queue_gate_lock(l->gate);
    while (!l->stop) {
        /* After a failure the thread only waits to be stopped. */
        if (l->failed || l->begun == l->done) {
            (void)(leati_queue_gate_wait(l->gate, LEATI_WAIT_INPUT, LEATI_NO_DEADLINE, NULL,
                                         &(leat_error){0}) == LEAT_OK);
            continue;
        }
        /* A copy: the ring may grow while the sum is done. */
        sum next = l->sums[l->done % l->capacity];
        leati_queue_gate_unlock(l->gate);
        leat_error err = {0};
        leat_status status = do_sum(l, &next, &err);
        leati_queue_gate_lock(l->gate);
        if (status == LEAT_OK) {
            /* Counted when it is done: until then `wait` and make_room take the place as used. */
            l->done++;
        } else {
            l->failed = true;
            l->reason = err;
        }
        leati_queue_gate_wake(l->gate);
    }
    leati_queue_gate_unlock(l->gate);
}

/* With the gate held: room for one more sum. The ring's order survives growing. */
static bool make_room(lane *l) {
    size_t used = (size_t)(l->begun - l->done);
    if (used < l->capacity)
        return true;
    size_t capacity = l->capacity == 0 ? 16 : l->capacity * 2;
    sum *sums = leati_alloc(capacity, sizeof *sums);
    if (sums == NULL)
        return false;
    /* Tickets count for ever, so each sum keeps its number and only its place changes. */
    for (uint64_t i = l->done; i < l->begun; i++)
        sums[i % capacity] = l->sums[i % l->capacity];
    leati_free(l->sums);
    l->sums = sums;
    l->capacity = capacity;
    return true;
}

/* With the gate held. */
static leat_status queue_sum(lane *l, sum next, uint64_t *ticket, leat_error *err) {
    if (l->failed)
        return late_result(l, err);
    if (!make_room(l))
        return leati_no_memory(err);
    next.mode = leati_arithmetic_mode();
    l->sums[l->begun % l->capacity] = next;
    *ticket = ++l->begun;
    leati_queue_gate_wake(l->gate);
    return LEAT_OK;
}

static leat_status overlap_start(leati_collective *collective, int rank, void *data, int64_t count,
                                 leat_dtype dtype, leati_reduction reduction, uint64_t *ticket,
                                 leat_error *err) {
    lane *l = lane_of(collective, rank);
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status != LEAT_OK)
        return status;
    const sum next = {.data = data, .count = count, .dtype = dtype, .reduction = reduction};
    leati_queue_gate_lock(l->gate);
    status = queue_sum(l, next, ticket, err);
    leati_queue_gate_unlock(l->gate);
    return status;
}

/* Until `ticket` sums are done; the inner collective's deadlines end what does not. */
static leat_status await(lane *l, uint64_t ticket, leat_error *err) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(l->gate);
    /* Read under the gate: all that was begun up to now, not what others may begin later. */
    ticket = ticket == LEATI_EVERY_SUM ? l->begun : ticket;
    while (l->done < ticket && !l->failed && status == LEAT_OK)
        status = leati_queue_gate_wait(l->gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL, err);
    /* A sum before the one that failed is there all the same. */
    if (l->done < ticket && l->failed)
        status = late_result(l, err);
    leati_queue_gate_unlock(l->gate);
    return status;
}

static leat_status overlap_wait(leati_collective *collective, int rank, uint64_t ticket,
                                leat_error *err) {
    return await(lane_of(collective, rank), ticket, err);
}

/* Before a call of another kind: all that the rank began is done. */
static leat_status drain(leati_collective *collective, int rank, leat_error *err) {
    return await(lane_of(collective, rank), LEATI_EVERY_SUM, err);
}

// ---- calls ----

static leati_collective *inner_of(leati_collective *collective) {
    return ((overlap *)collective)->inner;
}

/* Behind a sum that is under way the thread goes on at once, where the caller would have to wake
 * first. */
static leat_status overlap_all_reduce(leati_collective *collective, int rank, void *data,
                                      int64_t count, leat_dtype dtype, leati_reduction reduction,
                                      leat_error *err) {
    leati_collective *inner = inner_of(collective);
    lane *l = lane_of(collective, rank);
    const sum next = {.data = data, .count = count, .dtype = dtype, .reduction = reduction};
    leat_status status = leati_reducer_check(dtype, reduction, err);
    uint64_t ticket = 0;
    if (status != LEAT_OK)
        return status;
    leati_queue_gate_lock(l->gate);
    /* A sum that failed is never done, so a lane that failed is not idle. */
    bool idle = l->begun == l->done;
    if (!idle)
        status = queue_sum(l, next, &ticket, err);
    leati_queue_gate_unlock(l->gate);
    if (idle)
        return inner->ops->all_reduce(inner, rank, data, count, dtype, reduction, err);
    return status == LEAT_OK ? await(l, ticket, err) : status;
}

static leat_status overlap_all_gather(leati_collective *collective, int rank, const void *data,
                                      int64_t count, leat_dtype dtype, void *out, leat_error *err) {
    leati_collective *inner = inner_of(collective);
    LEATI_TRY(drain(collective, rank, err));
    return inner->ops->all_gather(inner, rank, data, count, dtype, out, err);
}

static leat_status overlap_reduce_scatter(leati_collective *collective, int rank, const void *data,
                                          int64_t count, leat_dtype dtype,
                                          leati_reduction reduction, void *out, leat_error *err) {
    leati_collective *inner = inner_of(collective);
    LEATI_TRY(drain(collective, rank, err));
    return inner->ops->reduce_scatter(inner, rank, data, count, dtype, reduction, out, err);
}

static leat_status overlap_broadcast(leati_collective *collective, int rank, int root, void *data,
                                     int64_t count, leat_dtype dtype, leat_error *err) {
    leati_collective *inner = inner_of(collective);
    LEATI_TRY(drain(collective, rank, err));
    return inner->ops->broadcast(inner, rank, root, data, count, dtype, err);
}

static leat_status overlap_barrier(leati_collective *collective, int rank, leat_error *err) {
    leati_collective *inner = inner_of(collective);
    leat_status status = drain(collective, rank, err);
    return status == LEAT_OK ? inner->ops->barrier(inner, rank, err) : status;
}

static void overlap_abort(leati_collective *collective, const leat_error *reason) {
    leati_collective *inner = inner_of(collective);
    inner->ops->abort(inner, reason);
}

/* What is queued and not begun is dropped; what runs ends by itself or by its deadline. */
static void overlap_close(leati_collective *collective) {
    overlap *o = (overlap *)collective;
    for (int i = 0; o->lanes != NULL && i < o->num_lanes; i++) {
        lane *l = &o->lanes[i];
        if (l->driver != NULL) {
            leati_queue_gate_lock(l->gate);
            l->stop = true;
            leati_queue_gate_wake(l->gate);
            leati_queue_gate_unlock(l->gate);
            /* Before the inner collective is closed, in which the thread may be. */
            leati_driver_join(l->driver);
        }
        leati_queue_gate_free(l->gate);
        leati_free(l->sums);
    }
    o->inner->ops->close(o->inner);
    leati_free(o->lanes);
    leati_free(o);
}

static const leati_collective_ops overlap_ops = {
    .name = "overlap",
    .all_reduce = overlap_all_reduce,
    .all_gather = overlap_all_gather,
    .reduce_scatter = overlap_reduce_scatter,
    .broadcast = overlap_broadcast,
    .barrier = overlap_barrier,
    .start = overlap_start,
    .wait = overlap_wait,
    .abort = overlap_abort,
    .close = overlap_close,
};

leati_collective *leati_overlap_new(leati_collective *inner, int first_rank, int num_local,
                                    leat_error *err) {
    overlap *o = leati_alloc_zero(1, sizeof *o);
    if (o == NULL) {
        inner->ops->close(inner);
        leati_no_memory(err);
        return NULL;
    }
    o->base = (leati_collective){.ops = &overlap_ops, .num_ranks = inner->num_ranks};
    o->inner = inner;
    o->first_rank = first_rank;
    o->num_lanes = num_local;
    o->lanes = leati_alloc_zero((size_t)num_local, sizeof *o->lanes);
    bool good = o->lanes != NULL;
    if (!good)
        leati_no_memory(err);
    for (int i = 0; good && i < num_local; i++) {
        lane *l = &o->lanes[i];
        l->inner = inner;
        l->rank = first_rank + i;
        l->gate = leati_queue_gate_new("sums beside computing", NULL, err);
        l->driver = l->gate == NULL ? NULL : leati_driver_start("leat sums", lane_main, l, err);
        good = l->driver != NULL;
    }
    if (!good) {
        overlap_close(&o->base);
        return NULL;
    }
    return &o->base;
}
