/* A ring: a driver thread that pulls an operator's input ahead of its consumer, and, where there is
 * a program, pool tasks that run it over the rows. What prefetch and the parallel map have in
 * common.
 *
 * The input belongs to the ring. One thread at a time is its consumer and makes all calls. Where
 * the input can be replayed, a state is a snapshot of the input and the numbers of the outcomes
 * that are still to come; elsewhere the state holds the rows that were read ahead. */
#ifndef LEATI_DATA_AHEAD_RING_H
#define LEATI_DATA_AHEAD_RING_H

#include "data/run/state.h"

typedef struct leati_ring leati_ring;

typedef struct leati_ring_options {
    /* Run over the rows by tasks of the pool, cut by measured cost; NULL: rows are handed on as
     * they are. Borrowed; pure. */
    const leati_program *program;
    bool any_order; /* deliver tasks as they finish */
    /* With a program: tasks at a time; else: elements ready. LEAT_AUTOTUNE: a knob. */
    int64_t limit;
} leati_ring_options;

/* Opens input 0 of the node's dataset behind a ring. Nothing is pulled before the first pull.
 * Owned; NULL on failure. */
leati_ring *leati_ring_new(leati_node_state *node, const leati_ring_options *options,
                           leat_error *err);
/* Stops the input's side, waits for the driver and the tasks. NULL is allowed. */
void leati_ring_free(leati_ring *ring);

/* The operator's slots. */
leati_tail leati_ring_pull(leati_ring *ring, int64_t want, leati_block *out, leat_error *err);
leati_tail leati_ring_advance(leati_ring *ring, int64_t n, int64_t *passed, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_ring_save(leati_ring *ring, leati_writer *out,
                                             leati_save_cost *cost, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_ring_restore(leati_ring *ring, leati_reader *in,
                                                leat_error *err);
LEAT_WARN_UNUSED leat_status leati_ring_reset(leati_ring *ring, leat_error *err);

#endif
