/* random_saturation: adjust_saturation with a random factor (tf.image.random_saturation).
 *
 * What is drawn goes on from call to call; see random.h. No gradient. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("lower", FLOAT, random.low, "The smallest factor, 0 or more."),
    LEATI_AUGMENT_ROW("upper", FLOAT, random.high, "The end of the factors, not reached."),
    LEATI_SEED_ROWS,
};

leat_value leat_op_random_saturation(leat_value image, double lower, double upper,
                                     const int64_t *seed) {
    struct leati_augment_args args = {.random = {.low = lower, .high = upper}};
    return leati_augment_build(&leati_tensor_op_random_saturation, &args, image, seed);
}

LEATI_RANDOM_IMAGE_OP(random_saturation, leati_augment_saturation,
                      "Adjust_saturation with a random factor", "image", " lower upper", 0, NULL);
