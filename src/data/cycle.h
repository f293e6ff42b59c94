/* The cycle of open datasets that interleave and parallel_interleave read in turns.
 *
 * Slots are visited in order. An open one gives up to block_length elements and the turn passes on;
 * one whose dataset has ended is closed and the turn passes on; an empty one gets the dataset of
 * the input's next element. The two forms differ in what an error does: in the sequential one it
 * takes no place in its block, and a failing element leaves its slot to the next one at once; in
 * the parallel one it counts as an element does, and a failing element has its slot until its turn
 * comes again. */
#ifndef LEATI_DATA_CYCLE_H
#define LEATI_DATA_CYCLE_H

#include "data/inner.h"
#include "data/join.h"

typedef struct leati_slot leati_slot;

typedef struct leati_cycle {
    leati_input input;
    leati_inner inner;
    int64_t cycle_length, block_length;
    bool errors_take_turns;
    leati_slot **slots; /* NULL: no dataset */
    int64_t open;       /* slots that are not NULL */
    int64_t at, block;  /* whose turn it is, and how much of its block was given */
    int64_t call;       /* number of the input's next outcome */
    leati_join join;
} leati_cycle;

/* The slots of an operator whose state is a cycle. open takes the numbers that were checked
 * before. */
LEAT_WARN_UNUSED leat_status leati_cycle_open(leati_cycle *cycle, leati_node_state *node,
                                              int64_t cycle_length, int64_t block_length,
                                              bool errors_take_turns, leat_error *err);
void leati_cycle_close(leati_cycle *cycle);
leati_tail leati_cycle_pull(leati_node_state *node, leati_cycle *cycle, int64_t want,
                            leati_block *out, leat_error *err);
leati_tail leati_cycle_advance(leati_node_state *node, leati_cycle *cycle, int64_t n,
                               int64_t *passed, leat_error *err);
leati_tail leati_cycle_skip(leati_node_state *node, leati_cycle *cycle, int64_t n, int64_t *skipped,
                            leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cycle_save(leati_node_state *node, leati_cycle *cycle,
                                              leati_writer *out, leati_save_cost *cost,
                                              leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cycle_restore(leati_node_state *node, leati_cycle *cycle,
                                                 leati_reader *in, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cycle_reset(leati_cycle *cycle, leat_error *err);

#endif
