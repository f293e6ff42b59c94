/* random_flip_left_right: pictures mirrored along their width, at random
 * (tf.image.random_flip_left_right).
 *
 * What is drawn goes on from call to call, for each picture of several by itself; see random.h. No
 * gradient. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_SEED_ROWS,
};

leat_value leat_op_random_flip_left_right(leat_value image, const int64_t *seed) {
    struct leati_augment_args args = {0};
    return leati_augment_build(&leati_tensor_op_random_flip_left_right, &args, image, seed);
}

LEATI_RANDOM_IMAGE_OP(random_flip_left_right, leati_augment_flip_left_right,
                      "Pictures mirrored along their width, at random", "image", "", 0, NULL,
                      .trait = LEATI_TRAIT_MIRROR);
