/* PearsonCorrelation: the mean coefficient of linear correlation between labels and predictions
 * (keras.metrics.PearsonCorrelation). Values that are all equal give NaN, as in Keras. Failures are
 * the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/metric.h"
#include "train/support/similarity.h"

struct pearson_args {
    struct leati_metric_args shared;
    leati_ints axis;
};

static const leati_row pearson_rows[] = {
    LEATI_AXES_OF_MEAN_ROW(struct pearson_args), LEATI_METRIC_ROWS, {0}};

static leat_value pearson_values(const void *arguments, const leat_value *inputs) {
    const struct pearson_args *args = arguments;
    leat_value labels = inputs[0], predictions = inputs[1], x, y, mean, variance;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leati_similarity_center(labels, &args->axis, &mean, &x, &variance);
    x = leat_op_divide(x, leat_op_sqrt(variance));
    leati_similarity_center(predictions, &args->axis, &mean, &y, &variance);
    y = leat_op_divide(y, leat_op_sqrt(variance));
    return leati_similarity_mean_over(leat_op_multiply(x, y), &args->axis, false);
}

const leati_metric_kind leati_metric_pearson_correlation = {
    .kind =
        {
            .name = "PearsonCorrelation",
            .doc = "How far labels and predictions lie on one line "
                   "(keras.metrics.PearsonCorrelation).",
            .rows = pearson_rows,
            .signature = "name=\"pearson_correlation\" dtype axis=-1",
            .args_size = sizeof(struct pearson_args),
        },
    .prefix = "pearson_correlation",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = pearson_values,
};
