/* RecallAtPrecision: the largest recall at thresholds that reach a precision
 * (keras.metrics.RecallAtPrecision). Failures: a precision outside of 0 to 1, and the graph's. No
 * locks. */
#include "train/support/confusion.h"

static const leati_row recall_at_precision_rows[] = {
    LEATI_SPREAD_ROWS("precision", "The precision to reach, between 0 and 1."),
    {0},
};

static leat_status recall_at_precision_check(const void *args, leat_error *err) {
    return leati_confusion_spread_check(args, "precision", err);
}

static leat_value recall_at_precision_result(const void *args, const leat_value *states) {
    leat_value precision =
        leati_confusion_share_of(states[LEATI_TRUE_POSITIVES], states[LEATI_FALSE_POSITIVES]);
    leat_value recall =
        leati_confusion_share_of(states[LEATI_TRUE_POSITIVES], states[LEATI_FALSE_NEGATIVES]);
    return leati_confusion_largest_where(args, precision, recall);
}

const leati_metric_kind leati_metric_recall_at_precision = {
    .kind =
        {
            .name = "RecallAtPrecision",
            .doc = "The largest recall at thresholds that reach a precision "
                   "(keras.metrics.RecallAtPrecision).",
            .rows = recall_at_precision_rows,
            .signature = "precision num_thresholds class_id=null name=null dtype",
            .args_size = sizeof(struct leati_spread_args),
            .check = recall_at_precision_check,
        },
    .prefix = "recall_at_precision",
    .num_values = 2,
    .takes = "labels and predictions",
    .states = leati_confusion_spread_states,
    .update = leati_confusion_spread_update,
    .result = recall_at_precision_result,
};
