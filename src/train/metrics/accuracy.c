/* Accuracy: how often predictions equal labels (keras.metrics.Accuracy). Failures
 * are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

static const leati_row accuracy_rows[] = {
    LEATI_METRIC_ROWS,
    {0},
};

static leat_value accuracy_values(const void *args, const leat_value *inputs) {
    (void)args;
    leat_value labels = inputs[0], predictions = inputs[1];
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    return leat_op_equal(labels, predictions);
}

const leati_metric_kind leati_metric_accuracy = {
    .kind =
        {
            .name = "Accuracy",
            .doc = "How often predictions equal labels (keras.metrics.Accuracy).",
            .rows = accuracy_rows,
            .signature = "name=\"accuracy\" dtype",
            .args_size = sizeof(struct leati_metric_args),
        },
    .prefix = "accuracy",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = accuracy_values,
};
