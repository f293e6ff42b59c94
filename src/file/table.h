/* Sorted tables of keys and values in LevelDB's format, as TensorFlow writes the index of a
 * checkpoint: blocks of entries with shared prefixes, a block that says where these are, and 48
 * bytes at the end. */
#ifndef LEATI_FILE_TABLE_H
#define LEATI_FILE_TABLE_H

#include "base/bytes.h"
#include <leat/core.h>

/* A table being made in memory. {0} is empty; without memory, or where keys do not ascend, it fails
 * at the end. */
typedef struct leati_table_writer {
    leati_writer out;   /* the blocks so far */
    leati_writer block; /* the entries of the open one */
    leati_writer index; /* the entries of the index, whose blocks have one key each */
    leati_writer block_restarts, index_restarts;
    leati_writer last; /* the last key */
    uint64_t closed_at, closed_size;
    int in_run; /* entries since the last key that stands whole */
    bool has_closed, has_keys, is_unsorted;
} leati_table_writer;

/* Adds an entry; both texts are borrowed for the call. Keys ascend strictly, bytewise. */
void leati_table_put(leati_table_writer *table, leat_string key, leat_string value);
/* Ends the table, whose bytes are then `out`'s, until fini. INTERNAL where keys did not ascend. */
LEAT_WARN_UNUSED leat_status leati_table_end(leati_table_writer *table, leat_error *err);
void leati_table_writer_fini(leati_table_writer *table);

/* Receives one entry (borrowed for the call); `byte` is where its block begins. */
typedef leat_status (*leati_table_function)(void *context, leat_string key, leat_string value,
                                            uint64_t byte, leat_error *err);

/* Hands out all entries of the table in `data`, the bytes of the file `path`, in their order, after
 * the checks of its blocks; blocks that snappy compressed are taken too. Damage is DATA_LOSS with
 * file and byte; keys descend nowhere, and together they are at most 32 times as long as what they
 * are stored in. Takes the memory of one block and one key. */
LEAT_WARN_UNUSED leat_status leati_table_read(const char *path, const void *data, size_t size,
                                              leati_table_function function, void *context,
                                              leat_error *err);

#endif
