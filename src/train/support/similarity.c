/* Directions of vectors, and their means and variances along some dimensions, as Keras' regression
 * metrics take them. Failures are the graph's. No state, no locks. */
#include "train/support/similarity.h"
#include "graph/support/support.h"

/* Vectors of length 1 along the axis; shorter ones than 1e-7 are multiplied by 1e7. */
static leat_value of_length_one(leat_value x, int64_t axis) {
    leat_value squares = leat_op_reduce_sum(leat_op_square(x), &axis, 1, true);
    return leat_op_multiply(
        x, leat_op_rsqrt(leat_op_maximum(squares, leati_loss_number_like(x, 1e-14))));
}

leat_value leati_similarity_cosine(leat_value x, leat_value y, int64_t axis) {
    leat_value product = leat_op_multiply(of_length_one(x, axis), of_length_one(y, axis));
    return leat_op_reduce_sum(product, &axis, 1, false);
}

leat_value leati_similarity_mean_over(leat_value x, const leati_ints *axes, bool keepdims) {
    const int64_t last = -1;
    return axes->count > 0 ? leat_op_reduce_mean(x, axes->values, axes->count, keepdims)
                           : leat_op_reduce_mean(x, &last, 1, keepdims);
}

void leati_similarity_center(leat_value x, const leati_ints *axes, leat_value *mean,
                             leat_value *rest, leat_value *variance) {
    *mean = leati_similarity_mean_over(x, axes, true);
    *rest = leat_op_subtract(x, *mean);
    leat_value offset = leat_op_subtract(*rest, leati_similarity_mean_over(*rest, axes, true));
    *variance = leati_similarity_mean_over(leat_op_square(offset), axes, true);
}
