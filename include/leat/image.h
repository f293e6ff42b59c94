/* Tensor operations on pictures: builders like those of leat/ops.h, which includes this header.
 *
 * A picture is a tensor [height, width, channels], several of one size are [N, height, width,
 * channels]; sizes and places count pixels from the upper left corner. What computes with colours
 * takes floats in [0, 1] or integers of their whole range, computes in float32 and gives back the
 * dtype that it got. Shapes, dtypes and numbers that an operation does not take make the graph, or
 * the run where they are computed, fail with INVALID_ARGUMENT. Memory, threads and errors: as in
 * leat/ops.h. */
#ifndef LEAT_IMAGE_H
#define LEAT_IMAGE_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- files ---- */

/* A JPEG, a PNG, or a picture of any format (of an animation the first frame), as uint8 [height,
 * width, channels]; channels 0: those of the file, 1 grey, 3 RGB (PNG also 2 and 4). A static shape
 * of -1 stands for what the file decides (tf.io.decode_jpeg with dct_method "" , tf.io.decode_png,
 * tf.io.decode_image). */
LEAT_API leat_value leat_op_decode_jpeg(leat_value contents, int channels);
LEAT_API leat_value leat_op_decode_png(leat_value contents, int channels);
LEAT_API leat_value leat_op_decode_image(leat_value contents, int channels);

/* A bitmap of 8, 24 or 32 bits, channels 0, 3 or 4; all frames of a GIF, uint8 [frames, height,
 * width, 3] (tf.io.decode_bmp, tf.io.decode_gif). */
LEAT_API leat_value leat_op_decode_bmp(leat_value contents, int channels);
LEAT_API leat_value leat_op_decode_gif(leat_value contents);
/* All frames of a WebP, uint8 [frames, height, width, channels], one of a still picture; channels 0
 * or what the file has, 3 or 4 (tf.io.decode_webp). UNIMPLEMENTED in a build without libwebp. */
LEAT_API leat_value leat_op_decode_webp(leat_value contents, int channels);

/* A window of a JPEG: crop_window is y, x, height, width (int32 or int64 [4]), inside the picture
 * (tf.io.decode_and_crop_jpeg; colours at its sides differ from those of decode_jpeg). */
LEAT_API leat_value leat_op_decode_and_crop_jpeg(leat_value contents, leat_value crop_window,
                                                 int channels);

/* Do strings begin as a JPEG does? Height, width and channels of one, [3] of int32 or int64
 * (tf.io.is_jpeg, tf.io.extract_jpeg_shape). */
LEAT_API leat_value leat_op_is_jpeg(leat_value contents);
LEAT_API leat_value leat_op_extract_jpeg_shape(leat_value contents, leat_dtype output_type);

/* A picture uint8 [height, width, 1 or 3] as a JPEG of a quality in [0, 100], byte for byte
 * TensorFlow's; pictures uint8 or uint16 [..., height, width, 1 to 4] as PNGs of a compression of 0
 * to 9, or -1. Scalar strings, or [...] of them (tf.io.encode_jpeg, tf.io.encode_png). */
LEAT_API leat_value leat_op_encode_jpeg(leat_value image, int64_t quality);
LEAT_API leat_value leat_op_encode_png(leat_value image, int64_t compression);

/* ---- size and place ---- */

/* Pictures of any number type scaled to height x width, as float32; "nearest" keeps the type
 * (tf.image.resize). `method` is "bilinear" (also NULL), "nearest", "bicubic", "area", "lanczos3",
 * "lanczos5", "gaussian" or "mitchellcubic"; antialias is off, and the proportions are not kept. */
LEAT_API leat_value leat_op_resize(leat_value images, int64_t height, int64_t width,
                                   const char *method);

/* Pictures scaled by `method` as large as they fit into a target with their proportions, in the
 * middle of zeros (tf.image.resize_with_pad). */
LEAT_API leat_value leat_op_resize_with_pad(leat_value images, int64_t target_height,
                                            int64_t target_width, const char *method,
                                            bool antialias);

/* Pictures cut or padded with zeros around their middle (tf.image.resize_with_crop_or_pad). */
LEAT_API leat_value leat_op_resize_with_crop_or_pad(leat_value images, int64_t target_height,
                                                    int64_t target_width);

/* Boxes [n, 4] of pictures [N, H, W, C], y1 x1 y2 x2 in fractions of the last row and column, each
 * of picture box_indices[i] (int32 or int64), scaled by "bilinear" (also NULL) or "nearest"; what
 * lies outside is extrapolation_value. float32 [n, crop_height, crop_width, C]
 * (tf.image.crop_and_resize). */
LEAT_API leat_value leat_op_crop_and_resize(leat_value images, leat_value boxes,
                                            leat_value box_indices, int64_t crop_height,
                                            int64_t crop_width, const char *method,
                                            double extrapolation_value);

/* Pictures float32 [N, H, W, C] looked at through projections float32 [N, 8], or [1, 8] for all of
 * them: pixel (x, y) of the result is the one at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)
 * with k = c0 x + c1 y + 1, "bilinear" (also NULL) or "nearest". What lies outside is "constant"
 * (also NULL; fill_value), "nearest", "reflect" or "wrap" (tf.raw_ops.ImageProjectiveTransformV3).
 */
LEAT_API leat_value leat_op_projective_transform(leat_value images, leat_value transforms,
                                                 const char *interpolation, const char *fill_mode,
                                                 double fill_value);

/* The middle of pictures, a fraction in (0, 1] of height and width (tf.image.central_crop). */
LEAT_API leat_value leat_op_central_crop(leat_value images, double central_fraction);

/* The part of pictures inside a box, and pictures at a place of larger ones that are zero elsewhere
 * (tf.image.crop_to_bounding_box, tf.image.pad_to_bounding_box). */
LEAT_API leat_value leat_op_crop_to_bounding_box(leat_value images, int64_t offset_height,
                                                 int64_t offset_width, int64_t target_height,
                                                 int64_t target_width);
LEAT_API leat_value leat_op_pad_to_bounding_box(leat_value images, int64_t offset_height,
                                                int64_t offset_width, int64_t target_height,
                                                int64_t target_width);

/* Pictures mirrored along their width or height, with both exchanged, or turned counter-clockwise
 * by k quarters (tf.image.flip_left_right, flip_up_down, transpose, rot90). */
LEAT_API leat_value leat_op_flip_left_right(leat_value images);
LEAT_API leat_value leat_op_flip_up_down(leat_value images);
LEAT_API leat_value leat_op_image_transpose(leat_value images);
LEAT_API leat_value leat_op_rot90(leat_value images, int64_t k);

/* ---- colours ---- */

/* Pictures of another dtype, scaled so that 1.0 is an integer's largest value
 * (tf.image.convert_image_dtype). */
LEAT_API leat_value leat_op_convert_image_dtype(leat_value images, leat_dtype dtype, bool saturate);

/* `delta` is added to every value; the distance from the channel's mean, or the saturation of each
 * pixel's colour, is multiplied by `factor`; `delta`, in [-1, 1], is added to each hue; gain *
 * value ^ gamma (tf.image.adjust_brightness, adjust_contrast, adjust_saturation, adjust_hue,
 * adjust_gamma). Saturation and hue take 3 channels. */
LEAT_API leat_value leat_op_adjust_brightness(leat_value images, double delta);
LEAT_API leat_value leat_op_adjust_contrast(leat_value images, double contrast_factor);
LEAT_API leat_value leat_op_adjust_saturation(leat_value images, double saturation_factor);
LEAT_API leat_value leat_op_adjust_hue(leat_value images, double delta);
LEAT_API leat_value leat_op_adjust_gamma(leat_value images, double gamma, double gain);

/* One picture of 1 or 3 channels, encoded as a JPEG of a quality in [0, 100] and decoded again
 * (tf.image.adjust_jpeg_quality). */
LEAT_API leat_value leat_op_adjust_jpeg_quality(leat_value image, int64_t jpeg_quality);

/* Each picture with a mean of 0 and a deviation of 1, as float32
 * (tf.image.per_image_standardization). */
LEAT_API leat_value leat_op_per_image_standardization(leat_value images);

/* Three channels as one, and one repeated as three (tf.image.rgb_to_grayscale, grayscale_to_rgb).
 */
LEAT_API leat_value leat_op_rgb_to_grayscale(leat_value images);
LEAT_API leat_value leat_op_grayscale_to_rgb(leat_value images);

/* Pixels of floats, the last dimension 3, in other colour spaces (tf.image.rgb_to_hsv and so on).
 */
LEAT_API leat_value leat_op_rgb_to_hsv(leat_value images);
LEAT_API leat_value leat_op_hsv_to_rgb(leat_value images);
LEAT_API leat_value leat_op_rgb_to_yuv(leat_value images);
LEAT_API leat_value leat_op_yuv_to_rgb(leat_value images);
LEAT_API leat_value leat_op_rgb_to_yiq(leat_value images);
LEAT_API leat_value leat_op_yiq_to_rgb(leat_value images);

/* ---- random distortions ---- */

/* The same with numbers that a seed, two integers (int32 or int64 [2]), decides: a delta in
 * [-max_delta, max_delta), a factor or a quality in [lower, upper), mirrored or not (each picture
 * of several by itself), a part of shape `size` (`rank` numbers) at any place. The numbers are
 * TensorFlow's (tf.image.stateless_random_brightness and so on). */
LEAT_API leat_value leat_op_stateless_random_brightness(leat_value image, double max_delta,
                                                        leat_value seed);
LEAT_API leat_value leat_op_stateless_random_contrast(leat_value image, double lower, double upper,
                                                      leat_value seed);
LEAT_API leat_value leat_op_stateless_random_saturation(leat_value image, double lower,
                                                        double upper, leat_value seed);
LEAT_API leat_value leat_op_stateless_random_hue(leat_value image, double max_delta,
                                                 leat_value seed);
LEAT_API leat_value leat_op_stateless_random_jpeg_quality(leat_value image,
                                                          int64_t min_jpeg_quality,
                                                          int64_t max_jpeg_quality,
                                                          leat_value seed);
LEAT_API leat_value leat_op_stateless_random_flip_left_right(leat_value image, leat_value seed);
LEAT_API leat_value leat_op_stateless_random_flip_up_down(leat_value image, leat_value seed);
LEAT_API leat_value leat_op_stateless_random_crop(leat_value value, const int64_t *size, int rank,
                                                  leat_value seed);

/* The same with numbers that go on from call to call; `seed` may be NULL
 * (tf.image.random_brightness and so on). */
LEAT_API leat_value leat_op_random_brightness(leat_value image, double max_delta,
                                              const int64_t *seed);
LEAT_API leat_value leat_op_random_contrast(leat_value image, double lower, double upper,
                                            const int64_t *seed);
LEAT_API leat_value leat_op_random_saturation(leat_value image, double lower, double upper,
                                              const int64_t *seed);
LEAT_API leat_value leat_op_random_hue(leat_value image, double max_delta, const int64_t *seed);
LEAT_API leat_value leat_op_random_jpeg_quality(leat_value image, int64_t min_jpeg_quality,
                                                int64_t max_jpeg_quality, const int64_t *seed);
LEAT_API leat_value leat_op_random_flip_left_right(leat_value image, const int64_t *seed);
LEAT_API leat_value leat_op_random_flip_up_down(leat_value image, const int64_t *seed);
LEAT_API leat_value leat_op_random_crop(leat_value value, const int64_t *size, int rank,
                                        const int64_t *seed);

/* ---- recipes of training ---- */

/* What the two random_resized_crop may do. */
typedef struct leat_op_random_resized_crop_options {
    size_t size;
    double scale[2];    /* part of the area */
    double ratio[2];    /* width over height */
    const char *method; /* as in leat_op_resize */
    bool antialias;     /* blend all pixels that a smaller picture's pixel covers */
} leat_op_random_resized_crop_options;
#define LEAT_OP_RANDOM_RESIZED_CROP_DEFAULTS                                                       \
    .size = sizeof(leat_op_random_resized_crop_options), .scale = {0.08, 1},                       \
    .ratio = {0.75, 4.0 / 3}, .method = "bilinear"

/* A random part of pictures [H, W, C] or [N, H, W, C], of each its own, of a random area and random
 * proportions, scaled to height x width as float32 (nearest keeps the dtype). After ten attempts
 * that do not fit, the largest part in the middle within `ratio`. `options` may be NULL.
 * TensorFlow has no such function: names and distribution are those that other libraries use. */
LEAT_API leat_value leat_op_stateless_random_resized_crop(
    leat_value images, int64_t height, int64_t width, leat_value seed,
    const leat_op_random_resized_crop_options *options);
/* The same with numbers that go on from call to call; `seed` may be NULL. */
LEAT_API leat_value leat_op_random_resized_crop(leat_value images, int64_t height, int64_t width,
                                                const int64_t *seed,
                                                const leat_op_random_resized_crop_options *options);

/* (x - mean) / std for each channel, the last dimension: floats keep their dtype, integers become
 * float32 and are not scaled. `mean` and `std` have `count` numbers, one or as many as channels, in
 * the pictures' unit; no `std` is 0. */
LEAT_API leat_value leat_op_image_normalize(leat_value images, const double *mean,
                                            const double *std, int count);

/* A batch of pictures [N, H, W, C] and its labels, N rows of numbers such as one-hot classes, each
 * blended with another one of the batch: w * own + (1 - w) * other. The weights are of a beta
 * distribution with the parameters `alpha` in (0, 1]; 0: 0.2. What is not a float becomes float32.
 * Fills `outputs` with pictures and labels and returns 2, or -1. Equal to Keras' layer, whose seed
 * and number of draws before are the two numbers of `seed` (tf.keras.layers.MixUp). */
LEAT_API int leat_op_stateless_mixup(leat_value images, leat_value labels, leat_value seed,
                                     double alpha, leat_value *outputs);
/* The same with numbers that go on from call to call; `seed` may be NULL. */
LEAT_API int leat_op_mixup(leat_value images, leat_value labels, double alpha, const int64_t *seed,
                           leat_value *outputs);
/* A window of each picture is taken from another one of the batch; labels are mixed by area. The
 * window's area is of a beta distribution, whose parameter is drawn from the range `factor` (two
 * numbers in [0, 1]; NULL: 0 to 1). Pictures keep their dtype (tf.keras.layers.CutMix). */
LEAT_API int leat_op_stateless_cutmix(leat_value images, leat_value labels, leat_value seed,
                                      const double *factor, leat_value *outputs);
/* The same with numbers that go on from call to call; `seed` may be NULL. */
LEAT_API int leat_op_cutmix(leat_value images, leat_value labels, const double *factor,
                            const int64_t *seed, leat_value *outputs);

/* What the two rand_augment may do. */
typedef struct leat_op_rand_augment_options {
    size_t size;
    double value_range[2]; /* of the pictures */
    int64_t num_ops;       /* how many distortions follow each other */
    double factor;         /* the greatest strength, in (0, 1] */
    bool nearest;          /* moved pixels are the nearest ones; else blended */
} leat_op_rand_augment_options;
#define LEAT_OP_RAND_AUGMENT_DEFAULTS                                                              \
    .size = sizeof(leat_op_rand_augment_options), .value_range = {0, 255}, .num_ops = 2,           \
    .factor = 0.5

/* A few random distortions of pictures [H, W, C] or [N, H, W, C], C 1 or 3, one after the other, as
 * float32: shear, translation, rotation, brightness, loss of colour, contrast, sharpness,
 * posterization, solarization, auto contrast, equalization. Several pictures in one tensor share
 * the choice; strengths are each one's own. Equal to Keras' layer, whose seed and number of draws
 * before are the two numbers of `seed` (tf.keras.layers.RandAugment). `options` may be NULL. */
LEAT_API leat_value leat_op_stateless_rand_augment(leat_value images, leat_value seed,
                                                   const leat_op_rand_augment_options *options);
/* The same with numbers that go on from call to call; `seed` may be NULL. */
LEAT_API leat_value leat_op_rand_augment(leat_value images,
                                         const leat_op_rand_augment_options *options,
                                         const int64_t *seed);

/* What stateless_aug_mix may do. */
typedef struct leat_op_aug_mix_options {
    size_t size;
    double value_range[2]; /* of the pictures */
    int64_t num_chains;
    int64_t chain_depth; /* places for a distortion in each */
    double factor;       /* the greatest strength, in (0, 1] */
    double alpha;        /* of the weights' distributions */
    bool all_ops;        /* false: no change of brightness, colour, contrast and sharpness */
    bool nearest;        /* moved pixels are the nearest ones; else blended */
} leat_op_aug_mix_options;
#define LEAT_OP_AUG_MIX_DEFAULTS                                                                   \
    .size = sizeof(leat_op_aug_mix_options), .value_range = {0, 255}, .num_chains = 3,             \
    .chain_depth = 3, .factor = 0.3, .alpha = 1, .all_ops = true

/* Pictures as those of leat_op_stateless_rand_augment, blended by random weights with what chains
 * of the same distortions make of them. Strengths and weights are those of Keras' layer, as above;
 * which distortions are chosen follows from the seed too (tf.keras.layers.AugMix). `options` may be
 * NULL. */
LEAT_API leat_value leat_op_stateless_aug_mix(leat_value images, leat_value seed,
                                              const leat_op_aug_mix_options *options);

/* ---- comparing ---- */

/* How close pictures [..., H, W, C] are to others of the same height, width and channels, one
 * float32 for each: the peak signal-to-noise ratio in decibels, or the structural similarity, 1
 * where they are equal, by a window of 11 x 11 pixels, on one scale or five. Dimensions in front
 * broadcast; `max_val` is the range of the values, 255 or 1 (tf.image.psnr, tf.image.ssim,
 * tf.image.ssim_multiscale). */
LEAT_API leat_value leat_op_psnr(leat_value a, leat_value b, double max_val);
LEAT_API leat_value leat_op_ssim(leat_value img1, leat_value img2, double max_val);
LEAT_API leat_value leat_op_ssim_multiscale(leat_value img1, leat_value img2, double max_val);

/* The sum of the absolute differences of neighbouring pixels, a number for each picture, of floats
 * or signed integers (tf.image.total_variation). */
LEAT_API leat_value leat_op_total_variation(leat_value images);
/* The differences of each pixel of [N, H, W, C] to the one below, and to the one on its right;
 * fills `outputs` with both and returns 2, or -1 (tf.image.image_gradients). */
LEAT_API int leat_op_image_gradients(leat_value image, leat_value *outputs);
/* Sobel's filters downwards and to the right, of floats [N, H, W, C] as [N, H, W, C, 2]
 * (tf.image.sobel_edges). */
LEAT_API leat_value leat_op_sobel_edges(leat_value image);

/* The windows of pictures [N, H, W, C], each as one line of its pixels, [N, rows, columns, sizes[0]
 * * sizes[1] * C]. `sizes`, `strides` and `rates` (NULL: 1) count pixels down and to the right: of
 * a window, from one window to the next, and from pixel to pixel inside of one. `padding` is
 * "VALID": windows that fit, or "SAME": zeros around
 * (tf.image.extract_patches). */
LEAT_API leat_value leat_op_extract_patches(leat_value images, const int64_t *sizes,
                                            const int64_t *strides, const int64_t *rates,
                                            const char *padding);

/* ---- boxes ---- */

/* The numbers, int32 [m], of at most max_output_size boxes [n, 4], y1 x1 y2 x2 in float32, with the
 * best scores [n] above score_threshold, without those whose intersection over union with a better
 * one is above iou_threshold, in [0, 1] (tf.image.non_max_suppression). */
LEAT_API leat_value leat_op_non_max_suppression(leat_value boxes, leat_value scores,
                                                int64_t max_output_size, double iou_threshold,
                                                double score_threshold);
/* The same by a matrix [n, n] of how far each two overlap (tf.image.non_max_suppression_overlaps).
 */
LEAT_API leat_value leat_op_non_max_suppression_overlaps(leat_value overlaps, leat_value scores,
                                                         int64_t max_output_size,
                                                         double overlap_threshold,
                                                         double score_threshold);
/* The same as the first, with scores: where soft_nms_sigma is above 0, overlap makes scores smaller
 * instead. Fills `outputs` with numbers and scores and returns 2, or -1
 * (tf.image.non_max_suppression_with_scores). */
LEAT_API int leat_op_non_max_suppression_with_scores(leat_value boxes, leat_value scores,
                                                     int64_t max_output_size, double iou_threshold,
                                                     double score_threshold, double soft_nms_sigma,
                                                     leat_value *outputs);

/* Frames of one pixel drawn into float pictures [N, H, W, C] at the boxes [N, n, 4], y1 x1 y2 x2 in
 * fractions of the last row and column, in the colors [m, C] by turns; NULL: yellow, blue, red and
 * others (tf.image.draw_bounding_boxes). */
LEAT_API leat_value leat_op_draw_bounding_boxes(leat_value images, leat_value boxes,
                                                const leat_value *colors);

/* What the two sample_distorted_bounding_box may do. */
typedef struct leat_op_sample_distorted_bounding_box_options {
    size_t size;
    double min_object_covered;
    double aspect_ratio_range[2]; /* width over height */
    double area_range[2];         /* fractions of the picture */
    int64_t max_attempts;         /* then the whole picture */
    bool use_image_if_no_bounding_boxes;
} leat_op_sample_distorted_bounding_box_options;
#define LEAT_OP_SAMPLE_DISTORTED_BOUNDING_BOX_DEFAULTS                                             \
    .size = sizeof(leat_op_sample_distorted_bounding_box_options), .min_object_covered = 0.1,      \
    .aspect_ratio_range = {0.75, 1.33}, .area_range = {0.05, 1}, .max_attempts = 100

/* A random part of a picture of size [height, width, channels] (integers) that covers enough of one
 * of the boxes [N, n, 4] (float32 fractions, y1 x1 y2 x2). Fills `outputs` with begin [y, x, 0] and
 * size [h, w, -1], of image_size's dtype, and the box [1, 1, 4], and returns 3, or -1. `options`
 * may be NULL. The numbers are TensorFlow's (tf.image.stateless_sample_distorted_bounding_box). */
LEAT_API int leat_op_stateless_sample_distorted_bounding_box(
    leat_value image_size, leat_value bounding_boxes, leat_value seed,
    const leat_op_sample_distorted_bounding_box_options *options, leat_value *outputs);
/* The same with numbers that go on from call to call (tf.image.sample_distorted_bounding_box). A
 * `seed` of NULL or 0: others in each run. */
LEAT_API int leat_op_sample_distorted_bounding_box(
    leat_value image_size, leat_value bounding_boxes, const int64_t *seed,
    const leat_op_sample_distorted_bounding_box_options *options, leat_value *outputs);

#ifdef __cplusplus
}
#endif
#endif
