/* decode_gif: all frames of a GIF, or one of a JPEG or PNG (tf.io.decode_gif).
 *
 * Fails on other formats and on damage; see image/gif_decode.c. One row at a time, since the size
 * is in the data. No gradient, no locks but the store's of decoders. */
#include "graph/support/picture/pictures.h"

static leat_status decode_gif_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = LEAT_SHAPE(LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, 3);
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the contents", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 0, "the contents", err));
    return leati_op_infer_output(call, LEAT_UINT8, &shape, NULL, err);
}

static leat_status decode_gif_kernel(leati_kernel_call *call, leat_error *err) {
    leati_decode_options options = leati_decode_defaults;
    options.channels = 3;
    return leati_picture_decode(call, LEATI_PICTURE_GIF, &options, LEAT_UINT8, err);
}

leat_value leat_op_decode_gif(leat_value contents) {
    return leati_graph_build1(&leati_tensor_op_decode_gif, NULL, contents);
}

const leati_tensor_op leati_tensor_op_decode_gif = {
    .name = "decode_gif",
    .version = 1,
    .doc = "All frames of a GIF, uint8 [frames, height, width, 3] (tf.io.decode_gif).",
    .names = "io.decode_gif image.decode_gif",
    .inputs = "contents",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = decode_gif_infer,
    .kernel = decode_gif_kernel,
};
