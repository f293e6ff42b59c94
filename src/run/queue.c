/* Gates: the only place that waits.
 *
 * A wait counts wakes rather than trusting the condition variable, so that it returns only when
 * somebody called wake, when it is cancelled or when its time is over. While it waits it is on the
 * list of the stall report, and the thread's CPU token is free for others; the token is taken back
 * before the wait returns, with the gate's lock left if that takes time.
 *
 * Locks: cancel object, then gate, then pool or stall list. Waits use the monotonic clock. */
#define _GNU_SOURCE
#include "run/queue.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "run/pool.h"
#include "run/stall.h"
#include "run/trace.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

struct leati_gate {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    uint64_t wakes; /* lock */
    int waiters;    /* lock */
    char *name;
    leat_cancel *cancel; /* borrowed; may be NULL */
    leati_cancel_watch watch;
};

static void wake_cancelled(leati_cancel_watch *watch) {
    leati_gate *gate = (leati_gate *)((char *)watch - offsetof(leati_gate, watch));
    leati_queue_gate_lock(gate);
    leati_queue_gate_wake(gate);
    leati_queue_gate_unlock(gate);
}

leati_gate *leati_queue_gate_new(const char *name, leat_cancel *cancel, leat_error *err) {
    leati_gate *gate = leati_alloc_zero(1, sizeof *gate);
    char *copy = leati_strdup(name);
    if (gate == NULL || copy == NULL) {
        leati_free(copy);
        leati_free(gate);
        (void)leati_no_memory(err);
        return NULL;
    }
    gate->name = copy;
    pthread_mutex_init(&gate->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&gate->woken, &attributes);
    pthread_condattr_destroy(&attributes);
    gate->cancel = cancel;
    gate->watch.fired = wake_cancelled;
    if (cancel != NULL)
        leati_cancel_watch_add(cancel, &gate->watch);
    return gate;
}

void leati_queue_gate_free(leati_gate *gate) {
    if (gate == NULL)
        return;
    if (gate->cancel != NULL)
        leati_cancel_watch_remove(gate->cancel, &gate->watch);
    pthread_cond_destroy(&gate->woken);
    pthread_mutex_destroy(&gate->lock);
    leati_free(gate->name);
    leati_free(gate);
}

void leati_queue_gate_lock(leati_gate *gate) {
    pthread_mutex_lock(&gate->lock);
}

void leati_queue_gate_unlock(leati_gate *gate) {
    pthread_mutex_unlock(&gate->lock);
}

void leati_queue_gate_wake(leati_gate *gate) {
    gate->wakes++;
    if (gate->waiters > 0)
        pthread_cond_broadcast(&gate->woken);
}

static leat_status cancelled(const leati_gate *gate, leati_wait_reason reason, leat_error *err) {
    return leati_fail(err, LEAT_CANCELLED, "%s: cancelled while waiting for %s", gate->name,
                      leati_queue_wait_reason_name(reason));
}

static leat_status too_late(const leati_gate *gate, leati_wait_reason reason, leat_error *err) {
    return leati_fail(err, LEAT_DEADLINE_EXCEEDED,
                      "%s: deadline passed while waiting for %s; allow more time, or read the "
                      "stall report",
                      gate->name, leati_queue_wait_reason_name(reason));
}

/* Waits for a wake after `seen`; false when the deadline came first. */
static bool wait_until(leati_gate *gate, uint64_t seen, int64_t deadline_ns) {
    const struct timespec deadline = {
        .tv_sec = (time_t)(deadline_ns / 1000000000),
        .tv_nsec = (long)(deadline_ns % 1000000000),
    };
    int result = 0;
    gate->waiters++;
    while (gate->wakes == seen && result != ETIMEDOUT)
        if (deadline_ns == LEATI_NO_DEADLINE)
            pthread_cond_wait(&gate->woken, &gate->lock);
        else
            result = pthread_cond_timedwait(&gate->woken, &gate->lock, &deadline);
    gate->waiters--;
    return gate->wakes != seen;
}

/* The same on any thread. One that is asked whether to stop looks in between; what is cancelled
 * then wakes this gate as it always does, here or through whoever watches. */
static bool wait_for_wake(leati_gate *gate, uint64_t seen, int64_t deadline_ns) {
    while (leati_stop_cuts_waits() && !leati_stop_stopped()) {
        int64_t slice_ns = leati_now_ns() + LEATI_STOP_SLICE_NS;
        if (slice_ns >= deadline_ns)
            break;
        if (wait_until(gate, seen, slice_ns))
            return true;
        leati_queue_gate_unlock(gate);
        (void)leati_stop_look();
        leati_queue_gate_lock(gate);
        if (gate->wakes != seen)
            return true;
    }
    return wait_until(gate, seen, deadline_ns);
}

/* Nobody waits for a token with the lock held: whoever has the token may need the lock. */
static void take_token_back(leati_gate *gate, leati_token_rest rest, leati_waiter *waiter) {
    if (leati_pool_token_try_resume(rest))
        return;
    leati_stall_change(waiter, LEATI_WAIT_CPU);
    leati_queue_gate_unlock(gate);
    leati_pool_token_resume(rest);
    leati_queue_gate_lock(gate);
}

leat_status leati_queue_gate_wait(leati_gate *gate, leati_wait_reason reason, int64_t deadline_ns,
                                  int64_t *waited_ns, leat_error *err) {
    if (leati_cancel_fired(gate->cancel))
        return cancelled(gate, reason, err);
    if (deadline_ns != LEATI_NO_DEADLINE && leati_now_ns() >= deadline_ns)
        return too_late(gate, reason, err);
    leati_waiter waiter;
    leati_span span = leati_trace_begin();
    leati_stall_enter(&waiter, gate->name, reason);
    leati_token_rest rest = leati_pool_token_pause();
    bool woken = wait_for_wake(gate, gate->wakes, deadline_ns);
    take_token_back(gate, rest, &waiter);
    leati_stall_leave(&waiter);
    leati_trace_end(span, leati_queue_wait_reason_name(reason), gate->name);
    if (waited_ns != NULL)
        *waited_ns += leati_now_ns() - waiter.since_ns;
    if (leati_cancel_fired(gate->cancel))
        return cancelled(gate, reason, err);
    return woken ? LEAT_OK : too_late(gate, reason, err);
}
