/* encode_png: pictures as the bytes of PNGs (tf.io.encode_png).
 *
 * The pixels are kept; the bytes are libspng's, not libpng's. Fails unless pictures are uint8 or
 * uint16 [..., height, width, 1 to 4]. No gradient. No state, no locks. */
#include "graph/support/support.h"
#include "image/png.h"

#include <string.h>

struct encode_png_args {
    int64_t compression;
};

static const leati_row encode_png_rows[] = {
    {.name = "compression",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct encode_png_args, compression),
     .default_number = -1,
     .minimum = -1,
     .maximum = 9,
     .doc = "From 0, the fastest, to 9, the smallest file; -1: the library's."},
    {0},
};

static leat_status check_shape(const leat_shape *shape, leat_error *err) {
    char text[128];
    int64_t channels = shape->rank >= 3 ? shape->dims[shape->rank - 1] : 0;
    if (shape->rank < 0 || (shape->rank >= 3 && channels <= 4 && channels != 0))
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "the pictures have shape %s; expected [..., height, width, 1 to 4]",
                        leati_shape_text(shape, text));
}

static leat_status encode_png_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype != LEAT_UINT8 && dtype != LEAT_UINT16)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected uint8 or uint16",
                            leat_dtype_name(dtype));
    LEATI_TRY(check_shape(&shape, err));
    if (shape.rank > 0)
        shape.rank -= 3;
    return leati_op_infer_output(call, LEAT_STRING, &shape, NULL, err);
}

static leat_status encode_one(leati_kernel_call *call, const char *pixels, leat_string *out,
                              leat_error *err) {
    const struct encode_png_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    const int64_t *dims = &in->dims[in->rank - 3];
    uint8_t *file = NULL;
    size_t size = 0, item = leat_dtype_size(in->dtype);
    if (dims[0] > INT32_MAX || dims[1] > INT32_MAX)
        return leati_refuse(err, VALUE,
                            "a picture of %lld x %lld pixels; expected sides below 2^31",
                            (long long)dims[0], (long long)dims[1]);
    const leati_png_encode_options options = {.bits = (int32_t)(8 * item),
                                              .compression = (int32_t)args->compression};
    LEATI_TRY(leati_png_encode(pixels, (size_t)(dims[1] * dims[2]) * item, (int32_t)dims[0],
                               (int32_t)dims[1], (int32_t)dims[2], &options, &file, &size, err));
    char *text = leati_op_kernel_text(call, 0, size, err);
    if (text != NULL)
        memcpy(text, file, size);
    leati_free(file);
    *out = (leat_string){.data = text, .size = size};
    return text == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

static leat_status encode_png_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(check_shape(&shape, err));
    int64_t picture = shape.dims[shape.rank - 3] * shape.dims[shape.rank - 2] *
                      shape.dims[shape.rank - 1] * (int64_t)leat_dtype_size(in->dtype);
    shape.rank -= 3;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        leat_string *out = (leat_string *)(void *)leati_support_row_of(&call->outputs[0], row);
        call->failed_row = row;
        for (int64_t i = 0; i < call->outputs[0].count; i++)
            LEATI_TRY(encode_one(call, leati_support_row_of(in, row) + i * picture, &out[i], err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

leat_value leat_op_encode_png(leat_value image, int64_t compression) {
    struct encode_png_args args = {.compression = compression};
    return leati_graph_build1(&leati_tensor_op_encode_png, &args, image);
}

const leati_tensor_op leati_tensor_op_encode_png = {
    .name = "encode_png",
    .version = 1,
    .doc = "Pictures as the bytes of PNGs (tf.io.encode_png).",
    .names = "io.encode_png image.encode_png",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = encode_png_rows,
    .args_size = sizeof(struct encode_png_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = encode_png_infer,
    .kernel = encode_png_kernel,
};
