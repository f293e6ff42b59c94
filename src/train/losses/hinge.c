/* Hinge: the mean of max(1 - label * prediction, 0) of a row, labels 0 and 1 standing
 * for -1 and 1 (keras.losses.Hinge).
 * Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value hinge(leat_value labels, leat_value predictions) {
    leat_value one = leati_loss_number_like(predictions, 1);
    leat_value signs = leati_loss_signed_labels(labels);
    leat_value distance = leat_op_subtract(one, leat_op_multiply(signs, predictions));
    leat_value over = leat_op_maximum(distance, leati_loss_number_like(predictions, 0));
    return leati_loss_mean_of_last(over);
}

LEATI_PLAIN_LOSS(hinge, "Hinge", "hinge", "The mean of max(1 - label * prediction, 0)", hinge)
