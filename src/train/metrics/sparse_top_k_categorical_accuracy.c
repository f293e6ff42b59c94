/* SparseTopKCategoricalAccuracy: how often the label is among the places of the k largest
 * predictions (keras.metrics.SparseTopKCategoricalAccuracy). Failures
 * are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

struct sparse_top_k_categorical_accuracy_args {
    struct leati_metric_args shared;
    int64_t k;
};

static const leati_row sparse_top_k_categorical_accuracy_rows[] = {
    {.name = "k",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct sparse_top_k_categorical_accuracy_args, k),
     .default_number = 5,
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "How many of the largest predictions count."},
    LEATI_METRIC_ROWS,
    {0},
};

static leat_value sparse_top_k_categorical_accuracy_values(const void *arguments,
                                                           const leat_value *inputs) {
    const struct sparse_top_k_categorical_accuracy_args *args = arguments;
    leat_value labels = inputs[0];
    leat_shape shape = leat_value_shape(labels);
    if (shape.rank > 0 && shape.rank == leat_value_shape(inputs[1]).rank &&
        shape.dims[shape.rank - 1] == 1)
        labels = leat_op_squeeze(labels, (const int64_t[]){-1}, 1);
    return leati_metric_in_top_k(leat_op_cast(labels, LEAT_INT64), inputs[1], args->k);
}

const leati_metric_kind leati_metric_sparse_top_k_categorical_accuracy = {
    .kind =
        {
            .name = "SparseTopKCategoricalAccuracy",
            .doc = "How often the label is among the places of the k largest predictions "
                   "(keras.metrics.SparseTopKCategoricalAccuracy).",
            .rows = sparse_top_k_categorical_accuracy_rows,
            .signature = "k name=\"sparse_top_k_categorical_accuracy\" dtype from_sorted_ids=false",
            .args_size = sizeof(struct sparse_top_k_categorical_accuracy_args),
        },
    .prefix = "sparse_top_k_categorical_accuracy",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = sparse_top_k_categorical_accuracy_values,
};
