/* Recall: the part of the positive labels that were predicted (keras.metrics.Recall). Failures:
 * thresholds outside of 0 to 1, and the graph's. No locks. */
#include "train/support/confusion.h"

static void recall_states(const void *args, leati_weights *out) {
    leati_confusion_ratio_states(args, LEATI_FALSE_NEGATIVES, out);
}

static void recall_update(const leati_pass *pass) {
    leati_confusion_ratio_update(pass, LEATI_FALSE_NEGATIVES);
}

const leati_metric_kind leati_metric_recall = {
    .kind =
        {
            .name = "Recall",
            .doc = "The part of the positive labels that were predicted "
                   "(keras.metrics.Recall).",
            .rows = leati_ratio_rows,
            .signature = "thresholds=null top_k=null class_id=null name=null dtype",
            .args_size = sizeof(struct leati_threshold_args),
            .check = leati_confusion_threshold_check,
        },
    .prefix = "recall",
    .num_values = 2,
    .takes = "labels and predictions",
    .states = recall_states,
    .update = recall_update,
    .result = leati_confusion_ratio_result,
};
