/* What the loss and the metrics share that compare vectors by their directions. */
#ifndef LEATI_TRAIN_SUPPORT_SIMILARITY_H
#define LEATI_TRAIN_SUPPORT_SIMILARITY_H

#include "train/frame/loss.h"

/* The cosine of the angle between vectors along `axis`; 0 where one has the length 0. */
leat_value leati_similarity_cosine(leat_value x, leat_value y, int64_t axis);

/* Along these axes (none: the last): values less their mean, and their biased variance, with
 * dimensions of size 1 in place. */
void leati_similarity_center(leat_value x, const leati_ints *axes, leat_value *mean,
                             leat_value *rest, leat_value *variance);
/* The mean along these axes (none: the last). */
leat_value leati_similarity_mean_over(leat_value x, const leati_ints *axes, bool keepdims);

#define LEATI_AXES_OF_MEAN_ROW(STRUCT)                                                             \
    {                                                                                              \
        .name = "axis", .type = LEATI_ROW_INTS, .offset = offsetof(STRUCT, axis),                  \
        .doc = "The dimension, or dimensions, along which values are compared; -1 by default."     \
    }

#endif
