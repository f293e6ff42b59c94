/* decode_image: the pixels of a picture of any format (tf.io.decode_image).
 *
 * As uint16 or float32, samples of 8 bits are multiplied by 256 or divided by 255; other dtypes
 * come from uint16 as convert_image_dtype has it. Fails on data that are no picture or are damaged;
 * see image/codec.h. One row at a time, since the size is in the data. No gradient, no locks but
 * the store's of decoders. */
#include "graph/support/picture/pictures.h"

static const leati_row decode_image_rows[] = {
    {.name = "channels",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct leati_decode_image_args, channels),
     .doc = "0: those of the file; 1: grey; 3: RGB; 4: RGBA."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct leati_decode_image_args, dtype),
     .default_number = LEAT_UINT8,
     .doc = "The dtype of the pixels, a number."},
    {.name = "expand_animations",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_decode_image_args, expand_animations),
     .default_number = 1,
     .doc = "All frames of a GIF, as [frames, height, width, channels]; else the first one."},
    {0},
};

static leat_status decode_image_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_decode_image_args *args = call->args;
    if (args->dtype <= LEAT_BOOL || args->dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "dtype is %s; expected a number",
                            leat_dtype_name(args->dtype));
    if (!args->expand_animations)
        return leati_picture_infer(call, args->channels, args->dtype, err);
    /* An animation has one dimension more than a picture. */
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_picture_check(call, args->channels, err));
    return leati_op_infer_output(call, args->dtype, &shape, NULL, err);
}

static leat_status decode_image_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_decode_image_args *args = call->args;
    leati_decode_options options = leati_decode_defaults;
    options.channels = (int32_t)args->channels;
    return leati_picture_decode(call,
                                args->expand_animations ? LEATI_PICTURE_IMAGE : LEATI_PICTURE_FRAME,
                                &options, args->dtype, err);
}

leat_value leat_op_decode_image(leat_value contents, int channels) {
    struct leati_decode_image_args args = {
        .channels = channels, .dtype = LEAT_UINT8, .expand_animations = false};
    return leati_graph_build1(&leati_tensor_op_decode_image, &args, contents);
}

const leati_tensor_op leati_tensor_op_decode_image = {
    .name = "decode_image",
    .version = 1,
    .doc = "The pixels of a picture of any format (tf.io.decode_image).",
    .names = "io.decode_image image.decode_image",
    .inputs = "contents",
    .signature = "contents channels=null dtype name expand_animations",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = decode_image_rows,
    .args_size = sizeof(struct leati_decode_image_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = decode_image_infer,
    .kernel = decode_image_kernel,
};
