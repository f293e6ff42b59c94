/* ConcordanceCorrelation, PearsonCorrelation: the mean coefficient of agreement, or of linear
 * correlation, between labels and predictions along some dimensions
 * (keras.metrics.ConcordanceCorrelation and PearsonCorrelation). As Keras computes it, the labels
 * of the first are taken from the mean of the predictions. Values that are all equal give NaN in
 * the second, as in Keras. Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

struct correlation_args {
    struct leati_metric_args shared;
    leati_ints axis;
};

static const leati_row correlation_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct correlation_args, axis),
     .doc = "The dimension, or dimensions, along which values are compared; -1 by default."},
    LEATI_METRIC_ROWS,
    {0},
};

/* The mean along these axes (none: the last). */
static leat_value mean_over(leat_value x, const leati_ints *axes, bool keepdims) {
    const int64_t last = -1;
    return axes->count > 0 ? leat_op_reduce_mean(x, axes->values, axes->count, keepdims)
                           : leat_op_reduce_mean(x, &last, 1, keepdims);
}

/* Along these axes: values less their mean, and their biased variance, with dimensions of size 1 in
 * place. */
static void center(leat_value x, const leati_ints *axes, leat_value *mean, leat_value *rest,
                   leat_value *variance) {
    *mean = mean_over(x, axes, true);
    *rest = leat_op_subtract(x, *mean);
    /* Centred once more: rounding leaves a mean in the rest, and Keras' variance takes it off. */
    leat_value offset = leat_op_subtract(*rest, mean_over(*rest, axes, true));
    *variance = mean_over(leat_op_square(offset), axes, true);
}

static leat_value concordance_values(const void *arguments, const leat_value *inputs) {
    const struct correlation_args *args = arguments;
    leat_value labels = inputs[0], predictions = inputs[1], x, y, x_mean, y_mean, x_var, y_var;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    center(labels, &args->axis, &x_mean, &x, &x_var);
    center(predictions, &args->axis, &y_mean, &y, &y_var);
    /* Labels less the mean of the predictions, as Keras has it, not less their own. */
    leat_value product = leat_op_multiply(leat_op_subtract(labels, y_mean), y);
    leat_value norm =
        leat_op_add(leat_op_add(x_var, y_var), leat_op_square(leat_op_subtract(x_mean, y_mean)));
    /* Constant labels and predictions that agree divide by 0 otherwise. */
    leat_value part = leat_op_divide(leati_support_times(product, 2),
                                     leat_op_add(norm, leati_loss_number_like(norm, 1e-7)));
    return mean_over(part, &args->axis, false);
}

static leat_value pearson_values(const void *arguments, const leat_value *inputs) {
    const struct correlation_args *args = arguments;
    leat_value labels = inputs[0], predictions = inputs[1], x, y, mean, variance;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    center(labels, &args->axis, &mean, &x, &variance);
    x = leat_op_divide(x, leat_op_sqrt(variance));
    center(predictions, &args->axis, &mean, &y, &variance);
    y = leat_op_divide(y, leat_op_sqrt(variance));
    return mean_over(leat_op_multiply(x, y), &args->axis, false);
}

/* The descriptor of one metric. */
#define CORRELATION(ID, CLASS, DOC, VALUES)                                                        \
    const leati_metric_kind leati_metric_##ID = {                                                  \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.metrics." CLASS ").",                                          \
                .rows = correlation_rows,                                                          \
                .signature = "name=\"" #ID "\" dtype axis=-1",                                     \
                .args_size = sizeof(struct correlation_args),                                      \
            },                                                                                     \
        .prefix = #ID,                                                                             \
        .num_values = 2,                                                                           \
        .takes = "labels and predictions",                                                         \
        .values = VALUES,                                                                          \
    };
CORRELATION(concordance_correlation, "ConcordanceCorrelation",
            "How far predictions agree with labels", concordance_values)
CORRELATION(pearson_correlation, "PearsonCorrelation",
            "How far labels and predictions lie on one line", pearson_values)
