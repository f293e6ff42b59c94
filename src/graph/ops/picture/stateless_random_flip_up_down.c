/* stateless_random_flip_up_down: pictures mirrored along their height, at random
 * (tf.image.stateless_random_flip_up_down).
 *
 * The seed decides what is drawn, for each picture of several by itself. No state, no
 * locks. */
#include "graph/support/picture/augment.h"

leat_value leat_op_stateless_random_flip_up_down(leat_value image, leat_value seed) {
    return leati_graph_build2(&leati_tensor_op_stateless_random_flip_up_down, NULL, image, seed);
}

static leat_status gradient(leati_gradient_call *call, leat_error *err) {
    return leati_augment_gradient_flip(call, &leati_tensor_op_stateless_random_flip_up_down, err);
}

LEATI_STATELESS_OP(stateless_random_flip_up_down, leati_augment_flip_up_down,
                   "Pictures mirrored along their height, at random", "image", " seed",
                   leati_no_rows, 0, gradient, .trait = LEATI_TRAIT_MIRROR);
