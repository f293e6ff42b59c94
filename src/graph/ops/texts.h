/* Writing strings: operations whose results are new bytes.
 *
 * All bytes of a call lie in one piece that lives as long as the output: a first pass adds lengths,
 * a second writes. */
#ifndef LEATI_GRAPH_OPS_TEXTS_H
#define LEATI_GRAPH_OPS_TEXTS_H

#include "graph/ops/support.h"

static inline leat_string *leati_strings_of(const leati_operand *operand, int64_t row) {
    return (leat_string *)(void *)leati_row_of(operand, row);
}

/* Writes value `index` of row `row` to `to`, or where that is NULL only computes; returns the
 * length. */
typedef size_t (*leati_text_function)(const leati_kernel_call *call, int64_t row, int64_t index,
                                      char *to);
/* Fills output 0, which has its memory. */
LEAT_WARN_UNUSED leat_status leati_write_texts(leati_kernel_call *call,
                                               leati_text_function function, leat_error *err);

#endif
