/* Mean, Sum, RootMeanSquaredError: of all values, weighted if there are weights, the mean or the
 * sum, or of squared differences the root of the mean (keras.metrics.Mean and its like). Failures
 * are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

static const leati_row plain_rows[] = {LEATI_METRIC_ROWS, {0}};

static leat_value mean_values(const void *args, const leat_value *inputs) {
    (void)args;
    return inputs[0];
}

leat_metric *leat_metric_mean(const char *name, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const struct leati_metric_args args = {.name = leati_kind_borrow_text(name)};
    return leati_metric_new(&leati_metric_mean, &args, err);
}

static void sum_states(const void *args, leati_weights *out) {
    (void)args;
    out->list[out->count++] =
        (leati_weight){.name = "total", .initializer = "zeros", .fixed = true};
}

static void sum_update(const leati_pass *pass) {
    leat_value values = leati_metric_as_state(pass, pass->inputs[0]);
    if (pass->sample_weight != NULL) {
        leat_value weights = leati_metric_as_state(pass, *pass->sample_weight);
        leati_loss_same_rank(&values, &weights);
        int64_t axes[LEAT_MAX_RANK];
        int32_t rank = leat_value_shape(values).rank, first = leat_value_shape(weights).rank;
        for (int32_t d = first; d < rank; d++)
            axes[d - first] = d;
        /* Sums over what the weights lack, before they are multiplied: a weight counts for all of
         * it. */
        if (rank > first)
            values = leat_op_reduce_sum(values, axes, rank - first, false);
        values = leat_op_multiply(values, weights);
    }
    leat_value sum = leat_op_reduce_sum(values, NULL, 0, false);
    pass->updates[0] = leat_op_add(pass->weights[0], sum);
}

static leat_value sum_result(const void *args, const leat_value *states) {
    (void)args;
    return states[0];
}

static leat_value root_mean_squared_error_values(const void *args, const leat_value *inputs) {
    (void)args;
    leat_value labels = inputs[0], predictions = inputs[1];
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    return leat_op_square(leat_op_subtract(predictions, labels));
}

static leat_value root_mean_squared_error_result(const void *args, const leat_value *states) {
    (void)args;
    /* Of the mean over all batches: a mean of their roots would be another number. */
    return leat_op_sqrt(leati_loss_divide_no_nan(states[0], states[1]));
}

const leati_metric_kind leati_metric_mean = {
    .kind =
        {
            .name = "Mean",
            .doc = "The mean of all values (keras.metrics.Mean).",
            .rows = plain_rows,
            .signature = "name=\"mean\" dtype",
            .args_size = sizeof(struct leati_metric_args),
        },
    .prefix = "mean",
    .num_values = 1,
    .takes = "values",
    .values = mean_values,
};

const leati_metric_kind leati_metric_sum = {
    .kind =
        {
            .name = "Sum",
            .doc = "The sum of all values (keras.metrics.Sum).",
            .rows = plain_rows,
            .signature = "name=\"sum\" dtype",
            .args_size = sizeof(struct leati_metric_args),
        },
    .prefix = "sum",
    .num_values = 1,
    .takes = "values",
    .states = sum_states,
    .update = sum_update,
    .result = sum_result,
};

const leati_metric_kind leati_metric_root_mean_squared_error = {
    .kind =
        {
            .name = "RootMeanSquaredError",
            .doc = "The root of the mean squared difference (keras.metrics.RootMeanSquaredError).",
            .rows = plain_rows,
            .signature = "name=\"root_mean_squared_error\" dtype",
            .args_size = sizeof(struct leati_metric_args),
        },
    .prefix = "root_mean_squared_error",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = root_mean_squared_error_values,
    .result = root_mean_squared_error_result,
};
