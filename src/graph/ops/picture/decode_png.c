/* decode_png: the pixels of a PNG, or of another picture (tf.io.decode_png).
 *
 * Fails on data that are no picture or are damaged; see image/codec.h. One row at a time, since the
 * size is in the data. No gradient, no locks but the store's of decoders. */
#include "graph/support/picture/pictures.h"

static const leati_row decode_png_rows[] = {
    {.name = "channels",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct leati_decode_png_args, channels),
     .doc = "0: those of the file; 1: grey; 3: RGB; 4: RGBA."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct leati_decode_png_args, dtype),
     .default_number = LEAT_UINT8,
     .doc = "uint8 or uint16."},
    {0},
};

static leat_status decode_png_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_decode_png_args *args = call->args;
    if (args->dtype != LEAT_UINT8 && args->dtype != LEAT_UINT16)
        return leati_refuse(err, DTYPE, "dtype is %s; expected uint8 or uint16",
                            leat_dtype_name(args->dtype));
    return leati_picture_infer(call, args->channels, args->dtype, err);
}

static leat_status decode_png_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_decode_png_args *args = call->args;
    leati_decode_options options = leati_decode_defaults;
    options.channels = (int32_t)args->channels;
    return leati_picture_decode(call, LEATI_PICTURE_ANY, &options, args->dtype, err);
}

leat_value leat_op_decode_png(leat_value contents, int channels) {
    struct leati_decode_png_args args = {.channels = channels, .dtype = LEAT_UINT8};
    return leati_graph_build1(&leati_tensor_op_decode_png, &args, contents);
}

const leati_tensor_op leati_tensor_op_decode_png = {
    .name = "decode_png",
    .version = 1,
    .doc = "The pixels of a PNG, uint8 [height, width, channels] (tf.io.decode_png).",
    .names = "io.decode_png image.decode_png",
    .inputs = "contents",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = decode_png_rows,
    .args_size = sizeof(struct leati_decode_png_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = decode_png_infer,
    .kernel = decode_png_kernel,
};
