/* decode_webp: all frames of a WebP, one of a still picture (tf.io.decode_webp).
 *
 * Fails on other formats, on damage, and on channels that are not the file's; see
 * image/webp_decode.c. One row at a time, since the size is in the data. No gradient, no locks but
 * the store's of decoders. */
#include "graph/support/picture/pictures.h"

struct decode_webp_args {
    int64_t channels;
    leat_dtype dtype;
};

static const leati_row decode_webp_rows[] = {
    {.name = "channels",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct decode_webp_args, channels),
     .doc = "0: those of the file; 3: RGB; 4: RGBA; it must be the file's."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct decode_webp_args, dtype),
     .default_number = LEAT_UINT8,
     .doc = "uint8."},
    {0},
};

static leat_status decode_webp_infer(leati_infer_call *call, leat_error *err) {
    const struct decode_webp_args *args = call->args;
    int64_t channels = args->channels;
    LEATI_TRY(leati_picture_check(call, channels, err));
    if (channels == 1)
        return leati_refuse(err, VALUE, "channels is 1; expected 0, 3 or 4");
    if (args->dtype != LEAT_UINT8)
        return leati_refuse(err, DTYPE, "dtype is %s; expected uint8",
                            leat_dtype_name(args->dtype));
    leat_shape shape = LEAT_SHAPE(LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM,
                                  channels > 0 ? channels : LEAT_UNKNOWN_DIM);
    return leati_op_infer_output(call, LEAT_UINT8, &shape, NULL, err);
}

static leat_status decode_webp_kernel(leati_kernel_call *call, leat_error *err) {
    const struct decode_webp_args *args = call->args;
    leati_decode_options options = leati_decode_defaults;
    options.channels = (int32_t)args->channels;
    return leati_picture_decode(call, LEATI_PICTURE_WEBP, &options, LEAT_UINT8, err);
}

leat_value leat_op_decode_webp(leat_value contents, int channels) {
    struct decode_webp_args args = {.channels = channels, .dtype = LEAT_UINT8};
    return leati_graph_build1(&leati_tensor_op_decode_webp, &args, contents);
}

const leati_tensor_op leati_tensor_op_decode_webp = {
    .name = "decode_webp",
    .version = 1,
    .doc = "All frames of a WebP, uint8 [frames, height, width, channels] (tf.io.decode_webp).",
    .names = "io.decode_webp image.decode_webp",
    .inputs = "contents",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = decode_webp_rows,
    .args_size = sizeof(struct decode_webp_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = decode_webp_infer,
    .kernel = decode_webp_kernel,
};
