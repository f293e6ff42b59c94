/* One block out of rows of several: what operators need that read inputs in turns. Rows of fixed
 * size are copied side by side (into the consumer's destinations where they fit), of strings their
 * headers; others are references.
 *
 * Whoever keeps one string of a block keeps the memory of all alive, so a block is full once it has
 * LEATI_BYTE_TARGET of them, or a large one. */
#ifndef LEATI_DATA_VALUES_JOIN_H
#define LEATI_DATA_VALUES_JOIN_H

#include "data/values/reservoir.h"

enum { LEATI_JOIN_SOURCES = 64 };

/* Memory that a column of the block holds. */
typedef struct leati_join_source {
    const leat_buffer *memory;
    uint64_t block; /* which one; others' entries are free */
    int column;
} leati_join_source;

/* Describes the columns and owns the pools; one per operator state. {0} is closed. */
typedef struct leati_join {
    leati_reservoir columns; /* keeps no elements */
    int64_t most;            /* rows of the block that was begun */
    uint64_t blocks;         /* begun so far */
    bool has_text;           /* there are columns of strings' headers */
    size_t text;             /* bytes of the present block's strings */
    bool full;
    /* Found by address, so that what many rows point into is held once. One that had to make room
     * for another is held twice, which is only a waste. */
    leati_join_source held[LEATI_JOIN_SOURCES];
} leati_join;

LEAT_WARN_UNUSED leat_status leati_join_init(leati_join *join, const leat_spec *spec,
                                             leat_error *err);
void leati_join_fini(leati_join *join);

/* Prepares `out` for join->most rows, at most `want`; out->n is 0. On failure `out` is empty. */
LEAT_WARN_UNUSED leat_status leati_join_begin(leati_join *join, int64_t want, leati_block *out,
                                              leat_error *err);
/* Appends the first *n rows (at least 1) of `block` from `begin` on, for which there must be room,
 * or as many as fill the block; *n says how many. Without memory none. */
LEAT_WARN_UNUSED leat_status leati_join_rows(leati_join *join, const leati_block *block,
                                             int64_t begin, int64_t *n, leati_block *out,
                                             leat_error *err);
/* Should the block be handed on? */
static inline bool leati_join_full(const leati_join *join, const leati_block *out) {
    return join->full || out->n >= join->most;
}

#endif
