/* AUC: the area below the curve of hits over false alarms, or of precision over recall
 * (keras.metrics.AUC).
 *
 * The curve has a point for each threshold. The area below precision is interpolated as Davis and
 * Goadrich do it. With multi_label each place of the last dimension has a curve of its own and the
 * result is the mean of the areas. Failures: a curve or a way of adding up that is none, thresholds
 * outside of 0 to 1, and the graph's. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"
#include "train/support/confusion.h"
#include <inttypes.h>
#include <string.h>
#include <strings.h>

struct auc_args {
    struct leati_metric_args shared;
    int64_t num_thresholds;
    char *curve, *summation_method;
    leati_floats thresholds, label_weights;
    int64_t num_labels; /* 0: not known before the first update */
    bool from_logits, multi_label;
};

static const leati_row auc_rows[] = {
    {.name = "num_thresholds",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct auc_args, num_thresholds),
     .default_number = 200,
     .minimum = INT32_MIN,
     .maximum = LEATI_MOST_THRESHOLDS - 2,
     .doc = "Points of the curve, evenly spread thresholds."},
    {.name = "curve",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct auc_args, curve),
     .default_text = "ROC",
     .doc = "\"ROC\", \"PR\" or \"PRGAIN\"."},
    {.name = "summation_method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct auc_args, summation_method),
     .default_text = "interpolation",
     .doc = "\"interpolation\", \"minoring\" or \"majoring\"."},
    {.name = "thresholds",
     .type = LEATI_ROW_FLOATS,
     .offset = offsetof(struct auc_args, thresholds),
     .doc = "Thresholds between 0 and 1 in place of evenly spread ones; -1e-7 and 1 + 1e-7 are "
            "added."},
    {.name = "multi_label",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct auc_args, multi_label),
     .doc = "Whether each place of the last dimension is a label with a curve of its own."},
    {.name = "num_labels",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct auc_args, num_labels),
     .maximum = INT32_MAX,
     .doc = "How many labels there are; none: as many as the first update has."},
    {.name = "label_weights",
     .type = LEATI_ROW_FLOATS,
     .offset = offsetof(struct auc_args, label_weights),
     .doc = "Weights of the places of the last dimension; none: 1."},
    {.name = "from_logits",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct auc_args, from_logits),
     .doc = "Whether predictions are logits."},
    LEATI_METRIC_ROWS,
    {0},
};

static bool is(const char *text, const char *name) {
    /* Keras takes these words in any case of letters. */
    return text != NULL && strcasecmp(text, name) == 0;
}

static leat_status check_words(const struct auc_args *args, leat_error *err) {
    const char *method = args->summation_method;
    if (!is(args->curve, "ROC") && !is(args->curve, "PR") && !is(args->curve, "PRGAIN"))
        return leati_refuse(err, VALUE,
                            "Invalid AUC curve value: \"%.40s\". Expected values are [\"PR\", "
                            "\"ROC\", \"PRGAIN\"]",
                            args->curve == NULL ? "" : args->curve);
    if (!is(method, "interpolation") && !is(method, "minoring") && !is(method, "majoring"))
        return leati_refuse(err, VALUE,
                            "Invalid AUC summation method value: \"%.40s\". Expected values are "
                            "[\"interpolation\", \"majoring\", \"minoring\"]",
                            method == NULL ? "" : method);
    return LEAT_OK;
}

static leat_status auc_check(const void *arguments, leat_error *err) {
    const struct auc_args *args = arguments;
    LEATI_TRY(check_words(args, err));
    if (args->thresholds.count == 0 && args->num_thresholds <= 1)
        return leati_refuse(err, VALUE,
                            "Argument `num_thresholds` must be an integer > 1. Received: "
                            "num_thresholds=%" PRId64,
                            args->num_thresholds);
    /* Only more than 0 is a number given; 0 stands for none. */
    if (!args->multi_label && args->num_labels > 0)
        return leati_refuse(err, VALUE, "`num_labels` is needed only when `multi_label` is True.");
    for (int32_t i = 0; i < args->thresholds.count; i++) {
        double value = args->thresholds.values[i];
        if (!(value >= 0 && value <= 1) || (i > 0 && value < args->thresholds.values[i - 1]))
            return leati_refuse(
                err, VALUE, "threshold %g; expected values between 0 and 1 in rising order", value);
    }
    /* The list may be as long as JSON allows, and auc_update copies it to the stack. */
    if (args->thresholds.count + 2 > LEATI_MOST_THRESHOLDS)
        return leati_refuse(err, VALUE, "%d thresholds; expected at most %d",
                            (int)args->thresholds.count, LEATI_MOST_THRESHOLDS - 2);
    return LEAT_OK;
}

static int64_t points_of(const struct auc_args *args) {
    /* One below 0 and one above 1 are added, so that the curve has both its ends. */
    return args->thresholds.count > 0 ? args->thresholds.count + 2 : args->num_thresholds;
}

static leat_status auc_states(const void *arguments, const leat_shape *inputs, leati_weights *out,
                              leat_error *err) {
    const struct auc_args *args = arguments;
    int64_t labels = args->multi_label ? args->num_labels : 0;
    /* Not known yet, so the metric has no states before its first update. */
    if (args->multi_label && labels == 0 && inputs == NULL)
        return LEAT_OK;
    if (args->multi_label && inputs != NULL) {
        if (inputs[1].rank != 2 || inputs[1].dims[1] < 1)
            return leati_refuse(err, SHAPE,
                                "`y_pred` must have rank 2 when `multi_label=True`, and a known "
                                "number of labels. Found rank %d",
                                (int)inputs[1].rank);
        /* The update's own size, also where num_labels says one. */
        labels = inputs[1].dims[1];
    }
    leati_confusion_count_states(leati_all_counts, LEATI_NUM_COUNTS, points_of(args), labels, out);
    return LEAT_OK;
}

static void auc_update(const leati_pass *pass) {
    const struct auc_args *args = pass->args;
    double values[LEATI_MOST_THRESHOLDS];
    int64_t points = points_of(args);
    leati_confusion_spread_thresholds(points, values);
    /* Just outside: a prediction of 0 is above the first, one of 1 below the last. */
    values[0] = -1e-7;
    values[points - 1] = 1 + 1e-7;
    for (int32_t i = 0; i < args->thresholds.count; i++)
        /* Between the two ends that were just set; without own thresholds they stay spread. */
        values[i + 1] = args->thresholds.values[i];
    const leati_floats thresholds = {values, (int32_t)points};
    /* With multi_label the weights are of areas instead (area_of). */
    bool weighs = !args->multi_label && args->label_weights.count > 0;
    leati_confusion_count_update(
        pass, leati_all_counts, LEATI_NUM_COUNTS, &thresholds,
        &(leati_taken){.class_id = -1,
                       .from_logits = args->from_logits,
                       .by_label = args->multi_label,
                       .label_weights = weighs ? &args->label_weights : NULL});
}

/* All values but the last, or but the first. */
static leat_value without(leat_value x, bool first) {
    leat_shape shape = leat_value_shape(x);
    /* Only along the points; labels, if there are any, all stay. */
    const int64_t begin[2] = {first ? 1 : 0, 0}, size[2] = {shape.dims[0] - 1, -1};
    return leat_op_slice(x, begin, shape.rank, size, shape.rank);
}

/* The area that parts of it make up, with multi_label the mean over labels. */
static leat_value area_of(const struct auc_args *args, leat_value parts) {
    const int64_t points = 0;
    leat_value areas = leat_op_reduce_sum(parts, &points, 1, false);
    if (!args->multi_label)
        return areas;
    if (args->label_weights.count == 0)
        return leat_op_reduce_mean(areas, NULL, 0, false);
    leat_value weights = leati_layer_numbers_value(areas, &args->label_weights);
    /* The weighted mean; weights of 0 in all give 0. */
    return leat_op_divide_no_nan(
        leat_op_reduce_sum(leat_op_multiply(areas, weights), NULL, 0, false),
        leat_op_reduce_sum(weights, NULL, 0, false));
}

static leat_value fall(leat_value x) {
    /* Thresholds rise, so counts fall from one point to the next. */
    return leat_op_subtract(without(x, false), without(x, true));
}

/* Between two points true positives are taken as a line over all predicted positives. */
static leat_value interpolated(const struct auc_args *args, leat_value tp, leat_value fp,
                               leat_value fn) {
    leat_value p = leat_op_add(tp, fp), zero = leati_loss_number_like(tp, 0),
               last = without(p, true);
    leat_value falls = fall(tp);
    /* Precision of the points between both, where tp rises by `slope` for each positive more. */
    leat_value slope = leat_op_divide_no_nan(falls, leat_op_maximum(fall(p), zero));
    leat_value intercept = leat_op_subtract(without(tp, true), leat_op_multiply(slope, last));
    /* Where either end has no predicted positives the logarithm below is log(1) = 0. */
    leat_value both =
        leat_op_logical_and(leat_op_greater(without(p, false), zero), leat_op_greater(last, zero));
    leat_value ratio = leat_op_divide_no_nan(without(p, false), leat_op_maximum(last, zero));
    ratio = leat_op_select(both, ratio, leat_op_ones_like(last));
    /* The integral of precision, slope + intercept / p, between both points. */
    leat_value part = leat_op_add(falls, leat_op_multiply(intercept, leat_op_log(ratio)));
    leat_value all = leat_op_maximum(leat_op_add(without(tp, true), without(fn, true)), zero);
    return area_of(args, leat_op_divide_no_nan(leat_op_multiply(slope, part), all));
}

/* x and y of the curve of gains, which is what precision and recall gain over always saying yes. */
static void gains(const leat_value *states, leat_value *x, leat_value *y) {
    leat_value tp = states[0], fp = states[1], tn = states[2], fn = states[3];
    leat_value zero = leati_loss_number_like(tp, 0), one = leati_loss_number_like(tp, 1);
    /* Positives over negatives: how much a mistake weighs against always saying yes. */
    leat_value scale = leat_op_divide_no_nan(leat_op_add(tp, fn), leat_op_add(tn, fp));
    leat_value none = leat_op_equal(tp, zero);
    *x = leat_op_subtract(one, leat_op_multiply(scale, leat_op_divide_no_nan(fn, tp)));
    *y = leat_op_subtract(one, leat_op_multiply(scale, leat_op_divide_no_nan(fp, tp)));
    /* Recall gains below 0 are cut off; precision gains stay. */
    *x = leat_op_maximum(leat_op_select(none, zero, *x), zero);
    *y = leat_op_select(none, one, *y);
}

static leat_value auc_result(const void *arguments, const leat_value *states) {
    const struct auc_args *args = arguments;
    leat_value tp = states[0], fp = states[1], tn = states[2], fn = states[3];
    leat_value x = leati_confusion_share_of(tp, fn), y = leati_confusion_share_of(tp, fp);
    bool between = is(args->summation_method, "interpolation");
    /* Lines between points of precision would promise too much, hence a way of its own. */
    if (is(args->curve, "PR") && between)
        return interpolated(args, tp, fp, fn);
    if (is(args->curve, "PRGAIN"))
        gains(states, &x, &y);
    if (is(args->curve, "ROC")) {
        /* y of ROC is the recall, which x was so far. */
        y = x;
        x = leati_confusion_share_of(fp, tn);
    }
    leat_value first = without(y, false), second = without(y, true), heights;
    if (between)
        heights = leati_support_times(leat_op_add(first, second), 0.5);
    else if (is(args->summation_method, "minoring"))
        heights = leat_op_minimum(first, second);
    else
        heights = leat_op_maximum(first, second);
    return area_of(args, leat_op_multiply(fall(x), heights));
}

const leati_metric_kind leati_metric_auc = {
    .kind =
        {
            .name = "AUC",
            .doc = "The area below the curve of hits over false alarms "
                   "(keras.metrics.AUC).",
            .rows = auc_rows,
            .signature = "num_thresholds curve summation_method name=null dtype thresholds=null "
                         "multi_label num_labels=null label_weights=null from_logits",
            .args_size = sizeof(struct auc_args),
            .check = auc_check,
        },
    .prefix = "auc",
    .num_values = 2,
    .takes = "labels and predictions",
    .states_of = auc_states,
    .update = auc_update,
    .result = auc_result,
};
