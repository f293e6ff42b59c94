/* Resizing: pictures of another size (keras.layers.Resizing).
 *
 * Integers stay integers, rounded. Failures: both ways of keeping proportions at once, or one where
 * sizes are unknown; a fill_mode other than "constant". No state, no locks. */
#include "base/error.h"
#include "graph/support/picture/resize.h"
#include "train/support/pictures.h"
#include <string.h>

struct resizing_args {
    struct leati_picture_args common;
    bool crop_to_aspect_ratio, pad_to_aspect_ratio, antialias;
};

static const leati_row resizing_rows[] = {
    LEATI_PICTURE_SIZE_ROWS,
    LEATI_PICTURE_ROW(interpolation, STRING, .default_text = "bilinear",
                      .doc = "\"bilinear\", \"nearest\", \"bicubic\", \"lanczos3\", "
                             "\"lanczos5\" or \"area\"."),
    LEATI_LAYER_ROW(resizing_args, crop_to_aspect_ratio, BOOL,
                    .doc = "Whether what is too much for the proportions is cut off first."),
    LEATI_LAYER_ROW(resizing_args, pad_to_aspect_ratio, BOOL,
                    .doc = "Whether a border is put around what is too little for them."),
    LEATI_PICTURE_ROW(fill_mode, STRING, .default_text = "constant", .doc = "\"constant\"."),
    LEATI_PICTURE_ROW(fill_value, FLOAT, .doc = "The value of that border."),
    LEATI_LAYER_ROW(resizing_args, antialias, BOOL,
                    .doc = "Whether what is made smaller is smoothed."),
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_ROW(data_format, STRING, .doc = "\"channels_last\"."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status resizing_check(const void *arguments, leat_error *err) {
    const struct resizing_args *args = arguments;
    if (args->crop_to_aspect_ratio && args->pad_to_aspect_ratio)
        return leati_refuse(err, VALUE,
                            "only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be true");
    if (args->common.fill_mode != NULL && strcmp(args->common.fill_mode, "constant") != 0)
        return leati_refuse(err, VALUE, "fill_mode is \"%.60s\"; expected constant",
                            args->common.fill_mode);
    leati_resize_method method;
    LEATI_TRY(leati_resize_method_of(args->common.interpolation, &method, err));
    return leati_layer_check_channels_last(args->common.data_format, err);
}

static leat_value resizing_call(const leati_pass *pass) {
    const struct resizing_args *args = pass->args;
    leat_value x = pass->inputs[0];
    leat_dtype dtype = leat_value_dtype(x);
    int32_t rank = leat_value_shape(x).rank;
    if (rank != 3 && rank != 4)
        return leati_support_build_error(
            x.graph, LEAT_REASON_SHAPE,
            "expected one picture [height, width, channels], or a batch of "
            "them, with a rank that is known");
    const leati_scaling_layer scaling = {.height = args->common.height,
                                         .width = args->common.width,
                                         /* Classes must not be blended. */
                                         .method = args->common.masks ? "nearest"
                                                                      : args->common.interpolation,
                                         .cut = args->crop_to_aspect_ratio,
                                         .padded = args->pad_to_aspect_ratio,
                                         .antialias = args->antialias,
                                         .fill = args->common.fill_value};
    leat_value out = leati_pictures_scale(rank == 3 ? leat_op_expand_dims(x, 0) : x, &scaling);
    if (rank == 3)
        out = leat_op_squeeze(out, (const int64_t[]){0}, 1);
    if (leati_support_value_failed(out) || leat_value_dtype(out) == dtype)
        return out;
    /* Rounded before the cast, which would cut, and bounded: bicubic overshoots. */
    return leat_op_saturate_cast(leati_graph_dtype_is_floating(dtype) ? out : leat_op_round(out),
                                 dtype);
}

const leati_layer_kind leati_layer_resizing = {
    .kind =
        {
            .name = "Resizing",
            .doc = "Pictures of another size (keras.layers.Resizing).",
            .rows = resizing_rows,
            .signature = "height width interpolation crop_to_aspect_ratio pad_to_aspect_ratio "
                         "fill_mode fill_value antialias data_format",
            .args_size = sizeof(struct resizing_args),
            .check = resizing_check,
        },
    .prefix = "resizing",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .call = resizing_call,
};
