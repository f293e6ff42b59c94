/* What the losses of labels 0 and 1, or of one label among many, share. */
#ifndef LEATI_TRAIN_SUPPORT_CROSSENTROPY_H
#define LEATI_TRAIN_SUPPORT_CROSSENTROPY_H

#include "train/frame/loss.h"

/* A row for `from_logits`, which is called so in STRUCT. */
#define LEATI_FROM_LOGITS_ROW(STRUCT)                                                              \
    {                                                                                              \
        .name = "from_logits", .type = LEATI_ROW_BOOL, .offset = offsetof(STRUCT, from_logits),    \
        .doc = "Whether predictions are logits, not probabilities."                                \
    }
/* A row for `axis` that says which dimension DOC names. */
#define LEATI_AXIS_ROW(STRUCT, DOC)                                                                \
    {                                                                                              \
        .name = "axis", .type = LEATI_ROW_INT, .offset = offsetof(STRUCT, axis),                   \
        .default_number = -1, .minimum = -LEAT_MAX_RANK, .maximum = LEAT_MAX_RANK - 1, .doc = DOC  \
    }
/* A row for `label_smoothing`. */
#define LEATI_SMOOTHING_ROW(STRUCT, DOC)                                                           \
    {                                                                                              \
        .name = "label_smoothing", .type = LEATI_ROW_FLOAT,                                        \
        .offset = offsetof(STRUCT, label_smoothing), .doc = DOC                                    \
    }

/* For check: a part between 0 and 1. */
LEAT_WARN_UNUSED leat_status leati_crossentropy_smoothing_check(double smoothing, leat_error *err);

/* Labels 0 and 1 moved towards one half. */
leat_value leati_crossentropy_smooth_bits(leat_value labels, double smoothing);
/* Labels of classes along the last dimension moved towards an equal share of each. The number of
 * classes must be known. */
leat_value leati_crossentropy_smooth_classes(leat_value labels, double smoothing);

/* Minus the logarithm of the probability of labels 0 and 1, place by place: of logits, and of
 * probabilities, which are clipped to [1e-7, 1 - 1e-7]. */
leat_value leati_crossentropy_bits_of_logits(leat_value labels, leat_value logits);
leat_value leati_crossentropy_bits_of_probabilities(leat_value labels, leat_value probabilities);

/* The mean along `axis`; scalars as they are. */
leat_value leati_crossentropy_mean_along(leat_value value, int64_t axis);
/* Probabilities scaled to the sum 1 along `axis`, then clipped to [1e-7, 1 - 1e-7]. */
leat_value leati_crossentropy_scaled_probability(leat_value probabilities, int64_t axis);

/* Numbers of classes, one per row: int64, without a last dimension of 1 that predictions have
 * classes in. */
leat_value leati_crossentropy_class_numbers(leat_value labels, leat_value predictions);

#endif
