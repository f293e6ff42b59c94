/* Precision: the part of the predicted positives that are positive (keras.metrics.Precision).
 * Failures: thresholds outside of 0 to 1, and the graph's. No locks. */
#include "train/support/confusion.h"

static void precision_states(const void *args, leati_weights *out) {
    leati_confusion_ratio_states(args, LEATI_FALSE_POSITIVES, out);
}

static void precision_update(const leati_pass *pass) {
    leati_confusion_ratio_update(pass, LEATI_FALSE_POSITIVES);
}

const leati_metric_kind leati_metric_precision = {
    .kind =
        {
            .name = "Precision",
            .doc = "The part of the predicted positives that are positive "
                   "(keras.metrics.Precision).",
            .rows = leati_ratio_rows,
            .signature = "thresholds=null top_k=null class_id=null name=null dtype",
            .args_size = sizeof(struct leati_threshold_args),
            .check = leati_confusion_threshold_check,
        },
    .prefix = "precision",
    .num_values = 2,
    .takes = "labels and predictions",
    .states = precision_states,
    .update = precision_update,
    .result = leati_confusion_ratio_result,
};
