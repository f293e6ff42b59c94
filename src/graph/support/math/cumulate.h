/* What cumsum and cumprod share: running totals along a dimension. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_CUMULATE_H
#define LEATI_GRAPH_SUPPORT_MATH_CUMULATE_H

#include "graph/support/support.h"

struct leati_cumulate_args {
    int64_t axis;
    bool exclusive, reverse;
};

extern const leati_row leati_cumulate_rows[];

LEAT_WARN_UNUSED leat_status leati_cumulate_infer(leati_infer_call *call, leat_error *err);
/* Totals by `product` or sum; floats narrower than float32 add up in float. */
LEAT_WARN_UNUSED leat_status leati_cumulate_kernel(leati_kernel_call *call, bool product,
                                                   leat_error *err);
leat_value leati_cumulate_build(const leati_tensor_op *op, leat_value x, int64_t axis,
                                bool exclusive, bool reverse);

#endif
