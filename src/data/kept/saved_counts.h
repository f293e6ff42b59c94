/* How many elements each file of a saved run has, as the metadata say it, and whether a run's
 * folders are those that the metadata speak of. */
#ifndef LEATI_DATA_KEPT_SAVED_COUNTS_H
#define LEATI_DATA_KEPT_SAVED_COUNTS_H

#include "base/bytes.h"
#include "file/fs.h"
#include "file/wire.h"

typedef struct leati_saved_shard {
    uint64_t number;
    char *files; /* the elements of each file, one after the other: "10,3"; owned */
    int64_t num_files, elements;
} leati_saved_shard;

/* {0}: nothing is known, as of what TensorFlow wrote. */
typedef struct leati_saved_counts {
    bool known;
    int64_t each; /* records of an element; 0 where there is none */
    int64_t elements;
    leati_saved_shard *shards; /* by number */
    size_t num_shards, capacity;
} leati_saved_counts;

void leati_saved_counts_fini(leati_saved_counts *counts);

/* Appends a shard behind those of smaller numbers: `files` has the elements of each of its
 * `num_files` files. RESOURCE_EXHAUSTED without memory. */
LEAT_WARN_UNUSED leat_status leati_saved_counts_add(leati_saved_counts *counts, uint64_t number,
                                                    const int64_t *files, int64_t num_files,
                                                    leat_error *err);
/* The message of known counts; out->failed without memory. */
void leati_saved_counts_put(const leati_saved_counts *counts, leati_writer *out);
/* Reads a message into {0}, which the caller finishes also after a failure: DATA_LOSS where it is
 * none. */
LEAT_WARN_UNUSED leat_status leati_saved_counts_get(leati_wire message, leati_saved_counts *out,
                                                    leat_error *err);

/* Are the shards' folders in the run folder `run`, whose sorted names are `names`, those that known
 * counts speak of, with all their files and no other? NOT_FOUND names what is missing, DATA_LOSS
 * what is there too much. Files are not opened. */
LEAT_WARN_UNUSED leat_status leati_saved_counts_check_run(const leati_saved_counts *counts,
                                                          const char *run, const leati_paths *names,
                                                          leat_error *err);
/* The shard of the folder `name`; NULL where counts are not known or have none of that name. */
const leati_saved_shard *leati_saved_counts_shard(const leati_saved_counts *counts,
                                                  const char *name);

/* The name of a shard's folder, and of a file in it. */
#define LEATI_SHARD_NAME "%08llu.shard"
#define LEATI_SHARD_FILE_NAME "%08lld.snapshot"
#define LEATI_SHARD_NAME_SIZE 40

/* Is this the name of a shard's folder, or of a shard's file? */
bool leati_saved_is_shard(const char *name);
bool leati_saved_is_shard_file(const char *name);

#endif
