/* random_resized_crop: a random part of pictures, scaled to one size.
 *
 * What is drawn goes on from call to call, see random.h; of the rest, and of failures, see
 * resized_crop.c. Method nearest keeps the dtype. No gradient. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {LEATI_RESIZED_CROP_ROWS, LEATI_SEED_ROWS};

leat_value leat_op_random_resized_crop(leat_value images, int64_t height, int64_t width,
                                       const int64_t *seed,
                                       const leat_op_random_resized_crop_options *options) {
    return leati_augment_resized_crop_build(&leati_tensor_op_random_resized_crop, images, height,
                                            width, NULL, seed, options);
}

static leat_status window(const leati_kernel_call *call, leati_window *out, leat_error *err) {
    return leati_augment_image_window(call, &leati_augment_resized_crop, out, err);
}

LEATI_RANDOM_IMAGE_OP_OF(random_resized_crop, leati_augment_resized_crop,
                         "A random part of pictures, of a random area and proportions, scaled to "
                         "one size, as float32.",
                         "images", " size scale ratio method antialias seed", LEATI_COSTLY, NULL,
                         .window = window);
