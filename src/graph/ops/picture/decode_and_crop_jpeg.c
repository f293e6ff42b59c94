/* decode_and_crop_jpeg: a window of a JPEG's pixels (tf.io.decode_and_crop_jpeg).
 *
 * Where colours are interpolated, pixels at the window's sides differ from those of decoding and
 * then cropping, as in TensorFlow. The second input is [y, x, height, width], of the picture after
 * `ratio`. Fails on other formats, on damage, and where the window leaves the picture. One row at a
 * time. No gradient, no locks but the store's of decoders. */
#include "graph/ops/picture/decode_jpeg.h"

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
    if (window != NULL && window->dtype == LEAT_INT32 && leat_tensor_count(window) == 4)
        for (int i = 0; i < 2; i++)
            if (((const int32_t *)window->data)[2 + i] > 0)
                call->outputs[0].shape.dims[i] = ((const int32_t *)window->data)[2 + i];
    return LEAT_OK;
}

leat_status leati_decode_crop_options(const struct leati_decode_jpeg_args *args,
                                      const leati_operand *window, int64_t row,
                                      leati_decode_options *options, leat_error *err) {
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
        *to[i] = number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
    }
    return LEAT_OK;
}

static leat_status crop_kernel(leati_kernel_call *call, leat_error *err) {
    leati_decode_options options;
    LEATI_TRY(leati_decode_crop_options(call->args, &call->inputs[1], 0, &options, err));
    return leati_picture_decode(call, LEATI_PICTURE_CROP, &options, LEAT_UINT8, err);
}

leat_value leat_op_decode_and_crop_jpeg(leat_value contents, leat_value crop_window, int channels) {
    struct leati_decode_jpeg_args args = {
        .channels = channels, .ratio = 1, .fancy_upscaling = true, .acceptable_fraction = 1};
    return leati_graph_build2(&leati_tensor_op_decode_and_crop_jpeg, &args, contents, crop_window);
}

const leati_tensor_op leati_tensor_op_decode_and_crop_jpeg = {
    .name = "decode_and_crop_jpeg",
    .version = 1,
    .doc = "A window of a JPEG's pixels, uint8 [height, width, channels] "
           "(tf.io.decode_and_crop_jpeg).",
    .names = "io.decode_and_crop_jpeg image.decode_and_crop_jpeg",
    .inputs = "contents crop_window",
    .types = "string Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_decode_jpeg_rows,
    .args_size = sizeof(struct leati_decode_jpeg_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_COSTLY,
    .infer = crop_infer,
    .kernel = crop_kernel,
};
