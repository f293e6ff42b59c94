/* TruePositives: how many positive labels were predicted (keras.metrics.TruePositives). Failures:
 * thresholds outside of 0 to 1, and the graph's. No locks. */
#include "train/support/confusion.h"

static void true_positives_states(const void *args, leati_weights *out) {
    leati_confusion_single_states(args, LEATI_TRUE_POSITIVES, out);
}

static void true_positives_update(const leati_pass *pass) {
    leati_confusion_single_update(pass, LEATI_TRUE_POSITIVES);
}

static leat_value true_positives_result(const void *args, const leat_value *states) {
    (void)args;
    return leati_confusion_one_or_all(states[0]);
}

const leati_metric_kind leati_metric_true_positives = {
    .kind =
        {
            .name = "TruePositives",
            .doc = "How many positive labels were predicted "
                   "(keras.metrics.TruePositives).",
            .rows = leati_count_rows,
            .signature = "thresholds=null name=null dtype",
            .args_size = sizeof(struct leati_threshold_args),
            .check = leati_confusion_threshold_check,
        },
    .prefix = "true_positives",
    .num_values = 2,
    .takes = "labels and predictions",
    .states = true_positives_states,
    .update = true_positives_update,
    .result = true_positives_result,
};
