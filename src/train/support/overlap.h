/* What the losses of regions share that overlap: the sums of labels and predictions over some
 * dimensions. */
#ifndef LEATI_TRAIN_SUPPORT_OVERLAP_H
#define LEATI_TRAIN_SUPPORT_OVERLAP_H

#include "train/frame/loss.h"

/* A row for `axis` of a STRUCT: none, one or several dimensions. */
#define LEATI_AXES_ROW(STRUCT)                                                                     \
    {                                                                                              \
        .name = "axis", .type = LEATI_ROW_INTS, .offset = offsetof(STRUCT, axis),                  \
        .doc = "The dimensions of a region; none: all, and one loss of the whole batch."           \
    }

/* The sum over these dimensions, or over all where there are none. */
leat_value leati_overlap_sum_over(leat_value value, const leati_ints *axes);

#endif
