/* Clipping to what another dtype holds, which saturate_cast and convert_image_dtype share. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_SATURATE_H
#define LEATI_GRAPH_SUPPORT_MATH_SATURATE_H

#include "graph/support/support.h"
#include <math.h>

/* Bits of an integer's magnitude: its largest value is 2^bits - 1. */
static inline int leati_saturate_bits(leat_dtype dtype) {
    int bits = (int)leat_dtype_size(dtype) * 8;
    return dtype >= LEAT_INT8 && dtype <= LEAT_INT64 ? bits - 1 : bits;
}

static inline double leati_saturate_largest(leat_dtype dtype) {
    return ldexp(1, leati_saturate_bits(dtype)) - 1;
}

/* Stores the bounds, as values of `from`, of what `to` holds; false where none is needed. */
bool leati_saturate_bounds(leat_dtype from, leat_dtype to, void *low, void *high);
/* Clips numbers, in their own dtype, to what `dtype` holds; `out`, which may be `in`, lies in the
 * arena or is `in`. */
LEAT_WARN_UNUSED leat_status leati_saturate(leati_kernel_call *call, const leati_operand *in,
                                            leat_dtype dtype, leati_operand *out, leat_error *err);

#endif
