/* Who is waiting now, and for what: the list behind leati_queue_stall_report (run/queue.h). */
#ifndef LEATI_RUN_STALL_H
#define LEATI_RUN_STALL_H

#include "run/queue.h"

/* One wait; on the stack of the thread that waits. */
typedef struct leati_waiter {
    const char *name; /* borrowed */
    leati_wait_reason reason;
    int64_t since_ns;
    struct leati_waiter *next, *previous;
} leati_waiter;

/* Joins the list with the present time, changes the reason, leaves the list. A lock of its own that
 * is taken last: callers may hold any other. */
void leati_stall_enter(leati_waiter *waiter, const char *name, leati_wait_reason reason);
void leati_stall_change(leati_waiter *waiter, leati_wait_reason reason);
void leati_stall_leave(leati_waiter *waiter);

#endif
