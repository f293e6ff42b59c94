/* Directions of vectors. Failures are the graph's. No state, no locks. */
#include "train/support/similarity.h"
#include "graph/support/support.h"

/* Vectors of length 1 along the axis; shorter ones than 1e-7 are multiplied by 1e7. */
static leat_value of_length_one(leat_value x, int64_t axis) {
    leat_value squares = leat_op_reduce_sum(leat_op_square(x), &axis, 1, true);
    /* The square of 1e-7: vectors of length 0 stay 0. */
    return leat_op_multiply(
        x, leat_op_rsqrt(leat_op_maximum(squares, leati_loss_number_like(x, 1e-14))));
}

leat_value leati_similarity_cosine(leat_value x, leat_value y, int64_t axis) {
    leat_value product = leat_op_multiply(of_length_one(x, axis), of_length_one(y, axis));
    return leat_op_reduce_sum(product, &axis, 1, false);
}
