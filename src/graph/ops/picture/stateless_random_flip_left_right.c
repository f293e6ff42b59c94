/* stateless_random_flip_left_right: pictures mirrored along their width, at random
 * (tf.image.stateless_random_flip_left_right).
 *
 * The seed decides what is drawn, for each picture of several by itself. No state, no
 * locks. */
#include "graph/support/picture/augment.h"

leat_value leat_op_stateless_random_flip_left_right(leat_value image, leat_value seed) {
    return leati_graph_build2(&leati_tensor_op_stateless_random_flip_left_right, NULL, image, seed);
}

static leat_status gradient(leati_gradient_call *call, leat_error *err) {
    return leati_augment_gradient_flip(call, &leati_tensor_op_stateless_random_flip_left_right,
                                       err);
}

LEATI_STATELESS_OP(stateless_random_flip_left_right, leati_augment_flip_left_right,
                   "Pictures mirrored along their width, at random", "image", " seed",
                   leati_no_rows, 0, gradient, .trait = LEATI_TRAIT_MIRROR);
