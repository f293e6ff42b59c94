/* A set of tensors by value, for operators that ask whether one came before. */
#ifndef LEATI_DATA_VALUES_SEEN_H
#define LEATI_DATA_VALUES_SEEN_H

#include "base/bytes.h"
#include "core/block.h"

/* {0} is empty. One thread at a time. */
typedef struct leati_seen {
    leati_writer keys; /* of all members, each with its length, in the order they came */
    uint64_t *table;   /* one more than the place of a key in `keys`; 0: free */
    size_t room;       /* of the table, a power of two, or 0 */
    size_t count;
} leati_seen;

/* Adds row `row` of a column of int32, int64 or string; *fresh says that it was not there. On
 * failure (no memory) the set is as before. */
LEAT_WARN_UNUSED leat_status leati_seen_add(leati_seen *seen, const leati_column *column,
                                            int64_t row, bool *fresh, leat_error *err);
/* Bytes held. */
int64_t leati_seen_bytes(const leati_seen *seen);
void leati_seen_clear(leati_seen *seen);
void leati_seen_fini(leati_seen *seen);

/* The members as bytes, and back into an empty set. */
void leati_seen_save(const leati_seen *seen, leati_writer *out);
LEAT_WARN_UNUSED leat_status leati_seen_restore(leati_seen *seen, leati_reader *in,
                                                leat_error *err);

#endif
