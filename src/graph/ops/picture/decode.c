/* decode_image, decode_jpeg, decode_png, decode_bmp, decode_gif, decode_webp: the pixels of a
 * picture, of which format (tf.io.decode_image and its like); decode_and_crop_jpeg: a window of a
 * JPEG's.
 *
 * decode_jpeg and decode_png take each other's formats and GIFs of one frame too; decode_gif and
 * decode_webp give all frames, decode_image those of an animation. As uint16 or float32, samples of
 * 8 bits are multiplied by 256 or divided by 255; other dtypes come from uint16 as
 * convert_image_dtype has it. Where colours are interpolated, pixels at the sides of
 * decode_and_crop_jpeg's window differ from those of decoding and then cropping, as in TensorFlow;
 * its second input is [y, x, height, width], of the picture after `ratio`. Fails on other formats,
 * on damage (image/codec.h), on channels that a WebP does not have, and where the window leaves the
 * picture. One row at a time, since the size is in the data. No gradient, no locks but the store's
 * of decoders. */
#include "graph/ops/picture/decode.h"
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
    /* Inference has checked that it is 0, 1, 3 or 4. */
    options.channels = (int32_t)args->channels;
    return leati_picture_decode(call,
                                args->expand_animations ? LEATI_PICTURE_IMAGE : LEATI_PICTURE_FRAME,
                                &options, args->dtype, err);
}

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
    /* Cut to 32 bits and asked below as it was given, before anyone uses it. */
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
    /* Made here only to be checked. */
    leati_decode_options options;
    LEATI_TRY(leati_decode_jpeg_options(args, &options, err));
    return leati_picture_infer(call, args->channels, LEAT_UINT8, err);
}

static leat_status decode_jpeg_kernel(leati_kernel_call *call, leat_error *err) {
    leati_decode_options options;
    LEATI_TRY(leati_decode_jpeg_options(call->args, &options, err));
    return leati_picture_decode(call, LEATI_PICTURE_ANY, &options, LEAT_UINT8, err);
}

static leat_status crop_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_decode_jpeg_args *args = call->args;
    const leat_tensor *window = leati_op_infer_constant(call, 1);
    leati_decode_options options;
    LEATI_TRY(leati_decode_jpeg_options(args, &options, err));
    LEATI_TRY(leati_support_want_index(call, 1, "crop_window", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "crop_window", err));
    if (call->inputs[1].shape.rank == 1)
        LEATI_TRY(leati_support_want_equal_dims(call->inputs[1].shape.dims[0], 4,
                                                "the numbers of crop_window", err));
    LEATI_TRY(leati_picture_infer(call, args->channels, LEAT_UINT8, err));
    /* A constant window of int32 says the size of the result. */
    if (window != NULL && window->dtype == LEAT_INT32 && leat_tensor_count(window) == 4)
        for (int i = 0; i < 2; i++)
            if (((const int32_t *)window->data)[2 + i] > 0)
                call->outputs[0].shape.dims[i] = ((const int32_t *)window->data)[2 + i];
    return LEAT_OK;
}

leat_status leati_decode_crop_options(const struct leati_decode_jpeg_args *args,
                                      const leati_operand *window, int64_t row,
                                      leati_decode_options *options, leat_error *err) {
    /* In the order of crop_window. */
    int32_t *to[4] = {&options->crop_y, &options->crop_x, &options->crop_height,
                      &options->crop_width};
    LEATI_TRY(leati_decode_jpeg_options(args, options, err));
    if (window->rank != 1 || window->count != 4)
        return leati_refuse(err, SHAPE,
                            "crop_window has %lld numbers; expected 4: y, x, height, width",
                            (long long)window->count);
    options->crop = true;
    for (int i = 0; i < 4; i++) {
        int64_t number = leati_support_index_at(window, row, i);
        /* -1 fits into no picture: the decoder refuses it, as it knows the picture's size. */
        *to[i] = number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
    }
    return LEAT_OK;
}

static leat_status crop_kernel(leati_kernel_call *call, leat_error *err) {
    leati_decode_options options;
    /* Row 0 is the only one: the size of a JPEG's window is data. */
    LEATI_TRY(leati_decode_crop_options(call->args, &call->inputs[1], 0, &options, err));
    return leati_picture_decode(call, LEATI_PICTURE_CROP, &options, LEAT_UINT8, err);
}

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
    /* PNGs have 8 or 16 bits, which other formats are widened to. */
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

static leat_status decode_gif_infer(leati_infer_call *call, leat_error *err) {
    /* Frames first, also for one frame; colours come from a palette of RGB. */
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
    /* TensorFlow's decoder of WebP gives no grey. */
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

/* The descriptor of one operation. */
#define DECODE_OP(NAME, DOC, ...)                                                                  \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.io." #NAME ").",                                                          \
        .names = "io." #NAME " image." #NAME,                                                      \
        .outputs = "output",                                                                       \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .flags = LEATI_COSTLY,                                                                     \
        __VA_ARGS__,                                                                               \
    };
DECODE_OP(decode_image, "The pixels of a picture of any format", .inputs = "contents",
          .signature = "contents channels=null dtype name expand_animations", .types = "string",
          .halves = LEATI_HALVES_OWN, .rows = decode_image_rows,
          .args_size = sizeof(struct leati_decode_image_args), .min_inputs = 1, .max_inputs = 1,
          .infer = decode_image_infer, .kernel = decode_image_kernel)
DECODE_OP(decode_jpeg, "The pixels of a JPEG, uint8 [height, width, channels]",
          .inputs = "contents", .types = "string", .halves = LEATI_HALVES_NONE,
          .rows = leati_decode_jpeg_rows, .args_size = sizeof(struct leati_decode_jpeg_args),
          .min_inputs = 1, .max_inputs = 1, .infer = decode_jpeg_infer,
          .kernel = decode_jpeg_kernel)
DECODE_OP(decode_and_crop_jpeg, "A window of a JPEG's pixels, uint8 [height, width, channels]",
          .inputs = "contents crop_window", .types = "string Tindices", .halves = LEATI_HALVES_NONE,
          .rows = leati_decode_jpeg_rows, .args_size = sizeof(struct leati_decode_jpeg_args),
          .min_inputs = 2, .max_inputs = 2, .infer = crop_infer, .kernel = crop_kernel)
DECODE_OP(decode_png, "The pixels of a PNG, uint8 [height, width, channels]", .inputs = "contents",
          .types = "string", .halves = LEATI_HALVES_NONE, .rows = decode_png_rows,
          .args_size = sizeof(struct leati_decode_png_args), .min_inputs = 1, .max_inputs = 1,
          .infer = decode_png_infer, .kernel = decode_png_kernel)
DECODE_OP(decode_bmp, "The pixels of a bitmap, uint8 [height, width, channels]",
          .inputs = "contents", .types = "string", .halves = LEATI_HALVES_NONE,
          .rows = decode_bmp_rows, .args_size = sizeof(struct decode_bmp_args), .min_inputs = 1,
          .max_inputs = 1, .infer = decode_bmp_infer, .kernel = decode_bmp_kernel)
DECODE_OP(decode_gif, "All frames of a GIF, uint8 [frames, height, width, 3]", .inputs = "contents",
          .types = "string", .halves = LEATI_HALVES_NONE, .rows = leati_no_rows, .min_inputs = 1,
          .max_inputs = 1, .infer = decode_gif_infer, .kernel = decode_gif_kernel)
DECODE_OP(decode_webp, "All frames of a WebP, uint8 [frames, height, width, channels]",
          .inputs = "contents", .types = "string", .halves = LEATI_HALVES_NONE,
          .rows = decode_webp_rows, .args_size = sizeof(struct decode_webp_args), .min_inputs = 1,
          .max_inputs = 1, .infer = decode_webp_infer, .kernel = decode_webp_kernel)
