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

/* Fills `out` with as many evenly spread thresholds, from 0 to 1. */
void leati_confusion_spread_thresholds(int64_t count, double *out);
/* a / (a + b), but 0 where that is 0 / 0. */
leat_value leati_confusion_share_of(leat_value a, leat_value b);

enum { LEATI_MOST_THRESHOLDS = 4096 };

#endif
