/* The only place that waits. A leati_gate is a lock with a condition on which a named reason can be
 * awaited, with cancellation and a deadline. */
#ifndef LEATI_RUN_QUEUE_H
#define LEATI_RUN_QUEUE_H

#include "run/cancel.h"
#include <leat/base.h>

typedef enum leati_wait_reason {
    LEATI_WAIT_INPUT = 0, /* for an input's elements */
    LEATI_WAIT_CONSUMER,  /* for room: the consumer is slower */
    LEATI_WAIT_MEMORY,
    LEATI_WAIT_IO,
    LEATI_WAIT_CALLBACK,
    LEATI_WAIT_CPU,
    LEATI_WAIT_PEER, /* for another replica or process */
    LEATI_NUM_WAIT_REASONS
} leati_wait_reason;

const char *leati_queue_wait_reason_name(leati_wait_reason reason);

/* A lock and a condition. Locking order: a gate is a leaf; no other gate, callback or child is
 * entered while holding one, no cancel object is fired and no CPU token acquired. */
typedef struct leati_gate leati_gate;

/* `name` (copied) says who waits here in stall reports, such as `prefetch "final"`. `cancel` may be
 * NULL; borrowed. Owned. */
leati_gate *leati_queue_gate_new(const char *name, leat_cancel *cancel, leat_error *err);
void leati_queue_gate_free(leati_gate *gate);
void leati_queue_gate_lock(leati_gate *gate);
void leati_queue_gate_unlock(leati_gate *gate);
/* With the lock held: waits until somebody calls wake, then returns LEAT_OK (re-check the condition
 * in a loop); CANCELLED or DEADLINE_EXCEEDED (monotonic ns, LEATI_NO_DEADLINE) with text naming
 * gate and reason. The time is added to *waited_ns (may be NULL). A CPU token that the thread holds
 * (run/pool.h) is given up while it waits and held again on return; the lock may be left and taken
 * again meanwhile. */
LEAT_WARN_UNUSED leat_status leati_queue_gate_wait(leati_gate *gate, leati_wait_reason reason,
                                                   int64_t deadline_ns, int64_t *waited_ns,
                                                   leat_error *err);
/* With the lock held: wakes all waiters. */
void leati_queue_gate_wake(leati_gate *gate);

/* Writes one line per thread that is waiting now, the longest wait first: gate name, reason,
 * seconds. Terminated, cut to `size`; returns the length needed. For stall reports and explain. */
size_t leati_queue_stall_report(char *text, size_t size);

#endif
