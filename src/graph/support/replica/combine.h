/* Pieces of one dtype combined in place: what scatters and segments do with each slice.
 *
 * Integers wrap; float16 and bfloat16 are combined in float and rounded each time. */
#ifndef LEATI_GRAPH_SUPPORT_REPLICA_COMBINE_H
#define LEATI_GRAPH_SUPPORT_REPLICA_COMBINE_H

#include "graph/support/support.h"

typedef enum leati_combine_kind {
    LEATI_COMBINE_SUM = 0,
    LEATI_COMBINE_DIFFERENCE,
    LEATI_COMBINE_PRODUCT,
    LEATI_COMBINE_MINIMUM,
    LEATI_COMBINE_MAXIMUM,
    /* Which of two that cannot be compared (NaN) or are equal (0.0, -0.0) stays: the one that
     * comes; above it is the one that is there. */
    LEATI_COMBINE_LATER_MINIMUM,
    LEATI_COMBINE_LATER_MAXIMUM
} leati_combine_kind;

/* to[i] = to[i] with from[i], for n values. */
typedef void (*leati_combine_function)(char *to, const char *from, int64_t n);

/* NULL for a dtype that is no number, and of minima and maxima for complex ones. */
leati_combine_function leati_combine_of(leati_combine_kind kind, leat_dtype dtype);
/* Fills n values with what leaves every other value as it is: 0 for sums, 1 for products, the
 * highest and the lowest finite number for minima and maxima. */
void leati_combine_start(leati_combine_kind kind, leat_dtype dtype, char *to, int64_t n);
/* INVALID_ARGUMENT unless input `index` has numbers that combine so. */
LEAT_WARN_UNUSED leat_status leati_combine_want(const leati_infer_call *call,
                                                leati_combine_kind kind, int index,
                                                const char *what, leat_error *err);

#endif
