/* SpecificityAtSensitivity: the largest specificity at thresholds that reach a sensitivity
 * (keras.metrics.SpecificityAtSensitivity). Failures: a sensitivity outside of 0 to 1, and the
 * graph's. No locks. */
#include "train/support/confusion.h"

static const leati_row specificity_at_sensitivity_rows[] = {
    LEATI_SPREAD_ROWS("sensitivity", "The sensitivity to reach, between 0 and 1."),
    {0},
};

static leat_status specificity_at_sensitivity_check(const void *args, leat_error *err) {
    return leati_confusion_spread_check(args, "sensitivity", err);
}

static leat_value specificity_at_sensitivity_result(const void *args, const leat_value *states) {
    leat_value sensitivity =
        leati_confusion_share_of(states[LEATI_TRUE_POSITIVES], states[LEATI_FALSE_NEGATIVES]);
    leat_value specificity =
        leati_confusion_share_of(states[LEATI_TRUE_NEGATIVES], states[LEATI_FALSE_POSITIVES]);
    return leati_confusion_largest_where(args, sensitivity, specificity);
}

const leati_metric_kind leati_metric_specificity_at_sensitivity = {
    .kind =
        {
            .name = "SpecificityAtSensitivity",
            .doc = "The largest specificity at thresholds that reach a sensitivity "
                   "(keras.metrics.SpecificityAtSensitivity).",
            .rows = specificity_at_sensitivity_rows,
            .signature = "sensitivity num_thresholds class_id=null name=null dtype",
            .args_size = sizeof(struct leati_spread_args),
            .check = specificity_at_sensitivity_check,
        },
    .prefix = "specificity_at_sensitivity",
    .num_values = 2,
    .takes = "labels and predictions",
    .states = leati_confusion_spread_states,
    .update = leati_confusion_spread_update,
    .result = specificity_at_sensitivity_result,
};
