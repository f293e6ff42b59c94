/* Choices of their own for the uses of one choose_from_datasets node.
 *
 * TensorFlow's choose_from_datasets keeps a rewritten copy of the choice dataset and lets go of the
 * original. Where nobody else holds the original, its seed generators are gone when an iterator is
 * made, and each place in the plan that uses the node makes its own, from the same seeds; where the
 * program still holds it, all uses share one generator. An operator's uses beyond the first find
 * their copies here; they live as long as the node, so that later iterators go on with them. */
#ifndef LEATI_DATA_PLAN_CHOICE_H
#define LEATI_DATA_PLAN_CHOICE_H

#include "data/plan/dataset.h"

/* The slots share and unshare of choose_from_datasets. */
void *leati_choices_share(const leat_dataset *dataset, leat_error *err);
void leati_choices_unshare(void *shared);

/* The choice (last input) of use number `use` of `choose`, counted from 0 in one plan: the input
 * itself, or a copy with shared states of its own. Owned; NULL on failure. Thread-safe. */
leat_dataset *leati_choice_of_use(const leat_dataset *choose, int64_t use, leat_error *err);

#endif
