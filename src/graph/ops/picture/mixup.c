/* mixup: a batch of pictures and its labels, each blended with another one of the batch by a random
 * weight (keras.layers.MixUp).
 *
 * What is drawn goes on from call to call; see random.h. See mix.c, also for failures. No gradient.
 * No state, no locks. */
#include "graph/support/picture/mix.h"

static const leati_row rows[] = {
    LEATI_MIX_ROW("alpha", FLOAT, alpha, 0.2,
                  "The weights' beta distribution is (alpha, alpha); in (0, 1]."),
    LEATI_SEED_ROWS,
};

int leat_op_mixup(leat_value images, leat_value labels, double alpha, const int64_t *seed,
                  leat_value *outputs) {
    struct leati_mix_args args = {.alpha = alpha != 0 ? alpha : 0.2};
    return leati_mix_build(&leati_tensor_op_mixup, &args, images, labels, NULL, seed, outputs);
}

LEATI_MIX_OP(mixup, leati_mix_up,
             "A batch of pictures and its labels, each blended with another one of the batch by a "
             "random weight (tf.keras.layers.MixUp).",
             " alpha");
