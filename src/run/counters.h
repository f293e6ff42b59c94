/* What an operator did: plain relaxed atomics, written on the hot path without locks, read by
 * explain, autotune and traces. */
#ifndef LEATI_RUN_COUNTERS_H
#define LEATI_RUN_COUNTERS_H

#include <leat/base.h>
#include <stdatomic.h>

typedef struct leati_counters {
    atomic_llong elements; /* delivered */
    atomic_llong errors;   /* delivered */
    atomic_llong pulls;
    /* Computing in this operator, children and waits excluded; pool tasks included. */
    atomic_llong busy_ns;
    atomic_llong waiting_ns; /* blocked at a gate of this operator */
    atomic_llong since_ns;   /* when the pull that is in progress began; 0: none is */
    atomic_llong tasks;      /* tasks that are running */
    atomic_llong tasks_ns;   /* the sum of the times at which these began */
    atomic_llong full_ns;    /* its driver waited for room: the consumer was slower */
    atomic_llong bytes_held;
    atomic_llong depth;       /* outcomes buffered now */
    atomic_llong depth_limit; /* of its ring or buffer; 0: none */
    atomic_llong parallelism;
    atomic_llong callbacks; /* user callbacks called */
    atomic_llong recovered; /* pictures that were cut short and filled, as the user allowed */
} leati_counters;

static inline void leati_counter_add(atomic_llong *counter, int64_t n) {
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}
static inline void leati_counter_set(atomic_llong *counter, int64_t n) {
    atomic_store_explicit(counter, n, memory_order_relaxed);
}
static inline int64_t leati_counter_get(const atomic_llong *counter) {
    return atomic_load_explicit((atomic_llong *)counter, memory_order_relaxed);
}

#endif
