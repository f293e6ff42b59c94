/* stateless_random_brightness: a random number in [-max_delta, max_delta) added to all values of
 * pictures (tf.image.stateless_random_brightness).
 *
 * The seed decides what is drawn. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("max_delta", FLOAT, random.high, "The largest change, 0 or more."),
    {0},
};

leat_value leat_op_stateless_random_brightness(leat_value image, double max_delta,
                                               leat_value seed) {
    struct leati_augment_args args = {.random = {.high = max_delta}};
    return leati_graph_build2(&leati_tensor_op_stateless_random_brightness, &args, image, seed);
}

LEATI_STATELESS_OP(stateless_random_brightness, leati_augment_brightness,
                   "A random number in [-max_delta, max_delta) added to all values of pictures",
                   "image", " max_delta seed", rows, 0, leati_augment_gradient_same);
