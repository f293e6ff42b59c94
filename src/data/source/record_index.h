/* The records of indexed files by number: how many there are, where one lies, and reading those of
 * TFRecord files in any order. An index is a sidecar, file/index.h. */
#ifndef LEATI_DATA_SOURCE_RECORD_INDEX_H
#define LEATI_DATA_SOURCE_RECORD_INDEX_H

#include "data/access/access.h"
#include "data/source/files.h"
#include "file/index.h"
#include <leat/data_ops.h>

/* The row of the argument that says whether indexes are used; `args` is the operator's type. */
#define LEATI_ROW_INDEX(args)                                                                      \
    {                                                                                              \
        .name = "index", .type = LEATI_ROW_STRING, .offset = offsetof(args, index),                \
        .default_text = "none",                                                                    \
        .doc = "Are FILE.leat-index used: \"none\", \"auto\" (where all files have one), "         \
               "\"required\"."                                                                     \
    }
/* Its text for a number of the public options; "" for one that there is none for. */
const char *leati_record_index_use_text(leat_index_use use);

/* Of a list of files; immutable. */
typedef struct leati_record_index {
    const char *kind;           /* of their records, file/index.h */
    const leati_strings *paths; /* borrowed */
    int64_t *starts; /* the number of each file's first record, then of all; NULL: no index */
} leati_record_index;

/* For an operator whose slot `share` makes the index of its files. Check: is the argument one of
 * its texts, and is there an index if one is asked for? `possible`: a list of plain files, read one
 * after the other. Of: the index; NULL: there is none, or none to be used. */
LEAT_WARN_UNUSED leat_status leati_record_index_check(const leat_dataset *dataset, const char *use,
                                                      bool possible, leat_error *err);
const leati_record_index *leati_record_index_of(const leat_dataset *dataset, const char *use,
                                                bool possible);
/* Its cardinality: unknown without an index. */
int64_t leati_record_index_cardinality(const leati_record_index *index);

/* Reads the number of records of each file. A file without an index: NOT_FOUND where `use` is
 * "required", else starts is NULL. A stale or damaged index always is an error. Owned. */
leati_record_index *leati_record_index_new(const char *kind, const leati_strings *paths,
                                           const char *use, leat_error *err);
void leati_record_index_free(leati_record_index *index); /* NULL is allowed */

/* Moves a reader of the same files, one after the other, over n records without looking at them;
 * *skipped is how many there were. Slot skip's contract. */
leati_tail leati_record_index_skip(const leati_record_index *index, leati_files *files, int64_t n,
                                   int64_t *skipped, leat_error *err);

/* The number of the file that has record `number`, which exists. */
int64_t leati_record_index_file(const leati_record_index *index, int64_t number);
/* The path of file number `file`; owned (leati_free), NULL without memory. */
char *leati_record_index_path(const leati_record_index *index, int64_t file, leat_error *err);
/* Opens its sidecar; FAILED_PRECONDITION where that is another one by now. Owned. */
LEAT_WARN_UNUSED leat_status leati_record_index_open(const leati_record_index *index, int64_t file,
                                                     leati_index **out, leat_error *err);

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
