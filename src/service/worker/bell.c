/* The bell; see bell.h. The gate's lock guards all; what is fired is fired without it. */
#include "service/worker/bell.h"
#include "base/alloc.h"
#include "base/error.h"
#include "run/queue.h"
#include <stdatomic.h>

struct leati_worker_bell {
    atomic_long references;
    leati_gate *gate;
    leat_cancel *end;       /* of waits */
    leat_cancel *around;    /* the lock's: the parent of `listening`, a reference, or NULL */
    leat_cancel *listening; /* the lock's: the parked call's, a reference, or NULL */
    bool rung;              /* the lock's */
};

leati_worker_bell *leati_worker_bell_new(leat_error *err) {
    leati_worker_bell *bell = leati_alloc_zero(1, sizeof *bell);
    if (bell == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&bell->references, 1);
    bell->end = leati_cancel_new(NULL, err);
    bell->gate =
        bell->end == NULL ? NULL : leati_queue_gate_new("heartbeat of a worker", bell->end, err);
    if (bell->gate == NULL) {
        leati_worker_bell_unref(bell);
        return NULL;
    }
    return bell;
}

leati_worker_bell *leati_worker_bell_ref(leati_worker_bell *bell) {
    atomic_fetch_add_explicit(&bell->references, 1, memory_order_relaxed);
    return bell;
}

void leati_worker_bell_unref(leati_worker_bell *bell) {
    if (bell == NULL || atomic_fetch_sub(&bell->references, 1) != 1)
        return;
    leati_queue_gate_free(bell->gate);
    leati_cancel_unref(bell->listening);
    leati_cancel_unref(bell->around);
    leati_cancel_unref(bell->end);
    leati_free(bell);
}

void leati_worker_bell_ring(leati_worker_bell *bell) {
    leati_queue_gate_lock(bell->gate);
    bell->rung = true;
    leat_cancel *listening = bell->listening;
    bell->listening = NULL;
    leati_queue_gate_wake(bell->gate);
    leati_queue_gate_unlock(bell->gate);
    leati_cancel_fire(listening);
    leati_cancel_unref(listening);
}

leat_cancel *leati_worker_bell_listen(leati_worker_bell *bell, leat_cancel *around,
                                      leat_error *err) {
    leat_cancel *next = leati_cancel_new(around, err);
    if (next == NULL)
        return NULL;
    leati_queue_gate_lock(bell->gate);
    leat_cancel *before = bell->listening;
    /* Tasks that readers hold ring after the worker is gone; a parent outlives its children. */
    if (bell->around == NULL)
        bell->around = leati_cancel_ref(around);
    bell->listening = leati_cancel_ref(next);
    bell->rung = false;
    leati_queue_gate_unlock(bell->gate);
    leati_cancel_unref(before);
    return next;
}

leat_status leati_worker_bell_wait(leati_worker_bell *bell, int64_t deadline_ns, leat_error *err) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(bell->gate);
    while (!bell->rung && status == LEAT_OK)
        status = leati_queue_gate_wait(bell->gate, LEATI_WAIT_PEER, deadline_ns, NULL, err);
    leati_queue_gate_unlock(bell->gate);
    return status;
}

void leati_worker_bell_end(leati_worker_bell *bell) {
    leati_cancel_fire(bell->end);
}
