/* The copy that concat and stack share: for each place before the axis, every input's values from
 * the axis on, one input after the other. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_JOIN_H
#define LEATI_GRAPH_SUPPORT_ARRAY_JOIN_H

#include "graph/support/support.h"

/* Output 0 has its shape and memory; `outer` is the product of its dimensions before the axis. */
LEAT_WARN_UNUSED leat_status leati_array_join(leati_kernel_call *call, int64_t outer,
                                              leat_error *err);

/* The join axis as a row, for both operations: an argument struct that is this. */
struct leati_axis_args {
    int64_t axis;
};
extern const leati_row leati_axis_rows[];

#endif
