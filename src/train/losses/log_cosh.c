/* LogCosh: the mean of log(cosh(prediction - label)) of a row (keras.losses.LogCosh).
 * Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value log_cosh(leat_value labels, leat_value predictions) {
    leat_value x = leat_op_subtract(predictions, labels);
    leat_value soft = leat_op_softplus(leati_support_times(x, -2));
    leat_value part =
        leat_op_subtract(leat_op_add(x, soft), leati_loss_number_like(x, 0.69314718055994531));
    return leati_loss_mean_of_last(part);
}

LEATI_PLAIN_LOSS(log_cosh, "LogCosh", "log_cosh",
                 "The mean logarithm of the hyperbolic cosine of the difference", log_cosh)
