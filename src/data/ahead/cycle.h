/* The cycle of open datasets that interleave and parallel_interleave read in turns.
 *
 * Slots are visited in order. An open one gives up to block_length elements and the turn passes on;
 * one whose dataset has ended is closed and the turn passes on; an empty one gets the dataset of
 * the input's next element. The two forms differ in what an error does: in the sequential one it
 * takes no place in its block, and a failing element leaves its slot to the next one at once; in
 * the parallel one it counts as an element does, and a failing element has its slot until its turn
 * comes again.
 *
 * In the parallel form drivers read the datasets ahead of their turns, which changes nothing that
 * can be seen: only pure datasets are read ahead, and datasets are made ahead only where input and
 * function are pure. With any_order a dataset that is not ready loses its turn to one that is.
 * Inside a function there are no drivers. */
#ifndef LEATI_DATA_AHEAD_CYCLE_H
#define LEATI_DATA_AHEAD_CYCLE_H

#include "data/run/inner.h"
#include "data/values/join.h"

typedef struct leati_cycle_slot leati_cycle_slot;
typedef struct leati_cycle_workers leati_cycle_workers;

typedef struct leati_cycle_options {
    int64_t cycle_length, block_length; /* at least 1 */
    bool parallel;                      /* the parallel form */
    bool keeps_block; /* a slot that ends and gets no other dataset leaves its block's rest to the
                         next one */
    bool any_order;   /* parallel: whose elements are ready comes first */
    int64_t limit;    /* parallel: datasets read at a time; LEAT_AUTOTUNE: as many as help */
} leati_cycle_options;

/* An operator's state. {0} is closed. */
typedef struct leati_cycle {
    leati_node_state *node;
    leati_cycle_options options;
    leati_input input;
    leati_inner inner;        /* for the consumer's calls of the function */
    leati_cycle_slot **slots; /* NULL: no dataset; changed with the workers' gate locked */
    leati_cycle_slot *queue, **queue_end; /* taken from the input, in order; likewise */
    int64_t queued;
    int64_t open;      /* slots that are not NULL */
    int64_t at, block; /* whose turn it is, and how much of its block was given */
    int64_t call;      /* number of the input's next outcome */
    leati_join join;
    leati_cycle_workers *workers; /* NULL: everything happens on the consumer's thread */
} leati_cycle;

/* TensorFlow's cycle_length for AUTOTUNE: by the number of cores, and in the parallel form by
 * num_parallel_calls, which may be LEAT_AUTOTUNE; LEAT_UNSET: the sequential form. It is
 * called when a plan is made, so that a written plan keeps its order on other machines. */
int64_t leati_cycle_of_cores(int64_t num_parallel_calls);

/* Opens the cycle that is `node`'s state. */
LEAT_WARN_UNUSED leat_status leati_cycle_open(leati_node_state *node,
                                              const leati_cycle_options *options, leat_error *err);

/* The slots of an operator whose state is a cycle; the sequential form skips in the datasets' own
 * way, the parallel one reads what it skips. */
leati_tail leati_cycle_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err);
leati_tail leati_cycle_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                               leat_error *err);
leati_tail leati_cycle_skip(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                            leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cycle_save(leati_node_state *node, void *state,
                                              leati_writer *out, leati_save_cost *cost,
                                              leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cycle_restore(leati_node_state *node, void *state,
                                                 leati_reader *in, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cycle_reset(leati_node_state *node, void *state,
                                               leat_error *err);
void leati_cycle_close(leati_node_state *node, void *state);

#endif
