/* A table of int64 keys, numbered in the order in which they came. */
#ifndef LEATI_DATA_VALUES_KEY_TABLE_H
#define LEATI_DATA_VALUES_KEY_TABLE_H

#include "base/bytes.h"

/* {0} is empty. One thread at a time. */
typedef struct leati_key_table {
    int64_t *keys; /* by number */
    size_t count, capacity;
    uint32_t *slots; /* one more than a key's number; 0: free */
    size_t room;     /* of slots, a power of two, or 0 */
} leati_key_table;

/* The number of a key; -1 if it is not there. */
int64_t leati_key_table_find(const leati_key_table *table, int64_t key);
/* Makes room for one more key: the next add does not fail. */
LEAT_WARN_UNUSED leat_status leati_key_table_reserve(leati_key_table *table, leat_error *err);
/* Adds a key that is not there as number `count`. On failure (no memory) the table is as before. */
LEAT_WARN_UNUSED leat_status leati_key_table_add(leati_key_table *table, int64_t key,
                                                 leat_error *err);
/* The numbers of all keys in the order of the keys; owned (leati_free), NULL without memory. */
uint32_t *leati_key_table_sorted(const leati_key_table *table, leat_error *err);
/* Bytes held. */
int64_t leati_key_table_bytes(const leati_key_table *table);
void leati_key_table_clear(leati_key_table *table);
void leati_key_table_fini(leati_key_table *table);

/* The keys in order of their numbers, and back into an empty table. */
void leati_key_table_save(const leati_key_table *table, leati_writer *out);
LEAT_WARN_UNUSED leat_status leati_key_table_restore(leati_key_table *table, leati_reader *in,
                                                     leat_error *err);

#endif
