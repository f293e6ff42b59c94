/* What argmax and argmin share. The first of equals is found; a NaN never wins over a number that
 * came before. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_ARG_H
#define LEATI_GRAPH_SUPPORT_MATH_ARG_H

#include "graph/support/support.h"

struct leati_arg_args {
    int64_t axis;
    leat_dtype output_type;
};

extern const leati_row leati_arg_rows[];

LEAT_WARN_UNUSED leat_status leati_arg_infer(leati_infer_call *call, bool smallest,
                                             leat_error *err);
LEAT_WARN_UNUSED leat_status leati_arg_kernel(leati_kernel_call *call, bool smallest,
                                              leat_error *err);

#endif
