/* MeanAbsoluteError: the mean of the absolute differences of a row
 * (keras.losses.MeanAbsoluteError). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value mean_absolute_error(leat_value labels, leat_value predictions) {
    return leati_loss_mean_of_last(leat_op_abs(leat_op_subtract(predictions, labels)));
}

LEATI_PLAIN_LOSS(mean_absolute_error, "MeanAbsoluteError", "mean_absolute_error",
                 "The mean absolute difference", mean_absolute_error)
