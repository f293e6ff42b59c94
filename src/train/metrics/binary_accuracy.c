/* BinaryAccuracy: how often predictions above a threshold equal the labels 0 and 1
 * (keras.metrics.BinaryAccuracy). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

struct binary_accuracy_args {
    struct leati_metric_args shared;
    double threshold;
};

static const leati_row binary_accuracy_rows[] = {
    {.name = "threshold",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct binary_accuracy_args, threshold),
     .default_number = 0.5,
     .doc = "What a prediction must exceed to mean 1."},
    LEATI_METRIC_ROWS,
    {0},
};

static leat_value binary_accuracy_values(const void *arguments, const leat_value *inputs) {
    const struct binary_accuracy_args *args = arguments;
    leat_value labels = inputs[0], predictions = inputs[1];
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value above =
        leat_op_greater(predictions, leati_loss_number_like(predictions, args->threshold));
    return leat_op_equal(labels, leat_op_cast(above, leat_value_dtype(labels)));
}

const leati_metric_kind leati_metric_binary_accuracy = {
    .kind =
        {
            .name = "BinaryAccuracy",
            .doc = "How often predictions above the threshold are the labels 1 "
                   "(keras.metrics.BinaryAccuracy).",
            .rows = binary_accuracy_rows,
            .signature = "name=\"binary_accuracy\" dtype threshold",
            .args_size = sizeof(struct binary_accuracy_args),
        },
    .prefix = "binary_accuracy",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = binary_accuracy_values,
};
