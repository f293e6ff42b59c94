/* What FBetaScore and F1Score share. */
#ifndef LEATI_TRAIN_SUPPORT_F_SCORE_H
#define LEATI_TRAIN_SUPPORT_F_SCORE_H

#include "train/frame/metric.h"

struct leati_f_score_args {
    struct leati_metric_args shared;
    char *average;          /* NULL: a score for each class */
    double beta;            /* 0: 1 */
    leati_floats threshold; /* none: the largest of a row */
};

#define LEATI_F_SCORE_AVERAGE_ROW                                                                  \
    {                                                                                              \
        .name = "average", .type = LEATI_ROW_STRING, .flags = LEATI_NONE,                          \
        .offset = offsetof(struct leati_f_score_args, average),                                    \
        .doc = "\"micro\", \"macro\", \"weighted\", or none: a score for each class."              \
    }
#define LEATI_F_SCORE_THRESHOLD_ROW                                                                \
    {                                                                                              \
        .name = "threshold", .type = LEATI_ROW_FLOATS,                                             \
        .offset = offsetof(struct leati_f_score_args, threshold),                                  \
        .doc = "What predictions of 1 exceed; none: the largest of a row is 1."                    \
    }

/* The slots of the kinds. */
LEAT_WARN_UNUSED leat_status leati_f_score_check(const void *args, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_f_score_states(const void *args, const leat_shape *inputs,
                                                  leati_weights *out, leat_error *err);
void leati_f_score_update(const leati_pass *pass);
leat_value leati_f_score_result(const void *args, const leat_value *states);

#endif
