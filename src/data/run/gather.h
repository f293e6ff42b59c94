/* The rows of one batch, gathered column by column. One thread at a time. */
#ifndef LEATI_DATA_RUN_GATHER_H
#define LEATI_DATA_RUN_GATHER_H

#include "data/values/stacks.h"

/* One component of the batch that is being gathered. */
typedef struct leati_gather_slot {
    leat_buffer *buffer; /* rows, or NULL: not begun */
    leat_buffer *view;   /* all rows so far lie here, from `first` on, and not in `buffer` */
    const char *first;
    leat_dtype dtype;
    leat_shape shape; /* of a row */
    size_t row_bytes;
    bool composite; /* part of a ragged or sparse leaf: its rows are in the stacks */
    /* Buffers of all rows of the static shape; NULL: shapes are not static. */
    leati_buffer_pool *pool;
} leati_gather_slot;

/* The batch that is being gathered. */
typedef struct leati_gather {
    leati_gather_slot *columns;
    leati_stacks stacks;
    leati_destination *destinations; /* NULL: not offered */
    int num_columns;
    size_t element_bytes; /* of a row of all columns; 0: not static */
} leati_gather;

/* For batches of at most `rows` rows. {0} before; leati_gather_close also after a failure. */
LEAT_WARN_UNUSED leat_status leati_gather_open(const leat_spec *spec, int64_t rows,
                                               leati_gather *gather, leat_error *err);
void leati_gather_close(leati_gather *gather);

/* Takes buffers ahead of the rows and describes their free part, from row `filled`; NULL where
 * nothing can be offered, or without memory. Borrowed. */
const leati_destination *leati_gather_offer(leati_gather *gather, int64_t filled, leat_error *err);
/* Appends rows [begin, begin + n) of a block of the input to the `filled` ones of at most `rows`.
 * Unequal shapes give INVALID_ARGUMENT; the rows count as gathered all the same. */
LEAT_WARN_UNUSED leat_status leati_gather_add(leati_gather *gather, const leati_block *block,
                                              int64_t begin, int64_t n, int64_t filled,
                                              int64_t rows, leat_error *err);
/* The gathered rows become the one element of `out`. */
LEAT_WARN_UNUSED leat_status leati_gather_finish(leati_gather *gather, int64_t filled,
                                                 leati_block *out, leat_error *err);
/* Lets go of what was gathered. */
void leati_gather_drop(leati_gather *gather);

#endif
