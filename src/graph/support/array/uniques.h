/* What unique and unique_with_counts share: the values of a vector without repetitions, in the
 * order of their first places.
 *
 * How many there are is data, so rows run one at a time. Values are compared by their bytes,
 * float32 and float64 zeros of either sign alike; every NaN of them is a value of its own. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_UNIQUES_H
#define LEATI_GRAPH_SUPPORT_ARRAY_UNIQUES_H

#include "graph/support/support.h"

struct leati_unique_args {
    leat_dtype out_idx;
};
extern const leati_row leati_unique_rows[];

/* Outputs: the values, each place's number among them and, with `counts`, how often each occurs. */
LEAT_WARN_UNUSED leat_status leati_unique_infer(leati_infer_call *call, bool counts,
                                                leat_error *err);
LEAT_WARN_UNUSED leat_status leati_unique_kernel(leati_kernel_call *call, bool counts,
                                                 leat_error *err);

#endif
