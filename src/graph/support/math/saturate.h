/* Clipping to what another dtype holds, which saturate_cast and convert_image_dtype share. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_SATURATE_H
#define LEATI_GRAPH_SUPPORT_MATH_SATURATE_H

#include "graph/support/support.h"

/* Stores the bounds, as values of `from`, of what `to` holds; false where none is needed. */
bool leati_saturate_bounds(leat_dtype from, leat_dtype to, void *low, void *high);
/* Clips numbers, in their own dtype, to what `dtype` holds; `out`, which may be `in`, lies in the
 * arena or is `in`. */
LEAT_WARN_UNUSED leat_status leati_saturate(leati_kernel_call *call, const leati_operand *in,
                                            leat_dtype dtype, leati_operand *out, leat_error *err);

#endif
