/* PrecisionAtRecall: the largest precision at thresholds that reach a recall
 * (keras.metrics.PrecisionAtRecall). Failures: a recall outside of 0 to 1, and the graph's. No
 * locks. */
#include "train/support/confusion.h"

static const leati_row precision_at_recall_rows[] = {
    LEATI_SPREAD_ROWS("recall", "The recall to reach, between 0 and 1."),
    {0},
};

static leat_status precision_at_recall_check(const void *args, leat_error *err) {
    return leati_confusion_spread_check(args, "recall", err);
}

static leat_value precision_at_recall_result(const void *args, const leat_value *states) {
    leat_value recall =
        leati_confusion_share_of(states[LEATI_TRUE_POSITIVES], states[LEATI_FALSE_NEGATIVES]);
    leat_value precision =
        leati_confusion_share_of(states[LEATI_TRUE_POSITIVES], states[LEATI_FALSE_POSITIVES]);
    return leati_confusion_largest_where(args, recall, precision);
}

const leati_metric_kind leati_metric_precision_at_recall = {
    .kind =
        {
            .name = "PrecisionAtRecall",
            .doc = "The largest precision at thresholds that reach a recall "
                   "(keras.metrics.PrecisionAtRecall).",
            .rows = precision_at_recall_rows,
            .signature = "recall num_thresholds class_id=null name=null dtype",
            .args_size = sizeof(struct leati_spread_args),
            .check = precision_at_recall_check,
        },
    .prefix = "precision_at_recall",
    .num_values = 2,
    .takes = "labels and predictions",
    .states = leati_confusion_spread_states,
    .update = leati_confusion_spread_update,
    .result = precision_at_recall_result,
};
