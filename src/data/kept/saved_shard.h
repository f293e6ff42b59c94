/* The elements of one shard of a saved run, as a dataset. */
#ifndef LEATI_DATA_KEPT_SAVED_SHARD_H
#define LEATI_DATA_KEPT_SAVED_SHARD_H

#include "data/plan/dataset.h"
#include <leat/file.h>

/* What the shards of a run have in common. */
typedef struct leati_saved_shard_kind {
    leat_compression compression;
    const leat_spec *spec; /* borrowed */
    int64_t each;          /* records of an element as it was saved; 0: unknown */
} leati_saved_shard_kind;

/* The dataset of the shard in `folder`. `counts` are the elements of each of its files, "10,3", or
 * NULL where nobody knows; all arguments are copied. Owned. */
leat_dataset *leati_saved_shard_dataset(const char *folder, const leati_saved_shard_kind *kind,
                                        const char *counts, leat_error *err);
/* The dataset of the records of one file, a chunk of a distributed snapshot (snapshot_files.h) of
 * `elements` elements (negative: nobody knows). Owned. */
leat_dataset *leati_saved_shard_of_file(const char *path, const leati_saved_shard_kind *kind,
                                        int64_t elements, leat_error *err);

#endif
