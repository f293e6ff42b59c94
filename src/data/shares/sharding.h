/* Which part of a dataset a worker reads: the plan of one worker's share (tf.data's auto_shard). */
#ifndef LEATI_SHARES_SHARDING_H
#define LEATI_SHARES_SHARDING_H

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

/* The nodes of one walk that were made anew, so that a node which several operators read is one
 * node in the new plan too: its readers go on sharing its seeds and caches, and a plan of n zips of
 * a dataset with itself costs n steps, not 2^n. {0} is empty. One thread. */
typedef struct leati_sharding_made {
    struct leati_sharding_pair *pairs; /* references to both; owned */
    size_t count, capacity;
} leati_sharding_made;
/* What was made of `node`: a new reference; NULL: nothing yet. */
leat_dataset *leati_sharding_made_find(const leati_sharding_made *remade, const leat_dataset *node);
/* Notes what was made (given and returned; NULL passes through); NULL with RESOURCE_EXHAUSTED. */
leat_dataset *leati_sharding_made_add(leati_sharding_made *remade, const leat_dataset *node,
                                      leat_dataset *made, leat_error *err);
void leati_sharding_made_fini(leati_sharding_made *remade);

/* A node like `node` with other arguments, over other inputs (given, also on failure), with shared
 * state of its own: unlike leati_dataset_with it is another dataset. Owned. */
leat_dataset *leati_sharding_remake(const leat_dataset *node, const void *args,
                                    leat_dataset *const *inputs, leat_error *err);

/* Of a reader of files (LEATI_SHARD_READER): the list of names in its arguments (borrowed); a
 * reader like it of another list (borrowed), or with an empty one of a dataset of names (given;
 * NULL: none); and a list as a dataset of names. Owned. */
const leati_strings *leati_sharding_names_of(const leat_dataset *reader);
leat_dataset *leati_sharding_reader_of(const leat_dataset *reader, const leati_strings *list,
                                       leat_dataset *names, leat_error *err);
leat_dataset *leati_sharding_names(const leati_strings *list, leat_error *err);

#endif
