/* Intersections over unions: a matrix of how often which class was predicted for which label, and
 * the mean over some classes of what label and prediction share over what one of them holds.
 *
 * Labels and predictions outside the classes, and labels to be ignored, do not count. Classes that
 * neither occur nor are predicted are left out of the mean. Failures: INVALID_ARGUMENT for classes
 * that there are not, and the graph's. No state, no locks. */
#include "train/support/iou.h"
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include <leat/ops_arrays.h>

static int64_t classes_of(const struct leati_iou_args *args) {
    return args->num_classes > 0 ? args->num_classes : 2;
}

leat_status leati_iou_check(const void *arguments, leat_error *err) {
    const struct leati_iou_args *args = arguments;
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

void leati_iou_states(const void *arguments, leati_weights *out) {
    const struct leati_iou_args *args = arguments;
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
    return leat_op_logical_and(leat_op_greater_equal(x, integer(x, 0)),
                               leat_op_less(x, integer(x, count)));
}

void leati_iou_count(const leati_pass *pass, leat_value labels, leat_value predictions) {
    const struct leati_iou_args *args = pass->args;
    int64_t classes = classes_of(args);
    labels = flat(leat_op_cast(labels, LEAT_INT64));
    predictions = flat(leat_op_cast(predictions, LEAT_INT64));
    leat_value weights = leati_support_number(labels.graph, args->dtype, 1);
    if (pass->sample_weight != NULL) {
        weights = leat_op_cast(*pass->sample_weight, args->dtype);
        if (leat_value_shape(weights).rank > 1)
            weights = flat(weights);
    }
    weights = leat_op_broadcast_like(weights, labels);
    leat_value counts =
        leat_op_logical_and(is_class(labels, classes), is_class(predictions, classes));
    if (args->ignore_class.count > 0)
        counts = leat_op_logical_and(
            counts, leat_op_not_equal(labels, integer(labels, args->ignore_class.values[0])));
    leat_value place = leat_op_add(leat_op_multiply(labels, integer(labels, classes)), predictions);
    place = leat_op_select(counts, place, integer(place, -1));
    leat_value sums = leat_op_unsorted_segment_sum(weights, place, classes * classes);
    sums = leat_op_reshape(sums, (const int64_t[]){classes, classes}, 2);
    pass->updates[0] = leat_op_add(pass->weights[0], sums);
}

void leati_iou_update(const leati_pass *pass) {
    const struct leati_iou_args *args = pass->args;
    leat_value labels = pass->inputs[0], predictions = pass->inputs[1];
    if (!args->sparse_y_true)
        labels = leat_op_argmax(labels, args->axis, LEAT_INT64);
    if (!args->sparse_y_pred)
        predictions = leat_op_argmax(predictions, args->axis, LEAT_INT64);
    leati_iou_count(pass, labels, predictions);
}

static leat_value as_float(leat_value x) {
    return leat_op_cast(x, LEAT_FLOAT32);
}

leat_value leati_iou_result(const void *arguments, const leat_value *states) {
    const struct leati_iou_args *args = arguments;
    const int64_t rows[1] = {0}, columns[1] = {1};
    leat_value all = leat_op_add(leat_op_reduce_sum(states[0], rows, 1, false),
                                 leat_op_reduce_sum(states[0], columns, 1, false));
    leat_value hits = leat_op_diag_part(states[0], 0);
    all = as_float(leat_op_subtract(all, hits));
    hits = as_float(hits);
    if (args->target_class_ids.count > 0) {
        leat_tensor ids = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(args->target_class_ids.count),
                                           args->target_class_ids.values);
        leat_value places = leat_graph_tensor(states[0].graph, &ids);
        all = leat_op_gather(all, places, 0);
        hits = leat_op_gather(hits, places, 0);
    }
    leat_value least = leati_loss_number_like(all, 1e-7);
    leat_value exists = leat_op_greater(all, leati_loss_number_like(all, 1e-9));
    leat_value share = leat_op_divide(hits, leat_op_add(all, least));
    share = leat_op_select(exists, share, leati_loss_number_like(all, 0));
    leat_value count = leat_op_reduce_sum(as_float(exists), NULL, 0, false);
    return leat_op_divide(leat_op_reduce_sum(share, NULL, 0, false), leat_op_add(count, least));
}
