/* How gather and its gradient see the tensor: in each batch `outer` pieces before the axis, `dim`
 * along it, `inner` values behind, and `count` indices. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_GATHER_H
#define LEATI_GRAPH_SUPPORT_ARRAY_GATHER_H

#include "graph/support/support.h"

struct leati_gather_args {
    int64_t axis, batch_dims; /* axis INT64_MIN: batch_dims */
};

extern const leati_row leati_gather_rows[];

typedef struct leati_gather_plan {
    int64_t batch, outer, dim, inner, count;
} leati_gather_plan;

LEAT_WARN_UNUSED leat_status leati_gather_plan_of(const struct leati_gather_args *args,
                                                  const leati_operand *params,
                                                  const leati_operand *indices,
                                                  leati_gather_plan *plan, leat_error *err);
/* Index `i` of row `row`; INVALID_ARGUMENT outside [0, dim), with the row noted in the call. */
LEAT_WARN_UNUSED leat_status leati_gather_index(leati_kernel_call *call,
                                                const leati_operand *indices, int64_t row,
                                                int64_t i, int64_t dim, int64_t *out,
                                                leat_error *err);

#endif
