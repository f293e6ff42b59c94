/* CategoricalAccuracy: how often the largest prediction is at the place of the largest label
 * (keras.metrics.CategoricalAccuracy). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

static const leati_row categorical_accuracy_rows[] = {
    LEATI_METRIC_ROWS,
    {0},
};

static leat_value categorical_accuracy_values(const void *args, const leat_value *inputs) {
    (void)args;
    leat_value labels = leat_op_argmax(inputs[0], -1, LEAT_INT64);
    return leat_op_equal(labels, leat_op_argmax(inputs[1], -1, LEAT_INT64));
}

const leati_metric_kind leati_metric_categorical_accuracy = {
    .kind =
        {
            .name = "CategoricalAccuracy",
            .doc = "How often the largest prediction is at the place of the largest label "
                   "(keras.metrics.CategoricalAccuracy).",
            .rows = categorical_accuracy_rows,
            .signature = "name=\"categorical_accuracy\" dtype",
            .args_size = sizeof(struct leati_metric_args),
        },
    .prefix = "categorical_accuracy",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = categorical_accuracy_values,
};
