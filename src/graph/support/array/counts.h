/* What shape and size share: the integer type of the result as attribute. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_COUNTS_H
#define LEATI_GRAPH_SUPPORT_ARRAY_COUNTS_H

#include "graph/support/support.h"

struct leati_counts_args {
    leat_dtype out_type;
};

extern const leati_row leati_counts_rows[];

LEAT_WARN_UNUSED leat_status leati_counts_check(const struct leati_counts_args *args,
                                                leat_error *err);
/* Writes `count` numbers into every row of output 0. */
void leati_counts_write(leati_kernel_call *call, const int64_t *numbers, int64_t count);

#endif
