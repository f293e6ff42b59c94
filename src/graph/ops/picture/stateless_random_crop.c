/* stateless_random_crop: a part of a size at a random place of a tensor
 * (tf.image.stateless_random_crop).
 *
 * The seed decides what is drawn. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("size", INTS, size, "The result's shape."),
    {0},
};

leat_value leat_op_stateless_random_crop(leat_value value, const int64_t *size, int rank,
                                         leat_value seed) {
    struct leati_augment_args args = {
        .size = {.values = (int64_t *)(uintptr_t)size, .count = rank}};
    return leati_graph_build2(&leati_tensor_op_stateless_random_crop, &args, value, seed);
}

static leat_status window(const leati_kernel_call *call, leati_window *out, leat_error *err) {
    return leati_augment_window(call, &leati_augment_crop, out, err);
}

LEATI_STATELESS_OP(stateless_random_crop, leati_augment_crop,
                   "A part of a size at a random place of a tensor", "value", " size seed", rows, 0,
                   leati_augment_gradient_crop, .window = window);
