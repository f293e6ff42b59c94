/* What metrics share that count hits and misses of predictions above thresholds. */
#ifndef LEATI_TRAIN_SUPPORT_CONFUSION_H
#define LEATI_TRAIN_SUPPORT_CONFUSION_H

#include "train/frame/metric.h"

/* The counts, in this order among the states of a metric that keeps several of them. */
typedef enum leati_count {
    LEATI_TRUE_POSITIVES = 0,
    LEATI_FALSE_POSITIVES,
    LEATI_TRUE_NEGATIVES,
    LEATI_FALSE_NEGATIVES,
    LEATI_NUM_COUNTS
} leati_count;
/* All of them. */
extern const leati_count leati_all_counts[LEATI_NUM_COUNTS];

/* How predictions are taken before they are compared. */
typedef struct leati_taken {
    int64_t top_k;    /* only the k largest of a row count; 0: all */
    int64_t class_id; /* only that place of the last dimension; -1: all */
    bool from_logits;
    bool by_label;                     /* a count for each place of the last dimension */
    const leati_floats *label_weights; /* of places of the last dimension; NULL: 1 */
} leati_taken;

/* Lists the states for those counts, in the order of `wanted`: one number for each of `thresholds`,
 * and where `labels` is not 0 for each label. */
void leati_confusion_count_states(const leati_count *wanted, int count, int64_t thresholds,
                                  int64_t labels, leati_weights *out);
/* Adds this batch's counts to the states; a prediction above a threshold is positive. */
void leati_confusion_count_update(const leati_pass *pass, const leati_count *wanted, int count,
                                  const leati_floats *thresholds, const leati_taken *taken);

/* The arguments of metrics of one ratio or count at each of some thresholds. */
struct leati_threshold_args {
    struct leati_metric_args shared;
    leati_floats thresholds; /* none: 0.5 */
    int64_t top_k, class_id;
};

#define LEATI_THRESHOLDS_ROW                                                                       \
    {                                                                                              \
        .name = "thresholds", .type = LEATI_ROW_FLOATS,                                            \
        .offset = offsetof(struct leati_threshold_args, thresholds),                               \
        .doc = "What predictions are compared with, between 0 and 1; 0.5 by default."              \
    }
/* The rows of metrics that may look at the largest predictions, or one class, alone. */
extern const leati_row leati_ratio_rows[];
/* The rows of metrics that may not. */
extern const leati_row leati_count_rows[];

LEAT_WARN_UNUSED leat_status leati_confusion_threshold_check(const void *args, leat_error *err);
/* The thresholds; where there are none `standard` (0, or 0.5) as the only one. */
leati_floats leati_confusion_thresholds_of(const struct leati_threshold_args *args,
                                           double *standard);
/* A vector of one number as a scalar. */
leat_value leati_confusion_one_or_all(leat_value values);

/* The slots of metrics of one count. */
void leati_confusion_single_states(const void *args, leati_count wanted, leati_weights *out);
void leati_confusion_single_update(const leati_pass *pass, leati_count wanted);
/* The slots of metrics of true positives by them and another count. */
void leati_confusion_ratio_states(const void *args, leati_count other, leati_weights *out);
void leati_confusion_ratio_update(const leati_pass *pass, leati_count other);
leat_value leati_confusion_ratio_result(const void *args, const leat_value *states);

/* The arguments of metrics over evenly spread thresholds. */
struct leati_spread_args {
    struct leati_metric_args shared;
    int64_t num_thresholds, class_id;
    double value;
};
/* Fills `out` with as many evenly spread thresholds, from 0 to 1. */
void leati_confusion_spread_thresholds(int64_t count, double *out);
/* The slots of such metrics, which keep all four counts; `name` is that of the value to reach. */
LEAT_WARN_UNUSED leat_status leati_confusion_spread_check(const void *args, const char *name,
                                                          leat_error *err);
void leati_confusion_spread_states(const void *args, leati_weights *out);
void leati_confusion_spread_update(const leati_pass *pass);
/* `wanted` at the threshold where `held` is at least the argument and `wanted` is largest; 0 if
 * there is none. */
leat_value leati_confusion_largest_where(const void *args, leat_value held, leat_value wanted);
/* a / (a + b), but 0 where that is 0 / 0. */
leat_value leati_confusion_share_of(leat_value a, leat_value b);

enum { LEATI_MOST_THRESHOLDS = 4096 };

#define LEATI_SPREAD_ROWS(NAME, DOC)                                                               \
    {.name = NAME,                                                                                 \
     .type = LEATI_ROW_FLOAT,                                                                      \
     .flags = LEATI_REQUIRED,                                                                      \
     .offset = offsetof(struct leati_spread_args, value),                                          \
     .doc = DOC},                                                                                  \
        {.name = "num_thresholds",                                                                 \
         .type = LEATI_ROW_INT,                                                                    \
         .offset = offsetof(struct leati_spread_args, num_thresholds),                             \
         .default_number = 200,                                                                    \
         .minimum = INT32_MIN,                                                                     \
         .maximum = LEATI_MOST_THRESHOLDS,                                                         \
         .doc = "How many thresholds are tried."},                                                 \
        {.name = "class_id",                                                                       \
         .type = LEATI_ROW_INT,                                                                    \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct leati_spread_args, class_id),                                   \
         .default_number = -1,                                                                     \
         .minimum = -1,                                                                            \
         .maximum = INT32_MAX,                                                                     \
         .doc = "The only class that counts; none: all."},                                         \
        LEATI_METRIC_ROWS

#endif
