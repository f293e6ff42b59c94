/* FBetaScore: the harmonic mean of precision and recall, in which recall weighs beta times as much
 * (keras.metrics.FBetaScore). Failures: arguments out of their ranges, and the graph's. No locks.
 */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/f_score.h"

static const leati_row fbeta_score_rows[] = {
    LEATI_F_SCORE_AVERAGE_ROW,
    {.name = "beta",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct leati_f_score_args, beta),
     .default_number = 1,
     .doc = "How much more than precision recall weighs."},
    LEATI_F_SCORE_THRESHOLD_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

static leat_status fbeta_score_check(const void *arguments, leat_error *err) {
    const struct leati_f_score_args *args = arguments;
    LEATI_TRY(leati_f_score_check(arguments, err));
    if (args->beta > 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "Invalid `beta` argument value. It should be > 0. Received: beta=%#.2g",
                        args->beta);
}

const leati_metric_kind leati_metric_fbeta_score = {
    .kind =
        {
            .name = "FBetaScore",
            .doc = "The weighted harmonic mean of precision and recall (keras.metrics.FBetaScore).",
            .rows = fbeta_score_rows,
            .signature = "average=null beta threshold=null name=\"fbeta_score\" dtype",
            .args_size = sizeof(struct leati_f_score_args),
            .check = fbeta_score_check,
        },
    .prefix = "fbeta_score",
    .num_values = 2,
    .takes = "labels and predictions",
    .states_of = leati_f_score_states,
    .update = leati_f_score_update,
    .result = leati_f_score_result,
};
