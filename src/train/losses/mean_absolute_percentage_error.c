/* MeanAbsolutePercentageError: 100 times the mean of the absolute
 * differences over the labels of a row, labels at least 1e-7
 * (keras.losses.MeanAbsolutePercentageError). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value mean_absolute_percentage_error(leat_value labels, leat_value predictions) {
    leat_value divisor = leat_op_maximum(leat_op_abs(labels), leati_loss_number_like(labels, 1e-7));
    leat_value part = leat_op_abs(leat_op_divide(leat_op_subtract(labels, predictions), divisor));
    return leati_support_times(leati_loss_mean_of_last(part), 100);
}

LEATI_PLAIN_LOSS(mean_absolute_percentage_error, "MeanAbsolutePercentageError",
                 "mean_absolute_percentage_error",
                 "The mean absolute difference in percent of the label",
                 mean_absolute_percentage_error)
