/* The records of indexed TFRecord files by number: how many there are, where one lies, and reading
 * them in any order. An index is a sidecar, file/index.h. */
#ifndef LEATI_DATA_RECORD_INDEX_H
#define LEATI_DATA_RECORD_INDEX_H

#include "data/access.h"
#include "data/files.h"

/* Of a list of files; immutable. */
typedef struct leati_record_index {
    const leati_strings *paths; /* borrowed */
    int64_t *starts; /* the number of each file's first record, then of all; NULL: no index */
} leati_record_index;

/* Reads the number of records of each file. A file without an index: NOT_FOUND where `required`,
 * else starts is NULL. A stale or damaged index always is an error. Owned. */
leati_record_index *leati_record_index_new(const leati_strings *paths, bool required,
                                           leat_error *err);
void leati_record_index_free(leati_record_index *index); /* NULL is allowed */
/* Records in all files. */
int64_t leati_record_index_total(const leati_record_index *index);

/* Moves a reader of the same files, one after the other, over n records without looking at them;
 * *skipped is how many there were. Slot skip's contract. */
leati_tail leati_record_index_skip(const leati_record_index *index, leati_files *files, int64_t n,
                                   int64_t *skipped, leat_error *err);

struct leati_record_file;

/* Files open for reading by number. {0} is closed. */
typedef struct leati_record_reader {
    struct leati_record_file *open; /* most recently used last */
    int num_open;
    leati_pools pools;
} leati_record_reader;

/* Slot at's contract, for indices that exist. A record that is not where the index says is
 * FAILED_PRECONDITION. */
LEAT_WARN_UNUSED leat_status leati_record_reader_get(leati_record_reader *reader,
                                                     const leati_record_index *index,
                                                     const int64_t *indices, int64_t n,
                                                     leati_block *out, leat_error *err);
void leati_record_reader_close(leati_record_reader *reader);

#endif
