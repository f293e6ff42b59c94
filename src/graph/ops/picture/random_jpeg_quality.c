/* random_jpeg_quality: adjust_jpeg_quality with a random quality (tf.image.random_jpeg_quality).
 *
 * What is drawn goes on from call to call; see random.h. No gradient. No state, no locks. */
#include "graph/support/picture/augment.h"

static const leati_row rows[] = {
    LEATI_AUGMENT_ROW("min_jpeg_quality", FLOAT, random.low, "The lowest quality."),
    LEATI_AUGMENT_ROW("max_jpeg_quality", FLOAT, random.high,
                      "The end of the qualities, not reached."),
    LEATI_SEED_ROWS,
};

leat_value leat_op_random_jpeg_quality(leat_value image, int64_t min_jpeg_quality,
                                       int64_t max_jpeg_quality, const int64_t *seed) {
    struct leati_augment_args args = {
        .random = {.low = (double)min_jpeg_quality, .high = (double)max_jpeg_quality}};
    return leati_augment_build(&leati_tensor_op_random_jpeg_quality, &args, image, seed);
}

LEATI_RANDOM_IMAGE_OP(random_jpeg_quality, leati_augment_quality,
                      "Adjust_jpeg_quality with a random quality", "image",
                      " min_jpeg_quality max_jpeg_quality", LEATI_COSTLY, NULL);
