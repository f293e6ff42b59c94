/* SensitivityAtSpecificity: the largest sensitivity at thresholds that reach a specificity
 * (keras.metrics.SensitivityAtSpecificity). Failures: a specificity outside of 0 to 1, and the
 * graph's. No locks. */
#include "train/support/confusion.h"

static const leati_row sensitivity_at_specificity_rows[] = {
    LEATI_SPREAD_ROWS("specificity", "The specificity to reach, between 0 and 1."),
    {0},
};

static leat_status sensitivity_at_specificity_check(const void *args, leat_error *err) {
    return leati_confusion_spread_check(args, "specificity", err);
}

static leat_value sensitivity_at_specificity_result(const void *args, const leat_value *states) {
    leat_value specificity =
        leati_confusion_share_of(states[LEATI_TRUE_NEGATIVES], states[LEATI_FALSE_POSITIVES]);
    leat_value sensitivity =
        leati_confusion_share_of(states[LEATI_TRUE_POSITIVES], states[LEATI_FALSE_NEGATIVES]);
    return leati_confusion_largest_where(args, specificity, sensitivity);
}

const leati_metric_kind leati_metric_sensitivity_at_specificity = {
    .kind =
        {
            .name = "SensitivityAtSpecificity",
            .doc = "The largest sensitivity at thresholds that reach a specificity "
                   "(keras.metrics.SensitivityAtSpecificity).",
            .rows = sensitivity_at_specificity_rows,
            .signature = "specificity num_thresholds class_id=null name=null dtype",
            .args_size = sizeof(struct leati_spread_args),
            .check = sensitivity_at_specificity_check,
        },
    .prefix = "sensitivity_at_specificity",
    .num_values = 2,
    .takes = "labels and predictions",
    .states = leati_confusion_spread_states,
    .update = leati_confusion_spread_update,
    .result = sensitivity_at_specificity_result,
};
