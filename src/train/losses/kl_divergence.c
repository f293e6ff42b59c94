/* KLDivergence: the sum of label * log(label / prediction) of a row, both between 1e-7
 * and 1 (keras.losses.KLDivergence).
 * Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

static leat_value kl_divergence(leat_value labels, leat_value predictions) {
    const int64_t last[1] = {-1};
    leat_value low = leati_loss_number_like(predictions, 1e-7),
               high = leati_loss_number_like(predictions, 1);
    labels = leat_op_minimum(leat_op_maximum(labels, low), high);
    predictions = leat_op_minimum(leat_op_maximum(predictions, low), high);
    leat_value ratio = leat_op_log(leat_op_divide(labels, predictions));
    return leat_op_reduce_sum(leat_op_multiply(labels, ratio), last, 1, false);
}

LEATI_PLAIN_LOSS(kl_divergence, "KLDivergence", "kl_divergence", "The divergence of distributions",
                 kl_divergence)
