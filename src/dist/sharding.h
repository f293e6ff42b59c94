/* Which part of a dataset a worker reads: the plan of one worker's share (tf.data's auto_shard). */
#ifndef LEATI_DIST_SHARDING_H
#define LEATI_DIST_SHARDING_H

#include "data/plan/dataset.h"

/* The share of worker `worker` (of `num_workers`) of `dataset` (borrowed) by files: the names that
 * each reader of records opens are dealt out, name i to worker i mod num_workers, and shuffles of
 * names come behind that. NOT_FOUND where the walk from the sink does not reach a reader on every
 * branch. With one worker the dataset itself. `text` (`size` bytes; NULL: not wanted) gets which
 * files these are, or where there are none, why. The share has caches and seed generators of its
 * own. Owned. */
leat_dataset *leati_sharding_by_files(const leat_dataset *dataset, int num_workers, int worker,
                                      char *text, size_t size, leat_error *err);

/* The same by the places that the user marked with shard(SHARD_HINT, SHARD_HINT), also with one
 * worker; the dataset itself where there is none. *marked says how many there are. Owned. */
leat_dataset *leati_sharding_by_hints(const leat_dataset *dataset, int num_workers, int worker,
                                      int *marked, leat_error *err);

/* A node like `node` with other arguments, over other inputs (given, also on failure), with shared
 * state of its own: unlike leati_dataset_with it is another dataset. Owned. */
leat_dataset *leati_sharding_remake(const leat_dataset *node, const void *args,
                                    leat_dataset *const *inputs, leat_error *err);

#endif
