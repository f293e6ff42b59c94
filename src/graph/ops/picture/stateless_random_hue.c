/* stateless_random_hue: adjust_hue with a random number in [-max_delta, max_delta)
 * (tf.image.stateless_random_hue).
 *
 * The seed decides what is drawn. No gradient. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("max_delta", FLOAT, random.high, "The largest change, in [0, 0.5]."),
    {0},
};

leat_value leat_op_stateless_random_hue(leat_value image, double max_delta, leat_value seed) {
    struct leati_augment_args args = {.random = {.high = max_delta}};
    return leati_graph_build2(&leati_tensor_op_stateless_random_hue, &args, image, seed);
}

LEATI_STATELESS_OP(stateless_random_hue, leati_augment_hue,
                   "Adjust_hue with a random number in [-max_delta, max_delta)", "image",
                   " max_delta seed", rows, 0, NULL);
