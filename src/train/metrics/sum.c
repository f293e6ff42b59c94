/* Sum: the sum of all values, or of values times weights (keras.metrics.Sum). Failures
 * are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

static const leati_row sum_rows[] = {
    LEATI_METRIC_ROWS,
    {0},
};

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

const leati_metric_kind leati_metric_sum = {
    .kind =
        {
            .name = "Sum",
            .doc = "The sum of all values (keras.metrics.Sum).",
            .rows = sum_rows,
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
