/* Sums over the dimensions of a region. Failures are the graph's. No state, no locks. */
#include "train/support/overlap.h"

leat_value leati_overlap_sum_over(leat_value value, const leati_ints *axes) {
    return leat_op_reduce_sum(value, axes->count > 0 ? axes->values : NULL, axes->count, false);
}
