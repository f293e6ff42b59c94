/* Poisson: the mean of prediction - label * log(prediction + 1e-7) of a row (keras.losses.Poisson).
 * Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value poisson(leat_value labels, leat_value predictions) {
    leat_value safe = leat_op_add(predictions, leati_loss_number_like(predictions, 1e-7));
    leat_value part = leat_op_multiply(labels, leat_op_log(safe));
    return leati_loss_mean_of_last(leat_op_subtract(predictions, part));
}

LEATI_PLAIN_LOSS(poisson, "Poisson", "poisson", "The mean of prediction - label * log(prediction)",
                 poisson)
