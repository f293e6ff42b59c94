/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: pictures; see leat/ops.h. */
#ifndef LEAT_OPS_PICTURE_H
#define LEAT_OPS_PICTURE_H

#include <leat/graph.h>
#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number added to all values of pictures (tf.image.adjust_brightness).
 * `delta`: the number, for values in [0, 1]. */
LEAT_API leat_value leat_op_adjust_brightness(leat_value image, double delta);

/* The distance of values from their channel's mean, multiplied by a factor
 * (tf.image.adjust_contrast).
 * `contrast_factor`: the factor. */
LEAT_API leat_value leat_op_adjust_contrast(leat_value images, double contrast_factor);

/* Gain times the values to the power of gamma (tf.image.adjust_gamma).
 * `gamma`: the power, 0 or more; by default 1.0.
 * `gain`: the factor; by default 1.0. */
LEAT_API leat_value leat_op_adjust_gamma(leat_value image, double gamma, double gain);

/* A turn of the hue of each colour (tf.image.adjust_hue).
 * `delta`: what is added to each hue, of a circle of 1; in [-1, 1]. */
LEAT_API leat_value leat_op_adjust_hue(leat_value image, double delta);

/* A picture encoded as a JPEG of a quality and decoded again (tf.image.adjust_jpeg_quality).
 * `jpeg_quality`: from 0, the smallest file, to 100.
 * `dct_method`: INTEGER_FAST (also when empty) or INTEGER_ACCURATE, for decoding; by default
 * "". */
LEAT_API leat_value leat_op_adjust_jpeg_quality(leat_value image, int64_t jpeg_quality,
                                                const char *dct_method);

/* The saturation of each colour, multiplied by a factor (tf.image.adjust_saturation).
 * `saturation_factor`: the factor. */
LEAT_API leat_value leat_op_adjust_saturation(leat_value image, double saturation_factor);

/* The middle of pictures (tf.image.central_crop).
 * `central_fraction`: the part of each dimension that stays, in (0, 1]. */
LEAT_API leat_value leat_op_central_crop(leat_value image, double central_fraction);

typedef struct leat_op_combined_non_max_suppression_options {
    size_t size; /* set by the macro below */
    /* Boxes that overlap a better one by more are left out; by default 0.5. */
    double iou_threshold;
    /* Boxes whose scores are not above are left out; by default "-inf". */
    double score_threshold;
    /* No more boxes of a picture than its classes can have; by default false. */
    bool pad_per_class;
    /* Cut boxes to [0, 1]; by default true. */
    bool clip_boxes;
} leat_op_combined_non_max_suppression_options;
#define LEAT_OP_COMBINED_NON_MAX_SUPPRESSION_DEFAULTS                                              \
    .size = sizeof(leat_op_combined_non_max_suppression_options), .iou_threshold = 0.5,            \
    .score_threshold = -INFINITY, .clip_boxes = true
/* The best boxes of all classes of each picture, with their scores, classes and number, without
 * those that overlap a better one of their class too much
 * (tf.image.combined_non_max_suppression).
 * `max_output_size_per_class`: how many boxes of a class are chosen at most.
 * `max_total_size`: how many boxes of a picture there are.
 * `options`: NULL for the defaults.
 * Returns `nmsed_boxes`; `nmsed_scores` and `nmsed_classes` and `valid_detections` may be NULL. */
LEAT_API leat_value leat_op_combined_non_max_suppression(
    leat_value boxes, leat_value scores, int64_t max_output_size_per_class, int64_t max_total_size,
    const leat_op_combined_non_max_suppression_options *options, leat_value *nmsed_scores,
    leat_value *nmsed_classes, leat_value *valid_detections);

/* Pictures of another dtype, scaled so that 1.0 is an integer's largest value
 * (tf.image.convert_image_dtype).
 * `dtype`: the dtype of the result.
 * `saturate`: clip what the result cannot hold; by default false. */
LEAT_API leat_value leat_op_convert_image_dtype(leat_value image, leat_dtype dtype, bool saturate);

/* Boxes of pictures, each scaled to one size (tf.image.crop_and_resize).
 * `crop_size`: height and width of the result, in pixels.
 * `method`: bilinear or nearest; by default "bilinear".
 * `extrapolation_value`: the value of what lies outside of the picture; by default 0.0. */
LEAT_API leat_value leat_op_crop_and_resize(leat_value image, leat_value boxes,
                                            leat_value box_indices, const int64_t *crop_size,
                                            int num_crop_size, const char *method,
                                            double extrapolation_value);

/* The part of pictures inside a box (tf.image.crop_to_bounding_box).
 * `offset_height`: rows above the box, in pixels.
 * `offset_width`: columns to the left of the box, in pixels.
 * `target_height`: height of the result, in pixels.
 * `target_width`: width of the result, in pixels. */
LEAT_API leat_value leat_op_crop_to_bounding_box(leat_value image, int64_t offset_height,
                                                 int64_t offset_width, int64_t target_height,
                                                 int64_t target_width);

typedef struct leat_op_decode_and_crop_jpeg_options {
    size_t size; /* set by the macro below */
    /* 0: those of the file; 1: grey; 3: RGB; by default 0. */
    int64_t channels;
    /* The picture is shrunk by 1, 2, 4 or 8; by default 1. */
    int64_t ratio;
    /* Interpolate chroma instead of repeating it; by default true. */
    bool fancy_upscaling;
    /* Fill what is missing instead of failing; by default false. */
    bool try_recover_truncated;
    /* The least fraction of rows that must be there; by default 1.0. */
    double acceptable_fraction;
    /* INTEGER_FAST (also when empty) or INTEGER_ACCURATE; by default "". */
    const char *dct_method;
} leat_op_decode_and_crop_jpeg_options;
#define LEAT_OP_DECODE_AND_CROP_JPEG_DEFAULTS                                                      \
    .size = sizeof(leat_op_decode_and_crop_jpeg_options), .ratio = 1, .fancy_upscaling = true,     \
    .acceptable_fraction = 1.0
/* A window of a JPEG's pixels, uint8 [height, width, channels] (tf.io.decode_and_crop_jpeg).
 * `options`: NULL for the defaults. */
LEAT_API leat_value
leat_op_decode_and_crop_jpeg(leat_value contents, leat_value crop_window,
                             const leat_op_decode_and_crop_jpeg_options *options);

/* The pixels of a bitmap, uint8 [height, width, channels] (tf.io.decode_bmp).
 * `channels`: 0: those of the file; 3: RGB; 4: RGBA; by default 0. */
LEAT_API leat_value leat_op_decode_bmp(leat_value contents, int64_t channels);

/* All frames of a GIF, uint8 [frames, height, width, 3] (tf.io.decode_gif). */
LEAT_API leat_value leat_op_decode_gif(leat_value contents);

/* The pixels of a picture of any format (tf.io.decode_image).
 * `channels`: 0: those of the file; 1: grey; 3: RGB; 4: RGBA; by default 0.
 * `dtype`: the dtype of the pixels, a number; by default "uint8".
 * `expand_animations`: all frames of a GIF, as [frames, height, width, channels]; else the
 * first one; by default true. */
LEAT_API leat_value leat_op_decode_image(leat_value contents, int64_t channels, leat_dtype dtype,
                                         bool expand_animations);

typedef struct leat_op_decode_jpeg_options {
    size_t size; /* set by the macro below */
    /* 0: those of the file; 1: grey; 3: RGB; by default 0. */
    int64_t channels;
    /* The picture is shrunk by 1, 2, 4 or 8; by default 1. */
    int64_t ratio;
    /* Interpolate chroma instead of repeating it; by default true. */
    bool fancy_upscaling;
    /* Fill what is missing instead of failing; by default false. */
    bool try_recover_truncated;
    /* The least fraction of rows that must be there; by default 1.0. */
    double acceptable_fraction;
    /* INTEGER_FAST (also when empty) or INTEGER_ACCURATE; by default "". */
    const char *dct_method;
} leat_op_decode_jpeg_options;
#define LEAT_OP_DECODE_JPEG_DEFAULTS                                                               \
    .size = sizeof(leat_op_decode_jpeg_options), .ratio = 1, .fancy_upscaling = true,              \
    .acceptable_fraction = 1.0
/* The pixels of a JPEG, uint8 [height, width, channels] (tf.io.decode_jpeg).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_decode_jpeg(leat_value contents,
                                        const leat_op_decode_jpeg_options *options);

/* The pixels of a PNG, uint8 [height, width, channels] (tf.io.decode_png).
 * `channels`: 0: those of the file; 1: grey; 3: RGB; 4: RGBA; by default 0.
 * `dtype`: uint8 or uint16; by default "uint8". */
LEAT_API leat_value leat_op_decode_png(leat_value contents, int64_t channels, leat_dtype dtype);

/* All frames of a WebP, uint8 [frames, height, width, channels] (tf.io.decode_webp).
 * `channels`: 0: those of the file; 3: RGB; 4: RGBA; it must be the file's; by default 0.
 * `dtype`: uint8; by default "uint8". */
LEAT_API leat_value leat_op_decode_webp(leat_value contents, int64_t channels, leat_dtype dtype);

/* Frames of one pixel drawn into pictures (tf.image.draw_bounding_boxes).
 * `colors` may be {0}: none. */
LEAT_API leat_value leat_op_draw_bounding_boxes(leat_value images, leat_value boxes,
                                                leat_value colors);

typedef struct leat_op_encode_jpeg_options {
    size_t size; /* set by the macro below */
    /* Grayscale or rgb, which demands 1 or 3 channels; empty: either; by default "". */
    const char *format;
    /* From 0, the smallest file, to 100; by default 95. */
    int64_t quality;
    /* Several scans, coarse to fine; by default false. */
    bool progressive;
    /* Codes made for this picture; by default false. */
    bool optimize_size;
    /* Colours at half the resolution; by default true. */
    bool chroma_downsampling;
    /* In or cm, of the densities; by default "in". */
    const char *density_unit;
    /* Pixels per unit, horizontally; by default 300. */
    int64_t x_density;
    /* Pixels per unit, vertically; by default 300. */
    int64_t y_density;
    /* Text that the file carries; by default "". */
    const char *xmp_metadata;
} leat_op_encode_jpeg_options;
#define LEAT_OP_ENCODE_JPEG_DEFAULTS                                                               \
    .size = sizeof(leat_op_encode_jpeg_options), .quality = 95, .chroma_downsampling = true,       \
    .x_density = 300, .y_density = 300
/* A picture as the bytes of a JPEG (tf.io.encode_jpeg).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_encode_jpeg(leat_value image,
                                        const leat_op_encode_jpeg_options *options);

/* Pictures as the bytes of PNGs (tf.io.encode_png).
 * `compression`: from 0, the fastest, to 9, the smallest file; -1: the library's; by default
 * -1. */
LEAT_API leat_value leat_op_encode_png(leat_value image, int64_t compression);

/* Height, width and channels of a JPEG (tf.io.extract_jpeg_shape).
 * `output_type`: int32 or int64; by default "int32". */
LEAT_API leat_value leat_op_extract_jpeg_shape(leat_value contents, leat_dtype output_type);

/* The windows of pictures, each as one line of its pixels (tf.image.extract_patches).
 * `sizes`: height and width of a window in pixels: [1, height, width, 1].
 * `strides`: pixels from one window to the next: [1, down, right, 1].
 * `rates`: pixels from one to the next inside a window: [1, down, right, 1].
 * `padding`: VALID: windows that fit; SAME: as many as strides say, with zeros around. */
LEAT_API leat_value leat_op_extract_patches(leat_value images, const int64_t *sizes, int num_sizes,
                                            const int64_t *strides, int num_strides,
                                            const int64_t *rates, int num_rates,
                                            const char *padding);

/* Pictures mirrored along their width (tf.image.flip_left_right). */
LEAT_API leat_value leat_op_flip_left_right(leat_value image);

/* Pictures mirrored along their height (tf.image.flip_up_down). */
LEAT_API leat_value leat_op_flip_up_down(leat_value image);

/* One channel, repeated as three (tf.image.grayscale_to_rgb). */
LEAT_API leat_value leat_op_grayscale_to_rgb(leat_value images);

/* Colours of a hue, saturation and value in [0, 1] (tf.image.hsv_to_rgb). */
LEAT_API leat_value leat_op_hsv_to_rgb(leat_value images);

/* The differences of each pixel to the one below and to the one on its right
 * (tf.image.image_gradients).
 * Returns `dy`; `dx` may be NULL. */
LEAT_API leat_value leat_op_image_gradients(leat_value image, leat_value *dx);

/* (x - mean) / std for each channel of pictures; integers become float32 and keep their scale.
 * `mean`: what is subtracted: a number for each channel or one for all, in the pictures' unit.
 * `std`: what is divided by, not 0: a number for each channel or one for all. */
LEAT_API leat_value leat_op_image_normalize(leat_value images, const double *mean, int num_mean,
                                            const double *std, int num_std);

/* Pictures whose height and width change places (tf.image.transpose). */
LEAT_API leat_value leat_op_image_transpose(leat_value image);

/* Do strings begin as a JPEG does (tf.io.is_jpeg)? */
LEAT_API leat_value leat_op_is_jpeg(leat_value contents);

/* The numbers of the boxes with the best scores, without those that overlap a better one too
 * much (tf.image.non_max_suppression).
 * `max_output_size`: how many boxes are chosen at most.
 * `iou_threshold`: boxes that overlap a better one by more are left out; by default 0.5.
 * `score_threshold`: boxes whose scores are not above are left out; by default "-inf". */
LEAT_API leat_value leat_op_non_max_suppression(leat_value boxes, leat_value scores,
                                                int64_t max_output_size, double iou_threshold,
                                                double score_threshold);

/* The numbers of the boxes with the best scores, without those that overlap a better one too
 * much, by a matrix of overlaps (tf.image.non_max_suppression_overlaps).
 * `max_output_size`: how many boxes are chosen at most.
 * `overlap_threshold`: boxes that overlap a better one by more are left out; by default 0.5.
 * `score_threshold`: boxes whose scores are not above are left out; by default "-inf". */
LEAT_API leat_value leat_op_non_max_suppression_overlaps(leat_value overlaps, leat_value scores,
                                                         int64_t max_output_size,
                                                         double overlap_threshold,
                                                         double score_threshold);

typedef struct leat_op_non_max_suppression_with_scores_options {
    size_t size; /* set by the macro below */
    /* Boxes that overlap a better one by more are left out; by default 0.5. */
    double iou_threshold;
    /* Boxes whose scores are not above are left out; by default "-inf". */
    double score_threshold;
    /* Above 0: how slowly scores become smaller with overlap; by default 0.0. */
    double soft_nms_sigma;
} leat_op_non_max_suppression_with_scores_options;
#define LEAT_OP_NON_MAX_SUPPRESSION_WITH_SCORES_DEFAULTS                                           \
    .size = sizeof(leat_op_non_max_suppression_with_scores_options), .iou_threshold = 0.5,         \
    .score_threshold = -INFINITY
/* The numbers and scores of the best boxes, where overlapping ones are left out or their scores
 * made smaller (tf.image.non_max_suppression_with_scores).
 * `max_output_size`: how many boxes are chosen at most.
 * `options`: NULL for the defaults.
 * Returns `selected_indices`; `selected_scores` may be NULL. */
LEAT_API leat_value leat_op_non_max_suppression_with_scores(
    leat_value boxes, leat_value scores, int64_t max_output_size,
    const leat_op_non_max_suppression_with_scores_options *options, leat_value *selected_scores);

/* Pictures at a place of larger ones, zero elsewhere (tf.image.pad_to_bounding_box).
 * `offset_height`: rows above the box, in pixels.
 * `offset_width`: columns to the left of the box, in pixels.
 * `target_height`: height of the result, in pixels.
 * `target_width`: width of the result, in pixels. */
LEAT_API leat_value leat_op_pad_to_bounding_box(leat_value image, int64_t offset_height,
                                                int64_t offset_width, int64_t target_height,
                                                int64_t target_width);

/* Pictures with a mean of 0 and a deviation of 1, as float32
 * (tf.image.per_image_standardization). */
LEAT_API leat_value leat_op_per_image_standardization(leat_value image);

/* Pictures looked at through projections (tf.raw_ops.ImageProjectiveTransformV3).
 * `interpolation`: bilinear or nearest; by default "bilinear".
 * `fill_mode`: what lies outside of a picture: constant (fill_value), nearest (its border),
 * reflect (the picture mirrored) or wrap (the picture again); by default "constant".
 * `fill_value`: the value of what lies outside; by default 0.0. */
LEAT_API leat_value leat_op_projective_transform(leat_value images, leat_value transforms,
                                                 const char *interpolation, const char *fill_mode,
                                                 double fill_value);

/* How close pictures are to others, in decibels (tf.image.psnr).
 * `max_val`: the range of the pictures' values, such as 255 or 1. */
LEAT_API leat_value leat_op_psnr(leat_value a, leat_value b, double max_val);

typedef struct leat_op_resize_options {
    size_t size; /* set by the macro below */
    /* Bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic; by default
     * "bilinear". */
    const char *method;
    /* Keep the proportions: the largest size that fits into the given one; by default false. */
    bool preserve_aspect_ratio;
    /* Blend all pixels that a smaller picture's pixel covers; by default false. */
    bool antialias;
} leat_op_resize_options;
#define LEAT_OP_RESIZE_DEFAULTS .size = sizeof(leat_op_resize_options)
/* Pictures scaled to another size, as float32 (tf.image.resize).
 * `size`: height and width of the result, in pixels.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_resize(leat_value images, const int64_t *size, int num_size,
                                   const leat_op_resize_options *options);

/* Pictures cut or padded with zeros around their middle (tf.image.resize_with_crop_or_pad).
 * `target_height`: height of the result, in pixels.
 * `target_width`: width of the result, in pixels. */
LEAT_API leat_value leat_op_resize_with_crop_or_pad(leat_value image, int64_t target_height,
                                                    int64_t target_width);

typedef struct leat_op_resize_with_pad_options {
    size_t size; /* set by the macro below */
    /* As of resize; by default "bilinear". */
    const char *method;
    /* Blend all pixels that a smaller picture's pixel covers; by default false. */
    bool antialias;
} leat_op_resize_with_pad_options;
#define LEAT_OP_RESIZE_WITH_PAD_DEFAULTS .size = sizeof(leat_op_resize_with_pad_options)
/* Pictures scaled to fit into a size, and padded with zeros (tf.image.resize_with_pad).
 * `target_height`: height of the result, in pixels.
 * `target_width`: width of the result, in pixels.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_resize_with_pad(leat_value image, int64_t target_height,
                                            int64_t target_width,
                                            const leat_op_resize_with_pad_options *options);

/* The brightness of colours, as one channel (tf.image.rgb_to_grayscale). */
LEAT_API leat_value leat_op_rgb_to_grayscale(leat_value images);

/* Hue, saturation and value of colours, all in [0, 1] (tf.image.rgb_to_hsv). */
LEAT_API leat_value leat_op_rgb_to_hsv(leat_value images);

/* RGB pixels as YIQ, the last dimension 3 (tf.image.rgb_to_yiq). */
LEAT_API leat_value leat_op_rgb_to_yiq(leat_value images);

/* RGB pixels as YUV, the last dimension 3 (tf.image.rgb_to_yuv). */
LEAT_API leat_value leat_op_rgb_to_yuv(leat_value images);

/* Pictures turned counter-clockwise by quarter turns (tf.image.rot90).
 * `k`: how many quarter turns; negative ones are clockwise; by default 1. */
LEAT_API leat_value leat_op_rot90(leat_value image, int64_t k);

/* How steep pictures are downwards and to the right, by Sobel's filters (tf.image.sobel_edges). */
LEAT_API leat_value leat_op_sobel_edges(leat_value image);

typedef struct leat_op_ssim_options {
    size_t size; /* set by the macro below */
    /* Height and width of the Gaussian window, in pixels; by default 11. */
    int64_t filter_size;
    /* Deviation of the Gaussian window, in pixels; by default 1.5. */
    double filter_sigma;
    /* Part of max_val that steadies the comparison of brightness; by default 0.01. */
    double k1;
    /* Part of max_val that steadies the comparison of contrast; by default 0.03. */
    double k2;
    /* Give the similarity at each place instead of the mean; by default false. */
    bool return_index_map;
} leat_op_ssim_options;
#define LEAT_OP_SSIM_DEFAULTS                                                                      \
    .size = sizeof(leat_op_ssim_options), .filter_size = 11, .filter_sigma = 1.5, .k1 = 0.01,      \
    .k2 = 0.03
/* The structural similarity of pictures to others (tf.image.ssim).
 * `max_val`: the range of the pictures' values, such as 255 or 1.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_ssim(leat_value img1, leat_value img2, double max_val,
                                 const leat_op_ssim_options *options);

typedef struct leat_op_ssim_multiscale_options {
    size_t size; /* set by the macro below */
    /* The weight of each scale; NULL: five weights for five scales. */
    const double *power_factors;
    int num_power_factors;
    /* Height and width of the Gaussian window, in pixels; by default 11. */
    int64_t filter_size;
    /* Deviation of the Gaussian window, in pixels; by default 1.5. */
    double filter_sigma;
    /* Part of max_val that steadies the comparison of brightness; by default 0.01. */
    double k1;
    /* Part of max_val that steadies the comparison of contrast; by default 0.03. */
    double k2;
} leat_op_ssim_multiscale_options;
#define LEAT_OP_SSIM_MULTISCALE_DEFAULTS                                                           \
    .size = sizeof(leat_op_ssim_multiscale_options), .filter_size = 11, .filter_sigma = 1.5,       \
    .k1 = 0.01, .k2 = 0.03
/* The structural similarity of pictures to others on several scales (tf.image.ssim_multiscale).
 * `max_val`: the range of the pictures' values, such as 255 or 1.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_ssim_multiscale(leat_value img1, leat_value img2, double max_val,
                                            const leat_op_ssim_multiscale_options *options);

/* The sum of the absolute differences of neighbouring pixels (tf.image.total_variation). */
LEAT_API leat_value leat_op_total_variation(leat_value images);

/* YIQ pixels as RGB, the last dimension 3 (tf.image.yiq_to_rgb). */
LEAT_API leat_value leat_op_yiq_to_rgb(leat_value images);

/* YUV pixels as RGB, the last dimension 3 (tf.image.yuv_to_rgb). */
LEAT_API leat_value leat_op_yuv_to_rgb(leat_value images);

#ifdef __cplusplus
}
#endif
#endif
