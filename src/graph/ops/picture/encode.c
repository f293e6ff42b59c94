/* encode_jpeg, encode_png: pictures as the bytes of a JPEG, byte for byte TensorFlow's, or of PNGs,
 * which are libspng's, not libpng's (tf.io.encode_jpeg and encode_png).
 *
 * Fails unless pictures are uint8 [height, width, 1 or 3], or uint8 or uint16 [..., height, width,
 * 1 to 4], and on numbers out of their ranges. No gradient. No state, no locks. */
#include "graph/support/support.h"
#include "image/jpeg.h"
#include "image/png.h"
#include <string.h>

struct encode_jpeg_args {
    char *format;
    int64_t quality;
    bool progressive, optimize_size, chroma_downsampling;
    char *density_unit;
    int64_t x_density, y_density;
    char *xmp_metadata;
};

static const leati_row encode_jpeg_rows[] = {
    {.name = "format",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct encode_jpeg_args, format),
     .default_text = "",
     .doc = "grayscale or rgb, which demands 1 or 3 channels; empty: either."},
    {.name = "quality",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct encode_jpeg_args, quality),
     .default_number = 95,
     .doc = "From 0, the smallest file, to 100."},
    {.name = "progressive",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct encode_jpeg_args, progressive),
     .doc = "Several scans, coarse to fine."},
    {.name = "optimize_size",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct encode_jpeg_args, optimize_size),
     .doc = "Codes made for this picture."},
    {.name = "chroma_downsampling",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct encode_jpeg_args, chroma_downsampling),
     .default_number = 1,
     .doc = "Colours at half the resolution."},
    {.name = "density_unit",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct encode_jpeg_args, density_unit),
     .default_text = "in",
     .doc = "in or cm, of the densities."},
    {.name = "x_density",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct encode_jpeg_args, x_density),
     .default_number = 300,
     .doc = "Pixels per unit, horizontally."},
    {.name = "y_density",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct encode_jpeg_args, y_density),
     .default_number = 300,
     .doc = "Pixels per unit, vertically."},
    {.name = "xmp_metadata",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct encode_jpeg_args, xmp_metadata),
     .default_text = "",
     .doc = "Text that the file carries."},
    {0},
};

static bool is(const char *text, const char *other) {
    return strcmp(text == NULL ? "" : text, other) == 0;
}

/* -1 is refused by whoever takes it, where a truncated number might be taken for a good one. */
static int32_t within_int32(int64_t number) {
    return number < INT32_MIN || number > INT32_MAX ? -1 : (int32_t)number;
}

static leat_status options_of(const struct encode_jpeg_args *args,
                              leati_jpeg_encode_options *options, leat_error *err) {
    *options = (leati_jpeg_encode_options){.quality = within_int32(args->quality),
                                           .progressive = args->progressive,
                                           .optimize_size = args->optimize_size,
                                           .chroma_downsampling = args->chroma_downsampling,
                                           .density_per_cm = is(args->density_unit, "cm"),
                                           .x_density = within_int32(args->x_density),
                                           .y_density = within_int32(args->y_density),
                                           .xmp_metadata = args->xmp_metadata};
    if (args->quality < 0 || args->quality > 100)
        return leati_refuse(err, VALUE, "quality is %lld; expected 0 to 100",
                            (long long)args->quality);
    if (!options->density_per_cm && !is(args->density_unit, "in"))
        return leati_refuse(err, VALUE, "density_unit is \"%.40s\"; expected \"in\" or \"cm\"",
                            args->density_unit);
    if (!is(args->format, "") && !is(args->format, "grayscale") && !is(args->format, "rgb"))
        return leati_refuse(err, VALUE,
                            "format is \"%.40s\"; expected \"\", \"grayscale\" or \"rgb\"",
                            args->format);
    return LEAT_OK;
}

static leat_status check_channels(const struct encode_jpeg_args *args, int64_t channels,
                                  leat_error *err) {
    bool grey = !is(args->format, "rgb"), colours = !is(args->format, "grayscale");
    if (channels < 0 || (channels == 1 && grey) || (channels == 3 && colours))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "the picture has %lld channels; expected %s",
                        (long long)channels,
                        !grey      ? "3 (rgb)"
                        : !colours ? "1 (grayscale)"
                                   : "1 or 3");
}

static leat_status encode_jpeg_infer(leati_infer_call *call, leat_error *err) {
    leati_jpeg_encode_options options;
    leat_shape scalar = LEAT_SCALAR;
    /* Refused when the graph is built, not at its first picture. */
    LEATI_TRY(options_of(call->args, &options, err));
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_UINT8, "the picture", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 3, "the picture", err));
    if (call->inputs[0].shape.rank == 3)
        LEATI_TRY(check_channels(call->args, call->inputs[0].shape.dims[2], err));
    return leati_op_infer_output(call, LEAT_STRING, &scalar, NULL, err);
}

static leat_status encode_jpeg_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape scalar = LEAT_SCALAR;
    leati_jpeg_encode_options options;
    LEATI_TRY(options_of(call->args, &options, err));
    if (in->rank != 3)
        return leati_refuse(err, SHAPE, "the picture has rank %d; expected rank 3", (int)in->rank);
    LEATI_TRY(check_channels(call->args, in->dims[2], err));
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    for (int64_t row = 0; row < call->n; row++) {
        uint8_t *file = NULL;
        size_t size = 0;
        call->failed_row = row;
        LEATI_TRY(leati_jpeg_encode((const uint8_t *)leati_support_row_of(in, row),
                                    (size_t)(in->dims[1] * in->dims[2]), within_int32(in->dims[0]),
                                    within_int32(in->dims[1]), (int32_t)in->dims[2], &options,
                                    &file, &size, err));
        /* The file is a buffer of the encoder's own, which does not know the size beforehand: it is
         * copied and freed, on either path. */
        char *text = leati_op_kernel_text(call, 0, size, err);
        if (text != NULL)
            memcpy(text, file, size);
        leati_free(file);
        if (text == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        *(leat_string *)(void *)leati_support_row_of(&call->outputs[0], row) =
            (leat_string){.data = text, .size = size};
    }
    call->failed_row = 0;
    return LEAT_OK;
}

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
    /* An unknown number of channels (-1) passes until the run. */
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
    /* One string for each picture. */
    if (shape.rank > 0)
        shape.rank -= 3;
    return leati_op_infer_output(call, LEAT_STRING, &shape, NULL, err);
}

static leat_status encode_one(leati_kernel_call *call, const char *pixels, leat_string *out,
                              leat_error *err) {
    const struct encode_png_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    /* Height, width and channels of one picture. */
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
    /* In bytes, from one picture to the next. */
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

/* The descriptor of one operation. */
#define ENCODE_OP(NAME, DOC, ...)                                                                  \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.io." #NAME ").",                                                          \
        .names = "io." #NAME " image." #NAME,                                                      \
        .inputs = "image",                                                                         \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = NAME##_rows,                                                                       \
        .args_size = sizeof(struct NAME##_args),                                                   \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .flags = LEATI_COSTLY,                                                                     \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        __VA_ARGS__,                                                                               \
    };
ENCODE_OP(encode_jpeg, "A picture as the bytes of a JPEG", .types = "uint8")
ENCODE_OP(encode_png, "Pictures as the bytes of PNGs", .types = "T")
