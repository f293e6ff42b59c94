/* Strategies: life, replica threads, and what the collective of all replicas is made of.
 *
 * Replica 0 runs on the caller's thread, every other one on a thread of its own for its whole life,
 * because executors bind threads to cores. A job's number tells the threads that there is one; they
 * spin for it briefly, because waking a thread takes longer than a small step, then sleep at the
 * gate. If a replica fails, it aborts the collective at once, so that the others end too, and waits
 * until none of its sums is in progress; a new collective replaces the aborted one before the next
 * job. Under several workers it ends the job instead: the others cannot know how far this one came,
 * so all start again. Locks: the strategy's gate, never held while a job runs. */
#include "dist/strategy.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "coll/failure.h"
#include "coll/overlap.h"
#include "coll/processes.h"
#include "coll/threads.h"
#include "run/pool.h"
#include <stdio.h>
#include <string.h>

/* ---- replica threads ---- */

enum { SPINS = 20000, LONGER_INSIDE_MS = 5000 };

/* Waits until `*number` is no longer `old` or the strategy stops: spinning first, because a step is
 * often shorter than waking a thread, then asleep at the gate. */
static void await_change(leat_strategy *s, _Atomic uint64_t *number, uint64_t old,
                         leati_wait_reason reason) {
    for (int i = 0; i < s->spins; i++) {
        if (atomic_load_explicit(number, memory_order_acquire) != old)
            return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    leat_error ignored = {0};
    leati_queue_gate_lock(s->gate);
    while (atomic_load(number) == old && !atomic_load(&s->stop))
        if (leati_queue_gate_wait(s->gate, reason, LEATI_NO_DEADLINE, NULL, &ignored) != LEAT_OK)
            break;
    leati_queue_gate_unlock(s->gate);
}

static void wake_all(leat_strategy *s) {
    leati_queue_gate_lock(s->gate);
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
}

/* Ends what the replica and the others exchange, and what it has begun. */
static void end_exchanges(const leat_strategy *s, const leati_replica *replica) {
    leati_collective *c = s->collective;
    c->ops->abort(c, &replica->error);
    if (c->ops->wait != NULL)
        (void)(c->ops->wait(c, s->first_replica + replica->index, LEATI_EVERY_SUM,
                            &(leat_error){0}) == LEAT_OK);
}

static void cancel(void *strategy) {
    leat_strategy_cancel(strategy);
}

/* Looks at whether to stop are told of leat_strategy_cancel. */
static leati_stop_scope enter(leat_strategy *s) {
    return leati_stop_enter_team(&s->team, cancel, s);
}

static void run_job(leat_strategy *s, leati_replica *replica) {
    replica->error = (leat_error){0};
    replica->status = s->function(s->context, replica->index, &replica->error);
    if (replica->status == LEAT_OK || s->collective == NULL)
        return;
    /* A refusal is the echo of another failure, which the job knows already. */
    if (s->workers != NULL && !leati_failure_is_refusal(&replica->error)) {
        leat_error named = replica->error;
        leati_prefix(&named, "replica %d of %d", s->first_replica + replica->index,
                     s->num_replicas);
        leati_workers_fail(s->workers, &named);
    }
    end_exchanges(s, replica);
}

static void replica_main(void *context) {
    leati_replica *replica = context;
    leat_strategy *s = replica->strategy;
    for (;;) {
        /* Only this thread writes it, so it says up to which job this replica has come. */
        uint64_t finished = atomic_load(&replica->done);
        await_change(s, &s->job, finished, LEATI_WAIT_CONSUMER);
        if (atomic_load(&s->stop))
            return;
        uint64_t number = atomic_load(&s->job);
        if (number == finished)
            continue;
        leati_stop_scope before = enter(s);
        run_job(s, replica);
        leati_stop_leave(before);
        /* After status and error, which the caller reads when it sees the number. */
        atomic_store(&replica->done, number);
        wake_all(s);
    }
}

/* The failure that caused the others: the first by replica number that is not the echo of an abort.
 */
static leat_status first_failure(const leat_strategy *s, leat_error *err) {
    const leati_replica *first = NULL;
    for (int r = 0; r < s->num_local; r++) {
        const leati_replica *replica = &s->replicas[r];
        if (replica->status != LEAT_OK &&
            (first == NULL || (first->status == LEAT_ABORTED && replica->status != LEAT_ABORTED)))
            first = replica;
    }
    if (first == NULL)
        return LEAT_OK;
    leat_status status = first->status;
    *err = first->error;
    leati_prefix(err, "replica %d of %d", s->first_replica + first->index, s->num_replicas);
    return status;
}

/* The replicas of this process, then the processes. */
static leati_collective *join_levels(leat_strategy *s, leat_error *err) {
    leati_collective *inner = NULL;
    if (s->num_local > 1) {
        /* A wait between processes ends before the one inside, because it knows who is late. */
        int64_t longer = s->workers == NULL ? s->timeout_ms : s->timeout_ms + LONGER_INSIDE_MS;
        inner = leati_threads_collective_new(s->num_local, longer, err);
    }
    /* The process has one replica, or the inner level could not be made. */
    if (s->workers == NULL || (inner == NULL && s->num_local > 1))
        return inner;
    return leati_coll_hierarchy_new(inner, leati_workers_give(s->workers),
                                    leati_workers_number(s->workers), err);
}

/* All replicas, whose sums may run beside what they compute. */
static leati_collective *join_replicas(leat_strategy *s, leat_error *err) {
    leati_collective *all = join_levels(s, err);
    if (all != NULL)
        all = leati_overlap_new(all, s->first_replica, s->num_local, err);
    if (all != NULL && s->workers != NULL)
        leati_workers_watch(s->workers, all);
    return all;
}

static leat_status renew_collective(leat_strategy *s, leat_error *err) {
    /* A job of several workers that failed stays failed: no new collective brings it back. */
    if (s->num_replicas == 1 || (s->workers != NULL && s->collective != NULL))
        return LEAT_OK;
    leati_collective *collective = join_replicas(s, err);
    if (collective == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_queue_gate_lock(s->gate);
    leati_collective *old = s->collective;
    s->collective = collective;
    leati_queue_gate_unlock(s->gate);
    /* Without the gate: closing joins threads. Nobody else has the old one any more. */
    if (old != NULL)
        old->ops->close(old);
    return LEAT_OK;
}

/* The step's cores leave the pipeline's pool while it runs: two thread pools that fight for cores
 * are both slow. Returns the tokens to give back. */
static int reserve_cores(const leat_strategy *strategy, leati_pool *pool) {
    int threads = 0;
    for (int r = 0; r < strategy->num_local; r++)
        threads += strategy->devices[r]->num_threads;
    return leati_pool_tokens_reserve(pool, threads);
}

static leat_status begin_job(leat_strategy *s, leati_replica_function function, void *context,
                             leat_error *err) {
    if (atomic_exchange(&s->team.stopping, false) && renew_collective(s, err) != LEAT_OK)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_strategy_note(s, LEATI_PHASE_COMPUTE);
    s->function = function;
    s->context = context;
    return LEAT_OK;
}

/* Replica 0 has ended on the caller's thread. */
static void leave_device(const leat_strategy *s) {
    if (s->devices[0]->ops->leave != NULL)
        s->devices[0]->ops->leave(s->devices[0]);
}

/* What became of the job, when all replicas have ended. */
static leat_status end_job(leat_strategy *s, leat_error *err) {
    leat_status status = first_failure(s, err);
    if (status != LEAT_OK) {
        leat_error renewal = {0};
        if (renew_collective(s, &renewal) != LEAT_OK)
            leati_prefix(err, "%s", renewal.text);
    }
    return status;
}

leat_status leati_strategy_run_on_replicas(leat_strategy *strategy, leati_replica_function function,
                                           void *context, leat_error *err) {
    leat_error ignored = {0};
    if (begin_job(strategy, function, context, err) != LEAT_OK)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_stop_scope before = enter(strategy);
    leati_pool *pool = leati_pool_shared(&ignored);
    int reserved = pool == NULL ? 0 : reserve_cores(strategy, pool);
    uint64_t number = atomic_fetch_add(&strategy->job, 1) + 1;
    /* Nobody sleeps for a job of one replica. */
    if (strategy->num_local > 1)
        wake_all(strategy);
    /* Here and not on a thread, which saves waking one in the most frequent case. */
    run_job(strategy, &strategy->replicas[0]);
    leave_device(strategy);
    for (int r = 1; r < strategy->num_local; r++)
        await_change(strategy, &strategy->replicas[r].done, number - 1, LEATI_WAIT_PEER);
    leati_stop_leave(before);
    if (pool != NULL)
        leati_pool_tokens_give_back(pool, reserved);
    return end_job(strategy, err);
}

leat_status leati_strategy_run_in_turn(leat_strategy *strategy, leati_replica_function function,
                                       void *context, leat_error *err) {
    if (begin_job(strategy, function, context, err) != LEAT_OK)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_stop_scope before = enter(strategy);
    for (int r = 0; r < strategy->num_local; r++)
        run_job(strategy, &strategy->replicas[r]);
    leati_stop_leave(before);
    leave_device(strategy);
    return end_job(strategy, err);
}

void leat_strategy_cancel(leat_strategy *strategy) {
    leat_error reason = {0};
    leati_fail(&reason, LEAT_CANCELLED, "the run was cancelled");
    if (strategy == NULL)
        return;
    if (strategy->num_replicas == 1 || strategy->workers != NULL) {
        (void)leati_stop_team_stop(&strategy->team, strategy->num_local);
        if (strategy->num_replicas > 1)
            leati_workers_fail(strategy->workers, &reason);
        return;
    }
    /* The gate keeps renew_collective from closing the one that is aborted here, and from making a
     * new one between the flag and that. */
    leati_queue_gate_lock(strategy->gate);
    /* Replicas that have begun to write what all of them write do so to the end, all or none. */
    if (!leati_stop_team_stop(&strategy->team, strategy->num_local) && strategy->collective != NULL)
        strategy->collective->ops->abort(strategy->collective, &reason);
    leati_queue_gate_unlock(strategy->gate);
}

/* ---- life ---- */

static void strategy_free(leat_object *object) {
    leat_strategy *s = (leat_strategy *)object;
    atomic_store(&s->stop, true);
    if (s->gate != NULL)
        wake_all(s);
    for (int r = 1; s->replicas != NULL && r < s->num_local; r++)
        leati_driver_join(s->replicas[r].driver);
    /* In this order: the store's threads may abort the collective until the job is left. */
    leati_workers_leave(s->workers);
    if (s->collective != NULL)
        s->collective->ops->close(s->collective);
    leati_workers_free(s->workers);
    for (int r = 0; s->devices != NULL && r < s->num_local; r++)
        if (s->devices[r] != NULL)
            s->devices[r]->ops->close(s->devices[r]);
    leati_queue_gate_free(s->gate);
    leati_free(s->devices);
    leati_free(s->replicas);
    leati_free(s->described);
    leati_free(s);
}

static const leati_object_type strategy_type = {.name = "strategy", .free = strategy_free};

static leat_status describe(leat_strategy *s, leat_error *err) {
    leati_text text = {0};
    leati_text_addf(&text, "strategy \"%s\": %d replica%s in sync", s->kind->name, s->num_replicas,
                    s->num_replicas == 1 ? "" : "s");
    if (s->workers != NULL) {
        leati_text_addf(&text, ", %d on each of %s", s->num_local,
                        leati_workers_describe(s->workers));
    }
    s->described = leati_text_take(&text);
    return s->described == NULL ? leati_no_memory(err) : LEAT_OK;
}

static leat_status start(leat_strategy *s, leat_error *err) {
    char name[48];
    snprintf(name, sizeof name, "strategy \"%s\"", s->kind->name);
    s->gate = leati_queue_gate_new(name, NULL, err);
    s->replicas = leati_alloc_zero((size_t)s->num_local, sizeof(*s->replicas));
    if (s->gate == NULL || s->replicas == NULL)
        return leati_no_memory(err);
    leat_status status = describe(s, err);
    if (status == LEAT_OK)
        status = renew_collective(s, err);
    int threads = 0;
    for (int r = 0; r < s->num_local; r++) {
        s->replicas[r].strategy = s;
        s->replicas[r].index = r;
        threads += s->devices[r]->num_threads;
    }
    /* Spinning threads must not take the cores of those that they wait for. */
    s->spins = threads <= leati_pool_num_cores() ? SPINS : 0;
    for (int r = 1; r < s->num_local && status == LEAT_OK; r++) {
        s->replicas[r].driver = leati_driver_start("replica", replica_main, &s->replicas[r], err);
        status = s->replicas[r].driver == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    return status;
}

/* The others have met this worker already: they hear why it goes. */
static void tell_why(leati_workers *workers, const leat_error *err) {
    if (workers != NULL)
        leati_workers_fail(workers, err);
}

leat_strategy *leati_strategy_new(const leati_strategy_parts *parts, leat_error *err) {
    size_t count = (size_t)parts->num_devices;
    leat_strategy *s = leati_alloc_zero(1, sizeof(*s));
    leati_device **own = leati_alloc_zero(count, sizeof(*own));
    if (s == NULL || own == NULL) {
        leati_free(s);
        leati_free(own);
        for (size_t i = 0; i < count; i++)
            parts->devices[i]->ops->close(parts->devices[i]);
        leati_no_memory(err);
        tell_why(parts->workers, err);
        leati_workers_leave(parts->workers);
        leati_workers_free(parts->workers);
        return NULL;
    }
    leati_object_init(&s->object, &strategy_type);
    memcpy(own, parts->devices, count * sizeof(*own));
    s->kind = parts->kind;
    s->devices = own;
    s->num_local = s->num_replicas = parts->num_devices;
    s->timeout_ms = parts->timeout_ms;
    s->bytes_per_pack = parts->bytes_per_pack;
    s->workers = parts->workers;
    if (s->workers != NULL) {
        s->num_replicas = s->num_local * leati_workers_count(s->workers);
        s->first_replica = s->num_local * leati_workers_number(s->workers);
    }
    if (start(s, err) != LEAT_OK) {
        tell_why(s->workers, err);
        leat_strategy_unref(s);
        return NULL;
    }
    LEATI_TELL(DIST, INFO, "%s", s->described);
    return s;
}

leat_strategy *leat_strategy_ref(leat_strategy *strategy) {
    return leati_object_ref(strategy);
}

void leat_strategy_unref(leat_strategy *strategy) {
    leati_object_unref(strategy);
}

// ---- questions ----

const char *leat_strategy_name(const leat_strategy *strategy) {
    return strategy == NULL ? "" : strategy->kind->name;
}

const char *leat_strategy_describe(const leat_strategy *strategy) {
    return strategy == NULL ? "" : strategy->described;
}

int leat_strategy_num_replicas(const leat_strategy *strategy) {
    return strategy == NULL ? 0 : strategy->num_replicas;
}

int leat_strategy_num_local_replicas(const leat_strategy *strategy) {
    return strategy == NULL ? 0 : strategy->num_local;
}

int leat_strategy_first_replica(const leat_strategy *strategy) {
    return strategy == NULL ? 0 : strategy->first_replica;
}

int leat_strategy_num_workers(const leat_strategy *strategy) {
    return strategy == NULL            ? 0
           : strategy->workers == NULL ? 1
                                       : leati_workers_count(strategy->workers);
}

int leat_strategy_worker(const leat_strategy *strategy) {
    return strategy == NULL || strategy->workers == NULL ? 0
                                                         : leati_workers_number(strategy->workers);
}

bool leat_strategy_is_chief(const leat_strategy *strategy) {
    return leat_strategy_worker(strategy) == 0;
}
