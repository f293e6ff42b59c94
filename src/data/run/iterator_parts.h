/* The inside of an iterator, shared by data/run/iterator.c (opening, elements) and
 * data/run/iterator_state.c (saving and restoring). */
#ifndef LEATI_DATA_RUN_ITERATOR_PARTS_H
#define LEATI_DATA_RUN_ITERATOR_PARTS_H

#include "data/run/input.h"
#include "data/run/iterator.h"
#include "data/run/own.h"
#include "data/run/watch.h"

struct leat_iterator {
    leati_iteration iteration;
    leati_node_state top; /* stands above the root: what leati_input needs of a reader */
    leati_input input;
    leat_dataset *dataset;   /* as the user built it: its fingerprint guards states */
    leat_dataset *rewritten; /* as it runs */
    leati_pool *own_pool;
    leat_cancel *cancel;       /* of the user; the iteration's is that of the tree that is open */
    leati_own *own;            /* NULL: that of an iterator around it counts */
    leati_snapshots snapshots; /* of the input, in each tree */
    leati_watch *watch;        /* NULL: it is not shown on a page */
    int64_t want;
    int64_t deadline_ms;
    int64_t taken;
    int64_t state_policy; /* leati_state_policy, or LEATI_OPTION_NOT_SET */
    bool alone;           /* leati_iterator_ask_ahead */
    bool broken;          /* a restore failed half way */
};

/* Opens the tree of the rewritten plan, which is not open, with a cancellation and a tuner of its
 * own; and closes it, in whatever state it is. Waits for what its threads have begun. */
LEAT_WARN_UNUSED leat_status leati_iterator_open_tree(leat_iterator *iterator, leat_error *err);
void leati_iterator_close_tree(leat_iterator *iterator);

/* FAILED_PRECONDITION where a restore failed half way: operators are in states that do not fit each
 * other. */
LEAT_WARN_UNUSED leat_status leati_iterator_check_whole(const leat_iterator *iterator,
                                                        leat_error *err);

#endif
