/* decode_bmp: the pixels of a bitmap (tf.io.decode_bmp).
 *
 * Fails on other formats and on damage; see image/bmp_decode.c. One row at a time, since the size
 * is in the data. No gradient, no locks but the store's of decoders. */
#include "graph/support/picture/pictures.h"

struct decode_bmp_args {
    int64_t channels;
};

static const leati_row decode_bmp_rows[] = {
    {.name = "channels",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct decode_bmp_args, channels),
     .doc = "0: those of the file; 3: RGB; 4: RGBA."},
    {0},
};

static leat_status decode_bmp_infer(leati_infer_call *call, leat_error *err) {
    const struct decode_bmp_args *args = call->args;
    return leati_picture_infer(call, args->channels, LEAT_UINT8, err);
}

static leat_status decode_bmp_kernel(leati_kernel_call *call, leat_error *err) {
    const struct decode_bmp_args *args = call->args;
    leati_decode_options options = leati_decode_defaults;
    options.channels = (int32_t)args->channels;
    return leati_picture_decode(call, LEATI_PICTURE_BMP, &options, LEAT_UINT8, err);
}

leat_value leat_op_decode_bmp(leat_value contents, int channels) {
    struct decode_bmp_args args = {.channels = channels};
    return leati_graph_build1(&leati_tensor_op_decode_bmp, &args, contents);
}

const leati_tensor_op leati_tensor_op_decode_bmp = {
    .name = "decode_bmp",
    .version = 1,
    .doc = "The pixels of a bitmap, uint8 [height, width, channels] (tf.io.decode_bmp).",
    .names = "io.decode_bmp image.decode_bmp",
    .inputs = "contents",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = decode_bmp_rows,
    .args_size = sizeof(struct decode_bmp_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = decode_bmp_infer,
    .kernel = decode_bmp_kernel,
};
