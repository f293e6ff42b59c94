/* What layers share that give numbers of categories. */
#ifndef LEATI_TRAIN_SUPPORT_CATEGORIES_H
#define LEATI_TRAIN_SUPPORT_CATEGORIES_H

#include "train/frame/layer.h"

/* For check: "int", "one_hot", "multi_hot" or "count". */
LEAT_WARN_UNUSED leat_status leati_categories_check(const char *output_mode, leat_error *err);

/* Numbers as they are; as vectors of `depth` with a 1, or what a row's vectors have together, or
 * how often (keras.layers.CategoryEncoding). */
leat_value leati_categories_encode(leat_value numbers, const char *output_mode, int64_t depth);

#endif
