/* FalseNegatives: how many negatives were predicted wrongly (keras.metrics.FalseNegatives).
 * Failures: thresholds outside of 0 to 1, and the graph's. No locks. */
#include "train/support/confusion.h"

static void false_negatives_states(const void *args, leati_weights *out) {
    leati_confusion_single_states(args, LEATI_FALSE_NEGATIVES, out);
}

static void false_negatives_update(const leati_pass *pass) {
    leati_confusion_single_update(pass, LEATI_FALSE_NEGATIVES);
}

static leat_value false_negatives_result(const void *args, const leat_value *states) {
    (void)args;
    return leati_confusion_one_or_all(states[0]);
}

const leati_metric_kind leati_metric_false_negatives = {
    .kind =
        {
            .name = "FalseNegatives",
            .doc = "How many negatives were predicted wrongly "
                   "(keras.metrics.FalseNegatives).",
            .rows = leati_count_rows,
            .signature = "thresholds=null name=null dtype",
            .args_size = sizeof(struct leati_threshold_args),
            .check = leati_confusion_threshold_check,
        },
    .prefix = "false_negatives",
    .num_values = 2,
    .takes = "labels and predictions",
    .states = false_negatives_states,
    .update = false_negatives_update,
    .result = false_negatives_result,
};
