/* is_jpeg: do strings begin as a JPEG does? extract_jpeg_shape: height, width and channels of a
 * JPEG (tf.io.is_jpeg and extract_jpeg_shape).
 *
 * Three bytes are looked at, or the header, which may be damaged. Fails in inference on other
 * dtypes than string. No gradient, no locks but the store's of decoders. */
#include "graph/support/picture/pictures.h"
#include "graph/support/support.h"
#include <string.h>

static leat_status is_jpeg_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the contents", err));
    return leati_op_infer_output(call, LEAT_BOOL, &call->inputs[0].shape, NULL, err);
}

static leat_status is_jpeg_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        const leat_string *contents =
            (const leat_string *)(const void *)leati_support_row_of(in, row);
        bool *out = (bool *)leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < in->count; i++)
            /* The marker "start of image", and the first byte of the next one. */
            out[i] = contents[i].size >= 3 && memcmp(contents[i].data, "\xff\xd8\xff", 3) == 0;
    }
    return LEAT_OK;
}

struct extract_args {
    leat_dtype output_type;
};

static const leati_row extract_rows[] = {
    {.name = "output_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct extract_args, output_type),
     .default_number = LEAT_INT32,
     .doc = "int32 or int64."},
    {0},
};

static leat_status extract_infer(leati_infer_call *call, leat_error *err) {
    const struct extract_args *args = call->args;
    leat_shape shape = LEAT_SHAPE(3);
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the contents", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 0, "the contents", err));
    if (args->output_type != LEAT_INT32 && args->output_type != LEAT_INT64)
        return leati_refuse(err, DTYPE, "output_type is %s; expected int32 or int64",
                            leat_dtype_name(args->output_type));
    return leati_op_infer_output(call, args->output_type, &shape, NULL, err);
}

static leat_status read_header(const leat_string *contents, leati_image_info *info,
                               leat_error *err) {
    const leati_picture_codec *codec =
        leati_codec_find((const uint8_t *)contents->data, contents->size);
    /* The decoder takes other formats, too, which are no answer here. */
    if (codec != &leati_codec_jpeg)
        return leati_refuse(
            err, VALUE,
            "expected a JPEG, found %s data of %zu bytes; decode the picture and take "
            "its shape",
            codec == NULL ? "other" : codec->title, contents->size);
    /* Only begun: the header has the size, and no pixel is decoded. */
    leati_image_decoder *decoder = leati_image_decoder_take(err);
    if (decoder == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_image_begin(decoder, (const uint8_t *)contents->data, contents->size,
                                           &leati_decode_defaults, info, err);
    leati_image_decoder_give(decoder);
    return status;
}

static leat_status extract_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = LEAT_SHAPE(3);
    leati_image_info info;
    LEATI_TRY(leati_support_check_rank(call, 0, 0, "the contents", err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(read_header(
            (const leat_string *)(const void *)leati_support_row_of(&call->inputs[0], row), &info,
            err));
        /* The channels of the file, not those that a decoder would give. */
        const int32_t numbers[3] = {info.height, info.width, info.stored_channels};
        char *out = leati_support_row_of(&call->outputs[0], row);
        size_t size = leat_dtype_size(call->outputs[0].dtype);
        for (size_t i = 0; i < 3; i++)
            leati_support_store_number(call->outputs[0].dtype, numbers[i], out + i * size);
    }
    call->failed_row = 0;
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_is_jpeg = {
    .name = "is_jpeg",
    .version = 1,
    .doc = "Do strings begin as a JPEG does (tf.io.is_jpeg)?",
    .names = "io.is_jpeg image.is_jpeg",
    .inputs = "contents",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = is_jpeg_infer,
    .kernel = is_jpeg_kernel,
};

const leati_tensor_op leati_tensor_op_extract_jpeg_shape = {
    .name = "extract_jpeg_shape",
    .version = 1,
    .doc = "Height, width and channels of a JPEG (tf.io.extract_jpeg_shape).",
    .names = "io.extract_jpeg_shape image.extract_jpeg_shape",
    .inputs = "contents",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = extract_rows,
    .args_size = sizeof(struct extract_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = extract_infer,
    .kernel = extract_kernel,
};
