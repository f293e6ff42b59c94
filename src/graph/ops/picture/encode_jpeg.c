/* encode_jpeg: a picture as the bytes of a JPEG (tf.io.encode_jpeg), byte for byte TensorFlow's.
 *
 * Fails unless the picture is uint8 [height, width, 1 or 3] and the numbers are in their ranges.
 * No gradient. No state, no locks. */
#include "graph/support/support.h"
#include "image/jpeg.h"

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

leat_value leat_op_encode_jpeg(leat_value image, int64_t quality) {
    struct encode_jpeg_args args = {.quality = quality,
                                    .chroma_downsampling = true,
                                    .density_unit = (char *)(uintptr_t) "in",
                                    .x_density = 300,
                                    .y_density = 300};
    return leati_graph_build1(&leati_tensor_op_encode_jpeg, &args, image);
}

const leati_tensor_op leati_tensor_op_encode_jpeg = {
    .name = "encode_jpeg",
    .version = 1,
    .doc = "A picture as the bytes of a JPEG (tf.io.encode_jpeg).",
    .names = "io.encode_jpeg image.encode_jpeg",
    .inputs = "image",
    .types = "uint8",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = encode_jpeg_rows,
    .args_size = sizeof(struct encode_jpeg_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = encode_jpeg_infer,
    .kernel = encode_jpeg_kernel,
};
