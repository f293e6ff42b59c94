/* ConcordanceCorrelation: the mean coefficient of agreement between labels and predictions
 * (keras.metrics.ConcordanceCorrelation). As Keras computes it, labels are taken from the mean of
 * the predictions. Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/metric.h"
#include "train/support/similarity.h"

struct concordance_args {
    struct leati_metric_args shared;
    leati_ints axis;
};

static const leati_row concordance_rows[] = {
    LEATI_AXES_OF_MEAN_ROW(struct concordance_args), LEATI_METRIC_ROWS, {0}};

static leat_value concordance_values(const void *arguments, const leat_value *inputs) {
    const struct concordance_args *args = arguments;
    leat_value labels = inputs[0], predictions = inputs[1], x, y, x_mean, y_mean, x_var, y_var;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leati_similarity_center(labels, &args->axis, &x_mean, &x, &x_var);
    leati_similarity_center(predictions, &args->axis, &y_mean, &y, &y_var);
    leat_value product = leat_op_multiply(leat_op_subtract(labels, y_mean), y);
    leat_value norm =
        leat_op_add(leat_op_add(x_var, y_var), leat_op_square(leat_op_subtract(x_mean, y_mean)));
    leat_value part = leat_op_divide(leati_support_times(product, 2),
                                     leat_op_add(norm, leati_loss_number_like(norm, 1e-7)));
    return leati_similarity_mean_over(part, &args->axis, false);
}

const leati_metric_kind leati_metric_concordance_correlation = {
    .kind =
        {
            .name = "ConcordanceCorrelation",
            .doc = "How far predictions agree with labels (keras.metrics.ConcordanceCorrelation).",
            .rows = concordance_rows,
            .signature = "name=\"concordance_correlation\" dtype axis=-1",
            .args_size = sizeof(struct concordance_args),
        },
    .prefix = "concordance_correlation",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = concordance_values,
};
