/* stateless_random_saturation: adjust_saturation with a random factor
 * (tf.image.stateless_random_saturation).
 *
 * The seed decides what is drawn. No gradient. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("lower", FLOAT, random.low, "The smallest factor, 0 or more."),
    LEATI_AUGMENT_ROW("upper", FLOAT, random.high, "The end of the factors, not reached."),
    {0},
};

leat_value leat_op_stateless_random_saturation(leat_value image, double lower, double upper,
                                               leat_value seed) {
    struct leati_augment_args args = {.random = {.low = lower, .high = upper}};
    return leati_graph_build2(&leati_tensor_op_stateless_random_saturation, &args, image, seed);
}

LEATI_STATELESS_OP(stateless_random_saturation, leati_augment_saturation,
                   "Adjust_saturation with a random factor", "image", " lower upper seed=null",
                   rows, 0, NULL);
