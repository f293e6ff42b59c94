/* What zeros and ones share: a shape and a dtype, and the same value everywhere. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_FILLED_H
#define LEATI_GRAPH_SUPPORT_ARRAY_FILLED_H

#include "graph/support/support.h"

struct leati_filled_args {
    leat_shape shape;
    leat_dtype dtype;
};

extern const leati_row leati_filled_rows[];

LEAT_WARN_UNUSED leat_status leati_filled_infer(leati_infer_call *call, leat_error *err);
/* Fills output 0 with `number`; strings are empty where it is 0. */
LEAT_WARN_UNUSED leat_status leati_filled_kernel(leati_kernel_call *call, double number,
                                                 leat_error *err);

#endif
