/* The plan that each of several workers runs over splits that are handed out to them: under the
 * processing mode DYNAMIC of tf.data's service each element comes once, from one of them. */
#ifndef LEATI_SHARES_SPLITS_H
#define LEATI_SHARES_SPLITS_H

#include "data/plan/dataset.h"
#include "data/run/splits.h"

/* `dataset` (borrowed) with an operator split_source over each source that has splits, numbered as
 * TensorFlow numbers its providers: depth first, inputs in their order. A node that several
 * operators read has a number for each of them. What functions make is run by each worker as a
 * whole. UNIMPLEMENTED names an operator that has no meaning there. An iterator over the plan needs
 * leati_iterator_extras.splits. The plan has caches and seed generators of its own. Owned. */
leat_dataset *leati_splits_plan(const leat_dataset *dataset, leat_error *err);

/* A source of such a plan. */
typedef struct leati_splits_source {
    int64_t splits; /* in one repetition; -1: endless */
    /* Below an operator that takes elements of several inputs in step, as zip does: a worker whose
     * leases of these are not equally long loses what has no partner. TensorFlow's are one split
     * each, and so should these be. */
    bool in_step;
    const char *op; /* the source's, for texts; lives as long as the plan */
} leati_splits_source;

/* The sources of a plan of leati_splits_plan by their numbers: an array for leati_free, NULL where
 * there are none. Reads no file. */
LEAT_WARN_UNUSED leat_status leati_splits_sources(const leat_dataset *plan,
                                                  leati_splits_source **out, int *count,
                                                  leat_error *err);

#endif
