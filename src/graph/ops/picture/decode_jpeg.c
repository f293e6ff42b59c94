/* decode_jpeg: the pixels of a JPEG, or of another picture (tf.io.decode_jpeg).
 *
 * Fails on data that are no picture or are damaged; see image/codec.h. One row at a time, since the
 * size is in the data. No gradient, no locks but the store's of decoders. */
#include "graph/ops/picture/decode_jpeg.h"

const leati_row leati_decode_jpeg_rows[] = {
    {.name = "channels",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct leati_decode_jpeg_args, channels),
     .doc = "0: those of the file; 1: grey; 3: RGB."},
    {.name = "ratio",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct leati_decode_jpeg_args, ratio),
     .default_number = 1,
     .doc = "The picture is shrunk by 1, 2, 4 or 8."},
    {.name = "fancy_upscaling",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_decode_jpeg_args, fancy_upscaling),
     .default_number = 1,
     .doc = "Interpolate chroma instead of repeating it."},
    {.name = "try_recover_truncated",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_decode_jpeg_args, try_recover_truncated),
     .doc = "Fill what is missing instead of failing."},
    {.name = "acceptable_fraction",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct leati_decode_jpeg_args, acceptable_fraction),
     .default_number = 1,
     .doc = "The least fraction of rows that must be there."},
    {.name = "dct_method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_decode_jpeg_args, dct_method),
     .default_text = "",
     .doc = "INTEGER_FAST (also when empty) or INTEGER_ACCURATE."},
    {0},
};

leat_status leati_decode_jpeg_options(const struct leati_decode_jpeg_args *args,
                                      leati_decode_options *options, leat_error *err) {
    *options = leati_decode_defaults;
    options->channels = (int32_t)args->channels;
    options->ratio = (int32_t)args->ratio;
    options->fancy_upscaling = args->fancy_upscaling;
    options->try_recover_truncated = args->try_recover_truncated;
    options->acceptable_fraction = (float)args->acceptable_fraction;
    LEATI_TRY(leati_picture_dct(args->dct_method, &options->dct, err));
    if (args->ratio != 1 && args->ratio != 2 && args->ratio != 4 && args->ratio != 8)
        return leati_refuse(err, VALUE, "ratio is %lld; expected 1, 2, 4 or 8",
                            (long long)args->ratio);
    return LEAT_OK;
}

static leat_status decode_jpeg_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_decode_jpeg_args *args = call->args;
    leati_decode_options options;
    LEATI_TRY(leati_decode_jpeg_options(args, &options, err));
    return leati_picture_infer(call, args->channels, LEAT_UINT8, err);
}

static leat_status decode_jpeg_kernel(leati_kernel_call *call, leat_error *err) {
    leati_decode_options options;
    LEATI_TRY(leati_decode_jpeg_options(call->args, &options, err));
    return leati_picture_decode(call, LEATI_PICTURE_ANY, &options, LEAT_UINT8, err);
}

leat_value leat_op_decode_jpeg(leat_value contents, int channels) {
    struct leati_decode_jpeg_args args = {
        .channels = channels, .ratio = 1, .fancy_upscaling = true, .acceptable_fraction = 1};
    return leati_graph_build1(&leati_tensor_op_decode_jpeg, &args, contents);
}

const leati_tensor_op leati_tensor_op_decode_jpeg = {
    .name = "decode_jpeg",
    .version = 1,
    .doc = "The pixels of a JPEG, uint8 [height, width, channels] (tf.io.decode_jpeg).",
    .names = "io.decode_jpeg image.decode_jpeg",
    .inputs = "contents",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_decode_jpeg_rows,
    .args_size = sizeof(struct leati_decode_jpeg_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = decode_jpeg_infer,
    .kernel = decode_jpeg_kernel,
};
