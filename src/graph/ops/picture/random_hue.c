/* random_hue: adjust_hue with a random number in [-max_delta, max_delta) (tf.image.random_hue).
 *
 * What is drawn goes on from call to call; see random.h. No gradient. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("max_delta", FLOAT, random.high, "The largest change, in [0, 0.5]."),
    LEATI_SEED_ROWS,
};

leat_value leat_op_random_hue(leat_value image, double max_delta, const int64_t *seed) {
    struct leati_augment_args args = {.random = {.high = max_delta}};
    return leati_augment_build(&leati_tensor_op_random_hue, &args, image, seed);
}

LEATI_RANDOM_IMAGE_OP(random_hue, leati_augment_hue,
                      "Adjust_hue with a random number in [-max_delta, max_delta)", "image",
                      " max_delta", 0, NULL);
