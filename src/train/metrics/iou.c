/* IoU, BinaryIoU, MeanIoU, OneHotIoU, OneHotMeanIoU: intersections over unions, of some classes or
 * of all, with labels and predictions that are numbers of classes, a value for each class, or on
 * one side of a threshold (keras.metrics.IoU and its like).
 *
 * A matrix counts how often which class was predicted for which label; the result is the mean over
 * the classes of what label and prediction share over what one of them holds. Labels and
 * predictions outside the classes, and labels to be ignored, do not count. Classes that neither
 * occur nor are predicted are left out of the mean. Failures: INVALID_ARGUMENT for classes that
 * there are not, and the graph's. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"

/* The matrix has the square of it: 128 MiB of int64. */
#define MOST_CLASSES 4096

struct iou_args {
    struct leati_metric_args shared;
    leat_dtype dtype;                  /* of the counts */
    int64_t num_classes;               /* 0: two */
    leati_ints target_class_ids;       /* whose mean is the result; none: all */
    leati_ints ignore_class;           /* none, or one label that does not count */
    bool sparse_y_true, sparse_y_pred; /* numbers of classes, not a value for each class */
    int64_t axis;                      /* of these values */
    double threshold;                  /* from which a prediction is class 1; only of BinaryIoU */
};

#define ROW(MEMBER, TYPE, ...)                                                                     \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_##TYPE, .offset = offsetof(struct iou_args, MEMBER),    \
        __VA_ARGS__                                                                                \
    }
#define CLASSES_ROW                                                                                \
    ROW(num_classes, INT, .flags = LEATI_REQUIRED, .minimum = 1, .maximum = MOST_CLASSES,          \
        .doc = "How many classes there are.")
#define TARGETS_ROW                                                                                \
    ROW(target_class_ids, INTS, .flags = LEATI_REQUIRED,                                           \
        .doc = "The classes whose mean is the result.")
#define TRUE_ROW                                                                                   \
    ROW(sparse_y_true, BOOL, .default_number = 1,                                                  \
        .doc = "Whether labels are numbers of classes, not a value for each.")
#define PRED_ROW(STANDARD)                                                                         \
    ROW(sparse_y_pred, BOOL, .default_number = STANDARD,                                           \
        .doc = "Whether predictions are numbers of classes, not a value for each.")
#define IGNORE_ROW ROW(ignore_class, INTS, .doc = "A label that does not count; none by default.")
#define AXIS_ROW                                                                                   \
    ROW(axis, INT, .default_number = -1, .minimum = -LEAT_MAX_RANK, .maximum = LEAT_MAX_RANK - 1,  \
        .doc = "The dimension of values for each class.")
#define DTYPE_ROW                                                                                  \
    ROW(dtype, DTYPE, .default_number = LEAT_INT64,                                                \
        .doc = "Of the counts; weights become integers where it is one.")

static const leati_row iou_rows[] = {
    CLASSES_ROW, TARGETS_ROW, DTYPE_ROW,         IGNORE_ROW, TRUE_ROW,
    PRED_ROW(1), AXIS_ROW,    LEATI_METRIC_ROWS, {0},
};

static const leati_row mean_iou_rows[] = {
    CLASSES_ROW, DTYPE_ROW, IGNORE_ROW, TRUE_ROW, PRED_ROW(1), AXIS_ROW, LEATI_METRIC_ROWS, {0},
};

static const leati_row one_hot_iou_rows[] = {
    CLASSES_ROW, TARGETS_ROW, DTYPE_ROW, IGNORE_ROW, PRED_ROW(0), AXIS_ROW, LEATI_METRIC_ROWS, {0},
};

static const leati_row one_hot_mean_iou_rows[] = {
    CLASSES_ROW, DTYPE_ROW, IGNORE_ROW, PRED_ROW(0), AXIS_ROW, LEATI_METRIC_ROWS, {0},
};

static const leati_row binary_iou_rows[] = {
    ROW(target_class_ids, INTS, .doc = "The classes whose mean is the result: 0, 1, or both."),
    ROW(threshold, FLOAT, .default_number = 0.5, .doc = "From which on a prediction is class 1."),
    DTYPE_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

static int64_t classes_of(const struct iou_args *args) {
    return args->num_classes > 0 ? args->num_classes : 2;
}

static leat_status iou_check(const void *arguments, leat_error *err) {
    const struct iou_args *args = arguments;
    int64_t classes = classes_of(args);
    for (int32_t i = 0; i < args->target_class_ids.count; i++) {
        int64_t id = args->target_class_ids.values[i];
        if (id < 0 || id >= classes)
            return leati_refuse(err, VALUE,
                                "Target class id %lld is out of range, which is [0, %lld)",
                                (long long)id, (long long)classes);
    }
    if (args->ignore_class.count > 1)
        return leati_refuse(err, VALUE, "ignore_class has %d numbers; expected one",
                            (int)args->ignore_class.count);
    if (args->dtype == LEAT_INT64 || args->dtype == LEAT_INT32 || args->dtype == LEAT_FLOAT32 ||
        args->dtype == LEAT_FLOAT64)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "dtype %s; expected int32, int64, float32 or float64",
                        leat_dtype_name(args->dtype));
}

static void iou_states(const void *arguments, leati_weights *out) {
    const struct iou_args *args = arguments;
    int64_t classes = classes_of(args);
    out->count = 1;
    out->list[0] = (leati_weight){.name = "total_confusion_matrix",
                                  .shape = LEAT_SHAPE(classes, classes),
                                  .initializer = "zeros",
                                  .fixed = true,
                                  .dtype = args->dtype};
}

static leat_value flat(leat_value x) {
    return leat_op_reshape(x, (const int64_t[]){-1}, 1);
}

static leat_value integer(leat_value like, int64_t number) {
    return leati_support_number(like.graph, LEAT_INT64, (double)number);
}

/* 0 <= x < count. */
static leat_value is_class(leat_value x, int64_t count) {
    /* Both bounds: numbers outside would count in the cell of another pair. */
    return leat_op_logical_and(leat_op_greater_equal(x, integer(x, 0)),
                               leat_op_less(x, integer(x, count)));
}

/* Adds these labels and predictions, numbers of classes, to the counts. */
static void iou_count(const leati_pass *pass, leat_value labels, leat_value predictions) {
    const struct iou_args *args = pass->args;
    int64_t classes = classes_of(args);
    labels = flat(leat_op_cast(labels, LEAT_INT64));
    predictions = flat(leat_op_cast(predictions, LEAT_INT64));
    leat_value weights = leati_support_number(labels.graph, args->dtype, 1);
    if (pass->sample_weight != NULL) {
        weights = leat_op_cast(*pass->sample_weight, args->dtype);
        if (leat_value_shape(weights).rank > 1)
            /* A weight per value; a scalar, or a vector, broadcasts as it is. */
            weights = flat(weights);
    }
    weights = leat_op_broadcast_like(weights, labels);
    leat_value counts =
        leat_op_logical_and(is_class(labels, classes), is_class(predictions, classes));
    if (args->ignore_class.count > 0)
        counts = leat_op_logical_and(
            counts, leat_op_not_equal(labels, integer(labels, args->ignore_class.values[0])));
    /* Row by label, column by prediction, in one number. */
    leat_value place = leat_op_add(leat_op_multiply(labels, integer(labels, classes)), predictions);
    /* Negative segments are left out of an unsorted sum. */
    place = leat_op_select(counts, place, integer(place, -1));
    leat_value sums = leat_op_unsorted_segment_sum(weights, place, classes * classes);
    sums = leat_op_reshape(sums, (const int64_t[]){classes, classes}, 2);
    pass->updates[0] = leat_op_add(pass->weights[0], sums);
}

static void iou_update(const leati_pass *pass) {
    const struct iou_args *args = pass->args;
    leat_value labels = pass->inputs[0], predictions = pass->inputs[1];
    if (!args->sparse_y_true)
        labels = leat_op_argmax(labels, args->axis, LEAT_INT64);
    if (!args->sparse_y_pred)
        predictions = leat_op_argmax(predictions, args->axis, LEAT_INT64);
    iou_count(pass, labels, predictions);
}

static void binary_iou_update(const leati_pass *pass) {
    const struct iou_args *args = pass->args;
    leat_value predictions = leat_op_cast(pass->inputs[1], LEAT_FLOAT32);
    leat_value threshold = leati_loss_number_like(predictions, args->threshold);
    /* The threshold itself is class 1, unlike in BinaryAccuracy. */
    iou_count(pass, pass->inputs[0], leat_op_greater_equal(predictions, threshold));
}

static leat_value as_float(leat_value x) {
    return leat_op_cast(x, LEAT_FLOAT32);
}

static leat_value iou_result(const void *arguments, const leat_value *states) {
    const struct iou_args *args = arguments;
    const int64_t rows[1] = {0}, columns[1] = {1};
    /* Rows and columns both hold the hits, which are taken off once: that is the union. */
    leat_value all = leat_op_add(leat_op_reduce_sum(states[0], rows, 1, false),
                                 leat_op_reduce_sum(states[0], columns, 1, false));
    leat_value hits = leat_op_diag_part(states[0], &(int64_t){0}, 1, 0, NULL);
    all = as_float(leat_op_subtract(all, hits));
    hits = as_float(hits);
    if (args->target_class_ids.count > 0) {
        leat_tensor ids = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(args->target_class_ids.count),
                                           args->target_class_ids.values);
        leat_value places = leat_graph_tensor(states[0].graph, &ids);
        all = leat_op_gather(all, places, 0, 0);
        hits = leat_op_gather(hits, places, 0, 0);
    }
    leat_value least = leati_loss_number_like(all, 1e-7);
    leat_value exists = leat_op_greater(all, leati_loss_number_like(all, 1e-9));
    leat_value share = leat_op_divide(hits, leat_op_add(all, least));
    share = leat_op_select(exists, share, leati_loss_number_like(all, 0));
    leat_value count = leat_op_reduce_sum(as_float(exists), NULL, 0, false);
    /* Without any class the result is 0 / 1e-7 = 0. */
    return leat_op_divide(leat_op_reduce_sum(share, NULL, 0, false), leat_op_add(count, least));
}

/* The descriptor of one metric. */
#define IOU(ID, CLASS, DOC, SIGNATURE, CONFIG, PREFIX, UPDATE)                                     \
    const leati_metric_kind leati_metric_##ID = {                                                  \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.metrics." CLASS ").",                                          \
                .rows = ID##_rows,                                                                 \
                .signature = SIGNATURE,                                                            \
                .config = CONFIG,                                                                  \
                .args_size = sizeof(struct iou_args),                                              \
                .check = iou_check,                                                                \
            },                                                                                     \
        .prefix = PREFIX,                                                                          \
        .num_values = 2,                                                                           \
        .takes = "labels and predictions",                                                         \
        .keeps_dtypes = true,                                                                      \
        .states = iou_states,                                                                      \
        .update = UPDATE,                                                                          \
        .result = iou_result,                                                                      \
    };
IOU(iou, "IoU", "Intersection over union of some classes",
    "num_classes target_class_ids name=null dtype=null ignore_class=null "
    "sparse_y_true sparse_y_pred axis",
    NULL, "io_u", iou_update)
IOU(mean_iou, "MeanIoU", "Intersection over union, the mean of all classes",
    "num_classes name=null dtype=null ignore_class=null sparse_y_true "
    "sparse_y_pred axis",
    "num_classes name dtype", "mean_io_u", iou_update)
IOU(one_hot_iou, "OneHotIoU",
    "Intersection over union of some classes, with a value for each in the labels",
    "num_classes target_class_ids name=null dtype=null ignore_class=null "
    "sparse_y_pred axis",
    "num_classes target_class_ids name dtype", "one_hot_io_u", iou_update)
IOU(one_hot_mean_iou, "OneHotMeanIoU",
    "Intersection over union, the mean of all classes, with a value for each in the labels",
    "num_classes name=null dtype=null ignore_class=null sparse_y_pred axis",
    "num_classes name dtype", "one_hot_mean_io_u", iou_update)
IOU(binary_iou, "BinaryIoU", "Intersection over union of two classes told apart by a threshold",
    "target_class_ids=[0,1] threshold name=null dtype=null",
    "target_class_ids threshold name dtype", "binary_io_u", binary_iou_update)
