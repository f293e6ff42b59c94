/* random_crop: a part of a size at a random place of a tensor (tf.image.random_crop).
 *
 * What is drawn goes on from call to call; see random.h. No gradient. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("size", INTS, size, "The result's shape."),
    LEATI_SEED_ROWS,
};

leat_value leat_op_random_crop(leat_value value, const int64_t *size, int rank,
                               const int64_t *seed) {
    struct leati_augment_args args = {
        .size = {.values = (int64_t *)(uintptr_t)size, .count = rank}};
    return leati_augment_build(&leati_tensor_op_random_crop, &args, value, seed);
}

static leat_status window(const leati_kernel_call *call, leati_window *out, leat_error *err) {
    return leati_augment_image_window(call, &leati_augment_crop, out, err);
}

LEATI_RANDOM_IMAGE_OP(random_crop, leati_augment_crop,
                      "A part of a size at a random place of a tensor", "value", " size", 0, NULL,
                      .window = window);
