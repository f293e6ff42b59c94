/* What the layers share that mix pictures and labels of a batch. */
#ifndef LEATI_TRAIN_SUPPORT_MIXING_H
#define LEATI_TRAIN_SUPPORT_MIXING_H

#include "graph/support/picture/mix.h"
#include "train/support/pictures.h"

/* The call of such a layer: what `op` makes of the pictures, or, where labels are given too, of the
 * labels. The operation draws `draws` times with the seed of the call, so both calls draw the same.
 * In inference they stay as they are. */
leat_value leati_mixing_call(const leati_pass *pass, const leati_tensor_op *op,
                             struct leati_mix_args *args, int draws);

#endif
