/* cutmix: a batch of pictures with a window of each from another one of the batch, and its labels
 * mixed by area (keras.layers.CutMix).
 *
 * What is drawn goes on from call to call; see random.h. See mix.c, also for failures. No gradient.
 * No state, no locks. */
#include "graph/support/picture/mix.h"

static const leati_row rows[] = {
    LEATI_MIX_ROW(
        "factor", FLOATS, factor, 0,
        "The range, in [0, 1], of the parameter of the weights' beta distribution; one number is "
        "its end; without it 0 to 1."),
    LEATI_SEED_ROWS,
};

int leat_op_cutmix(leat_value images, leat_value labels, const double *factor, const int64_t *seed,
                   leat_value *outputs) {
    double range[2] = {factor != NULL ? factor[0] : 0, factor != NULL ? factor[1] : 1};
    struct leati_mix_args args = {.factor = {.values = range, .count = 2}};
    return leati_mix_build(&leati_tensor_op_cutmix, &args, images, labels, NULL, seed, outputs);
}

LEATI_MIX_OP(cutmix, leati_mix_cut,
             "A batch of pictures with a window of each from another one of the batch, and its "
             "labels mixed by area (tf.keras.layers.CutMix).",
             " factor");
