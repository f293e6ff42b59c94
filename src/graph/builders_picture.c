/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/picture.h>

leat_value leat_op_adjust_brightness(leat_value image, double delta) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_brightness, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "delta", delta);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_contrast(leat_value images, double contrast_factor) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_contrast, NULL);
    leati_build_input(&build, images);
    leati_build_float(&build, "contrast_factor", contrast_factor);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_gamma(leat_value image, double gamma, double gain) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_gamma, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "gamma", gamma);
    leati_build_float(&build, "gain", gain);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_hue(leat_value image, double delta) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_hue, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "delta", delta);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_jpeg_quality(leat_value image, int64_t jpeg_quality,
                                       const char *dct_method) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_jpeg_quality, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "jpeg_quality", jpeg_quality);
    leati_build_text(&build, "dct_method", dct_method);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_saturation(leat_value image, double saturation_factor) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_saturation, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "saturation_factor", saturation_factor);
    return leati_build_end(&build);
}

leat_value leat_op_central_crop(leat_value image, double central_fraction) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_central_crop, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "central_fraction", central_fraction);
    return leati_build_end(&build);
}

leat_value leat_op_combined_non_max_suppression(
    leat_value boxes, leat_value scores, int64_t max_output_size_per_class, int64_t max_total_size,
    const leat_op_combined_non_max_suppression_options *options, leat_value *nmsed_scores,
    leat_value *nmsed_classes, leat_value *valid_detections) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_combined_non_max_suppression, NULL);
    leati_build_input(&build, boxes);
    leati_build_input(&build, scores);
    leati_build_int(&build, "max_output_size_per_class", max_output_size_per_class);
    leati_build_int(&build, "max_total_size", max_total_size);
    leat_op_combined_non_max_suppression_options own = {
        LEAT_OP_COMBINED_NON_MAX_SUPPRESSION_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_combined_non_max_suppression_options");
    leati_build_float(&build, "iou_threshold", own.iou_threshold);
    leati_build_float(&build, "score_threshold", own.score_threshold);
    leati_build_bool(&build, "pad_per_class", own.pad_per_class);
    leati_build_bool(&build, "clip_boxes", own.clip_boxes);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, nmsed_scores);
    leati_build_output(&build, 2, nmsed_classes);
    leati_build_output(&build, 3, valid_detections);
    return first;
}

leat_value leat_op_convert_image_dtype(leat_value image, leat_dtype dtype, bool saturate) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_convert_image_dtype, NULL);
    leati_build_input(&build, image);
    leati_build_dtype(&build, "dtype", dtype);
    leati_build_bool(&build, "saturate", saturate);
    return leati_build_end(&build);
}

leat_value leat_op_crop_and_resize(leat_value image, leat_value boxes, leat_value box_indices,
                                   const int64_t *crop_size, int num_crop_size, const char *method,
                                   double extrapolation_value) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_crop_and_resize, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, boxes);
    leati_build_input(&build, box_indices);
    leati_build_ints(&build, "crop_size", crop_size, num_crop_size);
    leati_build_text(&build, "method", method);
    leati_build_float(&build, "extrapolation_value", extrapolation_value);
    return leati_build_end(&build);
}

leat_value leat_op_crop_to_bounding_box(leat_value image, int64_t offset_height,
                                        int64_t offset_width, int64_t target_height,
                                        int64_t target_width) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_crop_to_bounding_box, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "offset_height", offset_height);
    leati_build_int(&build, "offset_width", offset_width);
    leati_build_int(&build, "target_height", target_height);
    leati_build_int(&build, "target_width", target_width);
    return leati_build_end(&build);
}

leat_value leat_op_decode_and_crop_jpeg(leat_value contents, leat_value crop_window,
                                        const leat_op_decode_and_crop_jpeg_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_and_crop_jpeg, NULL);
    leati_build_input(&build, contents);
    leati_build_input(&build, crop_window);
    leat_op_decode_and_crop_jpeg_options own = {LEAT_OP_DECODE_AND_CROP_JPEG_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_decode_and_crop_jpeg_options");
    leati_build_int(&build, "channels", own.channels);
    leati_build_int(&build, "ratio", own.ratio);
    leati_build_bool(&build, "fancy_upscaling", own.fancy_upscaling);
    leati_build_bool(&build, "try_recover_truncated", own.try_recover_truncated);
    leati_build_float(&build, "acceptable_fraction", own.acceptable_fraction);
    leati_build_text(&build, "dct_method", own.dct_method);
    return leati_build_end(&build);
}

leat_value leat_op_decode_bmp(leat_value contents, int64_t channels) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_bmp, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "channels", channels);
    return leati_build_end(&build);
}

leat_value leat_op_decode_image(leat_value contents, int64_t channels, leat_dtype dtype,
                                bool expand_animations) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_image, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "channels", channels);
    leati_build_dtype(&build, "dtype", dtype);
    leati_build_bool(&build, "expand_animations", expand_animations);
    return leati_build_end(&build);
}

leat_value leat_op_decode_jpeg(leat_value contents, const leat_op_decode_jpeg_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_jpeg, NULL);
    leati_build_input(&build, contents);
    leat_op_decode_jpeg_options own = {LEAT_OP_DECODE_JPEG_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_decode_jpeg_options");
    leati_build_int(&build, "channels", own.channels);
    leati_build_int(&build, "ratio", own.ratio);
    leati_build_bool(&build, "fancy_upscaling", own.fancy_upscaling);
    leati_build_bool(&build, "try_recover_truncated", own.try_recover_truncated);
    leati_build_float(&build, "acceptable_fraction", own.acceptable_fraction);
    leati_build_text(&build, "dct_method", own.dct_method);
    return leati_build_end(&build);
}

leat_value leat_op_decode_png(leat_value contents, int64_t channels, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_png, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "channels", channels);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_decode_webp(leat_value contents, int64_t channels, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_webp, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "channels", channels);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_draw_bounding_boxes(leat_value images, leat_value boxes, leat_value colors) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_draw_bounding_boxes, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, boxes);
    leati_build_input_if(&build, colors);
    return leati_build_end(&build);
}

leat_value leat_op_encode_jpeg(leat_value image, const leat_op_encode_jpeg_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_encode_jpeg, NULL);
    leati_build_input(&build, image);
    leat_op_encode_jpeg_options own = {LEAT_OP_ENCODE_JPEG_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_encode_jpeg_options");
    leati_build_text(&build, "format", own.format);
    leati_build_int(&build, "quality", own.quality);
    leati_build_bool(&build, "progressive", own.progressive);
    leati_build_bool(&build, "optimize_size", own.optimize_size);
    leati_build_bool(&build, "chroma_downsampling", own.chroma_downsampling);
    leati_build_text(&build, "density_unit", own.density_unit);
    leati_build_int(&build, "x_density", own.x_density);
    leati_build_int(&build, "y_density", own.y_density);
    leati_build_text(&build, "xmp_metadata", own.xmp_metadata);
    return leati_build_end(&build);
}

leat_value leat_op_encode_png(leat_value image, int64_t compression) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_encode_png, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "compression", compression);
    return leati_build_end(&build);
}

leat_value leat_op_extract_jpeg_shape(leat_value contents, leat_dtype output_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_extract_jpeg_shape, NULL);
    leati_build_input(&build, contents);
    leati_build_dtype(&build, "output_type", output_type);
    return leati_build_end(&build);
}

leat_value leat_op_extract_patches(leat_value images, const int64_t *sizes, int num_sizes,
                                   const int64_t *strides, int num_strides, const int64_t *rates,
                                   int num_rates, const char *padding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_extract_patches, NULL);
    leati_build_input(&build, images);
    leati_build_ints(&build, "sizes", sizes, num_sizes);
    leati_build_ints(&build, "strides", strides, num_strides);
    leati_build_ints(&build, "rates", rates, num_rates);
    leati_build_text(&build, "padding", padding);
    return leati_build_end(&build);
}

leat_value leat_op_image_gradients(leat_value image, leat_value *dx) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_image_gradients, NULL);
    leati_build_input(&build, image);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, dx);
    return first;
}

leat_value leat_op_image_normalize(leat_value images, const double *mean, int num_mean,
                                   const double *std, int num_std) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_image_normalize, NULL);
    leati_build_input(&build, images);
    leati_build_floats(&build, "mean", mean, num_mean);
    leati_build_floats(&build, "std", std, num_std);
    return leati_build_end(&build);
}

leat_value leat_op_non_max_suppression(leat_value boxes, leat_value scores, int64_t max_output_size,
                                       double iou_threshold, double score_threshold) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_non_max_suppression, NULL);
    leati_build_input(&build, boxes);
    leati_build_input(&build, scores);
    leati_build_int(&build, "max_output_size", max_output_size);
    leati_build_float(&build, "iou_threshold", iou_threshold);
    leati_build_float(&build, "score_threshold", score_threshold);
    return leati_build_end(&build);
}

leat_value leat_op_non_max_suppression_overlaps(leat_value overlaps, leat_value scores,
                                                int64_t max_output_size, double overlap_threshold,
                                                double score_threshold) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_non_max_suppression_overlaps, NULL);
    leati_build_input(&build, overlaps);
    leati_build_input(&build, scores);
    leati_build_int(&build, "max_output_size", max_output_size);
    leati_build_float(&build, "overlap_threshold", overlap_threshold);
    leati_build_float(&build, "score_threshold", score_threshold);
    return leati_build_end(&build);
}

leat_value leat_op_non_max_suppression_with_scores(
    leat_value boxes, leat_value scores, int64_t max_output_size,
    const leat_op_non_max_suppression_with_scores_options *options, leat_value *selected_scores) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_non_max_suppression_with_scores, NULL);
    leati_build_input(&build, boxes);
    leati_build_input(&build, scores);
    leati_build_int(&build, "max_output_size", max_output_size);
    leat_op_non_max_suppression_with_scores_options own = {
        LEAT_OP_NON_MAX_SUPPRESSION_WITH_SCORES_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_non_max_suppression_with_scores_options");
    leati_build_float(&build, "iou_threshold", own.iou_threshold);
    leati_build_float(&build, "score_threshold", own.score_threshold);
    leati_build_float(&build, "soft_nms_sigma", own.soft_nms_sigma);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, selected_scores);
    return first;
}

leat_value leat_op_pad_to_bounding_box(leat_value image, int64_t offset_height,
                                       int64_t offset_width, int64_t target_height,
                                       int64_t target_width) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_pad_to_bounding_box, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "offset_height", offset_height);
    leati_build_int(&build, "offset_width", offset_width);
    leati_build_int(&build, "target_height", target_height);
    leati_build_int(&build, "target_width", target_width);
    return leati_build_end(&build);
}

leat_value leat_op_projective_transform(leat_value images, leat_value transforms,
                                        const char *interpolation, const char *fill_mode,
                                        double fill_value) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_projective_transform, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, transforms);
    leati_build_text(&build, "interpolation", interpolation);
    leati_build_text(&build, "fill_mode", fill_mode);
    leati_build_float(&build, "fill_value", fill_value);
    return leati_build_end(&build);
}

leat_value leat_op_psnr(leat_value a, leat_value b, double max_val) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_psnr, NULL);
    leati_build_input(&build, a);
    leati_build_input(&build, b);
    leati_build_float(&build, "max_val", max_val);
    return leati_build_end(&build);
}

leat_value leat_op_resize(leat_value images, const int64_t *size, int num_size,
                          const leat_op_resize_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_resize, NULL);
    leati_build_input(&build, images);
    leati_build_ints(&build, "size", size, num_size);
    leat_op_resize_options own = {LEAT_OP_RESIZE_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_resize_options");
    leati_build_text(&build, "method", own.method);
    leati_build_bool(&build, "preserve_aspect_ratio", own.preserve_aspect_ratio);
    leati_build_bool(&build, "antialias", own.antialias);
    return leati_build_end(&build);
}

leat_value leat_op_resize_with_crop_or_pad(leat_value image, int64_t target_height,
                                           int64_t target_width) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_resize_with_crop_or_pad, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "target_height", target_height);
    leati_build_int(&build, "target_width", target_width);
    return leati_build_end(&build);
}

leat_value leat_op_resize_with_pad(leat_value image, int64_t target_height, int64_t target_width,
                                   const leat_op_resize_with_pad_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_resize_with_pad, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "target_height", target_height);
    leati_build_int(&build, "target_width", target_width);
    leat_op_resize_with_pad_options own = {LEAT_OP_RESIZE_WITH_PAD_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_resize_with_pad_options");
    leati_build_text(&build, "method", own.method);
    leati_build_bool(&build, "antialias", own.antialias);
    return leati_build_end(&build);
}

leat_value leat_op_rot90(leat_value image, int64_t k) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_rot90, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "k", k);
    return leati_build_end(&build);
}

leat_value leat_op_ssim(leat_value img1, leat_value img2, double max_val,
                        const leat_op_ssim_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_ssim, NULL);
    leati_build_input(&build, img1);
    leati_build_input(&build, img2);
    leati_build_float(&build, "max_val", max_val);
    leat_op_ssim_options own = {LEAT_OP_SSIM_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_ssim_options");
    leati_build_int(&build, "filter_size", own.filter_size);
    leati_build_float(&build, "filter_sigma", own.filter_sigma);
    leati_build_float(&build, "k1", own.k1);
    leati_build_float(&build, "k2", own.k2);
    leati_build_bool(&build, "return_index_map", own.return_index_map);
    return leati_build_end(&build);
}

leat_value leat_op_ssim_multiscale(leat_value img1, leat_value img2, double max_val,
                                   const leat_op_ssim_multiscale_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_ssim_multiscale, NULL);
    leati_build_input(&build, img1);
    leati_build_input(&build, img2);
    leati_build_float(&build, "max_val", max_val);
    leat_op_ssim_multiscale_options own = {LEAT_OP_SSIM_MULTISCALE_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_ssim_multiscale_options");
    leati_build_floats(&build, "power_factors", own.power_factors, own.num_power_factors);
    leati_build_int(&build, "filter_size", own.filter_size);
    leati_build_float(&build, "filter_sigma", own.filter_sigma);
    leati_build_float(&build, "k1", own.k1);
    leati_build_float(&build, "k2", own.k2);
    return leati_build_end(&build);
}

/* clang-format off */
LEATI_BUILDER_1(decode_gif)
LEATI_BUILDER_1(flip_left_right)
LEATI_BUILDER_1(flip_up_down)
LEATI_BUILDER_1(grayscale_to_rgb)
LEATI_BUILDER_1(hsv_to_rgb)
LEATI_BUILDER_1(image_transpose)
LEATI_BUILDER_1(is_jpeg)
LEATI_BUILDER_1(per_image_standardization)
LEATI_BUILDER_1(rgb_to_grayscale)
LEATI_BUILDER_1(rgb_to_hsv)
LEATI_BUILDER_1(rgb_to_yiq)
LEATI_BUILDER_1(rgb_to_yuv)
LEATI_BUILDER_1(sobel_edges)
LEATI_BUILDER_1(total_variation)
LEATI_BUILDER_1(yiq_to_rgb)
LEATI_BUILDER_1(yuv_to_rgb)
/* clang-format on */
