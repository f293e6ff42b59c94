/* stateless_mixup: a batch of pictures and its labels, each blended with another one of the batch
 * by a random weight (keras.layers.MixUp).
 *
 * The seed decides. See mix.c, also for failures. No gradient. No state, no locks. */
#include "graph/support/picture/mix.h"

static const leati_row rows[] = {
    LEATI_MIX_ROW("alpha", FLOAT, alpha, 0.2,
                  "The weights' beta distribution is (alpha, alpha); in (0, 1]."),
    {0},
};

int leat_op_stateless_mixup(leat_value images, leat_value labels, leat_value seed, double alpha,
                            leat_value *outputs) {
    struct leati_mix_args args = {.alpha = alpha != 0 ? alpha : 0.2};
    return leati_mix_build(&leati_tensor_op_stateless_mixup, &args, images, labels, &seed, NULL,
                           outputs);
}

LEATI_STATELESS_MIX_OP(stateless_mixup, leati_mix_up,
                       "A batch of pictures and its labels, each blended with another one of the "
                       "batch by a random weight (tf.keras.layers.MixUp).",
                       " alpha");
