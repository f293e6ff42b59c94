/* MeanSquaredLogarithmicError: the mean of the squared differences of
 * log(x + 1) of a row, x at least 1e-7 (keras.losses.MeanSquaredLogarithmicError).
 * Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value mean_squared_logarithmic_error(leat_value labels, leat_value predictions) {
    leat_value least = leati_loss_number_like(predictions, 1e-7),
               one = leati_loss_number_like(predictions, 1);
    leat_value a = leat_op_log(leat_op_add(leat_op_maximum(predictions, least), one));
    leat_value b = leat_op_log(leat_op_add(leat_op_maximum(labels, least), one));
    return leati_loss_mean_of_last(leat_op_square(leat_op_subtract(a, b)));
}

LEATI_PLAIN_LOSS(mean_squared_logarithmic_error, "MeanSquaredLogarithmicError",
                 "mean_squared_logarithmic_error", "The mean squared difference of logarithms",
                 mean_squared_logarithmic_error)
