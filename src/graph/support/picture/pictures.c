/* What the decoding operations share; see pictures.h.
 *
 * A decoder comes from the process's store of idle ones. The header is read first, so that the
 * output has its memory before a pixel is decoded, and pixels are written where they stay. A JPEG
 * has 8 bits; as uint16 or float32 they are scaled. Fails as image/codec.h says. No locks but the
 * store's. */
#include "graph/support/picture/pictures.h"

#include <string.h>

leat_status leati_picture_check(const leati_infer_call *call, int64_t channels, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the contents", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 0, "the contents", err));
    if (channels < 0 || channels > 4 || channels == 2)
        return leati_refuse(err, VALUE, "channels is %lld; expected 0, 1, 3 or 4",
                            (long long)channels);
    return LEAT_OK;
}

leat_status leati_picture_infer(leati_infer_call *call, int64_t channels, leat_dtype dtype,
                                leat_error *err) {
    LEATI_TRY(leati_picture_check(call, channels, err));
    leat_shape shape =
        LEAT_SHAPE(LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, channels > 0 ? channels : LEAT_UNKNOWN_DIM);
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

leat_status leati_picture_dct(const char *name, leati_dct *out, leat_error *err) {
    /* TensorFlow's default. */
    *out = LEATI_DCT_FAST;
    if (name == NULL || strcmp(name, "") == 0 || strcmp(name, "INTEGER_FAST") == 0)
        return LEAT_OK;
    *out = LEATI_DCT_ACCURATE;
    if (strcmp(name, "INTEGER_ACCURATE") == 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "dct_method is \"%.40s\"; expected INTEGER_FAST or INTEGER_ACCURATE", name);
}

/* Spreads the samples at `from` over the values of uint16 or float32 at `to`, scaled. */
static void widen(const void *from, int bits, leat_dtype dtype, void *to, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint16_t sample = bits == 8 ? ((const uint8_t *)from)[i] : ((const uint16_t *)from)[i];
        if (dtype == LEAT_FLOAT32)
            /* A product with the reciprocal, as TensorFlow scales. */
            ((float *)to)[i] = (float)sample * (1.0f / (bits == 8 ? 255 : 65535));
        else
            /* TensorFlow multiplies by 256, so 255 becomes 65280, not 65535. */
            ((uint16_t *)to)[i] = bits == 8 ? (uint16_t)(sample * 256) : sample;
    }
}

/* Converts pixels of 8 or 16 bits to the dtype of output 0. */
static leat_status convert(leati_kernel_call *call, const void *pixels, int bits, leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    if (out->dtype == LEAT_UINT16 || out->dtype == LEAT_FLOAT32) {
        widen(pixels, bits, out->dtype, out->data, out->count);
        return LEAT_OK;
    }
    struct leati_convert_args args = {.dtype = out->dtype};
    leati_operand wide = *out;
    size_t bytes = (size_t)out->count * sizeof(uint16_t);
    wide.dtype = LEAT_UINT16;
    wide.data = leati_arena_alloc(call->arena, bytes);
    if (wide.data == NULL)
        return leati_no_memory(err);
    widen(pixels, bits, LEAT_UINT16, wide.data, out->count);
    leati_kernel_call inner = *call;
    inner.inputs = &wide;
    inner.args = &args;
    return leati_tensor_op_convert_image_dtype.kernel(&inner, err);
}

/* Does the operation take this format? The data of an unknown one pass: the decoder refuses them.
 */
static leat_status check_format(leati_picture_op op, const leati_picture_codec *codec,
                                leat_error *err) {
    enum { MOST_FORMATS = 3 };
    static const struct {
        const leati_picture_codec *formats[MOST_FORMATS];
        const char *text;
    } taken[] = {
        [LEATI_PICTURE_ANY] = {{&leati_codec_jpeg, &leati_codec_png, &leati_codec_gif},
                               "a JPEG, PNG or GIF"},
        [LEATI_PICTURE_CROP] = {{&leati_codec_jpeg}, "a JPEG"},
        [LEATI_PICTURE_BMP] = {{&leati_codec_bmp}, "a BMP"},
        [LEATI_PICTURE_GIF] = {{&leati_codec_jpeg, &leati_codec_png, &leati_codec_gif},
                               "a JPEG, PNG or GIF"},
        [LEATI_PICTURE_WEBP] = {{&leati_codec_webp}, "a WebP"},
    };
    if (codec == NULL || op == LEATI_PICTURE_IMAGE || op == LEATI_PICTURE_FRAME)
        return LEAT_OK;
    for (int i = 0; i < MOST_FORMATS; i++)
        if (taken[op].formats[i] == codec)
            return LEAT_OK;
    return leati_refuse(err, VALUE, "the data are a %s; expected %s, or use decode_image",
                        codec->title, taken[op].text);
}

/* The shape of what the operation gives of a picture. */
static leat_status shape_of(leati_picture_op op, const leati_picture_codec *codec,
                            const leati_image_info *info, leat_shape *out, leat_error *err) {
    *out = LEAT_SHAPE(info->height, info->width, info->channels);
    if (op == LEATI_PICTURE_GIF || op == LEATI_PICTURE_WEBP ||
        (op == LEATI_PICTURE_IMAGE && codec->animated))
        *out = LEAT_SHAPE(info->frames, info->height, info->width, info->channels);
    else if (info->frames > 1)
        return leati_refuse(err, VALUE,
                            "the %s has %d frames; expected one, or use decode_gif or decode_image",
                            codec->title, (int)info->frames);
    return LEAT_OK;
}

static leat_status read_pixels(leati_kernel_call *call, leati_image_decoder *decoder,
                               const leat_shape *shape, const leati_image_info *info,
                               leat_dtype dtype, leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    LEATI_TRY(leati_support_output_like(call, 0, shape, err));
    size_t stride = (size_t)info->width * (size_t)info->channels * (size_t)(info->bits / 8);
    /* The common case: the decoder writes where the pixels stay. */
    if ((dtype == LEAT_UINT8 && info->bits == 8) || (dtype == LEAT_UINT16 && info->bits == 16))
        return leati_image_read(decoder, out->data, stride, err);
    size_t bytes = stride * (size_t)info->height * (size_t)info->frames;
    void *pixels = leati_arena_alloc(call->arena, bytes);
    if (pixels == NULL)
        return leati_no_memory(err);
    LEATI_TRY(leati_image_read(decoder, pixels, stride, err));
    return convert(call, pixels, info->bits, err);
}

leat_status leati_picture_begin(leati_image_decoder *decoder, const leat_string *contents,
                                leati_picture_op op, const leati_decode_options *options,
                                leat_dtype dtype, leati_image_info *info, leat_shape *shape,
                                leat_error *err) {
    leati_decode_options wanted = *options;
    const leati_picture_codec *codec =
        leati_codec_find((const uint8_t *)contents->data, contents->size);
    bool deep = codec != NULL && codec->deep;
    LEATI_TRY(check_format(op, codec, err));
    /* 16 bits are asked for only where the format may have them. */
    wanted.bits = dtype == LEAT_UINT8 || !deep ? 8 : 16;
    wanted.first_frame = op == LEATI_PICTURE_FRAME;
    LEATI_TRY(leati_image_begin(decoder, (const uint8_t *)contents->data, contents->size, &wanted,
                                info, err));
    return shape_of(op, codec, info, shape, err);
}

leat_status leati_picture_decode(leati_kernel_call *call, leati_picture_op op,
                                 const leati_decode_options *options, leat_dtype dtype,
                                 leat_error *err) {
    const leat_string *contents = (const leat_string *)(const void *)call->inputs[0].data;
    leat_shape shape;
    leati_image_info info;
    LEATI_TRY(leati_support_check_rank(call, 0, 0, "the contents", err));
    leati_image_decoder *decoder = leati_image_decoder_take(err);
    if (decoder == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status =
        leati_picture_begin(decoder, contents, op, options, dtype, &info, &shape, err);
    if (status == LEAT_OK)
        status = read_pixels(call, decoder, &shape, &info, dtype, err);
    if (status == LEAT_OK && call->context != NULL && call->context->recovered != NULL)
        *call->context->recovered += leati_image_recovered(decoder);
    leati_image_decoder_give(decoder);
    return status;
}
