/* Accuracy, BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy,
 * TopKCategoricalAccuracy, SparseTopKCategoricalAccuracy: how often predictions equal labels, say
 * the labels 0 and 1 by a threshold, or have the label's class as the largest, the first of equals,
 * or among the k largest (keras.metrics.Accuracy and its like). Labels are values for each class
 * or, of the sparse ones, numbers of classes. Failures are the graph's. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

struct accuracy_args {
    struct leati_metric_args shared;
    double threshold;     /* of BinaryAccuracy */
    int64_t k;            /* of the kinds of top k */
    bool from_sorted_ids; /* of SparseTopKCategoricalAccuracy */
};

static const leati_row plain_rows[] = {LEATI_METRIC_ROWS, {0}};

static const leati_row binary_rows[] = {
    {.name = "threshold",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct accuracy_args, threshold),
     .default_number = 0.5,
     .doc = "What a prediction must exceed to mean 1."},
    LEATI_METRIC_ROWS,
    {0},
};

#define K_ROW                                                                                      \
    {                                                                                              \
        .name = "k", .type = LEATI_ROW_INT, .offset = offsetof(struct accuracy_args, k),           \
        .default_number = 5, .minimum = 1, .maximum = INT32_MAX,                                   \
        .doc = "How many of the largest predictions count."                                        \
    }

static const leati_row top_k_rows[] = {K_ROW, LEATI_METRIC_ROWS, {0}};

static const leati_row sparse_top_k_rows[] = {
    K_ROW,
    {.name = "from_sorted_ids",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct accuracy_args, from_sorted_ids),
     .doc = "Predictions are the numbers of classes, the likeliest first."},
    LEATI_METRIC_ROWS,
    {0},
};

static leat_value place_of_largest(leat_value values) {
    return leat_op_argmax(values, -1, LEAT_INT64);
}

/* Labels, one for each row of the predictions. */
static leat_value labels_of_rows(leat_value labels, leat_value predictions) {
    leat_shape shape = leat_value_shape(labels);
    /* A last dimension of 1 is dropped only where predictions have one more for the classes. */
    if (shape.rank > 0 && shape.rank == leat_value_shape(predictions).rank &&
        shape.dims[shape.rank - 1] == 1)
        labels = leat_op_squeeze(labels, (const int64_t[]){-1}, 1);
    return labels;
}

/* The same as numbers of classes. */
static leat_value class_numbers(leat_value labels, leat_value predictions) {
    return leat_op_cast(labels_of_rows(labels, predictions), LEAT_INT64);
}

static leat_value accuracy_values(const void *args, const leat_value *inputs) {
    (void)args;
    leat_value labels = inputs[0], predictions = inputs[1];
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    return leat_op_equal(labels, predictions);
}

static leat_value binary_accuracy_values(const void *arguments, const leat_value *inputs) {
    const struct accuracy_args *args = arguments;
    leat_value labels = inputs[0], predictions = inputs[1];
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value above =
        leat_op_greater(predictions, leati_loss_number_like(predictions, args->threshold));
    /* As numbers: labels other than 0 and 1 equal neither. */
    return leat_op_equal(labels, leat_op_cast(above, leat_value_dtype(labels)));
}

static leat_value categorical_accuracy_values(const void *args, const leat_value *inputs) {
    (void)args;
    return leat_op_equal(place_of_largest(inputs[0]), place_of_largest(inputs[1]));
}

static leat_value sparse_categorical_accuracy_values(const void *args, const leat_value *inputs) {
    (void)args;
    /* The first of equal largest ones, as argmax has it. */
    leat_value places = place_of_largest(inputs[1]);
    leat_value labels = labels_of_rows(inputs[0], inputs[1]);
    if (leati_support_value_failed(labels))
        return leati_loss_failed_value(labels);
    /* In the dtype of the labels: 0.5 is no class. */
    return leat_op_equal(labels, leat_op_cast(places, leat_value_dtype(labels)));
}

static leat_value top_k_categorical_accuracy_values(const void *arguments,
                                                    const leat_value *inputs) {
    const struct accuracy_args *args = arguments;
    return leati_metric_in_top_k(place_of_largest(inputs[0]), inputs[1], args->k);
}

/* Is the label among the first k numbers of its row? */
static leat_value among_first(leat_value labels, leat_value numbers, int64_t k) {
    leat_shape shape = leat_value_shape(numbers);
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    if (leati_support_value_failed(numbers) || leati_support_value_failed(labels))
        return leati_loss_failed_value(numbers);
    if (shape.rank < 1 || shape.dims[shape.rank - 1] < 0)
        return leati_support_build_error(numbers.graph, LEAT_REASON_SHAPE,
                                         "how many numbers a row has is unknown");
    for (int32_t d = 0; d < shape.rank; d++)
        size[d] = -1;
    size[shape.rank - 1] = LEATI_MIN(k, shape.dims[shape.rank - 1]);
    leat_value first = leat_op_slice(numbers, begin, shape.rank, size, shape.rank);
    leat_value label = leat_op_expand_dims(leat_op_cast(labels, leat_value_dtype(numbers)), -1);
    return leat_op_reduce_any(leat_op_equal(label, first), (const int64_t[]){-1}, 1, false);
}

static leat_value sparse_top_k_categorical_accuracy_values(const void *arguments,
                                                           const leat_value *inputs) {
    const struct accuracy_args *args = arguments;
    if (args->from_sorted_ids)
        return among_first(class_numbers(inputs[0], inputs[1]), inputs[1], args->k);
    return leati_metric_in_top_k(class_numbers(inputs[0], inputs[1]), inputs[1], args->k);
}

leat_metric *leat_metric_sparse_categorical_accuracy(const char *name, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const struct accuracy_args args = {.shared.name = leati_kind_borrow_text(name)};
    return leati_metric_new(&leati_metric_sparse_categorical_accuracy, &args, err);
}

/* The descriptor of one metric. */
#define ACCURACY(ID, CLASS, DOC, ROWS, SIGNATURE)                                                  \
    const leati_metric_kind leati_metric_##ID = {                                                  \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.metrics." CLASS ").",                                          \
                .rows = ROWS,                                                                      \
                .signature = SIGNATURE,                                                            \
                .config = "from_sorted_ids?",                                                      \
                .args_size = sizeof(struct accuracy_args),                                         \
            },                                                                                     \
        .prefix = #ID,                                                                             \
        .num_values = 2,                                                                           \
        .takes = "labels and predictions",                                                         \
        .values = ID##_values,                                                                     \
    };
ACCURACY(accuracy, "Accuracy", "How often predictions equal labels", plain_rows,
         "name=\"accuracy\" dtype")
ACCURACY(binary_accuracy, "BinaryAccuracy",
         "How often predictions above the threshold are the labels 1", binary_rows,
         "name=\"binary_accuracy\" dtype threshold")
ACCURACY(categorical_accuracy, "CategoricalAccuracy",
         "How often the largest prediction is at the place of the largest label", plain_rows,
         "name=\"categorical_accuracy\" dtype")
ACCURACY(sparse_categorical_accuracy, "SparseCategoricalAccuracy",
         "How often the largest prediction is at the label's place", plain_rows,
         "name=\"sparse_categorical_accuracy\" dtype")
ACCURACY(top_k_categorical_accuracy, "TopKCategoricalAccuracy",
         "How often the place of the largest label is among the k largest predictions", top_k_rows,
         "k name=\"top_k_categorical_accuracy\" dtype")
ACCURACY(sparse_top_k_categorical_accuracy, "SparseTopKCategoricalAccuracy",
         "How often the label is among the places of the k largest predictions", sparse_top_k_rows,
         "k name=\"sparse_top_k_categorical_accuracy\" dtype from_sorted_ids=false")
