/* What the loss and the metric share that compare vectors by their directions. */
#ifndef LEATI_TRAIN_SUPPORT_SIMILARITY_H
#define LEATI_TRAIN_SUPPORT_SIMILARITY_H

#include "train/frame/loss.h"

/* The cosine of the angle between vectors along `axis`; 0 where one has the length 0. */
leat_value leati_similarity_cosine(leat_value x, leat_value y, int64_t axis);

#endif
