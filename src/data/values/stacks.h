/* The ragged and sparse leaves of a batch that is being gathered: references to the rows' values,
 * stacked when the batch is complete. {0} is closed. */
#ifndef LEATI_DATA_VALUES_STACKS_H
#define LEATI_DATA_VALUES_STACKS_H

#include "data/values/leaves.h"

typedef struct leati_stacks {
    leati_leaves leaves; /* of the input's elements, dense ones too */
    int parts;           /* components of the ragged and sparse ones together */
    leat_tensor *values; /* row r has values[r * parts] and those behind it */
    size_t count, capacity;
} leati_stacks;

LEAT_WARN_UNUSED leat_status leati_stacks_init(leati_stacks *stacks, const leat_spec *spec,
                                               leat_error *err);
void leati_stacks_fini(leati_stacks *stacks);

/* Adds rows [begin, begin + n) of `block`. On failure nothing was added. */
LEAT_WARN_UNUSED leat_status leati_stacks_add(leati_stacks *stacks, const leati_block *block,
                                              int64_t begin, int64_t n, leat_error *err);
/* Drops what was added. */
void leati_stacks_clear(leati_stacks *stacks);

/* The number of components of a batch, and where those of leaf number `leaf` stand in it. */
int leati_stacks_columns(const leati_stacks *stacks, int leaf);
/* Stacks what was added of leaf number `leaf`, a ragged or sparse one, into columns of `out`, which
 * is prepared. INVALID_ARGUMENT where the rows cannot stand in one batch. */
LEAT_WARN_UNUSED leat_status leati_stacks_put(const leati_stacks *stacks, int leaf,
                                              leati_block *out, leat_error *err);

#endif
