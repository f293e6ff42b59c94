/* adjust_jpeg_quality: a picture encoded as a JPEG of a quality and decoded again
 * (tf.image.adjust_jpeg_quality).
 *
 * Other types than uint8 are scaled to it and back, clipped. One row at a time is encoded into
 * memory of its own. Fails unless the picture has rank 3 and 1 or 3 channels, or the quality is
 * not in [0, 100]. No gradient. No state, no locks but the store's of decoders. */
#include "graph/support/picture/colour.h"
#include "graph/support/picture/pictures.h"
#include "image/jpeg.h"

#include <string.h>

static const leati_row quality_rows[] = {
    {.name = "jpeg_quality",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_quality_args, jpeg_quality),
     .doc = "From 0, the smallest file, to 100."},
    {.name = "dct_method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_quality_args, dct_method),
     .default_text = "",
     .doc = "INTEGER_FAST (also when empty) or INTEGER_ACCURATE, for decoding."},
    {0},
};

static leat_status check(const struct leati_quality_args *args, leat_error *err) {
    if (args->jpeg_quality >= 0 && args->jpeg_quality <= 100)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "jpeg_quality is %lld; expected 0 to 100",
                        (long long)args->jpeg_quality);
}

static leat_status quality_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_quality_args *args = call->args;
    leat_dtype dtype = call->inputs[0].dtype;
    leati_dct dct;
    if (call->unknown == 0)
        LEATI_TRY(check(args, err));
    LEATI_TRY(leati_picture_dct(args->dct_method, &dct, err));
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the picture is %s; expected numbers",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_rank(call, 0, 3, "the picture", err));
    return leati_op_infer_same(call, err);
}

/* Encodes the pixels and decodes them where they stand. */
static leat_status pass(uint8_t *pixels, const leati_operand *shape,
                        const struct leati_quality_args *args, leat_error *err) {
    leati_jpeg_encode_options encoding = leati_jpeg_encode_defaults;
    leati_decode_options decoding = leati_decode_defaults;
    int32_t height = (int32_t)shape->dims[0], width = (int32_t)shape->dims[1];
    int32_t channels = (int32_t)shape->dims[2];
    size_t stride = (size_t)width * (size_t)channels, size = 0;
    uint8_t *file = NULL;
    leati_image_info info;
    encoding.quality = (int32_t)args->jpeg_quality;
    /* As many as came, so that the pixels fit where they are read to. */
    decoding.channels = channels;
    LEATI_TRY(leati_picture_dct(args->dct_method, &decoding.dct, err));
    LEATI_TRY(
        leati_jpeg_encode(pixels, stride, height, width, channels, &encoding, &file, &size, err));
    /* From the process's store, to which every path below gives it back; NULL passes. */
    leati_image_decoder *decoder = leati_image_decoder_take(err);
    leat_status status = decoder == NULL
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leati_image_begin(decoder, file, size, &decoding, &info, err);
    if (status == LEAT_OK)
        /* The pixels were encoded, so their memory is free for the result. */
        status = leati_image_read(decoder, pixels, stride, err);
    leati_image_decoder_give(decoder);
    leati_free(file);
    return status;
}

/* Scaled to uint8 or back, clipped, by the other operation's kernel over all rows. */
static leat_status convert(leati_kernel_call *call, const leati_operand *from, leati_operand *to,
                           leat_error *err) {
    struct leati_convert_args args = {.dtype = to->dtype, .saturate = true};
    leati_kernel_call inner = *call;
    inner.inputs = from;
    inner.outputs = to;
    inner.args = &args;
    return leati_tensor_op_convert_image_dtype.kernel(&inner, err);
}

static leat_status quality_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_quality_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    char text[128];
    LEATI_TRY(check(args, err));
    /* libjpeg's limit on sides, though the format has 65535. */
    if (in->rank != 3 || (in->dims[2] != 1 && in->dims[2] != 3) || in->dims[0] > 65500 ||
        in->dims[1] > 65500)
        return leati_refuse(
            err, SHAPE,
            "the picture has shape %s; expected rank 3, 1 or 3 channels, sides of at "
            "most 65500 pixels",
            leati_shape_text(&shape, text));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* All rows as bytes, also where they come as bytes: the input must not be written to. */
    size_t bytes = (size_t)call->n * (size_t)in->count;
    leati_operand pixels = call->outputs[0];
    pixels.dtype = LEAT_UINT8;
    pixels.owner = NULL;
    pixels.row_stride = in->count;
    pixels.data = leati_arena_alloc(call->arena, bytes);
    if (pixels.data == NULL)
        return leati_no_memory(err);
    LEATI_TRY(convert(call, in, &pixels, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(pass((uint8_t *)leati_support_row_of(&pixels, row), in, args, err));
    }
    call->failed_row = 0;
    return convert(call, &pixels, &call->outputs[0], err);
}

const leati_tensor_op leati_tensor_op_adjust_jpeg_quality = {
    .name = "adjust_jpeg_quality",
    .version = 1,
    .doc = "A picture encoded as a JPEG of a quality and decoded again "
           "(tf.image.adjust_jpeg_quality).",
    .names = "image.adjust_jpeg_quality",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = quality_rows,
    .args_size = sizeof(struct leati_quality_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = quality_infer,
    .kernel = quality_kernel,
};
