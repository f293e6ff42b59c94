/* F1Score: the harmonic mean of precision and recall (keras.metrics.F1Score). Failures: arguments
 * out of their ranges, and the graph's. No locks. */
#include "train/support/f_score.h"

static const leati_row f1_score_rows[] = {
    LEATI_F_SCORE_AVERAGE_ROW,
    LEATI_F_SCORE_THRESHOLD_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

const leati_metric_kind leati_metric_f1_score = {
    .kind =
        {
            .name = "F1Score",
            .doc = "The harmonic mean of precision and recall (keras.metrics.F1Score).",
            .rows = f1_score_rows,
            .signature = "average=null threshold=null name=\"f1_score\" dtype",
            .args_size = sizeof(struct leati_f_score_args),
            .check = leati_f_score_check,
        },
    .prefix = "f1_score",
    .num_values = 2,
    .takes = "labels and predictions",
    .states_of = leati_f_score_states,
    .update = leati_f_score_update,
    .result = leati_f_score_result,
};
