/* SparseCategoricalAccuracy: how often the largest prediction, the first of equals, is at the
 * label's place (keras.metrics.SparseCategoricalAccuracy). Failures are the graph's. No locks. */
#include "train/frame/metric.h"

struct accuracy_args {
    char *name; /* first: struct leati_metric_args */
};

static const leati_row accuracy_rows[] = {
    {.name = "name",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct accuracy_args, name),
     .doc = "Name of the metric."},
    {0},
};

static leat_value accuracy_values(const void *args, const leat_value *inputs) {
    (void)args;
    leat_value labels = inputs[0], predictions = inputs[1];
    leat_shape shape = leat_value_shape(labels);
    if (shape.rank > 0 && shape.rank == leat_value_shape(predictions).rank &&
        shape.dims[shape.rank - 1] == 1)
        labels = leat_op_squeeze(labels, (const int64_t[]){-1}, 1);
    leat_value places = leat_op_argmax(predictions, -1, LEAT_INT64);
    return leat_op_equal(leat_op_cast(labels, LEAT_INT64), places);
}

leat_metric *leat_metric_sparse_categorical_accuracy(const char *name, leat_error *err) {
    const struct accuracy_args args = {.name = leati_kind_borrow_text(name)};
    return leati_metric_new(&leati_metric_sparse_categorical_accuracy, &args, err);
}

const leati_metric_kind leati_metric_sparse_categorical_accuracy = {
    .kind =
        {
            .name = "SparseCategoricalAccuracy",
            .doc = "How often the largest prediction is at the label's place "
                   "(keras.metrics.SparseCategoricalAccuracy).",
            .rows = accuracy_rows,
            .signature = "name=\"sparse_categorical_accuracy\" dtype",
            .args_size = sizeof(struct accuracy_args),
        },
    .prefix = "sparse_categorical_accuracy",
    .num_values = 2,
    .takes = "labels and predictions",
    .values = accuracy_values,
};
