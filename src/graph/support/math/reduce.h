/* The engine of reductions: sums, means, products, maxima and minima over any set of dimensions,
 * rows apart.
 *
 * Sums of floats are kept in double and of integers in 64 bits that wrap. The order in which values
 * are joined is fixed by the shape: it depends neither on threads nor on instruction sets. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_REDUCE_H
#define LEATI_GRAPH_SUPPORT_MATH_REDUCE_H

#include "graph/support/support.h"

typedef enum leati_reduce_kind {
    LEATI_REDUCE_SUM = 0,
    LEATI_REDUCE_MEAN,
    LEATI_REDUCE_MAX,
    LEATI_REDUCE_MIN,
    LEATI_REDUCE_PROD,
    LEATI_REDUCE_SQUARES, /* the sum of squares, of float32 and float64 */
    LEATI_REDUCE_COUNT    /* how many are not 0, as int64: of bool, int32 and float32 */
} leati_reduce_kind;

struct leati_reduce_args {
    leati_ints axis;
    bool keepdims;
};

/* Which dimensions of an input of `rank` the axes name; none named: all. */
LEAT_WARN_UNUSED leat_status leati_reduce_mask(const leati_ints *axes, int32_t rank, bool *mask,
                                               leat_error *err);
/* The shape of a result: masked dimensions left out, or 1. */
leat_shape leati_reduce_shape(const leat_shape *in, const bool *mask, bool keepdims);
/* One output of that shape and `dtype`; the arguments begin with leati_reduce_args. */
LEAT_WARN_UNUSED leat_status leati_reduce_infer_as(leati_infer_call *call, leat_dtype dtype,
                                                   leat_error *err);
/* Input 0 reduced over the masked dimensions into output 0, which has its memory. */
LEAT_WARN_UNUSED leat_status leati_reduce(leati_kernel_call *call, const bool *mask,
                                          leati_reduce_kind kind, leat_error *err);
/* The same of complex numbers: sums, means and products. */
LEAT_WARN_UNUSED leat_status leati_reduce_complex(leati_kernel_call *call, const bool *mask,
                                                  leati_reduce_kind kind, leat_error *err);

#endif
