/* TopKCategoricalAccuracy: how often the place of the largest label is among those of
 * the k largest predictions (keras.metrics.TopKCategoricalAccuracy). Failures
 * are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

struct top_k_categorical_accuracy_args {
    struct leati_metric_args shared;
    int64_t k;
};

static const leati_row top_k_categorical_accuracy_rows[] = {
    {.name = "k",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct top_k_categorical_accuracy_args, k),
     .default_number = 5,
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "How many of the largest predictions count."},
    LEATI_METRIC_ROWS,
    {0},
};

static leat_value top_k_categorical_accuracy_values(const void *arguments,
                                                    const leat_value *inputs) {
    const struct top_k_categorical_accuracy_args *args = arguments;
    return leati_metric_in_top_k(leat_op_argmax(inputs[0], -1, LEAT_INT64), inputs[1], args->k);
}

const leati_metric_kind leati_metric_top_k_categorical_accuracy = {
    .kind =
        {
            .name = "TopKCategoricalAccuracy",
            .doc = "How often the place of the largest label is among the k largest predictions "
                   "(keras.metrics.TopKCategoricalAccuracy).",
            .rows = top_k_categorical_accuracy_rows,
            .signature = "k name=\"top_k_categorical_accuracy\" dtype",
            .args_size = sizeof(struct top_k_categorical_accuracy_args),
        },
    .prefix = "top_k_categorical_accuracy",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = top_k_categorical_accuracy_values,
};
