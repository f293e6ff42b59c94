/* RootMeanSquaredError: the root of the mean squared difference
 * (keras.metrics.RootMeanSquaredError). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

static const leati_row root_mean_squared_error_rows[] = {
    LEATI_METRIC_ROWS,
    {0},
};

static leat_value root_mean_squared_error_values(const void *args, const leat_value *inputs) {
    (void)args;
    leat_value labels = inputs[0], predictions = inputs[1];
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    return leat_op_square(leat_op_subtract(predictions, labels));
}

static leat_value root_mean_squared_error_result(const void *args, const leat_value *states) {
    (void)args;
    return leat_op_sqrt(leati_loss_divide_no_nan(states[0], states[1]));
}

const leati_metric_kind leati_metric_root_mean_squared_error = {
    .kind =
        {
            .name = "RootMeanSquaredError",
            .doc = "The root of the mean squared difference (keras.metrics.RootMeanSquaredError).",
            .rows = root_mean_squared_error_rows,
            .signature = "name=\"root_mean_squared_error\" dtype",
            .args_size = sizeof(struct leati_metric_args),
        },
    .prefix = "root_mean_squared_error",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = root_mean_squared_error_values,
    .result = root_mean_squared_error_result,
};
