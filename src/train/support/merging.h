/* What the merging layers share. */
#ifndef LEATI_TRAIN_SUPPORT_MERGING_H
#define LEATI_TRAIN_SUPPORT_MERGING_H

#include "train/frame/layer.h"

/* The rows of layers without arguments of their own, whose struct is leati_layer_args. */
extern const leati_row leati_merging_rows[];

/* `join` over the inputs from the first to the last; where ranks differ, dimensions of size 1 come
 * behind the batch's. */
leat_value leati_merging_merge(const leati_pass *pass, leat_value (*join)(leat_value, leat_value));

#endif
