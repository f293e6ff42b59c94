/* CategoricalHinge: max(best wrong - right + 1, 0) of a row of one-hot labels
 * (keras.losses.CategoricalHinge). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value categorical_hinge(leat_value labels, leat_value predictions) {
    leat_value one = leati_loss_number_like(predictions, 1);
    const int64_t last[1] = {-1};
    leat_value right = leat_op_reduce_sum(leat_op_multiply(labels, predictions), last, 1, false);
    leat_value others = leat_op_multiply(leat_op_subtract(one, labels), predictions);
    leat_value wrong = leat_op_reduce_max(others, last, 1, false);
    leat_value over = leat_op_add(leat_op_subtract(wrong, right), one);
    return leat_op_maximum(over, leati_loss_number_like(over, 0));
}

LEATI_PLAIN_LOSS(categorical_hinge, "CategoricalHinge", "categorical_hinge",
                 "How far the best wrong class comes near the right one", categorical_hinge)
