/* One block out of rows of several: what operators need that read inputs in turns. Rows of fixed
 * size are copied side by side (into the consumer's destinations where they fit), others are
 * references. */
#ifndef LEATI_DATA_JOIN_H
#define LEATI_DATA_JOIN_H

#include "data/reservoir.h"

/* Describes the columns and owns the pools; one per operator state. {0} is closed. */
typedef struct leati_join {
    leati_reservoir columns; /* keeps no elements */
    int64_t most;            /* rows of the block that was begun */
} leati_join;

LEAT_WARN_UNUSED leat_status leati_join_init(leati_join *join, const leat_spec *spec,
                                             leat_error *err);
void leati_join_fini(leati_join *join);

/* Prepares `out` for up to *most rows, at most `want`; out->n is 0. On failure `out` is empty. */
LEAT_WARN_UNUSED leat_status leati_join_begin(leati_join *join, int64_t want, leati_block *out,
                                              int64_t *most, leat_error *err);
/* Appends rows [begin, begin + n) of `block`, for which there must be room. */
void leati_join_rows(leati_join *join, const leati_block *block, int64_t begin, int64_t n,
                     leati_block *out);

#endif
