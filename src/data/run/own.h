/* States of nodes that a restored iterator has for itself.
 *
 * A node's shared state (a shuffle's seed generator, a memory cache) belongs to all iterators of
 * the dataset. A restored iterator goes on from what its state says of them, whatever the others
 * do: it gets states of its own, which begin as the state has them. The shared ones follow as far
 * as new iterators may expect it (leati_dataset_op.shared_settle). */
#ifndef LEATI_DATA_RUN_OWN_H
#define LEATI_DATA_RUN_OWN_H

#include "data/run/state.h"

typedef struct leati_own leati_own;

/* The nodes of `plan`, and of the datasets that its functions hold, whose shared states a restored
 * iterator has for itself; it has none yet. Owned; NULL with the error set without memory. */
leati_own *leati_own_new(const leat_dataset *plan, leat_error *err);
void leati_own_free(leati_own *own); /* NULL does nothing */

/* Makes the states: each as a first iterator would find it, generators as the shared ones stand. On
 * failure nothing is left of them. */
LEAT_WARN_UNUSED leat_status leati_own_begin(leati_own *own, leat_error *err);
/* The restored tree stands: the states count from here on. */
void leati_own_settle(leati_own *own);

/* The state of a node for an iterator with `own` (NULL: the shared one): as leati_dataset_shared
 * otherwise. Thread-safe but for begin. */
void *leati_own_shared(const leati_own *own, const leat_dataset *dataset, leat_error *err);
/* The state that the node's iterators share, where this one has another; else NULL. */
void *leati_own_beside(const leati_own *own, const leat_dataset *dataset);
/* Are the node's shared states among those that leati_own_save writes? */
bool leati_own_lists(const leati_own *own, const leat_dataset *dataset);

/* Does the dataset give the same again from a saved state? Not where its generators are drawn from,
 * or its caches filled, elsewhere in the plan, too: what happens there stands between its own
 * draws. */
bool leati_own_replays(const leati_own *own, const leat_dataset *dataset);

/* Have other iterators drawn from the generators between draws of this one? What it computed from
 * positions then comes again here, and not for others. */
bool leati_own_alternates(const leati_own *own);

/* What iterators of the plan find in shared states; of seed generators what the numbers of draws
 * mean. */
LEAT_WARN_UNUSED leat_status leati_own_save(const leati_own *own, leati_writer *out,
                                            leati_save_cost *cost, leat_error *err);
/* After begin. What is to be computed again runs under `top`, which has the iteration. `pieces`:
 * the state tells what the numbers of draws mean. */
LEAT_WARN_UNUSED leat_status leati_own_restore(leati_own *own, leati_node_state *top, bool pieces,
                                               leati_reader *in, leat_error *err);

#endif
