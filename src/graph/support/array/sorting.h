/* What sort, argsort and top_k share: the order of the values of a line. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_SORTING_H
#define LEATI_GRAPH_SUPPORT_ARRAY_SORTING_H

#include "graph/support/support.h"

struct leati_sort_args {
    int64_t axis;
    char *direction;
    bool stable;
};

extern const leati_row leati_sort_rows[];    /* axis, direction */
extern const leati_row leati_argsort_rows[]; /* and stable */

/* Numbers and a known axis; the output has the input's shape. */
LEAT_WARN_UNUSED leat_status leati_sorting_infer(leati_infer_call *call, leat_dtype dtype,
                                                 leat_error *err);
/* Fills output 0 with the sorted values, or with their places as int32. */
LEAT_WARN_UNUSED leat_status leati_sorting_kernel(leati_kernel_call *call, bool places,
                                                  leat_error *err);
/* The places of n values, `step` values apart, in order: equal ones stay as they stand, NaN is last
 * going up and first going down. `places` and `scratch` have room for n. */
void leati_sorting_line(leat_dtype dtype, const char *data, int64_t n, int64_t step,
                        bool descending, int64_t *places, int64_t *scratch);
/* Is there an order for values of this dtype? */
bool leati_sorting_knows(leat_dtype dtype);

#endif
