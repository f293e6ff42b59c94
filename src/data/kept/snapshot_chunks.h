/* Reading a distributed snapshot (snapshot_files.h), also while it is being written, as a plan: a
 * source of the chunks' datasets, and a function, or the default interleave, that makes one dataset
 * of them. */
#ifndef LEATI_DATA_KEPT_SNAPSHOT_CHUNKS_H
#define LEATI_DATA_KEPT_SNAPSHOT_CHUNKS_H

#include "data/plan/dataset.h"

/* What is known of the chunks when a plan is made. */
enum { LEATI_SNAPSHOT_UNFINISHED = -1 }; /* more of them may come */

/* How many chunks the snapshot has, and elements in them (LEAT_UNKNOWN_CARDINALITY where nobody
 * counted); LEATI_SNAPSHOT_UNFINISHED while it is written. What it failed with, where it did; and
 * DATA_LOSS where chunks are gone, or are there twice. */
LEAT_WARN_UNUSED leat_status leati_snapshot_count(const char *folder, int64_t *chunks,
                                                  int64_t *elements, leat_error *err);

/* The plan that reads the snapshot in `folder` of elements of `spec`. `chunks` is what
 * leati_snapshot_count has told: of a snapshot that is finished each chunk is a split, and their
 * order is fixed; of an unfinished one chunks are given as they come, and the end comes when it is
 * finished. `reader_func` and `cycle_length` as for leati_saved_plan. Owned. */
leat_dataset *leati_snapshot_plan(const char *folder, const leat_spec *spec,
                                  const char *compression, int64_t chunks,
                                  const leat_object *reader_func, int64_t cycle_length,
                                  leat_error *err);

#endif
