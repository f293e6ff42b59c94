/* random_brightness: a random number in [-max_delta, max_delta) added to all values of pictures
 * (tf.image.random_brightness).
 *
 * What is drawn goes on from call to call; see random.h. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("max_delta", FLOAT, random.high, "The largest change, 0 or more."),
    LEATI_SEED_ROWS,
};

leat_value leat_op_random_brightness(leat_value image, double max_delta, const int64_t *seed) {
    struct leati_augment_args args = {.random = {.high = max_delta}};
    return leati_augment_build(&leati_tensor_op_random_brightness, &args, image, seed);
}

LEATI_RANDOM_IMAGE_OP(random_brightness, leati_augment_brightness,
                      "A random number in [-max_delta, max_delta) added to all values of pictures",
                      "image", " max_delta", 0, leati_augment_gradient_same);
