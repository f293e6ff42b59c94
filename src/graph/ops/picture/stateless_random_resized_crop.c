/* stateless_random_resized_crop: a random part of pictures, scaled to one size, drawn by a seed.
 *
 * The seed decides; see resized_crop.c, also for failures. Method nearest keeps the dtype. No
 * gradient. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {LEATI_RESIZED_CROP_ROWS, {0}};

leat_value
leat_op_stateless_random_resized_crop(leat_value images, int64_t height, int64_t width,
                                      leat_value seed,
                                      const leat_op_random_resized_crop_options *options) {
    return leati_augment_resized_crop_build(&leati_tensor_op_stateless_random_resized_crop, images,
                                            height, width, &seed, NULL, options);
}

static leat_status window(const leati_kernel_call *call, leati_window *out, leat_error *err) {
    return leati_augment_window(call, &leati_augment_resized_crop, out, err);
}

LEATI_STATELESS_OP_OF(stateless_random_resized_crop, leati_augment_resized_crop,
                      "A random part of pictures, of a random area and proportions, scaled to one "
                      "size, as float32; the seed decides.",
                      "images", " size seed scale ratio method antialias", rows, LEATI_COSTLY, NULL,
                      .window = window);
