/* MeanSquaredError: the mean of the squared differences of a row (keras.losses.MeanSquaredError).
 * Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value mean_squared_error(leat_value labels, leat_value predictions) {
    return leati_loss_mean_of_last(leat_op_square(leat_op_subtract(predictions, labels)));
}

LEATI_PLAIN_LOSS(mean_squared_error, "MeanSquaredError", "mean_squared_error",
                 "The mean squared difference", mean_squared_error)
